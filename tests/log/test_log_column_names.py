"""Columns of logs by any unambiguous ending of their names, for every command that takes --fields."""

import csv
import io
import json

import numpy as np
import pytest
from command_line import SAMPLES, cli, succeed
from test_log_commands import COM, COUNT, ENERGY, full_header

from mbcli.log import open_log
from mbcli.log.chosen_columns import column_meant, meant_by
from mbcli.log.writer import LogWriter

COMMANDS = ("show", "export --to csv", "tail", "plot --text", "diff")


def write(path, **changes):
    random = np.random.default_rng(5)
    rows = {
        "time": np.arange(COUNT) * 0.01,
        "q": random.normal(size=(COUNT, 2)),
        "v": random.normal(size=(COUNT, 2)),
        "input/u": random.normal(size=(COUNT, 1)),
        COM: random.normal(size=(COUNT, 3)),
        ENERGY: random.normal(size=COUNT),
    } | changes
    with LogWriter(path, full_header()) as log:
        log.append(**rows)
        log.finish("complete", 0)
    return rows


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write("a.h5")


def of(command, *options):
    name, *own = command.split()
    return cli("log", name, "a.h5", *(["a.h5"] if name == "diff" else []), *own, *options)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "name", ["elbow_q", "elbow", "q:elbow_q", "shoulder_w", "com:x", "motor", "u:motor", "kinetic"]
)
def test_each_command_takes_a_column_by_its_name_or_its_end(log, command, name):
    result = of(command, "--fields", name)
    assert result.code == 0, result.err


@pytest.mark.parametrize("command", COMMANDS)
def test_an_end_that_can_mean_several_lists_them(log, command):
    result = of(command, "--fields", "q,w")
    assert result.code == 2 and "'w' can mean velocity shoulder_w, velocity elbow_w" in result.err.replace("\n", " ")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_name_that_means_nothing_is_refused_with_the_likely_one(log, command):
    result = of(command, "--fields", "elbw_q")
    assert result.code == 2 and 'did you mean "elbow_q"?' in result.err


def test_what_is_exported_is_the_column_alone_under_its_whole_name(log):
    rows = list(csv.reader(io.StringIO(of("export --to csv", "--fields", "elbow,com:y,shoulder_w").out)))
    assert rows[0] == ["time", "elbow_q", "com:y", "shoulder_w"]
    expected = np.column_stack([log["time"], log["q"][:, 1], log[COM][:, 1], log["v"][:, 0]])
    np.testing.assert_array_equal(np.array(rows[1:], float), expected)
    first = json.loads(of("export --to jsonl", "--fields", "elbow,q").out.splitlines()[0])
    assert first == {"time": 0.0, "elbow_q": log["q"][0, 1], "q": log["q"][0].tolist()}


@pytest.mark.parametrize("target", ["npz", "parquet", "mat", "mcap"])
def test_other_formats_have_the_column(log, target):
    for module in {"parquet": ["pyarrow"], "mat": ["scipy"], "mcap": ["mcap"]}.get(target, ()):
        pytest.importorskip(module)
    assert of("export", "-o", f"out.{target}", "--fields", "elbow").code == 0
    if target == "npz":
        arrays = np.load("out.npz")
        assert set(arrays) == {"time", "elbow_q"} and arrays["elbow_q"].shape == (COUNT,)
        np.testing.assert_array_equal(arrays["elbow_q"], log["q"][:, 1])


def test_values_and_the_last_rows_are_of_the_column(log):
    document = succeed("log", "show", "a.h5", "--fields", "elbow", "--time", "1", "--json").json()
    assert [(c["name"], c["unit"], c["values"]) for c in document["columns"]] == [
        ("elbow_q", "rad", [log["q"][100, 1]])
    ]
    tail = of("tail", "--fields", "elbow", "-n", "1").out.splitlines()
    assert tail[0].split() == ["time", "elbow_q"] and float(tail[1].split()[1]) == pytest.approx(log["q"][-1, 1], 1e-5)


def test_logs_differ_by_the_columns_that_are_asked_for(log):
    q = log["q"].copy()
    q[7, 1] += 1.0
    write("b.h5", q=q)
    assert cli("log", "diff", "a.h5", "b.h5", "--fields", "shoulder").code == 0
    result = cli("log", "diff", "a.h5", "b.h5", "--fields", "elbow,v")
    assert result.code == 1 and "first divergence at 0.07 s: elbow_q:" in result.out


def test_one_function_tells_what_names_mean(log):
    with open_log("a.h5") as opened:
        assert meant_by(opened, ["q", "elbow", "derived"]) == [
            ("state/q", None),
            ("state/q", 1),
            (COM, None),
            (ENERGY, None),
        ]
        assert column_meant(opened, "com:z") == (COM, 2)
        np.testing.assert_array_equal(opened["elbow"], log["q"][:, 1])


def test_a_run_takes_coordinates_and_ends_of_fields_too(log):
    model = SAMPLES / "double_pendulum.urdf"
    run = ("simulate", model, "-t", "0.01", "-o", "run.h5", "--force", "--fields")
    assert succeed(*run, "elbow_q,error").code == 0
    with open_log("run.h5") as opened:
        assert opened.fields() == ("time", "state/q", "state/v")
    assert "there is no 'elbw'" in cli(*run, "elbw").err
    result = cli(*run, "double_pendulum")
    assert result.code == 2 and "there is no" in result.err
