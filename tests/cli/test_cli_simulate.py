"""`mbcli simulate`: what the log holds, what the run says, signals, and going on where a log ends."""

import json
import os
import pty
import re
import shutil
import signal
import time
from contextlib import suppress

import numpy as np
import pytest
from command_line import MODELS, cli, hinge, one_robot, start, succeed
from repository import SAMPLES

from mbcli.errors import MbcliError
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.continuous_steps import SCHEMES
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.multibody.stepping.run import Run

ARM, TWO_LINKS, QUADRUPED = (SAMPLES / name for name in ("arm7.urdf", "double_pendulum.urdf", "quadruped.urdf"))
CART = SAMPLES / "cart_pole.sdf"
SECONDS = 60.0  # a process of a test that takes longer has failed


@pytest.fixture
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def rows(path):
    """Every field of a log."""
    with Log(path) as log:
        return {name: log.field(name) for name in log.fields()}


def assert_same_rows(path, other):
    """Equal in every bit."""
    a, b = rows(path), rows(other)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].shape == b[name].shape and a[name].tobytes() == b[name].tobytes(), name


# ------------------------------------------------------------------------------------------- the log


@pytest.mark.usefixtures("interpreted")
def test_the_rows_are_those_of_the_library(tmp_path):
    log = tmp_path / "run.h5"
    summary = succeed("simulate", CART, "-t", 0.05, "--at", "hinge=1", "--u", "2.5", "-o", log, "--json").json()
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(CART))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.0, 1.0])
    blocks = list(Run(plant, context, 0.05, actuation=constant_input([2.5]), sample_period=0.01).blocks())
    found = rows(log)
    assert found["time"].tolist() == [step * 0.001 for step in (0, 10, 20, 30, 40, 50)]
    assert found["state/q"].tobytes() == np.concatenate([block.q for block in blocks]).tobytes()
    assert found["input/u"].tolist() == 6 * [[2.5]]
    energy = found["derived/energy_kinetic"] + found["derived/energy_potential"]
    assert (summary["energy_start"], summary["energy_end"]) == (energy[0], energy[-1])
    assert summary["energy_drift"] == energy[-1] - energy[0]
    assert (summary["q"], summary["v"]) == (found["state/q"][-1].tolist(), found["state/v"][-1].tolist())
    assert (summary["steps"], summary["simulated_time"], summary["rows"]) == (50, 0.05, 6)
    assert summary["log"] == str(log)


@pytest.mark.usefixtures("interpreted")
def test_fields_choose_the_columns(tmp_path):
    run = ("-q", "simulate", QUADRUPED, "-t", 0.002, "--random", 1, "--log-rate", 0)
    for text, expected in (
        ("q,v", set()),
        ("energy", {"derived/energy_kinetic", "derived/energy_potential"}),
        ("com momentum", {"derived/com", "derived/momentum"}),
        ("u,u", {"input/u"}),
    ):
        succeed(*run, "--fields", text, "-o", tmp_path / "run.h5", "--force")
        assert rows(tmp_path / "run.h5").keys() - {"time", "state/q", "state/v"} == expected
    succeed(*run, "--fields", "com,momentum,energy", "-o", tmp_path / "run.h5", "--force")
    found = rows(tmp_path / "run.h5")
    # the only external force is weight: momentum about the world's origin changes by m g h and its moment
    change = np.diff(found["derived/momentum"], axis=0)
    weight = 17.0 * np.array([0.0, 0.0, -9.81])
    assert change[:, 3:] == pytest.approx(np.tile(weight * 0.001, (2, 1)), abs=1e-3)
    assert change[:, :3] == pytest.approx(np.cross(found["derived/com"][:-1], weight) * 0.001, abs=2e-2)


