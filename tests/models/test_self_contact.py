"""Contact between the bodies of one mechanism: which pairs are left out by default, and where that is said."""

import json

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.errors import ArgumentError
from mbcli.geometry import SceneGraph
from mbcli.log.reader import Log
from mbcli.models import load_model
from mbcli.models.loading import ModelText, note_on_self_contact
from mbcli.models.placed_solids import PlacedSolids
from mbcli.models.self_contact import pairs_in_words
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.simulation import resume, simulate

BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'


def link(name, content=""):
    return f'<link name="{name}">{MASS}{content}</link>'


def joint(name, parent, child, xyz, kind="revolute", axis="0 1 0", limits=(-2, 2)):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/><limit lower="{limits[0]}" upper="{limits[1]}" effort="9" velocity="9"/></joint>'
    )


def robot(*parts):
    return ModelText(f'<robot name="arm">{"".join(parts)}</robot>'.encode(), "arm.urdf")


# balls of 60 mm on four links 50 mm apart: those of upper and hand overlap, as those of base and tool
CROWDED = robot(
    *(link(name, BALL.format(0.06)) for name in ("base", "upper", "wrist", "hand")),
    *(
        joint(f"j{k}", a, b, "0 0 0.05")
        for k, (a, b) in enumerate([("base", "upper"), ("upper", "wrist"), ("wrist", "hand")])
    ),
)
CROWDED_PAIRS = [("arm::base", "arm::wrist"), ("arm::upper", "arm::hand")]


def may_touch(model, *names):
    plant = model.plant
    ids = [plant.GetCollisionGeometriesForBody(plant.GetBodyByName(name))[0] for name in names]
    return not plant.scene_graph.model_inspector().CollisionFiltered(*ids)


def test_bodies_that_overlap_as_drawn_are_let_through_each_other():
    model = load_model(CROWDED, contact=True)
    assert model.self_contact == "auto" and model.without_contact == CROWDED_PAIRS
    assert not may_touch(model, "base", "wrist") and not may_touch(model, "upper", "hand")
    assert may_touch(model, "base", "hand")  # 0.15 m apart, and may meet when the arm folds
    assert not load_model(CROWDED).without_contact  # nothing touches at all


def test_all_keeps_contact_and_none_leaves_it_out():
    everything, nothing = (load_model(CROWDED, contact=True, self_contact=mode, ground=0.0) for mode in ("all", "none"))
    assert may_touch(everything, "base", "wrist") and may_touch(everything, "base", "hand")
    assert not may_touch(nothing, "base", "wrist") and not may_touch(nothing, "base", "hand")
    inspector = nothing.plant.scene_graph.model_inspector()
    ground = nothing.plant.GetCollisionGeometriesForBody(nothing.plant.world_body())[0]
    ball = nothing.plant.GetCollisionGeometriesForBody(nothing.plant.GetBodyByName("hand"))[0]
    assert not inspector.CollisionFiltered(ground, ball)
    with pytest.raises(ArgumentError, match="is 'auto', 'all' or 'none', not 'some'"):
        load_model(CROWDED, contact=True, self_contact="some")


def test_the_settings_of_a_file_choose_too():
    model = load_model(CROWDED, contact=True, overrides=["self_contact=all"])
    assert model.self_contact == "all" and not model.without_contact
    assert load_model(CROWDED, contact=True, overrides=["self_contact=all"], self_contact="auto").without_contact


def test_plants_of_scripts_keep_the_filters_of_drake():
    plant = MultibodyPlant(0.001)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    Parser(plant).AddModels(file_contents=CROWDED.content.decode(), file_type="urdf")
    plant.Finalize()
    ids = [plant.GetCollisionGeometriesForBody(plant.GetBodyByName(name))[0] for name in ("base", "wrist")]
    assert not plant.scene_graph.model_inspector().CollisionFiltered(*ids)


def test_what_overlaps_at_the_limits_nearest_to_the_default_is_left_out():
    # at 0 the hand is beside the base; its joint starts at 1.2 rad, where it reaches into the base
    hand = '<collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.05"/></geometry></collision>'
    model = load_model(
        robot(
            link("base", '<collision><origin xyz="0.4 0 0"/><geometry><sphere radius="0.12"/></geometry></collision>'),
            link("middle"),
            link("hand", hand),
            joint("a", "base", "middle", "0 0 0"),
            joint("b", "middle", "hand", "0 0 0", limits=(1.2, 2)),
        ),
        contact=True,
    )
    assert model.without_contact == [("arm::base", "arm::hand")]


def pads(closing):
    """Two pads of 20 mm that lie flat against each other at 0, on a palm; `closing`: the joint moves them apart."""
    pad = '<collision><origin xyz="{} 0 0"/><geometry><box size="0.02 0.02 0.02"/></geometry></collision>'
    axis = "1 0 0" if closing else "0 1 0"
    return robot(
        *(link("palm"), link("left", pad.format(-0.01)), link("right", pad.format(0.01))),
        joint("l", "palm", "left", "0 0 0", "prismatic", axis, (-0.1, 0)),
        joint("r", "palm", "right", "0 0 0", "prismatic", axis, (0, 0.1) if closing else (-0.004, 0.01)),
    )


