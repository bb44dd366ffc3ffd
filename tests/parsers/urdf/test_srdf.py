"""SRDF files: pairs of links that do not collide, named postures, and states by their names."""

import json

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.spec import PostureSpec, pose
from mbcli.parsers.srdf.read_srdf import read_srdf

from mbcli.errors import ArgumentError, ResourceError
from mbcli.log.reader import Log
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.models.postures import Posture, set_postures
from mbcli.simulation import simulate

MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
BALL = '<collision><geometry><sphere radius="0.01"/></geometry></collision>'


def joint(name, parent, child, kind="revolute"):
    limits = '<limit lower="-2" upper="2" effort="9" velocity="9"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="0 0 0.1"/>'
        f'<axis xyz="0 1 0"/>{limits}</joint>'
    )


URDF = (
    '<robot name="arm">'
    + "".join(f'<link name="{name}">{MASS}{BALL}</link>' for name in ("base", "upper", "lower", "hand"))
    + joint("shoulder", "base", "upper")
    + joint("elbow", "upper", "lower")
    + joint("wrist", "lower", "hand")
    + "</robot>"
).encode()
MODEL = ModelText(URDF, "arm.urdf")


def srdf(body, name="arm"):
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{body}\n</robot>\n'.encode()


def read(body, name="arm", models=None):
    """(SemanticSpec, findings)"""
    diagnostics = Diagnostics()
    models = load_models(URDF, input_format="urdf", diagnostics=Diagnostics()) if models is None else models
    return read_srdf(srdf(body, name), models, diagnostics, name="arm.srdf"), list(map(str, diagnostics.findings))


@pytest.fixture
def files(tmp_path):
    """Writes SRDF; returns the paths of the model and of it."""

    def write(body, name="arm"):
        model, semantics = tmp_path / "arm.urdf", tmp_path / "arm.srdf"
        model.write_bytes(URDF)
        semantics.write_bytes(srdf(body, name))
        return model, semantics

    return write


HOME = (
    '<group name="arm"><chain base_link="base" tip_link="hand"/></group>\n'
    '<group_state name="home" group="arm"><joint name="shoulder" value="0.5"/><joint name="elbow" value="-1"/>'
    "</group_state>\n"
    '<group_state name="home" group="hand"><joint name="wrist" value="0.25"/></group_state>\n'
    '<group_state name="up" group="arm"><joint name="elbow" value=" 0.75 "/></group_state>'
)

# ------------------------------------------------------------------------------------------ what is read


def test_pairs_of_links():
    semantics, findings = read(
        '<disable_collisions link1="upper" link2="hand" reason="Never"/><disable_collisions link1="hand" link2="base"/>'
        '<disable_collisions link1="base" link2="hand" reason="User"/><disable_collisions link1="hand" link2="hand"/>'
    )
    assert semantics.filtered_pairs == (("hand", "upper"), ("base", "hand")) and not findings
    semantics, findings = read(
        '<disable_default_collisions link="hand"/><enable_collisions link1="base" link2="hand"/>'
        '<disable_collisions link1="base" link2="lower"/>'
    )
    assert set(semantics.filtered_pairs) == {("hand", "upper"), ("hand", "lower"), ("base", "lower")} and not findings


def test_postures():
    semantics, findings = read(HOME)
    assert not findings
    assert [(p.name, dict(p.positions), p.velocities, p.place.line) for p in semantics.postures] == [
        ("home", {"shoulder": (0.5,), "elbow": (-1.0,)}, (), 4),
        ("home", {"wrist": (0.25,)}, (), 5),
        ("up", {"elbow": (0.75,)}, (), 6),
    ]


def test_the_place_of_the_base():
    body = '<group_state name="s" group="g"><joint name="{}" value="1 2 3 0 0 0.6 0.8"/></group_state>'
    for virtual, name in (
        ("", "root_joint"),
        ('<virtual_joint name="float" type="floating" parent_frame="odom" child_link="base"/>', "float"),
    ):
        semantics, findings = read(virtual + body.format(name))
        ((link, X),) = semantics.postures[0].poses
        assert link == "base" and not findings
        turn = 2.0 * np.arctan2(0.6, 0.8)
        assert X[:3, 3].tolist() == [1, 2, 3]
        assert X[:2, 0] == pytest.approx([np.cos(turn), np.sin(turn)], abs=1e-15)


