"""From a ModelSpec to a plant: the only place that does this, whatever the file's format."""

import numpy as np

from mbcli.errors import ModelError
from mbcli.math import RigidTransform
from mbcli.multibody.parsing.add_constraints import add_constraint, add_force_element, add_mimics
from mbcli.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    PdControllerGains,
    PlanarJoint,
    PrismaticJoint,
    PrismaticSpring,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RevoluteSpring,
    RotationalInertia,
    RpyFloatingJoint,
    ScrewJoint,
    SpatialInertia,
    UnitInertia,
    UniversalJoint,
    WeldJoint,
)


def add_model(plant, spec, instance_name):
    """Adds one model as a model instance of the given name; returns its index."""
    instance = plant.AddModelInstance(instance_name)
    if spec.gravity is not None:
        plant.mutable_gravity_field().set_gravity_vector(spec.gravity)
    bodies = {"world": plant.world_body()}
    links = [link for link in spec.links if link.name != "world"]  # a link named so only carries geometry of World
    for link in links:
        bodies[link.name] = _add_body(plant, link, instance)
    if spec.X_LinkModel is not None:
        link, X_LinkModel = spec.X_LinkModel
        plant.AddFrame(FixedOffsetFrame("__model__", bodies[link].body_frame(), _pose(X_LinkModel), instance))
    frames = {name: body.body_frame() for name, body in bodies.items()}
    joints = {}
    for joint in spec.joints:
        joints[joint.name] = _add_joint(plant, joint, bodies, instance, keep=spec.format == "urdf")
        joints[joint.name]._place = joint.place
    for frame in spec.frames:
        added = FixedOffsetFrame(frame.name, bodies[frame.link].body_frame(), _pose(frame.X_LF), instance)
        frames[frame.name] = plant.AddFrame(added)
        added._place = frame.place
    for actuator in spec.actuators:
        _add_actuator(plant, actuator, joints)
    add_mimics(plant, spec.joints, joints)
    for element in spec.force_elements:
        add_force_element(plant, element, bodies, frames)
    for constraint in spec.constraints:
        add_constraint(plant, constraint, bodies, joints)
    for link in links:
        plant.SetDefaultFreeBodyPose(bodies[link.name], _pose(spec.X_WModel @ link.X_ModelL))
    if spec.static:
        _weld_to_world(plant, spec, links, bodies)
    return instance


def _pose(X):
    return RigidTransform.MakeUnchecked(X[:3])


def _add_body(plant, link, instance):
    body = plant.AddRigidBody(link.name, instance, _spatial_inertia(link.inertial))
    body._place = link.place
    body._has_weight = link.gravity
    return body


def _spatial_inertia(inertial):
    if inertial is None or inertial.mass == 0.0:
        return SpatialInertia.Zero()
    ixx, iyy, izz, ixy, ixz, iyz = inertial.inertia
    R, com = inertial.X_LI[:3, :3], inertial.X_LI[:3, 3]
    central = R @ np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]) @ R.T
    about_origin = central / inertial.mass + (com @ com) * np.eye(3) - np.outer(com, com)
    unit = UnitInertia(
        RotationalInertia.MakeFromMomentsAndProductsOfInertia(
            *about_origin[[0, 1, 2], [0, 1, 2]], *about_origin[[0, 0, 1], [1, 2, 2]], skip_validity_check=True
        )
    )
    # what is not plausible was reported where the file was read, and does not stop the use of the model
    return SpatialInertia(inertial.mass, com, unit, skip_validity_check=True)


# --------------------------------------------------------------------------------------------- joints


