"""Controllers in the loop of a run: functions, classes, files, other programs, compiled functions."""

import json
import os
import pickle
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from command_line import cli, start, succeed
from test_log_recovery import rows_on_disk

from mbcli.engine.runtime import kept_kernels
from mbcli.errors import ArgumentError, ControlError, ResourceError
from mbcli.log.reader import Log
from mbcli.models.loading import ModelText, load_model
from mbcli.simulation import resume, simulate
from mbcli.simulation.control import Command, ControllerChoice, compiled, compiled_function
from mbcli.simulation.control.plans import Plan, read_plan

CART = """<robot name="cart"><link name="world"/><link name="c"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="x" type="prismatic"><parent link="world"/><child link="c"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="50" velocity="9"/></joint>
<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="x"/><actuator name="m"/>
</transmission></robot>"""
MODEL = ModelText(CART.encode(), "cart.urdf")
H = 0.001


def run(controller, until=0.02, **options):
    return simulate(MODEL, until, contact=False, log_rate=0, controller=controller, **options)


def pushed(forces, period=1):
    """v after each step of the cart of 2 kg, under forces that hold for some steps."""
    return np.cumsum(np.repeat(forces, period)) * H / 2.0


# ------------------------------------------------------------------------------------- what a controller is given


def test_a_function_is_called_at_each_step_with_what_its_parameters_name():
    seen = []

    def controller(time, v, q):
        seen.append((time, float(q[0]), float(v[0])))
        return [4.0]

    log = run(controller)
    assert [time for time, _, _ in seen] == pytest.approx(np.arange(21) * H)
    assert [q for _, q, _ in seen] == list(log.q[:, 0]) and [v for _, _, v in seen] == list(log.v[:, 0])
    assert log.v[1:, 0] == pytest.approx(pushed(np.full(20, 4.0)))
    assert log.u[:, 0] == pytest.approx(np.full(21, 4.0))


def test_what_it_returns_holds_until_its_next_call():
    def controller(time):
        return [1.0 + round(time / 0.005)]

    controller.rate = 200.0
    log = run(controller)
    forces = np.array([1.0, 2.0, 3.0, 4.0])
    assert log.v[1:, 0] == pytest.approx(pushed(forces, 5))
    assert log.u[:20, 0] == pytest.approx(np.repeat(forces, 5))
    slower = run(ControllerChoice(controller, rate=100.0))  # the user's rate goes before
    assert slower.u[:20, 0] == pytest.approx(np.repeat([1.0, 3.0], 10))


def test_steps_of_a_continuous_plant_end_where_a_controller_is_called():
    def controller(time):
        return [np.floor(time / 0.005 + 1e-9)]

    choice = ControllerChoice(controller, rate=200.0)
    log = simulate(MODEL, 0.02, integrator="runge_kutta3", contact=False, controller=choice)
    assert log.v[-1, 0] == pytest.approx(0.005 * (0 + 1 + 2 + 3) / 2.0, rel=1e-12)


def test_the_state_that_it_is_given_is_a_copy():
    kept = []

    def controller(q, v):
        kept.append(q)
        q[:] = 5.0
        v[:] = 7.0
        return [0.0]

    log = run(controller)
    assert not log.q.any() and not log.v.any()
    assert len({id(q) for q in kept}) == len(kept)


def test_random_numbers_come_from_the_seed_of_the_run():
    def controller(random):
        return [random.standard_normal()]

    first, again, other = (run(controller, seed=seed).u for seed in (3, 3, 4))
    assert (first == again).all() and (first != other).all()


def test_a_class_is_made_for_each_run_and_reset_at_its_start():
    class Controller:
        rate = 500.0

        def __init__(self, plant, random):
            self.mass = plant.CalcTotalMass(plant.CreateDefaultContext())

        def reset(self, time, q):
            self.start = time, q[0]

        def __call__(self, time):
            return [self.mass * (time - self.start[0]) + self.start[1]]

    log = run(Controller, start={"x": 0.5})
    assert log.u[:20:2, 0] == pytest.approx(2.0 * log.times[:20:2] + 0.5)


# ------------------------------------------------------------------------------------------- what it returns


def test_actuators_are_named_and_others_keep_what_they_had():
    log = run(lambda time: {"m": 3.0} if time < 0.0105 else {})
    assert log.u[:, 0] == pytest.approx(np.full(21, 3.0))


