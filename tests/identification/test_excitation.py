"""Motions of `excite` stay within limits, begin and end at rest, and show more than random ones."""

import numpy as np
import pytest
from command_line import cli, succeed
from measured_motion import forces, hand, plant_of
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.identification.excitation import Within, excite
from mbcli.identification.held_joints import held_joints

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture(scope="module")
def arm():
    return plant_of(SAMPLES / "double_pendulum.urdf", weld_base=True)


def test_a_motion_stays_within_limits_and_ends_at_rest(arm):
    motion = excite(arm, 8.0, rate=50.0, within=Within(0.8, 1.0, 3.0), tries=10)
    lower, upper = arm.GetPositionLowerLimits(), arm.GetPositionUpperLimits()
    assert not np.isfinite([*lower, *upper]).any()  # then the range is a quarter turn each way
    assert np.abs(motion.q).max() <= 0.8 * np.pi / 2.0
    assert np.abs(motion.v).max() <= 0.8 * 1.0 and np.abs(motion.vdot).max() <= 0.8 * 3.0
    for end in (0, -1):
        assert np.abs(motion.v[end]).max() < 1e-9 and np.abs(motion.vdot[end]).max() < 1e-9
    assert np.abs(motion.q[0] - motion.q[-1]).max() < 1e-9
    assert len(motion.time) == 401 and motion.time[-1] == pytest.approx(8.0)
    (actuator,) = arm.elements.actuators
    assert np.abs(motion.tau[:, actuator.joint().velocity_start()]).max() <= 0.8 * actuator.effort_limit()


def test_velocities_are_the_rates_of_positions_and_efforts_those_of_the_model(arm):
    motion = excite(arm, 6.0, rate=200.0, tries=0)
    np.testing.assert_allclose(np.gradient(motion.q, motion.time, axis=0)[2:-2], motion.v[2:-2], atol=2e-3)
    np.testing.assert_allclose(np.gradient(motion.v, motion.time, axis=0)[2:-2], motion.vdot[2:-2], atol=2e-2)
    np.testing.assert_allclose(
        motion.tau[::100], forces(arm, motion.q[::100], motion.v[::100], motion.vdot[::100]), atol=1e-9
    )


def test_the_search_makes_the_condition_smaller_and_repeats_itself(arm):
    one, two = (excite(arm, 8.0, tries=15, seed=3) for _ in range(2))
    assert one.condition < one.first
    assert np.array_equal(one.q, two.q)
    assert not np.array_equal(one.q, excite(arm, 8.0, tries=0, seed=4).q)


def test_followers_follow(tmp_path):
    (tmp_path / "hand.urdf").write_text(hand())
    plant = plant_of(tmp_path / "hand.urdf")
    motion = excite(plant, 5.0, tries=0)
    at = {joint.name(): joint.position_start() for joint in plant.moving_joints() if joint.num_velocities()}
    np.testing.assert_allclose(motion.q[:, at["left_tip"]], 0.8 * motion.q[:, at["left_base"]] + 0.1, atol=1e-12)
    assert set(motion.use["position"]) == {"wrist", "left_base", "right_base"}


def test_motions_that_collide_are_not_taken(arm):
    motion = excite(arm, 8.0, tries=4, collides=lambda q: bool(q[1] > 0.7))
    assert motion.q[:, 1].max() < 0.8


@pytest.mark.parametrize("name", ["quadruped.urdf", "closed_chains/four_bar.urdf"])
def test_robots_that_float_or_have_closed_chains_are_refused(name):
    with pytest.raises(ModelError, match="excite is for"):
        excite(plant_of(SAMPLES / name), 5.0)


