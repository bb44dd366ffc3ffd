"""imu: what SDFormat calls an inertial measurement unit: orientation, angular velocity, specific force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Triple, Word
from mbcli.sensors.axes import components, in_axes
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import IN_SENSOR, QUATERNION, XYZ, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "orientation, angular velocity and specific force"
MJCF_PARTS: tuple[tuple[str, str], ...] = (("accelerometer", "acceleration"), ("gyro", "angular_velocity"))
SDF = {"imu": ("imu",)}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {
    "orientation_reference_frame/localization": Word(
        "localization", ("CUSTOM", "ENU", "NED", "NWU", "GRAV_UP", "GRAV_DOWN")
    ),
    "orientation_reference_frame/custom_rpy": Triple("custom_rpy", (0.0, 0.0, 0.0)),
    **{f"angular_velocity/{axis}": Noise((4 + k,)) for k, axis in enumerate(XYZ)},
    **{f"linear_acceleration/{axis}": Noise((7 + k,)) for k, axis in enumerate(XYZ)},
}
NEEDS = ("acceleration",)
CUTOFF = ""


# R_WN of the world that each localization names, World itself being east, north, up
_AXES = {
    "ENU": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "NED": ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0)),
    "NWU": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
}
_AXES |= {"GRAV_UP": _AXES["ENU"], "GRAV_DOWN": _AXES["NED"]}


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Orientation in the reference frame, then what gyroscope and accelerometer give."""
    return (
        Signal("orientation", "1", QUATERNION, "reference"),
        Signal("angular_velocity", "rad s-1", XYZ, IN_SENSOR),
        Signal("linear_acceleration", "m s-2", XYZ, IN_SENSOR),
    )


def values(sensor: Any, rows: Any) -> FloatArray:
    """The orientation is relative to that at the default positions (CUSTOM), or to axes of the earth; at rest the
    acceleration is +g along up."""
    S, accelerated = rows.motion(sensor), rows.in_steps.motion(sensor)
    specific = components(accelerated.R, accelerated.a - rows.gravity)
    R_WN = reference_axes(sensor, rows)
    return np.hstack([rows.quaternions(in_axes(R_WN, S.R)), components(S.R, S.w), specific])


def reference_axes(sensor: Any, rows: Any) -> FloatArray:
    """R_WN (3, 3) of the frame that orientations are in."""
    axes = _AXES.get(sensor.settings["localization"])
    if axes is not None:
        return np.array(axes)
    from mbcli.math.roll_pitch_yaw import rows_from_angles  # late: few files turn the reference

    custom: FloatArray = np.array(rows_from_angles(*sensor.settings["custom_rpy"]))
    return rows.default_axes(sensor) @ custom
