"""Constraints in a YAML file of their own, for models whose format does not have them.

    constraints:
    - loop: {predecessor: rod, X_predecessor: {translation: [1.5, 0, 0]}, successor: slider, axes: [[0, 0, 0, 1, 0, 0]]}
    - coupler: {joint0: left, joint1: right, gear_ratio: -1}

One record per constraint, with the names of the arguments of the plant's methods that add it. Where a record names a
body, a frame may stand: points and poses are then in that frame. Names may be scoped with `::`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from mbcli.parsers.scenes.directives_spec import NOWHERE
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.writing.one_of import OneOf
from mbcli.parsers.yaml_records import read_file

from mbcli.common.schema import Transform
from mbcli.config.config_fields import REQUIRED, setting

if TYPE_CHECKING:
    import os

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceFile

Point = tuple[float, float, float]
SpatialAxis = tuple[float, float, float, float, float, float]
ORIGIN = (0.0, 0.0, 0.0)
NAME = "Name of the constraint, the only one in the file"
BODY_A, BODY_B = "Name of body A, or of a frame on it", "Name of body B, or of a frame on it"


@dataclass(frozen=True, kw_only=True)
class Contact:
    """A point of a body does not move along directions of World, wherever it is."""

    name: str | None = setting(None, NAME)
    body: str = setting(REQUIRED, "Name of the body, or of a frame on it")
    point: Point = setting(ORIGIN, "The point in the body", unit="m")
    normals: tuple[Point, ...] = setting(REQUIRED, "The directions in World, of any length but zero")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_directions(self, "normals")


@dataclass(frozen=True, kw_only=True)
class Loop:
    """Frame S on the successor does not move in frame P on the predecessor along spatial axes of P."""

    name: str | None = setting(None, NAME)
    predecessor: str = setting(REQUIRED, "Name of the predecessor, or of a frame on it")
    X_predecessor: Transform | None = setting(None, "Pose of P in the predecessor; identity if it is missing")
    successor: str = setting(REQUIRED, "Name of the successor, or of a frame on it")
    X_successor: Transform | None = setting(None, "Pose of S in the successor; identity if it is missing")
    axes: tuple[SpatialAxis, ...] = setting(REQUIRED, "The axes in P, each with its rotational part first")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_directions(self, "axes")
        _require_poses(self, "X_predecessor", "X_successor")


@dataclass(frozen=True, kw_only=True)
class Coupler:
    """q0 = gear_ratio q1 + offset, for two joints of one coordinate."""

    name: str | None = setting(None, NAME)
    joint0: str = setting(REQUIRED, "Name of the joint of q0")
    joint1: str = setting(REQUIRED, "Name of the joint of q1")
    gear_ratio: float = setting(REQUIRED, "Change of q0 by that of q1")
    offset: float = setting(0.0, "q0 if q1 is 0", unit="rad or m")
    place: SourceLocation = NOWHERE


@dataclass(frozen=True, kw_only=True)
class Distance:
    """Point P of body A and point Q of body B keep their distance."""

    name: str | None = setting(None, NAME)
    body_A: str = setting(REQUIRED, BODY_A)
    p_AP: Point = setting(ORIGIN, "P in A", unit="m")
    body_B: str = setting(REQUIRED, BODY_B)
    p_BQ: Point = setting(ORIGIN, "Q in B", unit="m")
    distance: float = setting(REQUIRED, "The distance", unit="m", above=0)
    stiffness: float = setting(math.inf, "Of a spring in place of a rigid rod", unit="N/m", above=0, infinite=True)
    damping: float = setting(0.0, "Of that spring", unit="N s/m", minimum=0)
    place: SourceLocation = NOWHERE


@dataclass(frozen=True, kw_only=True)
class Ball:
    """Point P of body A and point Q of body B coincide."""

    name: str | None = setting(None, NAME)
    body_A: str = setting(REQUIRED, BODY_A)
    p_AP: Point = setting(ORIGIN, "P in A", unit="m")
    body_B: str = setting(REQUIRED, BODY_B)
    p_BQ: Point | None = setting(None, "Q in B; if it is missing, the place of P in the default positions [m]")
    place: SourceLocation = NOWHERE


@dataclass(frozen=True, kw_only=True)
class Weld:
    """Frame P of body A and frame Q of body B coincide."""

    name: str | None = setting(None, NAME)
    body_A: str = setting(REQUIRED, BODY_A)
    X_AP: Transform | None = setting(None, "Pose of P in A; identity if it is missing")
    body_B: str = setting(REQUIRED, BODY_B)
    X_BQ: Transform | None = setting(None, "Pose of Q in B; identity if it is missing")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_poses(self, "X_AP", "X_BQ")


@dataclass(frozen=True, kw_only=True)
class Tendon:
    """lower_limit <= sum a_i q_i + offset <= upper_limit, over joints of one coordinate; equal limits: an equation."""

    name: str | None = setting(None, NAME)
    joints: tuple[str, ...] = setting(REQUIRED, "Names of the joints")
    a: tuple[float, ...] = setting(REQUIRED, "A factor for each joint", unit="m/rad or 1")
    offset: float = setting(0.0, "Length if all q are 0", unit="m")
    lower_limit: float = setting(-math.inf, "Smallest length", unit="m", infinite=True)
    upper_limit: float = setting(math.inf, "Largest length", unit="m", infinite=True)
    stiffness: float = setting(math.inf, "Beyond a limit", unit="N/m", above=0, infinite=True)
    damping: float = setting(0.0, "Beyond a limit", unit="N s/m", minimum=0)
    place: SourceLocation = NOWHERE


@dataclass(frozen=True, kw_only=True)
class ModelConstraint(OneOf):
    """One constraint: exactly one of the fields is given."""

    noun: ClassVar[str] = "a constraint"

    contact: Contact | None = setting(None, "A point that does not move along directions of World")
    loop: Loop | None = setting(None, "Two frames that do not move along axes of the first")
    coupler: Coupler | None = setting(None, "Two joints whose coordinates follow each other")
    distance: Distance | None = setting(None, "Two points that keep their distance")
    ball: Ball | None = setting(None, "Two points that coincide")
    weld: Weld | None = setting(None, "Two frames that coincide")
    tendon: Tendon | None = setting(None, "A sum of coordinates within limits")


@dataclass(frozen=True, kw_only=True)
class ModelConstraints:
    """A file of constraints, in their order."""

    constraints: tuple[ModelConstraint, ...] = setting(
        REQUIRED, "The constraints, in the order in which they are added"
    )


def read_constraints(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    name: str | None = None,
    sources: list[SourceFile] | None = None,
) -> ModelConstraints | None:
    """The `ModelConstraints` of a file, or None if it has none that can be used; faults are in `diagnostics`.

    source: a path, or the bytes of a document. name: that of the file in places; default: the path as given.
    sources: a list to which the file is added (`spec.SourceFile`).
    """
    diagnostics.main_file = None  # the user names this one too
    constraints = read_file(ModelConstraints, source, diagnostics, name, sources)
    if constraints is not None:
        _report_names(constraints, diagnostics)
    return constraints


def _report_names(constraints: ModelConstraints, diagnostics: Diagnostics) -> None:
    seen: dict[str, Any] = {}
    for constraint in constraints.constraints:
        name, place = constraint.record.name, constraint.record.place
        if name in seen:
            message = f'there is a constraint "{name}" already'
            diagnostics.error("DUPLICATE_NAME", message, place=place, related=[seen[name]])
        elif name is not None:
            seen[name] = place


def _require_directions(record: Contact | Loop, key: str) -> None:
    directions = getattr(record, key)
    if not directions:
        raise ValueError(f"{key} must not be empty")
    for k, direction in enumerate(directions):
        if not any(direction):
            raise ValueError(f"{key}[{k}] must not be zero")


def _require_poses(record: Loop | Weld, *keys: str) -> None:
    for key in keys:
        pose = getattr(record, key)
        if pose is not None and pose.base_frame:
            raise ValueError(f"{key} takes no base_frame: it is a pose in the body or frame that is named")
        if pose is not None and not pose.IsDeterministic():
            raise ValueError(f"{key} must be one pose, it is random")
