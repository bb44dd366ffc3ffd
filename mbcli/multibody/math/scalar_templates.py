"""X_[T] of the spatial vectors."""

from mbcli.math import scalar_templates  # noqa: F401  (results may be rotations, which become of the type too)
from mbcli.math.value_template import ValueTemplate
from mbcli.multibody.math import spatial_vector

SpatialAcceleration_ = ValueTemplate(spatial_vector.SpatialAcceleration)
SpatialForce_ = ValueTemplate(spatial_vector.SpatialForce)
SpatialMomentum_ = ValueTemplate(spatial_vector.SpatialMomentum)
SpatialVelocity_ = ValueTemplate(spatial_vector.SpatialVelocity)
