"""Wavefront OBJ files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.surfaces import Surface

if TYPE_CHECKING:
    from collections.abc import Iterator


def read_obj(content: bytes) -> Iterator[Surface]:
    """The objects, or groups, of an OBJ file. A polygon becomes a fan of triangles.

    Materials, normals, curves and free-form surfaces are passed over.
    """
    points: list[list[bytes]] = []
    parts: dict[bytes, list[tuple[int, int, int]]] = {}
    triangles = parts.setdefault(b"", [])
    for line in content.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == b"v":
            if len(words) < 4:
                raise ModelError(f"vertex {len(points) + 1} has {len(words) - 1} coordinates")
            points.append(words[1:4])
        elif words[0] == b"f":
            corners = [_index(word, len(points)) for word in words[1:]]
            triangles += [(corners[0], *pair) for pair in zip(corners[1:-1], corners[2:], strict=True)]
        elif words[0] in (b"o", b"g"):
            triangles = parts.setdefault(b" ".join(words[1:]), [])
    vertices = np.array(points, dtype=bytes).astype(float).reshape(-1, 3)
    for name, faces in parts.items():
        if faces:
            used, places = np.unique(np.array(faces, dtype=np.int64), return_inverse=True)
            if used[0] < 0 or used[-1] >= len(vertices):
                raise ModelError(f"a face has a vertex that is not there: there are {len(vertices)}")
            yield Surface(name.decode(errors="replace"), vertices[used], places.reshape(-1, 3))


def _index(word: bytes, count: int) -> int:
    """The place of the vertex of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`; negative ones count back."""
    number = int(word.split(b"/", 1)[0])
    return number - 1 if number > 0 else count + number
