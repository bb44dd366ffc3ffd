"""The compiled solutions of the dense systems of one set of constraints."""

import numpy as np

from mbcli.engine.constraints.dense_systems import registers_of_row
from mbcli.engine.fields.assembly_fields import SPARE_ROWS
from mbcli.engine.runtime.lane_memory import aligned_zeros
from mbcli.multibody.compilation.strict_calls import strict_call


class DenseSolver:
    """The kernels of engine/constraints/dense_systems.py for nv velocities and nrow rows, with memory of their own.

    Arguments are arrays of doubles in C order. All return None where the rank is in doubt: LAPACK decides there.
    """

    def __init__(self, kernels, nv, nrow):
        size = nv + nrow
        self._nv, self._nrow = nv, nrow
        self._panel = aligned_zeros((size + SPARE_ROWS) * (registers_of_row(size + 1) + 1)).reshape(-1)
        self._order = np.zeros(size, dtype=int)
        self._kernels, self._calls = kernels, {}

    def solve_directly(self, H, G, c, gamma):
        """x (nv,) and y (nrow,) of [H G^T; G 0] [x; -y] = [c; gamma], by column pivoting of this matrix."""
        x, y = np.empty(self._nv), np.empty(self._nrow)
        return (x, y) if self._run("solve_directly", H, G, c, gamma, self._panel, self._order, x, y) else None

    def solve_in_null_space(self, H, G, c, gamma):
        """The same, x by its parts in the range of G^T and in the null space of G."""
        x, y = np.empty(self._nv), np.empty(self._nrow)
        return (x, y) if self._run("solve_in_null_space", H, G, c, gamma, self._panel, self._order, x, y) else None

    def find_shortest_change(self, G, errors, weights):
        """The x (nv,) with G x = errors and the smallest sum of weights times squares."""
        x = np.empty(self._nv)
        return x if self._run("find_shortest_change", G, errors, weights, self._panel, self._order, x) else None

    def find_actuation(self, H, C, G, gamma, free, wanted):
        """vdot, tau (nv,) and multipliers, where the constraints determine the velocities `free`, whose tau is zero."""
        vdot, tau, force = wanted.copy(), np.empty(self._nv), np.empty(self._nrow)
        panel, order = self._panel, self._order
        done = self._run("find_actuation", H, C, G, gamma, free, panel, order, vdot, tau, force)
        return (vdot, tau, force) if done else None

    def _run(self, name, *arguments):
        call = self._calls.get(name)
        if call is None:
            examples = [np.array(argument) for argument in arguments]
            call = self._calls[name] = strict_call(self._kernels, name, (), examples)
        return call(*arguments) == 0
