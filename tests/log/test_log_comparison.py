"""`log diff`, `log verify`, `log show`, `log tail`: text, JSON against the schemas, exit codes, bad inputs."""

import json

import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import SAMPLES
from test_log_writer import ENERGY, arm_header, rows

from mbcli.log.difference import compare
from mbcli.log.fields import STANDARD_FIELDS
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter

COUNT = 5000


def write(path, changes=lambda block: None, **header):
    """A log of COUNT rows; changes(block) spoils them."""
    block = rows(0, COUNT)
    changes(block)
    with LogWriter(path, arm_header(**header)) as log:
        log.append(**block)
        log.finish("complete", 0)
    return path


def described(result, name):
    """The JSON of a result, which fits its published schema."""
    document = result.json()
    jsonschema.Draft202012Validator(json.loads(schema_text("results"))).validate(document)
    assert document["schema"] == f"mbcli/{name}"
    return document


@pytest.fixture
def a(tmp_path):
    return write(tmp_path / "a.h5")


# ------------------------------------------------------------------------------------------- diff


def test_equal_logs_are_the_same(a, tmp_path):
    result = cli("log", "diff", a, write(tmp_path / "b.h5"))
    assert (result.code, result.out) == (0, f"same: {COUNT} rows\n")


def test_the_first_divergence_and_the_largest_difference_are_found(a, tmp_path):
    def changes(block):
        block["v"][4321, 0] += 1e-3
        block["q"][4400, 1] += 0.5
        block["q"][4999, 1] += 0.25

    result = cli("log", "diff", a, write(tmp_path / "b.h5", changes))
    assert result.code == 1
    assert result.out.startswith("first divergence at 4321 s: state/v shoulder_w: -4321.0 and -4320.999 rad s-1\n")
    assert "largest difference 0.5 rad at 4400 s: state/q elbow_q" in result.out
    document = described(cli("log", "diff", a, tmp_path / "b.h5", "--json"), "log-diff")
    assert [(q["name"], q["first_time"], q["rows"]) for q in document["quantities"]] == [
        ("shoulder_w", 4321.0, 1),
        ("elbow_q", 4400.0, 2),
    ]
    assert not document["same"] and document["same_model"]


@pytest.mark.parametrize(("tolerance", "code"), [(0, 1), (1e-9, 1), (1e-6, 0)])
def test_a_tolerance_is_relative_above_1(a, tmp_path, tolerance, code):
    write(tmp_path / "b.h5", lambda block: block["q"].__setitem__((3000, 0), 3000.0 * (1 + 5e-8)))
    assert cli("log", "diff", a, tmp_path / "b.h5", "--tolerance", tolerance).code == code


def test_nan_equals_nan_and_nothing_else(tmp_path):
    def spoilt(block):
        block[ENERGY][7] = np.nan

    a, b, c = write(tmp_path / "a.h5", spoilt), write(tmp_path / "b.h5", spoilt), write(tmp_path / "c.h5")
    assert cli("log", "diff", a, b).code == 0
    result = cli("log", "diff", a, c, "--tolerance", 1e9)
    assert result.code == 1 and "first divergence at 7 s" in result.out
    assert described(cli("log", "diff", a, c, "--json"), "log-diff")["quantities"][0]["largest"] is None


def test_columns_are_matched_by_name_and_those_of_one_log_are_named(a, tmp_path):
    def swapped(block):
        block["q"] = block["q"][:, ::-1].copy()

    b = write(tmp_path / "b.h5", swapped, position_names=("elbow_q", "shoulder_q"))
    assert cli("log", "diff", a, b).code == 0
    c = write(tmp_path / "c.h5", position_names=("shoulder_q", "wrist_q"))
    result = cli("log", "diff", a, c)
    assert result.code == 1
    assert "a.h5: state/q:elbow_q" in result.out and "c.h5: state/q:wrist_q" in result.out
    assert cli("log", "diff", a, c, "--fields", "v").code == 0


