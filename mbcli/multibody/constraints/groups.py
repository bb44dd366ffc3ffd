"""Groups of a constraint set: looking them up, their errors, their stabilization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.constraints.entries import ConstraintType
from mbcli.multibody.constraints.evaluation import Evaluation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class Groups(Evaluation):
    """The part of ConstraintSet that answers for its groups.

    Contact constraints on the same point of the same body are one group, loop constraints between the same frames of
    the same bodies too, wherever they were added; each custom constraint is one. ValueError if there is none.
    """

    def getGroupIndexByName(self, userDefinedName: str) -> int:
        """Group of the constraint with this name, which need not be the first one of the group."""
        return self._group_with("name", userDefinedName)

    def getGroupIndexById(self, userDefinedId: Any) -> int:
        """Group of the constraint with this id of the user."""
        return self._group_with("user_id", userDefinedId)

    def getGroupIndexByAssignedId(self, assignedId: int) -> int:
        """Group of the constraint for which Add...Constraint() returned this id."""
        return self._group_with("assigned_id", assignedId)

    def getGroupIndexMax(self) -> int:
        """The largest index of a group. ValueError for an empty set."""
        if not self.groups:
            raise ValueError("the constraint set is empty: it has no group")
        return len(self.groups) - 1

    def getGroupName(self, groupIndex: int) -> str:
        """Name of the first constraint of the group, empty if it has none."""
        return self._group(groupIndex).first.name or ""

    def getGroupId(self, groupIndex: int) -> Any:
        """The user's id of the first constraint of the group, None if it has none."""
        return self._group(groupIndex).first.user_id

    def getGroupAssignedId(self, groupIndex: int) -> int:
        """Assigned id of the first constraint of the group."""
        return self._group(groupIndex).first.assigned_id

    def getGroupSize(self, groupIndex: int) -> int:
        """Number of equations of the group."""
        return len(self._group(groupIndex).rows)

    def getGroupType(self, groupIndex: int) -> ConstraintType:
        """ConstraintType: 0 contact, 1 loop, 2 custom."""
        return self._group(groupIndex).first.kind

    def calcPositionError(
        self, groupIndex: int, model: MultibodyPlant, Q: ArrayLike, updateKinematics: bool = False
    ) -> Vector:
        """phi (group size,), zero for rows without one at the position level."""
        rows = self._group(groupIndex).rows
        return self.errors_at(model, Q)[0][rows]

    def calcVelocityError(
        self, groupIndex: int, model: MultibodyPlant, Q: ArrayLike, QDot: ArrayLike, updateKinematics: bool = False
    ) -> Vector:
        """G QDot (group size,); for custom constraints, what they say."""
        rows = self._group(groupIndex).rows
        return self.velocity_errors_at(model, Q, QDot)[0][rows]

    # Baumgarte's stabilization: the errors obey d2phi/dt2 + 2 alpha dphi/dt + beta^2 phi = 0

    def calcBaumgarteStabilizationForces(
        self, groupIndex: int, model: MultibodyPlant, positionError: ArrayLike, velocityError: ArrayLike
    ) -> Vector:
        """(group size,): -2 alpha velocityError - beta^2 positionError, what gamma gains if it is enabled."""
        beta, alpha = self.getBaumgarteStabilizationCoefficients(groupIndex)
        size = self.getGroupSize(groupIndex)
        position, velocity = (np.asarray(e, dtype=float) for e in (positionError, velocityError))
        if position.shape != (size,) or velocity.shape != (size,):
            raise ValueError(f"the group has {size} equations, the errors {position.shape} and {velocity.shape}")
        return -2.0 * alpha * velocity - beta**2 * position

    def isBaumgarteStabilizationEnabled(self, groupIndex: int) -> bool:
        """Whether a group is stabilized."""
        group = self._group(groupIndex)
        return bool(group.first.stabilization[0])

    def enableBaumgarteStabilization(self, groupIndex: int) -> None:
        """ValueError for contacts, which have none."""
        group = self._group(groupIndex)
        if group.first.kind is ConstraintType.ConstraintTypeContact:
            raise ValueError("contact constraints have no Baumgarte stabilization")
        self._set_stabilization(group, True)

    def disableBaumgarteStabilization(self, groupIndex: int) -> None:
        """Takes the stabilization of a group away."""
        self._set_stabilization(self._group(groupIndex), False)

    def getBaumgarteStabilizationCoefficients(self, groupIndex: int) -> Vector:
        """(2,) [1/s]: beta of the position error, alpha of the velocity error, both 1 / time constant."""
        return np.full(2, 1.0 / self._group(groupIndex).first.stabilization[1])

    def _set_stabilization(self, group, enabled):
        for entry in group.entries:
            entry.stabilization[0] = enabled
        if self.bound:
            self.write_stabilization()

    def write_stabilization(self) -> None:
        """Tells `constrained` which rows are stabilized."""
        values = np.zeros((len(self.constrained.row_number), 2))
        for index, group in enumerate(self.groups):
            if self.isBaumgarteStabilizationEnabled(index):
                values[group.rows] = self.getBaumgarteStabilizationCoefficients(index)
        self.constrained.set_rows("stabilization", values)

    def _group(self, index):
        if not 0 <= index < len(self.groups):
            raise ValueError(f"the constraint set has no group {index}, it has {len(self.groups)}")
        return self.groups[index]

    def _group_with(self, key, value):
        for index, group in enumerate(self.groups):
            if value is not None and any(getattr(entry, key) == value for entry in group.entries):
                return index
        raise ValueError(f"the constraint set has no constraint with the {key.replace('_', ' ')} {value!r}")
