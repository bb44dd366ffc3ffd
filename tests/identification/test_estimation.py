"""What estimates promise: standard errors, outliers, what the data do not touch, impossible least squares."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from measured_motion import drawn_states, forces, otherwise, plant_of, write_npz
from repository import SAMPLES

from mbcli.identification.estimation import least_squares
from mbcli.identification.identify import Settings, identify, part_of
from mbcli.identification.records import Record
from mbcli.identification.signals import _end_of_motion, choose_cutoff
from mbcli.identification.subject import Subject, possible
from mbcli.multibody.inertia.inertial_parameters import of_central_inertia, pseudo_inertia

DRAWS = int(os.environ.get("MBCLI_DRAWS", "5"))  # 200 are drawn for docs/how-to/identify.md
SETTINGS = Settings(armature=False)

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    """The plant of the double pendulum's file, one of other masses, and states with the efforts of the latter."""
    folder = tmp_path_factory.mktemp("robots")
    text = (SAMPLES / "double_pendulum.urdf").read_text()
    (folder / "file.urdf").write_text(text)
    (folder / "true.urdf").write_text(otherwise(text))
    plant, true = (plant_of(folder / f"{name}.urdf", weld_base=True) for name in ("file", "true"))
    q, v, vdot = drawn_states(true, 200, 1)
    return folder, plant, true, q, v, vdot, forces(true, q, v, vdot)


def noisy(tau, seed, size=0.05):
    return tau + size * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape)


def test_true_values_are_within_two_standard_errors_in_95_of_100_draws(robots):
    folder, plant, true, q, v, vdot, tau = robots
    truth = Subject(true, frictions=Settings.frictions, armature=False).x0
    inside = count = 0
    for seed in range(DRAWS):
        path = write_npz(folder / "a.npz", q, v, vdot, noisy(tau, seed))
        base = identify(plant, [path], settings=SETTINGS).base
        inside += int((np.abs(base.values - base.combinations @ truth) < 2.0 * base.errors).sum())
        count += len(base.values)
    share, spread = inside / count, np.sqrt(0.95 * 0.05 / count)
    # unknowns of one draw depend on each other: three times the spread of independent ones
    assert abs(share - 0.9545) < 3.0 * 3.0 * spread, share


def test_drawn_data_say_what_standard_errors_say(robots):
    """Both of errors that neighbours share, by other ways; drawn sample by sample they would come out too small."""
    folder, plant, _, q, v, vdot, tau = robots
    shared = np.random.default_rng(3).normal(size=tau.shape)
    for k in range(1, len(shared)):
        shared[k] = 0.8 * shared[k - 1] + 0.6 * shared[k]
    path = write_npz(folder / "a.npz", q, v, vdot, tau + 0.05 * tau.std(axis=0) * shared)
    result = identify(plant, [path], settings=SETTINGS, bootstrap=60)
    drawn, known = result.bootstrap, np.isfinite(result.base.errors)
    ratio = np.exp(np.mean(np.log(drawn.base_errors[known] / result.base.errors[known])))
    assert 0.7 < ratio < 1.4 and drawn.failed == 0, ratio
    ready = SimpleNamespace(subject=result.subject, own=result.data)
    base = result.base.columns, result.base.combinations
    parts = [part_of(ready, {"drawn": n}, {"near": False, "block": 1}, base)[: len(result.x)] for n in range(60)]
    offsets = [k for k, parameter in enumerate(result.subject.parameters) if parameter.kind == "offset"]
    assert (np.std(parts, axis=0)[offsets] < 0.8 * drawn.errors[offsets]).all()


def test_outliers_hardly_move_the_result(robots):
    folder, plant, true, q, v, vdot, tau = robots
    truth = Subject(true, frictions=Settings.frictions, armature=False).x0
    wild = noisy(tau, 1)
    wild[::25] += 20.0 * tau.std(axis=0)
    clean, spoiled = (
        identify(plant, [write_npz(folder / "a.npz", q, v, vdot, efforts)], settings=SETTINGS)
        for efforts in (noisy(tau, 1), wild)
    )
    base, sizes = spoiled.base, spoiled.subject.sizes[spoiled.base.columns]
    wanted = base.combinations @ truth
    errors = [np.abs(r.base.values - wanted).max() / sizes.max() for r in (clean, spoiled)]
    assert errors[1] < 2.0 * errors[0]
    assert spoiled.counts["outliers"] > 0.8 * 2 * len(wild[::25])


def test_what_the_data_do_not_touch_stays_as_the_file_has_it(robots):
    folder, plant, _, q, v, vdot, tau = robots
    result = identify(plant, [write_npz(folder / "a.npz", q, v, vdot, noisy(tau, 2))], settings=SETTINGS)
    untouched = result.base.untouched
    names = result.subject.names
    assert {"upper.Ixx", "upper.Izz"} <= {names[k] for k in untouched}
    assert "upper.Iyy" not in {names[k] for k in untouched}
    products = [k for k in untouched if names[k].endswith(("Ixy", "Iyz"))]
    assert products and all(result.x[k] == pytest.approx(0.0, abs=1e-9) for k in products)


