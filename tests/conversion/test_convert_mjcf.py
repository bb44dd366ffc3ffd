"""Conversion to MJCF: the text is the same mechanism, for our reader and for MuJoCo, and a damaged one is not."""

import subprocess
import sys
from dataclasses import replace

import pytest
from command_line import cli
from mbcli.parsers.writing.additions import Additions
from mbcli.parsers.writing.conversion import converted
from repository import ROOT
from test_convert import LINK, PACKAGES, SAMPLES, SHARED, URDF_LINK, convert_and_prove, load, motion_losses, sdf

from mbcli.common import engine_process
from mbcli.conversion import mujoco_proof
from mbcli.conversion.conversion_proof import prove, prove_by_engine
from mbcli.models import load_model

# a loop's joint cannot have an actuator; planes do not move in MuJoCo
LOSSES = {"four_bar_loop.sdf": {"ACTUATOR"}}


@pytest.mark.parametrize("path", [*SAMPLES, *SHARED], ids=lambda path: path.name)
def test_every_model_is_the_same_mechanism_in_mjcf_and_from_there(path):
    model, plant = load(path)
    once = convert_and_prove(model, plant, "mjcf", path.parent)
    assert motion_losses(once) - {"GEOMETRY"} == LOSSES.get(path.name, set())
    again = convert_and_prove(*load(once.text.decode(), "xml"), "mjcf", path.parent)
    assert not motion_losses(again)


WITHOUT_CHAINS = [path for path in SAMPLES if path.name != "all_joints.sdf"]  # of joints on one body


@pytest.mark.parametrize("path", WITHOUT_CHAINS, ids=lambda path: path.name)
def test_mjcf_that_convert_wrote_is_written_as_it_is(path):
    model, plant = load(path)
    text = convert_and_prove(model, plant, "mjcf").text
    assert convert_and_prove(*load(text.decode(), "xml"), "mjcf").text.split(b"\n")[3:] == text.split(b"\n")[3:]


MECHANISM = f"""<robot name="r">{URDF_LINK.format("a")}
  <link name="b"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>
  <visual name="v"><geometry><box size="1 2 3"/></geometry></visual></link>{URDF_LINK.format("c")}
  <joint name="j" type="revolute"><origin xyz=".1 0 0"/><parent link="a"/><child link="b"/>
  <limit lower="-1" upper="2" effort="15"/><dynamics damping=".3" friction=".2"/></joint>
  <joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit lower="-1" upper="3"/>
  <mimic joint="j" multiplier=".5"/></joint>
  <transmission name="t"><type>SimpleTransmission</type><joint name="j"/><actuator name="j"/></transmission>
  </robot>"""
DAMAGE = [
    (b'mass="1"', b'mass="1.00001"', "mass matrix"),
    (b'range="-1 2"', b'range="-1 2.001"', "position limits"),
    (b'damping="0.3"', b'damping="0.31"', "joint damping"),
    (b'frictionloss="0.2"', b'frictionloss="0.21"', "joint friction"),
    (b'ctrlrange="-15 15"', b'ctrlrange="-16 16"', "actuators"),
    (b'pos="0.1 0 0"', b'pos="0.1 0.000001 0"', "body poses"),
    (b'polycoef="0 0.5', b'polycoef="0 -0.5', "joints that follow others"),
    (b'size="0.5 1 1.5"', b'size="0.5 1 2"', "visuals of link 'b'"),
    (b'type="slide" ', b"", "is prismatic in one"),
]


def damaged(conversion, old, new):
    assert conversion.text.count(old) >= 1
    return replace(conversion, text=conversion.text.replace(old, new, 1))


@pytest.mark.parametrize(("old", "new", "fault"), DAMAGE, ids=[fault for *_, fault in DAMAGE])
def test_the_proof_finds_one_damaged_number(old, new, fault):
    model, plant = load(MECHANISM, "urdf")
    conversion = convert_and_prove(model, plant, "mjcf")
    assert any(fault in found for found in prove(plant, damaged(conversion, old, new), PACKAGES).faults())


JOINTS = """
  <drake:joint name="flat" type="planar"><drake:parent>a</drake:parent><drake:child>b</drake:child>
    <drake:damping>.1 .2 .3</drake:damping></drake:joint>
  <joint name="cross" type="universal"><pose>.1 .2 .3 .4 .5 .6</pose><parent>b</parent><child>c</child>
    <axis><xyz>1 0 0</xyz><dynamics><damping>.1</damping></dynamics></axis>
    <axis2><xyz>0 1 0</xyz><dynamics><damping>.1</damping></dynamics></axis2></joint>
  <joint name="thread" type="screw"><pose>.3 .2 .1 .1 .2 .3</pose><parent>c</parent><child>d</child>
    <screw_thread_pitch>.3</screw_thread_pitch><axis><xyz>0 1 0</xyz>
    <dynamics><damping>.2</damping></dynamics></axis></joint>
  <joint name="ball" type="ball"><pose>0 0 .5 .1 .2 .3</pose><parent>d</parent><child>e</child></joint>"""


