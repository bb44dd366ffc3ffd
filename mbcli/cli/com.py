"""`mbcli com`: the centre of mass."""

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.jacobian import chosen_instances
from mbcli.cli.options import batch_options, model_options, output_options, state_options
from mbcli.cli.output import table


@click.command()
@model_options
@state_options
@batch_options
@click.option("--instance", "instances", multiple=True, metavar="NAME", help="Of this model only.")
@click.option("--bodies", "per_body", is_flag=True, help="Also for each body (without --states).")
@output_options
@click.pass_context
def com(ctx, instances, per_body, **values):
    """Position [m] and velocity [m/s] of the centre of mass in the world, and the total mass [kg].

    \b
    mbcli com robot.urdf --random 3
    mbcli com robot.urdf --states motion.csv --format csv
    """
    if per_body and values["states"] is not None:
        raise click.UsageError("--bodies is for one state")
    Analysis("com", lambda plant, context, inputs: evaluate(plant, context, instances, per_body), render).run(
        ctx, values, {}
    )


def evaluate(plant, context, instances, per_body):
    chosen = chosen_instances(plant, context, instances)
    result = {
        "p_WCom": plant.CalcCenterOfMassPositionInWorld(context, chosen),
        "v_WCom": plant.CalcCenterOfMassTranslationalVelocityInWorld(context, chosen),
        "total_mass": plant.CalcTotalMass(context, chosen),
    }
    if per_body:
        result["bodies"] = {
            body.scoped_name().get_full(): {
                "mass": body.get_mass(context),
                "p_WCom": body.EvalPoseInWorld(context) @ body.CalcCenterOfMassInBodyFrame(context),
                "v_WCom": body.CalcCenterOfMassTranslationalVelocityInWorld(context),
            }
            for body in bodies_of(plant, chosen)
        }
    return result


def bodies_of(plant, instances):
    """All bodies but World, of the given model instances or of all."""
    bodies = [plant.get_body(index) for k in range(plant.num_model_instances()) for index in plant.GetBodyIndices(k)]
    return [
        body
        for body in sorted(bodies, key=lambda body: body.index())
        if body is not plant.world_body() and (instances is None or body.model_instance() in instances)
    ]


def render(plant, results):
    text = table(
        [
            ["total mass", results["total_mass"], "", "", "kg"],
            ["position", *results["p_WCom"], "m"],
            ["velocity", *results["v_WCom"], "m/s"],
        ]
    )
    if "bodies" in results:
        rows = [[name, e["mass"], *e["p_WCom"], *e["v_WCom"]] for name, e in results["bodies"].items()]
        text += "\n\n" + table(rows, ["body", "mass [kg]", "x [m]", "y", "z", "vx [m/s]", "vy", "vz"])
    return text
