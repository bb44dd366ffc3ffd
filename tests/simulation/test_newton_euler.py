"""Newton's and Euler's equations of every body in the steps that a run took: what rows say is of these steps."""

import re

import numpy as np
import pytest
from repository import SAMPLES

from benchmarks.newton_euler.__main__ import case, main
from benchmarks.newton_euler.balance import DT, residuals, run
from benchmarks.newton_euler.mechanisms import JOINTS, mechanism, mjcf_mechanism
from benchmarks.newton_euler.worlds import differences
from mbcli.models.loading import ModelText, load_model
from mbcli.multibody.core.reaction_forces import joint_reactions
from mbcli.simulation import simulate
from mbcli.simulation.worlds import Worlds

G = 9.81
KINDS = {
    "tree": {},
    "floating": {"floating": True},
    "rubbing": {"rubs": True},
    "limited": {"limited": True},
    "loop": {"loop": True},
    "plugins": {"plugins": True},
    "struts": {"struts": True},
    "floating on struts": {"struts": True, "floating": True},
    "loop with struts": {"struts": True, "loop": True},
    "stops and struts": {"struts": True, "limited": True},
}
KINDS |= {
    "ball joints": {"balls": True, "rubs": True},
    "joints that follow": {"mimics": True, "loop": True},
    "controllers of the file": {"servos": True, "limited": True},
    "an elastic constraint": {"ties": True, "floating": True},
}
ACTORS = {"passive": {}, "pushed": {"pushes": "l3=3,-2,5 from 0.005"}, "held": {"loading": {"hold": True}}}
SOLVED = 1e-9


