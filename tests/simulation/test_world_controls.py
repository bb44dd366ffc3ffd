"""Controllers, pushes and sensors in many worlds: each world has the rows of a single run."""

import json
import sys
import textwrap

import numpy as np
import pytest
from command_line import cli, succeed
from repository import ROOT

from mbcli.errors import ArgumentError, ControlError
from mbcli.log import open_log
from mbcli.log.worlds import WorldsLog
from mbcli.models import load_model
from mbcli.models.loading import ModelText
from mbcli.simulation import simulate
from mbcli.simulation.control import Command, compiled
from mbcli.simulation.worlds import Worlds

WALKER = ROOT / "docs" / "examples" / "walker.xml"
CART = """<mujoco model="cart"><option gravity="0 0 0"/><worldbody><body name="c">
<joint name="x" type="slide" axis="1 0 0" range="-9 9"/>
<geom type="box" size="0.1 0.1 0.1" mass="2" contype="0" conaffinity="0"/><site name="s"/></body></worldbody>
<actuator><motor name="m" joint="x" ctrllimited="true" ctrlrange="-50 50" forcelimited="true" forcerange="-50 50"/>
</actuator><sensor><accelerometer name="a" site="s"/><jointpos name="p" joint="x" noise="0.01"/></sensor></mujoco>"""
MODEL = ModelText(CART.encode(), "cart.xml")
H = 0.001


def carts(count=3, **options):
    worlds = Worlds(load_model(MODEL, contact=False), count, **options)
    worlds.q = np.linspace(0.0, 1.0, count)[:, np.newaxis]
    return worlds


def single(q, controller, until=0.02, **options):
    return simulate(MODEL, until, contact=False, log_rate=0, start={"x": q}, controller=controller, **options)


# ------------------------------------------------------------------------------------------------ controllers


def test_each_world_under_a_controller_of_arrays_has_the_rows_of_a_single_run_under_it():
    def controller(q, v):
        return -40.0 * q - 4.0 * v

    worlds = carts()
    with worlds.under_controller(controller, rate=500.0):
        rows = worlds.rollout(20)
    for k, q in enumerate([0.0, 0.5, 1.0]):
        log = single(q, _rated(controller))
        assert (rows[k, :, :1] == log.q[1:]).all() and (rows[k, :, 1:] == log.v[1:]).all()
    assert rows[2].any()


def _rated(function):
    def controller(q, v):
        return function(q, v)

    controller.rate = 500.0
    return controller


def test_ticks_do_not_depend_on_how_steps_are_cut():
    seen = []

    def controller(time):
        seen.append(time.tolist())
        return {"m": time}

    def run(cuts):
        worlds = carts(2)
        seen.clear()
        with worlds.under_controller(controller, rate=250.0):
            for count in cuts:
                worlds.step(count)
        return worlds.q.copy(), list(seen)

    whole, times = run([12])
    parts, same = run([1, 2, 3, 5, 1])
    assert (whole == parts).all() and times == same
    np.testing.assert_allclose(times, [[0.0, 0.0], [0.004, 0.004], [0.008, 0.008]], atol=1e-15)


def test_samples_are_taken_where_they_are_asked_for_between_calls():
    def controller(q, v):
        return -40.0 * q - 4.0 * v

    every = carts()
    with every.under_controller(controller, rate=500.0):
        third = every.rollout(20, every=3)
    whole = carts()
    with whole.under_controller(controller, rate=500.0):
        each = whole.rollout(20)
    assert third.shape == (3, 6, 2) and (third == each[:, 2::3][:, :6]).all()


