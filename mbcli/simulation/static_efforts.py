"""The efforts that held and driven joints need against gravity, springs and damping, before anything is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.models.mechanisms import mechanisms
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.constraints import CouplerConstraint
from mbcli.multibody.tree.multibody_forces import MultibodyForces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.held_joint import Held


def static_efforts(plant: MultibodyPlant, q: Vector, held: Mapping[JointActuator, Held]) -> dict[JointActuator, float]:
    """{actuator: effort [N m or N]} that keeps the posture q (nq,) with the velocities of driven joints.

    0 of controllers that feed nothing forward, in what floats freely, and where a constraint other than a coupler holds
    bodies together: there the load depends on contact, or efforts have several solutions.
    """
    context = Context(plant, compiled=False)
    positions, v = np.array(q, dtype=float), np.zeros(plant.num_velocities())
    for actuator, each in held.items():
        joint = actuator.joint()
        v[joint.velocity_start()] = each.velocity
        if each.p > 0.0:
            positions[joint.position_start()] = each.position
    plant.SetPositions(context, positions)
    plant.SetVelocities(context, v)
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    tau = plant.CalcInverseDynamics(context, np.zeros(plant.num_velocities()), forces)
    couplers = [c for c in plant.elements.constraints if isinstance(c, CouplerConstraint)]
    for coupler in couplers:
        tau[coupler.joint1.velocity_start()] += coupler.gear_ratio * tau[coupler.joint0.velocity_start()]
    number = mechanisms(plant)
    loose = {int(number[n]) for n in plant.free_joints}
    if len(couplers) < len(plant.elements.constraints):
        loose |= {int(n) for n in number}
    sharing = [actuator.joint() for actuator in held]
    result = {}
    for actuator in held:
        joint = actuator.joint()
        known = held[actuator].rate > 0.0 and int(number[int(joint.child_body().index())]) not in loose
        effort = float(tau[joint.velocity_start()]) / sharing.count(joint) if known else 0.0
        limit = actuator.effort_limit()
        result[actuator] = float(np.clip(effort, -limit, limit)) if np.isfinite(effort) else 0.0
    return result
