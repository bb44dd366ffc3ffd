"""Spatial vectors, under the names of pydrake.multibody.math."""

from mbcli.multibody.math.spatial_vector import (
    ConvertTimeDerivativeToOtherFrame,
    SpatialAcceleration,
    SpatialForce,
    SpatialMomentum,
    SpatialVelocity,
)

__all__ = [
    "ConvertTimeDerivativeToOtherFrame",
    "SpatialAcceleration",
    "SpatialForce",
    "SpatialMomentum",
    "SpatialVelocity",
]
