"""What joints that close loops have and cannot do there: runs refuse it, or watch that it would not have acted.

Such a joint has no coordinate. Its damping and springs act between its bodies if it is revolute or prismatic, and the
damping of a ball joint (compile_force_elements.py). No input has a place for an actuator there, so that a run misses
nothing of it but a controller or a reflected inertia. Its limits do not act: a run of a discrete plant, where limits
do, ends where one is passed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ModelError
from mbcli.multibody.compilation.compile_force_elements import JOINTS_WITH_DAMPING, JOINTS_WITH_FORCES
from mbcli.multibody.tree.joint_spring import JointSpring

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.owning_plant import OwningPlant
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.multibody.tree.rigid_body import RigidBody

PASSED = 1e-9  # [rad or m] beyond a limit


@dataclass(frozen=True)
class DroppedByLoopCut:
    """A joint that closes a loop, and what of it does not act: force elements, damping, actuators; limits.

    acting: what would do something of itself; idle: actuators that would not, and dry friction.
    others: the other joints of the loop, of which one could be cut in its place.
    """

    joint: Joint
    acting: tuple[str, ...]
    idle: tuple[str, ...]
    limited: bool
    others: tuple[Joint, ...]

    def __str__(self):
        parts = [*self.acting, *self.idle, *["its limits"] * self.limited]
        return f"{self.place()}{self._name()}, what it has does not act: {', '.join(parts)}"

    def place(self) -> str:
        return f"{self.joint.place}: " if self.joint.place is not None else ""

    def _name(self) -> str:
        return f"joint '{self.joint.name()}' closes a loop"

    def refusal(self) -> str | None:
        """Why a run cannot be; None if it can."""
        parts = list(self.acting)
        if self.limited and not isinstance(self.joint, JOINTS_WITH_FORCES):
            parts.append("its limits")
        if not parts:
            return None
        return (
            f"{self.place()}{self._name()} and has no coordinate, where {', '.join(parts)} cannot act; {self.advice()}"
        )

    def advice(self) -> str:
        names = ", ".join(f"'{joint.name()}'" for joint in self.others)
        return f"a joint of the loop that has none of that is cut in its place: take it from one of {names}"


def has_limits(joint: Joint) -> bool:
    limits = joint.position_lower_limits(), joint.position_upper_limits()
    return joint.turn_limit < np.inf or bool(np.isfinite(limits).any())


def acts_of_itself(actuator: JointActuator) -> bool:
    """Whether an actuator does something without an input: by a controller, or by its inertia."""
    return actuator.has_controller() or actuator.default_reflected_inertia() != 0.0


def dropped_by_loop_cut_at(plant: OwningPlant, loop_joints: list[Joint]) -> list[DroppedByLoopCut]:
    """What each joint that closes a loop loses, if anything. The joints of the forest are known."""
    found = []
    for joint in loop_joints:
        actuators = [a for a in plant.elements.actuators if a.joint() is joint]
        acting = [f"actuator '{a.name()}'" for a in actuators if acts_of_itself(a)]
        idle = [f"actuator '{a.name()}'" for a in actuators if not acts_of_itself(a)]
        for e in plant.elements.force_elements:
            acting += [type(e).__name__] if joint in e.tied_elements() and not isinstance(e, JointSpring) else []
        if any(joint.default_damping_vector()) and not isinstance(joint, JOINTS_WITH_DAMPING):
            acting.append("its damping")
        if any(joint.dry_friction):
            idle.append("its dry friction")
        if idle or acting or has_limits(joint):
            others = _rest_of_loop(plant, joint, set(loop_joints))
            found.append(DroppedByLoopCut(joint, tuple(acting), tuple(idle), has_limits(joint), others))
    return found


def _rest_of_loop(plant: OwningPlant, closing: Joint, loop_joints: set[Joint]) -> tuple[Joint, ...]:
    """The joints on the way from the parent of a joint that closes a loop to its child, through the forest."""
    ways: dict[RigidBody, tuple[Joint, ...]] = {closing.parent_body(): ()}
    front = [closing.parent_body()]
    for body in front:
        for joint in plant.elements.joints:
            ends = joint.parent_body(), joint.child_body()
            if joint in loop_joints or body not in ends:
                continue
            other = ends[1] if ends[0] is body else ends[0]
            if other not in ways:
                ways[other] = (*ways[body], joint)
                front.append(other)
    return tuple(joint for joint in ways[closing.child_body()] if joint.num_velocities() > 0)


def require_actions(plant: OwningPlant) -> None:
    """ModelError if something of a joint that closes a loop cannot act in a run."""
    for left_out in plant.dropped_by_loop_cut:
        refusal = left_out.refusal()
        if refusal is not None:
            raise ModelError(refusal)


class WatchedLimits:
    """The limits of joints that close loops, in a run of a discrete plant; None of them in a continuous one.

    An angle is known within half a turn: limits beyond are not watched.
    """

    def __init__(self, plant: OwningPlant, context: Context) -> None:
        self._joints = [line for line in plant.dropped_by_loop_cut if line.limited] if plant.is_discrete() else []
        self._plant = plant
        self._context = context.Clone() if self._joints else context

    def passed(self, times: Vector, positions: Matrix) -> str | None:
        """What limit is passed at the first of some samples where one is, as a line; None."""
        for time, q in zip(times, positions, strict=True) if self._joints else ():
            self._context.state.set_q(q)
            for left_out in self._joints:
                where = self._passed(left_out.joint)
                if where is not None:
                    return (
                        f"{left_out.place()}joint '{left_out.joint.name()}' closes a loop and has no coordinate, where "
                        f"its limits could act: {where} at t = {time:.9g} s; {left_out.advice()}"
                    )
        return None

    def _passed(self, joint: Joint) -> str | None:
        x = self._coordinate(joint)
        lower, upper = joint.position_lower_limits()[0], joint.position_upper_limits()[0]
        if isinstance(joint, JOINTS_WITH_FORCES[0]):
            lower, upper = (
                limit if abs(limit) < math.pi else math.copysign(math.inf, limit) for limit in (lower, upper)
            )
        if x < lower - PASSED:
            return f"it is at {x:.6g}, its lower limit is {lower:.6g}"
        if x > upper + PASSED:
            return f"it is at {x:.6g}, its upper limit is {upper:.6g}"
        return None

    def _coordinate(self, joint: Any) -> float:
        """The angle [rad], from -pi to pi, or the travel [m] of M in F."""
        X_FM = self._plant.CalcRelativeTransform(self._context, joint.frame_on_parent(), joint.frame_on_child())
        axis = joint.axis()
        if not isinstance(joint, JOINTS_WITH_FORCES[0]):
            return float(axis @ X_FM.translation())
        R = X_FM.rotation().matrix()
        turn = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return math.atan2(axis @ turn, np.trace(R) - 1.0)
