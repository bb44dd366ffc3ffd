"""Samples of continuous runs come from dense output: they are as accurate as the steps, and change nothing."""

import functools

import numpy as np
import pytest
from command_line import cli, succeed
from contact_scenes import Scene, own_library
from repository import SAMPLES
from test_cli_simulate import TWO_LINKS, assert_same_rows, rows
from test_closed_chains import load, start_moving
from test_integrators import (
    FORCES,
    GENTLE,
    START,
    TIMES,
    config,
    double_pendulum,
    exact_double_pendulum,
    finished,
    slider,
    spinning,
    stiff_pendulum,
)

from mbcli.log.reader import Log
from mbcli.multibody.assembly.closed_chains import assemble_context
from mbcli.multibody.stepping.continuous_steps import SCHEMES
from mbcli.multibody.stepping.inputs import Input
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import ForceElement

# of the error of a sample within one step; the last error is that of a step of the method itself, where it is larger
ORDER_IN_A_STEP = {
    "semi_explicit_euler": 2,
    "explicit_euler": 2,
    "runge_kutta2": 3,
    "runge_kutta3": 4,
    "bogacki_shampine3": 4,
    "runge_kutta5": 5,
    "radau1": 2,
    "implicit_euler": 2,
    "radau3": 3,
}


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def ends(plant, until, periods, q, v, **options):
    """The states at the end of runs that are sampled with different periods."""
    results = []
    for period in periods:
        run, context, _ = finished(plant, until, q=q, v=v, sample_period=period, **options)
        results.append((plant.GetPositionsAndVelocities(context).tobytes(), run.steps, run.refused_steps))
    return results


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_end_is_the_same_to_the_last_bit_whatever_the_samples(scheme):
    plant, q, v, _ = spinning()
    settings = config(scheme, accuracy=1e-3, max_step_size=0.02)
    first, *others = ends(plant, 0.31, (None, 0.1, 0.0073), q, v, config=settings)
    assert all(other == first for other in others)


@pytest.mark.parametrize("scheme", ["runge_kutta2", "runge_kutta5", "radau1"])
def test_so_it_is_where_inputs_change(scheme):
    settings = config(scheme, accuracy=1e-4, max_step_size=0.05)
    actuation = Input(TIMES, FORCES[:, None])
    first, *others = ends(slider(), 1.0, (None, 0.1, 0.009), [0.0], [0.2], config=settings, actuation=actuation)
    assert all(other == first for other in others)


def test_so_it_is_where_bodies_touch():
    """And whether contacts of samples are kept or not."""
    settings = config("runge_kutta3", accuracy=1e-3, max_step_size=0.02)
    results = []
    for period, keep in [(None, False), (0.011, False), (0.011, True)]:
        scene = Scene(own_library(), 0.0, stiffness=1e4, dissipation=1.0)
        scene.ground()
        scene.ball("ball", 1.0, 0.1)
        scene.start()
        scene.place("ball", [0.0, 0.0, 0.15], velocity=[0.5, 0.0, -2.0], spin=[0.0, 3.0, 0.0])
        run = Run(
            scene.plant, scene.context, 0.15, config=settings, sample_period=period, keep=("contacts",) if keep else ()
        )
        blocks = list(run.blocks())
        results.append((scene.q.tobytes(), scene.v.tobytes(), run.steps, run.refused_steps))
    assert results[0] == results[1] == results[2]
    assert 0 < sum(len(block.contacts.contacts) for block in blocks) < 14  # it has met the ground and left it


def moving_chain(name):
    """A plant of a closed chain, its q and v on the constraints."""
    plant, context = load(name)
    assemble_context(context, 1e-11)
    start_moving(context, 1.5)
    return plant, context.state.q.copy(), context.state.v.copy()


@pytest.mark.parametrize("name, scheme", [("four_bar", "runge_kutta3"), ("bricard", "runge_kutta5")])
def test_samples_of_closed_chains_satisfy_the_constraints_and_change_nothing(name, scheme):
    """Steps of up to 0.1 s: the interpolated states alone are off by 1e-6 and more. Bricard's rows are redundant."""
    plant, q, v = moving_chain(name)
    settings = config(scheme, accuracy=1e-4)
    results, tolerance = [], 1e-10
    for period in (None, 0.013):
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        run = Run(plant, context, 0.3, config=settings, sample_period=period, constraint_tolerance=tolerance)
        blocks = list(run.blocks())
        errors = np.concatenate([block.constraint_error for block in blocks])
        assert errors.max() <= tolerance
        results.append((plant.GetPositionsAndVelocities(context).tobytes(), run.steps, run.refused_steps))
    assert results[0] == results[1]
    assert len(errors) == 25 > run.steps


