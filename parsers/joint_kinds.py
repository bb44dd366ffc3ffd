"""The kinds of joints that a `ModelSpec` has: what each is, and how each format states it. One record a kind.

Readers, writers, checks and plants ask the record (`JointSpec.kind`), so that a new kind is a new record in `_KINDS`.
It names every format that is written: with a `Form`, a `Substitute`, or a `Refusal`. One that is left out is an error
when parsers.formats is imported.
"""

from __future__ import annotations

from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import TypeAlias

    Direction: TypeAlias = tuple[float, float, float]
    Stated: TypeAlias = "Form | Substitute | Refusal"

HINGE, SLIDE, BALL, FREE = "hinge", "slide", "ball", "free"
SIZES = {HINGE: (1, 1), SLIDE: (1, 1), BALL: (4, 3), FREE: (7, 6)}  # numbers of positions and velocities
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Motion:
    """One of the motions that make up a joint, each on the one before: HINGE, SLIDE, BALL or FREE.

    direction: in the frame that the motions before have moved; None: that of the joint's axis. ending: of its name, as
    one of several joints. by_pitch: it travels with the turn before it, by the pitch of the joint.
    """

    kind: str
    direction: Direction | None = None
    ending: str = ""
    by_pitch: bool = False


@dataclass(frozen=True)
class Form:
    """What a format has for joints of a kind.

    elements: (tag, type in it) of those that are read; the first is written. fields: of AxisSpec, beside direction and
    place. dampings: how many numbers of JointSpec.damping it has. loops: "joint" or "constraint", what a joint that
    closes a loop is written as; "": nothing for that.
    """

    elements: tuple[tuple[str, str], ...] = ()
    fields: frozenset[str] = frozenset()
    dampings: int = 0
    loops: str = ""

    @property
    def tag(self) -> str:
        """Of the element that is written."""
        return self.elements[0][0]

    @property
    def word(self) -> str:
        """The type in it."""
        return self.elements[0][1]


@dataclass(frozen=True)
class Substitute:
    """Another kind that a format has instead, and what the joint is then without."""

    kind: str
    loss: str


@dataclass(frozen=True)
class Refusal:
    """Why a format cannot state joints of a kind."""

    why: str


@dataclass(frozen=True, kw_only=True)
class JointKind:
    """What the joints of a kind are.

    motions: what they are made of. num_axes: AxisSpecs of a JointSpec. plant: the type of joint in plants,
    plant_of_drake: in those that have Drake's, if another. forms: {format: how it states them}. num_dampings: how many
    JointSpec.damping has. endless: they turn without limits. has_angles: their rotation has roll, pitch and yaw, no
    quaternion. axis_is_normal: the axis of a file is the normal of a plane, and has no limits and no dynamics.
    """

    motions: tuple[Motion, ...]
    num_axes: int
    plant: str
    plant_of_drake: str = ""
    forms: Mapping[str, Stated]
    num_dampings: int = 0
    endless: bool = False
    has_angles: bool = False
    axis_is_normal: bool = False

    def type_in_plants(self, ball_joints: str) -> str:
        """The type of joint in plants by `plant_config.ball_joints`."""
        return self.plant_of_drake or self.plant if ball_joints == "drake" else self.plant

    @cached_property
    def num_velocities(self) -> int:
        return sum(SIZES[motion.kind][1] for motion in self.motions if not motion.by_pitch)

    @cached_property
    def num_positions(self) -> int:
        return sum(SIZES[motion.kind][0] for motion in self.motions if not motion.by_pitch) - self.has_angles

    @cached_property
    def is_fixed(self) -> bool:
        return not self.motions

    @cached_property
    def turns(self) -> bool:
        """Whether it turns about one axis, and does nothing else."""
        return [motion.kind for motion in self.motions] == [HINGE]

    @cached_property
    def slides(self) -> bool:
        """Whether it slides along one axis, and does nothing else."""
        return [motion.kind for motion in self.motions] == [SLIDE]

    @cached_property
    def has_one_coordinate(self) -> bool:
        """Whether it moves along or about one axis: it can be actuated, and follow another joint."""
        return self.num_velocities == 1

    @cached_property
    def has_pitch(self) -> bool:
        return any(motion.by_pitch for motion in self.motions)

    @cached_property
    def is_compound(self) -> bool:
        """Whether it is several joints where a format has only hinges and slides."""
        return len(self.motions) > 1

    @cached_property
    def is_ball(self) -> bool:
        return [motion.kind for motion in self.motions] == [BALL]

    @cached_property
    def is_floating(self) -> bool:
        return [motion.kind for motion in self.motions] == [FREE]

    @cached_property
    def has_quaternion(self) -> bool:
        """Whether its rotation has a quaternion."""
        return (self.is_ball or self.is_floating) and not self.has_angles