def _add_joint(plant, spec, bodies, instance, keep):
    """keep: whether the joint has frames of its own even where those of the bodies would do, as URDF's in pydrake."""
    frame_F = _joint_frame(plant, f"{spec.name}_parent", bodies[spec.parent], spec.X_PF, instance, keep)
    keep = keep and spec.type == "planar"
    frame_M = _joint_frame(plant, f"{spec.name}_child", bodies[spec.child], spec.X_CM, instance, keep)
    joint = plant.AddJoint(_MAKERS[spec.type](spec, frame_F, frame_M))
    joint._reflected_inertia = spec.reflected_inertia
    for k, axis in enumerate(spec.axes):
        _apply_axis(plant, joint, spec, axis, k)
    defaults = [axis.default_position for axis in spec.axes]
    if any(defaults):
        joint.set_default_positions(defaults)
    return joint


def _joint_frame(plant, name, body, X_BF, instance, keep):
    if not keep and np.array_equal(X_BF, np.eye(4)):
        return body.body_frame()
    return plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), _pose(X_BF), instance))


def _axis_joint(kind):
    def make(spec, F, M):
        axis = spec.axes[0]
        return kind(spec.name, F, M, axis.xyz, axis.lower, axis.upper, axis.damping)

    return make


def _screw(spec, F, M):
    axis = spec.axes[0]
    joint = ScrewJoint(spec.name, F, M, axis.xyz, spec.screw_pitch, axis.damping)
    joint.set_position_limits([axis.lower], [axis.upper])
    return joint


def _universal(spec, F, M):
    damping = {axis.damping for axis in spec.axes} or set(spec.damping) or {0.0}
    if len(damping) > 1:
        raise ModelError(f"{spec.place}: error: joint '{spec.name}': a universal joint has one damping for both axes")
    return UniversalJoint(spec.name, F, M, damping.pop())


def _planar(spec, F, M):
    return PlanarJoint(spec.name, F, M, spec.damping or (0.0, 0.0, 0.0))


_MAKERS = {
    "fixed": lambda spec, F, M: WeldJoint(spec.name, F, M),
    "revolute": _axis_joint(RevoluteJoint),
    "continuous": _axis_joint(RevoluteJoint),
    "prismatic": _axis_joint(PrismaticJoint),
    "screw": _screw,
    "universal": _universal,
    "planar": _planar,
    "ball": lambda spec, F, M: BallRpyJoint(spec.name, F, M, *spec.damping),
    "quaternion_floating": lambda spec, F, M: QuaternionFloatingJoint(spec.name, F, M, *spec.damping),
    "rpy_floating": lambda spec, F, M: RpyFloatingJoint(spec.name, F, M, *spec.damping),
}


def _apply_axis(plant, joint, spec, axis, k):
    """Limits beyond position, and springs, of axis k."""
    if joint.num_velocities() == len(spec.axes):
        for kind, value in (("velocity", axis.velocity), ("acceleration", axis.acceleration)):
            lower, upper = getattr(joint, f"_{kind}_limits")
            lower[k], upper[k] = -value, value
    if axis.spring_stiffness:
        springs = {"revolute": RevoluteSpring, "prismatic": PrismaticSpring}
        if joint.type_name() not in springs:
            raise ModelError(
                f"{axis.place}: error: joint '{spec.name}' of type {spec.type} cannot have a spring: "
                "only revolute and prismatic joints can"
            )
        plant.AddForceElement(springs[joint.type_name()](joint, axis.spring_reference, axis.spring_stiffness))


def _add_actuator(plant, spec, joints):
    actuator = plant.AddJointActuator(spec.name, joints[spec.joint], spec.effort_limit)
    actuator.set_default_rotor_inertia(spec.rotor_inertia)
    actuator.set_default_gear_ratio(spec.gear_ratio)
    if spec.controller_gains is not None:
        p, d = spec.controller_gains
        actuator.set_controller_gains(PdControllerGains(p=p, d=d))
    actuator._place = spec.place


def _weld_to_world(plant, spec, links, bodies):
    """A static model: every link stays where the file puts it."""
    held = {joint.child for joint in spec.joints}
    for link in links:
        if link.name not in held:
            X_WL = _pose(spec.X_WModel @ link.X_ModelL)
            plant.WeldFrames(plant.world_frame(), bodies[link.name].body_frame(), X_WL)
