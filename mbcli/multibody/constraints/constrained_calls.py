"""Calculations of a set of constraints on a model, each one call of a kernel from arrays to arrays."""

import math
from functools import cached_property

import numpy as np

from mbcli.multibody.compilation.strict_calls import strict_call
from mbcli.multibody.constraints.dense_solver import DenseSolver


class ConstrainedCall:
    """A kernel of engine/queries/constrained_calls.py.

    Attributes:
        run: the kernel. It takes what comes after the handles, refuses other arrays than those of doubles in C order by
            a TypeError, and takes a vector for its results at last.
        size: number of results.
    """

    def __init__(self, constrained, name, given, results):
        """Shapes of what is given, None for an integer, and of the results; an integer is the length of a vector."""
        ends = np.cumsum([math.prod(np.atleast_1d(shape)) for shape in results]).tolist()
        self._parts = [(slice(a, b), shape) for a, b, shape in zip([0, *ends], ends, results, strict=False)]
        self.size = ends[-1]
        examples = [0 if shape is None else np.ones(shape) for shape in given]  # a quaternion of zeros is none
        self.run = strict_call(constrained.kernels, name, constrained.handles, [*examples, np.empty(self.size)])

    def parts(self, results):
        """The arrays that results has, as views of it."""
        return [
            results[part] if isinstance(shape, int) else results[part].reshape(shape) for part, shape in self._parts
        ]


class ConstrainedCalls:
    """The kernels of one ConstrainedModel, each a ConstrainedCall; made when they are first asked for.

    Attributes:
        nrow: number of rows of the constraints.
    """

    def __init__(self, constrained):
        self._constrained = constrained
        sizes = constrained.model.sizes
        self._nq, self._nv, self.nrow = sizes["nq"], sizes["nv"], len(constrained.row_number)

    @cached_property
    def positions(self):
        return self._call("evaluate_constraint_positions", [self._nq], [self.nrow, self._G])

    @cached_property
    def velocities(self):
        return self._call("evaluate_constraint_velocities", [self._nq, self._nv], [self.nrow, self._G])

    @cached_property
    def system(self):
        nv, nrow = self._nv, self.nrow
        results = [(nv, nv), nv, self._G, nrow, nrow, nrow, nv, nrow]
        return self._call("evaluate_constrained_system", [self._nq, nv, nv, (0, 6), None], results)

    @cached_property
    def derivatives(self):
        nv, nrow = self._nv, self.nrow
        given = [self._nq, nv, nv, None, (3 * nv + 4 * nrow, nv)]
        return self._call("evaluate_constrained_derivatives", given, [nv, nrow, nv, nrow])

    @cached_property
    def impulses(self):
        nv, nrow = self._nv, self.nrow
        results = [(nv, nv), self._G, nrow, nrow, nv, nrow]
        return self._call("evaluate_impulses", [self._nq, nv, nrow, None], results)

    @cached_property
    def contact_responses(self):
        square = self.nrow, self.nrow
        return self._call("evaluate_contact_responses", [self._nq, self._nv, self._nv, square], [square, self.nrow])

    @cached_property
    def contact_dynamics(self):
        return self._call("evaluate_contact_dynamics", [self.nrow], [self._nv])

    @cached_property
    def dense(self):
        """The DenseSolver of these constraints; None if kernels are interpreted: then LAPACK takes less time."""
        constrained = self._constrained
        return DenseSolver(constrained.kernels, self._nv, self.nrow) if constrained.compiled else None

    @cached_property
    def dense_contacts(self):
        """The same for the system of the multipliers alone."""
        return DenseSolver(self._constrained.kernels, self.nrow, 0) if self._constrained.compiled else None

    @property
    def _G(self):
        return self.nrow, self._nv

    def _call(self, name, given, results):
        return ConstrainedCall(self._constrained, name, given, results)
