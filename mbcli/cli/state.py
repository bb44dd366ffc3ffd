"""The state that an analysis or a run starts from: default, lists, names, files, random numbers."""

import json
import math
import os
import re
import sys

import click
import numpy as np

from mbcli.cli.options import joined, parse_number
from mbcli.cli.output import printable
from mbcli.common.coordinate_names import StateNames
from mbcli.errors import ModelError, ResourceError

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def set_state(plant, context, options):
    """Puts the state that the options describe into the context: file or random first, then lists, then names."""
    if options.random_seed is not None:
        set_random_state(plant, context, np.random.default_rng(options.random_seed))
    if options.state_file is not None:
        _from_file(plant, context, options.state_file, options.state_time)
    elif options.state_time is not None:
        raise click.UsageError("--time needs --state LOG")
    if options.q_list is not None:
        plant.SetPositions(context, numbers(options.q_list, plant.GetPositionNames(), "--q"))
    if options.v_list is not None:
        plant.SetVelocities(context, numbers(options.v_list, plant.GetVelocityNames(), "--v"))
    if options.assignments:
        _assign(plant, context, options.assignments)
    check_quaternions(plant, context)


def check_quaternions(plant, context):
    """A quaternion of zeros is not an orientation."""
    for joint in plant._joints:
        if joint.type_name() == "quaternion_floating":
            i = joint.position_start()
            if not np.linalg.norm(context.state.q[i : i + 4]) > 0.0:
                raise ModelError(f"the quaternion of joint '{joint.name()}' is zero: it gives no orientation")


def numbers(text, names, option):
    """A comma or space separated list of finite numbers, one for each name."""
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    if len(words) != len(names):
        of = f": {joined(*names)}" if names else ""
        raise click.UsageError(f"{option} needs {len(names)} numbers, it has {len(words)}{of}")
    return np.array([number(word, option) for word in words])


def number(word, option):
    value = parse_number(word.strip())
    if value is None:
        raise click.UsageError(f"{option}: '{word}' is not a finite number")
    return value


def by_name(assignments, find, option):
    """{result of find(name): number} of NAME=VALUE texts. UsageError if two of them mean the same.

    find raises LookupError for a name that means nothing, or several things.
    """
    values, stated = {}, {}
    for assignment in assignments:
        name, equals, word = assignment.partition("=")
        if not equals:
            raise click.UsageError(f"{option} takes NAME=VALUE, not '{assignment}'")
        try:
            target = find(name)
        except LookupError as error:
            raise click.UsageError(f"{option}: {error}") from None
        if target in values:
            also = "" if stated[target] == name else f", which '{stated[target]}' means too"
            raise click.UsageError(f"{option}: a second value for '{name}'{also}")
        values[target], stated[target] = number(word, f"{option} {name}"), name
    return values


def _assign(plant, context, assignments):
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    names = StateNames(plant.GetPositionNames(), plant.GetVelocityNames())
    for (field, k), value in by_name(assignments, names.find, "--at").items():
        (q if field == "q" else v)[k] = value
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)


def _from_file(plant, context, path, time):
    if path == "-":
        content, is_log = sys.stdin.buffer.read(), False
    elif not os.path.exists(path):
        raise ResourceError(f"{path}: error: no such file")
    else:
        with open(path, "rb") as file:
            content = file.read(len(HDF5_SIGNATURE))
            is_log = content == HDF5_SIGNATURE
            content += b"" if is_log else file.read()
    if time is not None and not is_log:
        raise click.UsageError(f"--time: {path} is not a log, it holds one state")
    q, v = _from_log(plant, path, time) if is_log else _from_json(plant, content, "<stdin>" if path == "-" else path)
    if q is not None:
        plant.SetPositions(context, q)
    if v is not None:
        plant.SetVelocities(context, v)


def _from_log(plant, path, time):
    from mbcli.log.reader import Log

    with Log(path) as log:
        names = (log.position_names, log.velocity_names)
        for ours, theirs in zip((plant.GetPositionNames(), plant.GetVelocityNames()), names, strict=True):
            if list(ours) != list(theirs):
                raise ModelError(f"{path}: error: its coordinates are not those of this model: {joined(*theirs)}")
        if log.row_count == 0:
            raise ModelError(f"{path}: error: the log has no rows")
        if time is not None:
            return log.state_at(time)
        last = next(log.chunks(["state/q", "state/v"], start=log.row_count - 1))
        return last["state/q"][0], last["state/v"][0]


def _from_json(plant, content, path):
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


def _json_vector(document, key, names_key, names, path):
    """The numbers under a key in the order of our names; None if the key is not there."""
    if key not in document:
        return None
    values, listed = document[key], document.get(names_key, names)
    if not isinstance(values, list) or len(values) != len(names):
        found = f"it has {len(values)}" if isinstance(values, list) else "it is not a list"
        raise ModelError(f"{path}: error: {key} needs {len(names)} numbers, {found}: {joined(*names)}")
    if not isinstance(listed, list) or not all(isinstance(n, str) for n in listed) or sorted(listed) != sorted(names):
        raise ModelError(f"{path}: error: {names_key} are not those of this model: {joined(*names)}")
    for name, value in zip(listed, values, strict=True):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
            raise ModelError(f"{path}: error: {key} of '{printable(name)}' is not a finite number")
    by_name = dict(zip(listed, values, strict=True))
    return np.array([by_name[name] for name in names], dtype=float)


def _is_finite(value):
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False


def set_random_state(plant, context, rng):
    """Positions uniform within finite limits, else within pi rad or 1 m; orientations uniform; v normal.

    Joints with a distribution of their own, as a random default_free_body_pose gives it, draw from that.
    """
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    reach = np.array(
        [1.0 if name.rpartition("_")[2] in ("x", "y", "z") else math.pi for name in plant.GetPositionNames()]
    )
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * reach, -reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2.0 * reach, reach))
    endless = ~np.isfinite(high - low)
    low, high = np.where(endless, -reach, low), np.where(endless, reach, high)
    q = rng.uniform(low, high) if low.size else low
    for joint in plant._joints:
        i = joint.position_start()
        if joint._random_positions:
            q[i : i + joint.num_positions()] = joint._draw_positions(rng)
        elif joint.type_name() == "quaternion_floating":
            quaternion = rng.normal(size=4)
            q[i : i + 4] = quaternion / np.linalg.norm(quaternion)
        elif joint.type_name() in ("ball_rpy", "rpy_floating"):
            q[i + 1] = rng.uniform(-1.2, 1.2)  # away from the gimbal lock of the middle angle
    plant.SetPositions(context, q)
    plant.SetVelocities(context, rng.normal(size=plant.num_velocities()))
