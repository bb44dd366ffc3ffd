"""Bouncing: heights by Newton's law in all approximations and in continuous plants, rest, momentum and energy."""

import math

import numpy as np
import pytest
from flying_solids import FlyingSolids, tops

from mbcli.config.contact_laws import CONTACT_LAWS, SOFT_LAWS
from mbcli.geometry import Box, Sphere
from mbcli.systems.analysis import Simulator

RADIUS, HEIGHT, H = 0.1, 0.25, 1e-3
SOLVED = 1e-7  # of the momenta: the solver stops at 1e-6
EVERY_LAW = pytest.mark.parametrize("law", CONTACT_LAWS)


def ball(h=H, height=HEIGHT, velocity=(0.0, 0.0, 0.0), **options):
    return FlyingSolids([(Sphere(RADIUS), 1.0, (0.0, 0.0, RADIUS + height), velocity)], h, ground=True, **options)


@EVERY_LAW
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_a_ball_bounces_as_high_as_newtons_law_says(law, e):
    """The pair has the product of both coefficients; the n-th top is at e^2n of the height."""
    scene = ball(law=law, restitution=math.sqrt(e))
    highest = [z - RADIUS for z in tops(scene.heights(900 if e == 1.0 else 650))]
    assert len(highest) >= 1 if e == 1.0 else len(highest) >= 2
    for n, height in enumerate(highest[:2], 1):
        assert height == pytest.approx(e ** (2 * n) * HEIGHT, rel=0.01)


@pytest.mark.parametrize("law", [law for law in CONTACT_LAWS if law not in SOFT_LAWS])
def test_a_ball_without_restitution_stays(law):
    scene = ball(law=law, restitution=0.0, height=0.05)
    z = scene.heights(500)  # sap lets it sink slowly
    assert max(z[110:]) < RADIUS and z[-1] == pytest.approx(RADIUS - 1e-4, abs=1e-5)


def test_heights_do_not_depend_on_when_in_a_step_a_ball_arrives():
    for height in np.linspace(0.0195, 0.0205, 6):  # 0.6 m/s: 0.6 mm a step
        scene = ball(height=height, restitution=1.0)
        (top, *_) = tops(scene.heights(140))
        assert top - RADIUS == pytest.approx(height, rel=1e-3)


def test_below_the_threshold_nothing_bounces():
    """From 4 mm a ball arrives with 0.28 m/s."""
    for threshold, bounces in ((0.2, True), (0.4, False)):
        z = ball(height=0.004, restitution=1.0, bounce_threshold=threshold).heights(70)
        assert (max(z[35:]) > RADIUS + 0.0035) == bounces


@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_ball_bounces_in_a_continuous_plant(e):
    """What is pressed in by x rises x (1 - e^2) less high: it lifts its weight over x with e^2 of the force."""
    k, g = 2e6, 9.81
    scene = ball(h=0.0, height=0.1, restitution=math.sqrt(e), point_contact_stiffness=k)
    simulator, highest = scene.simulator, 0.0
    assert isinstance(simulator, Simulator)
    fall = math.sqrt(0.2 / g)
    x = g * fall / math.sqrt(k)  # of 1 kg
    for t in np.linspace(fall * 1.1, fall * (1.0 + 2.0 * e), 60):
        simulator.AdvanceTo(t)
        highest = max(highest, scene.positions()[0, 2] - RADIUS)
    assert highest == pytest.approx(e * e * 0.1 - x * (1.0 - e * e), rel=0.01)


@EVERY_LAW
def test_a_row_of_balls_hands_on_all_of_its_momentum(law):
    """Balls 0.1 mm apart: the last one leaves, all others stop."""
    row = [(Sphere(0.05), 1.0, (0.1001 * k - 0.02 * (k == 0), 0.0, 0.0), (1.0 * (k == 0), 0.0, 0.0)) for k in range(4)]
    scene = FlyingSolids(row, H, law=law, gravity=0.0, restitution=1.0)
    scene.step(60)
    np.testing.assert_allclose(scene.velocities()[:, 3], [0.0, 0.0, 0.0, 1.0], atol=1e-4)
    np.testing.assert_allclose(scene.momentum(), [1.0, 0.0, 0.0], atol=SOLVED)


@EVERY_LAW
def test_unequal_balls_separate_as_newtons_law_says(law):
    pair = [
        (Sphere(0.05), 1.0, (0.0, 0.0, 0.0), (2.0, 0.0, 0.0)),
        (Sphere(0.05), 3.0, (0.13, 0.0, 0.0), (-1.0, 0.0, 0.0)),
    ]
    scene = FlyingSolids(pair, H, law=law, gravity=0.0, restitution=math.sqrt(0.6))
    scene.step(30)
    v = scene.velocities()[:, 3]
    assert v[1] - v[0] == pytest.approx(0.6 * 3.0, rel=1e-4)
    assert v[0] + 3.0 * v[1] == pytest.approx(-1.0, abs=SOLVED)


@EVERY_LAW
def test_friction_in_a_bounce_is_that_of_its_impulse(law):
    """A ball that slides all through a bounce loses mu (1 + e) times its speed of arrival; none is added to that."""
    speed, mu = 2.0, 0.2
    scene = ball(law=law, height=0.01, velocity=(10.0, 0.0, -speed), friction=mu, restitution=1.0, gravity=0.0)
    scene.step(12)
    v = scene.velocities()[0]
    assert v[5] == pytest.approx(speed, rel=1e-3)
    assert v[3] == pytest.approx(10.0 - 2.0 * mu * speed, rel=2e-3)


@EVERY_LAW
def test_a_stack_that_bounces_comes_to_rest_and_gains_no_energy(law):
    boxes = [(Box(0.1, 0.1, 0.1), 1.0, (0.0, 0.0, 0.06 + 0.11 * k), (0.0, 0.0, 0.0)) for k in range(2)]
    scene = FlyingSolids(boxes, H, law=law, friction=0.5, ground=True, restitution=0.7)
    energies = [scene.energy()]
    for _ in range(70):
        scene.step(10)
        energies.append(scene.energy())
    # the energy of a step is off by h / 2 times the power of the weight, in flight: docs/discrete_steps.md
    swings = H * 2.0 * 9.81 * math.sqrt(2.0 * 9.81 * 0.02)
    assert max(np.diff(energies)) < swings
    assert abs(scene.velocities()).max() < 1e-3
    np.testing.assert_allclose(scene.positions()[:, 2], [0.05, 0.15], atol=3e-3)


def test_the_law_of_a_pair_is_a_product_and_none_takes_that_of_the_other():
    from mbcli.engine.collision.arrays import AS_THE_OTHER
    from mbcli.engine.collision.pair_laws import restitution_of_pair

    class Solids:
        bounce = np.array([[0.5, 0.1], [0.8, 0.2], [0.0, 0.1], [AS_THE_OTHER, 0.0]])

    found = [restitution_of_pair(Solids, A, B) for A, B in ((0, 1), (0, 2), (0, 3), (3, 0), (3, 3), (2, 3))]
    np.testing.assert_allclose(found, [0.4, 0.0, 0.5, 0.5, 0.0, 0.0])
