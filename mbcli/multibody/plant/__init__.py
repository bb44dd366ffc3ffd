"""MultibodyPlant and the classes around it, under the names of pydrake.multibody.plant."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.config.plant_config import MultibodyPlantConfig as MultibodyPlantConfig
    from mbcli.geometry.coulomb_friction import (
        CalcContactFrictionFromSurfaceProperties as CalcContactFrictionFromSurfaceProperties,
        CoulombFriction as CoulombFriction,
    )
    from mbcli.multibody.core.applied_forces import (
        ExternallyAppliedSpatialForce as ExternallyAppliedSpatialForce,
        ExternallyAppliedSpatialForceMultiplexer as ExternallyAppliedSpatialForceMultiplexer,
    )
    from mbcli.multibody.core.contact_results import (
        ContactResults as ContactResults,
        PointPairContactInfo as PointPairContactInfo,
    )
    from mbcli.multibody.core.deformable_results import DeformableContactInfo as DeformableContactInfo
    from mbcli.multibody.core.hydroelastic_results import HydroelasticContactInfo as HydroelasticContactInfo
    from mbcli.multibody.core.plant_settings import (
        BaseBodyJointType as BaseBodyJointType,
        ContactModel as ContactModel,
        DiscreteContactApproximation as DiscreteContactApproximation,
        DiscreteContactSolver as DiscreteContactSolver,
    )
    from mbcli.multibody.deformable.deformable_model import (
        DeformableModel as DeformableModel,
        PhysicalModel as PhysicalModel,
    )
    from mbcli.multibody.plant.batch_functions import BatchFunctions as BatchFunctions
    from mbcli.multibody.plant.config_functions import (
        AddMultibodyPlant as AddMultibodyPlant,
        AddMultibodyPlantSceneGraph as AddMultibodyPlantSceneGraph,
        ApplyMultibodyPlantConfig as ApplyMultibodyPlantConfig,
    )
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant as MultibodyPlant
    from mbcli.multibody.plant.propeller import Propeller as Propeller, PropellerInfo as PropellerInfo
    from mbcli.multibody.plant.scalar_conversion import MultibodyPlant_ as MultibodyPlant_
    from mbcli.multibody.plant.scalar_templates import (
        ContactResults_ as ContactResults_,
        CoulombFriction_ as CoulombFriction_,
        DeformableContactInfo_ as DeformableContactInfo_,
        ExternallyAppliedSpatialForce_ as ExternallyAppliedSpatialForce_,
        ExternallyAppliedSpatialForceMultiplexer_ as ExternallyAppliedSpatialForceMultiplexer_,
        HydroelasticContactInfo_ as HydroelasticContactInfo_,
        PointPairContactInfo_ as PointPairContactInfo_,
        Propeller_ as Propeller_,
        Wing_ as Wing_,
    )
    from mbcli.multibody.plant.state_functions import StateFunctions as StateFunctions
    from mbcli.multibody.plant.wing import Wing as Wing
    from mbcli.multibody.tree.constraints import DistanceConstraintParams as DistanceConstraintParams
    from mbcli.multibody.tree.deformable_body import DeformableBodyId as DeformableBodyId
