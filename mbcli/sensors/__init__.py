"""The kinds of sensors: one file a kind, and its line in NAMES.

The file of a kind has

TITLE              what it measures, in words
MJCF               {element of MJCF: what it is mounted on, a name of mjcf_sensors.MOUNTS}
MJCF_PARTS         ((element of MJCF, ending of its name), ...): those that together measure it, if none alone does
SDF                {type of an SDFormat sensor, of <gazebo> in URDF too: the elements that may have its settings}
SDF_MOUNTS         the elements that such a sensor may stand in: "link", "joint"
SDF_SETTINGS       the paths below that element of what it reads, of settings.py or mbcli.common.file_settings
SURROUNDINGS       settings that do not stand in its element, names of SURROUNDING: each reader knows where they are
NEEDS              what its signals are computed from, beside positions and velocities: names of NEEDED
CUTOFF             how the cutoff of MJCF acts: "" not at all, "both" on both sides of zero, "above"
problem(settings)  why such settings make no sense, "" if they do
signals(sensor)    a tuple of Signal: names of columns, units and the frame of each
values(sensor, rows)  (n, columns): the signals at n states, without noise; with the sums of axes.py in place of `@`
                   and einsum(), so that operations that are recorded for controllers give the same bits

and no more is needed: the readers of the formats, the log, `inspect` and docs/reference/sensors.md ask SENSORS. What is
empty, and a problem() that finds none, need not be stated; a file that lacks a TITLE, CUTOFF, signals() or values(), or
a name in any format, is an error when this package is imported. `sensor` is a mbcli.multibody.tree.sensor.Sensor,
`rows` the states with all that NEEDS has (mbcli.multibody.sensing.rows.SensedRows).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from mbcli.common.file_settings import no_problem
from mbcli.common.kind_files import give_defaults, require_contents, require_single_owners

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mbcli.sensors.signal import Signal

    class SensorKind(Protocol):
        """The file of a kind."""

        TITLE: str
        MJCF: dict[str, str]
        MJCF_PARTS: tuple[tuple[str, str], ...]
        SDF: dict[str, tuple[str, ...]]
        SDF_MOUNTS: tuple[str, ...]
        SDF_SETTINGS: dict[str, Any]
        SURROUNDINGS: tuple[str, ...]
        NEEDS: tuple[str, ...]
        CUTOFF: str

        @staticmethod
        def problem(settings: dict[str, Any]) -> str: ...
        @staticmethod
        def signals(sensor: Any) -> tuple[Signal, ...]: ...
        @staticmethod
        def values(sensor: Any, rows: Any) -> Any: ...


NAMES = (
    "imu",
    "accelerometer",
    "gyro",
    "velocimeter",
    "force_torque",
    "force",
    "torque",
    "contact",
    "touch",
    "altimeter",
    "air_pressure",
    "air_speed",
    "magnetometer",
    "navsat",
    "lidar",
    "rangefinder",
    "position",
    "velocity",
    "actuator_force",
    "joint_effort",
    "limit_distance",
    "limit_speed",
    "ball_orientation",
    "ball_velocity",
    "frame_position",
    "frame_orientation",
    "frame_axis",
    "frame_velocity",
    "frame_angular_velocity",
    "frame_acceleration",
    "frame_angular_acceleration",
    "subtree_com",
    "subtree_velocity",
    "subtree_momentum",
    "potential_energy",
    "kinetic_energy",
    "clock",
)
"""Of the kinds, in the order of docs/reference/sensors.md."""

SURROUNDING = ("magnetic_field", "wind", "earth", "collisions", "shape", "limits")
NEEDED = ("acceleration", "wrench", "contact", "effort", "geometry", "energy")
OPTIONAL: dict[str, type] = {
    "MJCF": dict,
    "MJCF_PARTS": tuple,
    "SDF": dict,
    "SDF_MOUNTS": tuple,
    "SDF_SETTINGS": dict,
    "SURROUNDINGS": tuple,
    "NEEDS": tuple,
}
CONSTANTS: dict[str, type] = {"TITLE": str, "CUTOFF": str}
OPERATIONS = ("signals", "values")
CUTOFFS = ("", "both", "above")


def checked_kind(name: str, kind: Any) -> SensorKind:
    """The file of a kind. TypeError, with its name, if something is missing or not known."""
    give_defaults(kind, OPTIONAL, {"problem": no_problem})
    require_contents(f"the sensor '{name}'", kind, CONSTANTS | OPTIONAL, OPERATIONS)
    if bool(kind.SDF) != bool(kind.SDF_MOUNTS):
        raise TypeError(f"the sensor '{name}' has SDF or SDF_MOUNTS alone")
    if not kind.MJCF and not kind.SDF:
        raise TypeError(f"the sensor '{name}' has no name in any format")
    unknown = [need for need in kind.NEEDS if need not in NEEDED] + [kind.CUTOFF] * (kind.CUTOFF not in CUTOFFS)
    unknown += [name for name in kind.SURROUNDINGS if name not in SURROUNDING]
    if unknown:
        raise TypeError(f"the sensor '{name}' has the unknown {unknown[0]!r}")
    return kind


def kinds_by_name(names: Iterable[str]) -> dict[str, SensorKind]:
    """Imports the file of each kind. TypeError if one lacks something, or two have the same name in a format."""
    found = {name: checked_kind(name, import_module(f"{__name__}.{name}")) for name in names}
    for language in ("MJCF", "SDF"):
        require_single_owners("the sensors", {name: getattr(kind, language) for name, kind in found.items()})
    return found


SENSORS: Mapping[str, SensorKind] = kinds_by_name(NAMES)
"""The file of each kind by its name."""


def kind_of(language: str, word: str) -> str | None:
    """The kind that has a name in a format, "MJCF" or "SDF"; None if no kind has."""
    return next((name for name, kind in SENSORS.items() if word in getattr(kind, language)), None)
