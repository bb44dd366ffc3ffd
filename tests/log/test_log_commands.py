"""`mbcli log info` and `mbcli log export`."""

import csv
import hashlib
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import cli
from test_log_reader import DOCUMENT
from test_log_writer import URDF, arm_header, rows

from mbcli.cli.log import log as log_command
from mbcli.errors import ModelError, OutputError, ResourceError
from mbcli.log.description import describe
from mbcli.log.fields import STANDARD_FIELDS
from mbcli.log.reader import Log
from mbcli.log.writer import LogWriter

COUNT = 2500
ENERGY, COM = "derived/energy_kinetic", "derived/com"
HEADER = [
    "time",
    "shoulder_q",
    "elbow_q",
    "shoulder_w",
    "elbow_w",
    "u:motor",
    "com:x",
    "com:y",
    "com:z",
    "energy_kinetic",
]


def run(*arguments):
    return CliRunner().invoke(log_command, [str(argument) for argument in arguments])


def full_header(**changes):
    header = arm_header(actuator_names=("motor",), actuator_units=("N m",))
    fields = (header.input_field(), STANDARD_FIELDS[COM], STANDARD_FIELDS[ENERGY])
    actuators = {"actuator_names": ("motor",), "actuator_units": ("N m",)}
    return arm_header(**({"fields": fields, "seed": 42} | actuators | changes))


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return {
        "time": np.arange(COUNT) * 0.01,
        "q": rng.normal(size=(COUNT, 2)),
        "v": rng.normal(size=(COUNT, 2)) * 1e-9,
        "input/u": rng.normal(size=(COUNT, 1)) * 1e9,
        COM: rng.normal(size=(COUNT, 3)),
        ENERGY: rng.normal(size=COUNT),
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("log") / "arm.h5"
    with LogWriter(path, full_header()) as log:
        log.append(**data)
        log.event(0.02, 2, "warning", "CONTACT_OVERFLOW", "more than 64 contacts")
        log.finish("complete", 0)
    return path


# ---------------------------------------------------------------------------------------------- info


def test_info_says_what_a_run_was(path):
    result = run("info", path)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"{path}: complete log of arm"
    for expected in (
        "status      complete, exit code 0",
        "rows        2500, 0 to 24.99 s, every 0.01 s (100 Hz)",
        "command     mbcli simulate arm.urdf",
        "random      seed 42",
        "  time                          s",
        "  state/q                    2  rad      shoulder_q, elbow_q",
        "  state/v                    2  rad s-1  shoulder_w, elbow_w",
        "  derived/energy_kinetic        J",
        "  0.02 s  step 2  warning  CONTACT_OVERFLOW  more than 64 contacts",
        "  models/arm.urdf  19 bytes",
        f"    sha256 {hashlib.sha256(URDF).hexdigest()}",
    ):
        assert expected in lines
    assert all(len(line) <= 80 for line in lines[1:])


def test_info_as_json_has_the_documented_keys(path):
    result = run("info", path, "--json")
    document = json.loads(result.stdout)
    assert (document["schema"], document["schema_version"]) == ("mbcli/log-info", 1)
    assert document["model"]["name"] == "arm"
    assert document["model"]["files"][0]["path"] == "models/arm.urdf"
    assert document["time"]["rows"] == COUNT
    assert document["time"]["duration"] == pytest.approx(24.99)
    assert document["time"]["rate"] == pytest.approx(100.0)
    assert document["position_names"] == ["shoulder_q", "elbow_q"]
    assert document["fields"][1] == {
        "path": "state/q",
        "shape": [COUNT, 2],
        "dtype": "f8",
        "units": ["rad", "rad"],
        "names": ["shoulder_q", "elbow_q"],
    }
    assert document["events"][0]["code"] == "CONTACT_OVERFLOW"
    assert document["run"]["seed"] == 42
    assert document["provenance"]["packages"]["numpy"] == np.__version__


def test_the_document_describes_every_key_of_info(path):
    text = DOCUMENT.read_text(encoding="utf-8").partition("### `mbcli log info --json`")[2]
    text = text.partition("\n## ")[0]
    document = json.loads(run("info", path, "--json").stdout)
    nested = {key for part in ("run", "provenance", "time") for key in document[part]}
    for key in {*document, *nested}:
        assert f"`{key}`" in text, key


def test_info_of_an_unfinished_log_says_so(tmp_path, data):
    log = LogWriter(tmp_path / "a.h5", full_header())
    log.append(**data)
    log.flush()
    partial = tmp_path / "a.h5.partial"
    assert "unfinished log of arm" in run("info", partial).stdout
    assert "still being written, or its process was killed" in run("info", partial).stdout
    document = json.loads(run("info", partial, "--json").stdout)
    assert (document["finished"], document["status"], document["exit_code"]) == (False, "running", None)
    assert document["time"]["rows"] == COUNT
    log.finish("failed", 5, "q[shoulder_q] is nan")
    assert "failed, exit code 5: q[shoulder_q] is nan" in run("info", tmp_path / "a.h5").stdout


@pytest.mark.parametrize("count, line", [(0, "rows        none"), (1, "rows        1, at 0 s")])
def test_info_of_a_log_with_hardly_a_row(tmp_path, data, count, line):
    with LogWriter(tmp_path / "a.h5", full_header()) as log:
        log.append(**{name: values[:count] for name, values in data.items()})
        log.finish("complete", 0)
    assert line in run("info", tmp_path / "a.h5").stdout.splitlines()
    json.loads(run("info", tmp_path / "a.h5", "--json").stdout)


def test_info_of_uneven_rows_gives_their_least_and_largest_distance(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header(fields=())) as log:
        log.append(time=[0.0, 0.1, 0.5], q=np.zeros((3, 2)), v=np.zeros((3, 2)))
        log.finish("complete", 0)
    line = "rows        3, 0 to 0.5 s, every 0.1 to 0.4 s (4 Hz on average)"
    assert line in run("info", tmp_path / "a.h5").stdout.splitlines()


def test_intervals_across_chunks_are_seen(tmp_path):
    times = np.concatenate([np.arange(1 << 16), (1 << 16) + 5.0 + np.arange(10)])
    with LogWriter(tmp_path / "a.h5", arm_header(fields=())) as log:
        log.append(time=times, q=np.zeros((len(times), 2)), v=np.zeros((len(times), 2)))
        log.finish("complete", 0)
    with Log(tmp_path / "a.h5") as log:
        summary = describe(log)["time"]
    assert (summary["least_interval"], summary["largest_interval"]) == (1.0, 6.0)


def test_names_cannot_send_control_characters_to_the_terminal(tmp_path):
    names = ("evil\x1b[2J\n_q", "other_q")
    header = arm_header(position_names=names, model_name="a\x1b]0;x\x07", argv=("mbcli", "\x1b[31m"))
    LogWriter(tmp_path / "a.h5", header).finish("failed", 5, "\x1b[0m")
    output = run("info", tmp_path / "a.h5").stdout
    assert "\x1b" not in output
    assert "\x07" not in output
    assert "evil\\x1b[2J\\n_q" in output
    assert json.loads(run("info", tmp_path / "a.h5", "--json").stdout)["position_names"] == list(names)


def test_the_largest_numbers_are_summed_up_without_a_word(tmp_path, recwarn):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**{**rows(0, 10), "q": np.full((10, 2), 1e308)})
        log.finish("complete", 0)
    shown = cli("log", "show", tmp_path / "a.h5", "--fields", "q", "--json")
    assert shown.code == 0 and shown.err == "" and not recwarn.list
    assert [(column["largest"], column["mean"]) for column in shown.json()["columns"]] == [(1e308, None)] * 2


