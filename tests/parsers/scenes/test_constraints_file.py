"""Constraints in YAML files: what they become in a plant, what is wrong with them, what commands do under them."""

import json
import re

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.constraints_file import read_constraints
from repository import SAMPLES
from test_schemas import is_valid

from mbcli.common.json_text import plain
from mbcli.errors import ArgumentError
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.models import constrained_dynamics, constrained_inverse_dynamics, load_model
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.constraints import (
    ComputeConstraintImpulsesDirect,
    ConstraintSet,
    ForwardDynamicsConstraintsDirect,
    InverseDynamicsConstraints,
    InverseDynamicsConstraintsRelaxed,
)
from mbcli.multibody.constraints.plant_system import PlantSystem
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.constraints_file import add_constraints_of_file
from mbcli.multibody.plant import MultibodyPlant

FOUR_BAR = SAMPLES / "closed_chains" / "four_bar.urdf"
ARM = SAMPLES / "arm7.urdf"
LEG = SAMPLES / "closed_chains" / "closed_leg.xml"
STANCE = SAMPLES / "closed_chains" / "closed_leg.stance.yaml"


def plant_of(model, constraints, time_step=0.0):
    """The finalized plant of a model under the constraints of a YAML text, its context and the diagnostics."""
    plant, diagnostics = MultibodyPlant(time_step), Diagnostics()
    Parser(plant).AddModels(str(model))
    records = read_constraints(constraints.encode(), diagnostics, name="c.yaml")
    if records is not None:
        add_constraints_of_file(plant, records, diagnostics)
    plant.Finalize()
    return plant, plant.CreateDefaultContext(), diagnostics


def one(item):
    return f"constraints:\n- {item}\n"


def added(item, model=ARM):
    """What one item adds."""
    plant, _, diagnostics = plant_of(model, one(item))
    assert diagnostics.findings == []
    (constraint,) = (c for c in plant.elements.constraints if c.place is not None and c.place.file == "c.yaml")
    assert (constraint.place.line, constraint.place.column) == (2, item.index("{") + 3)
    return constraint


# ------------------------------------------------------------------------------------------------ into a plant


def test_every_kind_is_added_with_its_numbers():
    ball = added("ball: {name: b, body_A: hand, p_AP: [1, 2, 3], body_B: world, p_BQ: [4, 5, 6]}")
    assert (ball.kind, ball.name, ball.body_A.name(), ball.body_B.name()) == ("ball", "b", "hand", "world")
    assert (ball.p_AP.tolist(), ball.p_BQ.tolist()) == ([1, 2, 3], [4, 5, 6])
    rod = added("distance: {body_A: hand, body_B: world, p_BQ: [4, 5, 6], distance: 2, stiffness: 7, damping: 3}")
    numbers = [rod.parameters()[name] for name in ("distance", "stiffness", "damping")]
    assert (rod.kind, numbers) == ("distance", [2.0, 7.0, 3.0])
    assert added("distance: {body_A: hand, body_B: world, distance: 2}").parameters()["stiffness"] == np.inf
    pose = "{translation: [1, 2, 3], rotation: !Rpy {deg: [90, 0, 0]}}"
    X = RigidTransform(RollPitchYaw([np.pi / 2, 0, 0]), [1, 2, 3]).GetAsMatrix4()
    weld = added(f"weld: {{body_A: hand, X_AP: {pose}, body_B: world}}")
    np.testing.assert_allclose(weld.parameters()["X_AP"], X, atol=1e-15)
    assert weld.kind == "weld" and (weld.parameters()["X_BQ"] == np.eye(4)).all()
    loop = added(f"loop: {{predecessor: world, X_predecessor: {pose}, successor: hand, axes: [[0, 0, 0, 2, 0, 0]]}}")
    np.testing.assert_allclose(loop.parameters()["X_predecessor"], X, atol=1e-15)
    assert (loop.kind, loop.axes.tolist()) == ("loop", [[0, 0, 0, 2, 0, 0]])
    contact = added("contact: {body: hand, point: [1, 2, 3], normals: [[0, 0, 2], [3, 4, 0]]}")
    assert (contact.kind, contact.p_BP.tolist()) == ("contact", [1, 2, 3])
    assert contact.normals.tolist() == [[0, 0, 1], [0.6, 0.8, 0]]
    coupler = added("coupler: {joint0: joint_1, joint1: joint_3, gear_ratio: -2, offset: 0.5}")
    assert [joint.name() for joint in coupler.joints()] == ["joint_1", "joint_3"]
    assert coupler.parameters() == {"gear_ratio": -2.0, "offset": 0.5}
    tendon = added("tendon: {joints: [joint_1, joint_3], a: [1, 2], offset: 3, lower_limit: 4, upper_limit: .inf}")
    assert [joint.name() for joint in tendon.joints()] == ["joint_1", "joint_3"]
    assert (tendon.offset, tendon.lower_limit, tendon.upper_limit) == (3.0, 4.0, np.inf)


