"""The runs of the net over real files: what is done with one file, in a process of its own.

A way is a command of `mbcli simulate`; a start is a state at rest from which a plant without contact takes some steps.
"""

import contextlib
import io
import os
import random
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np

from benchmarks.robots.files import robot_files
from benchmarks.robots.first_models import FIRST

WAYS = {
    "plain": (),
    "ground-hold": ("--ground", "--hold"),
    "weld-base": ("--weld-base",),
    "clamp-no-contact": ("--start-limits", "clamp", "--no-contact"),
}
APPROXIMATIONS = ("lagged", "sap", "similar", "tamsi")
BASES = ("floating", "welded")
STARTS = ("lower", "upper", "random", "beyond")
DURATION = 0.5  # [s] of a way
STEPS = 100  # of a start
STEP = 1e-3  # [s]
BEYOND = 0.01  # [rad or m] that a start is outside of its limits
UNIT = 1e-9  # of the norm of quaternions
LIFTED = 3e-3 * STEPS * STEP  # [rad] that stops bring joints back which are beyond them, and with them their neighbours
RETURN_SPEED = 1e-3  # [rad/s or m/s] at most, by which stops do that
GROWTH = 0.01  # of the energy that flowed, by which a passive robot may gain
OFF_CONSTRAINTS = 1e-6  # [m or 1]: the first step pulls together what starts further apart
ROUNDING = 1e-9  # [J], and of the energies themselves
OUTSIDE = ("--allow-outside", "--missing-meshes", "ignore")  # with a package path: for files that are not read alone


def runs_of_file(ways=tuple(WAYS), starts=STARTS, approximations=APPROXIMATIONS, bases=BASES):
    """The runs of one file, each a list: ["way", name] or ["start", base, start, approximation]."""
    of_starts = [["start", b, s, a] for b in bases for s in starts for a in approximations]
    return [["way", way] for way in ways] + of_starts


def name_of(run):
    return " ".join(run[1:])


def do(file, run, kept):
    """What became of one run of a RobotFile: a dict, see verdicts.verdict()."""
    warnings.simplefilter("ignore")
    if run[0] == "way":
        return follow_way(file, WAYS[run[1]])
    _, base, start, approximation = run
    return take_steps(file, base, start, approximation, kept)


# ------------------------------------------------------------------------------------------- commands


def command_line(arguments):
    """(exit code, stdout, stderr) of `mbcli ARGUMENTS` in this process."""
    from mbcli.cli import run

    output, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        code = run(arguments)
    return code, output.getvalue(), error.getvalue()


def follow_way(file, options):
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "run.h5")
        command = ["simulate", str(file.path), *options, "-t", f"{DURATION:g}", "-o", log]
        if file.format in ("urdf", "sdf", "mjcf"):
            command += ["--input-format", file.format]
        code, _, said = command_line(command)
        alone = code not in (3, 4)
        if not alone:  # as the maker's own tools would, with all packages at hand
            code, _, said = command_line([*command, *OUTSIDE, "--package-path", str(file.folder)])
        result = {"code": code, "message": message_of(said, code), "alone": alone}
        result["warnings"] = [line for line in said.splitlines() if "warning" in line]
        if code == 0:
            result.update(look_at_log(log))
        return result


def message_of(said, code):
    """The lines of stderr that say why a command failed."""
    if code == 0:
        return ""
    lines = [" ".join(line.split()) for line in said.splitlines() if line.strip()]
    return "\n".join([line for line in lines if re.search(r"(^|: )error: ", line)] or lines[-1:])


def look_at_log(path):
    from mbcli.log import open_log

    with open_log(path) as log:
        return look_at_rows(log.q[...], log.v[...], quaternions(log.position_names))


def quaternions(names):
    """Where each quaternion begins in the positions of these names."""
    return [k for k, name in enumerate(names) if name.endswith("_qw")]


def look_at_rows(q, v, places):
    finite = bool(np.isfinite(q).all() and np.isfinite(v).all())
    norms = [np.linalg.norm(q[:, k : k + 4], axis=1) for k in places]
    return {"finite": finite, "off_unit": float(max((abs(norm - 1.0).max() for norm in norms), default=0.0))}


# --------------------------------------------------------------------------------------------- starts


