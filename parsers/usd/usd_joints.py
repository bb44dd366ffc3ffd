"""Joints of USD: frames on two bodies, an axis, limits in degrees or lengths, and what Newton and MuJoCo say more."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import UniqueNames, generated_name
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import JOINT_KINDS, stated_by
from mbcli.parsers.poses import compose, inverse, rotation_about
from mbcli.parsers.spec import (
    IDENTITY,
    AxisSpec,
    BallConstraintSpec,
    DistanceConstraintSpec,
    JointSpec,
    LinkSpec,
    WeldConstraintSpec,
    pose,
)
from mbcli.parsers.usd.usd_stage import AXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from mbcli.parsers.joint_kinds import JointKind
    from mbcli.parsers.spec import ConstraintSpec
    from mbcli.parsers.usd.usd_links import LinkReader
    from mbcli.parsers.usd.usd_stage import Prim, Stage

    from mbcli.math.array_types import Matrix4

    Ends: TypeAlias = Sequence[tuple[str, Matrix4]]  # (link, pose of the frame on it) of the parent and the child

_FORMS = stated_by("usd")
# the first kind of each prim; others are that with limits, or one whose axes are locked
TYPES = {form.tag: name for name, form in reversed(_FORMS.items()) if form.elements}
TYPES |= {"PhysicsDistanceJoint": "distance", "PhysicsJoint": "six"}
SIX = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
_SUFFIXES = dict(zip(SIX, ("x", "y", "z", "qx", "qy", "qz"), strict=True))
DEGREE = np.pi / 180.0
ENDLESS = 1e30  # from here on a number means infinity: files have the largest of single precision
CLOSED = 1e-5  # [m, rad] up to which bodies stand where their joint holds them
_AT_ZERO = 1e-6  # [m, rad] up to which a joint is at zero


class JointReader:
    """The joints of a stage, in its order. `of_prim` leads from a prim to its JointSpecs by drive."""

    def __init__(self, stage: Stage, links: LinkReader) -> None:
        self.stage, self._links = stage, links
        self.joints: dict[str, JointSpec] = {}
        self.constraints: list[ConstraintSpec] = []
        self.of_prim: dict[str, dict[str, str]] = {}  # path: {instance name of a drive: name of the joint}
        self._adding = _adding_articulations(stage)
        self._names = UniqueNames([prim.name for prim in self._prims()])

    def read(self) -> None:
        """Fills `joints` and `constraints`; links between joints of one body go to the reader of links."""
        pending: dict[tuple[str, str], list[JointSpec]] = {}  # (parent, child) of joints that add mobility
        for prim in self._prims():
            for joint in self._read(prim):
                self._add(prim, joint, pending)
        for chain in pending.values():
            self._add_chain(chain)
        fixed = [joint for joint in self.joints.values() if joint.kind.is_fixed]
        held = {end for joint in fixed if WORLD in (joint.parent, joint.child) for end in (joint.parent, joint.child)}
        for weld in self._links.welds:
            if weld.child not in held:
                self.joints[weld.name] = weld

    def _prims(self) -> list[Prim]:
        return [prim for prim in self.stage.prims.values() if prim.tag in TYPES]

    # ------------------------------------------------------------------------------------- one joint

    def _read(self, prim: Prim) -> tuple[JointSpec, ...]:
        """The JointSpecs of a prim."""
        for name in ("physics:breakForce", "physics:breakTorque"):
            if prim.number(name, inf) < ENDLESS:
                message = f'"{name}" is not supported: joints here do not break'
                prim.diagnostics.warning("ATTRIBUTE_UNSUPPORTED", message, prim, attribute=name)
        if not prim.flag("physics:jointEnabled", True):
            prim.diagnostics.note("USD_UNUSED", "the joint is disabled: it is left out", prim)
            prim.ignore("")
            return ()
        ends = []
        for number in "01":
            end = prim.target(f"physics:body{number}")
            position = prim.vector(f"physics:localPos{number}", 3, (0.0, 0.0, 0.0))
            ends.append(self._links.frame(end, position, prim.rotation(f"physics:localRot{number}")))
        (parent, X_PF), (child, X_CM) = ends
        if parent == child:
            prim.diagnostics.error("ELEMENT_INVALID", f'both ends of the joint are on "{parent}"', prim)
            return ()
        type_ = TYPES[prim.tag]
        excluded = prim.flag("physics:excludeFromArticulation", False)
        name = self._names.of(prim.name, "joint")
        common = parent, child, X_PF, X_CM, prim.place
        touch = prim.flag("physics:collisionEnabled", False)
        if type_ == "distance":
            self._read_distance(prim, name, ends)
            return ()
        if type_ == "six":
            return self._read_six(prim, name, ends, touch)
        kind = JOINT_KINDS[type_]
        if excluded and _FORMS[type_].loops == "constraint":
            self._add_constraint(name, kind, ends, prim)
            return ()
        if kind.is_fixed:
            return (JointSpec(name, type_, *common, collides_with_parent=touch),)
        armature, damping, friction = self._dynamics(prim, kind.slides)
        if kind.is_ball:
            self._pass_over_cone(prim)
            self.of_prim[prim.path] = {"": name}
            joint = JointSpec(
                name, type_, *common, damping=(damping,), reflected_inertia=armature, collides_with_parent=touch
            )
            return (joint,)
        axis = AXES[prim.word("physics:axis", tuple(AXES), "X")]
        lower, upper = self._limits(prim, "physics:lowerLimit", "physics:upperLimit", kind.slides)
        spec = self._axis(prim, axis, lower, upper, kind.slides, damping, friction)
        X_CM, spec = _with_reference(prim, kind, X_CM, spec, self.unit(kind.slides))
        joint = JointSpec(
            name,
            type_,
            parent,
            child,
            X_PF,
            X_CM,
            prim.place,
            (spec,),
            reflected_inertia=armature,
            collides_with_parent=touch,
        )
        self.of_prim[prim.path] = {"linear" if kind.slides else "angular": name}
        return (self._at_start(prim, joint),)

    def unit(self, slides: bool) -> float:
        """[rad or m] of a unit of the file along a coordinate."""
        return self.stage.length if slides else DEGREE

    def effort_unit(self, slides: bool) -> float:
        """[N m or N] of a unit of the file."""
        force = self.stage.mass * self.stage.length
        return force if slides else force * self.stage.length

    def _limits(self, prim: Prim, low: str, high: str, slides: bool) -> tuple[float, float]:
        unit = self.unit(slides)
        lower, upper = prim.number(low, -inf) * unit, prim.number(high, inf) * unit
        if lower > upper:
            message = f"the lower limit {lower:.6g} is above the upper limit {upper:.6g}"
            prim.diagnostics.error("JOINT_LIMIT_INVALID", message, prim, attribute=low)
            return -inf, inf
        return lower if abs(lower) < ENDLESS else -inf, upper if abs(upper) < ENDLESS else inf

    def _dynamics(self, prim: Prim, slides: bool) -> tuple[float, float, float]:
        """(armature, damping, dry friction): MuJoCo's numbers before Newton's before PhysX's."""
        effort, unit = self.effort_unit(slides), self.unit(slides)
        inertia = self.stage.mass * (1.0 if slides else self.stage.length**2)
        per_rate = effort / unit  # of a damping per degree
        armature = self._first(
            prim, (("mjc:armature", inertia), ("newton:armature", inertia), ("physxJoint:armature", inertia))
        )
        damping = self._first(
            prim, (("mjc:damping", effort if not slides else effort / unit), ("newton:damping", per_rate))
        )
        friction = self._first(prim, (("mjc:frictionloss", effort), ("newton:friction", effort)))
        return armature, damping, friction

    @staticmethod
    def _first(prim: Prim, names: Iterable[tuple[str, float]]) -> float:
        found = None
        for name, unit in names:
            value = prim.finite(name, None, 0.0)
            if found is None and value is not None:
                found = value * unit
        return 0.0 if found is None else found

    def _axis(
        self,
        prim: Prim,
        xyz: tuple[float, float, float],
        lower: float,
        upper: float,
        slides: bool,
        damping: float,
        friction: float,
    ) -> AxisSpec:
        unit, effort = self.unit(slides), self.effort_unit(slides)
        speeds = [prim.number(name, inf) * unit for name in ("newton:velocityLimit", "physxJoint:maxJointVelocity")]
        limits = [prim.number(f"mjc:actuatorfrcrange:{end}", 0.0) for end in ("min", "max")]
        limited = prim.read("mjc:actuatorfrclimited", "auto")
        force = inf
        if limited == "true" or (limited == "auto" and limits[0] < limits[1]):
            force = max(abs(limits[0]), abs(limits[1])) * effort
        stated = prim.number("urdf:limit:effort", inf)
        return AxisSpec(
            xyz=xyz,
            place=prim.place,
            lower=lower,
            upper=upper,
            velocity=speed if (speed := min(speeds)) < ENDLESS else inf,
            effort=min(force, stated),
            damping=damping,
            friction=friction,
            spring_reference=prim.finite("mjc:springref", 0.0) * unit,
            spring_stiffness=prim.finite("mjc:stiffness", 0.0, 0.0) * effort / (unit if slides else 1.0),
        )

    def _pass_over_cone(self, prim: Prim) -> None:
        prim.read("physics:axis")
        cone = [prim.number(f"physics:coneAngle{k}Limit", -1.0) for k in "01"]
        if max(cone) >= 0.0:
            message = f"the cone of {cone[0]:g} and {cone[1]:g} degrees: a ball joint has no limits here"
            prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)

    # ------------------------------------------------------------------------------ six coordinates

    def _read_six(self, prim: Prim, name: str, ends: Ends, touch: bool) -> tuple[JointSpec, ...]:
        """A joint whose axes are free, limited or locked each: one joint for each that is not locked."""
        free = []
        for key in SIX:
            low, high = f"limit:{key}:physics:low", f"limit:{key}:physics:high"
            lower, upper = prim.number(low, -inf), prim.number(high, inf)
            if lower <= upper:
                unit = self.unit(key.startswith("trans"))
                free.append((key, lower * unit, upper * unit))
        (parent, X_PF), (child, X_CM) = ends
        common = parent, child, X_PF, X_CM, prim.place
        unlimited = all((lower, upper) == (-inf, inf) for _, lower, upper in free)
        driven = any(api.startswith("PhysicsDriveAPI") for api in prim.apis)
        keys = tuple(key for key, _, _ in free)
        if not free:
            return (JointSpec(name, "fixed", *common, collides_with_parent=touch),)
        if keys == SIX and unlimited and not driven and parent == WORLD:
            prim.diagnostics.note("USD_UNUSED", "all axes of the joint are free: its body floats", prim)
            return ()
        if keys == SIX[3:] and unlimited and not driven:
            armature, damping, _ = self._dynamics(prim, False)
            return (
                JointSpec(
                    name, "ball", *common, damping=(damping,), reflected_inertia=armature, collides_with_parent=touch
                ),
            )
        joints, of_drives = [], {}
        before, X_before = parent, X_PF
        for number, (key, lower, upper) in enumerate(free):
            slides, last = key.startswith("trans"), number == len(free) - 1
            armature, damping, friction = self._dynamics(prim, slides)
            spec = self._axis(prim, AXES[key[-1]], lower, upper, slides, damping, friction)
            own = name if len(free) == 1 else f"{name}_{_SUFFIXES[key]}"
            after, X_after = (child, X_CM) if last else (self._link_between(child, number, prim), IDENTITY)
            kind = "prismatic" if slides else "revolute"
            joints.append(
                JointSpec(
                    own,
                    kind,
                    before,
                    after,
                    X_before,
                    X_after,
                    prim.place,
                    (spec,),
                    reflected_inertia=armature,
                    collides_with_parent=touch,
                )
            )
            of_drives[key] = own
            before, X_before = after, IDENTITY
        self.of_prim[prim.path] = of_drives
        return (self._at_start(prim, joints[0]),) if len(joints) == 1 else tuple(joints)

    def _link_between(self, child: str, number: int, prim: Prim | JointSpec) -> str:
        name = generated_name(f"{child}_{number}", self._links.links)
        self._links.links[name] = LinkSpec(name, prim.place, None, self._links.poses[child])
        self._links.poses[name] = self._links.poses[child]
        return name

    # --------------------------------------------------------------------------------- what it becomes

    def _add(self, prim: Prim, joint: JointSpec, pending: dict[tuple[str, str], list[JointSpec]]) -> None:
        ends = joint.parent, joint.child
        root = next((p for p in prim.lineage if p.path in self._adding), None)
        target = self.stage.prims.get((prim.relations.get("physics:body1") or [""])[0])
        root = root or next((p for p in (target.lineage if target else ()) if p.path in self._adding), None)
        stacked = root is not None or "MjcJointAPI" in prim.apis
        if stacked and joint.axes:
            pending.setdefault(ends, []).append(joint)
        self.joints[joint.name] = joint  # of a chain its place in the order

    def _add_chain(self, chain: Sequence[JointSpec]) -> None:
        """Joints between the same two bodies, each of which adds a coordinate: the first is next to the parent."""
        if len(chain) < 2:
            return
        child = chain[-1].child
        before, X_before = chain[0].parent, None
        for number, joint in enumerate(chain):
            after = child if number == len(chain) - 1 else self._link_between(child, number, joint)
            X_PF = joint.X_PF if X_before is None else self._reference(joint)
            self.joints[joint.name] = replace(joint, parent=before, child=after, X_PF=X_PF)
            before, X_before = after, IDENTITY

    def _reference(self, joint: JointSpec) -> Matrix4:
        """X_CF of a joint where its child stands at the start: the frame F on a link that is there too."""
        X_FM = _motion(joint.kind, joint.axes[0], joint.axes[0].default_position)
        return compose(joint.X_CM, inverse(X_FM))

    def _at_start(self, prim: Prim, joint: JointSpec) -> JointSpec:
        """The joint with the position at which its bodies stand."""
        poses = self._links.poses
        X_FM = compose(inverse(compose(poses[joint.parent], joint.X_PF)), compose(poses[joint.child], joint.X_CM))
        axis = joint.axes[0]
        direction = np.array(axis.xyz)
        if joint.kind.slides:
            q = float(direction @ X_FM[:3, 3])
        else:
            R = X_FM[:3, :3]
            twist = np.array((R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))
            q = float(np.arctan2(direction @ twist, np.trace(R) - 1.0))
        apart = np.abs(X_FM @ _motion(joint.kind, axis, -q) - np.eye(4)).max()
        if apart > CLOSED:
            message = f"its bodies do not stand where it holds them, by {apart:.3g}: the joint counts"
            prim.diagnostics.note("USD_APART", message, prim)
            return joint
        reference = axis.default_position
        q = q if abs(q - reference) > _AT_ZERO else reference
        return replace(joint, axes=(replace(axis, default_position=0.0 if abs(q) < _AT_ZERO else q),))

    def _add_constraint(self, name: str, kind: JointKind, ends: Ends, prim: Prim) -> None:
        (A, X_AP), (B, X_BQ) = ends
        if kind.is_fixed:
            self.constraints.append(WeldConstraintSpec(A, X_AP, B, X_BQ, prim.place, name))
        else:
            self._pass_over_cone(prim)
            p_AP, p_BQ = (tuple(X[:3, 3].tolist()) for X in (X_AP, X_BQ))
            self.constraints.append(BallConstraintSpec(A, p_AP, B, p_BQ, prim.place, name))

    def _read_distance(self, prim: Prim, name: str, ends: Ends) -> None:
        low, high = (prim.number(f"physics:{end}Distance", -1.0) * self.stage.length for end in ("min", "max"))
        if not 0.0 < high < inf or low > high:
            message = f"a distance from {low:.6g} to {high:.6g} m: it needs a largest one, the joint is left out"
            prim.diagnostics.warning("USD_UNSUPPORTED", message, prim)
            return
        (A, X_AP), (B, X_BQ) = ends
        p_AP, p_BQ = (tuple(X[:3, 3].tolist()) for X in (X_AP, X_BQ))
        least = None if low == high else max(low, 0.0)
        self.constraints.append(DistanceConstraintSpec(A, p_AP, B, p_BQ, high, prim.place, name=name, least=least))


def _adding_articulations(stage: Stage) -> set[str]:
    """Paths of the articulation roots whose joints add mobility, as Newton's schema has it."""
    return {prim.path for prim in stage.prims.values() if prim.flag("newton:jointsAddMobility", False)}


def _with_reference(
    prim: Prim, kind: JointKind, X_CM: Matrix4, axis: AxisSpec, unit: float
) -> tuple[Matrix4, AxisSpec]:
    """MuJoCo's `ref`: the position of a joint where its bodies stand in the file."""
    reference = prim.finite("mjc:ref", 0.0) * unit
    if not reference:
        return X_CM, axis
    return compose(X_CM, _motion(kind, axis, reference)), replace(axis, default_position=reference)


def _motion(kind: JointKind, axis: AxisSpec, q: float) -> Matrix4:
    """X_FM of a joint of one axis at a position."""
    direction = np.array(axis.xyz)
    return pose(None, q * direction) if kind.slides else pose(rotation_about(direction, q))
