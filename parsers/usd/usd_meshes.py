"""The meshes of a stage: their arrays, and the OBJ files that are kept of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.kept_meshes import NOT_KEPT, keep_mesh

from mbcli.math.single_precision import shortest_decimals

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from mbcli.parsers.usd.usd_stage import Prim

    from mbcli.math.array_types import FloatArray, IntArray, Matrix, Vector3

    Arrays: TypeAlias = tuple[FloatArray, IntArray, IntArray]  # see MeshFolder.arrays()


class MeshFolder:
    """Reads the arrays of meshes, and keeps OBJ files."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: dict[tuple[str, bool], Arrays | None] = {}
        self._paths: dict[tuple[Any, ...], str | None] = {}

    def arrays(self, prim: Prim) -> Arrays | None:
        """(points (n, 3) in the unit of the file, corners (m,) of each face, indices of points), or None."""
        name = prim.document.get("mesh")
        if name is None:
            return None
        key = name, prim.document["left_handed"]
        if key not in self._known:
            with np.load(os.path.join(self._folder, name), allow_pickle=False) as held:
                points, counts, indices = (held[key] for key in ("points", "counts", "indices"))
            self._known[key] = _checked(points, counts, indices, prim.document["left_handed"])
        return self._known[key]

    def kept(self, prim: Prim, key: tuple[Any, ...], make: Callable[[], bytes]) -> str | None:
        """The path of the OBJ file whose content make() gives; None if no folder can be written, of which a warning
        tells. key: what the content follows from, beside the mesh."""
        key = prim.document["mesh"], prim.document["left_handed"], *key
        if key not in self._paths:
            self._paths[key] = self._keep(prim, make())
        return self._paths[key]

    def _keep(self, prim: Prim, content: bytes) -> str | None:
        path = keep_mesh(prim.name, content)
        if path is None:
            prim.diagnostics.warning("URI_LOOKUP", NOT_KEPT, prim)
        return path


def _checked(points: Matrix, counts: IntArray, indices: IntArray, left_handed: bool) -> Arrays | None:
    """The arrays, as float64; None for faces that are none."""
    if not len(points) or not len(counts) or (counts < 0).any() or counts.sum() != len(indices):
        return None
    if indices.min() < 0 or indices.max() >= len(points) or not np.isfinite(points).all():
        return None
    keep = counts >= 3
    if not keep.any():
        return None
    if not keep.all():
        indices, counts = indices[np.repeat(keep, counts)], counts[keep]
    return shortest_decimals(points), counts, turned_round(counts, indices) if left_handed else indices


def bounds(points: Matrix) -> tuple[Vector3, Vector3]:
    return points.min(axis=0), points.max(axis=0)


def turned_round(counts: IntArray, indices: IntArray) -> IntArray:
    """Faces that are seen from the other side."""
    ends = np.cumsum(counts)
    first, last = np.repeat(ends - counts, counts), np.repeat(ends - 1, counts)
    return indices[first + last - np.arange(len(indices))]