# ------------------------------------------------------------------------------------------ fields of AxisSpec

DYNAMICS = frozenset({"damping", "friction"})
STOPS = frozenset({"stop_stiffness", "stop_dissipation"})
_RANGE = frozenset({"lower", "upper"})
_SPRING = frozenset({"spring_reference", "spring_stiffness"})
_DEFAULT = frozenset({"default_position"})
_LIMITS = _RANGE | {"velocity", "acceleration"}
_EFFORT = frozenset({"effort", "mimic"})

_URDF = _LIMITS | DYNAMICS | _EFFORT | {"deceleration", "jerk"}
_SDF = _LIMITS | DYNAMICS | _EFFORT | STOPS | _SPRING | _DEFAULT
_MJCF = _RANGE | DYNAMICS | _EFFORT | _SPRING | _DEFAULT
_USD = _RANGE | DYNAMICS | _EFFORT | _SPRING | _DEFAULT | {"velocity"}
_NO_ANGLES = Substitute(
    "quaternion_floating", "has roll, pitch and yaw: a floating joint of the format has a quaternion"
)

_KINDS = {
    "fixed": JointKind(
        motions=(),
        num_axes=0,
        plant="weld",
        forms={
            "urdf": Form((("joint", "fixed"), ("loop_joint", "fixed")), loops="joint"),
            "sdf": Form((("joint", "fixed"),)),
            "mjcf": Form(loops="constraint"),
            "usd": Form((("PhysicsFixedJoint", ""),), loops="constraint"),
        },
    ),
    "revolute": JointKind(
        motions=(Motion(HINGE),),
        num_axes=1,
        plant="revolute",
        forms={
            "urdf": Form((("joint", "revolute"), ("loop_joint", "revolute")), _URDF, loops="joint"),
            "sdf": Form((("joint", "revolute"),), _SDF),
            "mjcf": Form((("joint", "hinge"),), _MJCF, loops="constraint"),
            "usd": Form((("PhysicsRevoluteJoint", ""),), _USD, loops="joint"),
        },
    ),
    "continuous": JointKind(
        motions=(Motion(HINGE),),
        num_axes=1,
        plant="revolute",
        endless=True,
        forms={
            "urdf": Form((("joint", "continuous"), ("loop_joint", "continuous")), _URDF, loops="joint"),
            "sdf": Form((("joint", "continuous"),), _SDF),
            "mjcf": Form((("joint", "hinge"),), _MJCF, loops="constraint"),
            "usd": Form((("PhysicsRevoluteJoint", ""),), _USD, loops="joint"),
        },
    ),
    "prismatic": JointKind(
        motions=(Motion(SLIDE),),
        num_axes=1,
        plant="prismatic",
        forms={
            "urdf": Form((("joint", "prismatic"), ("loop_joint", "prismatic")), _URDF, loops="joint"),
            "sdf": Form((("joint", "prismatic"),), _SDF),
            "mjcf": Form((("joint", "slide"),), _MJCF),
            "usd": Form((("PhysicsPrismaticJoint", ""),), _USD, loops="joint"),
        },
    ),
    "screw": JointKind(
        motions=(Motion(HINGE), Motion(SLIDE, ending="travel", by_pitch=True)),
        num_axes=1,
        plant="screw",
        forms={
            "urdf": Form((("drake:joint", "screw"),), DYNAMICS | {"mimic"}),
            "sdf": Form((("joint", "screw"),), DYNAMICS | _EFFORT | _DEFAULT),
            "mjcf": Form((), _MJCF - _SPRING),
            "usd": Refusal("USD has no screw joint"),
        },
    ),
    "universal": JointKind(
        motions=(Motion(HINGE, X, "qx"), Motion(HINGE, Y, "qy")),
        num_axes=2,
        plant="universal",
        forms={
            "urdf": Form((("drake:joint", "universal"),), frozenset({"damping"})),
            "sdf": Form((("joint", "universal"),), DYNAMICS | _DEFAULT),
            "mjcf": Form((), _MJCF),
            "usd": Form((("PhysicsJoint", ""),), _RANGE | DYNAMICS),
        },
    ),
    "planar": JointKind(
        motions=(Motion(SLIDE, X, "x"), Motion(SLIDE, Y, "y"), Motion(HINGE, Z, "qz")),
        num_axes=1,
        plant="planar",
        num_dampings=3,
        axis_is_normal=True,
        forms={
            "urdf": Form((("joint", "planar"), ("drake:joint", "planar")), dampings=3),
            "sdf": Form((("drake:joint", "planar"),), dampings=3),
            "mjcf": Form((), dampings=3),
            "usd": Form((("PhysicsJoint", ""),)),
        },
    ),
    "ball": JointKind(
        motions=(Motion(BALL),),
        num_axes=0,
        plant="ball_quaternion",
        plant_of_drake="ball_rpy",
        num_dampings=1,
        forms={
            "urdf": Form((("drake:joint", "ball"), ("loop_joint", "spherical")), dampings=1),
            "sdf": Form((("joint", "ball"),), frozenset({"damping"}), dampings=1),
            "mjcf": Form((("joint", "ball"),), dampings=1, loops="constraint"),
            "usd": Form((("PhysicsSphericalJoint", ""),), dampings=1, loops="constraint"),
        },
    ),
    "quaternion_floating": JointKind(
        motions=(Motion(FREE),),
        num_axes=0,
        plant="quaternion_floating",
        num_dampings=2,
        forms={
            "urdf": Form((("joint", "floating"),)),
            "sdf": Form((("mbcli:joint", "quaternion_floating"),), dampings=2),
            "mjcf": Form((("joint", "free"),), dampings=1),
            "usd": Form(),
        },
    ),
    "rpy_floating": JointKind(
        motions=(Motion(FREE),),
        num_axes=0,
        plant="rpy_floating",
        num_dampings=2,
        has_angles=True,
        forms={
            "urdf": _NO_ANGLES,
            "sdf": Form((("mbcli:joint", "rpy_floating"),), dampings=2),
            "mjcf": _NO_ANGLES,
            "usd": _NO_ANGLES,
        },
    ),
}
JOINT_KINDS: Mapping[str, JointKind] = MappingProxyType(_KINDS)
"""Each kind by its name, which JointSpec.type is."""

OF_PLANT = {kind.plant: name for name, kind in reversed(_KINDS.items())}
"""The first kind of each type of joint in plants."""


def require_forms(formats: Collection[str]) -> None:
    """ImportError if a kind says nothing of one of `formats`, those that are written, or something of another."""
    for name, kind in JOINT_KINDS.items():
        missing, unknown = [f for f in formats if f not in kind.forms], sorted(kind.forms.keys() - set(formats))
        if missing or unknown:
            wrong = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(unknown)}, which is no format"
            raise ImportError(f"the forms of the joint kind '{name}': {wrong}")


def forms_of(file_format: str) -> dict[str, Stated]:
    """{kind: what the format has for it}."""
    return {name: kind.forms[file_format] for name, kind in JOINT_KINDS.items()}


def stated_by(file_format: str) -> dict[str, Form]:
    """{kind: its form} of the kinds that a format states as they are."""
    return {name: form for name, form in forms_of(file_format).items() if isinstance(form, Form)}
