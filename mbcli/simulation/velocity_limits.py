"""What becomes of velocities beyond the limits of joints: they end there, are reported, or are just so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.fast_dataclass import dataclass
from mbcli.multibody.core.velocity_limits import velocity_bounds
from mbcli.simulation.limit_choice import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

AT_LIMIT = 1.0 - 1e-3  # of a limit that holds a velocity: it is reached
BEYOND = 1.0 + 1e-9  # of one that does not: it is passed


@dataclass(frozen=True)
class Fast:
    """A velocity that was at its limit, or beyond it where limits do not act.

    Attributes:
        velocity: its name.
        limit: [rad/s or m/s] with the sign of `most`.
        most: [rad/s or m/s] the largest by size, with its sign.
        time: [s] for which it was there, by the rows of the run.
    """

    velocity: str
    limit: float
    most: float
    time: float


class VelocityRecord:
    """Takes rows of velocities (n, nv), one block after another.

    Args:
        plant: finalized.
        choice: one of limit_choice.CHOICES.
    """

    def __init__(self, plant: MultibodyPlant, choice: str) -> None:
        limits = velocity_bounds(plant) if choice != "ignore" else []
        names, share = plant.GetVelocityNames(), AT_LIMIT if choice == "clamp" else BEYOND
        self._dofs = [d for d, _, _ in limits]
        self._names = [names[d] for d in self._dofs]
        self._lower, self._upper = (np.array([limit[end] for limit in limits]) for end in (1, 2))
        self._from = self._lower * share, self._upper * share
        self._most, self._time = np.zeros((2, len(limits)))
        self._end: tuple[float, FloatArray] | None = None  # [s] and velocities of the last row

    def see(self, time: FloatArray, v: FloatArray) -> None:
        """Each row holds until the next one."""
        if not self._dofs:
            return
        times, rows = np.asarray(time), v[:, self._dofs]
        if self._end is not None:
            times, rows = np.append(self._end[0], times), np.vstack([self._end[1], rows])
        there = (rows <= self._from[0]) | (rows >= self._from[1])
        if there.any():
            fast = np.where(there, rows, 0.0)
            largest = fast[np.abs(fast).argmax(axis=0), np.arange(fast.shape[1])]
            self._most = np.where(np.abs(largest) > np.abs(self._most), largest, self._most)
            self._time += np.diff(times) @ there[:-1]
        self._end = float(times[-1]), rows[-1].copy()

    def found(self) -> list[Fast]:
        """The velocities that were at their limits or beyond."""
        return [
            Fast(self._names[k], float((self._upper if most > 0.0 else self._lower)[k]), float(most), float(time))
            for k, (most, time) in enumerate(zip(self._most, self._time, strict=True))
            if most
        ]


def fastest(records: Sequence[VelocityRecord]) -> list[Fast]:
    """Of the runs of many worlds, for each velocity the fastest."""
    found: dict[str, Fast] = {}
    for record in records:
        for fast in record.found():
            if fast.velocity not in found or abs(fast.most) > abs(found[fast.velocity].most):
                found[fast.velocity] = fast
    return list(found.values())


def velocities_in_words(found: Sequence[Fast], choice: str) -> str:
    """One sentence for all of them; "" with "ignore" or if there is none."""
    if not found or choice == "ignore":
        return ""
    joints = listed([f"{e.velocity} ({e.most:.4g} where the limit is {e.limit:g}, {e.time:.3g} s)" for e in found])
    if choice == "clamp":
        return f"joints were held at their velocity limits: {joints}"
    clamp = argument("velocity_limits", "clamp")
    return f"joints were faster than their velocity limits ({clamp} holds them there): {joints}"
