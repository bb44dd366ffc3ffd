"""`mbcli assemble`: the state nearest to a given one that satisfies the constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import FEW_ROWS, Analysis, analysis_command, analysis_output, announce_compiling
from mbcli.cli.options import Number, usage_errors
from mbcli.cli.output import named_vector, number
from mbcli.common.number_text import counted
from mbcli.models.units import coordinate_units

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@analysis_command
@click.option("--weights", metavar="LIST", help="Weight of each velocity in the distance, a list; default: 1.")
@click.option(
    "--tolerance",
    type=Number(above=0.0),
    default=1e-12,
    metavar="E",
    help="Largest norm of position errors; default 1e-12.",
)
@click.option(
    "--max-iterations",
    type=click.IntRange(min=1),
    default=100,
    metavar="N",
    help="Iterations of each start; default 100.",
)
@analysis_output
def assemble(ctx: click.Context, weights: str | None, tolerance: float, max_iterations: int, **values: Any) -> None:
    """Positions and velocities that satisfy the constraints, nearest to those given.

    The result is a local minimum of the weighted sum of squares of the differences, one for each velocity. If a start
    leads nowhere, others around it are tried. The exit code is 5 if no assembly is found.

    \b
    mbcli assemble four_bar.urdf --at crank=0.3
    mbcli assemble four_bar.urdf --json > state.json; mbcli simulate four_bar.urdf --state state.json
    """

    shared: dict[str, Any]
    is_batch, shared = values.get("states") is not None, {}

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        from mbcli.cli.state import numbers
        from mbcli.models.assembly import assemble
        from mbcli.multibody.assembly.closed_chains import Assemblies

        if is_batch and not shared:  # all rows are of one context
            shared["assemblies"] = Assemblies(context, FEW_ROWS, announce_compiling)
        w = None if weights is None else numbers(weights, plant.GetVelocityNames(), "--weights")
        with usage_errors():
            return assemble(context, w, tolerance=tolerance, max_iterations=max_iterations, **shared)

    Analysis("assemble", evaluate, render).run(ctx, values, {})


def render(plant: MultibodyPlant, result: dict[str, Any]) -> str:
    units = coordinate_units(plant)
    lines = [
        f"assembled in {counted(result['iterations'], 'step')}; position error {number(result['position_error'])}, "
        f"velocity error {number(result['velocity_error'])}",
        f"rank {result['rank']}, {result['redundant']} redundant, mobility {result['mobility']}"
        + (", a singular position" if result["singular"] else ""),
        "",
        named_vector(plant.GetPositionNames(), result["q"], units[0]),
        "",
        named_vector(plant.GetVelocityNames(), result["v"], units[1]),
    ]
    return "\n".join(lines)