def test_a_frame_stands_for_its_body_and_names_may_be_scoped(tmp_path):
    frame = SAMPLES / "all_joints.sdf"
    model = tmp_path / "framed.sdf"
    model.write_text(
        frame.read_text().replace(
            '<link name="flap">',
            '<frame name="tip" attached_to="flap"><pose>1 2 3 0 0 0</pose></frame><link name="flap">',
        )
    )
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(model))
    frame = plant.GetFrameByName("tip")
    p_BP = frame.GetFixedPoseInBodyFrame().multiply([0.1, 0.2, 0.3])
    contact = added("contact: {body: 'all_joints::tip', point: [0.1, 0.2, 0.3], normals: [[0, 0, 1]]}", model)
    assert contact.body.name() == "flap" == frame.body().name()
    np.testing.assert_allclose(contact.p_BP, p_BP, atol=1e-15)
    weld = added("weld: {body_A: tip, body_B: world}", model)
    np.testing.assert_allclose(weld.X_AP.GetAsMatrix4(), frame.GetFixedPoseInBodyFrame().GetAsMatrix4())


def test_a_ball_without_its_second_point_takes_that_of_the_default_positions():
    plant, context, _ = plant_of(ARM, one("ball: {body_A: hand, p_AP: [0, 0, 0.1], body_B: world}"))
    P = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName("hand")).multiply([0, 0, 0.1])
    np.testing.assert_allclose(plant.elements.constraints[0].p_BQ, P, atol=1e-15)


def test_new_constraints_are_counted_switched_and_copied():
    text = one("contact: {body: hand, normals: [[0, 0, 1]]}\n- loop: {predecessor: world, successor: hand, axes: "
               "[[0, 0, 0, 1, 0, 0]]}")  # fmt: skip
    plant, context, _ = plant_of(ARM, text)
    contact, loop = plant.GetConstraintIds()
    assert plant.num_constraints() == 2
    assert ClosedChains(context).nrow == 2
    plant.SetConstraintActiveStatus(context, contact, False)
    assert ClosedChains(context).nrow == 1
    assert plant.GetConstraintActiveStatus(context, loop)
    plant.SetConstraintActiveStatus(context, loop, False)
    assert ClosedChains(context).nrow == 0


# ------------------------------------------------------------------------------------------------ what is wrong

