"""Constraints, mimic joints, force elements and controllers of model files, in the plant and from the shell."""

import math

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.spec import (
    AxisSpec,
    BallConstraintSpec,
    BushingSpec,
    CollisionFilterGroupSpec,
    DistanceConstraintSpec,
    FrameSpec,
    InertialSpec,
    JointSpec,
    LinkSpec,
    MimicSpec,
    ModelSpec,
    SourceLocation,
    SpringDamperSpec,
    TendonConstraintSpec,
    WeldConstraintSpec,
    pose,
)

from mbcli.errors import ModelError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.add_model import add_model
from mbcli.multibody.plant import MultibodyPlant


def place(line):
    return SourceLocation("m.urdf", line, 1)


def link(name, line):
    return LinkSpec(name, place(line), InertialSpec(1.0, pose(), (0.1, 0.1, 0.1, 0, 0, 0), place(line)))


def hinge(name, parent, child, line, **axis):
    axes = (AxisSpec((0.0, 0.0, 1.0), place(line), **axis),)
    return JointSpec(name, "revolute", parent, child, pose(), pose(), place(line), axes)


ELEMENTS = {
    "links": tuple(link(name, n) for n, name in enumerate("abc", 1)),
    "joints": (
        hinge("j", "world", "a", 11),
        hinge("k", "a", "b", 12, mimic=MimicSpec("j", -2.0, 0.5, place(13))),
        hinge("l", "b", "c", 14),
    ),
    "frames": (FrameSpec("tip", "c", pose(translation=[0, 0, 1]), place(15)),),
    "force_elements": (
        BushingSpec("a", "tip", (1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12), place(21)),
        SpringDamperSpec("world", (1, 0, 0), "c", (0, 1, 0), 0.5, 20.0, 3.0, place(22)),
    ),
    "constraints": (
        BallConstraintSpec("a", (1, 2, 3), "c", (4, 5, 6), place(31)),
        DistanceConstraintSpec("a", (1, 2, 3), "world", (4, 5, 6), 0.7, place(32), stiffness=5.0, damping=6.0),
        WeldConstraintSpec("world", pose(translation=[1, 0, 0]), "c", pose(), place(33), name="stop"),
        TendonConstraintSpec(("j", "l"), (1.0, -2.0), place(34), offset=0.1, upper=0.9),
    ),
    "filter_groups": (CollisionFilterGroupSpec("g", ("a", "b"), ("g",), place(41)),),
}


def model(**changes):
    return ModelSpec("m", "urdf", "1.0", place(0), **ELEMENTS | changes)


def plant_of(spec):
    plant = MultibodyPlant(0.0)
    add_model(plant, spec, spec.name)
    return plant


def test_every_constraint_of_a_model_is_in_the_plant_with_its_place_and_name():
    plant = plant_of(model())
    coupler, ball, distance, weld, tendon = plant.elements.constraints
    assert [str(c.place) for c in plant.elements.constraints] == [f"m.urdf:{n}:1" for n in (13, 31, 32, 33, 34)]
    assert [c.name for c in plant.elements.constraints] == [None, None, None, "stop", None]
    assert [j.name() for j in coupler.joints()] == ["k", "j"]
    assert coupler.parameters() == {"gear_ratio": -2.0, "offset": 0.5}
    assert ball.parameters()["p_BQ"].tolist() == [4, 5, 6]
    assert [b.name() for b in distance.bodies()] == ["a", "world"]
    numbers = distance.parameters()
    assert [numbers[key] for key in ("distance", "stiffness", "damping")] == [0.7, 5.0, 6.0]
    assert weld.parameters()["X_AP"][:3, 3].tolist() == [1, 0, 0]
    numbers = tendon.parameters()
    assert [j.name() for j in tendon.joints()] == ["j", "l"]
    assert [numbers["a"].tolist(), numbers["offset"], numbers["upper_limit"]] == [[1.0, -2.0], 0.1, 0.9]
    assert [numbers["lower_limit"], numbers["stiffness"]] == [-math.inf, math.inf]


def test_every_force_element_of_a_model_acts():
    plant = plant_of(model(constraints=()))
    plant.Finalize()
    _, bushing, spring = plant.elements.force_elements
    assert (bushing.frameA().name(), bushing.frameC().name()) == ("a", "tip")
    assert bushing.force_damping_constants().tolist() == [10, 11, 12]
    assert (spring.bodyA().name(), spring.free_length(), spring.stiffness(), spring.damping()) == ("world", 0.5, 20, 3)
    assert [str(e.place) for e in (bushing, spring)] == ["m.urdf:21:1", "m.urdf:22:1"]
    context = plant.CreateDefaultContext()
    assert np.linalg.norm(plant.CalcRequiredForces(context, gravity=False)) > 1.0