@pytest.mark.usefixtures("interpreted")
def test_log_rate_and_step(tmp_path):
    def times(*options):
        succeed("-q", "simulate", TWO_LINKS, "-o", tmp_path / "t.h5", "--force", *options)
        return rows(tmp_path / "t.h5")["time"].tolist()

    assert times("-t", 0) == [0.0]
    assert times("-t", 0.003, "--log-rate", 0) == [0.0, 0.001, 0.002, 0.003]
    assert times("-t", 0.01, "--log-rate", 200) == [0.0, 0.005, 0.01]
    assert times("-t", 0.1, "--dt", 0.05) == [0.0, 0.05, 0.1]
    assert times("-t", 0.025, "--dt", 0) == [0.0, 0.01, 0.02, 0.025]
    assert times("-t", 0.02, "--integrator", "runge_kutta2", "--set", "simulator_config.start_time=1") == [
        1.0,
        1.01,
        1.02,
    ]


@pytest.mark.usefixtures("interpreted")
def test_the_log_records_command_seed_and_configuration(tmp_path):
    command = ["simulate", str(ARM), "-t", "0.001", "--random", "9", "-o", str(tmp_path / "run.h5")]
    succeed(*command)
    with Log(tmp_path / "run.h5") as log:
        assert log.attrs["argv"] == ["mbcli", *command]
        assert (log.attrs["seed"], log.status, log.attrs["exit_code"]) == (9, "complete", 0)
        assert "time_step: 0.001" in log.config and json.loads(log.model)["schema"] == "mbcli/inspect"


@pytest.mark.usefixtures("interpreted")
def test_random_starts_are_reproducible(tmp_path):
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        succeed("-q", "simulate", QUADRUPED, "-t", 0.005, "--random", seed, "-o", tmp_path / f"{name}.h5")
    assert_same_rows(tmp_path / "a.h5", tmp_path / "b.h5")
    assert rows(tmp_path / "a.h5")["state/q"][0].tolist() != rows(tmp_path / "c.h5")["state/q"][0].tolist()


@pytest.mark.usefixtures("interpreted")
def test_an_existing_or_unfinished_log_is_refused_and_force_replaces_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ("-q", "simulate", TWO_LINKS, "-t", 0.001)
    succeed(*run)
    assert os.listdir() == ["double_pendulum.h5"]  # named after the model
    refused = cli(*run)
    assert refused.code == 6 and "double_pendulum.h5: error: exists already; --force replaces it" in refused.err
    succeed(*run, "--force")
    shutil.copy("double_pendulum.h5", "x.h5.partial")
    refused = cli(*run, "-o", "x.h5")
    assert refused.code == 6 and "--resume goes on with it" in refused.err
    succeed(*run, "-o", "x.h5", "--force")
    assert sorted(os.listdir()) == ["double_pendulum.h5", "x.h5"]


@pytest.mark.usefixtures("interpreted")
def test_a_full_disk_keeps_the_rows_so_far(tmp_path, monkeypatch):
    def fail(self, **_):
        with self._writing():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(LogWriter, "append", fail)
    result = cli("-q", "simulate", TWO_LINKS, "-t", 0.001, "-o", tmp_path / "run.h5")
    assert (result.code, result.out) == (6, "")
    assert result.err == f"{tmp_path}/run.h5: error: cannot be written: No space left on device\n"


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_integrator_is_named_in_the_help_and_runs(scheme):
    assert scheme in " ".join(succeed("simulate", "--help").out.split())
    options = ("--integrator", scheme, "--max-step", 0.001, "-t", 0.002, "--no-log", "--json")
    summary = succeed("-q", "simulate", TWO_LINKS, "--at", "elbow=1", *options).json()
    assert (summary["integrator"], summary["time_step"]) == (scheme, 0.0)
    assert summary["energy_end"] == pytest.approx(summary["energy_start"], abs=1e-3)


# ------------------------------------------------------------------------------------------- the input


