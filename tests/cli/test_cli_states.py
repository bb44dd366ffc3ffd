"""The state options: lists, names, documents of other commands, logs, random states."""

import json

import numpy as np
import pytest
from command_line import cli, hinge, one_robot, succeed
from repository import SAMPLES

ARM, TWO_LINKS, JOINTS = SAMPLES / "arm7.urdf", SAMPLES / "double_pendulum.urdf", SAMPLES / "all_joints.sdf"
QUADRUPED = SAMPLES / "quadruped.urdf"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def state(model, *options, stdin=""):
    """q and v that the options give."""
    document = succeed("energy", model, *options, "--json", stdin=stdin).json()
    return document["q"], document["v"]


def test_lists_are_separated_by_commas_or_spaces():
    expected = ([0.1, -2e-3], [3.0, 4.0])
    for q, v in (("0.1 -2e-3", "3 4"), ("0.1,-2e-3", "3,4"), (" 0.1 , -.002 ", "+3.,\t4")):
        assert state(TWO_LINKS, "--q", q, "--v", v) == expected


@pytest.mark.parametrize("name", ["double_pendulum_elbow_q", "elbow", "elbow_q", "double_pendulum::elbow"])
def test_positions_are_named_in_full_or_by_their_joint(name):
    assert state(TWO_LINKS, "--at", f"{name}=0.25") == ([0.0, 0.25], [0.0, 0.0])


def test_velocities_and_coordinates_of_floating_bases_have_names_too():
    q, v = state(QUADRUPED, "--at", "trunk_z=0.4", "--at", "trunk_wx=2", "--at", "rear_left_knee=-1")
    names = succeed("inspect", QUADRUPED, "--json").json()["position_names"]
    assert q[6] == 0.4 and v[0] == 2.0 and q[names.index("quadruped_rear_left_knee_q")] == -1.0


def test_later_options_add_to_earlier_kinds():
    assert state(TWO_LINKS, "--q", "1 2", "--at", "shoulder=5", "--v", "3 4") == ([5.0, 2.0], [3.0, 4.0])


# ------------------------------------------------------------------------------------------- documents


def test_the_document_of_one_command_is_the_state_of_the_next(tmp_path):
    first = succeed("mass-matrix", JOINTS, "--random", 7, "--json")
    document = first.json()
    path = tmp_path / "state.json"
    path.write_text(first.out)
    assert state(JOINTS, "--state", path) == (document["q"], document["v"])
    assert state(JOINTS, "--state", "-", stdin=first.out) == (document["q"], document["v"])
    again = succeed("mass-matrix", JOINTS, "--state", path, "--json").json()
    assert again["M"] == document["M"]


def test_names_in_a_document_give_the_order():
    names = ["double_pendulum_elbow_q", "double_pendulum_shoulder_q"]
    text = json.dumps({"position_names": names, "q": [2.0, 1.0], "v": [3, 4]})
    assert state(TWO_LINKS, "--state", "-", stdin=text) == ([1.0, 2.0], [3.0, 4.0])


def test_a_document_of_positions_leaves_the_velocities():
    assert state(TWO_LINKS, "--state", "-", stdin='{"q": [1, 2]}') == ([1.0, 2.0], [0.0, 0.0])


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "<stdin>:1:2: error: not a JSON document"),
        ("[1, 2]", "<stdin>: error: a state is an object with q, v or both"),
        ("{}", "a state is an object with q, v or both"),
        ('{"q": 1}', "q needs 2 numbers, it is not a list"),
        ('{"q": [1]}', "q needs 2 numbers, it has 1"),
        ('{"q": [1, "2"]}', "q of 'double_pendulum_elbow_q' is not a finite number"),
        ('{"q": [1, null]}', "q of 'double_pendulum_elbow_q' is not a finite number"),
        ('{"q": [1, true]}', "q of 'double_pendulum_elbow_q' is not a finite number"),
        ('{"v": [NaN, 1]}', "v of 'double_pendulum_shoulder_w' is not a finite number"),
        ('{"v": [1e999, 1]}', "v of 'double_pendulum_shoulder_w' is not a finite number"),
        ('{"v": [1' + 400 * "0" + ", 1]}", "v of 'double_pendulum_shoulder_w' is not a finite number"),
        ('{"q": [1, 2], "position_names": 3}', "position_names are not those of this model"),
        ('{"q": [1, 2], "position_names": ["a", "b"]}', "position_names are not those of this model"),
        (100_000 * "[", "not a JSON document"),
    ],
)
def test_damaged_documents_are_refused_in_one_line(text, message):
    result = cli("bias", TWO_LINKS, "--state", "-", stdin=text)
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert message in result.err


# ------------------------------------------------------------------------------------------------- logs


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "run.h5"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_JIT", "0")
        succeed("-q", "simulate", TWO_LINKS, "-t", 0.1, "--at", "elbow=1", "-o", path)
    return path


def test_a_log_gives_its_last_state_or_that_of_a_time(log):
    rows = succeed("log", "export", log, "--to", "jsonl", "--fields", "q,v").out.splitlines()
    rows = [json.loads(row) for row in rows]
    assert state(TWO_LINKS, "--state", log) == (rows[-1]["q"], rows[-1]["v"])
    assert state(TWO_LINKS, "--state", log, "--time", 0.03) == (rows[3]["q"], rows[3]["v"])


def test_a_log_says_what_it_does_not_have(log):
    missing = cli("bias", TWO_LINKS, "--state", log, "--time", 7)
    assert missing.code == 4 and "no sample at 7 s" in missing.err
    other = cli("bias", ARM, "--state", log)
    assert other.code == 3 and "its coordinates are not those of this model" in other.err


# --------------------------------------------------------------------------------------------- random


def test_random_states_are_reproducible_and_differ_by_seed():
    assert state(JOINTS, "--random", 3) == state(JOINTS, "--random", 3)
    assert state(JOINTS, "--random", 3) != state(JOINTS, "--random", 4)


@pytest.mark.parametrize("seed", range(5))
def test_random_positions_are_within_limits_and_orientations_are_unit(seed):
    q, _ = state(ARM, "--random", seed)
    joints = [j for j in succeed("inspect", ARM, "--json").json()["joints"] if j["num_positions"]]
    limits = np.array([j["position_limits"][0] for j in joints])
    assert (limits[:, 0] <= q).all() and (q <= limits[:, 1]).all()
    q, _ = state(QUADRUPED, "--random", seed)
    assert np.linalg.norm(q[:4]) == pytest.approx(1.0)


def test_a_joint_that_closes_a_loop_has_no_random_position():
    q, v = state(SAMPLES / "closed_chains" / "four_bar.urdf", "--random", 3)
    assert len(q) == len(v) == 3 and np.ptp(q) > 0.0


def test_random_positions_respect_a_limit_on_one_side():
    sliding = hinge("j", "a", "b").replace("revolute", "prismatic").replace('lower="-3" upper="3"', 'lower="5"')
    text = one_robot(["a", "b"], sliding.replace("<limit ", '<limit upper="1e99" '))
    for seed in range(5):
        q, _ = state("-", "--weld", "a", "--random", seed, stdin=text)
        assert 5.0 <= q[0] <= 1e99


def test_a_state_file_without_an_end_is_refused():
    endless = cli("mass-matrix", TWO_LINKS, "--state", "/dev/zero")
    assert endless.code == 3 and endless.err == "/dev/zero: error: not a state: more than 64 MiB\n"
