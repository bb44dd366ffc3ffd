"""Joints that data lack are held: what carries them and their links are one body, and files keep their elements."""

import numpy as np
import pytest
from command_line import cli, succeed
from measured_motion import drawn_states, forces, hand, harmonics, otherwise, plant_of, write_csv, write_npz
from repository import SAMPLES

from mbcli.errors import ArgumentError, ModelError, NumericalError
from mbcli.identification.held_joints import ALL, held_joints
from mbcli.identification.identify import Settings, identify
from mbcli.identification.records import read_record
from mbcli.identification.subject import Subject

FINGERS = ("left_base", "right_base")

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture
def hands(tmp_path):
    (tmp_path / "hand.urdf").write_text(hand())
    (tmp_path / "true.urdf").write_text(otherwise(hand()))
    return plant_of(tmp_path / "hand.urdf"), plant_of(tmp_path / "true.urdf")


def columns(plant, names, q, v, vdot, tau):
    """A table that has these joints alone."""
    at = {j.name(): (j.position_start(), j.velocity_start()) for j in plant.moving_joints()}
    found = {"time": np.arange(len(q)) / 100.0}
    for name in names:
        i, d = at[name]
        found |= {name: q[:, i], f"v:{name}": v[:, d], f"vdot:{name}": vdot[:, d], f"tau:{name}": tau[:, d]}
    return found


def waving(true, where=0.0):
    """The table of a wrist that moves, on which the fingers stand at `where`."""
    plant, joints = true, {j.name(): j for j in true.moving_joints()}
    t, one, rate, second = harmonics(300, 1, 2, seconds=3.0)
    q, v, vdot = (np.zeros((300, plant.num_positions())) for _ in range(3))
    w = joints["wrist"].position_start()
    q[:, w], v[:, w], vdot[:, w] = one[:, 0], rate[:, 0], second[:, 0]
    for side in ("left", "right"):
        q[:, joints[f"{side}_base"].position_start()] = where
        q[:, joints[f"{side}_tip"].position_start()] = 0.8 * where + 0.1
    return columns(plant, ["wrist"], q, v, vdot, forces(plant, q, v, vdot))


def test_without_the_option_the_message_names_joints_and_option(hands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("wave.csv", waving(hands[1]))
    result = cli("identify", "hand.urdf", "--data", "wave.csv")
    assert result.code == 3
    assert "no efforts of hand_left_base_w, hand_right_base_w" in result.err and "--held" in result.err


@pytest.mark.parametrize("where", [0.0, 0.6])
def test_fingers_with_followers_are_held_where_they_stand(hands, tmp_path, where):
    plant, true = hands
    path = write_csv(tmp_path / "wave.csv", waving(true, where))
    held = {ALL: None} if where == 0.0 else dict.fromkeys(FINGERS, where)
    result = identify(plant, [path], settings=Settings(held=held))
    assert result.names == ["hand_wrist_w"]
    assert result.figures["after"] < 1e-6 < 0.05 < result.figures["before"]
    held_q = result.subject.held
    truth = Subject(true, frictions=Settings.frictions, armature=False, held=held_q).x0
    base = result.base
    np.testing.assert_allclose(base.values, base.combinations @ truth, atol=1e-6)
    assert not any(p.name.startswith(("left_base.", "left_tip.")) for p in result.subject.parameters)  # no friction


def test_followers_that_are_held_leave_a_tree_whose_data_are_checked(hands, tmp_path):
    table = waving(hands[1])
    good = write_csv(tmp_path / "good.csv", table)
    mirrored = write_csv(tmp_path / "mirrored.csv", table | {"tau:wrist": -table["tau:wrist"]})
    settings = Settings(armature=True, held=dict.fromkeys(FINGERS))
    assert {f.code for f in identify(hands[0], [good], (), settings).findings} == {"DATA_HELD"}
    with pytest.raises(NumericalError, match="column 'hand_wrist_w': the effort has the other sign"):
        identify(hands[0], [mirrored], (), settings)


def test_a_held_joint_gives_what_a_file_with_a_weld_in_its_place_does(tmp_path):
    """The same least-squares optimum and combinations as when the last joint is made fixed in the file."""
    text = (SAMPLES / "arm7.urdf").read_text()
    (tmp_path / "arm.urdf").write_text(text)
    plant = plant_of(tmp_path / "arm.urdf", weld_base=True)
    last = [j.name() for j in plant.moving_joints() if j.num_velocities()][-1]
    (tmp_path / "fixed.urdf").write_text(text.replace(f'name="{last}" type="revolute"', f'name="{last}" type="fixed"'))
    fixed = plant_of(tmp_path / "fixed.urdf", weld_base=True)
    assert fixed.num_velocities() == plant.num_velocities() - 1
    q, v, vdot = drawn_states(fixed, 150, 1)
    tau = forces(fixed, q, v, vdot) * 1.1 + 0.01 * np.sin(np.arange(150))[:, None]
    names = [j.name() for j in fixed.moving_joints() if j.num_velocities()]
    path = write_csv(tmp_path / "a.csv", columns(fixed, names, q, v, vdot, tau))
    one = identify(plant, [path], settings=Settings(held={ALL: None}))
    two = identify(fixed, [path])
    assert one.base.rank == two.base.rank
    assert one.figures["least_squares"] == pytest.approx(two.figures["least_squares"], rel=1e-6)
    assert one.figures["after"] == pytest.approx(two.figures["after"], rel=1e-3)
    by_name = dict(zip(two.subject.names, two.x, strict=True))
    for name, value in zip(one.subject.names, one.x, strict=True):
        assert value == pytest.approx(by_name[name], rel=0.05, abs=1e-4), name


def test_links_that_nothing_moves_are_no_unknowns(tmp_path):
    """The first joint held: its link stands, as a wheel on a base does."""
    plant = plant_of(SAMPLES / "double_pendulum.urdf", weld_base=True)
    first, second = (j.name() for j in plant.moving_joints() if j.num_velocities())
    subject = Subject(plant, frictions=(), armature=False, held=held_joints(plant, {first: 0.3}))
    assert {name.partition(".")[0] for name in subject.names} == {"lower"}
    assert subject.independent.tolist() == [1]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"finger": None}, "no joint named 'finger'"),
        ({"left_tip": None}, "follows left_base"),
        ({"left_base": None, "hand_left_base_q": None}, "second word"),
        ({"wrist": None, "left_base": None, "right_base": None}, "nothing moves"),
    ],
)
def test_words_that_mean_nothing_are_refused(hands, wanted, message):
    with pytest.raises((ArgumentError, ModelError), match=message):
        held_joints(hands[0], wanted)


