"""The part of a model that a format has: takes the rest out and lists it."""

from dataclasses import fields, replace
from math import inf

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.proximity_properties import proximity_elements
from mbcli.parsers.sdf.sdf_actuators import ACTUATED
from mbcli.parsers.spec import AxisSpec, Sphere, WeldConstraintSpec

EARTH = (0.0, 0.0, -9.81)  # [m/s^2], which every reader takes if a file states no gravity
POINT_RADIUS = 1e-9  # [m] of a sphere without size, which SDFormat does not have

# fields of AxisSpec, for `Target.axis_fields`
DYNAMICS = frozenset({"damping", "friction"})
LIMITS = frozenset({"lower", "upper", "velocity", "acceleration"})
ONE_AXIS = LIMITS | DYNAMICS | {"effort", "mimic"}
LIMITED = ("revolute", "continuous", "prismatic")
_ALWAYS = {"xyz", "place"}
_WITHOUT_EFFECT = {"deceleration", "jerk", "default_position", "spring_reference", "effort"}
_ORDINARY = {"contype": 1, "conaffinity": 1, "condim": 3, "priority": 0, "margin": 0.0}  # of geoms of MJCF
_TURNING = {"torsional_friction", "rolling_friction"}  # act with a condim of 4 and 6
_DEFAULTS = {field.name: field.default for field in fields(AxisSpec)}


def sayable(model, target, losses):
    """A flat ModelSpec without the elements that a `Target` lacks, which go to `losses`."""
    model = _Reduction(model, target, losses).reduced()
    return replace(model, gravity=None)


def without_joints(model, names):
    """The model without some joints, and without their drives and couplings."""
    return replace(
        model,
        joints=tuple(_uncoupled(joint, names) for joint in model.joints if joint.name not in names),
        actuators=tuple(actuator for actuator in model.actuators if actuator.joint not in names),
        constraints=tuple(c for c in model.constraints if names.isdisjoint(getattr(c, "joints", ()))),
    )


def _uncoupled(joint, names):
    axes = tuple(
        replace(axis, mimic=None) if axis.mimic is not None and axis.mimic.leader in names else axis
        for axis in joint.axes
    )
    return replace(joint, axes=axes)


def _is_of_mjcf(group, name):
    """Whether a property of a collision is one of MJCF alone."""
    return group == "mujoco" or name in _TURNING