def test_targets_move_the_controllers_that_hold_joints():
    log = run(lambda time: Command(positions=[0.1], velocities=[0.0]), 0.5, hold=True)
    assert log.q[-1, 0] == pytest.approx(0.1, rel=1e-3) and not log.u.any()
    named = run(lambda time: {"m.target": 0.1}, 0.5, hold=True)
    assert (named.q == log.q).all()


# ------------------------------------------------------------------------------------- what the log has of it

DRAKE = 'xmlns:drake="http://drake.mit.edu"'
AIMS = """
    class Controller:
        rate = 500
        calls = 0
        def __call__(self, targets, q):
            self.calls += 1
            return {"m.target": targets.q[0] + 0.01 * self.calls, "m.target_velocity": 0.5 * targets.v[0]}
        def save(self):
            return self.calls
        def load(self, calls):
            self.calls = calls
"""
AIMING = """
    import json, sys
    calls = json.loads(sys.stdin.readline())["state"] or 0
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("save"):
            print(json.dumps({"state": calls}), flush=True)
            continue
        calls += 1
        q, v = asked["targets"]["q"][0], asked["targets"]["v"][0]
        targets = {"m.target": q + 0.01 * calls, "m.target_velocity": 0.5 * v}
        print(json.dumps({"targets": targets}), flush=True)
"""


@pytest.mark.parametrize("kind", ["class", "program"])
def test_the_log_has_what_a_controller_is_told_to_follow_and_what_its_controllers_aim_at(cart, kind):
    name = cart(AIMS if kind == "class" else AIMING)
    with open("plan.csv", "w") as file:
        file.write("time,x_x\n0,0\n1,0.4\n")
    with open("servo.urdf", "w") as file:
        gains = '<actuator name="m"><drake:controller_gains p="400" d="40"/></actuator>'
        file.write(CART.replace('<actuator name="m"/>', gains).replace("<robot", f"<robot {DRAKE}", 1))
    words = ["simulate", "servo.urdf", "--trajectory", "plan.csv", "--log-rate", "0"]
    words += ["--controller", name if kind == "class" else f"{sys.executable} {name}", "--controller-rate", "500"]
    succeed(*words, "-t", "0.02", "-o", "whole.h5")
    with Log("whole.h5") as log:
        wanted = [log.field(f"input/{name}")[:, 0] for name in ("target", "target_velocity", "target_acceleration")]
        aims = log.field("input/target_of_actuator")[:, 0], log.field("input/target_velocity_of_actuator")[:, 0]
        s = log.times  # a cubic at rest at both ends
        calls = 1 + np.arange(21) // 2
        np.testing.assert_allclose(wanted[0], 0.4 * (3 * s**2 - 2 * s**3), atol=1e-15)
        np.testing.assert_allclose(wanted[1], 0.4 * (6 * s - 6 * s**2), atol=1e-14)
        np.testing.assert_allclose(wanted[2], 0.4 * (6 - 12 * s), atol=1e-13)
        np.testing.assert_allclose(aims[0], wanted[0][(calls - 1) * 2] + 0.01 * calls, atol=1e-15)
        np.testing.assert_allclose(aims[1], 0.5 * wanted[1][(calls - 1) * 2], atol=1e-15)
    succeed(*words, "-t", "0.011", "-o", "part.h5")
    succeed(*words, "-t", "0.02", "--resume", "part.h5", "-o", "joined.h5")
    with Log("whole.h5") as whole, Log("joined.h5") as joined:
        for path in whole.fields():
            assert (whole.field(path) == joined.field(path)).all(), path
    assert succeed("log", "diff", "whole.h5", "joined.h5", "--fields", "target_of_actuator").code == 0
    assert "m.target_velocity" in succeed("log", "show", "whole.h5", "--fields", "target_velocity_of_actuator").out
    assert "m.target" in succeed("log", "plot", "whole.h5", "--fields", "target_of_actuator", "--text").out
    succeed("log", "export", "whole.h5", "-o", "whole.csv")
    with open("whole.csv") as file:
        assert "m.target" in file.readline()


def test_aims_that_stay_are_logged_where_they_are_asked_for_and_refused_where_there_are_none():
    held = simulate(MODEL, 0.01, contact=False, hold=True, start={"x": 0.2}, fields="targets")
    assert (held.field("input/target_of_actuator") == 0.2).all()
    assert "input/target_of_actuator" not in simulate(MODEL, 0.01, contact=False, hold=True).fields()
    with pytest.raises(ArgumentError, match="no PD controllers act"):
        simulate(MODEL, 0.01, contact=False, fields="targets")