def test_balls_have_quaternions():
    text = URDF.decode().replace('name="wrist" type="revolute"', 'name="wrist" type="ball"')
    text = text.replace('<robot name="arm">', '<robot name="arm" xmlns:drake="http://drake.mit.edu">')
    text = text.replace('<joint name="wrist"', '<drake:joint name="wrist"')
    head, _, tail = text.rpartition("</joint>")
    models = load_models((head + "</drake:joint>" + tail).encode(), input_format="urdf", diagnostics=Diagnostics())
    semantics, findings = read(
        '<group_state name="s"><joint name="wrist" value="0.6 0 0 0.8"/></group_state>', models=models
    )
    assert semantics.postures[0].positions == (("wrist", (0.8, 0.6, 0.0, 0.0)),) and not findings


# --------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    "body, expected",
    [
        (
            '<disable_collisions link1="uper" link2="hand"/>\n<disable_collisions link1="base" link2="uper"/>',
            'arm.srdf:3:21: warning: the model has no link "uper": what names it is left out (2 times); '
            'did you mean "upper"?',
        ),
        ('<disable_collisions link1="base"/>', 'arm.srdf:3:1: warning: <disable_collisions> has no attribute "link2"'),
        (
            '<group_state name="s"><joint name="elbo" value="1"/></group_state>',
            'arm.srdf:3:30: warning: the model has no joint "elbo": what names it is left out; did you mean "elbow"?',
        ),
        (
            '<group_state name="s"><joint name="elbow" value="one"/></group_state>',
            'arm.srdf:3:43: warning: "one" is not a finite number: the joint is left out',
        ),
        (
            '<group_state name="s"><joint name="elbow" value="1 2"/></group_state>',
            'arm.srdf:3:43: warning: joint "elbow" has 1 values, not 2: it is left out',
        ),
        (
            '<group_state name="s"><joint name="r" value="0 0 0 0 0 0 0"/></group_state>',
            "arm.srdf:3:39: warning: the quaternion is zero, and gives no orientation: the joint is left out",
        ),
        ("<group_state/>", 'arm.srdf:3:1: warning: <group_state> has no attribute "name", and is left out'),
        ("<gripper/>", "arm.srdf:3:1: note: <gripper> in <robot> is for another program and not used"),
        ('<group_state name="s"><jont/></group_state>', "arm.srdf:3:23: warning: <jont> in <group_state> is unknown"),
    ],
)
def test_faults_are_warnings_with_their_place(body, expected):
    semantics, findings = read(body)
    assert semantics is not None and len(findings) == 1, findings
    assert findings[0].startswith(expected)


def test_files_that_cannot_be_used(files, tmp_path):
    assert read("", name="leg")[1][0].startswith(
        'arm.srdf:2:8: note: the file is of robot "leg", and is used for "arm"'
    )
    model, semantics = files("<group_state>")
    refused = cli("inspect", model, "--srdf", semantics)
    assert refused.code == 3 and f"{semantics}:4:9: error:" in refused.err and "[XML_ERROR]" in refused.err
    semantics.write_text("<sdf/>")
    assert "an SRDF file starts with <robot>, not <sdf>" in cli("inspect", model, "--srdf", semantics).err
    missing = cli("inspect", model, "--srdf", tmp_path / "no.srdf")
    assert missing.code == 4 and "no.srdf: error: cannot read the file" in missing.err
    with pytest.raises(ResourceError):
        load_model(model, srdf=tmp_path / "no.srdf")
    semantics.write_bytes(srdf('<!DOCTYPE x [<!ENTITY e "y">]><group_state name="&e;"/>'))
    assert cli("inspect", model, "--srdf", semantics).code == 3
    semantics.write_bytes(srdf('<disable_collisions link1="a" link2="base"/>'))
    assert cli("inspect", model, "--srdf", semantics).code == 0
    assert cli("inspect", model, "--srdf", semantics, "--strict").code == 3


