"""SceneGraph: the geometries of a scene, under the names of pydrake.geometry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.geometry.collision_filters import CollisionFilterManager
from mbcli.geometry.identifiers import FrameId, GeometryId, Identifier, SourceId
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.math import RigidTransform

if TYPE_CHECKING:
    from mbcli.config.scene_graph_config import SceneGraphConfig
    from mbcli.geometry.properties import IllustrationProperties, ProximityProperties
    from mbcli.geometry.shapes import Shape


@dataclass
class Frame:
    """A body's frame."""

    source: SourceId | None
    name: str
    group: int  # model instance
    body: Any
    geometries: list[GeometryId] = field(default_factory=list)


class GeometryInstance:
    """A shape with a name and its purpose, at the pose X_PG in the frame that it will be fixed to.

    Args:
        X_PG: RigidTransform.
        shape: Shape.
        name: not empty.
    """

    source: SourceId  # from when it is registered

    def __init__(self, X_PG: RigidTransform, shape: Shape, name: str) -> None:
        self._X, self._shape = RigidTransform(X_PG), shape
        self._id: GeometryId | None = None
        self.set_name(name)
        self.proximity: ProximityProperties | None = None
        self.illustration: IllustrationProperties | None = None
        self.place: Any = None  # in a file
        self.frame: Any = None  # FrameId, from when it is registered

    def id(self) -> GeometryId:
        """GeometryId, made when it is asked for."""
        if self._id is None:
            self._id = GeometryId.get_new_id()
        return self._id

    def name(self) -> str:
        """The name, without spaces around it."""
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name. RuntimeError if it is empty."""
        if not str(name).strip():
            raise RuntimeError("a geometry needs a name that is not empty")
        self._name = str(name).strip()

    def pose(self) -> RigidTransform:
        """X_PG, of the geometry in the frame that it is fixed to."""
        return RigidTransform(self._X)

    def set_pose(self, X_PG: RigidTransform) -> None:
        """Replaces X_PG, the pose in the frame that the geometry is fixed to."""
        self._X = RigidTransform(X_PG)

    def shape(self) -> Shape:
        """The shape."""
        return self._shape

    def proximity_properties(self) -> ProximityProperties | None:
        """ProximityProperties or None."""
        return self.proximity

    mutable_proximity_properties = proximity_properties

    def set_proximity_properties(self, properties: ProximityProperties | None) -> None:
        """Replaces the properties of the proximity role; None takes the role away."""
        self.proximity = properties

    def illustration_properties(self) -> IllustrationProperties | None:
        """IllustrationProperties or None."""
        return self.illustration

    mutable_illustration_properties = illustration_properties

    def set_illustration_properties(self, properties: IllustrationProperties | None) -> None:
        """Replaces the properties of the illustration role; None takes the role away."""
        self.illustration = properties

    def _copy(self) -> GeometryInstance:
        copy = GeometryInstance(self._X, self._shape, self._name)
        copy.proximity, copy.illustration, copy.place = self.proximity, self.illustration, self.place
        return copy


class SceneGraph:
    """The geometries that plants register, and the filters between them.

    Args:
        config: SceneGraphConfig; its default proximity properties stand in for those that geometries lack. Without
            one, stiffness and dissipation follow from the penetration allowance of the plant, or are pydrake's
            (MultibodyPlantConfig.contact_defaults).
    """

    def __init__(self, config: SceneGraphConfig | None = None) -> None:
        self._name = "scene_graph"
        self._config = config
        # asked by identifiers of any kind
        self._sources: dict[Any, str] = {}
        self._frames: dict[Any, Frame] = {}
        self._geometries: dict[Any, GeometryInstance] = {}
        self._filters: list[Any] = []
        self._transient_filters: dict[Any, list[Any]] = {}
        self._world_frame = FrameId.get_new_id()
        self._frames[self._world_frame] = Frame(None, "world", 0, None)
        self._revision = 0  # grows with every change
        self._plant: Any = None

    def get_name(self) -> str:
        """The name."""
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name."""
        self._name = str(name)

    def get_config(self) -> SceneGraphConfig:
        """SceneGraphConfig, the defaults if none was given."""
        from mbcli.config.scene_graph_config import SceneGraphConfig

        return SceneGraphConfig() if self._config is None else self._config

    def set_config(self, config: SceneGraphConfig) -> None:
        """Replaces the configuration."""
        self._config = config
        self._revision += 1

    def world_frame_id(self) -> FrameId:
        """The frame of the world, which is there from the beginning."""
        return self._world_frame

    def model_inspector(self) -> SceneGraphInspector:
        """A SceneGraphInspector of the geometries and filters."""
        return SceneGraphInspector(self)

    def collision_filter_manager(self, context: object = None) -> CollisionFilterManager:
        """The manager of the filters of all contexts, as geometries are not parameters of contexts here."""
        return CollisionFilterManager(self)

    def RegisterSource(self, name: str = "") -> SourceId:
        """A new source of geometries. RuntimeError if the name is taken."""
        source = SourceId.get_new_id()
        name = name or f"source_{source.get_value()}"
        if name in self._sources.values():
            raise RuntimeError(f"RegisterSource: there is a source named '{name}' already")
        self._sources[source] = name
        return source

    def _register_frame(self, source: SourceId, name: str, group: int, body: Any) -> FrameId:
        frame = FrameId.get_new_id()
        self._frames[frame] = Frame(source, name, group, body)
        return frame

    def _register_geometry(self, source: SourceId, frame_id: FrameId, instance: GeometryInstance) -> GeometryId:
        """RuntimeError if the frame has one of the same name and role."""
        frame = self._frames[frame_id]
        for other in frame.geometries:
            same_role = (self._geometries[other].proximity is None) == (instance.proximity is None)
            if same_role and self._geometries[other].name() == instance.name():
                role = "proximity" if instance.proximity is not None else "illustration"
                raise RuntimeError(
                    f"frame '{frame.name}' has a geometry named '{instance.name()}' with the {role} role already"
                )
        instance.frame, instance.source = frame_id, source
        self._geometries[instance.id()] = instance
        frame.geometries.append(instance.id())
        self._revision += 1
        return instance.id()

    def _frame(self, frame_id: Identifier) -> Frame:
        if frame_id not in self._frames:
            raise RuntimeError(f"{frame_id!r} is not a frame of this SceneGraph")
        return self._frames[frame_id]

    def _geometry(self, geometry_id: Identifier) -> GeometryInstance:
        if geometry_id not in self._geometries:
            raise RuntimeError(f"{geometry_id!r} is not a geometry of this SceneGraph")
        return self._geometries[geometry_id]

    def _statements(self) -> list[Any]:
        """(whether pairs are left out, geometries A, geometries B or None) in the order of their declaration."""
        return [*self._filters, *(s for statements in self._transient_filters.values() for s in statements)]
