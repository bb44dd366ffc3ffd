"""Positions at which frames are where they are wanted: reached within limits, or refused with what remains."""

import json

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ArgumentError, NumericalError
from mbcli.math import RollPitchYaw
from mbcli.models import frame_places, inverse_kinematics, load_model
from mbcli.models.loading import ModelText
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.state.context import Context

ARM = SAMPLES / "arm7.urdf"
MASS = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'


def two_links(elbow=(-3, 3), base="world"):
    """Two links of 0.5 m that turn about y, from the world or from a body that floats."""

    def joint(name, parent, child, x, kind="revolute", limits=(-3, 3)):
        limit = f'<limit lower="{limits[0]}" upper="{limits[1]}" effort="9" velocity="9"/>'
        return (
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
            f'<origin xyz="{x} 0 0"/>{limit}</joint>'
        )

    names = ("upper", "lower", "tip") if base == "world" else (base, "upper", "lower", "tip")
    links = "".join(f'<link name="{name}">{MASS}</link>' for name in names)
    shoulder, elbow = joint("a", base, "upper", 0), joint("b", "upper", "lower", 0.5, limits=elbow)
    joints = shoulder + elbow + joint("c", "lower", "tip", 0.5, "fixed")
    return load_model(ModelText(f'<robot name="r">{links}{joints}</robot>'.encode(), "r.urdf"))


def pose_of(plant, q, name):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    X = plant.GetFrameByName(name).CalcPoseInWorld(context)
    return X, [*X.translation(), *X.rotation().ToQuaternion().wxyz()]


def test_random_poses_that_an_arm_reaches_are_reached_within_its_limits():
    model = load_model(ARM)
    plant = model.plant
    plant.prefers_interpreted = True
    rng = np.random.default_rng(3)
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    assert np.isfinite([lower, upper]).all()
    for _ in range(30):
        X, wanted = pose_of(plant, rng.uniform(lower, upper), "flange")
        found = inverse_kinematics(model, {"flange": wanted})
        assert (lower <= found.q).all() and (found.q <= upper).all()
        reached, _ = pose_of(plant, found.q, "flange")
        assert np.linalg.norm(reached.translation() - X.translation()) < 1e-9
        turn = reached.rotation().matrix().T @ X.rotation().matrix()
        assert np.abs(turn - np.eye(3)).max() < 1e-9
        assert max(found.position_error, found.angle_error) < 1e-9


def test_compiled_searches_find_what_interpreted_ones_find(monkeypatch):
    monkeypatch.setattr(frame_places, "PATIENCE", 0)
    plant, found = load_model(ARM).plant, []
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    for compiled in (False, True):
        context, results = Context(plant, compiled=compiled), []
        for q in np.random.default_rng(5).uniform(lower, upper, (5, lower.size)):
            _, wanted = pose_of(plant, q, "flange")
            plant.SetPositions(context, plant.GetDefaultPositions())
            results.append(frame_places.solve(plant, context, {"flange": wanted}))
        found.append(results)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one.q, other.q, atol=1e-8)
        assert one.attempts == other.attempts


@pytest.mark.parametrize("elbow, sign", [((0.1, 3), 1.0), ((-3, -0.1), -1.0)])
@pytest.mark.parametrize("start", [[0.0, 0.0], [-0.9, 1.8], [0.9, -1.8]])
def test_of_two_answers_limits_leave_one(elbow, sign, start):
    found = inverse_kinematics(two_links(elbow), {"tip": [0.6, 0.0, 0.0]}, start)
    assert found.q == pytest.approx([-sign * np.arcsin(0.8), sign * 2.0 * np.arcsin(0.8)], abs=1e-9)


def test_what_cannot_be_reached_says_how_far_it_is():
    model = two_links()
    with pytest.raises(NumericalError, match=r"tip cannot get .* of 3 starts the best leaves 0\.5000?\d* m$"):
        inverse_kinematics(model, {"tip": [0.0, 0.0, 1.5]}, attempts=3)
    with pytest.raises(NumericalError, match="m and .* rad"):
        inverse_kinematics(model, {"tip": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]}, attempts=3)


def test_what_floats_and_what_is_asked_relative_to_it():
    model = two_links(base="body")
    plant = model.plant
    q = plant.GetDefaultPositions()
    q[:7] = [np.cos(0.3), 0.0, 0.0, np.sin(0.3), 1.0, 2.0, 3.0]
    X_WB = pose_of(plant, q, "body")[0]
    relative = inverse_kinematics(model, {"tip": [0.3, 0.0, -0.4]}, q, relative_to="body").q
    assert relative[:7].tolist() == q[:7].tolist()
    assert pose_of(plant, relative, "tip")[0].translation() == pytest.approx(
        X_WB @ np.array([0.3, 0.0, -0.4]), abs=1e-9
    )
    absolute = inverse_kinematics(model, {"tip": X_WB @ np.array([0.3, 0.0, -0.4])}, q).q
    assert absolute == pytest.approx(relative, abs=1e-9)


