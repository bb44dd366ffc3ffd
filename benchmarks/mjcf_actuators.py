"""How many actuators of MJCF files act, and how far their forces are from those of MuJoCo.

    python -m benchmarks.mjcf_actuators FOLDER...

reads every MJCF file of these folders that MuJoCo compiles and that has actuators. At random states, activations and
controls it compares lengths, moments, forces and the generalized forces of all actuators with a transmission, and the
forces of servos on joints. Differences are parts of the largest number of their kind in the file. A motor on a joint
has nothing to compare: its input is its force. Files are read alone, joints that follow others do. Contact is off in
both engines: tests/engine/contact/test_adhesion.py has moments of adhesion.

    python -m benchmarks.mjcf_actuators --runs FOLDER...

runs them for 1 s instead, in both engines, and prints a table: mjcf_runs.py. With --fine FILE... it compares runs of
both at several steps with MuJoCo's own by Runge and Kutta's method at 5 us.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError
from mbcli.models.loading import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator

STATES = 3
LARGEST_FILE = 4_000_000  # [bytes]


def main(folders: list[str]) -> int:
    """Prints one line a file that differs or loses actuators, then the table of kinds."""
    import mujoco

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    largest: dict[str, float] = defaultdict(float)
    files = compared = 0
    for path in model_files(folders):
        try:
            model = mujoco.MjModel.from_xml_path(path)
        except ValueError:
            continue
        if model.nu == 0:
            continue
        files += 1
        kinds = [kind_of(mujoco, model, k) for k in range(len(model.actuator_trntype))]
        try:
            plant: Any = load_model(path, contact=False, dt=model.opt.timestep).plant
        except MbcliError as error:
            for kind in kinds:
                counts[kind]["not read"] += 1
            print(f"{path}: {error}"[:300])
            continue
        acting, differences = compare(mujoco, model, plant)
        compared += differences is not None
        for kind, acts in zip(kinds, acting, strict=True):
            counts[kind]["act" if acts else "warn"] += 1
        for k, difference in enumerate(differences or ()):
            largest[kinds[k]] = max(largest[kinds[k]], difference)
        worst = max(differences or (0.0,))
        if not all(acting) or worst > 1e-9 or differences is None:
            told = "not compared" if differences is None else f"largest difference {worst:.1e}"
            print(f"{path}: {sum(acting)} of {len(acting)} act, {told}")
    print(f"{'transmission, gain, bias, dynamics':50} {'act':>6} {'warn':>6} {'not read':>8}  difference")
    for kind in sorted(counts):
        row = counts[kind]
        print(f"{kind:50} {row['act']:6} {row['warn']:6} {row['not read']:8}  {largest[kind]:.1e}")
    total = sum(counts.values(), Counter())
    share = total["act"] / max(1, sum(total.values()))
    words = f"{total['act']} of {sum(total.values())} actuators act, {100 * share:.2f} %"
    print(f"{files} files, {compared} compared: {words}")
    return 0 if share >= 0.98 else 1


def model_files(folders: list[str]) -> Iterator[str]:
    """MJCF files below folders, by name."""
    for folder in folders:
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(root, name)
                if name.endswith((".xml", ".mjcf")) and os.path.getsize(path) < LARGEST_FILE:
                    with open(path, encoding="utf-8", errors="replace") as file:
                        if "<mujoco" in file.read():
                            yield path


def kind_of(mujoco: Any, model: Any, k: int) -> str:
    """Transmission, gain, bias and dynamics of an actuator, in MuJoCo's words."""
    enums = (
        (mujoco.mjtTrn, model.actuator_trntype[k], "mjTRN_"),
        (mujoco.mjtGain, model.actuator_gaintype[k], "mjGAIN_"),
        (mujoco.mjtBias, model.actuator_biastype[k], "mjBIAS_"),
        (mujoco.mjtDyn, model.actuator_dyntype[k], "mjDYN_"),
    )
    return ", ".join(enum(int(value)).name.removeprefix(prefix).lower() for enum, value, prefix in enums)


