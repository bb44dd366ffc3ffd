"""A run steps a plant of its own: the plant of the model stays as it is, also while runs on other threads use it."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.models.loading import load_model
from mbcli.multibody.core.inputs import controlled_actuators, pd_law
from mbcli.multibody.core.outputs import net_actuation
from mbcli.multibody.core.run_plant import plant_of_run
from mbcli.multibody.tree.joint_actuator import PdControllerGains
from mbcli.multibody.tree.pd_law import ControllerOfRun
from mbcli.simulation import Worlds, context_that_holds, simulate

QUADRUPED = SAMPLES / "quadruped.urdf"
PENDULUM = SAMPLES / "double_pendulum.urdf"


def held_quadruped(**options):
    return load_model(QUADRUPED, contact=False, weld=["trunk"], hold=True, **options)


@pytest.fixture(scope="module")
def held():
    return load_model(PENDULUM, contact=False, hold=True)


def of_run(plant, p=40.0, d=3.0, **options):
    """The plant of a run with a controller on each actuator."""
    gains = PdControllerGains(p=p, d=d)
    return plant_of_run(plant, controllers={a: ControllerOfRun(a, gains, **options) for a in plant.elements.actuators})


def unchanged(plant):
    """What a plant says of what a run can let act in it."""
    ports = [id(port) for port in (*plant.input_ports(), *plant.output_ports())]
    return id(plant.model), len(controlled_actuators(plant)), plant.position_stops, plant.velocity_limits, ports


def test_a_run_leaves_the_plant_of_its_model_as_it_is(held):
    before = unchanged(held.plant)
    simulate(held, 0.01, start={"elbow": 0.4}, velocity_limits="clamp")
    Worlds(held, 2).step(2)
    context_that_holds(held)
    assert unchanged(held.plant) == before and before[1] == 0


def test_a_continuous_run_leaves_no_stops():
    model = load_model(PENDULUM, contact=False, dt=0.0)
    before = unchanged(model.plant)
    simulate(model, 0.01, velocity_limits="clamp")
    assert unchanged(model.plant) == before


def test_runs_of_one_plant_on_several_threads_are_those_of_one_after_another(held):
    starts = np.linspace(-0.5, 0.5, 6)

    def end(angle):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = simulate(held, 0.2, start={"elbow": angle}, velocity_limits="clamp")
        return run.q[-1]

    alone = [end(angle) for angle in starts]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(end, starts))
    np.testing.assert_array_equal(together, alone)
    assert len({tuple(q) for q in alone}) == len(starts)


def test_elements_and_contexts_of_either_plant_are_known_to_the_other(held):
    plant = held.plant
    run = of_run(plant)
    own, of_the_run = plant.CreateDefaultContext(), run.CreateDefaultContext()
    elbow = plant.GetJointByName("elbow")
    elbow.set_angle(of_the_run, 0.3)
    elbow.set_angle(own, 0.3)
    body = plant.get_body(plant.GetBodyIndices(plant.GetModelInstanceByName("double_pendulum"))[-1])
    for asked in (plant, run):
        poses = [asked.EvalBodyPoseInWorld(context, body).GetAsMatrix4() for context in (own, of_the_run)]
        np.testing.assert_array_equal(*poses)
    own.SetTimeStateAndParametersFrom(of_the_run)
    with pytest.raises(RuntimeError, match="another plant"):
        plant.EvalBodyPoseInWorld(load_model(PENDULUM).plant.CreateDefaultContext(), body)


def test_what_acts_is_that_of_the_context_whichever_plant_is_asked(held):
    plant = held.plant
    run = of_run(plant, p=40.0, d=0.0)
    context = run.CreateDefaultContext()
    instance = plant.elements.actuators[0].model_instance()
    n = plant.num_actuators()
    run.get_desired_state_input_port(instance).FixValue(context, np.r_[np.full(n, 0.1), np.zeros(n)])
    efforts = [net_actuation(asked, context) for asked in (run, plant)]
    np.testing.assert_array_equal(*efforts)
    assert (efforts[0] > 1.0).all()
    free = net_actuation(plant, plant.CreateDefaultContext())
    np.testing.assert_array_equal(free, np.zeros(n))


def test_effort_limits_hold_in_a_run_unless_it_takes_them_away():
    plant = held_quadruped().plant
    actuator = plant.elements.actuators[0]
    assert np.isfinite(actuator.effort_limit())
    assert pd_law(of_run(plant), actuator).effort_limit == actuator.effort_limit()
    assert pd_law(of_run(plant, limited=False), actuator).effort_limit == np.inf
    assert pd_law(plant, actuator) is None
    with pytest.raises(RuntimeError, match="gain p"):
        of_run(plant, p=-1.0)


def test_the_plant_of_a_run_is_not_converted(held):
    with pytest.raises(ModelError, match="plant of a run"):
        of_run(held.plant).ToAutoDiffXd()
