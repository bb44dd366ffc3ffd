"""Identification of a real robot beside FIGAROH, mujoco-sysid and mujoco.sysid, on the same data in one run.

    python -m benchmarks.identification robot.urdf --data run1.csv --validate run2.csv run3.csv
        [--columns time,q,v,i] [--effort-gain 10,10.7,8.5] [--samples N]

First the same work for all: from filtered samples and a loaded model to the parameters, each program in its own way.
All are given the samples that mbcli's filter leaves. mbcli's part is the regressor, noise and outliers, least squares
and the nearest possible bodies, as its command does it; "its least squares" is the same without outliers and possible
bodies, which is what FIGAROH and mujoco-sysid do. Then mbcli from the files to the result: reading, checks,
filter, fit, standard errors, findings, cross-validation. Seconds of the processor and of the clock are those of the
fastest of `--repeat` calls; BLAS takes as many threads as the environment says. The error is that of the efforts as
measured, before the filter, at the samples of the unseen files. All identify inertias, armature, viscous and Coulomb
friction and an offset.

- FIGAROH: its regressor (Pinocchio), its base parameters, and least squares with the weights of its workflow.
- mujoco-sysid: its regressor, sample by sample, and ordinary least squares.
- mujoco.sysid: `optimize` of masses and centres (its default parameters of bodies), with its bounds; residuals are
  efforts by `mj_inverse`. Its pseudo-inertias did not compile for bodies of a URDF file (MuJoCo 4.0.0: "mass and
  inertia of moving bodies must be larger than mjMINVAL"). `--iterations` ends it early; 0 leaves it out.

Then the time of the regressor of 1e5 states, by mbcli and by Pinocchio. A peer that is missing has no line.
"""

import argparse
import os
import re
import tempfile
import time

import numpy as np

from mbcli.identification.data_checks import checked
from mbcli.identification.estimation import Bases, base_combinations, least_squares, predicted
from mbcli.identification.friction_signs import slow_speeds
from mbcli.identification.identify import Settings, identify, solved
from mbcli.identification.records import expanded_columns, read_record
from mbcli.identification.signals import runs_of, velocities_of
from mbcli.models.loading import load_model
from mbcli.multibody.plant.batch_functions import BatchFunctions

STATES = 100_000
FRICTION = ("viscous", "coulomb", "offset")


def without_geometry(path):
    """The text of a URDF file without what is drawn or collides, whose meshes may not be there."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return re.sub(r"<(visual|collision)\b.*?</\1>", "", text, flags=re.DOTALL)


class Clock:
    """Since it was made: seconds of the processor, of all threads, and of the clock on the wall."""

    def __init__(self):
        self._start = time.process_time(), time.perf_counter()

    def times(self):
        return time.process_time() - self._start[0], time.perf_counter() - self._start[1]


def fastest(results):
    """((processor, clock), error) of calls that did the same."""
    results = list(results)
    return tuple(min(times[k] for times, _ in results) for k in range(2)), results[0][1]


def unseen_error(result, x):
    """Of all samples, as Samples.error() has it for the other programs."""
    errors = np.concatenate([predicted(e, x) - e.raw_tau for e in result.validation])
    return float(np.linalg.norm(errors) / np.linalg.norm(np.concatenate([e.raw_tau for e in result.validation])))


def mbcli_fit(result, runs):
    """(times, error on unseen data) of the part of identify() that the others do too."""
    subject = result.subject
    clock = Clock()
    slow = slow_speeds(np.concatenate([run.v for run in runs]))
    equations = [subject.equations(run, slow) for run in runs]
    found = solved(subject, equations, base_combinations(subject.exact_rows(runs), subject.sizes))[1]
    return clock.times(), unseen_error(result, found.x)


def mbcli_least_squares(result, runs):
    """The same by FIGAROH's estimator: least squares, then again with the noise of each joint."""
    subject = result.subject
    clock = Clock()
    slow = slow_speeds(np.concatenate([run.v for run in runs]))
    equations = [subject.equations(run, slow) for run in runs]
    columns = base_combinations(subject.exact_rows(runs), subject.sizes)[0]
    bases = Bases(equations, columns, subject.sizes)
    alike = [np.ones(len(b.y)) for b in bases.of_velocity]
    noise, x = np.ones(len(alike)), np.zeros(len(subject.sizes))
    for _ in range(2):
        found = least_squares(*bases.step([-b.y for b in bases.of_velocity], alike, noise), bases.sizes)
        noise = np.array([np.linalg.norm(error) / np.sqrt(len(error)) for error in bases.errors(found)])
    x[columns] = found
    return clock.times(), unseen_error(result, x)


