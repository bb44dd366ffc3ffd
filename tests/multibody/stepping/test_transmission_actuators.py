"""Actuators that act through tendons, sites and cranks, with activations: against closed forms."""

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.models.loading import load_model
from mbcli.simulation.running import resume, simulate
from mbcli.simulation.worlds import Worlds

ARM = """<mujoco><option timestep=".01" gravity="0 0 0"/><worldbody>
<site name="wall" pos="0 0 1"/>
<body><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03" mass="1"/>
  <site name="tip" pos=".4 0 0"/>
  <body pos=".4 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/>
  <site name="end" pos=".3 0 0"/></body></body></worldbody>
<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="b" coef="-.5"/></fixed>
<spatial name="s"><site site="wall"/><site site="end"/></spatial></tendon>
<actuator>ACTUATORS</actuator></mujoco>"""


def loaded(tmp_path, actuators, text=ARM, **options):
    path = tmp_path / "arm.xml"
    path.write_text(text.replace("ACTUATORS", actuators))
    return load_model(str(path), **options)


def context_of(plant, q=(), v=()):
    context = plant.CreateDefaultContext()
    if len(q):
        plant.SetPositions(context, q)
    if len(v):
        plant.SetVelocities(context, v)
    return context


def test_fixed_tendon_splits_a_force_by_its_moment_arms(tmp_path):
    plant = loaded(tmp_path, '<motor name="m" tendon="t" gear="3"/>').plant
    at = plant.transmissions_at(context_of(plant, [0.2, -0.4], [1.0, 2.0]), [0.5])
    assert at.lengths == pytest.approx([3 * (2 * 0.2 + 0.5 * 0.4)])
    assert at.rates == pytest.approx([3 * (2 * 1.0 - 0.5 * 2.0)])
    assert at.moments.T @ at.forces == pytest.approx([3.0, -0.75])


def test_inputs_on_joints_come_before_those_of_transmissions(tmp_path):
    plant = loaded(tmp_path, '<motor name="m" tendon="t"/><motor name="j" joint="a"/>').plant
    assert plant.GetActuatorNames(add_model_instance_prefix=False) == ["j", "m"]
    assert plant.num_actuators() == plant.get_actuation_input_port().size() == 2
    assert plant.MakeActuationMatrix().tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_a_tendon_between_sites_pulls_along_their_line(tmp_path):
    plant = loaded(tmp_path, '<motor name="m" tendon="s"/>').plant
    at = plant.transmissions_at(context_of(plant, [0.0, 0.0]), [2.0])
    length = np.hypot(0.7, 1.0)
    assert at.lengths == pytest.approx([length])
    assert at.moments == pytest.approx(np.array([[0.7 / length, 0.3 / length]]))  # turning about y lowers the end
    assert at.forces == pytest.approx([2.0])


def test_forces_act_in_the_acceleration_of_the_plant(tmp_path):
    plant = loaded(tmp_path, '<motor name="m" tendon="t"/>', dt=0.0).plant
    context = context_of(plant, [0.1, 0.5])
    plant.get_actuation_input_port().FixValue(context, [1.5])
    vdot = plant.CalcForwardDynamics(context)
    assert plant.CalcMassMatrix(context) @ vdot == pytest.approx([3.0, -0.75])


QUADROTOR = """<mujoco><option timestep=".005"/><worldbody><body pos="0 0 1"><freejoint/>
<geom type="box" size=".1 .1 .02" mass="1.2"/>SITES</body></worldbody><actuator>ACTUATORS</actuator></mujoco>"""


