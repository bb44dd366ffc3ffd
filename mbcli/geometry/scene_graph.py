"""SceneGraph: the geometries of a scene, under the names of pydrake.geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mbcli.geometry.collision_filter_manager import CollisionFilterManager
from mbcli.geometry.geometry_frame import GeometryFrame
from mbcli.geometry.identifiers import FrameId
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.geometry.properties import IllustrationProperties, ProximityProperties, Role, RoleAssign
from mbcli.geometry.registry import Registry
from mbcli.other_names import also_named
from mbcli.systems.contexts import StatelessContext, Tree
from mbcli.systems.ports import InputPort, OutputPort
from mbcli.systems.system import System

if TYPE_CHECKING:
    from mbcli.config.scene_graph_config import SceneGraphConfig
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.geometry.identifiers import GeometryId, SourceId
    from mbcli.geometry.properties import GeometryProperties
    from mbcli.geometry.query_object import QueryObject
    from mbcli.math.rigid_transform import RigidTransform


class SceneGraph(System):
    """The geometries that plants and other systems register, and the filters between them.

    Those of other systems are seen, and queries tell where they are; they do not collide.

    Args:
        config: SceneGraphConfig; its default proximity properties stand in for those that geometries lack. Without
            one, stiffness and dissipation follow from the penetration allowance of the plant, or are pydrake's
            (MultibodyPlantConfig.contact_defaults).
    """

    def __init__(self, config: SceneGraphConfig | None = None) -> None:
        self._name = "scene_graph"
        self.config = config  # as it was given
        self.registry = Registry()
        self._source_ports: dict[SourceId, tuple[InputPort, InputPort]] = {}
        self._query_port = OutputPort(self, "query", self._query_object)

    # ports

    def input_ports(self) -> list[InputPort]:
        """All input ports, by index: two of each source."""
        for source, name in self.registry.sources.items():
            if source not in self._source_ports and source != self.registry.own_source:
                first = 2 * len(self._source_ports)
                pose, configuration = f"{name}_pose", f"{name}_configuration"
                self._source_ports[source] = InputPort(self, pose, first), InputPort(self, configuration, first + 1)
        return [port for ports in self._source_ports.values() for port in ports]

    def output_ports(self) -> list[OutputPort]:
        """All output ports, by index."""
        return [self._query_port]

    def get_source_pose_port(self, id: SourceId) -> InputPort:
        """The port that takes the poses of the frames of a source. RuntimeError if there is no such source.

        A plant's geometries are where the state of the plant has them, whether its poses are connected or not.
        """
        return self._ports_of(id)[0]

    def get_source_configuration_port(self, id: SourceId) -> InputPort:
        """The port of the vertices of a source's deformable geometries, which plants need not connect either."""
        return self._ports_of(id)[1]

    def _ports_of(self, id: SourceId) -> tuple[InputPort, InputPort]:
        self.input_ports()
        if id not in self._source_ports:
            raise RuntimeError(f"there is no geometry source {id}")
        return self._source_ports[id]

    def get_query_output_port(self) -> OutputPort:
        """A QueryObject of the plant of this scene graph in the diagram, and of the poses that other systems give."""
        return self._query_port

    def _query_object(self, context: Any) -> QueryObject:
        from mbcli.geometry.query_object import QueryObject  # late: many programs have no geometries

        self.check_context(context)
        plants = [c for c in context.tree.plants if c.state.plant.scene_graph is self]
        if len(plants) > 1:
            raise RuntimeError(f"the scene graph has {len(plants)} plants in this diagram, queries need one")
        plant, of_plant = (plants[0].state.plant, plants[0]) if plants else (None, None)

        def pose_in_parent(frame_id: FrameId) -> RigidTransform:
            source: Any = self.registry.frame(frame_id).source
            return self.get_source_pose_port(source).Eval(context).value(frame_id)

        return QueryObject(self.registry, plant, of_plant, pose_in_parent)

    def CreateDefaultContext(self) -> StatelessContext:
        """A context without a plant, where nothing collides; those of diagrams have one."""
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

    def SourceIsRegistered(self, source_id: SourceId) -> bool:
        """Whether the graph has a source."""
        return source_id in self.registry.sources

    def RegisterFrame(self, source_id: SourceId, *given: Any, **named: Any) -> FrameId:
        """RegisterFrame(source_id, frame) or (source_id, parent_id, frame): a GeometryFrame on World or on another one.

        Its pose there comes from the source's pose port. RuntimeError for an unknown source or parent, and a name that
        the source has given.
        """
        self.registry.require_source(source_id, "RegisterFrame")
        known = dict(zip(("parent_id", "frame")[-len(given) :], given, strict=False), **named)
        parent = known.pop("parent_id", self.world_frame_id())
        frame = known.pop("frame", None)
        if len(given) > 2 or known or not isinstance(frame, GeometryFrame) or not isinstance(parent, FrameId):
            raise TypeError("RegisterFrame takes source_id and a GeometryFrame, or source_id, parent_id, GeometryFrame")
        return self.registry.add_frame_of_system(source_id, parent, frame)

    def RegisterGeometry(self, source_id: SourceId, frame_id: FrameId, geometry: GeometryInstance) -> GeometryId:
        """Fixes a geometry to World or a frame of the source.

        RuntimeError if the frame is another source's, or the geometry collides.

        On a body, geometries that collide are registered by the plant: RegisterCollisionGeometry().
        """
        self.registry.require_source(source_id, "RegisterGeometry")
        frame = self.registry.frame(frame_id)
        if frame.source != source_id and frame_id != self.world_frame_id():
            raise RuntimeError(f"RegisterGeometry: frame '{frame.name}' is of another source")
        return self._register(source_id, frame_id, geometry, "RegisterGeometry")

    def RegisterAnchoredGeometry(self, source_id: SourceId, geometry: GeometryInstance) -> GeometryId:
        """Fixes a geometry to World."""
        self.registry.require_source(source_id, "RegisterAnchoredGeometry")
        return self._register(source_id, self.world_frame_id(), geometry, "RegisterAnchoredGeometry")

    def _register(self, source: SourceId, frame: FrameId, geometry: GeometryInstance, what: str) -> GeometryId:
        if geometry.id() in self.registry.geometries:
            raise RuntimeError(f"{what}: geometry '{geometry.name()}' is registered already")
        if geometry.proximity is not None:
            _refuse_contact(geometry, what)
        return self.registry.add_geometry(source, frame, geometry)

    def AssignRole(
        self,
        source_id: SourceId,
        geometry_id: GeometryId,
        properties: GeometryProperties,
        assign: RoleAssign = RoleAssign.kNew,
    ) -> None:
        """Gives a geometry of the source IllustrationProperties, in place of those it has for RoleAssign.kReplace.

        PerceptionProperties have no effect. RuntimeError if it has the role already (kNew) or not yet (kReplace), and
        for ProximityProperties of a geometry that no plant has registered.
        """
        geometry = self.registry.owned_geometry(source_id, geometry_id, "AssignRole")
        role = "illustration"
        if isinstance(properties, ProximityProperties):
            role = "proximity"
            if geometry.proximity is None:
                _refuse_contact(geometry, "AssignRole")
        elif not isinstance(properties, IllustrationProperties):
            return
        if (getattr(geometry, role) is None) == (assign is RoleAssign.kReplace):
            has = "has no" if assign is RoleAssign.kReplace else "already has the"
            raise RuntimeError(f"AssignRole: geometry '{geometry.name()}' {has} {role} role")
        setattr(geometry, role, properties)
        self.registry.revision += 1

    @also_named(frame_id="id", geometry_id="id")
    def RemoveRole(self, source_id: SourceId, id: FrameId | GeometryId, role: Role) -> int:
        """Takes a role from a geometry of the source, or from all of a frame; returns how many had it."""
        frame = self.registry.frames.get(id)
        name = {Role.kProximity: "proximity", Role.kIllustration: "illustration"}.get(role)
        number = 0
        for geometry_id in [id] if frame is None else frame.geometries:
            geometry = self.registry.owned_geometry(source_id, cast("GeometryId", geometry_id), "RemoveRole")
            if name is not None and getattr(geometry, name) is not None:
                setattr(geometry, name, None)
                number += 1
        self.registry.revision += 1
        return number

    def RemoveGeometry(self, source_id: SourceId, geometry_id: GeometryId) -> None:
        """Takes a geometry of the source away. RuntimeError if it collides: its plant computes with it."""
        geometry = self.registry.owned_geometry(source_id, geometry_id, "RemoveGeometry")
        if geometry.proximity is not None:
            raise RuntimeError(f"RemoveGeometry: geometry '{geometry.name()}' collides, its plant computes with it")
        self.registry.remove_geometry(geometry_id)


def _refuse_contact(geometry: GeometryInstance, what: str) -> None:
    raise RuntimeError(
        f"{what}: geometry '{geometry.name()}' has the proximity role, which geometries of plants alone have here: "
        "MultibodyPlant.RegisterCollisionGeometry() registers them"
    )
