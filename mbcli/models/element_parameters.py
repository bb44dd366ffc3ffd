"""The parameters that elements of a plant have under a name: what they are, how they are read and replaced.

    body      mass, com, inertia
    joint     damping, friction, armature, stiffness, rest_position, default_position, lower_limit, upper_limit,
              velocity_limit, acceleration_limit
    actuator  gear_ratio, rotor_inertia, effort_limit, kp, kd
    geometry  friction, static_friction, dynamic_friction, friction_across, stiffness, dissipation, relaxation_time,
              restitution, bounce_threshold, torsional_friction, rolling_friction, place
    field     vector, of gravity

They are the defaults of a finalized plant: who replaces some lets the plant make its arrays anew, and contexts that are
made from then on have them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ArgumentError
from mbcli.geometry.coulomb_friction import CoulombFriction
from mbcli.geometry.properties import FRICTION_DIRECTION, ProximityProperties
from mbcli.math.rigid_transform import RigidTransform
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia, spatial_inertia_of
from mbcli.multibody.tree.joint_actuator import PdControllerGains
from mbcli.multibody.tree.joint_kinds import has_quaternion
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.math.array_types import Matrix3, Vector, Vector3, Vector6
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement

INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
INERTIA_PLACES = (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)


@dataclass(frozen=True)
class Parameter:
    """One kind of number that elements have.

    read: element -> its values, one or more; None if such an element has none.
    at_least, at_most: the least and largest value that it may have; above: what it must exceed.
    components: names of single values, if there are several.
    """

    read: Callable[[Any], Any]
    unit: str
    at_least: float = -math.inf
    above: float = -math.inf
    at_most: float = math.inf
    infinite: bool = False
    components: tuple[str, ...] = ()

    def refusal(self, values: np.ndarray) -> str | None:
        """Why these values cannot be, or None."""
        for value in values.tolist():
            if math.isnan(value) or (math.isinf(value) and not self.infinite):
                return f"must be finite, it is {value:g}"
            if value < self.at_least:
                return f"must be at least {self.at_least:g}{self.in_unit}, it is {value:g}"
            if value > self.at_most:
                return f"must be at most {self.at_most:g}{self.in_unit}, it is {value:g}"
            if value <= self.above:
                return f"must be greater than {self.above:g}{self.in_unit}, it is {value:g}"
        return None

    @property
    def in_unit(self) -> str:
        """The unit after a number."""
        return "" if self.unit == "1" else f" {self.unit}"


# ---------------------------------------------------------------------------------------------- bodies


def _central_inertia(body: RigidBody) -> Vector6:
    M = body.default_spatial_inertia()
    about_com = M.CalcRotationalInertia().CopyToFullMatrix3() - M.get_mass() * _particle(M.get_com())
    return np.array([about_com[place] for place in INERTIA_PLACES])


BODY = {
    "mass": Parameter(lambda body: body.default_mass(), "kg", at_least=0.0),
    "com": Parameter(lambda body: body.default_com(), "m", components=("x", "y", "z")),
    "inertia": Parameter(_central_inertia, "kg m^2", components=INERTIA),
}


def replace_of_body(body: Any, values: Mapping[str, np.ndarray]) -> None:
    """Replaces mass, centre of mass and inertia about it; a new mass alone is another density."""
    M = body.default_spatial_inertia()
    mass = float(values["mass"][0]) if "mass" in values else M.get_mass()
    com = np.array(values.get("com", M.get_com()))
    if "inertia" in values:
        if not mass:
            raise ArgumentError("a body without mass has no inertia")
        central = RotationalInertia(*map(float, values["inertia"]))
        body.replace_default("M_BBo_B", SpatialInertia.MakeFromCentralInertia(mass, com, central))
        return
    # the unit inertia about the centre of mass stays as the file has it; a body that had no mass is a particle
    unit = M.G_array - _particle(M.get_com()) if M.get_mass() else np.zeros((3, 3))
    body.replace_default("M_BBo_B", spatial_inertia_of(mass, com, unit + _particle(com)))


def _particle(p: Vector3) -> Matrix3:
    return p @ p * np.eye(3) - np.outer(p, p)


# ---------------------------------------------------------------------------------------------- joints


def _spring(joint: Joint) -> JointSpring | None:
    """The one spring on the coordinate of a joint; None if there is none, or several."""
    found = [
        e for e in joint.GetParentPlant().elements.force_elements if isinstance(e, JointSpring) and e.joint() is joint
    ]
    return found[0] if len(found) == 1 else None


def _of_spring(name: str) -> Callable[[Joint], float | None]:
    def read(joint: Joint) -> float | None:
        spring = _spring(joint)
        return None if spring is None else spring.default_of(name)

    return read


def _symmetric(kind: str) -> Callable[[Joint], Vector]:
    def read(joint: Joint) -> Vector:
        return getattr(joint, f"{kind}_upper_limits")()

    return read


JOINT = {
    "damping": Parameter(lambda joint: joint.default_damping_vector(), "N m s/rad or N s/m", at_least=0.0),
    "friction": Parameter(lambda joint: joint.dry_friction, "N m or N", at_least=0.0),
    "armature": Parameter(
        lambda joint: joint.reflected_inertia if joint.num_velocities() else None, "kg m^2 or kg", at_least=0.0
    ),
    "stiffness": Parameter(_of_spring("stiffness"), "N m/rad or N/m", at_least=0.0),
    "rest_position": Parameter(_of_spring("nominal"), "rad or m"),
    "default_position": Parameter(lambda joint: joint.default_positions(), "rad or m"),
    "lower_limit": Parameter(lambda joint: joint.position_lower_limits(), "rad or m", infinite=True),
    "upper_limit": Parameter(lambda joint: joint.position_upper_limits(), "rad or m", infinite=True),
    "velocity_limit": Parameter(_symmetric("velocity"), "rad/s or m/s", at_least=0.0, infinite=True),
    "acceleration_limit": Parameter(_symmetric("acceleration"), "rad/s^2 or m/s^2", at_least=0.0, infinite=True),
}


def replace_of_joint(joint: Any, values: Mapping[str, np.ndarray]) -> None:
    """Replaces what is given of a joint. A limit on speed holds in both directions."""
    if "damping" in values:
        joint.replace_default("damping", values["damping"].copy())
    if "friction" in values:
        joint.dry_friction = values["friction"].copy()
    if "armature" in values:
        joint.reflected_inertia = float(values["armature"][0])
    for name, of_spring in (("stiffness", "stiffness"), ("rest_position", "nominal")):
        if name in values:
            spring = _spring(joint)
            if spring is None:
                raise ArgumentError("a joint without a spring has no stiffness")
            spring.replace_default(of_spring, float(values[name][0]))
    if "default_position" in values:
        if has_quaternion(joint) and not any(values["default_position"][:4]):
            raise ArgumentError("a quaternion of zeros gives no orientation")
        joint.set_default_positions(values["default_position"])
    if "lower_limit" in values or "upper_limit" in values:
        lower = values.get("lower_limit", joint.position_lower_limits())
        upper = values.get("upper_limit", joint.position_upper_limits())
        for low, high in zip(lower.tolist(), upper.tolist(), strict=True):
            if low > high:
                raise ArgumentError(f"the lower limit {low:g} is above the upper limit {high:g}")
        joint.set_position_limits(lower, upper)
    if "velocity_limit" in values:
        joint.set_velocity_limits(-values["velocity_limit"], values["velocity_limit"])
    if "acceleration_limit" in values:
        joint.set_acceleration_limits(-values["acceleration_limit"], values["acceleration_limit"])


# ------------------------------------------------------------------------------------------- actuators


def _gain(name: str) -> Callable[[JointActuator], float | None]:
    def read(actuator: JointActuator) -> float | None:
        return getattr(actuator.get_controller_gains(), name) if actuator.has_controller() else None

    return read


ACTUATOR = {
    "gear_ratio": Parameter(lambda actuator: actuator.default_gear_ratio(), "1 or 1/m"),
    "rotor_inertia": Parameter(lambda actuator: actuator.default_rotor_inertia(), "kg m^2", at_least=0.0),
    "effort_limit": Parameter(lambda actuator: actuator.effort_limit(), "N m or N", above=0.0, infinite=True),
    "kp": Parameter(_gain("p"), "N m/rad or N/m", at_least=0.0),
    "kd": Parameter(_gain("d"), "N m s/rad or N s/m", at_least=0.0),
}


def replace_of_actuator(actuator: Any, values: Mapping[str, np.ndarray]) -> None:
    """Replaces what is given of an actuator. Gains are those of a controller that it has; with both 0 it has none."""
    for name in ("gear_ratio", "rotor_inertia"):
        if name in values:
            actuator.replace_default(name, float(values[name][0]))
    if "effort_limit" in values:
        actuator.set_effort_limit(float(values["effort_limit"][0]))
    if "kp" in values or "kd" in values:
        gains = actuator.get_controller_gains()
        p, d = (float(values[name][0]) if name in values else was for name, was in (("kp", gains.p), ("kd", gains.d)))
        if not p and not d:  # no controller any more, whatever the others of its model instance have
            actuator.parent_plant.mixes_controllers = True
        actuator.replace_gains(PdControllerGains(p=p, d=d))


# ------------------------------------------------------------------------------------------ geometries

PROPERTY = {
    "stiffness": "point_contact_stiffness",
    "dissipation": "hunt_crossley_dissipation",
    "relaxation_time": "relaxation_time",
    "friction_across": "friction_across",
    "torsional_friction": "torsional_friction",
    "rolling_friction": "rolling_friction",
    "restitution": "restitution",
    "bounce_threshold": "bounce_threshold",
}
DIMENSIONS = {"torsional_friction": 4, "rolling_friction": 6}  # `condim` of a geometry of MJCF that has it


def _proximity(geometry: GeometryInstance) -> ProximityProperties:
    properties = geometry.proximity
    if properties is None:
        raise ArgumentError("it does not collide")
    return properties


def _friction(kind: str) -> Callable[[GeometryInstance], float]:
    def read(geometry: GeometryInstance) -> float:
        return getattr(_proximity(geometry).GetProperty("material", "coulomb_friction"), f"{kind}_friction")()

    return read


def _property(name: str) -> Callable[[GeometryInstance], float]:
    def read(geometry: GeometryInstance) -> float:
        value = _proximity(geometry).GetPropertyOrDefault("material", PROPERTY[name], None)
        return math.nan if value is None else value  # of a setting, or by the weight of the model

    return read


def _turning(name: str) -> Callable[[GeometryInstance], float]:
    def read(geometry: GeometryInstance) -> float:
        properties = _proximity(geometry)
        if properties.GetPropertyOrDefault("mujoco", "condim", DIMENSIONS[name]) < DIMENSIONS[name]:
            return 0.0
        return properties.GetPropertyOrDefault("material", name, 0.0)

    return read


GEOMETRY = {
    "friction": Parameter(_friction("dynamic"), "1", at_least=0.0),
    "static_friction": Parameter(_friction("static"), "1", at_least=0.0),
    "dynamic_friction": Parameter(_friction("dynamic"), "1", at_least=0.0),
    "friction_across": Parameter(_property("friction_across"), "1", at_least=0.0),
    "stiffness": Parameter(_property("stiffness"), "N/m", above=0.0),
    "dissipation": Parameter(_property("dissipation"), "s/m", at_least=0.0),
    "relaxation_time": Parameter(_property("relaxation_time"), "s", at_least=0.0),
    "torsional_friction": Parameter(_turning("torsional_friction"), "m", at_least=0.0),
    "rolling_friction": Parameter(_turning("rolling_friction"), "m", at_least=0.0),
    "restitution": Parameter(_property("restitution"), "1", at_least=0.0, at_most=1.0),
    "bounce_threshold": Parameter(_property("bounce_threshold"), "m/s", above=0.0),
    "place": Parameter(lambda geometry: geometry.pose().translation(), "m", components=("x", "y", "z")),
}


BOTH_FRICTIONS = ("static_friction", "dynamic_friction")  # what `friction` of a geometry stands for


def replace_of_geometry(geometry: Any, values: Mapping[str, np.ndarray]) -> None:
    """Replaces what is given of a geometry."""
    properties = geometry.proximity
    before = properties.GetProperty("material", "coulomb_friction")
    static = float(values.get("static_friction", [before.static_friction()])[0])
    dynamic = float(values.get("dynamic_friction", [before.dynamic_friction()])[0])
    if dynamic > static:
        raise ArgumentError(f"its dynamic friction {dynamic:g} is greater than its static friction {static:g}")
    properties.UpdateProperty("material", "coulomb_friction", CoulombFriction(static, dynamic))
    if "place" in values:
        geometry.set_pose(RigidTransform(geometry.pose().rotation(), values["place"]))
    if "friction_across" in values and not properties.HasProperty("material", FRICTION_DIRECTION):
        raise ArgumentError("its friction has no direction: it is the same in all")
    for name, there in PROPERTY.items():
        if name in values:
            properties.RemoveProperty("material", there)  # None stands for a default
            properties.UpdateProperty("material", there, float(values[name][0]))
    if properties.HasProperty("mujoco", "condim"):
        for name in DIMENSIONS.keys() & values.keys():
            if properties.GetProperty("mujoco", "condim") < DIMENSIONS[name]:
                properties.UpdateProperty("mujoco", "condim", DIMENSIONS[name])


# ---------------------------------------------------------------------------------------------- fields

FIELD = {"vector": Parameter(lambda field: field.gravity_vector(), "m/s^2", components=("x", "y", "z"))}


def replace_of_field(field: Any, values: Mapping[str, np.ndarray]) -> None:
    """Replaces the vector of the gravity field."""
    field.replace_vector(values["vector"])


# ------------------------------------------------------------------------------------------ all kinds


def _keep_field(field: UniformGravityFieldElement) -> Callable[[], None]:
    vector = field.gravity_vector()
    return lambda: field.replace_vector(vector)


def _keep_body(body: RigidBody) -> Callable[[], None]:
    M = body.default_of("M_BBo_B")
    return lambda: body.replace_default("M_BBo_B", M)


def _keep_joint(joint: Joint) -> Callable[[], None]:
    damping, friction, armature = joint.default_damping_vector(), joint.dry_friction, joint.reflected_inertia
    positions, spring = joint.default_positions(), _spring(joint)
    of_spring = {} if spring is None else {name: spring.default_of(name) for name in ("stiffness", "nominal")}
    limits = {
        kind: (getattr(joint, f"{kind}_lower_limits")(), getattr(joint, f"{kind}_upper_limits")())
        for kind in ("position", "velocity", "acceleration")
    }

    def restore() -> None:
        joint.replace_default("damping", damping)
        joint.dry_friction, joint.reflected_inertia = friction, armature
        joint.set_default_positions(positions)
        if spring is not None:
            for name, value in of_spring.items():
                spring.replace_default(name, value)
        for kind, (lower, upper) in limits.items():
            getattr(joint, f"set_{kind}_limits")(lower, upper)

    return restore


def _keep_actuator(actuator: JointActuator) -> Callable[[], None]:
    ratio, rotor = actuator.default_gear_ratio(), actuator.default_rotor_inertia()
    effort, gains = actuator.effort_limit(), actuator.get_controller_gains() if actuator.has_controller() else None

    def restore() -> None:
        actuator.replace_default("gear_ratio", ratio)
        actuator.replace_default("rotor_inertia", rotor)
        actuator.set_effort_limit(effort)
        if gains is not None:
            actuator.replace_gains(gains)

    return restore


def _keep_geometry(geometry: GeometryInstance) -> Callable[[], None]:
    before, X_PG = ProximityProperties(geometry.proximity), geometry.pose()

    def restore() -> None:
        geometry.proximity = before
        geometry.set_pose(X_PG)

    return restore


@dataclass(frozen=True)
class Kind:
    """A kind of elements.

    table: its parameters by name.
    replace: (element, {name: values}) -> None.
    keep: element -> a function that gives the element back what it has now.
    """

    table: dict[str, Parameter]
    replace: Callable[[Any, Mapping[str, np.ndarray]], None]
    keep: Callable[[Any], Callable[[], None]]


KINDS = {
    "body": Kind(BODY, replace_of_body, _keep_body),
    "joint": Kind(JOINT, replace_of_joint, _keep_joint),
    "actuator": Kind(ACTUATOR, replace_of_actuator, _keep_actuator),
    "geometry": Kind(GEOMETRY, replace_of_geometry, _keep_geometry),
    "field": Kind(FIELD, replace_of_field, _keep_field),
}
