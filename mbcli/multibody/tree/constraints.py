"""Constraints between the bodies and joints of a plant, and the parameters that a context may have of its own.

A constraint keeps the arguments of its addition. `kind` names its type, `bodies()` and `joints()` the elements it ties,
`parameters()` its numbers by their names in the methods that add it; `name` and `place` come from a model file.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbcli.math import RigidTransform
from mbcli.multibody.state.parameters import DEFAULTS
from mbcli.multibody.tree.constraint_id import MultibodyConstraintId
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector3


def _point(value, what):
    """A read-only position (3,)."""
    point = np.array(value, dtype=float).reshape(-1)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise RuntimeError(f"{what} must be three finite numbers, it is {value}")
    point.flags.writeable = False
    return point


def _directions(values, size, what):
    """A read-only array (n, size) of directions, none of them zero and no more than can be independent."""
    directions = np.array(values, dtype=float)
    if directions.ndim != 2 or directions.shape[1] != size or not 0 < len(directions) <= size:
        raise RuntimeError(f"{what} must be one to {size} rows of {size} numbers, they are {values}")
    if not np.isfinite(directions).all() or not directions.any(axis=1).all():
        raise RuntimeError(f"{what} must be finite and not zero, they are {values}")
    directions.flags.writeable = False
    return directions


def _finite(value, what):
    if not math.isfinite(value):
        raise RuntimeError(f"{what} must be finite, it is {value}")
    return float(value)


def _stiffness(value, what):
    if not value > 0.0:
        raise RuntimeError(f"{what}: the stiffness must be greater than 0, it is {value}")
    return float(value)


def _damping(value, what):
    if not 0.0 <= value < math.inf:
        raise RuntimeError(f"{what}: the damping must be finite and not negative, it is {value}")
    return float(value)


class DistanceConstraintParams:
    """The parameters of a distance constraint: point P of body A and point Q of body B are `distance` apart.

    With an infinite stiffness this is a rigid rod without mass; with a finite one a spring and damper along it, whose
    tension is `stiffness (|PQ| - distance) + damping d|PQ|/dt`.

    Args:
        bodyA, bodyB: BodyIndex of two different bodies.
        p_AP, p_BQ: [m] (3,), in A and in B.
        distance: [m], greater than 0.
        stiffness: [N/m], greater than 0; may be infinite.
        damping: [N s/m], not negative.

    Without arguments the parameters are those of no constraint. RuntimeError for values that are out of range.
    """

    def __init__(
        self,
        bodyA: BodyIndex | None = None,
        p_AP: ArrayLike | None = None,
        bodyB: BodyIndex | None = None,
        p_BQ: ArrayLike | None = None,
        distance: float | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
    ) -> None:
        given = (bodyA, p_AP, bodyB, p_BQ, distance, stiffness, damping)
        if all(value is None for value in given):
            self._bodyA, self._bodyB = BodyIndex(), BodyIndex()
            self._p_AP = self._p_BQ = _point((0.0, 0.0, 0.0), "p")
            self._distance, self._stiffness, self._damping = 0.0, math.inf, 0.0
            return
        if any(value is None for value in given):
            raise TypeError("DistanceConstraintParams takes bodyA, p_AP, bodyB, p_BQ, distance, stiffness, damping")
        what = "distance constraint"
        self._bodyA, self._bodyB = BodyIndex(bodyA), BodyIndex(bodyB)
        if self._bodyA == self._bodyB:
            raise RuntimeError(f"{what}: its points must be on two different bodies")
        self._p_AP, self._p_BQ = _point(p_AP, f"{what}: p_AP"), _point(p_BQ, f"{what}: p_BQ")
        if distance is None or not 0.0 < distance < math.inf:
            raise RuntimeError(
                f"{what}: the distance must be finite and greater than 0, it is {distance}; "
                "points that coincide are a ball constraint"
            )
        self._distance = float(distance)
        self._stiffness, self._damping = _stiffness(stiffness, what), _damping(damping, what)

    def bodyA(self) -> BodyIndex:
        """BodyIndex"""
        return self._bodyA

    def bodyB(self) -> BodyIndex:
        """BodyIndex"""
        return self._bodyB

    def p_AP(self) -> Vector3:
        """[m] (3,), in A"""
        return self._p_AP.copy()

    def p_BQ(self) -> Vector3:
        """[m] (3,), in B"""
        return self._p_BQ.copy()

    def distance(self) -> float:
        """[m]"""
        return self._distance

    def stiffness(self) -> float:
        """[N/m]"""
        return self._stiffness

    def damping(self) -> float:
        """[N s/m]"""
        return self._damping


class Constraint:
    """The common base of all constraints. Whether one is active is a parameter of the context."""

    kind = ""
    _active = True

    def __init__(self):
        self.id = MultibodyConstraintId.get_new_id()
        self.name = None
        self.place = None  # parsers.spec.SourceLocation

    def default_of(self, name):
        """The value of a parameter in new contexts."""
        return getattr(self, f"_{name}")

    def bodies(self):
        """The bodies that it ties, each once."""
        raise NotImplementedError

    def joints(self):
        """The joints that it ties."""
        return ()

    def parameters(self):
        """Its numbers by name."""
        raise NotImplementedError

    def tied_elements(self):
        return (*self.bodies(), *self.joints())

    def __repr__(self):
        label = f" '{self.name}'" if self.name else ""
        ties = " and ".join(repr(part.name()) for part in self.joints() or self.bodies())
        return f"{self.kind} constraint{label} {'between' if ' and ' in ties else 'on'} {ties}"


class _BetweenBodies(Constraint):
    """A constraint between body A and body B."""

    def __init__(self, body_A, body_B):
        super().__init__()
        self.body_A, self.body_B = body_A, body_B
        if body_A is body_B:
            raise RuntimeError(f"{self!r}: it must be between two different bodies")

    def bodies(self):
        return (self.body_A, self.body_B)


class BallConstraint(_BetweenBodies):
    """Point P of body A and point Q of body B coincide: p_AP, p_BQ [m] (3,), p_BQ None until Finalize() finds it."""

    kind = "ball"

    def __init__(self, body_A, p_AP, body_B, p_BQ=None):
        super().__init__(body_A, body_B)
        self.p_AP = _point(p_AP, f"{self!r}: p_AP")
        self.p_BQ = None if p_BQ is None else _point(p_BQ, f"{self!r}: p_BQ")

    def complete(self, p_BQ):
        """Puts Q at a point of B."""
        self.p_BQ = _point(p_BQ, f"{self!r}: p_BQ")

    def parameters(self):
        return {"p_AP": self.p_AP, "p_BQ": self.p_BQ}


class WeldConstraint(_BetweenBodies):
    """Frame P of body A and frame Q of body B coincide: X_AP, X_BQ RigidTransform."""

    kind = "weld"

    def __init__(self, body_A, X_AP, body_B, X_BQ):
        super().__init__(body_A, body_B)
        for X, what in ((X_AP, "X_AP"), (X_BQ, "X_BQ")):
            if not np.isfinite(X.GetAsMatrix34()).all():
                raise RuntimeError(f"{self!r}: {what} must be finite")
        self.X_AP, self.X_BQ = RigidTransform(X_AP), RigidTransform(X_BQ)

    def parameters(self):
        return {"X_AP": self.X_AP.GetAsMatrix4(), "X_BQ": self.X_BQ.GetAsMatrix4()}


class AxesConstraint(_BetweenBodies):
    """Frame S on the successor, body B, does not move in frame P on the predecessor, body A, along spatial axes of P.

    X_AP, X_BS: RigidTransform of P in A and of S in B; axes (n, 6): rotational part first.
    """

    kind = "loop"

    def __init__(self, body_A, X_AP, body_B, X_BS, axes):
        super().__init__(body_A, body_B)
        for X, what in ((X_AP, "X_predecessor"), (X_BS, "X_successor")):
            if not np.isfinite(X.GetAsMatrix34()).all():
                raise RuntimeError(f"{self!r}: {what} must be finite")
        self.X_AP, self.X_BS = RigidTransform(X_AP), RigidTransform(X_BS)
        self.axes = _directions(axes, 6, f"{self!r}: axes")

    def parameters(self):
        return {
            "X_predecessor": self.X_AP.GetAsMatrix4(),
            "X_successor": self.X_BS.GetAsMatrix4(),
            "axes": self.axes,
        }


class ContactConstraint(Constraint):
    """A point P of a body does not move along directions of World: p_BP [m] (3,), normals (n, 3) of length 1."""

    kind = "contact"

    def __init__(self, body, p_BP, normals):
        super().__init__()
        self.body = body
        self.p_BP = _point(p_BP, f"{self!r}: point")
        normals = _directions(normals, 3, f"{self!r}: normals")
        self.normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)

    def bodies(self):
        return (self.body,)

    def parameters(self):
        return {"point": self.p_BP, "normals": self.normals}


class DistanceConstraint(_BetweenBodies):
    """Point P of body A and point Q of body B keep their distance. The DistanceConstraintParams are in `_params`,
    unless a context has its own; those may name other bodies of the plant."""

    kind = "distance"

    def __init__(self, body_A, p_AP, body_B, p_BQ, distance, stiffness=math.inf, damping=0.0):
        super().__init__(body_A, body_B)
        self.least = None  # [m] if given, distances from this to that of the parameters are free; set by model files
        self._params = DistanceConstraintParams(
            body_A.index(), p_AP, body_B.index(), p_BQ, distance, stiffness, damping
        )

    def fault(self):
        return f"the points of the {self!r} coincide nearly: its force has no direction"

    def parameters(self):
        names = ("p_AP", "p_BQ", "distance", "stiffness", "damping")
        numbers = {name: getattr(self._params, name)() for name in names}
        return numbers if self.least is None else numbers | {"least": self.least}


class CouplerConstraint(Constraint):
    """q0 = gear_ratio q1 + offset, for two joints of one degree of freedom."""

    kind = "coupler"

    def __init__(self, joint0, joint1, gear_ratio, offset=0.0):
        super().__init__()
        self.joint0, self.joint1 = joint0, joint1
        _require_one_dof(self, joint0, joint1)
        self.gear_ratio = _finite(gear_ratio, f"{self!r}: the gear ratio")
        self.offset = _finite(offset, f"{self!r}: the offset")

    def bodies(self):
        return _unique(body for j in self.joints() for body in (j.parent_body(), j.child_body()))

    def joints(self):
        return (self.joint0, self.joint1)

    def parameters(self):
        return {"gear_ratio": self.gear_ratio, "offset": self.offset}


class TendonConstraint(Constraint):
    """lower_limit <= sum a_i q_i + offset <= upper_limit, over different joints of one degree of freedom.

    a (number of joints,): [m/rad] or [1]; offset and limits [m]; stiffness [N/m] and damping [N s/m] act beyond a
    limit, rigidly if the stiffness is infinite. With equal limits and the stiffness 0 it is a damper.
    """

    kind = "tendon"

    def __init__(
        self, joints, a, offset=0.0, lower_limit=-math.inf, upper_limit=math.inf, stiffness=math.inf, damping=0
    ):
        super().__init__()
        self._joints = tuple(joints)
        if not self._joints:
            raise RuntimeError("tendon constraint: it must have joints")
        _require_one_dof(self, *self._joints)
        if len(set(self._joints)) < len(self._joints):
            raise RuntimeError(f"{self!r}: its joints must be different")
        self.a = np.array(a, dtype=float).reshape(-1)
        if len(self.a) != len(self._joints) or not np.isfinite(self.a).all():
            raise RuntimeError(f"{self!r}: a must have a finite number for each of its {len(self._joints)} joints")
        self.a.flags.writeable = False
        self.offset = _finite(offset, f"{self!r}: the offset")
        if not (lower_limit < math.inf and upper_limit > -math.inf and lower_limit <= upper_limit):
            raise RuntimeError(f"{self!r}: its lower limit {lower_limit} must not be above its upper one {upper_limit}")
        if lower_limit == -math.inf and upper_limit == math.inf:
            raise RuntimeError(f"{self!r}: one of its limits must be finite")
        self.lower_limit, self.upper_limit = float(lower_limit), float(upper_limit)
        self.damping = _damping(damping, repr(self))
        self.stiffness = 0.0 if self.damping and stiffness == 0.0 else _stiffness(stiffness, repr(self))

    def bodies(self):
        return _unique(body for j in self._joints for body in (j.parent_body(), j.child_body()))

    def joints(self):
        return self._joints

    def parameters(self):
        names = ("a", "offset", "lower_limit", "upper_limit", "stiffness", "damping")
        return {name: getattr(self, name) for name in names}


class LoopConstraint(Constraint):
    """A joint that closes a loop: frame M on its child moves in F on its parent as the joint lets it.

    It has no coordinates in the plant.
    """

    kind = "loop"

    def __init__(self, joint):
        super().__init__()
        self.joint = joint
        self.name, self.place = joint.name(), joint.place

    def bodies(self):
        return (self.joint.parent_body(), self.joint.child_body())

    def joints(self):
        return (self.joint,)

    def parameters(self):
        return {
            "joint_type": self.joint.type_name(),
            "X_PF": self.joint.frame_on_parent().pose_in_body(DEFAULTS).GetAsMatrix4(),
            "X_CM": self.joint.frame_on_child().pose_in_body(DEFAULTS).GetAsMatrix4(),
        }

    def __repr__(self):
        parent, child = self.bodies()
        return f"joint '{self.name}' that closes a loop between '{parent.name()}' and '{child.name()}'"


def _require_one_dof(constraint, *joints):
    for joint in joints:
        if joint.num_velocities() != 1:
            raise RuntimeError(
                f"{constraint!r}: joint '{joint.name()}' of type {joint.type_name()} has {joint.num_velocities()} "
                "degrees of freedom, it must have 1"
            )


def _unique(elements):
    return tuple(dict.fromkeys(elements))
