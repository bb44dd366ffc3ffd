"""PidController."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.systems.signals import Reproducible

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.systems.ports import InputPort, OutputPort


class PidController(Reproducible):
    """u = P_out (kp e + ki integral of e + kd de/dt) with [e; de/dt] = desired state - P_in estimated state.

    PidController(kp, ki, kd), PidController(state_projection, kp, ki, kd) or
    PidController(state_projection, output_projection, kp, ki, kd); without projections these are identities.

    Args:
        kp, ki, kd: (n,)
        state_projection: P_in (2 n, nx); output_projection: P_out (nu, n).
    """

    def __init__(
        self,
        *projections_and_gains: ArrayLike,
        kp: ArrayLike | None = None,
        ki: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        state_projection: ArrayLike | None = None,
        output_projection: ArrayLike | None = None,
    ) -> None:
        super().__init__()
        given = list(projections_and_gains)
        if kp is None:
            *given, kp, ki, kd = given
        self._kp, self._ki, self._kd = (np.asarray(k, dtype=float).reshape(-1) for k in (kp, ki, kd))
        n = self._kp.size
        if not n == self._ki.size == self._kd.size:
            raise RuntimeError(f"gains have {n}, {self._ki.size} and {self._kd.size} elements")
        P_in = state_projection if state_projection is not None else given.pop(0) if given else np.eye(2 * n)
        P_out = output_projection if output_projection is not None else given.pop(0) if given else np.eye(n)
        self._P_in, self._P_out = np.asarray(P_in, dtype=float), np.asarray(P_out, dtype=float)
        if self._P_in.shape[0] != 2 * n or self._P_out.shape[1] != n:
            raise RuntimeError(f"projections of shapes {self._P_in.shape}, {self._P_out.shape} do not fit {n} gains")
        self._estimated = self.DeclareVectorInputPort("estimated_state", self._P_in.shape[1])
        self._desired = self.DeclareVectorInputPort("desired_state", 2 * n)
        self.DeclareContinuousState(n)
        self.DeclareVectorOutputPort("control", self._P_out.shape[0], self._control)

    def _errors(self, context: Any) -> Any:
        errors, n = self._desired.Eval(context) - self._P_in @ self._estimated.Eval(context), self._kp.size
        return errors[:n], errors[n:]

    def _control(self, context: Any, output: Any) -> None:
        e, rate = self._errors(context)
        integral = context.get_continuous_state_vector().CopyToVector()
        output.SetFromVector(self._P_out @ (self._kp * e + self._ki * integral + self._kd * rate))

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """The error of positions."""
        derivatives.SetFromVector(self._errors(context)[0])

    def get_Kp_vector(self) -> FloatArray:
        """(n,)"""
        return self._kp.copy()

    def get_Ki_vector(self) -> FloatArray:
        """(n,)"""
        return self._ki.copy()

    def get_Kd_vector(self) -> FloatArray:
        """(n,)"""
        return self._kd.copy()

    def set_integral_value(self, context: Any, value: ArrayLike) -> None:
        """Replaces the integral of the error."""
        context.SetContinuousState(value)

    def get_input_port_estimated_state(self) -> InputPort:
        """The state (nx,)."""
        return self._estimated

    def get_input_port_desired_state(self) -> InputPort:
        """[positions; velocities] (2 n,)"""
        return self._desired

    def get_output_port_control(self) -> OutputPort:
        """u (nu,)"""
        return self.get_output_port()
