"""MJCF files for one second under random controls, here and in MuJoCo: `python -m benchmarks.mjcf_actuators --runs`.

Both engines read the same text: the file, and an option that switches constraints off, since those of MuJoCo are soft
and these are rigid; MuJoCo has no fluid. Controls are seeded, within their ranges, and change every 0.1 s. Both methods
are of first order in what actuators do: with half the step the difference halves, where the motions are the same. The
last column is what is left of it at a step of zero, by a line through both: twice the second less the first. Where an
engine does not resolve a motion at these steps, that says nothing: --fine tells which one it is.
"""

from __future__ import annotations

import contextlib
import csv
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.mjcf_actuators import actuator_names, coordinates_here, matched_coordinates, model_files
from mbcli.errors import MbcliError
from mbcli.models.loading import load_model
from mbcli.simulation.running import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

WITHOUT_CONSTRAINTS = """<mujoco><include file="{}"/><option><flag constraint="disable"/></option></mujoco>"""
DURATION, HOLD = 1.0, 0.1  # [s]
STEPS = (5e-4, 2.5e-4)  # [s]
FINE_STEPS, FINEST = (5e-4, 1e-4, 2.5e-5), 5e-6  # [s]
CLOSE = 1e-4  # relative to the largest motion of a coordinate


def main(folders: list[str]) -> int:
    """Prints a row a file, and how many are close."""
    close = total = 0
    print(f"{'file':60} actuators  {STEPS[0]:g} s   {STEPS[1]:g} s  to zero  what keeps them apart")
    for path in model_files(folders):
        row = differences_of_runs(path)
        if row is None:
            continue
        total += 1
        count, found, words = row
        close += bool(found) and found[-1] < CLOSE
        numbers = " ".join(f"{difference:9.1e}" for difference in found) or "        -         -         -"
        print(f"{os.path.relpath(path, folders[0])[-60:]:60} {count:9} {numbers}  {words}", flush=True)
    print(f"{total} files, {close} closer than {CLOSE:g}")
    return 0


def compare_fine_steps(paths: list[str]) -> int:
    """Prints how far runs of each engine at FINE_STEPS are from MuJoCo's by Runge and Kutta at FINEST."""
    import mujoco

    print(f"{'file':50} {'here at ' + str(FINE_STEPS):34} MuJoCo at these")
    for path in paths:
        with _without_constraints(path) as beside:
            model = mujoco.MjModel.from_xml_path(beside)
            controls = _controls(model)
            model.opt.density = model.opt.viscosity = 0.0
            of_us, of_them = [], []
            for h in FINE_STEPS:
                plant, matched, ours = _prepared_run(mujoco, model, beside, h, controls)
                of_us.append(ours)
                of_them.append(_run_there(mujoco, model, h, plant, matched, controls))
            finest = _run_there(mujoco, model, FINEST, plant, matched, controls, mujoco.mjtIntegrator.mjINT_RK4)
            moved = max(np.abs(finest - finest[0]).max(), 1e-6)
            found = [np.abs(_apart(run, finest, plant, matched)).max() / moved for run in (*of_us, *of_them)]
        print(f"{os.path.basename(path):50} {' '.join(f'{each:9.1e}' for each in found)}", flush=True)
    return 0


@contextlib.contextmanager
def _without_constraints(path: str) -> Iterator[str]:
    """The path of a file beside another one that is it without constraints."""
    handle, beside = tempfile.mkstemp(suffix=".xml", prefix="mbcli_run_", dir=os.path.dirname(path))
    with os.fdopen(handle, "w") as file:
        file.write(WITHOUT_CONSTRAINTS.format(os.path.basename(path)))
    try:
        yield beside
    finally:
        os.remove(beside)


def differences_of_runs(path: str) -> tuple[int, list[float], str] | None:
    """(number of actuators, largest difference of a position for each of STEPS and at a step of zero as part of the
    largest motion, why they differ); None of a file without actuators or that MuJoCo does not read."""
    import mujoco

    with _without_constraints(path) as beside:
        try:
            model = mujoco.MjModel.from_xml_path(beside)
            if model.nu == 0:
                return None
            return model.nu, *_differences(mujoco, model, beside)
        except ValueError:
            return None
        except MbcliError as error:
            return model.nu, [], str(error).splitlines()[0].replace(beside, "")[:90]


def _controls(model: Any) -> Any:
    """(number of HOLDs, nu), seeded, within their ranges."""
    limited = model.actuator_ctrllimited.astype(bool)
    low = np.where(limited, model.actuator_ctrlrange[:, 0], -1.0)
    high = np.where(limited, model.actuator_ctrlrange[:, 1], 1.0)
    rng = np.random.default_rng(1)
    return low + (high - low) * rng.uniform(0.25, 0.75, (round(DURATION / HOLD), model.nu))


