"""Dynamics in the frames of bodies: the same numbers as by the kernels, from fewer operations."""

import numpy as np
import pytest
from peer_modules import peer
from random_trees import random_plant, random_state
from repository import SAMPLES

from mbcli.codegen.body_frames import Tree
from mbcli.codegen.ways import IN_BODY_FRAMES, WAYS, is_covered, ways_in_body_frames
from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.models.loading import load_model
from mbcli.tracing import MODEL_FUNCTIONS, record_function

KERNELS = load_kernels(False)


def values_of(name, model, inputs):
    moving = (model.link_body != 0).astype(float)
    found = MODEL_FUNCTIONS[name].evaluate(KERNELS, model, Data(model.sizes), inputs, moving)
    return np.concatenate([x.ravel() for x in found])


def numbers(name, plant, seed):
    random = np.random.default_rng(seed)
    q, v = random_state(plant, random)
    rows = {"q": np.asarray(q), "v": np.asarray(v)}
    return [rows.get(each, random.normal(size=plant.num_velocities())) for each in MODEL_FUNCTIONS[name].inputs]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_random_trees_move_as_by_kernels(seed, way):
    plant = random_plant(seed, ("revolute", "prismatic"), num_bodies=8, floating_bases=seed % 2)
    model = plant.CreateDefaultContext().state.model
    assert is_covered(model)
    for name, functions in IN_BODY_FRAMES.items():
        inputs = numbers(name, plant, seed)
        wanted = values_of(name, model, inputs)
        for function in functions:
            found = function(Tree(model, KERNELS, *way), Data(model.sizes), inputs)
            np.testing.assert_allclose(np.array(found, float), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_locked_joints_stay():
    plant = random_plant(3, ("revolute", "prismatic"), num_bodies=6, time_step=0.01)
    context = plant.CreateDefaultContext()
    plant.GetJointByName("joint2").Lock(context)
    context.state.ready_parameters()
    model = context.state.model
    inputs = numbers("forward_dynamics", plant, 0)
    wanted = values_of("forward_dynamics", model, inputs)
    for function in IN_BODY_FRAMES["forward_dynamics"]:
        found = function(Tree(model, KERNELS), Data(model.sizes), inputs)
        assert found[model.locked_dof[0]] == wanted[model.locked_dof[0]] == 0.0
        np.testing.assert_allclose(np.array(found, float), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "plant",
    [
        random_plant(0, ("revolute", "universal"), num_bodies=4),
        random_plant(0, ("revolute",), num_bodies=4, elements=True),
        random_plant(1, ("revolute",), num_bodies=6, weightless=True),
    ],
    ids=["two axes", "force elements", "mass without weight"],
)
def test_other_models_keep_the_way_of_the_kernels(plant):
    assert ways_in_body_frames("inverse_dynamics", plant.CreateDefaultContext().state.model) == []


def test_links_that_do_not_count_have_no_way_of_their_own():
    model = random_plant(0, ("revolute",), num_bodies=4).CreateDefaultContext().state.model
    moving = (model.link_body != 0).astype(float)
    assert ways_in_body_frames("center_of_mass", model, moving)
    moving[2] = 0.0
    assert ways_in_body_frames("center_of_mass", model, moving) == []


def test_an_arm_of_seven_joints_takes_few_operations(ready_kernels):
    model = load_model(SAMPLES / "arm7.urdf", dt=0.0).plant.CreateDefaultContext().state.model
    for name, most in (("inverse_dynamics", 554), ("forward_dynamics", 1066), ("mass_matrix", 333), ("gravity", 104)):
        ways = ways_in_body_frames(name, model)
        count = record_function(name, model, ways=ways).num_operations
        assert count <= most < record_function(name, model).num_operations / 2


@pytest.mark.peers("pinocchio")
def test_an_arm_moves_as_in_pinocchio():
    pin = peer("pinocchio")
    theirs = pin.buildModelFromUrdf(str(SAMPLES / "arm7.urdf"))
    model = load_model(SAMPLES / "arm7.urdf", dt=0.0).plant.CreateDefaultContext().state.model
    random = np.random.default_rng(0)
    q, v, x = random.normal(size=(3, 7))
    joint_forces = model.dof_damping * v
    for way in WAYS:
        tree, data = Tree(model, KERNELS, *way), Data(model.sizes)
        (inverse,) = IN_BODY_FRAMES["inverse_dynamics"]
        wanted = pin.rnea(theirs, theirs.createData(), q, v, x) + joint_forces + model.dof_armature * x
        np.testing.assert_allclose(np.array(inverse(tree, data, (q, v, x)), float), wanted, atol=1e-11)
        theirs.armature = np.array(model.dof_armature)
        wanted = pin.aba(theirs, theirs.createData(), q, v, x - joint_forces)
        theirs.armature = np.zeros(7)
        for forward in IN_BODY_FRAMES["forward_dynamics"]:
            found = np.array(forward(Tree(model, KERNELS, *way), Data(model.sizes), (q, v, x)), float)
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
