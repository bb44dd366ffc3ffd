"""Finalize(): from elements to a forest and to the arrays of the engine."""

from __future__ import annotations

import warnings
from math import inf
from typing import TYPE_CHECKING, Any

from mbcli.common.collection_pause import paused_collection
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import counted
from mbcli.common.topology import CUT_EARLY, CUT_FIRST, CUT_LAST, CUT_LATE, forest_by_loss
from mbcli.math import RigidTransform
from mbcli.multibody.compilation.compile_model import MobilizedJoint, StepActions, compile_model
from mbcli.multibody.compilation.cut_joints import dropped_by_loop_cut_at, has_limits
from mbcli.multibody.core.constraints import num_tendon_constraints, refuse_constraints_at
from mbcli.multibody.core.contact import meets_contact
from mbcli.multibody.core.coordinates import GetDefaultPositions, moving_joints
from mbcli.multibody.core.elements import register, unregister
from mbcli.multibody.core.force_elements import compiled_force_elements
from mbcli.multibody.core.geometry import compiled_geometries, declare_collision_filters, geometry_revision
from mbcli.multibody.core.inputs import controllers_of_steps, steps_with_controllers
from mbcli.multibody.core.kinematics import CalcRelativeTransform
from mbcli.multibody.core.lookup import GetModelInstanceName, is_taken, world_frame
from mbcli.multibody.core.plant_settings import BaseBodyJointType
from mbcli.multibody.core.settings import GetBaseBodyJointType
from mbcli.multibody.core.transmissions import complete_laws
from mbcli.multibody.scalars import EXPRESSION, FLOAT
from mbcli.multibody.state.context import Context
from mbcli.multibody.state.parameters import DEFAULTS
from mbcli.multibody.tree.constraints import BallConstraint, LoopConstraint
from mbcli.multibody.tree.index import JointIndex
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.scalars import Scalar
    from mbcli.multibody.state.parameters import Parameters
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator, PdControllerGains
    from mbcli.multibody.tree.rigid_body import RigidBody


@paused_collection()
def Finalize(plant: PlantData) -> None:
    """Ends construction: bodies without a way to World get floating joints, coordinates get their places.

    Raises:
      RuntimeError: it was called before; constraints, transmissions or deformable bodies do not fit the joints.

    Example:
      >>> box = MultibodyPlant(0.0)
      >>> body = box.AddRigidBody("box", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> box.Finalize()
      >>> box.num_positions(), box.num_velocities()
      (7, 6)
    """
    plant.require_not_finalized("Finalize")
    if plant.settings.sleep_tolerance > 0.0 and plant.elements.deformable_bodies:
        raise RuntimeError("Finalize: a plant with deformable bodies has no islands that sleep: set no tolerance")
    forest, loops = find_forest(plant)
    loop_joints = [plant.elements.joints[k] for k in loops]
    refuse_constraints_at(plant, loop_joints)
    plant.elements.loop_joints = loop_joints
    plant.free_joints = {}
    mobilized = []
    for mobod in forest:
        if mobod.joint is None:
            joint = _add_base_joint(plant, plant.elements.bodies[mobod.link])
        else:
            joint = plant.elements.joints[mobod.joint]
        if joint.num_velocities() == 6 and not mobod.reversed:
            plant.free_joints[mobod.link] = joint
        mobilized.append(MobilizedJoint(joint, mobod.inboard, mobod.link, mobod.reversed))
    plant.dropped_by_loop_cut = dropped_by_loop_cut_at(plant.whole_plant(), loop_joints)
    for line in [*plant.dropped_by_loop_cut, *unused_properties(plant)]:
        warnings.warn(str(line), stacklevel=3)
    refuse_transmissions_at(plant, loop_joints)
    for actuator in [a for a in plant.elements.actuators if loop_joints and a.joint() in loop_joints]:
        unregister(plant, actuator, plant.elements.actuators)  # the joint has no coordinate to drive
    plant.mobilized_joints = mobilized
    plant.model = compiled_model(plant, DEFAULTS)
    for start, actuator in enumerate(plant.elements.actuators):
        actuator.first_input = start
    for start, driver in enumerate(plant.elements.transmission_actuators, len(plant.elements.actuators)):
        driver.first_input = start
    for n, free_joint in plant.free_joints.items():
        if free_joint.made_at_finalize and n in plant.default_free_poses:
            free_joint.SetDefaultPose(plant.default_free_poses[n])
    _complete_constraints(plant)
    if (plant.elements.transmission_actuators or plant.elements.tendon_springs) and complete_laws(plant):
        renew_model(plant)
    if plant.settings.has_soft_limits() and plant.is_discrete() and plant.scalar is FLOAT:
        from mbcli.multibody.compilation.mujoco_softness import mobility_at_defaults  # late: few plants have it

        plant.mobility = mobility_at_defaults(plant)
        renew_model(plant)
    for field in plant.deformables.added_forces if plant.deformables is not None else ():
        field.DoDeclareCacheEntries(plant)
        field.DoDeclareInputPorts(plant)
    if plant.scalar is not FLOAT:
        from mbcli.multibody.core.scalar_classes import give_elements_their_scalar  # late: most plants are of floats

        give_elements_their_scalar(plant)
    _name_sensors(plant)
    declare_collision_filters(plant)
    if num_tendon_constraints(plant) and _solves_problems(plant):
        from mbcli.multibody.compilation.constraint_rows import require_two_trees  # late: few plants have some

        require_two_trees(plant)


