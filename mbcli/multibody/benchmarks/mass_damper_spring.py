"""The motion of a mass on a spring and a damper, in closed form."""

from __future__ import annotations

import math


class MassDamperSpringAnalyticalSolution:
    """x(t) of mass x'' + b x' + k x = 0, for any damping.

    Args:
        mass: [kg], greater than 0.
        b: damping [N s/m]; k: stiffness [N/m]; neither is negative. RuntimeError else.
    """

    def __init__(self, mass: float, b: float, k: float) -> None:
        if not mass > 0.0 or b < 0.0 or k < 0.0:
            raise RuntimeError(f"a mass of {mass}, damping of {b} and stiffness of {k} are no such system")
        self._decay, self._square = b / (2.0 * mass), k / mass  # [1/s], [1/s^2]
        self._x0 = self._v0 = 0.0

    def SetInitialValue(self, x0: float, xDt0: float) -> None:
        """x [m] and x' [m/s] at t = 0."""
        self._x0, self._v0 = float(x0), float(xDt0)

    def get_x(self, t: float) -> float:
        """x [m] at a time [s]."""
        return self._at(t)[0]

    def get_xDt(self, t: float) -> float:
        """x' [m/s] at a time [s]."""
        return self._at(t)[1]

    def get_xDtDt(self, t: float) -> float:
        """x'' [m/s^2] at a time [s]."""
        x, v = self._at(t)
        return -2.0 * self._decay * v - self._square * x

    def _at(self, t: float) -> tuple[float, float]:
        """x and x', by the solutions c and s of the equation with c(0) = 1, c'(0) = -decay, s(0) = 0, s'(0) = 1."""
        decay, square = self._decay, self._square
        gap = square - decay * decay
        w = math.sqrt(abs(gap))
        if w * t < 1e-8:  # critical, to rounding
            c, s = 1.0, t
        elif gap > 0.0:
            c, s = math.cos(w * t), math.sin(w * t) / w
        else:  # the exponential goes in, so that neither overflows
            fast, slow = math.exp((-decay - w) * t), math.exp((-decay + w) * t)
            c, s = 0.5 * (slow + fast), 0.5 * (slow - fast) / w
            return self._combined(c, s, decay, square)
        shrunk = math.exp(-decay * t)
        return self._combined(shrunk * c, shrunk * s, decay, square)

    def _combined(self, c: float, s: float, decay: float, square: float) -> tuple[float, float]:
        x0, v0 = self._x0, self._v0
        return x0 * c + (v0 + decay * x0) * s, v0 * c - (decay * v0 + square * x0) * s