class Samples:
    """q, v, vdot (n, nv), tau filtered and raw, and which efforts may be used, of all stretches of some files."""

    def __init__(self, runs):
        self.q, self.v, self.vdot, self.tau, self.raw, self.usable = (
            np.concatenate([getattr(run, name) for run in runs])
            for name in ("q", "v", "vdot", "tau", "raw_tau", "usable")
        )

    def error(self, predicted):
        """Norm of the errors over norm of the efforts, as measured."""
        return float(np.linalg.norm(predicted - self.raw) / np.linalg.norm(self.raw))


def columns_of_friction(samples):
    """(n, nv, 4 nv): what armature, viscous and Coulomb friction and an offset of each joint do."""
    n, nv = samples.v.shape
    B = np.zeros((n, nv, 4 * nv))
    for d in range(nv):
        B[:, d, d], B[:, d, nv + d] = samples.vdot[:, d], samples.v[:, d]
        B[:, d, 2 * nv + d], B[:, d, 3 * nv + d] = np.sign(samples.v[:, d]), 1.0
    return B


def figaroh(urdf, data, unseen, gravity=None):
    """(times, efforts (n, nv) of unseen samples); gravity (3,): None, that of the file"""
    from figaroh.identification.parameter import add_standard_additional_parameters, get_standard_parameters
    from figaroh.tools.load_robot import load_robot
    from figaroh.tools.qrdecomposition import QRDecomposer
    from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced, get_index_eliminate

    config = {
        "has_friction": True,
        "has_actuator_inertia": True,
        "has_joint_offset": True,
        "is_joint_torques": True,
        "is_external_wrench": False,
        "force_torque": None,
        "act_idxv": list(range(data.q.shape[1])),
    }
    robot = load_robot(urdf, package_dirs=os.path.dirname(urdf), load_by_urdf=True)
    if gravity is not None:
        robot.model.gravity.linear = np.array(gravity)
    clock = Clock()
    W = build_regressor_basic(robot, data.q, data.v, data.vdot, config)
    standard = get_standard_parameters(robot.model, config)
    standard.update(add_standard_additional_parameters(robot.model, config))
    standard = {name: float(value) for name, value in standard.items()}
    eliminated, names = get_index_eliminate(W, standard, 1e-3)
    reduced = build_regressor_reduced(W, eliminated)
    usable, tau = data.usable.T.ravel(), data.tau.T.ravel()
    decomposer = QRDecomposer()
    base, _, _, phi, _ = decomposer.double_decomposition(tau[usable], reduced[usable], names, standard)
    joint = np.repeat(np.arange(data.tau.shape[1]), len(data.tau))[usable]
    rest = base @ phi - tau[usable]
    sigma = np.array([np.linalg.norm(rest[joint == d]) / np.sqrt((joint == d).sum()) for d in range(joint.max() + 1)])
    phi = np.linalg.lstsq(base / sigma[joint, None], tau[usable] / sigma[joint], rcond=None)[0]
    times = clock.times()
    other = build_regressor_reduced(build_regressor_basic(robot, unseen.q, unseen.v, unseen.vdot, config), eliminated)
    return times, (other[:, list(decomposer.get_base_indices())] @ phi).reshape(unseen.tau.shape[1], -1).T


