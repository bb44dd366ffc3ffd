"""`mbcli mass-matrix`: M(q)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.derivatives import WithDerivatives, derivatives_option
from mbcli.cli.output import matrix

if TYPE_CHECKING:
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import Matrix
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


@analysis_command
@click.option("--inverse", is_flag=True, help="The inverse of M instead.")
@click.option("--via-inverse-dynamics", is_flag=True, help="Column by column, by recursive Newton-Euler.")
@derivatives_option
@analysis_output
def mass_matrix(
    ctx: click.Context, inverse: bool, via_inverse_dynamics: bool, derivatives: bool, **values: Any
) -> None:
    """The mass matrix M(q) [kg, kg m, kg m^2], reflected inertia of actuators included.

    \b
    mbcli mass-matrix arm.urdf --at elbow=0.3 --json
    mbcli mass-matrix arm.urdf --states states.csv -o masses.npz
    """

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        M = (plant.CalcMassMatrixViaInverseDynamics if via_inverse_dynamics else plant.CalcMassMatrix)(context)
        return {"M": inverse_of(M, plant) if inverse else M}

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        plant = context.state.plant
        M = batch.mass_matrix(states.q)
        if inverse:
            for k in range(len(M)):
                M[k] = inverse_of(M[k], plant)
        return {"M": M}

    if inverse and derivatives:
        raise click.UsageError("--derivatives are those of M: not together with --inverse")
    more = WithDerivatives(derivatives, "M", ("q",))
    Analysis(
        "mass-matrix",
        more.evaluate(evaluate),
        more.render(lambda plant, r: matrix(plant.GetVelocityNames(), r["M"])),
        needs=("q",),
        evaluate_rows=None if via_inverse_dynamics else more.rows(evaluate_rows),
    ).run(ctx, values, {})


def inverse_of(M: Matrix, plant: MultibodyPlant) -> Matrix:
    """The inverse of a mass matrix; NumericalError if it is singular."""
    import numpy as np

    from mbcli.errors import NumericalError

    try:
        factor = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        weak = plant.GetVelocityNames()[int(np.argmin(np.diag(M)))]
        raise NumericalError(f"the mass matrix is singular; the least inertia is along '{weak}'") from None
    half = np.linalg.solve(factor, np.eye(M.shape[0]))
    return half.T @ half