@pytest.mark.usefixtures("interpreted")
def test_an_input_series_holds_each_row_until_the_next(tmp_path):
    series = tmp_path / "u.csv"
    series.write_text("\ufefftime, motor_3 ,u:arm7_motor_1\n\n0.002,3,1\n0.004,-3,2e0\n")
    run = ("-q", "simulate", ARM, "-t", 0.005, "--log-rate", 0, "-o", tmp_path / "run.h5", "--force")
    succeed(*run, "--input", series)
    u = rows(tmp_path / "run.h5")["input/u"]
    assert u[:, 2].tolist() == [0, 0, 3, 3, -3, -3] and u[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert not u[:, [1, 3, 4, 5, 6]].any()
    succeed(*run, "--input", "-", stdin=series.read_bytes().decode("utf-8-sig"))
    assert rows(tmp_path / "run.h5")["input/u"].tolist() == u.tolist()


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "text, message",
    [
        ("", "<stdin>:1: error: empty, expected a header with the names of the columns"),
        ("time,motor_1\n", "<stdin>: error: an input file has a header and at least one row"),
        ("t,motor_1\n0,1\n", "<stdin>:1: error: the header needs one column 'time'"),
        ("time,motor_9\n0,1\n", "<stdin>:1: error: there is no actuator named 'motor_9'; did you mean"),
        ("time,joint_2\n0,1\n", "'joint_2' is a joint, and its actuator is 'motor_2'"),
        ("time,motor_1,motor_1\n0,1,1\n", "<stdin>:1: error: two columns for one actuator"),
        ("time,motor_1\n0,1\n\n1,x\n", "<stdin>:4: error: 'x' is not a finite number"),
        ("time,motor_1\n0,nan\n", "<stdin>:2: error: 'nan' is not a finite number"),
        ("time,motor_1\n0,1,2\n", "<stdin>:2: error: 3 values, the header has 2 columns"),
        ("time,motor_1\n0,1\n0,1\n", "<stdin>:3: error: time 0 does not increase"),
        ("time,motor_1\n0,\x1b[2J\n", "<stdin>:2: error: '\\x1b[2J' is not a finite number"),
    ],
)
def test_a_damaged_input_series_names_its_line(text, message):
    result = cli("-q", "simulate", ARM, "--no-log", "--input", "-", stdin=text)
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert message in result.err


# ---------------------------------------------------------------------------------------- what is said


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("choice", ["clamp", "warn", "ignore"])
def test_efforts_beyond_their_limit_end_there_or_act_as_asked_for(tmp_path, choice):
    run = (
        "simulate",
        ARM,
        "-t",
        0.005,
        "-o",
        tmp_path / "run.h5",
        "--json",
        "--u",
        "motor_1=181,motor_6=-31,motor_7=30",
        *(() if choice == "clamp" else ("--effort-limits", choice)),
    )
    result = succeed(*run)
    each = "arm7_motor_1 (181 where the limit is 180, 0.005 s), arm7_motor_6 (-31 where the limit is 30, 0.005 s)"
    assert result.err.count(each) == (choice != "ignore")
    assert ("--effort-limits clamp ends it there" in result.err) == (choice == "warn")
    summary = result.json()
    assert summary["exceeded_efforts"] == ["arm7_motor_1", "arm7_motor_6"]
    assert summary["efforts_beyond"][1] == pytest.approx(
        {"actuator": "arm7_motor_6", "limit": 30, "most": -31, "time": 0.005}
    )
    acts = [180, 0, 0, 0, 0, -30, 30] if choice == "clamp" else [181, 0, 0, 0, 0, -31, 30]
    assert rows(tmp_path / "run.h5")["input/u"][-1].tolist() == acts
    assert succeed("simulate", ARM, "-t", 0.001, "--no-log", "--u", "motor_1=180").err == ""


