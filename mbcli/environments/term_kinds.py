"""Kinds of keys of terms: what a task file may have there, and what the function of the term gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mbcli.common.coordinate_names import NamedCoordinates, StateNames
from mbcli.config.config_fields import ValueProblem, accept, describe
from mbcli.environments.task_worlds import NO_GROUND
from mbcli.models.loading import find_frame
from mbcli.multibody.sensing.evaluation import sensors_named
from mbcli.simulation.world_sensors import FOLDER

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.math.array_types import FloatArray, IntArray, Matrix4
    from mbcli.parsers.yaml_source import YamlNode

    Positions: TypeAlias = IntArray  # places in q
    Scalars: TypeAlias = IntArray  # places in q that are no parts of quaternions
    Velocities: TypeAlias = IntArray  # places in v
    Actuators: TypeAlias = IntArray  # places in u
    Controlled: TypeAlias = IntArray  # places in Worlds.controlled
    Coordinate: TypeAlias = tuple[str, int]  # "q" or "v", and the place
    Numbers: TypeAlias = list[tuple[tuple[str, int], float]]  # coordinates and their values
    Body: TypeAlias = int  # by which TaskWorlds know a body
    Axis: TypeAlias = int  # 0, 1, 2
    Sensing: TypeAlias = str  # name of a sensor, as WorldSensors have it
    Positive: TypeAlias = float
    Bodies: TypeAlias = IntArray  # their indices in the plant
    Link: TypeAlias = int  # the index of a body in the plant
    File: TypeAlias = Path  # as seen from here
    Range: TypeAlias = tuple[float, float]  # a least and a largest number
    Periods: TypeAlias = tuple[int, int]  # a least and a largest number of periods, from times [s]
    Every: TypeAlias = int  # periods, at least 1, from a time [s]
    Whole: TypeAlias = int  # at least 1
    NewName: TypeAlias = str
    Commanded: TypeAlias = str  # name of a command of the task
    Over: TypeAlias = bool  # whether heights are over the ground, not in World
    BodyOverGround: TypeAlias = int  # as Body, in a model with a ground
    BodyOnTerrain: TypeAlias = int  # as Body, in a model with a terrain
    Lengths: TypeAlias = FloatArray  # [m]

ALL = "all"
SAME_TIME = 1e-6  # of a period
AXES = ("x", "y", "z")
OVER = ("world", "ground")
MOST_LENGTHS = 100
NO_TERRAIN = 'the task has no "terrain"'


@dataclass(frozen=True)
class FloatingBase:
    """A body that floats in World: the place of its x in q, and X_WF of the frame in which x, y, z are."""

    start: int
    X_WF: Matrix4


def _places(what: str, names_of: Callable[[TaskWorlds], list[str]]) -> Callable[[YamlNode, TaskWorlds], IntArray]:
    """The reader of a name, a list of names or `all`."""

    def read(node: YamlNode, worlds: TaskWorlds) -> IntArray:
        names = names_of(worlds)
        if node.kind == "scalar" and node.value == ALL:
            if not names:
                raise ValueProblem("VALUE_NAME", f"is {ALL}, and the model has no {what}")
            return np.arange(len(names))
        items = list(node) if node.kind == "sequence" else [node]
        if not items:
            raise ValueProblem("VALUE_TYPE", f"is an empty list: it takes names, or {ALL}")
        coordinates = NamedCoordinates(names, what)
        found = [found_under(coordinates.find, name_of(item)) for item in items]
        if len(set(found)) < len(found):
            raise ValueProblem("VALUE_NAME", f"names a {what} twice")
        return np.array(found)

    return read


def _scalars(node: YamlNode, worlds: TaskWorlds) -> IntArray:
    plant = worlds.plant
    turning = _quaternion_places(worlds)
    found = _positions(node, worlds)
    if node.kind == "scalar" and node.value == ALL:
        return np.setdiff1d(found, turning)
    names = plant.GetPositionNames()
    parts = [names[k] for k in found if k in turning]
    if parts:
        raise ValueProblem("VALUE_NAME", f"names {parts[0]}, a part of a quaternion, to which nothing can be added")
    return found


def _quaternion_places(worlds: TaskWorlds) -> list[int]:
    """Places in q of the four numbers of each quaternion: joints with one position more than velocities have one."""
    joints = [j for j in worlds.plant.moving_joints() if j.num_positions() == j.num_velocities() + 1]
    return [joint.position_start() + k for joint in joints for k in range(4)]


def _coordinate(node: YamlNode, worlds: TaskWorlds) -> Coordinate:
    return found_under(_state_names(worlds).find, name_of(node))


def _numbers(node: YamlNode, worlds: TaskWorlds) -> Numbers:
    if node.kind != "mapping" or not node.keys():
        raise ValueProblem("VALUE_TYPE", f"is a mapping of names and numbers; found {node.describe()}")
    names = _state_names(worlds)
    return [(found_under(names.find, name), _number(child, worlds)) for name, child in node.items()]


def _state_names(worlds: TaskWorlds) -> StateNames:
    return StateNames(worlds.plant.GetPositionNames(), worlds.plant.GetVelocityNames())


def _body(node: YamlNode, worlds: TaskWorlds) -> int:
    return found_under(worlds.track, name_of(node))


def _sensing(node: YamlNode, worlds: TaskWorlds) -> str:
    sensor = found_under(lambda name: sensors_named(worlds.plant, [name])[0], name_of(node))
    return str(sensor.path.removeprefix(FOLDER))


def _axis(node: YamlNode, worlds: TaskWorlds) -> int:
    return AXES.index(accept(str, _scalar(node), {"choices": AXES}))


def _bodies(node: YamlNode, worlds: TaskWorlds) -> IntArray:
    items = list(node) if node.kind == "sequence" else [node]
    frames = [found_under(lambda name: find_frame(worlds.plant, name, "body"), name_of(item)) for item in items]
    return np.array([int(frame.body().index()) for frame in frames], dtype=np.int64)


def _link(node: YamlNode, worlds: TaskWorlds) -> int:
    return int(_bodies(node, worlds)[0])


def _file(node: YamlNode, worlds: TaskWorlds) -> Path:
    return Path(node.place.file).parent / name_of(node)


def _range(node: YamlNode, worlds: TaskWorlds) -> Range:
    items = list(node) if node.kind == "sequence" else []
    if len(items) != 2:
        raise ValueProblem("VALUE_TYPE", f"is a list of the least and the largest number; found {node.describe()}")
    low, high = (_number(item, worlds) for item in items)
    if low > high:
        raise ValueProblem("VALUE_RANGE", f"goes from {low:g} to {high:g}: the least number comes first")
    return low, high


def _periods(node: YamlNode, worlds: TaskWorlds) -> Periods:
    times = _range(node, worlds) if node.kind == "sequence" else (_number(node, worlds),) * 2
    low, high = (_whole_periods(time, worlds) for time in times)
    return low, high


def _every(node: YamlNode, worlds: TaskWorlds) -> int:
    return max(1, _whole_periods(_positive(node, worlds), worlds))


def _whole_periods(time: float, worlds: TaskWorlds) -> int:
    period = worlds.frames * worlds.plant.time_step()
    count = round(time / period)
    if count < 0 or abs(count * period - time) > SAME_TIME * period:
        raise ValueProblem("VALUE_RANGE", f"is {time:g} s: it is a whole number of periods of {period:g} s")
    return count


def _whole(node: YamlNode, worlds: TaskWorlds) -> int:
    return accept(int, _scalar(node), {"minimum": 1})


def _new_name(node: YamlNode, worlds: TaskWorlds) -> str:
    name = name_of(node)
    if name in worlds.commands:
        raise ValueProblem("VALUE_NAME", f"names a second command {name}")
    return name


def _commanded(node: YamlNode, worlds: TaskWorlds) -> str:
    names = list(worlds.commands)
    return names[found_under(NamedCoordinates(names, "command").find, name_of(node))]


def _over(node: YamlNode, worlds: TaskWorlds) -> bool:
    over = OVER.index(accept(str, _scalar(node), {"choices": OVER})) == 1
    if over:
        _require(worlds.loaded.ground, NO_GROUND)
    return over


def _body_over_ground(node: YamlNode, worlds: TaskWorlds) -> int:
    _require(worlds.loaded.ground, NO_GROUND)
    return _body(node, worlds)


def _body_on_terrain(node: YamlNode, worlds: TaskWorlds) -> int:
    _require(worlds.loaded.terrain, NO_TERRAIN)
    return _body(node, worlds)


def _floating_base(node: YamlNode, worlds: TaskWorlds) -> FloatingBase:
    _require(worlds.tiles, NO_TERRAIN)
    joint = worlds.plant.free_joints.get(_link(node, worlds))
    if joint is None or int(joint.parent_body().index()) != 0:
        raise ValueProblem("VALUE_NAME", f"names {name_of(node)}, which does not float in World")
    X_WF = joint.frame_on_parent().GetFixedPoseInBodyFrame().GetAsMatrix4()
    return FloatingBase(joint.position_start() + joint.num_positions() - 3, X_WF)


def _require(there: Any, lacking: str) -> None:
    if there is None:
        raise ValueProblem("VALUE_NAME", f": {lacking}")


def _lengths(node: YamlNode, worlds: TaskWorlds) -> FloatArray:
    items = list(node) if node.kind == "sequence" else []
    if not 0 < len(items) <= MOST_LENGTHS:
        raise ValueProblem("VALUE_TYPE", f"is a list of 1 to {MOST_LENGTHS} lengths; found {node.describe()}")
    return np.array([_number(item, worlds) for item in items])


def _number(node: YamlNode, worlds: TaskWorlds) -> float:
    return accept(float, _scalar(node), {})


def _positive(node: YamlNode, worlds: TaskWorlds) -> float:
    return accept(float, _scalar(node), {"above": 0.0})


def name_of(node: YamlNode) -> str:
    value = _scalar(node)
    if not isinstance(value, str):
        raise ValueProblem("VALUE_TYPE", f"takes a name; found {describe(value)}")
    return value


def _scalar(node: YamlNode) -> Any:
    if node.kind != "scalar":
        raise ValueProblem("VALUE_TYPE", f"takes one value; found {node.describe()}")
    return node.value


def found_under(find: Callable[[str], Any], name: str) -> Any:
    """What a function finds under a name; ValueProblem with its reason if it finds nothing."""
    try:
        return find(name)
    except (LookupError, ValueError) as error:
        raise ValueProblem("VALUE_NAME", f": {error}") from None


_positions = _places("position", lambda worlds: worlds.plant.GetPositionNames())
KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "Positions": _positions,
    "Scalars": _scalars,
    "Velocities": _places("velocity", lambda worlds: worlds.plant.GetVelocityNames()),
    "Actuators": _places("actuator", lambda worlds: worlds.plant.GetActuatorNames()),
    "Controlled": _places("actuator with a controller", lambda worlds: worlds.controlled),
    "Coordinate": _coordinate,
    "Numbers": _numbers,
    "Body": _body,
    "Axis": _axis,
    "Sensing": _sensing,
    "Bodies": _bodies,
    "Link": _link,
    "File": _file,
    "Range": _range,
    "Periods": _periods,
    "Every": _every,
    "Every | None": _every,
    "Whole": _whole,
    "Whole | None": _whole,
    "Over": _over,
    "BodyOverGround": _body_over_ground,
    "BodyOnTerrain": _body_on_terrain,
    "FloatingBase": _floating_base,
    "Lengths": _lengths,
    "NewName": _new_name,
    "Commanded": _commanded,
    "float": _number,
    "Positive": _positive,
    "Positive | None": _positive,
}
