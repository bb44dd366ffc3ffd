"""The state that an analysis or a run starts from: default, lists, names, files, random numbers."""

import json
import math
import re

import click
import numpy as np

from mbcli.errors import ModelError, ResourceError


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
    """A quaternion of zeros is no orientation."""
    for joint in plant._joints:
        if joint.type_name() == "quaternion_floating":
            i = joint.position_start()
            if not np.linalg.norm(context._q[i : i + 4]) > 0.0:
                raise ModelError(f"the quaternion of joint '{joint.name()}' is zero: it gives no orientation")


def numbers(text, names, option):
    """A comma or space separated list of finite numbers, one for each name."""
    words = [word for word in re.split(r"[,\s]+", text.strip()) if word]
    if len(words) != len(names):
        raise click.UsageError(f"{option} needs {len(names)} numbers, it has {len(words)}: {', '.join(names)}")
    return np.array([number(word, option) for word in words])


def number(word, option):
    try:
        value = float(word) if "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise click.UsageError(f"{option}: '{word}' is not a finite number")
    return value


def find_name(name, names, what):
    """Index of a coordinate: its name, or an ending of it after `_` that no other shares, or `joint` of `joint_q`."""
    if name in names:
        return names.index(name)
    found = [k for k, n in enumerate(names) if n.endswith(f"_{name}") or n.rpartition("_")[0].endswith(f"_{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise ModelError(f"'{name}' can mean {', '.join(names[k] for k in found)}")
    from difflib import get_close_matches

    close = get_close_matches(name, [*names, *(n.split("_", 1)[-1] for n in names)], 1)
    hint = f"; did you mean '{close[0]}'?" if close else f"; there are {', '.join(names) or 'none'}"
    raise ModelError(f"there is no {what} named '{name}'{hint}")


def _assign(plant, context, assignments):
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    positions, velocities = plant.GetPositionNames(), plant.GetVelocityNames()
    for assignment in assignments:
        name, equals, word = assignment.partition("=")
        if not equals:
            raise click.UsageError(f"--at takes NAME=VALUE, not '{assignment}'")
        value = number(word, "--at")
        if name in velocities and name not in positions:
            v[velocities.index(name)] = value
            continue
        try:
            q[find_name(name, positions, "position")] = value
        except ModelError:
            try:
                v[find_name(name, velocities, "velocity")] = value
            except ModelError:
                find_name(name, positions, "position")
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)


def _from_file(plant, context, path, time):
    import os

    if not os.path.exists(path):
        raise ResourceError(f"{path}: no such file")
    with open(path, "rb") as file:
        is_log = file.read(8) == b"\x89HDF\r\n\x1a\n"
    q, v = _from_log(plant, path, time) if is_log else _from_json(plant, path)
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
                raise ModelError(f"{path}: its coordinates are not those of this model: {', '.join(theirs)}")
        if log.row_count == 0:
            raise ModelError(f"{path}: the log has no rows")
        if time is None:
            return log.q[log.row_count - 1], log.v[log.row_count - 1]
        return log.state_at(time)


def _from_json(plant, path):
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 0)
        raise ModelError(f"{path}:{line}: error: not a JSON document: {error}") from None
    if not isinstance(document, dict) or not {"q", "v"} & set(document):
        raise ModelError(f"{path}: error: a state is an object with q, v or both")
    result = []
    for key, names in (("q", plant.GetPositionNames()), ("v", plant.GetVelocityNames())):
        value = document.get(key)
        if value is None:
            result.append(None)
            continue
        listed = document.get("position_names" if key == "q" else "velocity_names", names)
        if sorted(listed) != sorted(names) or len(value) != len(names):
            raise ModelError(f"{path}: error: {key} must have {len(names)} numbers: {', '.join(names)}")
        order = [listed.index(name) for name in names]
        array = np.array(value, dtype=float)[order]
        if not np.isfinite(array).all():
            raise ModelError(f"{path}: error: {key} has a number that is not finite")
        result.append(array)
    return result


def set_random_state(plant, context, rng):
    """Positions uniform within finite limits, else within pi rad or 1 m; orientations uniform; v normal."""
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    reach = np.array(
        [1.0 if name.rpartition("_")[2] in ("x", "y", "z") else math.pi for name in plant.GetPositionNames()]
    )
    bounded = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(bounded, lower, -reach), np.where(bounded, upper, reach)
    q = rng.uniform(low, high) if low.size else low
    for joint in plant._joints:
        i = joint.position_start()
        if joint.type_name() == "quaternion_floating":
            quaternion = rng.normal(size=4)
            q[i : i + 4] = quaternion / np.linalg.norm(quaternion)
        elif joint.type_name() in ("ball_rpy", "rpy_floating"):
            q[i + 1] = rng.uniform(-1.2, 1.2)  # away from the gimbal lock of the middle angle
    plant.SetPositions(context, q)
    plant.SetVelocities(context, rng.normal(size=plant.num_velocities()))
