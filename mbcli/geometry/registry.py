"""What is registered with a SceneGraph: sources, frames, geometries, and the filters between geometries."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass
from mbcli.geometry.identifiers import FilterId, FrameId, GeometryId, Identifier, SourceId

if TYPE_CHECKING:
    from mbcli.geometry.collision_filters import GeometrySet
    from mbcli.geometry.geometry_frame import GeometryFrame
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.meshes.volume_mesh import VolumeMesh

# Whether pairs are left out, geometries A, geometries B or None for pairs within A.
FilterStatement = tuple[bool, frozenset[GeometryId], frozenset[GeometryId] | None]


@dataclass
class Frame:
    """A frame of a body, or of a system that gives its pose."""

    source: SourceId
    name: str
    group: int  # model instance
    body: Any  # None of World, and of the frames of other systems
    geometries: list[GeometryId] = field(default_factory=list)
    named: dict[str, list[GeometryId]] = field(default_factory=dict)  # the geometries of each name, but deformable ones
    parent: FrameId | None = None  # None: World


class Registry:
    """Sources, frames, geometries and filters of one SceneGraph, for its inspector, its filters and compilation.

    sources, frames and geometries are dictionaries by identifier, in the order of registration; own_source and
    world_frame, which is its, are the first. deformables: the reference mesh of each deformable geometry, in its frame.
    revision grows with every change that contact depends on.
    """

    def __init__(self) -> None:
        # asked by identifiers of any kind
        self.sources: dict[Any, str] = {}
        self.frames: dict[Any, Frame] = {}
        self.geometries: dict[Any, GeometryInstance] = {}
        self.deformables: dict[Any, VolumeMesh] = {}
        self.lasting_filters: list[FilterStatement] = []
        self.transient_filters: dict[FilterId, list[FilterStatement]] = {}
        self.revision = 0
        self.own_source = self.add_source("SceneGraphInternal")
        self.world_frame = self.add_frame(self.own_source, "world", 0, None)

    def add_source(self, name: str) -> SourceId:
        """A new source of geometries; without a name it gets one. RuntimeError if the name is taken."""
        source = SourceId.get_new_id()
        name = name or f"source_{source.get_value()}"
        if name in self.sources.values():
            raise RuntimeError(f"RegisterSource: there is a source named '{name}' already")
        self.sources[source] = name
        return source

    def add_frame(self, source: SourceId, name: str, group: int, body: Any) -> FrameId:
        """A new frame of a body; group is the model instance."""
        frame = FrameId.get_new_id()
        self.frames[frame] = Frame(source, name, group, body)
        return frame

    def add_frame_of_system(self, source: SourceId, parent: FrameId, frame: GeometryFrame) -> FrameId:
        """A frame whose pose in its parent the source gives. RuntimeError if it is there, or another of its name."""
        if frame.id() in self.frames:
            raise RuntimeError(f"RegisterFrame: frame '{frame.name()}' is registered already")
        if parent != self.world_frame and self.frame(parent).source != source:
            raise RuntimeError(f"RegisterFrame: frame '{self.frame(parent).name}' is of another source")
        if any(other.source == source and other.name == frame.name() for other in self.frames.values()):
            raise RuntimeError(f"RegisterFrame: the source has a frame named '{frame.name()}' already")
        self.frames[frame.id()] = Frame(source, frame.name(), frame.frame_group(), None, parent=parent)
        self.revision += 1
        return frame.id()

    def require_source(self, source: SourceId, what: str) -> None:
        """RuntimeError if there is no such source."""
        if source not in self.sources:
            raise RuntimeError(f"{what}: {source!r} is not a source of this SceneGraph")

    def owned_geometry(self, source: SourceId, geometry_id: GeometryId, what: str) -> GeometryInstance:
        """A geometry of a source. RuntimeError if it has another one, or there is none."""
        self.require_source(source, what)
        instance = self.geometry(geometry_id)
        if instance.source != source:
            raise RuntimeError(f"{what}: geometry '{instance.name()}' is of another source")
        return instance

    def add_geometry(self, source: SourceId, frame_id: FrameId, instance: GeometryInstance) -> GeometryId:
        """Fixes a geometry to a frame. RuntimeError if the frame has one of the same name and role."""
        frame = self.frames[frame_id]
        others = frame.named.setdefault(instance.name(), [])
        for other in others:
            if (self.geometries[other].proximity is None) == (instance.proximity is None):
                role = "proximity" if instance.proximity is not None else "illustration"
                raise RuntimeError(
                    f"frame '{frame.name}' has a geometry named '{instance.name()}' with the {role} role already"
                )
        instance.frame, instance.source = frame_id, source
        self.geometries[instance.id()] = instance
        frame.geometries.append(instance.id())
        others.append(instance.id())
        self.revision += 1
        return instance.id()

    def add_deformable(self, source: SourceId, instance: GeometryInstance, mesh: VolumeMesh) -> GeometryId:
        """A geometry that changes its shape: its vertices are given in World. Names need not differ."""
        instance.frame, instance.source = self.world_frame, source
        self.geometries[instance.id()] = instance
        self.deformables[instance.id()] = mesh
        self.frames[self.world_frame].geometries.append(instance.id())
        self.revision += 1
        return instance.id()

    def frame(self, frame_id: Identifier) -> Frame:
        """A frame by its identifier. RuntimeError if there is none."""
        if frame_id not in self.frames:
            raise RuntimeError(f"{frame_id!r} is not a frame of this SceneGraph")
        return self.frames[frame_id]

    def remove_geometry(self, geometry_id: GeometryId) -> None:
        """Forgets a geometry."""
        instance = self.geometries.pop(geometry_id)
        frame = self.frames[instance.frame]
        frame.geometries.remove(geometry_id)
        if geometry_id not in self.deformables:
            frame.named[instance.name()].remove(geometry_id)
        self.revision += 1

    def geometry(self, geometry_id: Identifier) -> GeometryInstance:
        """A geometry by its identifier. RuntimeError if there is none."""
        if geometry_id not in self.geometries:
            raise RuntimeError(f"{geometry_id!r} is not a geometry of this SceneGraph")
        return self.geometries[geometry_id]

    def geometries_in(self, geometry_set: GeometrySet) -> list[GeometryId]:
        """Those that a GeometrySet names and those of its frames. RuntimeError for one that is not there."""
        of_frames = [g for frame_id in geometry_set.frames for g in self.frame(frame_id).geometries]
        for geometry_id in geometry_set.geometries:
            self.geometry(geometry_id)
        return [*geometry_set.geometries, *of_frames]

    def filters(self) -> list[FilterStatement]:
        """All statements about pairs, in the order of their declaration: the last about a pair holds."""
        return [*self.lasting_filters, *(s for statements in self.transient_filters.values() for s in statements)]
