"""The contents of a model file, in one form for every format: frozen dataclasses, SI units, radians.

A parser fills these; `mbcli.multibody.parsing` is the only reader. Nothing here knows a plant, a file format
or XML. Names are as the file gives them, references between elements are by name and already resolved to links
of the same model (or to "world"). A pose `X_AB` is a read-only 4x4 array (float64) that takes coordinates in B to
coordinates in A. Infinite limits mean that the file sets none.
"""

from __future__ import annotations

from dataclasses import field
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbcli.parsers.joint_kinds import JOINT_KINDS

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.parsers.joint_kinds import JointKind
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix4

_EYE = np.eye(4)


def pose(rotation: ArrayLike | None = None, translation: Iterable[float] | None = None) -> Matrix4:
    """A read-only 4x4 pose from a 3x3 rotation and a translation [m]; identity if one is missing."""
    X = _EYE.copy()
    if rotation is not None:
        X[:3, :3] = rotation
    if translation is not None:
        X[0, 3], X[1, 3], X[2, 3] = translation  # sooner than by a slice
    X.setflags(write=False)
    return X


IDENTITY = pose()


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """The place of an element: file name as the user gave it, line and column from 1 (0: unknown), or a prim of USD."""

    file: str
    line: int = 0
    column: int = 0
    prim: str = ""  # its path

    def __str__(self) -> str:
        if not self.line:
            return f"{self.file}:{self.prim}" if self.prim else self.file
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


# ---------------------------------------------------------------------------------------------- geometry


@dataclass(frozen=True, slots=True)
class Box:
    size: tuple[float, float, float]  # [m] full lengths along x, y, z


@dataclass(frozen=True, slots=True)
class Sphere:
    radius: float  # [m]


@dataclass(frozen=True, slots=True)
class Cylinder:
    radius: float  # [m]
    length: float  # [m] along z


@dataclass(frozen=True, slots=True)
class Capsule:
    radius: float  # [m]
    length: float  # [m] of the cylindrical part, along z


@dataclass(frozen=True, slots=True)
class Ellipsoid:
    radii: tuple[float, float, float]  # [m] semi-axes along x, y, z


@dataclass(frozen=True, slots=True)
class HalfSpace:
    """Everything below z = 0 of its own frame."""


@dataclass(frozen=True, slots=True)
class Mesh:
    uri: str  # as in the file
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    convex: bool = False  # the file declares it convex
    path: str | None = None  # of the file that the URI leads to; None: not found, or not looked for
    submesh: str | None = None  # name of the part of the file; None: all of it
    center: bool = False  # whether the middle of that part is moved to the origin


@dataclass(frozen=True, slots=True)
class Cone:
    """Along z, its tip up, about the middle of its length."""

    radius: float  # [m]
    length: float  # [m]


@dataclass(frozen=True, slots=True)
class Polyline:
    """The prism from z = 0 up over outlines in the xy plane; an outline within another one is a hole."""

    outlines: tuple[tuple[tuple[float, float], ...], ...]  # [m] each without its end
    height: float  # [m]


@dataclass(frozen=True, slots=True, eq=False)
class HeightField:
    """The solid from z = -base up to heights over a grid, as mbcli.geometry.shapes.HeightField has it."""

    heights: np.ndarray  # [m] (rows along y, columns along x), read-only
    x: float  # [m] half of its length
    y: float  # [m]
    base: float  # [m]


Shape = Box | Sphere | Cylinder | Capsule | Ellipsoid | HalfSpace | Mesh | Cone | Polyline | HeightField


@dataclass(frozen=True, slots=True)
class GeometrySpec:
    name: str
    shape: Shape
    X_LG: np.ndarray  # pose in the link frame
    place: SourceLocation
    color: tuple[float, float, float, float] | None = None  # RGBA of a visual
    # proximity properties of a collision, by (group, name), SI: ("material", "coulomb_friction") -> (static, dynamic);
    # friction_direction: in the frame of the shape, or in the link friction_direction_body
    properties: dict = field(default_factory=dict)


# --------------------------------------------------------------------------------------- deformable bodies


