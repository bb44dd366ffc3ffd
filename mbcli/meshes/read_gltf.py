"""glTF 2.0 files: `.gltf` with its buffers in it or beside it, and `.glb`."""

from __future__ import annotations

import base64
import json
import os
import stat
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from mbcli.common import git_lfs
from mbcli.common.colors import srgb_of
from mbcli.errors import ModelError, ResourceError
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.meshes.surfaces import Surface, fans, placed, strips, triples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.meshes.surfaces import Color

MOST_NODES = 100_000  # that a scene visits
MOST_BUFFER_BYTES = 500_000_000  # of all buffers
MOST_NUMBERS = 40_000_000  # of all accessors together, and of all meshes at all places of nodes
MOST_ZEROS = 3_000_000  # of these, of accessors without a buffer, whose values are 0
_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_PRIMITIVES = {4: triples, 5: strips, 6: fans}
_COMPRESSION = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")


def read_gltf(content: bytes, folder: str) -> Iterator[Surface]:
    """The meshes of the scene of a glTF or GLB file, in the places of its nodes; a surface has the name of its node.

    folder: where buffers lie that have files of their own; they are looked for in it and below.
    """
    document, binary = _chunks(content)
    for name in _COMPRESSION:
        if name in document.get("extensionsRequired", []):
            raise ModelError(f"its meshes are compressed by {name}, which is not supported")
    yield from _Scene(document, _Buffers(document.get("buffers", []), binary, folder)).surfaces()


def files_beside(content: bytes, *, images: bool = False) -> list[str]:
    """The names of the files that hold the buffers of a glTF or GLB file, and the images if asked for."""
    document = _chunks(content)[0]
    parts = document.get("buffers", []) + (document.get("images", []) if images else [])
    names = [part.get("uri", "data:") for part in parts]
    return [unquote(name) for name in names if not name.startswith("data:")]


def read_beside(folder: str, name: str) -> bytes:
    """The bytes of a file that another one in a folder names; ResourceError if it is not below that folder."""
    root, path = os.path.realpath(folder), os.path.realpath(os.path.join(folder, name))
    try:
        status = os.stat(path)
        if os.path.commonpath([root, path]) != root or not stat.S_ISREG(status.st_mode):
            raise ResourceError(f"its buffer '{name}' is not a file in the folder of the mesh")
        if status.st_size > MOST_BUFFER_BYTES:
            raise ResourceError(f"its buffer '{name}' has {status.st_size} bytes, the most are {MOST_BUFFER_BYTES}")
        with open(path, "rb") as file:
            content = file.read(MOST_BUFFER_BYTES)
    except OSError as error:
        raise ResourceError(f"its buffer '{name}' cannot be read: {error.strerror}") from None
    if git_lfs.is_pointer(content):
        raise ResourceError(f"its buffer '{name}' cannot be read: {git_lfs.ADVICE}")
    return content


def _chunks(content: bytes) -> tuple[dict[str, Any], bytes | None]:
    """The JSON document, and the binary chunk of a GLB file."""
    if not content.startswith(b"glTF"):
        return _parsed(content), None
    if int.from_bytes(content[4:8], "little") != 2:
        raise ModelError("only version 2 of GLB files is read")
    size = int.from_bytes(content[12:16], "little")
    start = 20 + size
    binary = content[start + 8 : start + 8 + int.from_bytes(content[start : start + 4], "little")]
    return _parsed(content[20:start]), binary


