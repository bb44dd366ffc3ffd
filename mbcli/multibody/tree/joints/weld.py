"""WeldJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.engine.smooth.joints import weld
from mbcli.math import RigidTransform
from mbcli.multibody.tree.joint import X, Y, Z
from mbcli.multibody.tree.joints.no_one_force import NoOneForce

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.spec import JointSpec


class WeldJoint(NoOneForce):
    """No motion: M stays at X_FM in F, identity if not given."""

    kinematics = weld
    kTypeName = "weld"

    def __init__(
        self, name: str, frame_on_parent_F: Frame, frame_on_child_M: Frame, X_FM: RigidTransform | None = None
    ) -> None:
        self._X_FM = RigidTransform() if X_FM is None else RigidTransform(X_FM)
        super().__init__(name, frame_on_parent_F, frame_on_child_M)

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec."""
        return cls(spec.name, frame_on_parent, frame_on_child)

    @classmethod
    def from_description(
        cls, name: str, frame_on_parent: Frame, frame_on_child: Frame, stated: Mapping[str, Any]
    ) -> Self:
        """The joint that an entry of `mbcli inspect --json` states, by X_FM."""
        X_FM = RigidTransform(np.array(stated["X_FM"])) if "X_FM" in stated else None
        return cls(name, frame_on_parent, frame_on_child, X_FM)

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold all six directions."""
        return rows.twists(X, Y, Z) + rows.slides(X, Y, Z)

    def X_FM(self) -> RigidTransform:
        """The pose X_FM of frame M in frame F."""
        return RigidTransform(self._X_FM)
