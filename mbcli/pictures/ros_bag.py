"""A log as a bag of ROS 2: an MCAP file of CDR messages, which rosbag2, PlotJuggler and Foxglove open.

| topic | message | of |
|---|---|---|
| `/joint_states` | `sensor_msgs/msg/JointState` | q, v and, if they are chosen, efforts of joints with one position |
| `/tf` | `tf2_msgs/msg/TFMessage` | X_WB of all bodies, with the field `poses` |
| `/tf_static` | `tf2_msgs/msg/TFMessage` | X_BS of these sensors, once |
| `/NAME` | `sensor_msgs/msg/Imu` | an IMU, by its dataset |
| `/NAME` | `geometry_msgs/msg/WrenchStamped` | a force-torque sensor |
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra
from mbcli.common.ros_messages import IMU, JOINTS, NANOSECONDS, TRANSFORMS, WRENCH, RosTypes
from mbcli.errors import ArgumentError
from mbcli.log.column_names import flat_rows
from mbcli.log.export import Selection, chunks_of, require_rows
from mbcli.log.fields.poses import POSES
from mbcli.math.rotation_array import quaternion_from_matrix
from mbcli.pictures.timelines import WORLD, body_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.log.reader import Log
    from mbcli.math.array_types import Vector

    Row = Mapping[str, Vector]  # {path: values of one time}

Q, V, U, EFFORT = "state/q", "state/v", "input/u", "derived/effort"
UNKNOWN = np.zeros(9)  # covariances: all zeros mean that they are not known (sensor_msgs/msg/Imu)


def export_ros(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """Messages of each row; time 0 is 1970. Fields without a message above are left out.

    ArgumentError if none of the chosen fields has one, ResourceError without the packages mcap and rosbags.
    """
    writer_of, types = import_extra("mcap.writer", "ros").Writer, RosTypes()
    require_rows(selection.fields)
    topics = _topics(log, selection, types)
    if not topics:
        raise ArgumentError(
            f"{argument('fields')}: none of these fields has a message of ROS, as q, v, poses and the sensors imu and "
            "force_torque have"
        )
    writer = writer_of(stream)
    writer.start(profile="ros2", library="mbcli")
    schemas: dict[str, int] = {}
    channels = []
    for topic, kind, make in topics:
        if kind not in schemas:
            text = types.definition(kind).encode()
            schemas[kind] = writer.register_schema(name=kind, encoding="ros2msg", data=text)
        channel = writer.register_channel(
            topic=topic, message_encoding="cdr", schema_id=schemas[kind], metadata={"offered_qos_profiles": ""}
        )
        channels.append((channel, make))
    for chunk in chunks_of(log, selection):
        columns = {path: flat_rows(chunk[path]) for path in selection.fields}
        for k, time in enumerate(chunk["time"].tolist()):
            stamp = max(round(time * NANOSECONDS), 0)
            row = {path: values[k] for path, values in columns.items()}
            for channel, make in channels:
                message = make(row, stamp)
                if message is not None:
                    writer.add_message(channel, log_time=stamp, data=types.write(message), publish_time=stamp)
    writer.finish()


def _topics(log: Log, selection: Selection, types: RosTypes) -> list[tuple[str, str, Callable[[Row, int], Any]]]:
    """(topic, type, (row, time [ns]) -> message, or None at a time that has none)"""
    model = json.loads(log.model)
    found: list[tuple[str, str, Callable[[Row, int], Any]]] = []
    frames = Frames(model)
    if {Q, V} & set(selection.fields):
        found.append(("/joint_states", JOINTS, _joints(model, selection, types)))
    if POSES in selection.fields:
        found.append(("/tf", TRANSFORMS, _transforms(log, frames, types)))
    mounted = []
    for sensor in model["sensors"]:
        path, make = sensor["dataset"], _SENSORS.get(sensor["kind"])
        if path in selection.fields and make is not None:
            kind, of_row = make(sensor, list(log.names[path]), frames, types)
            found.append((f"/{path.removeprefix('sensors/')}", kind, of_row))
            mounted.append(sensor)
    if mounted:
        found.insert(0, ("/tf_static", TRANSFORMS, _mounts(mounted, frames, types)))
    return found


class Frames:
    """The names of frames: of bodies and sensors, with their model instance where several have the name."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        self._names = [body["name"] for body in model["bodies"]] + [sensor["name"] for sensor in model["sensors"]]
        self._joints = {(joint["model_instance"], joint["name"]): joint for joint in model["joints"]}

    def of(self, instance: str, name: str) -> str:
        """Of a body, or of a sensor."""
        return name if self._names.count(name) == 1 else f"{instance}/{name}"

    def of_body(self, scoped: str) -> str:
        """Of a body by its name in the log."""
        instance, _, name = scoped.rpartition("::")
        return self.of(instance, name)

    def of_sensor(self, sensor: Mapping[str, Any], where: str = "sensor") -> str:
        """The frame of a signal: that of the sensor, or of a link of its joint, "parent" or "child"."""
        instance = sensor["model_instance"]
        if where == "sensor":
            return self.of(instance, sensor["name"])
        joint = self._joints[instance, sensor["joints"][0]]
        return self.of(joint.get(f"{where}_model_instance", instance), joint[where])


