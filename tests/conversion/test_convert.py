"""`mbcli convert`: its output is the same mechanism, losses are reported, and nothing else is written."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.writing.conversion import converted
from mbcli.parsers.writing.flatten import flattened
from repository import MODELS, ROOT

from mbcli.cli import run
from mbcli.conversion.conversion_proof import prove
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.model_of_scene import model_of_scene
from mbcli.multibody.plant import MultibodyPlant

SAMPLES = sorted(p for p in (ROOT / "sample_models").iterdir() if p.suffix in (".urdf", ".sdf", ".xml"))
SHARED = sorted(p for p in MODELS.glob("*/*") if p.suffix in (".urdf", ".sdf")) if MODELS.is_dir() else []
# elements that URDF and SDFormat cannot express; no poses of links in SDFormat express a loop that is open at zero
LOSSES_IN_URDF = {"all_joints.sdf": {"JOINT_SPRING_STIFFNESS"}, "four_bar_weld.sdf": {"CONSTRAINT"}}
LOSSES_IN_URDF["pr2_simplified.urdf"] = {"LINK_GRAVITY"}  # <gazebo> turns it off
LOSSES = {"urdf": LOSSES_IN_URDF, "sdf": {"four_bar_loop.sdf": {"JOINT"}}}
PACKAGES = PackageMap(missing_meshes="ignore")

INERTIA = "<inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia>"
LINK = f'<link name="{{0}}"><inertial><mass>1</mass>{INERTIA}</inertial>{{1}}</link>'
URDF_LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial></link>'


def load(text_or_path, file_type=None):
    """(flat model, finalized plant)."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant, packages=PACKAGES)
    if file_type is None:
        parser.AddModels(str(text_or_path))
    else:
        parser.AddModelsFromString(text_or_path, file_type)
    plant.Finalize()
    return model_of_scene(plant, flattened(parser.read[0])), plant


def convert_and_prove(model, plant, target, folder="."):
    conversion = converted(model, target, packages=PACKAGES, folder=str(folder))
    proof = prove(plant, conversion, PACKAGES)
    assert proof.faults() == []
    assert proof.deviations["body poses"] <= 1e-9
    return conversion


def motion_losses(conversion):
    return {loss.code for loss in conversion.losses if loss.kind == "motion"}


def sdf(content, name="m"):
    return f'<sdf version="1.11" xmlns:drake="http://drake.mit.edu"><model name="{name}">{content}</model></sdf>'


# --------------------------------------------------------------------------------------------- real files


@pytest.mark.parametrize("path", [*SAMPLES, *SHARED], ids=lambda path: path.name)
def test_there_and_back_again_keeps_the_plant(path):
    """Every file to SDFormat and then to URDF, and to URDF and then to SDFormat; each step is proved by itself."""
    for first, second in (("sdf", "urdf"), ("urdf", "sdf")):
        model, plant = load(path)
        once = convert_and_prove(model, plant, first, path.parent)
        again_model, again_plant = load(once.text.decode(), first)
        twice = convert_and_prove(again_model, again_plant, second, path.parent)
        for target, conversion in ((first, once), (second, twice)):
            assert motion_losses(conversion) <= LOSSES[target].get(path.name, set())
        assert motion_losses(once) == LOSSES[first].get(path.name, set())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_converted_file_converts_to_itself(path):
    model, plant = load(path)
    text = convert_and_prove(model, plant, "sdf").text
    assert convert_and_prove(*load(text.decode(), "sdf"), "sdf").text == text