def plant_of(file, base, kept, approximation):
    """The finalized plant of a file without contact, kept for the next start; raises what load_model() raises."""
    from mbcli.parsers.package_map import PackageMap

    from mbcli.errors import ModelError, ResourceError
    from mbcli.models.loading import load_model

    key = (base, approximation)
    if key not in kept:
        arguments = {
            "weld_base": base == "welded",
            "file_type": file.format,
            "dt": STEP,
            "contact_approximation": approximation,
        }
        try:
            kept[key] = load_model(str(file.path), **arguments).plant
        except (ModelError, ResourceError):
            packages = PackageMap(allow_outside=True, missing_meshes="ignore")
            packages.add_path(str(file.folder))
            kept[key] = load_model(str(file.path), packages=packages, **arguments).plant
    return kept[key]


def positions_at(plant, start, seed):
    """The positions of a start; None if it is that of another one, since no joint of the plant has a limit."""
    q = plant.GetPositions(plant.CreateDefaultContext())
    if start == "default":
        return q
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    limited = np.isfinite(lower) | np.isfinite(upper)
    if not limited.any():
        return None
    low = np.where(np.isfinite(lower), lower, upper)
    high = np.where(np.isfinite(upper), upper, lower)
    side = {"lower": 0.0, "upper": 1.0}.get(start)
    draw = random.Random(f"{seed}{start}")
    sides = np.array([draw.random() < 0.5 if side is None else side for _ in q], dtype=bool)
    at = np.where(sides, high, low)
    if start == "beyond":
        at = np.where(sides, at + BEYOND * np.isfinite(upper), at - BEYOND * np.isfinite(lower))
    return np.where(limited, at, q)


def take_steps(file, base, start, approximation, kept):
    from mbcli.errors import ArgumentError, MbcliError
    from mbcli.multibody.stepping.run import Run
    from mbcli.simulation.controllers import hold_default_positions

    try:
        plant = plant_of(file, base, kept, approximation)
    except MbcliError as error:
        if approximation == "tamsi" and "tamsi cannot hold" in str(error):
            return {"left_out": "TAMSI holds no constraints"}
        return {"code": error.exit_code, "message": str(error)}
    if plant.num_velocities() == 0 or not plant.is_discrete():
        return {"left_out": "nothing moves" if plant.is_discrete() else "the plant is continuous"}
    q = positions_at(plant, start, file.sha256)
    if q is None:
        return {"left_out": "no limits"}
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    lifted = lifted_by_stops(plant, context) if start == "beyond" else 0.0
    try:
        driven = hold_default_positions(plant, context)
    except ArgumentError:
        return {"left_out": "its controllers do not act under TAMSI"}
    blocks = []
    try:
        with np.errstate(all="ignore"):
            run = Run(plant, context, STEPS * STEP, keep=("balance",))
            for block in run.blocks():
                rows = block.q, block.v, block.energy, block.constraint_error[:, None]
                blocks.append([each.copy() for each in rows])
    except MbcliError as error:
        return {"code": error.exit_code, "message": str(error)}
    q, v, energy, error = (np.vstack([block[k] for block in blocks]) for k in range(4))
    result = {"code": 0, "message": "", **look_at_rows(q, v, quaternions(plant.GetPositionNames()))}
    if result["finite"] and not (plant.elements.constraints and not error[0] < OFF_CONSTRAINTS):
        result["gain"] = gain(energy.sum(axis=1), energy[:, 0], run.energy_balance(), driven, lifted)
    return result


def lifted_by_stops(plant, context):
    """[J] that stops may give a robot at rest beyond them: its way back against its weight, and the speed of that."""
    weight = np.abs(plant.CalcGravityGeneralizedForces(context)).sum()
    return float(LIFTED * weight + 0.5 * RETURN_SPEED**2 * np.abs(plant.CalcMassMatrix(context)).sum())


def gain(total, kinetic, balance, driven, lifted=0.0):
    """{"energy" [J] by which the robot gained at most, "flow" [J], "allowed" [J], and the parts of its balance}.

    Of a robot that controllers drive it is what is left at the end without their work. lifted [J]: at most what stops
    lift by bringing joints back.
    """
    if not np.isfinite(total).all() or balance is None:
        return None
    gained = balance.energy_change - balance.actuators if driven else float((total - total[0]).max())
    allowed = GROWTH * max(float(np.ptp(kinetic)), 0.0) + ROUNDING * (1.0 + float(abs(total).max())) + lifted
    parts = {name: value for name, value in balance.as_dict().items() if value}
    return {"energy": gained, "allowed": allowed, "balance": parts}


def warm_up():
    """Compiles and loads, in this process, what runs call: so that no forked one has to."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FIRST.items():
            Path(folder, name).write_text(text)
        kept = {}
        for file in robot_files([folder])[0]:
            kept.clear()
            for run in runs_of_file():
                result = do(file, run, kept)
                if result.get("code") not in (0, 5, None):
                    raise RuntimeError(f"{file.name}, {name_of(run)}: {result}")
