"""X_[T] of the spatial vectors."""

from mbcli.common.scalar_template import ScalarTemplate
from mbcli.multibody.math import spatial_vector

SpatialAcceleration_ = ScalarTemplate(spatial_vector.SpatialAcceleration)
SpatialForce_ = ScalarTemplate(spatial_vector.SpatialForce)
SpatialMomentum_ = ScalarTemplate(spatial_vector.SpatialMomentum)
SpatialVelocity_ = ScalarTemplate(spatial_vector.SpatialVelocity)
