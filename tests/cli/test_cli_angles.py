"""Angles on the command line: 30deg, pi/2, --degrees; and the question whether a number is of degrees."""

import math

import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.common.number_text import parse_angle

ARM, CART = SAMPLES / "double_pendulum.urdf", SAMPLES / "cart_pole.sdf"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5), ("-1e-3", -1e-3), ("0.5rad", 0.5), ("30deg", math.pi / 6.0), ("-90deg", -math.pi / 2.0),
        ("90°", math.pi / 2.0), ("°", None),
        ("pi", math.pi), ("-pi/4", -math.pi / 4.0), ("2*pi/3", 2.0 * math.pi / 3.0), ("1.5pi", 1.5 * math.pi),
        ("+pi/2.5", math.pi / 2.5), ("pi/0", None), ("deg", None), ("pi*", None), ("1_0", None), ("inf", None),
        ("30degrad", None), ("pipi", None), ("", None), ("3 deg", None),
    ],
)  # fmt: skip
def test_an_angle_is_read(text, value):
    assert parse_angle(text) == (None if value is None else pytest.approx(value, rel=1e-15))


def test_degrees_are_of_plain_numbers():
    assert parse_angle("30", degrees=True) == math.radians(30.0)
    assert parse_angle("0.5rad", degrees=True) == 0.5
    assert parse_angle("pi/6", degrees=True) == pytest.approx(math.radians(30.0))


def at(*words, model=ARM):
    state = succeed("energy", model, "--json", *words).json()
    return state["q"], state["v"]


@pytest.mark.parametrize(
    "words",
    [
        ("--at", "elbow=30deg", "--at", "elbow_w=-90deg"),
        ("--at", "elbow=pi/6", "--at", "elbow_w=-pi/2"),
        ("--degrees", "--at", "elbow=30", "--at", "elbow_w=-90"),
        ("--q", "0 30deg", "--v", "0,-pi/2"),
        ("--degrees", "--q", "0 30", "--v", "0 -90"),
    ],
)
def test_angles_of_states(words):
    q, v = at(*words)
    assert q == [0.0, pytest.approx(math.pi / 6.0)] and v == [0.0, pytest.approx(-math.pi / 2.0)]


def test_lengths_are_no_angles():
    assert at("--degrees", "--at", "slider_x=2", "--at", "slider_v=3", model=CART)[0][0] == 2.0
    done = cli("energy", CART, "--at", "slider_x=30deg")
    assert done.code == 2 and "'30deg' is an angle, " in done.err and "slider_x is none" in done.err
    done = cli("energy", ARM, "--at", "elbow=30de")
    assert done.code == 2 and "no angle as 30deg or pi/2" in done.err


def test_degrees_of_nothing_are_refused():
    done = cli("energy", ARM, "--degrees")
    assert done.code == 2 and "--degrees is for --q, --v, --at and --states" in done.err


def test_a_run_starts_from_degrees_and_goes_on(tmp_path):
    log = tmp_path / "r.h5"
    succeed("simulate", ARM, "--no-contact", "--degrees", "--at", "elbow=30", "-t", "0.01", "-o", log)
    assert "0.523599" in succeed("log", "show", log, "--fields", "q").out
    assert cli("log", "verify", log).code == 0
    succeed("simulate", "--resume", log, "-t", "0.02")


def test_tables_of_starts_are_in_degrees_beside_named_ones(tmp_path):
    table = tmp_path / "s.csv"
    table.write_text("shoulder\n30\n60\n")
    done = succeed(
        "energy", ARM, "--states", table, "--degrees", "--at", "elbow=90", "--at", "shoulder_w=0", "--at", "elbow_w=0"
    )
    alone = [
        succeed("energy", ARM, "--json", "--at", f"shoulder={a}deg", "--at", "elbow=pi/2").json() for a in (30, 60)
    ]
    rows = done.out.splitlines()
    assert len(rows) == 2
    assert all(f'"potential":{each["potential"]}' in row for row, each in zip(rows, alone, strict=True))


def test_a_start_far_beyond_a_limit_is_asked_whether_it_is_of_degrees(tmp_path):
    arm = tmp_path / "arm.urdf"
    limits = 'type="revolute"><limit lower="-2" upper="2" effort="9" velocity="9"/>'
    text = ARM.read_text()
    assert 'name="elbow" type="continuous">' in text
    arm.write_text(text.replace('name="elbow" type="continuous">', f'name="elbow" {limits}'))
    words = ("simulate", arm, "--no-contact", "-t", "0.01", "--no-log")
    assert "(if these are degrees: 1.5708 rad)" in cli(*words, "--at", "elbow=90").err
    assert "degrees" not in cli(*words, "--at", "elbow=3").err
    assert "degrees" not in cli(*words, "--at", "elbow=300").err  # 5.2 rad would be beyond it too


def test_an_analysis_asks_whether_a_number_beyond_limits_is_of_degrees():
    done = cli("gravity", SAMPLES / "arm7.urdf", "--at", "joint_2=90")
    assert done.code == 0 and done.err.count("\n") == 1
    assert "joint_2_q is 90, " in done.err and "(if these are degrees: 1.5708 rad); --degrees reads plain" in done.err
    assert succeed("gravity", SAMPLES / "arm7.urdf", "--at", "joint_2=90deg").err == ""
    assert succeed("gravity", SAMPLES / "arm7.urdf", "--at", "joint_2=3").err == ""  # beyond them, and no turn


def test_a_list_without_the_base_says_that_it_floats():
    free = SAMPLES / "quadruped.urdf"
    done = cli("gravity", free, "--q", "0 " * 12)
    assert done.code == 2 and "it has 12: 7 are those of bases that float, which --weld-base holds" in done.err
    done = cli("gravity", free, "--v", "0 " * 11)
    assert done.code == 2 and "it has 11: quadruped_trunk_wx" in done.err
    assert cli("gravity", free, "--weld-base", "--q", "0 " * 12).code == 0
