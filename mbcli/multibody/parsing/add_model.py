"""From a ModelSpec to a plant: the only place that does this, whatever the file's format."""

from contextlib import contextmanager
from math import inf

import numpy as np

from mbcli.errors import ModelError
from mbcli.math import RigidTransform
from mbcli.math.rigid_transform import transform_of
from mbcli.multibody import tree  # its classes are imported when they are used
from mbcli.multibody.core.elements import add_plugin
from mbcli.multibody.inertia.rotational_inertia import particle_moments
from mbcli.multibody.inertia.spatial_inertia import spatial_inertia_of
from mbcli.multibody.parsing.add_constraints import add_constraint, add_force_element, add_mimics
from mbcli.multibody.parsing.add_geometries import add_geometries
from mbcli.multibody.parsing.add_transmissions import add_tendon_spring, add_transmission_actuator
from mbcli.multibody.parsing.model_instances import (
    instance_of_element,
    joint_frame_names,
    model_instances,
    top_models,
)
from mbcli.multibody.tree.joint_kinds import joint_class, slides_along_axis, turns_about_axis
from mbcli.multibody.tree.plugin import Plugin
from mbcli.parsers.formats import FORMATS
from mbcli.parsers.poses import compose
from mbcli.parsers.spec import IDENTITY

NO_TRANSFORM = RigidTransform()
_NOT_TURNED = IDENTITY[:3, :3].tolist()


def add_model(plant, spec, instance_name):
    """Adds one model as a model instance of the given name, with those nested in it; returns its index."""
    add_models(plant, spec, [instance_name])
    return plant.GetModelInstanceByName(instance_name)


def add_models(plant, spec, instance_names):
    """Adds a model, or those of a world with the world's own elements, as model instances of the given names.

    Returns (index, ModelSpec) of every new model instance, nested ones included.
    """
    models = list(zip(top_models([spec]), instance_names, strict=True))
    instances = [pair for model, name in models for pair in model_instances(model, name)]
    added = [(plant.AddModelInstance(name), model) for name, model in instances]
    with _refusals(spec):
        known = {model.name: _add(plant, model, name) for model, name in models}
        if spec.is_world:
            _set_gravity(plant, spec)
            plant.wind = spec.wind or plant.wind
            world = _Known(plant)
            for name, inner in known.items():
                world.enter(name, inner)
            _add_own_elements(plant, spec, world, tree.world_model_instance())
    return added


@contextmanager
def _refusals(spec):
    """A refusal of the plant, as of two elements of one name in a model instance, is a fault of the file."""
    try:
        yield
    except RuntimeError as error:
        if ": error: " in str(error):  # of an element, which has told its own place
            raise
        raise ModelError(f"{spec.place}: error: {error}") from None


class _Known:
    """Elements of a plant by the names that one model has for them."""

    def __init__(self, plant):
        self.bodies = {"world": plant.world_body()}
        self.frames = {"world": plant.world_frame()}
        self.joints = {}
        self.actuators = {}

    def enter(self, model, inner):
        """Names of a nested model are known here as MODEL::NAME; MODEL is its own frame."""
        for own, nested in ((self.bodies, inner.bodies), (self.frames, inner.frames), (self.joints, inner.joints)):
            own.update((f"{model}::{name}", element) for name, element in nested.items() if name != "world")
        if "__model__" in inner.frames:
            self.frames[model] = inner.frames["__model__"]


def _set_gravity(plant, spec):
    if spec.gravity is not None:
        plant.mutable_gravity_field().set_gravity_vector(spec.gravity)


