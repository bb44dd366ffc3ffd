"""A mesh file of any format as the text of an OBJ file, for programs that read no other."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mbcli.meshes.triangles import load_triangles

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray


@lru_cache(maxsize=32)
def obj_text(path: str) -> bytes:
    """The triangles of a mesh file as OBJ, with all digits. ResourceError, ModelError as load_triangles()."""
    return obj_lines(*load_triangles(path))


def obj_lines(vertices: FloatArray, triangles: IntArray) -> bytes:
    """Vertices (n, 3) and triangles (m, 3) as OBJ."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()
