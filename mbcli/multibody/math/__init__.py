"""Spatial vectors, under the names of pydrake.multibody.math."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
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

__getattr__ = lazy_exports(
    __name__,
    {
        "scalar_templates": ("SpatialAcceleration_", "SpatialForce_", "SpatialMomentum_", "SpatialVelocity_"),
        "spatial_vector": (
            "ConvertTimeDerivativeToOtherFrame",
            "SpatialAcceleration",
            "SpatialForce",
            "SpatialMomentum",
            "SpatialVelocity",
        ),
    },
)
