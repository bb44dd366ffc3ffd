"""`mbcli momentum`: angular and linear momentum."""

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.com import bodies_of
from mbcli.cli.options import batch_options, model_options, output_options, state_options
from mbcli.cli.output import table


@click.command()
@model_options
@state_options
@batch_options
@click.option(
    "--point",
    default="0,0,0",
    metavar="X,Y,Z",
    help="About this point of the world [m], or about 'com'; default: 0,0,0.",
)
@click.option("--bodies", "per_body", is_flag=True, help="Also for each body (without --states).")
@output_options
@click.pass_context
def momentum(ctx, point, per_body, **values):
    """Spatial momentum in the world about a point: angular [kg m^2/s], then linear [kg m/s]. Rotors count nothing.

    \b
    mbcli momentum robot.urdf --random 3 --point com
    """
    if per_body and values["states"] is not None:
        raise click.UsageError("--bodies is for one state")
    Analysis("momentum", lambda plant, context, inputs: evaluate(plant, context, point, per_body), render).run(
        ctx, values, {}
    )


def evaluate(plant, context, point, per_body):
    p_WoP = point_of(plant, context, point)
    result = {"L_WS_W": plant.CalcSpatialMomentumInWorldAboutPoint(context, p_WoP).get_coeffs()}
    if per_body:
        result["bodies"] = {}
        for body in bodies_of(plant, None):
            X_WB = body.EvalPoseInWorld(context)
            M_BBo_W = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(X_WB.rotation())
            L_WBo = M_BBo_W * body.EvalSpatialVelocityInWorld(context)
            about_point = L_WBo.Shift(p_WoP - X_WB.translation())
            result["bodies"][body.scoped_name().get_full()] = about_point.get_coeffs()
    return result


def point_of(plant, context, text):
    from mbcli.cli.jacobian import chosen_instances
    from mbcli.cli.state import numbers

    if text == "com":
        return plant.CalcCenterOfMassPositionInWorld(context, chosen_instances(plant, context, ()))
    return numbers(text, ("x", "y", "z"), "--point")


def render(plant, results):
    L = results["L_WS_W"]
    text = table([["angular", *L[:3], "kg m^2/s"], ["linear", *L[3:], "kg m/s"]])
    if "bodies" in results:
        rows = [[name, *L] for name, L in results["bodies"].items()]
        text += "\n\n" + table(rows, ["body", "hx [kg m^2/s]", "hy", "hz", "lx [kg m/s]", "ly", "lz"])
    return text
