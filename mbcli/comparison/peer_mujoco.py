"""What is compared, of MuJoCo: contact switched off, shapes of URDF files left out. It runs in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.comparison.shapeless_urdf import without_shapes

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from mbcli.math.array_types import Array, Matrix4, Vector3

BASE_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
STEP = 1e-3  # [s]


def evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """The document of a model file at a state; see own_engine.py."""
    import mujoco

    spec = READERS[request["format"]](mujoco, request["path"])
    for name in request["bases"]:
        body = spec.body(name)
        if body is not None and not body.joints:
            body.add_freejoint()
    model = spec.compile()
    data = mujoco.MjData(model)
    model.opt.gravity[:] = request["gravity"]
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)
    model.opt.timestep = STEP
    names, T = [""] * model.nv, np.eye(model.nv)
    single = {}
    for k in range(model.njnt):
        name, kind = model.joint(k).name, int(model.jnt_type[k])
        i, d = model.jnt_qposadr[k], model.jnt_dofadr[k]
        if kind in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)):
            names[d], single[name] = name, k
            if name in request["q"]:
                data.qpos[i], data.qvel[d] = request["q"][name], request["v"][name]
        elif kind == int(mujoco.mjtJoint.mjJNT_FREE):
            base = model.body(model.jnt_bodyid[k]).name
            names[d : d + 6] = [f"{base} {suffix}" for suffix in BASE_SUFFIXES]
            X_WB = np.array(request["bases"].get(base, np.eye(4)))
            data.qpos[i : i + 3] = X_WB[:3, 3]
            mujoco.mju_mat2Quat(data.qpos[i + 3 : i + 7], X_WB[:3, :3].ravel())
            T[d : d + 6, d : d + 6] = 0.0  # (v_W, w_B) of (w_W, v_W)
            T[d : d + 3, d + 3 : d + 6] = np.eye(3)
            T[d + 3 : d + 6, d : d + 3] = X_WB[:3, :3].T
        else:
            names[d : d + 3] = [f"{name} {n}" for n in range(3)]
    q, v = data.qpos.copy(), data.qvel.copy()
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, M, data.qM) if _takes_three(mujoco) else mujoco.mj_fullM(model, data, M)
    with_gravity, accelerations = data.qfrc_bias.copy(), data.qacc.copy()
    bodies = [(k, model.body(k).name) for k in range(1, model.nbody)]
    poses = {name: _pose(data.xpos[k], data.xmat[k]) for k, name in bodies}
    gravity = model.opt.gravity.copy()
    model.opt.gravity[:] = 0.0
    mujoco.mj_forward(model, data)
    bias = data.qfrc_bias.copy()
    model.opt.gravity[:] = gravity
    limited = {name: k for name, k in single.items() if model.jnt_limited[k]}
    document = {
        "version": mujoco.__version__,
        "velocities": names,
        "M": T.T @ M @ T,
        "bias": T.T @ bias,
        "gravity_forces": T.T @ (bias - with_gravity),
        "accelerations": np.linalg.solve(T, accelerations),
        "poses": poses,
        "masses": {name: model.body_mass[k] for k, name in bodies},
        "coms": {name: model.body_ipos[k].copy() for k, name in bodies if model.body_mass[k]},
        "inertias": {name: _inertia(mujoco, model, k) for k, name in bodies if model.body_mass[k]},
        "limits": {
            name: list(model.jnt_range[k]) if name in limited else [-np.inf, np.inf] for name, k in single.items()
        },
    }
    if request["duration"] > 0.0:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = q, v
        for _ in range(max(1, round(request["duration"] / STEP))):
            mujoco.mj_step(model, data)
        document["final"] = {name: data.qpos[model.jnt_qposadr[k]] for name, k in single.items()}
    return document


def _of_urdf(mujoco: ModuleType, path: str) -> Any:
    return mujoco.MjSpec.from_string(without_shapes(path, options={"fusestatic": "false"}))


READERS = {"urdf": _of_urdf, "mjcf": lambda mujoco, path: mujoco.MjSpec.from_file(path)}


def _takes_three(mujoco: ModuleType) -> bool:
    """Whether mj_fullM() takes the matrix before the packed one, as up to version 3.4."""
    return "qM" in (mujoco.mj_fullM.__doc__ or "") or " M:" in (mujoco.mj_fullM.__doc__ or "")


def _pose(p: Vector3, R: Array) -> Matrix4:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.reshape(R, (3, 3)), p
    return X


def _inertia(mujoco: ModuleType, model: Any, k: int) -> list[float]:
    numbers = np.zeros(9)
    mujoco.mju_quat2Mat(numbers, model.body_iquat[k])
    R = numbers.reshape(3, 3)
    I = R @ np.diag(model.body_inertia[k]) @ R.T
    return [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