PROBLEMS = {
    "contact: {body: hnd, normals: [[0, 0, 1]]}": 'there is no frame "hnd"; did you mean "arm7::hand"?',
    "contact: {body: arm7::hnd, normals: [[0, 0, 1]]}": 'no frame "hnd" in model instance "arm7"; did you mean "hand"?',
    "contact: {body: arm::hand, normals: [[0, 0, 1]]}": 'there is no model instance "arm"; did you mean "arm7"?',
    "contact: {body: hand, normals: []}": "normals must not be empty",
    "contact: {body: hand, normals: [[0, 0, 0]]}": "normals[0] must not be zero",
    "contact: {body: hand, normals: [0, 0, 1]}": "normals[0] must be a list of 3 items",
    "contact: {body: hand, point: [0, 1], normals: [[0, 0, 1]]}": "point must be a list of 3 items",
    "contact: {body: hand, normals: [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 0]]}": "must be one to 3 rows of 3",
    "contact: {body: hand}": 'key "normals" of Contact is missing',
    "contact: {body: hand, normal: [[0, 0, 1]]}": 'unknown key "normal" in Contact; did you mean "normals"?',
    "contcat: {body: hand}": 'unknown key "contcat" in ModelConstraint; did you mean "contact"?',
    "{}": "a constraint is exactly one of contact, loop, coupler, distance, ball, weld, tendon; it has none",
    "loop: {predecessor: world, successor: hand, axes: [[0, 0, 1]]}": "axes[0] must be a list of 6 items",
    "loop: {predecessor: world, successor: hand, axes: [[0, 0, 0, 0, 0, 0]]}": "axes[0] must not be zero",
    "loop: {predecessor: hand, successor: hand, axes: [[0, 0, 0, 0, 0, 1]]}": "between two different bodies",
    "loop: {predecessor: world, successor: hand, X_successor: {base_frame: hand}, axes: [[0, 0, 0, 0, 0, 1]]}": (
        "X_successor takes no base_frame"
    ),
    "weld: {body_A: hand, body_B: world, X_AP: {rotation: !Uniform {}}}": "X_AP must be one pose, it is random",
    "coupler: {joint0: joint_1, joint1: joint8, gear_ratio: 1}": 'no joint "joint8"; did you mean "arm7::joint_',
    "coupler: {joint0: arm7::jnt_1, joint1: joint_1, gear_ratio: 1}": 'no joint "jnt_1" in model instance "arm7"; did',
    "coupler: {joint0: base_weld, joint1: joint_1, gear_ratio: 1}": "there is no joint",
    "coupler: {joint0: joint_1, joint1: joint_2, gear_ratio: .inf}": "gear_ratio must be a finite number",
    "distance: {body_A: hand, body_B: world, distance: 0}": "distance must be greater than 0 m; found 0",
    "tendon: {joints: [joint_1, joint_2], a: [1], upper_limit: 1}": "a must have a finite number for each of its 2",
    "tendon: {joints: [joint_1], a: [1]}": "one of its limits must be finite",
    "ball: {name: b, body_A: hand, body_B: world}\n- ball: {name: b, body_A: hand, body_B: world}": (
        'there is a constraint "b" already'
    ),
}


