"""WeldJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.engine.smooth.joints import weld
from mbcli.math import RigidTransform
from mbcli.multibody.tree.joints.no_one_force import NoOneForce

if TYPE_CHECKING:
    from mbcli.multibody.tree.frame import Frame


class WeldJoint(NoOneForce):
    """No motion: M stays at X_FM in F, identity if not given."""

    kinematics = weld
    kTypeName = "weld"

    def __init__(
        self, name: str, frame_on_parent_F: Frame, frame_on_child_M: Frame, X_FM: RigidTransform | None = None
    ) -> None:
        self._X_FM = RigidTransform() if X_FM is None else RigidTransform(X_FM)
        super().__init__(name, frame_on_parent_F, frame_on_child_M)

    def X_FM(self) -> RigidTransform:
        """The pose X_FM of frame M in frame F."""
        return RigidTransform(self._X_FM)