@pytest.mark.parametrize(("choice", "force"), [("clamp", 50.0), ("warn", 80.0), ("ignore", 80.0)])
def test_efforts_end_at_their_limits(choice, force):
    told = []
    log = run(lambda: [80.0], effort_limits=choice, warn=told.append)
    assert log.u[:, 0] == pytest.approx(np.full(21, force))
    assert any("80 where the limit is 50" in line for line in told) == (choice != "ignore")
    if choice != "ignore":
        assert log.summary.efforts_beyond[0].time == pytest.approx(0.021)


def test_a_controller_goes_without_inputs():
    with pytest.raises(ArgumentError, match="no inputs beside it"):
        run(lambda: [0.0], inputs=[1.0])
    with pytest.raises(ArgumentError, match="a divisor of 1000 Hz"):
        run(ControllerChoice(lambda: [0.0], rate=300.0))


# ------------------------------------------------------------------------------------------------ compiled


def test_a_compiled_controller_gives_the_rows_of_the_same_one_in_python():
    def law(time, q, v, u, desired, memory):
        memory[0] += q[0]
        u[0] = 3.0 - 40.0 * q[0] - 4.0 * v[0] - 0.1 * memory[0] + time

    memory = np.zeros(1)

    def controller(time, q, v):
        u = np.zeros(1)
        law(time, q, v, u, None, memory)
        return u

    compiled_log = run(compiled(rate=500.0, memory=1)(law), 0.1)
    log = run(ControllerChoice(controller, rate=500.0), 0.1)
    assert compiled_log.q == pytest.approx(log.q, rel=1e-12) and compiled_log.u == pytest.approx(log.u, rel=1e-12)


def test_a_compiled_controller_is_compiled_once_for_many_runs_until_a_constant_in_it_changes(monkeypatch):
    """numba takes numbers and arrays outside of a function as constants: other ones are another function."""
    gains, scale = np.array([-3.0]), -40.0
    made = []
    monkeypatch.setattr(
        compiled_function, "_adapter", lambda *a, real=compiled_function._adapter: made.append(a) or real(*a)
    )
    monkeypatch.setattr(kept_kernels, "cache_directory", lambda: None)

    @compiled()
    def law(time, q, v, u, desired, memory):
        u[0] = scale * (q[0] - 0.1) + gains[0] * v[0]

    first = run(law, 0.05).q[-1]
    assert run(law, 0.05).q[-1] == first and len(made) == 1
    gains[0] = 0.0
    undamped = run(law, 0.05).q[-1]
    assert undamped != first and len(made) == 2
    scale = -10.0
    assert run(law, 0.05).q[-1] != undamped and len(made) == 3
    assert pickle.loads(pickle.dumps(compiled_function.CompiledFunction(abs, None, 0))).function is abs


def test_faults_of_compiled_controllers_are_named():
    def law(time, q, v, u, desired, memory):
        u[0] = np.nan if time > 0.0045 else 0.0

    with pytest.raises(ControlError, match=r"(not finite|returned nan).*at t = 0\.005 s"):
        run(compiled()(law))

    def wrong(time, q, v, u, desired, memory):
        u.nothing()

    with pytest.raises(ControlError, match="numba does not compile the controller"):
        run(compiled()(wrong))

    def raising(time, q, v, u, desired, memory):
        if time > 0.0045:
            raise ValueError("too late")

    with pytest.raises(ControlError, match=r"the controller raised ValueError: too late, at t = 0\.005 s"):
        run(compiled()(raising))


@pytest.fixture
def adapters(tmp_path, monkeypatch):
    """The adapters that are compiled from now on, while those that are kept are in a folder of their own."""
    run(compiled()(lambda time, q, v, u, desired, memory: None))  # what the loop needs is loaded
    made, real = [], compiled_function._adapter
    monkeypatch.setattr(compiled_function, "_adapter", lambda *given: made.append(given) or real(*given))
    monkeypatch.setattr(kept_kernels, "cache_directory", lambda: tmp_path / "kernels")
    return made


def law_of(gain, factor, times, unknown=None):
    from numba import njit

    @njit
    def damping(speed):
        return factor * speed if times else factor + speed

    @compiled()
    def law(time, q, v, u, desired, memory):
        u[0] = 3.0 - gain[0] * q[0] - damping(v[0])
        if unknown is not None:
            u[0] += 1.0

    return law