def test_a_controller_may_name_actuators_aim_pd_controllers_or_say_the_same_to_all_worlds():
    named = carts()
    with named.under_controller(lambda q: {"m": -q[:, 0]}):
        named.step(5)
    rows = carts()
    with rows.under_controller(lambda q: -q):
        rows.step(5)
    assert (named.q == rows.q).all() and named.v[1:].all()
    common = carts()
    with common.under_controller(lambda: [3.0]):
        common.step(5)
    np.testing.assert_allclose(common.v[:, 0], 3.0 * 5 * H / 2.0, rtol=1e-12)
    held = Worlds(load_model(MODEL, contact=False, hold=True), 2)
    with held.under_controller(lambda: Command(positions=[[0.1], [0.2]])):
        held.step(500)
    np.testing.assert_allclose(held.q[:, 0], [0.1, 0.2], rtol=1e-3)
    again = Worlds(load_model(MODEL, contact=False, hold=True), 2)
    with again.under_controller(lambda: {"m.target": [0.1, 0.2]}):
        again.step(500)
    assert (again.q == held.q).all()


def test_efforts_end_at_limits_and_the_most_of_all_worlds_is_told():
    worlds = carts()
    with worlds.under_controller(lambda: [[60.0], [10.0], [-80.0]]) as ticks:
        worlds.step(4)
    np.testing.assert_allclose(worlds.u[:, 0], [50.0, 10.0, -50.0])
    (told,) = ticks.exceeded()
    assert (told.actuator, told.limit, told.most) == ("cart_m", 50.0, -80.0) and told.time == pytest.approx(4 * H)


def test_a_compiled_controller_keeps_numbers_of_each_world():
    @compiled(rate=500.0, memory=1)
    def controller(time, q, v, u, desired, memory):
        u[0] = -40.0 * q[0] - memory[0]
        memory[0] += 0.1 * q[0]

    worlds = carts()
    with worlds.under_controller(controller):
        worlds.step(20)
    for k, q in enumerate([0.0, 0.5, 1.0]):
        assert (worlds.q[k] == single(q, controller).q[-1]).all()


def test_targets_and_sensors_have_a_row_of_each_world(tmp_path):
    plan = tmp_path / "plan.csv"
    plan.write_text(f"time,{_position()}\n0,0\n1,0.4\n")
    seen = {}

    def controller(time, sensors, targets):
        seen[float(time[0])] = {name: values.copy() for name, values in sensors.items()} | {"q": targets.q.copy()}
        return np.full((3, 1), 4.0)

    worlds = carts()
    with worlds.under_controller(controller, seed=7, trajectory=str(plan)):
        worlds.step(3)
    last = seen[0.002]
    assert last["q"].shape == (3, 1) and last["a"].shape == (3, 3)
    np.testing.assert_allclose(last["a"][:, 0], 2.0, rtol=1e-9)  # 4 N on 2 kg
    for k, q in enumerate([0.0, 0.5, 1.0]):
        log = single(q, lambda: [4.0], 0.003, seed=7 + k, fields="sensors")
        assert last["p"][k, 0] == log.field("sensors/p")[2]


def _position():
    return load_model(MODEL, contact=False).plant.GetPositionNames()[0]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([[1.0], [2.0]], r"returned efforts of shape \(2, 1\): \(3, 1\), a row a world, are wanted"),
        ([[1.0], [np.nan], [0.0]], "returned nan as number 0 of the efforts of world 1"),
        ({"m": [1.0, 2.0]}, r"gave \(2,\) numbers for 'm': 3, one a world, are wanted"),
        ({"m": [1.0, 2.0, np.inf]}, "gave inf for 'm' of world 2"),
        ({"m": "fast"}, "gave 'fast' for 'm': numbers of all worlds are wanted"),
        ({"n": 1.0}, "returned what the model does not have"),
        (None, "returned None"),
    ],
)
def test_what_a_controller_of_worlds_does_wrong_is_one_line(answer, message):
    worlds = carts()
    with pytest.raises(ControlError, match=message), worlds.under_controller(lambda: answer):
        worlds.step()
    assert not worlds.v.any()
    worlds.step()  # they go on without it
    assert worlds.time[0] == pytest.approx(H)


