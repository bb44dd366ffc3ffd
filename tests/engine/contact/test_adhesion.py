"""Adhesion: the force of an actuator on a body, divided over the contacts of its geoms, along their normals."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.mjcf.read_mjcf import read_mjcf

from benchmarks.newton_euler.balance import residuals, run
from mbcli.errors import ModelError
from mbcli.models.loading import ModelText, load_model
from mbcli.multibody.core.dynamics import known_accelerations
from mbcli.simulation import resume, simulate
from mbcli.simulation.worlds import Worlds

G = 9.81
BALL = """<mujoco><option timestep="0.001"/><worldbody>
<geom name="roof" type="box" size="1 1 .05" pos="0 0 1.05"/>
<body name="b" pos="0 0 .9001"><freejoint name="f"/><geom type="sphere" size=".1" mass="1"/></body></worldbody>
<actuator><adhesion name="a" body="b" ctrlrange="0 1" gain="20"/></actuator></mujoco>"""
BLOCK = """<mujoco><option timestep="0.001"/><worldbody><geom type="box" size=".05 1 1" pos="-.05 0 0" friction=".5"/>
<body name="b" pos=".0999 0 0"><freejoint name="f"/><geom type="box" size=".1 .1 .1" mass="1" friction=".5"/></body>
</worldbody><actuator><adhesion name="a" body="b" ctrlrange="0 1" gain="100"/></actuator></mujoco>"""
# two balls of one body and one of a body that is fixed to it on a floor, another body under one of them
FEET = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="b" pos="0 0 .099"><freejoint name="f"/><inertial mass="1" pos=".1 .2 .3" diaginertia=".1 .1 .1"/>
 <geom type="sphere" size=".1" pos="-.3 0 0"/><geom type="sphere" size=".1" pos=".3 .2 0"/>
 <geom type="sphere" size=".1" pos=".3 -.5 .3"/>
 <body name="c"><geom type="sphere" size=".1" pos="0 .4 0" mass=".1"/></body></body>
<body name="d" pos=".3 -.5 .2"><freejoint name="g"/><geom type="sphere" size=".1005" mass=".3"/></body>
</worldbody><actuator><motor name="m" site="s"/><adhesion name="a" body="BODY" ctrlrange=".25 1" gain="8"/>
</actuator></mujoco>""".replace('<body name="c">', '<site name="s" pos="1 0 0"/><body name="c">')


def loaded(text, **options):
    return load_model(ModelText(text.encode(), "adhesion.xml"), **{"contact": True} | options)


def heights(control, text=BALL, duration=0.3):
    log = simulate(loaded(text), duration, inputs={"a": control}, log_rate=100.0)
    return np.asarray(log.q)[:, -1]


def test_a_ball_clings_to_a_roof_by_a_pull_above_its_weight_and_falls_without():
    assert abs(heights(0.8) - 0.9).max() < 1e-3
    assert heights(0.0)[-1] == pytest.approx(0.9 - G * 0.3**2 / 2, abs=5e-3)
    assert heights(0.45)[-1] < 0.6  # 9 N: it begins to fall, and touches no more


@pytest.mark.parametrize(("control", "slides"), [(0.21, False), (0.18, True)])
def test_a_block_is_held_at_a_wall_by_the_friction_of_the_pull(control, slides):
    """Friction holds m g = 9.81 N from a pull of m g / 0.5 = 19.6 N on."""
    fallen = -heights(control, BLOCK)[-1]
    assert (fallen > 0.02) == slides and (slides or fallen < 1e-3)


def pull(model, control):
    """(transmission moments, forces) of 'a' in the step from the default state."""
    plant = model.plant
    context, u = plant.CreateDefaultContext(), np.zeros(plant.num_actuators())
    u[plant.GetActuatorNames(add_model_instance_prefix=False).index("a")] = control
    plant.get_actuation_input_port().FixValue(context, u)
    known_accelerations(plant, context)
    data = context.state.data
    return context, data.transmission_moment[-1].copy(), data.transmission_force[-1]


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("body", ["b", "c", "d"])
def test_moments_and_forces_are_those_of_mujoco(body):
    import mujoco

    from benchmarks.mjcf_actuators import coordinates_here, matched_coordinates

    model, theirs = loaded(FEET.replace("BODY", body)), mujoco.MjModel.from_xml_string(FEET.replace("BODY", body))
    data, moments = mujoco.MjData(theirs), np.zeros((2, 12))
    data.ctrl[:] = 0.0, 0.75
    mujoco.mj_forward(theirs, data)
    rows = data.moment_rownnz, data.moment_rowadr, data.moment_colind
    mujoco.mju_sparse2dense(moments, data.actuator_moment, *rows)
    _, T = coordinates_here(mujoco, theirs, data, model.plant, matched_coordinates(mujoco, theirs, model.plant))
    _, moment, force = pull(model, 0.75)
    assert force == pytest.approx(6.0) == data.actuator_force[1]
    assert np.abs(moments[1]).max() > 0.1
    np.testing.assert_allclose(moment, moments[1] @ T, atol=1e-12)


