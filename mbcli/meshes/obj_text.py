"""A mesh file of any format as the text of an OBJ file, for programs that read no other."""

from __future__ import annotations

from functools import lru_cache

from mbcli.meshes.triangles import load_triangles


@lru_cache(maxsize=32)
def obj_text(path: str) -> bytes:
    """The triangles of a mesh file as OBJ, with all digits. ResourceError, ModelError as load_triangles()."""
    vertices, triangles = load_triangles(path)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()