REFUSED = {
    "a mimic of two coordinates": (
        {
            "joints": (
                JointSpec("u", "universal", "world", "a", pose(), pose(), place(51), ELEMENTS["joints"][0].axes * 2),
                hinge("k", "a", "b", 52, mimic=MimicSpec("u", 1.0, 0.0, place(53))),
                hinge("l", "b", "c", 14),
            ),
            "constraints": (),
        },
        r"m.urdf:53:1: error: coupler constraint between 'k' and 'u': joint 'u' of type universal has 2",
    ),
    "a weld of a link with itself": (
        {"constraints": (WeldConstraintSpec("a", pose(), "a", pose(), place(54), name="w"),)},
        r"m.urdf:54:1: error: weld constraint between 'a' and 'a'",
    ),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_plant_refuses_has_the_place_in_the_file(changes, message):
    with pytest.raises(ModelError, match=message):
        plant_of(model(**changes))


def test_a_follower_that_closes_a_loop_is_refused_at_finalize():
    joints = (*ELEMENTS["joints"][::2], hinge("close", "world", "c", 55), hinge("k", "a", "b", 56))
    plant = plant_of(model(joints=joints, constraints=()))
    plant.Finalize()
    (cut,) = plant.elements.loop_joints
    followers = tuple(  # all but the first joint: none of them can be cut in place of another
        hinge(j.name, j.parent, j.child, 57, mimic=MimicSpec("j", 1.0, 0.0, place(58 + (j.name != cut.name()))))
        if j.name != "j"
        else j
        for j in joints
    )
    plant = plant_of(model(joints=followers, constraints=()))
    with pytest.raises(ModelError, match=rf"m.urdf:58:1: error: .*joint '{cut.name()}' closes a loop and has no"):
        plant.Finalize()
    assert not plant.is_finalized()


# -------------------------------------------------------------------------------------------- from the shell

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LINKS = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "ab")
ROBOT = f"""<robot name="r" xmlns:drake="http://drake.mit.edu">{LINKS}
  <joint name="j" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
  <joint name="k" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <mimic joint="j" multiplier="-2" offset="0.5"/></joint>
</robot>"""
ACTUATOR = """<transmission><type>transmission_interface/SimpleTransmission</type><joint name="j"/>
    <actuator name="motor"><drake:controller_gains p="100" d="20"/></actuator></transmission></robot>"""


def test_inspect_shows_couplers_and_counts_them():
    document = succeed("inspect", "-", "--json", stdin=ROBOT).json()
    (coupler,) = document["constraints"]
    assert (coupler["type"], coupler["joints"], coupler["gear_ratio"], coupler["offset"]) == (
        "coupler",
        ["k", "j"],
        -2,
        0.5,
    )
    assert coupler["place"] == "<stdin>:4:5"
    assert document["counts"]["constraints"] == 1
    assert "coupler: k = -2 j + 0.5" in succeed("inspect", "-", stdin=ROBOT).out
    other_way = ROBOT.replace('offset="0.5"', 'offset="-0.5"')
    assert "coupler: k = -2 j - 0.5" in succeed("inspect", "-", stdin=other_way).out


def test_inspect_shows_limits_of_deceleration_and_jerk_where_the_file_has_them():
    text = ROBOT.replace("<robot ", '<robot version="1.2" ').replace(
        '<axis xyz="0 0 1"/></joint>', '<axis xyz="0 0 1"/><limit deceleration="3" jerk="4"/></joint>'
    )
    first, second = succeed("inspect", "-", "--json", stdin=text).json()["joints"]
    assert (first["deceleration_limits"], first["jerk_limits"]) == ([3], [4])
    assert "jerk_limits" not in second


def test_mimic_joints_move_together(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    refused = cli("linearize", "-", stdin=ROBOT)
    assert refused.code == 5
    assert "the state does not satisfy the constraints, their error is 0.5" in refused.err
    A = np.array(succeed("linearize", "-", "--at", "k=0.5", "--json", stdin=ROBOT).json()["A"])
    np.testing.assert_allclose(A[1] + 2.0 * A[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(A[3] + 2.0 * A[2], 0.0, atol=1e-9)
    j, k = succeed("forward-dynamics", "-", "--json", "--at", "k=0.5", stdin=ROBOT).json()["vdot"]
    assert k == pytest.approx(-2.0 * j, rel=1e-12)
    for options in (["--dt", 0.001], ["--integrator", "runge_kutta3"]):
        run = succeed("simulate", "-", "-t", 0.05, *options, "--no-log", "--json", stdin=ROBOT)
        assert "mbcli: assembled the start: the constraints had an error of 0.5" in run.err
        j, k = run.json()["q"]
        assert k == pytest.approx(0.5 - 2.0 * j, abs=1e-10)


def test_controllers_of_a_file_hold_the_default_positions(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    text = ROBOT.replace('<mimic joint="j" multiplier="-2" offset="0.5"/>', "").replace("</robot>", ACTUATOR)
    plant = MultibodyPlant(0.01)
    Parser(plant).AddModelsFromString(text, "urdf")
    gains = plant.GetJointActuatorByName("motor").get_controller_gains()
    assert (gains.p, gains.d) == (100, 20)
    assert succeed("inspect", "-", "--json", stdin=text).json()["actuators"][0]["controller_gains"] == [100, 20]
    run = succeed("simulate", "-", "-t", 2, "--dt", 0.01, "--at", "j=0.3", "--no-log", "--json", stdin=text)
    assert "controllers of the file aim at the default positions: motor" in run.err
    assert abs(run.json()["q"][0]) < 0.01


def test_an_instance_with_some_controllers_is_refused_with_exit_code_3(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    text = ROBOT.replace('<mimic joint="j" multiplier="-2" offset="0.5"/>', "").replace("</robot>", ACTUATOR)
    other = ACTUATOR.replace('"j"', '"k"').replace("motor", "free").replace("drake:controller_gains", "gone")
    result = cli("-q", "simulate", "-", "-t", 0.01, "--no-log", stdin=text.replace("</robot>", other))
    assert result.code == 3
    assert "'free' has none" in result.err