@dataclass(frozen=True, slots=True)
class WallSpec:
    """Vertices of a deformable body that are behind a plane stay where they are."""

    point: tuple[float, float, float]  # [m] of the plane, in World
    normal: tuple[float, float, float]  # out of the wall
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class DeformableSpec:
    """A link that is an elastic body. It is not among the links of its model, nothing is fixed to it."""

    name: str
    place: SourceLocation
    geometry: GeometrySpec  # the collision: shape and contact properties
    config: Any  # DeformableBodyConfig: the material
    X_ModelD: np.ndarray = field(default_factory=lambda: IDENTITY)  # pose of the mesh in the model frame
    walls: tuple[WallSpec, ...] = ()
    color: tuple[float, float, float, float] | None = None  # RGBA
    gravity: bool = True


# ------------------------------------------------------------------------------------- links and frames


@dataclass(frozen=True, slots=True)
class InertialSpec:
    mass: float  # [kg]
    X_LI: np.ndarray  # pose of the inertial frame I, its origin the centre of mass, in the link frame
    # ixx, iyy, izz, ixy, ixz, iyz [kg m^2] about the centre of mass in the axes of I; products as -integral(x y dm)
    inertia: tuple[float, float, float, float, float, float]
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class LinkSpec:
    name: str
    place: SourceLocation
    inertial: InertialSpec | None = None  # None: the file gives none, the link has no mass
    X_ModelL: np.ndarray = field(default_factory=lambda: IDENTITY)  # default pose in the model frame
    visuals: tuple[GeometrySpec, ...] = ()
    collisions: tuple[GeometrySpec, ...] = ()
    gravity: bool = True  # False: the file takes the link out of gravity
    kinematic: bool = False  # no force moves it: it stays where it is
    # at the start, of a link that floats: w_WL [rad/s], v of its centre of mass [m/s], in World
    velocity: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class FrameSpec:
    name: str
    link: str  # the link (or "world") it is fixed to, after following attached_to
    X_LF: np.ndarray  # pose in that link's frame
    place: SourceLocation


# -------------------------------------------------------------------------------------- joints, actuators


@dataclass(frozen=True, slots=True)
class MimicSpec:
    """q = multiplier * q_leader + offset."""

    leader: str  # joint name
    multiplier: float
    offset: float  # [rad or m]
    place: SourceLocation
    leader_axis: int = 0


@dataclass(frozen=True, slots=True)
class AxisSpec:
    """One axis of a joint. Units by joint: rad, N m for a rotation; m, N for a translation."""

    xyz: tuple[float, float, float]  # unit vector in the joint frame
    place: SourceLocation
    lower: float = -inf  # position limits
    upper: float = inf
    velocity: float = inf  # symmetric limits
    acceleration: float = inf
    deceleration: float = inf
    jerk: float = inf
    stop_stiffness: float = inf  # of position limits [N m/rad or N/m]; inf: not given
    stop_dissipation: float = inf  # of position limits [s/rad or s/m], where stop_stiffness is given
    # of position limits: MuJoCo's solref (2,), solimp (5,) and margin [rad or m]; None: not given
    softness: tuple[float, ...] | None = None
    effort: float = inf  # inf: not given (an effort of 0 means that the joint is not actuated)
    damping: float = 0.0  # viscous
    friction: float = 0.0  # Coulomb
    spring_reference: float = 0.0
    spring_stiffness: float = 0.0
    mimic: MimicSpec | None = None
    default_position: float = 0.0
    drakes_limits: tuple[float, float] | None = None  # of a continuous joint of URDF: they act in Drake alone


@dataclass(frozen=True, slots=True)
class JointSpec:
    """A joint between frame F on the parent and frame M on the child; F = M if all coordinates are zero."""

    name: str
    type: str  # a key of JOINT_KINDS
    parent: str  # link, or "world"
    child: str  # link, or "world"
    X_PF: np.ndarray  # pose of F in the parent link's frame
    X_CM: np.ndarray  # pose of M in the child link's frame
    place: SourceLocation
    axes: tuple[AxisSpec, ...] = ()
    screw_pitch: float = 0.0  # [m] per revolution
    damping: tuple[float, ...] = ()  # types without axes: planar (x, y, rotation), ball (1), floating (angular, linear)
    stiffness: float = 0.0  # of a ball joint [N m/rad] from the orientation in which F = M
    friction: float = 0.0  # of a ball joint [N m], on each of its velocities
    turn_limit: float = inf  # of a ball joint [rad], about any axis from where F = M
    reflected_inertia: float = 0.0  # [kg m^2 or kg] on every velocity, of a drive that is not an actuator
    default_pose: np.ndarray | None = None  # X_FM of a floating joint at the start; None: the identity
    collides_with_parent: bool = (
        False  # parent and child may touch, which bodies that a joint connects do not by default
    )

    @property
    def kind(self) -> JointKind:
        return JOINT_KINDS[self.type]


