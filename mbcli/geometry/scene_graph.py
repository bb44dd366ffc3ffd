"""SceneGraph: the geometries of a scene, under the names of pydrake.geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.geometry.collision_filter_manager import CollisionFilterManager
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.geometry.registry import Registry
from mbcli.systems.system import InputPort, OutputPort, StatelessContext, System, Tree

if TYPE_CHECKING:
    from mbcli.config.scene_graph_config import SceneGraphConfig
    from mbcli.geometry.identifiers import FrameId, SourceId
    from mbcli.geometry.query_object import QueryObject


class SceneGraph(System):
    """The geometries that plants register, and the filters between them.

    Args:
        config: SceneGraphConfig; its default proximity properties stand in for those that geometries lack. Without
            one, stiffness and dissipation follow from the penetration allowance of the plant, or are pydrake's
            (MultibodyPlantConfig.contact_defaults).
    """

    def __init__(self, config: SceneGraphConfig | None = None) -> None:
        self._name = "scene_graph"
        self.config = config  # as it was given
        self.registry = Registry()
        self._pose_ports: dict[SourceId, InputPort] = {}
        self._query_port = OutputPort(self, "query", self._query_object)

    # ports

    def input_ports(self) -> list[InputPort]:
        """All input ports, by index."""
        for source in self.registry.sources:
            if source not in self._pose_ports:
                name = f"{self.registry.sources[source]}_pose"
                self._pose_ports[source] = InputPort(self, name, len(self._pose_ports))
        return list(self._pose_ports.values())

    def output_ports(self) -> list[OutputPort]:
        """All output ports, by index."""
        return [self._query_port]

    def get_source_pose_port(self, id: SourceId) -> InputPort:
        """The port that takes the poses of the frames of a source. RuntimeError if there is no such source.

        A plant's geometries are where the state of the plant has them, whether its poses are connected or not.
        """
        self.input_ports()
        if id not in self._pose_ports:
            raise RuntimeError(f"there is no geometry source {id}")
        return self._pose_ports[id]

    def get_query_output_port(self) -> OutputPort:
        """A QueryObject of the plant of this scene graph in the diagram. RuntimeError unless there is one."""
        return self._query_port

    def _query_object(self, context: Any) -> QueryObject:
        from mbcli.geometry.query_object import QueryObject  # late: many programs have no geometries

        self.check_context(context)
        plants = [c for c in context.tree.plants if c.state.plant.scene_graph is self]
        if len(plants) != 1:
            raise RuntimeError(f"the scene graph has {len(plants)} plants in this diagram, queries need one")
        return QueryObject(self.registry, plants[0].state.plant, plants[0])

    def CreateDefaultContext(self) -> StatelessContext:
        """A context without a plant, whose queries are refused; those of diagrams have one."""
        return self.make_context(Tree())

    def make_context(self, tree: Tree) -> StatelessContext:
        """A context below a root."""
        return StatelessContext(self, tree)

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, StatelessContext) or context.system is not self:
            raise RuntimeError("the context was not made by this SceneGraph")

    # geometries

    def get_config(self) -> SceneGraphConfig:
        """SceneGraphConfig, the defaults if none was given."""
        from mbcli.config.scene_graph_config import SceneGraphConfig

        return SceneGraphConfig() if self.config is None else self.config

    def set_config(self, config: SceneGraphConfig) -> None:
        """Replaces the configuration."""
        self.config = config
        self.registry.revision += 1

    def world_frame_id(self) -> FrameId:
        """The frame of the world, which is there from the beginning."""
        return self.registry.world_frame

    def model_inspector(self) -> SceneGraphInspector:
        """A SceneGraphInspector of the geometries and filters."""
        return SceneGraphInspector(self.registry)

    def collision_filter_manager(self, context: object = None) -> CollisionFilterManager:
        """The manager of the filters of all contexts, as geometries are not parameters of contexts here."""
        return CollisionFilterManager(self.registry)

    def RegisterSource(self, name: str = "") -> SourceId:
        """A new source of geometries. RuntimeError if the name is taken."""
        return self.registry.add_source(name)
