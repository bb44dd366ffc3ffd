"""What users do wrong: one line that says where and what, the documented exit code, nothing on stdout."""

import os
import re

import click
import pytest
from command_line import cli, hinge, one_robot, start
from repository import SAMPLES

from mbcli.cli import mbcli as group

ARM, TWO_LINKS = str(SAMPLES / "arm7.urdf"), str(SAMPLES / "double_pendulum.urdf")
USAGE, INVALID, MISSING, NUMERICAL, OUTPUT = 2, 3, 4, 5, 6
TWO = (["a", "b"], hinge("j", "a", "b"))

CASES = [  # arguments, exit code, part of the line
    (["frobnicate"], USAGE, "No such command 'frobnicate'"),
    (["simulat", ARM], USAGE, "Did you mean 'simulate'"),
    (["inspect"], USAGE, "Missing argument 'MODEL...'"),
    (["simulate"], USAGE, "Missing argument 'MODEL...'"),
    (["inspect", ARM, "--nope"], USAGE, "--nope"),
    (["inspect", ARM, "--debu"], USAGE, "--debu"),
    (["inspect", ARM, "-q"], USAGE, "goes before the command: mbcli -q inspect"),
    (["inspect", ARM, "--format", "xml"], USAGE, "'xml' is not one of"),
    (["inspect", ARM, "--format", "csv"], USAGE, "inspect gives text or JSON"),
    (["inspect", ARM, "-o", "x.csv"], USAGE, "inspect gives text or JSON"),
    (["inspect", ARM, "--tree", "dot", "--json"], USAGE, "--tree gives text, dot or mermaid"),
    (["mass-matrix", ARM, "--json", "--format", "csv"], USAGE, "exclude each other"),
    (["mass-matrix", ARM, "--q", "1 2"], USAGE, "--q needs 7 numbers, it has 2"),
    (["mass-matrix", TWO_LINKS, "--q", "1 x"], USAGE, "--q: 'x' is not a finite number"),
    (["mass-matrix", TWO_LINKS, "--v", "1 inf"], USAGE, "--v: 'inf' is not a finite number"),
    (["mass-matrix", TWO_LINKS, "--v", "1 1_0"], USAGE, "--v: '1_0' is not a finite number"),
    (["mass-matrix", TWO_LINKS, "--v", "1 1e999"], USAGE, "--v: '1e999' is not a finite number"),
    (["mass-matrix", TWO_LINKS, "--at", "elbow"], USAGE, "--at takes NAME=VALUE"),
    (["mass-matrix", TWO_LINKS, "--at", "elbow="], USAGE, "--at elbow: '' is not a finite number"),
    (["mass-matrix", TWO_LINKS, "--at", "elbw=1"], USAGE, "did you mean 'elbow'"),
    (["mass-matrix", ARM, "--random", "-1"], USAGE, "-1 is not in the range"),
    (["mass-matrix", ARM, "--time", "1"], USAGE, "--time needs --state LOG"),
    (["mass-matrix", ARM, "--state", "gone.json"], MISSING, "gone.json: error: no such file"),
    (["mass-matrix", ARM, "--state", "."], MISSING, ".: error: Is a directory"),
    (["mass-matrix", ARM, "--states-format", "csv"], USAGE, "--states-format needs --states"),
    (["mass-matrix", "gone.urdf"], MISSING, "gone.urdf: no such file"),
    (["mass-matrix", "."], MISSING, "is a directory"),
    (["mass-matrix", "package://gone/x.urdf"], MISSING, 'no package "gone"'),
    (["mass-matrix", ARM, "--package", "a"], USAGE, "--package takes NAME=DIR"),
    (["mass-matrix", ARM, "--package", "a=gone"], MISSING, "gone is not a directory"),
    (["mass-matrix", ARM, "--package-path", "gone"], MISSING, "gone is not a directory"),
    (["mass-matrix", ARM, "--config", "gone.yaml"], MISSING, "gone.yaml: error: no such file"),
    (["mass-matrix", ARM, "--scenario-name", "A"], USAGE, "--scenario-name and --scenario-text need a scenario"),
    (["mass-matrix", ARM, "--set", "time_step=1"], USAGE, 'did you mean "plant_config.time_step"'),
    (["mass-matrix", ARM, "--set", "plant_config.time_step=x"], USAGE, "must be a number"),
    (["mass-matrix", ARM, "--weld", "gone"], USAGE, "--weld: there is no frame named 'gone'; there are world, base"),
    (["mass-matrix", ARM, "--weld", "world"], USAGE, "the world cannot be welded to itself"),
    (["mass-matrix", ARM, "-o", "gone/M.json"], OUTPUT, "gone/M.json: error: cannot be written"),
    (["mass-matrix", ARM, "-o", "."], OUTPUT, ".: error: is a directory"),
    (["kinematics", ARM, "--frame", "hnd"], USAGE, "--frame: there is no frame named 'hnd'; did you mean 'hand'?"),
    (["kinematics", ARM, "--relative-to", "gone"], USAGE, "--relative-to: there is no frame named 'gone'"),
    (["inverse-dynamics", ARM, "--vdot", "1"], USAGE, "--vdot needs 7 numbers, it has 1"),
    (["inverse-dynamics", ARM, "--vdot", "gone=1"], USAGE, "--vdot: there is no velocity named 'gone'"),
    (["inverse-dynamics", ARM, "--force-on", "hand=1"], USAGE, "--force-on takes BODY="),
    (["inverse-dynamics", ARM, "--force-on", "gone=1,2,3,4,5,6"], USAGE, "there is no frame named 'gone'"),
    (["forward-dynamics", ARM, "--u", "joint=1"], USAGE, "--u: there is no actuator named 'joint'"),
    (["energy", ARM, "--bodies", "--states", "x.csv"], USAGE, "--bodies is for one state"),
    (["simulate", ARM, "-t", "abc"], USAGE, "'abc' is not a finite number"),
    (["simulate", ARM, "-t", "-1"], USAGE, "-1 is less than 0"),
    (["simulate", ARM, "-t", "nan"], USAGE, "'nan' is not a finite number"),
    (["simulate", ARM, "-t", "inf"], USAGE, "'inf' is not a finite number"),
    (["simulate", ARM, "-t", "1e15"], USAGE, "too many steps"),
    (["simulate", ARM, "--dt", "1e-300"], USAGE, "too many steps"),
    (["simulate", ARM, "--dt", "0", "-t", "1e9"], USAGE, "more than 1e+09 rows"),
    (["simulate", ARM, "--dt", "0.1", "--integrator", "radau3"], USAGE, "--dt is not 0"),
    (["simulate", ARM, "--integrator", "rk4"], USAGE, "--integrator: there is no 'rk4'; there are"),
    (["simulate", ARM, "--accuracy", "0"], USAGE, "0 is not greater than 0"),
    (["simulate", ARM, "--log-rate", "300"], USAGE, "choose a divisor of 1000 Hz"),
    (["simulate", ARM, "--log-rate", "0", "--dt", "0"], USAGE, "this one is continuous"),
    (
        ["simulate", ARM, "--fields", "torque"],
        USAGE,
        "--fields: there is no 'torque'; there are energy, compliance, u, effort, activations, targets, tracking",
    ),
    (["simulate", ARM, "--u", "1", "--input", "x.csv"], USAGE, "--input and --u exclude each other"),
    (["simulate", ARM, "--no-log", "-o", "x.h5"], USAGE, "--no-log and -o exclude each other"),
    (["simulate", ARM, "--input", "gone.csv"], MISSING, "gone.csv: error: no such file"),
    (["simulate", ARM, "-o", "gone/x.h5"], OUTPUT, "gone/x.h5: error: cannot be written: there is no folder gone"),
    (["simulate", ARM, "-o", "."], OUTPUT, ".: error: is a directory"),
    (["simulate", ARM, "-o", "/dev/null"], OUTPUT, "/dev/null: error: is not a regular file"),
    (["simulate", ARM, "--resume", "gone.h5"], MISSING, "gone.h5: error: cannot be read"),
    (["simulate", "--resume", "gone.h5"], MISSING, "gone.h5: error: cannot be read"),
    (["simulate", ARM, "--resume", "x.h5", "--at", "joint_1=1"], USAGE, "--resume takes its state from the log"),
    (["log", "info", "gone.h5"], MISSING, "gone.h5: error: cannot be read"),
]