def _parsed(text: bytes) -> dict[str, Any]:
    """The JSON document; ModelError for one that is not an object, or is nested deeper than its reader goes."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"its JSON cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise ModelError("its JSON is not an object")
    return document


class _Buffers:
    """The buffers of a file, each read once however many names it has."""

    def __init__(self, described: list[dict[str, Any]], binary: bytes | None, folder: str) -> None:
        self._described, self._binary, self._folder = described, binary, folder
        self._known: dict[str, bytes] = {}
        self._size = 0

    def __getitem__(self, k: int) -> bytes:
        uri = self._described[k].get("uri")
        if uri is None:
            if self._binary is None or k != 0:
                raise ModelError("a buffer has no bytes")
            return self._binary
        if uri not in self._known:
            self._known[uri] = content = self._content(uri)
            self._size += len(content)
            if self._size > MOST_BUFFER_BYTES:
                raise ResourceError(f"its buffers have more than {MOST_BUFFER_BYTES} bytes")
        return self._known[uri]

    def _content(self, uri: str) -> bytes:
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        return read_beside(self._folder, unquote(uri))


class _Scene:
    def __init__(self, document: dict[str, Any], buffers: _Buffers) -> None:
        self.document, self.buffers = document, buffers
        self.nodes = document.get("nodes", [])
        self.known: dict[int, list[tuple[FloatArray, IntArray, Color | None]]] = {}
        self.visited = 0
        self.counts = {"numbers at places": 0, "numbers": 0, "numbers without a buffer": 0}

    def surfaces(self) -> Iterator[Surface]:
        scenes = self.document.get("scenes", [])
        if scenes:
            roots = scenes[self.document.get("scene", 0)].get("nodes", [])
        else:
            children = {child for node in self.nodes for child in node.get("children", [])}
            roots = [k for k in range(len(self.nodes)) if k not in children]
        for root in roots:
            yield from self.of_node(root, np.eye(4), ())

    def of_node(self, k: int, X: FloatArray, within: tuple[int, ...]) -> Iterator[Surface]:
        self.visited += 1
        if self.visited > MOST_NODES or k in within:
            raise ModelError(f"its nodes are below each other in a circle, or more than {MOST_NODES}")
        node = self.nodes[k]
        X = X @ _transform(node)
        if "mesh" in node:
            name = node.get("name") or self.document["meshes"][node["mesh"]].get("name") or ""
            for vertices, triangles, color in self.of_mesh(node["mesh"]):
                self.add("numbers at places", vertices.size + triangles.size)
                yield Surface(str(name), placed(X, vertices), triangles, color)
        for child in node.get("children", []):
            yield from self.of_node(child, X, (*within, k))

    def of_mesh(self, k: int) -> list[tuple[FloatArray, IntArray, Color | None]]:
        if k not in self.known:
            primitives = [p for p in self.document["meshes"][k]["primitives"] if p.get("mode", 4) in _PRIMITIVES]
            self.known[k] = [(*self.of_primitive(primitive), self.color(primitive)) for primitive in primitives]
        return self.known[k]

    def of_primitive(self, primitive: dict[str, Any]) -> tuple[FloatArray, IntArray]:
        vertices = self.numbers(primitive["attributes"]["POSITION"]).astype(float)
        if "indices" in primitive:
            corners = self.numbers(primitive["indices"]).astype(np.int64).ravel()
        else:
            corners = np.arange(len(vertices))
        return vertices, _PRIMITIVES[primitive.get("mode", 4)]([corners])

    def color(self, primitive: dict[str, Any]) -> Color | None:
        """The base colour of the material; None for an image, for no material, and for one that is broken."""
        try:
            material = self.document["materials"][primitive["material"]]
            surface = material.get("pbrMetallicRoughness", {})
            if "baseColorTexture" in surface:
                return None
            r, g, b, opacity = (float(value) for value in surface.get("baseColorFactor", (1.0, 1.0, 1.0, 1.0)))
            opacity = opacity if material.get("alphaMode") == "BLEND" else 1.0
            within = all(0.0 <= value <= 1.0 for value in (r, g, b, opacity))
            return (*srgb_of((r, g, b)), opacity) if within else None
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None

    def add(self, what: str, count: int, most: int = MOST_NUMBERS) -> None:
        """Counts numbers of all meshes of the file together: few bytes can ask for many."""
        self.counts[what] += count
        if self.counts[what] > most:
            raise ResourceError(f"its meshes have more than {most} {what}")

    def numbers(self, k: int) -> Any:
        """The values of an accessor, (count, width)."""
        accessor = self.document["accessors"][k]
        dtype, width, count = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[accessor["type"]], accessor["count"]
        if not isinstance(count, int) or not 0 <= count <= MOST_NUMBERS:
            raise ModelError(f"an accessor has {count} rows")
        self.add("numbers", count * width)
        if "bufferView" in accessor:
            values = self.rows(accessor["bufferView"], accessor.get("byteOffset", 0), dtype, width, count)
        else:
            self.add("numbers without a buffer", count * width, MOST_ZEROS)
            values = np.zeros((count, width), dtype)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            indices, changed = sparse["indices"], sparse["values"]
            kind = np.dtype(_TYPES[indices["componentType"]])
            places = self.rows(indices["bufferView"], indices.get("byteOffset", 0), kind, 1, sparse["count"])
            new = self.rows(changed["bufferView"], changed.get("byteOffset", 0), dtype, width, sparse["count"])
            values = values.copy()
            values[places.ravel()] = new
        if accessor.get("normalized") and dtype.kind != "f":
            return np.maximum(values / np.iinfo(dtype).max, -1.0)
        return values

    def rows(self, view: int, offset: int, dtype: np.dtype[Any], width: int, count: int) -> Any:
        """(count, width) numbers of a type from a buffer view."""
        described = self.document["bufferViews"][view]
        first = described.get("byteOffset", 0)
        content = memoryview(self.buffers[described["buffer"]])[first : first + described["byteLength"]]
        size = dtype.itemsize * width
        stride = described.get("byteStride", size)
        if min(offset, count, first) < 0 or stride < size or offset + (count - 1) * stride + size > len(content):
            raise ModelError("an accessor reaches beyond its buffer")
        return np.ndarray((count, width), dtype, content, offset, (stride, dtype.itemsize))


def _transform(node: dict[str, Any]) -> FloatArray:
    if "matrix" in node:
        return np.array(node["matrix"], dtype=float).reshape(4, 4).T
    X = np.eye(4)
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    X[:3, :3] = matrix_from_quaternion(np.array([w, x, y, z], dtype=float)) * node.get("scale", (1.0, 1.0, 1.0))
    X[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return X