class ServoControl(NamedTuple):
    """The force of a servo beside that with which it aims at rest: force (clip(control) - rest) [N m or N]."""

    force: float | None  # of a unit of control, on the joint; None: it depends on the motion
    rest: float  # the control of rest
    limits: tuple[float, float]  # of the control


@dataclass(frozen=True, slots=True)
class ActuatorSpec:
    name: str
    joint: str
    place: SourceLocation
    effort_limit: float = inf  # [N m or N]
    rotor_inertia: float = 0.0  # [kg m^2]
    gear_ratio: float = 1.0  # rotor speed over joint speed
    controller_gains: tuple[float, float] | None = None  # p, d
    # position [rad or m] and velocity [rad/s or m/s] at which its controller aims where nothing is asked of it; None:
    # the default position, at rest
    rest: tuple[float, float] | None = None
    control: ServoControl | None = None  # of a servo whose format calls its input a control


class CommandSpec(NamedTuple):
    """The command interfaces of a joint in <ros2_control>: "effort", "position", "velocity" and others."""

    joint: str
    interfaces: tuple[str, ...]
    place: SourceLocation


class PathPoint(NamedTuple):
    """An element of the path of a tendon, or a site: "point"; "sphere" or "cylinder" about z; "pulley"."""

    kind: str
    link: str  # "world" included; of a pulley too
    X_LP: np.ndarray = IDENTITY
    size: float = 0.0  # [m] radius of a solid, length of the rod at a crank; divisor of a pulley
    side: tuple[str, np.ndarray] | None = None  # (link, X_LS) at whose side a tendon passes a solid; None: the shorter


