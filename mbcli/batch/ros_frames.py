"""What messages of ROS say of floating bases and of forces: poses by transforms, orientations and angular velocities of
IMUs, wrenches.

Messages come at times of their own: poses between two of them are found on the straight line and by the shortest turn,
numbers on the straight line. A frame that no transform has as a child is World.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import listed
from mbcli.common.text_tables import shown
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.batch.state_layout import StateLayout
    from mbcli.math.array_types import Array, IntArray

TURN, PLACE = ("qw", "qx", "qy", "qz"), ("x", "y", "z")
RATES, FORCE = ("wx", "wy", "wz", "vx", "vy", "vz"), ("fx", "fy", "fz")
LONGEST_CHAIN = 100  # of transforms
NOT_UNIT = 0.01  # a quaternion whose norm differs so from 1 is none


class FrameTracks:
    """Transforms, angular velocities and forces of frames over time.

    Times are in nanoseconds; of messages of one time the last counts.
    """

    def __init__(self) -> None:
        self._poses: dict[str, dict[int, list[float]]] = {}  # of a frame in its parent: qw, qx, qy, qz, x, y, z
        self._parents: dict[str, str] = {}
        self._turns: dict[str, dict[int, list[float]]] = {}  # [rad/s], in axes of the frame
        self._tilts: dict[str, dict[int, list[float]]] = {}  # of an IMU in World, as poses; its place is not known
        self._felt: set[str] = set()  # IMUs with accelerations
        self._forces: dict[str, dict[int, list[float]]] = {}  # [N], in axes of the frame

    def take_transforms(self, message: Any) -> None:
        """A tf2_msgs/msg/TFMessage. ValueError for what is no pose."""
        for each in message.transforms:
            child, rotation, at = _name(each.child_frame_id), each.transform.rotation, each.transform.translation
            pose = [rotation.w, rotation.x, rotation.y, rotation.z, at.x, at.y, at.z]
            if not (np.isfinite(pose).all() and abs(np.linalg.norm(pose[:4]) - 1.0) < NOT_UNIT):
                raise ValueError(f"the transform of {shown(child)} is no pose")
            self._parents[child] = _name(each.header.frame_id)
            self._poses.setdefault(child, {})[_time(each.header)] = pose

    def take_imu(self, message: Any) -> None:
        """A sensor_msgs/msg/Imu. What one does not measure has the covariance -1 at its first place."""
        frame, time = _name(message.header.frame_id), _time(message.header)
        turn, q = message.angular_velocity, message.orientation
        if message.angular_velocity_covariance[0] != -1.0:
            self._turns.setdefault(frame, {})[time] = [turn.x, turn.y, turn.z]
        if message.linear_acceleration_covariance[0] != -1.0:
            self._felt.add(frame)
        tilt = [q.w, q.x, q.y, q.z]
        if message.orientation_covariance[0] != -1.0 and abs(np.linalg.norm(tilt) - 1.0) < NOT_UNIT:
            self._tilts.setdefault(frame, {})[time] = [*tilt, 0.0, 0.0, 0.0]

    def take_wrench(self, message: Any) -> None:
        """A geometry_msgs/msg/WrenchStamped."""
        force = message.wrench.force
        self._forces.setdefault(_name(message.header.frame_id), {})[_time(message.header)] = [force.x, force.y, force.z]

    def columns(self, times: IntArray, layout: StateLayout, name: str, rates: bool) -> tuple[list[str], Array, Array]:
        """Names of columns, values (n, columns), and which of the times [ns] (n,) lie among all messages of these.

        times: none: those of the transforms of the bases. rates: whether velocities of bases are wanted. A base without
        transforms is turned as an IMU on it says, and its place and translational velocity are not given.

        ModelError naming the file: transforms go in a circle.
        """
        turned_only = self._take_imus_of_bases(layout.position_names)
        if self._felt:
            layout.demands.tell(
                f"{name}: the linear acceleration of {listed(sorted(self._felt))} is not used: it says nothing of the "
                "accelerations of joints"
            )
        bases = {frame: found for frame in self._poses if (found := _base(frame, layout.position_names))}
        if not len(times) and bases:
            times = np.array(sorted({time for frame in bases for time in self._poses[frame]}))
        if not len(times):
            return ["time"], np.zeros((0, 1)), np.ones(0, dtype=bool)
        cells, values, inside = ["time"], [(times - times[0])[:, None].astype(float)], np.ones(len(times), dtype=bool)
        poses = {}
        for frame, base in bases.items():
            poses[frame], known = self._in_world(frame, times, name)
            parts = TURN if frame in turned_only else (*TURN, *PLACE)
            cells += [f"q:{base}_{part}" for part in parts]
            values.append(poses[frame][:, : len(parts)])
            inside &= known
        for frame, track in self._forces.items():
            wanted = [f"{frame}.{part}" for part in FORCE]
            if set(wanted) <= set(layout.actuator_names):
                force, known = _between(track, times)
                cells += [f"u:{part}" for part in wanted]
                values.append(force)
                inside &= known
        for frame, base in bases.items():
            if rates and inside.sum() > 1:
                own = RATES[:3] if frame in turned_only else RATES
                cells += [f"v:{base}_{part}" for part in own]
                values.append(np.zeros((len(times), len(own))))
                values[-1][inside] = self._rates(frame, times[inside], poses[frame][inside])[:, : len(own)]
        return cells, np.concatenate(values, axis=1), inside

    def _take_imus_of_bases(self, names: Sequence[str]) -> set[str]:
        """Gives bases what IMUs fixed to them say; which of the bases have an orientation by these alone."""
        from scipy.spatial.transform import Rotation

        found = set()
        for imu in sorted({*self._turns, *self._tilts}, key=lambda frame: _base(frame, names) is None):
            frame, R_BI = self._base_below(imu, names)
            if frame is None:
                continue
            if imu != frame and imu in self._turns and frame not in self._turns:
                self._turns[frame] = {t: R_BI.apply(turn).tolist() for t, turn in self._turns[imu].items()}
            if imu in self._tilts and frame not in self._poses:
                self._poses[frame] = {
                    t: [*(Rotation.from_quat(q[:4], scalar_first=True) * R_BI.inv()).as_quat(scalar_first=True), *q[4:]]
                    for t, q in self._tilts[imu].items()
                }
                self._parents[frame] = ""
                found.add(frame)
        return found

    def _base_below(self, frame: str, names: Sequence[str]) -> tuple[str | None, Any]:
        """The frame of a base to which transforms that stay fix a frame, and the rotation from that to the base."""
        from scipy.spatial.transform import Rotation

        R_BF = Rotation.identity()
        for _ in range(LONGEST_CHAIN):
            if _base(frame, names):
                return frame, R_BF
            track = {tuple(pose) for pose in self._poses.get(frame, {}).values()}
            if len(track) != 1:
                break
            R_BF = Rotation.from_quat(track.pop()[:4], scalar_first=True) * R_BF
            frame = self._parents[frame]
        return None, R_BF

    def _in_world(self, frame: str, times: IntArray, name: str) -> tuple[Array, Any]:
        """Poses (n, 7) of a frame in World, and at which times they are known."""
        from scipy.spatial.transform import Rotation, Slerp  # late: few tables have transforms

        turned, moved = Rotation.identity(len(times)), np.zeros((len(times), 3))
        inside, each = np.ones(len(times), dtype=bool), frame
        for _ in range(LONGEST_CHAIN):
            track = self._poses[each]
            pose, known = _between(track, times)
            stamps, rows = _sorted(track, times)
            rotations = Rotation.from_quat(rows[:, :4], scalar_first=True)
            if len(stamps) > 1:
                own = Slerp(stamps, rotations)(np.clip(times - times[0], stamps[0], stamps[-1]))
                inside &= known
            else:  # a transform that stays
                own = rotations[np.zeros(len(times), dtype=int)]
            turned, moved = own * turned, own.apply(moved) + pose[:, 4:]
            parent = self._parents[each]
            if parent not in self._poses:
                return np.column_stack([turned.as_quat(canonical=False, scalar_first=True), moved]), inside
            each = parent
        raise ModelError(f"{name}: error: the transforms of {shown(frame)} go in a circle, or are too many")

    def _rates(self, frame: str, times: IntArray, pose: Array) -> Array:
        """Angular and translational velocities (n, 6) in World, differences of neighbours but for those of an IMU."""
        from scipy.spatial.transform import Rotation

        seconds = (times - times[0]) / 1e9
        turned = Rotation.from_quat(pose[:, :4], scalar_first=True)
        before, behind = np.maximum(np.arange(len(times)) - 1, 0), np.minimum(np.arange(len(times)) + 1, len(times) - 1)
        span = (seconds[behind] - seconds[before])[:, None]
        rates = (turned[behind] * turned[before].inv()).as_rotvec() / span
        if frame in self._turns:
            rates = turned.apply(_between(self._turns[frame], times)[0])
        return np.column_stack([rates, (pose[behind, 4:] - pose[before, 4:]) / span])


def _between(track: dict[int, list[float]], times: IntArray) -> tuple[Array, Any]:
    """Numbers (n, k) of a track at times, those of its ends beyond them; which of the times are within."""
    stamps, rows = _sorted(track, times)
    at = times - times[0]
    found = np.column_stack([np.interp(at, stamps, column) for column in rows.T])
    return found, (at >= stamps[0]) & (at <= stamps[-1])


def _sorted(track: dict[int, list[float]], times: IntArray) -> tuple[IntArray, Array]:
    """Times (m,), from the first of `times` on, since a float does not hold nanoseconds since 1970; numbers (m, k)."""
    stamps = sorted(track)
    return np.array(stamps) - times[0], np.array([track[stamp] for stamp in stamps])


def _base(frame: str, names: Iterable[str]) -> str | None:
    """What names of a floating base's positions begin with, if a frame is that base and no other one's name ends so."""
    found = [each[: -len("_qw")] for each in names if each.endswith("_qw")]
    found = [each for each in found if each == frame or each.endswith(f"_{frame}")]
    return found[0] if len(found) == 1 else None


def _name(frame: str) -> str:
    """A frame's name; tf of ROS 1 wrote a slash before it, and a prefix of a robot is none of its name."""
    return frame.rpartition("/")[2]


def _time(header: Any) -> int:
    return int(header.stamp.sec) * 1_000_000_000 + int(header.stamp.nanosec)
