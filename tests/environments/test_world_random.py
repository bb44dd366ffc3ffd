"""Random numbers of worlds: their distributions, and that neighbours do not matter."""

import numpy as np

from mbcli.environments import WorldRandom

MANY = 20_000
TOLERANCE = 5.0 / np.sqrt(MANY)  # five standard deviations of a mean of so many numbers of deviation 1


def test_a_world_draws_the_same_whoever_else_draws():
    alone = WorldRandom(7, [3], [2])
    among = WorldRandom([7, 7, 9], [5, 3, 3], [2, 2, 2])
    first, second = alone.uniform(-1.0, 2.0, 4), alone.normal(0.5, 3)
    assert (among.uniform(-1.0, 2.0, 4)[1] == first[0]).all()
    assert (among.normal(0.5, 3)[1] == second[0]).all()


def test_seed_world_episode_and_call_give_other_numbers():
    drawn = [WorldRandom(s, [w], [e]).uniform(0.0, 1.0, 3) for s in (0, 1) for w in (0, 1) for e in (0, 1)]
    rng = WorldRandom(0, [0], [0])
    drawn += [rng.uniform(0.0, 1.0, 3), rng.uniform(0.0, 1.0, 3)][1:]
    assert len(np.unique(np.array(drawn))) == 9 * 3


def test_uniform_numbers_fill_their_range_evenly():
    units = WorldRandom(0, np.arange(MANY), 0).uniform([0.0, -2.0], [1.0, 2.0], 2)
    assert (units.min(axis=0) >= [0.0, -2.0]).all() and (units.max(axis=0) < [1.0, 2.0]).all()
    parts = np.histogram(units[:, 0], bins=20, range=(0.0, 1.0))[0] / (MANY / 20)
    np.testing.assert_allclose(parts, 1.0, atol=5.0 / np.sqrt(MANY / 20))
    scaled = np.sqrt(12.0) * (units - [0.5, 0.0]) / [1.0, 4.0]
    np.testing.assert_allclose(scaled.T @ scaled / MANY, np.eye(2), atol=TOLERANCE)


def test_normal_numbers_have_mean_deviation_and_kurtosis_of_theirs():
    z = WorldRandom(1, np.arange(MANY), 5).normal([1.0, 3.0], 2) / [1.0, 3.0]
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=TOLERANCE)
    np.testing.assert_allclose(z.T @ z / MANY, np.eye(2), atol=2.0 * TOLERANCE)
    np.testing.assert_allclose((z**4).mean(axis=0), 3.0, atol=10.0 * TOLERANCE)


def test_episodes_of_a_world_are_not_correlated():
    series = np.array([WorldRandom(2, [0], [e]).uniform(-1.0, 1.0, 1)[0, 0] for e in range(2000)])
    assert abs(np.corrcoef(series[1:], series[:-1])[0, 1]) < 5.0 / np.sqrt(2000)
