"""Wavefront OBJ files, with the colours of their materials."""

from __future__ import annotations

import os
import re
from array import array
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.surfaces import Surface, triangles_of_faces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mbcli.math.array_types import IntArray
    from mbcli.meshes.surfaces import Color

_LINE = re.compile(rb"^[ \t]*(v|f|o|g|usemtl|mtllib)(?:[ \t]([^\n]*))?$", re.MULTILINE)
_MORE_OF_CORNER = re.compile(rb"/[^ \t\n]*")  # `v/vt/vn`: texture coordinate and normal
_MOST_BYTES = 1_000_000  # of a file of materials


class _Faces:
    """The faces of an object or group that have one material."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.corners: list[int] = []  # how many each line has
        self.points: list[int] = []  # how many vertices the file had before it, from which negative numbers count back

    def triangles(self) -> IntArray:
        """(m, 3) places of vertices in the file; a polygon becomes a fan."""
        words = _MORE_OF_CORNER.sub(b"", b"\n".join(self.lines)).split()
        numbers = np.array(list(map(int, words)), dtype=np.int64)
        places = np.where(numbers > 0, numbers - 1, np.repeat(self.points, self.corners) + numbers)
        corners, _ = triangles_of_faces(np.append(0, np.cumsum(self.corners)))
        return places[corners]


def read_obj(content: bytes, folder: str = "") -> Iterator[Surface]:
    """The objects, or groups, of an OBJ file, one Surface for each material.

    Normals, curves and free-form surfaces are passed over. folder: of the file, in which its materials are; a material
    with an image has no colour, and files that are not there or lie elsewhere have none.
    """
    points = array("d")
    parts: dict[tuple[bytes, bytes], _Faces] = {}
    group = material = b""
    libraries: list[bytes] = []
    faces: _Faces | None = None
    for kind, rest in _LINE.findall(_plain(content)):
        if kind == b"v":
            numbers = rest.split()
            if len(numbers) < 3:
                raise ModelError(f"vertex {len(points) // 3 + 1} has {len(numbers)} coordinates")
            points.extend(map(float, numbers[:3]))
        elif kind == b"f":
            if faces is None:
                faces = parts.setdefault((group, material), _Faces())
            faces.lines.append(rest)
            faces.corners.append(len(rest.split()))
            faces.points.append(len(points) // 3)
        elif kind in (b"o", b"g"):
            group, faces = b" ".join(rest.split()), None
        elif kind == b"usemtl":
            material, faces = rest.strip(), None
        else:
            libraries.append(rest.strip())
    vertices = np.array(points).reshape(-1, 3)
    colors = _colors(libraries, folder) if any(name for _, name in parts) else {}
    for (name, material), part in parts.items():
        triangles = part.triangles()
        if triangles.size:
            used, places = np.unique(triangles, return_inverse=True)
            if used[0] < 0 or used[-1] >= len(vertices):
                raise ModelError(f"a face has a vertex that is not there: there are {len(vertices)}")
            yield Surface(name.decode(errors="replace"), vertices[used], places.reshape(-1, 3), colors.get(material))


def _plain(content: bytes) -> bytes:
    """With one sign for the end of a line, and none within a line that goes on."""
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return content.replace(b"\\\n", b" ") if b"\\" in content else content


def _colors(libraries: Sequence[bytes], folder: str) -> dict[bytes, Color]:
    """The diffuse colour of each material that has no image."""
    found: dict[bytes, Color] = {}
    inside = os.path.realpath(folder or ".")
    for library in libraries:
        path = os.path.realpath(os.path.join(inside, os.fsdecode(library)))
        if os.path.commonpath((inside, path)) != inside:
            continue
        try:
            with open(path, "rb") as file:
                found |= _materials(file.read(_MOST_BYTES))
        except (OSError, ValueError):
            continue  # a mesh without its materials is a mesh
    return found


def _materials(content: bytes) -> dict[bytes, Color]:
    """ValueError for what is no number."""
    found: dict[bytes, Color] = {}
    images, name = set(), b""
    for line in content.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == b"newmtl":
            name = line.split(None, 1)[1].strip() if len(words) > 1 else b""
        elif words[0] == b"map_Kd":
            images.add(name)
        elif words[0] == b"Kd" and len(words) > 3:
            r, g, b = (min(max(float(word), 0.0), 1.0) for word in words[1:4])
            found[name] = r, g, b, 1.0
    return {name: color for name, color in found.items() if name not in images and np.isfinite(color).all()}
