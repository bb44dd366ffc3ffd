"""lidar: distances along rays to collision geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "distances along rays"
SDF = {"lidar": ("lidar", "ray"), "ray": ("lidar", "ray"), "gpu_lidar": ("lidar", "ray"), "gpu_ray": ("lidar", "ray")}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {
    "scan/horizontal/samples": Number("samples", 640, 1, whole=True),
    "scan/horizontal/resolution": Number("resolution", 1.0, 0.0),
    "scan/horizontal/min_angle": Number("min_angle", 0.0),
    "scan/horizontal/max_angle": Number("max_angle", 0.0),
    "scan/vertical/samples": Number("vertical_samples", 1, 1, whole=True),
    "scan/vertical/resolution": Number("vertical_resolution", 1.0, 0.0),
    "scan/vertical/min_angle": Number("vertical_min_angle", 0.0),
    "scan/vertical/max_angle": Number("vertical_max_angle", 0.0),
    "range/min": Number("min", 0.0, 0.0),
    "range/max": Number("max", float("inf"), 0.0),
    "range/resolution": Number("range_resolution", 0.0, 0.0),
    "": Noise(),
}
NEEDS = ("geometry",)
CUTOFF = ""


MOST_RAYS = 10_000


def problem(settings: dict[str, Any]) -> str:
    """Angles and ranges in order, and not more rays than a log can have."""
    rays = settings["samples"] * settings["vertical_samples"]
    if rays > MOST_RAYS:
        return f"it has {rays:g} rays, more than {MOST_RAYS}"
    if settings["min_angle"] > settings["max_angle"] or settings["vertical_min_angle"] > settings["vertical_max_angle"]:
        return "its least angle is larger than its largest"
    return "its least range is larger than its largest" if settings["min"] > settings["max"] else ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One distance a ray, the first angle first, row by row from below."""
    count = len(directions(sensor.settings))
    return (Signal("range", "m", tuple(str(k) for k in range(count))),)


def values(sensor: Any, rows: Any) -> FloatArray:
    """inf where a ray meets nothing between the least and the largest range, -inf where that is nearer."""
    settings = sensor.settings
    S = rows.motion(sensor)
    distance = rows.distances(sensor.body, S, directions(settings), settings["max"])
    step = settings["range_resolution"]
    if step > 0.0:
        distance = np.round(distance / step) * step
    return np.where(distance < settings["min"], -np.inf, distance)


def directions(settings: dict[str, Any]) -> FloatArray:
    """Unit vectors of the rays in the frame of the sensor, (rays, 3): yaw about z, then elevation."""
    yaw = _angles(settings["min_angle"], settings["max_angle"], settings["samples"])
    up = _angles(settings["vertical_min_angle"], settings["vertical_max_angle"], settings["vertical_samples"])
    pitch, yaw = (grid.reshape(-1) for grid in np.meshgrid(up, yaw, indexing="ij"))
    return np.column_stack([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])


def _angles(least: float, largest: float, count: float) -> FloatArray:
    return np.linspace(least, largest, int(count)) if count > 1 else np.array([0.5 * (least + largest)])