def test_the_model_of_several_is_that_of_the_name(tmp_path, files):
    _, semantics = files('<group_state name="s"><joint name="elbow" value="1"/></group_state>')
    other = ModelText(URDF.replace(b'<robot name="arm">', b'<robot name="leg">'), "leg.urdf")
    loaded = load_model([other, MODEL, MODEL], srdf=semantics, file_type="urdf")
    owners = [loaded.plant.GetModelInstanceName(posture.instance) for posture in loaded.postures]
    assert owners == ["arm", "arm_1"]
    _, semantics = files("", name="hand")
    found = []
    load_model([other, MODEL], srdf=semantics, file_type="urdf", on_findings=found.extend)
    assert any('robot "hand", which is not among the models' in str(finding) for finding in found)


def test_check_takes_it(files):
    model, semantics = files('<disable_collisions link1="uper" link2="hand"/>')
    checked = cli("check", model, "--srdf", semantics, "--json")
    document = json.loads(checked.out)
    assert checked.code == 0 and {file["path"] for file in document["model"]["files"]} == {str(model), str(semantics)}
    assert any(f["code"] == "NAME_UNKNOWN" and f["file"] == str(semantics) for f in document["findings"])
    assert cli("check", model, model, "--srdf", semantics).code == 2


# ------------------------------------------------------------------------------------- what it is used for


def test_links_of_a_pair_do_not_collide(files):
    model, semantics = files('<disable_collisions link1="base" link2="hand"/>')
    loaded = load_model(model, srdf=semantics, contact=True)
    plant = loaded.plant
    inspector = plant.scene_graph.model_inspector()

    def filtered(*names):
        ids = [plant.GetCollisionGeometriesForBody(plant.GetBodyByName(name))[0] for name in names]
        return inspector.CollisionFiltered(*ids)

    assert filtered("base", "hand") and not filtered("upper", "hand") and not filtered("base", "lower")
    assert str(semantics) in [source.path for source in loaded.sources]


def test_a_posture_is_a_state_for_every_command(files):
    model, semantics = files(HOME)
    given = (model, "--srdf", semantics, "--pose", "home", "--json")
    by_hand = (model, "--at", "shoulder=0.5", "--at", "elbow=-1", "--at", "wrist=0.25", "--json")
    for command in ("mass-matrix", "kinematics", "gravity", "com"):
        a, b = (succeed(command, *words).json() for words in (given, by_hand))
        assert a["q"] == b["q"] and a["q"][-3:] == [0.5, -1.0, 0.25]
    assert succeed("contact", *given).json()["q"][-3:] == [0.5, -1.0, 0.25]
    both = succeed("gravity", *given, "--at", "elbow=0.1").json()
    assert both["q"][-3:] == [0.5, 0.1, 0.25]
    assert succeed("gravity", model, "--srdf", semantics, "--pose", "arm::up", "--json").json()["q"][-3:] == [
        0,
        0.75,
        0,
    ]


def test_a_posture_that_is_not_there(files):
    model, semantics = files(HOME)
    refused = cli("gravity", model, "--srdf", semantics, "--pose", "hom")
    assert refused.code == 2 and "--pose: there is no posture named 'hom'; did you mean 'home'?" in refused.err
    refused = cli("gravity", model, "--srdf", semantics, "--pose", "zzz")
    assert refused.code == 2 and "there is no posture named 'zzz'; there are home, up" in refused.err
    assert "there are none" in cli("gravity", model, "--pose", "home").err
    for option in (("--random", 1), ("--state", "x.json")):
        refused = cli("gravity", model, "--srdf", semantics, "--pose", "home", *option)
        assert refused.code == 2 and "--pose excludes --random and --state" in refused.err
    with pytest.raises(ArgumentError, match="pose: there is no posture named 'zzz'"):
        simulate(model, 0.0, srdf=semantics, pose="zzz")


