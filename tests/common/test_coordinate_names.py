"""Names of coordinates in options, columns and keys: short ones mean one coordinate, or are refused."""

import json

import numpy as np
import pytest
from command_line import cli, hinge, one_robot, succeed
from repository import SAMPLES

from mbcli.common.coordinate_names import AmbiguousNameError, NamedCoordinates, StateNames, named_by_ending

TWO_LINKS, QUADRUPED = SAMPLES / "double_pendulum.urdf", SAMPLES / "quadruped.urdf"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def slider(name, parent, child):
    return hinge(name, parent, child).replace('type="revolute"', 'type="prismatic"')


@pytest.fixture
def gantry(tmp_path):
    """Two sliders, whose joints are called as the last part of the names of positions."""
    path = tmp_path / "gantry.urdf"
    path.write_text(
        one_robot(("base", "bridge", "tool"), slider("x", "base", "bridge") + slider("z", "bridge", "tool"))
    )
    return path


def test_an_ambiguous_name_of_positions_does_not_become_a_velocity(gantry):
    result = cli("energy", gantry, "--weld", "base", "--at", "x=-1", "--json")
    assert result.code == 2 and "--at: position 'x' can mean r_x_x, r_z_x" in result.err
    document = succeed("energy", gantry, "--weld", "base", "--at", "x_x=-1", "--at", "z_v=2", "--json").json()
    assert (document["q"], document["v"]) == ([-1.0, 0.0], [0.0, 2.0])


@pytest.mark.parametrize("second", ["elbow=1", "elbow_q=2", "double_pendulum::elbow=3"])
def test_one_position_has_one_value(second):
    result = cli("energy", TWO_LINKS, "--at", "elbow=1", "--at", "shoulder=0", "--at", second)
    assert result.code == 2 and "--at: a second value for" in result.err and "elbow" in result.err


def test_one_acceleration_has_one_value():
    result = cli("inverse-dynamics", TWO_LINKS, "--vdot", "elbow=1,elbow_w=2")
    assert result.code == 2 and "--vdot: a second value for 'elbow_w', which 'elbow' means too" in result.err


# Every name that --at takes is a column of CSV and a key of JSON lines, and means the same.
SHORT = ["elbow", "elbow_q", "double_pendulum_elbow", "double_pendulum_elbow_q", "elbow_w", "double_pendulum_elbow_w"]


@pytest.mark.parametrize("name", SHORT)
def test_columns_take_the_names_of_at(name):
    one = succeed("energy", TWO_LINKS, "--at", f"{name}=0.7", "--json").json()
    wanted = one["kinetic"], one["potential"]
    for kind, text in (("csv", f"{name}\n0.7\n"), ("jsonl", json.dumps({name: 0.7}))):
        row = succeed(
            "energy", TWO_LINKS, "--states", "-", "--states-format", kind, "--fill", "default", stdin=text
        ).out
        row = json.loads(row)
        assert (row["kinetic"], row["potential"]) == wanted


def test_columns_of_other_quantities_have_short_names_too():
    text = "elbow,tau:elbow\n0.3,2\n"
    row = json.loads(succeed("forward-dynamics", TWO_LINKS, "--states", "-", "--fill", "default", stdin=text).out)
    options = ("--at", "elbow=0.3", "--tau", "elbow=2", "--json")
    assert row["vdot"] == succeed("forward-dynamics", TWO_LINKS, *options).json()["vdot"]


def test_an_ambiguous_column_names_the_columns_that_it_can_mean(gantry):
    result = cli("energy", gantry, "--weld", "base", "--states", "-", stdin="x\n1\n")
    assert result.code == 3 and "column 'x' is ambiguous: it can mean q:r_x_x, q:r_z_x" in result.err


@pytest.mark.parametrize(
    "wrong, likely",
    [("elbwo", "elbow"), ("elbwo_q", "elbow_q"), ("elbwo_w", "elbow_w"), ("v:elbwo", "v:elbow")],
)
def test_a_wrong_name_is_not_led_to_another_quantity(wrong, likely):
    result = cli("energy", TWO_LINKS, "--states", "-", stdin=f"{wrong}\n1\n")
    assert f"unknown column '{wrong}'; did you mean '{likely}'?" in result.err
    if ":" not in wrong:
        assert f"did you mean '{likely}'" in cli("energy", TWO_LINKS, "--at", f"{wrong}=1").err


