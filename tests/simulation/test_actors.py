"""Every actor of a run acts alike in a single run, in each of many worlds and in the runs of a sweep: a table of actors
by face, each cell run and compared with the single run."""

import csv
import io
import subprocess
import sys

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.log import open_log
from mbcli.log.worlds import WorldsLog
from mbcli.models import load_model
from mbcli.simulation import Worlds, simulate
from mbcli.simulation.actors import ACTORS, require_known
from mbcli.simulation.actors.actor import Actor
from mbcli.simulation.input_series import as_input

LINK = "<inertial><mass>{mass}</mass><inertia><ixx>{I}</ixx><iyy>{I}</iyy><izz>{I}</izz></inertia></inertial>"
FIXED = '<joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>'
HINGE = """<joint name="j" type="revolute"><parent>base</parent><child>arm</child><pose>0 0 0 0 0 0</pose>
<axis><xyz>0 1 0</xyz><limit><effort>{effort}</effort><velocity>{velocity}</velocity></limit>
<dynamics><damping>0.1</damping></dynamics></axis></joint>"""
ROTOR = """<plugin filename="gz-sim-multicopter-motor-model-system" name="gz::sim::systems::MulticopterMotorModel">
<jointName>j</jointName><linkName>arm</linkName><timeConstantUp>0.02</timeConstantUp>
<timeConstantDown>0.05</timeConstantDown><motorConstant>1e-5</motorConstant><momentConstant>0.02</momentConstant>
<rotorDragCoefficient>1e-4</rotorDragCoefficient><rollingMomentCoefficient>1e-6</rollingMomentCoefficient>
<rotorVelocitySlowdownSim>10</rotorVelocitySlowdownSim></plugin>"""
DRIVE = """<plugin filename="gz-sim-joint-controller-system" name="gz::sim::systems::JointController">
<joint_name>j</joint_name><initial_velocity>1.5</initial_velocity></plugin>"""
SERVO = """<plugin filename="gz-sim-joint-position-controller-system"
name="gz::sim::systems::JointPositionController"><joint_name>j</joint_name><p_gain>4</p_gain><i_gain>3</i_gain>
<d_gain>0.2</d_gain></plugin>"""
CONTROLLER = "def controller(q, v):\n    return -2.0 * q[-1:] - 0.1 * v[-1:]\n"
IN_WORLDS = "import numpy as np\n\ndef controller(q, v):\n    return -2.0 * q[..., -1:] - 0.1 * v[..., -1:]\n"


def sdf(plugins="", floats=False, effort=40.0, velocity=100.0):
    pose = "<pose>0.2 0 0.1 0 0 0</pose>"
    links = f'<link name="base">{LINK.format(mass=2.0, I=0.5)}</link>'
    arm = LINK.format(mass=0.5, I=0.02).replace("<inertial>", f"<inertial>{pose}")
    links += f'<link name="arm">{arm}</link>'
    joints = ("" if floats else FIXED) + HINGE.format(effort=effort, velocity=velocity)
    return f'<sdf version="1.10"><model name="m">{links}{joints}{plugins}</model></sdf>'


PLAN = "time,j\n0,0.1\n0.05,0.3\n0.1,0.2\n"
CASES = {  # actor: (model, words of every command)
    "Inputs": (sdf(), ["--u", "j=3"]),
    "Inputs of plugins": (sdf(SERVO), ["--u", "j.position=0.4"]),
    "Holding": (sdf(), ["--hold"]),
    "Holding at a velocity": (sdf(), ["--drive", "j=0.7"]),
    "VelocityLimits": (sdf(velocity=0.5), ["--velocity-limits", "clamp"]),
    "Pushes": (sdf(floats=True), ["--push", "arm=20,0,5@0.1,0,0 from 0.01 to 0.04"]),
    "Following, computed-torque": (sdf(), ["--trajectory", "plan.csv"]),
    "Following, pd": (sdf(), ["--trajectory", "plan.csv", "--follow", "pd"]),
    "Following, prescribed": (sdf(), ["--trajectory", "plan.csv", "--follow", "prescribed"]),
    "UserController": (sdf(), ["--controller", "control.py:controller"]),
    "Plugins with forces": (sdf(ROTOR, floats=True), ["--u", "j.speed=500"]),
    "Plugins that drive": (sdf(DRIVE), []),
    "Plugins with memory": (sdf(SERVO), []),
    "Plugins over a plan": (sdf(SERVO), ["--trajectory", "plan.csv"]),
    "Sensors": (sdf(), ["--u", "j=1"]),
}
OF_SINGLE_RUNS = {"PositionStops", "LiveView"}