@pytest.mark.parametrize("item", PROBLEMS)
def test_problems_have_their_place_and_a_hint(item, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text(one(item))
    result = cli("inspect", ARM, "--constraints", file)
    assert result.code == 3
    assert PROBLEMS[item] in result.err
    line = 3 if "\n" in item else 2
    assert f"c.yaml:{line}:" in result.err


def test_all_problems_of_a_file_are_said_at_once(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text(one("ball: {body_A: hnd, body_B: world}\n- ball: {body_A: hand, body_B: wrld}"))
    result = cli("inspect", ARM, "--constraints", file)
    assert "c.yaml:2:9" in result.err and "c.yaml:3:9" in result.err


def test_constraints_on_all_joints_of_a_loop_name_the_line_of_the_one_that_is_cut(tmp_path):
    file = tmp_path / "c.yaml"
    pairs = ("left", "crank_coupler"), ("right", "coupler_rocker")
    items = (f"- coupler: {{joint0: {a}, joint1: {b}, gear_ratio: 1}}" for a, b in pairs)
    file.write_text("\n".join(["constraints:", *items]))
    result = cli("inspect", FOUR_BAR, "--constraints", file)
    assert result.code == 3
    assert re.search(r"c\.yaml:[23]:12: error: .* closes a loop and has no coordinate to constrain", result.err)


def test_a_missing_file_a_discrete_plant_that_holds_none_and_convert(tmp_path):
    result = cli("inspect", ARM, "--constraints", tmp_path / "none.yaml")
    assert result.code == 4 and "none.yaml: error: no such file" in result.err
    file = tmp_path / "c.yaml"
    file.write_text(one("ball: {body_A: hand, body_B: world}"))
    options = ("--constraints", file, "--set", "plant_config.discrete_contact_approximation=tamsi")
    result = cli("inspect", ARM, *options)
    assert result.code == 3
    assert "c.yaml:2:9: error: the discrete contact approximation tamsi cannot hold a ball" in result.err
    result = cli("convert", LEG, "--constraints", STANCE, "--to", "sdf")
    assert result.code == 2 and "--constraints" in result.err


@pytest.mark.parametrize(
    ("item", "valid"),
    [
        ("contact: {body: a, normals: [[0, 0, 1]]}", True),
        ("contact: {name: c, body: a, point: [1, 2, 3], normals: [[0, 0, 1], [1, 0, 0]]}", True),
        ("loop: {predecessor: a, successor: b, axes: [[0, 0, 0, 0, 0, 1]]}", True),
        ("loop: {predecessor: a, X_predecessor: {rotation: !Rpy {deg: [1, 2, 3]}}, successor: b, "
         "X_successor: {translation: [1, 2, 3]}, axes: [[0, 0, 0, 0, 0, 1]]}", True),
        ("coupler: {joint0: a, joint1: b, gear_ratio: 2}", True),
        ("distance: {body_A: a, body_B: b, distance: 2, stiffness: 1, damping: 0}", True),
        ("ball: {body_A: a, body_B: b}", True),
        ("ball: {body_A: a, p_AP: [1, 2, 3], body_B: b, p_BQ: [1, 2, 3]}", True),
        ("weld: {body_A: a, body_B: b, X_BQ: {}}", True),
        ("tendon: {joints: [a], a: [1], lower_limit: 1}", True),
        ("contact: {body: a}", False),
        ("contact: {body: a, normals: [[0, 1]]}", False),
        ("loop: {predecessor: a, successor: b, axes: [[0, 0, 1]]}", False),
        ("coupler: {joint0: a, joint1: b}", False),
        ("distance: {body_A: a, body_B: b, distance: 0}", False),
        ("distance: {body_A: a, body_B: b, distance: 1, damping: -1}", False),
        ("ball: {body_A: a, body_B: 3}", False),
        ("ball: {A: a, B: b}", False),
        ("{}", False),
        ("{ball: {body_A: a, body_B: b}, coupler: {joint0: a, joint1: b, gear_ratio: 2}}", False),
    ],
)  # fmt: skip
def test_schema_and_reader_accept_the_same_constraints(item, valid):
    assert is_valid("constraints", one(item)) == valid
    diagnostics = Diagnostics()
    read_constraints(one(item).encode(), diagnostics)
    assert (not diagnostics.errors) == valid


def test_the_sample_files_are_valid():
    files = sorted((SAMPLES / "closed_chains").glob("*.yaml"))
    assert len(files) == 2
    for file in files:
        assert is_valid("constraints", file.read_text())


# ------------------------------------------------------------------------------------------------ motion

GRIP = """
- contact: {name: grip, body: hand, point: [0, 0, 0.1], normals: [[0, 0, 1], [1, 0, 1]]}
"""
RAIL = """
- loop:
    predecessor: world
    X_predecessor: {translation: [0.1, 0.2, 0.3], rotation: !Rpy {deg: [10, 20, 30]}}
    successor: hand
    X_successor: {translation: [0, 0, 0.1]}
    axes: [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0.3]]
"""


def arm_under(constraints):
    plant, context, diagnostics = plant_of(ARM, "constraints:" + constraints)
    assert not diagnostics.findings
    rng = np.random.default_rng(0)
    plant.SetPositions(context, rng.uniform(-1, 1, 7))
    plant.SetVelocities(context, rng.uniform(-1, 1, 7))
    return plant, context, rng.uniform(-1, 1, 7)


def rbdl_set(plant, constraints):
    """The same constraints as RBDL has them."""
    cs = ConstraintSet()
    if constraints is GRIP:
        for normal in ([0, 0, 1], np.array([1, 0, 1]) / np.sqrt(2)):
            cs.AddContactConstraint("hand", [0, 0, 0.1], normal)
    else:
        X_P = RigidTransform(RollPitchYaw(np.radians([10, 20, 30])), [0.1, 0.2, 0.3])
        for axis in ([0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0.3]):
            cs.AddLoopConstraint("world", "hand", X_P, RigidTransform([0, 0, 0.1]), axis)
    cs.Bind(plant)
    return cs


@pytest.mark.parametrize("constraints", [GRIP, RAIL], ids=["contact", "loop"])
def test_motion_is_that_of_rbdls_constraint_sets(constraints):
    """Which know no damping: it is among the given forces there."""
    plant, context, tau = arm_under(constraints)
    cs = rbdl_set(plant, constraints)
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    damping = plant.CalcRequiredForces(context) - plant.CalcRequiredForces(context, damping=False)
    assert np.abs(damping).max() > 0.1
    expected = ForwardDynamicsConstraintsDirect(plant, q, v, tau - damping, cs)
    np.testing.assert_allclose(plant.CalcAccelerations(context, tau), expected, atol=1e-9)
    system = PlantSystem(context)
    for method in ("range-space", "direct", "null-space", *(["kokkevis"] if constraints is GRIP else [])):
        vdot, force = system.accelerations(tau, method)
        np.testing.assert_allclose(vdot, expected, atol=1e-9, err_msg=method)
        np.testing.assert_allclose(force, cs.force, atol=1e-9, err_msg=method)
    v_plus = ComputeConstraintImpulsesDirect(plant, q, v, cs)
    for method in ("range-space", "direct", "null-space"):
        for found, of_set in zip(system.impulses(method), (v_plus, cs.impulse), strict=True):
            np.testing.assert_allclose(found, of_set, atol=1e-11, err_msg=method)


def test_inverse_dynamics_are_those_of_rbdls_constraint_sets():
    plant, context, wanted = arm_under(RAIL)
    cs = rbdl_set(plant, RAIL)
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    actuated = np.array([1, 1, 1, 0, 0, 0, 0], dtype=bool)
    cs.SetActuationMap(plant, actuated)
    undamped = PlantSystem(context, damping=False)
    for theirs, ours in (
        (InverseDynamicsConstraints, undamped.exact_inverse_dynamics),
        (InverseDynamicsConstraintsRelaxed, undamped.relaxed_inverse_dynamics),
    ):
        expected = theirs(plant, q, v, wanted, cs)
        for found, of_set in zip(ours(actuated, wanted), (*expected, cs.force), strict=True):
            np.testing.assert_allclose(found, of_set, atol=1e-9)
    # with damping, the forces found lead to the accelerations found
    for solve in (PlantSystem(context).exact_inverse_dynamics, PlantSystem(context).relaxed_inverse_dynamics):
        vdot, tau, _ = solve(actuated, wanted)
        np.testing.assert_allclose(tau[~actuated], 0.0, atol=1e-9)
        np.testing.assert_allclose(plant.CalcAccelerations(context, tau), vdot, atol=1e-8)


def test_kokkevis_takes_contacts_alone_and_direct_no_dependent_rows():
    plant, context, tau = arm_under(RAIL)
    with pytest.raises(ValueError, match="contact constraints only, there is a loop constraint between 'world' and"):
        PlantSystem(context).accelerations(tau, "kokkevis")


# ------------------------------------------------------------------------------------------------ from the shell


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


pytestmark = pytest.mark.usefixtures("interpreted")


def test_inspect_shows_them_with_rank_and_mobility(tmp_path):
    text = succeed("inspect", LEG, "--constraints", STANCE).out
    assert "contact ankle on front_shank, 2 normals" in text
    assert "constraints: 5 equations of rank 4, mobility 1; redundant: 1 of ankle" in text
    file = tmp_path / "c.yaml"
    file.write_text("constraints:" + RAIL)
    text = succeed("inspect", ARM, "--constraints", file).out
    assert "loop between world and hand, 4 axes" in text
    assert "constraints: 4 equations of rank 4, mobility 3" in text
    document = succeed("inspect", ARM, "--constraints", file, "--json").json()
    assert str(file) in [entry["path"] for entry in document["model"]["files"]]
    assert document["constraints"][0]["axes"][3] == [0, 1, 0, 0, 0, 0.3]


@pytest.mark.parametrize("method", ["range-space", "direct", "null-space", "kokkevis"])
def test_constrained_dynamics_by_every_method(method, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("constraints:" + GRIP)
    options = ("--constraints", file, "--random", 1, "--u", "1 2 3 4 5 6 7", "--tau", "joint_1_w=2", "--json")
    document = succeed("constrained-dynamics", ARM, *options, "--method", method).json()
    default = succeed("constrained-dynamics", ARM, *options).json()
    assert document["method"] == method and default["method"] == "range-space"
    for key in ("vdot", "lambda", "tau", "v_plus", "impulse"):
        np.testing.assert_allclose(document[key], default[key], atol=1e-9)
    assert document["tau"] == [3, 2, 3, 4, 5, 6, 7]
    assert document["rank"] == 2
    (force,) = document["forces"]
    assert (force["type"], force["name"], force["bodies"], force["rows"]) == ("contact", "grip", ["hand"], [0, 1])
    first, second = document["lambda"]
    on_hand = [second / np.sqrt(2), 0, first + second / np.sqrt(2)]
    np.testing.assert_allclose(force["force"], [0, 0, 0, *on_hand], atol=1e-12)


def test_methods_that_do_not_apply_say_so():
    result = cli("constrained-dynamics", LEG, "--method", "kokkevis")
    assert result.code == 2 and "takes contact constraints alone, there is a ball constraint 'ankle'" in result.err
    result = cli("constrained-dynamics", LEG, "--method", "direct")
    assert result.code == 5 and "its constraints depend on one another" in result.err
    for options in (["--vdot", "1 2 3 4 5"], ["--actuated", "rail"]):
        assert cli("constrained-dynamics", LEG, *options).code == 2
    for options in (["--method", "direct"], ["--tau", "1 2 3 4 5"], ["--u", "1 2"]):
        assert cli("constrained-dynamics", LEG, "--exact", *options).code == 2
    assert cli("inverse-dynamics", LEG, "--exact", "--derivatives").code == 2
    assert "the model has no actuators" in cli("inverse-dynamics", FOUR_BAR, "--exact").err
    assert "did you mean 'left'" in cli("inverse-dynamics", FOUR_BAR, "--exact", "--actuated", "lift").err


@pytest.mark.parametrize("kind", ["exact", "relaxed"])
def test_inverse_dynamics_under_constraints_hold_the_leg(kind):
    options = ("--constraints", STANCE, f"--{kind}", "--json")
    document = succeed("inverse-dynamics", LEG, *options).json()
    same = succeed("constrained-dynamics", LEG, *options).json()
    assert document["tau"] == same["tau"] and document["method"] == same["method"] == kind
    assert document["tau"][1] - document["tau"][3] > 5.0  # the weight
    np.testing.assert_allclose([document["tau"][k] for k in (0, 2, 4)], 0.0, atol=1e-9)
    forward = ("--constraints", STANCE, "--tau", " ".join(map(repr, document["tau"])), "--json")
    reached = succeed("constrained-dynamics", LEG, *forward).json()
    np.testing.assert_allclose(reached["vdot"], document["vdot"], atol=1e-9)
    np.testing.assert_allclose(reached["vdot"], 0.0, atol=1e-9 if kind == "exact" else 1.0)


def test_an_under_actuated_chain_wants_the_relaxed_method():
    result = cli("inverse-dynamics", LEG, "--exact")
    assert result.code == 5 and "the constrained system is not fully actuated" in result.err
    assert succeed("inverse-dynamics", LEG, "--relaxed").code == 0


def test_rows_of_a_batch_have_what_single_states_have(tmp_path):
    file = tmp_path / "states.csv"
    file.write_text("closed_leg_front_hip_q,closed_leg_rear_hip_q\n0,0\n0.1,-0.1\n")
    rows = succeed(
        "constrained-dynamics", LEG, "--constraints", STANCE, "--states", file, "--fill", "default"
    ).out.splitlines()
    last = succeed(
        "constrained-dynamics", LEG, "--constraints", STANCE, "--at", "front_hip=0.1", "--at", "rear_hip=-0.1", "--json"
    ).json()
    assert len(rows) == 2
    for key in ("vdot", "lambda", "tau", "v_plus", "impulse"):
        assert json.loads(rows[1])[key] == last[key]


def test_a_run_under_constraints_of_a_file_is_that_of_the_same_joint(tmp_path):
    """The four-bar with its loop in the URDF, and as an open chain with the five axes of a hinge in a file."""
    text = FOUR_BAR.read_text()
    first, last = text.index("<loop_joint"), text.index("</loop_joint>") + len("</loop_joint>")
    open_chain, file = tmp_path / "four_bar.urdf", tmp_path / "hinge.yaml"
    open_chain.write_text(text[:first] + text[last:])
    axes = [np.eye(6)[k].tolist() for k in (0, 2, 3, 4, 5)]
    file.write_text(
        "constraints:\n- loop: {predecessor: coupler, X_predecessor: {translation: [4.8, 0, 0]}, successor: rocker, "
        f"X_successor: {{translation: [0, 0, 2]}}, axes: {axes}}}\n"
    )
    for how in (["--integrator", "runge_kutta3"], ["--dt", 0.001]):
        options = ("--v", "1 0 0", "-t", 0.05, "--no-log", "--json", *how)
        joint = succeed("simulate", FOUR_BAR, *options).json()
        loop = succeed("simulate", open_chain, "--constraints", file, *options).json()
        np.testing.assert_allclose(loop["q"], joint["q"], atol=1e-12)
        assert loop["constraint_error"] <= 1e-6


def test_the_example_of_the_documents_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(SAMPLES.parent)
    page = (SAMPLES.parent / "docs" / "reference" / "scenes.md").read_text()
    section = page[page.index("## Constraints") : page.index("## The search for files")]
    example = section[section.index("```yaml\n") + 8 :]
    example = example[: example.index("```")]
    assert STANCE.read_text().endswith(example)
    commands = [line.split()[1:] for line in section.splitlines() if line.startswith("    mbcli ")]
    assert len(commands) == 3
    for command in commands:
        succeed(*(str(tmp_path / word) if word == "leg.h5" else word for word in command))


def test_a_log_holds_the_file_and_a_run_goes_on_under_it(tmp_path):
    log = tmp_path / "run.h5"
    options = ("--integrator", "runge_kutta3", "--constraints", STANCE)
    succeed("simulate", LEG, *options, "-t", 0.02, "-o", log)
    assert "closed_leg.stance.yaml" in succeed("log", "info", log).out
    whole = succeed("simulate", LEG, *options, "-t", 0.04, "--no-log", "--json").json()
    resumed = succeed("simulate", "--resume", log, "-t", 0.04, "--json").json()
    assert resumed["q"] == whole["q"]
    result = cli("simulate", LEG, "--integrator", "runge_kutta3", "--resume", log, "-t", 0.06)
    assert result.code == 3 and "is of other model files" in result.err


@pytest.mark.parametrize("method", ["range-space", "null-space", "relaxed"])
def test_the_library_gives_what_constrained_dynamics_prints(method):
    context = load_model(LEG, constraints=STANCE).plant.CreateDefaultContext()
    if method == "relaxed":
        arguments, words = {"vdot": [0.0, 0.1, 0.0, 0.2, 0.0]}, ("--relaxed", "--vdot", "0 0.1 0 0.2 0")
    else:
        arguments = {"tau": [0.0, 1.0, 0.0, 2.0, 0.0], "u": [0.5, 0.25]}
        words = ("--method", method, "--tau", "0 1 0 2 0", "--u", "0.5 0.25")
    printed = succeed("constrained-dynamics", LEG, "--constraints", STANCE, *words, "--json").json()
    errors = []
    found = constrained_dynamics(context, method=method, on_errors=errors.append, **arguments)
    assert plain(found) == {key: printed[key] for key in found}
    assert errors == [{key: found[key] for key in ("position_error", "velocity_error")}]
    if method == "relaxed":
        inverse = constrained_inverse_dynamics(context, method=method, **arguments)
        assert plain(inverse) == {key: printed[key] for key in inverse}


def test_the_library_refuses_arguments_that_do_not_fit():
    context = load_model(LEG).plant.CreateDefaultContext()
    for call, message in (
        (lambda: constrained_dynamics(context, method="fast"), "method is one of range-space, .*, not 'fast'"),
        (lambda: constrained_dynamics(context, vdot=np.zeros(5)), "vdot is not for the method range-space"),
        (lambda: constrained_dynamics(context, method="exact", u=[1, 2]), "u is not for the method exact"),
        (lambda: constrained_dynamics(context, method="kokkevis"), 'method="kokkevis" takes contact constraints alone'),
        (lambda: constrained_inverse_dynamics(context, method="direct"), "method is one of exact, relaxed"),
        (lambda: constrained_inverse_dynamics(context, actuated=["rial"]), "actuated: .* did you mean"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    unactuated = load_model(FOUR_BAR).plant.CreateDefaultContext()
    with pytest.raises(ArgumentError, match="the model has no actuators: actuated names"):
        constrained_inverse_dynamics(unactuated)
