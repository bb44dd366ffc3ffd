"""Flat tetrahedra taken out of a mesh: what Delaunay's rule leaves undecided where points lie on a common sphere."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

import numpy as np

from mbcli.meshes.volume_mesh import FACES, outer_triangles, signed_volumes

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

FLAT = 1e-6  # of the size: height of a tetrahedron that is as good as flat
MOST_LAYERS = 10  # of flat tetrahedra on each other
_OPPOSITE = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2]])  # ends of opposite edges


def without_flat(points: FloatArray, cells: IntArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Points (n, 3) and cells (k, 4) without flat ones, and points (m, 3) where some stay that need a mesh made anew.

    The size of all is 1. At the surface a flat cell with two of its triangles there leaves the other two to it; those
    with one go all together, if the area of the surface stays, so that it does not fold. A flat cell inside lies
    between two pairs of triangles with crossing edges: both edges are cut where they cross, in all cells around them,
    and the pairs fall together.
    """
    flat = _is_flat(points, cells)
    if not flat.any():
        return points, cells, np.zeros((0, 3))
    kept = _peeled(cells, flat, 2)
    if (flat & kept).any():
        more = _peeled(cells, flat, 1)
        area = _area(points, outer_triangles(cells[kept]))
        if abs(_area(points, outer_triangles(cells[more])) - area) <= 1e-9 * area:
            kept = more
    cells, flat = cells[kept], flat[kept]
    if flat.any():
        points, cells = _crossed(points, cells, flat)
        flat = _is_flat(points, cells)
    return points, cells, _crossings(points[cells[flat]])[0]


def _is_flat(points: FloatArray, cells: IntArray) -> BoolArray:
    p = points[cells]
    areas = [np.linalg.norm(np.cross(p[:, j] - p[:, i], p[:, k] - p[:, i]), axis=1) for i, j, k in FACES]
    return 6.0 * signed_volumes(points, cells) <= FLAT * np.maximum(np.max(areas, axis=0), 1e-300)


def _peeled(cells: IntArray, flat: BoolArray, least: int) -> BoolArray:
    """Which cells stay where flat ones with at least so many triangles at the surface go, layer after layer."""
    kept = np.ones(len(cells), dtype=bool)
    for _ in range(MOST_LAYERS):
        rows = np.flatnonzero(kept)
        faces = np.sort(cells[rows][:, FACES].reshape(-1, 3), axis=1)
        n = int(cells.max()) + 1
        _, number, counts = np.unique(
            (faces[:, 0] * n + faces[:, 1]) * n + faces[:, 2], return_inverse=True, return_counts=True
        )
        off = flat[rows] & ((counts[number.ravel()] == 1).reshape(-1, 4).sum(axis=1) >= least)
        if not off.any():
            break
        kept[rows[off]] = False
    return kept


def _area(points: FloatArray, triangles: IntArray) -> float:
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0


def _crossed(points: FloatArray, cells: IntArray, flat: BoolArray) -> tuple[FloatArray, IntArray]:
    """Flat cells taken out by cutting their crossing edges, one cell after another. Some may stay."""
    touched = np.isin(cells, np.unique(cells[flat])).any(axis=1)
    rows: dict[int, tuple[int, ...]] = dict(enumerate(map(tuple, cells[touched].tolist())))
    around = defaultdict(set)
    for number, row in rows.items():
        for v in row:
            around[v].add(number)
    surface = outer_triangles(cells)
    rim = {tuple(sorted(e)) for k in range(3) for e in surface[:, [k, (k + 1) % 3]].tolist()}
    waiting = deque(np.flatnonzero(flat[touched]).tolist())
    flat_ones = set(waiting)
    places, following = list(points), len(rows)
    left = 4 * len(waiting) + 100
    while waiting and left:
        left -= 1
        number = waiting.popleft()
        if number not in rows:
            continue
        row = rows[number]
        at, ends, shares = _crossing(np.array([places[v] for v in row]))
        i, j, k, m = (row[e] for e in ends)
        if not (shares.min() > 0.02 and shares.max() < 0.98) or (_pair(i, j) in rim and _pair(k, m) in rim):
            continue
        if len(around[i] & around[j] & around[k] & around[m]) > 1:  # two flat ones on each other
            continue
        for (a, b), share in (((i, j), shares[0]), ((k, m), shares[1])):
            if _pair(a, b) in rim:  # the surface stays where it is
                at = places[a] + share * (places[b] - places[a])
        new = len(places)
        parts, gone = [], [number]
        for a, b in ((i, j), (k, m)):
            for other in around[a] & around[b] - {number}:
                gone.append(other)
                is_flat = other in flat_ones
                parts += [(tuple(new if v == end else v for v in rows[other]), is_flat) for end in (a, b)]
        corners = np.array([[at if v == new else places[v] for v in part] for part, _ in parts])
        volumes = signed_volumes(corners.reshape(-1, 3), np.arange(4 * len(parts)).reshape(-1, 4))
        if any(volume <= 0.0 and not is_flat for volume, (_, is_flat) in zip(volumes, parts, strict=True)):
            continue
        places.append(at)
        for a, b in ((i, j), (k, m)):
            if _pair(a, b) in rim:
                rim |= {_pair(a, new), _pair(b, new)}
        for other in gone:
            for v in rows.pop(other):
                around[v].discard(other)
        for part, is_flat in parts:
            rows[following] = part
            for v in part:
                around[v].add(following)
            if is_flat:
                waiting.append(following)
                flat_ones.add(following)
            following += 1
    return np.array(places), np.concatenate([cells[~touched], np.array(list(rows.values()), dtype=np.int64)])


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _crossing(corners: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Where opposite edges of a flat tetrahedron (4, 3) cross, their four ends, and the shares along both."""
    at, which, shares = _crossings(corners[None])
    return at[0], _OPPOSITE[which[0]], shares[0]


def _crossings(corners: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """For flat tetrahedra (n, 4, 3) the middle between those opposite edges that are nearest to each other (n, 3),
    which pair of edges that is (n,), and the shares along both (n, 2).
    """
    best, at = np.full(len(corners), np.inf), corners.mean(axis=1)
    which, shares = np.zeros(len(corners), dtype=np.int64), np.zeros((len(corners), 2))
    for number, (i, j, k, m) in enumerate(_OPPOSITE):
        p, u = corners[:, i], corners[:, j] - corners[:, i]
        q, w = corners[:, k], corners[:, m] - corners[:, k]
        uu, uw, ww = (np.einsum("ij,ij->i", x, y) for x, y in ((u, u), (u, w), (w, w)))
        du, dw = np.einsum("ij,ij->i", q - p, u), np.einsum("ij,ij->i", q - p, w)
        det = np.maximum(uu * ww - uw * uw, 1e-300)
        s, t = np.clip((du * ww - dw * uw) / det, 0.0, 1.0), np.clip((du * uw - dw * uu) / det, 0.0, 1.0)
        x, y = p + s[:, None] * u, q + t[:, None] * w
        gap = np.linalg.norm(x - y, axis=1)
        better = gap < best
        best, which = np.where(better, gap, best), np.where(better, number, which)
        at = np.where(better[:, None], (x + y) / 2.0, at)
        shares = np.where(better[:, None], np.column_stack([s, t]), shares)
    return at, which, shares
