"""Newton's and Euler's equations of every body in the steps that a run took: what rows say is of these steps."""

import numpy as np
import pytest
from newton_euler import DT, JOINTS, mechanism, residuals, run
from repository import SAMPLES

from mbcli.models.loading import ModelText
from mbcli.simulation import simulate

G = 9.81
KINDS = {
    "tree": {},
    "floating": {"floating": True},
    "rubbing": {"rubs": True},
    "limited": {"limited": True},
    "loop": {"loop": True},
    "plugins": {"plugins": True},
}
ACTORS = {"passive": {}, "pushed": {"pushes": "l3=3,-2,5 from 0.005"}, "held": {"loading": {"hold": True}}}
SOLVED = 1e-9
OF_THE_SOLVER = 1e-4  # a contact problem is solved to a part of its momenta: docs/explanation/architecture.md


@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("actor", ACTORS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_body_and_every_free_axis_balances(kind, actor, scheme):
    given = dict(ACTORS[actor])
    loading = given.pop("loading", {}) | {"overrides": {"plant_config.step_scheme": scheme}}
    seed = 1 + list(KINDS).index(kind)
    bodies, axes = residuals(run(mechanism(seed, **KINDS[kind]), 0.01, seed=seed, loading=loading, **given))
    assert bodies < SOLVED and axes < SOLVED


@pytest.mark.parametrize("law", ["sap", "lagged", "similar"])
@pytest.mark.parametrize("kind", [{"floating": True}, {"loop": True, "rubs": True}])
def test_bodies_in_contact_balance(kind, law):
    loading = {"ground": 1.1, "contact_approximation": law}
    found = run(mechanism(4, ground=True, **kind), 0.01, contact=True, loading=loading, pushes="l3=3,-2,-500")
    bodies, axes = residuals(found)
    assert sum(map(len, found.contacts)) and bodies < SOLVED and axes < OF_THE_SOLVER


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
    log = simulate(model, 0.01, contact=False, balance=True, pushes="rod=1,0,0", warn=words.append)
    assert log.summary.balance is None and "pushes and plugins act" in " ".join(words)
    words.clear()
    log = simulate(model, 0.01, contact=False, balance=True, warn=words.append)
    assert log.summary.balance is not None and not words