MODELS = [  # text of a model, arguments, exit code, part of the line
    ("", ["inspect"], INVALID, "not a model file: it has no root element"),
    ("garbage", ["inspect", "--input-format", "urdf"], INVALID, "<stdin>:1:1: error: "),
    (one_robot(["a", "a"]), ["inspect"], INVALID, '<stdin>:1:144: error: the link name "a" is taken already'),
    (one_robot(["a"], hinge("j", "a", "b")), ["inspect"], INVALID, "error: "),
    (one_robot(*TWO), ["mass-matrix", "--weld", "b", "--weld", "a"], INVALID, "would close a loop"),
    (one_robot(*TWO), ["mass-matrix", "--weld", "a", "--weld", "a"], INVALID, "would close a loop"),
    (
        one_robot(["a", "b", "c"], hinge("j", "a", "b") + hinge("k", "world", "c")),
        ["mass-matrix", "--weld", "c"],
        INVALID,
        "error: joint 'k' holds 'c' at the world",
    ),
    (one_robot(*TWO), ["mass-matrix", "--q", "0 0 0 0 0 0 0 0"], INVALID, "quaternion of joint 'a' is zero"),
    (one_robot(["a", "b0"], hinge("j", "a", "b0")), ["forward-dynamics"], NUMERICAL, "joint 'j' moves 'b0', whose"),
    (one_robot(["a", "b0"], hinge("j", "a", "b0")), ["mass-matrix", "--inverse"], NUMERICAL, "singular"),
    (one_robot(["a", "b0"], hinge("j", "a", "b0")), ["simulate", "--no-log"], NUMERICAL, "joint 'j' moves 'b0', whose"),
    (one_robot(["b0"]), ["simulate", "--no-log", "--fields", "com"], USAGE, "--fields com: the model has no mass"),
]


