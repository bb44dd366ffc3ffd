"""What is compared, of Pinocchio, which has no simulation: its forward dynamics is integrated by Runge-Kutta's method.

It runs in a process of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from mbcli.math.array_types import Vector

BASE_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
STEP = 1e-3  # [s]


def evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """The document of a model file at a state; see own_engine.py."""
    import pinocchio as pin

    floating = list(request["bases"].items())
    if len(floating) > 1:
        raise ValueError("Pinocchio has one floating base")
    model = READERS[request["format"]](pin, request["path"], bool(floating))
    X_W0 = np.array(next(iter(request["welded"].values()))) if len(request["welded"]) == 1 else np.eye(4)
    if not floating:
        model.gravity.linear = X_W0[:3, :3].T @ np.array(request["gravity"])
    else:
        model.gravity.linear = np.array(request["gravity"])
        X_W0 = np.eye(4)
    data = model.createData()
    q, v = pin.neutral(model), np.zeros(model.nv)
    names, T = [""] * model.nv, np.eye(model.nv)
    single = {}
    for k in range(1, model.njoints):
        name, joint = model.names[k], model.joints[k]
        if joint.nv == 1:
            names[joint.idx_v] = name
            single[name] = joint
            if name in request["q"]:
                angle = request["q"][name]
                q[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
                v[joint.idx_v] = request["v"][name]
        elif joint.nv == 6 and floating:
            base, X_WB = floating[0][0], np.array(floating[0][1])
            i, d = joint.idx_q, joint.idx_v
            q[i : i + 7] = pin.SE3ToXYZQUAT(pin.SE3(X_WB))
            names[d : d + 6] = [f"{base} {suffix}" for suffix in BASE_SUFFIXES]
            T[d : d + 6, d : d + 6] = 0.0  # (v_B, w_B) of (w_W, v_W)
            T[d : d + 3, d + 3 : d + 6] = T[d + 3 : d + 6, d : d + 3] = X_WB[:3, :3].T
        else:
            names[joint.idx_v : joint.idx_v + joint.nv] = [f"{name} {n}" for n in range(joint.nv)]
    M = np.array(pin.crba(model, data, q))
    M = np.triu(M) + np.triu(M, 1).T
    gravity = np.array(pin.computeGeneralizedGravity(model, data, q))
    bias = np.array(pin.nonLinearEffects(model, data, q, v)) - gravity
    zero = np.zeros(model.nv)
    accelerations = np.array(pin.aba(model, data, q, v, zero))
    pin.framesForwardKinematics(model, data, q)
    frames = [(k, f) for k, f in enumerate(model.frames) if f.type == pin.FrameType.BODY and f.name != "universe"]
    document = {
        "version": pin.__version__,
        "velocities": names,
        "M": T.T @ M @ T,
        "bias": T.T @ bias,
        "gravity_forces": -T.T @ gravity,
        "accelerations": np.linalg.solve(T, accelerations),
        "poses": {frame.name: X_W0 @ data.oMf[k].homogeneous for k, frame in frames},
        "total_mass": float(sum(inertia.mass for inertia in model.inertias)),
        "limits": {
            name: [model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]]
            for name, joint in single.items()
            if joint.nq == 1
        },
    }
    if request["duration"] > 0.0:
        end = _simulate(pin, model, data, q, v, request["duration"])
        document["final"] = {
            name: end[joint.idx_q] if joint.nq == 1 else np.arctan2(end[joint.idx_q + 1], end[joint.idx_q])
            for name, joint in single.items()
        }
    return document


def _of_urdf(pin: ModuleType, path: str, floats: bool) -> Any:
    return pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if floats else []))


READERS = {"urdf": _of_urdf, "mjcf": lambda pin, path, floats: pin.buildModelFromMJCF(path)}


def _simulate(pin: ModuleType, model: Any, data: Any, q: Vector, v: Vector, duration: float) -> Vector:
    """q at the end."""
    zero = np.zeros(model.nv)
    count = max(1, round(duration / STEP))
    h = duration / count

    def acceleration(q: Vector, v: Vector) -> Vector:
        return np.array(pin.aba(model, data, q, v, zero))

    for _ in range(count):
        a1 = acceleration(q, v)
        v2 = v + 0.5 * h * a1
        a2 = acceleration(pin.integrate(model, q, 0.5 * h * v), v2)
        v3 = v + 0.5 * h * a2
        a3 = acceleration(pin.integrate(model, q, 0.5 * h * v2), v3)
        v4 = v + h * a3
        a4 = acceleration(pin.integrate(model, q, h * v3), v4)
        q = pin.integrate(model, q, h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
        v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return q
