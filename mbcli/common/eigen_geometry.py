"""Quaternion, AngleAxis and Isometry3, in the module of pydrake's."""

from mbcli.math import AngleAxis, AngleAxis_, Quaternion, Quaternion_
from mbcli.math.isometry import Isometry3, Isometry3_

__all__ = ["AngleAxis", "AngleAxis_", "Isometry3", "Isometry3_", "Quaternion", "Quaternion_"]