def test_one_controller_at_a_time_and_no_inputs_beside_it():
    worlds = carts()
    with worlds.under_controller(lambda: [0.0]):
        with pytest.raises(ArgumentError, match="already"), worlds.under_controller(lambda: [1.0]):
            pass
        with pytest.raises(ArgumentError, match="no u beside it"):
            worlds.rollout(2, [[1.0], [1.0]])


# ------------------------------------------------------------------------------------------------ pushes


@pytest.fixture(scope="module")
def walker():
    return load_model(str(WALKER), contact=True)


def test_a_pushed_world_has_the_rows_of_a_single_run_and_others_are_left_alone(walker):
    worlds = Worlds(walker, 3, pose="stand")
    worlds.push("trunk=60,5,0@0.1,0,0.02 from 0.004 to 0.012", which=[0, 2])
    worlds.push(["trunk=0,20,0 to 0.002"], which=2)
    rows = worlds.rollout(20)
    for k, pushes in enumerate(
        [
            ["trunk=60,5,0@0.1,0,0.02 from 0.004 to 0.012"],
            [],
            ["trunk=60,5,0@0.1,0,0.02 from 0.004 to 0.012", "trunk=0,20,0 to 0.002"],
        ]
    ):
        log = simulate(walker, 0.02, log_rate=0, pose="stand", pushes=pushes)
        assert (rows[k] == np.hstack([log.q, log.v])[1:]).all()
    assert len({tuple(row) for row in rows[:, -1].tolist()}) == 3


def test_pushes_are_at_the_time_of_each_world_and_end_when_asked():
    worlds = carts(2)
    worlds.push("c=2,0,0 from 0.002 to 0.004")
    worlds.step(3)
    worlds.reset(0)
    worlds.step(3)
    np.testing.assert_allclose(worlds.v[:, 0], [1 * H, 2 * H], rtol=1e-12)  # 1 m/s^2: one step so far, and both
    worlds.end_pushes()
    worlds.step(5)
    np.testing.assert_allclose(worlds.v[:, 0], [1 * H, 2 * H], rtol=1e-12)


def test_random_pushes_are_those_of_single_runs_of_their_seeds():
    worlds = carts(3)
    worlds.push("c=30@random for 0.005", seed=11, until=0.02)
    worlds.step(20)
    for k, q in enumerate([0.0, 0.5, 1.0]):
        log = simulate(MODEL, 0.02, contact=False, start={"x": q}, pushes=["c=30@random for 0.005"], seed=11 + k)
        assert (worlds.v[k] == log.v[-1]).all()
    assert len(set(worlds.v[:, 0].tolist())) == 3
    with pytest.raises(ArgumentError, match="a random push needs an end"):
        worlds.push("c=30@random for 0.005")
    with pytest.raises(ArgumentError, match="there is no body named 'd'"):
        worlds.push("d=1,0,0")


# ------------------------------------------------------------------------------------------------ sensors


def test_sensors_of_a_walking_robot_in_worlds_are_those_of_logs_of_single_runs(walker):
    worlds = Worlds(walker, 2, pose="stand")
    worlds.push("trunk=60,5,0 from 0.004 to 0.012", which=1)
    sensors = worlds.sensors(3)
    rows = []
    for _ in range(51):
        rows.append(sensors.signals())
        worlds.step()
    for k, pushes in enumerate([(), ["trunk=60,5,0 from 0.004 to 0.012"]]):
        log = simulate(walker, 0.05, log_rate=0, pose="stand", fields="sensors", seed=3 + k, pushes=pushes)
        for name in rows[0]:
            own = np.array([row[name][k] for row in rows]).reshape(51, -1)
            np.testing.assert_allclose(own, log.field(f"sensors/{name}").reshape(51, -1), rtol=1e-9, atol=1e-9)
    feet = np.array([row["front_left"][:, 0] for row in rows])
    assert feet[-1].min() > 1.0 and np.abs(feet[:, 0] - feet[:, 1]).max() > 0.1  # they stand, each in its own way


