"""Forces and accelerations of a plant in a context."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.contact.meeting_contact import contact_failed, prepare_contact
from mbcli.multibody.core.actuation import Actuation
from mbcli.multibody.core.contact import Contact
from mbcli.multibody.core.force_elements import ForceElements
from mbcli.multibody.core.rates import Rates
from mbcli.multibody.state.context import StateVector
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.systems.vectors import ContinuousState

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint
    from mbcli.systems.system import Tree


class Dynamics(Actuation, Contact, ForceElements, Rates):
    """The part of MultibodyPlant that relates forces and accelerations."""

    def CalcMassMatrix(self, context: Context) -> Matrix:
        """M(q), (nv, nv), reflected inertias included, by the composite-rigid-body algorithm."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if "mass_matrix" not in state.of_q:
            if state.positions_current:
                state.calls.calc_mass_matrix()
            else:  # in one call: half of the time of a small robot is the way into compiled code
                if not state.parameters_current:
                    state.ready_parameters()
                state.calls.full_mass_matrix()
                state.positions_current = True
            state.of_q["mass_matrix"] = True
        return state.data.M.copy()

    def CalcMassMatrixViaInverseDynamics(self, context: Context) -> Matrix:
        """M(q), (nv, nv), one column per unit acceleration."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        state.at_positions().calc_mass_matrix_by_inverse_dynamics()
        state.velocities_current = False
        state.of_q.pop("mass_matrix", None)
        return state.data.M.copy()

    def CalcBiasTerm(self, context: Context) -> Vector:
        """C(q, v) v, (nv,): no gravity, no applied forces."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        state.at_velocities().calc_bias_term()
        return state.data.tau.copy()

    def CalcGravityGeneralizedForces(self, context: Context) -> Vector:
        """tau_g(q), (nv,), on the side of the applied forces: M vdot + C v = tau_g."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        state.at_positions().calc_gravity()
        return state.data.tau.copy()

    def CalcInverseDynamics(self, context: Context, known_vdot: ArrayLike, external_forces: MultibodyForces) -> Vector:
        """tau = M vdot + C v - tau_app - sum J^T F_app, (nv,), with the applied forces in external_forces.

        Gravity and other force elements count only as far as external_forces has them.
        """
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if type(external_forces) is not MultibodyForces or external_forces.sizes is not self.sizes_of_forces:
            self.check_forces(external_forces)
        vdot = known_vdot
        if type(vdot) is not np.ndarray or vdot.dtype is not state.dtype or vdot.shape != state.shape_v:
            vdot = self.vector(vdot, state.shape_v[0], "known_vdot", state.scalar)
        calls, data = state.at_velocities(), state.data
        data.vdot[...] = vdot
        calls.calc_inverse_dynamics(external_forces.F_Bo_W, 0.0)
        return data.tau - external_forces.tau

    def CalcRequiredForces(
        self,
        context: Context,
        vdot: ArrayLike | None = None,
        *,
        gravity: bool = True,
        springs: bool = True,
        damping: float = True,
        body_forces: Matrix | None = None,
    ) -> Vector:
        """tau (nv,) that gives the accelerations vdot (zero if not given) against the chosen forces.

        tau = M vdot + C v - tau_g - springs - damping - sum J^T F, with F (num_bodies, 6) at body origins in World.
        `springs` stands for all force elements but gravity.
        """
        self.check_context(context)
        state = context.state
        vdot = 0.0 if vdot is None else self._numbers(context, vdot, state.shape_v, "vdot")
        element_F, element_tau = self._force_element_forces(context, False, springs, damping)
        calls, data = state.at_velocities(), state.data
        data.vdot[...] = vdot
        if body_forces is not None:
            element_F += body_forces
        calls.calc_inverse_dynamics(element_F, float(gravity))
        return data.tau - element_tau

    def CalcAccelerations(
        self,
        context: Context,
        tau: ArrayLike | None = None,
        u: ArrayLike | None = None,
        body_forces: Matrix | None = None,
    ) -> Vector:
        """vdot (nv,) under gravity, springs, damping, tau (nv,), actuation u (nu,) and body forces (num_bodies, 6).

        In singular positions of constraints those of the motion that v continues; NumericalError if none does.
        """
        self.check_context(context)
        nu = self.model.sizes["nu"]
        state = context.state
        u = np.zeros(nu, state.dtype) if u is None else self._numbers(context, u, (nu,), "u")
        tau = None if tau is None else self._numbers(context, tau, state.shape_v, "tau")
        return self.run_forward_dynamics(context, u, tau, 0.0 if body_forces is None else body_forces)

    def CalcGeneralizedForces(self, context: Context, forces: MultibodyForces) -> Vector:
        """tau + sum J^T F of a set of forces, (nv,)."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if type(forces) is not MultibodyForces or forces.sizes is not self.sizes_of_forces:
            self.check_forces(forces)
        calls, data = state.at_positions(), state.data
        calls.calc_generalized_forces(forces.F_Bo_W)
        return data.tau + forces.tau

    @cached_property
    def _first_limited_joint(self) -> Joint | None:
        """A joint whose limits act in steps; None if there is none."""
        dofs = set(self.model.limit_dof.tolist())
        joints = (mobilized.joint for mobilized in self._mobilized_joints)
        return next((j for j in joints if j.num_velocities() == 1 and j.velocity_start() in dofs), None)

    def CalcForwardDynamics(self, context: Context) -> Vector:
        """vdot (nv,) at this instant under the inputs of the context, gravity, springs and joint damping."""
        self.check_context(context)
        u, tau = self.actuation(context), context.inputs.value("applied_generalized_force", context)
        return self.run_forward_dynamics(context, u, tau, self.input_body_forces(context))

    def _accelerations(self, context: Context) -> Vector:
        """vdot (nv,) under the inputs of the context: at this instant, of a discrete plant over its next step."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        vdot = state.of_inputs.get("vdot")
        return self._calc_accelerations(context) if vdot is None else vdot

    def _calc_accelerations(self, context: Context) -> Vector:
        """As _accelerations(), which it remembers with the forces that go with them."""
        state = context.state
        u, tau = self.actuation(context), context.inputs.value("applied_generalized_force", context)
        F = self.input_body_forces(context)
        stage: tuple[Any, ...] = ()
        if self.is_discrete():
            self.set_controllers(context)
            stage = ("calc_step_dynamics", self._time_step, self.implicit_damping())
        with state.turn:
            vdot = self.run_forward_dynamics(context, u, tau, F, *stage)
            if self.has_controllers():
                u[state.model.pd_actuator] = state.data.pd_effort
            if stage and state.contact is not None:
                state.of_inputs["contacts"] = state.contact.record(state)
            if state.constraints is not None:
                state.of_inputs["constraint_forces"] = state.constraints.forces()
        state.of_inputs.update(vdot=vdot, net_actuation=u)
        return vdot

    def implicit_damping(self) -> float:
        """1 if a step takes joint damping at its end, 0 if at its start."""
        return 1.0 if self.settings.is_convex() else 0.0

    def run_forward_dynamics(
        self, context: Context, u: Any, tau: Any, F: Any, stage: str = "calc_forward_dynamics", *arguments: Any
    ) -> Any:
        """vdot (nv,) under actuation u (nu,), tau (nv,) or None, body forces F (num_bodies, 6) or 0.0, and the model's.

        u is that of the data then.
        """
        if not self.is_discrete() and self.scene_graph is not None:
            F = F + self.contact_body_forces(context, self.record_of_state(context))
        alone = tau is None and type(F) is float  # nothing is applied but the actuation
        state = context.state
        if alone and not (arguments or self.elements.constraints or self._special_force_elements):
            calls, data = state.calls if state.velocities_current else state.at_velocities(), state.data
            data.u[...] = u
            calls.calc_accelerations()
            return data.vdot.copy()
        with state.turn:  # another thread would replace arrays that kernels have by address
            is_step = stage == "calc_step_dynamics"
            if is_step:
                state.scalar.require_unlimited_positions(self._first_limited_joint)
                prepare_contact(state)
            elif self.elements.constraints:
                state.ready_constraints()
            user = None
            if self._special_force_elements:
                self.check_force_elements(context)
                user = self.user_forces(context)
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
                active = state.constraints
            return state.data.vdot.copy()

    def make_context(self, tree: Tree) -> Context:
        """A context below a root."""
        context = self.whole_plant().CreateDefaultContext()
        context.SetTime(tree.time)
        return context

    def EvalTimeDerivatives(self, context: Context) -> ContinuousState:
        """[qdot; vdot] of a plant with time step 0."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        rates = StateVector(state.of_inputs.remember("rates", self._rates, context))
        return ContinuousState(rates, kinds="q" * state.q.size + "v" * state.v.size)

    def _rates(self, context: Context) -> Vector:
        """[qdot; vdot]"""
        state, vdot = context.state, self._accelerations(context)
        if self._joints_with_rpy:
            self._refuse_gimbal_lock(context)
        state.calls.query_qdot(state.v)
        return np.concatenate((state.data.qdot, vdot))
