"""Plants from MultibodyPlantConfig, and plants in diagrams, under the names of pydrake.multibody.plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.core.plant_settings import (
    OTHER_DEFAULTS,
    ContactModel,
    DiscreteContactApproximation,
    HydroelasticContactRepresentation,
)
from mbcli.multibody.plant.multibody_plant import MultibodyPlant

if TYPE_CHECKING:
    from mbcli.config.plant_config import MultibodyPlantConfig
    from mbcli.config.scene_graph_config import SceneGraphConfig
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.systems.diagram_builder import DiagramBuilder

CONTACT_MODELS = {
    "point": ContactModel.kPoint,
    "hydroelastic": ContactModel.kHydroelastic,
    "hydroelastic_with_fallback": ContactModel.kHydroelasticWithFallback,
}


def ApplyMultibodyPlantConfig(config: MultibodyPlantConfig, plant: MultibodyPlant) -> None:
    """Gives a plant all settings of a MultibodyPlantConfig but its time step.

    RuntimeError if the plant is finalized or has another time step; then nothing is changed.
    """
    plant.require_not_finalized("ApplyMultibodyPlantConfig")
    if config.time_step != plant.time_step():
        raise RuntimeError(
            f"ApplyMultibodyPlantConfig: the plant's time step is {plant.time_step():g}, time_step of the "
            f"configuration is {config.time_step:g}"
        )
    if config.penetration_allowance is not None:
        plant.set_penetration_allowance(config.penetration_allowance)
    plant.settings.contact_defaults = OTHER_DEFAULTS.get("contact_defaults", config.contact_defaults)
    plant.settings.joint_dry_friction = OTHER_DEFAULTS.get("joint_dry_friction", config.joint_dry_friction)
    of_continuous = OTHER_DEFAULTS.get("continuous_joint_limits", config.continuous_joint_limits)
    plant.settings.continuous_joint_limits = of_continuous
    plant.settings.ball_joints = OTHER_DEFAULTS.get("ball_joints", config.ball_joints)
    plant.set_step_scheme(OTHER_DEFAULTS.get("step_scheme", config.step_scheme))
    if config.stiction_tolerance is not None:
        plant.set_stiction_tolerance(config.stiction_tolerance)
    plant.set_contact_model(CONTACT_MODELS[config.contact_model])
    plant.set_contact_surface_representation(
        HydroelasticContactRepresentation[f"k{config.contact_surface_representation.capitalize()}"]
    )
    if config.sap_near_rigid_threshold is not None:
        plant.set_sap_near_rigid_threshold(config.sap_near_rigid_threshold)
    plant.set_adjacent_bodies_collision_filters(config.adjacent_bodies_collision_filters)
    if plant.is_discrete():
        plant.SetUseSampledOutputPorts(config.use_sampled_output_ports)
        plant.set_sleep_tolerance(config.sleep_tolerance)
        approximation = config.discrete_contact_approximation
        plant.set_discrete_contact_approximation(DiscreteContactApproximation[f"k{approximation.capitalize()}"])


def AddMultibodyPlant(
    plant_config: MultibodyPlantConfig | None = None,
    scene_graph_config: SceneGraphConfig | DiagramBuilder | None = None,
    builder: DiagramBuilder | None = None,
    *,
    config: MultibodyPlantConfig | None = None,
) -> tuple[MultibodyPlant, SceneGraph]:
    """A new plant with the settings of a MultibodyPlantConfig in a DiagramBuilder: (plant, scene_graph).

    AddMultibodyPlant(config, builder), or AddMultibodyPlant(plant_config, scene_graph_config, builder) with settings
    of the scene graph.
    """
    scene: Any = scene_graph_config
    to: Any = builder
    if to is None:
        scene, to = None, scene
    config = plant_config if config is None else config
    if config is None:
        raise TypeError("AddMultibodyPlant needs a MultibodyPlantConfig")
    plant, scene_graph = AddMultibodyPlantSceneGraph(to, config.time_step)
    ApplyMultibodyPlantConfig(config, plant)
    scene_graph.set_config(scene)
    return plant, scene_graph


def AddMultibodyPlantSceneGraph(
    builder: DiagramBuilder,
    time_step: float | None = None,
    scene_graph: SceneGraph | None = None,
    *,
    plant: MultibodyPlant | None = None,
) -> tuple[MultibodyPlant, SceneGraph]:
    """Adds a plant, a new one or one that is there, and a scene graph to a builder, and connects them.

    Args:
      builder: that gets both.
      time_step: of a new plant [s]; 0 for a continuous one. A plant may stand here.
      scene_graph: default: a new one.
      plant: instead of a time step.

    Returns:
      (plant, scene_graph).

    Raises:
      RuntimeError: the builder is None; neither a time step nor a plant is given.

    Example:
      >>> plant, scene_graph = AddMultibodyPlantSceneGraph(builder, time_step=0.001)
      >>> plant.time_step()
      0.001
    """
    if builder is None:
        raise RuntimeError("AddMultibodyPlantSceneGraph: the builder is None")
    if isinstance(time_step, MultibodyPlant):
        time_step, plant = None, time_step
    if plant is None:
        if time_step is None:
            raise RuntimeError("AddMultibodyPlantSceneGraph: neither a time step nor a plant is given")
        plant = MultibodyPlant(time_step)
    if not plant.get_name():
        plant.set_name("plant")
    if scene_graph is None:
        from mbcli.geometry.scene_graph import SceneGraph  # late: many plants have none

        scene_graph = SceneGraph()
    builder.AddSystem(plant)
    builder.AddSystem(scene_graph)
    plant.RegisterAsSourceForSceneGraph(scene_graph)
    return plant, scene_graph
