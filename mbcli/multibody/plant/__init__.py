"""MultibodyPlant and what goes with it, under the names of pydrake.multibody.plant."""

from mbcli.multibody.plant.actuation import ExternallyAppliedSpatialForce
from mbcli.multibody.plant.config import MultibodyPlantConfig
from mbcli.multibody.plant.multibody_plant import DiscreteContactApproximation, MultibodyPlant

__all__ = ["DiscreteContactApproximation", "ExternallyAppliedSpatialForce", "MultibodyPlant", "MultibodyPlantConfig"]
