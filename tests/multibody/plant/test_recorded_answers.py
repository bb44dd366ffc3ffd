"""What the state machine asks a plant has the answers that were recorded, with kernels interpreted."""

import numpy as np
import pytest
from machine_plants import CONSTRAINTS, Recipe, Side, library
from machine_results import RESULTS, numbers
from recorded import same_as_recorded

FREE = ("revolute", "ball_rpy", "screw", "free", "curvilinear", "weld", "planar", "universal", "prismatic")
RECIPES = {
    "continuous": Recipe(1, FREE, springs=True, drive="plain"),
    "elements": Recipe(2, ("revolute", "rpy_floating", "quaternion_floating"), elements=True, springs=True),
    "element of a user": Recipe(3, ("revolute", "screw"), users=True),
    "limits": Recipe(4, ("revolute", "prismatic", "screw"), limits=True),
    "discrete": Recipe(5, FREE, 0.01, springs=True, elements=True, sampled=True, drive="plain"),
    "controlled": Recipe(6, ("revolute", "prismatic", "universal"), 0.01, drive="controlled", limits=True),
    "contact": Recipe(7, ("revolute", "free"), 0.01, contact=True, limits=True, sampled=True, scheme="midpoint"),
    "tamsi": Recipe(15, ("revolute", "free"), 0.01, "tamsi", contact=True, limits=True, sampled=True),
    "continuous contact": Recipe(8, ("prismatic", "free"), contact=True),
    "constraints": Recipe(9, ("revolute", "revolute", "prismatic", "free"), constraints=CONSTRAINTS),
    **{
        f"constrained steps, {law}": Recipe(
            10 + k, ("revolute", "revolute", "free"), 0.01, law, contact=True, sampled=True, constraints=CONSTRAINTS[:5]
        )
        for k, law in enumerate(("lagged", "similar", "sap"))
    },
}


@pytest.mark.parametrize("name", RECIPES)
def test_answers_of_a_plant_are_those_recorded(name, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    recipe, found = RECIPES[name], {}
    side = Side(library("mbcli"), recipe)
    state = side.new_state()
    plant, rng = side.plant, np.random.default_rng(recipe.seed)
    plant.SetVelocities(state.context, rng.normal(size=plant.num_velocities()))
    if recipe.drive == "controlled":
        for instance in side.instances:
            port = plant.get_desired_state_input_port(instance)
            port.FixValue(state.context, rng.normal(size=port.size()))
    if recipe.time_step:
        simulator = state.simulator()
        simulator.Initialize()
        simulator.AdvanceTo(3.5 * recipe.time_step)
    for k, (names, ask) in enumerate(RESULTS.items()):
        try:
            answer = numbers(ask(state, np.random.default_rng(k)))
        except RuntimeError as error:  # as a plant with bushings has no potential energy
            found[names[0]] = str(error)
        else:
            found[names[0]] = np.concatenate([np.ravel(x) for x in answer]) if answer else []
    same_as_recorded(__file__, name, found)
