"""The triangles that MuJoCo takes for the inertia of a mesh file: STL, OBJ, MSH.

They are not always those that collide. Coordinates are rounded to single precision. Of an OBJ file only the faces of
its first object or group count (a line with `o` or `g` begins another), the vertices of all of them make the convex
hull. MSH is MuJoCo's own format. Other formats are read as everywhere here.

Format: https://mujoco.readthedocs.io/en/stable/XMLreference.html#asset-mesh
"""

import os

import numpy as np

from mbcli.errors import ModelError, ResourceError
from mbcli.meshes.triangles import MAX_BYTES, MAX_TRIANGLES, load_triangles

_TRIANGLE_OF_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_STL_HEADER = 80  # bytes before the number of triangles
_MSH_HEADER = np.dtype("<i4").itemsize * 4


def read_surface(path):
    """Vertices (n, 3) in the file's unit and triangles (m, 3) of their indices, None for the hull of the vertices.

    Raises ModelError or ResourceError.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _READERS:
        return load_triangles(path)
    vertices, triangles = _READERS[suffix](_content(path), path)
    if triangles is not None and len(triangles) > MAX_TRIANGLES:
        raise ResourceError(f"{path}: {len(triangles)} triangles, the most are {MAX_TRIANGLES}")
    if triangles is not None and not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ModelError(f"{path}: a triangle has a vertex that is not there")
    if not np.isfinite(vertices).all():
        raise ModelError(f"{path}: a vertex is not finite")
    return vertices.astype(float), triangles


def in_single_precision(vertices):
    """Coordinates as MuJoCo keeps them."""
    with np.errstate(over="ignore"):
        return np.asarray(vertices, dtype=np.float32)


def _content(path):
    try:
        size = os.path.getsize(path)
        if size > MAX_BYTES:
            raise ResourceError(f"{path}: {size} bytes, the most of a mesh file are {MAX_BYTES}")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ResourceError(f"{path}: cannot read the mesh: {error.strerror}") from None


# ----------------------------------------------------------------------------------------------- STL


def _read_stl(content, path):
    count = int.from_bytes(content[_STL_HEADER : _STL_HEADER + 4], "little")
    start = _STL_HEADER + 4
    if len(content) < start or len(content) != start + count * _TRIANGLE_OF_STL.itemsize:
        vertices, triangles = load_triangles(path)  # as text, which MuJoCo does not read
        return in_single_precision(vertices), triangles
    if not count:
        raise ModelError(f"{path}: there are no triangles in it")
    corners = np.frombuffer(content, _TRIANGLE_OF_STL, offset=start)["corners"]
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


# ----------------------------------------------------------------------------------------------- OBJ


def _read_obj(content, path):
    """Vertices of the whole file and the triangles of its first object."""
    positions, faces, complete = [], [], False
    for line in content.replace(b"\\\n", b" ").replace(b"\\\r\n", b" ").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == b"v":
            positions.append(words[1:4])
        elif words[0] == b"f" and not complete:
            faces.append((len(positions), words[1:]))
        elif words[0] in (b"o", b"g") and faces:
            complete = True
    try:
        vertices = in_single_precision(np.array(positions, dtype=float).reshape(-1, 3))
        faces = [_corners_of(words, count) for count, words in faces]
    except ValueError as error:
        raise ModelError(f"{path}: cannot read the mesh: {error}") from None
    if not faces:
        raise ModelError(f"{path}: there are no triangles in it")
    if max(map(max, faces)) >= len(vertices):
        raise ModelError(f"{path}: a triangle has a vertex that is not there")
    return vertices, np.concatenate([_triangles_of(vertices.astype(float), faces, n) for n in set(map(len, faces))])


def _corners_of(words, count):
    """Indices of a face's vertices from 0; count: of the vertices before it, from which negative indices count."""
    numbers = [int(word.partition(b"/")[0]) for word in words]
    if len(numbers) < 3 or not all(-count <= n and n for n in numbers):
        raise ValueError(f"a face has the vertices {b' '.join(words[:10]).decode(errors='replace')}")
    return [n - 1 if n > 0 else count + n for n in numbers]


def _triangles_of(vertices, faces, n):
    """(m, 3) of the faces of n corners. Quadrilaterals are cut along their shorter diagonal, others into a fan."""
    faces = np.array([face for face in faces if len(face) == n])
    if n == 4:
        a, b, c, d = (vertices[faces[:, k]] for k in range(4))
        along_bd = np.einsum("ij,ij->i", c - a, c - a) >= np.einsum("ij,ij->i", d - b, d - b)
        faces[along_bd] = np.roll(faces[along_bd], -1, axis=1)
    return np.concatenate([faces[:, [0, k, k + 1]] for k in range(1, n - 1)])


# ----------------------------------------------------------------------------------------------- MSH


def _read_msh(content, path):
    """Four numbers (of vertices, normals, texture coordinates and triangles), then these four one after the other."""
    sizes = np.frombuffer(content[:_MSH_HEADER], "<i4")
    if len(sizes) < 4 or (sizes < 0).any() or sizes[0] < 4:
        raise ModelError(f"{path}: its header does not have the four numbers of an MSH file")
    vertices, normals, coordinates, triangles = sizes.tolist()
    expected = _MSH_HEADER + 12 * (vertices + normals + triangles) + 8 * coordinates
    if len(content) != expected:
        raise ModelError(f"{path}: an MSH file of these numbers has {expected} bytes, not {len(content)}")
    positions = np.frombuffer(content, "<f4", 3 * vertices, _MSH_HEADER).reshape(-1, 3)
    if not triangles:
        return positions, None
    indices = np.frombuffer(content, "<i4", 3 * triangles, expected - 12 * triangles).reshape(-1, 3)
    return positions, indices.astype(np.int64)


_READERS = {".stl": _read_stl, ".obj": _read_obj, ".msh": _read_msh}