def _add(plant, spec, instance_name):
    """Adds a model whose instances are there; nested models come first. Returns its elements (`_Known`)."""
    known = _Known(plant)
    for inner in spec.models:
        known.enter(inner.name, _add(plant, inner, f"{instance_name}::{inner.name}"))
    instance = plant.GetModelInstanceByName(instance_name)
    _set_gravity(plant, spec)
    links = [link for link in spec.links if link.name != "world"]  # a link named so only carries geometry of World
    for link in links:
        known.bodies[link.name] = _add_body(plant, link, instance)
        known.frames[link.name] = known.bodies[link.name].body_frame()
    collisions = {link.name: add_geometries(plant, known.bodies[link.name], link, instance_name) for link in spec.links}
    for pair in spec.contact_pairs if plant.geometry_source_is_registered() else ():
        ids = [collisions[link][index] for link, index in (pair.collision_A, pair.collision_B)]
        if None not in ids:
            plant.contact_pairs[tuple(ids)] = (
                pair.friction,
                pair.margin,
                pair.torsional_friction,
                pair.rolling_friction,
                pair.friction if pair.friction_across is None else pair.friction_across,
                pair.softness,
            )
    if spec.deformables:
        from mbcli.multibody.parsing.add_deformables import add_deformables  # late: few models have some

        add_deformables(plant, spec, instance)
    steps = [_add_model_frame, _add_own_elements]
    for step in steps if FORMATS[spec.format].NESTS else reversed(steps):  # in pydrake's order
        step(plant, spec, known, instance)
    for link in links:
        plant.SetDefaultFreeBodyPose(known.bodies[link.name], _pose(compose(spec.X_WModel, link.X_ModelL)))
        if link.velocity is not None:
            plant.default_free_velocities[int(known.bodies[link.name].index())] = link.velocity
    resting = links if spec.static else [link for link in links if link.kinematic]
    if resting:
        _weld_to_world(plant, spec, resting, known.bodies)
    return known


def _add_model_frame(plant, spec, known, instance):
    if spec.X_LinkModel is not None:
        link, X_LinkModel = spec.X_LinkModel
        frame = tree.FixedOffsetFrame("__model__", known.bodies[link].body_frame(), _pose(X_LinkModel), instance)
        known.frames["__model__"] = plant.AddFrame(frame)


def _add_own_elements(plant, spec, known, instance):
    """Joints, frames and the elements between them: those of a model, or of the world."""
    for add in (_add_frames, _add_joints) if spec.is_world else (_add_joints, _add_frames):  # in pydrake's order
        add(plant, spec, known, instance)
    for actuator in spec.actuators:
        known.actuators[actuator.name] = _add_actuator(plant, actuator, known.joints)
    for spec_of_own in spec.transmission_actuators:
        add_transmission_actuator(plant, spec_of_own, known, instance)
    for spring in spec.tendon_springs:
        add_tendon_spring(plant, spring, known, instance)
    are_servos = {actuator.controller_gains is not None for actuator in spec.actuators}
    if FORMATS[spec.format].MIXES_DRIVES and len(are_servos) > 1:
        plant.file_mixes_controllers = True  # motors beside servos
    add_mimics(plant, spec.joints, known.joints)
    for element in spec.force_elements:
        add_force_element(plant, element, known.bodies, known.frames)
    for constraint in spec.constraints:
        add_constraint(plant, constraint, known.bodies, known.joints)
    if spec.sensors:
        from mbcli.multibody.parsing.add_sensors import add_sensors  # late: few models have some

        add_sensors(plant, spec.sensors, known, instance)
    for plugin in spec.plugins:
        add_plugin(plant, _plugin(plant, spec, plugin, known))


def _plugin(plant, model, spec, known):
    """A plugin with what it names; joints that it moves have an actuator then."""
    from mbcli.plugins import PLUGINS  # late: few models have some

    joints = {role: tuple(known.joints[name] for name in names) for role, names in spec.joints}
    links = {role: tuple(known.bodies[name] for name in names) for role, names in spec.links}
    moved = {role for role, count in PLUGINS[spec.kind].JOINTS.values() if count != "any"}
    actuated = [actuator.joint() for actuator in plant.elements.actuators]
    for joint in [joint for role in moved for joint in joints.get(role, ()) if joint not in actuated]:
        plant.AddJointActuator(joint.name(), joint)
    return Plugin(spec.kind, model.name, joints, links, spec.settings, spec.place)


