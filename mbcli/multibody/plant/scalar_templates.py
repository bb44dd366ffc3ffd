"""X_[T] of the classes around a plant; MultibodyPlant_ is in scalar_conversion."""

from mbcli.geometry.coulomb_friction import CoulombFriction
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.math.value_template import ValueTemplate
from mbcli.multibody.core.applied_forces import (
    ExternallyAppliedSpatialForce,
    ExternallyAppliedSpatialForceMultiplexer,
)
from mbcli.multibody.core.contact_results import ContactResults, PointPairContactInfo
from mbcli.multibody.core.deformable_results import DeformableContactInfo
from mbcli.multibody.core.hydroelastic_results import HydroelasticContactInfo
from mbcli.multibody.plant.propeller import Propeller
from mbcli.multibody.plant.wing import Wing

ContactResults_ = ScalarTemplate(ContactResults)
CoulombFriction_ = ValueTemplate(CoulombFriction)
DeformableContactInfo_ = ScalarTemplate(DeformableContactInfo)
ExternallyAppliedSpatialForce_ = ScalarTemplate(ExternallyAppliedSpatialForce)
ExternallyAppliedSpatialForceMultiplexer_ = ScalarTemplate(ExternallyAppliedSpatialForceMultiplexer)
HydroelasticContactInfo_ = ScalarTemplate(HydroelasticContactInfo)
PointPairContactInfo_ = ScalarTemplate(PointPairContactInfo)
Propeller_ = ScalarTemplate(Propeller)
Wing_ = ScalarTemplate(Wing)
