"""Newton's method with dual variables takes few iterations at a stiction tolerance that is far below the slips."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import contact
from mbcli.engine.contact.laws.registry import WITH_DUAL
from mbcli.engine.fields.contact_fields import LAW_NUMBERS
from mbcli.engine.runtime.linking import load_kernels

KINDS = {name: number for name, number in LAW_NUMBERS.items() if number in WITH_DUAL}
LAW = [0.6, 1e5, 20.0, 1e-3, 1e-3, 1e-3, 0.05, 0.0]


def contact_at(kind, v, w):
    """A solver with one contact, moving at v, whose dual variable is w."""
    return SimpleNamespace(
        con_kind=np.array([kind]),
        con_patch_size=np.array([0]),
        con_law=np.array([LAW]),
        con_v=np.array([v], dtype=float),
        con_dual=np.array([w], dtype=float),
    )


def matrix(xx, yy, zz, xy, xz, yz):
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_is_that_of_second_derivatives_where_the_dual_variable_follows_from_the_slip(kind):
    kernels, v = load_kernels(False), np.array([3e-4, -2e-3, -1e-3])
    w = v[:2] / np.sqrt(v[0] ** 2 + v[1] ** 2 + LAW[4] ** 2)
    expected = getattr(kernels, f"response_{kind}")(np.array([LAW]), 0, *v)[3:]
    found = kernels.dual_hessian(contact_at(KINDS[kind], v, w), 0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_has_no_negative_eigenvalue_for_any_dual_variable(kind):
    kernels, rng = load_kernels(False), np.random.default_rng(1)
    for _ in range(200):
        angle = rng.uniform(0, 2 * np.pi)
        w = rng.choice([1.0, rng.uniform()]) * np.array([np.cos(angle), np.sin(angle)])
        H = matrix(*kernels.dual_hessian(contact_at(KINDS[kind], rng.normal(size=3) * 10 ** rng.uniform(-6, 0), w), 0))
        values = np.linalg.eigvalsh(H)
        assert values[0] >= -1e-12 * values[2]


@pytest.mark.parametrize("kind", KINDS)
def test_solids_in_a_bin_take_few_iterations_at_the_default_stiction_tolerance(kind, monkeypatch):
    """The plain method takes 11 a step here, and 31 in one."""
    monkeypatch.setattr(contact, "STICTION", 1e-6)
    world = contact.solids_in_a_bin(12, 2, contact.MIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stepper = contact.PlantStepper(world, 1e-3, kind, contact.own_modules())
        q = np.concatenate([[1.0, 0.0, 0.0, 0.0, *solid.position] for solid in world.bodies])
        stepper.set_state(q, np.zeros(6 * len(world.bodies)))
        stepper.advance(800)
    taken = stepper.statistics()
    assert taken["mean_contacts"] > 25
    assert taken["mean_iterations"] < 7.5
    assert taken["most_iterations"] <= 20
