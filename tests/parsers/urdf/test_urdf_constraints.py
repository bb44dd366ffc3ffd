"""Closed loops, force elements and constraints of URDF files."""

import math
import re

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.spec import (
    BallConstraintSpec,
    BushingSpec,
    DistanceConstraintSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
)
from mbcli.parsers.urdf.read_urdf import read_urdf

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import MultibodyForces

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.2" izz="0.15"/></inertial>'


def hinge(name, parent, child, more="", *, kind="continuous"):
    return (
        f'  <joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/>{more}</joint>\n'
    )


def robot(body, links="abc"):
    names = "".join(f'  <link name="{name}">{INERTIAL}</link>\n' for name in links)
    return f'<robot name="r" xmlns:drake="http://drake.mit.edu">\n{names}{body}</robot>'


CHAIN = (
    hinge("j", "world", "a")
    + hinge("k", "a", "b")
    + hinge("l", "b", "c", kind="prismatic").replace("</joint>", '<limit lower="-1" upper="1"/></joint>')
)


def read(text):
    diagnostics = Diagnostics()
    return read_urdf(text.encode(), diagnostics, name="r.urdf"), diagnostics


def sound(body):
    model, diagnostics = read(robot(body))
    assert [str(f) for f in diagnostics.findings] == []
    return model


def element(tag, prefix=None, named=(), **valued):
    prefix = prefix or tag
    names = "".join(f'<{prefix}_{end} name="{name}"/>' for end, name in dict(named).items())
    values = "".join(f'<{prefix}_{end} value="{value}"/>' for end, value in valued.items())
    return f"  <{tag}>{names}{values}</{tag}>\n"


AB = {"body_A": "a", "body_B": "b"}
BALL = element("drake:ball_constraint", named=AB, p_AP="1 2 3", p_BQ="4 5 6")
DISTANCE = element("drake:distance_constraint", named=AB, p_AP="1 2 3", p_BQ="4 5 6", distance=0.7)
SPRING = element(
    "drake:linear_spring_damper", named=AB, p_AP="1 2 3", p_BQ="4 5 6", free_length=0.5, stiffness=20, damping=3
)
BUSHING = '  <frame name="tip" link="b" xyz="0 0 1"/>\n' + element(
    "drake:linear_bushing_rpy",
    "drake:bushing",
    {"frameA": "a", "frameC": "tip"},
    torque_stiffness="1 2 3",
    torque_damping="4 5 6",
    force_stiffness="7 8 9",
    force_damping="10 11 12",
)
JOINTS = '<drake:tendon_constraint_joint name="j" a="0.5"/><drake:tendon_constraint_joint name="l" a="-2"/>'
TENDON = element(
    "drake:tendon_constraint", offset=0.1, lower_limit=-0.5, upper_limit=0.9, stiffness=100, damping=0.2
).replace("<drake:tendon_constraint>", f"<drake:tendon_constraint>{JOINTS}")


# ------------------------------------------------------------------------------------------ what is read


def same(spec, expected, **more):
    values = {name: getattr(spec, name) for name in spec.__slots__ if name != "place"}
    assert values == {name: getattr(expected, name) for name in expected.__slots__ if name != "place"} | more


def test_every_force_element_is_read_with_its_place():
    bushing, spring = sound(CHAIN + BUSHING + SPRING).force_elements
    assert (str(bushing.place), str(spring.place)) == ("r.urdf:9:3", "r.urdf:10:3")
    triples = [tuple(range(k, k + 3)) for k in (1, 4, 7, 10)]
    same(bushing, BushingSpec("a", "tip", *triples, None))
    same(spring, SpringDamperSpec("a", (1, 2, 3), "b", (4, 5, 6), 0.5, 20, 3, None))


def test_every_constraint_is_read_with_its_place():
    ball, distance, tendon = sound(CHAIN + BALL + DISTANCE + TENDON).constraints
    assert [str(c.place) for c in (ball, distance, tendon)] == ["r.urdf:8:3", "r.urdf:9:3", "r.urdf:10:3"]
    same(ball, BallConstraintSpec("a", (1, 2, 3), "b", (4, 5, 6), None))
    same(distance, DistanceConstraintSpec("a", (1, 2, 3), "b", (4, 5, 6), 0.7, None))
    same(tendon, TendonConstraintSpec(("j", "l"), (0.5, -2), None, 0.1, -0.5, 0.9, 100, 0.2))