def refuse_transmissions_at(plant: PlantData, loop_joints: list[Joint]) -> None:
    """RuntimeError for an actuator whose length needs the coordinate of a joint that closes a loop."""
    for actuator in plant.elements.transmission_actuators:
        for joint in () if actuator.transmission().path else actuator.transmission().joints:
            if joint in loop_joints:
                raise RuntimeError(
                    f"actuator '{actuator.name()}': joint '{joint.name()}' closes a loop, it has no coordinate"
                )


def _name_sensors(plant: PlantData):
    """Gives each sensor its place in logs."""
    elements = plant.elements
    gone = [s for s in elements.sensors if s.actuator is not None and s.actuator not in elements.actuators]
    for sensor in gone:  # of an actuator that closes a loop
        elements.sensors.remove(sensor)
    if elements.sensors:
        from mbcli.multibody.tree.sensor import log_paths  # late: few plants have some

        paths = log_paths(elements.sensors, lambda sensor: GetModelInstanceName(plant, sensor.model_instance()))
        for sensor, path in zip(elements.sensors, paths, strict=True):
            sensor.path = path


def _complete_constraints(plant: PlantData) -> None:
    """Adds joints that close loops; finds the points that ball constraints leave to the default positions."""
    plant.elements.constraints += [LoopConstraint(joint) for joint in plant.elements.loop_joints]
    unknown = [c for c in plant.elements.constraints if isinstance(c, BallConstraint) and c.p_BQ is None]
    if unknown:
        context = Context(plant.whole_plant(), compiled=False)
        context.state.set_q(GetDefaultPositions(plant))
        for c in unknown:
            X_BA = CalcRelativeTransform(plant, context, c.body_B.body_frame(), c.body_A.body_frame())
            c.complete([plant.scalar.real(x) for x in X_BA.multiply(c.p_AP)])
    plant.known_default_constraints = None


def constraints_by_default(plant: PlantData, model: Any, parameters: Parameters, compiled: Callable[[], Any]) -> Any:
    """What compiled() makes of the constraints, once for all contexts that have the plant's own parameters."""
    if model is not plant.model or parameters.values:
        return compiled()
    if plant.known_default_constraints is None or plant.known_default_constraints[0] is not model:
        plant.known_default_constraints = model, compiled()
    return plant.known_default_constraints[1]


def _solves_problems(plant: PlantData, parameters: Parameters = DEFAULTS) -> bool:
    """Whether steps are contact problems: if bodies can touch, or a constraint is not an equation."""
    return plant.is_discrete() and (not _has_equations_only(plant, parameters) or meets_contact(plant))


def _has_equations_only(plant: PlantData, parameters: Parameters) -> bool:
    if not plant.elements.constraints:
        return True
    from mbcli.multibody.compilation.constraint_rows import are_equations

    return are_equations(plant, parameters)


def compiled_model(plant: PlantData, parameters: Parameters, scalar: Scalar | None = None) -> Any:
    """The arrays of the plant for the given parameter values, of a Scalar; default: the plant's own."""
    scalar = scalar or plant.scalar
    model = compile_model(
        plant.elements.bodies,
        plant.elements.frames,
        plant.mobilized_joints,
        plant.elements.actuators,
        plant.elements.transmission_actuators,
        plant.elements.tendon_springs,
        compiled_force_elements(plant),
        plant.gravity.gravity_vector(),
        plant.gravity.acts_on,
        parameters,
        StepActions(
            controllers=controllers_of_steps(plant),
            implicit_transmissions=bool(plant.elements.transmission_actuators)
            and scalar is FLOAT
            and steps_with_controllers(plant),
            limits=plant.is_discrete(),
            friction=plant.is_discrete() and plant.settings.joint_dry_friction and scalar is not EXPRESSION,
            in_middle=plant.is_discrete() and plant.settings.step_scheme == "midpoint",
            stops=plant.position_stops,
            speeds=plant.velocity_limits,
            mobility=plant.mobility,
        ),
        scalar.dtype,
    )
    return scalar.convert_model(model)


