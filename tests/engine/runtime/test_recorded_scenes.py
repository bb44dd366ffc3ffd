"""Steps of the scenes of the whole suite end in the states that were recorded, with kernels interpreted."""

import warnings

import numpy as np
import passive_mechanisms
import pytest
from kernel_ways import SCENES, states
from recorded import same_as_recorded

MECHANISMS = {f.__name__: f for f in (*passive_mechanisms.OPEN, *passive_mechanisms.CLOSED)}

IN_LANES = ("tree 0", "arm held", "tree with controllers", "andrews.urdf, a closed chain")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.mark.parametrize("scene", SCENES)
def test_six_steps_of_a_scene_are_those_recorded(scene):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows = states(scene)
    same_as_recorded(__file__, scene, {"first step": rows[0], "last step": rows[-1]})


@pytest.mark.parametrize("scene", IN_LANES)
def test_worlds_move_as_recorded(scene):
    same_as_recorded(__file__, f"{scene} (lanes)", {"x": states(scene, lanes=True)})


@pytest.mark.parametrize("time_step", [0.0, 0.002], ids=["continuous", "discrete"])
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_moves_as_recorded(name, time_step):
    from mbcli.systems.analysis import Simulator

    plant, q, v = passive_mechanisms.make(MECHANISMS[name], time_step)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    Simulator(plant, context).AdvanceTo(0.01)
    same_as_recorded(__file__, f"{name} {time_step}", {"x": plant.GetPositionsAndVelocities(context)})
