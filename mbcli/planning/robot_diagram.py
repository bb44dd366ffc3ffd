"""A plant with its scene graph as one diagram, under the names of pydrake.planning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import AddMultibodyPlantSceneGraph
from mbcli.systems.diagram import Diagram
from mbcli.systems.diagram_builder import DiagramBuilder

if TYPE_CHECKING:
    from mbcli.geometry import SceneGraph
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

NAMES = ("plant", "scene_graph")


class RobotDiagram(Diagram):
    """A diagram with a plant and its scene graph in it; made by RobotDiagramBuilder.Build()."""

    def __init__(self, builder: DiagramBuilder, plant: MultibodyPlant, scene_graph: SceneGraph) -> None:
        super().__init__()
        self._plant, self._scene_graph = plant, scene_graph
        builder.BuildInto(self)

    def plant(self) -> MultibodyPlant:
        """The plant, finalized."""
        return self._plant

    def scene_graph(self) -> SceneGraph:
        """The scene graph."""
        return self._scene_graph

    mutable_scene_graph = scene_graph

    def plant_context(self, root_context: Any) -> Any:
        """The plant's part of a context of the whole diagram, or of one that this diagram is a part of."""
        return self._plant.GetMyContextFromRoot(root_context)

    def scene_graph_context(self, root_context: Any) -> Any:
        """The same of the scene graph."""
        return self._scene_graph.GetMyContextFromRoot(root_context)

    mutable_plant_context, mutable_scene_graph_context = plant_context, scene_graph_context


class RobotDiagramBuilder:
    """Builds a RobotDiagram: a plant, a scene graph that it is connected to, and what is added to builder().

    Args:
      time_step: of the plant [s]; 0 for a continuous one.

    RuntimeError from all methods but IsDiagramBuilt() after Build().
    """

    def __init__(self, time_step: float = 0.001) -> None:
        self._builder: DiagramBuilder | None = DiagramBuilder()
        self._plant, self._scene_graph = AddMultibodyPlantSceneGraph(self._builder, time_step)
        self._parser = Parser(self._plant)

    def builder(self) -> DiagramBuilder:
        """The builder of the diagram, for more systems and ports."""
        if self._builder is None:
            raise RuntimeError("RobotDiagramBuilder: Build() has made its diagram; another needs another builder")
        return self._builder

    def parser(self) -> Parser:
        """A parser that adds to the plant."""
        self.builder()
        return self._parser

    def plant(self) -> MultibodyPlant:
        """The plant."""
        self.builder()
        return self._plant

    def scene_graph(self) -> SceneGraph:
        """The scene graph."""
        self.builder()
        return self._scene_graph

    def IsDiagramBuilt(self) -> bool:
        """Whether Build() was called."""
        return self._builder is None

    def Build(self) -> RobotDiagram:
        """The diagram; finalizes the plant if nobody has.

        It has all ports of plant and scene graph but those that connect them, as `plant_actuation`, unless builder()
        has got more systems or ports, or one of the two another name.
        """
        builder, systems = self.builder(), (self._plant, self._scene_graph)
        if not self._plant.is_finalized():
            self._plant.Finalize()
        as_made = [system.get_name() for system in systems] == [*NAMES] and len(builder.GetSystems()) == len(systems)
        if as_made and not builder.num_input_ports() and not builder.num_output_ports():
            self._export_all(builder)
        self._builder = None
        return RobotDiagram(builder, *systems)

    def _export_all(self, builder: DiagramBuilder) -> None:
        source: Any = self._plant.get_source_id()  # it has one, being registered
        between = [self._plant.get_geometry_query_input_port(), self._scene_graph.get_source_pose_port(source)]
        between.append(self._scene_graph.get_source_configuration_port(source))
        inner = {(port.get_system(), port.get_name()) for port in between}
        for system in (self._plant, self._scene_graph):
            for port in (system.get_input_port(k) for k in range(system.num_input_ports())):
                if (system, port.get_name()) not in inner:
                    builder.ExportInput(port, f"{system.get_name()}_{port.get_name()}")
            for port in (system.get_output_port(k) for k in range(system.num_output_ports())):
                builder.ExportOutput(port, f"{system.get_name()}_{port.get_name()}")
