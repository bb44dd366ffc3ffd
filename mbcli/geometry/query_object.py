"""Queries about geometries at the poses of a context."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from mbcli.engine.fields.collision_fields import HALF_SPACE, HEIGHT_FIELD
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.geometry.contact_pairs import PenetrationAsPointPair, SignedDistancePair, SignedDistanceToPoint
from mbcli.geometry.inspector import SceneGraphInspector
from mbcli.math import RigidTransform
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.geometry.identifiers import FrameId, GeometryId
    from mbcli.geometry.registry import Registry
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.owning_plant import OwningPlant

# columns of the rows of engine/collision/near_solids.py
DISTANCE, NORMAL, POINT_A, POINT_B = 2, slice(3, 6), slice(6, 9), slice(9, 12)
OWN_POINT_A, OWN_POINT_B, COLUMNS = slice(12, 15), slice(15, 18), 18
ROOM = 64  # for pairs, at first
ENDLESS = 1e100  # [m] radius of half spaces, at least


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
            PenetrationAsPointPair(g, h, row[POINT_A], row[POINT_B], row[NORMAL], -row[DISTANCE])
            for g, h, row in self._near(0.0)
            if row[DISTANCE] < 0.0
        ]

    def HasCollisions(self) -> bool:
        """Whether a pair that no filter leaves out overlaps."""
        return self._plant is not None and self._solids().calls.solids_overlap() == 1

    def FindCollisionCandidates(self) -> list[tuple[GeometryId, GeometryId]]:
        """Pairs of identifiers that may overlap, judged by balls and boxes around them."""
        return [(g, h) for g, h, _ in self._near(0.0, measured=0)]

    def ComputeSignedDistancePairwiseClosestPoints(self, max_distance: float = np.inf) -> list[SignedDistancePair]:
        """SignedDistancePair of all pairs that are not farther apart than max_distance [m]."""
        found = self._near(max(0.0, max_distance))
        return [_signed(g, h, row) for g, h, row in found if row[DISTANCE] <= max_distance]

    def ComputeSignedDistancePairClosestPoints(
        self, geometry_id_A: GeometryId, geometry_id_B: GeometryId
    ) -> SignedDistancePair:
        """The SignedDistancePair of one pair, also if it is filtered. RuntimeError if one does not collide."""
        solids, parts = self._solids() if self._plant is not None else None, []
        for g in (geometry_id_A, geometry_id_B):
            if solids is None or g not in solids.ids:
                raise RuntimeError(f"{g!r} is not a geometry with the proximity role")
            parts.append([k for k, other in enumerate(solids.ids) if other == g])
        assert solids is not None
        kinds = [solids.collision.kind[part[0]] for part in parts if part]
        if HEIGHT_FIELD in kinds and min(kinds) >= HALF_SPACE:
            raise RuntimeError("there is no distance of a height field from a half space or another height field")
        if all(solids.collision.radius[part[0]] > ENDLESS for part in parts):
            raise RuntimeError("two half spaces have no distance")
        rows = np.zeros((1, COLUMNS))
        found = []
        for a, b in itertools.product(*parts):
            solids.calls.pair_of_solids(a, b, rows)
            found.append(rows[0].copy())
        return _signed(geometry_id_A, geometry_id_B, min(found, key=lambda row: row[DISTANCE]))

    def ComputeSignedDistanceToPoint(self, p_WQ: ArrayLike, threshold: float = np.inf) -> list[SignedDistanceToPoint]:
        """SignedDistanceToPoint of all geometries whose distance from a point (3,) [m] is at most the threshold [m]."""
        if self._plant is None:
            return []
        solids = self._solids()
        x, y, z = np.asarray(p_WQ, dtype=float).reshape(3).tolist()
        rows = np.zeros((len(solids.ids), COLUMNS))
        count = solids.calls_of_point().solids_near_point(x, y, z, max(0.0, threshold), rows)
        return [
            SignedDistanceToPoint(g, row[OWN_POINT_A], row[DISTANCE], -row[NORMAL])
            for g, _, row in solids.nearest_parts(rows[:count])
            if row[DISTANCE] <= threshold
        ]

    def _near(self, limit: float, measured: int = 1) -> list[tuple[GeometryId, GeometryId, Any]]:
        """(geometry, geometry, row of near_solids.note_pair()) of pairs that are not farther apart than the limit."""
        if self._plant is None:
            return []
        solids = self._solids()
        count = solids.calls.near_solids(limit, measured, solids.rows)
        if count > len(solids.rows):
            solids.rows = np.zeros((count, COLUMNS))
            solids.calls.near_solids(limit, measured, solids.rows)
        return solids.nearest_parts(solids.rows[:count].copy())

    def _solids(self) -> Solids:
        """The solids of the context's plant, made once for all queries to it."""
        state = self._context.state
        state.ready_parameters()
        geometries = self._plant.compiled_geometries(state.model)
        known = state.parameter_cache.get("solids of queries")
        if known is None or known.geometries is not geometries:
            known = Solids(geometries, state)
            state.parameter_cache["solids of queries"] = known
        return known


class Solids:
    """Solids of the geometries of a plant, and the kernels that know how near they are in the state of a context."""

    def __init__(self, geometries: Any, state: Any) -> None:
        self.geometries, self._state, self._of_point = geometries, state, None
        self.ids = geometries.ids
        self._has_parts = len(set(self.ids)) < len(self.ids)  # a geometry may have several solids
        self.rows = np.zeros((ROOM, COLUMNS))
        self.collision = geometries.collision()
        self.calls = self._calls(self.collision)

    def _calls(self, collision: Any) -> Any:
        state = self._state
        handles = state.model_handle, state.data_handle, collision.handle(state.compiled)
        return BoundKernels(state.kernels, *handles, owners=(state.model, state.data, collision))

    def calls_of_point(self) -> Any:
        """Kernels for the same solids and a point of World after them."""
        if self._of_point is None:
            from mbcli.engine.collision.arrays import Solid
            from mbcli.engine.fields.collision_fields import BALL

            point = Solid(BALL, 0, np.append(np.eye(3).ravel(), np.zeros(3)))
            solids = (*self.geometries.solids, point)
            self._of_point = self._calls(replace(self.geometries, solids=solids).collision())
        return self._of_point

    def nearest_parts(self, rows: Any) -> list[tuple[GeometryId, Any, Any]]:
        """(geometry, geometry, row) of rows of solids; of geometries with several solids that of the nearest."""
        ids = (*self.ids, None)  # the last is a point
        pairs = [(ids[int(row[0])], ids[int(row[1])], row) for row in rows]
        if not self._has_parts:
            return pairs
        found: dict[Any, Any] = {}
        for pair in pairs:
            known = found.get(pair[:2])
            if known is None or pair[2][DISTANCE] < known[2][DISTANCE]:
                found[pair[:2]] = pair
        return list(found.values())


def _signed(g: GeometryId, h: GeometryId, row: Any) -> SignedDistancePair:
    return SignedDistancePair(g, h, row[OWN_POINT_A], row[OWN_POINT_B], row[DISTANCE], row[NORMAL])
