"""What the steps of one context need to meet contact and limits of joints."""

from typing import Any

import numpy as np

from mbcli.engine.contact.arrays import FRICTION_SOFTNESS, ContactSolver
from mbcli.engine.fields.collision_fields import FACES_LOADED
from mbcli.engine.fields.contact_fields import (
    COUNT_STATUS,
    COUNT_UNSOLVED,
    LAW_NUMBERS,
    PROBLEM_NOT_CONVERGED,
    PROBLEM_SINGULAR,
    PROBLEM_SOLVED,
    PROBLEM_TOO_MANY_BLOCKS,
    PROBLEM_TOO_MANY_CONSTRAINTS,
    PROBLEM_TOO_MANY_POINTS,
    SAMPLES_STEP,
    SETTING_APPROXIMATION,
    SETTING_FRICTION_SOFTNESS,
    SETTING_NEAR_RIGID,
    SETTING_STICTION,
    STATISTIC_ALL_CONTACTS,
    STATISTIC_ALL_ITERATIONS,
    STATISTIC_LARGEST_RESIDUAL,
    STATISTIC_LAST_CONTACTS,
    STATISTIC_LAST_ITERATIONS,
    STATISTIC_MOST_CONTACTS,
    STATISTIC_MOST_ITERATIONS,
    STATISTIC_PROBLEMS,
)
from mbcli.engine.fields.model_fields import (
    CONTACT_AT_EXACT,
    CONTACT_AT_KEPT,
    CONTACT_AT_SLEEP,
    CONTACT_AT_SOLVE,
    CONTACT_AT_SOLVER,
)
from mbcli.errors import ContactUnsolvedError
from mbcli.multibody.contact.contact_arrays import ContactArrays
from mbcli.multibody.contact.sleep import Sleep

MOST_NAMED = 5
HELD_SOFTLY = 1e-5  # [m/s] stiction tolerance below which friction is regularized in proportion to it