def test_a_compiled_controller_is_kept_on_disk_until_anything_in_it_changes(adapters, tmp_path):
    """In another process nothing but these texts and numbers is known: no object is kept by what it is here."""
    first = run(law_of((40.0,), 4.0, True)).q[-1]
    assert len(adapters) == 1 and len(list(tmp_path.glob("kernels/controller-*.code"))) == 1
    assert run(law_of((40.0,), 4.0, True)).q[-1] == first and len(adapters) == 1
    others = [law_of((41.0,), 4.0, True), law_of((40.0,), 5.0, True), law_of((40.0,), 4.0, False)]
    assert len({float(run(other).q[-1, 0]) for other in others} | {float(first[0])}) == 4 and len(adapters) == 4
    kept = list(tmp_path.glob("kernels/controller-*.code"))
    for count in (5, 6):
        assert run(law_of((40.0,), 4.0, True, unknown=np.dtype(float))).q[-1] != first and len(adapters) == count
    assert len(list(tmp_path.glob("kernels/controller-*.code"))) == len(kept)
    unkept = [law_of((gain,), 4.0, True, unknown=np.dtype(float)) for gain in (40.0, 41.0)]
    assert run(unkept[0]).q[-1] != run(unkept[1]).q[-1]


def test_a_compiled_controller_may_own_arrays_and_print(adapters, tmp_path, capfd):
    @compiled()
    def law(time, q, v, u, desired, memory):
        gains = np.array([40.0, 4.0])
        u[0] = 3.0 - gains[0] * q[0] - gains[1] * v[0]
        if time == 0.0:
            print("begins", time)

    assert run(law).q[-1] == run(law_of((40.0,), 4.0, True)).q[-1]
    assert "begins 0.0" in capfd.readouterr().err  # as all that controllers print
    assert len(list(tmp_path.glob("kernels/controller-*.code"))) == 1  # of the other one


# --------------------------------------------------------------------------------------------- files and programs


@pytest.fixture
def cart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.urdf").write_text(CART)

    def written(text, name="c.py"):
        (tmp_path / name).write_text(textwrap.dedent(text))
        return name

    return written


NOISY = """
    class Controller:
        rate = 500
        def __init__(self, random):
            self.random, self.calls = random, 0
        def __call__(self, q, v):
            self.calls += 1
            return [self.random.standard_normal() + self.calls - 4.0 * v[0]]
        def save(self):
            return {"calls": self.calls}
        def load(self, kept):
            self.calls = kept["calls"]
"""
PROGRAM = """
    import json, sys
    first = json.loads(sys.stdin.readline())
    calls = first["state"] or 0
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("save"):
            print(json.dumps({"state": calls}), flush=True)
            continue
        calls += 1
        print(json.dumps({"u": [calls - 4.0 * asked["v"][0]]}), flush=True)
"""


@pytest.mark.parametrize("integrator", [(), ("--integrator", "runge_kutta3")])
@pytest.mark.parametrize("kind", ["class", "pickled", "program"])
def test_a_run_that_goes_on_with_a_controller_has_the_rows_of_one_without_a_break(cart, kind, integrator):
    text = PROGRAM if kind == "program" else NOISY
    name = cart(text.replace("save", "other") if kind == "pickled" else text)
    controller = [f"{sys.executable} {name}"] if kind == "program" else [name]
    words = ["simulate", "cart.urdf", "--controller", *controller, "--seed", "5", "--log-rate", "500", *integrator]
    words += ["--controller-pickle"] if kind == "pickled" else []
    succeed(*words, "-t", "0.05", "-o", "whole.h5")
    succeed(*words, "-t", "0.031", "-o", "part.h5")
    succeed(*words, "-t", "0.05", "--resume", "part.h5", "-o", "joined.h5")
    with Log("whole.h5") as whole, Log("joined.h5") as joined:
        assert (whole.q == joined.q).all() and (whole.u == joined.u).all() and whole.u.any()
    refused = cli("simulate", "--resume", "part.h5", "-t", "0.05")
    assert refused.code == 3 and "a log may not ask for" in refused.err


@pytest.mark.parametrize("kind", ["class", "program"])
def test_a_killed_run_goes_on_with_its_controller_to_the_rows_of_one_without_a_break(cart, kind):
    text = PROGRAM if kind == "program" else NOISY
    name = cart(text)
    controller = f"{sys.executable} {name}" if kind == "program" else name
    words = ["-q", "simulate", "cart.urdf", "--controller", controller, "--seed", "5", "--log-rate", "0"]
    process = start(*words, "-t", "1e6", "-o", "run.h5")
    until = time.monotonic() + 60
    while not rows_on_disk("run.h5.partial") and time.monotonic() < until:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    assert succeed("log", "recover", "run.h5.partial", "--json").json()["rows"] > 0
    with Log("run.recovered.h5") as recovered:
        end = f"{recovered.times[-1] + 0.1:.3f}"
    succeed(*words, "-t", end, "--resume", "run.recovered.h5", "-o", "joined.h5")
    succeed(*words, "-t", end, "-o", "whole.h5")
    assert succeed("log", "diff", "joined.h5", "whole.h5").out.startswith("same")


