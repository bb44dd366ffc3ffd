"""Assembly of positions and velocities: feasible, minimal, weighted, from everywhere (checks 10, 11)."""

import numpy as np
import pytest
from constraint_scenes import Y, chain_of_bars, four_bar, random_constraint_set, spatial_loop
from random_trees import random_plant, random_state
from scipy.optimize import minimize

from mbcli.math import RigidTransform
from mbcli.multibody.constraints import (
    CalcAssemblyQ,
    CalcAssemblyQDot,
    CalcConstraintsJacobian,
    CalcConstraintsPositionError,
    ConstraintSet,
)

AXES = np.eye(6)
START = np.array([0.4, 0.2, -1.5])


def brute_force(plant, cs, start, weights):
    """The smallest cost over all assembled positions of a four-bar: its first two angles give the third, up to 2 pi."""
    result = minimize(
        lambda q: 0.5 * weights @ (q - start) ** 2,
        CalcAssemblyQ(plant, start, cs, np.ones(3), minimize=False).q,
        constraints={"type": "eq", "fun": lambda q: CalcConstraintsPositionError(plant, q, cs)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return result.fun, result.x


def test_assembled_positions_are_those_of_the_smallest_weighted_change():
    """Check 10: against SLSQP of scipy; another weight moves the solution; a smaller cost than the projection's."""
    plant, cs = four_bar()
    found = {}
    for weights in np.array([[1.0, 1.0, 1.0], [10.0, 1.0, 0.1], [0.01, 1.0, 5.0]]):
        result = CalcAssemblyQ(plant, START, cs, weights)
        assert result
        assert result.position_error < 1e-12
        assert (result.rank, result.redundant, result.restarts) == (2, 0, 0)
        assert result.stationarity < 1e-7
        cost = 0.5 * weights @ (result.q - START) ** 2
        expected, q = brute_force(plant, cs, START, weights)
        assert cost == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(result.q, q, atol=1e-5)
        plain = CalcAssemblyQ(plant, START, cs, weights, minimize=False)
        assert plain.position_error < 1e-12
        assert cost <= 0.5 * weights @ (plain.q - START) ** 2
        found[tuple(weights)] = result.q
    q = list(found.values())
    assert abs(q[0] - q[1]).max() > 0.01
    assert abs(q[2] - q[1]).max() > 0.01


def test_plain_projection_is_not_the_minimum():
    """The two problems differ: far from the constraint the sum of shortest steps is not the shortest way."""
    plant, cs = four_bar()
    start = np.array([1.5, 2.0, -2.5])
    costs = [sum((CalcAssemblyQ(plant, start, cs, np.ones(3), minimize=m).q - start) ** 2) for m in (True, False)]
    assert costs[0] < 0.99 * costs[1]


def test_positions_of_weight_zero_are_free_and_others_stay():
    plant, cs = four_bar()
    result = CalcAssemblyQ(plant, START, cs, [1.0, 0.0, 0.0])
    assert result
    assert result.q[0] == pytest.approx(START[0], abs=1e-7)
    all_free = CalcAssemblyQ(plant, START, cs, np.zeros(3))
    assert all_free
    assert all_free.stationarity == 0.0


def test_an_assembled_start_stays():
    plant, cs = four_bar()
    q = CalcAssemblyQ(plant, START, cs, np.ones(3)).q
    again = CalcAssemblyQ(plant, q, cs, np.ones(3))
    np.testing.assert_array_equal(again.q, q)
    assert again.iterations == 0


def test_what_cannot_be_reached_does_not_converge():
    """The ground is longer than the bars: a result that says so, with the smallest error that was seen."""
    plant, cs = four_bar(ground=5.5)
    result = CalcAssemblyQ(plant, START, cs, np.ones(3), max_iter=40, restarts=2)
    assert not result
    assert not result.converged
    assert result.restarts <= 2
    assert result.position_error == pytest.approx(0.5, rel=1e-4)  # steps stop where they gain less than that
    with pytest.raises(ValueError, match="weights must be 3 finite numbers"):
        CalcAssemblyQ(plant, START, cs, [1.0, -1.0, 1.0])


def test_a_stretched_start_is_left():
    """All bars in one line with the goal: the error grows along no direction, to the first order."""
    plant, cs = four_bar()
    for start in (np.zeros(3), np.array([np.pi, 0.0, 0.0]), np.array([0.0, np.pi, np.pi])):
        result = CalcAssemblyQ(plant, start, cs, np.ones(3))
        assert result, start
        assert result.position_error < 1e-12


@pytest.mark.parametrize("mechanism", [four_bar, spatial_loop])
def test_assembly_succeeds_from_random_starts(mechanism):
    """Of 40 here, of 1000 in the benchmark; quaternions keep their length."""
    plant, cs = mechanism()
    rng = np.random.default_rng(1)
    for _ in range(40):
        q, _ = random_state(plant, rng)
        result = CalcAssemblyQ(plant, q, cs, np.ones(plant.num_velocities()))
        assert result
        assert np.linalg.norm(CalcConstraintsPositionError(plant, result.q, cs)) < 1e-12
        assert result.stationarity < 1e-6
        if mechanism is spatial_loop:
            assert np.linalg.norm(result.q[9:13]) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_minimum_on_trees_with_all_joints(seed):
    """Stationary and not larger than at feasible neighbours, with quaternions and angles of roll, pitch and yaw."""
    plant = random_plant(seed, num_bodies=9, floating_bases=1)
    rng = np.random.default_rng(seed)
    for attempt in range(10):  # not every random loop can be closed
        cs = random_constraint_set(plant, seed + 10 * attempt, contacts=0, loops=2)
        goal = CalcAssemblyQ(plant, random_state(plant, rng)[0], cs, np.ones(plant.num_velocities()), minimize=False)
        if goal:
            break
    assert goal
    start = goal.q + 0.05 * rng.normal(size=plant.num_positions())
    weights = rng.uniform(0.5, 2.0, plant.num_velocities())
    result = CalcAssemblyQ(plant, start, cs, weights)
    assert result
    assert result.stationarity < 1e-7
    for _ in range(10):
        near = result.q + 0.01 * rng.normal(size=len(start))
        other = CalcAssemblyQ(plant, near, cs, weights, minimize=False)
        assert cost_of(plant, cs, start, other.q, weights) >= cost_of(plant, cs, start, result.q, weights) - 1e-12


def cost_of(plant, cs, start, q, weights):
    from mbcli.multibody.assembly.position_manifold import PositionManifold

    manifold = PositionManifold(cs.constrained.model)
    return 0.5 * weights @ manifold.difference(q, manifold.normalized(start)) ** 2


def test_contact_points_keep_their_height_during_assembly():
    plant = chain_of_bars([1.0, 1.0, 1.0, 1.0])
    cs = ConstraintSet()
    cs.AddContactConstraint("bar1", [1.0, 0, 0], Y)
    for axis in AXES[3:5]:
        cs.AddLoopConstraint("world", "bar3", RigidTransform(p=[2.0, 0, 0]), RigidTransform(p=[1.0, 0, 0]), axis)
    cs.Bind(plant)
    start = np.array([0.7, 0.5, -1.0, -0.9])
    result = CalcAssemblyQ(plant, start, cs, np.ones(4))
    assert result
    height = [np.sin(q[0]) + np.sin(q[0] + q[1]) for q in (start, result.q)]
    assert height[0] == pytest.approx(height[1], abs=1e-11)


# redundant rows (check 17) and velocities (check 11)


def test_dependent_rows_do_not_stop_assembly():
    """A planar four-bar closed by a spatial hinge: five rows of which two count."""
    plant, cs = four_bar(axes=AXES[[0, 1, 3, 4, 5]])
    rng = np.random.default_rng(2)
    for _ in range(10):
        result = CalcAssemblyQ(plant, rng.uniform(-np.pi, np.pi, 3), cs, np.ones(3))
        assert result
        assert (result.rank, result.redundant) == (2, 3)


@pytest.mark.parametrize("seed", range(4))
def test_assembled_velocities_are_the_nearest(seed):
    """Check 11: G v = 0 and W (v - v0) is in the range of G^T; weights of zero too."""
    plant = random_plant(seed, num_bodies=9, floating_bases=1)
    cs = random_constraint_set(plant, seed)
    rng = np.random.default_rng(seed)
    q, v = random_state(plant, rng)
    G = CalcConstraintsJacobian(plant, q, cs)
    for weights in (rng.uniform(0.5, 2.0, len(v)), np.where(rng.random(len(v)) < 0.4, 0.0, 1.0)):
        found = CalcAssemblyQDot(plant, q, v, cs, weights)
        np.testing.assert_allclose(G @ found, 0.0, atol=1e-11)
        force = np.linalg.lstsq(G.T, weights * (found - v), rcond=1e-10)[0]
        np.testing.assert_allclose(G.T @ force, weights * (found - v), atol=1e-9)


def test_assembled_velocities_of_dependent_rows():
    plant, cs = four_bar(axes=AXES[[0, 1, 3, 4, 5]])
    q = CalcAssemblyQ(plant, START, cs, np.ones(3)).q
    v = CalcAssemblyQDot(plant, q, [1.0, 2.0, 3.0], cs, [1.0, 0.0, 0.0])
    assert v[0] == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(CalcConstraintsJacobian(plant, q, cs) @ v, 0.0, atol=1e-12)


@pytest.mark.parametrize("dependent", [False, True])
def test_reflections_find_what_singular_values_find(dependent, monkeypatch):
    """Interpreted, all rows are decomposed by LAPACK; compiled, those of a loop only if one is there twice."""
    plant, cs = spatial_loop()
    starts = [random_state(plant, np.random.default_rng(seed))[0] for seed in range(4)]
    weights, found = np.linspace(0.5, 2.0, plant.num_velocities()), {}
    for compiled in ("1", "0"):
        monkeypatch.setenv("MBCLI_JIT", compiled)
        loop = cs.Copy()
        if dependent:
            loop.AddLoopConstraint("bar2", "free", RigidTransform(p=[1.0, 0, 0]), RigidTransform(), AXES[5])
        loop.Bind(plant)
        found[compiled] = [CalcAssemblyQ(plant, q, loop, weights) for q in starts]
    for one, other in zip(found["1"], found["0"], strict=True):
        assert one and other and (one.rank, one.redundant) == (other.rank, other.redundant) == (11, int(dependent))
        assert one.iterations == other.iterations
        np.testing.assert_allclose(one.q, other.q, rtol=0.0, atol=1e-7)
