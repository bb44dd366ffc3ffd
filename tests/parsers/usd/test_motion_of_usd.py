"""Bodies of USD that move at the start, and that PhysX lets not move along or about axes of World."""

import numpy as np
import pytest
from command_line import cli
from usd_texts import USD, body, joint, stage_text

from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.simulation import simulate

PHYSX = ', "PhysxRigidBodyAPI"'
G = 9.81
DEGREE = np.pi / 180.0


def stage(*bodies, **units):
    return stage_text('def PhysicsScene "scene" {}\ndef Xform "robot" {' + "".join(bodies) + "}", **units)


def run(text, duration=0.5):
    """(log, messages of warnings), without a log file."""
    messages = []
    found = load_model(
        ModelText(text.encode()),
        file_type="usd",
        on_findings=lambda findings: messages.extend(f.message for f in findings if f.severity == "warning"),
    )
    return simulate(found, duration, warn=lambda line: None), messages


@pytest.mark.parametrize("format", [USD])
@pytest.mark.parametrize("center", [(0, 0, 0), (0.2, 0.1, 0)])
def test_a_free_body_starts_as_its_velocities_say(format, center):
    """The centre of mass goes on a parabola, whatever the body turns about it."""
    moving = "vector3f physics:velocity = (1, 0, 2)\nvector3f physics:angularVelocity = (0, 0, 90)"
    text = stage(body("a", (0, 0, 1), more=moving)).replace("centerOfMass = (0, 0, 0)", f"centerOfMass = {center}")
    log, messages = run(text)
    assert messages == []
    w, com = np.pi / 2, np.array(center, float)
    v = np.asarray(log.v)[0]
    np.testing.assert_allclose(v[:3], (0, 0, w), atol=1e-7)
    np.testing.assert_allclose(v[3:], np.array((1, 0, 2)) - np.cross((0, 0, w), com), atol=1e-7)
    angle = w * 0.5
    turned = np.array(
        (np.cos(angle) * com[0] - np.sin(angle) * com[1], np.sin(angle) * com[0] + np.cos(angle) * com[1])
    )
    end = np.asarray(log.q)[-1][4:]
    np.testing.assert_allclose(end[:2] + turned, com[:2] + (0.5, 0.0), atol=1e-6)
    assert end[2] == pytest.approx(1.0 + 2.0 * 0.5 - 0.5 * G * 0.25, abs=2e-3)


@pytest.mark.parametrize("format", [USD])
def test_a_velocity_is_in_the_units_and_axes_of_the_prim_above(format):
    moving = "vector3f physics:velocity = (100, 0, 0)\nvector3f physics:angularVelocity = (30, 0, 0)"
    text = stage(body("a", (0, 0, 100), more=moving), meters=0.01, up="Y")
    text = text.replace(
        'def Xform "robot" {',
        'def Xform "robot" {double xformOp:rotateY = 90\nuniform token[] xformOpOrder = ["xformOp:rotateY"]\n',
    )
    log, messages = run(text, 0.01)
    assert messages == []
    v = np.asarray(log.v)[0]
    # x of the prim above is -z of the stage, whose y is up: y of World
    np.testing.assert_allclose(v, (0, 30 * DEGREE, 0, 0, 1, 0), atol=1e-6)


@pytest.mark.parametrize("format", [USD])
@pytest.mark.parametrize(
    ("locks", "count"),
    [("Pos = 4", 5), ("Pos = 7", 3), ("Rot = 7", 3), ("Rot = 3", 4), ("Rot = 6", 4), ("Pos = 3", 4)],
)
def test_a_body_does_not_move_along_axes_that_are_locked(format, locks, count):
    kind, mask = locks[:3], int(locks[-1])
    line = f"int physxRigidBody:locked{kind}Axis = {mask}"
    text = stage(body("a", (0.3, 0.2, 1), more=line, apis=PHYSX))
    log, messages = run(text)
    assert messages == []
    assert np.asarray(log.v).shape[1] == count
    plant = load_model(ModelText(text.encode()), file_type="usd").plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, np.asarray(log.q)[-1])
    X = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("a"))
    falls = 0.0 if kind == "Pos" and mask & 4 else 0.5 * G * 0.25
    np.testing.assert_allclose(X.translation(), (0.3, 0.2, 1.0 - falls), atol=3e-3)
    np.testing.assert_allclose(X.rotation().matrix(), np.eye(3), atol=1e-9)


@pytest.mark.parametrize("format", [USD])
def test_all_axes_locked_hold_a_body_and_two_locks_make_it_planar(format):
    every = "int physxRigidBody:lockedPosAxis = 7\nint physxRigidBody:lockedRotAxis = 7"
    log, _ = run(stage(body("a", (0, 0, 1), more=every, apis=PHYSX)))
    assert np.asarray(log.v).shape[1] == 0
    planar = "int physxRigidBody:lockedPosAxis = 4\nint physxRigidBody:lockedRotAxis = 3"
    log, _ = run(stage(body("a", (0, 0, 1), more=planar, apis=PHYSX)))
    assert np.asarray(log.v).shape[1] == 3
    assert np.abs(np.asarray(log.q)).max() < 1e-12


@pytest.mark.parametrize("format", [USD])
def test_what_joints_decide_is_told(format):
    bodies = body("a", (0, 0, 1), more="vector3f physics:velocity = (1, 0, 0)") + joint(
        "RevoluteJoint", "j", None, "/robot/a", pos0=(0, 0, 1)
    )
    _, messages = run(stage(bodies), 0.01)
    assert messages == ['"physics:velocity" does not act: the body moves by its joints, of which --at sets velocities']
    two = "int physxRigidBody:lockedRotAxis = 4"
    log, messages = run(stage(body("a", (0, 0, 1), more=two, apis=PHYSX)), 0.01)
    assert messages == [
        '"physxRigidBody:lockedRotAxis" does not act: turns about two axes of World are no joint\'s, all are free'
    ]
    assert np.asarray(log.v).shape[1] == 6


@pytest.mark.parametrize("format", [USD])
def test_a_copy_in_usd_moves_at_the_start_and_other_formats_lose_it_with_a_word(format, tmp_path):
    source = tmp_path / "m.usda"
    source.write_text(stage(body("a", (0, 0, 1), more="vector3f physics:velocity = (1, 0, 0)")))
    assert cli("convert", source, "-o", tmp_path / "copy.usda").code == 0
    plant = load_model(tmp_path / "copy.usda").plant
    np.testing.assert_allclose(plant.GetVelocities(plant.CreateDefaultContext()), (0, 0, 0, 1, 0, 0), atol=1e-7)
    for suffix in ("sdf", "urdf", "xml"):
        result = cli("convert", source, "-o", tmp_path / f"copy.{suffix}", "--lossy")
        assert "how link 'a' moves at the start" in result.err


@pytest.mark.parametrize("format", [USD])
def test_a_distance_joint_with_two_lengths_is_a_string(format):
    ends = "float physics:minDistance = 0\nfloat physics:maxDistance = 0.5"
    string = joint("DistanceJoint", "j", None, "/robot/a", pos0=(0, 0, 1.2), more=ends)
    log, messages = run(stage(body("a", (0, 0, 1)) + string), 2.0)
    assert messages == []
    assert np.asarray(log.q)[-1][6] == pytest.approx(0.7, abs=1e-4)