def test_a_run_does_not_go_on_without_its_controller(cart):
    name = cart(NOISY.replace("save", "other"))
    words = ["simulate", "cart.urdf", "-t", "0.02", "--log-rate", "0"]
    succeed(*words, "--controller", name, "-o", "part.h5")
    without = cli(*words, "--resume", "part.h5", "-t", "0.03", "-o", "b.h5")
    assert without.code == 3 and "was run with a controller" in without.err
    same = cli(*words, "--controller", name, "--resume", "part.h5", "-t", "0.03", "-o", "b.h5")
    assert same.code == 3 and "no save() and load()" in same.err


def test_the_library_goes_on_with_a_function(tmp_path):
    path = tmp_path / "run.h5"
    whole = run(lambda random: [random.standard_normal()], 0.05)
    controller = lambda random: [random.standard_normal()]  # noqa: E731
    simulate(MODEL, 0.03, contact=False, log_rate=0, controller=controller, log=path).close()
    log = resume(path, MODEL, 0.05, contact=False, log_rate=0, controller=controller)
    assert (log.q == whole.q).all() and (log.u == whole.u).all()


def test_what_a_controller_prints_is_not_in_the_result(cart):
    name = cart("def controller(time):\n    print('at', time)\n    return [0.0]\n")
    result = succeed("simulate", "cart.urdf", "--controller", name, "-t", "0.01", "--no-log", "--json")
    assert json.loads(result.out)["steps"] == 10 and "at 0.0" in result.err


SWING = """<sdf version="1.9"><model name="p"><link name="b"><pose>0 0 -1 0 0 0</pose><inertial><mass>1</mass>
<inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>
<sensor name="imu" type="imu"><update_rate>100</update_rate><imu><linear_acceleration><z><noise type="gaussian">
<stddev>0.1</stddev><dynamic_bias_stddev>0.01</dynamic_bias_stddev>
<dynamic_bias_correlation_time>1</dynamic_bias_correlation_time></noise></z></linear_acceleration></imu></sensor></link>
<joint name="j" type="revolute"><parent>world</parent><child>b</child><pose>0 0 1 0 0 0</pose><axis><xyz>0 1 0</xyz>
<limit><effort>20</effort></limit></axis></joint></model></sdf>"""
READS = """
    class Controller:
        rate = 200
        def __call__(self, time, sensors):
            with open("readings", "a") as file:
                print(time, *sensors["imu"], file=file)
            return [0.1 * sensors["imu"][9]]
        def save(self):
            return None
        def load(self, kept):
            pass
"""
ASKS = """
    import json, sys
    first = json.loads(sys.stdin.readline())
    assert first["sensors"]["imu"]["columns"][9] == "linear_acceleration_z"
    print(json.dumps({"ready": True, "sensors": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("save"):
            print(json.dumps({"state": None}), flush=True)
            continue
        imu = asked["sensors"]["imu"]
        with open("readings", "a") as file:
            print(asked["time"], *imu, file=file)
        print(json.dumps({"u": [0.1 * imu[9]]}), flush=True)
"""


def readings(*words):
    """{time: values} that the controller of a command writes into a file."""
    succeed("simulate", "p.sdf", *words)
    with open("readings") as file:
        rows = [line.split() for line in file]
    os.remove("readings")
    return {round(float(time), 9): np.array(values, dtype=float) for time, *values in rows}


