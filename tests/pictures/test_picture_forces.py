"""The force that a picture shows of a contact acts on the body that moves, however bodies are held and ordered."""

import h5py
import numpy as np
import pytest
from repository import SAMPLES
from test_view import live

from mbcli.errors import ModelError
from mbcli.log.stored_texts import create_texts, text_of
from mbcli.models.loading import load_model
from mbcli.pictures.log_scene import scene_and_motion
from mbcli.pictures.model_scene import scene_of
from mbcli.pictures.scene import PictureBody, PictureJoint, Scene, arrow_length, drawn_forces, moving_bodies
from mbcli.simulation import simulate

WEIGHT = 9.81
SOFT = """<drake:proximity_properties xmlns:drake="x"><drake:compliant_hydroelastic/>
<drake:mesh_resolution_hint>0.03</drake:mesh_resolution_hint><drake:hydroelastic_modulus>1e5</drake:hydroelastic_modulus>
</drake:proximity_properties>"""
RIGID = '<drake:proximity_properties xmlns:drake="x"><drake:rigid_hydroelastic/></drake:proximity_properties>'
PLATE = """<model name="plate">{static}<link name="plate"><inertial><mass>5</mass></inertial><collision name="c">
<geometry><box><size>1 1 .1</size></box></geometry>{rigid}</collision></link>{joint}</model>"""
BALL = """<model name="ball"><pose>0 0 {height} 0 0 0</pose><link name="ball"><inertial><mass>1</mass>
<inertia><ixx>.004</ixx><iyy>.004</iyy><izz>.004</izz></inertia></inertial><collision name="c">
<geometry><sphere><radius>.1</radius></sphere></geometry>{soft}</collision></link></model>"""
HELD = {
    "static": {"static": "<static>true</static>", "joint": ""},
    "welded": {
        "static": "",
        "joint": '<joint name="w" type="fixed"><parent>world</parent><child>plate</child></joint>',
    },
}


def model_file(folder, held, first, *, soft=False):
    plate = PLATE.format(**HELD[held], rigid=RIGID if soft else "")
    ball = BALL.format(height=0.14 if soft else 0.149, soft=SOFT if soft else "")
    models = (plate, ball) if first == "plate" else (ball, plate)
    path = folder / f"{first}_first.sdf"
    path.write_text(f'<sdf version="1.9"><world name="w">{"".join(models)}</world></sdf>')
    return path


@pytest.mark.parametrize("soft", [False, True], ids=["points", "surfaces"])
@pytest.mark.parametrize("first", ["plate", "ball"])
@pytest.mark.parametrize("held", HELD)
def test_a_plate_that_is_held_pushes_the_ball_up(tmp_path, held, first, soft):
    path = model_file(tmp_path, held, first, soft=soft)
    model = live(path)
    assert model.scene.weight == pytest.approx(WEIGHT)
    (contact,) = model.poses({"q": model.scene.q.tolist(), "contacts": True})["contacts"]
    assert contact["force"][2] > 1.0
    simulate(path, 0.02, log=tmp_path / "run.h5", fields="contact,poses", warn=str).close()
    force = scene_and_motion(tmp_path / "run.h5")[1].contacts.force
    assert len(force) == 3 and (force[:, 2] > 1.0).all()


def test_a_robot_is_pushed_up_by_the_ground_and_by_a_plate_alike(tmp_path):
    """A quadruped whose left legs come down on a static plate that stands after it among the models."""
    step = PLATE.format(**HELD["static"], rigid="").replace("1 1 .1", "2 1 .02")
    (tmp_path / "step.sdf").write_text(
        f'<sdf version="1.9">{step.replace("<link", "<pose>0 .52 .01 0 0 0</pose><link")}</sdf>'
    )
    start = {"quadruped_trunk_z": 0.45}
    models = [SAMPLES / "quadruped.urdf", tmp_path / "step.sdf"]
    simulate(models, 0.2, log=tmp_path / "run.h5", fields="contact", ground=0.0, start=start, warn=str).close()
    scene, motion = scene_and_motion(tmp_path / "run.h5")
    names = {scene.bodies[k].name for k in (*motion.contacts.body_a, *motion.contacts.body_b)}
    assert {"world", "plate::plate"} < names
    assert motion.contacts.force[:, 2].min() > 0.0


def test_bodies_move_unless_welds_alone_hold_them_to_world():
    pose = (1.0, 0, 0, 0, 0, 0, 0)
    ends = [(0, 1, 0, False), (2, 1, 0, False), (2, 3, 1, False), (3, 4, 0, False), (0, 4, 0, True)]
    joints = [
        PictureJoint(f"j{k}", "made up", parent, child, pose, None, 0, count, closes)
        for k, (parent, child, count, closes) in enumerate(ends)
    ]
    scene = Scene("made up", [PictureBody(str(k)) for k in range(6)], np.tile(pose, (6, 1)), joints=joints)
    np.testing.assert_array_equal(moving_bodies(scene), [False, False, False, True, True, True])


def test_of_two_bodies_that_move_the_later_one_is_pushed():
    moves, force_b = np.array([False, False, True, True]), np.array([[0.0, 0.0, 1.0]])
    table = {(0, 2): 1, (2, 0): -1, (1, 3): 1, (3, 1): -1, (2, 3): 1, (3, 2): -1, (0, 1): 1, (1, 0): -1}
    for (a, b), sign in table.items():
        assert drawn_forces(moves, np.array([a]), np.array([b]), force_b)[0, 2] == sign, (a, b)


def test_arrows_grow_in_proportion_up_to_the_reference_and_then_by_the_logarithm():
    np.testing.assert_allclose(arrow_length([0.0, 50.0, 100.0, 100.0 * np.e], 100.0), [0.0, 0.5, 1.0, 1.25])


def test_the_weight_of_a_scene_is_that_of_what_moves(tmp_path):
    scene = scene_of(load_model(model_file(tmp_path, "welded", "ball"), contact=True))
    assert [body.mass for body in scene.bodies] == [0.0, 1.0, 5.0] and scene.weight == pytest.approx(WEIGHT)


def test_contacts_of_a_body_that_a_model_has_not_are_refused(tmp_path):
    path = model_file(tmp_path, "static", "ball")
    simulate(path, 0.02, log=tmp_path / "run.h5", fields="contact", warn=str).close()
    with h5py.File(tmp_path / "run.h5", "r+") as file:
        attributes = file["contact"].attrs
        names = attributes["body_names"].tolist()
        create_texts(attributes, "body_names", ["world", "somebody", *map(text_of, names[2:])])
    with pytest.raises(ModelError, match="somebody"):
        scene_and_motion(tmp_path / "run.h5")