class TransmissionSpec(NamedTuple):
    """What an actuator acts through: a length, or a wrench at a site, times the gear.

    kind: "sum" of coefficients times joint positions; "path" over points and solids; "site" whose gear is a wrench
    along its axes, or those of two more elements for force and torque; "site in site", its position and rotation vector
    in the other; "crank", the site of a crank and that of its slider; "contact", a pull at what a link touches.
    joints of another kind than "sum": the one whose rotation is measured, which transmits the effort.
    """

    kind: str
    gear: tuple[float, ...]  # 6; of a length the first alone
    joints: tuple[str, ...] = ()
    coefficients: tuple[float, ...] = ()
    path: tuple[PathPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class ActuatorLaw:
    """force = clamp(gain x + bias), x the control or the activation; see engine/smooth/actuator_laws.py."""

    gain: tuple[float, ...] = (1.0,)  # up to 9 numbers: c0 + c1 length + c2 rate, or those of a muscle
    bias: tuple[float, ...] = ()  # likewise
    gain_kind: str = "affine"  # "muscle"
    bias_kind: str = "none"  # "affine", "muscle"; "spring": stiffness, damping, lengths between which it is slack
    dynamics: str = "none"  # "integrator", "filter", "filterexact", "muscle"
    dynamics_numbers: tuple[float, ...] = ()  # time constant; of a muscle up, down and smoothing
    control: tuple[float, float] = (-inf, inf)
    force: tuple[float, float] = (-inf, inf)  # [N or N m] before the gear
    activation: tuple[float, float] = (-inf, inf)
    is_early: bool = False  # the force is that of the activation after the step
    lengths: tuple[float, float] | None = (0.0, 0.0)  # of a muscle, shortest and longest; None: found by the plant
    within: tuple[float, float] = (-inf, inf)  # limits of lengths that are found
    together: tuple[float, float] = (-inf, inf)  # of force times gear of all on the same joint or tendon
    damping_ratio: float = 0.0  # of a servo, whose damping follows from the mass that it moves by default
    bears_weight: bool = False  # the force of `together` holds the links without gravity, too


@dataclass(frozen=True, slots=True)
class TransmissionActuatorSpec:
    """An actuator that is not one of a joint of one coordinate, or whose law such a one cannot hold."""

    name: str
    transmission: TransmissionSpec
    law: ActuatorLaw
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class TendonSpringSpec(TransmissionActuatorSpec):
    """What acts through a transmission and has no input: a spring and damper along a tendon."""

    joints: tuple[str, ...] = ()  # without a length at rest, which is that where these have the
    rest_positions: tuple[float, ...] = ()  # [m or rad]


# ------------------------------------------------------------------------ force elements and constraints
# Their frames are names of links or frames of the model ("world" included); a nested model's are "MODEL::NAME".


@dataclass(frozen=True, slots=True)
class BushingSpec:
    """A linear bushing with roll-pitch-yaw angles between frame A and frame C; all triples along x, y, z."""

    frame_A: str
    frame_C: str
    torque_stiffness: tuple[float, float, float]  # [N m/rad]
    torque_damping: tuple[float, float, float]  # [N m s/rad]
    force_stiffness: tuple[float, float, float]  # [N/m]
    force_damping: tuple[float, float, float]  # [N s/m]
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class SpringDamperSpec:
    """A spring and damper along the line from point P of link A to point Q of link B."""

    link_A: str
    p_AP: tuple[float, float, float]  # [m]
    link_B: str
    p_BQ: tuple[float, float, float]  # [m]
    free_length: float  # [m]
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class BallConstraintSpec:
    """Point P of link A and point Q of link B coincide."""

    link_A: str
    p_AP: tuple[float, float, float]  # [m]
    link_B: str
    p_BQ: tuple[float, float, float]  # [m]
    place: SourceLocation
    name: str | None = None


@dataclass(frozen=True, slots=True)
class DistanceConstraintSpec:
    """Point P of link A and point Q of link B keep their distance or its limits, rigidly or by a spring and damper."""

    link_A: str
    p_AP: tuple[float, float, float]  # [m]
    link_B: str
    p_BQ: tuple[float, float, float]  # [m]
    distance: float  # [m]
    place: SourceLocation
    stiffness: float = inf  # [N/m]
    damping: float = 0.0  # [N s/m]
    name: str | None = None
    least: float | None = None  # [m] if given, the distance is free from this to `distance`


@dataclass(frozen=True, slots=True)
class WeldConstraintSpec:
    """Frame P of link A and frame Q of link B coincide."""

    link_A: str
    X_AP: np.ndarray
    link_B: str
    X_BQ: np.ndarray
    place: SourceLocation
    name: str | None = None


@dataclass(frozen=True, slots=True)
class TendonConstraintSpec:
    """lower <= sum_i a_i q_i + offset <= upper, over joints of one coordinate."""

    joints: tuple[str, ...]
    a: tuple[float, ...]  # [m/rad or 1]
    place: SourceLocation
    offset: float = 0.0  # [m]
    lower: float = -inf
    upper: float = inf
    stiffness: float = inf  # [N/m] beyond these; 0: there is the damping alone
    damping: float = 0.0  # [N s/m]
    name: str | None = None


ForceElementSpec = BushingSpec | SpringDamperSpec
ConstraintSpec = BallConstraintSpec | DistanceConstraintSpec | WeldConstraintSpec | TendonConstraintSpec


# ------------------------------------------------------------------------------------------- sensors


@dataclass(frozen=True, slots=True)
class SensorSpec:
    """What a file mounts on a link, joint, tendon or actuator to measure it; names are those of its model."""

    name: str
    kind: str  # a name of mbcli.sensors.SENSORS
    type: str  # what the format calls it
    place: SourceLocation
    mount: tuple[str, np.ndarray] | None = None  # (link or "world", X_LS of the frame S of the sensor in it)
    reference: tuple[str, np.ndarray] | None = None  # the same of the frame that it measures in; None: World
    joints: tuple[tuple[str, float], ...] = ()  # whose coordinates it measures, with their coefficients
    offset: float = 0.0  # [m] added to them
    actuator: str | None = None
    settings: dict = field(default_factory=dict)  # of its kind
    rate: float = 0.0  # [Hz] of updates; 0: none is stated
    delay: float = 0.0  # [s] after which a value arrives
    cutoff: float = 0.0  # size beyond which values are cut; 0: none
    noise: tuple[Any, ...] = ()  # mbcli.sensors.settings.NoiseSettings


# ------------------------------------------------------------------------------------------- plugins


@dataclass(frozen=True, slots=True)
class PluginSpec:
    """What a file lets act on joints and links in a run; names are those of its model."""

    kind: str  # a name of mbcli.plugins.PLUGINS
    place: SourceLocation
    joints: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (role, joints)
    links: tuple[tuple[str, tuple[str, ...]], ...] = ()  # (role, links)
    settings: dict = field(default_factory=dict)  # of its kind


# ---------------------------------------------------------------------------------------- named states


@dataclass(frozen=True, slots=True)
class PostureSpec:
    """A named state of a model: a keyframe of MJCF, a group state of SRDF. Coordinates that it leaves out keep theirs.

    A joint without axes has these coordinates: a ball roll, pitch, yaw [rad] and the angular velocity of M in F; other
    types those of the joint of a plant. Links that nothing holds have poses and velocities of their own.
    """

    name: str
    positions: tuple[tuple[str, tuple[float, ...]], ...]  # (joint, its positions [rad or m])
    velocities: tuple[tuple[str, tuple[float, ...]], ...]  # (joint, its velocities [rad/s or m/s])
    place: SourceLocation
    poses: tuple[tuple[str, np.ndarray], ...] = ()  # (free link, X_ModelL)
    # (free link, its spatial velocity in the model frame: angular [rad/s], then that of Lo [m/s])
    spatial_velocities: tuple[tuple[str, tuple[float, float, float, float, float, float]], ...] = ()


# ------------------------------------------------------------------------------------------- the model


@dataclass(frozen=True, slots=True)
class CollisionFilterGroupSpec:
    name: str
    members: tuple[str, ...]  # link names
    ignores: tuple[str, ...]  # group names
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class ContactPairSpec:
    """Two collisions that touch whatever filters say, with a law of their own."""

    collision_A: tuple[str, int]  # link, which of its collisions
    collision_B: tuple[str, int]
    friction: float  # Coulomb coefficient
    torsional_friction: float  # [m]
    rolling_friction: float  # [m]
    margin: float  # [m] distance below which they touch
    place: SourceLocation
    friction_across: float | None = None  # across MuJoCo's first tangent, along which `friction` holds; None: the same
    softness: tuple[float, ...] | None = None  # MuJoCo's solref (2,) and solimp (5,); None: not given


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read, as a log keeps it."""

    path: str
    sha256: str
    content: bytes


@dataclass(frozen=True, slots=True)
class SemanticSpec:
    """What an SRDF file says of a model."""

    model: str  # name of its ModelSpec
    place: SourceLocation
    filtered_pairs: tuple[tuple[str, str], ...]  # names of links that are not to collide
    postures: tuple[PostureSpec, ...]
    sources: tuple[SourceFile, ...]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model: becomes one model instance of a plant, and one more for each model nested in it.

    A nested model has its own elements; this one refers to them as "MODEL::NAME", at any depth.
    Joints may close loops: the plant decides which of them are cut.
    """

    name: str
    format: str  # "urdf", "sdf", "mjcf", "usd"
    version: str  # of the format, as the file states it
    place: SourceLocation
    links: tuple[LinkSpec, ...] = ()
    deformables: tuple[DeformableSpec, ...] = ()
    joints: tuple[JointSpec, ...] = ()
    frames: tuple[FrameSpec, ...] = ()
    actuators: tuple[ActuatorSpec, ...] = ()
    commanded: tuple[CommandSpec, ...] = ()  # of files without <transmission>; a Parser makes nothing of them
    transmission_actuators: tuple[TransmissionActuatorSpec, ...] = ()
    tendon_springs: tuple[TendonSpringSpec, ...] = ()
    force_elements: tuple[ForceElementSpec, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    filter_groups: tuple[CollisionFilterGroupSpec, ...] = ()
    contact_pairs: tuple[ContactPairSpec, ...] = ()
    postures: tuple[PostureSpec, ...] = ()
    sensors: tuple[SensorSpec, ...] = ()
    plugins: tuple[PluginSpec, ...] = ()
    models: tuple[ModelSpec, ...] = ()  # nested, in the order of the file
    is_world: bool = False  # a world file: its own elements are the world's, its models stand beside each other
    static: bool = False  # every link without a joint to the world is welded to it
    X_WModel: np.ndarray = field(default_factory=lambda: IDENTITY)  # default pose of the model frame in the world
    X_LinkModel: tuple[str, np.ndarray] | None = None  # (link, pose of the model frame in it); None: no model frame
    gravity: tuple[float, float, float] | None = None  # [m/s^2] of the whole plant, in World; None: not stated
    time_step: float | None = None  # [s] of the steps that a world asks for; None: not stated
    wind: tuple[float, float, float] | None = None  # [m/s] of the air of a world; None: not stated
    sources: tuple[SourceFile, ...] = ()
