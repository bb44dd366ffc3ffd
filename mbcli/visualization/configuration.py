"""The views that are added to a diagram: geometries of all roles and contacts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.geometry.properties import Role
from mbcli.geometry.rgba import Rgba
from mbcli.visualization.meshcat import StartMeshcat
from mbcli.visualization.meshcat_visualizer import (
    ContactVisualizer,
    ContactVisualizerParams,
    MeshcatVisualizer,
    MeshcatVisualizerParams,
)

if TYPE_CHECKING:
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.systems.diagram_builder import DiagramBuilder
    from mbcli.visualization.meshcat import Meshcat


@dataclass
class VisualizationConfig:
    """What is shown of a plant, and how often [s]. Messages (lcm_bus) and inertias are not published."""

    __hash__ = object.__hash__  # so that one may be the default of a field of a user's dataclass

    lcm_bus: str = "default"
    publish_period: float = 1.0 / 64.0
    publish_illustration: bool = True
    default_illustration_color: Rgba = field(default_factory=lambda: Rgba(0.9, 0.9, 0.9))
    publish_proximity: bool = True
    default_proximity_color: Rgba = field(default_factory=lambda: Rgba(0.8, 0.0, 0.0))
    initial_proximity_alpha: float = 0.5
    publish_contacts: bool = True
    publish_inertia: bool = True
    enable_meshcat_creation: bool = True
    delete_on_initialization_event: bool = True
    enable_alpha_sliders: bool = False


def ApplyVisualizationConfig(
    config: VisualizationConfig,
    builder: DiagramBuilder,
    lcm_buses: Any = None,
    plant: MultibodyPlant | None = None,
    scene_graph: SceneGraph | None = None,
    meshcat: Meshcat | None = None,
    lcm: Any = None,
) -> None:
    """Adds to a builder what shows its plant and scene graph, which are those named so if they are not given."""
    plant = builder.GetSubsystemByName("plant") if plant is None else plant
    scene_graph = builder.GetSubsystemByName("scene_graph") if scene_graph is None else scene_graph
    if meshcat is None and not config.enable_meshcat_creation:
        return
    meshcat = StartMeshcat() if meshcat is None else meshcat
    common: Any = {
        "publish_period": config.publish_period,
        "delete_on_initialization_event": config.delete_on_initialization_event,
        "enable_alpha_slider": config.enable_alpha_sliders,
    }
    if config.publish_illustration:
        color = config.default_illustration_color
        params = MeshcatVisualizerParams(default_color=color, prefix="illustration", **common)
        MeshcatVisualizer.AddToBuilder(builder, scene_graph, meshcat, params)
    if config.publish_proximity:
        params = MeshcatVisualizerParams(
            role=Role.kProximity,
            default_color=config.default_proximity_color,
            prefix="proximity",
            initial_alpha_slider_value=config.initial_proximity_alpha,
            visible_by_default=False,
            **common,
        )
        MeshcatVisualizer.AddToBuilder(builder, scene_graph, meshcat, params)
    if config.publish_contacts:
        deletes = config.delete_on_initialization_event
        contacts = ContactVisualizerParams(config.publish_period, delete_on_initialization_event=deletes)
        ContactVisualizer.AddToBuilder(builder, plant, meshcat, contacts)


def AddDefaultVisualization(builder: DiagramBuilder, meshcat: Meshcat | None = None) -> None:
    """Adds to a builder what shows its plant and scene graph, in a new Meshcat if none is given."""
    ApplyVisualizationConfig(VisualizationConfig(), builder, meshcat=meshcat)