def replace_controllers(plant: PlantData, gains: Mapping[JointActuator, PdControllerGains]) -> None:
    """Other gains for actuators of a finalized plant, of which some may have none then.

    They hold in contexts that are made from now on; earlier ones have arrays for other controllers.
    """
    plant.require_finalized("replace_controllers")
    for actuator, its_gains in gains.items():
        actuator.replace_gains(its_gains)
    renew_model_and_geometries(plant)
    plant.mixes_controllers = True


def renew_model_and_geometries(plant: PlantData) -> None:
    """As renew_model(), where nothing of what the geometries are compiled from has changed."""
    geometries = None if plant.scene_graph is None else compiled_geometries(plant)
    renew_model(plant)
    if geometries is not None:
        plant.known_geometries = geometry_revision(plant), plant.model, geometries


def renew_model(plant: PlantData) -> None:
    """Makes the arrays anew after defaults of elements were replaced, for contexts that are made from now on."""
    plant.require_finalized("renew_model")
    plant.model = compiled_model(plant, DEFAULTS)


def find_forest(plant: PlantData) -> Any:
    """The spanning forest of the joints as they are now: mobods and the indices of joints that close loops."""
    joints = plant.elements.joints
    ends = [(joint.parent_body().index_number, joint.child_body().index_number) for joint in joints]
    return forest_by_loss(len(plant.elements.bodies), ends, lambda: map(_cuts(plant), joints))


def _cuts(plant: PlantData) -> Callable[[Joint], int]:
    """joint -> what it would lose as the joint that closes a loop."""
    if plant.is_finalized():  # what was left out is gone, the choice stays
        return lambda joint: CUT_FIRST if joint in plant.elements.loop_joints else CUT_LAST
    elements = plant.elements
    springs = {e.joint() for e in elements.force_elements if isinstance(e, JointSpring)}
    others = [e for e in elements.force_elements if not isinstance(e, JointSpring)]
    needed = {a.joint() for a in elements.actuators} | {j for c in elements.constraints for j in c.joints()}
    needed |= {part for e in others for part in e.tied_elements()}
    needed |= {part for a in (*elements.transmission_actuators, *elements.tendon_springs) for part in a.tied_elements()}

    def cut(joint: Joint) -> int:
        if joint in needed or joint.num_velocities() == 6 or joint.held_rows is None:
            return CUT_LAST
        if has_limits(joint) or any(joint.dry_friction):
            return CUT_LATE
        return CUT_EARLY if joint in springs or any(joint.default_damping_vector()) else CUT_FIRST

    return cut


def unused_properties(plant: PlantData) -> list[str]:
    """What the plant does not do that a plant of the other kind does, as lines."""
    if plant.is_discrete():
        soft = [joint.name() for joint in moving_joints(plant) if joint.stop_law is not None and has_limits(joint)]
        joints = counted(len(soft), "joint")
        return [f"steps have rigid stops, without the stiffness of limits of {joints}: {listed(soft)}"] if soft else []
    limited = [joint.name() for joint in moving_joints(plant) if has_limits(joint) and joint.turn_limit == inf]
    turned = [joint.name() for joint in moving_joints(plant) if joint.turn_limit < inf]
    rough = [joint.name() for joint in moving_joints(plant) if any(joint.dry_friction)]
    lines = []
    if limited and not plant.position_stops:
        lines.append(
            f"a continuous plant does not enforce the position limits of {counted(len(limited), 'joint')}: "
            f"{listed(limited)}"
        )
    if turned:
        joints = counted(len(turned), "ball joint")
        lines.append(f"a continuous plant does not enforce the range of {joints}: {listed(turned)}")
    if rough and plant.settings.joint_dry_friction:
        joints = counted(len(rough), "joint")
        lines.append(f"a continuous plant does not use the dry friction of {joints}: {listed(rough)}")
    return lines


def _add_base_joint(plant: PlantData, body: RigidBody) -> Joint:
    from mbcli.multibody.tree.joints import QuaternionFloatingJoint, RpyFloatingJoint, WeldJoint

    instance = body.model_instance()
    name = body.name()
    while is_taken(plant, JointIndex, name, instance):
        name = "_" + name
    world, frame = world_frame(plant), body.body_frame()
    joint: Joint
    match GetBaseBodyJointType(plant, instance):
        case BaseBodyJointType.kWeldJoint:
            joint = WeldJoint(name, world, frame, RigidTransform())
        case BaseBodyJointType.kRpyFloatingJoint:
            joint = RpyFloatingJoint(name, world, frame)
        case BaseBodyJointType.kQuaternionFloatingJoint:
            joint = QuaternionFloatingJoint(name, world, frame)
    joint.made_at_finalize = True
    return register(plant, joint, plant.elements.joints, JointIndex, instance)
