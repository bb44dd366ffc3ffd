"""ConstraintSet: adding, groups, the life cycle, stabilization."""

import numpy as np
import pytest
from constraint_scenes import X, Y, Z, chain_of_bars, four_bar
from random_trees import random_pose

from mbcli.math import RigidTransform
from mbcli.multibody.constraints import (
    CalcConstraintsJacobian,
    CalcConstraintsPositionError,
    CalcConstraintsVelocityError,
    Constraint,
    ConstraintSet,
    ConstraintType,
    ForwardDynamicsConstraintsDirect,
    ForwardDynamicsConstraintsNullSpace,
    LinearSolver,
)

POSE = RigidTransform()
AXES = np.eye(6)


@pytest.fixture
def plant():
    return chain_of_bars([1.0, 2.0, 2.0])


# groups (check 16)


def test_contacts_on_one_point_are_one_group_wherever_they_were_added(plant):
    cs = ConstraintSet()
    ids = [cs.AddContactConstraint("bar2", [1, 0, 0], X, "first", 70)]
    ids += [cs.AddContactConstraint("bar1", [1, 0, 0], Y, "other", 80)]
    ids += [cs.AddContactConstraint(plant.GetBodyByName("bar2"), [1, 0, 0], Y, "second")]
    ids += [cs.AddContactConstraint("bar2", [1, 0, 0], Z, None, 90)]
    cs.Bind(plant)
    assert cs.size() == 4
    assert len(set(ids)) == 4
    group = cs.getGroupIndexByName("second")
    assert group == cs.getGroupIndexByName("first") == cs.getGroupIndexById(90) == cs.getGroupIndexByAssignedId(ids[3])
    assert cs.getGroupSize(group) == 3
    assert cs.getGroupName(group) == "first"
    assert cs.getGroupId(group) == 70
    assert cs.getGroupAssignedId(group) == ids[0]
    assert cs.getGroupType(group) == ConstraintType.ConstraintTypeContact == 0
    assert cs.getGroupIndexMax() == 1
    other = cs.getGroupIndexById(80)
    assert (other, cs.getGroupSize(other)) == (1, 1)
    # rows stay in the order of their addition
    G = CalcConstraintsJacobian(plant, np.zeros(3), cs)
    np.testing.assert_allclose(G, [[0, 0, 0], [2, 1, 0], [4, 3, 1], [0, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(cs.calcVelocityError(group, plant, np.zeros(3), [1, 1, 1]), [0, 8, 0], atol=1e-15)
    np.testing.assert_allclose(
        CalcConstraintsVelocityError(plant, np.zeros(3), [1, 1, 1], cs), [0, 3, 8, 0], atol=1e-15
    )
    assert cs.nameGroupMap == {"first": 0, "other": 1, "second": 0}
    assert cs.userDefinedIdGroupMap == {70: 0, 80: 1, 90: 0}
    assert cs.idGroupMap == {ids[0]: 0, ids[1]: 1, ids[2]: 0, ids[3]: 0}
    assert cs.name == ["first", "other", "second", ""]
    assert (len(cs.constraints), len(cs.contactConstraints), len(cs.loopConstraints)) == (2, 2, 0)


def test_loop_constraints_between_equal_frames_are_one_group(plant):
    cs = ConstraintSet()
    pose = random_pose(np.random.default_rng(0))
    for k in (3, 4):
        cs.AddLoopConstraint("bar0", "bar2", pose, POSE, AXES[k])
    cs.AddLoopConstraint("bar0", "bar2", POSE, pose, AXES[5])
    cs.AddLoopConstraint("bar2", "bar0", pose, POSE, AXES[5])
    assert [cs.getGroupSize(g) for g in range(cs.getGroupIndexMax() + 1)] == [2, 1, 1]
    assert cs.constraintType == [ConstraintType.ConstraintTypeLoop] * 4
    assert cs.getGroupType(1) == 1


def test_names_and_ids_are_unique_and_unknown_ones_are_errors(plant):
    cs = ConstraintSet()
    with pytest.raises(ValueError, match="empty"):
        cs.getGroupIndexMax()
    cs.AddContactConstraint("bar0", [0, 0, 0], X, "a", 1)
    with pytest.raises(ValueError, match="has a constraint with the name 'a'"):
        cs.AddContactConstraint("bar0", [0, 0, 0], Y, "a")
    with pytest.raises(ValueError, match="has a constraint with the user id 1"):
        cs.AddLoopConstraint("bar0", "bar1", POSE, POSE, AXES[0], userDefinedId=1)
    assert cs.size() == 1
    for call, value in (
        (cs.getGroupIndexByName, "b"),
        (cs.getGroupIndexById, 2),
        (cs.getGroupIndexByAssignedId, 7),
        (cs.getGroupIndexById, None),
    ):
        with pytest.raises(ValueError, match="has no constraint with"):
            call(value)
    for index in (-1, 1):
        with pytest.raises(ValueError, match=f"has no group {index}, it has 1"):
            cs.getGroupSize(index)


def test_bad_values_are_errors(plant):
    cs = ConstraintSet()
    with pytest.raises(ValueError, match="worldNormal must have length 1, it has 2"):
        cs.AddContactConstraint("bar0", [0, 0, 0], [0, 0, 2])
    with pytest.raises(ValueError, match="bodyPoint must be 3 finite numbers"):
        cs.AddContactConstraint("bar0", [0, np.nan, 0], Z)
    with pytest.raises(ValueError, match="constraintAxisInPredecessor must not be zero"):
        cs.AddLoopConstraint("bar0", "bar1", POSE, POSE, np.zeros(6))
    with pytest.raises(ValueError, match="time constant .* must be greater than 0, it is 0"):
        cs.AddLoopConstraint("bar0", "bar1", POSE, POSE, AXES[0], True, 0.0)
    with pytest.raises(TypeError, match="expected a Constraint"):
        cs.AddCustomConstraint("rolling")
    assert cs.size() == 0
    cs.AddContactConstraint("bar9", [0, 0, 0], Z)
    with pytest.raises(ValueError, match="the model has no body named 'bar9'"):
        cs.Bind(plant)
    assert not cs.bound
    other = ConstraintSet()
    other.AddContactConstraint(17, [0, 0, 0], Z)
    with pytest.raises(ValueError, match="the model has no body 17, it has 4"):
        other.Bind(plant)
    stranger = ConstraintSet()
    stranger.AddContactConstraint(chain_of_bars([1.0]).GetBodyByName("bar0"), [0, 0, 0], Z)
    with pytest.raises(ValueError, match="body 'bar0' is not part of the model"):
        stranger.Bind(plant)


# life cycle (checks 18, 20)


def test_a_set_must_be_bound_and_is_then_closed():
    plant, cs = four_bar()
    with pytest.raises(RuntimeError, match="bound: nothing can be added"):
        cs.AddContactConstraint("bar0", [0, 0, 0], X)
    with pytest.raises(RuntimeError, match="bound already"):
        cs.Bind(plant)
    with pytest.raises(RuntimeError, match="bound to another model"):
        CalcConstraintsPositionError(chain_of_bars([1.0, 2.0, 2.0]), np.zeros(3), cs)
    copy = cs.Copy()
    assert not copy.bound
    with pytest.raises(RuntimeError, match="not bound: call Bind"):
        CalcConstraintsPositionError(plant, np.zeros(3), copy)
    copy.AddContactConstraint("bar0", [0, 0, 0], X)
    copy.Bind(plant)
    assert (copy.size(), cs.size()) == (3, 2)
    # switching stabilization in the copy leaves the original alone
    copy.enableBaumgarteStabilization(0)
    assert not cs.isBaumgarteStabilizationEnabled(0)


def test_forces_without_dynamics_at_that_state_are_errors():
    """Check 18: multipliers are of the last dynamics, at its Q."""
    plant, cs = four_bar()
    q, v = np.array([0.3, 0.2, -0.4]), np.zeros(3)
    for call in (cs.calcForces, cs.calcImpulses):
        with pytest.raises(RuntimeError, match="no multipliers have been computed yet"):
            call(0, plant, q, v)
    ForwardDynamicsConstraintsDirect(plant, q, v, np.zeros(3), cs)
    cs.calcForces(0, plant, q, v)
    with pytest.raises(RuntimeError, match="computed at another Q"):
        cs.calcForces(0, plant, q + 0.1, v)
    with pytest.raises(RuntimeError, match="no multipliers"):
        cs.calcImpulses(0, plant, q, v)
    assert cs.force is not None
    cs.clear()
    assert cs.force is None
    assert cs.bound
    with pytest.raises(RuntimeError, match="no multipliers"):
        cs.calcForces(0, plant, q, v)


def test_solver_of_dense_systems():
    plant, cs = four_bar()
    q, v, tau = np.array([0.3, 0.2, -0.4]), np.array([1.0, 0.5, -2.0]), np.ones(3)
    expected = ForwardDynamicsConstraintsNullSpace(plant, q, v, tau, cs)
    for solver in LinearSolver:
        cs.SetSolver(solver)
        if solver is LinearSolver.LinearSolverLLT:
            with pytest.raises(ValueError, match="indefinite"):
                ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs)
        else:
            np.testing.assert_allclose(ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs), expected, rtol=1e-11)
    cs.SetSolver("lu")
    assert cs.linear_solver is LinearSolver.LinearSolverPartialPivLU


# stabilization (check 9)


def test_stabilization_is_off_by_default_and_never_for_contacts(plant):
    cs = ConstraintSet()
    cs.AddContactConstraint("bar0", [1, 0, 0], X)
    end = RigidTransform(p=[2.0, 0.0, 0.0])
    cs.AddLoopConstraint("world", "bar2", POSE, end, AXES[3])
    cs.AddLoopConstraint("world", "bar2", POSE, end, AXES[4])
    cs.Bind(plant)
    assert not cs.isBaumgarteStabilizationEnabled(0)
    assert not cs.isBaumgarteStabilizationEnabled(1)
    with pytest.raises(ValueError, match="contact constraints have no Baumgarte stabilization"):
        cs.enableBaumgarteStabilization(0)
    np.testing.assert_array_equal(cs.getBaumgarteStabilizationCoefficients(1), [10.0, 10.0])
    q, v = np.array([0.3, 0.2, -0.4]), np.array([1.0, 0.5, -2.0])
    ForwardDynamicsConstraintsNullSpace(plant, q, v, np.zeros(3), cs)
    before = cs.gamma.copy()
    cs.enableBaumgarteStabilization(1)
    ForwardDynamicsConstraintsNullSpace(plant, q, v, np.zeros(3), cs)
    added = cs.calcBaumgarteStabilizationForces(
        1, plant, cs.calcPositionError(1, plant, q), cs.calcVelocityError(1, plant, q, v)
    )
    np.testing.assert_allclose(cs.gamma - before, [0.0, *added], rtol=1e-12, atol=1e-12)
    assert abs(added).min() > 1.0
    cs.disableBaumgarteStabilization(1)
    ForwardDynamicsConstraintsNullSpace(plant, q, v, np.zeros(3), cs)
    np.testing.assert_array_equal(cs.gamma, before)


def test_a_group_has_one_stabilization(plant):
    cs = ConstraintSet()
    cs.AddLoopConstraint("world", "bar2", POSE, POSE, AXES[3], True, 0.2)
    with pytest.raises(ValueError, match="one Baumgarte stabilization"):
        cs.AddLoopConstraint("world", "bar2", POSE, POSE, AXES[4])
    assert cs.size() == 1
    np.testing.assert_array_equal(cs.getBaumgarteStabilizationCoefficients(0), [5.0, 5.0])


# custom constraints


class Gear(Constraint):
    """q0 = 2 q1, and dq2/dt = 1."""

    def jacobian(self, model, time, Q, QDot):
        return [[1.0, -2.0, 0.0], [0.0, 0.0, 1.0]]

    def gamma(self, model, time, Q, QDot, G):
        return [0.0, 0.0]

    def position_error(self, model, time, Q):
        return [Q[0] - 2.0 * Q[1], 0.0]

    def velocity_error(self, model, time, Q, QDot, G):
        return G @ QDot - [0.0, 1.0]


def test_custom_constraints_take_part_like_others(plant):
    cs = ConstraintSet()
    cs.AddContactConstraint("bar2", [2.0, 0, 0], Y)
    gear = Gear(2, "gear", 5, True, 0.5)
    cs.AddCustomConstraint(gear)
    with pytest.raises(ValueError, match="'gear'"):
        cs.AddCustomConstraint(gear)
    cs.Bind(plant)
    assert cs.size() == 3
    assert cs.getGroupType(1) == ConstraintType.ConstraintTypeCustom == 2
    q, v = np.array([0.3, 0.2, -0.4]), np.array([1.0, 0.5, -2.0])
    np.testing.assert_allclose(CalcConstraintsPositionError(plant, q, cs), [0.0, -0.1, 0.0], atol=1e-15)
    np.testing.assert_allclose(CalcConstraintsVelocityError(plant, q, v, cs)[1:], [0.0, -3.0], atol=1e-15)
    np.testing.assert_array_equal(CalcConstraintsJacobian(plant, q, cs)[1:], gear.jacobian(plant, 0.0, q, v))
    qddot = ForwardDynamicsConstraintsNullSpace(plant, q, v, np.zeros(3), cs)
    assert qddot[2] == pytest.approx(-2.0 / 0.5 * -3.0, rel=1e-12)
    assert qddot[0] - 2.0 * qddot[1] == pytest.approx(0.1 / 0.5**2, rel=1e-12)
    with pytest.raises(NotImplementedError, match="does not define its forces"):
        cs.calcForces(1, plant, q, v)


def test_a_custom_constraint_of_the_wrong_shape_is_named(plant):
    class Wrong(Gear):
        def gamma(self, model, time, Q, QDot, G):
            return [0.0]

    cs = ConstraintSet()
    cs.AddCustomConstraint(Wrong(2, "gear"))
    cs.Bind(plant)
    with pytest.raises(ValueError, match=r"gamma\(\) of custom constraint 'gear' gives \(1,\), not \(2,\)"):
        ForwardDynamicsConstraintsNullSpace(plant, np.zeros(3), np.zeros(3), np.zeros(3), cs)