def compare(mujoco: Any, model: Any, plant: Any, states: int = STATES) -> tuple[list[bool], list[float] | None]:
    """Whether each actuator of MuJoCo acts here, and its largest difference; None where states cannot be matched."""
    names = actuator_names(mujoco, model)
    count = len(names)
    ours = {a.name(): a for a in (*plant.elements.actuators, *plant.elements.transmission_actuators)}
    acting = [name in ours for name in names]
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    matched = matched_coordinates(mujoco, model, plant)
    if matched is None or count != model.nu:  # some have several controls
        return acting, None
    differences = np.zeros(model.nu)
    data, context, rng = mujoco.MjData(model), plant.CreateDefaultContext(), np.random.default_rng(1)
    first = len(plant.elements.actuators)
    for _ in range(states):
        T, G = set_random_state(mujoco, model, data, plant, context, matched, rng)
        u, activations = np.zeros(plant.num_actuators()), []
        for name, actuator in ours.items():
            if name in names:
                u[actuator.input_start()] = data.ctrl[names.index(name)]
        for actuator in plant.elements.transmission_actuators:
            if actuator.has_activation():
                activations.append(data.act[model.actuator_actadr[names.index(actuator.name())]])
        plant.set_activations(context, activations)
        at = plant.transmissions_at(context, u)
        moments = np.zeros((model.nu, model.nv))
        rows = data.moment_rownnz, data.moment_rowadr, data.moment_colind
        mujoco.mju_sparse2dense(moments, data.actuator_moment, *rows)
        moments = moments @ T
        given = forces_within_joints(mujoco, model, data)
        sizes = [np.abs(x).max() + 1e-300 for x in (data.actuator_length, moments, data.actuator_force)]
        for k, name in enumerate(names):
            actuator = ours.get(name)
            if actuator in plant.elements.transmission_actuators:
                i = actuator.input_start() - first
                generalized = at.moments[i] * at.forces[i] - moments[k] * given[k]
                errors = (
                    abs(at.lengths[i] - data.actuator_length[k]) / sizes[0],
                    np.abs(at.moments[i] - moments[k]).max() / sizes[1],
                    abs(at.forces[i] - given[k]) / sizes[2],
                    np.abs(generalized).max() / (sizes[1] * sizes[2]),
                )
                differences[k] = max(differences[k], *errors)
            elif actuator is not None and actuator.control is not None and actuator.control.force is not None:
                effort = servo_effort(plant, context, actuator, data.ctrl[k])
                moment = moments[k] @ G if model.actuator_trntype[k] == int(mujoco.mjtTrn.mjTRN_TENDON) else moments[k]
                error = abs(effort - (moment * given[k])[actuator.joint().velocity_start()])
                differences[k] = max(differences[k], error / (sizes[1] * sizes[2]))
    return acting, differences.tolist()


def actuator_names(mujoco: Any, model: Any) -> list[str]:
    """As they are here."""
    count = len(model.actuator_trntype)
    return [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or f"motor{k}" for k in range(count)]


def forces_within_joints(mujoco: Any, model: Any, data: Any) -> Any:
    """The forces of actuators, those on joints with `actuatorfrcrange` scaled to have their sum in it."""
    forces = data.actuator_force.copy()
    on_joints = np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT))
    for joint in np.flatnonzero(model.jnt_actfrclimited):
        those = on_joints[model.actuator_trnid[on_joints, 0] == joint]
        total = float(model.actuator_gear[those, 0] @ forces[those])
        if total:
            forces[those] *= np.clip(total, *model.jnt_actfrcrange[joint]) / total
    return forces


def servo_effort(plant: Any, context: Any, actuator: Any, control: float) -> float:
    """[N m or N] of a controller of MJCF on its joint at a state."""
    gains, joint = actuator.get_controller_gains(), actuator.joint()
    default = plant.GetDefaultPositions()[joint.position_start()]
    position, velocity = (default, 0.0) if actuator.rest is None else actuator.rest
    shift = np.clip(control, *actuator.control.limits) - actuator.control.rest
    q, v = plant.GetPositions(context)[joint.position_start()], plant.GetVelocities(context)[joint.velocity_start()]
    effort = gains.p * (position - q) + gains.d * (velocity - v) + actuator.control.force * shift
    return float(np.clip(effort, -actuator.effort_limit(), actuator.effort_limit()))


# ------------------------------------------------------------------------------------------- states