@pytest.mark.parametrize("kind", ["class", "program"])
def test_a_controller_gets_the_sensors_of_the_model_as_the_log_has_them(cart, tmp_path, kind):
    (tmp_path / "p.sdf").write_text(SWING)
    name = cart(READS if kind == "class" else ASKS)
    controller = [name] if kind == "class" else [f"{sys.executable} {name}", "--controller-rate", "200"]
    words = ["--controller", *controller, "--log-rate", "200", "--seed", "3"]
    start = "--at", "j=0.5"
    whole = readings(*words, *start, "-t", "0.06", "-o", "whole.h5")
    with Log("whole.h5") as log:
        logged, times = log.field("sensors/imu"), log.times
    assert sorted(whole) == pytest.approx(times, abs=1e-9)
    for k, t in enumerate(times):
        values = whole[round(float(t), 9)]
        assert values[:7] == pytest.approx(logged[k, :7], abs=1e-12)  # what does not depend on the effort of this call
        if k > 1:  # before the first call no effort acted
            assert values[7:] == pytest.approx(logged[k, 7:], abs=0.05)
    assert whole[0.005] == pytest.approx(whole[0.0], abs=0) and (whole[0.01] != whole[0.0]).any()  # its own rate
    noise = np.array([whole[round(0.01 * k, 9)][9] - logged[2 * k, 9] for k in range(1, 6)])
    assert np.abs(noise).max() < 0.01  # the same numbers: drawn anew they would differ by 0.1
    readings(*words, *start, "-t", "0.033", "-o", "part.h5")
    rest = readings(*words, "-t", "0.06", "--resume", "part.h5", "-o", "joined.h5")
    assert len(rest) == 6
    for t, values in rest.items():
        assert (values == whole[t]).all()


def test_sensors_of_a_controller_may_be_without_noise_and_a_model_without_any(cart, tmp_path):
    (tmp_path / "p.sdf").write_text(SWING)
    words = ["--at", "j=0.5", "--controller", cart(READS), "-t", "0.02", "--no-log"]
    loud, quiet = (readings(*words, "--sensor-noise", noise)[0.0] for noise in ("on", "off"))
    assert (loud[:9] == quiet[:9]).all() and 0.0 < abs(loud[9] - quiet[9]) < 1.0
    nothing = cart("def controller(sensors):\n    assert sensors == {}\n    return [0]\n")
    succeed("simulate", "cart.urdf", "--controller", nothing, "-t", "0.01", "--no-log")


def test_a_class_that_stands_in_no_file_is_a_controller():
    scope = {"__name__": "a_notebook"}
    exec("class Own:\n    def __call__(self):\n        return [1.0]\n", scope)
    log = run(scope["Own"])
    assert (log.u == 1.0).all()


