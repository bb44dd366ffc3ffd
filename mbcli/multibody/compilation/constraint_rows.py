"""The equations behind the constraints of a plant: those that were added, and joints that close loops.

A joint that closes a loop holds what its type does not free: with F as frame P and M as frame S, a revolute
joint holds three translations and two turns, and so on.
"""

import math
from dataclasses import replace

import numpy as np

from mbcli.errors import ModelError
from mbcli.multibody.compilation import compile_constraints
from mbcli.multibody.compilation.compile_constraints import (
    Coupling,
    Tie,
    contact,
    distance,
    loop_rows,
    slides,
    twists,
)
from mbcli.multibody.state.parameters import DEFAULTS
from mbcli.multibody.tree.constraints import (
    AxesConstraint,
    BallConstraint,
    ContactConstraint,
    CouplerConstraint,
    DistanceConstraint,
    LoopConstraint,
    TendonConstraint,
    WeldConstraint,
)
from mbcli.multibody.tree.joint import X, Y, Z
from mbcli.multibody.tree.joint_kinds import is_weld


def constraint_rows(plant, parameters=DEFAULTS, equations=True):
    """Constraints active under a context's parameters, as compile_constraints() takes it: a list; and their owners.

    The owners (number of rows) are the constraints of the plant, row by row. A constraint without rows, as a
    floating joint that closes a loop, has none. ModelError if `equations` is true for constraints that are not.
    """
    compiled, owners = [], []
    for constraint in plant.active_constraints(parameters):
        try:
            made = COMPILERS[type(constraint)](constraint, parameters)
            if equations and not all(row.is_equation() for row in made.rows):
                raise ModelError(NO_EQUATION[type(constraint)])
        except ModelError as error:
            place = f"{constraint.place}: error: " if constraint.place else ""
            raise ModelError(f"{place}{constraint!r}: {error}") from None
        compiled.append(replace(made, numbers=tuple(range(len(owners), len(owners) + len(made.rows)))))
        owners += [constraint] * len(made.rows)
    return compiled, owners


def are_equations(plant, parameters=DEFAULTS):
    """Whether all active constraints are equations; True if that cannot be told because one is faulty."""
    try:
        return all(row.is_equation() for tie in constraint_rows(plant, parameters, False)[0] for row in tie.rows)
    except ModelError:
        return True


def require_two_trees(plant, parameters=DEFAULTS):
    """ModelError for an active tendon over more than two trees: contact problems cannot hold it."""
    model = plant.model
    for constraint in plant.active_constraints(parameters):
        if isinstance(constraint, TendonConstraint):
            dofs = [joint.velocity_start() for joint in constraint.joints()]
            if len(set(model.body_root[model.dof_body[dofs]])) > 2:
                place = f"{constraint.place}: error: " if constraint.place else ""
                reason = "its joints are in more than two trees, which steps with contact or limits of it cannot hold"
                raise ModelError(f"{place}{constraint!r}: {reason}")


def _tie(body_P, X_P, body_S, X_S, rows):
    return Tie(int(body_P.index()), X_P, int(body_S.index()), X_S, tuple(rows), ())


def _at(p):
    pose = np.eye(4)
    pose[:3, 3] = p
    return pose


def _ball(c, parameters):
    return _tie(c.body_A, _at(c.p_AP), c.body_B, _at(c.p_BQ), slides(X, Y, Z))


def _weld(c, parameters):
    return _tie(c.body_A, c.X_AP.GetAsMatrix4(), c.body_B, c.X_BQ.GetAsMatrix4(), twists(X, Y, Z) + slides(X, Y, Z))


def _axes(c, parameters):
    return _tie(c.body_A, c.X_AP.GetAsMatrix4(), c.body_B, c.X_BS.GetAsMatrix4(), loop_rows(c.axes))


def _contact(c, parameters):
    world = c.body.parent_plant.world_body()
    return _tie(world, np.eye(4), c.body, _at(c.p_BP), [row for normal in c.normals for row in contact(normal)])


def _distance(c, parameters):
    params = parameters.get(c, "params")
    bodies = [c.body_A.parent_plant.get_body(index) for index in (params.bodyA(), params.bodyB())]
    return _tie(
        bodies[0],
        _at(params.p_AP()),
        bodies[1],
        _at(params.p_BQ()),
        distance(params.distance(), (params.stiffness(), params.damping()), c.least),
    )


def _coupler(c, parameters):
    return _coupling(c.joints(), (1.0, -c.gear_ratio), c.offset)


def _tendon(c, parameters):
    length = c.lower_limit if c.lower_limit > -math.inf else c.upper_limit  # from which phi is measured
    limits = c.lower_limit - length, c.upper_limit - length
    return _coupling(c.joints(), c.a, length - c.offset, limits, (c.stiffness, c.damping))


def _coupling(joints, coefficients, offset, *law):
    terms = tuple((j.position_start(), j.velocity_start(), a) for j, a in zip(joints, coefficients, strict=True))
    return Coupling(terms, offset, (), *law)


def _loop(c, parameters):
    joint = c.joint
    F, M = joint.frame_on_parent(), joint.frame_on_child()
    X_PF, X_CM = (frame.pose_in_body(parameters).GetAsMatrix4() for frame in (F, M))
    if is_weld(joint):
        X_PF = X_PF @ joint.X_FM().GetAsMatrix4()
    if joint.held_rows is None:
        raise ModelError(f"a joint of type {joint.type_name()} cannot close a loop")
    if parameters.get(joint, "locked"):
        raise ModelError("a joint that closes a loop cannot be locked")
    if any(parameters.get(joint, "damping")) and not any(joint.default_damping_vector()):
        raise ModelError("damping of a joint that closes a loop acts only if it was set before Finalize()")
    return _tie(F.body(), X_PF, M.body(), X_CM, joint.held_rows(compile_constraints))


# why a constraint cannot be an equation
NO_EQUATION = {
    DistanceConstraint: (
        "with a finite stiffness it is a spring, which is not an equation, nor are limits: the steps of a plant with a "
        "time step have both"
    ),
    TendonConstraint: (
        "only a rigid tendon with equal limits is an equation; others act in the steps of a plant with a time step"
    ),
}

# what makes the equations of a constraint
COMPILERS = {
    AxesConstraint: _axes,
    BallConstraint: _ball,
    ContactConstraint: _contact,
    CouplerConstraint: _coupler,
    DistanceConstraint: _distance,
    LoopConstraint: _loop,
    TendonConstraint: _tendon,
    WeldConstraint: _weld,
}
