"""The meshes of a stage as OBJ files, which lie in the user's cache under names that follow from their contents.

Of a folder that is full what was not used for a week goes, as kept_arrays.py says.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.kept_files import ready_to_keep
from mbcli.common.user_cache import user_cache
from mbcli.math.single_precision import shortest_decimals
from mbcli.meshes.kept_arrays import tidy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any, TypeAlias

    from mbcli.parsers.usd.usd_stage import Prim

    from mbcli.math.array_types import BoolArray, FloatArray, IntArray, Matrix, Vector3

    Arrays: TypeAlias = tuple[FloatArray, IntArray, IntArray]  # see MeshFolder.arrays()

FOLDER = "usd_meshes"  # of the user's cache
_WEEK = 7 * 86400.0  # [s]


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
        name = f"{prim.name}_{hashlib.sha256(content).hexdigest()[:16]}.obj"
        try:
            folder = user_cache() / FOLDER
            if ready_to_keep(folder):
                return written(folder / name, content)
        except (OSError, RuntimeError):
            pass
        message = "its mesh cannot be kept in the cache (MBCLI_CACHE_DIR): it is not drawn and does not touch"
        prim.diagnostics.warning("URI_LOOKUP", message, prim)
        return None


def written(path: Path, content: bytes) -> str:
    """The path of a file in the cache, written in one piece unless it is there; old ones beside it may go."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        os.utime(path)
        return str(path)
    tidy(path.parent, time.time() - _WEEK)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(temporary, path)
    return str(path)


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


def obj_of(points: FloatArray, counts: IntArray, indices: IntArray, chosen: BoolArray | None = None) -> bytes:
    """The text of an OBJ file; chosen: (m,) bool of the faces that are in it."""
    if chosen is not None:
        indices, counts = indices[np.repeat(chosen, counts)], counts[chosen]
        used, indices = np.unique(indices, return_inverse=True)
        points = points[used]
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()]
    corners = (indices + 1).tolist()
    if (counts == 3).all():
        lines += [f"f {a} {b} {c}" for a, b, c in zip(corners[::3], corners[1::3], corners[2::3], strict=True)]
    else:
        ends = np.cumsum(counts).tolist()
        faces = zip([0, *ends[:-1]], ends, strict=True)
        lines += ["f " + " ".join(map(str, corners[start:end])) for start, end in faces]
    return ("\n".join(lines) + "\n").encode()


def turned_round(counts: IntArray, indices: IntArray) -> IntArray:
    """Faces that are seen from the other side."""
    ends = np.cumsum(counts)
    first, last = np.repeat(ends - counts, counts), np.repeat(ends - 1, counts)
    return indices[first + last - np.arange(len(indices))]
