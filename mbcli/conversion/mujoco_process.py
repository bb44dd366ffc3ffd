"""What MuJoCo makes of a file: `python -m mbcli.conversion.mujoco_process`, see engine_process.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.engine_process import answer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from mbcli.math.array_types import Vector

KINDS = ("free", "ball", "slide", "hinge")


def evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """What MuJoCo has and computes: a document whose numbers are in its own coordinates.

    request: "xml" text, "states" [{joint: [q, v]}] in which a free joint has the name of its body, and "vectors"
    [{joint: v}] by which the mass matrix is multiplied.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_string(request["xml"])
    for k in range(model.ntendon):  # springs of fixed tendons, which act in the steps of a plant alone
        if model.wrap_type[model.tendon_adr[k]] == int(mujoco.mjtWrap.mjWRAP_JOINT):
            model.tendon_stiffness[k] = model.tendon_damping[k] = 0.0
        elif model.tendon_lengthspring[k][0] != model.tendon_lengthspring[k][1]:  # as those with a dead band
            model.tendon_stiffness[k] = 0.0
    data = mujoco.MjData(model)
    joints = []
    for k in range(model.njnt):
        kind = KINDS[model.jnt_type[k]]
        name = model.body(model.jnt_bodyid[k]).name if kind == "free" else model.joint(k).name
        joints.append((name, kind, int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])))
    return {
        "version": mujoco.__version__,
        "joints": [[name, kind] for name, kind, _, _ in joints],
        "bodies": {model.body(k).name: _body(mujoco, model, k) for k in range(1, model.nbody)},
        "of_joints": {name: _joint(model, k) for k, (name, *_) in enumerate(joints)},
        "actuators": {model.actuator(k).name: _actuator(model, k) for k in range(model.nu)},
        "states": [_at_state(mujoco, model, data, joints, state, request["vectors"]) for state in request["states"]],
    }


def _body(mujoco: ModuleType, model: Any, k: int) -> dict[str, Any]:
    numbers = np.zeros(9)
    mujoco.mju_quat2Mat(numbers, model.body_iquat[k])
    R = numbers.reshape(3, 3)
    return {
        "mass": model.body_mass[k],
        "com": model.body_ipos[k],
        "inertia": R @ np.diag(model.body_inertia[k]) @ R.T,
    }


def _joint(model: Any, k: int) -> dict[str, Any]:
    d = model.jnt_dofadr[k]
    limits = model.jnt_range[k] if model.jnt_limited[k] else (-np.inf, np.inf)
    return {"range": limits, "armature": model.dof_armature[d], "frictionloss": model.dof_frictionloss[d]}


def _actuator(model: Any, k: int) -> dict[str, Any]:
    """Largest force on the joint, and the gains of its law at the joint."""
    gear = model.actuator_gear[k][0]
    force = model.actuator_forcerange[k][1] if model.actuator_forcelimited[k] else np.inf
    is_motor = model.actuator_biastype[k] == 0
    if is_motor and model.actuator_ctrllimited[k]:
        force = min(force, abs(model.actuator_gainprm[k][0]) * model.actuator_ctrlrange[k][1])
    gains = None if is_motor else (-model.actuator_biasprm[k][1:3] * gear * gear)
    return {"force": abs(gear) * force, "gains": gains}


def _at_state(
    mujoco: ModuleType,
    model: Any,
    data: Any,
    joints: Sequence[tuple[str, str, int, int]],
    state: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    vectors: Sequence[Mapping[str, Sequence[float]]],
) -> dict[str, Any]:
    mujoco.mj_resetData(model, data)
    counts = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}

    def scattered(values: Mapping[str, Sequence[float]]) -> Vector:
        v = np.zeros(model.nv)
        for name, kind, _, d in joints:
            v[d : d + counts[kind][1]] = values[name]
        return v

    for name, kind, i, _ in joints:
        data.qpos[i : i + counts[kind][0]] = state[name][0]
    data.qvel[:] = scattered({name: v for name, (_, v) in state.items()})
    gravity = model.opt.gravity.copy()
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    with_gravity, passive, compensation = data.qfrc_bias.copy(), data.qfrc_passive.copy(), data.qfrc_gravcomp.copy()
    poses = {model.body(k).name: [*data.xpos[k], *data.xmat[k]] for k in range(1, model.nbody)}
    model.opt.gravity[:] = 0.0
    mujoco.mj_fwdVelocity(model, data)
    bias = data.qfrc_bias.copy()
    model.opt.gravity[:] = gravity
    products = []
    for vector in vectors:
        product = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, product, scattered(vector))
        products.append(product)

    def gathered(v: Vector) -> dict[str, Vector]:
        return {name: v[d : d + counts[kind][1]] for name, kind, _, d in joints}

    return {
        "products": [gathered(product) for product in products],
        "bias": gathered(bias),
        "gravity": gathered(bias - with_gravity + compensation),
        "applied": gathered(bias - with_gravity + passive),
        "poses": poses,
    }


def load() -> None:
    """MuJoCo, if it can be imported."""
    import mujoco  # noqa: F401


if __name__ == "__main__":
    answer(load, evaluate)