def test_the_pull_is_divided_over_the_contacts_of_the_body_alone():
    _, of_b, _ = pull(loaded(FEET.replace("BODY", "b")), 1.0)  # two feet on the floor, one on d
    _, of_c, _ = pull(loaded(FEET.replace("BODY", "c")), 1.0)
    assert of_c[5] == pytest.approx(-1.0) and of_b[5] == pytest.approx(-1.0)
    assert of_b[3:6].tolist() == pytest.approx([0.0, 0.0, -1.0])
    assert of_b[11] == pytest.approx(1.0 / 3.0)


@pytest.mark.parametrize("body", ["b", "c", "d"])
def test_a_body_that_sticks_balances(body):
    found = run(ModelText(FEET.replace("BODY", body).encode(), "feet.xml"), 0.03, contact=True, seed=2)
    bodies, axes = residuals(found)
    assert abs(found.log.field("derived/effort")[:, -1]).max() == 2.0  # of the least control
    assert sum(map(len, found.contacts)) and bodies < 1e-9 and axes < 1e-9


def test_the_work_of_a_pull_stands_in_the_balance():
    log = simulate(loaded(BALL.replace("1.05", "1.06")), 0.1, inputs={"a": 1.0}, balance=True)
    assert abs(log.summary.balance["unexplained"]) < 1e-12
    log = simulate(loaded(FEET.replace("BODY", "d")), 0.1, inputs={"a": 1.0}, balance=True)
    assert abs(log.summary.balance["actuators"]) > 1e3 * abs(log.summary.balance["unexplained"])


def test_worlds_take_the_steps_of_single_runs_and_a_run_goes_on_as_it_was(tmp_path):
    model = loaded(FEET.replace("BODY", "b"))
    worlds = Worlds(model, 2)
    worlds.u[:] = [[0.0, 0.3], [2.0, 1.0]]
    worlds.step(50)
    for k in range(2):
        log = simulate(model, 0.05, inputs={"m": worlds.u[k, 0], "a": worlds.u[k, 1]})
        assert np.array_equal(np.asarray(log.q)[-1], worlds.q[k])
    whole, part = (str(tmp_path / name) for name in ("whole.h5", "part.h5"))
    complete = simulate(model, 0.1, inputs={"a": 1.0}, log=whole)
    simulate(model, 0.05, inputs={"a": 1.0}, log=part)
    went_on = resume(part, model, until=0.1, inputs={"a": 1.0})
    assert np.array_equal(complete.field("state/q"), went_on.field("state/q"))


def test_a_body_that_may_sleep_does_not_while_it_sticks():
    assert abs(heights_with_sleep(1.0) - 0.9).max() < 1e-3


def heights_with_sleep(control):
    log = simulate(loaded(BALL, sleep=0.01), 1.0, inputs={"a": control}, log_rate=50.0)
    return np.asarray(log.q)[:, -1]


def test_a_continuous_plant_refuses_it():
    with pytest.raises(ModelError, match="'a' pulls at contacts, which only the steps of a discrete plant find"):
        simulate(loaded(BALL, dt=0.0), 0.1)


ADHESION = {  # attributes: part of the only finding
    'body="b"': "adhesion needs a ctrlrange",
    'body="b" ctrlrange="-1 1"': "adhesion needs a ctrlrange",
    'body="b" ctrlrange="1 1"': "adhesion needs a ctrlrange",
    'body="b" ctrlrange="0 1" gain="-2"': "the gain of adhesion is negative",
    'body="x" ctrlrange="0 1"': 'there is no body "x"',
}


@pytest.mark.parametrize("attributes", ADHESION)
def test_adhesion_that_mujoco_refuses_is_an_error(attributes):
    text = BALL.replace('body="b" ctrlrange="0 1" gain="20"', attributes)
    with pytest.raises(ModelError, match=ADHESION[attributes]) as raised:
        loaded(text)
    assert str(raised.value).count("error:") == 1


def test_a_class_gives_gain_and_range():
    stated = '<default><adhesion gain="3" ctrlrange="0 2"/></default><worldbody>'
    text = BALL.replace("<worldbody>", stated, 1).replace('ctrlrange="0 1" gain="20"', "")
    law = loaded(text).plant.elements.transmission_actuators[0].law()
    assert (law.gain, law.control) == ((3.0, 0.0, 0.0), (0.0, 2.0))


def test_a_run_without_contact_and_a_gap_are_named():
    told = []
    simulate(loaded(BALL, contact=False), 0.01, warn=told.append)
    assert told == ["nothing can touch: adhesion does not act: a"]
    diagnostics = Diagnostics()
    read_mjcf(BALL.replace('size=".1"', 'size=".1" gap=".01"').encode(), diagnostics)
    assert ["across a gap" in finding.message for finding in diagnostics.warnings] == [True]
