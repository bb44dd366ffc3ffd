"""Forces, accelerations and energy of a plant in a context."""

import numpy as np

from mbcli.multibody.tree.multibody_forces import MultibodyForces


class Dynamics:
    """The part of MultibodyPlant that relates forces and accelerations."""

    def CalcMassMatrix(self, context):
        """M(q), (nv, nv), reflected inertias included, by the composite-rigid-body algorithm."""
        if context._plant is not self:
            self._check_context(context)
        if not context._mass_matrix_current:
            if context._positions_current:
                context._kernels.calc_mass_matrix(context._model_handle, context._data_handle)
            else:  # in one call: half of the time of a small robot is the way into compiled code
                context._ready_parameters()
                context._kernels.full_mass_matrix(context._model_handle, context._data_handle)
                context._positions_current = True
            context._mass_matrix_current = True
        return context._data.M.copy()

    def CalcMassMatrixViaInverseDynamics(self, context):
        """M(q), (nv, nv), one column per unit acceleration."""
        self._check_context(context)
        data = context._at_positions()
        context._forget_velocities()
        context._run("calc_mass_matrix_by_inverse_dynamics")
        context._mass_matrix_current = False
        return data.M.copy()

    def CalcBiasTerm(self, context):
        """C(q, v) v, (nv,): no gravity, no applied forces."""
        self._check_context(context)
        data = context._at_velocities()
        context._run("calc_bias_term")
        return data.tau.copy()

    def CalcGravityGeneralizedForces(self, context):
        """tau_g(q), (nv,), on the side of the applied forces: M vdot + C v = tau_g."""
        self._check_context(context)
        data = context._at_positions()
        context._run("calc_gravity")
        return data.tau.copy()

    def CalcInverseDynamics(self, context, known_vdot, external_forces):
        """tau = M vdot + C v - tau_app - sum J^T F_app, (nv,), with the applied forces in external_forces.

        Gravity and other force elements count only as far as external_forces has them.
        """
        self._check_context(context)
        self._check_forces(external_forces)
        vdot = self._vector(known_vdot, self.num_velocities(), "known_vdot", context._scalar)
        data = context._at_velocities()
        data.vdot[:] = vdot
        data.F_link[:] = external_forces._body_forces
        context._run("calc_inverse_dynamics", 0.0)
        return data.tau - external_forces._generalized_forces

    def CalcRequiredForces(self, context, vdot=None, *, gravity=True, springs=True, damping=True, body_forces=None):
        """tau (nv,) that gives the accelerations vdot (zero where not given) against the chosen forces.

        tau = M vdot + C v - tau_g - springs - damping - sum J^T F, with F (num_bodies, 6) at body origins in World.
        `springs` stands for all force elements but gravity.
        """
        self._check_context(context)
        vdot = 0.0 if vdot is None else self._vector(vdot, self.num_velocities(), "vdot", context._scalar)
        element_F, element_tau = self._force_element_forces(context, False, springs, damping)
        data = context._at_velocities()
        data.vdot[:] = vdot
        data.F_link[:] = element_F if body_forces is None else element_F + body_forces
        context._run("calc_inverse_dynamics", float(gravity))
        return data.tau - element_tau

    def CalcAccelerations(self, context, tau=None, u=None, body_forces=None):
        """vdot (nv,) under gravity, springs, damping, tau (nv,), actuation u (nu,) and body forces (num_bodies, 6)."""
        self._check_context(context)
        dtype, nv = context._scalar.dtype, self.num_velocities()
        applied = np.zeros(nv, dtype) if tau is None else self._vector(tau, nv, "tau", context._scalar)
        if u is not None:
            u = self._vector(u, self._model.sizes["nu"], "u", context._scalar)
            np.add.at(applied, self._model.actuator_dof, u)
        return self._run_forward_dynamics(context, applied, 0.0 if body_forces is None else body_forces).copy()

    def CalcGeneralizedForces(self, context, forces):
        """tau + sum J^T F of a set of forces, (nv,)."""
        self._check_context(context)
        self._check_forces(forces)
        data = context._at_positions()
        data.F_link[:] = forces._body_forces
        context._run("calc_generalized_forces")
        return data.tau + forces._generalized_forces

    def _check_forces(self, forces):
        if not isinstance(forces, MultibodyForces):
            raise TypeError(f"expected MultibodyForces, not {forces!r}")
        if forces.num_bodies() != self.num_bodies() or forces.num_velocities() != self.num_velocities():
            raise RuntimeError(
                f"these forces are for {forces.num_bodies()} bodies and {forces.num_velocities()} velocities, "
                f"the plant has {self.num_bodies()} and {self.num_velocities()}"
            )

    def CalcForwardDynamics(self, context):
        """vdot (nv,) at this instant under the inputs of the context, gravity, springs and joint damping."""
        self._check_context(context)
        tau, F = self._input_generalized_forces(context), self._input_body_forces(context)
        return self._run_forward_dynamics(context, tau, F).copy()

    def _accelerations(self, context):
        """vdot (nv,) under the inputs of the context: at this instant, of a discrete plant over its next step."""
        self._check_context(context)
        if not context._accelerations_current:
            u, F = self._actuation(context), self._input_body_forces(context)
            tau = self._input_generalized_forces(context, u)
            stage = ("calc_forward_dynamics",)
            if self.is_discrete():
                self._set_controllers(context)
                stage = ("calc_step_dynamics", self._time_step, self._implicit_damping())
            context._data.u[:] = u
            context._vdot = self._run_forward_dynamics(context, tau, F, stage).copy()
            if self._has_controllers():
                u[context._model.pd_actuator] = context._data.pd_effort
            context._net_actuation = u
            context._accelerations_current = True
        return context._vdot

    def _implicit_damping(self):
        """1 where a step takes joint damping at its end, 0 where at its start."""
        return 0.0 if self._discrete_contact_approximation == "tamsi" else 1.0

    def _run_forward_dynamics(self, context, tau, body_forces, stage=("calc_forward_dynamics",)):
        """vdot, in the context's data, under tau (nv,), body forces (num_bodies, 6) and all that the model has."""
        self._check_force_elements(context)
        self._refuse_constraints(context._parameters)
        if self._user_force_elements:
            user = self._user_forces(context)
            tau, body_forces = tau + user._generalized_forces, body_forces + user._body_forces
        data = context._at_velocities()
        data.tau[:] = tau
        data.F_link[:] = body_forces
        context._run(*stage)
        return data.vdot

    def EvalTimeDerivatives(self, context):
        """[qdot; vdot] of a plant with time step 0."""
        from mbcli.multibody.plant.context import StateVector

        vdot = self._accelerations(context)
        return StateVector(np.concatenate([self.MapVelocityToQDot(context, context._v), vdot]))

    # energy, momentum, centre of mass

    def CalcKineticEnergy(self, context):
        """[J], reflected inertias included"""
        self._energy(context)
        return context._scalar.number(context._data.energy[0])

    EvalKineticEnergy = CalcKineticEnergy

    def _energy(self, context):
        self._check_context(context)
        context._at_velocities()
        return context._run("calc_energy")

    def CalcBodyEnergies(self, context):
        """{scoped body name: {"kinetic", "potential"}} [J] of every body but World, without reflected inertias."""
        self._check_context(context)
        mass, position, velocity = self._coms(context)
        inertia, V = context._model.link_inertia[1:], context._data.V_WL[1:]
        R = context._data.X_WL[1:, :9].reshape(-1, 3, 3)
        central = inertia[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
        w_L = np.einsum("nji,nj->ni", R, V[:, :3])
        kinetic = 0.5 * (mass * (velocity**2).sum(axis=1) + np.einsum("ni,nij,nj->n", w_L, central, w_L))
        potential = -mass * (position @ context._model.gravity)
        return {
            str(body.scoped_name().get_full()): {
                "kinetic": float(kinetic[n]),
                "potential": float(potential[n]) if self._gravity.acts_on(body) else 0.0,
            }
            for n, body in enumerate(self._bodies[1:])
        }
