"""Motion under constraints at a state, as data: what `mbcli constrained-dynamics --json` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.errors import ArgumentError
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.constraints.plant_system import PlantSystem
from mbcli.multibody.stepping.missing_mass import require_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, Vector
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

    Errors: TypeAlias = dict[str, float]

FORWARD = ("range-space", "direct", "null-space", "kokkevis")
INVERSE = ("exact", "relaxed")


def constrained_dynamics(
    context: Context,
    *,
    tau: ArrayLike | None = None,
    u: ArrayLike | None = None,
    vdot: ArrayLike | None = None,
    method: str = "range-space",
    actuated: Iterable[str] | None = None,
    on_errors: Callable[[Errors], object] = lambda errors: None,
) -> dict[str, Any]:
    """Accelerations under constraints, their forces, and the impulses that make the velocities satisfy them.

    M vdot + C v = tau + tau_g + G^T lambda with G vdot = gamma; M (v_plus - v) = G^T impulse with G v_plus = 0.

    Args:
        context: state of a plant.
        tau: generalized forces (nv,) [N m or N]; default: 0.
        u: actuation (nu,) [N m or N], added; default: 0.
        vdot: (nv,) [rad/s^2 or m/s^2], for inverse dynamics.
        method: how the equations are solved: "range-space", first the multipliers, along the tree; "direct", all
            unknowns at once; "null-space", first the accelerations; "kokkevis", contacts alone, by test forces. Or
            inverse dynamics: "exact" and "relaxed", as in constrained_inverse_dynamics(), which `vdot` and `actuated`
            are for.
        actuated: names of velocities, for inverse dynamics.
        on_errors: called with position_error and velocity_error before the equations are solved.

    Returns:
        Those of constrained_inverse_dynamics(); v_plus (nv,), impulse (nrow,); rank of the constraints at the state.

    Raises:
        UnsolvableError: the method cannot solve the system.
        NumericalError: accelerations are not finite.
        ArgumentError: arguments do not fit.

    Example:
        >>> four_bar = mbcli.load_model("sample_models/closed_chains/four_bar.urdf").plant.CreateDefaultContext()
        >>> mbcli.models.assemble(four_bar)["singular"]
        False
        >>> mbcli.models.constrained_dynamics(four_bar, tau=[1.0, 0.0, 0.0])["vdot"].round(3)
        array([ 1.643, -1.478,  0.92 ])
    """
    if method not in (*FORWARD, *INVERSE):
        raise ArgumentError(f"method is one of {', '.join((*FORWARD, *INVERSE))}, not {method!r}")
    others = {"tau": tau, "u": u} if method in INVERSE else {"vdot": vdot, "actuated": actuated}
    for name, value in others.items():
        if value is not None:
            raise ArgumentError(f"{argument(name)} is not for the method {method}")
    plant = context.state.plant
    system, errors = PlantSystem(context), constraint_errors(context)
    on_errors(errors)
    if method in INVERSE:
        result = _inverse(plant, system, method, actuated, vdot)
    else:
        given = np.zeros(plant.num_velocities())
        if tau is not None:
            given += plant.vector(tau, len(given), argument("tau"))
        if u is not None:
            given += plant.MakeActuationMatrix() @ plant.vector(u, plant.num_actuators(), argument("u"))
        result = _forward(plant, system, method, given)
    v_plus, impulse = system.impulses(method if method in ("direct", "null-space") else "range-space")
    return result | {"v_plus": v_plus, "impulse": impulse, "rank": _rank(context)} | errors


def constrained_inverse_dynamics(
    context: Context,
    vdot: ArrayLike | None = None,
    *,
    method: str = "exact",
    actuated: Iterable[str] | None = None,
    on_errors: Callable[[Errors], object] = lambda errors: None,
    **forces: Any,
) -> dict[str, Any]:
    """Generalized forces of actuators that give accelerations to a plant whose constraints carry their part.

    Args:
        context: state of a plant.
        vdot: wanted accelerations (nv,) [rad/s^2 or m/s^2]; default: 0.
        method: "exact"; "relaxed": as close to vdot as possible, also with too few actuators.
        actuated: names of the velocities that have an actuator; default: those of the plant's actuators.
        on_errors: called with position_error and velocity_error before the equations are solved.
        forces: what acts beside, as MultibodyPlant.CalcRequiredForces() takes it.

    Returns:
        method; vdot, tau (nv,); lambda (nrow,), the multipliers; forces, a list of type, name, bodies, rows and force
        of each constraint: force (6,) acts on its second body at its point there, in World, rotational part first, and
        is None for a coupling; position_error and velocity_error, norms of the constraints' errors at the state.

    Raises:
        UnsolvableError: the actuators cannot give these accelerations.
        ArgumentError: arguments do not fit.

    Example:
        >>> four_bar = mbcli.load_model("sample_models/closed_chains/four_bar.urdf").plant
        >>> at, crank = four_bar.CreateDefaultContext(), four_bar.GetVelocityNames()[:1]
        >>> assembled = mbcli.models.assemble(at)
        >>> mbcli.models.constrained_inverse_dynamics(at, actuated=crank)["tau"].round(3)  # holds it
        array([-2.711,  0.   ,  0.   ])
    """
    if method not in INVERSE:
        raise ArgumentError(f"method is one of {', '.join(INVERSE)}, not {method!r}")
    plant = context.state.plant
    system, errors = PlantSystem(context, **forces), constraint_errors(context)
    on_errors(errors)
    return _inverse(plant, system, method, actuated, vdot) | errors


def constraint_errors(context: Context) -> Errors:
    """position_error and velocity_error: norms of the constraints' errors at the state of a context."""
    chains = ClosedChains(context)
    state = context.state
    position, velocity = chains.position_errors(state.q)[0], chains.velocity_errors(state.q, state.v)[0]
    return {"position_error": float(np.linalg.norm(position)), "velocity_error": float(np.linalg.norm(velocity))}


