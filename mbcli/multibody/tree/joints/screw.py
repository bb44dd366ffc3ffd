"""ScrewJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.engine.smooth.joints import screw
from mbcli.multibody.tree.joints.one_dof import AxisJoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.parsers.spec import JointSpec

SMALLEST_PITCH = float(np.sqrt(np.finfo(float).eps))  # [m]: below it a translation does not determine the angle


class ScrewJoint(AxisJoint):
    """Rotation [rad] about an axis with `screw_pitch` [m] of translation per revolution; damping in N m s.

    ScrewJoint(name, F, M, screw_pitch, damping), about z, or ScrewJoint(name, F, M, axis, screw_pitch, damping); the
    damping is 0 if it is not given. A force on its coordinate is a torque [N m].
    """

    kinematics = screw
    kTypeName = "screw"
    _rotates = _translates = True

    def __init__(
        self,
        name: str,
        frame_on_parent: Frame,
        frame_on_child: Frame,
        *arguments: Any,
        axis: ArrayLike | None = None,
        screw_pitch: float | None = None,
        damping: float | None = None,
    ) -> None:
        values: dict[str, Any] = {"axis": axis, "screw_pitch": screw_pitch, "damping": damping}
        about_z = axis is None and (not arguments or np.ndim(arguments[0]) == 0)
        order = ("screw_pitch", "damping") if about_z or axis is not None else ("axis", "screw_pitch", "damping")
        for parameter, value in zip(order, arguments, strict=False):
            if values[parameter] is not None:
                raise TypeError(f"ScrewJoint: {parameter} is given twice")
            values[parameter] = value
        if len(arguments) > len(order) or values["screw_pitch"] is None:
            raise TypeError("ScrewJoint takes [axis,] screw_pitch, damping after the frames")
        self._pitch = float(values["screw_pitch"])
        super().__init__(
            name,
            frame_on_parent,
            frame_on_child,
            (0.0, 0.0, 1.0) if about_z else values["axis"],
            -np.inf,
            np.inf,
            values["damping"] or 0.0,
        )

    @classmethod
    def from_spec(cls, spec: JointSpec, frame_on_parent: Frame, frame_on_child: Frame) -> Self:
        """The joint of a JointSpec, by its one axis and its pitch."""
        axis = spec.axes[0]
        joint = cls(spec.name, frame_on_parent, frame_on_child, axis.xyz, spec.screw_pitch, axis.damping)
        joint.set_position_limits([axis.lower], [axis.upper])
        return joint

    @classmethod
    def from_description(
        cls, name: str, frame_on_parent: Frame, frame_on_child: Frame, stated: Mapping[str, Any]
    ) -> Self:
        """The joint that an entry of `mbcli inspect --json` states, by its axis and pitch."""
        return cls(name, frame_on_parent, frame_on_child, stated["axis"], stated["pitch"], 0.0)

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold all but turns about the axis with the travel of the pitch."""
        axis, travel = self.axis(), self.screw_pitch() / (2.0 * np.pi)
        along = rows.threads(axis, travel) if travel else rows.slides(axis)
        return rows.slides(*rows.normals(axis)) + rows.alignments(rows.normals(axis), axis) + along

    def screw_axis(self) -> Vector3:
        """Unit vector (3,), in F and in M."""
        return self.axis()

    def screw_pitch(self) -> float:
        """[m] per revolution"""
        return self._pitch

    def get_rotation(self, context: Context) -> Scalar:
        """[rad]"""
        return self.GetOnePosition(context)

    def set_rotation(self, context: Context, theta: float) -> ScrewJoint:
        """Replaces the rotation [rad] in a context; returns the joint."""
        return self._set_position(context, theta)

    def get_angular_velocity(self, context: Context) -> Scalar:
        """[rad/s]"""
        return self.GetOneVelocity(context)

    def set_angular_velocity(self, context: Context, theta_dot: float) -> Self:
        """Replaces the rate of rotation [rad/s] in a context; returns the joint."""
        return self._set_velocity(context, theta_dot)

    def get_translation(self, context: Context) -> Scalar:
        """[m]"""
        return self._along(self.get_rotation(context))

    def set_translation(self, context: Context, translation: float) -> ScrewJoint:
        """Turns the screw until it has moved so far [m]; RuntimeError without pitch."""
        return self.set_rotation(context, self._about(translation))

    def get_translational_velocity(self, context: Context) -> Scalar:
        """[m/s]"""
        return self._along(self.get_angular_velocity(context))

    def set_translational_velocity(self, context: Context, translation_dot: float) -> ScrewJoint:
        """Replaces the rate of translation [m/s] in a context; returns the joint."""
        return self.set_angular_velocity(context, self._about(translation_dot))

    def get_default_rotation(self) -> float:
        """[rad] in new contexts."""
        return self._default_position()

    def set_default_rotation(self, theta: float) -> None:
        """Replaces the rotation [rad] of new contexts."""
        self.set_default_positions([theta])

    def get_default_translation(self) -> float:
        """[m] in new contexts."""
        return self._along(self._default_position())

    def set_default_translation(self, z: float) -> None:
        """Replaces the translation [m] of new contexts."""
        self.set_default_positions([self._about(z)])

    def set_random_pose_distribution(self, theta: Any) -> None:
        """Distribution of plant.SetRandomState() for the rotation; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, theta, 1))

    def _along(self, angle):
        return self._pitch * angle / (2.0 * np.pi)

    def _about(self, translation):
        if abs(self._pitch) > SMALLEST_PITCH:
            return 2.0 * np.pi * translation / self._pitch
        if translation == 0.0:
            return 0.0
        raise RuntimeError(f"joint '{self._name}' has no pitch: its translation cannot be {translation}")