@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("actor", ACTORS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_body_and_every_free_axis_balances(kind, actor, scheme):
    given = dict(ACTORS[actor])
    loading = given.pop("loading", {}) | {"overrides": {"plant_config.step_scheme": scheme}}
    seed = 1 + list(KINDS).index(kind)
    bodies, axes = residuals(run(mechanism(seed, **KINDS[kind]), 0.01, seed=seed, loading=loading, **given))
    assert bodies < SOLVED and axes < SOLVED


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("scheme", ["midpoint", "drake", "continuous"])
def test_mechanisms_of_mjcf_balance(seed, scheme):
    moves = scheme != "continuous"
    loading = {"overrides": {"plant_config.step_scheme": scheme}} if moves else {"dt": 0.0}
    bodies, axes = residuals(run(mjcf_mechanism(seed, servos=moves), 0.01, seed=seed, loading=loading))
    assert bodies < SOLVED and axes < SOLVED


@pytest.mark.parametrize("kind", ["tree", "loop with struts", "ball joints", "joints that follow", "plugins"])
def test_continuous_plants_balance(kind):
    found = run(mechanism(7, **KINDS[kind]), 0.01, seed=7, loading={"dt": 0.0})
    bodies, axes = residuals(found)
    assert bodies < SOLVED and axes < SOLVED


@pytest.mark.parametrize("kinds", [{"floating": True, "struts": True}, {"loop": True, "mimics": True, "limited": True}])
@pytest.mark.parametrize("pushes", [(), "l3=3,-2,5 from 0.005"])
@pytest.mark.parametrize("loading", [{}, {"hold": True}], ids=["loose", "held"])
def test_worlds_and_sensors_say_what_runs_and_reactions_say(kinds, pushes, loading):
    model = mechanism(5, sensors=True, **kinds)
    states, wrenches, sensors = differences(model, loading=loading, pushes=pushes, steps=4)
    assert states == 0.0 and wrenches < SOLVED and sensors < SOLVED


@pytest.mark.parametrize("law", ["sap", "lagged", "tamsi"])
def test_worlds_in_contact_and_their_sensors_say_what_runs_and_reactions_say(law):
    loading = {"ground": 1.1, "contact_approximation": law}
    model = mechanism(4, ground=True, floating=True, sensors=True)
    states, wrenches, sensors = differences(model, contact=True, loading=loading, steps=4)
    assert states == 0.0 and wrenches < SOLVED and sensors < SOLVED


def test_the_command_for_many_mechanisms_tells_what_does_not_balance(capsys, monkeypatch):
    assert main(["--count", "2", "--first", "11"]) == 0
    assert "2 mechanisms, 0 runs beyond" in capsys.readouterr().out
    monkeypatch.setattr("benchmarks.newton_euler.balance._weights", lambda plant, q: np.zeros((plant.num_bodies(), 6)))
    assert main(["--count", "1", "--first", "12"]) == 1
    assert case(12)[-1] in capsys.readouterr().out


def test_the_table_of_loads_says_how_far_a_step_of_1_ms_is_off(capsys):
    assert main(["--loads", str(SAMPLES / "arm7.urdf")]) == 0
    assert "1 robots, 1 within 1%" in capsys.readouterr().out


@pytest.mark.parametrize("law", ["sap", "lagged", "similar"])
@pytest.mark.parametrize("kind", [{"floating": True}, {"loop": True, "rubs": True}, {"struts": True}])
def test_bodies_in_contact_balance(kind, law):
    loading = {"ground": 1.1, "contact_approximation": law}
    found = run(mechanism(4, ground=True, **kind), 0.01, contact=True, loading=loading, pushes="l3=3,-2,-500")
    bodies, axes = residuals(found)
    assert sum(map(len, found.contacts)) and bodies < SOLVED and axes < SOLVED


TURNING = 'condim="6" friction="0.8 0.02 0.01" contype='  # contacts that resist spinning and rolling


@pytest.mark.parametrize("law", ["sap", "lagged", "similar", "tamsi"])
@pytest.mark.parametrize("kind", ["patches", "turning"])
def test_axes_of_boxes_on_the_ground_carry_what_acts(kind, law):
    text = mjcf_mechanism(6, ground=True, servos=law != "tamsi").content.decode()
    text = text.replace("0 0 0.9", "0 0 1.1")
    text = text.replace("contype=", TURNING) if kind == "turning" else text
    text = text if law != "tamsi" else re.sub("<equality>.*</equality>|<(position|velocity|general) [^>]*/>", "", text)
    loading = {"contact_approximation": law}
    found = run(ModelText(text.encode(), "boxes.xml"), 0.03, contact=True, seed=6, loading=loading)
    bodies, axes = residuals(found)
    assert max(map(len, found.contacts)) >= 4 and bodies < SOLVED and axes < SOLVED


CONTACTS = {
    "sliding": (mechanism(4, ground=True, floating=True), "sap"),
    "held by springs": (mechanism(4, ground=True, struts=True, ties=True), "sap"),
    "driven": (mjcf_mechanism(9, ground=True), "lagged"),
    "in parts of steps": (mechanism(48, ground=True, floating=True), "tamsi"),
}


@pytest.mark.parametrize("kind", CONTACTS)
def test_the_motion_is_the_same_whatever_is_recorded(kind):
    model, law = CONTACTS[kind]
    ends = []
    for rate, fields in ((0.0, "effort reactions contact"), (50.0, "effort"), (50.0, "contact")):
        loaded = load_model(model, ground=1.1, contact_approximation=law, dt=DT)
        speeds = np.random.default_rng(3).normal(size=loaded.plant.num_velocities())
        start = dict(zip(loaded.plant.GetVelocityNames(), speeds, strict=True))
        log = simulate(loaded, 0.06, log_rate=rate, fields=fields, start=start, warn=lambda line: None)
        ends.append(np.concatenate([log.q[-1], log.v[-1]]))
    assert (ends[0] == ends[1]).all() and (ends[0] == ends[2]).all()


@pytest.mark.parametrize("kind", CONTACTS)
def test_forces_of_rows_in_contact_obey_coulomb_and_are_those_of_a_context(kind):
    model, law = CONTACTS[kind]
    found = run(model, 0.02, contact=True, seed=3, loading={"ground": 1.1, "contact_approximation": law})
    log, plant, touched = found.log, found.plant, 0
    reactions = log.field("derived/reactions").reshape(len(log.times), -1, 6)
    largest = max(abs(reactions).max(), max(abs(part.force).max(initial=0.0) for part in found.contacts))
    context = plant.CreateDefaultContext()
    for row, contacts in enumerate(found.contacts[:-1]):
        normal = np.einsum("kc,kc->k", contacts.force, contacts.normal)
        across = np.linalg.norm(contacts.force - normal[:, None] * contacts.normal, axis=1)
        assert (normal >= -1e-5 * largest).all() and (law == "lagged" or (across <= normal + 1e-5 * largest).all())
        touched += int((normal > 0.0).sum())
        if kind == "driven":  # whose controllers a context has no aims of
            continue
        plant.SetPositions(context, log.q[row])
        plant.SetVelocities(context, log.v[row])
        np.testing.assert_allclose(joint_reactions(plant, context), reactions[row], rtol=0.0, atol=SOLVED * largest)
    assert touched > 3


ACTUATED = """<mujoco><worldbody><site name="anchor" pos="0 0 2"/>
<body name="base" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .02" mass="1"/>
 <site name="a" pos=".1 .1 0"/><site name="b" pos="-.1 .1 0"/>
 <body name="arm" pos=".1 0 0"><joint name="j1" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="c" pos=".15 0 .03"/>
  <geom name="pin" type="cylinder" size=".03 .1" pos=".3 0 0" euler="90 0 0" mass="0"/>
  <site name="side" pos=".3 0 .1"/>
  <body pos=".3 0 0"><joint name="j2" axis="0 1 0"/>
   <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="e" pos=".15 0 .03"/>
   <body name="plate" pos=".1 .1 0"><geom type="box" size=".05 .05 .01" mass=".2"/>
    <site name="g" pos=".02 0 .01"/></body>
   <body pos=".3 0 0"><joint name="j3" axis="1 0 0"/><geom type="box" size=".05 .03 .02" pos=".1 0 0"/>
    <site name="f" pos=".1 .02 .03"/></body></body></body>
 <body pos="-.1 0 0"><joint name="j4" axis="0 0 1"/><geom type="box" size=".05 .03 .02" pos="-.1 0 0"/>
  <site name="h" pos="-.1 .02 .03"/></body></body></worldbody>
<contact><exclude body1="base" body2="arm"/></contact>
<tendon><spatial name="s"><site site="c"/><geom geom="pin" sidesite="side"/><site site="e"/><pulley divisor="2"/>
  <site site="e"/><site site="f"/><pulley divisor="3"/><site site="e"/><site site="a"/></spatial>
 <spatial name="s3"><site site="anchor"/><site site="g"/></spatial></tendon>
<actuator>{}</actuator></mujoco>"""
TRANSMISSIONS = {
    "a force at a site": '<general name="m" site="g" gear="0.3 0 1 0 .2 -.1" biastype="affine" biasprm="3"/>',
    "a site in one that carries it": '<general name="m" site="e" refsite="b" gear="1 2 3 .3 .2 .1" biastype="affine" '
    'biasprm="2 -3 -.3"/>',
    "a site in one beside it": '<general name="m" site="f" refsite="h" gear="1 2 3 .3 .2 .1" biastype="affine" '
    'biasprm="2 -3 -.3"/>',
    "around a cylinder, and pulleys": '<general name="m" tendon="s" gear="2" biastype="affine" biasprm="4"/>',
    "a stiff servo from the world": '<position name="m" tendon="s3" kp="3000" kv="20"/>',
    "a slider-crank": '<general name="m" cranksite="e" slidersite="b" cranklength=".5" gear="2" biastype="affine" '
    'biasprm="5"/>',
}


@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize("kind", TRANSMISSIONS)
def test_what_actuators_do_to_links_is_no_load_of_axes(kind, contact):
    model = ModelText(ACTUATED.format(TRANSMISSIONS[kind]).encode(), "actuated.xml")
    found = run(model, 0.01, seed=2, contact=contact, loading={"ground": 0.95} if contact else {})
    bodies, axes = residuals(found)
    assert abs(found.log.field("derived/effort")).max() > 0.3
    assert bodies < SOLVED and axes < SOLVED


@pytest.mark.parametrize("kind", TRANSMISSIONS)
def test_axes_of_a_continuous_plant_carry_no_actuators_of_links(kind):
    model = load_model(ModelText(ACTUATED.format(TRANSMISSIONS[kind]).encode(), "actuated.xml"), contact=False, dt=0.0)
    speeds = {"j1_w": 1.0, "j4_w": 2.0}
    log = simulate(model, 0.01, log_rate=1000.0, fields="reactions effort", start=speeds)
    joints, along = model.plant.elements.joints, []
    for joint, F in zip(joints, log.field("derived/reactions").reshape(-1, len(joints), 6).swapaxes(0, 1), strict=True):
        if joint.type_name() == "revolute":
            along.append(abs(F[:, :3] @ joint.revolute_axis()).max())
        elif joint.num_velocities() == 6:
            along.append(abs(F).max())
    assert len(along) == 5 and max(along) < SOLVED


@pytest.mark.parametrize(
    "kind", ["a force at a site", "around a cylinder, and pulleys", "a stiff servo from the world"]
)
def test_force_sensors_of_worlds_have_what_those_of_single_runs_have(kind):
    sensors = '<sensor><force name="f" site="c"/><torque name="t" site="e"/></sensor></mujoco>'
    text = ACTUATED.format(TRANSMISSIONS[kind]).replace("</mujoco>", sensors)
    loaded = load_model(ModelText(text.encode(), "actuated.xml"), contact=False, dt=DT)
    start = {"j1_w": 1.0, "j4_w": 2.0, "j2": 0.3}
    log = simulate(loaded, 5 * DT, log_rate=0.0, fields="sensors", start=start)
    worlds = Worlds(loaded, 2, start=start)
    measured = worlds.sensors()
    for row in range(4):
        found = measured.exact()
        for name in ("f", "t"):
            of_run = log.field(f"sensors/{name}")[row]
            assert abs(of_run).max() > 0.01
            np.testing.assert_allclose(found[name], [of_run, of_run], rtol=1e-9, atol=1e-9)
        worlds.step()


def test_the_motor_of_a_ball_joint_is_in_the_joint():
    model = ACTUATED.replace('<joint name="j3" axis="1 0 0"/>', '<joint name="j3" type="ball"/>')
    actuator = '<general name="m" joint="j3" gear="1 2 3" biastype="affine" biasprm="2"/>'
    found = run(ModelText(model.format(actuator).encode(), "ball.xml"), 0.01, seed=2)
    wrenches = dict(
        zip(found.plant.elements.joints, found.log.field("derived/reactions")[3].reshape(-1, 6), strict=True)
    )
    np.testing.assert_allclose(wrenches[found.plant.GetJointByName("j3")][:3], [2.0, 4.0, 6.0], atol=1e-9)
    assert residuals(found)[0] < SOLVED


def test_loads_are_the_pushes():
    found = run(mechanism(3), 0.01, pushes="l3=3,-2,5 from 0.005")
    pushed, force = found.plant.GetBodyByName("l3"), np.array([3.0, -2.0, 5.0])

    def known(row, plant, context):
        """The push at the centre of mass."""
        loads = np.zeros((plant.num_bodies(), 6))
        if found.log.times[row] >= 0.005 - 1e-9:
            arm = pushed.EvalPoseInWorld(context).rotation() @ pushed.CalcCenterOfMassInBodyFrame(context)
            loads[int(pushed.index())] += [*np.cross(arm, force), *force]
        return loads

    bodies, _ = residuals(found, known)
    assert bodies < SOLVED and abs(found.steps.loads[5:]).max() > 1.0


@pytest.mark.parametrize("model", ["arm7.urdf", "closed_chains/four_bar.urdf", "closed_chains/flyball_governor.sdf"])
def test_sample_models_balance(model):
    found = run(str(SAMPLES / model), 0.01)
    bodies, axes = residuals(found)
    assert bodies < SOLVED and axes < SOLVED


PENDULUM = """<sdf version="1.9"><model name="u"><link name="rod"><inertial><pose>0 0 -0.5 0 0 0</pose><mass>1</mass>
<inertia><ixx>0.083</ixx><iyy>0.083</iyy><izz>0.0001</izz></inertia></inertial></link><joint name="j" type="universal">
<parent>world</parent><child>rod</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint></model>
</sdf>"""


def test_a_frictionless_axis_has_no_moment_and_loads_are_those_of_a_converged_run():
    """At 1 ms as at 0.02 ms."""
    peaks = []
    for dt in (DT, 2e-5):
        model = ModelText(PENDULUM.encode(), "u.sdf")
        log = simulate(model, 0.5, dt=dt, log_rate=0.0, fields="reactions", start={"qx": 0.5, "wy": 8.0}, contact=False)
        moments = log.field("derived/reactions")[:, :3]
        assert abs(moments[:, 1]).max() < 1e-10
        peaks.append(abs(moments[:, 0]).max())
    assert peaks[1] > 1.0 and abs(peaks[0] / peaks[1] - 1.0) < 0.01


SERVO = """<robot name="f" xmlns:drake="http://drake.mit.edu">
<link name="hub"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
<inertia ixx="0.02" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><origin xyz="0 0.3 0"/><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.002" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="hub"/><child link="arm"/><origin xyz="0.2 0 0"/>
<axis xyz="0 0 1"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j">
<hardwareInterface>effort</hardwareInterface></joint><actuator name="a">
<drake:controller_gains p="20" d="0.5"/></actuator></transmission></robot>"""


def test_a_free_base_has_no_reaction_and_a_servo_gives_the_moment_of_its_joint():
    log = simulate(
        ModelText(SERVO.encode(), "f.urdf"),
        0.2,
        contact=False,
        log_rate=0.0,
        fields="reactions effort",
        start={"j_w": 10.0},
        warn=lambda message: None,
    )
    hinge, base = log.field("derived/reactions").reshape(-1, 2, 6).transpose(1, 0, 2)
    assert abs(base).max() < 1e-10
    np.testing.assert_allclose(hinge[:, 2], log.field("derived/effort")[:, 0], atol=1e-10)


WIND = """<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity><wind>
<linear_velocity>10 0 0</linear_velocity></wind>
<plugin filename="gz-sim-wind-effects-system" name="gz::sim::systems::WindEffects">
<horizontal><magnitude><time_for_rise>1e-9</time_for_rise></magnitude></horizontal>
<force_approximation_scaling_factor>1.0</force_approximation_scaling_factor></plugin>
<model name="mast"><enable_wind>true</enable_wind><link name="plate"><pose>0 0 1 0 0 0</pose><inertial><mass>2</mass>
<inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link><joint name="foot" type="fixed">
<parent>world</parent><child>plate</child><sensor name="ft" type="force_torque"/></joint></model></world></sdf>"""


def test_a_force_torque_sensor_and_the_reaction_of_a_fixed_plate_show_the_wind():
    log = simulate(ModelText(WIND.encode(), "wind.sdf"), 0.01, log_rate=0.0, fields="reactions sensors")
    np.testing.assert_allclose(log.field("sensors/ft")[0], [20.0, 0, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(log.field("derived/reactions")[0, 3:], [-20.0, 0, 0], atol=1e-12)


def test_mechanisms_have_all_kinds_of_joints():
    texts = [mechanism(seed).content.decode() for seed in range(1, 9)]
    assert all(any(f'type="{kind}"' in text for text in texts) for kind in JOINTS)


def test_a_balance_that_is_not_kept_says_why_and_rounding_is_no_error_of_the_integration():
    words = []
    model = ModelText(PENDULUM.encode(), "u.sdf")
    log = simulate(model, 0.01, dt=0.0, contact=False, balance=True, pushes="rod=1,0,0", warn=words.append)
    assert log.summary.balance is None and "as pushes and plugins are in continuous time" in " ".join(words)
    words.clear()
    log = simulate(model, 0.01, contact=False, balance=True, warn=words.append)
    assert log.summary.balance is not None and not words
