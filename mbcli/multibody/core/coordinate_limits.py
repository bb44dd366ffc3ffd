"""Limits of coordinates and efforts of a plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.core.coordinates import moving_joints

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.joint import Joint

EMPTY = np.zeros(0)


def GetPositionLowerLimits(plant: PlantData) -> Vector:
    """The least position of each joint.

    Returns:
      (nq,) [rad or m], -inf if there is none.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> robot.GetPositionLowerLimits()[-3:].round(2)
      array([-0.8, -1.6, -2.7])
    """
    return _limits_vector(plant, "position", 0)


def GetPositionUpperLimits(plant: PlantData) -> Vector:
    """The greatest position of each joint.

    Returns:
      (nq,) [rad or m], inf if there is none.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> robot.GetPositionUpperLimits()[-3:].round(2)
      array([0.8, 2.6, 0. ])
    """
    return _limits_vector(plant, "position", 1)


def GetVelocityLowerLimits(plant: PlantData) -> Vector:
    """The least velocity of each joint.

    Returns:
      (nv,) [rad/s or m/s], -inf if there is none.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetVelocityLowerLimits()
      array([-inf, -20.])
    """
    return _limits_vector(plant, "velocity", 0)


def GetVelocityUpperLimits(plant: PlantData) -> Vector:
    """The greatest velocity of each joint.

    Returns:
      (nv,) [rad/s or m/s], inf if there is none.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetVelocityUpperLimits()
      array([inf, 20.])
    """
    return _limits_vector(plant, "velocity", 1)


def GetAccelerationLowerLimits(plant: PlantData) -> Vector:
    """(nv,) [rad/s^2 or m/s^2], -inf if there is none. After Finalize()."""
    return _limits_vector(plant, "acceleration", 0)


def GetAccelerationUpperLimits(plant: PlantData) -> Vector:
    """(nv,) [rad/s^2 or m/s^2], inf if there is none. After Finalize()."""
    return _limits_vector(plant, "acceleration", 1)


def GetEffortLowerLimits(plant: PlantData) -> Vector:
    """The least effort of each actuator.

    Returns:
      (nu,) [N m or N], -inf if there is none.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetEffortLowerLimits()
      array([-10.])
    """
    return -GetEffortUpperLimits(plant)


def GetEffortUpperLimits(plant: PlantData) -> Vector:
    """The greatest effort of each actuator.

    Returns:
      (nu,) [N m or N], inf if there is none.

    Raises:
      RuntimeError: before Finalize().

    Example:
      >>> plant.GetEffortUpperLimits()
      array([10.])
    """
    plant.require_finalized("GetEffortUpperLimits")
    limits = [a.effort_limit() for a in plant.elements.actuators]
    return np.array(limits + [np.inf] * len(plant.elements.transmission_actuators))


def _limits_vector(plant: PlantData, kind: str, side: int) -> Vector:
    """Those of one kind of all joints; side: 0 for the lower ones, 1 for the upper ones."""
    plant.require_finalized(f"Get{kind.capitalize()}{('Lower', 'Upper')[side]}Limits")
    return np.concatenate([EMPTY, *(joint.limits[kind][side] for joint in plant.joints_by_place)])


def joints_by_place(plant: PlantData) -> list[Joint]:
    """The joints in the order of their positions, which is that of their velocities."""
    return sorted(moving_joints(plant), key=lambda joint: (joint.position_start(), joint.velocity_start()))
