"""Kernels without what few models and steps have give what the whole kernels give."""

import numpy as np
import pytest
from random_trees import random_plant, random_state

from mbcli.engine import load_kernels
from mbcli.engine.collision import arrays as collision_arrays
from mbcli.engine.collision.arrays import Collision
from mbcli.engine.fields.collision_fields import COLLISION_NO_FUNCTION, COLLISION_STATUS
from mbcli.engine.runtime.model import Data
from mbcli.geometry import Box, Cylinder, HalfSpace, Sphere
from mbcli.math import RigidTransform
from mbcli.multibody.contact.meeting_contact import allocate_contact
from mbcli.multibody.plant import (
    AddMultibodyPlant,
    CoulombFriction,
    MultibodyPlant,
    MultibodyPlantConfig,
)
from mbcli.multibody.state.context import Context
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import LinearSpringDamper, SpatialInertia
from mbcli.systems.framework import DiagramBuilder

PLAIN_KINDS = [
    "weld",
    "revolute",
    "prismatic",
    "universal",
    "ball_rpy",
    "ball_quaternion",
    "planar",
    "quaternion_floating",
]


@pytest.mark.parametrize("seed", [1, 2])
def test_plain_kernels_step_to_the_same_bits(seed):
    plant = random_plant(seed, kinds=PLAIN_KINDS, time_step=0.01)
    assert plant.model.is_plain
    results = []
    for plain in (False, True):
        kernels, data = load_kernels(True, "plain" if plain else ""), Data(plant.model.sizes)
        data.q[:], data.v[:] = random_state(plant, np.random.default_rng(seed))
        handles = plant.model.handle(True), data.handle(True)
        kernels.position_stage(*handles)
        kernels.velocity_stage(*handles)
        power = kernels.calc_energy(*handles)
        kernels.calc_forward_dynamics(*handles, np.zeros((plant.num_bodies(), 6)))
        results.append(np.concatenate([data.vdot, data.energy, [power]]))
    assert np.array_equal(*results)


def test_a_model_with_a_spring_damper_is_not_plain():
    plant = MultibodyPlant(0.01)
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.2, 0.3))
    plant.AddForceElement(LinearSpringDamper(plant.world_body(), [0, 0, 0], body, [0, 0, 0.1], 0.5, 10.0, 1.0))
    plant.Finalize()
    assert not plant.model.is_plain
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [1, 0, 0, 0, 0, 0, -1.0])
    assert plant.CalcForwardDynamics(context)[5] == pytest.approx(-9.81 + 10.0 * 0.4)


def dropped_solids(approximation="lagged"):
    """Boxes, cylinders and balls over the ground and over each other: patches, pairs with and without a closed form."""
    config = MultibodyPlantConfig(time_step=0.002, discrete_contact_approximation=approximation)
    plant, scene_graph = AddMultibodyPlant(config, DiagramBuilder())
    material = CoulombFriction(0.6, 0.5)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", material)
    rng = np.random.default_rng(7)
    shapes = [Box(0.3, 0.3, 0.1), Cylinder(0.1, 0.2), Box(0.2, 0.1, 0.1), Cylinder(0.08, 0.1), Sphere(0.07)]
    for k, shape in enumerate(shapes):
        body = plant.AddRigidBody(f"body{k}", SpatialInertia.SolidBoxWithMass(1.0, 0.2, 0.2, 0.1))
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, "solid", material)
        plant.SetDefaultFreeBodyPose(body, RigidTransform([*rng.uniform(-0.04, 0.04, 2), 0.05 + 0.13 * k]))
    plant.Finalize()
    return plant


def states_after(plant, steps):
    """q, v (steps, nq + nv), and the contact of the context."""
    context = Context(plant, compiled=True)
    plant.SetPositions(context, plant.GetDefaultPositions())
    until = steps * plant.time_step()
    rows = [np.hstack([block.q, block.v]) for block in Run(plant, context, until).blocks()]
    return np.concatenate(rows), context.state.contact


@pytest.mark.parametrize("approximation", ["lagged", "sap", "similar"])
def test_steps_in_contact_by_plain_kernels_end_at_the_same_bits(approximation):
    """Their solver is without TAMSI."""
    plain, whole = dropped_solids(approximation), dropped_solids(approximation)
    assert plain.model.is_plain
    vars(whole.model)["is_plain"] = False
    (found, contact), (expected, _) = states_after(plain, 300), states_after(whole, 300)
    assert contact.statistics()["most_contacts"] > 8
    assert np.array_equal(found, expected)


def test_a_search_gets_what_it_needs_at_the_first_pair_without_a_closed_form(monkeypatch):
    """The step in which that pair is met is done again, and the run goes on as if the function had been there."""
    made, ready = [], Collision.ready_what_is_needed

    def noted(self, kernels):
        made.append(int(self.counts[COLLISION_STATUS]))
        ready(self, kernels)

    monkeypatch.setattr(Collision, "ready_what_is_needed", noted)
    results = []
    for at_hand in (True, False):
        monkeypatch.setattr(collision_arrays, "is_at_hand", lambda kernel, at_hand=at_hand: at_hand)
        results.append(states_after(dropped_solids(), 120)[0])
    assert made and set(made) == {COLLISION_NO_FUNCTION}
    assert np.array_equal(*results)


def test_a_plant_with_tamsi_has_the_whole_solver():
    plant = dropped_solids("tamsi")
    context = Context(plant, compiled=True)
    allocate_contact(context.state)
    assert context.state.kernels.kind == "contact"