def _forward(plant: MultibodyPlant, system: PlantSystem, method: str, tau: Vector) -> dict[str, Any]:
    if method == "kokkevis":
        other = [owner for owner in system.owners if owner.kind != "contact"]
        if other:
            raise ArgumentError(
                f"{argument('method', method)} takes contact constraints alone, there is a {other[0]!r}"
            )
    vdot, force = system.accelerations(tau, method)
    require_finite(plant, vdot, lambda: system.H)
    return _results(system, method, vdot, force, tau)


def _inverse(
    plant: MultibodyPlant,
    system: PlantSystem,
    method: str,
    actuated: Iterable[str] | None,
    vdot: ArrayLike | None,
) -> dict[str, Any]:
    nv = plant.num_velocities()
    wanted = np.zeros(nv) if vdot is None else plant.vector(vdot, nv, argument("vdot"))
    solve = {"exact": system.exact_inverse_dynamics, "relaxed": system.relaxed_inverse_dynamics}[method]
    reached, tau, force = solve(_actuated(plant, actuated), wanted)
    return _results(system, method, reached, force, tau)


def _actuated(plant: MultibodyPlant, names: Iterable[str] | None) -> BoolArray:
    """(nv,)"""
    actuated = np.zeros(plant.num_velocities(), dtype=bool)
    if names is None:
        if not plant.num_actuators():
            raise ArgumentError(
                f"the model has no actuators: {argument('actuated')} names the velocities that have one"
            )
        actuated[plant.model.actuator_dof] = True
        return actuated
    velocities = NamedCoordinates(plant.GetVelocityNames(), "velocity")
    for name in names:
        try:
            actuated[velocities.find(name)] = True
        except LookupError as error:
            raise ArgumentError(f"{argument('actuated')}: {error}") from None
    return actuated


def _results(system: PlantSystem, method: str, vdot: Vector, force: Vector, tau: Vector) -> dict[str, Any]:
    forces = [
        {
            "type": owner.kind,
            "name": owner.name,
            "bodies": [body.name() for body in owner.bodies()],
            "rows": rows,
            "force": wrench,
        }
        for owner, rows, wrench in system.wrenches(force)
    ]
    return {"method": method, "vdot": vdot, "lambda": force, "forces": forces, "tau": tau}


def _rank(context: Context) -> int:
    chains = ClosedChains(context)
    return chains.rank(context.state.q) if chains.nrow else 0
