"""A frictional impact adds no energy, whatever strikes and however; one that adds none bounces by Newton's law."""

import numpy as np
import pytest
from flying_solids import FlyingSolids

from mbcli.config.contact_laws import CONTACT_LAWS
from mbcli.geometry import Box, Capsule, Cylinder
from mbcli.math import RigidTransform, RollPitchYaw

EVERY_LAW = pytest.mark.parametrize("law", CONTACT_LAWS)
H = 1e-3
SHAPES = (Capsule(0.01, 1.0), Box(0.6, 0.2, 0.1), Cylinder(0.05, 0.8))


def lowest_point(shape, R):
    """The largest distance of the shape below its centre."""
    if isinstance(shape, Box):
        return float(np.abs(R[2]) @ (shape.size() / 2))
    along, across = abs(R[2, 2]) * shape.length() / 2, shape.radius()
    return along + across * (1.0 if isinstance(shape, Capsule) else np.sqrt(1.0 - R[2, 2] ** 2))


def struck(rng, law, e, mu):
    """(FlyingSolids just above the ground, without gravity)."""
    shape = SHAPES[rng.integers(len(SHAPES))]
    R = RollPitchYaw(rng.uniform(-1.2, 1.2, 3)).ToRotationMatrix()
    place = RigidTransform(R, [0.0, 0.0, lowest_point(shape, R.matrix()) + 2e-4])
    V = [*rng.uniform(-3.0, 3.0, 3), *rng.uniform(-2.0, 2.0, 2), rng.uniform(-3.0, -1.0)]
    return FlyingSolids(
        [(shape, 1.0, place, V)], H, law=law, friction=mu, ground=True, gravity=0.0, restitution=np.sqrt(e)
    )


@EVERY_LAW
@pytest.mark.parametrize("e", [1.0, 0.8, 0.5])
def test_no_impact_adds_energy(law, e):
    rng = np.random.default_rng(7)
    changes = []
    for _ in range(25):
        scene = struck(rng, law, e, rng.uniform(0.1, 1.5))
        before = scene.energy()
        scene.step(3)
        changes.append(scene.energy() / before - 1.0)
    assert min(changes) < -1e-3  # friction does its work
    assert max(changes) < 1e-3, max(changes)


@EVERY_LAW
def test_the_rod_that_newtons_law_speeds_up_keeps_its_energy(law):
    """It gains 21.7 % by Newton's law at e = 1."""
    place = RigidTransform(RollPitchYaw(0.0, 0.62, 0.0).ToRotationMatrix(), [0.0, 0.0, 0.4369])
    V = [0.0, -0.88, 0.0, 1.05, 0.0, -1.41]
    scene = FlyingSolids(
        [(Capsule(0.01, 1.0), 1.0, place, V)], H, law=law, friction=0.67, ground=True, gravity=0.0, restitution=1.0
    )
    before = scene.energy()
    scene.step(60)
    assert -5e-3 < scene.energy() / before - 1.0 < 1e-4 and scene.velocities()[0, 5] > 0.1


@EVERY_LAW
def test_a_ball_with_friction_bounces_by_newtons_law(law):
    """Slip of a ball that does not spin is never turned back."""
    from mbcli.geometry import Sphere

    scene = FlyingSolids(
        [(Sphere(0.1), 1.0, [0.0, 0.0, 0.1005], [0.0, 0.0, 0.0, 2.0, 0.0, -1.0])],
        H,
        law=law,
        friction=0.3,
        ground=True,
        gravity=0.0,
        restitution=np.sqrt(0.8),
    )
    scene.step(3)
    assert scene.velocities()[0, 5] == pytest.approx(0.8, rel=1e-3)


@EVERY_LAW
def test_two_bounces_in_one_step_add_no_energy(law):
    """A beam lands flat on both ends while it slides and turns about its length."""
    rng = np.random.default_rng(3)
    for _ in range(8):
        place = RigidTransform([0.0, 0.0, 0.05 + 2e-4])
        V = [0.0, *rng.uniform(-4.0, 4.0, 2), *rng.uniform(-2.0, 2.0, 2), -1.5]
        scene = FlyingSolids(
            [(Box(0.6, 0.2, 0.1), 1.0, place, V)], H, law=law, friction=0.9, ground=True, gravity=0.0, restitution=1.0
        )
        before = scene.energy()
        scene.step(4)
        assert scene.energy() < before * 1.001


def landings(count):
    """(shape, pose, V, e, mu) of rods and boxes that strike at 0.01 to 10 m/s within the next three steps."""
    rng, found = np.random.default_rng(46), []
    for n in range(count):
        shape = (Capsule(0.01, 1.0), Box(0.6, 0.2, 0.1))[n % 2]
        speed, e, mu = 10 ** rng.uniform(-2.0, 1.0), rng.uniform(0.5, 1.0), rng.uniform(0.0, 1.0)
        R = RollPitchYaw(rng.uniform(-1.2, 1.2, 3)).ToRotationMatrix()
        d = rng.normal(size=3)
        d[2] = -abs(d[2]) - 0.2
        V = speed * np.concatenate([rng.normal(size=3), d / np.linalg.norm(d)])
        gap = rng.uniform(0.05, 3.0) * H * speed
        place = RigidTransform(R, [0.0, 0.0, lowest_point(shape, R.matrix()) + gap])
        found.append((shape, place, V, 1.0 if n % 4 < 2 else e, mu))
    return found


@EVERY_LAW
@pytest.mark.parametrize("threshold", [0.1, 1e-3])
def test_landings_of_any_speed_add_no_energy(law, threshold):
    """Where tamsi solves in parts, bounces went by the last part: a box left with 3.2 times its energy."""
    for shape, place, V, e, mu in landings(200):
        scene = FlyingSolids(
            [(shape, 1.0, place, V)],
            H,
            law=law,
            friction=mu,
            ground=True,
            gravity=0.0,
            restitution=np.sqrt(e),
            bounce_threshold=threshold,
        )
        before = scene.energy()
        for _ in range(12):
            scene.step()
            assert scene.energy() < before * 1.001, (shape, e, mu, V)