def test_rows_of_one_log_alone_are_a_difference_unless_they_are_not_minded(a, tmp_path):
    with LogWriter(tmp_path / "b.h5", arm_header()) as log:
        log.append(**{name: values[100:] for name, values in rows(0, COUNT).items()})
        log.finish("complete", 0)
    result = cli("log", "diff", a, tmp_path / "b.h5")
    assert result.code == 1 and f"only in {a}: 100 of {COUNT} rows" in result.out
    assert cli("log", "diff", a, tmp_path / "b.h5", "--common-rows").out == f"same: {COUNT - 100} rows\n"
    with Log(a) as first, Log(tmp_path / "b.h5") as second:
        assert compare(second, first, any_rows=True).compared == COUNT - 100


def test_contacts_are_compared_one_by_one(tmp_path):
    run = ("-q", "simulate", SAMPLES / "quadruped.urdf", "--ground", "--hold", "-t", 0.1, "--log-rate", 100)
    succeed(*run, "-o", tmp_path / "a.h5")
    succeed(*run, "-o", tmp_path / "c.h5", "--at", "quadruped_trunk_z=0.6")
    assert cli("log", "diff", tmp_path / "a.h5", tmp_path / "a.h5", "--fields", "contact").code == 0
    result = cli("log", "diff", tmp_path / "a.h5", tmp_path / "c.h5", "--fields", "contact")
    assert result.code == 1 and "first divergence at 0.01 s: contact/count count" in result.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("a.h5", "nothing.h5"), 4, "nothing.h5: error: cannot be read"),
        (("a.h5", "text.h5"), 3, "text.h5: error: is not an HDF5 file"),
        (("a.h5", "a.h5", "--fields", "speed"), 2, "the log has no field 'speed'"),
        (("a.h5", "a.h5", "--tolerance", "-1"), 2, "-1 is less than 0"),
        (("a.h5",), 2, "Missing argument 'B'"),
    ],
)
def test_logs_that_cannot_be_compared(a, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.h5").write_text("no log")
    result = cli("log", "diff", *words)
    assert (result.code, result.out, result.err.count("\n")) == (code, "", 1) and message in result.err


# ------------------------------------------------------------------------------------------- verify


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A log of a model in another folder, with an input file, written by a relative path."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "arm.urdf").write_bytes((SAMPLES / "double_pendulum.urdf").read_bytes())
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (tmp_path / "work" / "push.csv").write_text("time,elbow\n0,1\n0.1,-1\n")
    succeed("-q", "simulate", "../there/arm.urdf", "--input", "push.csv", "-t", 0.3, "-o", "run.h5", "--log-rate", 1000)
    return tmp_path / "work" / "run.h5"


def test_a_log_is_verified_from_the_model_files_in_it(run, tmp_path):
    (tmp_path / "there" / "arm.urdf").unlink()
    result = cli("log", "verify", "run.h5", "--trust")
    assert (result.code, result.out) == (0, "verified: same: 301 rows, computed again\n"), result.err
    document = described(succeed("log", "verify", "run.h5", "--json", "--trust"), "log-verify")
    assert document["same"] and document["other_software"] == []


def test_a_log_whose_numbers_were_changed_does_not_verify(run, tmp_path):
    with Log(run) as log:
        blocks = next(log.chunks(rows=1000))
        header = arm_header(
            position_names=log.position_names,
            velocity_names=log.velocity_names,
            fields=tuple(STANDARD_FIELDS[path] for path in log.fields() if path in STANDARD_FIELDS),
            sources=tuple(log.read_sources()),
            argv=tuple(log.attrs["argv"]),
        )
    blocks["state/q"][200, 1] += 1e-12
    with LogWriter(tmp_path / "forged.h5", header) as forged:
        names = {"time": "time", "state/q": "q", "state/v": "v"} | {field.path: field.path for field in header.fields}
        forged.append(**{names[path]: blocks[path] for path in names})
        forged.finish("complete", 0)
    result = cli("log", "verify", tmp_path / "forged.h5", "--trust")
    assert result.code == 1
    assert "first divergence at 0.2 s: state/q" in result.out
    assert cli("log", "verify", tmp_path / "forged.h5", "--json", "--trust").json()["quantities"][0]["rows"] == 1


def test_what_cannot_be_verified_is_one_line(run, a, tmp_path):
    missing = cli("log", "verify", "nothing.h5")
    assert missing.code == 4 and missing.err.count("\n") == 1
    no_command = cli("log", "verify", write(tmp_path / "b.h5", argv=("notebook",)))
    assert no_command.code == 3 and "has no record of a command" in no_command.err
    (tmp_path / "work" / "push.csv").unlink()
    no_input = cli("log", "verify", "run.h5", "--trust")
    assert no_input.code in (2, 4) and "cannot be run again" in no_input.err and "push.csv" in no_input.err
    assert cli("log", "verify", "run.h5", "-o", a).code == 6


# ------------------------------------------------------------------------------------------- show and tail


def test_show_has_the_ends_and_extremes_of_every_column(a):
    document = described(succeed("log", "show", a, "--json"), "log-show")
    assert [column["name"] for column in document["columns"]] == [
        *("shoulder_q", "elbow_q", "shoulder_w", "elbow_w", "energy_kinetic")
    ]
    elbow = document["columns"][3]
    assert (elbow["first"], elbow["last"], elbow["least"], elbow["least_time"]) == (0.0, -9998.0, -9998.0, 4999.0)
    assert elbow["unit"] == "rad s-1" and elbow["mean"] == -4999.0
    text = succeed("log", "show", a, "--fields", "q").out
    assert text.splitlines()[2].split() == ["elbow_q", "rad", "0", "9998", "0", "0", "9998", "4999"]


def test_show_has_the_values_at_times(a):
    text = succeed("log", "show", a, "--fields", "v", "--time", 3, "--time", 5).out
    assert text.splitlines()[0].split() == ["3", "s", "5", "s"]
    assert text.splitlines()[2].split() == ["elbow_w", "rad", "s-1", "-6", "-10"]
    document = described(succeed("log", "show", a, "--json", "--time", 7), "log-show")
    assert document["times"] == [7.0] and document["columns"][0]["values"] == [7.0]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("show", "a.h5", "--time", "0.5"), 4, "no sample at 0.5 s, the nearest: 0 and 1 s"),
        (("show", "a.h5", "--fields", "speed"), 2, "the log has no field 'speed'"),
        (("show", "nothing.h5"), 4, "cannot be read"),
        (("tail", "nothing.h5"), 4, "cannot be read"),
        (("tail", "a.h5", "-n", "-1"), 2, "-1 is not in the range"),
        (("tail", "a.h5", "--fields", "speed"), 2, "the log has no field 'speed'"),
        (("tial", "a.h5"), 2, "Did you mean 'tail'?"),
    ],
)
def test_what_cannot_be_shown_is_one_line(a, tmp_path, monkeypatch, words, code, message):
    monkeypatch.chdir(tmp_path)
    result = cli("log", *words)
    assert (result.code, result.out, result.err.count("\n")) == (code, "", 1) and message in result.err, result.err


