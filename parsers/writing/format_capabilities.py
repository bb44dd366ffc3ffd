"""The part of a model that a format has: takes the rest out and lists it."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from math import inf
from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import STOPS, Form, Refusal, Substitute
from mbcli.parsers.proximity_properties import SOFTNESS, proximity_elements
from mbcli.parsers.spec import AxisSpec, Sphere
from mbcli.parsers.writing.directed_friction import directed_friction, without_direction
from mbcli.parsers.writing.equal_limits import with_equal_limits

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.spec import (
        ActuatorSpec,
        ConstraintSpec,
        ForceElementSpec,
        GeometrySpec,
        JointSpec,
        LinkSpec,
        ModelSpec,
        SourceLocation,
    )
    from mbcli.parsers.writing.losses import Losses
    from mbcli.parsers.writing.target import Target

EARTH = (0.0, 0.0, -9.81)  # [m/s^2], which every reader takes if a file states no gravity
POINT_RADIUS = 1e-9  # [m] of a sphere without size, which SDFormat does not have

_ALWAYS = {"xyz", "place", "drakes_limits", "softness"}  # the last: see _contact()
_WITHOUT_EFFECT = {"deceleration", "jerk", "default_position", "spring_reference", "effort", *STOPS}
WORDS_OF_TRANSMISSIONS = {
    "sum": "a sum of coordinates by a law of its own",
    "path": "a tendon",
    "site": "a site",
    "site in site": "a site in another one",
    "crank": "a slider-crank",
    "contact": "contacts",
}
_WORDS = {
    name: f"{name} limit" for name in ("lower", "upper", "velocity", "acceleration", "deceleration", "jerk", "effort")
} | {"stop_stiffness": "stiffness of limits", "stop_dissipation": "dissipation of limits"}
_ORDINARY = {"contype": 1, "conaffinity": 1, "condim": 3, "priority": 0, "margin": 0.0}  # of geoms of MJCF
SOFT = (SOFTNESS, ("mujoco", "solmix"), ("mujoco", "impratio"))
_BOUNCING = (("material", "restitution"), ("material", "bounce_threshold"))
_TORSIONAL = {"torsional_friction", "rolling_friction"}  # act with a condim of 4 and 6
_DEFAULTS = {field.name: field.default for field in fields(AxisSpec)}


def reduced_to_format(
    model: ModelSpec, target: Target, losses: Losses, copied: frozenset[str] = frozenset()
) -> ModelSpec:
    """A flat ModelSpec without the elements that a `Target` lacks, which go to `losses`.

    copied: the absolute paths of the mesh files that are copied, and may be changed by that.
    """
    model = _Reduction(model, target, losses, copied).reduced()
    return model if target.gravity else replace(model, gravity=None)


def states_softness(model: ModelSpec) -> bool:
    """Whether contact or limits of joints have the softness of a file of MuJoCo."""
    geometries = [geometry for link in model.links for geometry in link.collisions]
    of_contact = any(key in geometry.properties for geometry in geometries for key in SOFT)
    return of_contact or any(axis.softness is not None for joint in model.joints for axis in joint.axes)


def refused_joints(model: ModelSpec, target: Target) -> tuple[tuple[str, str], ...]:
    """(joint, why) of the joints of a kind that a `Target` refuses."""
    stated = ((joint.name, target.joints[joint.type]) for joint in model.joints)
    return tuple((name, form.why) for name, form in stated if isinstance(form, Refusal))


def without_joints(model: ModelSpec, names: set[str]) -> ModelSpec:
    """The model without some joints, and without their drives and couplings."""
    return replace(
        model,
        joints=tuple(_uncoupled(joint, names) for joint in model.joints if joint.name not in names),
        actuators=tuple(actuator for actuator in model.actuators if actuator.joint not in names),
        transmission_actuators=tuple(
            a for a in model.transmission_actuators if names.isdisjoint(a.transmission.joints)
        ),
        tendon_springs=tuple(s for s in model.tendon_springs if names.isdisjoint(s.transmission.joints)),
        constraints=tuple(c for c in model.constraints if names.isdisjoint(getattr(c, "joints", ()))),
    )


def _uncoupled(joint: JointSpec, names: set[str]) -> JointSpec:
    axes = tuple(
        replace(axis, mimic=None) if axis.mimic is not None and axis.mimic.leader in names else axis
        for axis in joint.axes
    )
    return replace(joint, axes=axes)


def _is_of_mjcf(group: str, name: str) -> bool:
    """Whether a property of a collision is one of MJCF alone."""
    return group == "mujoco" or name in _TORSIONAL


class _Reduction:
    def __init__(self, model: ModelSpec, target: Target, losses: Losses, copied: frozenset[str]) -> None:
        self.model, self.target, self.losses, self.copied = model, target, losses, copied
        self.static = _static_links(model)

    def lose(self, kind: str, code: str, message: str, place: SourceLocation) -> None:
        self.losses.add(kind, code, message, place)

    def reduced(self) -> ModelSpec:
        model = self.model
        gravity = model.gravity
        if gravity is not None and tuple(gravity) != EARTH and not self.target.gravity:
            self.lose("motion", "GRAVITY", f"the gravity {list(gravity)} of the plant", model.place)
        (self._contact_of_others if self.target.contact_laws else self._contact)(model)
        for posture in () if self.target.postures else model.postures:
            self.lose("lost", "POSTURE", f"the posture '{posture.name}'", posture.place)
        for sensor in () if self.target.sensors else model.sensors:
            self.lose("lost", "SENSOR", f"the sensor '{sensor.name}'", sensor.place)
        for plugin in model.plugins:  # no format gets them
            self.lose("motion", "PLUGIN", f"the plugin '{plugin.kind}'", plugin.place)
        for link in model.links:
            if link.kinematic:
                self.lose("motion", "PLUGIN", f"that link '{link.name}' is kinematic", link.place)
        for body in () if self.target.deformables else model.deformables:
            self.lose("motion", "DEFORMABLE", f"the deformable link '{body.name}'", body.place)
        model = replace(
            model,
            contact_pairs=model.contact_pairs if self.target.contact_laws else (),
            postures=model.postures if self.target.postures else (),
            sensors=model.sensors if self.target.sensors else (),
            plugins=(),
            deformables=model.deformables if self.target.deformables else (),
            links=tuple(map(self._link, model.links)),
            joints=tuple(map(self._joint, model.joints)),
            force_elements=tuple(element for element in model.force_elements if self._has_relation(element)),
            constraints=tuple(constraint for constraint in model.constraints if self._has_relation(constraint)),
        )
        return self._actuation(model)

    def _contact(self, model: ModelSpec) -> None:
        """What MJCF says of contact that the other formats do not have."""
        solid = {link.name for link in model.links if link.collisions}
        for pair in model.contact_pairs:
            self.lose("lost", "CONTACT", "a pair of collisions with a contact of its own", pair.place)
        for joint in model.joints:
            if joint.collides_with_parent and joint.parent != WORLD and {joint.parent, joint.child} <= solid:
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
        if states_softness(model):
            self.lose("lost", "CONTACT", "how soft contact and limits of joints are in MuJoCo", model.place)

    def _contact_of_others(self, model: ModelSpec) -> None:
        """What other formats say of contact that MJCF does not have."""
        frictions = {
            geometry.properties.get(("material", "coulomb_friction"), (1.0, 1.0))[1]
            for link in model.links
            for geometry in link.collisions
            if ("mujoco", "condim") not in geometry.properties
        }
        if len(frictions) > 1:
            message = "that two collisions with the frictions a and b have 2 a b / (a + b): the larger of both counts"
            self.lose("lost", "CONTACT", message, model.place)

    # ------------------------------------------------------------------------------------------ links

    def _link(self, link: LinkSpec) -> LinkSpec:
        if not link.gravity and not self.target.link_gravity:
            self.lose("motion", "LINK_GRAVITY", f"that link '{link.name}' is out of gravity", link.place)
            link = replace(link, gravity=True)
        if link.velocity is not None and not self.target.link_velocities:
            self.lose("lost", "LINK_VELOCITY", f"how link '{link.name}' moves at the start", link.place)
            link = replace(link, velocity=None)
        stated = link.inertial
        refused = None if stated is None else self.target.refused_inertia(stated)
        if stated is not None and refused is not None:
            inertial, kind, why = refused
            self.lose(kind, "INERTIA", f"the inertia of link '{link.name}': {why}", stated.place)
            link = replace(link, inertial=inertial)
        link = self._with_directed_friction(link)
        return replace(
            link,
            visuals=self._geometries(link, "visual", link.visuals),
            collisions=self._geometries(link, "collision", link.collisions),
        )

    def _with_directed_friction(self, link: LinkSpec) -> LinkSpec:
        """Friction that depends on the direction stays where the format has it, at collisions or for the whole link."""
        stated = [directed_friction(geometry) for geometry in link.collisions]
        kept = {"collision": True, "link": len(set(stated)) == 1, None: False}[self.target.directed_friction]
        if kept or not any(stated):
            return link
        collisions = []
        for geometry, friction in zip(link.collisions, stated, strict=True):
            if friction is not None:
                geometry, message = without_direction(geometry)
                self.lose("motion", "FRICTION", message, geometry.place)
            collisions.append(geometry)
        return replace(link, collisions=tuple(collisions))

    def _geometries(self, link: LinkSpec, tag: str, geometries: tuple[GeometrySpec, ...]) -> tuple[GeometrySpec, ...]:
        kept = []
        for geometry in geometries:
            is_copied = os.path.abspath(getattr(geometry.shape, "path", None) or "") in self.copied
            moves = link.name not in self.static
            shape = self.target.missing_shape(geometry.shape, tag == "collision", is_copied, moves)
            if shape is not None:
                self._lose_geometry(tag, geometry, f"the {shape} in {tag} '{geometry.name}' of link '{link.name}'")
                continue
            if tag == "collision" and not self.target.bounces:
                geometry = self._without_restitution(geometry)
            if self.target.one_friction:
                kept.append(self._with_friction(tag, geometry))
                continue
            if not self.target.other_contact:
                kept.append(self._in_mujoco(tag, geometry))
                continue
            own = {key: value for key, value in geometry.properties.items() if not _is_of_mjcf(*key)}
            if tag == "visual":
                geometry = replace(geometry, properties={})  # nothing touches what is seen
            else:
                geometry = replace(geometry, properties=own, color=None)  # what touches is not seen
            others = geometry.properties.keys() - _BOUNCING
            if others and directed_friction(geometry) is None and not proximity_elements(geometry.properties):
                names = ", ".join("/".join(key) for key in geometry.properties)
                self.lose("lost", "PROPERTIES", f"{names} of {tag} '{geometry.name}'", geometry.place)
            kept.append(self._not_a_point(tag, geometry))
        return tuple(kept)

    def _with_friction(self, tag: str, geometry: GeometrySpec) -> GeometrySpec:
        """A geometry with its coefficients of friction, its restitution if there is one, and no other property."""
        if tag == "visual":
            return self._not_a_point(tag, replace(geometry, properties={}))
        keys = ("material", "coulomb_friction"), *(_BOUNCING[:1] if self.target.bounces else ())
        others = ["/".join(name) for name in geometry.properties if name not in keys and not _is_of_mjcf(*name)]
        if others:
            self.lose("lost", "PROPERTIES", f"{', '.join(others)} of {tag} '{geometry.name}'", geometry.place)
        own = {key: geometry.properties[key] for key in keys if key in geometry.properties}
        return self._not_a_point(tag, replace(geometry, properties=own, color=None))

    def _without_restitution(self, geometry: GeometrySpec) -> GeometrySpec:
        own = {key: value for key, value in geometry.properties.items() if key not in _BOUNCING}
        if geometry.properties.get(_BOUNCING[0], 0.0) > 0.0:
            message = f"the restitution of collision '{geometry.name}': what falls on it stays"
            self.lose("motion", "PROPERTIES", message, geometry.place)
        elif _BOUNCING[0] in geometry.properties:
            message = f"that collision '{geometry.name}' states a restitution, of 0"
            self.lose("lost", "PROPERTIES", message, geometry.place)
        return replace(geometry, properties=own)

    def _in_mujoco(self, tag: str, geometry: GeometrySpec) -> GeometrySpec:
        """A geometry with the properties of contact that MuJoCo has."""
        if tag == "visual":
            return self._not_a_point(tag, replace(geometry, properties={}))
        own, others = {}, []
        for key, value in geometry.properties.items():
            if _is_of_mjcf(*key) or key == ("material", "coulomb_friction"):
                own[key] = value
            else:
                others.append("/".join(key))
        static, dynamic = own.get(("material", "coulomb_friction"), (0.0, 0.0))
        if static != dynamic:
            message = f"the friction at rest of collision '{geometry.name}': {dynamic!r} holds, not {static!r}"
            self.lose("lost", "FRICTION", message, geometry.place)
        if others:
            self.lose("lost", "PROPERTIES", f"{', '.join(others)} of {tag} '{geometry.name}'", geometry.place)
        if getattr(geometry.shape, "convex", False):
            message = f"collision '{geometry.name}' is not declared convex: every mesh collides as its hull"
            self.lose("changed", "GEOMETRY", message, geometry.place)
        return self._not_a_point(tag, replace(geometry, properties=own, color=None))

    def _not_a_point(self, tag: str, geometry: GeometrySpec) -> GeometrySpec:
        if geometry.shape != Sphere(0.0) or self.target.points:
            return geometry
        message = f"the radius 0 of the sphere in {tag} '{geometry.name}' is {POINT_RADIUS} m"
        self.lose("changed", "GEOMETRY", message, geometry.place)
        return replace(geometry, shape=Sphere(POINT_RADIUS))

    def _lose_geometry(self, tag: str, geometry: GeometrySpec, description: str) -> None:
        touches = (
            tag == "collision" and getattr(geometry.shape, "path", "") is not None
        )  # without its file nothing does
        self.lose("motion" if touches else "lost", "GEOMETRY", description, geometry.place)

    # ----------------------------------------------------------------------------------------- joints

    def _joint(self, joint: JointSpec) -> JointSpec:
        axes = tuple(self._axis(joint, axis) for axis in joint.axes)
        if joint.kind.num_axes > 1 and not joint.axes:
            directions = (motion.direction for motion in joint.kind.motions)
            one = sum(joint.damping[:1])
            axes = tuple(AxisSpec(xyz, joint.place, damping=one) for xyz in directions if xyz is not None)
        form = self.target.joints[joint.type]
        if isinstance(form, Substitute):
            self.lose("motion", "JOINT_TYPE", f"joint '{joint.name}' {form.loss}", joint.place)
            joint = replace(joint, type=form.kind)
            form = self.target.joints[joint.type]
        damping = joint.damping
        if joint.kind.is_floating and any(damping) and isinstance(form, Form) and form.dampings < len(damping):
            if not form.dampings:
                self.lose("motion", "JOINT_DAMPING", f"the damping of floating joint '{joint.name}'", joint.place)
                damping = ()
            elif len(set(damping)) > 1:
                message = f"that floating joint '{joint.name}' has the damping {damping}: it has the larger of both"
                self.lose("motion", "JOINT_DAMPING", message, joint.place)
                damping = (max(damping),) * len(damping)
        if joint.stiffness and not self.target.ball_springs:
            self.lose("motion", "JOINT_SPRING_STIFFNESS", f"the spring of ball joint '{joint.name}'", joint.place)
            joint = replace(joint, stiffness=0.0)
        if joint.friction and not self.target.ball_springs:
            self.lose("motion", "JOINT_FRICTION", f"the dry friction of ball joint '{joint.name}'", joint.place)
            joint = replace(joint, friction=0.0)
        if joint.turn_limit < inf and not self.target.ball_springs:
            self.lose("motion", "JOINT_LIMITS", f"the range of ball joint '{joint.name}'", joint.place)
            joint = replace(joint, turn_limit=inf)
        if joint.default_pose is not None and not self.target.default_poses:
            message = f"the pose of '{joint.child}' at the start, in floating joint '{joint.name}'"
            self.lose("lost", "DEFAULT_POSE", message, joint.place)
        pose = joint.default_pose if self.target.default_poses else None
        collides_with_parent = joint.collides_with_parent and self.target.any_lets_touch
        return replace(joint, axes=axes, damping=damping, default_pose=pose, collides_with_parent=collides_with_parent)

    def _axis(self, joint: JointSpec, axis: AxisSpec) -> AxisSpec:
        kept = self._fields(joint) | _ALWAYS
        if joint.kind.axis_is_normal or joint.kind.is_floating:  # their axes have no meaning
            kept |= {field for field in _DEFAULTS if getattr(axis, field) == _DEFAULTS[field]}
        lost = {name for name, default in _DEFAULTS.items() if name not in kept and getattr(axis, name) != default}
        if not self.target.second_axes_lead and axis.mimic is not None and axis.mimic.leader_axis != 0:
            lost.add("mimic")
        for name in sorted(lost):
            self.lose(
                "lost" if name in _WITHOUT_EFFECT | self.target.without_effect else "motion",
                "JOINT_" + name.upper(),
                f"the {_WORDS.get(name, name.replace('_', ' '))} of {joint.type} joint '{joint.name}'",
                axis.place,
            )
        defaults: dict[str, Any] = {name: _DEFAULTS[name] for name in lost}
        return replace(axis, **defaults) if lost else axis

    def _fields(self, joint: JointSpec) -> frozenset[str]:
        form = self.target.joints[joint.type]
        return form.fields if isinstance(form, Form) else frozenset()

    # --------------------------------------------------------------------------- actuators, constraints

    def _actuation(self, model: ModelSpec) -> ModelSpec:
        """One actuator for each joint at most, with its limit and the inertia of the joint's drive in it."""
        actuators, all_kept, through = {}, [], model.transmission_actuators
        equal = () if self.target.transmissions else tuple(filter(None, map(with_equal_limits, through)))
        for actuator in equal:
            most = actuator.effort_limit
            message = f"the smaller limit of actuator '{actuator.name}': the larger, {most!r}, counts both ways"
            self.lose("motion", "ACTUATOR", message, actuator.place)
        for actuator in (*model.actuators, *equal):
            where = f"actuator '{actuator.name}' of joint '{actuator.joint}'"
            if actuator.joint in actuators and not self.target.many_actuators:
                self.lose("motion", "ACTUATOR", f"{where}, which has another", actuator.place)
            elif actuator.effort_limit == 0:
                self.lose("motion", "ACTUATOR", f"{where} has the effort limit 0, which means none", actuator.place)
            else:
                actuators[actuator.joint] = self._aiming(actuator, where)
                all_kept.append(actuators[actuator.joint])
        names = {actuator.name for actuator in equal}
        for other in () if self.target.transmissions else (other for other in through if other.name not in names):
            kind = WORDS_OF_TRANSMISSIONS[other.transmission.kind]
            self.lose("motion", "ACTUATOR", f"actuator '{other.name}', which acts through {kind}", other.place)
        for spring in () if self.target.transmissions else model.tendon_springs:
            self.lose("motion", "SPRING", f"'{spring.name}', a spring along a tendon", spring.place)
        joints = []
        for joint in model.joints:
            drive = actuators.get(joint.name)
            if joint.reflected_inertia and not self.target.lone_drives:
                joint, drive = self._reflected(joint, drive)
                if drive is not None:
                    actuators[joint.name] = drive
            joints.append(self._effort(joint, drive))
        kept = tuple(all_kept if self.target.many_actuators else actuators.values())
        through = through if self.target.transmissions else ()
        springs = model.tendon_springs if self.target.transmissions else ()
        return replace(
            model, joints=tuple(joints), actuators=kept, transmission_actuators=through, tendon_springs=springs
        )

    def _aiming(self, actuator: ActuatorSpec, where: str) -> ActuatorSpec:
        """Controllers of the format aim at the default position that it keeps, at rest."""
        if self.target.any_rest:
            return actuator
        if self.target.rests_at_zero:
            return self._aiming_at_zero(actuator, where)
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

    def _aiming_at_zero(self, actuator: ActuatorSpec, where: str) -> ActuatorSpec:
        """A controller whose input is a position and a control 0 if nobody sets it."""
        if actuator.controller_gains is not None and actuator.control is None:
            joint = next(joint for joint in self.model.joints if joint.name == actuator.joint)
            here = joint.axes[0].default_position if joint.axes else 0.0
            position, velocity = (here, 0.0) if actuator.rest is None else actuator.rest
            if (position, velocity) != (0.0, 0.0):
                message = f"the controller of {where} aims at its control, not at {position!r} by itself"
                self.lose("changed", "ACTUATOR", message, actuator.place)
        return actuator

    def _reflected(self, joint: JointSpec, actuator: ActuatorSpec | None) -> tuple[JointSpec, ActuatorSpec | None]:
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

    def _effort(self, joint: JointSpec, actuator: ActuatorSpec | None) -> JointSpec:
        """The effort limit of an actuator stands in its joint, and 0 in SDFormat where there is neither."""
        if not joint.axes:
            return joint
        first = joint.axes[0]
        effort = first.effort
        if actuator is not None and not self.target.efforts_in_joints:
            effort = inf  # it stands in the actuator
        elif actuator is not None:
            effort = actuator.effort_limit
            if "effort" not in self._fields(joint):
                effort = inf
                if actuator.effort_limit != inf:
                    message = f"the effort limit of the actuator of {joint.type} joint '{joint.name}'"
                    self.lose("motion", "JOINT_EFFORT", message, joint.place)
        elif self.target.zero_effort_is_none and joint.kind.has_one_coordinate and effort == inf:
            effort = 0.0  # no actuator; with a limit NO_ACTUATOR says so
        return replace(joint, axes=(replace(first, effort=effort), *joint.axes[1:]))

    def _has_relation(self, spec: ForceElementSpec | ConstraintSpec) -> bool:
        """Of a force element or constraint."""
        name = getattr(spec, "name", None)
        if name and not self.target.constraint_names:
            self.lose("lost", "CONSTRAINT_NAME", f"the name of constraint '{name}'", spec.place)
        missing = self.target.missing_relation(spec)
        if missing is not None:
            self.lose("motion", "CONSTRAINT", missing, spec.place)
        return missing is None


def _static_links(model: ModelSpec) -> set[str]:
    """Names of links that fixed joints hold at the world."""
    found, pending = {WORLD}, [joint for joint in model.joints if joint.kind.is_fixed]
    grown = True
    while grown:
        grown = False
        for joint in list(pending):
            if joint.parent in found or joint.child in found:
                found |= {joint.parent, joint.child}
                pending.remove(joint)
                grown = True
    return found
