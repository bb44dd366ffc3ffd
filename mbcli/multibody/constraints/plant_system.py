"""The equations of motion of a plant under its own constraints, solved by the methods of this package."""

import numpy as np

from mbcli.engine.runtime.kernel import worth_compiling
from mbcli.multibody.compilation.compile_constraints import Tie, compile_constraints
from mbcli.multibody.compilation.constrained_model import ConstrainedModel
from mbcli.multibody.constraints.forward_dynamics import solve_contacts
from mbcli.multibody.constraints.impulses import range_space_impulses
from mbcli.multibody.constraints.inverse_dynamics import (
    exact_inverse_dynamics,
    relaxed_inverse_dynamics,
    tracking_weights,
)
from mbcli.multibody.constraints.linear_systems import (
    LinearSolver,
    SolveConstrainedSystemDirect,
    SolveConstrainedSystemNullSpace,
    solve_range_space,
)
from mbcli.multibody.tree.constraints import ContactConstraint


class PlantSystem:
    """H vdot + C = tau + G^T force and G vdot = gamma at the state of a context, as it is when this is made.

    C has all but tau: gravity, what velocities make, springs, damping and other force elements.

    Args:
        context: of a plant, whose constraints are equations; else ModelError.
        forces: the wanted part of C, as CalcRequiredForces() takes it.

    Attributes:
        H (nv, nv), C (nv,), G (nrow, nv), gamma (nrow,).
        owners: constraint of the plant that each row belongs to.
    """

    def __init__(self, context, **forces):
        state = context.state
        plant = state.plant
        active = state.current_constraints()
        self._v = np.array(state.v)
        self._ties, self.owners, constraints = [], [], compile_constraints(state.model, [])
        if active is not None:
            active.require_equations()
            self._ties, self.owners, constraints = active.rows, active.row_owners, active.arrays
        compiled = state.compiled and worth_compiling(state.v.size)
        self._constrained = constrained = ConstrainedModel(state.model, constraints, compiled)
        constrained.data.q[:], constrained.data.v[:] = state.q, state.v
        constrained.run("calc_constrained_system")
        self.H, self.G, self.gamma = constrained.mass_matrix(), constrained.dense("G"), constrained.rows("gamma")
        self._engine_C = constrained.work.bias.copy()  # without springs and damping
        self.C = plant.CalcRequiredForces(context, **forces)
        self._row_axes = constrained.rows("row_axis_W")

    def accelerations(self, tau, method="range-space"):
        """vdot (nv,) and multipliers (nrow,) under tau (nv,), by `method`: range-space, direct, null-space, kokkevis.

        Dependent rows get the shortest multipliers; `direct` and `kokkevis` raise NumericalError for them. ValueError
        if `kokkevis` meets another constraint than contacts.
        """
        c = tau - self.C
        if method == "direct":
            return SolveConstrainedSystemDirect(self.H, self.G, c, self.gamma)
        if method == "null-space":
            return SolveConstrainedSystemNullSpace(self.H, self.G, c, self.gamma)
        constrained = self._constrained
        constrained.data.tau[:] = c + self._engine_C
        if method == "kokkevis":
            self._require_contacts()
            constrained.data.F_applied[:] = 0.0
            return solve_contacts(constrained, LinearSolver.LinearSolverColPivHouseholderQR)[:2]
        constrained.run("calc_constrained_system")
        return solve_range_space(constrained, np.diag(self.H))

    def impulses(self, method="range-space"):
        """Velocities (nv,) that satisfy the constraints, and the impulses (nrow,) that lead to them."""
        wanted = -self.G @ self._v
        if method == "direct":
            change, impulse = SolveConstrainedSystemDirect(self.H, self.G, np.zeros_like(self._v), wanted)
        elif method == "null-space":
            change, impulse = SolveConstrainedSystemNullSpace(self.H, self.G, np.zeros_like(self._v), wanted)
        else:
            change, impulse = range_space_impulses(self._constrained, np.diag(self.H), wanted)
        return self._v + change, impulse

    def exact_inverse_dynamics(self, actuated, vdot):
        """vdot, tau (nv,) and multipliers, as InverseDynamicsConstraints(); actuated (nv,): bool."""
        S, P = np.eye(len(actuated))[actuated], np.eye(len(actuated))[~actuated]
        return exact_inverse_dynamics(self.H, self.C, self.G, self.gamma, S, P, vdot)

    def relaxed_inverse_dynamics(self, actuated, vdot):
        """vdot, tau (nv,) and multipliers, as InverseDynamicsConstraintsRelaxed(); actuated (nv,): bool."""
        S = np.eye(len(actuated))[actuated]
        W = tracking_weights(self.H, S)
        return relaxed_inverse_dynamics(self.H, self.C, self.G, self.gamma, S, W, vdot)

    def wrenches(self, multipliers):
        """(owner, numbers of its rows, (6,)) for each constraint with rows; None in place of a force for couplings.

        The force on the second body at its point there, in World, rotational part first.
        """
        found = []
        for tie in self._ties:
            if tie.numbers:
                rows = list(tie.numbers)
                force = multipliers[rows] @ self._row_axes[rows] if isinstance(tie, Tie) else None
                found.append((self.owners[rows[0]], rows, force))
        return found

    def _require_contacts(self):
        other = next((owner for owner in self.owners if not isinstance(owner, ContactConstraint)), None)
        if other is not None:
            raise ValueError(f"the method of Kokkevis takes contact constraints only, there is a {other!r}")