@pytest.mark.usefixtures("interpreted")
def test_positions_beyond_their_limits_are_said_and_logged(tmp_path):
    run = ("simulate", CART, "-t", 0.03, "--v", "100 0", "--at", "slider=1.5", "-o", tmp_path / "run.h5", "--json")
    result = succeed(*run, "--time-step", 0)
    assert result.json()["exceeded_limits"] == ["cart_pole_slider_x"]
    with Log(tmp_path / "run.h5") as log:
        (event,) = log.events()
        first = next(k for k, q in enumerate(log.q) if q[0] > 2.0)
        assert (event["code"], event["severity"], event["time"]) == ("POSITION_LIMIT", "warning", log.times[first])
        assert "its limits are -2 to 2" in event["message"]


@pytest.mark.usefixtures("interpreted")
def test_discrete_plants_obey_limits_of_positions(tmp_path):
    result = succeed("simulate", CART, "-t", 0.03, "--v", "100 0", "--at", "slider=1.5", "-o", tmp_path / "run.h5")
    assert "position limits" not in result.err
    with Log(tmp_path / "run.h5") as log:
        assert 1.99 < log.q[:, 0].max() < 2.01


@pytest.mark.usefixtures("interpreted")
def test_what_is_left_out_is_said_and_quiet_says_nothing():
    text = one_robot(["a", "b", "c"], hinge("j", "a", "b") + hinge("k", "b", "c"))
    text = text.replace("</joint></robot>", '<dynamics friction="2"/></joint></robot>')
    run = ("simulate", "-", "-t", 0.001, "--no-log", "--dt", 0)
    said = succeed(*run, stdin=text).err
    assert "mbcli: warning: a continuous plant does not use the dry friction of 1 joint: k\n" in said
    assert succeed("-q", *run, stdin=text).err == ""


@pytest.mark.usefixtures("interpreted")
def test_the_wall_clock_counts_steps_only(tmp_path, monkeypatch):
    append = LogWriter.append
    monkeypatch.setattr(LogWriter, "append", lambda self, **columns: (time.sleep(0.5), append(self, **columns)))
    summary = succeed("-q", "simulate", TWO_LINKS, "-t", 0.001, "-o", tmp_path / "run.h5", "--json").json()
    assert 0.0 < summary["wall_time"] < 0.4


# ------------------------------------------------------------------------------------------- not finite


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("options", [(), ("--dt", "0"), ("--integrator", "radau3")])
def test_a_run_that_is_not_finite_ends_with_a_valid_log(tmp_path, options):
    (tmp_path / "u.csv").write_text("time,double_pendulum_elbow\n0,0\n0.012,1e300\n")
    log = tmp_path / "run.h5"
    run = ("--input", tmp_path / "u.csv", "--effort-limits", "ignore", "-o", log)
    result = cli("-q", "simulate", TWO_LINKS, *run, *options)
    assert (result.code, result.out, result.err.count("\n")) == (5, "", 1)
    assert re.search(r"(position|velocity) 'double_pendulum_\w+' is not finite|became too small", result.err)
    assert result.err.endswith(f"the rows before it are in {log}\n")
    with Log(log) as opened:
        assert (opened.status, opened.attrs["exit_code"]) == ("failed", 5)
        assert opened.attrs["message"] in result.err
        assert np.isfinite(opened.q).all() and np.isfinite(opened.v).all()
        assert opened.times[:2].tolist() == [0.0, 0.01] and 0.012 <= opened.times[-1] < 0.02
        (event,) = opened.events()
        assert (event["code"], event["severity"], event["time"]) == ("NOT_FINITE", "error", opened.times[-1])
    assert not (tmp_path / "run.h5.partial").exists()


@pytest.mark.usefixtures("interpreted")
def test_a_joint_that_moves_no_mass_is_named(tmp_path):
    text = one_robot(["a", "b0"], hinge("j", "a", "b0"))
    result = cli("-q", "simulate", "-", "--weld", "a", "-o", tmp_path / "run.h5", stdin=text)
    assert result.code == 5 and "error: joint 'j' moves 'b0', whose subtree has no mass" in result.err
    assert not (tmp_path / "run.h5").exists()


# -------------------------------------------------------------------------------- going on from a log


