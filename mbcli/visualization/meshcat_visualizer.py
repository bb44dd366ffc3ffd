"""Systems that show the geometries and contacts of a plant in a Meshcat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.geometry.properties import Role
from mbcli.geometry.rgba import Rgba
from mbcli.geometry.scene_graph import SceneGraph
from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from mbcli.systems.diagram_builder import DiagramBuilder
    from mbcli.systems.ports import InputPort
    from mbcli.visualization.animation import MeshcatAnimation
    from mbcli.visualization.meshcat import Meshcat


@dataclass
class MeshcatVisualizerParams:
    """Settings of a MeshcatVisualizer.

    Attributes:
        publish_period: [s]
        role: of the geometries that are shown; those that collide are shown by a button of the page.
        default_color: of geometries without a colour.
        prefix: the path above all of them.
        enable_alpha_slider: whether a slider of the page sets their opacity.
    """

    publish_period: float = 1.0 / 64.0
    role: Role = Role.kIllustration
    default_color: Rgba = field(default_factory=lambda: Rgba(0.9, 0.9, 0.9))
    prefix: str = "visualizer"
    delete_on_initialization_event: bool = True
    enable_alpha_slider: bool = False
    initial_alpha_slider_value: float = 1.0
    visible_by_default: bool = True
    show_hydroelastic: bool = False
    include_unspecified_accepting: bool = True


class MeshcatVisualizer(LeafSystem):
    """Publishes the geometries of a QueryObject to a Meshcat."""

    def __init__(self, meshcat: Meshcat, params: MeshcatVisualizerParams | None = None) -> None:
        super().__init__()
        self._meshcat, self._params = meshcat, MeshcatVisualizerParams() if params is None else params
        self._version: Any = None  # of the geometries that are shown
        self._opacity = 1.0
        self._slider = f"{self._params.prefix} α"
        if self._params.enable_alpha_slider:
            meshcat.AddSlider(self._slider, 0.0, 1.0, 0.02, self._params.initial_alpha_slider_value)
        self._query = self.DeclareAbstractInputPort("query_object")
        self.DeclarePeriodicPublishEvent(self._params.publish_period, 0.0, self._publish)
        self.DeclareForcedPublishEvent(self._publish)
        if self._params.delete_on_initialization_event:
            self.DeclareInitializationPublishEvent(lambda context: self.Delete())

    @staticmethod
    def AddToBuilder(
        builder: DiagramBuilder,
        scene_graph: Any = None,
        meshcat: Any = None,
        params: MeshcatVisualizerParams | None = None,
        *,
        query_object_port: Any = None,
    ) -> MeshcatVisualizer:
        """Adds one that is connected to a SceneGraph, or to a port with its QueryObject."""
        given = scene_graph if query_object_port is None else query_object_port
        port = given.get_query_output_port() if isinstance(given, SceneGraph) else given
        params = MeshcatVisualizerParams() if params is None else params
        visualizer = MeshcatVisualizer(meshcat, params)
        visualizer.set_name(f"meshcat_visualizer({params.prefix})")
        builder.AddSystem(visualizer)
        builder.Connect(port, visualizer.query_object_input_port())
        return visualizer

    def query_object_input_port(self) -> InputPort:
        """The port of the QueryObject."""
        return self._query

    def Delete(self) -> None:
        """Takes away what it shows, until it publishes again."""
        self._meshcat.Delete(self._params.prefix)
        self._version = None

    def StartRecording(self, set_transforms_while_recording: bool = True) -> MeshcatAnimation:
        """Records what it publishes; returns the recording."""
        return self._meshcat.StartRecording(1.0 / self._params.publish_period, set_transforms_while_recording)

    def StopRecording(self) -> None:
        """Records nothing from now on."""
        self._meshcat.StopRecording()

    def PublishRecording(self) -> None:
        """Shows the recording in the page."""
        self._meshcat.PublishRecording()

    def DeleteRecording(self) -> None:
        """Forgets the recording."""
        self._meshcat.DeleteRecording()

    def get_mutable_recording(self) -> MeshcatAnimation:
        """RuntimeError if there is none."""
        return self._meshcat.get_mutable_recording()

    def _publish(self, context: Any) -> None:
        query = self._query.Eval(context)
        inspector = query.inspector()
        if inspector.geometry_version() != self._version:
            self._set_objects(inspector)
        if self._params.enable_alpha_slider:
            opacity = self._meshcat.GetSliderValue(self._slider)
            if opacity != self._opacity:
                self._meshcat.SetProperty(self._params.prefix, "opacity", opacity)
                self._opacity = opacity
        time = context.get_time()
        for frame, path in self._frames:
            self._meshcat.SetTransform(path, query.GetPoseInWorld(frame), time)

    def _set_objects(self, inspector: Any) -> None:
        params, meshcat = self._params, self._meshcat
        role = "collision" if params.role is Role.kProximity else "visual"
        self._version, self._opacity = inspector.geometry_version(), 1.0
        self._frames: list[tuple[Any, str]] = []
        for frame in inspector.GetAllFrameIds():
            geometries = [
                g for g in inspector.GetGeometries(frame, params.role) if not inspector.IsDeformableGeometry(g)
            ]
            if not geometries:
                continue
            path = params.prefix
            if frame != inspector.world_frame_id():
                path = f"{path}/{inspector.GetName(frame).replace('::', '/')}"
                self._frames.append((frame, path))
            for g in geometries:
                name = f"{path}/{inspector.GetName(g).replace('::', '/')}"
                properties = inspector.GetProperties(g, params.role)
                color = properties.GetPropertyOrDefault("phong", "diffuse", None)
                color = params.default_color if color is None else Rgba(rgba=list(color))
                meshcat.draw_shape(name, inspector.GetShape(g), color, role)
                meshcat.SetTransform(name, inspector.GetPoseInFrame(g))
        if not params.visible_by_default and role == "visual":
            meshcat.SetProperty(params.prefix, "visible", False)


@dataclass
class ContactVisualizerParams:
    """Settings of a ContactVisualizer: forces below the threshold [N] are left out; the page has its own colours."""

    publish_period: float = 1.0 / 32.0
    color: Rgba = field(default_factory=lambda: Rgba(0.0, 1.0, 0.0))
    hydro_force_color: Rgba = field(default_factory=lambda: Rgba(1.0, 0.0, 0.0))
    hydro_moment_color: Rgba = field(default_factory=lambda: Rgba(0.0, 0.0, 1.0))
    prefix: str = "contact_forces"
    delete_on_initialization_event: bool = True
    force_threshold: float = 0.01
    moment_threshold: float = 0.01
    newtons_per_meter: float = 10.0
    newton_meters_per_meter: float = 3.0
    radius: float = 0.002


class ContactVisualizer(LeafSystem):
    """Shows the forces of ContactResults as arrows of a Meshcat's page."""

    def __init__(self, meshcat: Meshcat, params: ContactVisualizerParams | None = None) -> None:
        super().__init__()
        self._meshcat, self._params = meshcat, ContactVisualizerParams() if params is None else params
        self._results = self.DeclareAbstractInputPort("contact_results")
        self._query = self.DeclareAbstractInputPort("query_object")
        self.DeclarePeriodicPublishEvent(self._params.publish_period, 0.0, self._publish)
        self.DeclareForcedPublishEvent(self._publish)
        if self._params.delete_on_initialization_event:
            self.DeclareInitializationPublishEvent(lambda context: self.Delete())

    @staticmethod
    def AddToBuilder(builder: DiagramBuilder, *given: Any, params: Any = None, **named: Any) -> ContactVisualizer:
        """AddToBuilder(builder, plant, meshcat, params), or with the port of ContactResults in place of the plant."""
        ports = [named.pop(key) for key in ("plant", "contact_results_port", "query_object_port") if key in named]
        values = [*given, *ports, *named.values()]
        kept: Any = next((v for v in values if isinstance(v, ContactVisualizerParams)), params)
        meshcat = next(v for v in values if hasattr(v, "set_contacts"))
        source = next(v for v in values if v is not meshcat and v is not kept)
        port = source.get_contact_results_output_port() if hasattr(source, "num_bodies") else source
        visualizer = builder.AddNamedSystem("contact_visualizer", ContactVisualizer(meshcat, kept))
        builder.Connect(port, visualizer.contact_results_input_port())
        return visualizer

    def contact_results_input_port(self) -> InputPort:
        """The port of the ContactResults."""
        return self._results

    def query_object_input_port(self) -> InputPort:
        """A port that needs no connection."""
        return self._query

    def Delete(self) -> None:
        """Takes the arrows away, until it publishes again."""
        self._meshcat.Delete(self._params.prefix)

    def _publish(self, context: Any) -> None:
        results = self._results.Eval(context)
        infos = [results.point_pair_contact_info(k) for k in range(results.num_point_pair_contacts())]
        found = [(info.contact_point(), info.contact_force()) for info in infos]
        surfaces = [results.hydroelastic_contact_info(k) for k in range(results.num_hydroelastic_contacts())]
        found += [(info.contact_surface().centroid(), info.F_Ac_W().translational()) for info in surfaces]
        kept = [(p, f) for p, f in found if (f @ f) ** 0.5 >= self._params.force_threshold]
        self._meshcat.set_contacts(self._params.prefix, [p for p, _ in kept], [f for _, f in kept])