def write_files(folder):
    """What the words of CASES name."""
    (folder / "plan.csv").write_text(PLAN)
    (folder / "starts.csv").write_text("m_j_q,m_j_w\n0.1,0\n-0.2,0.5\n")
    (folder / "points.csv").write_text("state.j_q,state.j_w\n0.1,0\n-0.2,0.5\n")
    (folder / "control.py").write_text(CONTROLLER)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


def test_every_actor_is_in_the_table_or_says_why_not():
    covered = {name.replace(",", " ").split()[0] for name in CASES}
    assert {kind.__name__ for kind in ACTORS} == covered | OF_SINGLE_RUNS
    assert all(bool(kind.IN_WORLDS) == (kind.__name__ in OF_SINGLE_RUNS) for kind in ACTORS)


@pytest.mark.parametrize("name", CASES)
def test_an_actor_acts_alike_in_single_runs_worlds_and_sweeps(name, files):
    text, words = CASES[name]
    (files / "m.sdf").write_text(text)
    common = ["m.sdf", "--no-contact", "-t", 0.1, *words]
    finals = []
    for k, at in enumerate((("j_q=0.1", "j_w=0"), ("j_q=-0.2", "j_w=0.5"))):
        succeed("-q", "simulate", *common, "--at", at[0], "--at", at[1], "-o", f"single{k}.h5")
        with open_log(f"single{k}.h5") as log:
            finals.append(np.concatenate([log.q[-1], log.v[-1]]))
    if name == "UserController":
        (files / "control.py").write_text(IN_WORLDS)
    words = ("--states", "starts.csv", "--fill", "default", "--each", "-o", "each.h5")
    succeed("-q", "simulate", *common, *words)
    with WorldsLog("each.h5") as log:
        for k, final in enumerate(finals):
            got = np.concatenate([log.q[k, -1], log.v[k, -1]])
            assert np.abs(got - final).max() <= 1e-13, name  # worlds share vector registers: other last bits
    table = succeed("-q", "sweep", *common, "--points", "points.csv", "-j", 1).out
    for row, final in zip(csv.DictReader(io.StringIO(table)), finals, strict=True):
        got = [float(value) for key, value in row.items() if key.startswith("final ")]
        assert row["status"] == "ok" and (np.array(got) == final).all()


@pytest.mark.parametrize("name", CASES)
def test_balances_of_worlds_and_sweeps_are_those_of_single_runs(name, files):
    text, words = CASES[name]
    (files / "m.sdf").write_text(text)
    common, silent = ["m.sdf", "--no-contact", "-t", 0.05, *words, "--balance"], ["--json", "--no-log"]
    singles = [
        succeed("-q", "simulate", *common, *silent, "--at", at[0], "--at", at[1]).json()["balance"]
        for at in (("j_q=0.1", "j_w=0"), ("j_q=-0.2", "j_w=0.5"))
    ]
    table = succeed("-q", "sweep", *common, "--points", "points.csv", "-j", 1).out
    for row, single in zip(csv.DictReader(io.StringIO(table)), singles, strict=True):
        assert {entry: float(row[f"balance_{entry}"]) for entry in single} == single
    if name == "UserController":
        (files / "control.py").write_text(IN_WORLDS)
    starts = ("--states", "starts.csv", "--fill", "default", "--each")
    each = succeed("-q", "simulate", *common, *silent, *starts).json()["balance"]
    works = {entry for entry, values in each.items() if max(map(abs, values)) > 1e-6}
    assert works >= {"energy_change", "flow"}
    for k, single in enumerate(singles):
        assert {entry: values[k] for entry, values in each.items()} == pytest.approx(single, abs=1e-10 * single["flow"])


