"""How much of a step of slip velocities tamsi takes: never across the zone of stiction, nor turned far."""

import numpy as np

from mbcli.engine import load_kernels
from mbcli.engine.contact.tamsi import COSINE_OF_LARGEST_TURN

step_length_of_slip = load_kernels(False).step_length_of_slip
V_S = 1e-2


def turn(a, b):
    """Cosine of the angle between two velocities."""
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def test_a_step_across_the_zone_of_stiction_ends_at_its_point_of_least_slip():
    rng = np.random.default_rng(0)
    for _ in range(300):
        u, d = np.linalg.qr(rng.normal(size=(2, 2)))[0]
        start, end = 5 * V_S * u + 0.5 * V_S * d, -4 * V_S * u + rng.uniform(-0.9, 0.9) * V_S * d
        s = step_length_of_slip(*start, *(end - start), V_S)
        least = start + s * (end - start)
        assert np.linalg.norm(least) < V_S
        assert abs(least @ (end - start)) < 1e-12 * np.linalg.norm(end - start)


def test_away_from_stiction_slip_turns_no_further_than_allowed_and_no_less():
    rng = np.random.default_rng(1)
    turned = 0
    for _ in range(300):
        start, end = rng.normal(size=(2, 2))
        step = end - start
        if abs(np.cross(start, step)) / np.linalg.norm(step) < 2 * V_S:
            continue  # passes near the zone
        s = step_length_of_slip(*start, *step, V_S)
        if turn(start, end) >= COSINE_OF_LARGEST_TURN:
            assert s == 1.0
        else:
            turned += 1
            assert abs(turn(start, start + s * step) - COSINE_OF_LARGEST_TURN) < 1e-6
    assert turned > 50


def test_out_of_stiction_and_to_rest_every_step_is_taken():
    assert step_length_of_slip(0.5 * V_S, 0.0, 3.0, -2.0, V_S) == 1.0
    assert step_length_of_slip(0.3, 0.4, -0.3, -0.4, V_S) == 1.0
    assert step_length_of_slip(0.3, 0.4, 0.0, 0.0, V_S) == 1.0