def test_what_is_left_out_is_rigid_and_without_damping():
    short = TENDON
    for part in ("offset", "lower_limit", "stiffness", "damping"):
        short = re.sub(rf"<drake:tendon_constraint_{part} [^>]*>", "", short)
    (tendon,) = sound(CHAIN + short).constraints
    assert (tendon.offset, tendon.lower, tendon.stiffness, tendon.damping) == (0, -math.inf, math.inf, 0)
    (distance,) = sound(CHAIN + DISTANCE).constraints
    assert (distance.stiffness, distance.damping) == (math.inf, 0)


def test_the_world_takes_part():
    (ball,) = sound(CHAIN + BALL.replace('"b"', '"world"')).constraints
    assert ball.link_B == "world"
    (bushing,) = sound(CHAIN + BUSHING.replace('frameA name="a"', 'frameA name="world"')).force_elements
    assert bushing.frame_A == "world"


# ------------------------------------------------------------------------------- one damaged token, one error

FAULTS = {
    "a missing child": (BALL, '<drake:ball_constraint_p_BQ value="4 5 6"/>', "", "a <drake:ball_constraint_p_BQ>"),
    "an unknown link": (BALL, 'name="b"', 'name="bb"', 'there is no link "bb" for <drake:ball_constraint_body_B>'),
    "the same link twice": (BALL, 'name="b"', 'name="a"', '<drake:ball_constraint> ties link "a" to itself'),
    "two numbers": (BALL, '"4 5 6"', '"4 5"', "must be 3 numbers, found 2"),
    "a distance of 0": (DISTANCE, '"0.7"', '"0"', 'of <drake:distance_constraint_distance> must be positive, found 0'),
    "an unknown frame": (BUSHING, 'frameC name="tip"', 'frameC name="tap"', 'there is no frame "tap"'),
    "a negative stiffness": (BUSHING, '"1 2 3"', '"1 -2 3"', "<drake:bushing_torque_stiffness> must not be negative"),
    "a spring without length": (SPRING, '"0.5"', '"0"', "<drake:linear_spring_damper_free_length> must be positive"),
    "a spring that pushes": (SPRING, '"20"', '"-20"', "_stiffness> must not be negative, found -20.0"),
    "an unknown joint": (TENDON, 'name="l"', 'name="m"', 'there is no joint "m" for <drake:tendon_constraint_joint>'),
    "a joint twice": (TENDON, 'name="l"', 'name="j"', 'joint "j" is in this tendon twice'),
    "no joints": (TENDON, JOINTS, "", "must have a <drake:tendon_constraint_joint>"),
    "no coefficient": (TENDON, ' a="0.5"', "", 'must have the attribute "a"'),
    "limits in the wrong order": (TENDON, '"-0.5"', '"1.5"', "has its lower limit above its upper one"),
    "a tendon without stiffness": (TENDON, '"100"', '"0"', "<drake:tendon_constraint_stiffness> must be positive"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "old", "new", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_one_damaged_token_is_one_error_in_its_line(content, old, new, message):
    assert content.count(old) == 1
    model, diagnostics = read(robot(CHAIN + content.replace(old, new)))
    assert model is None
    (finding,) = diagnostics.errors
    assert message in finding.message
    assert finding.place.line in (8, 9)


def test_a_tendon_runs_over_joints_with_one_coordinate_and_has_a_limit():
    fixed = CHAIN + hinge("f", "c", "d", kind="fixed").replace('<axis xyz="0 0 1"/>', "")
    _, diagnostics = read(robot(fixed + TENDON.replace('name="l"', 'name="f"'), "abcd"))
    assert ['joint "f" has 0 coordinates' in f.message for f in diagnostics.errors] == [True]
    free = re.sub(r"<drake:tendon_constraint_(lower|upper)_limit [^>]*>", "", TENDON)
    _, diagnostics = read(robot(CHAIN + free))
    assert ["has no limit" in f.message for f in diagnostics.errors] == [True]


def test_a_mistyped_child_is_a_warning_with_a_hint():
    _, diagnostics = read(robot(CHAIN + BALL.replace("</drake:ball", "<drake:ball_constraint_p_BQQ/></drake:ball")))
    (finding,) = diagnostics.findings
    assert (finding.code, finding.severity) == ("ELEMENT_UNKNOWN", "warning")
    assert "drake:ball_constraint_p_BQ" in finding.hint


# ------------------------------------------------------------------------------------------------- loops

FOUR_BAR = (
    hinge("crank", "world", "a") + hinge("coupler", "a", "b") + hinge("rocker", "b", "c") + hinge("base", "world", "c")
)


def test_a_link_with_two_parents_closes_a_loop_which_is_cut_at_the_last_joint():
    model, diagnostics = read(robot(FOUR_BAR))
    assert [j.name for j in model.joints] == ["crank", "coupler", "rocker", "base"]
    assert [(f.code, f.severity, f.place.line) for f in diagnostics.findings] == [("LOOP_CUT", "note", 8)]
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(robot(FOUR_BAR), "urdf")
    plant.Finalize()
    assert plant.GetPositionNames() == ["r_crank_q", "r_coupler_q", "r_rocker_q"]
    assert [(c.kind, c.name, str(c.place)) for c in plant.elements.constraints] == [("loop", "base", "<string>:8:3")]


def test_a_loop_through_a_link_that_is_listed_as_child_of_a_later_one_is_no_cycle():
    ring = hinge("back", "c", "a") + hinge("k", "a", "b") + hinge("l", "b", "c") + hinge("j", "world", "a")
    model, diagnostics = read(robot(ring))
    assert model is not None
    assert [f.code for f in diagnostics.findings] == ["LOOP_CUT"]
    _, diagnostics = read(robot(ring.replace('parent link="world"', 'parent link="b"').replace('"j"', '"jj"')))
    assert [f.code for f in diagnostics.errors] == ["JOINT_CYCLE"]


def test_a_loop_joint_is_cut_wherever_it_stands():
    loop = """  <loop_joint name="loop" type="revolute"><link1 link="world" xyz="1 0 0"/><link2 link="c" rpy="0 0 0.5"/>
    <axis xyz="0 0 1"/></loop_joint>\n"""
    model, diagnostics = read(robot(loop + CHAIN))
    assert [f.code for f in diagnostics.findings] == ["JOINT_LIMIT_MISSING", "LOOP_CUT"]
    joint = model.joints[-1]
    assert (joint.name, joint.type, joint.parent, joint.child) == ("loop", "revolute", "world", "c")
    assert joint.X_PF[:3, 3].tolist() == [1, 0, 0]
    assert joint.X_CM[0, 0] == pytest.approx(math.cos(0.5))
    _, diagnostics = read(robot(CHAIN + loop.replace("revolute", "planar")))
    assert [f.message for f in diagnostics.errors] == ['there is no joint type "planar"']


def test_loops_are_shown_and_refused_on_demand():
    text = robot(FOUR_BAR)
    assert "loop closed by base (revolute) between world and c" in succeed("inspect", "-", stdin=text).out
    (entry,) = succeed("inspect", "-", "--json", "--loops", "cut", stdin=text).json()["constraints"]
    assert (entry["type"], entry["name"], entry["joint_type"], entry["bodies"]) == (
        "loop",
        "base",
        "revolute",
        ["world", "c"],
    )
    refused = cli("inspect", "-", "--loops", "error", stdin=text)
    assert refused.code == 3
    assert "<stdin>:8:3: error: joint 'base' closes a loop between 'world' and 'c'" in refused.err


# ----------------------------------------------------------------------------------------------- pydrake


@pytest.mark.peers("pydrake")
def test_force_elements_and_constraints_are_those_of_pydrake():
    from pydrake.multibody import parsing, plant as drake
    from pydrake.multibody.tree import MultibodyForces as TheirForces

    text = robot(CHAIN + BALL + TENDON + SPRING + BUSHING + hinge("m", "c", "d", '<mimic joint="j"/>'), "abcd")
    theirs = drake.MultibodyPlant(0.01)
    parsing.Parser(theirs).AddModelsFromString(text, "urdf")
    ours = MultibodyPlant(0.01)
    Parser(ours).AddModelsFromString(text, "urdf")
    assert ours.num_constraints() == theirs.num_constraints() == 3
    assert ours.num_force_elements() == theirs.num_force_elements()
    rng = np.random.default_rng(0)
    results = []
    for plant in (ours, theirs):
        plant.Finalize()
        results.append((plant, plant.CreateDefaultContext()))
    q, v = rng.uniform(-0.5, 0.5, (2, 4))
    taus = []
    for plant, context in results:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        forces = (TheirForces if plant is theirs else MultibodyForces)(plant)
        plant.CalcForceElementsContribution(context, forces)
        taus.append(plant.CalcInverseDynamics(context, np.zeros(4), forces))
    np.testing.assert_allclose(*taus, rtol=1e-10, atol=1e-10)
