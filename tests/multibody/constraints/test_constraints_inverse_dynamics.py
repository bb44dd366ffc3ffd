"""Actuation, exact and relaxed inverse dynamics under constraint sets (checks 12, 13, 14)."""

import numpy as np
import pytest
from constraint_scenes import X, Y, chain_of_bars, four_bar
from test_constraints_dynamics import close, scene

from mbcli.errors import NumericalError
from mbcli.math import RigidTransform
from mbcli.multibody.constraints import (
    CalcAssemblyQ,
    CalcAssemblyQDot,
    CalcConstraintsJacobian,
    ConstraintSet,
    ForwardDynamicsConstraintsDirect,
    ForwardDynamicsConstraintsNullSpace,
    InverseDynamicsConstraints,
    InverseDynamicsConstraintsRelaxed,
    isConstrainedSystemFullyActuated,
)

Q, V = np.array([0.3, 0.9, -1.4]), np.array([1.0, 0.5, -2.0])


def test_actuation_is_told_by_the_rank_and_not_by_counting():
    """Check 12: as many rows as velocities without actuator, but a row that they do not move."""
    plant, cs = four_bar()
    with pytest.raises(RuntimeError, match="no actuation map"):
        isConstrainedSystemFullyActuated(plant, Q, V, cs)
    for actuated, expected in (([1, 0, 0], True), ([1, 1, 0], True), ([0, 0, 0], False)):
        cs.SetActuationMap(plant, np.array(actuated, bool))
        assert isConstrainedSystemFullyActuated(plant, Q, V, cs) is expected
        assert cs.S.shape == (sum(actuated), 3)
        np.testing.assert_array_equal(cs.S.T @ cs.S + cs.P.T @ cs.P, np.eye(3))
    plant = chain_of_bars([1.0, 1.0, 1.0])
    cs = ConstraintSet()
    cs.AddContactConstraint("bar0", [1.0, 0, 0], Y)
    cs.Bind(plant)
    cs.SetActuationMap(plant, [False, True, True])
    assert isConstrainedSystemFullyActuated(plant, Q, V, cs)
    cs.SetActuationMap(plant, [True, True, False])  # one row, one velocity: but bar0 does not feel the last hinge
    assert not isConstrainedSystemFullyActuated(plant, Q, V, cs)
    with pytest.raises(NumericalError, match="not fully actuated: .*; use InverseDynamicsConstraintsRelaxed"):
        InverseDynamicsConstraints(plant, Q, V, np.zeros(3), cs)


def test_actuation_maps_of_the_wrong_shape_are_errors():
    plant, cs = four_bar()
    for wrong in ([True, False], [1, 0, 0], [[True, False, True]]):
        with pytest.raises(ValueError, match="actuatedDof must be 3 booleans"):
            cs.SetActuationMap(plant, wrong)


def fully_actuated(seed):
    """A random scene of which as many velocities have no actuator as there are constraints, and which ones can."""
    plant, cs, q, v, tau = scene(seed)
    G = CalcConstraintsJacobian(plant, q, cs)
    from scipy.linalg import qr

    unactuated = qr(G, pivoting=True)[2][: cs.size()]
    actuated = np.ones(len(v), bool)
    actuated[unactuated] = False
    cs.SetActuationMap(plant, actuated)
    return plant, cs, q, v, tau, actuated


@pytest.mark.parametrize("seed", range(4))
def test_exact_inverse_dynamics_is_undone_by_forward_dynamics(seed):
    """Check 13, with external forces."""
    plant, cs, q, v, wanted, actuated = fully_actuated(seed)
    assert isConstrainedSystemFullyActuated(plant, q, v, cs)
    f_ext = np.random.default_rng(seed).normal(size=(plant.num_bodies(), 6))
    qddot, tau = InverseDynamicsConstraints(plant, q, v, wanted, cs, f_ext=f_ext)
    force = cs.force
    np.testing.assert_allclose(qddot[actuated], wanted[actuated], rtol=1e-12)
    assert not tau[~actuated].any()
    close(cs.H @ qddot + cs.C, tau + cs.G.T @ force)
    close(ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs, f_ext=f_ext), qddot, 1e-8)
    close(cs.force, force, 1e-8)