# --------------------------------------------------------------------------------------- the proof can fail


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b'<mass value="1"/>', b'<mass value="1.00001"/>', "mass matrix"),
        (b'upper="2"', b'upper="2.001"', "position limits"),
        (b'damping="0.3"', b'damping="0.31"', "joint damping"),
        (b'effort="15"', b'effort="16"', "actuators"),
        (b'xyz="0.1 0 0"', b'xyz="0.1 0.000001 0"', "body poses"),
        (b'multiplier="0.5"', b'multiplier="-0.5"', "joints that follow others"),
        (b'size="1 2 3"', b'size="1 2 4"', "visuals of link 'b'"),
        (b'type="prismatic"', b'type="revolute"', "is prismatic in one"),
    ],
)
def test_the_proof_finds_one_damaged_number(old, new, fault):
    text = f"""<robot name="r">{URDF_LINK.format("a")}
      <link name="b"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"/></inertial>
      <visual name="v"><geometry><box size="1 2 3"/></geometry></visual></link>{URDF_LINK.format("c")}
      <joint name="j" type="revolute"><origin xyz=".1 0 0"/><parent link="a"/><child link="b"/>
      <limit lower="-1" upper="2" effort="15"/><dynamics damping=".3"/></joint>
      <joint name="k" type="prismatic"><parent link="b"/><child link="c"/><limit lower="-1" upper="3"/>
      <mimic joint="j" multiplier=".5"/></joint>
      <transmission name="t"><type>SimpleTransmission</type><joint name="j"/><actuator name="j"/></transmission>
      </robot>"""
    model, plant = load(text, "urdf")
    conversion = convert_and_prove(model, plant, "urdf")
    assert conversion.text.count(old) >= 1
    damaged = conversion.__class__(
        **{f: getattr(conversion, f) for f in conversion.__dataclass_fields__ if f != "text"},
        text=conversion.text.replace(old, new, 1),
    )
    assert any(fault in found for found in prove(plant, damaged, PACKAGES).faults())