@pytest.mark.parametrize(
    "name", ["Plugins with memory", "Plugins with forces", "Following, pd", "Holding at a velocity"]
)
def test_fields_of_worlds_are_those_of_their_single_runs(name, files):
    text, words = CASES[name]
    (files / "m.sdf").write_text(text)
    fields = "u energy com momentum poses effort"
    fields += " tracking" * name.startswith("Following") + " targets" * (not name.startswith("Plugins"))
    common = ["m.sdf", "--no-contact", "-t", 0.05, *words, "--fields", fields]
    succeed("-q", "simulate", *common, "--states", "starts.csv", "--fill", "default", "--each", "-o", "each.h5")
    for k, at in enumerate((("j_q=0.1", "j_w=0"), ("j_q=-0.2", "j_w=0.5"))):
        succeed("-q", "simulate", *common, "--at", at[0], "--at", at[1], "-o", f"single{k}.h5")
        with open_log(f"single{k}.h5") as alone, WorldsLog("each.h5") as log:
            world, paths = log.world(k), set(alone.fields()) - {"time", "state/q", "state/v"}
            assert {"derived/com", "input/u"} <= paths
            for path in paths:
                own, one = np.asarray(world.field(path)), np.asarray(alone.field(path))
                np.testing.assert_allclose(
                    own.reshape(len(one), -1), one.reshape(len(one), -1), atol=1e-10, err_msg=path
                )


DISCRETE_ALONE = {"Following, pd", "Following, prescribed", "Plugins with forces", "Plugins that drive"}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("steps", ["discrete", "runge_kutta3"])
def test_single_runs_that_go_on_have_the_rows_of_one_without_a_break(name, steps, files):
    text, words = CASES[name]
    (files / "m.sdf").write_text(text)
    integrator = [] if steps == "discrete" else ["--integrator", steps]
    common = ["m.sdf", "--no-contact", *words, *integrator, "--fields", "u energy effort poses reactions"]
    whole = cli("-q", "simulate", *common, "--at", "j_q=0.1", "-t", 0.1, "-o", "whole.h5")
    assert (whole.code != 0) == (bool(integrator) and name in DISCRETE_ALONE), whole.err
    for cut in (0.05, 0.043) if whole.code == 0 else ():  # at a sample; between two
        succeed("-q", "simulate", *common, "--at", "j_q=0.1", "-t", cut, "-o", f"{cut}.h5")
        succeed("-q", "simulate", *common, "--resume", f"{cut}.h5", "-t", 0.1)
        with open_log("whole.h5") as expected, open_log(f"{cut}.h5") as gone_on:
            assert gone_on.fields() == expected.fields()
            for path in expected.fields():
                np.testing.assert_array_equal(gone_on.field(path), expected.field(path), err_msg=path)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("cut", [0.05, 0.043])  # at a sample; between two
def test_worlds_that_go_on_have_the_rows_of_worlds_without_a_break(name, cut, files):
    text, words = CASES[name]
    (files / "m.sdf").write_text(text)
    (files / "control.py").write_text(IN_WORLDS)
    fields = ["--fields", "energy effort"] if name != "Inputs" else []
    starts = ["--states", "starts.csv", "--fill", "default", "--each"]
    common = ["m.sdf", "--no-contact", *words, *fields]
    succeed("-q", "simulate", *common, *starts, "-t", 0.1, "-o", "whole.h5")
    succeed("-q", "simulate", *common, *starts, "-t", cut, "-o", "part.h5")
    given = any(".csv" in word or ".py" in word for word in words)
    again = common if given else []  # what a log may not ask for is given again
    succeed("-q", "simulate", *again, "--resume", "part.h5", "-t", 0.1)
    with WorldsLog("whole.h5") as whole, WorldsLog("part.h5") as parts:
        np.testing.assert_array_equal(parts.times, whole.times)
        assert parts.fields() == whole.fields() and "whole" not in str(parts.arguments)
        for path in whole.fields():
            np.testing.assert_array_equal(parts.field(path), whole.field(path), err_msg=path)
        one, other = parts.checkpoint(), whole.checkpoint()
        assert one.keys() == other.keys()
        for key in one:
            np.testing.assert_array_equal(one[key], other[key], err_msg=key)
        assert bool(parts.controller_state()) == (name == "UserController")


STATEFUL = """import numpy as np

class Integrator:
    rate = 200.0

    def __init__(self, random):
        self.sum, self.random = 0.0, random

    def __call__(self, q, sensors):
        self.sum = self.sum + 0.01 * (0.3 - sensors["p"][:, 0])
        return (self.sum + 0.1 * self.random.standard_normal(len(q)))[:, None]
{more}"""
SAVES = """
    def save(self):
        return np.asarray(self.sum).tolist()

    def load(self, state):
        self.sum = np.array(state)
"""
NOISY = """<mujoco><option timestep="0.005"/><worldbody><body><joint name="j" axis="0 1 0"/>
<geom type="sphere" size=".05" pos=".3 0 0" mass="1"/></body></worldbody><actuator><motor joint="j"/></actuator>
<sensor><jointpos name="p" joint="j" noise="0.01" nsample="9" delay="0.02"/></sensor></mujoco>"""


