"""Fast impacts at their times: angular momentum stays, and where things go is what they did before and after."""

import numpy as np
import pytest
from flying_solids import FlyingSolids

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.geometry import Box, Sphere

RADIUS, SPEED, H = 0.1, 120.0, 1e-3
EVERY_LAW = pytest.mark.parametrize("law", CONTACT_LAWS)


def angular_momentum(scene):
    """About the origin of World, of free bodies [N m s]."""
    total = np.zeros(3)
    for body in scene.bodies:
        pose = scene.plant.EvalBodyPoseInWorld(scene.context, body)
        V = scene.plant.EvalBodySpatialVelocityInWorld(scene.context, body).get_coeffs()
        R, I = pose.rotation().matrix(), body.default_spatial_inertia().CalcRotationalInertia().CopyToFullMatrix3()
        total += R @ I @ R.T @ V[:3] + body.default_mass() * np.cross(pose.translation(), V[3:])
    return total


def balls(speed, offset, gap, law, mass=1.0, **options):
    """One that flies along x at another at rest, `offset` beside its path and `gap` before it meets it."""
    reach = np.sqrt(4.0 * RADIUS**2 - offset**2)
    return FlyingSolids(
        [
            (Sphere(RADIUS), 1.0, (0.0, 0.0, 0.0), (speed, 0.0, 0.0)),
            (Sphere(RADIUS), mass, (reach + gap, offset, 0.0), (0.0, 0.0, 0.0)),
        ],
        H,
        law=law,
        gravity=0.0,
        **options,
    )


@EVERY_LAW
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("mass", [1.0, 3.0])
def test_two_balls_go_where_the_closed_form_says(law, share, mass):
    """Without friction the impulse is along the centres at the time of impact, which is in the second step."""
    speed, offset, e = 80.0, 0.13, 0.8
    scene = balls(speed, offset, (1.0 + share) * H * speed, law, mass, restitution=np.sqrt(e))
    start, spin = scene.positions(), angular_momentum(scene)
    scene.step(2)
    n = np.array([np.sqrt(4.0 * RADIUS**2 - offset**2), offset, 0.0]) / (2.0 * RADIUS)
    impulse = (1.0 + e) * speed * n[0] * mass / (1.0 + mass) * n
    after, left = np.array([[speed, 0.0, 0.0] - impulse, impulse / mass]), (1.0 - share) * H
    expected = start + (2.0 * H - left) * np.array([[speed, 0.0, 0.0], [0.0] * 3]) + left * after
    assert scene.velocities()[:, 3:] == pytest.approx(after, abs=1e-3 * speed)
    assert scene.positions() == pytest.approx(expected, abs=1e-3 * H * speed)
    assert np.linalg.norm(angular_momentum(scene) - spin) < 1e-3 * speed * RADIUS


@EVERY_LAW
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_angular_momentum_stays_in_fast_impacts_with_friction(law, e, seed):
    """With new velocities from the start of the step on it jumps by up to a quarter."""
    rng = np.random.default_rng(seed)
    scene = FlyingSolids(
        [
            (Sphere(RADIUS), 1.0, (0.0, 0.0, 0.0), (*rng.normal(size=3), SPEED, 0.0, 0.0)),
            (Sphere(RADIUS), 2.0, (0.45, *rng.uniform(-0.1, 0.1, 2)), (*rng.normal(size=3), 0.0, 0.0, 0.0)),
        ],
        H,
        law=law,
        friction=0.5,
        gravity=0.0,
        restitution=e,
    )
    spin, energy, before = angular_momentum(scene), scene.energy(), scene.velocities()
    scene.step(8)
    assert np.abs(scene.velocities() - before).max() > 1.0
    assert np.linalg.norm(angular_momentum(scene) - spin) < 2e-3 * SPEED * RADIUS
    assert scene.energy() < energy * (1.0 + 1e-4)


@EVERY_LAW
def test_a_ball_that_meets_a_wall_in_a_step_is_where_it_would_be(law):
    scene = FlyingSolids(
        [
            (Sphere(RADIUS), 1.0, (0.0, 0.0, 0.0), (100.0, 40.0, 0.0)),
            (Box(0.5, 9.0, 9.0), 0.0, (0.25 + RADIUS + 0.03, 0.0, 0.0), ()),
        ],
        H,
        law=law,
        gravity=0.0,
        restitution=1.0,
    )
    scene.step()
    assert scene.positions()[0] == pytest.approx([0.03 - 0.07, 0.04, 0.0], abs=1e-4)


def test_what_touches_several_things_passes_no_energy_to_nothing():
    """A ball between a wall and another: shares of several impacts would not agree, and are not taken."""
    scene = FlyingSolids(
        [
            (Sphere(RADIUS), 1.0, (0.0, 0.0, 0.0), (50.0, 0.0, 0.0)),
            (Sphere(RADIUS), 1.0, (2.0 * RADIUS + 0.01, 0.0, 0.0), (0.0, 0.0, 0.0)),
            (Box(0.5, 9.0, 9.0), 0.0, (0.25 + 3.0 * RADIUS + 0.02, 0.0, 0.0), ()),
        ],
        H,
        gravity=0.0,
        restitution=1.0,
    )
    energy = scene.energy()
    scene.step(40)
    assert scene.energy() == pytest.approx(energy, rel=1e-3)
    assert scene.velocities()[:, 3] == pytest.approx([-50.0, 0.0], abs=0.1)
