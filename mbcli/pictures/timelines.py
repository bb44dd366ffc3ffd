"""Logs as recordings of timeline viewers: MCAP (Foxglove, PlotJuggler) and rrd (Rerun).

A log with poses becomes a scene there that moves: a transform from World to each body, and the shapes of the bodies.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.common.left_behind import folder_prefix
from mbcli.log.column_names import flat_rows
from mbcli.log.export import Selection, chunks_of, require_rows
from mbcli.log.fields.poses import POSES
from mbcli.pictures.packing import scene_from_text
from mbcli.pictures.scene import moved
from mbcli.pictures.shape_surfaces import drawn_shapes, surface_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

    from mbcli.log.reader import Log
    from mbcli.math.array_types import Array, FloatArray, IntArray, Matrix, Vector

NANOSECONDS = 10**9
WORLD = "world"
GREY = (0.7, 0.7, 0.7, 1.0)

# The parts of Foxglove's schemas that are written (docs.foxglove.dev, FrameTransforms and SceneUpdate): it knows a
# message by the name of its schema.
_TIME = {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}


def _numbers(*names: Iterable[str]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "number"} for name in names}}


def _list(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "object", "properties": properties}}


_XYZ, _QUATERNION, _COLOR = _numbers("x", "y", "z"), _numbers("x", "y", "z", "w"), _numbers("r", "g", "b", "a")
_TRIANGLES = {
    "pose": {"type": "object", "properties": {"position": _XYZ, "orientation": _QUATERNION}},
    "points": _list(_XYZ["properties"]),
    "color": _COLOR,
    "colors": _list(_COLOR["properties"]),
    "indices": {"type": "array", "items": {"type": "integer"}},
}
TRANSFORMS = {
    "title": "foxglove.FrameTransforms",
    "type": "object",
    "properties": {
        "transforms": _list(
            {
                "timestamp": _TIME,
                "parent_frame_id": {"type": "string"},
                "child_frame_id": {"type": "string"},
                "translation": _XYZ,
                "rotation": _QUATERNION,
            }
        )
    },
}
SCENE = {
    "title": "foxglove.SceneUpdate",
    "type": "object",
    "properties": {
        "deletions": _list({}),
        "entities": _list(
            {
                "timestamp": _TIME,
                "frame_id": {"type": "string"},
                "id": {"type": "string"},
                "lifetime": _TIME,
                "frame_locked": {"type": "boolean"},
                "triangles": _list(_TRIANGLES),
            }
        ),
    },
}


def export_mcap(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """A topic of JSON messages for each field, /state/q and so on: {name of the column: number}. Time 0 is 1970.

    /derived/poses has foxglove.FrameTransforms, and /scene, at the first time, the shapes as foxglove.SceneUpdate.
    """
    writer_of = import_extra("mcap.writer", "mcap").Writer
    require_rows(selection.fields)
    writer = writer_of(stream)
    writer.start(profile="", library="mbcli")
    channels = {path: _channel(writer, log, path) for path in selection.fields}
    scene = _channel_of(writer, "scene", SCENE) if POSES in channels and log.scene is not None else None
    for chunk in chunks_of(log, selection):
        columns = {path: flat_rows(chunk[path]) for path in selection.fields}
        for k, time in enumerate(chunk["time"].tolist()):
            stamp = max(round(time * NANOSECONDS), 0)
            if scene is not None:
                message = {"deletions": [], "entities": [_entity(log, *shapes) for shapes in shapes_by_body(log)]}
                writer.add_message(scene, log_time=stamp, data=_bytes(message), publish_time=stamp)
                scene = None
            for path, channel in channels.items():
                row = columns[path][k]
                message = _transforms(log, row, stamp) if path == POSES else _named(log.names[path], row)
                writer.add_message(channel, log_time=stamp, data=_bytes(message), publish_time=stamp)
    writer.finish()


def _bytes(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, allow_nan=False).encode()


def _named(names: Sequence[str], row: Vector) -> dict[str, Any]:
    values = (value if np.isfinite(value) else None for value in row.tolist())
    return dict(zip(names, values, strict=True))


def _channel(writer: Any, log: Log, path: str) -> int:
    """The channel of a field; its JSON Schema has the units."""
    if path == POSES:
        return _channel_of(writer, path, TRANSFORMS)
    units = dict(zip(log.names[path], log.units[path], strict=True))
    properties = {name: {"type": "number", "description": unit} for name, unit in units.items()}
    return _channel_of(writer, path, {"type": "object", "title": path, "properties": properties}, f"mbcli.{path}")


def _channel_of(writer: Any, path: str, schema: Mapping[str, Any], name: str | None = None) -> int:
    number = writer.register_schema(
        name=name or schema["title"], encoding="jsonschema", data=json.dumps(schema).encode()
    )
    return writer.register_channel(topic=f"/{path}", message_encoding="json", schema_id=number)


def _stamp(nanoseconds: int) -> dict[str, int]:
    sec, nsec = divmod(nanoseconds, NANOSECONDS)
    return {"sec": sec, "nsec": nsec}


def _xyz(values: Iterable[float]) -> dict[str, float]:
    return dict(zip("xyz", values, strict=True))


def _transforms(log: Log, row: Vector, stamp: int) -> dict[str, Any]:
    """X_WB of all bodies but World; none of a body whose pose is not finite."""
    transforms = [
        {
            "timestamp": _stamp(stamp),
            "parent_frame_id": WORLD,
            "child_frame_id": name,
            "translation": _xyz(pose[4:]),
            "rotation": {"x": pose[1], "y": pose[2], "z": pose[3], "w": pose[0]},
        }
        for name, pose in zip(body_names(log)[1:], row.reshape(-1, 7)[1:].tolist(), strict=True)
        if np.isfinite(pose).all()
    ]
    return {"transforms": transforms}


def _entity(log: Log, name: str, surfaces: Iterable[tuple[Matrix, IntArray, tuple[float, ...]]]) -> dict[str, Any]:
    """The shapes of a body, which go with it."""
    triangles = [
        {
            "pose": {"position": _xyz((0.0, 0.0, 0.0)), "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}},
            "points": [_xyz(point) for point in vertices.tolist()],
            "color": dict(zip("rgba", color, strict=True)),
            "colors": [],
            "indices": indices.ravel().tolist(),
        }
        for vertices, indices, color in surfaces
    ]
    nothing: dict[str, list[Any]] = {
        key: [] for key in ("metadata", "arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models")
    }
    about = {"timestamp": _stamp(0), "frame_id": name, "id": name, "lifetime": _stamp(0), "frame_locked": True}
    return about | nothing | {"triangles": triangles}


def body_names(log: Log) -> list[str]:
    """The names of the bodies in the poses of a log, World's first."""
    return [name.rpartition(":")[0] for name in log.names[POSES][::7]]


