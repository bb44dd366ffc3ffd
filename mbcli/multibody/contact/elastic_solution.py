"""The solution of a step of elastic bodies in contact: Newton's method about the contact problem of the step.

Each iteration linearizes the elastic forces at the velocities found and solves the contact problem of the vertices that
take part, whose mass matrix is the Schur complement of the rest of their body. Rows and laws are those of the start.
"""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from mbcli.engine.fields.contact_fields import COUNT_STATUS, PROBLEM_SOLVED, VECTOR_FREE, VECTOR_VELOCITY
from mbcli.engine.runtime.lane_memory import WIDTH
from mbcli.errors import NumericalError
from mbcli.multibody.contact.elastic_free_step import SLOW
from mbcli.multibody.contact.elastic_results import TOLERANCE, ElasticResults

MOST_ITERATIONS = 60
GIVEN_UP = 0.1  # change by the last iteration above which a step is an error
STUCK, FAST, LEAST_SHARE = (
    0.9,
    0.5,
    0.125,
)  # reductions of the change after which iterations go less, more of their way


class ElasticSolution(ElasticResults):
    """The part of ElasticStep that solves the step.

    Attributes:
        moving: whether each body is enabled.
        _lasts: vertices of each body that take part; _starts: the first velocity of each body in the problem.
        _dofs, _weights: of the rows, as solve_elastic_problem() takes them.
    """

    moving: list[bool]
    _lasts: list[np.ndarray]
    _starts: list[int]
    _dofs: np.ndarray
    _weights: np.ndarray

    def _converge(self, found, slots, h):
        """Newton's method from the velocities found; whether every contact problem on the way has a solution.

        An iteration that hardly does better than the one before is followed by one with matrices made anew, and by
        shorter steps as long as there is no progress: they would go round in circles.
        """
        before, share, same_masses = np.inf, 1.0, True
        for k in range(MOST_ITERATIONS):
            self.change = self._improve(found, slots, share, None if k else h, same_masses)
            same_masses = True
            if self.solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
                return False
            if self.change <= TOLERANCE:
                return True
            if self.change > SLOW * before:
                self._linearize(found, slots)
                same_masses = False
            if self.change > STUCK * before:
                share = max(0.5 * share, LEAST_SHARE)
            elif self.change < FAST * before:
                share = min(2.0 * share, 1.0)
            before = self.change
        if self.change > GIVEN_UP:
            raise NumericalError(
                "the step of deformable bodies in contact has no solution that was found: their velocities still "
                f"change by {self.change:.2g} of themselves in iteration {MOST_ITERATIONS}; shorter steps may help"
            )
        return True

    def _improve(self, found, slots, share, h, same_masses):
        """An iteration of bodies in contact from the velocities found, which move by a share of it.

        h: step [s], None if the rows are already in the problem; same_masses: whether the masses are, too. Returns the
        largest relative change of a body.
        """
        solver, state = self.solver, self._state
        halves = [None] * len(found)
        for a, (body, place) in enumerate(zip(self.bodies, slots, strict=True)):
            if place is not None:
                with self._naming(body):
                    halves[a], solver.vectors[VECTOR_FREE, place] = body.halfway(found[a])
        model, handle = state.model_handle, solver.handle(self.compiled)
        if h is None:
            state.kernels.solve_problem_again(model, handle, int(same_masses))
        else:
            rows = self.rows
            arrays = self._dofs, self._weights, rows.rigid, rows.places, rows.laws, self.index
            state.kernels.solve_elastic_problem(model, state.data_handle, handle, *arrays, h)
        largest = 0.0
        if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
            return largest
        for a, (body, place) in enumerate(zip(self.bodies, slots, strict=True)):
            if place is not None:
                with self._naming(body):
                    following = body.completed(found[a], halves[a], solver.vectors[VECTOR_VELOCITY, place])
                largest = max(largest, body.rate(following - found[a], following))
                found[a] = following if share == 1.0 else found[a] + share * (following - found[a])
        return float(np.sqrt(largest))

    def _linearize(self, found, slots):
        """The matrices of the bodies in contact at the velocities found."""
        for a, (body, place) in enumerate(zip(self.bodies, slots, strict=True)):
            if place is not None:
                with self._naming(body):
                    body.factorize(self._lasts[a], found[a])
                self._place_masses(a)

    def _slots_of(self, a):
        """The slots of the velocities of a body in the problem; None if it has none there."""
        count, solver = 3 * len(self._lasts[a]), self.solver
        if not self.moving[a] or not count:
            return None
        first = int(solver.dof_slot[self._starts[a]])
        return slice(first, first + count)

    def _place_masses(self, a):
        """Puts the Schur complement of a body into the problem."""
        body, solver, start = self.bodies[a], self.solver, self._starts[a]
        size = len(body.factor.schur)
        width = -(-size // WIDTH) * WIDTH
        first_row = int(solver.dof_row[start]) + start
        solver.mass[first_row : first_row + size * width].reshape(size, width)[:, :size] = body.factor.schur

    @contextmanager
    def _naming(self, body):
        """Names an elastic body in the errors of its step."""
        try:
            yield
        except NumericalError as error:
            name = self.plant.elements.deformable_bodies[self.bodies.index(body)].full_name()
            raise NumericalError(f"deformable body '{name}': {error}") from None
