"""SceneGraph: the geometries of a scene, under the names of pydrake.geometry."""

from dataclasses import dataclass, field

from mbcli.geometry.collision_filters import CollisionFilterManager
from mbcli.geometry.identifiers import FrameId, GeometryId, SourceId
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.math import RigidTransform


@dataclass
class Frame:
    """A body's frame."""

    source: SourceId
    name: str
    group: int  # model instance
    body: object
    geometries: list = field(default_factory=list)


class GeometryInstance:
    """A shape with a name and what it is for, in the place X_PG in the frame that it will be fixed to.

    Args:
        X_PG: RigidTransform.
        shape: Shape.
        name: not empty.
    """

    def __init__(self, X_PG, shape, name):
        self._X, self._shape, self._id = RigidTransform(X_PG), shape, None
        self.set_name(name)
        self.proximity = self.illustration = None
        self.place = None  # in a file
        self.frame = None

    def id(self):
        """GeometryId, made when it is asked for."""
        if self._id is None:
            self._id = GeometryId.get_new_id()
        return self._id

    def name(self):
        return self._name

    def set_name(self, name):
        if not str(name).strip():
            raise RuntimeError("a geometry needs a name that is not empty")
        self._name = str(name).strip()

    def pose(self):
        return RigidTransform(self._X)

    def set_pose(self, X_PG):
        self._X = RigidTransform(X_PG)

    def shape(self):
        return self._shape

    def proximity_properties(self):
        """ProximityProperties or None."""
        return self.proximity

    mutable_proximity_properties = proximity_properties

    def set_proximity_properties(self, properties):
        self.proximity = properties

    def illustration_properties(self):
        """IllustrationProperties or None."""
        return self.illustration

    mutable_illustration_properties = illustration_properties

    def set_illustration_properties(self, properties):
        self.illustration = properties

    def _copy(self):
        copy = GeometryInstance(self._X, self._shape, self._name)
        copy.proximity, copy.illustration, copy.place = self.proximity, self.illustration, self.place
        return copy


class SceneGraph:
    """The geometries that plants register, and the filters between them.

    Args:
        config: SceneGraphConfig; its default proximity properties stand in for what geometries do not have. Without
            one, stiffness and dissipation follow from the penetration allowance of the plant, or are pydrake's
            (MultibodyPlantConfig.contact_defaults).
    """

    def __init__(self, config=None):
        self._name = "scene_graph"
        self._config = config
        self._sources, self._frames, self._geometries = {}, {}, {}
        self._filters, self._transient_filters = [], {}
        self._world_frame = FrameId.get_new_id()
        self._frames[self._world_frame] = Frame(None, "world", 0, None)
        self._revision = 0  # grows with every change
        self._plant = None

    def get_name(self):
        return self._name

    def set_name(self, name):
        self._name = str(name)

    def get_config(self):
        """SceneGraphConfig, the defaults where none was given."""
        from mbcli.config.scene_graph_config import SceneGraphConfig

        return SceneGraphConfig() if self._config is None else self._config

    def set_config(self, config):
        self._config = config
        self._revision += 1

    def world_frame_id(self):
        return self._world_frame

    def model_inspector(self):
        return SceneGraphInspector(self)

    def collision_filter_manager(self, context=None):
        """The manager of the filters of all contexts, as geometries are not parameters of contexts here."""
        return CollisionFilterManager(self)

    def RegisterSource(self, name=""):
        """A new source of geometries. RuntimeError where the name is taken."""
        source = SourceId.get_new_id()
        name = name or f"source_{source.get_value()}"
        if name in self._sources.values():
            raise RuntimeError(f"RegisterSource: there is a source named '{name}' already")
        self._sources[source] = name
        return source

    def _register_frame(self, source, name, group, body):
        frame = FrameId.get_new_id()
        self._frames[frame] = Frame(source, name, group, body)
        return frame

    def _register_geometry(self, source, frame_id, instance):
        """RuntimeError where the frame has one of the same name and role."""
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

    def _frame(self, frame_id):
        if frame_id not in self._frames:
            raise RuntimeError(f"{frame_id!r} is not a frame of this SceneGraph")
        return self._frames[frame_id]

    def _geometry(self, geometry_id):
        if geometry_id not in self._geometries:
            raise RuntimeError(f"{geometry_id!r} is not a geometry of this SceneGraph")
        return self._geometries[geometry_id]

    def _statements(self):
        """(whether pairs are left out, geometries A, geometries B or None) in the order of their declaration."""
        return [*self._filters, *(s for statements in self._transient_filters.values() for s in statements)]