def test_positions_of_the_data_count_and_motion_is_refused(hands, tmp_path):
    plant, true = hands
    table = waving(true, 0.6) | dict.fromkeys(FINGERS, np.full(300, 0.6))
    path = write_csv(tmp_path / "wave.csv", table)
    result = identify(plant, [path], settings=Settings(held={ALL: None}))
    assert result.figures["after"] < 1e-6
    assert [e["positions"] for e in result.subject.held.document(plant)] == [None, None]
    assert "left_base as measured" in str(next(f for f in result.findings if f.code == "DATA_HELD"))
    with pytest.raises(ModelError, match="has positions of joint left_base"):
        held_joints(plant, {"left_base": 0.1}, [read_record(path, plant)])
    moving = table | {"left_base": np.linspace(0.0, 1.0, 300)}
    with pytest.raises(ModelError, match="left_base moves here"):
        held_joints(plant, {"left_base": None}, [read_record(write_csv(tmp_path / "m.csv", moving), plant)])


def test_the_written_file_keeps_the_elements_of_held_joints(hands, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("wave.csv", waving(hands[1]))
    words = ("-q", "identify", "hand.urdf", "--data", "wave.csv", "--held", "left_base,right_base=0", "--json")
    words += ("--no-armature", "--friction", "viscous")
    document = succeed(*words, "-o", "new.urdf").json()
    assert [e["joint"] for e in document["held"]] == ["left_base", "right_base"]
    new = (tmp_path / "new.urdf").read_text()
    for name in ("left_base", "left_tip"):
        own = hand().partition(f'<joint name="{name}"')[2].partition("</joint>")[0]
        assert own in new
    succeed("-q", "check", "new.urdf")
    again = succeed("-q", "identify", "new.urdf", "--validate", "wave.csv", "--held", "all", "--json").json()
    assert again["errors"]["validation_before"] < 1e-3 < 0.05 < document["errors"]["before"]


def test_an_effort_with_one_value_while_its_joint_moves_is_a_finding(tmp_path):
    plant = plant_of(SAMPLES / "double_pendulum.urdf", weld_base=True)
    _, q, v, vdot = harmonics(600, 2, 3, seconds=6.0)
    tau = forces(plant, q, v, vdot)
    tau[np.arange(600) % 10 != 0, 1] = 0.0
    found = identify(plant, [write_npz(tmp_path / "a.npz", q, v, vdot, tau)]).findings
    (dead,) = [f for f in found if f.code == "DATA_DEAD"]
    assert "is 0 in" in dead.message and dead.column == "elbow"


def test_names_of_columns_of_others_are_refused_with_the_option_that_names_them(hands, tmp_path):
    table = {f"actual_{k}": column for k, column in enumerate(waving(hands[1]).values())}
    with pytest.raises(ModelError, match="unknown column 'actual_0'.*--columns"):
        read_record(write_csv(tmp_path / "wave.csv", table), hands[0])
