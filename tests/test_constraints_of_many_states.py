"""Constraints at many states: as the functions of one state to the last bit, on one thread and on several."""

import numpy as np
import pytest
from constraint_scenes import random_constraint_set
from random_trees import bodies_of, random_plant, random_state

from mbcli.math import RigidTransform
from mbcli.multibody.constraints import (
    CalcConstraintsJacobian,
    CalcConstraintsJacobianOfStates,
    CalcConstraintsPositionError,
    ConstraintSet,
    ForwardDynamicsConstraintsOfStates,
    ForwardDynamicsConstraintsRangeSpaceSparse,
)


def scene(count=7, **options):
    plant = random_plant(3, num_bodies=11, trees=2, floating_bases=1, sprung=False)
    rng = np.random.default_rng(4)
    q, v = zip(*(random_state(plant, rng) for _ in range(count)), strict=True)
    cs = random_constraint_set(plant, 3, **options)
    return plant, cs, np.array(q), np.array(v), rng.normal(size=(count, plant.num_velocities()))


@pytest.mark.parametrize("threads", [1, 3, 20])
@pytest.mark.parametrize("jit", ["0", "1"])
def test_many_states_are_each_as_one(threads, jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant, cs, q, v, tau = scene()
    errors, G = CalcConstraintsJacobianOfStates(plant, q, cs, threads=threads)
    qddot, force = ForwardDynamicsConstraintsOfStates(plant, q, v, tau, cs, threads=threads)
    assert cs.force is None
    for k in range(len(q)):
        np.testing.assert_array_equal(errors[k], CalcConstraintsPositionError(plant, q[k], cs))
        np.testing.assert_array_equal(G[k], CalcConstraintsJacobian(plant, q[k], cs))
        one = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q[k], v[k], tau[k], cs)
        np.testing.assert_array_equal(qddot[k], one)
        np.testing.assert_array_equal(force[k], cs.force)


def test_stabilization_acts_on_all_threads():
    plant, _, q, v, tau = scene()
    cs = ConstraintSet()
    body = bodies_of(plant)[3]
    for axis in np.eye(6)[3:]:
        cs.AddLoopConstraint("world", body.name(), RigidTransform(), RigidTransform(), axis, True, 0.3)
    cs.Bind(plant)
    one = ForwardDynamicsConstraintsOfStates(plant, q, v, tau, cs)
    many = ForwardDynamicsConstraintsOfStates(plant, q, v, tau, cs, threads=3)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)
    assert abs(CalcConstraintsPositionError(plant, q[0], cs)).max() > 1e-3  # there is something to stabilize


def test_dependent_rows_get_the_shortest_multipliers():
    plant, cs, q, v, tau = scene()
    twice = cs.Copy()
    axis = np.eye(6)[5]
    body = bodies_of(plant)[5].name()
    for _ in range(2):
        twice.AddLoopConstraint("world", body, RigidTransform(), RigidTransform(), axis)
    twice.Bind(plant)
    qddot, force = ForwardDynamicsConstraintsOfStates(plant, q, v, tau, twice, threads=2)
    for k in range(len(q)):
        one = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q[k], v[k], tau[k], twice)
        np.testing.assert_array_equal(qddot[k], one)
        np.testing.assert_array_equal(force[k], twice.force)
        assert force[k, -1] == pytest.approx(force[k, -2])


def test_no_states_and_states_that_are_none():
    plant, cs, q, v, tau = scene()
    nv = plant.num_velocities()
    qddot, force = ForwardDynamicsConstraintsOfStates(plant, q[:0], v[:0], tau[:0], cs, threads=4)
    assert qddot.shape == (0, nv) and force.shape == (0, cs.size())
    with pytest.raises(ValueError, match=rf"Tau must be 7 rows of {nv} numbers, it has shape \(6, {nv}\)"):
        ForwardDynamicsConstraintsOfStates(plant, q, v, tau[1:], cs)
    with pytest.raises(ValueError, match="Q must be 7 rows of"):
        CalcConstraintsJacobianOfStates(plant, q[:, 1:], cs)
    q[2, 1] = np.nan
    with pytest.raises(ValueError, match=f"Q must be finite, '{plant.GetPositionNames()[1]}' is nan"):
        CalcConstraintsJacobianOfStates(plant, q, cs)
    with pytest.raises(RuntimeError, match="not bound"):
        CalcConstraintsJacobianOfStates(plant, q, ConstraintSet())
