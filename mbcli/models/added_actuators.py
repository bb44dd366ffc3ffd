"""Actuators for the joints that a run holds or drives, or to which somebody gives actuators of one kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import NamedCoordinates
from mbcli.errors import ArgumentError
from mbcli.models.mechanisms import mechanisms
from mbcli.models.servo_gains import DRIVE_RATE, gains, joint_inertias
from mbcli.multibody.core.finalize import replace_controllers
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import Joint, JointActuator, PdControllerGains
from mbcli.multibody.tree.constraints import CouplerConstraint
from mbcli.multibody.tree.joint_kinds import slides_along_axis
from mbcli.parsers.spec import ServoControl


def add_actuators(
    plant: MultibodyPlant,
    all_joints: bool,
    driven: Iterable[str],
    efforts: Mapping[tuple[str, str], float],
    passive_hinges: bool = True,
) -> list[str]:
    """Gives joints of one velocity in a plant that is not finalized an actuator if they have none.

    Followers of a coupler and joints that close a loop get none. Neither do, of a mechanism with actuators of its own,
    the joints without one and without an effort limit that carry it in World: the slides and hinges of a planar robot
    are its floating base.

    Args:
        all_joints: whether all joints get one; else the driven ones do.
        driven: names of joints, of which the end will do.
        passive_hinges: whether a hinge that carries an actuated mechanism stays without one even if no slide is there.
        efforts: {(model instance, joint): [N m or N]} of files, the effort limits of the actuators; 0 and inf: none.

    Returns the names of their joints. Raises ArgumentError for a driven joint that is not there.
    """
    moved, limits = movable_joints(plant), effort_limits(plant, efforts)
    wanted = set(driven_joints(plant, driven))
    if all_joints:
        carrying = _carrying_joints(plant)
        if passive_hinges or any(slides_along_axis(joint) for joint in carrying):
            wanted |= set(moved) - (carrying - limits.keys())
        else:
            wanted |= set(moved)
    has_actuator = {actuator.joint() for actuator in plant.elements.actuators}
    added = [joint for joint in moved if joint in wanted and joint not in has_actuator]
    add_to(plant, added, limits)
    return [joint.name() for joint in added]


def effort_limits(plant: MultibodyPlant, efforts: Mapping[tuple[str, str], float]) -> dict[Joint, float]:
    """{joint: [N m or N]} of the joints of one velocity whose file limits their effort, see add_actuators()."""
    limits = {}
    for joint in movable_joints(plant):
        effort = efforts.get((plant.GetModelInstanceName(joint.model_instance()), joint.name()), 0.0)
        if 0.0 < effort < np.inf:
            limits[joint] = effort
    return limits


def add_to(plant: MultibodyPlant, joints: Iterable[Joint], limits: Mapping[Joint, float]) -> list[JointActuator]:
    """The new actuator of each of these joints, with its effort limit."""
    return [plant.AddJointActuator(_new_name(plant, joint), joint, limits.get(joint, np.inf)) for joint in joints]


def leave_out_actuators(plant: MultibodyPlant) -> None:
    """Takes all actuators from a plant that is not finalized."""
    for actuator in list(plant.elements.actuators):
        plant.RemoveJointActuator(actuator)
    plant.elements.transmission_actuators.clear()


def make(
    plant: MultibodyPlant, kinds: Mapping[JointActuator, str], kp: float | None = None, kd: float | None = None
) -> None:
    """Makes actuators on joints of a finalized plant motors, or servos that aim at default positions or at rest.

    Args:
        kinds: of each actuator: "motor", whose input is an effort; "position" or "velocity", whose input is the aim in
            a run.
        kp, kd: gains of servos [N m/rad, N m s/rad, or N/m, N s/m]; None: from the masses, see servo_gains.py.
    """
    default, inertia = plant.GetDefaultPositions(), joint_inertias(plant, plant.GetDefaultPositions())
    replaced = {}
    for actuator, kind in kinds.items():
        joint, actuator.rest, actuator.control = actuator.joint(), None, None
        sharing = sum(other.joint() is joint for other in plant.elements.actuators)
        moved, at = float(inertia[joint.velocity_start()]), joint.position_start()
        if kind == "position":
            p, d = gains(moved, sharing * actuator.effort_limit(), kp, kd)
            limits = float(plant.GetPositionLowerLimits()[at]), float(plant.GetPositionUpperLimits()[at])
            actuator.control = ServoControl(p / sharing, float(default[at]), limits)
        elif kind == "velocity":
            p, d = 0.0, DRIVE_RATE * moved if kd is None else kd
            most = float(plant.GetVelocityUpperLimits()[joint.velocity_start()])
            actuator.control = ServoControl(d / sharing, 0.0, (-most, most))
        else:
            p = d = 0.0
        replaced[actuator] = PdControllerGains(p=p / sharing, d=d / sharing)
    replace_controllers(plant, replaced)


def driven_joints(plant: MultibodyPlant, names: Iterable[str]) -> list[Joint]:
    """The joints that names, or the ends of names, mean. ArgumentError if there is none, or several."""
    joints = movable_joints(plant)
    # one velocity each, so that a joint's name is the name of its velocity without the last part
    whole = [f"{plant.GetModelInstanceName(joint.model_instance())}_{joint.name()}_v" for joint in joints]
    known = NamedCoordinates(whole, "joint that can be driven")
    found: dict[Joint, str] = {}
    for name in names:
        try:
            joint = joints[known.find(name)]
        except LookupError as error:
            raise ArgumentError(f"{argument('drive')}: {error.args[0]}") from None
        if joint in found:
            raise ArgumentError(f"{argument('drive')}: '{found[joint]}' and '{name}' mean the same joint")
        found[joint] = name
    return list(found)


def movable_joints(plant: MultibodyPlant) -> list[Joint]:
    """Joints of one velocity that have a place in the forest and follow no other joint."""
    forest = plant.forest()[0]
    joints = [plant.elements.joints[mobod.joint] for mobod in forest if mobod.joint is not None]
    followers = {c.joint0 for c in plant.elements.constraints if isinstance(c, CouplerConstraint)}
    return [joint for joint in joints if joint.num_velocities() == 1 and joint not in followers]


def _carrying_joints(plant: MultibodyPlant) -> set[Joint]:
    """Joints without actuators between World and the first actuated ones, of mechanisms that have actuators."""
    number = mechanisms(plant)
    actuated = {actuator.joint() for actuator in plant.elements.actuators}
    with_actuators = {number[int(joint.child_body().index())] for joint in actuated}
    at_world, carrying = {0}, set()
    for mobod in plant.forest()[0]:
        if mobod.joint is None or mobod.inboard not in at_world:
            continue
        joint = plant.elements.joints[mobod.joint]
        if joint not in actuated and number[mobod.link] in with_actuators:
            at_world.add(mobod.link)
            carrying.add(joint)
    return carrying


def _new_name(plant: MultibodyPlant, joint: Joint) -> str:
    """The joint's name if no actuator of the model instance has it, else a longer one."""
    instance = joint.model_instance()
    name, taken = joint.name(), {a.name() for a in plant.elements.actuators if a.model_instance() == instance}
    while name in taken:
        name = "_" + name
    return name
