"""MultibodyPlant_[T]: the plants of each scalar type."""

from mbcli.multibody.core.scalar_classes import plant_template
from mbcli.multibody.plant.multibody_plant import MultibodyPlant

MultibodyPlant_ = plant_template(MultibodyPlant)
