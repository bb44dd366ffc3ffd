"""States of a plant: by names, random ones, and those in JSON documents and logs."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.coordinate_names import StateNames, listed
from mbcli.errors import ArgumentError, ModelError
from mbcli.models.units import angular_positions
from mbcli.multibody.tree.joint_kinds import has_angles, has_quaternion
from mbcli.parsers.diagnostics import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mbcli.log.reader import Log
    from mbcli.math.array_types import BoolArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


def set_state_by_names(plant: MultibodyPlant, context: Context, values: Mapping[str, float]) -> BoolArray:
    """Sets positions and velocities {name: number}; the end of a name will do. Returns the mask (nq,) of the positions.

    ArgumentError for unknown names.
    """
    stated = np.zeros(plant.num_positions(), dtype=bool)
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    names = StateNames(plant.GetPositionNames(), plant.GetVelocityNames())
    for name, value in values.items():
        try:
            field, k = names.find(name)
        except LookupError as error:
            raise ArgumentError(error.args[0]) from None
        (q if field == "q" else v)[k] = value
        if field == "q":
            stated[k] = True
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    return stated


def check_quaternions(plant: MultibodyPlant, context: Context) -> None:
    """A quaternion of zeros is not an orientation."""
    for joint in plant.moving_joints():
        if has_quaternion(joint):
            i = joint.position_start()
            if not np.linalg.norm(context.state.q[i : i + 4]) > 0.0:
                raise ModelError(f"the quaternion of joint '{joint.name()}' is zero: it gives no orientation")


def set_state_from_log(plant: MultibodyPlant, context: Context, path: str, time: float | None = None) -> None:
    """Puts the state of a log at a time [s], or at its end, into a context.

    Rows have no velocities of deformable bodies: a plant with some takes its state from the last checkpoint, which a
    run writes at its end. ModelError for another time, and if the log is of another model.
    """
    from mbcli.log.reader import Log

    with Log(path) as log:
        q, v = _row_of_log(plant, log, path, time)
        if plant.elements.deformable_bodies:
            q, v = _set_deformables_from_log(context, log, path, time)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)


def _set_deformables_from_log(context: Context, log: Log, path: str, time: float | None) -> tuple[Vector, Vector]:
    """Sets the states of deformable bodies; returns q and v of the same instant."""
    checkpoint = log.read_checkpoint() or {}
    states = context.state.deformables
    values = np.asarray(checkpoint.get("deformables", ()))
    if values.shape != (sum(own.values.size for own in states),) or not np.isfinite(values).all():
        raise ModelError(f"{path}: error: the log has no state of the deformable bodies of this model")
    if time is not None and not math.isclose(time, checkpoint["time"], rel_tol=1e-9, abs_tol=1e-9):
        raise ModelError(
            f"{path}: error: the log has the state of the deformable bodies at {checkpoint['time']:.9g} s alone, "
            f"not at {time:.9g} s"
        )
    start = 0
    for own in states:
        own.set_values(values[start : start + own.values.size])
        start += own.values.size
    return checkpoint["q"], checkpoint["v"]


def _row_of_log(plant: MultibodyPlant, log: Log, path: str, time: float | None) -> tuple[Vector, Vector]:
    """q (nq,) and v (nv,) of a row."""
    names = (log.position_names, log.velocity_names)
    for ours, theirs in zip((plant.GetPositionNames(), plant.GetVelocityNames()), names, strict=True):
        if list(ours) != list(theirs):
            raise ModelError(f"{path}: error: its coordinates are not those of this model: {listed(theirs)}")
    if log.row_count == 0:
        raise ModelError(f"{path}: error: the log has no rows")
    if time is not None:
        return log.state(time)
    last = next(log.chunks(["state/q", "state/v"], start=log.row_count - 1))
    return last["state/q"][0], last["state/v"][0]


def state_in_json(plant: MultibodyPlant, content: str | bytes, path: str) -> tuple[Vector | None, Vector | None]:
    """q (nq,) and v (nv,) of a JSON document, None for the one that it does not have; path: its name in messages."""
    try:
        document = json.loads(content)
    except json.JSONDecodeError as error:
        raise ModelError(f"{path}:{error.lineno}:{error.colno}: error: not a JSON document: {error.msg}") from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{path}: error: not a JSON document: {error}") from None
    if not isinstance(document, dict) or not {"q", "v"} & set(document):
        raise ModelError(f"{path}: error: a state is an object with q, v or both")
    return (
        _json_vector(document, "q", "position_names", plant.GetPositionNames(), path),
        _json_vector(document, "v", "velocity_names", plant.GetVelocityNames(), path),
    )


def _json_vector(
    document: Mapping[str, Any], key: str, names_key: str, names: Sequence[str], path: str
) -> Vector | None:
    """The numbers under a key in the order of our names; None if the key is not there."""
    if key not in document:
        return None
    values, order = document[key], document.get(names_key, names)
    if not isinstance(values, list) or len(values) != len(names):
        found = f"it has {len(values)}" if isinstance(values, list) else "it is not a list"
        raise ModelError(f"{path}: error: {key} needs {len(names)} numbers, {found}: {listed(names)}")
    if not isinstance(order, list) or not all(isinstance(n, str) for n in order) or sorted(order) != sorted(names):
        raise ModelError(f"{path}: error: {names_key} are not those of this model: {listed(names)}")
    for name, value in zip(order, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
            raise ModelError(f"{path}: error: {key} of '{printable(name)}' is not a finite number")
    by_name = dict(zip(order, values, strict=True))
    return np.array([by_name[name] for name in names], dtype=float)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def set_random_state(plant: MultibodyPlant, context: Context, rng: np.random.Generator) -> None:
    """Positions uniform within finite limits, else within pi rad or 1 m; orientations uniform; v normal.

    Joints with a distribution of their own, as a random default_free_body_pose gives it, draw from that.
    """
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    reach = np.where(angular_positions(plant), math.pi, 1.0)
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * reach, -reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2.0 * reach, reach))
    endless = ~np.isfinite(high - low)
    low, high = np.where(endless, -reach, low), np.where(endless, reach, high)
    q = rng.uniform(low, high) if low.size else low
    for joint in plant.moving_joints():
        i = joint.position_start()
        if joint._random_positions:
            q[i : i + joint.num_positions()] = joint.draw_positions(rng)
        elif has_quaternion(joint):
            quaternion = rng.normal(size=4)
            q[i : i + 4] = quaternion / np.linalg.norm(quaternion)
        elif has_angles(joint):
            q[i + 1] = rng.uniform(-1.2, 1.2)  # away from the gimbal lock of the middle angle
    plant.SetPositions(context, q)
    plant.SetVelocities(context, rng.normal(size=plant.num_velocities()))
