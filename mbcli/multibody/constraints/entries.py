"""The entries of a constraint set, and the groups that they form."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math import RigidTransform
from mbcli.multibody.tree import RigidBody

if TYPE_CHECKING:
    from mbcli.multibody.constraints.custom import Constraint

UNIT_TOLERANCE = 10.0 * np.finfo(float).eps


class ConstraintType(enum.IntEnum):
    """The type of a constraint."""

    ConstraintTypeContact = 0
    ConstraintTypeLoop = 1
    ConstraintTypeCustom = 2


@dataclass
class Entry:
    """A call of Add...Constraint(): type, name, ids, rows, and the data of the type.

    bodies: as the caller named them; links: the RigidBody of each, once the set is bound; frames: poses (4, 4) of P and
    S in them; vector: normal or axis; stabilization: [enabled, time constant], the same in all entries of a group.
    """

    kind: ConstraintType
    name: str | None
    user_id: Any
    assigned_id: int
    rows: range
    bodies: tuple = ()
    frames: tuple = ()
    vector: np.ndarray | None = None
    stabilization: list = field(default_factory=lambda: [False, 0.1])
    custom: Constraint | None = None
    links: tuple = ()


@dataclass
class Group:
    """Entries of one type between the same frames of the same bodies, in the order of their addition."""

    entries: list

    @property
    def first(self):
        return self.entries[0]

    @property
    def rows(self):
        """Numbers of its rows in the set: not a slice, others may stand between."""
        return [row for entry in self.entries for row in entry.rows]


def grouped(entries):
    """The groups of entries, in the order of their first ones."""
    groups = {}
    for entry in entries:
        groups.setdefault(_key(entry), []).append(entry)
    return [Group(members) for members in groups.values()]


def _key(entry):
    """Equal for entries of one group; until the set is bound, an index and a name are different bodies."""
    if entry.kind is ConstraintType.ConstraintTypeCustom:
        return (entry.kind, entry.assigned_id)
    bodies = entry.links or entry.bodies
    known = [body.index() if isinstance(body, RigidBody) else body for body in bodies]
    known = [body if isinstance(body, str) else int(body) for body in known]
    return (entry.kind, *known, *(frame.tobytes() for frame in entry.frames))


def resolve_body(plant, body):
    """The RigidBody that a caller means by itself, its name or its index. ValueError if there is none."""
    if isinstance(body, RigidBody):
        if body.parent_plant is not plant.origin:
            raise ValueError(f"body '{body.name()}' is not part of the model")
        return body
    if isinstance(body, str):
        if not plant.HasBodyNamed(body):
            raise ValueError(f"the model has no body named '{body}'")
        return plant.GetBodyByName(body)
    if not 0 <= int(body) < plant.num_bodies():
        raise ValueError(f"the model has no body {int(body)}, it has {plant.num_bodies()} with World")
    return plant.get_body(int(body))


def coordinates_of(model, values, names, what):
    """The numbers (len(names),) of a state; ValueError that names the one that is not finite."""
    vector = model.vector(values, len(names), what)
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise ValueError(f"{what} must be finite, '{names[bad[0]]}' is {vector[bad[0]]}")
    return vector


def vector_of(values, size, what):
    """A read-only vector of finite numbers."""
    vector = np.array(values, dtype=float).reshape(-1)
    if vector.shape != (size,) or not np.isfinite(vector).all():
        raise ValueError(f"{what} must be {size} finite numbers, it is {values}")
    vector.flags.writeable = False
    return vector


def unit_vector_of(values, what):
    vector = vector_of(values, 3, what)
    if abs(np.linalg.norm(vector) - 1.0) > UNIT_TOLERANCE:
        raise ValueError(f"{what} must have length 1, it has {np.linalg.norm(vector)}")
    return vector


def pose_of(value, what):
    """A pose (4, 4) from a RigidTransform or its matrix (3, 4) or (4, 4)."""
    X = value if isinstance(value, RigidTransform) else RigidTransform(pose=np.asarray(value, dtype=float))
    X = X.GetAsMatrix4()
    if not np.isfinite(X).all():
        raise ValueError(f"{what} must be finite")
    return X
