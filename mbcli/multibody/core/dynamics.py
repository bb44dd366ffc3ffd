"""Forces and accelerations of a plant in a context."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.contact.meeting_contact import contact_failed, prepare_contact
from mbcli.multibody.core.contact import contact_body_forces, record_of_state
from mbcli.multibody.core.coordinates import kernel_numbers, vector
from mbcli.multibody.core.force_elements import check_force_elements, check_forces, force_element_forces, user_forces
from mbcli.multibody.core.inputs import actuation, has_controllers, input_body_forces, set_controllers
from mbcli.multibody.core.rates import refuse_gimbal_lock
from mbcli.multibody.state.context import StateVector
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.systems.vectors import ContinuousState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.systems.contexts import Tree


def CalcMassMatrix(plant: PlantData, context: Context) -> Matrix:
    """M(q), reflected inertias included, by the composite-rigid-body algorithm.

    Args:
      context: state of this plant.

    Returns:
      (nv, nv), symmetric [kg m^2 between hinges, kg between sliders, kg m between both].

    Raises:
      RuntimeError: the context is another plant's.

    Example:
      >>> plant.CalcMassMatrix(context).round(4)
      array([[1.4266, 0.2772],
             [0.2772, 0.1281]])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if "mass_matrix" not in state.position_cache:
        if state.positions_current:
            state.calls.calc_mass_matrix()
        else:  # in one call: half of the time of a small robot is the way into compiled code
            if not state.parameters_current:
                state.ready_parameters()
            state.calls.full_mass_matrix()
            state.positions_current = True
        state.position_cache["mass_matrix"] = True
    return state.data.M.copy()


def CalcMassMatrixViaInverseDynamics(plant: PlantData, context: Context) -> Matrix:
    """M(q) as CalcMassMatrix() has it, by one run of inverse dynamics per unit acceleration.

    Args:
      context: state of this plant.

    Returns:
      (nv, nv) [kg m^2 between hinges, kg between sliders, kg m between both].

    Raises:
      RuntimeError: the context is another plant's.

    Example:
      >>> np.allclose(plant.CalcMassMatrixViaInverseDynamics(context), plant.CalcMassMatrix(context))
      True
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    state.at_positions().calc_mass_matrix_by_inverse_dynamics()
    state.velocities_current = False
    state.position_cache.pop("mass_matrix", None)
    return state.data.M.copy()


def CalcBiasTerm(plant: PlantData, context: Context) -> Vector:
    """C(q, v) v, Coriolis and centripetal terms: no gravity, no applied forces.

    Args:
      context: state of this plant.

    Returns:
      (nv,) [N m or N].

    Raises:
      RuntimeError: the context is another plant's.

    Example:
      >>> plant.CalcBiasTerm(context).round(4)
      array([-0.1805, -0.2275])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    state.at_velocities().calc_bias_term()
    return state.data.tau.copy()


def CalcGravityGeneralizedForces(plant: PlantData, context: Context) -> Vector:
    """tau_g(q), on the side of the applied forces: M vdot + C v = tau_g.

    Args:
      context: state of this plant.

    Returns:
      (nv,) [N m or N].

    Raises:
      RuntimeError: the context is another plant's.

    Example:
      >>> plant.CalcGravityGeneralizedForces(context).round(4)
      array([-3.4555,  1.1288])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    state.at_positions().calc_gravity()
    return state.data.tau.copy()


def CalcInverseDynamics(
    plant: PlantData, context: Context, known_vdot: ArrayLike, external_forces: MultibodyForces
) -> Vector:
    """tau = M vdot + C v - tau_app - sum J^T F_app, with the applied forces in external_forces.

    Gravity and other force elements count only as far as external_forces has them.

    Args:
      context: state of this plant.
      known_vdot: (nv,) [rad/s^2 or m/s^2].
      external_forces: made for this plant, as by CalcForceElementsContribution().

    Returns:
      (nv,) [N m or N].

    Raises:
      RuntimeError: the context or the forces are another plant's; known_vdot has another size.

    Example:
      >>> forces = MultibodyForces(plant)
      >>> plant.CalcForceElementsContribution(context, forces)
      >>> plant.CalcInverseDynamics(context, [0.0, 0.0], forces).round(4)
      array([ 3.275 , -1.3562])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if type(external_forces) is not MultibodyForces or external_forces.sizes is not plant.sizes_of_forces:
        check_forces(plant, external_forces)
    vdot = known_vdot
    if type(vdot) is not np.ndarray or vdot.dtype is not state.dtype or vdot.shape != state.shape_v:
        vdot = vector(vdot, state.shape_v[0], "known_vdot", state.scalar)
    calls, data = state.at_velocities(), state.data
    data.vdot[...] = vdot
    calls.calc_inverse_dynamics(external_forces.F_Bo_W, 0.0)
    return data.tau - external_forces.tau


