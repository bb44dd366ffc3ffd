"""DofMask: some of the degrees of freedom of a plant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbcli.other_names import also_named

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.index import JointIndex, ModelInstanceIndex


class DofMask:
    """Which of the degrees of freedom of a plant are selected; for plants whose v is the derivative of q.

    Args:
        values: whether each is selected, (n,); or their number n, and
        value: whether all are.

    RuntimeError: the number is below 0.

    Example:
        >>> DofMask([True, False]).Union(DofMask([False, True])).count()
        2
    """

    @also_named(size="values")
    def __init__(self, values: Sequence[bool] | int = (), value: bool | None = None) -> None:
        if isinstance(values, int):
            if values < 0 or value is None:
                raise RuntimeError(f"DofMask({values}, {value}): expected a size of 0 or more, and a bool")
            values = [value] * values
        self.selected: BoolArray = np.array(values, dtype=bool)

    @staticmethod
    @also_named(model_index="model", model_name="model")
    def MakeFromModel(plant: MultibodyPlant, model: ModelInstanceIndex | str) -> DofMask:
        """The degrees of freedom of a model instance, by its index or name; RuntimeError if its v is not dq/dt."""
        _require_rates(plant)
        instance = plant.GetModelInstanceByName(model) if isinstance(model, str) else model
        selected = np.zeros(plant.num_positions(), dtype=bool)
        for joint in plant.moving_joints():
            start = joint.position_start()
            selected[start : start + joint.num_positions()] = joint.model_instance() == instance
        return DofMask(selected.tolist())

    def size(self) -> int:
        """The number of all degrees of freedom."""
        return len(self.selected)

    def count(self) -> int:
        """The number of those that are selected."""
        return int(self.selected.sum())

    def __getitem__(self, index: int) -> bool:
        if not 0 <= index < self.size():
            raise IndexError(f"DofMask of {self.size()} degrees of freedom: there is no number {index}")
        return bool(self.selected[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DofMask) and np.array_equal(self.selected, other.selected)

    def __repr__(self) -> str:
        return f"DofMask({self.selected.tolist()})"

    def Complement(self) -> DofMask:
        """Those that are not selected here."""
        return DofMask((~self.selected).tolist())

    def Union(self, other: DofMask) -> DofMask:
        """Those that are selected in either; RuntimeError if the sizes differ."""
        return DofMask((self.selected | self._other(other)).tolist())

    def Intersect(self, other: DofMask) -> DofMask:
        """Those that are selected in both; RuntimeError if the sizes differ."""
        return DofMask((self.selected & self._other(other)).tolist())

    def Subtract(self, other: DofMask) -> DofMask:
        """Those that are selected here and not there; RuntimeError if the sizes differ."""
        return DofMask((self.selected & ~self._other(other)).tolist())

    def _other(self, other: DofMask) -> BoolArray:
        if other.size() != self.size():
            raise RuntimeError(f"masks of {self.size()} and of {other.size()} degrees of freedom")
        return other.selected

    def GetSelectedToFullIndex(self) -> list[int]:
        """The number of each selected one among all."""
        return [int(k) for k in np.flatnonzero(self.selected)]

    def GetFullToSelectedIndex(self) -> list[int | None]:
        """The number of each among the selected ones, None of others."""
        places = np.cumsum(self.selected) - 1
        return [int(place) if own else None for place, own in zip(places, self.selected, strict=True)]

    def GetJoints(self, plant: MultibodyPlant) -> list[JointIndex]:
        """The joints of the selected ones, in the order of their indices; RuntimeError if the plant does not fit."""
        _require_rates(plant)
        if plant.num_positions() != self.size():
            raise RuntimeError(f"a mask of {self.size()} for a plant of {plant.num_positions()} degrees of freedom")
        joints = plant.moving_joints()
        own = [j for j in joints if self.selected[j.position_start() : j.position_start() + j.num_positions()].any()]
        return sorted((joint.index() for joint in own), key=int)


def _require_rates(plant: MultibodyPlant) -> None:
    """RuntimeError unless v is the derivative of q."""
    if not plant.IsVelocityEqualToQDot():
        raise RuntimeError("a DofMask is of plants whose velocities are the derivatives of their positions")