def test_quadrotor_with_four_motors_on_sites_hovers_and_turns(tmp_path):
    corners = [(x, y) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    sites = "".join(f'<site name="s{k}" pos="{x} {y} 0"/>' for k, (x, y) in enumerate(corners))
    motors = "".join(
        f'<motor name="m{k}" site="s{k}" gear="0 0 1 0 0 {0.02 if x * y > 0 else -0.02}" ctrlrange="0 9"/>'
        for k, (x, y) in enumerate(corners)
    )
    model = loaded(tmp_path, motors, QUADROTOR.replace("SITES", sites))
    hover = 1.2 * 9.81 / 4
    log = simulate(model, duration=0.5, inputs={f"m{k}": hover for k in range(4)})
    assert np.abs(np.asarray(log.v)).max() < 1e-9
    context = context_of(model.plant)
    thrust = np.array([hover + (1.0 if x * y > 0 else -1.0) for x, y in corners])
    model.plant.get_actuation_input_port().FixValue(context, thrust)
    vdot = model.plant.CalcForwardDynamics(context)
    inertia = 1.2 / 12 * (0.2**2 + 0.2**2)
    assert vdot[:3] == pytest.approx([0, 0, 4 * 0.02 / inertia], abs=1e-9)
    assert vdot[3:] == pytest.approx([0, 0, 0], abs=1e-9)


def test_controls_end_at_their_range_and_forces_at_theirs(tmp_path):
    motor = '<motor name="m" tendon="t" ctrlrange="-1 2"/><position name="p" tendon="t" kp="100" forcerange="-3 5"/>'
    plant = loaded(tmp_path, motor).plant
    context = context_of(plant, [0.1, 0.0])
    assert plant.transmissions_at(context, [7.0, 1.0]).forces.tolist() == [2.0, 5.0]
    assert plant.transmissions_at(context, [-7.0, -1.0]).forces.tolist() == [-1.0, -3.0]


def test_isometric_force_of_a_muscle_at_rest_is_its_peak_times_the_activation(tmp_path):
    """In the middle of its range the force by length is 1 at the length of rest, and by rate 1 at rest."""
    muscle = '<muscle name="m" tendon="s" force="80" range=".5 1.5" lengthrange="LOW HIGH"/>'
    length = np.hypot(0.7, 1.0)
    plant = loaded(tmp_path, muscle.replace("LOW", str(0.5 * length)).replace("HIGH", str(1.5 * length))).plant
    context = context_of(plant)
    plant.set_activations(context, [0.25])
    assert plant.transmissions_at(context, [0.0]).forces == pytest.approx([-20.0])
    plant.SetVelocities(context, [1e3, 0.0])  # it lengthens fast: fvmax times as much
    assert plant.transmissions_at(context, [0.0]).forces == pytest.approx([-1.2 * 20.0])
    plant.SetVelocities(context, [-1e3, 0.0])  # it shortens faster than it can
    assert plant.transmissions_at(context, [0.0]).forces == pytest.approx([0.0])


FIRST_ORDER = {
    "exact": ('<position name="m" joint="a" kp="0" timeconst=".2"/>', lambda t: 1.0 - np.exp(-t / 0.2)),
    "integral": ('<intvelocity name="m" joint="a" kp="0" actrange="-9 .3"/>', lambda t: np.minimum(t, 0.3)),
    "euler": ('<cylinder name="m" joint="a" area="0" timeconst=".2"/>', lambda t: 1.0 - (1.0 - 0.05) ** (t / 0.01)),
}


@pytest.mark.parametrize("kind", FIRST_ORDER)
def test_activation_follows_its_control(tmp_path, kind):
    actuator, response = FIRST_ORDER[kind]
    log = simulate(loaded(tmp_path, actuator), duration=0.5, inputs={"m": 1.0}, fields=["activations"])
    time, activation = log.field("time"), log.field("derived/activation")[:, 0]
    assert activation == pytest.approx(response(time), abs=1e-12)


def test_activation_of_a_muscle_rises_and_falls_with_its_time_constants(tmp_path):
    muscle = '<muscle name="m" tendon="s" force="1" timeconst=".02 .06" lengthrange=".5 2"/>'
    worlds = Worlds(loaded(tmp_path, muscle), 1)
    worlds.u[:] = 1.0
    a, h = 0.0, 0.01
    for step in range(30):
        control = 1.0 if step < 15 else 0.0
        worlds.u[:] = control
        worlds.step()
        slower = 0.5 + 1.5 * a
        a += h * (control - a) / (0.02 * slower if control > a else 0.06 / slower)
        assert worlds.activations[0, 0] == pytest.approx(a, abs=1e-14)


SERVOS = (
    '<position name="p" tendon="t" kp="300" kv="40" timeconst=".05"/><intvelocity name="i" joint="b" kp="20" kv="1" '
    'actrange="-1 1"/><muscle name="m" tendon="s" force="30" lengthrange=".5 2"/><motor name="j" joint="a"/>'
)


def test_a_run_that_goes_on_from_the_middle_has_the_rows_of_one_that_did_not_stop(tmp_path):
    model = loaded(tmp_path, SERVOS)
    table = tmp_path / "u.csv"
    rows = [f"{0.1 * k},{np.sin(k)},{np.cos(k)},{0.5 + 0.4 * np.sin(k)},{0.1 * np.cos(3 * k)}" for k in range(12)]
    table.write_text("\n".join(["time,p,i,m,j", *rows]) + "\n")
    whole, part = str(tmp_path / "whole.h5"), str(tmp_path / "part.h5")
    complete = simulate(model, log=whole, duration=1.0, inputs=str(table))
    simulate(model, log=part, duration=0.43, inputs=str(table))
    went_on = resume(part, model, until=1.0, inputs=str(table))
    for name in ("time", "state/q", "state/v", "derived/activation", "derived/effort"):
        assert np.array_equal(complete.field(name), went_on.field(name)), name


def test_worlds_take_the_steps_of_single_runs(tmp_path):
    model = loaded(tmp_path, SERVOS)
    names = [name.rpartition("_")[2] for name in model.plant.GetActuatorNames()]
    worlds = Worlds(model, 3)
    controls = np.random.default_rng(2).uniform(-1, 1, (3, 4))
    worlds.u[:] = controls
    worlds.step(40)
    for k in range(3):
        log = simulate(model, duration=0.4, inputs=dict(zip(names, controls[k], strict=True)))
        assert np.array_equal(np.asarray(log.q)[-1], worlds.q[k])
        assert np.array_equal(np.asarray(log.v)[-1], worlds.v[k])
    worlds.reset([1])
    assert worlds.activations[1].tolist() == [0.0, 0.0, 0.0] and worlds.activations[0].any()


def test_a_stiff_servo_on_a_tendon_stays_stable_and_comes_to_its_aim(tmp_path):
    """Its damper alone would reverse velocities in a step many times over."""
    model = loaded(
        tmp_path, '<position name="p" tendon="t" kp="1e4" kv="1e3"/><velocity name="v" tendon="s" kv="500"/>'
    )
    log = simulate(model, duration=4.0, inputs={"p": 0.3})
    q, v = np.asarray(log.q)[-1], np.asarray(log.v)[-1]
    assert np.abs(np.asarray(log.v)).max() < 20.0
    assert 2 * q[0] - 0.5 * q[1] == pytest.approx(0.3, abs=1e-3)
    assert np.abs(v).max() < 1e-2


def test_a_context_keeps_activations_and_a_continuous_plant_refuses_them(tmp_path):
    muscle = '<muscle name="m" tendon="s" force="1" lengthrange=".5 2"/>'
    plant = loaded(tmp_path, muscle).plant
    context = context_of(plant)
    plant.set_activations(context, [0.4])
    other = context.Clone()
    plant.set_activations(context, [0.1])
    assert plant.activations(other).tolist() == [0.4]
    assert context.get_discrete_state(1).get_value().tolist() == [0.1]
    with pytest.raises(RuntimeError, match="activations"):
        plant.set_activations(context, [np.nan])
    with pytest.raises(ModelError, match="'m' has an activation, which only the steps of a discrete plant"):
        simulate(loaded(tmp_path, muscle, dt=0.0), duration=0.1)


def test_the_work_of_transmissions_stands_in_the_balance(tmp_path):
    model = loaded(tmp_path, '<motor name="m" tendon="s"/>')
    log = simulate(model, duration=0.5, inputs={"m": -3.0}, balance=True)
    summary = log.summary.balance
    assert summary["actuators"] == pytest.approx(log.summary.energy_drift, rel=5e-3)
    assert abs(summary["unexplained"]) < 1e-12 < abs(summary["actuators"])


def test_servos_on_joints_act_beside_transmissions_also_where_joints_are_held(tmp_path):
    model = loaded(tmp_path, '<position name="p" joint="a" kp="50" kv="5"/><motor name="m" tendon="t"/>')
    log = simulate(model, duration=3.0, inputs={"p": 0.3, "m": 0.0})
    assert np.asarray(log.q)[-1][0] == pytest.approx(0.3, abs=1e-3)
    model = loaded(tmp_path, '<motor name="j" joint="a"/><motor name="m" tendon="t"/>', hold=True)
    log = simulate(model, duration=1.0)
    assert np.abs(np.asarray(log.q)).max() < 1e-9
