"""X_[T] of the classes around a plant; MultibodyPlant_ is in scalar_conversion."""

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody.core.applied_forces import (
    ExternallyAppliedSpatialForce,
    ExternallyAppliedSpatialForceMultiplexer,
)

ExternallyAppliedSpatialForce_ = ScalarTemplate(ExternallyAppliedSpatialForce)
ExternallyAppliedSpatialForceMultiplexer_ = ScalarTemplate(ExternallyAppliedSpatialForceMultiplexer)
