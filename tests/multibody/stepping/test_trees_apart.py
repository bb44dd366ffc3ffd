"""Steps of second order: with damping, controllers, dry friction, and of trees that nothing touches beside others."""

import numpy as np
import pytest
from test_energy_balance import balance_of

from benchmarks.newton_euler.mechanisms import mechanism
from benchmarks.orders import ends, figures
from mbcli.models.loading import ModelText, load_model
from mbcli.simulation import simulate

ARM = """<mujoco><worldbody>{floor}<body name="u" pos="0 0 {height}">
<joint name="a" axis="0 1 0" damping=".3" stiffness="2"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"{shape}/>
<body pos=".5 0 0"><joint name="b" axis="0 1 0" damping=".1" frictionloss="{friction}"/>
<geom type="capsule" size=".04" fromto="0 0 0 .4 0 0"{shape}/><body pos=".4 0 0"><joint name="c" axis="0 0 1"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 .1 0"{shape}/></body></body></body>{ball}</worldbody></mujoco>"""
FLOOR = '<geom type="plane" size="9 9 1"/>'
BALL = '<body pos="3 0 .1"><freejoint/><geom size=".1"/></body>'
NO_SHAPE = ' contype="0" conaffinity="0"'


def end(duration=0.3, dt=1e-3, *, floor=True, ball=False, friction=0.0, height=3.0, **options):
    """q, v of the arm's three joints at the end, from a start in motion; over a floor, and a ball that lies on it."""
    text = ARM.format(
        floor=FLOOR if floor else "",
        shape="" if floor else NO_SHAPE,
        ball=BALL if ball else "",
        friction=friction,
        height=height,
    )
    loaded = load_model(ModelText(text.encode(), "arm.xml"), dt=dt, contact=floor, **options)
    start = {"a_q": 0.3, "b_q": -0.5, "c_w": 2.0}
    log = simulate(loaded, duration, start=start, log_rate=0.0, warn=lambda line: None)
    return np.concatenate([log.field("state/q")[-1][:3], log.field("state/v")[-1][:3]])


@pytest.mark.parametrize("hold", [False, True])
@pytest.mark.parametrize("friction", [0.0, 0.05])
@pytest.mark.parametrize("ball", [False, True])
def test_what_nothing_touches_moves_as_in_a_plant_that_cannot_touch(ball, friction, hold):
    alone = end(floor=False, friction=friction, hold=hold)
    beside = end(ball=ball, friction=friction, hold=hold)
    np.testing.assert_allclose(beside, alone, rtol=0.0, atol=2e-6 if friction and ball else 1e-10)


@pytest.mark.parametrize("hold", [False, True])
def test_errors_of_an_arm_over_a_floor_fall_with_the_square_of_the_step(hold):
    """Beside a ball that lies there; not where it is held: the contact problem is solved to 1e-6."""
    found = [end(dt=dt, ball=not hold, hold=hold) for dt in (2e-3, 1e-3, 5e-4)]
    first, second = (np.abs(a - b).max() for a, b in zip(found, found[1:], strict=False))
    assert 3.7 < first / second < 4.3


@pytest.mark.parametrize(
    "kinds", [{"servos": True}, {"balls": True, "servos": True}, {"servos": True, "loop": True}, {"mimics": True}]
)
def test_random_mechanisms_have_steps_of_second_order(kinds):
    seed = 16 if "loop" in kinds else 6

    def start(plant):
        draw = np.random.default_rng(seed)
        speeds = 0.5 * draw.normal(size=plant.num_velocities())
        return dict(zip(plant.GetVelocityNames(), speeds, strict=True))

    order, error, _ = figures(ends(mechanism(seed, **kinds), "midpoint", start, contact=False))
    assert 1.95 < order < 2.05
    order_of_drake, error_of_drake, _ = figures(ends(mechanism(seed, **kinds), "drake", start, contact=False))
    assert order_of_drake < 1.1
    assert error < 0.1 * error_of_drake


def test_a_stiff_damper_ends_a_motion_and_lets_a_load_sink_at_its_rate():
    """h c / I = 500: no ringing, and the rate of sinking is weight over damping."""
    text = """<robot name="r"><link name="world"/><link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1"
    izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="prismatic"><parent link="world"/>
    <child link="b"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" effort="1" velocity="9"/>
    <dynamics damping="1e6"/></joint></robot>"""
    loaded = load_model(ModelText(text.encode(), "r.urdf"), dt=1e-3)
    log = simulate(loaded, 0.01, start={"j_v": 1.0}, log_rate=0.0, warn=lambda line: None)
    v = log.field("state/v")[:, 0]
    assert abs(v[1]) < 2.0 * 9.81 / 1e6 and v[1:].max() <= 0.0
    assert v[-1] == pytest.approx(-2.0 * 9.81 / 1e6, rel=1e-6)