def test_sensors_measure_what_parameters_of_a_world_make_of_it():
    worlds = carts(2, parameters={"body.c.mass": [2.0, 4.0]})
    worlds.u = [[4.0], [4.0]]
    np.testing.assert_allclose(worlds.sensors().exact()["a"][:, 0], [2.0, 1.0], rtol=1e-9)
    assert not worlds.time.any() and not worlds.v.any()  # nothing has moved


def test_a_held_arm_feels_its_weight_in_worlds_as_in_a_run(tmp_path):
    model = load_model(
        ModelText(
            b"<mujoco><worldbody><body name='b'><joint name='j' axis='0 1 0'/><geom type='capsule' "
            b"fromto='0 0 0 .5 0 0' size='.02' mass='3' contype='0' conaffinity='0'/><site name='s' pos='.5 0 0'/>"
            b"</body></worldbody><actuator><motor name='m' joint='j'/></actuator><sensor>"
            b"<accelerometer name='a' site='s'/><jointactuatorfrc name='t' joint='j'/></sensor></mujoco>",
            "arm.xml",
        ),
        contact=False,
        hold=True,
    )
    found = Worlds(model, 2).sensors().exact()
    np.testing.assert_allclose(found["a"], [[0.0, 0.0, 9.81]] * 2, atol=1e-6)
    assert abs(found["t"][0, 0]) == pytest.approx(3 * 9.81 * 0.25, rel=1e-6)

    def controller(sensors):
        assert abs(sensors["a"][2] - 9.81) < 1e-6
        return {"m.target": 0.0}

    simulate(model, 0.003, controller=controller)  # at ticks of a single run as well


SWING = """<sdf version="1.9"><model name="p"><link name="b"><pose>0 0 -1 0 0 0</pose><inertial><mass>1</mass>
<inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial>
<sensor name="imu" type="imu"><update_rate>250</update_rate><imu><linear_acceleration><z><noise type="gaussian">
<stddev>0.1</stddev></noise></z></linear_acceleration></imu></sensor></link>
<joint name="j" type="revolute"><parent>world</parent><child>b</child><pose>0 0 1 0 0 0</pose><axis><xyz>0 1 0</xyz>
<limit><effort>20</effort></limit></axis></joint></model></sdf>"""


def test_rates_and_noise_of_sensors_are_those_of_single_runs_and_begin_anew_with_a_world():
    model = load_model(ModelText(SWING.encode(), "p.sdf"), contact=False)
    worlds = Worlds(model, 2)
    worlds.q = [[0.5], [0.6]]
    sensors, rows = worlds.sensors(5), []
    for _ in range(11):
        rows.append(sensors.signals()["imu"])
        worlds.step()
    for k, q in enumerate([0.5, 0.6]):
        log = simulate(model, 0.01, log_rate=0, start={"j": q}, fields="sensors", seed=5 + k)
        np.testing.assert_allclose([row[k] for row in rows], log.field("sensors/imu"), rtol=1e-9, atol=1e-12)
    assert (rows[0] == rows[3]).all() and (rows[4] != rows[3]).any()
    worlds.reset(0, q=[0.5])
    again = sensors.signals()["imu"]
    assert (again[0] == rows[0][0]).all() and (again[1] != rows[0][1]).any()


# ------------------------------------------------------------------------------------------------ --each

