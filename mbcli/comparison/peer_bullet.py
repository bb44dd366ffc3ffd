"""What is compared, of pybullet: fixed bases alone have a mass matrix there. It runs in a process of its own."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.left_behind import folder_prefix
from mbcli.comparison.shapeless_urdf import without_shapes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from mbcli.math.array_types import Matrix4

STEP = 1e-3  # [s]


def evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """The document of a model file at a state; see own_engine.py."""
    import pybullet as p

    p.connect(p.DIRECT)
    p.setGravity(*request["gravity"])
    p.setTimeStep(STEP)
    fixed = not request["bases"]
    with tempfile.TemporaryDirectory(prefix=folder_prefix("peer")) as folder:
        path = os.path.join(folder, "model.urdf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(without_shapes(request["path"]))
        robot = p.loadURDF(path, useFixedBase=fixed, flags=p.URDF_USE_INERTIA_FROM_FILE)
    count = p.getNumJoints(robot)
    info = [p.getJointInfo(robot, k) for k in range(count)]
    moving = [k for k in range(count) if info[k][2] in (p.JOINT_REVOLUTE, p.JOINT_PRISMATIC)]
    names = [info[k][1].decode() for k in moving]
    q = [request["q"].get(name, 0.0) for name in names]
    v = [request["v"].get(name, 0.0) for name in names]
    for k in range(-1, count):
        p.changeDynamics(robot, k, linearDamping=0.0, angularDamping=0.0)
        p.setCollisionFilterGroupMask(robot, k, 0, 0)
    for k, position, velocity in zip(moving, q, v, strict=True):
        p.resetJointState(robot, k, position, velocity)
        p.setJointMotorControl2(robot, k, p.VELOCITY_CONTROL, force=0.0)
    document = {
        "version": str(p.getAPIVersion()),
        "velocities": names,
        "masses": {info[k][12].decode(): p.getDynamicsInfo(robot, k)[0] for k in range(count)},
        "limits": {info[k][1].decode(): [info[k][8], info[k][9]] for k in moving if info[k][8] <= info[k][9]},
    }
    if fixed:
        links = [(k, p.getLinkState(robot, k, computeForwardKinematics=True)) for k in range(count)]
        document["poses"] = {info[k][12].decode(): _pose(p, state[4], state[5]) for k, state in links}
        if names:
            zero = [0.0] * len(names)
            M = np.array(p.calculateMassMatrix(robot, q))
            whole = np.array(p.calculateInverseDynamics(robot, q, v, zero))
            gravity = np.array(p.calculateInverseDynamics(robot, q, zero, zero))
            document |= {"M": M, "bias": whole - gravity, "gravity_forces": -gravity}
            document["accelerations"] = np.linalg.solve(M, -whole)
            if request["duration"] > 0.0:
                for _ in range(max(1, round(request["duration"] / STEP))):
                    p.stepSimulation()
                states = (p.getJointState(robot, k)[0] for k in moving)
                document["final"] = dict(zip(names, states, strict=True))
    p.disconnect()
    return document


def _pose(p: ModuleType, position: Sequence[float], quaternion: Sequence[float]) -> Matrix4:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.reshape(p.getMatrixFromQuaternion(quaternion), (3, 3)), position
    return X