def mujoco_of(urdf, gravity=None):
    """A MuJoCo model of the URDF file, in which nothing but inertia and gravity (3,) acts."""
    import mujoco

    spec = mujoco.MjSpec.from_string(without_geometry(urdf))
    spec.compile()
    spec = mujoco.MjSpec.from_string(spec.to_xml())  # every inertia is stated there
    if gravity is not None:
        spec.option.gravity = gravity
    for joint in spec.joints:
        joint.damping, joint.frictionloss, joint.armature = np.zeros(3), 0.0, 0.0
        joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
    return spec


def mujoco_sysid(urdf, data, unseen):
    """(times, efforts of unseen samples)"""
    import mujoco
    from mujoco_sysid.regressors import joint_torque_regressor

    def rows(samples):
        Y = []
        for state.qpos[:], state.qvel[:], state.qacc[:] in zip(samples.q, samples.v, samples.vdot, strict=True):
            mujoco.mj_inverse(model, state)
            mujoco.mj_rnePostConstraint(model, state)
            Y.append(joint_torque_regressor(model, state))
        return np.concatenate((Y, columns_of_friction(samples)), axis=2)

    model = mujoco_of(urdf).compile()
    state = mujoco.MjData(model)
    clock = Clock()
    A = rows(data)[data.usable]
    x = np.linalg.lstsq(A, data.tau[data.usable], rcond=1e-9)[0]
    times = clock.times()
    return times, rows(unseen) @ x


def mujoco_optimize(urdf, data, unseen, iterations, gravity=None):
    """(times, efforts of unseen samples)"""
    import mujoco
    from mujoco import sysid

    nv = data.v.shape[1]

    def efforts(model, parameters, samples, B):
        state, tau = mujoco.MjData(model), np.empty(samples.v.shape)
        for k, (q, v, vdot) in enumerate(zip(samples.q, samples.v, samples.vdot, strict=True)):
            state.qpos[:], state.qvel[:], state.qacc[:] = q, v, vdot
            mujoco.mj_inverse(model, state)
            tau[k] = state.qfrc_inverse
        return tau + B @ parameters["joints"].value

    def residuals(x, parameters):
        found = []
        for column in np.atleast_2d(x.T):
            parameters.update_from_vector(column)
            model = sysid.apply_param_modifiers(parameters, spec.copy())
            found.append(((efforts(model, parameters, data, B) - data.tau) * data.usable / scale).ravel())
        return [np.array(found).T if x.ndim > 1 else found[0]], [], []

    spec = mujoco_of(urdf, gravity)
    model = spec.compile()
    clock = Clock()
    scale = np.sqrt((data.tau**2).mean(axis=0))
    B, parameters = columns_of_friction(data), sysid.ParameterDict()
    for b in sorted(set(model.jnt_bodyid.tolist())):
        parameters.add(sysid.body_inertia_param(spec, model, model.body(b).name, sysid.InertiaType.MassIpos))
    size = np.abs(data.tau).max()
    low = np.concatenate((np.zeros(3 * nv), np.full(nv, -size)))
    start = np.concatenate((np.full(3 * nv, 0.1), np.zeros(nv)))
    parameters.add(sysid.Parameter("joints", start, low, np.full(4 * nv, size), modifier=lambda spec, p: None))
    found, _ = sysid.optimize(parameters, residuals, verbose=False, max_iters=iterations)
    times = clock.times()
    best = sysid.apply_param_modifiers(found, spec.copy())
    return times, efforts(best, found, unseen, columns_of_friction(unseen))