CONTROLLER = """
    import numpy as np
    rate = 500
    class Controller:
        rate = 500
        def __call__(self, q, v, sensors):
            assert q.shape == v.shape == sensors["p"].shape == (2, 1)
            return -40.0 * q - 4.0 * v + sensors["p"]
"""
PROGRAM = """
    import json, sys
    first = json.loads(sys.stdin.readline())
    assert first["worlds"] == 2
    print(json.dumps({"ready": True, "sensors": True}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        rows = zip(asked["q"], asked["v"], asked["sensors"]["p"])
        print(json.dumps({"u": [[-40.0 * q[0] - 4.0 * v[0] + p[0]] for q, v, p in rows]}), flush=True)
"""
ALONE = """
    def controller(q, v, sensors):
        return [-40.0 * q[0] - 4.0 * v[0] + sensors["p"]]
    controller.rate = 500
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.xml").write_text(CART)
    (tmp_path / "starts.csv").write_text("x_x,x_v\n0.5,0\n1.0,0\n")

    def written(text, name="c.py"):
        (tmp_path / name).write_text(textwrap.dedent(text))
        return name

    return written


EACH = ["simulate", "cart.xml", "--no-contact", "--states", "starts.csv", "--each", "-t", "0.02", "--log-rate", "0"]


@pytest.mark.parametrize("kind", ["class", "program"])
def test_each_world_of_the_command_line_has_the_rows_of_its_single_run(folder, kind):
    name = folder(CONTROLLER if kind == "class" else PROGRAM)
    words = [*EACH, "--seed", "4", "--push", "c=3,0,0 from 0.004 to 0.01", "--push", "c=9@random for 0.004"]
    words += ["--fields", "u,sensors", "--controller", name if kind == "class" else f"{sys.executable} {name}"]
    succeed(*words, "--controller-rate", "500", "-o", "all.h5")
    alone = folder(ALONE, "alone.py")
    with WorldsLog("all.h5") as log:
        for k, q in enumerate(["0.5", "1.0"]):
            words = ["simulate", "cart.xml", "--no-contact", "--at", f"x={q}", "-t", "0.02", "--log-rate", "0"]
            words += ["--seed", str(4 + k), "--push", "c=3,0,0 from 0.004 to 0.01", "--push", "c=9@random for 0.004"]
            succeed(*words, "--controller", alone, "-o", f"{k}.h5")
            with open_log(f"{k}.h5") as one:
                world = log.world(k)
                for path in ("state/q", "state/v", "input/u", "sensors/p", "sensors/a"):
                    own = world.field(path).reshape(21, -1)
                    np.testing.assert_allclose(
                        own, one.field(path).reshape(21, -1), rtol=1e-12, atol=1e-12, err_msg=path
                    )
    shown = succeed("log", "show", "all.h5", "--world", "1", "--fields", "sensors/a").out
    assert "a_x" in shown or "a" in shown


def test_a_controller_that_fails_in_each_ends_with_one_line_and_keeps_the_log(folder):
    name = folder("import numpy as np\n\ndef controller(time, q):\n    return np.where(time[0] > 0.0055, np.inf, q)\n")
    failed = cli(*EACH, "--controller", name, "-o", "all.h5")
    assert failed.code == 3 and len(failed.err.strip().splitlines()) == 1 and "c.py" in failed.err
    with WorldsLog("all.h5") as log:
        assert log.attrs["status"] == "failed" and len(log.times) == 6 and "controller" in log.messages[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fields", "rays"], "there is no 'rays'"),
        (["--fields", "tracking"], "the run has no --trajectory"),
        (["--fields", "targets"], "no PD controllers act in the steps"),
        (["--push", "d=1,0,0"], "there is no body named 'd'"),
    ],
)
def test_what_does_not_go_with_each_is_refused(folder, words, message):
    refused = cli(*EACH, *words, "-o", "all.h5")
    assert refused.code == 2 and message in refused.err


def test_the_summary_of_each_is_the_same_with_sensors_in_its_log(folder):
    plain = json.loads(succeed(*EACH, "--json", "-o", "a.h5").out)
    sensed = json.loads(succeed(*EACH, "--json", "--fields", "sensors", "-o", "b.h5").out)
    left_out = ("wall_time", "log")
    assert {k: v for k, v in plain.items() if k not in left_out} == {
        k: v for k, v in sensed.items() if k not in left_out
    }