def test_worlds_go_on_under_a_controller_with_a_state_of_noisy_and_late_sensors(files):
    (files / "m.xml").write_text(NOISY)
    (files / "c.py").write_text(STATEFUL.format(more=SAVES))
    common = ["m.xml", "--controller", "c.py:Integrator", "--seed", 4, "--controller-delay", 0.01]
    starts = ["--states", "starts.csv", "--fill", "default", "--each"]
    (files / "starts.csv").write_text("j_q\n0.1\n-0.2\n")
    succeed("-q", "simulate", *common, *starts, "-t", 0.2, "-o", "whole.h5")
    succeed("-q", "simulate", *common, *starts, "-t", 0.095, "-o", "part.h5")
    succeed("-q", "simulate", *common, "--resume", "part.h5", "-t", 0.2, "-o", "gone_on.h5")
    with WorldsLog("whole.h5") as whole, WorldsLog("gone_on.h5") as gone_on:
        np.testing.assert_array_equal(gone_on.q, whole.q)
        np.testing.assert_array_equal(gone_on.field("input/u"), whole.field("input/u"))
    without = cli("simulate", "m.xml", "--resume", "part.h5", "-t", 0.2, "-o", "other.h5")
    assert without.code == 2 and "was run under a controller: give the same --controller" in without.err
    (files / "c.py").write_text(STATEFUL.format(more=""))
    forgetful = cli("simulate", *common, "--resume", "part.h5", "-t", 0.2)  # into the same file
    assert forgetful.code == 3 and "no save() and load()" in forgetful.err
    with WorldsLog("part.h5") as part:
        assert part.controller_state()  # as it was


def test_plugins_of_worlds_have_the_parameters_and_the_memory_of_their_world(files):
    (files / "m.sdf").write_text(sdf(SERVO))
    loaded = load_model("m.sdf")
    worlds = Worlds(loaded, 3, parameters={"body.arm.mass": [0.5, 0.7, 0.9]}, lanes=False)
    worlds.ask_of_plugins(as_input(worlds.plant, {"j.position": 0.4}))
    worlds.step(40)
    worlds.reset([1])
    worlds.step(30)
    for k, (mass, steps) in enumerate([(0.5, 70), (0.7, 30), (0.9, 70)]):
        log = simulate(
            "m.sdf", steps * 1e-3, contact=False, log_rate=0, inputs={"j.position": 0.4},
            overrides={"body.arm.mass": mass}, warn=lambda line: None,
        )  # fmt: skip
        assert (worlds.q[k] == log.q[-1]).all() and (worlds.v[k] == log.v[-1]).all() and log.q[-1].any()


def test_a_rollout_with_inputs_has_the_plugins_too_and_leaves_u_as_it_was(files):
    (files / "m.sdf").write_text(sdf(SERVO))
    u = np.linspace(-1.0, 1.0, 20)[:, np.newaxis]
    worlds = Worlds(load_model("m.sdf"), 2, lanes=False)
    worlds.u = 0.25
    rows = worlds.rollout(20, u)
    again = Worlds(load_model("m.sdf"), 2, lanes=False)
    for k in range(20):
        again.u = u[k]
        again.step()
        assert (rows[:, k, :1] == again.q).all()
    assert (worlds.u == 0.25).all()


def test_an_actor_without_what_it_must_state_fails_at_import():
    with pytest.raises(ImportError, match="the actor Magnet lacks SETTINGS, STAGE, IN_WORLDS, start"):
        type("Magnet", (Actor,), {})


def test_an_actor_that_reads_a_setting_of_no_record_fails_at_import():
    known = {name for kind in ACTORS for name in kind.SETTINGS}
    require_known(known)
    with pytest.raises(ImportError, match="the actor Pushes lacks the setting 'pushes'"):
        require_known(known - {"pushes"})


def test_the_settings_of_actors_are_read_without_numpy():
    """So that help comes at once: files of actors import what runs need in their functions."""
    code = "import sys, mbcli.simulation.run_arguments; print('numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
