"""What estimates promise: standard errors, outliers, what the data do not touch, impossible least squares."""

import os

import numpy as np
import pytest
from measured_motion import drawn_states, forces, otherwise, plant_of, write_npz
from repository import SAMPLES

from mbcli.identification.estimation import least_squares
from mbcli.identification.identify import Settings, identify
from mbcli.identification.subject import Subject, possible
from mbcli.multibody.inertia.inertial_parameters import of_central_inertia, pseudo_inertia

DRAWS = int(os.environ.get("MBCLI_DRAWS", "5"))  # 200 are drawn for docs/how-to/identify.md
SETTINGS = Settings(armature=False)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


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