def _prepared_run(mujoco: Any, model: Any, path: str, h: float, controls: Any) -> tuple[Any, Any, Any]:
    """(plant, its joints for those of MuJoCo or None, positions of a run here)."""
    loaded = load_model(path, contact=False, dt=h)
    plant: Any = loaded.plant
    matched = matched_coordinates(mujoco, model, plant)
    if matched is None:
        return plant, None, None
    names = actuator_names(mujoco, model)
    return plant, matched, _run_here(loaded, names, controls * _inputs_by_controls(model, plant, names))


def _differences(mujoco: Any, model: Any, path: str) -> tuple[list[float], str]:
    controls, apart, missing = _controls(model), [], 0
    model.opt.density = model.opt.viscosity = 0.0
    for h in STEPS:
        plant, matched, ours = _prepared_run(mujoco, model, path, h, controls)
        if matched is None:
            return [], "coordinates that cannot be matched"
        theirs = _run_there(mujoco, model, h, plant, matched, controls)
        moved = np.abs(theirs - theirs[0]).max()
        apart.append(_apart(ours, theirs, plant, matched) / max(moved, 1e-6))
        missing = model.nu - len(_acting(plant, actuator_names(mujoco, model)))
    found = [float(np.abs(each).max()) for each in (*apart, 2.0 * apart[1] - apart[0])]
    return found, _reason(found, missing, model)


def _acting(plant: Any, names: list[str]) -> list[int]:
    """Which of the actuators are here."""
    here = {a.name() for a in (*plant.elements.actuators, *plant.elements.transmission_actuators)}
    return [k for k, name in enumerate(names) if name in here]


def _inputs_by_controls(model: Any, plant: Any, names: list[str]) -> Any:
    """(nu,) inputs over controls: that of a motor on a joint is a force."""
    motors = [names.index(a.name()) for a in plant.elements.actuators if not a.has_controller()]
    inputs = np.ones(len(names))
    inputs[motors] = model.actuator_gainprm[motors, 0] * model.actuator_gear[motors, 0]
    return inputs


def _run_here(loaded: Any, names: list[str], controls: Any) -> Any:
    plant: Any = loaded.plant
    kept, whole = _acting(plant, names), plant.GetActuatorNames()  # with the model: a name may be the end of another
    here = {a.name(): a.input_start() for a in (*plant.elements.actuators, *plant.elements.transmission_actuators)}
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *(whole[here[names[k]]] for k in kept)])
        for row, values in enumerate(controls):
            writer.writerow([row * HOLD, *(repr(float(values[k])) for k in kept)])
        file.flush()
        inputs = file.name if kept else None
        log = simulate(loaded, duration=DURATION, inputs=inputs, log_rate=1.0 / HOLD, warn=lambda words: None)
    return np.asarray(log.q)


def _run_there(
    mujoco: Any, model: Any, h: float, plant: Any, matched: list[Any], controls: Any, integrator: Any = None
) -> Any:
    data = mujoco.MjData(model)
    chosen = mujoco.mjtIntegrator.mjINT_IMPLICITFAST if integrator is None else integrator
    model.opt.timestep, model.opt.integrator = h, int(chosen)
    rows = [coordinates_here(mujoco, model, data, plant, matched)[0]]
    for values in controls:
        data.ctrl[:] = values
        mujoco.mj_step(model, data, round(HOLD / h))
        rows.append(coordinates_here(mujoco, model, data, plant, matched)[0])
    return np.array(rows)


def _apart(ours: Any, theirs: Any, plant: Any, matched: list[Any]) -> Any:
    """The differences of coordinates; two signs of a quaternion are one rotation."""
    apart = ours - theirs
    for joint in matched:
        if joint.num_velocities() in (3, 6):
            k = slice(joint.position_start(), joint.position_start() + 4)
            other = ours[:, k] + theirs[:, k]
            turned = np.abs(other).max(axis=1) < np.abs(apart[:, k]).max(axis=1)
            apart[turned, k] = other[turned]
    return apart


def _reason(found: list[float], missing: int, model: Any) -> str:
    if missing:
        return f"{missing} of {model.nu} actuators do not act"
    if not np.isfinite(found).all():
        return "one of both ends"
    if found[-1] < CLOSE:
        return ""
    return "halves with the step" if found[1] < 0.65 * found[0] else "see below"
