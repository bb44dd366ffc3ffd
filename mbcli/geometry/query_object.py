"""Queries about geometries at the poses of a context."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mbcli.geometry.contact_pairs import PenetrationAsPointPair, SignedDistancePair, SignedDistanceToPoint
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.math import RigidTransform
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import ArrayLike

    from mbcli.geometry.identifiers import FrameId, GeometryId
    from mbcli.geometry.registry import Registry
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.owning_plant import OwningPlant


class QueryObject:
    """Poses, overlaps and distances of geometries at the state that a context has when a method is called.

    Pairs that are filtered are left out, unless one pair is asked for. Meshes count as their convex hulls.
    """

    def __init__(
        self,
        registry: Registry,
        plant: OwningPlant | None,
        context: Context | None,
        pose_in_parent: Callable[[FrameId], RigidTransform] | None = None,
    ) -> None:
        # both None where the scene graph has no plant: then nothing collides
        self._plant: Any = plant
        self._context: Any = context
        self._registry, self._pose_in_parent = registry, pose_in_parent  # of frames that no plant moves
        self._collision: Any = None
        self._geometries: Any = None

    def inspector(self) -> SceneGraphInspector:
        """The inspector of the SceneGraph's geometries."""
        return SceneGraphInspector(self._registry)

    @also_named(frame_id="id", geometry_id="id")
    def GetPoseInWorld(self, id: FrameId | GeometryId) -> RigidTransform:
        """X_WF of a frame or X_WG of a geometry."""
        registry = self._registry
        if id in registry.geometries:
            return self.GetPoseInWorld(registry.geometries[id].frame) @ registry.geometries[id].pose()
        frame = registry.frame(id)
        if frame.parent is not None:
            return self.GetPoseInWorld(frame.parent) @ self.GetPoseInParent(cast("FrameId", id))
        if frame.body is None:
            return RigidTransform()
        if self._plant is None:  # it is not in the diagram, and its poses come from elsewhere
            return self.GetPoseInParent(cast("FrameId", id))
        return self._plant.EvalBodyPoseInWorld(self._context, frame.body)

    def GetPoseInParent(self, frame_id: FrameId) -> RigidTransform:
        """X_PF of a frame: in World, unless it was registered on another one."""
        frame = self._registry.frame(frame_id)
        if frame.parent is None and (frame.body is None or self._plant is not None):
            return self.GetPoseInWorld(frame_id)
        if self._pose_in_parent is None:
            raise RuntimeError(f"the pose of frame '{frame.name}' is known at the scene graph's own query port alone")
        return self._pose_in_parent(frame_id)

    def ComputePointPairPenetration(self) -> list[PenetrationAsPointPair]:
        """PenetrationAsPointPair of all pairs that overlap, one for each."""
        return [
            PenetrationAsPointPair(
                self._geometries.ids[a],
                self._geometries.ids[b],
                nearest[3:6],
                nearest[6:9],
                nearest[:3],
                -distance,
            )
            for a, b, distance, nearest in self._nearest_parts(self._near_pairs(0.0), 0.0)
            if distance < 0.0
        ]

    def HasCollisions(self) -> bool:
        """Whether a pair that no filter leaves out overlaps."""
        return any(self._distance(a, b, 0.0) < 0.0 for a, b in self._near_pairs(0.0))

    def FindCollisionCandidates(self) -> list[tuple[GeometryId, GeometryId]]:
        """Pairs of identifiers that may overlap, judged by balls around them."""
        return list(dict.fromkeys((self._geometries.ids[a], self._geometries.ids[b]) for a, b in self._near_pairs(0.0)))

    def ComputeSignedDistancePairwiseClosestPoints(self, max_distance: float = np.inf) -> list[SignedDistancePair]:
        """SignedDistancePair of all pairs that are not farther apart than max_distance [m]."""
        found = self._nearest_parts(self._near_pairs(max_distance), max_distance)
        return [self._signed(*pair) for pair in found if pair[2] <= max_distance]

    def ComputeSignedDistancePairClosestPoints(
        self, geometry_id_A: GeometryId, geometry_id_B: GeometryId
    ) -> SignedDistancePair:
        """The SignedDistancePair of one pair, also if it is filtered. RuntimeError if one does not collide."""
        if self._plant is not None:
            self._place()
        parts = []
        for g in (geometry_id_A, geometry_id_B):
            if self._geometries is None or g not in self._geometries.ids:
                raise RuntimeError(f"{g!r} is not a geometry with the proximity role")
            parts.append([k for k, other in enumerate(self._geometries.ids) if other == g])
        self._refuse_planes(parts[0][0], parts[1][0])
        (pair,) = self._nearest_parts(itertools.product(parts[0], parts[1]), np.inf)
        return self._signed(*pair)

    def ComputeSignedDistanceToPoint(self, p_WQ: ArrayLike, threshold: float = np.inf) -> list[SignedDistanceToPoint]:
        """SignedDistanceToPoint of all geometries whose distance from a point (3,) [m] is at most the threshold [m]."""
        from mbcli.engine.collision.arrays import Solid
        from mbcli.engine.fields.collision_fields import BALL

        if self._plant is None:
            return []
        self._place()
        geometries, state, X_WG = self._geometries, self._context.state, self._collision.X_WG
        point = np.append(np.eye(3).ravel(), np.asarray(p_WQ, dtype=float).reshape(3))
        with_point = replace(geometries, solids=(*geometries.solids, Solid(BALL, 0, point))).collision()
        with_point.X_WG[:-1], with_point.X_WG[-1] = X_WG, point
        handle, last = with_point.handle(state.compiled), len(geometries.solids)
        found: dict[GeometryId, SignedDistanceToPoint] = {}
        for k, g in enumerate(geometries.ids):
            distance = float(state.kernels.pair_distance(handle, k, last, np.inf))
            if distance <= threshold and (g not in found or distance < found[g].distance):
                p_GN = X_WG[k, :9].reshape(3, 3).T @ (with_point.nearest[3:6] - X_WG[k, 9:])
                found[g] = SignedDistanceToPoint(g, p_GN, distance, -with_point.nearest[:3])
        return list(found.values())

    def _nearest_parts(self, pairs: Iterable[tuple[int, int]], limit: float) -> list[tuple[int, int, float, Any]]:
        """(solid, solid, distance, Collision.nearest) of the nearest two of each pair of geometries, which may have
        several solids.
        """
        found: dict[Any, tuple[int, int, float, Any]] = {}
        for a, b in pairs:
            distance = float(self._distance(a, b, limit))
            key = self._geometries.ids[a], self._geometries.ids[b]
            if key not in found or distance < found[key][2]:
                found[key] = a, b, distance, self._collision.nearest.copy()
        return list(found.values())

    def _refuse_planes(self, a: int, b: int) -> None:
        from mbcli.engine.fields.collision_fields import HALF_SPACE

        if self._collision.kind[a] == self._collision.kind[b] == HALF_SPACE:
            raise RuntimeError("two half spaces have no distance")

    def _signed(self, a: int, b: int, distance: float, nearest: Any) -> SignedDistancePair:
        X_A, X_B = (self._collision.X_WG[n] for n in (a, b))
        p_ACa, p_BCb = (X[:9].reshape(3, 3).T @ (p - X[9:]) for X, p in ((X_A, nearest[3:6]), (X_B, nearest[6:9])))
        ids = self._geometries.ids
        return SignedDistancePair(ids[a], ids[b], p_ACa, p_BCb, distance, nearest[:3])

    def _place(self) -> None:
        """Brings the solids to their poses in the context."""
        context = self._context
        state = context.state
        state.ready_parameters()
        geometries = self._plant.compiled_geometries(state.model)
        known = state.parameter_cache.get("collision of queries")  # made once for all queries to a context
        if known is None or known[0] is not geometries:
            collision = geometries.collision()
            known = geometries, collision, collision.handle(state.compiled)
            state.parameter_cache["collision of queries"] = known
        self._geometries, self._collision, self._handle = known
        state.kernels.place_solids_at(state.model_handle, state.data_handle, self._handle)

    def _distance(self, a: int, b: int, limit: float) -> Any:
        return self._context.state.kernels.pair_distance(self._handle, a, b, limit)

    def _near_pairs(self, distance: float) -> Iterator[tuple[int, int]]:
        """Pairs that no filter keeps apart and whose bounding balls are not farther apart than a distance."""
        from mbcli.engine.fields.collision_fields import WORD

        if self._plant is None:
            return
        self._place()
        c = self._collision
        is_plane = c.radius > 1e100
        for a in range(len(self._geometries.ids) - 1):
            rest = np.arange(a + 1, len(self._geometries.ids))
            row = c.filter_row[rest]
            filtered = c.filters[c.filter_row[a], row // WORD] >> (row % WORD) & 1
            rest = rest[(c.body[rest] != c.body[a]) & (filtered == 0) & ~(is_plane[rest] & is_plane[a])]
            apart = np.linalg.norm(c.p_WC[rest] - c.p_WC[a], axis=1)
            for b in rest[apart <= c.radius[rest] + c.radius[a] + distance].tolist():  # planes have endless radii
                yield a, b
