"""MultibodyPlant and the classes around it, under the names of pydrake.multibody.plant."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.config.plant_config import MultibodyPlantConfig
    from mbcli.geometry.coulomb_friction import CalcContactFrictionFromSurfaceProperties, CoulombFriction
    from mbcli.multibody.core.applied_forces import (
        ExternallyAppliedSpatialForce,
        ExternallyAppliedSpatialForceMultiplexer,
    )
    from mbcli.multibody.core.contact_results import ContactResults, PointPairContactInfo
    from mbcli.multibody.core.deformable_results import DeformableContactInfo
    from mbcli.multibody.core.hydroelastic_results import HydroelasticContactInfo
    from mbcli.multibody.core.plant_settings import (
        BaseBodyJointType,
        ContactModel,
        DiscreteContactApproximation,
        DiscreteContactSolver,
    )
    from mbcli.multibody.deformable.deformable_model import DeformableModel, PhysicalModel
    from mbcli.multibody.plant.batch_functions import BatchFunctions
    from mbcli.multibody.plant.config_functions import (
        AddMultibodyPlant,
        AddMultibodyPlantSceneGraph,
        ApplyMultibodyPlantConfig,
    )
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.plant.propeller import Propeller, PropellerInfo
    from mbcli.multibody.plant.scalar_conversion import MultibodyPlant_
    from mbcli.multibody.plant.scalar_templates import (
        ContactResults_,
        CoulombFriction_,
        DeformableContactInfo_,
        ExternallyAppliedSpatialForce_,
        ExternallyAppliedSpatialForceMultiplexer_,
        HydroelasticContactInfo_,
        PointPairContactInfo_,
        Propeller_,
        Wing_,
    )
    from mbcli.multibody.plant.state_functions import StateFunctions
    from mbcli.multibody.plant.wing import Wing
    from mbcli.multibody.tree.constraints import DistanceConstraintParams
    from mbcli.multibody.tree.deformable_body import DeformableBodyId

__all__ = [
    "AddMultibodyPlant",
    "AddMultibodyPlantSceneGraph",
    "ApplyMultibodyPlantConfig",
    "BaseBodyJointType",
    "BatchFunctions",
    "CalcContactFrictionFromSurfaceProperties",
    "ContactModel",
    "ContactResults",
    "DeformableContactInfo",
    "CoulombFriction",
    "DeformableBodyId",
    "DeformableModel",
    "DiscreteContactApproximation",
    "DiscreteContactSolver",
    "DistanceConstraintParams",
    "ExternallyAppliedSpatialForce",
    "ExternallyAppliedSpatialForceMultiplexer",
    "ExternallyAppliedSpatialForceMultiplexer_",
    "ExternallyAppliedSpatialForce_",
    "HydroelasticContactInfo",
    "MultibodyPlant",
    "MultibodyPlantConfig",
    "MultibodyPlant_",
    "PhysicalModel",
    "PointPairContactInfo",
    "Propeller",
    "PropellerInfo",
    "StateFunctions",
    "Wing",
    "ContactResults_",
    "CoulombFriction_",
    "DeformableContactInfo_",
    "HydroelasticContactInfo_",
    "PointPairContactInfo_",
    "Propeller_",
    "Wing_",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "mbcli.config.plant_config": ("MultibodyPlantConfig",),
        "mbcli.multibody.deformable.deformable_model": ("DeformableModel", "PhysicalModel"),
        "mbcli.multibody.core.applied_forces": (
            "ExternallyAppliedSpatialForce",
            "ExternallyAppliedSpatialForceMultiplexer",
        ),
        "batch_functions": ("BatchFunctions",),
        "config_functions": ("AddMultibodyPlant", "AddMultibodyPlantSceneGraph", "ApplyMultibodyPlantConfig"),
        "mbcli.multibody.core.contact_results": ("ContactResults", "PointPairContactInfo"),
        "mbcli.geometry.coulomb_friction": ("CalcContactFrictionFromSurfaceProperties", "CoulombFriction"),
        "mbcli.multibody.core.deformable_results": ("DeformableContactInfo",),
        "mbcli.multibody.core.hydroelastic_results": ("HydroelasticContactInfo",),
        "multibody_plant": ("MultibodyPlant",),
        "propeller": ("Propeller", "PropellerInfo"),
        "scalar_conversion": ("MultibodyPlant_",),
        "scalar_templates": (
            "ContactResults_",
            "CoulombFriction_",
            "DeformableContactInfo_",
            "ExternallyAppliedSpatialForceMultiplexer_",
            "ExternallyAppliedSpatialForce_",
            "HydroelasticContactInfo_",
            "PointPairContactInfo_",
            "Propeller_",
            "Wing_",
        ),
        "mbcli.multibody.core.plant_settings": (
            "BaseBodyJointType",
            "ContactModel",
            "DiscreteContactApproximation",
            "DiscreteContactSolver",
        ),
        "state_functions": ("StateFunctions",),
        "wing": ("Wing",),
        "mbcli.multibody.tree.constraints": ("DistanceConstraintParams",),
        "mbcli.multibody.tree.deformable_body": ("DeformableBodyId",),
    },
)