def test_joints_of_several_axes_have_the_masses_and_forces_that_they_had():
    links = (LINK.format(name, f"<pose>0 0 {k} .1 0 {k}</pose>") for k, name in enumerate("abcde"))
    text = sdf("".join(links) + JOINTS)
    conversion = convert_and_prove(*load(text, "sdf"), "mjcf")
    assert motion_losses(conversion) == set()
    assert {name: len(parts) for name, parts in conversion.parts.items()} == {
        "flat": 3,
        "cross": 2,
        "thread": 2,
        "ball": 1,
    }
    wrong = damaged(conversion, b'type="slide" pos', b"pos") if b'type="slide" pos' in conversion.text else None
    assert wrong is None or prove(load(text, "sdf")[1], wrong, PACKAGES).faults()


def four_bar(offset=0.0):
    """Two cranks and a coupler, whose last hinge closes the loop."""
    text = f'<robot name="r">{"".join(map(URDF_LINK.format, "abcd"))}'
    for parent, child, place in (("a", "b", "0 0 0"), ("b", "c", "0 0 1"), ("a", "d", "1 0 0")):
        text += f'<joint name="{child}_" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        text += f'<origin xyz="{place}"/><axis xyz="0 1 0"/></joint>'
    ends = f'<link1 link="c" xyz="1 0 {offset}"/><link2 link="d" xyz="0 0 1"/><axis xyz="0 1 0"/>'
    return f'{text}<loop_joint name="close" type="continuous">{ends}</loop_joint></robot>'


@pytest.mark.parametrize("offset", [0.0, 0.25], ids=["closed at the start", "open at the start"])
def test_a_loop_of_hinges_leaves_the_motions_that_it_left(offset):
    model, plant = load(four_bar(offset), "urdf")
    conversion = converted(model, "mjcf", packages=PACKAGES, folder=".")
    proof = prove(plant, conversion, PACKAGES)
    assert proof.faults() == [] and proof.deviations["velocities in loops"] < 1e-9
    assert ("site1=" in conversion.text.decode()) == bool(offset)
    axis = b'anchor="1 0.05 0"' if not offset else b'pos="1 0.05 0.25"'
    elsewhere = damaged(conversion, axis, axis.replace(b"1 0.05", b"1.1 0.05"))
    assert prove(plant, elsewhere, PACKAGES).faults()


def test_a_floor_and_a_floating_base_are_of_the_model_that_is_proved():
    model, _ = load(ROOT / "sample_models/arm7.urdf")
    changed = Additions(floor=True, float_base=True).applied(model)
    conversion = converted(changed, "mjcf", packages=PACKAGES, folder=".")
    assert prove(None, conversion, PACKAGES).faults() == []
    text = conversion.text.decode()
    assert text.count("<freejoint") == 1 and '<geom name="floor" type="plane"' in text and "<light" in text


# ------------------------------------------------------------------------------------------- MuJoCo


def by_mujoco(conversion, plant):
    proof = prove(plant, conversion, PACKAGES)
    prove_by_engine(conversion, proof)
    return proof


def test_without_mujoco_our_reader_alone_proves_it(monkeypatch):
    monkeypatch.setattr(mujoco_proof, "find_spec", lambda name: None)
    model, plant = load(MECHANISM, "urdf")
    proof = by_mujoco(converted(model, "mjcf", packages=PACKAGES, folder="."), plant)
    assert proof.engines == ["mbcli"] and proof.faults() == []


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("path", [*SAMPLES, *SHARED], ids=lambda path: path.name)
def test_mujoco_has_the_same_numbers(path):
    model, plant = load(path)
    proof = by_mujoco(converted(model, "mjcf", packages=PACKAGES, folder=str(path.parent)), plant)
    assert proof.faults() == [] and proof.engines[1].startswith("mujoco ")
    names = ("masses", "inertias", "armature", "mass matrix", "bias", "gravity", "applied forces", "body poses")
    assert all(proof.deviations[f"mujoco: {name}"] < 1e-9 for name in names)


