"""At which times a Simulator updates a discrete plant: those that pydrake has, to the last bit."""

import math

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

TWO_LINKS = str(SAMPLES / "double_pendulum.urdf")
TINY = 2.0**-52


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def started(module, step):
    """A plant and its context; module: mbcli's or pydrake's MultibodyPlant and Parser."""
    plant_type, parser_type = module
    plant = plant_type(step)
    if plant_type is MultibodyPlant and step:
        plant.set_step_scheme("drake")
    parser_type(plant).AddModels(TWO_LINKS)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [1.0, 0.5])
    return plant, context


OURS = MultibodyPlant, Parser


def schedules(rng):
    """Starts and times of advances around the times of updates, as sums, products and powers of rounding give them."""
    for step in (0.1, 0.01, 0.003, 0.001):
        yield step, 0.0, np.cumsum(np.full(20, step))
        yield step, 0.0, [k * step * (1.0 + rng.choice([-1, 0, 1]) * TINY) for k in range(1, 12)]
        for start in (0.0, 1e-10 * step, 5 * step * (1.0 - 4 * TINY), 7 * step * (1.0 + 4 * TINY), 3 * step + 1e-12):
            yield step, start, start + step * np.cumsum(rng.choice([0.5, 1.0, 2.0, 1e-10, 1.0 - 1e-10], 8))


def positions_at(module, simulator_type, step, start, times):
    plant, context = started(module, step)
    context.SetTime(start)
    simulator = simulator_type(plant, context)
    simulator.Initialize()
    found = []
    for t in times:
        simulator.AdvanceTo(t)
        found.append(plant.GetPositions(context).copy())
    return np.array(found)


@pytest.mark.peers("pydrake")
def test_updates_come_at_the_times_of_pydrake():
    from pydrake.multibody.parsing import Parser as TheirParser
    from pydrake.multibody.plant import MultibodyPlant as TheirPlant
    from pydrake.systems import analysis

    for step, start, times in schedules(np.random.default_rng(3)):
        ours = positions_at(OURS, Simulator, step, start, times)
        theirs = positions_at((TheirPlant, TheirParser), analysis.Simulator, step, start, times)
        # one update more or less moves the elbow by more than 1e-6
        np.testing.assert_allclose(ours, theirs, atol=1e-9, err_msg=f"{step}, {start!r}, {times}")


def test_an_update_is_done_in_the_first_advance_beyond_its_time():
    """By hand: k h is a product of doubles; what is a bit before has it still to come, what is a bit after not."""
    step = 0.1
    for end, updates in [(0.3, 3), (3 * step, 3), (math.nextafter(3 * step, 1.0), 4), (0.29999999999, 3)]:
        plant, context = started(OURS, step)
        simulator = Simulator(plant, context)
        simulator.AdvanceTo(end)
        assert simulator.get_num_unrestricted_updates() == updates and context.get_time() == end


def test_a_start_between_two_updates_waits_for_the_next():
    plant, context = started(OURS, 0.01)
    context.SetTime(1e-12)
    simulator = Simulator(plant, context)
    simulator.AdvanceTo(0.005)
    assert simulator.get_num_unrestricted_updates() == 0 and plant.GetPositions(context).tolist() == [1.0, 0.5]
    simulator.AdvanceTo(0.011)
    assert simulator.get_num_unrestricted_updates() == 1


@pytest.mark.parametrize("step", [0.0, 0.01])
def test_a_simulator_configuration_sets_the_time(step):
    plant, context = started(OURS, step)
    context.SetTime(0.25)
    simulator = Simulator(plant, context)
    ApplySimulatorConfig(SimulatorConfig(start_time=1.5), simulator)
    assert context.get_time() == simulator.get_context().get_time() == 1.5
    simulator.AdvanceTo(1.52)
    assert plant.GetPositions(context)[0] != 1.0
    ApplySimulatorConfig(SimulatorConfig(), simulator)
    assert context.get_time() == 0.0


@pytest.mark.peers("pydrake")
def test_a_configuration_without_start_time_sets_zero_as_in_pydrake():
    from pydrake.multibody.parsing import Parser as TheirParser
    from pydrake.multibody.plant import MultibodyPlant as TheirPlant
    from pydrake.systems import analysis

    plant, context = started((TheirPlant, TheirParser), 0.01)
    context.SetTime(2.0)
    analysis.ApplySimulatorConfig(analysis.SimulatorConfig(), simulator := analysis.Simulator(plant, context))
    assert simulator.get_context().get_time() == 0.0