def test_solids_that_touch_whatever_the_joints_do_are_left_out_and_fingers_of_a_gripper_are_not():
    sliding = pads(closing=False)  # each along y by 5 mm at most, less than their size
    text = sliding.content.replace(b'lower="-0.1" upper="0"', b'lower="-0.005" upper="0.005"')
    assert load_model(ModelText(text, "arm.urdf"), contact=True).without_contact == [("arm::left", "arm::right")]
    assert not load_model(pads(closing=True), contact=True).without_contact


def test_bodies_that_no_joint_connects_are_left_as_they_are():
    box = '<collision name="c"><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision>'
    text = (
        f'<sdf version="1.9"><model name="stack"><link name="below">{box}</link>'
        f'<link name="above"><pose>0 0 0.19 0 0 0</pose>{box}</link></model></sdf>'
    )
    model = load_model(ModelText(text.encode(), "stack.sdf"), contact=True, file_type="sdf", self_contact="none")
    assert may_touch(model, "below", "above")


def test_an_arm_whose_links_overlap_moves_as_if_they_did_not():
    start, drake = {"j0": 0.3, "j1": -0.5, "j2": 0.4}, ["plant_config.step_scheme=drake"]  # of what may touch too
    quick = {"dt": 0.002, "weld": ["base"], "start": start, "overrides": drake, "warn": lambda line: None}
    free = simulate(CROWDED, 0.05, contact=False, **quick)
    let_through = simulate(CROWDED, 0.05, **quick)
    pressed = simulate(CROWDED, 0.05, self_contact="all", **quick)
    assert let_through.q == pytest.approx(free.q, abs=1e-12)
    assert np.abs(pressed.q - free.q).max() > 0.05


# ---------------------------------------------------------------------------------- where it is said


@pytest.fixture
def crowded(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_bytes(CROWDED.content)
    return path


def test_one_line_names_the_pairs(crowded, tmp_path):
    model = load_model(crowded, contact=True)
    assert note_on_self_contact(model) == (
        "contact is left out between bodies of one robot that meet as it is drawn: base and wrist, upper and hand; "
        'self_contact="all" keeps it'
    )
    shown = succeed("contact", crowded).err
    assert shown.count("\n") == 1 and "base and wrist, upper and hand; --self-contact all keeps it" in shown
    assert "nothing touches" in succeed("contact", crowded).out
    assert "hand" in succeed("contact", crowded, "--self-contact", "all").out
    assert not succeed("-q", "contact", crowded).err
    several = [(f"arm::{k}", f"hand::{k + 1}") for k in range(15)]
    assert pairs_in_words(several) == "arm::0 and hand::1, arm::1 and hand::2, arm::2 and hand::3, and 12 more"


def test_the_log_has_the_pairs_and_a_run_goes_on_with_them(crowded, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    log, other = tmp_path / "run.h5", tmp_path / "other.h5"
    run = ("simulate", crowded, "--weld", "base", "--dt", 0.005)
    shown = succeed(*run, "-t", 0.01, "-o", log).err
    assert "base and wrist, upper and hand" in shown
    with Log(log) as opened:
        contact = json.loads(opened.model)["contact"]
        assert contact["self_contact"] == "auto" and "self_contact: auto" in opened.config
        assert contact["without_contact"] == [list(pair) for pair in CROWDED_PAIRS]
    refused = cli(*run, "--self-contact", "all", "-t", 0.02, "--resume", log, "-o", other)
    assert refused.code == 3 and "give the same options" in refused.err
    succeed("simulate", "--resume", log, "-t", 0.02, "-o", other)
    assert resume(other, crowded, 0.03, weld=["base"], dt=0.005).times[-1] == pytest.approx(0.03)


# ------------------------------------------------------------------------------------ placed solids


def test_reaches_are_those_of_the_outermost_points(tmp_path):
    """Against the nearest distance to a plane far below each solid."""
    mesh = tmp_path / "wedge.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 -3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    shapes = [
        *('<sphere radius="0.3"/>', '<box size="0.1 0.4 0.7"/>', '<cylinder radius="0.2" length="0.9"/>'),
        *('<drake:capsule radius="0.1" length="0.5"/>', '<drake:ellipsoid a="0.1" b="0.2" c="0.6"/>'),
        f'<mesh filename="{mesh}"/>',
    ]
    origin = '<origin xyz="0.3 -0.1 0.2" rpy="0.4 -0.8 1.3"/>'
    content = "".join(f"<collision>{origin}<geometry>{shape}</geometry></collision>" for shape in shapes)
    text = f'<robot name="r" xmlns:drake="http://drake.mit.edu">{link("base", content)}</robot>'
    path = tmp_path / "r.urdf"
    path.write_text(text)
    model = load_model(path, contact=True, ground=-50.0)
    solids = PlacedSolids(model.plant)
    q = np.array([0.8, 0.3, -0.4, 0.33, 1.0, 2.0, 3.0])
    solids.place(q)
    rounds = np.flatnonzero(solids.body)
    ground = int(np.flatnonzero(solids.body == 0)[0])
    heights = solids.distances([(ground, int(k)) for k in rounds], 1e9)
    assert len(rounds) == 6
    assert -solids.reaches([0.0, 0.0, -1.0])[rounds] == pytest.approx(heights - 50.0, abs=1e-12)
    assert solids.reaches([0, 0, -1.0])[ground] == np.inf and solids.reaches([0, 0, 1.0])[ground] == -50.0
