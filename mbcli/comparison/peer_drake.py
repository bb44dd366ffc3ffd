"""What is compared, of pydrake. It runs in a process of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

BASE_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")


def evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """The document of a model file at a state; see own_engine.py."""
    import pydrake
    from pydrake.math import RigidTransform
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import BodyIndex
    from pydrake.systems.analysis import Simulator

    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for name, folder in request["packages"].items():
        parser.package_map().Add(name, folder)
    parser.package_map().PopulateFromFolder(os.path.dirname(request["path"]))
    parser.AddModels(request["path"])
    held = {plant.get_joint(k).child_body().name() for k in plant.GetJointIndices()}
    for name, X_WB in request["welded"].items():
        if name not in held:
            body = plant.GetBodyByName(name)
            plant.WeldFrames(plant.world_frame(), body.body_frame(), RigidTransform(_array(X_WB)))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    if plant.num_actuators():
        plant.get_actuation_input_port().FixValue(context, np.zeros(plant.num_actuated_dofs()))
    names = [""] * plant.num_velocities()
    joints = []
    for k in plant.GetJointIndices():
        joint = plant.get_joint(k)
        start, count = joint.velocity_start(), joint.num_velocities()
        if count == 1:
            names[start] = joint.name()
            joints.append(joint)
            if joint.name() in request["q"]:
                _set(
                    plant.GetPositions, plant.SetPositions, context, joint.position_start(), request["q"][joint.name()]
                )
                _set(plant.GetVelocities, plant.SetVelocities, context, start, request["v"][joint.name()])
        elif count == 6:
            base = joint.child_body()
            names[start : start + 6] = [f"{base.name()} {suffix}" for suffix in BASE_SUFFIXES]
            if base.name() in request["bases"]:
                plant.SetFreeBodyPose(context, base, RigidTransform(_array(request["bases"][base.name()])))
        else:
            names[start : start + count] = [f"{joint.name()} {joint.velocity_suffix(k)}" for k in range(count)]
    bodies = [plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())]
    document = {
        "version": pydrake.__version__ if hasattr(pydrake, "__version__") else "",
        "velocities": names,
        "M": plant.CalcMassMatrix(context),
        "bias": plant.CalcBiasTerm(context),
        "gravity_forces": plant.CalcGravityGeneralizedForces(context),
        "accelerations": plant.EvalTimeDerivatives(context).get_generalized_velocity().CopyToVector(),
        "poses": {b.name(): plant.EvalBodyPoseInWorld(context, b).GetAsMatrix4() for b in bodies},
        "masses": {b.name(): b.default_mass() for b in bodies},
        "coms": {b.name(): b.default_com() for b in bodies if b.default_mass()},
        "inertias": {b.name(): _central(b) for b in bodies if b.default_mass()},
        "limits": {j.name(): [j.position_lower_limits()[0], j.position_upper_limits()[0]] for j in joints},
    }
    if request["duration"] > 0.0:
        simulator = Simulator(plant, context)
        simulator.get_mutable_integrator().set_target_accuracy(1e-8)
        simulator.AdvanceTo(request["duration"])
        document["final"] = {joint.name(): plant.GetPositions(context)[joint.position_start()] for joint in joints}
    return document


def _array(numbers: list[list[float]]) -> Any:
    """For pydrake, whose stubs name no type that an array has."""
    return np.array(numbers)


def _set(get: Callable[..., Any], put: Callable[..., Any], context: Any, k: int, value: float) -> None:
    values = get(context)
    values[k] = value
    put(context, values)


def _central(body: Any) -> list[float]:
    M = body.default_spatial_inertia()
    com = M.get_com()
    I = M.CalcRotationalInertia().CopyToFullMatrix3() - M.get_mass() * (com @ com * np.eye(3) - np.outer(com, com))
    return [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