def shapes_by_body(log: Log) -> Iterator[tuple[str, list[tuple[FloatArray, IntArray, tuple[float, ...]]]]]:
    """(name of a body, [(vertices (n, 3) in its frame, triangles (m, 3), RGBA)]) of the bodies that have shapes."""
    scene = scene_from_text(log.scene or "", log.path)
    names = body_names(log)
    drawn: dict[int, list] = {}
    for shape in drawn_shapes(scene):
        if shape.vertex_start is not None:
            continue  # the vertices of a deformable body are not those of a shape that moves with a body
        vertices, triangles = surface_of(shape, scene)
        placed = moved(np.array(shape.X_BG), vertices)
        drawn.setdefault(shape.body, []).append((placed, triangles, tuple(shape.color or GREY)))
    for body, surfaces in sorted(drawn.items()):
        yield names[body], surfaces


def export_rrd(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """A series over the timeline `time` for each column, under its field and name: /state/q/NAME.

    Poses are transforms of /world/BODY, under which the shapes of the body stand.
    """
    rerun = import_extra("rerun", "rerun")
    require_rows(selection.fields)
    recording = rerun.RecordingStream("mbcli", recording_id=recording_id(log))
    with tempfile.TemporaryDirectory(prefix=folder_prefix("timeline")) as folder:
        target = os.path.join(folder, "log.rrd")
        recording.save(target)
        if POSES in selection.fields:
            _send_shapes(rerun, recording, log)
        for chunk in chunks_of(log, selection):
            index = rerun.TimeColumn("time", duration=chunk["time"])
            for path in selection.fields:
                if path == POSES:
                    _send_transforms(rerun, recording, log, chunk[path], index)
                    continue
                for name, column in zip(log.names[path], flat_rows(chunk[path]).T, strict=True):
                    entity = rerun.escape_entity_path_part(name) if log.row_shape(path) else ""
                    series = rerun.Scalars.columns(scalars=np.ascontiguousarray(column, dtype=float))
                    recording.send_columns(f"/{path}/{entity}".rstrip("/"), indexes=[index], columns=series)
        recording.disconnect()
        with open(target, "rb") as written:
            shutil.copyfileobj(written, stream)


def recording_id(log: Log) -> str:
    """The same for equal logs, another one for another run: viewers put recordings of one id together."""
    provenance = [log.attrs.get(name) for name in ("model_sha256", "config_sha256", "argv")]
    digest = hashlib.sha256(json.dumps([*provenance, log.run_clock()["created_utc"]]).encode())
    for row in sorted({0, log.row_count - 1}) if log.row_count else ():
        chunk = next(log.chunks(("time", "state/q", "state/v"), start=row, stop=row + 1))
        digest.update(b"".join(values.tobytes() for values in chunk.values()))
    return digest.hexdigest()


def _entity_path(rerun: ModuleType, name: str) -> str:
    return f"/{WORLD}" if name == WORLD else f"/{WORLD}/{rerun.escape_entity_path_part(name)}"


def _send_transforms(rerun: ModuleType, recording: Any, log: Log, rows: Array, index: Any) -> None:
    poses = rows.reshape(len(rows), -1, 7)
    for k, name in enumerate(body_names(log)[1:], start=1):
        columns: Any = rerun.Transform3D.columns(
            translation=np.ascontiguousarray(poses[:, k, 4:]),
            quaternion=np.ascontiguousarray(poses[:, k, [1, 2, 3, 0]]),
        )
        recording.send_columns(_entity_path(rerun, name), indexes=[index], columns=columns)


def _send_shapes(rerun: ModuleType, recording: Any, log: Log) -> None:
    recording.log(f"/{WORLD}", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    if log.scene is None:
        return
    for name, surfaces in shapes_by_body(log):
        for k, (vertices, triangles, color) in enumerate(surfaces):
            mesh = rerun.Mesh3D(
                vertex_positions=vertices,
                triangle_indices=triangles,
                albedo_factor=[round(255 * part) for part in color],
            )
            recording.log(f"{_entity_path(rerun, name)}/shape_{k}", mesh, static=True)


TIMELINES = {"mcap": export_mcap, "rrd": export_rrd}
