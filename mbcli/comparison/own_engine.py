"""What is compared between engines, of this one: a document of numbers by the names of bodies and joints.

velocities  names: `NAME wx` to `NAME vz` of a floating base NAME (in World), joints of one degree of freedom
M, bias, gravity_forces, accelerations   in the order of these names
poses {body: X_WB (4, 4)}, masses, coms, inertias {body: about the centre of mass, in B: xx, yy, zz, xy, xz, yz}
limits {joint: [lower, upper]}, final {joint: position after the duration}
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbcli.models.element_parameters import BODY
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree.joint_kinds import has_quaternion

BASE_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
STEP = 1e-3  # [s] between samples


def velocity_names(plant: Any) -> list[str]:
    """The names of velocities in engines' documents, in the order of the plant."""
    names = [""] * plant.num_velocities()
    for joint in plant.moving_joints():
        start, count = joint.velocity_start(), joint.num_velocities()
        if count == 1:
            names[start] = joint.name()
        elif count == 6 and has_quaternion(joint):
            names[start : start + 6] = [f"{joint.child_body().name()} {suffix}" for suffix in BASE_SUFFIXES]
        else:
            names[start : start + count] = [f"{joint.name()} {joint.velocity_suffix(k)}" for k in range(count)]
    return names


def evaluate_own(plant: Any, q: np.ndarray, v: np.ndarray, duration: float) -> dict[str, Any]:
    """The document of a finalized plant without contact at a state."""
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    M, bias = plant.CalcMassMatrix(context), plant.CalcBiasTerm(context)
    bodies = plant.elements.bodies[1:]
    joints = [joint for joint in plant.moving_joints() if joint.num_velocities() == 1]
    document = {
        "velocities": velocity_names(plant),
        "M": M,
        "bias": bias,
        "gravity_forces": plant.CalcGravityGeneralizedForces(context),
        "accelerations": plant.CalcForwardDynamics(context),
        "poses": {body.name(): body.EvalPoseInWorld(context).GetAsMatrix4() for body in bodies},
        "masses": {body.name(): body.default_mass() for body in bodies},
        "coms": {body.name(): body.default_com() for body in bodies if body.default_mass()},
        "inertias": {body.name(): BODY["inertia"].read(body) for body in bodies if body.default_mass()},
        "limits": {j.name(): [j.position_lower_limits()[0], j.position_upper_limits()[0]] for j in joints},
    }
    if duration > 0.0:
        run = Run(plant, context, duration)
        for _ in run.blocks():
            pass
        end = plant.GetPositions(context)
        document["final"] = {joint.name(): end[joint.position_start()] for joint in joints}
    return document
