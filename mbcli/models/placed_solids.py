"""The solids of a plant at its positions: which are near each other, how far apart they are, where they end."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.fields.collision_fields import (
    BALL,
    BOX,
    CAPSULE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_FIELD,
    WORD,
)
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, Matrix, Vector, Vector3
    from mbcli.multibody.plant import MultibodyPlant

FEW_PAIRS = 24  # are sooner interpreted than compiled code is loaded
MANY_PAIRS = 500  # are sooner compiled than interpreted


class PlacedSolids:
    """The geometries of a plant that collide, at the positions of the last place(); at first the default positions.

    Raises ModelError or ResourceError for a mesh that cannot be read.

    Attributes:
        body: (n,) index of the body of the plant that each solid is on.
    """

    def __init__(self, plant: MultibodyPlant) -> None:
        self._state = Context(plant, compiled=False).state
        geometries = plant.compiled_geometries(self._state.model)
        self.body = np.array([int(plant.geometry_bodies[g].index()) for g in geometries.ids], dtype=int)
        self._geometries, self._solids = geometries, geometries.solids
        self._moved_by = np.array([solid.body for solid in self._solids], dtype=int)
        self._X_BG = np.reshape([solid.X_BG for solid in self._solids], (-1, 12))
        self.place(plant.GetDefaultPositions())

    def place(self, q: ArrayLike) -> None:
        """Brings the solids to where they are at positions q (nq,)."""
        self._state.set_q(q)
        self._state.at_positions()
        X_WB, X_BG = self._state.data.X_WB[self._moved_by], self._X_BG
        R_WB, R_BG = (X[:, :9].reshape(-1, 3, 3) for X in (X_WB, X_BG))
        self._R_WG = R_WB @ R_BG
        self._p_WG = X_WB[:, 9:] + np.einsum("nij,nj->ni", R_WB, X_BG[:, 9:])

    def _placed_collision(self) -> Any:
        """The arrays of collision detection with the solids where they are; made when they are needed first."""
        c = self._collision
        c.X_WG[:, :9], c.X_WG[:, 9:] = self._R_WG.reshape(-1, 9), self._p_WG
        c.p_WC[:] = self._p_WG + np.einsum("nij,nj->ni", self._R_WG, c.center)
        return c

    @cached_property
    def _collision(self) -> Any:
        return self._geometries.collision()

    def near_pairs(self, group: np.ndarray, distance: float) -> Iterator[tuple[int, int]]:
        """Solids of one group (n,) that no filter keeps apart and whose bounds are not farther apart than this [m]."""
        c = self._placed_collision()
        for a in range(len(group) - 1):
            rest = np.arange(a + 1, len(group))
            rest = rest[(group[rest] == group[a]) & (c.body[rest] != c.body[a])]
            row = c.filter_row[rest]
            rest = rest[(c.filters[c.filter_row[a], row // WORD] >> (row % WORD) & 1) == 0]
            if c.kind[a] >= HALF_SPACE:
                rest = rest[c.kind[rest] < HALF_SPACE]
            between = c.p_WC[rest] - c.p_WC[a]
            reach = c.radius[rest] + c.radius[a] + distance
            kept = np.einsum("nk,nk->n", between, between) <= reach**2
            kept &= self._reaches_box(a, between, c.radius[rest] + distance)
            for b in rest[kept].tolist():
                yield a, b

    def _reaches_box(self, a: int, between: Matrix, radius: Vector) -> BoolArray:
        """Whether balls of a radius (m,) at places (m, 3) from the centre of solid a reach its bounding box."""
        c = self._collision
        if c.kind[a] == HALF_SPACE:
            return np.ones(len(between), dtype=bool)
        inside = between @ c.X_WG[a, :9].reshape(3, 3)
        return (np.abs(inside) <= c.extent[a] + radius[:, None]).all(axis=1)

    def distances(self, pairs: list[tuple[int, int]], limit: float) -> np.ndarray:
        """[m] of pairs of solids, negative where they overlap; some number above the limit for those farther apart."""
        pair_distance = load_kernels(False).pair_distance
        compiled = len(pairs) > FEW_PAIRS and compiled_by_default()
        if compiled:
            from mbcli.engine.runtime.kernel_cache import is_compiled

            in_machine_code = load_kernels(True).pair_distance
            compiled = len(pairs) > MANY_PAIRS or is_compiled(in_machine_code)
            pair_distance = in_machine_code if compiled else pair_distance
        handle = self._placed_collision().handle(compiled)
        return np.array([pair_distance(handle, a, b, limit) for a, b in pairs])

    def reaches(self, direction: ArrayLike) -> np.ndarray:
        """(n,) [m] how far each solid reaches from World's origin along a unit vector (3,); inf: endlessly."""
        d = np.asarray(direction, dtype=float)
        result = self._p_WG @ d
        along = np.einsum("nij,i->nj", self._R_WG, d)  # in each solid's frame
        for g, solid in enumerate(self._solids):
            result[g] += solid.rounding + _REACH[solid.kind](solid, along[g])
        return result


def _reach_of_half_space(solid: Any, l: Vector3) -> float:
    return 0.0 if l[2] >= 1.0 - 1e-12 else np.inf


def _reach_of_height_field(solid: Any, l: Vector3) -> float:
    x, y, base = solid.size
    rows, columns = solid.heights.shape
    X, Y = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
    across = l[0] * X + l[1] * Y
    return float(max((across + l[2] * solid.heights).max(), across.max() - l[2] * base))


_REACH = {
    BOX: lambda solid, l: np.abs(l) @ solid.size,
    CYLINDER: lambda solid, l: solid.size[0] * np.hypot(l[0], l[1]) + solid.size[2] * abs(l[2]),
    ELLIPSOID: lambda solid, l: np.linalg.norm(np.multiply(solid.size, l)),
    CONVEX: lambda solid, l: (solid.hull.vertices @ l).max(),
    HALF_SPACE: _reach_of_half_space,
    HEIGHT_FIELD: _reach_of_height_field,
    CAPSULE: lambda solid, l: solid.size[2] * abs(l[2]),
    BALL: lambda solid, l: 0.0,
}