def test_a_name_of_a_joint_that_is_the_end_of_velocities_is_ambiguous():
    names = StateNames(["r_w_q", "r_arm_q"], ["r_w_w", "r_arm_w"])
    with pytest.raises(AmbiguousNameError, match="'w' can mean position r_w_q, velocity r_w_w, velocity r_arm_w"):
        names.find("w")
    assert names.find("r_w") == names.find("w_q") == ("q", 0) and names.find("arm_w") == ("v", 1)


def test_whole_names_come_before_ends_and_joints_before_longer_names():
    names = NamedCoordinates(["arm_x", "big_arm_x", "arm_x_q", "the_arm_x_q"], "position")
    assert [names.find(name) for name in names.names] == [0, 1, 2, 3]
    assert names.find("big::arm::x") == 1 and names.find("the_arm_x") == 3


def test_random_names_mean_what_a_search_through_all_of_them_finds():
    rng = np.random.default_rng(11)
    for _ in range(50):
        names = list({"_".join(rng.choice(list("abq"), rng.integers(1, 5))) for _ in range(6)})
        found = NamedCoordinates(names, "position")
        for name in {"_".join(rng.choice(list("abq"), rng.integers(1, 4))) for _ in range(20)}:
            stems = [n.rpartition("_")[0] for n in names]
            by_search = [k for k, n in enumerate(names) if n == name]
            by_search = by_search or [k for k, stem in enumerate(stems) if stem == name]
            by_search = by_search or [
                k for k in range(len(names)) if names[k].endswith(f"_{name}") or stems[k].endswith(f"_{name}")
            ]
            assert (found.whole(name) or found.endings(name)) == by_search


def test_a_header_of_many_short_names_is_read_at_once():
    names = [f"robot_joint_{k}_q" for k in range(20_000)]
    found = NamedCoordinates(names, "position")
    assert [found.find(f"joint_{k}") for k in range(20_000)] == list(range(20_000))


def test_a_name_of_an_element_is_itself_or_the_only_one_that_ends_so():
    names = ["a::tool", "a::left_tool_tip", "b::right_tool_tip", "grip_tool"]
    for text, meant in (("grip_tool", "grip_tool"), ("tool", "a::tool"), ("left_tool_tip", "a::left_tool_tip")):
        assert named_by_ending(text, names, "frame") == meant
    kinds = ["ur::elbow_joint", "ur::elbow_motor", "ur::wrist_link", "ur::wrist"]
    assert named_by_ending("wrist", kinds, "body") == "ur::wrist"  # before what is called a kind of it
    with pytest.raises(AmbiguousNameError, match="can mean ur::elbow_joint, ur::elbow_motor"):
        named_by_ending("elbow", kinds, "joint")
    assert named_by_ending("elbow", kinds[:1], "joint") == "ur::elbow_joint"
    assert named_by_ending("a_tool", names, "frame") == "a::tool" and named_by_ending("left", names, "frame") is None
    with pytest.raises(AmbiguousNameError, match="frame 'tip' can mean a::left_tool_tip, b::right_tool_tip"):
        named_by_ending("tip", names, "frame")


def test_a_joint_is_called_as_its_name_says_without_joint_where_nothing_else_is():
    names = NamedCoordinates(
        ["ur_elbow_joint_q", "ur_wrist_1_joint_q", "left_hip_joint_q", "right_hip_joint_q"], "position"
    )
    assert (names.find("elbow"), names.find("ur_elbow"), names.find("wrist_1"), names.find("elbow_joint")) == (
        0,
        0,
        1,
        0,
    )
    with pytest.raises(AmbiguousNameError, match="left_hip_joint_q, right_hip_joint_q"):
        names.find("hip")
    assert NamedCoordinates(["arm_elbow_joint_q", "arm_elbow_q"], "position").find("elbow") == 1
