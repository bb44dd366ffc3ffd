"""`mbcli assemble`: the state nearest to a given one that satisfies the constraints."""

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.options import Number, batch_options, model_options, output_options, state_options
from mbcli.cli.output import named_vector, number
from mbcli.models.units import coordinate_units


@click.command()
@model_options
@state_options
@batch_options
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
@output_options
@click.pass_context
def assemble(ctx, weights, tolerance, max_iterations, **values):
    """Positions and velocities that satisfy the constraints, nearest to those given.

    The weighted sum of squares of the differences, one for each velocity, has a local minimum there. If a start leads
    nowhere, others around it are tried. The exit code is 5 if no assembly is found.

    \b
    mbcli assemble four_bar.sdf --at crank=0.3
    mbcli assemble four_bar.sdf --json > state.json; mbcli simulate four_bar.sdf --state state.json
    """

    def evaluate(plant, context, inputs):
        import numpy as np

        from mbcli.cli.state import numbers
        from mbcli.errors import NumericalError
        from mbcli.multibody.constraints.closed_chains import assemble_within_limits

        w = np.ones(plant.num_velocities())
        if weights is not None:
            w = numbers(weights, plant.GetVelocityNames(), "--weights")
            if (w < 0.0).any():
                raise click.UsageError("--weights must not be negative")
        state = context.state
        found, chains = assemble_within_limits(context, state.q, w, tolerance, max_iterations)
        if not found.converged:
            raise NumericalError(
                f"no assembly was found: the smallest error of the constraints in {found.restarts + 1} attempts is "
                f"{found.position_error:.3g}"
            )
        v = chains.assemble_velocities(found.q, state.v, w)
        plant.SetPositions(context, found.q)
        plant.SetVelocities(context, v)
        independent = chains.independent(found.q)
        return {
            "converged": True,
            "iterations": found.iterations,
            "restarts": found.restarts,
            "position_error": found.position_error,
            "velocity_error": float(np.linalg.norm(chains.velocity_errors(found.q, v)[0])),
            "rank": int(independent.sum()),
            "redundant": int((~independent).sum()),
            "mobility": plant.num_velocities() - int(independent.sum()),
            "singular": chains.rank_nearby(found.q) > int(independent.sum()),
            "q": found.q,
            "v": v,
        }

    Analysis("assemble", evaluate, render).run(ctx, values, {})


def render(plant, result):
    units = coordinate_units(plant)
    lines = [
        f"assembled in {result['iterations']} steps, errors {number(result['position_error'])} of positions and "
        f"{number(result['velocity_error'])} of velocities",
        f"rank {result['rank']}, {result['redundant']} redundant, mobility {result['mobility']}"
        + (", a singular position" if result["singular"] else ""),
        "",
        named_vector(plant.GetPositionNames(), result["q"], units[0]),
        "",
        named_vector(plant.GetVelocityNames(), result["v"], units[1]),
    ]
    return "\n".join(lines)