def test_runs_start_in_postures_and_hold_them(files, tmp_path):
    model, semantics = files(HOME)
    quick = {"srdf": semantics, "weld": ["base"], "contact": False}
    assert simulate(model, 0.0, pose="home", **quick).q[0].tolist() == [0.5, -1.0, 0.25]
    started = simulate(model, 0.0, pose="home", start={"elbow": 0.2}, **quick)
    assert started.q[0].tolist() == [0.5, 0.2, 0.25]
    held = simulate(model, 0.5, hold="home", **quick)
    assert held.q[0].tolist() == [0.5, -1.0, 0.25] and held.q[-1] == pytest.approx(held.q[0], abs=0.02)
    moved = simulate(model, 1.0, hold="home", start={"shoulder": 0.0}, **quick)
    assert moved.q[0].tolist() == [0.0, 0.0, 0.0] and moved.q[-1] == pytest.approx([0.5, -1.0, 0.25], abs=0.02)
    log = tmp_path / "run.h5"
    shown = succeed("simulate", model, "--srdf", semantics, "--weld", "base", "--hold", "home", "-t", 0.002, "-o", log)
    assert "holds 3 joints in the posture 'home'" in shown.err
    with Log(log) as opened:
        assert [entry["position"] for entry in json.loads(opened.model)["hold"]] == [0.5, -1.0, 0.25]
        assert "posture: home" in opened.config
    succeed("-q", "simulate", "--resume", log, "-t", 0.004)


def test_postures_of_bases(files):
    """A base that is welded keeps its place; one that a posture leaves in the ground is lifted out."""
    body = '<group_state name="s"><joint name="root_joint" value="1 0 {} 0 0 0 1"/></group_state>'
    model, semantics = files(body.format(0.3))
    assert simulate(model, 0.0, pose="s", srdf=semantics, ground=0.0).q[0, 4:7].tolist() == [1.0, 0.0, 0.3]
    assert simulate(model, 0.0, pose="s", srdf=semantics, weld=["base"]).q.shape[1] == 3
    model, semantics = files(body.format(0.004))
    assert simulate(model, 0.0, pose="s", srdf=semantics, ground=0.0).q[0, 4:7] == pytest.approx([1.0, 0.0, 0.01])


def test_velocities_of_postures():
    """As keyframes of MJCF have them; those of a base are given in the model frame, which stands turned in World."""
    text = (
        '<sdf version="1.9"><model name="m"><pose>1 2 3 0 0 1.5707963267948966</pose><link name="a"><pose>0 1 0 0 0 0'
        '</pose></link><link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child><axis>'
        "<xyz>0 0 1</xyz></axis></joint></model></sdf>"
    )
    loaded = load_model(ModelText(text.encode(), "m.sdf"), file_type="sdf")
    plant, model = loaded.plant, loaded.specs[0]
    posture = PostureSpec(
        name="key",
        positions=(("j", (0.5,)),),
        velocities=(("j", (2.0,)),),
        place=model.place,
        poses=(("a", pose(None, (0.0, 0.0, 5.0))),),
        spatial_velocities=(("a", (0.0, 0.0, 1.0, 3.0, 0.0, 0.0)),),
    )
    context = plant.CreateDefaultContext()
    stated = set_postures(plant, context, [Posture(posture, model, plant.GetModelInstanceByName("m"))])
    frame = plant.GetBodyByName("a").body_frame()
    X, V = frame.CalcPoseInWorld(context), frame.CalcSpatialVelocityInWorld(context)
    assert X.translation() == pytest.approx([1.0, 2.0, 8.0])
    assert V.get_coeffs() == pytest.approx([0.0, 0.0, 1.0, 0.0, 3.0, 0.0], abs=1e-12)
    assert plant.GetPositions(context)[-1] == 0.5 and plant.GetVelocities(context)[-1] == 2.0
    assert np.flatnonzero(stated).tolist() == [7]


def test_links_that_overlap_in_a_posture_do_not_press_each_other(files):
    model, semantics = files('<group_state name="s"><joint name="elbow" value="3.14159"/></group_state>')
    assert load_model(model, srdf=semantics, contact=True).without_contact == [("arm::upper", "arm::hand")]
    assert not load_model(model, contact=True).without_contact