def matched_coordinates(mujoco: Any, model: Any, plant: Any) -> list[Any] | None:
    """The joint here for each joint of MuJoCo; None if they are not the same."""
    joints = [j for j in plant.elements.joints if j.num_velocities() and not j.made_at_finalize]
    matched = []
    for k in range(model.njnt):
        kind = int(model.jnt_type[k])
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            bodies = [b for b in plant.elements.bodies if b.name() == model.body(model.jnt_bodyid[k]).name]
            if len(bodies) != 1 or int(bodies[0].index()) not in plant.free_joints:
                return None
            matched.append(plant.free_joints[int(bodies[0].index())])
            if matched[-1] in joints:
                joints.remove(matched[-1])
        elif not joints:
            return None
        else:
            matched.append(joints.pop(0))
            if matched[-1].num_velocities() != (3 if kind == int(mujoco.mjtJoint.mjJNT_BALL) else 1):
                return None
            if model.joint(k).name and model.joint(k).name != matched[-1].name():
                return None
    return None if joints or plant.num_velocities() != model.nv else matched


def set_random_state(
    mujoco: Any, model: Any, data: Any, plant: Any, context: Any, matched: list[Any], rng: np.random.Generator
) -> tuple[Any, Any]:
    """The same random state on both sides, evaluated by MuJoCo; T (nv, nv) with v of MuJoCo = T v here, and G (nv, nv)
    with v = G v of the joints that follow none."""
    mujoco.mj_resetData(model, data)
    data.qpos[:] = model.qpos0 + 0.3 * rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, data.qpos)
    data.qvel[:] = rng.normal(size=model.nv)
    G = let_follow(model, data, plant, matched)
    data.ctrl[:], data.act[:] = rng.uniform(-1.0, 1.0, model.nu), rng.uniform(0.0, 1.0, model.na)
    mujoco.mj_forward(model, data)
    q, T = coordinates_here(mujoco, model, data, plant, matched)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, np.linalg.solve(T, data.qvel))
    return T, G


def let_follow(model: Any, data: Any, plant: Any, matched: list[Any]) -> Any:
    """Puts joints that follow others where these lead them; G as above."""
    G, index = np.eye(model.nv), {id(joint): k for k, joint in enumerate(matched)}
    couplers = [c for c in plant.elements.constraints if c.kind == "coupler"]
    for _ in couplers:  # as often as a chain of them is long
        for coupler in couplers:
            k, leader = index[id(coupler.joint0)], index[id(coupler.joint1)]
            at = data.qpos[model.jnt_qposadr[leader]]
            data.qpos[model.jnt_qposadr[k]] = coupler.gear_ratio * at + coupler.offset
            data.qvel[model.jnt_dofadr[k]] = coupler.gear_ratio * data.qvel[model.jnt_dofadr[leader]]
            G[coupler.joint0.velocity_start()] = coupler.gear_ratio * G[coupler.joint1.velocity_start()]
    return G


def coordinates_here(mujoco: Any, model: Any, data: Any, plant: Any, matched: list[Any]) -> tuple[Any, Any]:
    """q of the plant at the positions of MuJoCo, and T as above."""
    q, T = np.zeros(plant.num_positions()), np.zeros((model.nv, model.nv))
    for k, joint in enumerate(matched):
        i, d, p, s = model.jnt_qposadr[k], model.jnt_dofadr[k], joint.position_start(), joint.velocity_start()
        if joint.num_velocities() == 1:
            q[p], T[d, s] = data.qpos[i], 1.0
            continue
        R = np.zeros(9)
        start = i + 3 if joint.num_velocities() == 6 else i
        mujoco.mju_quat2Mat(R, data.qpos[start : start + 4])
        R = R.reshape(3, 3)
        q[p : p + 4] = data.qpos[start : start + 4]
        if joint.num_velocities() == 6:
            q[p + 4 : p + 7] = data.qpos[i : i + 3]
            T[d : d + 3, s + 3 : s + 6], T[d + 3 : d + 6, s : s + 3] = np.eye(3), R.T
        else:
            T[d : d + 3, s : s + 3] = R.T
    return q, T


if __name__ == "__main__":
    started = time.perf_counter()
    given = [argument for argument in sys.argv[1:] if argument not in ("--runs", "--fine")]
    if len(given) < len(sys.argv) - 1:
        from benchmarks import mjcf_runs

        status = (mjcf_runs.compare_fine_steps if "--fine" in sys.argv else mjcf_runs.main)(given)
    else:
        status = main(sys.argv[1:])
    print(f"{time.perf_counter() - started:.0f} s")
    sys.exit(status)
