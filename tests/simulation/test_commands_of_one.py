"""What a controller may return and asks for, and plans that leave the limits of joints."""

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ArgumentError
from mbcli.log.reader import Log
from mbcli.models import load_model
from mbcli.simulation import SimulationWarning, Worlds, simulate
from mbcli.simulation.control import ControllerChoice

PENDULUM = """<robot name="p"><link name="world"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="20" velocity="5"/></joint></robot>"""
PICKER = """<mujoco><option timestep="0.001"/><worldbody><body name="b"><joint name="x" type="slide" axis="1 0 0"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><body name="c"><joint name="z" type="slide" axis="0 1 0"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body></worldbody><actuator>
<position name="px" joint="x" kp="200" kv="10"/><position name="pz" joint="z" kp="200" kv="10"/></actuator></mujoco>"""
AIMS = "controllers of the file aim at the default positions: "


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "p.urdf"
    path.write_text(PENDULUM)
    return path


def test_a_controller_of_one_actuator_may_return_a_number(tmp_path):
    cart = SAMPLES / "cart_pole.sdf"
    runs = [
        simulate(cart, log=tmp_path / f"{k}.h5", duration=0.05, controller=controller).q
        for k, controller in enumerate((lambda time: 3.0, lambda time: [3.0], lambda time: np.float32(3.0)))
    ]
    assert (runs[0] == runs[1]).all() and (runs[0] == runs[2]).all() and runs[0][-1, 0] != 0.0
    worlds = Worlds(load_model(cart, dt=0.001), 3, threads=1)
    with worlds.under_controller(lambda time: np.array([1.0, 2.0, 3.0])):
        worlds.step()
    assert worlds.u[:, 0].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(("aimed", "told"), [("pxpz", None), ("px", "pz"), ("", "px, pz")])
def test_a_run_tells_of_controllers_that_nobody_aims(aimed, told, tmp_path, recwarn):
    path = tmp_path / "picker.xml"
    path.write_text(PICKER)
    asked = {name: 0.1 for name in ("px", "pz") if name in aimed}
    simulate(path, log=tmp_path / "run.h5", duration=0.01, controller=lambda time: asked)
    found = [str(warning.message) for warning in recwarn if AIMS in str(warning.message)]
    assert found == ([] if told is None else [AIMS + told])


def plan(folder, rows):
    path = folder / "plan.csv"
    path.write_text("time,hinge\n" + "".join(f"{time},{hinge}\n" for time, hinge in rows))
    return path


def test_a_trajectory_beyond_limits_is_told_of(pendulum, tmp_path):
    beyond = plan(tmp_path, [(0.0, 0.0), (1.0, 1.5), (2.0, 0.0)])
    with pytest.warns(
        SimulationWarning, match="beyond limits of joints: p_hinge_q is 1.5 where the limit is 1, at 1 s"
    ):
        simulate(pendulum, log=tmp_path / "a.h5", duration=0.01, trajectory=beyond)
    fast = plan(tmp_path, [(0.0, -0.9), (0.2, 0.9)])
    with pytest.warns(SimulationWarning, match="p_hinge_w is 13.5 where the limit is 5, at 0.1 s"):
        simulate(pendulum, log=tmp_path / "b.h5", duration=0.01, trajectory=fast)


def test_a_trajectory_within_limits_is_not(pendulum, tmp_path, recwarn):
    within = plan(tmp_path, [(0.0, 0.0), (1.0, 0.5), (2.0, -0.5)])
    simulate(pendulum, log=tmp_path / "a.h5", duration=0.01, trajectory=within)
    assert not [warning for warning in recwarn if "beyond limits" in str(warning.message)]


def test_commands_act_after_their_delay_in_multiples_of_a_quantum(tmp_path):
    cart = SAMPLES / "cart_pole.sdf"
    asked = []

    def controller(time):
        asked.append(10.0 * np.cos(30.0 * time))
        return asked[-1]

    log = simulate(
        cart,
        duration=0.02,
        fields=("u",),
        log_rate=0,
        controller=ControllerChoice(controller, delay=0.003, quantum=0.5),
        dt=0.001,
    )
    u = np.array([0.0, 0.0, 0.0, *(0.5 * np.round(np.array(asked) / 0.5))])
    assert (log.u[:20, 0] == u[:20]).all() and len(set(u)) == 5
    with pytest.raises(ArgumentError, match="controller_delay=0.0015: it is a whole number of calls, 0.001 s each"):
        simulate(cart, duration=0.02, controller=ControllerChoice(controller, delay=0.0015), dt=0.001)
    worlds = Worlds(load_model(cart, dt=0.001), 2, threads=1)
    with worlds.under_controller(ControllerChoice(lambda time: 100.0 * time, delay=0.002), effort_limits="ignore"):
        worlds.step(5)
    np.testing.assert_allclose(worlds.u[:, 0], 0.2)


def test_efforts_of_a_quantum_end_at_the_largest_multiple_within_the_limit(pendulum):
    drive = '<transmission name="t"><type>x/SimpleTransmission</type><joint name="hinge"/><actuator name="m"/>'
    pendulum.write_text(PENDULUM.replace("</robot>", f"{drive}</transmission></robot>"))
    for quantum, most in ((3.0, 18.0), (4.0, 20.0), (0.1, 20.0), (50.0, 0.0)):
        controller = ControllerChoice(lambda time: 100.0 * np.sign(time - 0.005), quantum=quantum)
        log = simulate(pendulum, duration=0.01, fields=("u",), log_rate=0, controller=controller, dt=0.001)
        assert log.u[[2, 8], 0] == pytest.approx([-most, most])


def test_a_run_with_late_commands_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "late.py").write_text("def controller(time, q): return 5 * q[1] + time\n")
    words = ["simulate", str(SAMPLES / "cart_pole.sdf"), "--controller", "late.py"]
    late = ["--controller-delay", "0.01", "--controller-quantum", "0.1", "--controller-rate", "200"]
    succeed(*words, "--at", "hinge=1", *late, "-t", "0.2", "-o", "whole.h5")
    succeed(*words, "--at", "hinge=1", *late, "-t", "0.1", "-o", "part.h5")
    succeed(*words, *late, "-t", "0.2", "--resume", "part.h5", "-o", "joined.h5")
    with Log("whole.h5") as first, Log("joined.h5") as second:
        assert (first.q == second.q).all() and first.q[-1, 0] != 0.0
    refused = cli(*words[:2], "--controller-delay", "0.01", "-t", "0.1", "-o", "c.h5")
    assert refused.code == 2 and "--controller-delay needs --controller" in refused.err
