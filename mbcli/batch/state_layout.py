"""The coordinates that the rows of a batch have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbcli.batch.row_demands import RowDemands
from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


@dataclass(frozen=True)
class StateLayout:
    """The coordinates of a model: the names of the columns of a batch, and the defaults.

    Args:
      position_names: names of q, (nq,).
      velocity_names: names of v, vdot and tau, (nv,).
      actuator_names: names of u, (nu,).
      default_q: default positions [rad or m], (nq,).
      default_v: default velocities [rad/s or m/s], (nv,).
      demands: what rows have to give; default: nothing.
      column_names: names of the columns of text, whose header is not looked at then and need not be there.
      efforts_of: names of actuators whose u, of a log, is to be what acted: with what controllers have added.
    """

    position_names: Sequence[str]
    velocity_names: Sequence[str]
    actuator_names: Sequence[str]
    default_q: FloatArray
    default_v: FloatArray
    demands: RowDemands = RowDemands()
    column_names: Sequence[str] | None = None
    efforts_of: Sequence[str] = ()

    def __post_init__(self) -> None:
        for field, names in (("q", self.position_names), ("v", self.velocity_names)):
            default = np.asarray(getattr(self, f"default_{field}"), dtype=float)
            if default.shape != (len(names),):
                raise ValueError(f"default_{field} has shape {default.shape}, expected ({len(names)},)")
            object.__setattr__(self, f"default_{field}", default)

    def names(self, field: str) -> Sequence[str]:
        """The names of the components of q, v, vdot, tau or u."""
        if field == "q":
            return self.position_names
        return self.actuator_names if field == "u" else self.velocity_names

    def all_names(self) -> dict[str, Sequence[str]]:
        """{field: names of its components}."""
        return {field: self.names(field) for field in ("q", "v", "vdot", "tau", "u")}

    def default(self, field: str) -> FloatArray:
        """The values of the components of a field without input."""
        if field in ("q", "v"):
            return self.default_q if field == "q" else self.default_v
        return np.zeros(len(self.names(field)))
