"""Spatial vectors, under the names of pydrake.multibody.math."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.multibody.math.scalar_templates import (
        SpatialAcceleration_ as SpatialAcceleration_,
        SpatialForce_ as SpatialForce_,
        SpatialMomentum_ as SpatialMomentum_,
        SpatialVelocity_ as SpatialVelocity_,
    )
    from mbcli.multibody.math.spatial_vector import (
        ConvertTimeDerivativeToOtherFrame as ConvertTimeDerivativeToOtherFrame,
        SpatialAcceleration as SpatialAcceleration,
        SpatialForce as SpatialForce,
        SpatialMomentum as SpatialMomentum,
        SpatialVelocity as SpatialVelocity,
    )
