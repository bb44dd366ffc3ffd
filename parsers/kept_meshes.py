"""Meshes whose vertices stand in a model file, as OBJ files in the user's cache, named by their contents.

Of a folder that is full what was not used for a week goes, as kept_arrays.py says.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.kept_files import ready_to_keep
from mbcli.common.output_files import write_in_place
from mbcli.common.user_cache import user_cache
from mbcli.meshes.kept_arrays import tidy

if TYPE_CHECKING:
    from pathlib import Path

    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

FOLDER = "file_meshes"  # of the user's cache
NOT_KEPT = "its mesh cannot be kept in the cache (MBCLI_CACHE_DIR): it is not drawn and does not touch"
_WEEK = 7 * 86400.0  # [s]
_ELSE = re.compile(r"[^A-Za-z0-9_.-]")  # in names of files
_MOST_NAME = 60  # characters
_DIGITS = 16  # of the sum over the content, in the name


def keep_mesh(name: str, content: bytes) -> str | None:
    """The path of the OBJ file of a mesh; None if no folder can be written, for which NOT_KEPT is the warning."""
    stem = _ELSE.sub("_", name)[:_MOST_NAME].lstrip(".") or "mesh"
    try:
        folder = user_cache() / FOLDER
        if ready_to_keep(folder):
            return written(folder / f"{stem}_{hashlib.sha256(content).hexdigest()[:_DIGITS]}.obj", content)
    except (OSError, RuntimeError):
        pass
    return None


def is_kept(path: str) -> bool:
    """Whether a path is that of a mesh file which is as keep_mesh() made it."""
    try:
        folder, name = os.path.split(path)
        if not name.endswith(".obj") or not os.path.samefile(folder, user_cache() / FOLDER):
            return False
        with open(path, "rb") as file:
            return name[:-4].endswith("_" + hashlib.sha256(file.read()).hexdigest()[:_DIGITS])
    except (OSError, RuntimeError, ValueError):
        return False


def written(path: Path, content: bytes) -> str:
    """The path of a file in the cache, written in one piece unless it is there; old ones beside it may go."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        os.utime(path)
        return str(path)
    tidy(path.parent, time.time() - _WEEK)
    write_in_place(path, content, 0o600)
    return str(path)


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
