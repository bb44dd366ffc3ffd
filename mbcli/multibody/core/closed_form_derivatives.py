"""Derivatives of inverse and forward dynamics at a context by closed forms, where the engine has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.queries.state_batch import has_dynamics_derivatives
from mbcli.engine.runtime.kernel import worth_compiling
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.runtime.model import Data
from mbcli.multibody.compilation.constrained_model import ConstrainedModel
from mbcli.multibody.core.dynamics import run_forward_dynamics
from mbcli.multibody.scalars import FLOAT

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState

# the variables of each calculation; its input is that one besides q and v
CLOSED_FORMS = {
    "inverse_dynamics": ("q", "tangent", "v", "vdot"),
    "forward_dynamics": ("q", "tangent", "v", "tau", "u"),
}

KERNEL, WITH_JOINT_FORCES = "evaluate_constrained_derivatives", 1


def has_closed_form(plant: Any, calculation: Any) -> bool:
    """Whether a calculation of CalcDerivatives() has derivatives in closed form.

    Forces between links, of constraints, of contact and of users' elements have none.
    """
    if not isinstance(calculation, str) or calculation not in CLOSED_FORMS or plant.scalar is not FLOAT:
        return False
    if plant.user_force_elements or not has_dynamics_derivatives(plant.model):
        return False
    return calculation == "inverse_dynamics" or (not plant.elements.constraints and _has_no_contact(plant))


def has_constrained_closed_form(plant: Any, calculation: Any) -> bool:
    """Whether constrained_derivatives() are those of a calculation of CalcDerivatives()."""
    if calculation != "forward_dynamics" or plant.scalar is not FLOAT or plant.user_force_elements:
        return False
    return bool(plant.elements.constraints) and has_dynamics_derivatives(plant.model) and _has_no_contact(plant)


def _has_no_contact(plant: Any) -> bool:
    """Whether contact has no part in accelerations of an instant."""
    return plant.is_discrete() or plant.scene_graph is None


def closed_form_derivatives(
    context: Context, calculation: str, x: Vector, *, damping_time: float = 0.0, v: Vector | None = None
) -> tuple[dict[str, Matrix], Vector | None]:
    """Derivatives at a context by each of CLOSED_FORMS[calculation], and vdot (nv,) of forward dynamics, else None.

    Args:
        x: vdot (nv,) of inverse dynamics; of forward dynamics all generalized forces (nv,) but those of the model.
        damping_time: of forward dynamics [s], after which the velocities are that joint damping acts by.
        v: velocities (nv,) in place of those of the context.
    """
    state = context.state
    if not state.parameters_current:
        state.ready_parameters()
    model, nv = state.model, state.v.size
    along, by_v, by_input = np.empty((3, nv, nv))
    name = f"evaluate_{calculation}_derivatives"
    kernel, handles, data = state.parameter_cache.remember(name, _kernel, state, name)
    numbers: list[Any] = [state.q, state.v if v is None else v, np.ascontiguousarray(x, dtype=float)]
    if calculation == "forward_dynamics":
        numbers.append(damping_time)
    if kernel(*handles, *numbers, along, by_v, by_input) != 0:
        raise ValueError(f"a vector is not of the {nv} velocities")
    by_q = np.empty((nv, state.q.size))
    state.at_positions().query_jacobian_by_qdot(along, by_q)
    found = {"q": by_q, "tangent": along, "v": by_v}
    if calculation == "inverse_dynamics":
        return found | {"vdot": by_input}, None
    return found | {"tau": by_input, "u": by_input[:, model.actuator_dof]}, data.vdot.copy()


def constrained_derivatives(context: Context, tau: Vector) -> tuple[dict[str, Matrix], Vector, Matrix] | None:
    """As closed_form_derivatives() of forward dynamics, under constraints; by q and v also of their velocity errors.

    That is a matrix (nrow, nv) along velocities at last, in the order of the rows. None close to a singular position,
    where motion is interpolated. NumericalError where the constraints do not tell the motion; ModelError if they are
    no equations.
    """
    state, plant = context.state, context.state.plant
    vdot = run_forward_dynamics(plant, context, np.zeros(plant.model.sizes["nu"]), tau, 0.0)
    active = state.constraints
    assert active is not None
    if active.is_crossed:
        return None
    constrained = state.parameter_cache.remember("constrained_derivatives", _constrained_model, state, active.arrays)
    constrained.work.row_scale[:] = active.lengths
    nv, nrow = state.v.size, len(constrained.row_number)
    derivatives = np.empty((3 * nv + 4 * nrow, nv))
    numbers = state.q, state.v, np.ascontiguousarray(tau, dtype=float)
    constrained.run(KERNEL, *numbers, WITH_JOINT_FORCES, derivatives, np.empty(2 * (nv + nrow)))
    by_x, errd_by_q = derivatives[: 3 * nv].reshape(3, nv, nv), derivatives[3 * nv + 3 * nrow :]
    by_q = np.empty((nv, state.q.size))
    state.at_positions().query_jacobian_by_qdot(by_x[0], by_q)
    found = {"q": by_q, "tangent": by_x[0], "v": by_x[1], "tau": by_x[2], "u": by_x[2][:, state.model.actuator_dof]}
    return found, vdot, errd_by_q


def _constrained_model(state: EvaluatedState, constraints: Any) -> ConstrainedModel:
    """Of kernels that are interpreted if that of derivatives would have to be compiled first, but for large plants."""
    kernels = ConstrainedModel.kernels_for(state.model, True)
    compiled = state.compiled and (worth_compiling(state.v.size) or is_compiled(getattr(kernels, KERNEL)))
    return ConstrainedModel(state.model, constraints, compiled)


def _kernel(state: EvaluatedState, name: str) -> tuple[Any, tuple[Any, Any], Any]:
    """A kernel, its handles and its Data: interpreted if it would have to be compiled first, but for large plants."""
    kernel, data = getattr(state.kernels, name), Data(state.model.sizes)
    if not (is_compiled(kernel) or (state.compiled and worth_compiling(state.v.size))):
        return getattr(load_kernels(False), name), (state.model, data), data
    return kernel, (state.model_handle, data.handle(state.compiled)), data
