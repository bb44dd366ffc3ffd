"""Indices of elements: each kind by itself (tree.md table (a) 1, (c) 12)."""

import itertools

import pytest

from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    BodyIndex,
    ForceElementIndex,
    FrameIndex,
    JointActuatorIndex,
    JointIndex,
    ModelInstanceIndex,
    RevoluteJoint,
    SpatialInertia,
    default_model_instance,
    world_frame_index,
    world_index,
    world_model_instance,
)

KINDS = (BodyIndex, FrameIndex, JointIndex, JointActuatorIndex, ForceElementIndex, ModelInstanceIndex)


@pytest.mark.parametrize("kind", KINDS)
def test_an_index_is_an_integer_of_its_kind(kind):
    index = kind(2)
    assert index.is_valid()
    assert (int(index), hash(index), ["a", "b", "c"][index], repr(index)) == (2, hash(2), "c", f"{kind.__name__}(2)")
    assert index == kind(2) == kind(index) == 2
    assert index != kind(3)
    assert kind(1) < index <= kind(2) < kind(3) > index >= kind(2)
    assert {index: "x"}[kind(2)] == "x"
    with pytest.raises(ValueError, match=f"{kind.__name__} cannot be negative: -1"):
        kind(-1)


@pytest.mark.parametrize("kind", KINDS)
def test_of_an_invalid_index_nothing_can_be_asked_but_whether_it_is_valid(kind):
    """tree (c) 12"""
    invalid = kind()
    assert not invalid.is_valid()
    for ask in (int, hash, lambda i: i == kind(0), lambda i: i < kind(0), lambda i: ["a"][i]):
        with pytest.raises(RuntimeError, match=f"this {kind.__name__} is invalid"):
            ask(invalid)


@pytest.mark.parametrize(("one", "other"), itertools.permutations(KINDS, 2))
def test_indices_of_two_kinds_do_not_mix(one, other):
    """tree (c) 12: BodyIndex(2) is not FrameIndex(2); neither stands for the other, in comparisons nor as arguments."""
    for compare in (lambda: one(2) == other(2), lambda: one(2) != other(2), lambda: one(2) < other(2)):
        with pytest.raises(TypeError, match=f"cannot compare {one.__name__} with {other.__name__}"):
            compare()
    with pytest.raises(TypeError, match=rf"{other.__name__}\(2\) is not a {one.__name__}"):
        one(other(2))


def test_a_plant_refuses_an_index_of_another_kind():
    """tree (c) 12"""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(1.0, 1.0, 1.0, 1.0))
    plant.AddJointActuator(
        "motor", plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), body.body_frame(), [0, 0, 1]))
    )
    plant.Finalize()
    for get, kind in (
        (plant.get_body, BodyIndex),
        (plant.get_frame, FrameIndex),
        (plant.get_joint, JointIndex),
        (plant.get_joint_actuator, JointActuatorIndex),
        (plant.get_force_element, ForceElementIndex),
        (plant.GetModelInstanceName, ModelInstanceIndex),
    ):
        get(kind(0))
        for other in KINDS:
            if other is not kind:
                with pytest.raises(TypeError, match=f"is not a {kind.__name__}"):
                    get(other(0))


def test_what_every_plant_has_has_its_index():
    plant = MultibodyPlant(0.0)
    assert plant.world_body().index() == world_index() == BodyIndex(0)
    assert plant.world_frame().index() == world_frame_index() == FrameIndex(0)
    assert plant.world_body().model_instance() == world_model_instance() == ModelInstanceIndex(0)
    assert plant.AddRigidBody("body").model_instance() == default_model_instance() == ModelInstanceIndex(1)
