"""`mbcli momentum`: angular and linear momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.output import table

if TYPE_CHECKING:
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@analysis_command
@click.option(
    "--point",
    default="0,0,0",
    metavar="X,Y,Z",
    help="About this point of the world [m], or about 'com'; default: 0,0,0.",
)
@click.option("--bodies", "per_body", is_flag=True, help="Also for each body (without --states).")
@analysis_output
def momentum(ctx: click.Context, point: str, per_body: bool, **values: Any) -> None:
    """Spatial momentum in the world about a point: angular [kg m^2/s], then linear [kg m/s]. Rotors are not counted.

    \b
    mbcli momentum robot.urdf --random 3 --point com
    """
    if per_body and values["states"] is not None:
        raise click.UsageError("--bodies is for one state")

    def about() -> Any:
        from mbcli.cli.state import numbers

        return point if point == "com" else numbers(point, ("x", "y", "z"), "--point")

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.models.mass_motion import momentum

        return momentum(context, about(), bodies=per_body)

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        from mbcli.models.mass_motion import all_links, links_with_mass

        if point == "com":
            return {"L_WS_W": batch.momenta(states.q, states.v, *links_with_mass(context))}
        return {"L_WS_W": batch.momenta(states.q, states.v, all_links(context.state.plant), 0.0, about())}

    Analysis("momentum", evaluate, render, evaluate_rows=evaluate_rows).run(ctx, values, {})


def render(plant: MultibodyPlant, results: dict[str, Any]) -> str:
    L = results["L_WS_W"]
    text = table([["angular", *L[:3], "kg m^2/s"], ["linear", *L[3:], "kg m/s"]])
    if "bodies" in results:
        rows = [[name, *L] for name, L in results["bodies"].items()]
        text += "\n\n" + table(rows, ["body", "hx [kg m^2/s]", "hy", "hz", "lx [kg m/s]", "ly", "lz"])
    return text
