"""Constraints at many states: as the functions of one state, the same on one thread and on several."""

import numpy as np
import pytest
from constraint_scenes import chain_of_bars, constrained_scene, random_constraint_set
from random_trees import bodies_of, random_plant, random_state

from mbcli.engine.queries.constrained_calls import DEPENDENT_ROWS, SINGULAR_MASS
from mbcli.math import RigidTransform
from mbcli.multibody.compilation.compile_constraints import Tie, alignments, compile_constraints, twists
from mbcli.multibody.compilation.constrained_model import ConstrainedModel
from mbcli.multibody.constraints import (
    CalcConstraintsJacobian,
    CalcConstraintsJacobianOfStates,
    CalcConstraintsPositionError,
    ConstraintSet,
    ForwardDynamicsConstraintsOfStates,
    ForwardDynamicsConstraintsRangeSpaceSparse,
)
from mbcli.multibody.constraints.constrained_batch import ConstrainedBatch
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import SpatialInertia

ROUNDING = 1e-12  # in registers products and sums are rounded together otherwise


def assert_close(found, expected, rounding=ROUNDING):
    np.testing.assert_allclose(found, expected, atol=rounding * max(1.0, abs(expected).max(initial=0.0)), rtol=0)


def scene(count=7, **options):
    plant = random_plant(4, num_bodies=11, trees=2, floating_bases=1, sprung=False)
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
        assert_close(errors[k], CalcConstraintsPositionError(plant, q[k], cs))
        assert_close(G[k], CalcConstraintsJacobian(plant, q[k], cs))
        one = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q[k], v[k], tau[k], cs)
        assert_close(qddot[k], one)
        assert_close(force[k], cs.force)


@pytest.mark.parametrize("count", [1, 8, 13])
def test_a_state_has_the_same_results_in_whichever_lane_and_thread_it_is(count):
    plant, cs, q, v, tau = scene(count)
    expected = ForwardDynamicsConstraintsOfStates(plant, q, v, tau, cs)
    order = np.random.default_rng(0).permutation(count)
    for threads in (1, 3):
        found = ForwardDynamicsConstraintsOfStates(plant, q[order], v[order], tau[order], cs, threads=threads)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs[order])


@pytest.mark.usefixtures("compiled_here")  # rounding of other kernels grows more than this where rows all but depend
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_every_kind_are_in_lanes_as_one_by_one(seed):
    plant, one = constrained_scene(seed, compiled=True)
    batch, rng, nrow = ConstrainedBatch(one), np.random.default_rng(seed), len(one.row_number)
    one.work.stabilization[:] = rng.uniform(0.0, 2.0, (nrow, 2))
    batch.take_stabilization()
    n, nv = 19, plant.num_velocities()
    q, v = (np.array(rows) for rows in zip(*(random_state(plant, rng) for _ in range(n)), strict=True))
    tau, G = rng.normal(size=(n, nv)), np.zeros((n, nrow * nv))
    err, vdot, force, answers = np.empty((n, nrow)), np.empty((n, nv)), np.empty((n, nrow)), np.empty(n, dtype=int)
    batch.run("evaluate_positions_of_states", q, err, G)
    batch.run("evaluate_dynamics_of_states", q, v, tau, vdot, force, answers)
    for k in range(n):
        results = np.empty(nrow * (1 + nv))
        assert one.run("evaluate_constraint_positions", q[k], results) == 0
        assert_close(err[k], results[:nrow])
        assert_close(G[k], results[nrow:])
        results = np.empty(nv * nv + nv + nrow * nv + 3 * nrow + nv + nrow)
        answer = one.run("evaluate_constrained_system", q[k], v[k], tau[k], np.zeros((0, 6)), 1, results)
        assert answers[k] == answer
        assert_close(vdot[k], results[-nv - nrow : -nrow], 1e-8)  # rows are all but dependent
        assert_close(force[k], results[-nrow:], 1e-8)


def test_a_lane_that_is_not_a_number_or_singular_leaves_the_others_alone():
    plant, cs, q, v, tau = scene(8)
    batch = ConstrainedBatch(cs.constrained)
    n, nrow, nv = *tau.shape[:1], cs.size(), cs.nv
    expected = [np.empty((n, nv)), np.empty((n, nrow)), np.empty(n, dtype=int)]
    batch.run("evaluate_dynamics_of_states", q, v, tau, *expected)
    spoilt = q.copy()
    spoilt[3] = np.nan
    found = [np.empty_like(x) for x in expected]
    batch.run("evaluate_dynamics_of_states", spoilt, v, tau, *found)
    others = np.arange(n) != 3
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours[others], theirs[others])
    assert np.isnan(found[0][3]).any() and found[2][3] == SINGULAR_MASS


def test_rows_that_depend_on_others_in_some_lanes_alone_are_taken_out_there():
    """Two bars on World, whose far end is held at two points that are one where the bars lie in a line."""
    plant, cs = chain_of_bars((1.0, 1.0)), ConstraintSet()
    cs.AddContactConstraint("bar1", [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    cs.AddContactConstraint("bar1", [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    cs.Bind(plant)
    q = np.array([[0.3, bend] for bend in (0.5, 0.0, -0.4, 0.0, 0.1, 0.7, 0.0, 1.0, 0.2)])
    v, tau = np.zeros_like(q), np.ones_like(q)
    qddot, force = ForwardDynamicsConstraintsOfStates(plant, q, v, tau, cs)
    batch, answers = cs.batches(1)[0], np.empty(len(q), dtype=int)
    batch.run("evaluate_dynamics_of_states", q, v, tau, np.empty_like(qddot), np.empty_like(force), answers)
    np.testing.assert_array_equal(answers == DEPENDENT_ROWS, q[:, 1] == 0.0)
    for k in range(len(q)):
        assert_close(qddot[k], ForwardDynamicsConstraintsRangeSpaceSparse(plant, q[k], v[k], tau[k], cs))
        assert_close(force[k], cs.force)


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


def test_turns_by_half_a_circle_are_in_lanes_as_one_by_one():
    """Where the quaternion of a turn is found from other elements, and an axis turns to its opposite."""
    plant = MultibodyPlant(0.0)
    box = plant.AddRigidBody("box", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.2, 0.3))
    plant.Finalize()
    rows = twists(*np.eye(3)) + alignments(np.eye(3)[:2], np.eye(3)[2])
    tie = Tie(0, np.eye(4), int(box.index()), np.eye(4), rows, tuple(range(5)))
    one = ConstrainedModel(plant.model, compile_constraints(plant.model, [tie]), True)
    rng = np.random.default_rng(0)
    turns = np.vstack([np.eye(4), -np.eye(4), 1e-11 * rng.normal(size=(4, 4)) + np.eye(4), rng.normal(size=(20, 4))])
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    q = np.hstack([turns, np.zeros((len(turns), 3))])
    err, G = np.empty((len(q), 5)), np.zeros((len(q), 30))
    ConstrainedBatch(one).run("evaluate_positions_of_states", q, err, G)
    for k in range(len(q)):
        results = np.empty(35)
        one.run("evaluate_constraint_positions", q[k], results)
        np.testing.assert_allclose(err[k], results[:5], atol=1e-12, err_msg=str(turns[k]))
