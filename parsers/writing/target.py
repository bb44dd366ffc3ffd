"""What `mbcli convert` knows of a format that it writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import WORLD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Arranged:
    """Input of a writer: the model, and how the links and joints of its source were changed."""

    model: Any
    loops: frozenset = frozenset()  # names of the joints that close loops
    moved: dict = field(default_factory=dict)  # link with another frame: X_NL, the old frame in the new one
    unsayable: tuple = ()  # (joint, why): joints that the format does not have
    of_world: str = WORLD  # the link that has the geometry of World, if another than this one


@dataclass(frozen=True, kw_only=True)
class Target:
    """A format as something to write: what it has, and how its documents are made. Every field must be given."""

    # joint type: the fields of AxisSpec that the format has for it, beside direction and place; of other types none
    axis_fields: Mapping[str, frozenset[str]]
    missing_shape: Callable[[Any], str | None]  # what a shape is that the format does not have, or None
    link_gravity: bool  # whether a link can be out of gravity
    deformables: bool
    rpy_floating: bool  # whether a floating joint can have roll, pitch and yaw
    floating_damping: bool
    second_axes_lead: bool  # whether a joint can follow the second axis of another
    weld_constraints: bool
    points: bool  # whether a sphere may have the radius 0
    zero_effort_is_none: bool  # whether a joint has an actuator unless its effort limit is 0
    # kinds of elements that have different names: fields of ModelSpec
    namespaces: tuple[tuple[str, ...], ...]
    actuators_have_names: bool
    model_frame_name: str | None  # how the frame of the model is called, if its own name cannot stay
    arranged: Callable[[Any, Any], Arranged]  # (flat ModelSpec, Losses): the model in the form of the format
    document: Callable[[Any, set[str]], Any]  # (ModelSpec as it is written, its joints that close loops): root element
    own_tags: tuple[str, ...]  # elements without prefix that only Drake and this program read
    extensions: Callable[[Any, dict[str, int]], dict[str, str]]  # (root, {tag: times}): {tag: who reads it}
