"""`mbcli com`: the centre of mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.options import usage_errors
from mbcli.cli.output import table
from mbcli.common.coordinate_names import listed

if TYPE_CHECKING:
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@analysis_command
@click.option("--instance", "instances", multiple=True, metavar="NAME", help="Only this model.")
@click.option("--bodies", "per_body", is_flag=True, help="Also for each body (without --states).")
@analysis_output
def com(ctx: click.Context, instances: tuple[str, ...], per_body: bool, **values: Any) -> None:
    """Position [m] and velocity [m/s] of the centre of mass in the world, and the total mass [kg].

    What is fixed to the world, as a static model, is scenery: it is left out and named, unless --instance names its
    model or nothing else has mass.

    \b
    mbcli com robot.urdf --random 3
    mbcli com robot.urdf --states motion.csv --format csv
    """
    of_rows = values["states"] is not None
    if per_body and of_rows:
        raise click.UsageError("--bodies is for one state")

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.models.mass_motion import center_of_mass

        with usage_errors():
            found = center_of_mass(context, instance=instances, bodies=per_body)
        if of_rows:  # of numbers alone
            found.pop("left_out")
        return found

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        from mbcli.models.mass_motion import links_with_mass

        with usage_errors():
            selected, mass = links_with_mass(context, instances)
        p_WCom, v_WCom = batch.mass_motions(states.q, states.v, selected, mass)
        return {"p_WCom": p_WCom, "v_WCom": v_WCom, "total_mass": [mass] * len(p_WCom)}

    Analysis("com", evaluate, render, evaluate_rows=evaluate_rows).run(ctx, values, {})


def render(plant: MultibodyPlant, results: dict[str, Any]) -> str:
    text = table(
        [
            ["total mass", results["total_mass"], "", "", "kg"],
            ["position", *results["p_WCom"], "m"],
            ["velocity", *results["v_WCom"], "m/s"],
        ]
    )
    if results["left_out"]:
        text += f"\nleft out, since fixed to the world (--instance counts it): {listed(results['left_out'])}"
    if "bodies" in results:
        rows = [[name, e["mass"], *e["p_WCom"], *e["v_WCom"]] for name, e in results["bodies"].items()]
        text += "\n\n" + table(rows, ["body", "mass [kg]", "x [m]", "y", "z", "vx [m/s]", "vy", "vz"])
    return text
