"""Laws of contact and of bounded rows: costs, impulses and second derivatives belong together."""

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.engine.contact.laws.registry import OF_CONTACT
from mbcli.engine.fields.contact_fields import BOUNDED, LAW_NUMBERS, SETTING_FRICTION_SOFTNESS, SETTING_STICTION

KERNELS = load_kernels(False)
SAP_LAW = [0.7, 1e-3, 2e-3, 0.05, 0, 0, 0, 0, 0]  # mu, R_t, R_n, v_hat
HUNT_CROSSLEY = [0.7, 1e4, 5.0, 1e-3, 1e-2, 1e-2, 0.3, 0, 0]  # mu, k, d, x, v_s, h, friction of the start
SPRING = [2e-3, 0.1, -5.0, 8.0, 0, 0, 0, 0, 0]  # R, v_hat, low, high
LAWS = {
    name: (number, SAP_LAW if OF_CONTACT[number].RELAXES else HUNT_CROSSLEY)
    for name, number in LAW_NUMBERS.items()
    if number in OF_CONTACT and OF_CONTACT[number].CONVEX
}


class OneConstraint:
    def __init__(self, kind, law):
        self.con_kind, self.con_law = np.array([kind]), np.array([law], float)


def impulse(constraint, v):
    return np.array(KERNELS.response_of(constraint, 0, *v)[:3])


def cost(constraint, v):
    return KERNELS.cost_of(constraint, 0, *v)


def hessian(constraint, v):
    xx, yy, zz, xy, xz, yz = KERNELS.response_of(constraint, 0, *v)[3:]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def velocities(seed):
    """Contact velocities [m/s] in all regimes of the laws above: sticking, sliding, parting; fast and slow."""
    rng = np.random.default_rng(seed)
    for scale in (1e-3, 1e-2, 0.1, 1.0):
        yield from rng.normal(size=(20, 3)) * scale


def differences(function, v, h=1e-7):
    return np.array([(function(v + h * e) - function(v - h * e)) / (2.0 * h) for e in np.eye(3)])


@pytest.mark.parametrize("name", LAWS)
def test_impulses_are_minus_the_slope_of_the_cost(name):
    constraint = OneConstraint(*LAWS[name])
    for v in velocities(1):
        slope = differences(lambda x: cost(constraint, x), v)
        size = np.abs(impulse(constraint, v)).max() + 1e-6 * np.abs(hessian(constraint, v)).max() + 1e-6
        np.testing.assert_allclose(impulse(constraint, v), -slope, atol=1e-5 * size + 1e-8)


@pytest.mark.parametrize("name", LAWS)
def test_second_derivatives_are_those_of_the_cost_and_never_negative(name):
    constraint = OneConstraint(*LAWS[name])
    checked = 0
    for v in velocities(2):
        H = hessian(constraint, v)
        assert np.linalg.eigvalsh(H).min() > -1e-9 * (1.0 + np.abs(H).max())
        by_differences = -differences(lambda x: impulse(constraint, x), v, 1e-8)
        if np.abs(hessian(constraint, v + 1e-7) - hessian(constraint, v - 1e-7)).max() < 1e-3 * (
            np.abs(H).max() + 1e-9
        ):
            checked += 1  # not across a border of two regimes
            np.testing.assert_allclose(H, by_differences, atol=2e-4 * np.abs(H).max() + 1e-6)
    assert checked > 40


@pytest.mark.parametrize("name", LAWS)
def test_contact_only_pushes_and_friction_opposes_the_slip(name):
    constraint = OneConstraint(*LAWS[name])
    pushed = 0
    for v in velocities(3):
        x, y, normal = impulse(constraint, v)
        assert normal >= 0.0
        assert x * v[0] + y * v[1] <= 1e-15
        pushed += normal > 0.0
    assert 20 < pushed < 80


@pytest.mark.parametrize("name", ["sap", "similar"])
def test_friction_is_in_the_cone_of_the_same_normal_impulse(name):
    constraint = OneConstraint(*LAWS[name])
    for v in velocities(4):
        x, y, normal = impulse(constraint, v)
        assert np.hypot(x, y) <= 0.7 * normal * (1.0 + 1e-12)


def test_lagged_friction_is_bounded_by_the_impulse_of_the_start():
    constraint = OneConstraint(*LAWS["lagged"])
    for v in velocities(5):
        x, y, _ = impulse(constraint, v)
        assert np.hypot(x, y) <= 0.3


def test_a_bounded_row_is_a_spring_between_its_bounds():
    constraint = OneConstraint(BOUNDED, SPRING)
    for v in np.linspace(-0.2, 0.2, 41):
        expected = np.clip((0.1 - v) / 2e-3, -5.0, 8.0)
        got, at = KERNELS.response_of(constraint, 0, v, 0.0, 0.0)[0], KERNELS.cost_of(constraint, 0, v, 0.0, 0.0)
        assert got == pytest.approx(expected, abs=1e-12)
        slope = (KERNELS.cost_of(constraint, 0, v + 1e-7, 0, 0) - at) / 1e-7
        assert slope == pytest.approx(-expected, abs=1e-4)


def test_the_normal_impulse_is_that_of_hunt_and_crossley_at_the_steps_end():
    """n = h k (x - h v)_+ (1 - d v)_+ : section [S8] of the plant's specification."""
    law = np.array([HUNT_CROSSLEY], float)
    _, k, d, x, _, h, _, _, _ = HUNT_CROSSLEY
    for v in np.linspace(-1.0, 1.0, 101):
        expected = h * k * max(x - h * v, 0.0) * max(1.0 - d * v, 0.0)
        if x - h * v < 0.0 and 1.0 - d * v < 0.0:
            expected = 0.0
        assert KERNELS.normal_response(law, 0, v)[0] == pytest.approx(expected, rel=1e-13)


class Softened:
    """One constraint, and settings of a solver."""

    def __init__(self, law):
        self.con_law, self.settings = np.array([law], float), np.zeros(16)
        self.settings[[SETTING_FRICTION_SOFTNESS, SETTING_STICTION]] = 1e-3, 0.2


def test_friction_is_no_stiffer_than_the_softness_that_is_set():
    """R_t of `sap`, the speed of stiction of the others, by the least response and the size of velocities."""
    solver = Softened(SAP_LAW)
    KERNELS.regularize_sap(solver, 0, 4.0, 0.05)
    assert solver.con_law[0].tolist() == [0.7, 4e-3, *SAP_LAW[2:]]
    KERNELS.regularize_sap(solver, 0, 0.0, 0.05)
    assert solver.con_law[0, 1] == 4e-3
    for least, speed in ((4.0, 0.01), (400.0, 1e-3 * 400.0 * 0.3)):
        solver = Softened(HUNT_CROSSLEY)
        KERNELS.regularize_hunt_crossley(solver, 0, least, 0.05)
        assert solver.con_law[0, 4] == pytest.approx(speed)
        KERNELS.regularize_length(solver, 0, least, 0.05)
        assert solver.con_law[0, 4] == pytest.approx(0.01)
