"""The energy balance of runs with pushes and plugins: their work has entries of its own, and the balance closes."""

import numpy as np
import pytest
from command_line import succeed

from benchmarks.newton_euler.mechanisms import mechanism
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.simulation import simulate

WORKS = "actuators joint_damping joint_friction force_elements contact limits constraints unexplained pushes plugins"


def balance_of(model, duration, *, loading=None, **options):
    """(the balance, the log) without words."""
    loaded = load_model(model, **{"contact": False, "dt": 1e-3} | (loading or {}))
    log = simulate(loaded, duration, balance=True, log_rate=0.0, warn=lambda line: None, **options)
    return log.summary.balance, log


BALL = """<sdf version="1.9"><world name="w"><gravity>0 0 0</gravity>{world}<model name="m"><link name="b"><inertial>
<mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>{solid}</link>{plugin}</model></world></sdf>"""


@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("start, end", [(0.0, 0.5), (0.1234, 0.3456)])
def test_a_push_does_force_times_way(scheme, start, end):
    model = ModelText(BALL.format(world="", plugin="", solid="").encode(), "ball.sdf")
    loading = {"overrides": {"plant_config.step_scheme": scheme}}
    balance, log = balance_of(model, 0.5, loading=loading, pushes=f"b=6,0,0 from {start} to {end}")
    speed = 6.0 / 2.0 * (end - start)
    assert balance["pushes"] == pytest.approx(0.5 * 2.0 * speed**2, rel=1e-9)
    assert balance["energy_change"] == pytest.approx(balance["pushes"], rel=1e-9)
    assert abs(balance["rest"]) < 1e-12 and abs(balance["force_elements"]) < 1e-15 and balance["plugins"] == 0.0


WATER = """<plugin filename="gz-sim-hydrodynamics-system" name="gz::sim::systems::Hydrodynamics">
<link_name>b</link_name><xU>-8</xU><yV>-8</yV><zW>-8</zW></plugin>"""


def test_what_water_takes_is_of_the_plugin_and_what_a_push_gives_is_of_the_push():
    model = ModelText(BALL.format(world="", plugin=WATER, solid="").encode(), "ball.sdf")
    balance, log = balance_of(model, 0.5, start={"b_vx": 3.0}, pushes="b=0,6,0 from 0.1")
    assert balance["plugins"] == pytest.approx(-0.5 * 2.0 * 9.0, rel=0.05)  # exp(-4 t) of the speed along x is left
    assert balance["pushes"] > 0.2
    assert sum(balance[name] for name in WORKS.split()) + balance["rest"] == pytest.approx(balance["energy_change"])
    assert abs(balance["rest"]) < 1e-12


KINDS = {
    "a tree": {},
    "a floating tree in wind": {"floating": True, "plugins": True},
    "a loop with struts": {"loop": True, "struts": True},
    "rubbing joints with stops": {"rubs": True, "limited": True},
}


@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("kind", KINDS)
def test_pushes_of_mechanisms_are_in_the_balance_and_in_no_other_entry(kind, scheme):
    model, loading = mechanism(3, **KINDS[kind]), {"overrides": {"plant_config.step_scheme": scheme}}
    balance, log = balance_of(model, 0.05, loading=loading, pushes="l3=30,-20,50 from 0.0123")
    assert abs(balance["pushes"]) > 1e-3 and abs(balance["unexplained"]) < 1e-9 * max(1.0, balance["flow"])
    assert (abs(balance["plugins"]) > 1e-6) == bool(KINDS[kind].get("plugins"))
    finer, _ = balance_of(model, 0.05, loading=loading | {"dt": 2.5e-4}, pushes="l3=30,-20,50 from 0.0123")
    assert abs(finer["rest"]) < 0.5 * abs(balance["rest"]) + 1e-9 * balance["flow"]


def test_a_push_along_the_ground_goes_into_friction():
    solid = '<collision name="c"><geometry><box><size>0.2 0.2 0.1</size></box></geometry></collision>'
    text = BALL.format(world="", plugin="", solid=solid).replace("<gravity>0 0 0</gravity>", "")
    loading = {"contact": True, "ground": -0.05, "contact_approximation": "lagged"}
    model = ModelText(text.encode(), "ball.sdf")
    balance, log = balance_of(model, 0.5, loading=loading, pushes="b=30,0,0 from 0.1 to 0.4")
    way = np.interp([0.1, 0.4], log.times, log.q[:, 4])
    assert balance["pushes"] == pytest.approx(30.0 * (way[1] - way[0]), rel=0.01)
    assert balance["contact_friction"] < -0.5 * balance["pushes"]


def test_the_command_prints_the_work_of_pushes_and_plugins(tmp_path):
    path = tmp_path / "ball.sdf"
    path.write_text(BALL.format(world="", plugin=WATER, solid=""))
    options = ("-t", 0.2, "--balance", "--push", "b=6,0,0 from 0.05", "-o", tmp_path / "run.h5")
    out = succeed("simulate", path, *options).out
    assert "pushes 0." in out and "plugins -0." in out
    continuous = succeed("simulate", path, *options, "--dt", 0, "--force")
    assert "functions of Python, as pushes and plugins are in continuous time" in continuous.out + continuous.err


BOUNCE = """<surface><bounce><restitution_coefficient>1</restitution_coefficient><threshold>0.01</threshold></bounce>
</surface>"""


@pytest.mark.parametrize("bounces", [True, False])
def test_where_bounces_err_a_little_smaller_step_is_not_said_to_help(bounces):
    solid = '<pose>0 0 0.5 0 0 0</pose><collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry>'
    text = BALL.format(world="", plugin="", solid="").replace("<gravity>0 0 0</gravity>", "")
    text = text.replace('<link name="b">', f'<link name="b">{solid}{BOUNCE if bounces else ""}</collision>')
    words = []
    loaded = load_model(ModelText(text.encode(), "ball.sdf"), contact=True, ground=0.0, dt=0.01)
    simulate(loaded, 1.0, balance=True, log_rate=0.0, warn=words.append)
    told = [line for line in words if "error of the integration" in line]
    assert any("when in a step it falls" in line for line in told) == bounces
    assert not (bounces and any("smaller dt makes it smaller" in line for line in told))


def test_a_servo_on_a_tendon_is_no_error_of_energy():
    text = """<mujoco><worldbody><site name="a" pos="0 0 1"/><body><joint name="j" axis="0 1 0"/><geom type="capsule"
fromto="0 0 0 .4 0 0" size=".02"/><site name="b" pos=".3 0 0"/></body></worldbody><tendon><spatial name="t">
<site site="a"/><site site="b"/></spatial></tendon><actuator><position tendon="t" kp="200"/></actuator></mujoco>"""
    words = []
    loaded = load_model(ModelText(text.encode(), "t.xml"), contact=False)
    log = simulate(loaded, 0.2, log_rate=0.0, warn=words.append)
    assert log.summary.energy_error is None and not any("nothing drives" in line for line in words)