@pytest.mark.parametrize(
    ("target", "number", "fault"),
    [("urdf", b"2.9e-08", "mass matrix"), ("sdf", b"0.0007", "gravity"), ("mjcf", b"3e-06", "joint damping")],
)
def test_the_proof_finds_a_damaged_number_of_a_finger(target, number, fault):
    """What is wrong counts by the size of the body and of the joint that it is in."""
    link = """<link name="{}"><inertial><origin xyz="0 0 0.011"/><mass value="0.0007"/>
      <inertia ixx="2.9e-08" iyy="2.7e-08" izz="6e-09" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    model, plant = load(
        f"""<robot name="r"><link name="world"/>{link.format("a")}{link.format("b")}
      <joint name="j" type="revolute"><parent link="world"/><child link="a"/><axis xyz="1 0 0"/>
      <limit lower="-1" upper="2" effort="1" velocity="1"/><dynamics damping="3e-6"/></joint>
      <joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 0.02"/><axis xyz="1 0 0"/>
      <limit lower="-1" upper="2" effort="1" velocity="1"/><dynamics damping="3e-6"/></joint></robot>""",
        "urdf",
    )
    conversion = convert_and_prove(model, plant, target)
    digits = number.split(b"e")
    damaged = b"e".join((digits[0] + (b"" if b"." in digits[0] else b".") + b"000001", *digits[1:]))
    assert conversion.text.count(number) >= 1, conversion.text.decode()
    conversion = replace(conversion, text=conversion.text.replace(number, damaged, 1))
    assert any(fault in found for found in prove(plant, conversion, PACKAGES).faults())


# ------------------------------------------------------------------------------------ what has to be turned


def test_nested_models_become_one_with_names_of_their_own():
    inner = f'<model name="arm"><pose>1 2 3 .1 .2 .3</pose>{LINK.format("hand", "")}{LINK.format("arm__x", "")}'
    inner += '<joint name="j" type="fixed"><parent>hand</parent><child>arm__x</child></joint></model>'
    text = sdf(inner + LINK.format("base", "") + LINK.format("arm__hand", ""))
    text = text.replace(
        "</model></sdf>",
        '<joint name="wrist" type="revolute"><parent>base</parent><child>arm::hand</child>'
        "<axis><xyz>0 1 0</xyz></axis></joint>"
        '<joint name="w" type="fixed"><parent>base</parent><child>arm__hand</child></joint></model></sdf>',
    )
    for target in ("sdf", "urdf"):
        conversion = convert_and_prove(*load(text, "sdf"), target)
        assert conversion.links == {
            "arm::hand": "arm__hand",
            "arm::arm__x": "arm__arm__x",
            "base": "base",
            "arm__hand": "arm__hand_link",
        }
        assert {"link 'arm::hand' is called 'arm__hand'", "joint 'arm::j' is called 'arm__j'"} <= {
            loss.message for loss in conversion.losses if loss.code == "NAME"
        }


def test_links_move_to_their_joints_in_urdf_where_they_must():
    joint = '<joint name="j" type="revolute"><pose>0 .2 0 0 .3 0</pose><parent>a</parent><child>b</child>'
    text = sdf(LINK.format("a", "") + LINK.format("b", "<pose>1 0 0 0 0 .4</pose>") + joint + "<axis/></joint>")
    conversion = convert_and_prove(*load(text, "sdf"), "urdf")
    assert list(conversion.moved) == ["b"]
    assert [loss.code for loss in conversion.losses if loss.kind == "changed"] == ["LINK_FRAME"]
    along = text.replace("0 .2 0 0 .3 0", "0 0 .2 0 .3 0").replace(
        "<axis/>", '<axis><xyz expressed_in="b">0 0 1</xyz></axis>'
    )
    assert convert_and_prove(*load(along, "sdf"), "urdf").moved == {}


def test_joints_against_the_tree_are_reversed_in_urdf():
    joints = '<joint name="hold" type="fixed"><parent>world</parent><child>a</child></joint>'
    joints += '<joint name="j" type="revolute"><pose>.1 .2 .3 .4 .5 .6</pose><parent>b</parent><child>a</child>'
    joints += "<axis/></joint>"
    text = sdf(LINK.format("a", "") + LINK.format("b", "<pose>1 0 0 0 0 .4</pose>") + joints)
    conversion = convert_and_prove(*load(text, "sdf"), "urdf")
    assert "JOINT_REVERSED" in {loss.code for loss in conversion.losses}


def test_links_and_joints_of_one_name_are_told_apart_in_sdformat():
    text = f'<robot name="r">{URDF_LINK.format("a")}{URDF_LINK.format("b")}'
    text += '<joint name="b" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    conversion = convert_and_prove(*load(text, "urdf"), "sdf")
    assert conversion.joints == {"b": "b_joint"}
    assert ("NAME", "joint 'b' is called 'b_joint'") in {(loss.code, loss.message) for loss in conversion.losses}


def test_open_loops_cannot_be_said_in_sdformat():
    loop = (
        '<loop_joint name="l" type="revolute"><link1 link="a" xyz="1 0 0"/><link2 link="c" xyz="0 0 {}"/></loop_joint>'
    )
    text = f'<robot name="r">{"".join(map(URDF_LINK.format, "abc"))}'
    for parent, child in ("ab", "bc"):
        text += f'<joint name="{child}_" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        text += '<origin xyz="1 0 0"/><axis xyz="0 1 0"/></joint>'
    conversion = convert_and_prove(*load(f"{text}{loop.format(1)}</robot>", "urdf"), "sdf")
    assert motion_losses(conversion) == {"JOINT"}
    closed = loop.replace("{}", "0").replace('xyz="0 0 0"', 'xyz="-1 0 0"')
    assert motion_losses(convert_and_prove(*load(f"{text}{closed}</robot>", "urdf"), "sdf")) == set()


def test_static_worlds_of_several_models_become_one_model():
    models = "".join(
        f'<model name="{name}"><static>{static}</static><pose>0 0 {z} 0 0 0</pose>{LINK.format("body", "")}</model>'
        for name, static, z in (("floor", "true", 0), ("one", "false", 1), ("two", "false", 2))
    )
    text = f'<sdf version="1.11"><world name="w">{models}</world></sdf>'
    for target in ("sdf", "urdf"):
        conversion = convert_and_prove(*load(text, "sdf"), target)
        assert list(conversion.links.values()) == ["floor__body", "one__body", "two__body"]


def test_everything_that_drake_adds_goes_there_and_back():
    extensions = """
      <frame name="f" attached_to="b"><pose>.1 .2 .3 .4 .5 .6</pose></frame>
      <drake:linear_bushing_rpy><drake:bushing_frameA>a</drake:bushing_frameA><drake:bushing_frameC>f</drake:bushing_frameC>
        <drake:bushing_torque_stiffness>1 2 3</drake:bushing_torque_stiffness>
        <drake:bushing_torque_damping>.1 .2 .3</drake:bushing_torque_damping>
        <drake:bushing_force_stiffness>4 5 6</drake:bushing_force_stiffness>
        <drake:bushing_force_damping>.4 .5 .6</drake:bushing_force_damping></drake:linear_bushing_rpy>
      <drake:ball_constraint><drake:ball_constraint_body_A>a</drake:ball_constraint_body_A>
        <drake:ball_constraint_p_AP>0 0 1</drake:ball_constraint_p_AP>
        <drake:ball_constraint_body_B>c</drake:ball_constraint_body_B>
        <drake:ball_constraint_p_BQ>0 2 0</drake:ball_constraint_p_BQ></drake:ball_constraint>
      <drake:tendon_constraint><drake:tendon_constraint_joint name="j" a=".5"/>
        <drake:tendon_constraint_offset>.1</drake:tendon_constraint_offset>
        <drake:tendon_constraint_lower_limit>-inf</drake:tendon_constraint_lower_limit>
        <drake:tendon_constraint_upper_limit>3</drake:tendon_constraint_upper_limit>
        <drake:tendon_constraint_stiffness>inf</drake:tendon_constraint_stiffness>
        <drake:tendon_constraint_damping>0</drake:tendon_constraint_damping></drake:tendon_constraint>
      <drake:collision_filter_group name="g"><drake:member>a</drake:member><drake:member>b</drake:member>
        <drake:ignored_collision_filter_group>g</drake:ignored_collision_filter_group></drake:collision_filter_group>
      <joint name="j" type="revolute"><pose>0 .1 0 0 0 0</pose><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>
        <limit><effort>3</effort></limit></axis><drake:rotor_inertia>.01</drake:rotor_inertia>
        <drake:gear_ratio>20</drake:gear_ratio><drake:controller_gains p="100" d="2"/></joint>
      <drake:joint name="p" type="planar"><drake:parent>f</drake:parent><drake:child>c</drake:child>
        <drake:damping>.1 .2 .3</drake:damping></drake:joint>"""
    box = '<collision name="box"><geometry><box><size>1 1 1</size></box></geometry><drake:proximity_properties>'
    box += "<drake:mu_static>.7</drake:mu_static><drake:mu_dynamic>.5</drake:mu_dynamic><drake:compliant_hydroelastic/>"
    box += "<drake:hydroelastic_modulus>1e6</drake:hydroelastic_modulus><drake:hydroelastic_margin>1e-4"
    box += "</drake:hydroelastic_margin></drake:proximity_properties></collision>"
    text = sdf(LINK.format("a", box) + LINK.format("b", "") + LINK.format("c", "<pose>0 0 2 0 0 0</pose>") + extensions)
    model, plant = load(text, "sdf")
    assert (plant.num_constraints(), plant.num_actuators()) == (2, 1)
    there = convert_and_prove(model, plant, "urdf")
    assert motion_losses(there) == set()
    assert {loss.code for loss in there.losses} == {"LINK_FRAME", "EXTENSION"}
    assert motion_losses(convert_and_prove(*load(there.text.decode(), "urdf"), "sdf")) == set()
    assert motion_losses(convert_and_prove(model, plant, "sdf")) == set()


def test_what_the_format_cannot_say_is_named_with_its_place():
    sliding = '<joint name="j" type="prismatic"><parent>a</parent><child>b</child><axis><dynamics><spring_stiffness>5'
    sliding += "</spring_stiffness></dynamics></axis></joint>"
    plane = '<collision name="ground"><geometry><plane/></geometry></collision><gravity>false</gravity>'
    text = sdf("\n" + LINK.format("a", plane) + "\n" + LINK.format("b", "") + "\n" + sliding)
    model, plant = load(text, "sdf")
    conversion = convert_and_prove(model, plant, "urdf")
    assert {(loss.code, loss.place.line) for loss in conversion.losses if loss.kind == "motion"} == {
        ("LINK_GRAVITY", 2),
        ("GEOMETRY", 2),
        ("JOINT_SPRING_STIFFNESS", 4),
    }
    assert motion_losses(convert_and_prove(model, plant, "sdf")) == set()


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("name", ["atlas/atlas_minimal_contact.urdf", "iiwa14/iiwa14_no_collision.sdf"])
@pytest.mark.parametrize("target", ["sdf", "urdf"])
def test_pydrake_reads_the_same_plant_from_a_converted_file(name, target):
    from pydrake import multibody as drake
    from pydrake.multibody.parsing import Parser as DrakeParser
    from pydrake.multibody.plant import MultibodyPlant as DrakePlant

    assert drake
    path = MODELS / name
    if not path.is_file():
        pytest.skip("the shared models are not there")
    text = convert_and_prove(*load(path), target, path.parent).text.decode()
    plants = DrakePlant(0.0), DrakePlant(0.0)
    DrakeParser(plants[0]).AddModels(str(path))
    DrakeParser(plants[1]).AddModelsFromString(text, target)
    results = []
    for plant in plants:
        plant.Finalize()
        context = plant.CreateDefaultContext()
        joints = np.linspace(0.1, 1.0, plant.num_positions() - 7 * len(plant.GetFloatingBaseBodies()))
        q = plant.GetPositions(context)
        q[len(q) - len(joints) :] = joints
        plant.SetPositions(context, q)
        plant.SetVelocities(context, np.linspace(-1.0, 1.0, plant.num_velocities()))
        results.append((plant.GetPositionNames(), plant.CalcMassMatrix(context), plant.CalcBiasTerm(context)))
    assert results[0][0] == results[1][0]
    for ours, theirs in zip(*(result[1:] for result in results), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-11)


# ------------------------------------------------------------------------------------------- the command


def invoke(capfd, *arguments):
    code = run(["convert", *map(str, arguments)])
    out, err = capfd.readouterr()
    return code, out, err


ARM = ROOT / "sample_models" / "arm7.urdf"


def test_command_writes_a_file_and_a_document(tmp_path, capfd):
    out = tmp_path / "arm.sdf"
    code, text, _ = invoke(capfd, ARM, "-o", out, "--json")
    document = json.loads(text)
    assert code == 0
    assert document["schema"] == "mbcli/convert"
    assert document["format"] == "sdf"
    assert max(document["proof"]["deviations"].values()) <= document["proof"]["tolerance"] == 1e-9
    assert all(loss["kind"] != "motion" for loss in document["losses"])
    assert load(out)[1].num_positions() == load(ARM)[1].num_positions()
    assert os.listdir(tmp_path) == ["arm.sdf"]


def test_command_refuses_to_overwrite(tmp_path, capfd):
    out = tmp_path / "arm.sdf"
    out.write_text("mine")
    code, _, err = invoke(capfd, ARM, "-o", out)
    assert (code, out.read_text()) == (6, "mine")
    assert "--force" in err
    assert invoke(capfd, ARM, "-o", out, "--force")[0] == 0
    assert out.read_text().startswith("<?xml")


def test_command_writes_nothing_where_the_motion_would_be_lost(tmp_path, capfd):
    out = tmp_path / "joints.urdf"
    model = ROOT / "sample_models" / "all_joints.sdf"
    code, _, err = invoke(capfd, model, "-o", out)
    assert (code, out.exists()) == (3, False)
    assert "all_joints.sdf:225:7: error: URDF cannot express the spring stiffness of revolute joint 'flap_hinge'" in err
    code, _, err = invoke(capfd, model, "-o", out, "--lossy")
    assert (code, out.exists()) == (0, True)
    assert "motion: the spring stiffness" in err


def test_command_writes_nothing_where_the_proof_fails(tmp_path, capfd, monkeypatch):
    import mbcli.parsers.writing.conversion as conversion

    monkeypatch.setattr(conversion, "finish", lambda root: real(root).replace(b"<mass>", b"<mass>1"))
    from mbcli.parsers.writing.write_xml import finish as real

    out = tmp_path / "arm.sdf"
    code, _, err = invoke(capfd, ARM, "-o", out)
    assert (code, os.listdir(tmp_path)) == (5, [])
    assert "mass matrix deviates by" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([ARM], 2, "--to names the format"),
        ([ARM, "-o", "arm.txt"], 2, "--to names the format"),
        ([ARM, ARM, "--to", "sdf"], 2, "need -o with a folder"),
        ([ARM, "--to", "sdf", "--json"], 2, "--json needs -o"),
        ([ROOT / "sample_models" / "herd.dmd.yaml", "--to", "sdf"], 3, "has 3 models"),
        (["missing.urdf", "--to", "sdf"], 4, "missing.urdf"),
        ([ARM, "-o", "nowhere/arm.sdf"], 6, "cannot be written"),
    ],
)
def test_command_says_what_is_wrong(arguments, code, message, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, _, err = invoke(capfd, *arguments)
    assert found == code
    assert message in err


def test_command_converts_a_scene_of_one_model_with_its_welds_and_frames(tmp_path, capfd):
    scene = tmp_path / "scene.dmd.yaml"
    (tmp_path / "arm.urdf").write_bytes((ROOT / "sample_models" / "quadruped.urdf").read_bytes())
    base = load(ROOT / "sample_models" / "quadruped.urdf")[0].links[0].name
    (tmp_path / "package.xml").write_text("<package><name>here</name></package>")
    scene.write_text(f"""directives:
