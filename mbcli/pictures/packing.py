"""Scenes and motions as bytes: compact enough to mail, and read by the page (page/packing.js) and by logs.

A pack is deflated (zlib). Inside, a JSON header of arrays with a length of 4 bytes before it, then their data. Numbers
are whole multiples of a step; each array holds its first row, then differences of rows, as 32-bit integers whose first
bytes come first, then all second bytes, and so on, which deflates well.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.json_text import plain
from mbcli.errors import ModelError
from mbcli.pictures.scene import (
    MEASURES,
    ContactPoints,
    ContactSurfaces,
    Motion,
    PictureBody,
    PictureCoordinate,
    PictureFrame,
    PictureJoint,
    PictureMesh,
    PictureShape,
    Scene,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray

FORMAT, VERSION = "mbcli-scene", 1
PLACE_STEP = 1e-5  # [m] of bodies and contact points
QUATERNION_STEP = 1.0 / 65536
TIME_STEP = 1e-6  # [s]
MESH_STEPS = 65535  # of the largest extent of a mesh
LARGEST = 1 << 29  # [bytes] of a pack that is read
LARGEST_NUMBER = 2**31 - 1


def pack_arrays(arrays: Mapping[str, tuple[ArrayLike, float]], level: int = 9) -> bytes:
    """A pack of {name: (array, step)}, deflated at a level from 1, fast, to 9, small.

    A step is as long as the largest number of its array needs. ModelError for numbers that are not finite.
    """
    header, data, start = [], [], 0
    for name, (array, step) in arrays.items():
        values = np.asarray(array, dtype=float)
        largest = float(np.abs(values).max(initial=0.0))
        if not np.isfinite(largest):
            raise ModelError(f"{name} has numbers that are not finite")
        step = max(step, largest / LARGEST_NUMBER)
        whole = np.rint(values / step).astype(np.int64)
        whole[1:] -= whole[:-1].copy()
        rows = np.ascontiguousarray(whole.astype("<i4")).reshape(-1)  # differences wrap around, and back when added up
        header.append({"name": name, "shape": list(values.shape), "step": step, "start": start})
        data.append(np.ascontiguousarray(rows.view(np.uint8).reshape(-1, 4).T).tobytes())
        start += 4 * rows.size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return zlib.compress(len(text).to_bytes(4, "little") + text + b"".join(data), level)


def unpack_arrays(packed: bytes) -> dict[str, FloatArray]:
    """The arrays of a pack; ModelError if it is none."""
    try:
        inflater = zlib.decompressobj()
        content = inflater.decompress(packed, LARGEST)
        if inflater.unconsumed_tail:
            raise ModelError(f"a packed array has more than {LARGEST} bytes")
        end = 4 + int.from_bytes(content[:4], "little")
        result: dict[str, Any] = {}
        for entry in json.loads(content[4:end]):
            shape, step = tuple(int(n) for n in entry["shape"]), float(entry["step"])
            count, start = int(np.prod(shape, dtype=object)), end + int(entry["start"])
            if count < 0 or start < end or start + 4 * count > len(content):
                raise ValueError("an array ends after the data")
            planes = np.frombuffer(content, np.uint8, 4 * count, start).reshape(4, count)
            rows = np.ascontiguousarray(planes.T).view("<i4").reshape(shape)
            result[str(entry["name"])] = np.cumsum(rows, axis=0, dtype=np.int32) * step
        return result
    except (zlib.error, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ModelError(f"a packed array is damaged: {error}") from None


def pack_mesh(mesh: PictureMesh, level: int = 9) -> bytes:
    """A pack with vertices, to 1 / 65535 of the largest extent, and triangles."""
    extent = float(np.ptp(mesh.vertices, axis=0).max(initial=0.0)) if len(mesh.vertices) else 0.0
    step = max(extent / MESH_STEPS, 1e-12)
    return pack_arrays({"vertices": (mesh.vertices, step), "triangles": (mesh.triangles, 1)}, level)


def unpack_mesh(packed: bytes) -> PictureMesh:
    """The mesh of a pack; ModelError if it is none."""
    arrays = unpack_arrays(packed)
    try:
        vertices, triangles = arrays["vertices"].reshape(-1, 3), arrays["triangles"].reshape(-1, 3).astype(np.int64)
    except (KeyError, ValueError) as error:
        raise ModelError(f"a packed mesh is damaged: {error}") from None
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ModelError("a packed mesh is damaged: a triangle has a vertex that is not there")
    if not np.isfinite(vertices).all():
        raise ModelError("a packed mesh is damaged: a vertex is not finite")
    return PictureMesh(vertices, triangles)


def pack_motion(motion: Motion) -> bytes:
    """A pack of a motion: places to 0.01 mm up to 21 km, quaternions to 2^-17, times to a microsecond up to 35 min."""
    quaternions = continuous(motion.X_WB[..., :4])
    arrays: dict[str, tuple[Any, float]] = {
        "times": (motion.times, TIME_STEP),
        "quaternions": (quaternions, QUATERNION_STEP),
        "places": (motion.X_WB[..., 4:], PLACE_STEP),
    }
    contacts, surfaces = motion.contacts, motion.surfaces
    if contacts is not None:
        force = np.nan_to_num(contacts.force, nan=0.0, posinf=0.0, neginf=0.0)
        arrays["contact_offset"] = contacts.offset, 1
        arrays["contact_point"] = contacts.point, 10 * PLACE_STEP
        arrays["contact_force"] = force, _fraction(force, 1e-5)
        arrays["contact_bodies"] = np.stack([contacts.body_a, contacts.body_b], axis=-1), 1
    if surfaces is not None:
        values = np.nan_to_num(surfaces.values, nan=0.0, posinf=0.0, neginf=0.0)
        arrays["surface_offset"] = surfaces.offset, 1
        arrays["surface_vertices"] = surfaces.vertices, PLACE_STEP
        arrays["surface_values"] = values, _fraction(values, 1e-3)
    if motion.vertices is not None:
        arrays["vertices"] = motion.vertices, PLACE_STEP
    return pack_arrays(arrays)


def unpack_motion(packed: bytes, name: str) -> Motion:
    """The motion of a pack; ModelError if it is none."""
    arrays = unpack_arrays(packed)
    contacts = surfaces = None
    try:
        X_WB = np.concatenate([arrays["quaternions"], arrays["places"]], axis=-1)
        if "contact_offset" in arrays:
            bodies = arrays["contact_bodies"].astype(int).reshape(-1, 2)
            offset = arrays["contact_offset"].astype(int)
            contacts = ContactPoints(offset, arrays["contact_point"], arrays["contact_force"], *bodies.T)
        if "surface_offset" in arrays:
            offset = arrays["surface_offset"].astype(int)
            surfaces = ContactSurfaces(offset, arrays["surface_vertices"], arrays["surface_values"])
        return Motion(name, arrays["times"], X_WB, contacts, surfaces, arrays.get("vertices"))
    except (KeyError, ValueError) as error:
        raise ModelError(f"a packed motion is damaged: {error}") from None


def continuous(quaternions: FloatArray) -> FloatArray:
    """Quaternions (n, nbody, 4) with signs such that each is near the one before."""
    if not len(quaternions):
        return quaternions
    flips = np.einsum("ijk,ijk->ij", quaternions[1:], quaternions[:-1]) < 0.0
    signs = np.cumprod(np.where(flips, -1.0, 1.0), axis=0)
    return np.concatenate([quaternions[:1], quaternions[1:] * signs[..., None]])


def _fraction(array: Array, part: float) -> float:
    largest = float(np.abs(array).max(initial=0.0))
    return max(largest * part, 1e-9)


# ----------------------------------------------------------------------------------------- scenes as documents


def scene_document(scene: Scene) -> dict:
    """A scene as JSON has it, its meshes by their keys."""
    document = {"format": FORMAT, "version": VERSION}
    for field in dataclasses.fields(scene):
        value = getattr(scene, field.name)
        if field.name == "meshes":
            value = sorted(value)
        elif field.name in ("bodies", "shapes", "frames", "joints", "coordinates"):
            value = [{f.name: getattr(item, f.name) for f in dataclasses.fields(item)} for item in value]
        document[field.name] = plain(value)
    return document


def base64_text(packed: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(packed).decode("ascii")


def scene_text(scene: Scene) -> str:
    """A scene with its meshes as one JSON document; scene_from_text() reads it."""
    meshes = {key: base64_text(pack_mesh(mesh)) for key, mesh in sorted(scene.meshes.items())}
    return json.dumps({"scene": scene_document(scene), "meshes": meshes}, allow_nan=False, separators=(",", ":"))


def scene_from_text(text: str, name: str) -> Scene:
    """The scene of scene_text(). ModelError, which begins with a name, for another text."""
    try:
        document = json.loads(text)
        scene = document["scene"]
        if scene["format"] != FORMAT or int(scene["version"]) > VERSION:
            raise ModelError(f"its scene has the format {scene['format']} {scene['version']}")
        meshes = {str(k): unpack_mesh(base64.b64decode(packed)) for k, packed in document["meshes"].items()}
        result = Scene(
            name=str(scene["name"]),
            bodies=[_record(PictureBody, entry) for entry in scene["bodies"]],
            X_WB=np.array(scene["X_WB"], dtype=float).reshape(-1, 7),
            shapes=[_record(PictureShape, entry) for entry in scene["shapes"]],
            frames=[_record(PictureFrame, entry) for entry in scene["frames"]],
            joints=[_record(PictureJoint, entry) for entry in scene["joints"]],
            coordinates=[_record(PictureCoordinate, entry) for entry in scene["coordinates"]],
            q=np.array(scene["q"], dtype=float).reshape(-1),
            postures={str(k): np.array(q, dtype=float) for k, q in scene["postures"].items()},
            meshes=meshes,
            weight=float(scene["weight"]),
            notes=[str(note) for note in scene["notes"]],
        )
        _check(result)
        return result
    except ModelError as error:
        raise ModelError(f"{name}: error: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ModelError(f"{name}: error: its scene is damaged: {reason}") from None


def _record(kind: type[Any], entry: Mapping[str, Any]) -> Any:
    """A dataclass of a document; lists become tuples."""
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in entry.items() if k in names})


def _require_numbers(values: Any, count: int, name: str) -> None:
    """ValueError or TypeError if these are not so many finite numbers."""
    numbers = np.array(values, dtype=float)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise ValueError(f"'{name}' needs {count} finite numbers")


def _check(scene: Scene) -> None:
    """ValueError for numbers that do not fit each other."""
    count = len(scene.bodies)
    if len(scene.X_WB) != count:
        raise ValueError("a scene needs a pose for each body")
    for body in scene.bodies:
        _require_numbers(body.com, 3, body.name)
    for joint in scene.joints:
        if not (0 <= joint.parent < count and 0 <= joint.child < count):
            raise ValueError(f"'{joint.name}' joins a body that is not there")
        for pose in (joint.X_PF, joint.X_CM):
            _require_numbers(pose, 7, joint.name)
    items: list[PictureShape | PictureFrame] = [*scene.shapes, *scene.frames]
    for item in items:
        if not 0 <= item.body < count:
            raise ValueError(f"'{item.name}' is on a body that is not there")
    for shape in scene.shapes:
        if shape.kind not in MEASURES or len(shape.size) != len(MEASURES[shape.kind]) or len(shape.X_BG) != 7:
            raise ValueError(f"the shape '{shape.name}' is not one that is drawn")
        _require_numbers((*shape.X_BG, *shape.size), 7 + len(shape.size), shape.name)
        if shape.kind == "mesh" and shape.mesh not in scene.meshes:
            raise ValueError(f"the mesh of '{shape.name}' is missing")
        if shape.vertex_start is not None and (shape.mesh not in scene.meshes or shape.vertex_start < 0):
            raise ValueError(f"the deformable shape '{shape.name}' has no mesh")
