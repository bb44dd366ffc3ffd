"""What `mbcli convert` knows of a format that it writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import WORLD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.parsers.joint_kinds import Stated


DIGITS = 1e-9  # of documents that have all digits, after the arithmetic of both plants


def as_it_is(name: str) -> str:
    """A name in a format that has any."""
    return name


@dataclass(frozen=True)
class Arranged:
    """Input of a writer: the model, and how the links and joints of its source were changed."""

    model: Any
    loops: frozenset = frozenset()  # names of the joints that close loops
    moved: dict = field(default_factory=dict)  # link with another frame: X_NL, the old frame in the new one
    unsupported_joints: tuple = ()  # (joint, why): joints that the format does not have
    of_world: str = WORLD  # the link that has the geometry of World, if another than this one
    added: tuple = ()  # names of links that the source does not have
    given: dict = field(default_factory=dict)  # link without mass or inertia: the little InertialSpec that it has now


@dataclass(frozen=True)
class Document:
    """What a writer made of a model."""

    root: Any  # element, or None
    expected: Any  # ModelSpec as the document is read; its filter_groups may be None: only what they keep apart counts
    parts: dict = field(default_factory=dict)  # {joint of the model: the Parts that it became}
    # {link that is read under another name: (that name, X_NL: the link in the frame that has it)}
    renamed: dict = field(default_factory=dict)
    unnamed: dict = field(default_factory=dict)  # {joint that has no name, or not its own: the link that it holds}
    text: bytes = b""  # of a document that is not XML


@dataclass(frozen=True, kw_only=True)
class Target:
    """A format as something to write: what it has, and how its documents are made. Every field must be given."""

    suffix: str  # of files that are named after the model's
    # path of a mesh: the suffix that its copy gets, converted; None: its own
    copied_suffix: Callable[[str], str | None]
    joints: Mapping[str, Stated]  # what it has for each kind of joint (joint_kinds.py)
    # fields of AxisSpec whose loss leaves the motion as it is, beside those of all formats
    without_effect: frozenset[str]
    limits: tuple[str, ...]  # of "position", "velocity", "acceleration": those that joints have
    # (shape, whether it collides, its mesh is copied, its link moves): what the format does not have, or None
    missing_shape: Callable[[Any, bool, bool, bool], str | None]
    # force element or constraint: what it is that the format does not have, or None
    missing_relation: Callable[[Any], str | None]
    # InertialSpec: (what the format has in its place, kind of loss, why), or None
    refused_inertia: Callable[[Any], tuple[Any, str, str] | None]
    gravity: bool
    postures: bool
    sensors: bool
    contact_laws: bool  # whether it has MuJoCo's masks, pairs and frictions of contact
    other_contact: bool  # whether it has Drake's properties of contact, and its rule for the friction of two solids
    bounces: bool  # whether surfaces have a restitution
    # "collision", "link" or None: which of these states two coefficients of friction and the direction of the first
    directed_friction: str | None
    many_actuators: bool  # whether a joint can have several
    transmissions: bool  # whether actuators act through tendons, sites and cranks
    lone_drives: bool  # whether a joint without actuator can have the inertia of a drive
    efforts_in_joints: bool  # whether the effort limit of an actuator stands in its joint
    rests_at_zero: bool  # whether a controller aims at the control 0 by itself, wherever its joint starts
    constraint_names: bool
    default_poses: bool  # whether a floating joint has a pose at the start
    any_lets_touch: bool  # whether bodies that a joint connects may touch
    package_uris: bool  # whether mesh names may be package://
    link_gravity: bool  # whether a link can be out of gravity
    link_velocities: bool  # whether a link can move at the start
    deformables: bool
    ball_springs: bool  # whether a ball joint can have a spring, dry friction and a range
    second_axes_lead: bool  # whether a joint can follow the second axis of another
    any_rest: bool  # whether a controller can aim at any position and velocity by itself
    one_friction: bool  # whether collisions have the two coefficients of dry friction, and no more of contact
    embeds_meshes: bool  # whether the document holds the triangles of meshes itself
    reads_materials: bool  # whether its programs read the files of materials that OBJ files name
    spelled: Callable[[str], str]  # a name as the format can have it
    # (flat ModelSpec with what the format has, Losses): the model without combinations that it does not have
    reduced: Callable[[Any, Any], Any]
    # (document, suffix of its file): the bytes of the file. ModelError if a library is missing
    encoded: Callable[[bytes, str], bytes]
    tolerance: float  # relative, to which the document has the numbers of a model
    points: bool  # whether a sphere may have the radius 0
    zero_effort_is_none: bool  # whether a joint has an actuator unless its effort limit is 0
    # kinds of elements that have different names: fields of ModelSpec
    namespaces: tuple[tuple[str, ...], ...]
    actuators_have_names: bool
    model_frame_name: str | None  # how the frame of the model is called, if its own name cannot stay
    arranged: Callable[[Any, Any], Arranged]  # (flat ModelSpec, Losses): the model in the form of the format
    document: Callable[[Any, set[str]], Document]  # (ModelSpec as it is written, its joints that close loops)
    own_tags: tuple[str, ...]  # elements without prefix that only Drake and this program read
    extensions: Callable[[Any, dict[str, int]], dict[str, str]]  # (root, {tag: times}): {tag: who reads it}
