"""Calculations of a set of constraints on a model, each one call of a kernel from arrays to arrays."""

from functools import cached_property

import numpy as np

from mbcli.multibody.compilation.strict_calls import strict_call


class ConstrainedCalls:
    """The kernels of engine/queries/constrained_calls.py, of one ConstrainedModel; made when they are first asked for.

    They take what comes after the handles, and refuse other arrays than those of doubles in C order by a TypeError.

    Attributes:
        order: what all of them take first: the caller's number of each row.
    """

    def __init__(self, constrained):
        self._constrained = constrained
        self.order = np.ascontiguousarray(constrained.row_number, dtype=np.int64)
        sizes = constrained.model.sizes
        self._nq, self._nv, self._nrow = sizes["nq"], sizes["nv"], len(self.order)

    @cached_property
    def positions(self):
        return self._call("evaluate_constraint_positions", self._nq, self._nrow, self._G)

    @cached_property
    def velocities(self):
        return self._call("evaluate_constraint_velocities", self._nq, self._nv, self._nrow, self._G)

    @cached_property
    def system(self):
        nv, nrow = self._nv, self._nrow
        shapes = self._nq, nv, nv, (0, 6), (nv, nv), nv, self._G, (3, nrow), None, nv, nrow
        return self._call("evaluate_constrained_system", *shapes)

    @cached_property
    def impulses(self):
        nv, nrow = self._nv, self._nrow
        return self._call("evaluate_impulses", self._nq, nv, nrow, (nv, nv), self._G, (2, nrow), None, nv, nrow)

    @cached_property
    def contact_responses(self):
        square = self._nrow, self._nrow
        return self._call("evaluate_contact_responses", self._nq, self._nv, self._nv, square, self._nrow, square)

    @cached_property
    def contact_dynamics(self):
        return self._call("evaluate_contact_dynamics", self._nrow, self._nv)

    @property
    def _G(self):
        return self._nrow, self._nv

    def _call(self, name, *shapes):
        """The kernel for arrays of these shapes, and for an integer where a shape is None."""
        examples = [0 if shape is None else np.ones(shape) for shape in shapes]  # a quaternion of zeros is none
        constrained = self._constrained
        return strict_call(constrained.kernels, name, constrained.handles, [self.order, *examples])
