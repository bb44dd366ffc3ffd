"""Constraints of a plant: adding and removing them, switching them on and off in a context, their parameters.

PlantElements.constraints has all of them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mbcli.errors import ModelError
from mbcli.multibody.core.lookup import get_body, get_joint
from mbcli.multibody.state.context import Context
from mbcli.multibody.state.parameters import DEFAULTS
from mbcli.multibody.tree.constraints import (
    AxesConstraint,
    BallConstraint,
    ContactConstraint,
    CouplerConstraint,
    DistanceConstraint,
    DistanceConstraintParams,
    TendonConstraint,
    WeldConstraint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.core.active_constraints import ActiveConstraints
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.evaluated_state import EvaluatedState
    from mbcli.multibody.state.parameters import Parameters
    from mbcli.multibody.tree.constraint_id import MultibodyConstraintId
    from mbcli.multibody.tree.constraints import Constraint
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.index import JointIndex
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody

# the order of GetConstraintIds()
KINDS = (
    CouplerConstraint,
    DistanceConstraint,
    BallConstraint,
    WeldConstraint,
    TendonConstraint,
    ContactConstraint,
    AxesConstraint,
)


def constraints_of(state: EvaluatedState) -> ActiveConstraints:
    """Those that are active under the parameters of a state of this plant."""
    from mbcli.multibody.core.active_constraints import ActiveConstraints  # late: most plants have none

    return ActiveConstraints(state)


# adding, before Finalize()


def AddCouplerConstraint(
    plant: PlantData, joint0: Joint, joint1: Joint, gear_ratio: float, offset: float = 0.0
) -> MultibodyConstraintId:
    """q0 = gear_ratio q1 + offset, for two joints of one degree of freedom.

    Args:
      joint0: of this plant.
      joint1: another one of this plant.
      gear_ratio: [unit of q0 by unit of q1].
      offset: [unit of q0].

    Returns:
      The id of the constraint.

    Raises:
      RuntimeError: a joint has another number of freedoms or is another plant's; numbers are not finite; after
        Finalize(); the approximation of contact is `tamsi`.

    Example:
      >>> arm = MultibodyPlant(0.01)
      >>> instance = Parser(arm).AddModels("sample_models/double_pendulum.urdf")
      >>> belt = arm.AddCouplerConstraint(arm.GetJointByName("shoulder"), arm.GetJointByName("elbow"), gear_ratio=-0.5)
      >>> arm.num_coupler_constraints()
      1
    """
    return add_constraint(plant, "coupler", (joint0, joint1), CouplerConstraint, joint0, joint1, gear_ratio, offset)


def AddDistanceConstraint(
    plant: PlantData,
    body_A: RigidBody,
    p_AP: ArrayLike,
    body_B: RigidBody,
    p_BQ: ArrayLike,
    distance: float,
    stiffness: float = math.inf,
    damping: float = 0.0,
) -> MultibodyConstraintId:
    """Point P of body A and point Q of body B keep their distance.

    Args:
      body_A: of this plant.
      p_AP: (3,) [m], in A.
      body_B: another one of this plant.
      p_BQ: (3,) [m], in B.
      distance: greater than 0 [m]; the free length of the spring that a finite stiffness makes.
      stiffness: greater than 0 [N/m].
      damping: 0 or more [N s/m].

    Returns:
      The id of the constraint.

    Raises:
      RuntimeError: A is B; a number is out of its range; a body is another plant's; after Finalize().

    Example:
      >>> box = MultibodyPlant(0.01)
      >>> body = box.AddRigidBody("box", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> rope = box.AddDistanceConstraint(box.world_body(), [0, 0, 1], body, [0, 0, 0.05], distance=0.5)
      >>> box.num_constraints()
      1
    """
    arguments = (body_A, p_AP, body_B, p_BQ, distance, stiffness, damping)
    return add_constraint(plant, "distance", (body_A, body_B), DistanceConstraint, *arguments)


def AddBallConstraint(
    plant: PlantData, body_A: RigidBody, p_AP: ArrayLike, body_B: RigidBody, p_BQ: ArrayLike | None = None
) -> MultibodyConstraintId:
    """Point P of body A and point Q of body B coincide.

    Args:
      body_A: of this plant.
      p_AP: (3,) [m], in A.
      body_B: another one of this plant.
      p_BQ: (3,) [m], in B; default: the place of P in the default positions at Finalize().

    Returns:
      The id of the constraint.

    Raises:
      RuntimeError: A is B; a body is another plant's; after Finalize().

    Example:
      >>> box = MultibodyPlant(0.01)
      >>> body = box.AddRigidBody("box", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> pin = box.AddBallConstraint(box.world_body(), [0, 0, 1], body, [0, 0, 0.05])
      >>> box.num_ball_constraints()
      1
    """
    return add_constraint(plant, "ball", (body_A, body_B), BallConstraint, body_A, p_AP, body_B, p_BQ)


def AddWeldConstraint(
    plant: PlantData, body_A: RigidBody, X_AP: RigidTransform, body_B: RigidBody, X_BQ: RigidTransform
) -> MultibodyConstraintId:
    """Frame P of body A and frame Q of body B coincide.

    Args:
      body_A: of this plant.
      X_AP: pose of P in A [m].
      body_B: another one of this plant.
      X_BQ: pose of Q in B [m].

    Returns:
      The id of the constraint.

    Raises:
      RuntimeError: A is B; a body is another plant's; after Finalize().

    Example:
      >>> box = MultibodyPlant(0.01)
      >>> body = box.AddRigidBody("box", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> weld = box.AddWeldConstraint(box.world_body(), RigidTransform([0, 0, 1]), body, RigidTransform())
      >>> box.num_weld_constraints()
      1
    """
    return add_constraint(plant, "weld", (body_A, body_B), WeldConstraint, body_A, X_AP, body_B, X_BQ)


def AddTendonConstraint(
    plant: PlantData,
    joints: Iterable[JointIndex],
    a: ArrayLike,
    offset: float | None = None,
    lower_limit: float | None = None,
    upper_limit: float | None = None,
    stiffness: float | None = None,
    damping: float | None = None,
) -> MultibodyConstraintId:
    """lower_limit <= sum a_i q_i + offset <= upper_limit [m], over joints of one degree of freedom; returns the id.

    Args:
        joints: JointIndex of each.
        a: [m/rad] or [1] of each.
        offset: [m], default 0.
        lower_limit: [m], default none; this or the upper one is finite.
        upper_limit: [m], default none.
        stiffness: [N/m] beyond a limit, default infinite.
        damping: [N s/m], default 0.

    RuntimeError: no joints, a joint twice, another number of a, a joint with another number of degrees of freedom,
    values out of range.
    """
    given = {
        "offset": offset,
        "lower_limit": lower_limit,
        "upper_limit": upper_limit,
        "stiffness": stiffness,
        "damping": damping,
    }
    tied = [get_joint(plant, index) for index in joints]
    given = {name: value for name, value in given.items() if value is not None}
    return add_constraint(plant, "tendon", tied, TendonConstraint, tied, a, **given)


def AddContactConstraint(
    plant: PlantData, body: RigidBody, point: ArrayLike, normals: ArrayLike
) -> MultibodyConstraintId:
    """A point of a body does not move along directions of World, as contacts of RBDL; returns the id.

    point [m] (3,), in the body; normals (n, 3), in World, of any length but zero. It holds velocities alone, in
    both directions: its place does not matter, and its force may pull. RuntimeError: values out of range.
    """
    return add_constraint(plant, "contact", (body,), ContactConstraint, body, point, normals)


def AddLoopConstraint(
    plant: PlantData,
    predecessor: RigidBody,
    successor: RigidBody,
    X_predecessor: RigidTransform,
    X_successor: RigidTransform,
    axes: ArrayLike,
) -> MultibodyConstraintId:
    """Frame S on the successor does not move in frame P on the predecessor along axes of P; returns the id.

    X_predecessor, X_successor: RigidTransform of P and S in the bodies; axes (n, 6) [1], in P, rotational part first,
    as in RBDL's loop constraints. RuntimeError: the bodies are the same, values out of range.
    """
    arguments = (predecessor, X_predecessor, successor, X_successor, axes)
    return add_constraint(plant, "loop", (predecessor, successor), AxesConstraint, *arguments)


def add_constraint(
    plant: PlantData,
    kind: str,
    parts: Iterable[MultibodyElement],
    constraint_class: type[Constraint],
    *arguments: Any,
    **named: Any,
) -> MultibodyConstraintId:
    plant.require_not_finalized(f"adding a {kind} constraint")
    for part in parts:
        plant.require_own(part, f"{kind} constraint")
    if plant.is_discrete() and not plant.settings.is_convex():
        raise RuntimeError(
            f"the discrete contact approximation {plant.settings.discrete_contact_approximation} cannot hold a "
            f"{kind} constraint: set {plant.settings.convex_laws()} before adding it"
        )
    constraint = constraint_class(*arguments, **named)
    plant.elements.constraints.append(constraint)
    return constraint.id


def change_contact_law(plant: PlantData, law: str) -> None:
    """RuntimeError if its steps cannot hold what the plant has."""
    if (num_constraints(plant) or plant.elements.deformable_bodies) and not _is_convex(law):
        what = (
            "cannot hold the constraints of the plant" if num_constraints(plant) else "does not know deformable bodies"
        )
        raise RuntimeError(f"the discrete contact approximation {law} {what}")
    plant.settings.discrete_contact_approximation = law


def RemoveConstraint(plant: PlantData, id: MultibodyConstraintId) -> None:
    """Takes a constraint out again. RuntimeError: after Finalize(), no constraint has this id."""
    plant.require_not_finalized("RemoveConstraint")
    plant.elements.constraints.remove(constraint_of_id(plant, "RemoveConstraint", id))


# finding


def GetConstraintIds(plant: PlantData) -> list[MultibodyConstraintId]:
    """Ids of all that were added: couplers, then distance, ball, weld, tendon, contact and loop constraints."""
    return [c.id for kind in KINDS for c in plant.elements.constraints if isinstance(c, kind)]


def num_constraints(plant: PlantData) -> int:
    """How many were added; joints that close loops do not count."""
    return sum(isinstance(c, KINDS) for c in plant.elements.constraints)


def num_coupler_constraints(plant: PlantData) -> int:
    """The number of coupler constraints."""
    return _count_constraints(plant, CouplerConstraint)


def num_distance_constraints(plant: PlantData) -> int:
    """The number of distance constraints."""
    return _count_constraints(plant, DistanceConstraint)


def num_ball_constraints(plant: PlantData) -> int:
    """The number of ball constraints."""
    return _count_constraints(plant, BallConstraint)


def num_weld_constraints(plant: PlantData) -> int:
    """The number of weld constraints."""
    return _count_constraints(plant, WeldConstraint)


def num_tendon_constraints(plant: PlantData) -> int:
    """The number of tendon constraints."""
    return _count_constraints(plant, TendonConstraint)


def _count_constraints(plant: PlantData, kind: type[Constraint]) -> int:
    return sum(isinstance(c, kind) for c in plant.elements.constraints)


def constraint_of_id(plant: PlantData, asked_by: str, id: Any, kind: Any = KINDS) -> Any:
    """The constraint of that id. RuntimeError if there is none of that kind."""
    for constraint in reversed(plant.elements.constraints):  # readers ask for the one that they just added
        if constraint.id == id and isinstance(constraint, kind):
            return constraint
    what = "constraint" if kind is KINDS else f"{kind.kind} constraint"
    raise RuntimeError(f"{asked_by}: the plant has no {what} with the id {id!r}")


# in a context


def GetConstraintActiveStatus(plant: PlantData, context: Context, id: MultibodyConstraintId) -> bool:
    """Whether a constraint holds in this context. RuntimeError for an unknown id."""
    plant.check_context(context)
    return context.state.parameters.get(constraint_of_id(plant, "GetConstraintActiveStatus", id), "active")


def SetConstraintActiveStatus(plant: PlantData, context: Context, id: MultibodyConstraintId, status: bool) -> None:
    """Switches a constraint on or off in this context; all are on at first. RuntimeError for an unknown id."""
    plant.check_context(context)
    context.state.set_parameter(constraint_of_id(plant, "SetConstraintActiveStatus", id), "active", bool(status))


def GetDefaultDistanceConstraintParams(plant: PlantData) -> dict[MultibodyConstraintId, DistanceConstraintParams]:
    """{id: DistanceConstraintParams} as added."""
    return {c.id: c.default_of("params") for c in plant.elements.constraints if isinstance(c, DistanceConstraint)}


def GetDistanceConstraintParams(
    plant: PlantData, context: Context, id: MultibodyConstraintId | None = None
) -> DistanceConstraintParams | dict[MultibodyConstraintId, DistanceConstraintParams]:
    """The DistanceConstraintParams of one constraint in this context, or of all: {id: DistanceConstraintParams}.

    RuntimeError for the id of no distance constraint.
    """
    plant.check_context(context)
    if id is None:
        every: dict[Any, Any] = {
            each: GetDistanceConstraintParams(plant, context, each) for each in _distance_ids(plant)
        }
        return every
    constraint = constraint_of_id(plant, "GetDistanceConstraintParams", id, DistanceConstraint)
    return context.state.parameters.get(constraint, "params")


def SetDistanceConstraintParams(
    plant: PlantData, context: Context, id: MultibodyConstraintId, params: DistanceConstraintParams
) -> None:
    """Changes the parameters of a distance constraint in this context.

    RuntimeError for the id of no distance constraint, and for bodies that the plant does not have.
    """
    plant.check_context(context)
    constraint = constraint_of_id(plant, "SetDistanceConstraintParams", id, DistanceConstraint)
    if not isinstance(params, DistanceConstraintParams):
        raise TypeError(f"SetDistanceConstraintParams: expected DistanceConstraintParams, not {params!r}")
    for index in (params.bodyA(), params.bodyB()):
        get_body(plant, index)
    context.state.set_parameter(constraint, "params", params)


def _distance_ids(plant: PlantData) -> list[MultibodyConstraintId]:
    return [c.id for c in plant.elements.constraints if isinstance(c, DistanceConstraint)]


def active_constraints(plant: PlantData, parameters: Any = DEFAULTS) -> Any:
    """Those that hold under the parameters of a context, loops included, in their order; springs are left out."""
    return [
        c
        for c in plant.elements.constraints
        if parameters.get(c, "active") and not _acts_as_spring(plant, c, parameters)
    ]


def is_spring(plant: PlantData, constraint: Constraint) -> bool:
    """Whether it is a distance constraint with a finite stiffness of a continuous plant: a force element there."""
    return (
        isinstance(constraint, DistanceConstraint)
        and not plant.is_discrete()
        and constraint.least is None
        and math.isfinite(constraint.default_of("params").stiffness())
    )


def _acts_as_spring(plant: PlantData, constraint: Constraint, parameters: Parameters) -> bool:
    return is_spring(plant, constraint) and math.isfinite(parameters.get(constraint, "params").stiffness())


# at Finalize()


def refuse_constraints_at(plant: PlantData, loop_joints: list[Joint]) -> None:
    """ModelError for a constraint of coordinates that a joint does not have because it closes a loop."""
    for constraint in plant.elements.constraints:
        for joint in set(constraint.joints()).intersection(loop_joints):
            place = f"{constraint.place}: error: " if constraint.place else ""
            reason = f"joint '{joint.name()}' closes a loop and has no coordinate to constrain"
            raise ModelError(f"{place}{constraint!r}: {reason}")


def _is_convex(law: str) -> bool:
    from mbcli.engine.contact.laws.registry import contact_law  # for plants that have what it may not hold

    return bool(contact_law(law).CONVEX)
