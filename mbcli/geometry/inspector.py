"""What is known of the geometries of a SceneGraph, wherever they are."""

from mbcli.geometry.properties import Role


class SceneGraphInspector:
    """Names, shapes, places and properties of the geometries of a SceneGraph, and which of them may collide.

    Methods raise RuntimeError for identifiers that are not there.
    """

    def __init__(self, scene_graph):
        self._graph = scene_graph

    def num_sources(self):
        return len(self._graph._sources)

    def num_frames(self):
        """World's included."""
        return len(self._graph._frames)

    def num_geometries(self):
        return len(self._graph._geometries)

    def geometry_version(self):
        """A number that changes with the geometries and filters."""
        return self._graph._revision

    def world_frame_id(self):
        return self._graph.world_frame_id()

    def GetAllSourceIds(self):
        return list(self._graph._sources)

    def GetAllFrameIds(self):
        return list(self._graph._frames)

    def GetAllGeometryIds(self, role=None):
        """Those with a role, or all."""
        return [g for g in self._graph._geometries if role is None or self._has_role(g, role)]

    def SourceIsRegistered(self, source_id):
        return source_id in self._graph._sources

    def FramesForSource(self, source_id):
        return {f for f, frame in self._graph._frames.items() if frame.source == source_id}

    def NumFramesForSource(self, source_id):
        return len(self.FramesForSource(source_id))

    def BelongsToSource(self, id, source_id):
        """Of a frame or a geometry."""
        item = self._graph._frames.get(id) or self._graph._geometry(id)
        return item.source == source_id

    def GetOwningSourceName(self, id):
        item = self._graph._frames.get(id) or self._graph._geometry(id)
        return self._graph._sources.get(item.source, "world")

    def GetName(self, id):
        """Of a source, a frame or a geometry."""
        if id in self._graph._sources:
            return self._graph._sources[id]
        return self._graph._frames[id].name if id in self._graph._frames else self._graph._geometry(id).name()

    def GetFrameGroup(self, frame_id):
        """The model instance."""
        return self._graph._frame(frame_id).group

    def GetFrameId(self, geometry_id):
        return self._graph._geometry(geometry_id).frame

    def GetPoseInFrame(self, geometry_id):
        return self._graph._geometry(geometry_id).pose()

    def GetShape(self, geometry_id):
        return self._graph._geometry(geometry_id).shape()

    def GetProximityProperties(self, geometry_id):
        """None where it does not collide."""
        return self._graph._geometry(geometry_id).proximity

    def GetIllustrationProperties(self, geometry_id):
        """None where it is not seen."""
        return self._graph._geometry(geometry_id).illustration

    def GetPerceptionProperties(self, geometry_id):
        """None: nothing renders."""
        self._graph._geometry(geometry_id)

    def GetProperties(self, geometry_id, role):
        """Of one role, or None."""
        instance = self._graph._geometry(geometry_id)
        return {Role.kProximity: instance.proximity, Role.kIllustration: instance.illustration}.get(role)

    def CloneGeometryInstance(self, geometry_id):
        """A GeometryInstance like it, with an identifier of its own."""
        return self._graph._geometry(geometry_id)._copy()

    def _has_role(self, geometry_id, role):
        if role == Role.kUnassigned:
            instance = self._graph._geometries[geometry_id]
            return instance.proximity is None and instance.illustration is None
        return self.GetProperties(geometry_id, role) is not None

    def GetGeometries(self, frame_id, role=None):
        """Identifiers of those fixed to a frame, with a role or all."""
        geometries = self._graph._frame(frame_id).geometries
        return [g for g in geometries if role is None or self._has_role(g, role)]

    def GetGeometryIds(self, geometry_set, role=None):
        """A set."""
        ids = {g for f in geometry_set._frames for g in self._graph._frame(f).geometries}
        ids |= set(geometry_set._geometries)
        return {g for g in ids if self._graph._geometry(g) and (role is None or self._has_role(g, role))}

    def GetGeometryIdByName(self, frame_id, role, name):
        """RuntimeError where there is none."""
        for g in self.GetGeometries(frame_id, role):
            if self._graph._geometries[g].name() == name:
                return g
        raise RuntimeError(f"frame '{self.GetName(frame_id)}' has no geometry named '{name}' with the role {role.name}")

    def NumGeometriesForFrame(self, frame_id):
        return len(self.GetGeometries(frame_id))

    def NumGeometriesForFrameWithRole(self, frame_id, role):
        return len(self.GetGeometries(frame_id, role))

    def NumGeometriesWithRole(self, role):
        return len(self.GetAllGeometryIds(role))

    def NumAnchoredGeometries(self):
        """Those fixed to World."""
        return self.NumGeometriesForFrame(self.world_frame_id())

    def NumDynamicGeometries(self):
        return self.num_geometries() - self.NumAnchoredGeometries()

    def IsDeformableGeometry(self, geometry_id):
        self._graph._geometry(geometry_id)
        return False

    def GetAllDeformableGeometryIds(self):
        return []

    def NumDeformableGeometriesWithRole(self, role):
        return 0

    def CollisionFiltered(self, geometry_id_A, geometry_id_B):
        """Whether a pair is left out of the search for contact. RuntimeError where one of them does not collide."""
        for g in (geometry_id_A, geometry_id_B):
            if self._graph._geometry(g).proximity is None:
                raise RuntimeError(f"CollisionFiltered: geometry '{self.GetName(g)}' has no proximity role")
        a, b = self._graph._geometries[geometry_id_A], self._graph._geometries[geometry_id_B]
        if a.frame == b.frame:
            return True
        for excludes, A, B in reversed(self._graph._statements()):
            within = B is None and geometry_id_A in A and geometry_id_B in A
            if within or (
                B is not None
                and ((geometry_id_A in A and geometry_id_B in B) or (geometry_id_B in A and geometry_id_A in B))
            ):
                return excludes
        return False

    def GetCollisionCandidates(self):
        """A set of the pairs that may collide, each with the smaller identifier first."""
        ids = sorted(self.GetAllGeometryIds(Role.kProximity))
        return {(a, b) for n, a in enumerate(ids) for b in ids[n + 1 :] if not self.CollisionFiltered(a, b)}
