"""Derivatives of steps in worlds: those of `linearize`, exact, along velocities; in contact too."""

import os

import numpy as np
import pytest
from repository import ROOT, SAMPLES

from mbcli.models import load_model
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.optimal_control.plant_steps import PlantSteps
from mbcli.simulation import Worlds


def compare(loaded, q, v, u, tolerance):
    steps = PlantSteps(loaded, 1, threads=1)
    q, v, u = q[np.newaxis], v[np.newaxis], u[np.newaxis]
    q_after, v_after = steps.after(q, v, u)
    maps, maps_after = steps.deviations.maps(q), steps.deviations.maps(q_after)
    N = None if maps is None else maps[0]
    back = None if maps_after is None else maps_after[1]
    found = steps.derivatives([steps.perturbed(name, q, v, u, N) for name in "qvu"], q_after, v_after, back)[0]
    plant, nq, nv = steps.plant, steps.nq, steps.nv
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q[0])
    plant.SetVelocities(context, v[0])
    plant.get_actuation_input_port().FixValue(context, u[0])
    A, B, *_ = plant_derivatives(plant, context, "actuation", "state", True)
    N, back = (np.eye(nq), np.eye(nv)) if maps is None else (N[0], back[0])
    left = np.block([[back, np.zeros((nv, nv))], [np.zeros((nv, nq)), np.eye(nv)]])
    right = np.block([[N, np.zeros((nq, nv))], [np.zeros((nv, nv)), np.eye(nv)]])
    exact = np.hstack([left @ A @ right, left @ B])
    assert np.abs(found - exact).max() <= tolerance * np.abs(exact).max()


@pytest.mark.usefixtures("ready_kernels")
@pytest.mark.parametrize("model", ["cart_pole.sdf", "arm7.urdf", "quadruped.urdf"])
def test_derivatives_are_exact_where_nothing_touches(model):
    loaded = load_model(SAMPLES / model, dt=0.01)
    plant, random = loaded.plant, np.random.default_rng(3)
    q = plant.GetPositions(plant.CreateDefaultContext())
    joints = slice(7 if plant.num_positions() > plant.num_velocities() else 0, None)
    q[joints] += random.uniform(-0.2, 0.2, q[joints].size)
    if joints.start:
        q[:4] = np.array([0.9, 0.1, -0.3, 0.2]) / np.linalg.norm([0.9, 0.1, -0.3, 0.2])
    v, u = random.normal(size=plant.num_velocities()), random.normal(size=plant.num_actuators())
    compare(loaded, q, v, u, 1e-10)


@pytest.mark.skipif(os.environ.get("MBCLI_JIT") == "0", reason="thousands of steps in contact")
def test_derivatives_are_those_of_feet_that_press_and_stick():
    loaded = load_model(ROOT / "docs" / "examples" / "walker.xml", contact=True, dt=0.005)
    plant = loaded.plant
    worlds = Worlds(loaded, 1, pose="stand", threads=1)
    worlds.step(60)  # until the feet carry it
    random = np.random.default_rng(5)
    u = random.normal(size=plant.num_actuators())
    compare(loaded, worlds.q[0].copy(), worlds.v[0].copy(), u, 1e-6)
