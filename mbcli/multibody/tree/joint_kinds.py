"""What kind of motion a joint has, for those that draw, name and measure its coordinates; none asks for its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.engine.smooth.joints import prismatic, revolute
from mbcli.engine.smooth.rotations import angles, quaternion

if TYPE_CHECKING:
    from mbcli.multibody.tree.joint import Joint


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