FAULTS = {
    "raises": ("def controller(q):\n    return [1 / 0]\n", "c.py:2: error: the controller raised ZeroDivisionError"),
    "raises late": (
        "def controller(time):\n    if time > 0.005:\n        raise OSError('x')\n    return [0]\n",
        "c.py:3:",
    ),
    "in a helper": (
        "import math\ndef helper():\n    return math.sqrt(-1)\ndef controller():\n    return helper()\n",
        ":3:",
    ),
    "none": ("def controller(q):\n    q + 1\n", "returned None"),
    "nan": ("def controller():\n    return [float('nan')]\n", "returned nan as number 0"),
    "infinite": ("def controller():\n    return [float('inf')]\n", "returned inf as number 0"),
    "long": ("def controller():\n    return [0, 0]\n", "efforts of shape (2,): 1 are wanted"),
    "short": ("def controller():\n    return []\n", "efforts of shape (0,)"),
    "deep": ("def controller():\n    return [[0]]\n", "efforts of shape (1, 1)"),
    "ragged": ("def controller():\n    return [[0], [0, 1]]\n", "returned [[0], [0, 1]]"),
    "text": ("def controller():\n    return 'full speed'\n", "returned 'full speed'"),
    "complex": ("def controller():\n    return [1j]\n", "error: the controller"),
    "unknown name": ("def controller():\n    return {'y': 1}\n", "there is no actuator named 'y'"),
    "named nan": ("def controller():\n    return {'m': float('nan')}\n", "gave nan for 'm'"),
    "named text": ("def controller():\n    return {'m': 'x'}\n", "gave 'x' for 'm'"),
    "no controller to aim": ("def controller():\n    return {'m.target': 1}\n", "no PD controller that acts"),
    "number as name": ("def controller():\n    return {0: 1}\n", "keys are names of actuators"),
    "changes the model": (
        "def controller(plant):\n    plant.AddModelInstance('x')\n    return [0]\n",
        "c.py:2: error: the controller raised",
    ),
    "hangs": ("def controller():\n    while True: pass\n", "took longer than 0.2 s"),
    "sleeps": ("import time as t\ndef controller():\n    t.sleep(30)\n", "took longer than 0.2 s"),
    "hides": (
        "def controller():\n    while True:\n        try:\n            while True: pass\n"
        "        except Exception: pass\n",
        "took longer than 0.2 s",
    ),
    "exits": ("import sys\ndef controller():\n    sys.exit(0)\n", "c.py:3: error: the controller raised SystemExit"),
    "unknown parameter": ("def controller(t):\n    return [0]\n", "its parameter 't' is none of those"),
    "no function": ("x = 1\n", "has neither of controller and Controller"),
    "not callable": ("controller = 3\n", "has no __call__"),
    "syntax": ("def controller(:\n", "c.py:1: error:"),
    "import": ("import nothing_like_it\n", "c.py:1: error: raised ModuleNotFoundError"),
    "exits at once": ("import sys\nsys.exit(3)\n", "ended the program when it was read"),
    "constructor": ("class Controller:\n    def __init__(self):\n        self.x = {}['a']\n", "c.py:3:"),
    "unsaved": (
        "class Controller:\n    def __call__(self): return [0]\n    def save(self): return {1, 2}\n",
        "what JSON cannot write",
    ),
    "too large": (
        "class Controller:\n    def __call__(self): return [0]\n    def save(self): return 'x' * 100000\n",
        "bytes as JSON",
    ),
}
HEAD = "import json, os, sys, time\nsys.stdin.readline()\n"
READY = HEAD + "print('{\"ready\": true}', flush=True)\nbounded = sys.stdin.readline()\n"
PROGRAM_FAULTS = {
    "ends at once": ("raise SystemExit(7)\n", "ended with exit code 7"),
    "is not ready": (HEAD + "print('{}', flush=True)\nsys.stdin.read()\n", '{"ready": true}'),
    "ends later": (READY, "ended with exit code 0"),
    "half a line": (READY + "print('{\"u\": [', end='', flush=True)\n", 'in the middle of a line: {"u": ['),
    "half a line and waits": (READY + "print('{\"u\"', end='', flush=True)\ntime.sleep(30)\n", "without an end of the"),
    "no JSON": (READY + "print('hello', flush=True)\nsys.stdin.read()\n", "wrote no JSON: hello"),
    "no object": (READY + "print('[1]', flush=True)\nsys.stdin.read()\n", "wrote no JSON object"),
    "prints": (READY + "print('debug\\n{\"u\": [0]}', flush=True)\nsys.stdin.read()\n", "wrote no JSON: debug"),
    "two lines": (READY + 'print(\'{"u": [0]}\\n{"u": [0]}\', flush=True)\nsys.stdin.read()\n', "more than one line"),
    "nothing in it": (READY + "print('{}', flush=True)\nsys.stdin.read()\n", "without 'u' and 'targets'"),
    "NaN": (READY + "print('{\"u\": [NaN]}', flush=True)\nsys.stdin.read()\n", "returned nan as number 0"),
    "long": (READY + "print('{\"u\": [0, 0]}', flush=True)\nsys.stdin.read()\n", "efforts of shape (2,)"),
    "slow": (READY + "time.sleep(30)\n", "did not answer within 0.2 s"),
    "dies": (READY + "os.kill(os.getpid(), 9)\n", "was ended by signal 9"),
}


@pytest.mark.parametrize("fault", [*FAULTS, *(f"program {name}" for name in PROGRAM_FAULTS)])
def test_a_faulty_controller_ends_the_run_with_one_line_and_keeps_the_log(cart, fault):
    is_program = fault.startswith("program ")
    text, message = PROGRAM_FAULTS[fault.removeprefix("program ")] if is_program else FAULTS[fault]
    name = cart(text)
    controller = f"{sys.executable} {name}" if is_program else name
    limit = "0.2" if "0.2 s" in message or fault.endswith("waits") else "30"
    words = ["-t", "0.01", "--controller-limit", limit, "-o", "run.h5"]
    result = cli("simulate", "cart.urdf", "--controller", controller, *words)
    lines = [line for line in result.err.splitlines() if "error" in line]
    assert result.code == 3 and len(lines) == 1 and message in lines[0], result.err
    assert "Traceback" not in result.err
    if os.path.exists("run.h5"):  # it began
        with Log("run.h5") as log:
            assert log.status == "failed" and log.row_count >= 1
            assert [event["code"] for event in log.events()] == ["CONTROLLER"]
    else:
        assert not os.path.exists("run.h5.partial")


def test_controllers_that_are_not_there(cart):
    missing = cli("simulate", "cart.urdf", "--controller", "none.py", "-t", "0.01")
    assert missing.code == 4 and "none.py: error: there is no such file" in missing.err
    program = cli("simulate", "cart.urdf", "--controller", "./nothing-like-it --fast", "-t", "0.01")
    assert program.code == 4 and "cannot be started" in program.err
    assert cli("simulate", "cart.urdf", "--controller-rate", "100", "-t", "0.01").code == 2
    with pytest.raises(ResourceError):
        run("none.py")


