"""Properties of the geometries of a SceneGraph that do not depend on their poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.properties import Role
from mbcli.geometry.volume_mesh import VolumeMesh
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from mbcli.geometry.collision_filters import GeometrySet
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.geometry.identifiers import FrameId, GeometryId, SourceId
    from mbcli.geometry.properties import GeometryProperties, IllustrationProperties, ProximityProperties
    from mbcli.geometry.registry import Registry
    from mbcli.geometry.shapes import Shape
    from mbcli.math.array_types import BoolArray
    from mbcli.math.rigid_transform import RigidTransform


class SceneGraphInspector:
    """Names, shapes, places and properties of the geometries of a SceneGraph, and which of them may collide.

    Methods raise RuntimeError for identifiers that are not there.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def num_sources(self) -> int:
        """The number of sources; the graph itself is one."""
        return len(self._registry.sources)

    def num_frames(self) -> int:
        """World's included."""
        return len(self._registry.frames)

    def num_geometries(self) -> int:
        """The number of geometries."""
        return len(self._registry.geometries)

    def geometry_version(self) -> int:
        """A number that changes with the geometries and filters."""
        return self._registry.revision

    def world_frame_id(self) -> FrameId:
        """The frame of the world."""
        return self._registry.world_frame

    def GetAllSourceIds(self) -> list[SourceId]:
        """All sources, in the order of their registration."""
        return list(self._registry.sources)

    def GetAllFrameIds(self) -> list[FrameId]:
        """All frames, the world's first, in the order of their registration."""
        return list(self._registry.frames)

    def GetAllGeometryIds(self, role: Role | None = None) -> list[GeometryId]:
        """Those with a role, or all."""
        return [g for g in self._registry.geometries if role is None or self._has_role(g, role)]

    def SourceIsRegistered(self, source_id: SourceId) -> bool:
        """Whether the graph has a source."""
        return source_id in self._registry.sources

    def FramesForSource(self, source_id: SourceId) -> set[FrameId]:
        """The frames that a source registered."""
        return {f for f, frame in self._registry.frames.items() if frame.source == source_id}

    def NumFramesForSource(self, source_id: SourceId) -> int:
        """The number of frames that a source registered."""
        return len(self.FramesForSource(source_id))

    @also_named(frame_id="id", geometry_id="id")
    def BelongsToSource(self, id: FrameId | GeometryId, source_id: SourceId) -> bool:
        """Of a frame or a geometry."""
        return self._source(id) == source_id

    @also_named(frame_id="id", geometry_id="id")
    def GetOwningSourceName(self, id: FrameId | GeometryId) -> str:
        """Name of the source of a frame or a geometry. RuntimeError if the graph has neither."""
        return self._registry.sources[self._source(id)]

    def _source(self, id: FrameId | GeometryId) -> SourceId:
        return self._registry.frames[id].source if id in self._registry.frames else self._registry.geometry(id).source

    @also_named(source_id="id", frame_id="id", geometry_id="id")
    def GetName(self, id: FrameId | GeometryId | SourceId) -> str:
        """Of a source, a frame or a geometry; those of models begin with the model's, as in `arm::hand`."""
        if id in self._registry.sources:
            return self._registry.sources[id]
        if id in self._registry.frames:
            return self._registry.frames[id].name
        geometry = self._registry.geometry(id)
        scope, name = self._scope(geometry.frame), geometry.name()
        return name if name.startswith(scope) else f"{scope}{name}"  # those of files are registered with it

    def _scope(self, frame_id: FrameId) -> str:
        """What stands before the names of the geometries of a frame: that before the name of its body."""
        frame = self._registry.frames.get(frame_id)
        return "" if frame is None or frame.body is None else frame.name.removesuffix(frame.body.name())

    def GetFrameGroup(self, frame_id: FrameId) -> int:
        """The model instance."""
        return self._registry.frame(frame_id).group

    def GetFrameId(self, geometry_id: GeometryId) -> FrameId:
        """The frame that a geometry is fixed to. RuntimeError if the graph does not have the geometry."""
        return self._registry.geometry(geometry_id).frame

    def GetPoseInFrame(self, geometry_id: GeometryId) -> RigidTransform:
        """X_FG of a geometry in its frame. RuntimeError if the graph does not have it."""
        return self._registry.geometry(geometry_id).pose()

    def GetShape(self, geometry_id: GeometryId) -> Shape:
        """The shape of a geometry. RuntimeError if the graph does not have it."""
        return self._registry.geometry(geometry_id).shape()

    def GetProximityProperties(self, geometry_id: GeometryId) -> ProximityProperties | None:
        """None if it does not collide."""
        return self._registry.geometry(geometry_id).proximity

    def GetIllustrationProperties(self, geometry_id: GeometryId) -> IllustrationProperties | None:
        """None if it is not seen."""
        return self._registry.geometry(geometry_id).illustration

    def GetPerceptionProperties(self, geometry_id: GeometryId) -> None:
        """None: nothing renders."""
        self._registry.geometry(geometry_id)

    def GetProperties(self, geometry_id: GeometryId, role: Role) -> GeometryProperties | None:
        """Of one role, or None."""
        instance = self._registry.geometry(geometry_id)
        return {Role.kProximity: instance.proximity, Role.kIllustration: instance.illustration}.get(role)

    def CloneGeometryInstance(self, geometry_id: GeometryId) -> GeometryInstance:
        """A GeometryInstance like it, with an identifier of its own."""
        return self._registry.geometry(geometry_id).with_new_id()

    def _has_role(self, geometry_id: GeometryId, role: Role) -> bool:
        if role == Role.kUnassigned:
            instance = self._registry.geometries[geometry_id]
            return instance.proximity is None and instance.illustration is None
        return self.GetProperties(geometry_id, role) is not None

    def GetGeometries(self, frame_id: FrameId, role: Role | None = None) -> list[GeometryId]:
        """Identifiers of those fixed to a frame, with a role or all."""
        geometries = self._registry.frame(frame_id).geometries
        return [g for g in geometries if role is None or self._has_role(g, role)]

    def GetGeometryIds(self, geometry_set: GeometrySet, role: Role | None = None) -> set[GeometryId]:
        """A set."""
        ids = self._registry.geometries_in(geometry_set)
        return {g for g in ids if role is None or self._has_role(g, role)}

    def GetGeometryIdByName(self, frame_id: FrameId, role: Role, name: str) -> GeometryId:
        """By the name of GetName(), or without the model's. RuntimeError if there is none."""
        for g in self.GetGeometries(frame_id, role):
            if name in (self._registry.geometries[g].name(), self.GetName(g)):
                return g
        raise RuntimeError(f"frame '{self.GetName(frame_id)}' has no geometry named '{name}' with the role {role.name}")

    def NumGeometriesForFrame(self, frame_id: FrameId) -> int:
        """The number of geometries of a frame. RuntimeError if the graph does not have the frame."""
        return len(self.GetGeometries(frame_id))

    def NumGeometriesForFrameWithRole(self, frame_id: FrameId, role: Role) -> int:
        """The number of geometries of a frame that have a role. RuntimeError if the graph does not have the frame."""
        return len(self.GetGeometries(frame_id, role))

    def NumGeometriesWithRole(self, role: Role) -> int:
        """The number of geometries that have a role."""
        return len(self.GetAllGeometryIds(role))

    def NumAnchoredGeometries(self) -> int:
        """Those fixed to World."""
        return self.NumGeometriesForFrame(self.world_frame_id()) - len(self._registry.deformables)

    def NumDynamicGeometries(self) -> int:
        """The number of geometries that are fixed to frames other than World's, or deformable."""
        return self.num_geometries() - self.NumAnchoredGeometries()

    def IsDeformableGeometry(self, geometry_id: GeometryId) -> bool:
        """Whether its vertices move. RuntimeError if the graph does not have the geometry."""
        self._registry.geometry(geometry_id)
        return geometry_id in self._registry.deformables

    def GetAllDeformableGeometryIds(self) -> list[GeometryId]:
        """Those whose vertices move, in the order of their registration."""
        return list(self._registry.deformables)

    def NumDeformableGeometriesWithRole(self, role: Role) -> int:
        """The number of deformable geometries that have a role."""
        return sum(self._has_role(g, role) for g in self._registry.deformables)

    def GetReferenceMesh(self, geometry_id: GeometryId) -> VolumeMesh | None:
        """The VolumeMesh of a deformable geometry in its own frame, None of a rigid one."""
        self._registry.geometry(geometry_id)
        mesh = self._registry.deformables.get(geometry_id)
        return None if mesh is None else VolumeMesh.of(mesh)

    @also_named(geometry_id1="geometry_id_A", geometry_id2="geometry_id_B")
    def CollisionFiltered(self, geometry_id_A: GeometryId, geometry_id_B: GeometryId) -> bool:
        """Whether a pair is left out of the search for contact. RuntimeError if one of them does not collide."""
        for g in (geometry_id_A, geometry_id_B):
            if self._registry.geometry(g).proximity is None:
                raise RuntimeError(f"CollisionFiltered: geometry '{self.GetName(g)}' has no proximity role")
        a, b = self._registry.geometries[geometry_id_A], self._registry.geometries[geometry_id_B]
        deformable = self.IsDeformableGeometry(geometry_id_A) or self.IsDeformableGeometry(geometry_id_B)
        if geometry_id_A == geometry_id_B or (a.frame == b.frame and not deformable):
            return True
        for excludes, A, B in reversed(self._registry.filters()):
            within = B is None and geometry_id_A in A and geometry_id_B in A
            if within or (
                B is not None
                and ((geometry_id_A in A and geometry_id_B in B) or (geometry_id_B in A and geometry_id_A in B))
            ):
                return excludes
        return False

    def GetCollisionCandidates(self) -> set[tuple[GeometryId, GeometryId]]:
        """A set of the pairs that may collide, each with the smaller identifier first."""
        ids, may = self.collision_matrix()
        return {(ids[a], ids[b]) for a, b in np.argwhere(np.triu(may, 1)).tolist()}

    def collision_matrix(self) -> tuple[list[GeometryId], BoolArray]:
        """Identifiers of all geometries that collide, in order, and which pairs of them may (n, n), symmetric."""
        ids = sorted(self.GetAllGeometryIds(Role.kProximity))
        row = {g: k for k, g in enumerate(ids)}
        may = np.ones((len(ids), len(ids)), dtype=bool)
        for excludes, A, B in self._registry.filters():  # the last one that says something of a pair holds
            rows, columns = ([row[g] for g in found if g in row] for found in (A, A if B is None else B))
            may[np.ix_(rows, columns)] = may[np.ix_(columns, rows)] = not excludes
        rigid: dict[FrameId, list[int]] = {}
        for g in ids:
            if not self.IsDeformableGeometry(g):
                rigid.setdefault(self._registry.geometries[g].frame, []).append(row[g])
        for rows in rigid.values():
            may[np.ix_(rows, rows)] = False
        return ids, may