BOUNCING = """<sdf version="1.9"><world name="w"><model name="g"><static>true</static><link name="l">
<collision name="c"><geometry><plane/></geometry>{surface}</collision></link></model><model name="m">{joints}
<link name="b"><pose>.5 0 .1 0 0 0</pose><inertial><mass>1</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz>
<ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial><collision name="c"><geometry><sphere>
<radius>.1</radius></sphere></geometry>{surface}</collision></link></model></world></sdf>"""
ON_SLIDE = (
    """<joint name="z" type="prismatic"><parent>world</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>"""
)
ON_ARM = """<joint name="z" type="revolute"><parent>world</parent><child>b</child><pose>-.5 0 0 0 0 0</pose>
<axis><xyz>0 -1 0</xyz></axis></joint>"""
ELASTIC = """<surface><bounce><restitution_coefficient>1</restitution_coefficient><threshold>0</threshold></bounce>
</surface>"""


@pytest.mark.parametrize("joints", [ON_SLIDE, ON_ARM], ids=["slide", "arm"])
def test_what_bounces_without_loss_gains_nothing_by_its_flights(joints):
    """Steps of second order in the air beside contact at the start of a step add 2 g h / v of the energy each time."""
    text = BOUNCING.format(surface=ELASTIC, joints=joints)
    loaded = load_model(ModelText(text.encode(), "b.sdf"), dt=1e-3, contact=True)
    (name,) = loaded.plant.GetPositionNames()
    log = simulate(loaded, 3.0, start={name: 0.5}, log_rate=0.0, fields="energy", warn=lambda line: None)
    energy = (log.field("derived/energy_kinetic") + log.field("derived/energy_potential")).ravel()
    assert energy.max() < 1.004 * energy[0] and energy[-1] > 0.97 * energy[0]
    assert (np.diff(np.sign(log.field("state/v")[:, 0])) > 0).sum() >= 3


def test_a_robot_on_slides_moves_in_the_air_as_on_a_free_base():
    """Planar robots fly, and keep to the rule of contact."""
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
    fallen = []
    for joints, z in ((slides, 1), ("<freejoint/>", 6)):
        text = f"""<mujoco><worldbody>{FLOOR}<body pos="0 0 2">{joints}<geom size=".1"/></body></worldbody></mujoco>"""
        loaded = load_model(ModelText(text.encode(), "b.xml"), dt=1e-3, contact=True)
        q = simulate(loaded, 0.2, log_rate=0.0, warn=lambda line: None).field("state/q")
        fallen.append(q[0, z] - q[-1, z])
    assert fallen[0] == pytest.approx(fallen[1], abs=1e-12)
    assert fallen[0] == pytest.approx(0.5 * 9.81 * 0.2 * 0.201, rel=1e-9)


@pytest.mark.parametrize("approximation", ["sap", "lagged", "similar", "tamsi"])
def test_nothing_is_unexplained_where_a_body_flies_lands_and_flies_again(approximation):
    """Works of all causes explain each step, of second order in the air and of contact on the floor."""
    text = f"""<mujoco><worldbody>{FLOOR}<body pos="0 0 .3"><freejoint/><geom size=".1 .05 .03" type="box"/>
    <body pos=".1 0 0"><joint axis="0 1 0" damping=".01" stiffness=".5"/><geom type="capsule" size=".02"
    fromto="0 0 0 .2 0 0"/></body></body></worldbody></mujoco>"""
    plant = load_model(
        ModelText(text.encode(), "b.xml"), dt=1e-3, contact=True, contact_approximation=approximation
    ).plant
    context = plant.CreateDefaultContext()
    v = np.zeros(plant.num_velocities())
    v[:3], v[-1] = [1.0, 5.0, 2.0], 3.0
    balance, _ = balance_of(plant, 0.6, plant.GetPositions(context), v)
    assert abs(balance.unexplained) < 1e-5 * balance.flow
    assert balance.contact < 0.0
    assert abs(balance.rest) < 0.02 * balance.flow