@functools.cache
def sample_errors(scheme, h):
    """The largest errors of samples within one step of the double pendulum, and of its end."""
    settings = config(scheme, max_step_size=h, use_error_control=False)
    run, _, samples = finished(double_pendulum(), h, q=GENTLE[:2], v=GENTLE[2:], config=settings, sample_period=h / 8.0)
    assert run.steps == 1
    y = np.column_stack([samples["q"], samples["v"]])
    exact = np.array([exact_double_pendulum(t, tuple(GENTLE)) for t in samples["time"][1:]])
    return abs(y[1:] - exact).max(axis=1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_samples_within_a_step_have_the_order_of_the_scheme(scheme):
    h = 0.1 if scheme == "runge_kutta5" else 0.02
    coarse, fine = sample_errors(scheme, h), sample_errors(scheme, 0.5 * h)
    assert np.log2(coarse[:-1].max() / fine[:-1].max()) > ORDER_IN_A_STEP[scheme] - 0.3


def test_samples_of_an_extrapolated_step_have_its_order():
    """Of implicit Euler under error control, which goes on with what a whole step and two halves extrapolate to."""
    largest = []
    for accuracy in (1e-4, 1e-6):
        settings = config("implicit_euler", accuracy=accuracy)
        _, _, samples = finished(
            double_pendulum(), 1.0, q=GENTLE[:2], v=GENTLE[2:], config=settings, sample_period=0.01
        )
        exact = np.array([exact_double_pendulum(t, tuple(GENTLE)) for t in samples["time"][1:]])
        largest.append(abs(np.column_stack([samples["q"], samples["v"]])[1:] - exact).max())
    assert largest[0] < 20.0 * 1e-4 and largest[1] < 20.0 * 1e-6


@pytest.mark.parametrize("scheme", ["runge_kutta3", "radau3", "runge_kutta5"])
def test_sampled_quaternions_have_unit_length(scheme):
    plant, q, v, _ = spinning()
    _, _, samples = finished(plant, 0.3, q=q, v=v, config=config(scheme, accuracy=1e-2), sample_period=0.003)
    assert abs(np.linalg.norm(samples["q"][:, :4], axis=1) - 1.0).max() < 1e-15


@pytest.mark.parametrize("scheme", ["radau1", "radau3"])
def test_samples_of_implicit_steps_do_not_overshoot_where_the_start_decays(scheme):
    """The velocity falls from 1 to 1e-2 rad/s within 1e-4 s; a cubic by its derivative there would reach -1e2 rad/s."""
    settings = config(scheme, max_step_size=0.1, use_error_control=False)
    _, _, samples = finished(stiff_pendulum(), 0.5, q=[1.0], v=[1.0], config=settings, sample_period=0.004)
    assert abs(samples["v"]).max() <= 1.0
    assert abs(samples["q"] - 1.0).max() < 0.1


def test_forces_of_a_user_act_at_their_times_whatever_the_samples():
    """The loops with what only Python knows; the position is a cubic in time, and so is the sample."""

    class Push(ForceElement):
        """A force that grows with time."""

        def CalcAndAddForceContribution(self, context, forces):
            forces.mutable_generalized_forces()[0] += 6.0 * context.get_time()

        def CalcPotentialEnergy(self, context):
            return 0.0

    plant = slider(finalize=False)
    plant.AddForceElement(Push(plant.world_body().model_instance()))
    plant.Finalize()
    results = []
    for period in (None, 0.013):
        context = plant.CreateDefaultContext()
        blocks = list(Run(plant, context, 0.5, sample_period=period).blocks())
        results.append(plant.GetPositionsAndVelocities(context).tobytes())
    t, q, v = (np.concatenate([getattr(b, name) for b in blocks]) for name in ("time", "q", "v"))
    assert results[0] == results[1]
    np.testing.assert_allclose(v[:, 0], 1.5 * t**2, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(q[:, 0], 0.5 * t**3, rtol=1e-12, atol=1e-14)


# --------------------------------------------------------------------------------------- the command


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("scheme", ["runge_kutta2", "runge_kutta3"])
def test_the_result_of_the_command_does_not_depend_on_the_log(tmp_path, scheme):
    """Before, steps ended at every row, and the rate of the rows was the largest step without a word."""
    run = ("-q", "simulate", TWO_LINKS, "--integrator", scheme, "--max-step", 0.03, "--at", "elbow=2", "-t", 0.5)
    last, steps = [], []
    for k, options in enumerate([(), ("--log-rate", 7), ("--log-rate", 500, "--fields", "energy")]):
        log = tmp_path / f"{k}.h5"
        steps.append(succeed(*run, *options, "-o", log, "--json").json()["steps"])
        last.append([rows(log)[name][-1].tobytes() for name in ("time", "state/q", "state/v")])
    assert last[0] == last[1] == last[2]
    assert len(set(steps)) == 1
    if scheme == "runge_kutta2":
        assert steps[0] == 17  # of 0.03 s


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("scheme", ["runge_kutta2", "runge_kutta3", "runge_kutta5", "radau1", "radau3"])
@pytest.mark.parametrize("end", [0.05, 0.1234])
def test_a_run_that_ended_goes_on_to_the_rows_of_a_longer_one(tmp_path, scheme, end):
    """Its last step was cut short: the longer run takes it as if there had been no end."""
    run = ("-q", "simulate", TWO_LINKS, "--integrator", scheme, "--max-step", 0.03, "--at", "elbow=2")
    succeed(*run, "-t", 0.3, "-o", tmp_path / "whole.h5")
    succeed(*run, "-t", end, "-o", tmp_path / "run.h5")
    succeed("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.2)
    succeed("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.3)
    assert_same_rows(tmp_path / "whole.h5", tmp_path / "run.h5")


@pytest.mark.usefixtures("interpreted")
def test_a_closed_chain_goes_on_to_the_rows_of_a_longer_run(tmp_path):
    run = ("-q", "simulate", SAMPLES / "closed_chains" / "bricard.urdf", "--integrator", "runge_kutta3")
    succeed(*run, "-t", 0.2, "-o", tmp_path / "whole.h5")
    succeed(*run, "-t", 0.07, "-o", tmp_path / "run.h5")
    succeed("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.2)
    assert_same_rows(tmp_path / "whole.h5", tmp_path / "run.h5")


@pytest.mark.usefixtures("interpreted")
def test_going_on_to_an_earlier_time_is_refused_and_keeps_the_rows(tmp_path):
    run = ("-q", "simulate", TWO_LINKS, "--integrator", "runge_kutta3", "--at", "elbow=2", "-o", tmp_path / "run.h5")
    succeed(*run, "-t", 0.1)
    before = rows(tmp_path / "run.h5")
    refused = cli("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.03)
    assert refused.code == 2
    assert refused.err == f"{tmp_path / 'run.h5'}: error: goes to 0.1 s, and the run is to end at 0.03 s already\n"
    after = rows(tmp_path / "run.h5")
    assert all(before[name].tobytes() == after[name].tobytes() for name in before)


@pytest.mark.usefixtures("interpreted")
def test_samples_that_are_missing_of_a_step_come_before_a_stop(tmp_path, monkeypatch):
    """More rows a step than a block has: a signal in between waits for the rest of them."""
    monkeypatch.setattr("mbcli.multibody.stepping.run.BLOCK_ROWS", 4)
    run = ("simulate", TWO_LINKS, "--integrator", "radau3", "--accuracy", 1e-2, "--at", "elbow=2", "--log-rate", 1000)
    blocks = Run.blocks

    def stop_at_once(self, should_stop, on_progress):
        def stop():
            if self.has_samples_left() and not should_stop():
                should_stop.__self__.should_stop._stop(15, None)
            return should_stop()

        return blocks(self, stop, on_progress)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "blocks", stop_at_once)
        assert cli("-q", *run, "-t", 0.2, "-o", tmp_path / "run.h5").code == 143
    with Log(tmp_path / "run.h5") as log:
        assert log.row_count > 4
        assert log.times[-1] <= log.read_checkpoint()["time"]


def test_the_state_at_the_start_is_the_first_sample_to_the_bit():
    _, _, samples = finished(double_pendulum(), 0.2, q=START[:2], v=START[2:], sample_period=0.01)
    assert [*samples["q"][0], *samples["v"][0]] == [*START]


@pytest.mark.parametrize("scheme", ["runge_kutta3", "radau1"])
def test_a_checkpoint_between_the_samples_of_a_step_gives_the_same_end(monkeypatch, scheme):
    """A killed process leaves such a one: the state is that of the start of the step, and so must be its length."""
    monkeypatch.setattr("mbcli.multibody.stepping.run.BLOCK_ROWS", 4)
    plant, settings = double_pendulum(), config(scheme, accuracy=1e-3, max_step_size=0.05)

    def run_from(checkpoint):
        context = plant.CreateDefaultContext()
        context.SetTime(checkpoint["time"])
        plant.SetPositions(context, checkpoint["q"])
        plant.SetVelocities(context, checkpoint["v"])
        run = Run(plant, context, 0.6, config=settings, sample_period=1e-3, going_on=checkpoint)
        checkpoints = [run.checkpoint() | {"pending": run.has_samples_left()} for _ in run.blocks()]
        return plant.GetPositionsAndVelocities(context).tobytes(), checkpoints

    end, checkpoints = run_from({"time": 0.0, "q": START[:2], "v": START[2:], "next_step": None})
    pending = [c for c in checkpoints if c["pending"]]
    assert len(pending) > 10
    for checkpoint in pending[:: len(pending) // 5]:
        assert run_from(checkpoint)[0] == end