def CalcRequiredForces(
    plant: PlantData,
    context: Context,
    vdot: ArrayLike | None = None,
    *,
    gravity: bool = True,
    springs: bool = True,
    damping: float = True,
    body_forces: Matrix | None = None,
) -> Vector:
    """tau (nv,) [N m or N] that gives the accelerations vdot (zero if not given) against the chosen forces.

    tau = M vdot + C v - tau_g - springs - damping - sum J^T F, with F (num_bodies, 6) at body origins in World.
    `springs` stands for all force elements but gravity.
    """
    plant.check_context(context)
    state = context.state
    vdot = 0.0 if vdot is None else kernel_numbers(context, vdot, state.shape_v, "vdot")
    element_F, element_tau = force_element_forces(plant, context, False, springs, damping)
    calls, data = state.at_velocities(), state.data
    data.vdot[...] = vdot
    if body_forces is not None:
        element_F += body_forces
    calls.calc_inverse_dynamics(element_F, float(gravity))
    return data.tau - element_tau


def CalcAccelerations(
    plant: PlantData,
    context: Context,
    tau: ArrayLike | None = None,
    u: ArrayLike | None = None,
    body_forces: Matrix | None = None,
) -> Vector:
    """vdot (nv,) [rad/s^2 or m/s^2] under gravity, springs, damping, tau (nv,) [N m or N], actuation u (nu,) and body
    forces (num_bodies, 6) [N m, N].

    In singular positions of constraints those of the motion that v continues; NumericalError if none does.
    """
    plant.check_context(context)
    nu = plant.model.sizes["nu"]
    state = context.state
    u = np.zeros(nu, state.dtype) if u is None else kernel_numbers(context, u, (nu,), "u")
    tau = None if tau is None else kernel_numbers(context, tau, state.shape_v, "tau")
    return run_forward_dynamics(plant, context, u, tau, 0.0 if body_forces is None else body_forces)


def CalcGeneralizedForces(plant: PlantData, context: Context, forces: MultibodyForces) -> Vector:
    """tau + sum J^T F of a set of forces.

    Args:
      context: state of this plant.
      forces: made for this plant.

    Returns:
      (nv,) [N m or N].

    Raises:
      RuntimeError: the context or the forces are another plant's.

    Example:
      >>> forces = MultibodyForces(plant)
      >>> plant.CalcForceElementsContribution(context, forces)
      >>> plant.CalcGeneralizedForces(context, forces).round(4)  # gravity alone
      array([-3.4555,  1.1288])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if type(forces) is not MultibodyForces or forces.sizes is not plant.sizes_of_forces:
        check_forces(plant, forces)
    calls, data = state.at_positions(), state.data
    calls.calc_generalized_forces(forces.F_Bo_W)
    return data.tau + forces.tau


def first_limited_joint(plant: PlantData) -> Joint | None:
    """A joint whose limits act in steps; None if there is none."""
    dofs = set(plant.model.limit_dof.tolist())
    joints = (mobilized.joint for mobilized in plant.mobilized_joints)
    return next((j for j in joints if j.num_velocities() == 1 and j.velocity_start() in dofs), None)


def CalcForwardDynamics(plant: PlantData, context: Context) -> Vector:
    """vdot (nv,) [rad/s^2 or m/s^2] now, under the inputs of the context, gravity, springs and joint damping."""
    plant.check_context(context)
    u, tau = actuation(plant, context), context.inputs.value("applied_generalized_force", context)
    return run_forward_dynamics(plant, context, u, tau, input_body_forces(plant, context))


def accelerations(plant: PlantData, context: Context) -> Vector:
    """vdot (nv,) under the inputs of the context: at this instant, of a discrete plant over its next step."""
    return known_accelerations(plant, context).copy()


def known_accelerations(plant: PlantData, context: Context) -> Vector:
    """vdot (nv,) under the inputs of the context: at this instant, of a discrete plant over its next step."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    vdot = state.input_cache.get("vdot")
    return _calc_accelerations(plant, context) if vdot is None else vdot


def _calc_accelerations(plant: PlantData, context: Context) -> Vector:
    return refresh_accelerations(plant, context)[0]


def refresh_accelerations(plant: PlantData, context: Context) -> tuple[Vector, Matrix]:
    """As known_accelerations(), which it remembers with the forces that go with them, computed anew.

    And what inputs and users' elements apply to links at their origins in W, (num_bodies, 6), where the step takes it.
    """
    state = context.state
    u, tau = actuation(plant, context), context.inputs.value("applied_generalized_force", context)
    stage: tuple[Any, ...] = ()
    if plant.is_discrete():
        set_controllers(plant, context)
        stage = ("calc_step_dynamics", plant.step_length, implicit_damping(plant))
    with state.turn:
        vdot, given = forward_dynamics_and_loads(plant, context, u, tau, *stage)
        if stage and state.contact is not None and not contact_failed(state):
            state.contact.take_exact_forces(plant.step_length)
        if has_controllers(state.plant):
            u[state.model.pd_actuator] = state.data.pd_effort
        if stage and state.contact is not None:
            state.input_cache["contacts"] = state.contact.record(state)
        if state.constraints is not None:
            state.input_cache["constraint_forces"] = state.constraints.forces()
    state.input_cache.update(vdot=vdot, net_actuation=u)
    return vdot, given