def stopped_after(steps):
    """A patch of the run: it sees a signal once it has taken some steps."""
    blocks = Run.blocks

    def stop_early(self, should_stop, on_progress):
        def stop():
            if self.steps >= steps:
                should_stop.__self__.should_stop._stop(signal.SIGTERM, None)
            return should_stop()

        return blocks(self, stop, on_progress)

    return stop_early


CONTINUOUS = ("--integrator", "runge_kutta3", "--accuracy", "1e-5", "--at", "elbow=2")
WAYS = [
    ("--at", "elbow=2"),
    ("--at", "elbow=2", "--log-rate", "20"),
    CONTINUOUS,
    ("--integrator", "radau3", "--accuracy", "1e-6", "--at", "elbow=2"),
    ("--integrator", "runge_kutta2", "--max-step", "0.003", "--at", "elbow=2"),
    ("--integrator", "semi_explicit_euler", "--max-step", "0.0007", "--at", "elbow=2", "--u", "1"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("options", WAYS, ids=" ".join)
@pytest.mark.parametrize("steps", [1, 9])
def test_a_run_goes_on_to_the_rows_of_one_without_a_break(tmp_path, monkeypatch, options, steps):
    run = ("-q", "simulate", TWO_LINKS, "-t", 0.13, "--fields", "energy,u,com", *options)
    whole, log = tmp_path / "whole.h5", tmp_path / "run.h5"
    succeed(*run, "-o", whole)
    with monkeypatch.context() as patch:
        patch.setattr(
            "mbcli.multibody.stepping.discrete_steps.adapted", lambda budget, seconds: 1
        )  # looks at signals after each step
        patch.setattr(Run, "blocks", stopped_after(steps))
        stopped = cli(*run, "-o", log)
    assert stopped.code == 143
    with Log(log) as opened:
        assert (opened.status, opened.attrs["exit_code"]) == ("interrupted", 143)
        assert opened.row_count < len(rows(whole)["time"])
    shutil.copy(log, tmp_path / "copy.h5")
    succeed(
        *[o for o in run if o not in ("--at", "elbow=2")], "--resume", tmp_path / "copy.h5", "-o", tmp_path / "new.h5"
    )
    succeed("-q", "simulate", "--resume", log)
    assert_same_rows(whole, log)
    assert_same_rows(whole, tmp_path / "new.h5")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.h5", "new.h5", "run.h5", "whole.h5"]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("options", [("--at", "elbow=2"), CONTINUOUS], ids=["discrete", "continuous"])
def test_a_complete_run_is_made_longer_and_doing_it_again_changes_nothing(tmp_path, options):
    run = ("-q", "simulate", TWO_LINKS, *options)
    succeed(*run, "-t", 0.1, "-o", tmp_path / "whole.h5")
    succeed(*run, "-t", 0.04, "-o", tmp_path / "run.h5")
    for _ in range(2):
        longer = succeed("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.1, "--json").json()
        assert longer["end_time"] == 0.1 and longer["rows"] == 11
        assert_same_rows(tmp_path / "whole.h5", tmp_path / "run.h5")
    if options == CONTINUOUS:  # the steps from the first one that was cut to meet the end are taken again
        assert longer["steps"] > 0 and longer["start_time"] < 0.1
    else:
        assert (longer["steps"], longer["simulated_time"], longer["realtime_rate"]) == (0, 0.0, None)


@pytest.mark.usefixtures("interpreted")
def test_the_end_between_two_samples_is_no_row_of_the_longer_run(tmp_path):
    run = ("-q", "simulate", TWO_LINKS, "--at", "elbow=2")
    succeed(*run, "-t", 0.1, "-o", tmp_path / "whole.h5")
    succeed(*run, "-t", 0.043, "-o", tmp_path / "run.h5")
    assert rows(tmp_path / "run.h5")["time"][-1] == pytest.approx(0.043)
    succeed("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.1)
    assert_same_rows(tmp_path / "whole.h5", tmp_path / "run.h5")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "options, message",
    [
        ((ARM,), "is of other model files"),
        ((QUADRUPED, "--weld", "trunk"), "its coordinates are not those of this model"),
        ((QUADRUPED, "--dt", "0.002", "--u", "12*1"), "plant_config.time_step = 0.001, now it is 0.002"),
        ((QUADRUPED, "--set", "simulator_config.accuracy=1e-9", "--u", "12*1"), "simulator_config.accuracy"),
        ((QUADRUPED,), "was run with other actuation"),
        ((QUADRUPED, "--fields", "energy", "--u", "12*1"), "give the same --fields"),
    ],
)
def test_a_different_run_does_not_go_on(tmp_path, options, message):
    ones = " ".join(12 * "1")
    log = tmp_path / "run.h5"
    succeed("-q", "simulate", QUADRUPED, "-t", 0.002, "--u", ones, "-o", log)
    before = log.read_bytes()
    result = cli("-q", "simulate", *(ones if o == "12*1" else o for o in options), "-t", 0.004, "--resume", log)
    assert (result.code, result.err.count("\n")) == (3, 1)
    assert result.err.startswith(f"{log}: error: ") and message in result.err
    assert log.read_bytes() == before and os.listdir(tmp_path) == ["run.h5"]


@pytest.mark.usefixtures("interpreted")
def test_going_on_does_not_replace_another_log(tmp_path):
    run = ("-q", "simulate", TWO_LINKS, "-t", 0.002)
    for name in ("run.h5", "other.h5"):
        succeed(*run, "-o", tmp_path / name)
    result = cli("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.004, "-o", tmp_path / "other.h5")
    assert result.code == 6 and "other.h5: error: exists already" in result.err


@pytest.mark.usefixtures("interpreted")
def test_a_resume_that_was_cut_short_loses_no_rows(tmp_path, monkeypatch):
    log, partial, aside = (tmp_path / name for name in ("run.h5", "run.h5.partial", "run.h5.partial.old"))
    succeed("-q", "simulate", TWO_LINKS, "--at", "elbow=2", "-t", 0.02, "-o", partial)

    def die(*_, **__):
        raise SystemExit(9)  # as a kill -9 between the two names: no handler runs

    with monkeypatch.context() as patch:
        patch.setattr(LogWriter, "__init__", die)
        with pytest.raises(SystemExit):
            cli("-q", "simulate", "--resume", partial, "-t", 0.03)
    assert os.listdir(tmp_path) == [aside.name] and len(rows(aside)["time"]) == 3
    shutil.copy(aside, partial)
    refused = cli("-q", "simulate", "--resume", partial, "-t", 0.03)
    assert refused.code == 6 and f"{aside}: error: is left from a --resume that was cut short" in refused.err
    partial.unlink()
    succeed("-q", "simulate", "--resume", aside, "-t", 0.03)
    assert rows(log)["time"].tolist() == pytest.approx([0.0, 0.01, 0.02, 0.03])


@pytest.mark.usefixtures("interpreted")
def test_the_events_of_the_first_part_stay_and_do_not_come_twice(tmp_path):
    run = ("-q", "simulate", CART, "--dt", 0, "--v", "100 0", "--at", "slider=1.5")
    succeed(*run, "-t", 0.02, "-o", tmp_path / "run.h5")
    summary = succeed("-q", "simulate", "--resume", tmp_path / "run.h5", "-t", 0.04, "--json").json()
    assert summary["exceeded_limits"] == ["cart_pole_slider_x"]
    with Log(tmp_path / "run.h5") as log:
        assert [event["code"] for event in log.events()] == ["POSITION_LIMIT"]


# ------------------------------------------------------------------------------- processes and signals


def wait_for_rows(path, process):
    """Until a log that is being written holds rows on disk."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.02)
        with suppress(MbcliError), Log(path) as log:
            if log.row_count > 20:
                return
    raise AssertionError(f"no rows; {process.poll()}")


@pytest.mark.parametrize(
    "sent, code, options",
    [
        (signal.SIGINT, 130, ()),
        (signal.SIGKILL, -9, ()),
        (signal.SIGTERM, 143, ("--integrator", "runge_kutta3")),
        (signal.SIGKILL, -9, ("--integrator", "runge_kutta3")),
    ],
)
def test_a_process_that_is_stopped_leaves_a_log_to_go_on_from(tmp_path, options, sent, code):
    log, whole = tmp_path / "run.h5", tmp_path / "whole.h5"
    run = ("-q", "simulate", QUADRUPED, "--no-contact", "--random", 1, "--log-rate", 10, *options)
    process = start(*run, "-t", 1e6, "-o", log)
    wait_for_rows(tmp_path / "run.h5.partial", process)
    process.send_signal(sent)
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (code, "")
    left = log if code > 0 else tmp_path / "run.h5.partial"
    with Log(left) as opened:
        assert opened.status == ("interrupted" if code > 0 else "running")
        end = int(opened.times[-1]) + 2
    if code > 0:
        assert "stopped by a signal at t = " in out
    # one process goes on, another runs without a break
    others = [start("-q", "simulate", "--resume", left, "-t", end), start(*run, "-t", end, "-o", whole)]
    for process in others:
        _, err = process.communicate(timeout=SECONDS)
        assert (process.returncode, err) == (0, "")
    assert_same_rows(whole, log)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.h5", "whole.h5"]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("sent, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_second_signal_ends_the_run_at_once_with_its_own_code(tmp_path, monkeypatch, sent, code):
    def signals(self, should_stop, on_progress):
        should_stop.__self__.should_stop._stop(signal.SIGTERM, None)
        should_stop.__self__.should_stop._stop(sent, None)
        yield

    monkeypatch.setattr(Run, "blocks", signals)
    result = cli("-q", "simulate", TWO_LINKS, "-o", tmp_path / "run.h5")
    assert (result.code, result.out) == (code, "")
    with Log(tmp_path / "run.h5") as log:
        assert (log.status, log.attrs["exit_code"]) == ("interrupted", code)


def on_terminal(*arguments, env):
    """What a command writes to a terminal."""
    master, slave = pty.openpty()
    process = start(*arguments, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    text = b""
    while True:
        try:
            text += os.read(master, 65536)
        except OSError:  # the other side is closed
            break
    os.close(master)
    assert process.wait(timeout=SECONDS) == 0
    return text.decode()


def test_progress_is_for_terminals(tmp_path):
    run = ("simulate", QUADRUPED, "--no-contact", "-t", 100, "--no-log")
    text = on_terminal(*run, env={"TERM": "xterm"})
    assert "\r\x1b[K" in text and " of 100 s, " in text and "times real time" in text
    assert text.splitlines()[-1].startswith("energy ")  # the line of progress is gone
    assert "\r\x1b[K" not in on_terminal("-q", *run, env={"TERM": "xterm"})
    _, err = start(*run).communicate(timeout=SECONDS)
    assert "\x1b" not in err and "%" not in err


def test_colours_are_for_terminals_and_can_be_switched_off(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(one_robot(["a"]).replace("</robot>", "<oddity/></robot>"))
    plain = {"NO_COLOR": "", "TERM": "xterm", "MBCLI_JIT": "0"}
    coloured = f"\x1b[33m{path}:1:"
    assert coloured in on_terminal("inspect", path, env=plain)
    for env, flags in (({"NO_COLOR": "1"}, ()), ({"TERM": "dumb"}, ()), ({}, ("--no-color",))):
        text = on_terminal(*flags, "inspect", path, env={**plain, **env})
        assert "\x1b[" not in text and f"{path}:1:" in text


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_every_sample_model_runs(path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    summary = succeed("-q", "simulate", path, "-t", 0.02, "--random", 2, "--no-log", "--json").json()
    assert (summary["status"], summary["steps"]) == ("complete", 20)
