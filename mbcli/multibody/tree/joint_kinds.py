"""What kind of motion a joint has, for those that draw, name and measure its coordinates; none asks for its type."""

from __future__ import annotations

import functools
from importlib import import_module
from typing import TYPE_CHECKING

from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.smooth.joints import prismatic, revolute
from mbcli.engine.smooth.rotations import angles, quaternion

if TYPE_CHECKING:
    from mbcli.multibody.tree.joint import Joint


@functools.cache
def joint_class(type_name: str) -> type[Joint] | None:
    """The class of the joints of a type, as "ball_rpy" has BallRpyJoint; None if there is no such type."""
    if type_name not in ("weld", *JOINT_TYPES):
        return None
    words = "".join(word.capitalize() for word in type_name.split("_"))
    found: type[Joint] = getattr(import_module(f"mbcli.multibody.tree.joints.{type_name}"), f"{words}Joint")
    return found


def has_angular_rate(type_name: str) -> bool:
    """Whether the first velocity of joints of a type is in rad/s, as is said of those of types that are not known."""
    kind = joint_class(type_name)
    return kind is None or any(kind.kinematics.IS_ANGULAR[:1])


def is_weld(joint: Joint) -> bool:
    """Whether M stands still in F."""
    return joint.num_velocities() == 0


def has_quaternion(joint: Joint) -> bool:
    """Whether its first four positions are a quaternion."""
    return joint.kinematics.ROTATION is quaternion


def has_angles(joint: Joint) -> bool:
    """Whether its first three positions are roll, pitch and yaw, whose rates are not its velocities."""
    return joint.kinematics.ROTATION is angles


def turns_about_axis(joint: Joint) -> bool:
    """Whether its motion is a rotation about its axis() and nothing else."""
    return joint.kinematics is revolute


def slides_along_axis(joint: Joint) -> bool:
    """Whether its motion is a translation along its axis() and nothing else."""
    return joint.kinematics is prismatic
