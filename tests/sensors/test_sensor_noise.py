"""Noise of sensors: its distribution, and that it depends on seed, sensor and time alone."""

import numpy as np

from mbcli.sensors.noise import SensorNoise, normals, uniforms
from mbcli.sensors.settings import NoiseSettings

TIME = 0.001 * np.arange(40_000)


def noise_of(settings, seed=1, name="sensors/imu"):
    return SensorNoise(name, seed, (settings,), 3)


def test_numbers_are_uniform_and_normal():
    words = np.arange(200_000).astype(np.uint64)
    u, x = uniforms(7, words), normals(7, words)
    assert 0.0 < u.min() < u.max() < 1.0
    counts = np.histogram(u, 20, (0.0, 1.0))[0]
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 45.0  # chi squared of 19: 1 in 1000
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1.0) < 0.01
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01
    assert abs((x**4).mean() - 3.0) < 0.1


def test_mean_and_deviation_are_those_of_the_file_and_columns_differ():
    values = noise_of(NoiseSettings(mean=0.5, stddev=2.0)).apply(TIME, np.zeros((len(TIME), 3)))
    np.testing.assert_allclose(values.mean(axis=0), 0.5, atol=0.05)
    np.testing.assert_allclose(values.std(axis=0), 2.0, rtol=0.02)
    assert np.abs(np.corrcoef(values.T) - np.eye(3)).max() < 0.03


def test_only_the_columns_of_the_file_are_noisy():
    values = noise_of(NoiseSettings((1,), stddev=1.0)).apply(TIME, np.zeros((len(TIME), 3)))
    assert not values[:, [0, 2]].any()
    assert values[:, 1].all()


def test_columns_that_are_drawn_at_once_have_the_numbers_of_each_alone():
    """The key of a number is of its column, whatever else is drawn."""
    settings = tuple(NoiseSettings((k,), mean=0.1 * k, stddev=1.0 + k, bias_stddev=0.2) for k in range(3))
    together = SensorNoise("sensors/imu", 1, settings, 3).apply(TIME[:50], np.zeros((50, 3)))
    drifting = (*settings[:2], settings[2]._replace(precision=1e-3))
    one_by_one = SensorNoise("sensors/imu", 1, drifting, 3).apply(TIME[:50], np.zeros((50, 3)))
    assert (together[:, :2] == one_by_one[:, :2]).all()
    for k in range(3):
        alone = SensorNoise("sensors/imu", 1, settings[k : k + 1], 3).apply(TIME[:50], np.zeros((50, 3)))
        assert (alone[:, k] == together[:, k]).all()


def test_blocks_and_other_rows_change_nothing():
    settings = NoiseSettings(stddev=1.0, bias_mean=0.1, bias_stddev=0.2, drift_stddev=0.1, drift_time=5.0)
    whole = noise_of(settings).apply(TIME[:100], np.zeros((100, 3)))
    parts = noise_of(settings)
    again = np.concatenate([parts.apply(TIME[a:b], np.zeros((b - a, 3))) for a, b in ((0, 1), (1, 40), (40, 100))])
    assert (whole == again).all()
    white = NoiseSettings(stddev=1.0)
    every, second = (noise_of(white).apply(t, np.zeros((len(t), 3))) for t in (TIME[:100], TIME[:100:2]))
    assert (every[::2] == second).all()


def test_seeds_and_sensors_have_noise_of_their_own():
    white = NoiseSettings(stddev=1.0)
    first, seed, name = (
        noise_of(white, *other).apply(TIME, np.zeros((len(TIME), 3)))[:, 0] for other in ((1,), (2,), (1, "sensors/b"))
    )
    assert abs(np.corrcoef(first, seed)[0, 1]) < 0.03
    assert abs(np.corrcoef(first, name)[0, 1]) < 0.03


def test_a_bias_is_drawn_once_of_either_sign():
    biases = [noise_of(NoiseSettings(bias_mean=0.3), seed).apply(TIME[:2], np.zeros((2, 3))) for seed in range(50)]
    assert all((b[0] == b[1]).all() for b in biases)
    assert {float(b[0, 0]) for b in biases} == {0.3, -0.3}


def test_a_bias_that_wanders_is_an_ornstein_uhlenbeck_process():
    """Its deviation in the long run is stddev sqrt(time / 2), its correlation falls as exp(-t / time)."""
    t = 0.1 * np.arange(100_000)
    drift = noise_of(NoiseSettings(drift_stddev=0.2, drift_time=2.0)).apply(t, np.zeros((len(t), 3)))
    np.testing.assert_allclose(drift[1000:].std(axis=0), 0.2, rtol=0.05)
    for column in drift[1000:].T:
        np.testing.assert_allclose(np.corrcoef(column[:-20], column[20:])[0, 1], np.exp(-1.0), atol=0.05)


def test_precision_rounds():
    values = noise_of(NoiseSettings(precision=0.25, stddev=1.0)).apply(TIME, np.zeros((len(TIME), 3)))
    assert (values == 0.25 * np.round(values / 0.25)).all()