def test_the_file_goes_through_inverse_dynamics_and_identify(tmp_path, monkeypatch):
    """A motion, the efforts of a heavier robot on it, and its file: the masses of that robot come out."""
    monkeypatch.chdir(tmp_path)
    text = (SAMPLES / "double_pendulum.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text)
    (tmp_path / "heavy.urdf").write_text(text.replace('<mass value="1.2"', '<mass value="1.8"'))
    succeed("-q", "excite", "arm.urdf", "-t", 8, "--rate", 50, "--tries", 5, "-o", "motion.csv")
    succeed("-q", "inverse-dynamics", "heavy.urdf", "--states", "motion.csv", "-o", "torques.csv")
    rows = [(tmp_path / name).read_text().splitlines() for name in ("motion.csv", "torques.csv")]
    joined = "\n".join(f"{a},{b.partition(',')[2]}" for a, b in zip(*rows, strict=True))
    (tmp_path / "measured.csv").write_text(joined + "\n")
    document = succeed("-q", "identify", "arm.urdf", "--data", "measured.csv", "--json").json()
    assert document["errors"]["after"] < 1e-6 < 0.05 < document["errors"]["before"]
    assert document["filter"]["cutoff"] is None


@pytest.mark.parametrize("points", [4, 15])
def test_b_splines_stay_within_limits_and_begin_and_end_at_rest_at_one_place(arm, points):
    options = {"rate": 200.0, "within": Within(0.8, 1.0, 3.0), "tries": 10}
    motion = excite(arm, 8.0, basis="bsplines", points=points, **options)
    assert np.abs(motion.q).max() <= 0.8 * np.pi / 2.0
    assert np.abs(motion.v).max() <= 0.8 * 1.0 and np.abs(motion.vdot).max() <= 0.8 * 3.0
    assert np.abs(motion.v).max() > 0.2
    for end in (0, -1):
        assert np.abs(motion.v[end]).max() < 1e-9 and np.abs(motion.vdot[end]).max() < 1e-9
    assert np.abs(motion.q[0] - motion.q[-1]).max() < 1e-9
    np.testing.assert_allclose(np.gradient(motion.q, motion.time, axis=0)[2:-2], motion.v[2:-2], atol=2e-3)
    np.testing.assert_allclose(np.gradient(motion.v, motion.time, axis=0)[2:-2], motion.vdot[2:-2], atol=2e-2)
    (actuator,) = arm.elements.actuators
    assert np.abs(motion.tau[:, actuator.joint().velocity_start()]).max() <= 0.8 * actuator.effort_limit()


def test_b_splines_show_about_as_much_as_fourier_series_do(arm):
    """Conditions of the best of a short search, over three seeds."""
    fourier, splines = (
        [excite(arm, 8.0, basis=basis, tries=60, seed=seed).condition for seed in range(3)]
        for basis in ("fourier", "bsplines")
    )
    assert np.median(splines) < 3.0 * np.median(fourier)


def test_b_splines_do_not_collide(arm):
    motion = excite(arm, 8.0, basis="bsplines", tries=4, collides=lambda q: bool(q[1] > 0.7))
    assert motion.q[:, 1].max() < 0.8


def test_held_joints_do_not_move_and_their_equations_do_not_count(arm):
    held = held_joints(arm, {"shoulder": 0.4})
    motion = excite(arm, 6.0, tries=3, held=held)
    assert np.all(motion.q[:, 0] == 0.4) and not motion.v[:, 0].any() and np.ptp(motion.q[:, 1]) > 0.1
    assert motion.rank == 6  # the two parts of the pendulum's weight, its inertia, and friction
    assert set(motion.use["position"]) == {"elbow"}


def test_a_robot_plays_the_file_of_b_splines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm = SAMPLES / "arm7.urdf"
    succeed("-q", "excite", arm, "-t", 2, "--basis", "bsplines", "--points", 6, "--tries", 1, "-o", "motion.csv")
    run = succeed("-q", "simulate", arm, "--weld-base", "--trajectory", "motion.csv", "-t", 0.5, "--json").json()
    assert max(entry["largest_error"] for entry in run["tracking"]) < 0.01
    result = cli("excite", arm, "--basis", "bsplines", "--harmonics", 4)
    assert result.code == 2 and "--harmonics needs --basis fourier" in result.err
    result = cli("excite", arm, "--held", "all")
    assert result.code == 2 and "name them" in result.err
