"""The state nearest to a given one that satisfies the constraints, as data: what `mbcli assemble --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError, NumericalError
from mbcli.multibody.assembly.closed_chains import MOST_ITERATIONS, TOLERANCE, Assemblies

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.multibody.state.context import Context


def assemble(
    context: Context,
    weights: ArrayLike | None = None,
    *,
    tolerance: float = TOLERANCE,
    max_iterations: int = MOST_ITERATIONS,
    assemblies: Assemblies | None = None,
) -> dict[str, Any]:
    """Moves a context to the nearest positions and velocities that satisfy the constraints of its plant.

    The result is a local minimum of the weighted sum of squares of the differences, one for each velocity. If a start
    leads nowhere, others around it are tried.

    Args:
        context: state of a plant; changed.
        weights: (nv,) of each velocity in the distance, not negative; default: 1.
        tolerance: largest norm of position errors [m or 1].
        max_iterations: of each start.
        assemblies: of this context, to share between calls what does not depend on the state.

    Returns:
        converged, iterations, restarts; position_error and velocity_error, norms; rank of the constraints, how many are
        redundant, mobility; singular: whether the rank is greater nearby; q (nq,) [rad or m], v (nv,).

    Raises:
        ArgumentError: weights of another number, or negative ones.
        NumericalError: no assembly is found; the context stays as it is then.

    Example:
        >>> four_bar = mbcli.load_model("sample_models/closed_chains/four_bar.urdf").plant.CreateDefaultContext()
        >>> found = mbcli.models.assemble(four_bar)
        >>> found["converged"], found["mobility"]
        (True, 1)
    """
    state = context.state
    plant = state.plant
    nv = plant.num_velocities()
    w = np.ones(nv) if weights is None else np.asarray(weights, dtype=float)
    if w.shape != (nv,):
        raise ArgumentError(f"{argument('weights')} must have {nv} numbers, it has shape {w.shape}")
    if (w < 0.0).any():
        raise ArgumentError(f"{argument('weights')} must not be negative")
    made = assemblies or Assemblies(context)
    found, chains = made.within_limits(state.q, w, tolerance, max_iterations)
    if not found.converged:
        raise NumericalError(
            f"no assembly was found: the smallest error of the constraints in {found.restarts + 1} attempts is "
            f"{found.position_error:.3g}"
        )
    v = chains.assemble_velocities(found.q, state.v, w)
    plant.SetPositions(context, found.q)
    plant.SetVelocities(context, v)
    independent = chains.independent(found.q)
    rank = int(independent.sum())
    return {
        "converged": True,
        "iterations": found.iterations,
        "restarts": found.restarts,
        "position_error": found.position_error,
        "velocity_error": float(np.linalg.norm(chains.velocity_errors(found.q, v)[0])),
        "rank": rank,
        "redundant": int((~independent).sum()),
        "mobility": nv - rank,
        "singular": chains.rank_nearby(found.q) > rank,
        "q": found.q,
        "v": v,
    }