def _joints(model: Mapping[str, Any], selection: Selection, types: RosTypes) -> Callable[[Row, int], Any]:
    """Of joints with one position and one velocity. The effort of one without an actuator is 0."""
    joints = [joint for joint in model["joints"] if joint["num_positions"] == joint["num_velocities"] == 1]
    names = [joint["name"] for joint in joints]
    names = [
        name if names.count(name) == 1 else f"{joint['model_instance']}_{name}"
        for name, joint in zip(names, joints, strict=True)
    ]
    places = {(joint["model_instance"], joint["name"]): k for k, joint in enumerate(joints)}
    driven = [  # (column of u, row of the message)
        (k, places[actuator["model_instance"], actuator["joint"]])
        for k, actuator in enumerate(model["actuators"])
        if (actuator["model_instance"], actuator["joint"]) in places
    ]
    q, v = ([joint[key] for joint in joints] for key in ("position_start", "velocity_start"))
    of_efforts = next((path for path in (EFFORT, U) if path in selection.fields), None)
    none = np.zeros(0)

    def make(row: Row, stamp: int) -> Any:
        efforts = none
        if of_efforts is not None:
            efforts = np.zeros(len(joints))
            for column, place in driven:
                efforts[place] += row[of_efforts][column]
        return types.make(
            JOINTS,
            header=types.header(stamp),
            name=names,
            position=row[Q][q] if Q in row else none,
            velocity=row[V][v] if V in row else none,
            effort=efforts,
        )

    return make


def _transform(types: RosTypes, stamp: int, parent: str, child: str, pose: Sequence[float]) -> Any:
    """pose: qw, qx, qy, qz, x, y, z."""
    moved = types.make(
        "geometry_msgs/msg/Transform", translation=types.vector(*pose[4:]), rotation=types.quaternion(*pose[:4])
    )
    header = types.header(stamp, parent)
    return types.make("geometry_msgs/msg/TransformStamped", header=header, child_frame_id=child, transform=moved)


def _mounts(sensors: Sequence[Mapping[str, Any]], frames: Frames, types: RosTypes) -> Callable[[Row, int], Any]:
    """Where sensors are on their bodies, at the first time."""
    left = list(sensors)

    def make(row: Row, stamp: int) -> Any:
        transforms = []
        while left:
            sensor = left.pop(0)
            X_BS = np.array(sensor["X_BS"])
            pose = [*quaternion_from_matrix(X_BS[:3, :3]).tolist(), *X_BS[:3, 3].tolist()]
            body = frames.of(sensor["model_instance"], sensor["body"])
            transforms.append(_transform(types, stamp, body, frames.of_sensor(sensor), pose))
        return types.make(TRANSFORMS, transforms=transforms) if transforms else None

    return make


def _transforms(log: Log, frames: Frames, types: RosTypes) -> Callable[[Row, int], Any]:
    """X_WB of all bodies but World whose pose is finite."""
    names = [frames.of_body(name) for name in body_names(log)[1:]]

    def make(row: Row, stamp: int) -> Any:
        transforms = [
            _transform(types, stamp, WORLD, name, pose)
            for name, pose in zip(names, row[POSES].reshape(-1, 7)[1:].tolist(), strict=True)
            if np.isfinite(pose).all()
        ]
        return types.make(TRANSFORMS, transforms=transforms)

    return make


def _three(names: list[str], what: str) -> list[int]:
    return [names.index(f"{what}_{axis}") for axis in "xyz"]


def _imu(
    sensor: Mapping[str, Any], names: list[str], frames: Frames, types: RosTypes
) -> tuple[str, Callable[[Row, int], Any]]:
    """An orientation that the sensor does not give has the covariance -1 at its first place, as the message says."""
    path, frame = sensor["dataset"], frames.of_sensor(sensor)
    turn, push = _three(names, "angular_velocity"), _three(names, "linear_acceleration")
    rotation = [names.index(f"orientation_q{part}") for part in "wxyz"] if "orientation_qw" in names else None
    missing = np.r_[-1.0, UNKNOWN[1:]]

    def make(row: Row, stamp: int) -> Any:
        values = row[path]
        if not np.isfinite(values).all():
            return None  # of a sensor with a delay, at the start
        orientation = (1.0, 0.0, 0.0, 0.0) if rotation is None else values[rotation].tolist()
        return types.make(
            IMU,
            header=types.header(stamp, frame),
            orientation=types.quaternion(*orientation),
            orientation_covariance=missing if rotation is None else UNKNOWN,
            angular_velocity=types.vector(*values[turn].tolist()),
            angular_velocity_covariance=UNKNOWN,
            linear_acceleration=types.vector(*values[push].tolist()),
            linear_acceleration_covariance=UNKNOWN,
        )

    return IMU, make


def _wrench(
    sensor: Mapping[str, Any], names: list[str], frames: Frames, types: RosTypes
) -> tuple[str, Callable[[Row, int], Any]]:
    path, frame = sensor["dataset"], frames.of_sensor(sensor, sensor["signals"][0]["frame"])
    force, torque = _three(names, "force"), _three(names, "torque")

    def make(row: Row, stamp: int) -> Any:
        values = row[path]
        if not np.isfinite(values).all():
            return None
        wrench = types.make(
            "geometry_msgs/msg/Wrench",
            force=types.vector(*values[force].tolist()),
            torque=types.vector(*values[torque].tolist()),
        )
        return types.make(WRENCH, header=types.header(stamp, frame), wrench=wrench)

    return WRENCH, make


_SENSORS = {"imu": _imu, "force_torque": _wrench}
