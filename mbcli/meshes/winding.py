"""How often a closed surface winds about points: 0 outside, 1 inside, other numbers where it crosses itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

MOST_PAIRS = 2_000_000  # of points and triangles looked at together
# Rays go along an axis that no one builds along, so that they miss edges and do not lie in faces.
_TILT = np.linalg.qr(np.array([[0.8191, 0.3371, 0.4641], [-0.5139, 0.7713, 0.3757], [0.2547, -0.5399, 0.8023]]))[0]


def winding_numbers(points: FloatArray, vertices: FloatArray, triangles: IntArray) -> IntArray:
    """(n,) for points (n, 3) and a closed surface: vertices (k, 3), triangles (m, 3) that face outwards.

    A ray from each point crosses triangles, those it leaves the solid by less those it enters by are the number. Which
    triangles lie over a point is looked up on a grid across the rays.
    """
    p, v = points @ _TILT, vertices @ _TILT
    corners = v[triangles]
    flat = corners[:, :, :2]
    low, high = flat.min(axis=1), flat.max(axis=1)
    origin, extent = low.min(axis=0), float(np.ptp(flat.reshape(-1, 2), axis=0).max())
    count = int(np.clip(np.sqrt(len(triangles)), 1, 512))
    width = extent / count * (1.0 + 1e-9)
    start, members = _on_grid(
        ((low - origin) // width).astype(np.int64), ((high - origin) // width).astype(np.int64), count
    )
    place = np.floor((p[:, :2] - origin) / width)
    over = ((place >= 0) & (place < count)).all(axis=1)
    cell = np.where(over, place[:, 0] * count + place[:, 1], 0).astype(np.int64)
    looked = np.where(over, start[cell + 1] - start[cell], 0)
    numbers = np.zeros(len(points), dtype=np.int64)
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac = b - a, c - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    rows = np.flatnonzero(looked)
    for part in np.split(rows, np.flatnonzero(np.diff(np.cumsum(looked[rows]) // MOST_PAIRS)) + 1):
        if not len(part):
            continue
        n = looked[part]
        ends = np.cumsum(n)
        t = members[np.arange(ends[-1]) + np.repeat(start[cell[part]] - (ends - n), n)]
        i = np.repeat(part, n)
        d = p[i] - a[t]
        with np.errstate(divide="ignore", invalid="ignore"):
            u = (d[:, 0] * ac[t, 1] - d[:, 1] * ac[t, 0]) / area[t]
            w = (ab[t, 0] * d[:, 1] - ab[t, 1] * d[:, 0]) / area[t]
            crossed = (u >= 0.0) & (w >= 0.0) & (u + w < 1.0) & (u * ab[t, 2] + w * ac[t, 2] > d[:, 2])
        numbers += np.bincount(i, weights=np.where(crossed, np.sign(area[t]), 0.0), minlength=len(points)).astype(
            np.int64
        )
    return numbers


def _on_grid(low: IntArray, high: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """(start, members): the rectangles from low (m, 2) to high (m, 2) at cell k are members[start[k]:start[k + 1]]."""
    low, high = np.clip(low, 0, count - 1), np.clip(high, 0, count - 1)
    spans = high - low + 1
    n = spans.prod(axis=1)
    owner = np.repeat(np.arange(len(low)), n)
    k = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    cells = (low[owner, 0] + k // spans[owner, 1]) * count + low[owner, 1] + k % spans[owner, 1]
    order = np.argsort(cells, kind="stable")
    return np.searchsorted(cells[order], np.arange(count * count + 1)), owner[order]