- add_model: {{name: arm, file: "package://here/arm.urdf"}}
- add_frame: {{name: mount, X_PF: {{base_frame: world, translation: [1, 2, 3]}}}}
- add_weld: {{parent: mount, child: "arm::{base}"}}
""")
    out = tmp_path / "scene.sdf"
    code, _, err = invoke(capfd, scene, "-o", out)
    assert code == 0, err
    plant = load(out)[1]
    assert plant.num_positions() == 12
    X = plant.GetBodyByName(base).EvalPoseInWorld(plant.CreateDefaultContext())
    assert X.translation().tolist() == [1.0, 2.0, 3.0]


def test_another_order_of_coordinates_is_told(tmp_path, capfd):
    """<drake:joint> comes after every <joint> in SDFormat, where URDF keeps the order of the file."""
    joints = '<joint name="p" type="planar"><parent link="a"/><child link="b"/></joint>'
    joints += '<joint name="r" type="continuous"><parent link="a"/><child link="c"/></joint>'
    model = tmp_path / "m.urdf"
    model.write_text(f'<robot name="r">{"".join(map(URDF_LINK.format, "abc"))}{joints}</robot>')
    for target, told in (("sdf", True), ("urdf", False)):
        code, _, err = invoke(capfd, model, "-o", tmp_path / f"out.{target}")
        assert code == 0, err
        assert ("[ORDER]" in err) == told


def test_meshes_are_named_from_the_new_place(tmp_path, capfd):
    (tmp_path / "out").mkdir()
    (tmp_path / "package.xml").write_text("<package><name>p</name></package>")
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    visual = '<visual name="v"><geometry><mesh filename="{}"/></geometry></visual></link>'
    model = tmp_path / "m.urdf"
    for uri, kept in (("a.obj", "../a.obj"), ("package://p/a.obj", "package://p/a.obj")):
        link = URDF_LINK.format("a").replace("</link>", visual.format(uri))
        model.write_text(f'<robot name="r">{link}</robot>')
        out = tmp_path / "out" / "m.sdf"
        code, _, err = invoke(capfd, model, "-o", out, "--force")
        assert code == 0, err
        assert f"<uri>{kept}</uri>" in out.read_text()
        assert ("is named as ../a.obj" in err) == (uri == "a.obj")


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    command = f"{sys.executable} -m mbcli convert {ARM} --to sdf 2>{tmp_path}/err | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() in ("0", "141")
    assert "Traceback" not in (tmp_path / "err").read_text()


def test_a_proof_of_few_states_compiles_nothing():
    check = "import sys; from mbcli.cli import run; code = run(sys.argv[1:]); sys.exit(code or 'numba' in sys.modules)"
    command = [sys.executable, "-c", check, "-q", "convert", str(ARM), "--to", "sdf"]
    environment = {name: value for name, value in os.environ.items() if name != "MBCLI_JIT"}
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr


def test_command_reads_stdin():
    runner = CliRunner()
    from mbcli.cli import mbcli

    result = runner.invoke(mbcli, ["convert", "-", "--input-format", "urdf", "--to", "sdf"], input=ARM.read_bytes())
    assert result.exit_code == 0
    assert '<model name="arm7">' in result.stdout


# ----------------------------------------------------------------------------------------------- bundles


@pytest.fixture
def robot_with_meshes(tmp_path):
    """A robot whose meshes lie in two folders and name a material with a texture, a buffer, and a file outside."""
    folder = tmp_path / "robot"
    (folder / "meshes" / "visual" / "textures").mkdir(parents=True)
    (folder / "meshes" / "collision").mkdir()
    triangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (folder / "meshes" / "visual" / "a.obj").write_text(f"mtllib a.mtl\n{triangle}")
    (folder / "meshes" / "visual" / "a.mtl").write_text(
        "newmtl m\nmap_Kd -s 1 1 1 textures/a.png\nmap_Bump ../../../b.png\n"
    )
    (folder / "meshes" / "visual" / "textures" / "a.png").write_bytes(b"texture")
    (tmp_path / "b.png").write_bytes(b"secret")
    (folder / "meshes" / "collision" / "a.obj").write_text(triangle)
    buffer = {"uri": "c%20d.bin", "byteLength": 1}
    document = {"asset": {"version": "2.0"}, "buffers": [buffer], "images": [{"uri": "data:,"}]}
    (folder / "meshes" / "collision" / "c.gltf").write_text(json.dumps(document))
    (folder / "meshes" / "collision" / "c d.bin").write_bytes(b"\0")
    shapes = "".join(
        f"<{tag}><geometry><mesh filename='meshes/{name}'/></geometry></{tag}>"
        for tag, name in (("visual", "visual/a.obj"), ("collision", "collision/a.obj"), ("visual", "collision/c.gltf"))
    )
    (folder / "r.urdf").write_text(f'<robot name="r">{URDF_LINK.format("a").replace("</link>", shapes)}</link></robot>')
    return folder / "r.urdf"


BUNDLE = [
    "meshes/collision/a.obj",
    "meshes/collision/c d.bin",
    "meshes/collision/c.gltf",
    "meshes/visual/a.mtl",
    "meshes/visual/a.obj",
    "meshes/visual/textures/a.png",
]


@pytest.mark.parametrize("suffix", ["sdf", "urdf"])
def test_a_bundle_has_the_meshes_and_what_they_name(robot_with_meshes, tmp_path, capfd, suffix):
    out = tmp_path / "elsewhere" / f"r.{suffix}"
    out.parent.mkdir()
    code, _, err = invoke(capfd, robot_with_meshes, "-o", out, "--bundle")
    assert code == 0, err
    copied = [str(path.relative_to(out.parent)) for path in out.parent.rglob("*") if path.is_file()]
    assert sorted(copied) == sorted([*BUNDLE, out.name])
    for name in BUNDLE:
        assert (out.parent / name).read_bytes() == (robot_with_meshes.parent / name).read_bytes()
    assert "the file ../../../b.png, which a mesh names: it is not copied" in err
    diagnostics = Diagnostics()
    (model,) = load_models(str(out), diagnostics=diagnostics)
    assert [finding.code for finding in diagnostics.findings if finding.code.startswith("URI")] == []
    assert all(geometry.shape.path for link in model.links for geometry in (*link.visuals, *link.collisions))


def test_a_bundle_replaces_other_files_only_by_force(robot_with_meshes, tmp_path, capfd):
    out = tmp_path / "elsewhere" / "r.sdf"
    (out.parent / "meshes" / "visual").mkdir(parents=True)
    (out.parent / "meshes" / "visual" / "a.mtl").write_text("mine")
    code, _, err = invoke(capfd, robot_with_meshes, "-o", out, "--bundle")
    assert (code, "a.mtl: error: exists already; --force replaces it" in err) == (6, True)
    assert not out.exists()
    assert invoke(capfd, robot_with_meshes, "-o", out, "--bundle", "--force")[0] == 0
    assert (out.parent / "meshes" / "visual" / "a.mtl").read_text() != "mine"
    assert invoke(capfd, robot_with_meshes, "-o", out, "--bundle", "--force")[0] == 0  # onto itself


def test_a_bundle_beside_the_meshes_is_the_meshes(robot_with_meshes, capfd):
    out = robot_with_meshes.with_suffix(".sdf")
    before = {path: path.read_bytes() for path in out.parent.rglob("*") if path.is_file()}
    assert invoke(capfd, robot_with_meshes, "-o", out, "--bundle")[0] == 0
    assert {path: path.read_bytes() for path in out.parent.rglob("*") if path.is_file() and path != out} == before


def test_a_bundle_needs_a_file(robot_with_meshes, capfd):
    assert invoke(capfd, robot_with_meshes, "--to", "sdf", "--bundle")[0] == 2


def test_meshes_that_must_not_be_read_from_the_new_place_are_named_all_the_same(robot_with_meshes, tmp_path, capfd):
    out = tmp_path / "elsewhere" / "r.sdf"
    out.parent.mkdir()
    code, _, err = invoke(capfd, robot_with_meshes, "-o", out)
    assert code == 0
    assert "<uri>../robot/meshes/visual/a.obj</uri>" in out.read_text()
    assert "(--allow-outside); --bundle copies it [MESH]" in err
    diagnostics = Diagnostics()
    (model,) = load_models(str(out), packages=PackageMap(allow_outside=True), diagnostics=diagnostics)
    assert all(geometry.shape.path for link in model.links for geometry in link.visuals)


def test_the_first_change_of_a_code_is_printed_and_the_others_are_counted(tmp_path, capfd):
    links = "".join(
        URDF_LINK.format(f"l{k}").replace(
            "</link>", f"<visual><geometry><mesh filename='{k}.obj'/></geometry></visual></link>"
        )
        for k in range(13)
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for k in range(13):
        (tmp_path / "in" / f"{k}.obj").write_text("")
    (tmp_path / "in" / "r.urdf").write_text(f'<robot name="r">{links}</robot>')
    _, _, err = invoke(capfd, tmp_path / "in" / "r.urdf", "-o", tmp_path / "out" / "r.sdf")
    assert err.count("is named as") == 1
    assert "r.urdf: changed: and 12 more [MESH]" in err


@pytest.mark.parametrize("suffix", ["urdf", "sdf", "xml"])
def test_a_mesh_whose_vertices_stand_in_the_model_is_a_file_beside_the_new_one(suffix, tmp_path, capfd):
    (tmp_path / "a.xml").write_text(
        '<mujoco><asset><mesh name="t" vertex="0 0 0  .2 0 0  0 .3 0  0 0 .4"/></asset><worldbody>'
        '<body name="b"><freejoint/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>'
    )
    new = tmp_path / "new" / f"b.{suffix}"
    new.parent.mkdir()
    assert run(["convert", str(tmp_path / "a.xml"), "-o", str(new)]) == 0, capfd.readouterr()
    (mesh,) = (new.parent / "meshes").iterdir()
    assert f"meshes/{mesh.name}" in new.read_text()