def test_more_constraints_than_velocities_without_actuator():
    """Accelerations that fit give the shortest multipliers; those that do not are reported (check 13)."""
    plant, cs = four_bar()
    q = CalcAssemblyQ(plant, Q, cs, np.ones(3)).q
    v = CalcAssemblyQDot(plant, q, V, cs, np.ones(3))
    possible = ForwardDynamicsConstraintsNullSpace(plant, q, v, np.array([2.0, -1.0, 3.0]), cs)
    cs.SetActuationMap(plant, [True, True, False])
    qddot, tau = InverseDynamicsConstraints(plant, q, v, possible, cs)
    close(qddot, possible)
    close(cs.H @ qddot + cs.C, tau + cs.G.T @ cs.force)
    assert tau[2] == 0.0
    with pytest.raises(NumericalError, match="contradict"):
        InverseDynamicsConstraints(plant, q, v, possible + [1.0, 0.0, 0.0], cs)


@pytest.mark.parametrize("seed", range(4))
def test_relaxed_inverse_dynamics_fulfils_the_equations_of_motion(seed):
    """Check 14: whatever is actuated; Tau is zero elsewhere."""
    plant, cs, q, v, controls = scene(seed)
    actuated = np.random.default_rng(seed).random(len(v)) < 0.5
    cs.SetActuationMap(plant, actuated)
    f_ext = np.random.default_rng(seed).normal(size=(plant.num_bodies(), 6))
    qddot, tau = InverseDynamicsConstraintsRelaxed(plant, q, v, controls, cs, f_ext=f_ext)
    assert not tau[~actuated].any()
    close(cs.H @ qddot + cs.C, tau + cs.G.T @ cs.force)
    close(cs.G @ qddot, cs.gamma)
    assert (100.0 * abs(cs.H).max() * np.eye(actuated.sum()) == cs.W).all()


def test_relaxed_inverse_dynamics_comes_close_to_possible_controls(monkeypatch):
    """On a fully actuated system it goes to the exact one as W grows (check 14)."""
    plant, cs, q, v, wanted, actuated = fully_actuated(1)
    qddot, tau = InverseDynamicsConstraints(plant, q, v, wanted, cs)
    errors = []
    for weight in (1e2, 1e4, 1e6):
        monkeypatch.setattr("mbcli.multibody.constraints.inverse_dynamics.WEIGHT", weight)
        found, _ = InverseDynamicsConstraintsRelaxed(plant, q, v, qddot, cs)
        errors.append(abs(found - qddot).max())
    assert errors[1] < 0.05 * errors[0]
    assert errors[2] < 0.05 * errors[1]


def test_relaxed_inverse_dynamics_of_a_floating_box_without_actuators_is_forward_dynamics():
    plant, cs, q, v, _ = scene(1)
    cs.SetActuationMap(plant, np.zeros(len(v), bool))
    qddot, tau = InverseDynamicsConstraintsRelaxed(plant, q, v, np.zeros(len(v)), cs)
    assert not tau.any()
    close(qddot, ForwardDynamicsConstraintsDirect(plant, q, v, np.zeros(len(v)), cs))


def test_clear_keeps_the_actuation_map():
    plant, cs = four_bar()
    cs.SetActuationMap(plant, [True, False, False])
    cs.clear()
    assert isConstrainedSystemFullyActuated(plant, Q, V, cs)
    copy = cs.Copy()
    copy.Bind(plant)
    with pytest.raises(RuntimeError, match="no actuation map"):
        InverseDynamicsConstraintsRelaxed(plant, Q, V, np.zeros(3), copy)


def test_frames_may_be_matrices():
    plant = chain_of_bars([1.0])
    sets = [ConstraintSet(), ConstraintSet()]
    pose = RigidTransform(p=[1.0, 0, 0])
    for cs, frame in zip(sets, (pose, pose.GetAsMatrix34()), strict=True):
        cs.AddLoopConstraint("world", "bar0", frame, frame, [0, 0, 0, *X])
        cs.Bind(plant)
    jacobians = [CalcConstraintsJacobian(plant, [0.4], cs) for cs in sets]
    np.testing.assert_array_equal(*jacobians)