def test_a_program_ends_with_the_run(cart):
    name = cart(PROGRAM.replace("calls += 1", "calls += 1; open('pid', 'w').write(str(__import__('os').getpid()))"))
    succeed("simulate", "cart.urdf", "--controller", f"{sys.executable} {name}", "-t", "0.01", "--no-log")
    with open("pid") as file:
        assert subprocess.run(["ps", "-p", file.read()], capture_output=True, check=False).returncode == 1


# -------------------------------------------------------------------------------------------------- plans


def test_plans_between_their_rows():
    times, rows = np.array([0.0, 1.0, 3.0, 4.0]), np.array([[0.0], [2.0], [-1.0], [0.5]])
    for way in ("linear", "cubic", "quintic"):
        plan = Plan([0], [0], times, rows, None, way)
        assert [plan.at(t).q[0] for t in times] == pytest.approx(rows[:, 0])
        for t in (0.3, 1.7, 3.9):  # derivatives
            h = 1e-5
            before, here, after = (plan.at(t + k * h) for k in (-1, 0, 1))
            assert here.v == pytest.approx((after.q - before.q) / (2 * h), abs=1e-8)
            assert here.vdot == pytest.approx((after.v - before.v) / (2 * h), abs=1e-7)
        assert plan.at(9.0).q == rows[-1] and not plan.at(9.0).v.any() and plan.at(-1.0).q == rows[0]
    for t in times[1:3]:  # cubic: no steps of the second derivative
        plan = Plan([0], [0], times, rows, None, "cubic")
        assert plan.at(t - 1e-12).vdot == pytest.approx(plan.at(t).vdot, abs=1e-6)
    line = Plan([0], [0], times, 2.0 * times[:, np.newaxis] + 1.0, np.full((4, 1), 2.0), "cubic")
    assert line.at(2.2).q == pytest.approx([5.4]) and line.at(2.2).vdot == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize(("way", "most"), [("computed-torque", 5e-5), ("pd", 2e-3), ("prescribed", 1e-12)])
def test_a_cart_follows_a_plan_and_says_how_far_it_is_off(cart, way, most):
    cart("time,x\n0,0\n0.1,0.01\n0.2,0\n", "plan.csv")
    words = ["simulate", "cart.urdf", "--trajectory", "plan.csv", "--follow", way, "-t", "0.2", "--json", "-o", "r.h5"]
    summary = json.loads(succeed(*words).out)
    with Log("r.h5") as log:
        error = log.field("derived/tracking_error")[:, 0]
        assert np.abs(error).max() <= summary["tracking"][0]["largest_error"] < most
        assert log.field("input/target")[:, 0] == pytest.approx(log.q[:, 0] - error)
        force = log.field("derived/effort")[:, 0]
    # from rest to rest over 0.1 s, twice, without a step of the second derivative: 6 A / T^2 at the middle
    assert np.abs(force).max() == pytest.approx(2.0 * 6.0 * 0.01 / 0.1**2, rel=0.05)


def test_a_plan_takes_velocities_by_the_names_of_tables_of_states_and_leaves_accelerations(cart):
    plant = load_model("cart.urdf").plant
    for names in ("v:x,vdot:x", f"v:{plant.GetVelocityNames()[0]},vdot:{plant.GetVelocityNames()[0]}"):
        plan = read_plan(plant, cart(f"time,x,{names}\n0,0,1,9\n1,1,-1,9\n", "plan.csv"), "cubic")
        assert plan.at(0.0).v.tolist() == [1.0]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("time,y\n0,0\n1,1\n", "plan.csv:1"),
        ("time,x\n0,0\n1,1\n1e308,0\n2e308,1\n", "plan.csv:5"),
        ("time,x\n0,0\n1,1\n2,0\n1e308,0\n", "from time 0 to 1: its rates are not finite"),
        ("time,x\n0,0\n0,1\n", "does not increase"),
        ("time,x\n0,0\n1,nan\n", "is not a finite number"),
        ("time,x\n0,0\n", "at least two rows"),
        ("x\n0\n1\n", "one column 'time'"),
        ("time,x,v:y\n0,0,0\n1,1,0\n", "column 'v:y': there is no velocity named 'y'"),
        ("time,x,tau:x\n0,0,0\n1,1,0\n", "column 'tau:x': there is no position named"),
    ],
)
def test_faults_of_plans_are_named(cart, table, message):
    cart(table, "plan.csv")
    refused = cli("simulate", "cart.urdf", "--trajectory", "plan.csv", "-t", "0.2")
    assert refused.code == 3 and message in refused.err
