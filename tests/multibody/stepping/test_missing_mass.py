"""Models without mass where a joint moves: everything that needs none works, the rest is refused in one line."""

import numpy as np
import pytest
from command_line import cli, succeed

LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
FILE = """<robot name="r">
  <link name="base">{base}</link>
  <link name="tip">{tip}</link>
  <joint name="hinge" type="{kind}"><parent link="base"/><child link="tip"/><origin xyz="0 0 1"/>{more}</joint>
</robot>
"""


@pytest.fixture
def model(tmp_path):
    def write(*, base="", tip="", kind="continuous", more=""):
        path = tmp_path / "r.urdf"
        path.write_text(FILE.format(base=base, tip=tip, kind=kind, more=more))
        return path

    return write


@pytest.mark.parametrize("command", ["inspect", "kinematics", "mass-matrix", "inverse-dynamics", "energy"])
def test_a_file_of_kinematics_is_good_for_all_that_needs_no_mass(model, command):
    result = succeed(command, model())
    assert result.err == ""


def test_the_jacobian_of_a_file_of_kinematics(model):
    J = succeed("jacobian", model(), "--weld-base", "--frame", "tip", "--json").json()["J"]
    assert np.array(J).tolist() == [[1], [0], [0], [0], [0], [0]]


def test_its_check_is_one_note(model):
    result = cli("check", model(), "--json")
    assert result.code == 0
    assert [(f["severity"], f["code"]) for f in result.json()["findings"]] == [("note", "MODEL_WITHOUT_MASS")]


@pytest.mark.parametrize("options", [(), ("--dt", "0")])
def test_a_run_is_refused_in_one_line_with_the_link(model, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = model(base=LINK)
    result = cli("simulate", path, "-t", "0.01", *options)
    assert result.code == 5
    assert result.err.splitlines()[-1] == (
        f"{path}:4:3: error: joint 'hinge' moves 'tip', whose subtree has no mass: its motion cannot "
        "be computed; give it an inertial, or fix it"
    )
    assert not (tmp_path / "r.h5").exists()


def test_a_base_that_nothing_holds_is_named(model):
    result = cli("simulate", model(), "-t", "0.01", "--no-log")
    assert result.code == 5
    assert ":2:3: error: the floating subtree of 'base' has no mass (and 1 more joint)" in result.err


def test_forward_dynamics_names_the_link(model):
    path = model(base=LINK)
    result = cli("forward-dynamics", path)
    assert (result.code, f"{path}:4:3: error: joint 'hinge' moves 'tip'" in result.err) == (5, True)


def test_what_does_not_move_needs_no_mass(model):
    assert "simulated" in succeed("simulate", model(kind="fixed"), "--weld-base", "-t", "0.01", "--no-log").out
    assert "simulated" in succeed("simulate", model(kind="fixed", base=LINK), "-t", "0.01", "--no-log").out


def test_damping_stands_in_for_mass_in_discrete_steps(model):
    path = model(base=LINK, more='<dynamics damping="1"/>')
    assert "simulated" in succeed("simulate", path, "-t", "0.01", "--no-log").out
    explicit = ("--set", "plant_config.discrete_contact_approximation=tamsi")  # takes damping at the start of steps
    for options in (("--dt", "0"), explicit):
        result = cli("simulate", path, "-t", "0.01", *options, "--no-log")
        assert (result.code, "joint 'hinge' moves 'tip'" in result.err) == (5, True)


FLOATING_TRUNK = """<robot name="r"><link name="base"/>
  <joint name="float" type="floating"><parent link="base"/><child link="trunk"/></joint>
  <link name="trunk"><inertial><mass value="5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
PLANE = '<robot name="r"><link name="plane"/></robot>'
PLANAR_BASE = """<robot name="r"><link name="base_footprint"/>
  <joint name="drive" type="planar"><parent link="base_footprint"/><child link="base"/><axis xyz="0 0 1"/></joint>
  <link name="base"><inertial><mass value="20"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
ROD = """<robot name="r"><link name="rod"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
FINGERS = "".join(
    f"""<link name="finger{k}">{INERTIAL}</link><joint name="slide{k}" type="prismatic"><parent link="base"/>
    <child link="finger{k}"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>{mimic}</joint>"""
    for k, mimic in enumerate(("", '<mimic joint="slide0" multiplier="-1"/>'))
)
HAND = f'<robot name="r"><link name="base">{INERTIAL}</link>{FINGERS}</robot>'


def written(tmp_path, text):
    path = tmp_path / "r.urdf"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("text", "count"), [(FLOATING_TRUNK, 6), (PLANE, 0)], ids=["floating trunk", "plane"])
def test_a_base_without_mass_and_joints_is_fixed_to_the_world_with_a_note(text, count, tmp_path):
    path = written(tmp_path, text)
    result = cli("simulate", path, "-t", "0.1", "--no-log", "--json")
    assert result.code == 0
    assert len(result.json()["v"]) == count
    codes = [(f["severity"], f["code"]) for f in cli("check", path, "--json").json()["findings"]]
    assert codes == [("note", "MASSLESS_LINK_FIXED")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PLANAR_BASE, "1:17: error: link 'base_footprint' has no mass, so that 3 of 9 velocities have no inertia"),
        (ROD, "1:17: error: link 'rod' has no inertia about some axis, so that 1 of 6 velocities have no inertia"),
    ],
    ids=["planar base", "rod"],
)
@pytest.mark.parametrize("options", [(), ("--dt", "0")], ids=["discrete", "continuous"])
def test_motion_that_masses_leave_open_is_named_before_the_run(text, expected, options, tmp_path):
    result = cli("simulate", written(tmp_path, text), "-t", "0.01", "--no-log", *options)
    assert result.code == 5
    assert expected in result.err
    assert "the motion is not determined" in result.err


def test_damping_stands_in_for_the_mass_of_a_base_but_not_under_tamsi(tmp_path):
    text = f"""<robot name="r"><link name="base"/><link name="arm">{INERTIAL}</link>
      <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
      <dynamics damping="0.5"/></joint></robot>"""
    run = ("simulate", written(tmp_path, text), "-t", "0.01", "--no-log")
    assert cli(*run).code == 0
    result = cli(*run, "--set", "plant_config.discrete_contact_approximation=tamsi")
    assert result.code == 5
    assert "link 'base' has no mass, so that 1 of 7 velocities have no inertia" in result.err


@pytest.mark.parametrize("contact", ["--ground", "--no-contact"])
def test_motion_that_masses_and_constraints_leave_open_is_named_before_the_run(contact, tmp_path):
    text = PLANAR_BASE.replace("</robot>", FINGERS + "</robot>")
    result = cli("simulate", written(tmp_path, text), "-t", "0.01", "--no-log", contact)
    assert result.code == 5
    assert "link 'base_footprint' has no mass, so that 3 of 11 velocities have no inertia" in result.err


def test_links_without_mass_under_a_constraint_are_named(tmp_path):
    one = HAND[::-1].replace(INERTIAL[::-1], "", 1)[::-1]  # the finger that follows
    result = cli("simulate", written(tmp_path, one), "-t", "0.01", "--no-log")
    assert result.code == 5
    assert "joint 'slide1' moves 'finger1', whose subtree has no mass: " in result.err
    none = one[::-1].replace(INERTIAL[::-1], "", 1)[::-1]
    result = cli("simulate", written(tmp_path, none), "-t", "0.01", "--no-log")
    assert result.code == 5
    assert "link 'finger0' has no mass (and 1 more)" in result.err and "'r_slide0_v' against 'r_slide1_v'" in result.err