@pytest.mark.peers("mujoco")
def test_mujoco_has_the_same_numbers_of_joints_of_several_axes():
    links = (LINK.format(name, f"<pose>0 0 {k} .1 0 {k}</pose>") for k, name in enumerate("abcde"))
    model, plant = load(sdf("".join(links) + JOINTS), "sdf")
    assert by_mujoco(converted(model, "mjcf", packages=PACKAGES, folder="."), plant).faults() == []


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'mass="1"', b'mass="1.00001"', "mujoco: masses"),
        (b'range="-1 2"', b'range="-1 2.001"', "mujoco: limits"),
        (b'damping="0.3"', b'damping="0.31"', "mujoco: applied forces"),
        (b'frictionloss="0.2"', b'frictionloss="0.21"', "mujoco: dry friction"),
        (b'ctrlrange="-15 15"', b'ctrlrange="-16 16"', "mujoco: effort limits"),
        (b'pos="0.1 0 0"', b'pos="0.1 0.000001 0"', "mujoco: body poses"),
        (b'mass="1"', b'mass="-1"', "MuJoCo refuses the model"),
    ],
)
def test_what_mujoco_would_make_of_a_damaged_text_is_found(old, new, fault):
    model, plant = load(MECHANISM, "urdf")
    conversion = converted(model, "mjcf", packages=PACKAGES, folder=".")
    proof = prove(plant, conversion, PACKAGES)
    prove_by_engine(damaged(conversion, old, new), proof)
    assert any(fault in found for found in proof.faults())


@pytest.mark.parametrize("is_loaded", [True, False])
def test_an_engine_that_crashes_over_the_file_is_a_difference_and_not_the_end(monkeypatch, is_loaded):
    run = subprocess.run
    before = f"print('{engine_process.LOADED}', flush=True); " if is_loaded else ""

    def crash(*arguments, **options):
        return run([sys.executable, "-c", f"{before}import os; os.abort()"], capture_output=True, text=True)

    monkeypatch.setattr(mujoco_proof, "find_spec", lambda name: object())
    monkeypatch.setattr(engine_process.child_processes, "run", crash)
    model, plant = load(MECHANISM, "urdf")
    conversion = converted(model, "mjcf", packages=PACKAGES, folder=".")
    proof = prove(plant, conversion, PACKAGES)
    prove_by_engine(conversion, proof)
    assert proof.faults() == (["MuJoCo crashed: SIGABRT"] if is_loaded else [])
    assert proof.unproved == ([] if is_loaded else ["MuJoCo did not prove it: it crashed: SIGABRT"])


def test_collisions_that_are_seen_too_may_come_after_others(tmp_path):
    """MJCF has them first, as one geom each; they are where they were."""
    box = "<geometry><box><size>0.1 0.2 0.3</size></box></geometry>"
    poses = {"hidden": "1 0 0 0 0 0", "seen": "0 1 0 0 0 0"}
    shapes = "".join(f'<collision name="{name}"><pose>{pose}</pose>{box}</collision>' for name, pose in poses.items())
    shapes += f'<visual name="seen"><pose>{poses["seen"]}</pose>{box}</visual>'
    path = tmp_path / "m.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m"><link name="l">{shapes}</link></model></sdf>')
    assert cli("convert", path, "-o", tmp_path / "m.xml").code == 0


def test_limits_that_are_one_number_hold_in_mujoco(tmp_path):
    """MuJoCo takes a range of 0 0, as of any number twice, for no limits."""
    limits = '<limit lower="0" upper="0" effort="1" velocity="1"/>'
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    joint = f'<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{limits}</joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{link.format("a")}{link.format("b")}{joint}</robot>')
    result = cli("convert", tmp_path / "r.urdf", "-o", tmp_path / "r.xml")  # proved by MuJoCo too, if it is there
    assert result.code == 0, result.err
    assert "the limits of revolute joint 'j' are one number, for MuJoCo none: 5e-10 around it" in result.err
    (joint,) = (j for j in load_model(str(tmp_path / "r.xml")).plant.elements.joints if j.name() == "j")
    assert (joint.position_lower_limits()[0], joint.position_upper_limits()[0]) == (-5e-10, 5e-10)


def test_masses_on_an_axis_are_proved_by_what_rounding_allows(tmp_path):
    """About the vertical axis of its base the plate has next to no inertia, and M carries the rounding of shifts."""
    plate = '<link name="plate"><inertial><mass value="1"/></inertial></link>'
    joint = '<joint name="j" type="fixed"><parent link="base"/><child link="plate"/><origin xyz="0 0 0.006"/></joint>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="base"/>{plate}{joint}</robot>')
    result = cli("convert", tmp_path / "r.urdf", "-o", tmp_path / "r.xml")
    assert result.code == 0, result.err
