"""Derivatives of inverse and forward dynamics at a context by recursive closed forms, where the engine has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.queries.state_batch import has_dynamics_derivatives
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.runtime.model import Data
from mbcli.multibody.scalars import FLOAT

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.context import Context
    from mbcli.multibody.plant.evaluated_state import EvaluatedState

# the variables of each calculation; its input is that one besides q and v
CLOSED_FORMS = {
    "inverse_dynamics": ("q", "tangent", "v", "vdot"),
    "forward_dynamics": ("q", "tangent", "v", "tau", "u"),
}


def has_closed_form(plant: Any, calculation: Any) -> bool:
    """Whether a calculation of CalcDerivatives() has derivatives in closed form.

    Forces between links, of constraints, of contact and of users' elements have none.
    """
    if not isinstance(calculation, str) or calculation not in CLOSED_FORMS or plant.scalar is not FLOAT:
        return False
    if plant.user_force_elements or not has_dynamics_derivatives(plant.model):
        return False
    alone = not plant.elements.constraints and (plant.is_discrete() or plant.scene_graph is None)
    return calculation == "inverse_dynamics" or alone


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
    kernel, handles, data = state.of_parameters.remember(name, _kernel, state, name)
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


def _kernel(state: EvaluatedState, name: str) -> tuple[Any, tuple[Any, Any], Any]:
    """A kernel, its handles and its Data: interpreted if it would have to be compiled first."""
    kernel, data = getattr(state.kernels, name), Data(state.model.sizes)
    if not is_compiled(kernel):
        return getattr(load_kernels(False), name), (state.model, data), data
    return kernel, (state.model_handle, data.handle(state.compiled)), data