def regressors(plant, urdf):
    """{program: seconds of the processor for STATES states}, of the fastest of three calls"""
    q, v, vdot = np.random.default_rng(0).normal(size=(3, STATES, plant.num_velocities()))
    batch = BatchFunctions(plant)

    def own():
        batch.inverse_dynamics_regressor(q, v, vdot)

    def fastest_of(call):
        clocks = []
        for _ in range(3):
            clock = Clock()
            call()
            clocks.append(clock.times()[0])
        return min(clocks)

    found = {"mbcli": fastest_of(own)}
    try:
        import pinocchio as pin
    except ImportError:
        return found
    model = pin.buildModelFromUrdf(urdf)
    state = model.createData()

    def other():
        for row in zip(q, v, vdot, strict=True):
            pin.computeJointTorqueRegressor(model, state, *row).copy()

    return found | {"Pinocchio": fastest_of(other)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a URDF file of a robot on the ground")
    parser.add_argument("--data", nargs="+", required=True)
    parser.add_argument("--validate", nargs="+", required=True)
    parser.add_argument("--columns")
    parser.add_argument("--effort-gain")
    parser.add_argument("--iterations", type=int, default=20, help="of mujoco.sysid")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        urdf = os.path.join(folder, "robot.urdf")
        with open(urdf, "w", encoding="utf-8") as file:
            file.write(without_geometry(options.model))
        plant = load_model(urdf, weld_base=True).plant
        settings = Settings(
            columns=None if options.columns is None else expanded_columns(plant, options.columns),
            gains=None if options.effort_gain is None else np.array(options.effort_gain.split(","), dtype=float),
            armature=True,
        )
        result = identify(plant, options.data, options.validate, settings)  # compiles
        velocity_of = velocities_of(plant, plant.CreateDefaultContext())

        def runs_in(paths):
            records = [read_record(path, plant, settings) for path in paths]
            return [
                run.thinned(result.cutoff)
                for r in records
                for run in runs_of(r, result.cutoff, checked(r, plant)[1], velocity_of)
            ]

        def samples(runs):
            found = Samples(runs)
            slow = 0.02 * np.percentile(np.abs(found.v), 90.0, axis=0)
            found.usable &= np.abs(found.v) >= slow
            return found

        runs = runs_in(options.data)
        data, unseen = samples(runs), samples(runs_in(options.validate))

        def judged(times, efforts):
            return times, unseen.error(efforts)

        calls = {
            "mbcli": lambda: mbcli_fit(result, runs),
            "its least squares": lambda: mbcli_least_squares(result, runs),
            "FIGAROH": lambda: judged(*figaroh(urdf, data, unseen)),
            "mujoco-sysid": lambda: judged(*mujoco_sysid(urdf, data, unseen)),
        }
        if options.iterations:
            calls["mujoco.sysid"] = lambda: judged(*mujoco_optimize(urdf, data, unseen, options.iterations))
        print(f"{len(data.q)} samples, {len(unseen.q)} unseen ones; {result.counts['rows']} rows")
        print(f"from filtered samples to parameters, fastest of {options.repeat}:")
        own = None
        for name, call in calls.items():
            try:
                times, error = fastest(call() for _ in range(1 if name == "mujoco.sysid" else options.repeat))
            except ImportError as missing:
                print(f"{name} is left out: {missing}")
                continue
            own = own or times
            print(
                f"{name:17s} processor {times[0]:8.4f} s {times[0] / own[0]:7.1f} x   clock {times[1]:8.4f} s "
                f"{times[1] / own[1]:7.1f} x   error on unseen data {100 * error:6.2f} %"
            )

        def whole():
            clock = Clock()
            found = identify(plant, options.data, options.validate, settings)
            return clock.times(), found.figures["validation"]

        times, error = fastest(whole() for _ in range(options.repeat))
        print(
            f"mbcli, from files to the result: processor {times[0]:.3f} s, clock {times[1]:.3f} s, {100 * error:.2f} %"
        )
        for name, seconds in regressors(plant, urdf).items():
            print(f"{name:14s} {seconds:9.3f} s  regressor of {STATES} states")


if __name__ == "__main__":
    main()