def test_bodies_are_possible_where_least_squares_are_not(robots):
    folder, plant, _, q, v, vdot, tau = robots
    rough = noisy(tau, 3, 2.0)
    result = identify(plant, [write_npz(folder / "a.npz", q, v, vdot, rough)], settings=SETTINGS)
    links = len(result.subject.links)
    free = least_squares(result.weighted.R, result.weighted.c, result.subject.sizes)

    def least(x):
        return np.linalg.eigvalsh(pseudo_inertia(x[: 10 * links].reshape(links, 10))).min()

    assert least(free) < 0.0 < least(result.x)
    friction = [k for k, p in enumerate(result.subject.parameters) if p.kind in ("viscous", "coulomb")]
    assert (result.x[friction] >= 0.0).all()


def test_the_divergence_does_not_depend_on_units(robots):
    """In millimetres and grams all numbers of a body are others, and its divergence from the file's is the same."""
    folder, plant, _, q, v, vdot, tau = robots
    result = identify(plant, [write_npz(folder / "a.npz", q, v, vdot, noisy(tau, 4))], settings=SETTINGS)
    scaled = result.subject.reference[0].copy()
    k = np.array([1.0, *(1e3,) * 3, *(1e6,) * 6]) * 1e3
    J, J0 = pseudo_inertia(result.x[:10]), pseudo_inertia(scaled)
    Jk, J0k = pseudo_inertia(result.x[:10] * k), pseudo_inertia(scaled * k)

    def divergence(A, B):
        ratio = np.linalg.solve(B, A)
        return np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 4.0

    assert divergence(Jk, J0k) == pytest.approx(divergence(J, J0), rel=1e-6)


def test_a_file_without_inertia_to_speak_of_gets_that_of_a_small_ball():
    pi = possible(of_central_inertia(1.0, np.array([0.0, 0.0, 0.5]), np.zeros((3, 3))))
    assert np.linalg.eigvalsh(pseudo_inertia(pi)).min() > 0.0
    assert pi[:4] == pytest.approx([1.0, 0.0, 0.0, 0.5])
    rod = of_central_inertia(1.0, np.zeros(3), np.diag([0.08, 0.08, 0.0]))
    assert possible(rod)[4:9] == pytest.approx(rod[4:9], rel=0.01, abs=1e-6)


def test_weights_are_those_of_least_squares_repeated_until_nothing_changes(robots):
    """Steps with mean weights lead to the same fixed point as weighted least squares of all rows do."""
    folder, plant, _, q, v, vdot, tau = robots
    wild = noisy(tau, 5)
    wild[::20] += 10.0 * tau.std(axis=0)
    result = identify(plant, [write_npz(folder / "a.npz", q, v, vdot, wild)], settings=SETTINGS)
    (e,), (weights,), noise = result.data, result.weighted.weights, result.weighted.noise
    A, y = e.A * result.subject.sizes, e.y
    x = np.zeros(A.shape[2])
    root = weights
    for _ in range(30):
        x = np.linalg.lstsq((A * root[:, :, None]).reshape(-1, len(x)), (y * root).ravel(), rcond=1e-9)[0]
        r = np.abs(A @ x - y) / noise
        root = np.where(e.usable, np.clip(1.0 - (r / 4.685) ** 2, 0.0, None), 0.0) / noise
    assert np.abs(root - weights).max() < 0.05 / noise.min()
    assert result.weighted.weights[0][::20].max() == 0.0


def test_uneven_times_do_not_pass_for_motion():
    """Stamps of a kilohertz that are late by up to half a millisecond: noise that grows towards low frequencies."""
    rng, rate = np.random.default_rng(0), 1000.0
    time = np.arange(0.0, 15.0, 1.0 / rate)
    place = 0.8 * np.sin(2.0 * np.pi * 0.3 * time)[:, None]
    stamps = time + 0.4e-3 * np.convolve(rng.uniform(size=len(time)), np.ones(3) / 3.0, mode="same")
    lost = np.full((len(time), 1), np.nan)
    record = Record("late", stamps, np.arange(len(time)), place, lost, lost, lost, lost)
    assert 1.0 < choose_cutoff([record]) < 20.0


def test_two_motions_at_a_time_both_count():
    """Beside a slow one a small one, ten times as quick, is no noise."""
    time = np.arange(0.0, 20.0, 0.002)
    place = np.sin(2.0 * np.pi * 0.2 * time) + 0.02 * np.sin(2.0 * np.pi * 4.0 * time)
    place = (place + 1e-5 * np.random.default_rng(0).normal(size=len(time)))[:, None]
    lost = np.full((len(time), 1), np.nan)
    record = Record("both", time, np.arange(len(time)), place, lost, lost, lost, lost)
    assert choose_cutoff([record]) == pytest.approx(20.0, rel=0.1)


def test_one_quiet_frequency_at_half_the_rate_is_no_end_of_motion():
    """Power of positions: motion below 2 Hz, then noise that times add, whose last line is small by chance."""
    frequency = np.linspace(0.0, 500.0, 3001)
    power = 1e-10 + 1e-6 / (1.0 + (frequency / 0.5) ** 8)
    power[-1] = 1e-18
    assert _end_of_motion(frequency, power) < 20.0