def test_several_frames_and_constraints_at_once():
    model = load_model(SAMPLES / "closed_chains" / "four_bar.urdf")
    plant = model.plant
    context = plant.CreateDefaultContext()
    chains = ClosedChains(context)
    q = plant.GetDefaultPositions()
    q[0] += 0.4
    q = chains.assemble(q).q
    wanted = {body.name(): pose_of(plant, q, body.name())[1] for body in plant.elements.bodies[1:]}
    found = inverse_kinematics(model, wanted)
    assert np.linalg.norm(chains.position_errors(found.q)[0]) < 1e-9
    for name, place in wanted.items():
        assert pose_of(plant, found.q, name)[0].translation() == pytest.approx(place[:3], abs=1e-9)


@pytest.mark.parametrize(
    "targets, message",
    [
        ({"flang": [0, 0, 1]}, "ik: there is no frame named 'flang'; did you mean 'flange'"),
        ({"flange": [0, 0]}, "ik: 'flange' needs x, y, z"),
        ({"flange": [0, 0, np.nan]}, "ik: 'flange' needs x, y, z"),
        ({"flange": [0, 0, 1, 0, 0, 0, 0]}, "quaternion of 'flange' is zero"),
    ],
)
def test_what_is_no_place(targets, message):
    with pytest.raises(ArgumentError, match=message):
        inverse_kinematics(load_model(ARM), targets)


# ------------------------------------------------------------------------------------ from the shell


def test_the_command_solves_and_its_state_can_be_used(tmp_path):
    place = "flange=0.4,0.1,0.5,0,1,0,0"
    text = succeed("kinematics", ARM, "--ik", place).out
    assert "arm7_joint_1_q" in text and text.splitlines()[-1].split()[:4] == ["flange", "0.4", "0.1", "0.5"]
    assert succeed("ik", ARM, "--to", place).out == text and succeed("fk", ARM).out == succeed("kinematics", ARM).out
    result = succeed("kinematics", ARM, "--ik", place, "--json")
    document = result.json()
    assert document["frames"].keys() == {"flange"} and document["ik"]["q"] == document["q"]
    assert document["frames"]["flange"]["p_WF"] == pytest.approx([0.4, 0.1, 0.5], abs=1e-9)
    assert document["ik"]["position_error"] < 1e-9 and document["ik"]["attempts"] >= 1
    state = tmp_path / "state.json"
    state.write_text(result.out)
    again = succeed("kinematics", ARM, "--state", state, "--frame", "flange", "--json").json()
    assert json.dumps(again["frames"]) == json.dumps(document["frames"])
    near = succeed("kinematics", ARM, "--ik", "flange = 0.4 0.1 0.5".replace(" = ", "="), "--state", state, "--json")
    assert near.json()["q"] == pytest.approx(document["q"], abs=1e-9)


def test_an_orientation_may_be_roll_pitch_and_yaw():
    by_angles = succeed("ik", ARM, "--to", "flange=0.4,0.1,0.5,180deg,-0.2,pi/6", "--json").json()
    wxyz = RollPitchYaw(np.pi, -0.2, np.pi / 6).ToQuaternion().wxyz()
    by_quaternion = succeed("ik", ARM, "--to", f"flange=0.4,0.1,0.5,{','.join(map(repr, map(float, wxyz)))}", "--json")
    assert by_angles["q"] == by_quaternion.json()["q"]
    X_WF = np.array(by_angles["frames"]["flange"]["X_WF"])
    np.testing.assert_allclose(
        X_WF[:3, :3], RollPitchYaw(np.pi, -0.2, np.pi / 6).ToRotationMatrix().matrix(), atol=1e-9
    )


@pytest.mark.parametrize(
    "words, code, message",
    [
        (("--ik", "flange=0,0,1,0,x,0"), 2, "--ik flange: 'x' is no angle as 0.5, 30deg or pi/2"),
        (("--ik", "flange=9,0,0"), 5, "flange cannot get where it is wanted within the limits"),
        (
            ("--ik", "flange=1,2"),
            2,
            "--ik takes FRAME=x,y,z, FRAME=x,y,z,qw,qx,qy,qz or FRAME=x,y,z,roll,pitch,yaw, not 'flange=1,2'",
        ),
        (("--ik", "flange"), 2, "--ik takes FRAME=x,y,z"),
        (("--ik", "flange=1,2,x"), 2, "--ik flange: 'x' is not a finite number"),
        (("--ik", "flange=0,0,1", "--ik", "flange=0,0,1"), 2, "--ik: a second target for 'flange'"),
        (("--ik", "flang=0,0,1"), 2, "--ik: there is no frame named 'flang'"),
        (("--ik", "flange=0,0,1", "--states", "x.csv"), 2, "--ik solves for one state"),
    ],
)
def test_refusals_of_the_command(words, code, message):
    refused = cli("kinematics", ARM, *words)
    assert refused.code == code and message in refused.err
