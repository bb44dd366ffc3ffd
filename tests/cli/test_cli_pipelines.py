"""Commands behind each other, as in a shell: rows of a log into an analysis, and what people feed it by mistake."""

import h5py
import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

MODEL = SAMPLES / "double_pendulum.urdf"
STATES = "time,shoulder,elbow\n0,1.5,-2\n1,0.5,0.25\n"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.mark.parametrize("kind", ["csv", "jsonl", "npz"])
def test_rows_of_a_log_go_through_a_pipe(tmp_path, kind):
    succeed("-q", "simulate", MODEL, "--at", "elbow=1", "-t", 0.05, "--no-contact", "-o", tmp_path / "run.h5")
    words = ("log", "export", tmp_path / "run.h5", "--to", kind, "--fields", "q,v")
    rows = succeed(*words).out
    words = ("inverse-dynamics", MODEL, "--vdot", "zero", "--states")
    piped = succeed(*words, "-", stdin=rows.encode("latin-1")).out
    assert piped == succeed(*words, tmp_path / "run.h5").out
    assert piped.count("\n") == 6


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_are_taken_from_the_header(separator):
    expected = succeed("gravity", MODEL, "--states", "-", stdin=STATES).out
    assert succeed("gravity", MODEL, "--states", "-", stdin=STATES.replace(",", separator)).out == expected
    decimal_commas = f"shoulder{separator}elbow\n1,5{separator}2\n"
    expected = succeed("gravity", MODEL, "--states", "-", stdin="shoulder,elbow\n1.5,2\n").out
    assert succeed("gravity", MODEL, "--states", "-", stdin=decimal_commas).out == expected


@pytest.mark.parametrize(
    ("states", "code", "message", "answered"),
    [
        ("", 3, "<stdin>:1: error: empty, expected a header with the names of the columns", 0),
        ("shoulder,elbow\n", 0, "mbcli: <stdin>:1: no rows follow this header", 0),
        (STATES + "2,1\n", 3, "<stdin>:4: error: 2 values, the header has 3 columns", 2),
        (STATES + "2,1,\n3,1,1\n", 3, "<stdin>:4: error: column 'elbow' has no value", 2),
        (STATES + "2,1,nan\n", 3, "<stdin>:4: error: column 'elbow': 'nan' is not a number", 2),
        ("time,shoulder,elbw\n0,0,0\n", 3, "; not known: 'elbw'; did you mean 'elbow'?", 0),
        ("shoulder,shoulder_q\n0,0\n", 3, "<stdin>:1: error: duplicate column 'shoulder_q'", 0),
        ("0,1,2\n", 3, "<stdin>:1: error: numbers where the names of the columns are expected", 0),
    ],
)
def test_what_is_wrong_in_a_pipe_is_one_line_after_the_rows_before(states, code, message, answered):
    result = cli("gravity", MODEL, "--states", "-", stdin=states)
    assert (result.code, result.out.count("\n")) == (code, answered)
    assert message in result.err and result.err.count("\n") == 1


def test_a_result_never_replaces_an_input(tmp_path):
    states, model = tmp_path / "states.csv", tmp_path / "arm.urdf"
    states.write_text(STATES)
    model.write_text(MODEL.read_text())
    before = states.read_text(), model.read_text()
    for output in (states, model):
        result = cli("gravity", model, "--states", states, "-o", output, "--force", "--format", "csv")
        assert result.code == 6 and "is an input of this command" in result.err
    assert (states.read_text(), model.read_text()) == before


def test_missing_states_and_formats_that_have_no_rows_are_noticed_before_anything_is_loaded(tmp_path):
    no_model = tmp_path / "nothing.urdf"
    missing = cli("gravity", no_model, "--states", tmp_path / "nothing.csv")
    assert missing.code == 4 and missing.err.endswith(
        "nothing.csv: error: cannot read the states: No such file or directory\n"
    )
    (tmp_path / "states.csv").write_text(STATES)
    document = cli("gravity", no_model, "--states", tmp_path / "states.csv", "--json")
    assert document.code == 2 and "--states gives rows" in document.err
    alone = cli("gravity", no_model, "--states-format", "csv")
    assert alone.code == 2 and "--states-format needs --states" in alone.err


def test_results_have_names_and_units_as_logs_have(tmp_path):
    (tmp_path / "states.csv").write_text(STATES)
    for command in ("mass-matrix", "gravity", "energy"):
        succeed(
            command, MODEL, "--states", tmp_path / "states.csv", "--fill", "default", "-o", tmp_path / f"{command}.h5"
        )
    with h5py.File(tmp_path / "mass-matrix.h5") as file:
        M = file["results/M"]
        assert M.shape == (2, 2, 2)
        assert M.attrs["names"].tolist() == [b"M[0,0]", b"M[0,1]", b"M[1,0]", b"M[1,1]"]
        assert M.attrs["units"].tolist() == [b"kg m2"] * 4
        assert file["results/time"].attrs["units"] == b"s"
    with h5py.File(tmp_path / "gravity.h5") as file:
        names = [name.decode() for name in file["results/tau_g"].attrs["names"]]
        assert names == ["tau_g:double_pendulum_shoulder_w", "tau_g:double_pendulum_elbow_w"]
        assert np.all(file["results/tau_g"].attrs["units"] == b"N m")
    with h5py.File(tmp_path / "energy.h5") as file:
        assert file["results/kinetic"].attrs["units"] == b"J"
