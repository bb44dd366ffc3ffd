"""The worlds of sample_models/worlds run from their files by one command, move as they are to, and are drawn."""

import numpy as np
import pytest
from command_line import succeed
from repository import ROOT, SAMPLES
from test_control_examples import check_pictures

from mbcli.log.reader import Log

WORLDS = SAMPLES / "worlds"


def run(tmp_path, world, *words):
    path = tmp_path / f"{world}.h5"
    succeed("simulate", WORLDS / f"{world}.sdf", *words, "-o", path)
    check_pictures(path)
    return Log(str(path))


def test_a_quadrotor_flies_a_square(tmp_path):
    with run(tmp_path, "quadrotor", "--controller", ROOT / "docs" / "examples" / "hover.py", "-t", "8") as log:
        times, q = log.times, log.q
    for t, corner in ((1.99, (0, 0)), (3.99, (1, 0)), (5.99, (1, 1)), (7.99, (0, 1))):
        place = q[np.searchsorted(times, t - 1e-6), 4:7]
        assert np.linalg.norm(place - [*corner, 1.0]) < 0.11
    assert np.abs(q[:, 2:4]).max() < 0.2  # it stays upright


def test_a_quadrotor_hovers_at_the_speed_of_its_weight(tmp_path):
    speed = np.sqrt(1.52 * 9.81 / (4 * 8.54858e-06))
    assert speed == pytest.approx(660.36, abs=0.01)
    rotors = " ".join(f"rotor_{k}_joint.speed={speed}" for k in range(4))
    words = ("simulate", WORLDS / "quadrotor.sdf", "--no-contact", "--no-log", "--json", "--u", rotors)
    early, late = (succeed(*words, "-t", t).json()["v"] for t in ("0.3", "0.6"))
    assert early[5] < -0.05 and late[5] == pytest.approx(early[5], rel=1e-4)  # what it lost until rotors were up
    assert np.abs(np.delete(late[:6], 5)).max() < 1e-9


def test_a_rover_drives_a_circle(tmp_path):
    with run(tmp_path, "diff_drive", "--u", "rover.linear_x=0.5 rover.angular_z=0.5", "-t", "8") as log:
        times, q = log.times, log.q
    rate = np.polyfit(times[100:], np.unwrap(2.0 * np.arctan2(q[100:, 3], q[100:, 0])), 1)[0]
    assert rate == pytest.approx(0.5, rel=0.01)
    wheels = q[:, 4:6] - 0.2 * np.column_stack([np.cos(heading := 2 * np.arctan2(q[:, 3], q[:, 0])), np.sin(heading)])
    A = np.column_stack([2.0 * wheels[200:], np.ones(len(wheels) - 200)])
    x, y, c = np.linalg.lstsq(A, (wheels[200:] ** 2).sum(axis=1), rcond=None)[0]
    assert np.sqrt(c + x * x + y * y) == pytest.approx(1.0, rel=0.01)  # v / w of the middle of the axle
    assert np.abs(q[100:, 6] - 0.2).max() < 5e-3


def test_balls_bounce_to_the_square_of_their_restitution(tmp_path):
    with run(tmp_path, "bounce", "-t", "4", "--log-rate", "0") as log:
        times, heights = log.times, log.q[:, [6, 13, 20]] - 0.1
    fall = np.sqrt(2.0 / 9.81)
    for height, e in zip(heights.T, (0.5, 0.8, 0.9), strict=True):
        second = (times > fall + 0.01) & (times < fall * (1.0 + 2.0 * e) - 0.01)
        assert height[second].max() == pytest.approx(e * e, rel=0.01)
