"""Contact ahead of time: what is fast passes through nothing, whatever a step is, and momentum stays."""

import numpy as np
import pytest
from flying_solids import FlyingSolids

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.geometry import Box, Sphere

EVERY_LAW = pytest.mark.parametrize("law", CONTACT_LAWS)
STILL = (0.0, 0.0, 0.0)
SOLVED = 1e-8  # of the momenta: what the solver, which stops at 1e-6, leaves of them in an impact


def shot(shape, speed, thickness, h, *, mass_of_plate=0.0, law="lagged", aside=(0.0, 0.0), gap=0.0, **options):
    """A solid that flies down onto a plate from 3.3 steps above it."""
    start = 0.1 + gap + 3.3 * h * speed
    plate = (Box(3.0, 3.0, thickness), mass_of_plate, STILL, STILL)
    solid = (shape, 1.0, (*aside, start), (0.0, 0.0, -speed))
    return FlyingSolids([plate, solid], h, law=law, gravity=0.0, **options)


def least_height(scene, steps):
    return min(scene_height(scene) for _ in range(steps))


def scene_height(scene):
    """How high the solid is above the middle of the plate, after a step."""
    scene.step()
    z = scene.positions()[:, 2]
    return z[-1] - (z[0] if len(z) == 2 else 0.0)


@EVERY_LAW
def test_a_ball_of_40_mm_does_not_pass_through_a_plate_of_4_mm_at_60_metres_a_second(law):
    assert least_height(shot(Sphere(0.02), 60.0, 0.004, 1e-3, law=law), 12) > 0.02


def test_balls_of_5_to_200_metres_a_second_pass_through_no_plate():
    rng = np.random.default_rng(1)
    for k in range(40):
        h, speed = rng.choice([1e-3, 2e-3, 5e-3, 1e-2]), np.exp(rng.uniform(np.log(5.0), np.log(200.0)))
        thickness, law = rng.choice([0.001, 0.002, 0.004, 0.01, 0.02]), CONTACT_LAWS[k % len(CONTACT_LAWS)]
        scene = shot(
            Sphere(rng.uniform(0.005, 0.03)),
            speed,
            thickness,
            h,
            law=law,
            mass_of_plate=5.0 * (k % 2),
            gap=rng.uniform(0.0, h * speed),
            restitution=float(rng.choice([0.0, 0.5, 1.0])),
        )
        momentum = scene.momentum()
        assert least_height(scene, 9) > 0.0, (k, h, speed, thickness, law)
        if k % 2:
            np.testing.assert_allclose(scene.momentum(), momentum, rtol=0.0, atol=SOLVED * speed)


@EVERY_LAW
def test_boxes_that_land_flat_pass_through_no_plate(law):
    for speed, thickness, h in ((5.0, 0.001, 1e-2), (30.0, 0.002, 5e-3), (200.0, 0.02, 1e-3), (200.0, 0.001, 1e-2)):
        scene = shot(Box(0.04, 0.03, 0.02), speed, thickness, h, law=law)
        assert least_height(scene, 9) > 0.0, (speed, thickness, h)


@EVERY_LAW
@pytest.mark.parametrize("aside", [0.0, 0.003])
def test_balls_do_not_pass_through_each_other(law, aside):
    """At 170 m/s they meet within a step; what meets beside its middle glances off."""
    one = (Sphere(0.02), 1.0, (-0.5, 0.0, 0.0), (100.0, 0.0, 0.0))
    other = (Sphere(0.01), 2.0, (0.5, aside, 0.0), (-70.0, 0.0, 0.0))
    scene = FlyingSolids([one, other], 1e-3, law=law, gravity=0.0)
    momentum, least = scene.momentum(), np.inf
    for _ in range(9):
        scene.step()
        a, b = scene.positions()
        least = min(least, np.linalg.norm(a - b) - 0.03)
    assert -1e-3 < least < 2e-3
    if aside == 0.0:
        assert a[0] < b[0]
    np.testing.assert_allclose(scene.momentum(), momentum, rtol=0.0, atol=SOLVED * 240.0)


def test_what_flies_past_is_not_touched():
    """A plate beside the path, no further from it than a step goes."""
    plate = (Box(0.1, 0.1, 0.004), 0.0, STILL, STILL)
    ball = (Sphere(0.02), 1.0, (0.075, 0.0, 0.2), (0.0, 0.0, -60.0))
    scene = FlyingSolids([plate, ball], 1e-3, gravity=0.0)
    scene.step(9)
    np.testing.assert_array_equal(scene.velocities()[0], [0.0, 0.0, 0.0, 0.0, 0.0, -60.0])


def test_what_meets_nothing_fast_has_no_contact_ahead():
    scene = shot(Sphere(0.02), 2.0, 0.004, 1e-3)
    for _ in range(3):
        scene.step()
    results = scene.plant.get_contact_results_output_port().Eval(scene.context)
    assert results.num_point_pair_contacts() == 0
