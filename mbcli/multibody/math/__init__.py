"""Spatial vectors, under the names of pydrake.multibody.math."""

from mbcli.multibody.math.scalar_templates import (
    SpatialAcceleration_,
    SpatialForce_,
    SpatialMomentum_,
    SpatialVelocity_,
)
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
    "SpatialAcceleration_",
    "SpatialForce",
    "SpatialForce_",
    "SpatialMomentum",
    "SpatialMomentum_",
    "SpatialVelocity",
    "SpatialVelocity_",
]
