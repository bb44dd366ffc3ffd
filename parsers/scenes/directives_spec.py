"""The contents of a file of Drake model directives: one record per directive, under Drake's names.

Names may be scoped with `::`, as `arm::gripper::finger`. Poses are `mbcli.common.schema.Transform`. `place` is where
the mapping of a record starts.
"""

from __future__ import annotations

from typing import ClassVar

from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.writing.one_of import OneOf

from mbcli.common.fast_dataclass import dataclass
from mbcli.common.schema import IsDeterministic, Transform
from mbcli.config.config_fields import REQUIRED, setting

NOWHERE = SourceLocation("")  # of elements without a file


@dataclass(frozen=True, kw_only=True)
class AddModel:
    """Adds the one model of a file under a name."""

    file: str = setting(REQUIRED, "URI or path of the model file")
    name: str = setting(REQUIRED, "Name of the new model instance")
    default_joint_positions: dict[str, tuple[float, ...]] = setting(
        dict, "Default positions by joint of this model [rad or m]"
    )
    default_free_body_pose: dict[str, Transform] = setting(
        dict, "Default pose by body or frame of this model; the empty name is the only body of the model"
    )
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_names(self, "file", "name")

    def __hash__(self) -> int:
        return hash((self.file, self.name))  # poses have none


@dataclass(frozen=True, kw_only=True)
class AddModelInstance:
    """Adds an empty model instance."""

    name: str = setting(REQUIRED, "Name of the new model instance")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_names(self, "name")


@dataclass(frozen=True, kw_only=True)
class AddFrame:
    """Adds a frame, to the model instance of its scope, or without one to that of its base frame."""

    name: str = setting(REQUIRED, "Name of the new frame")
    X_PF: Transform = setting(REQUIRED, "Pose of the frame in its base frame")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_names(self, "name")
        if not self.X_PF.base_frame:
            raise ValueError("X_PF of add_frame needs a base_frame")
        _require_fixed(self.X_PF, "X_PF of add_frame")

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, kw_only=True)
class AddWeld:
    """Welds a child frame to a parent frame."""

    parent: str = setting(REQUIRED, "Name of the frame P")
    child: str = setting(REQUIRED, "Name of the frame C")
    X_PC: Transform | None = setting(None, "Pose of C in P; identity if it is missing")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_names(self, "parent", "child")
        if self.X_PC is not None:
            if self.X_PC.base_frame:
                raise ValueError("X_PC of add_weld takes no base_frame: it is the pose of the child in the parent")
            _require_fixed(self.X_PC, "X_PC of add_weld")

    def __hash__(self) -> int:
        return hash((self.parent, self.child))


@dataclass(frozen=True, kw_only=True)
class AddCollisionFilterGroup:
    """Adds a group of bodies, and the groups with which it does not collide."""

    name: str = setting(REQUIRED, "Name of the group, in its namespace")
    members: tuple[str, ...] = setting(tuple, "Bodies")
    member_groups: tuple[str, ...] = setting(tuple, "Groups whose bodies are members too")
    model_namespace: str | None = setting(None, "The prefix of all names")
    ignored_collision_filter_groups: tuple[str, ...] = setting(
        tuple, "Groups with which this one does not collide; with itself: its members do not collide"
    )
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_names(self, "name")
        if not self.members and not self.member_groups:
            raise ValueError("add_collision_filter_group needs members or member_groups")


@dataclass(frozen=True, kw_only=True)
class AddDirectives:
    """Includes the directives of another file."""

    file: str = setting(REQUIRED, "URI or path of the file")
    model_namespace: str | None = setting(None, "A model instance, put before all names in the file")
    place: SourceLocation = NOWHERE

    def __post_init__(self) -> None:
        _require_names(self, "file")


@dataclass(frozen=True, kw_only=True)
class ModelDirective(OneOf):
    """One directive: exactly one of the fields is given."""

    noun: ClassVar[str] = "a directive"

    add_model: AddModel | None = setting(None, "Adds the model of a file")
    add_model_instance: AddModelInstance | None = setting(None, "Adds an empty model instance")
    add_frame: AddFrame | None = setting(None, "Adds a frame")
    add_weld: AddWeld | None = setting(None, "Welds two frames")
    add_collision_filter_group: AddCollisionFilterGroup | None = setting(None, "Adds a group of bodies")
    add_directives: AddDirectives | None = setting(None, "Includes another file")


@dataclass(frozen=True, kw_only=True)
class ModelDirectives:
    """A file of directives, in their order."""

    directives: tuple[ModelDirective, ...] = setting(tuple, "The directives, in the order in which they apply")


def _require_names(record: object, *names: str) -> None:
    for name in names:
        if not getattr(record, name):
            raise ValueError(f"{name} must not be empty")


def _require_fixed(transform: Transform, name: str) -> None:
    if not transform.IsDeterministic():
        part = "rotation" if IsDeterministic(transform.translation) else "translation"
        raise ValueError(f"{name} must be one pose: its {part} is random; only a default_free_body_pose may be")