def test_tail_prints_the_last_rows(a):
    lines = succeed("log", "tail", a, "-n", 3, "--fields", "q").out.splitlines()
    assert lines[0].split() == ["time", "shoulder_q", "elbow_q"]
    assert [line.split()[0] for line in lines[1:]] == ["4997", "4998", "4999"]
    rows_of_json = [
        json.loads(line) for line in succeed("log", "tail", a, "-n", 2, "--every", 5, "--json").out.splitlines()
    ]
    assert [row["time"] for row in rows_of_json] == [4994.0, 4999.0]
    assert succeed("log", "tail", a, "-n", 0, "--follow", "--fields", "q").out.count("\n") == 1


def test_tail_finds_the_log_of_a_run_that_goes_on_and_takes_up_its_rows(tmp_path):
    log = LogWriter(tmp_path / "a.h5", arm_header())
    log.append(**rows(0, 5))
    log.flush()
    assert succeed("log", "tail", tmp_path / "a.h5", "-n", 1, "--fields", "q").out.splitlines()[-1].split()[0] == "4"
    with Log(tmp_path / "a.h5.partial") as read:
        assert read.row_count == 5
        log.append(**rows(5, 2000))
        log.flush()
        assert read.refresh() == 2005
        np.testing.assert_array_equal(read.q, rows(0, 2005)["q"])
    log.finish("complete", 0)