@pytest.fixture(autouse=True)
def interpreted_in_an_empty_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MBCLI_JIT", "0")
    for name in [name for name in os.environ if name.endswith(("PACKAGE_PATH", "PREFIX_PATH"))]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def assert_one_line(result, code, message):
    assert result.code == code, result.err
    assert message in result.err
    assert result.out == "" and "Traceback" not in result.err
    assert result.err.endswith("\n") and result.err.count("\n") == 1


@pytest.mark.parametrize("arguments, code, message", CASES)
def test_a_wrong_command_line_gives_one_line(arguments, code, message, tmp_path):
    """tree (c) 32"""
    assert_one_line(cli(*arguments), code, message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text, arguments, code, message", MODELS)
def test_a_wrong_model_gives_one_line(text, arguments, code, message, tmp_path):
    """tree (c) 32"""
    command, *options = arguments
    assert_one_line(cli("-q", command, "-", *options, stdin=text), code, message)
    assert list(tmp_path.iterdir()) == []


def test_a_weld_that_closes_a_loop_names_the_joint_and_its_place(tmp_path):
    result = cli("mass-matrix", TWO_LINKS, "--weld", "lower")
    line = next(n for n, text in enumerate(open(TWO_LINKS), 1) if '<joint name="shoulder"' in text)  # noqa: SIM115
    assert result.err.startswith(f"{TWO_LINKS}:{line}:3: error: joint 'shoulder' holds 'upper' at the world")


def test_every_error_of_a_file_is_reported(tmp_path):
    (tmp_path / "r.urdf").write_text(one_robot(["a", "a", "b", "b"]))
    result = cli("inspect", "r.urdf")
    assert result.code == INVALID
    errors = [line for line in result.err.splitlines() if ": warning: " not in line]
    assert len(errors) == 2 and all(re.match(r"r\.urdf:1:\d+: error: the link name", line) for line in errors)


def test_what_a_plant_refuses_is_an_invalid_model(tmp_path, monkeypatch):
    def refuse(*_):
        raise RuntimeError("model instance 'r' already has a frame named 'f'")

    monkeypatch.setattr("mbcli.multibody.parsing.parser.add_models", refuse)
    (tmp_path / "r.urdf").write_text(one_robot(["a"]))
    assert_one_line(
        cli("inspect", "r.urdf"), INVALID, "r.urdf: error: model instance 'r' already has a frame named 'f'"
    )
    assert_one_line(cli("inspect", "-", stdin=one_robot(["a"])), INVALID, "<stdin>: error: model instance 'r' already")


def test_a_bug_says_how_to_report_it_and_debug_shows_where(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("no such luck")

    monkeypatch.setattr("mbcli.models.description.describe", fail)
    plain = cli("inspect", ARM)
    assert plain.code == 70 and "Traceback" not in plain.err
    assert plain.err.startswith("mbcli: internal error: ZeroDivisionError: no such luck\nThis is a bug in mbcli")
    debug = cli("--debug", "inspect", ARM)
    assert debug.code == 70 and "Traceback" in debug.err and "in fail" in debug.err


def test_a_traceback_of_a_users_error_only_with_debug():
    debug = cli("--debug", "inspect", "gone.urdf")
    assert debug.code == MISSING and "Traceback" in debug.err and debug.err.endswith("gone.urdf: no such file\n")


@pytest.mark.parametrize("arguments", [("--help",), ("inspect", ARM, "--json"), ("mass-matrix", ARM)])
def test_a_closed_pipe_ends_quietly(arguments):
    process = start(*arguments, env={"MBCLI_JIT": "0"})
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == ("", 141)


def test_a_full_disk_behind_stdout_is_an_output_error():
    with open("/dev/full", "w") as full:
        process = start("inspect", ARM, env={"MBCLI_JIT": "0"}, stdout=full)
        _, err = process.communicate()
    assert (process.returncode, err) == (OUTPUT, "<stdout>: error: cannot be written: No space left on device\n")


def test_every_command_and_option_has_help():
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command.get_short_help_str()
        assert all(p.help for p in command.params if isinstance(p, click.Option)), name
