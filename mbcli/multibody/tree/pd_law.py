"""How the PD controller of an actuator acts in steps: by its gains, or as a run lets it act."""

from math import inf
from typing import Any, Protocol

from mbcli.common.fast_dataclass import dataclass
from mbcli.multibody.tree.checked_numbers import non_negative


class Limited(Protocol):
    """What the controller of a run asks of its actuator."""

    def name(self) -> str: ...
    def effort_limit(self) -> float: ...


@dataclass(kw_only=True)
class PdControllerGains:
    """Gains of -p (q - q_desired) - d (v - v_desired) [N m/rad and N m s/rad, or N/m and N s/m]."""

    p: float = 0.0
    d: float = 0.0


def checked_gains(gains: PdControllerGains, name: str) -> PdControllerGains:
    """A copy of the gains of an actuator of a name. RuntimeError for gains below 0."""
    return PdControllerGains(
        p=non_negative(gains.p, f"actuator '{name}': gain p"), d=non_negative(gains.d, f"actuator '{name}': gain d")
    )


@dataclass(frozen=True)
class PdLaw:
    """What acts.

    Attributes:
        p, d: gains, as of PdControllerGains.
        effort_limit: [N m or N] of all that the actuator gives.
        carry_rate: [1/s] at which it learns to feed its effort forward, see pd_control.py; 0: it does not.
    """

    p: float
    d: float
    effort_limit: float
    carry_rate: float = 0.0


class ControllerOfRun:
    """The controller that an actuator has in a run, in place of its own; all else is the actuator's.

    Args:
        actuator: whose.
        gains: PdControllerGains. RuntimeError for gains below 0.
        carry_rate: as of PdLaw.
        limited: whether the effort limit of the actuator holds.
    """

    def __init__(
        self, actuator: Limited, gains: PdControllerGains, carry_rate: float = 0.0, *, limited: bool = True
    ) -> None:
        self._actuator, self._rate, self._limited = actuator, carry_rate, limited
        self.replace_gains(gains)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # of copies, which ask before there is an actuator
            raise AttributeError(name)
        return getattr(self._actuator, name)

    def replace_gains(self, gains: PdControllerGains) -> None:
        """As of JointActuator, for this run."""
        self._gains = checked_gains(gains, self._actuator.name())

    def has_controller(self) -> bool:
        """As of JointActuator."""
        return self._gains.p != 0.0 or self._gains.d != 0.0

    def get_controller_gains(self) -> PdControllerGains:
        """As of JointActuator: a copy."""
        return PdControllerGains(p=self._gains.p, d=self._gains.d)

    def pd_law(self) -> PdLaw | None:
        """As of JointActuator."""
        limit = self._actuator.effort_limit() if self._limited else inf
        return PdLaw(self._gains.p, self._gains.d, limit, self._rate) if self.has_controller() else None