class _Reduction:
    def __init__(self, model, target, losses):
        self.model, self.target, self.losses = model, target, losses

    def lose(self, kind, code, message, place):
        self.losses.add(kind, code, message, place)

    def reduced(self):
        model = self.model
        gravity = model.gravity
        if gravity is not None and tuple(gravity) != EARTH:
            self.lose("motion", "GRAVITY", f"the gravity {list(gravity)} of the plant", model.place)
        self._contact(model)
        for posture in model.postures:
            self.lose("lost", "POSTURE", f"the posture '{posture.name}'", posture.place)
        for body in () if self.target.deformables else model.deformables:
            self.lose("motion", "DEFORMABLE", f"the deformable link '{body.name}'", body.place)
        model = replace(
            model,
            contact_pairs=(),
            postures=(),
            deformables=model.deformables if self.target.deformables else (),
            links=tuple(map(self._link, model.links)),
            joints=tuple(map(self._joint, model.joints)),
            constraints=tuple(filter(self._has_constraint, model.constraints)),
        )
        return self._actuation(model)

    def _contact(self, model):
        """What MJCF says of contact that the other formats do not have."""
        solid = {link.name for link in model.links if link.collisions}
        for pair in model.contact_pairs:
            self.lose("lost", "CONTACT", "a pair of collisions with a contact of its own", pair.place)
        for joint in model.joints:
            if joint.lets_touch and joint.parent != WORLD and {joint.parent, joint.child} <= solid:
                message = f"that '{joint.parent}' and '{joint.child}', which joint '{joint.name}' connects, may touch"
                self.lose("lost", "CONTACT", message, joint.place)
        frictions = set()
        for link in model.links:
            for geometry in link.collisions:
                if ("mujoco", "condim") in geometry.properties:
                    frictions.add(geometry.properties["material", "coulomb_friction"])
                unusual = [
                    name
                    for name, usual in _ORDINARY.items()
                    if ("mujoco", name) in geometry.properties and geometry.properties["mujoco", name] != usual
                ]
                if unusual:
                    message = f"{', '.join(unusual)} of collision '{geometry.name}'"
                    self.lose("lost", "CONTACT", message, geometry.place)
        if len(frictions) > 1:
            self.lose("lost", "CONTACT", "that the larger friction of two collisions counts", model.place)

    # ------------------------------------------------------------------------------------------ links

    def _link(self, link):
        if not link.gravity and not self.target.link_gravity:
            self.lose("motion", "LINK_GRAVITY", f"that link '{link.name}' is out of gravity", link.place)
            link = replace(link, gravity=True)
        return replace(
            link,
            visuals=self._geometries(link, "visual", link.visuals),
            collisions=self._geometries(link, "collision", link.collisions),
        )

    def _geometries(self, link, tag, geometries):
        kept = []
        for geometry in geometries:
            shape = self.target.missing_shape(geometry.shape)
            if shape is not None:
                self._lose_geometry(tag, geometry, f"the {shape} in {tag} '{geometry.name}' of link '{link.name}'")
                continue
            own = {key: value for key, value in geometry.properties.items() if not _is_of_mjcf(*key)}
            if tag == "visual":
                geometry = replace(geometry, properties={})  # nothing touches what is seen
            else:
                geometry = replace(geometry, properties=own, color=None)  # what touches is not seen
            if geometry.properties and not proximity_elements(geometry.properties):
                names = ", ".join("/".join(key) for key in geometry.properties)
                self.lose("lost", "PROPERTIES", f"{names} of {tag} '{geometry.name}'", geometry.place)
            kept.append(self._not_a_point(tag, geometry))
        return tuple(kept)

    def _not_a_point(self, tag, geometry):
        if geometry.shape != Sphere(0.0) or self.target.points:
            return geometry
        message = f"the radius 0 of the sphere in {tag} '{geometry.name}' is {POINT_RADIUS} m"
        self.lose("changed", "GEOMETRY", message, geometry.place)
        return replace(geometry, shape=Sphere(POINT_RADIUS))

    def _lose_geometry(self, tag, geometry, description):
        self.lose("motion" if tag == "collision" else "lost", "GEOMETRY", description, geometry.place)

    # ----------------------------------------------------------------------------------------- joints

    def _joint(self, joint):
        axes = tuple(self._axis(joint, axis) for axis in joint.axes)
        if joint.type == "universal" and not joint.axes:
            axes = tuple(
                AxisSpec(xyz, joint.place, damping=sum(joint.damping[:1])) for xyz in ((1.0, 0, 0), (0, 1.0, 0))
            )
        if not self.target.rpy_floating and joint.type == "rpy_floating":
            self.lose(
                "motion",
                "JOINT_TYPE",
                f"joint '{joint.name}' has roll, pitch and yaw: a floating joint of the format has a quaternion",
                joint.place,
            )
            joint = replace(joint, type="quaternion_floating")
        damping = joint.damping
        if not self.target.floating_damping and joint.type == "quaternion_floating" and any(damping):
            self.lose("motion", "JOINT_DAMPING", f"the damping of floating joint '{joint.name}'", joint.place)
            damping = ()
        if joint.default_pose is not None:
            message = f"the pose of '{joint.child}' at the start, in floating joint '{joint.name}'"
            self.lose("lost", "DEFAULT_POSE", message, joint.place)
        return replace(joint, axes=axes, damping=damping, default_pose=None, lets_touch=False)

    def _axis(self, joint, axis):
        kept = self._fields(joint) | _ALWAYS
        if joint.type == "planar" or "floating" in joint.type:  # their axes have no meaning
            kept |= {field for field in _DEFAULTS if getattr(axis, field) == _DEFAULTS[field]}
        lost = {name for name, default in _DEFAULTS.items() if name not in kept and getattr(axis, name) != default}
        if not self.target.second_axes_lead and axis.mimic is not None and axis.mimic.leader_axis != 0:
            lost.add("mimic")
        for name in sorted(lost):
            self.lose(
                "lost" if name in _WITHOUT_EFFECT else "motion",
                "JOINT_" + name.upper(),
                f"the {name.replace('_', ' ')} of {joint.type} joint '{joint.name}'",
                axis.place,
            )
        return replace(axis, **{name: _DEFAULTS[name] for name in lost}) if lost else axis

    def _fields(self, joint):
        return self.target.axis_fields.get(joint.type, frozenset())

    # --------------------------------------------------------------------------- actuators, constraints

    def _actuation(self, model):
        """One actuator for each joint at most, with its limit and the inertia of the joint's drive in it."""
        actuators = {}
        for actuator in model.actuators:
            where = f"actuator '{actuator.name}' of joint '{actuator.joint}'"
            if actuator.joint in actuators:
                self.lose("motion", "ACTUATOR", f"{where}, which has another", actuator.place)
            elif actuator.effort_limit == 0:
                self.lose("motion", "ACTUATOR", f"{where} has the effort limit 0, which means none", actuator.place)
            else:
                actuators[actuator.joint] = self._aiming(actuator, where)
        joints = []
        for joint in model.joints:
            actuator = actuators.get(joint.name)
            if joint.reflected_inertia:
                joint, actuator = self._reflected(joint, actuator)
                if actuator is not None:
                    actuators[joint.name] = actuator
            joints.append(self._effort(joint, actuator))
        kept = tuple(actuators.values())
        return replace(model, joints=tuple(joints), actuators=kept)

    def _aiming(self, actuator, where):
        """Controllers of the format aim at the default position that it keeps, at rest."""
        if actuator.controller_gains is not None:
            joint = next(joint for joint in self.model.joints if joint.name == actuator.joint)
            is_kept = "default_position" in self._fields(joint)
            here = joint.axes[0].default_position if len(joint.axes) == 1 else None
            there = here if is_kept or here is None else 0.0
            position, velocity = (here, 0.0) if actuator.rest is None else actuator.rest
            if (position, velocity) != (there, 0.0):
                message = f"that the controller of {where} aims at {position!r} and the velocity {velocity!r} by itself"
                self.lose("motion", "ACTUATOR", message, actuator.place)
        return replace(actuator, rest=None)

    def _reflected(self, joint, actuator):
        inertia = joint.reflected_inertia
        if actuator is None or not actuator.gear_ratio:
            message = f"the inertia {inertia!r} of the drive of joint '{joint.name}', which has no actuator"
            self.lose("motion", "REFLECTED_INERTIA", message, joint.place)
        else:
            rotor = actuator.rotor_inertia + inertia / actuator.gear_ratio**2
            actuator = replace(actuator, rotor_inertia=rotor)
            message = f"the inertia of the drive of joint '{joint.name}' is that of its actuator's rotor"
            self.lose("changed", "REFLECTED_INERTIA", message, joint.place)
        return replace(joint, reflected_inertia=0.0), actuator

    def _effort(self, joint, actuator):
        """The effort limit of an actuator stands in its joint, and 0 in SDFormat where there is neither."""
        if not joint.axes:
            return joint
        first = joint.axes[0]
        effort = first.effort
        if actuator is not None:
            effort = actuator.effort_limit
            if "effort" not in self._fields(joint):
                effort = inf
                if actuator.effort_limit != inf:
                    message = f"the effort limit of the actuator of {joint.type} joint '{joint.name}'"
                    self.lose("motion", "JOINT_EFFORT", message, joint.place)
        elif self.target.zero_effort_is_none and joint.type in ACTUATED and effort == inf:
            effort = 0.0  # no actuator; with a limit NO_ACTUATOR says so
        return replace(joint, axes=(replace(first, effort=effort), *joint.axes[1:]))

    def _has_constraint(self, constraint):
        if constraint.name:
            self.lose("lost", "CONSTRAINT_NAME", f"the name of constraint '{constraint.name}'", constraint.place)
        if self.target.weld_constraints or not isinstance(constraint, WeldConstraintSpec):
            return True
        message = f"the weld constraint between '{constraint.link_A}' and '{constraint.link_B}'"
        self.lose("motion", "CONSTRAINT", message, constraint.place)
        return False
