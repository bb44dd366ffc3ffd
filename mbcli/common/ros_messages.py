"""Messages of ROS 2 in their binary form, CDR, by the package rosbags, which knows the definitions."""

from __future__ import annotations

from typing import Any

from mbcli.common.extra_packages import import_extra

JOINTS = "sensor_msgs/msg/JointState"
IMU = "sensor_msgs/msg/Imu"
WRENCH = "geometry_msgs/msg/WrenchStamped"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
NANOSECONDS = 1_000_000_000


class RosTypes:
    """The message types of ROS 2 Humble, which later ones have kept. ResourceError without the package."""

    def __init__(self) -> None:
        types = import_extra("rosbags.typesys", "ros", "CDR, the messages of ROS 2,")
        self._store = types.get_typestore(types.Stores.ROS2_HUMBLE)

    def read(self, kind: str, data: bytes) -> Any:
        """The message, its fields as attributes. Raises whatever rosbags does if the bytes are of something else."""
        return self._store.deserialize_cdr(data, kind)

    def write(self, message: Any) -> bytes:
        """The bytes of a message."""
        return bytes(self._store.serialize_cdr(message, message.__msgtype__))

    def make(self, kind: str, **fields: Any) -> Any:
        """A message of a type such as JOINTS, or std_msgs/msg/Header."""
        return self._store.types[kind](**fields)

    def definition(self, kind: str) -> str:
        """A type with all that it consists of, as a `ros2msg` schema of MCAP."""
        text: str = self._store.generate_msgdef(kind, ros_version=2)[0]
        return text

    def header(self, stamp: int, frame: str = "") -> Any:
        """A std_msgs/msg/Header at a time [ns]."""
        sec, nanosec = divmod(stamp, NANOSECONDS)
        time = self.make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
        return self.make("std_msgs/msg/Header", stamp=time, frame_id=frame)

    def vector(self, x: float, y: float, z: float) -> Any:
        """A geometry_msgs/msg/Vector3."""
        return self.make("geometry_msgs/msg/Vector3", x=x, y=y, z=z)

    def quaternion(self, w: float, x: float, y: float, z: float) -> Any:
        """A geometry_msgs/msg/Quaternion."""
        return self.make("geometry_msgs/msg/Quaternion", x=x, y=y, z=z, w=w)
