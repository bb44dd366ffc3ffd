"""What acts in the steps of a run: actuation over time, forces on links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.stepping.pushes import SAME_TIME, share_of_step
from mbcli.errors import ModelError
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce

ALWAYS = np.array([-math.inf])


@dataclass
class Input:
    """Actuation over time: values (k, nu) [N m or N] that hold from their time [s] until the next.

    asked (k, n): what is asked of the plugins of a model, likewise; None: nothing. aimed: names of actuators whose
    controllers it aims. cut: (name, the most beyond its control range, the end of that) of what acts only there.
    """

    times: np.ndarray
    values: np.ndarray
    asked: np.ndarray | None = None
    aimed: frozenset[str] = frozenset()
    cut: tuple[tuple[str, float, float], ...] = ()

    def __post_init__(self):
        self.times = np.ascontiguousarray(self.times, dtype=float)
        self.values = np.ascontiguousarray(self.values, dtype=float)
        if self.times.size == 0 or np.isnan(self.times).any() or not (np.diff(self.times) > 0.0).all():
            raise ModelError("the times of an input series must increase")
        if self.values.ndim != 2 or self.values.shape[0] != self.times.size:
            raise ModelError(f"an input series of {self.times.size} times has values of shape {self.values.shape}")


def constant_input(u: ArrayLike) -> Input:
    """The same actuation u (nu,) at all times."""
    return Input(ALWAYS, np.atleast_2d(np.asarray(u, dtype=float)))


@dataclass(frozen=True)
class LinkForce:
    """A force (6,) in World, moment [N m] first, from the time `start` to `end` [s] on a link.

    It acts at a point (3,) [m] of the frame of the link. A controller may change the numbers in `force` at its calls.
    """

    link: int
    point: np.ndarray
    force: np.ndarray
    start: float
    end: float

    def share(self, time: float, step: float) -> float:
        """The part of a step [s] from a time [s] during which it acts; of no step, 1 at the times when it does."""
        if step > 0.0:
            return float(share_of_step(np.array([[self.start, self.end]]), 0, time, step))
        return float(self.start <= time + SAME_TIME < self.end)

    def applied(self, share: float = 1.0) -> ExternallyAppliedSpatialForce:
        """As ports take it, or a part of it."""
        from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce  # late: few runs need it

        applied = ExternallyAppliedSpatialForce()
        applied.body_index, applied.p_BoBq_B = BodyIndex(self.link), self.point
        applied.F_Bq_W = SpatialForce(share * self.force[:3], share * self.force[3:])
        return applied


def applied_forces(forces: Iterable[LinkForce], time: float, step: float) -> list[ExternallyAppliedSpatialForce]:
    """Those that act in a step [s] from a time [s], each by its part of the step; step 0: those that act then."""
    shares = [(force, force.share(time, step)) for force in forces]
    return [force.applied(share) for force, share in shares if share > 0.0]