def _add_frames(plant, spec, known, instance):
    for frame in spec.frames:
        body = known.bodies[frame.link]
        owner = instance_of_element(_instance_of(body, instance), instance, [frame.name], plant.HasFrameNamed)
        added = tree.FixedOffsetFrame(frame.name, body.body_frame(), _pose(frame.X_LF), owner)
        known.frames[frame.name] = plant.AddFrame(added)
        added.place = frame.place


def _instance_of(body, instance):
    """The model instance of an element that is fixed to a body: the body's, in place of the world's the given one."""
    return instance if body.index() == 0 else body.model_instance()


def _add_joints(plant, spec, known, instance):
    frame_names = joint_frame_names(spec)
    for joint in spec.joints:
        names = frame_names.get((joint.name, "parent")), frame_names.get((joint.name, "child"))
        known.joints[joint.name] = added = _add_joint(plant, joint, names, known.bodies, instance)
        added.place = joint.place


def _pose(X):
    """The RigidTransform of a pose of a ModelSpec, whose arrays nobody writes to."""
    return NO_TRANSFORM if X is IDENTITY else transform_of(X[:3, :3], X[:3, 3])


def _add_body(plant, link, instance):
    body = plant.AddRigidBody(link.name, instance, _spatial_inertia(link.inertial))
    body.place = link.place
    body.has_weight = link.gravity
    return body


def _spatial_inertia(inertial):
    if inertial is None or inertial.mass == 0.0:
        return tree.SpatialInertia.Zero()
    # implausible values were reported when the file was read, and do not stop the use of the model
    rows = inertial.X_LI[:3].tolist()
    com = [row.pop() for row in rows]
    central = [value / inertial.mass for value in inertial.inertia]
    of_particle = particle_moments(*com)
    if rows == _NOT_TURNED:
        unit = _tensor(*[a + b for a, b in zip(central, of_particle, strict=True)])
    else:
        R = inertial.X_LI[:3, :3]
        turned = R @ _tensor(*central) @ R.T
        unit = 0.5 * (turned + turned.T) + _tensor(*of_particle)
    return spatial_inertia_of(inertial.mass, np.array(com), unit)


def _tensor(xx, yy, zz, xy, xz, yz):
    return np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


# --------------------------------------------------------------------------------------------- joints


def _add_joint(plant, spec, frame_names, bodies, instance):
    """frame_names: of the frames on its parent and child, None if it is in the body's own."""
    parent, child = bodies[spec.parent], bodies[spec.child]
    owner = on_child = _instance_of(child, instance)
    if owner is not instance and owner != instance:
        owner = instance_of_element(owner, instance, [spec.name], plant.HasJointNamed)
        owner = instance_of_element(owner, instance, filter(None, frame_names), plant.HasFrameNamed)
    if owner is not on_child and owner != on_child:  # that of a joint is that of its frame on the child
        frame_names = frame_names[0], frame_names[1] or f"{spec.name}_child"
    frame_F = _joint_frame(plant, frame_names[0], parent, spec.X_PF, owner)
    frame_M = _joint_frame(plant, frame_names[1], child, spec.X_CM, owner)
    kind = joint_class(spec.kind.type_in_plants(plant.settings.ball_joints))
    joint = plant.AddJoint(kind.from_spec(spec, frame_F, frame_M))
    joint.reflected_inertia, joint.collides_with_parent = spec.reflected_inertia, spec.collides_with_parent
    if spec.axes and joint.num_velocities() == len(spec.axes):
        _apply_axes(joint, spec.axes)
        if plant.settings.continuous_joint_limits and spec.axes[0].drakes_limits is not None:
            lower, upper = spec.axes[0].drakes_limits
            joint.set_position_limits([lower], [upper])
    for axis in spec.axes:
        if axis.spring_stiffness:
            _add_spring(plant, joint, spec, axis)
    if spec.stiffness:
        plant.AddForceElement(tree.BallSpring(_by_quaternion(joint, spec, "spring"), spec.stiffness))
    if spec.turn_limit < inf:
        _by_quaternion(joint, spec, "range").turn_limit = spec.turn_limit
    if spec.friction:
        joint.dry_friction = np.full(joint.num_velocities(), spec.friction)
    joint.other_limits = _other_limits(spec.axes)
    if spec.default_pose is not None:
        joint.SetDefaultPose(_pose(spec.default_pose))
    defaults = [axis.default_position for axis in spec.axes]
    if any(defaults):
        joint.set_default_positions(defaults)
    return joint


