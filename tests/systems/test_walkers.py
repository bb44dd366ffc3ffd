"""Walkers of examples: closed forms of their limit cycles, theorems of impacts, and pydrake's motions."""

import numpy as np
import pytest
from peer_modules import peer

from mbcli import examples
from mbcli.systems.analysis import Simulator

drake = peer("pydrake.examples")
drake_analysis = peer("pydrake.systems.analysis")
GAIT = [0.0, 0.0, 0.4, -2.0]  # stance, swing and their rates


def context_after(system, state, seconds, simulator=Simulator):
    """The context after a motion; the errors of its steps are 1e-10."""
    run = simulator(system)
    context = run.get_mutable_context()
    context.SetAccuracy(1e-10)
    run.get_mutable_integrator().set_target_accuracy(1e-10)
    if system.num_input_ports():
        system.get_input_port(0).FixValue(context, [0.0])
    context.SetContinuousState(state)
    run.AdvanceTo(seconds)
    return context


def numbers(context):
    return [*context.get_continuous_state_vector().CopyToVector(), *context.get_discrete_state_vector().CopyToVector()]


def test_a_rimless_wheel_comes_to_the_speed_at_which_impacts_take_what_the_slope_gives():
    wheel = examples.RimlessWheel()
    context = context_after(wheel, [0.0, 4.0], 30.0)
    theta, rate = context.get_continuous_state_vector().CopyToVector()
    alpha, slope, g = np.pi / 8, 0.08, 9.81
    kept = np.cos(2 * alpha) ** 2
    after = kept / (1 - kept) * 4 * g * np.sin(alpha) * np.sin(slope)  # rate^2 after an impact
    energy = 0.5 * after + g * np.cos(slope - alpha)
    assert wheel.CalcTotalEnergy(context) == pytest.approx(energy, rel=1e-6)
    assert slope - alpha <= theta <= slope + alpha and rate > 0.0


def test_a_rimless_wheel_on_level_ground_ends_on_two_feet():
    wheel = examples.RimlessWheel()
    run = Simulator(wheel)
    context = run.get_mutable_context()
    wheel.get_mutable_parameters(context).set_slope(0.0)
    context.SetContinuousState([0.0, 0.5])
    run.AdvanceTo(10.0)
    theta, rate = context.get_continuous_state_vector().CopyToVector()
    assert context.get_abstract_state(0).get_value() and rate == 0.0
    assert abs(theta) == pytest.approx(np.pi / 8, abs=1e-6)


def test_a_compass_gait_keeps_its_energy_between_impacts_and_its_momentum_about_the_foot_that_lands():
    gait = examples.CompassGait()
    before = context_after(gait, GAIT, 0.3)
    energy = gait.EvalKineticEnergy(before) + gait.EvalPotentialEnergy(before)
    start = context_after(gait, GAIT, 0.0)
    assert energy == pytest.approx(gait.EvalKineticEnergy(start) + gait.EvalPotentialEnergy(start), abs=1e-6)
    st, sw, vst, vsw = x = np.array([0.2, -0.095, 1.1, 0.4])
    context = gait.CreateDefaultContext()
    context.SetContinuousState(x)
    state = context.Clone().get_mutable_state()
    (touch,) = gait.GetWitnessFunctions(context)
    touch.event.handle(gait, context, state)
    swung = state.get_continuous_state().get_vector().CopyToVector()
    np.testing.assert_array_equal(swung[:2], [sw, st])

    def momentum(angles, rates, about):  # of masses 5, 10, 5 at 0.5 and 1 on the leg that stands, 0.5 on the other
        p = [r * np.array([np.sin(angles[0]), np.cos(angles[0])]) - s * np.array([np.sin(angles[1]), np.cos(angles[1])])
             for r, s in ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))]  # fmt: skip
        v = [r * rates[0] * np.array([np.cos(angles[0]), -np.sin(angles[0])])
             - s * rates[1] * np.array([np.cos(angles[1]), -np.sin(angles[1])])
             for r, s in ((0.5, 0.0), (1.0, 0.0), (1.0, 0.5))]  # fmt: skip
        off = [place - about for place in p]
        return sum(m * (a[0] * b[1] - a[1] * b[0]) for m, a, b in zip((5.0, 10.0, 5.0), off, v, strict=True))

    foot = np.array([np.sin(st) - np.sin(sw), np.cos(st) - np.cos(sw)])
    after = momentum(swung[:2], swung[2:], np.zeros(2))
    assert momentum((st, sw), (vst, vsw), foot) == pytest.approx(after, rel=1e-12)


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize(("name", "state"), [("RimlessWheel", [0.0, 4.0]), ("CompassGait", GAIT)])
def test_walkers_walk_as_pydrakes(name, state):
    ours, theirs = getattr(examples, name)(), getattr(drake, name)()
    here = context_after(ours, state, 10.0)
    there = context_after(theirs, state, 10.0, drake_analysis.Simulator)
    assert numbers(here)[-1] > 5.0  # [m], many steps
    np.testing.assert_allclose(numbers(here), numbers(there), atol=1e-6)
    base, base_there = (
        system.get_floating_base_state_output_port().Eval(context)
        for system, context in ((ours, here), (theirs, there))
    )
    if name == "RimlessWheel":  # pydrake's velocity of the hub has the other sign than the derivative of its place
        base_there[6:9] *= -1.0
    np.testing.assert_allclose(base, base_there, atol=1e-6)


@pytest.mark.peers("pydrake")
def test_spongs_controller_has_the_torques_of_pydrakes():
    ours, theirs = examples.AcrobotSpongController(), drake.AcrobotSpongController()
    here, there = ours.CreateDefaultContext(), theirs.CreateDefaultContext()
    rng = np.random.default_rng(0)
    states = [*rng.uniform(-2.0, 2.0, (20, 4)), *([np.pi, 0.0, 0.0, 0.0] + rng.uniform(-0.1, 0.1, (20, 4)))]
    found = []
    for state in states:
        ours.get_input_port().FixValue(here, state)
        theirs.get_input_port().FixValue(there, state)
        found.append(ours.get_output_port().Eval(here)[0])
        assert found[-1] == pytest.approx(theirs.get_output_port().Eval(there)[0], rel=1e-8)
    assert max(np.abs(found)) == 20.0 and 0.0 < min(np.abs(found)) < 1.0


def test_van_der_pols_cycle_is_closed_and_has_its_amplitude():
    cycle = examples.VanDerPolOscillator.CalcLimitCycle()
    np.testing.assert_allclose(cycle[:, 0], cycle[:, -1], atol=2e-3)
    assert cycle[0].max() == pytest.approx(2.0086, abs=1e-3)  # of mu = 1