class StepContact(ContactArrays):
    """Solids, contact points and solver of a context of a discrete plant."""

    keeper = "keep_step_contacts"
    faces_left_out = FACES_LOADED

    def __init__(self, plant, model, compiled, earlier=None):
        self.blocks = 8 if earlier is None else earlier.blocks
        self.solver: Any = None if earlier is None else earlier.solver  # its arrays are named by fields
        super().__init__(plant, model, compiled, earlier=earlier)

    def make(self):
        super().make()
        self.renew_solver()

    def renew_solver(self):
        """A solver with as much room as was found to be needed."""
        self._attached = False
        plant, earlier = self.plant, self.solver
        sizes = self.model.sizes
        rows = self.points_room + sizes["nbounded"] + sizes["ntransmission"] + sizes["nelement"] + sizes["nturn"]
        rows += 2 * len(plant.elements.constraints)
        self.solver = self.make_solver(rows, LAW_NUMBERS[plant.settings.discrete_contact_approximation])
        settings = self.solver.settings
        v_s = plant.get_stiction_tolerance()
        settings[SETTING_NEAR_RIGID], settings[SETTING_STICTION] = plant.get_sap_near_rigid_threshold(), v_s
        settings[SETTING_FRICTION_SOFTNESS] = FRICTION_SOFTNESS * min(1.0, v_s / HELD_SOFTLY)
        if earlier is not None:
            self.solver.statistics[:] = earlier.statistics

    def make_solver(self, rows, approximation):
        """A ContactSolver for so many constraints."""
        return ContactSolver(self.model, rows, approximation, blocks_per_tree=self.blocks)

    def set_samples(self):
        super().set_samples()
        self.samples.settings[SAMPLES_STEP] = self.plant.time_step()

    def start_run(self, rows, keeps, exact=False):
        super().start_run(rows, keeps, exact)
        self.solver.statistics[:] = 0.0

    def called(self):
        search = ["add_touching_points_called", "find_contacts_called"]
        return [["solve_problem_called"] + ["exact_forces_called"] * self.exact, search + [self.keeper] * self.keeps]

    def attached(self, state):
        at = super().attached(state)
        at[CONTACT_AT_SOLVER] = self.solver.handle(self.compiled)
        at[CONTACT_AT_SOLVE] = self.function(state.kernels, "solve_problem_called")
        if self.exact:
            at[CONTACT_AT_EXACT] = self.function(state.kernels, "exact_forces_called")
        if state.sleeps:
            if self.sleep is None:
                self.sleep = Sleep(state)
            at[CONTACT_AT_SLEEP] = self.sleep.arrays.handle(self.compiled)
            at[CONTACT_AT_KEPT] = self.sleep.kept.handle(self.compiled)
        return at

    def take_exact_forces(self, h):
        self.call("exact_forces_called", [*self._handles[:3], self.solver.handle(self.compiled)], h)

    def place_of_contact(self, A: int, B: int) -> float:
        """Nearer to the surface of the stiffer solid."""
        k_A, k_B = (self.geometries.solids[k].material[0] for k in (A, B))
        return k_A / (k_A + k_B)

    def failed(self) -> bool:
        """Whether the last step has no result."""
        return self.solver.counts[COUNT_STATUS] != PROBLEM_SOLVED

    def statistics(self):
        """What the problems took so far: {name: number}."""
        total = self.solver.statistics
        problems = max(total[STATISTIC_PROBLEMS], 1.0)
        return {
            "problems": int(total[STATISTIC_PROBLEMS]),
            "mean_contacts": float(total[STATISTIC_ALL_CONTACTS] / problems),
            "most_contacts": int(total[STATISTIC_MOST_CONTACTS]),
            "mean_iterations": float(total[STATISTIC_ALL_ITERATIONS] / problems),
            "most_iterations": int(total[STATISTIC_MOST_ITERATIONS]),
            "largest_residual": float(total[STATISTIC_LARGEST_RESIDUAL]),
            **({} if self.sleep is None else {"sleeping_bodies": self.sleep.count()}),
        }

    def reuse_rows(self):
        super().reuse_rows()
        self._uncount_problem()

    def _uncount_problem(self):
        """The step whose problem was counted last is done again."""
        if self.failed():
            return  # and was not counted
        total = self.solver.statistics
        total[STATISTIC_PROBLEMS] -= 1.0
        total[STATISTIC_ALL_CONTACTS] -= total[STATISTIC_LAST_CONTACTS]
        total[STATISTIC_ALL_ITERATIONS] -= total[STATISTIC_LAST_ITERATIONS]

    def make_room(self) -> None:
        """After failed(): doubles what was too small; ContactUnsolvedError if it was not for want of room."""
        status = self.solver.counts[COUNT_STATUS]
        if status == PROBLEM_NOT_CONVERGED:
            raise ContactUnsolvedError(
                f"the contact problem of the step has no solution that was found{self._culprits()}"
            )
        if status == PROBLEM_SINGULAR:
            raise ContactUnsolvedError(f"the contact problem of the step is singular{self._culprits()}")
        if status == PROBLEM_SOLVED:
            self._uncount_problem()
        if status in (PROBLEM_SOLVED, PROBLEM_TOO_MANY_POINTS):
            self.grow()
        if status == PROBLEM_TOO_MANY_CONSTRAINTS:
            self.points_room *= 2
        if status == PROBLEM_TOO_MANY_BLOCKS:
            self.blocks *= 2
        if status in (PROBLEM_TOO_MANY_CONSTRAINTS, PROBLEM_TOO_MANY_BLOCKS):
            self.make()

    def _culprits(self):
        """The bodies in contact in the island that has no solution, the deepest first, for a message."""
        solver = self.solver
        k = solver.counts[COUNT_UNSOLVED]
        pairs = self.unsolved_pairs(solver.con_order[solver.island_con[k] : solver.island_con[k + 1]])
        more = f", and {len(pairs) - MOST_NAMED} other pairs" if len(pairs) > MOST_NAMED else ""
        return f": in contact are {', '.join(pairs[:MOST_NAMED])}{more}" if pairs else ""

    def unsolved_pairs(self, members):
        """Names of the pairs of bodies whose contacts are among constraints, the deepest first."""
        solver = self.solver
        points = solver.con_source[members[solver.con_kind[members] == int(solver.settings[SETTING_APPROXIMATION])]]
        return self.named_pairs(points[np.argsort(self.points.distance[points], kind="stable")])