def _joint_frame(plant, name, body, X_BF, owner):
    """The frame of a joint on a body: its own, if there is a name for it."""
    if not name:
        return body.body_frame()
    return plant.AddFrame(tree.FixedOffsetFrame(name, body.body_frame(), _pose(X_BF), owner))


def _apply_axes(joint, axes):
    """Limits beyond position, the law of stops, and dry friction."""
    joint.limit_rates([axis.velocity for axis in axes], [axis.acceleration for axis in axes])
    if axes[0].stop_stiffness < inf:
        joint.stop_law = axes[0].stop_stiffness, axes[0].stop_dissipation
    joint.stop_softness = axes[0].softness
    friction = [axis.friction for axis in axes]
    if any(friction):
        joint.dry_friction = np.array(friction)


def _other_limits(axes):
    """{name: one for each axis} of limits that nothing here uses."""
    if all(axis.deceleration == inf == axis.jerk for axis in axes):
        return {}
    named = {name: [getattr(axis, name) for axis in axes] for name in ("deceleration", "jerk")}
    return {name: limits for name, limits in named.items() if not all(limit == inf for limit in limits)}


def _by_quaternion(joint, spec, what):
    """The joint. ModelError for a ball joint with other coordinates, which cannot have that."""
    if not isinstance(joint, tree.BallQuaternionJoint):
        raise ModelError(f"{spec.place}: error: joint '{spec.name}': the {what} takes ball joints by quaternions")
    return joint


def _add_spring(plant, joint, spec, axis):
    if turns_about_axis(joint):
        spring = tree.RevoluteSpring
    elif slides_along_axis(joint):
        spring = tree.PrismaticSpring
    else:
        raise ModelError(
            f"{axis.place}: error: joint '{spec.name}' of type {spec.type} cannot have a spring: "
            "only revolute and prismatic joints can"
        )
    plant.AddForceElement(spring(joint, axis.spring_reference, axis.spring_stiffness))


def _add_actuator(plant, spec, joints):
    actuator = plant.AddJointActuator(spec.name, joints[spec.joint], spec.effort_limit)
    actuator.set_default_rotor_inertia(spec.rotor_inertia)
    actuator.set_default_gear_ratio(spec.gear_ratio)
    if spec.controller_gains is not None:
        p, d = spec.controller_gains
        actuator.set_controller_gains(tree.PdControllerGains(p=p, d=d))
        actuator.rest, actuator.control = spec.rest, spec.control
    actuator.place = spec.place
    return actuator


def _weld_to_world(plant, spec, links, bodies):
    """Every link of a static model, and one that no force moves, stays at its place in the file."""
    held = {joint.child for joint in spec.joints}
    for link in links:
        if link.name not in held:
            body = bodies[link.name]
            name = f"sdformat_model_static_world_welds_to_{link.name}"
            X_WL = _pose(spec.X_WModel @ link.X_ModelL)
            plant.AddJoint(tree.WeldJoint(name, plant.world_frame(), body.body_frame(), X_WL))
