"""Orientations drawn uniformly, under the names of pydrake.math; the generator is numpy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.math.quaternion import AngleAxis, Quaternion
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.math.rotation_matrix import RotationMatrix

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector3


def UniformlyRandomQuaternion(generator: np.random.Generator) -> Quaternion:
    """Return a unit quaternion drawn uniformly from the sphere in four dimensions."""
    direction = generator.standard_normal(4)
    return Quaternion(wxyz=direction / np.sqrt(direction.dot(direction)))


def UniformlyRandomAngleAxis(generator: np.random.Generator) -> AngleAxis:
    """Return the angle and axis of a uniformly drawn rotation."""
    return AngleAxis(quaternion=UniformlyRandomQuaternion(generator))


def UniformlyRandomRotationMatrix(generator: np.random.Generator) -> RotationMatrix:
    """Return the matrix of a uniformly drawn rotation."""
    return RotationMatrix(quaternion=UniformlyRandomQuaternion(generator))


def UniformlyRandomRPY(generator: np.random.Generator) -> Vector3:
    """Return roll, pitch and yaw (3,) [rad] of a uniformly drawn rotation."""
    return RollPitchYaw(quaternion=UniformlyRandomQuaternion(generator)).vector()