def implicit_damping(plant: PlantData) -> float:
    """1 if a step takes joint damping at its end, 0 if at its start."""
    return 1.0 if plant.settings.is_convex() else 0.0


def run_forward_dynamics(
    plant: PlantData, context: Context, u: Any, tau: Any, F: Any, stage: str = "calc_forward_dynamics", *arguments: Any
) -> Any:
    """vdot (nv,) under actuation u (nu,), tau (nv,) or None, body forces F (num_bodies, 6) or 0.0, and the model's.

    u is that of the data then.
    """
    return forward_dynamics_and_loads(plant, context, u, tau, stage, *arguments, F=F)[0]


def forward_dynamics_and_loads(
    plant: PlantData,
    context: Context,
    u: Any,
    tau: Any,
    stage: str = "calc_forward_dynamics",
    *arguments: Any,
    F: Any = None,
) -> tuple[Any, Matrix]:
    """As run_forward_dynamics(), with what inputs and users' elements apply to links; F: None for that of the ports.

    Of a step both are those of where it takes its forces.
    """
    state, is_step = context.state, stage == "calc_step_dynamics"
    if is_step:
        state.scalar.require_unlimited_positions(plant.first_limited_joint)
        prepare_contact(state)
    elif F is None:
        F = input_body_forces(plant, context)
    if not plant.is_discrete() and plant.scene_graph is not None:
        F = F + contact_body_forces(plant, context, record_of_state(context))
    alone = tau is None and type(F) is float  # nothing is applied but the actuation
    if alone and not (arguments or plant.elements.constraints or plant.special_force_elements):
        calls, data = state.calls if state.velocities_current else state.at_velocities(), state.data
        data.u[...] = u
        calls.calc_accelerations()
        return data.vdot.copy(), state.forces_on_links(0.0)
    with state.turn:  # another thread would replace arrays that kernels have by address
        if not is_step and plant.elements.constraints:
            state.ready_constraints()
        user = None
        with where_forces_are(plant, context, is_step):
            if F is None:
                F = input_body_forces(plant, context)
            if plant.special_force_elements:
                check_force_elements(plant, context)
                user = user_forces(plant, context)
        if user is not None:
            F = F + user.F_Bo_W
        F_link = state.forces_on_links(F)

        def compute() -> None:
            calls, data = state.at_velocities(), state.data
            data.u[...] = u
            calls.calc_actuation()
            if tau is not None:
                data.tau += tau
            if user is not None:
                data.tau += user.tau
            getattr(calls, stage)(F_link, *arguments)

        active = state.constraints
        if active is not None and not (is_step and state.contact):
            active.ask(context, compute)
        else:
            compute()
            while is_step and contact_failed(state):
                prepare_contact(state, failed=True)
                compute()
        return state.data.vdot.copy(), F_link


@contextmanager
def where_forces_are(plant: PlantData, context: Context, in_step: bool) -> Iterator[None]:
    """While this lasts a context has the positions at which the step from it takes forces, if some depend on them."""
    state = context.state
    if not (in_step and (plant.special_force_elements or context.inputs.has("applied_spatial_force"))):
        yield
        return
    with state.elsewhere():
        state.calls.start_of_step(plant.time_step())
        state.forget_positions()
        yield


def make_context(plant: PlantData, tree: Tree) -> Context:
    """A context below a root."""
    context = plant.whole_plant().CreateDefaultContext()
    context.SetTime(tree.time)
    return context


def EvalTimeDerivatives(plant: PlantData, context: Context) -> ContinuousState:
    """[qdot; vdot] of a plant with time step 0, under the inputs of the context.

    Args:
      context: state of this plant.

    Returns:
      ContinuousState of nq + nv numbers [rad/s or m/s; rad/s^2 or m/s^2].

    Raises:
      RuntimeError: the context is another plant's.
      NumericalError: a joint with roll, pitch and yaw is at gimbal lock.

    Example:
      >>> plant.EvalTimeDerivatives(context).CopyToVector().round(3)
      array([ 1.1  , -0.6  , -7.517, 26.864])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    rates = StateVector(state.input_cache.remember("rates", partial(state_rates, plant), context))
    return ContinuousState(rates, kinds="q" * state.q.size + "v" * state.v.size)


def state_rates(plant: PlantData, context: Context) -> Vector:
    """[qdot; vdot]"""
    state, vdot = context.state, known_accelerations(plant, context)
    if plant.joints_with_rpy:
        refuse_gimbal_lock(plant, context)
    state.calls.query_qdot(state.v)
    return np.concatenate((state.data.qdot, vdot))
