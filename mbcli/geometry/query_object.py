"""Queries about geometries at the poses of a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.contact_pairs import PenetrationAsPointPair, SignedDistancePair
from mbcli.math import RigidTransform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.geometry.identifiers import FrameId, GeometryId
    from mbcli.geometry.inspector import SceneGraphInspector
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.multibody.plant.context import Context
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class QueryPort:
    """Gives a QueryObject for the context of a plant."""

    def __init__(self, plant: MultibodyPlant, scene_graph: SceneGraph) -> None:
        self._plant, self._scene_graph = plant, scene_graph

    def get_name(self) -> str:
        return "geometry_query"

    def get_system(self) -> MultibodyPlant:
        return self._plant

    def HasValue(self, context: Context) -> bool:
        return True

    def Eval(self, context: Context) -> QueryObject:
        """RuntimeError for a context of another plant."""
        return QueryObject(self._scene_graph, self._plant, self._plant.GetMyContextFromRoot(context))


class QueryObject:
    """Poses, overlaps and distances of geometries at the state that a context has when a method is called.

    Pairs that are filtered are left out, unless one pair is asked for. Meshes count as their convex hulls.
    """

    def __init__(self, scene_graph: SceneGraph, plant: MultibodyPlant, context: Context) -> None:
        self._scene_graph, self._plant, self._context = scene_graph, plant, context
        self._collision: Any = None
        self._geometries: Any = None

    def inspector(self) -> SceneGraphInspector:
        """The inspector of the SceneGraph's geometries."""
        return self._scene_graph.model_inspector()

    def GetPoseInWorld(self, id: FrameId | GeometryId) -> RigidTransform:
        """X_WF of a frame or X_WG of a geometry."""
        registry = self._scene_graph.registry
        if id in registry.geometries:
            return self.GetPoseInWorld(registry.geometries[id].frame) @ registry.geometries[id].pose()
        body = registry.frame(id).body
        return RigidTransform() if body is None else self._plant.EvalBodyPoseInWorld(self._context, body)

    def GetPoseInParent(self, frame_id: FrameId) -> RigidTransform:
        """X_WF of a frame: all frames are World's."""
        return self.GetPoseInWorld(frame_id)

    def ComputePointPairPenetration(self) -> list[PenetrationAsPointPair]:
        """PenetrationAsPointPair of all pairs that overlap, one for each."""
        result = []
        for a, b in self._near_pairs(0.0):
            distance = self._distance(a, b, 0.0)
            if distance < 0.0:
                nearest = self._collision.nearest
                result.append(
                    PenetrationAsPointPair(
                        self._geometries.ids[a],
                        self._geometries.ids[b],
                        nearest[3:6].copy(),
                        nearest[6:9].copy(),
                        nearest[:3].copy(),
                        -distance,
                    )
                )
        return result

    def HasCollisions(self) -> bool:
        """Whether a pair that no filter leaves out overlaps."""
        return any(self._distance(a, b, 0.0) < 0.0 for a, b in self._near_pairs(0.0))

    def FindCollisionCandidates(self) -> list[tuple[GeometryId, GeometryId]]:
        """Pairs of identifiers that may overlap, judged by balls around them."""
        return [(self._geometries.ids[a], self._geometries.ids[b]) for a, b in self._near_pairs(0.0)]

    def ComputeSignedDistancePairwiseClosestPoints(self, max_distance: float = np.inf) -> list[SignedDistancePair]:
        """SignedDistancePair of all pairs that are not farther apart than max_distance [m]."""
        found = ((a, b, self._distance(a, b, max_distance)) for a, b in self._near_pairs(max_distance))
        return [self._signed(a, b, distance) for a, b, distance in found if distance <= max_distance]

    def ComputeSignedDistancePairClosestPoints(
        self, geometry_id_A: GeometryId, geometry_id_B: GeometryId
    ) -> SignedDistancePair:
        """The SignedDistancePair of one pair, also if it is filtered. RuntimeError if one does not collide."""
        self._place()
        places = []
        for g in (geometry_id_A, geometry_id_B):
            if g not in self._geometries.ids:
                raise RuntimeError(f"{g!r} is not a geometry with the proximity role")
            places.append(self._geometries.ids.index(g))
        a, b = places
        self._refuse_planes(a, b)
        return self._signed(a, b, self._distance(a, b, np.inf))

    def _refuse_planes(self, a: int, b: int) -> None:
        from mbcli.engine.fields.collision_fields import HALF_SPACE

        if self._collision.kind[a] == self._collision.kind[b] == HALF_SPACE:
            raise RuntimeError("two half spaces have no distance")

    def _signed(self, a: int, b: int, distance: Any) -> SignedDistancePair:
        nearest, (X_A, X_B) = self._collision.nearest, (self._collision.X_WG[n] for n in (a, b))
        p_ACa, p_BCb = (X[:9].reshape(3, 3).T @ (p - X[9:]) for X, p in ((X_A, nearest[3:6]), (X_B, nearest[6:9])))
        ids = self._geometries.ids
        return SignedDistancePair(ids[a], ids[b], p_ACa, p_BCb, float(distance), nearest[:3].copy())

    def _place(self) -> None:
        """Brings the solids to their poses in the context."""
        context = self._context
        state = context.state
        state.ready_parameters()
        geometries = self._plant.compiled_geometries(state.model)
        if geometries is not self._geometries:
            self._geometries, self._collision = geometries, geometries.collision()
            self._handle = self._collision.handle(state.compiled)
        state.kernels.place_solids_at(state.model_handle, state.data_handle, self._handle)

    def _distance(self, a: int, b: int, limit: float) -> Any:
        return self._context.state.kernels.pair_distance(self._handle, a, b, limit)

    def _near_pairs(self, distance: float) -> Iterator[tuple[int, int]]:
        """Pairs that no filter keeps apart and whose bounding balls are not farther apart than a distance."""
        self._place()
        c = self._collision
        n = len(self._geometries.ids)
        is_plane = c.radius > 1e100
        for a in range(n):
            for b in range(a + 1, n):
                if c.body[a] == c.body[b] or self._filtered(a, b) or (is_plane[a] and is_plane[b]):
                    continue
                apart = np.linalg.norm(c.p_WC[a] - c.p_WC[b])
                if is_plane[a] or is_plane[b] or apart <= c.radius[a] + c.radius[b] + distance:
                    yield a, b

    def _filtered(self, a: int, b: int) -> bool:
        from mbcli.engine.fields.collision_fields import WORD

        row, column = self._collision.filter_row[a], self._collision.filter_row[b]
        return bool(self._collision.filters[row, column // WORD] >> (column % WORD) & 1)