def test_names_cannot_send_control_characters_to_the_terminal_from_any_command(tmp_path, monkeypatch):
    """Nor can they add lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)  # as on a terminal
    header = arm_header(position_names=("evil\x1b[2J\n_q", "other\x9b31m_q"))
    for name, slope in (("a.h5", 1.0), ("b.h5", 2.0)):
        with LogWriter(tmp_path / name, header) as log:
            log.append(**{**rows(0, 10), "q": slope * rows(0, 10)["q"]})
            log.finish("complete", 0)
    commands = ("info a.h5", "show a.h5", "show a.h5 --time 0", "tail a.h5", "diff a.h5 b.h5", "plot a.h5 --text")
    for command in (*commands, "plot a.h5 b.h5 --text"):
        result = cli("log", *command.split())
        assert result.code == (1 if command.startswith("diff") else 0), result.err
        assert not {"\x1b", "\x9b"} & set(result.out), command
        assert "evil\\x1b[2J\\n_q" in result.out and "\n_q" not in result.out.replace("\\n", ""), command


def test_errors_keep_their_exit_codes(tmp_path, path):
    (tmp_path / "text.h5").write_text("hello")
    for arguments, kind, code in [
        (("info", tmp_path / "no.h5"), ResourceError, 4),
        (("info", tmp_path / "text.h5"), ModelError, 3),
        (("export", tmp_path / "no.h5", "--to", "csv"), ResourceError, 4),
        (("export", path, "--to", "csv", "-o", tmp_path / "no" / "a.csv"), OutputError, 6),
        (("export", path, "--to", "csv", "-o", tmp_path / "text.h5"), OutputError, 6),
    ]:
        result = run(*arguments)
        assert isinstance(result.exception, kind)
        assert result.exception.exit_code == code
    for arguments in (("info",), ("export", path), ("export", path, "--to", "csv", "--every", 0)):
        assert run(*arguments).exit_code == 2
    assert (tmp_path / "text.h5").read_text() == "hello"


# -------------------------------------------------------------------------------------------- export


def read_csv(text):
    header, *lines = text.splitlines()
    return header.split(","), np.array([[float(number) for number in line.split(",")] for line in lines])


def table(data):
    columns = [data["time"][:, None], data["q"], data["v"], data["input/u"], data[COM], data[ENERGY][:, None]]
    return np.hstack(columns)


def test_csv_reads_back_exactly(path, data):
    result = run("export", path, "--to", "csv")
    assert result.exit_code == 0
    header, values = read_csv(result.stdout)
    assert header == HEADER
    np.testing.assert_array_equal(values, table(data))


def test_csv_numbers_are_the_shortest(path):
    lines = run("export", path, "--to", "csv", "--fields", "q").stdout.splitlines()
    for line in lines[1:50]:
        for number in line.split(","):
            assert number == repr(float(number))


def test_json_lines_read_back_exactly(path, data):
    documents = [json.loads(line) for line in run("export", path, "--to", "jsonl").stdout.splitlines()]
    assert len(documents) == COUNT
    assert set(documents[0]) == {"time", "q", "v", "u", COM, ENERGY}
    for key, name in (("time", "time"), ("q", "q"), ("v", "v"), ("u", "input/u"), (COM, COM), (ENERGY, ENERGY)):
        np.testing.assert_array_equal([document[key] for document in documents], data[name])


def test_npz_reads_back_exactly(tmp_path, path, data):
    assert run("export", path, "--to", "npz", "-o", tmp_path / "a.npz").exit_code == 0
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"time", "q", "v", "u", COM, ENERGY}
        np.testing.assert_array_equal(arrays["q"], data["q"])
        np.testing.assert_array_equal(arrays["u"], data["input/u"])
        np.testing.assert_array_equal(arrays[ENERGY], data[ENERGY])
    piped = run("export", path, "--to", "npz").stdout_bytes
    with np.load(io.BytesIO(piped), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["v"], data["v"])


@pytest.mark.parametrize("every", [1, 7, 1000, 5000])
def test_a_part_of_the_rows(tmp_path, path, data, every):
    chosen = (data["time"] >= 3.0) & (data["time"] <= 21.0)
    options = ["--from", 3, "--to-time", 21, "--every", every, "--fields", "q,energy_kinetic"]
    expected = np.hstack([data["time"][:, None], data["q"], data[ENERGY][:, None]])[chosen][::every]
    header, values = read_csv(run("export", path, "--to", "csv", *options).stdout)
    assert header == ["time", "shoulder_q", "elbow_q", "energy_kinetic"]
    np.testing.assert_array_equal(values, expected)
    output = tmp_path / "a.npz"
    assert run("export", path, "--to", "npz", *options, "-o", output).exit_code == 0
    with np.load(output) as arrays:
        np.testing.assert_array_equal(arrays["q"], expected[:, 1:3])


@pytest.mark.parametrize(
    "fields, header",
    [
        ("v", ["time", "shoulder_w", "elbow_w"]),
        ("v,q,v", ["time", "shoulder_w", "elbow_w", "shoulder_q", "elbow_q"]),
        ("derived", ["time", "com:x", "com:y", "com:z", "energy_kinetic"]),
        ("derived/com , u", ["time", "com:x", "com:y", "com:z", "u:motor"]),
        ("state", ["time", "shoulder_q", "elbow_q", "shoulder_w", "elbow_w"]),
        ("", ["time"]),
    ],
)
def test_fields_are_chosen_by_path_ending_or_group(path, fields, header):
    assert run("export", path, "--to", "csv", "--fields", fields).stdout.splitlines()[0].split(",") == header


def test_an_unknown_field_is_a_usage_error_that_lists_the_known(path):
    result = run("export", path, "--to", "csv", "--fields", "q,energy")
    assert result.exit_code == 2
    assert "no field 'energy'; it has q, v, u, derived/com, derived/energy_kinetic" in result.stderr


def test_no_rows_give_a_header(tmp_path):
    with LogWriter(tmp_path / "empty.h5", arm_header()) as log:
        log.finish("complete", 0)
    path = tmp_path / "empty.h5"
    assert run("export", path, "--to", "csv", "--fields", "q").stdout == "time,shoulder_q,elbow_q\n"
    assert run("export", path, "--to", "jsonl", "--from", 100).stdout == ""
    assert run("export", path, "--to", "npz", "-o", tmp_path / "a.npz").exit_code == 0
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["q"].shape == (0, 2)


def test_numbers_that_are_not_finite(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(time=[0.0, 1.0], q=[[1, 2], [3, np.inf]], v=np.zeros((2, 2)), **{ENERGY: [np.nan, 1.0]})
        log.finish("failed", 5)
    lines = run("export", tmp_path / "a.h5", "--to", "csv").stdout.splitlines()
    assert lines[1:] == ["0.0,1.0,2.0,0.0,0.0,nan", "1.0,3.0,inf,0.0,0.0,1.0"]
    documents = [json.loads(line) for line in run("export", tmp_path / "a.h5", "--to", "jsonl").stdout.splitlines()]
    assert documents[0][ENERGY] is None
    assert documents[1]["q"] == [3.0, None]


def test_names_that_csv_must_quote_or_that_collide(tmp_path):
    header = arm_header(position_names=('a,"b"\n', "same"), velocity_names=("same", "time"), fields=())
    LogWriter(tmp_path / "a.h5", header).finish("complete", 0)
    output = run("export", tmp_path / "a.h5", "--to", "csv").stdout
    assert next(csv.reader(io.StringIO(output))) == ["time", 'a,"b"\n', "q:same", "v:same", "v:time"]


def test_an_unfinished_log_is_exported(tmp_path, data):
    log = LogWriter(tmp_path / "a.h5", full_header())
    log.append(**data)
    log.flush()
    _, values = read_csv(run("export", tmp_path / "a.h5.partial", "--to", "csv", "--fields", "q").stdout)
    np.testing.assert_array_equal(values[:, 1:], data["q"])
    log.finish("complete", 0)


def test_an_output_file_is_replaced_only_by_force_and_only_whole(tmp_path, path):
    output = tmp_path / "a.csv"
    assert run("export", path, "--to", "csv", "-o", output, "--fields", "q").exit_code == 0
    first = output.read_bytes()
    assert isinstance(run("export", path, "--to", "csv", "-o", output).exception, OutputError)
    assert output.read_bytes() == first
    assert run("export", path, "--to", "csv", "-o", output, "--fields", "v", "--force").exit_code == 0
    assert output.read_bytes() != first
    assert [file.name for file in tmp_path.iterdir()] == ["a.csv"]


def test_exported_states_are_read_back_as_a_batch(tmp_path, path, data):
    state_reader = pytest.importorskip("mbcli.batch.state_reader")
    layout = state_reader.StateLayout(
        position_names=["shoulder_q", "elbow_q"],
        velocity_names=["shoulder_w", "elbow_w"],
        actuator_names=["motor"],
        default_q=np.zeros(2),
        default_v=np.zeros(2),
    )
    for target in ("csv", "jsonl", "npz"):
        output = tmp_path / f"a.{target}"
        assert run("export", path, "--to", target, "-o", output, "--fields", "q,v,u").exit_code == 0
        chunks = list(state_reader.open_states(output, layout))
        np.testing.assert_array_equal(np.concatenate([chunk.q for chunk in chunks]), data["q"])
        np.testing.assert_array_equal(np.concatenate([chunk.u for chunk in chunks]), data["input/u"])
        np.testing.assert_array_equal(np.concatenate([chunk.time for chunk in chunks]), data["time"])


# ------------------------------------------------------------------------------------------- process

MAIN = "import sys; from mbcli.cli.log import log; log(sys.argv[1:])"


def test_a_closed_pipe_is_quiet(path):
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "export", str(path), "--to", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


def test_importing_the_command_loads_neither_h5py_nor_numpy():
    program = "import sys, mbcli.cli.log; print(sorted({'h5py', 'numpy'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "[]\n"
