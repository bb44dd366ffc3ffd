"""The results of a batch: every format out, whole or not at all."""

import csv
import io
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
import zlib

import h5py
import numpy as np
import pytest

from mbcli.batch import result_writer
from mbcli.batch.result_writer import open_results
from mbcli.batch.state_layout import StateLayout
from mbcli.batch.state_reader import open_states
from mbcli.batch.writing_thread import MOST_WAITING, WRITER
from mbcli.errors import OutputError

METADATA = {
    "schema": "mbcli/mass-matrix",
    "schema_version": 1,
    "model": {"files": ["arm.urdf"], "sha256": "00ff"},
    "position_names": ["Schulter_ü", "関節"],
    "velocity_names": [],
}


def columns(rows: int, seed: int = 1) -> dict:
    random = np.random.default_rng(seed)
    exponents = random.integers(-300, 300, (rows, 3, 3))
    return {
        "time": np.arange(rows) * 0.1,
        "M": random.standard_normal((rows, 3, 3)) * 10.0**exponents,
        "tau": random.standard_normal((rows, 2)),
        "iterations": random.integers(-5, 5, rows),
        "converged": random.random(rows) < 0.5,
    }


def write(path, results: dict, sizes=None, **options) -> None:
    rows = len(next(iter(results.values())))
    with open_results(path, metadata=METADATA, **options) as writer:
        start = 0
        for size in sizes or [rows]:
            writer.write({name: array[start : start + size] for name, array in results.items()})
            start += size
        assert writer.row_count == rows == start


def read_json_lines(path) -> dict:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def read_csv(path) -> dict:
    with open(path, newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    table = dict(zip(header, zip(*rows, strict=True), strict=True))
    matrix = [[table[f"M[{i},{j}]"] for j in range(3)] for i in range(3)]
    return {
        "time": np.array(table["time"], float),
        "M": np.array(matrix, float).transpose(2, 0, 1),
        "tau": np.array([table["tau[0]"], table["tau[1]"]], float).T,
        "iterations": np.array(table["iterations"], int),
        "converged": np.array(table["converged"]) == "true",
    }


def read_npz(path) -> dict:
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    assert json.loads(arrays.pop("metadata").item()) == METADATA
    return arrays


def read_hdf5(path) -> dict:
    with h5py.File(path) as file:
        assert file.attrs["format"] == "mbcli-results"
        assert file.attrs["schema"] == METADATA["schema"]
        assert file.attrs["schema_version"] == 1
        assert json.loads(file.attrs["model"]) == METADATA["model"]
        assert list(file.attrs["position_names"]) == METADATA["position_names"]
        assert json.loads(file.attrs["velocity_names"]) == []
        return {name: dataset[:] for name, dataset in file["results"].items()}


def read_parquet(path) -> dict:
    return arrays_of_table(pytest.importorskip("pyarrow.parquet").read_table(path))


def read_arrow(path) -> dict:
    with pytest.importorskip("pyarrow.ipc").open_stream(path) as reader:
        return arrays_of_table(reader.read_all())


def arrays_of_table(table) -> dict:
    if not table.column_names:
        return {}
    about = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert about["schema"] == METADATA["schema"] and json.loads(about["model"]) == METADATA["model"]
    columns = {name: table[name].to_numpy() for name in table.column_names}
    matrix = [[columns[f"M[{i},{j}]"] for j in range(3)] for i in range(3)]
    return {
        "time": columns["time"],
        "M": np.array(matrix).transpose(2, 0, 1),
        "tau": np.array([columns["tau[0]"], columns["tau[1]"]]).T,
        "iterations": columns["iterations"],
        "converged": columns["converged"],
    }


READERS = {
    "jsonl": read_json_lines,
    "csv": read_csv,
    "npz": read_npz,
    "h5": read_hdf5,
    "parquet": read_parquet,
    "arrow": read_arrow,
}


# --- every format --------------------------------------------------------------------------------


@pytest.fixture(params=[result_writer.MANY_BYTES, 1], ids=["one thread", "two threads"])
def threads(request, monkeypatch):
    """Chunks are written as they come, or all of them by a second thread."""
    monkeypatch.setattr(result_writer, "MANY_BYTES", request.param)
    yield
    assert not [thread for thread in threading.enumerate() if thread.name == WRITER]


@pytest.mark.parametrize("sizes", [None, [1] * 20, [7, 0, 7, 6]])
@pytest.mark.parametrize("suffix", READERS)
def test_every_format_keeps_every_number_and_the_order(suffix, sizes, tmp_path, threads):
    path = tmp_path / f"results.{suffix}"
    results = columns(20)
    write(path, results, sizes)
    read = READERS[suffix](path)
    assert set(read) == set(results)
    for name, array in results.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", READERS)
def test_chunking_does_not_change_the_file(suffix, tmp_path, threads):
    results = columns(20)
    write(tmp_path / f"a.{suffix}", results)
    write(tmp_path / f"b.{suffix}", results, [3, 17])
    if suffix == "arrow":  # a stream has its batches as they came
        for name in ("a", "b"):
            np.testing.assert_array_equal(read_arrow(tmp_path / f"{name}.arrow")["M"], results["M"])
    elif suffix != "h5":
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    else:
        second = None
        while second != int(time.time()):  # HDF5 notes it
            second = int(time.time())
            for name in ("b.h5", "c.h5"):
                (tmp_path / name).unlink(missing_ok=True)
                write(tmp_path / name, results, [3, 17])
        assert (tmp_path / "b.h5").read_bytes() == (tmp_path / "c.h5").read_bytes()


@pytest.mark.parametrize("suffix", ["csv", "npz", "h5"])
def test_a_chunk_without_rows_keeps_the_columns(suffix, tmp_path):
    path = tmp_path / f"results.{suffix}"
    write(path, {name: array[:0] for name, array in columns(1).items()})
    if suffix == "csv":
        assert path.read_text().startswith('time,"M[0,0]","M[0,1]"')
    else:
        assert READERS[suffix](path)["M"].shape == (0, 3, 3)


@pytest.mark.parametrize("suffix", READERS)
def test_a_batch_without_chunks_gives_a_file_without_rows(suffix, tmp_path):
    path = tmp_path / f"results.{suffix}"
    with open_results(path, metadata=METADATA):
        pass
    if suffix in ("jsonl", "csv"):
        assert path.read_bytes() == b""
    else:
        assert READERS[suffix](path) == {}


def test_the_text_of_json_lines_and_csv(tmp_path):
    results = {
        "n": np.array([1, 2]),
        "ü": np.array([[0.1, 1e300], [-0.0, 5e-324]]),
        "M": np.array([[[1.0]], [[1e16]]]),
    }
    write(tmp_path / "a.jsonl", results)
    text = (tmp_path / "a.jsonl").read_text(encoding="utf-8").replace("e+", "e")  # as the version of its writer has it
    assert text == '{"n":1,"ü":[0.1,1e300],"M":[[1.0]]}\n{"n":2,"ü":[-0.0,5e-324],"M":[[1e16]]}\n'
    write(tmp_path / "a.csv", results)
    text = (tmp_path / "a.csv").read_text(encoding="utf-8").replace("e+", "e")
    assert text == 'n,ü[0],ü[1],"M[0,0]"\n1,0.1,1e300,1.0\n2,-0.0,5e-324,1e16\n'


def test_csv_results_under_the_names_of_the_model_are_states_again(tmp_path):
    path = tmp_path / "forces.csv"
    names = ("ellbow", "slide, left")
    q, tau = np.random.default_rng(4).standard_normal((2, 30, 2))
    component_names = {"q": names, "tau": [f"tau:{name}" for name in names]}
    write(path, {"q": q, "tau": tau}, [13, 17], component_names=component_names)
    layout = StateLayout(names, names, (), [0, 0], [0, 0])
    with pytest.raises(RuntimeError, match="'ellbow' is ambiguous"):
        next(open_states(path, layout))
    layout = StateLayout(names, [f"{name}_w" for name in names], (), [0, 0], [0, 0])
    (chunk,) = open_states(path, layout)
    np.testing.assert_array_equal(chunk.tau, tau)
    component_names["tau"] = [f"tau:{name}_w" for name in names]
    write(path, {"q": q, "tau": tau}, [13, 17], component_names=component_names, force=True)
    (chunk,) = open_states(path, layout)
    np.testing.assert_array_equal(chunk.q, q)
    np.testing.assert_array_equal(chunk.tau, tau)


@pytest.mark.parametrize("suffix", ["jsonl", "npz"])
def test_results_called_like_states_are_states_again(suffix, tmp_path):
    path = tmp_path / f"states.{suffix}"
    q, v = np.random.default_rng(4).standard_normal((2, 30, 2))
    with open_results(path) as writer:
        writer.write({"q": q, "v": v})
    if suffix == "npz":
        with np.load(path) as archive:
            np.savez(path, q=archive["q"], v=archive["v"])
    (chunk,) = open_states(path, StateLayout("ab", "cd", (), [0, 0], [0, 0]))
    np.testing.assert_array_equal(chunk.q, q)
    np.testing.assert_array_equal(chunk.v, v)


def test_names_longer_than_an_old_hdf5_attribute(tmp_path):
    names = [f"a_rather_long_name_of_a_joint_{index}" for index in range(5000)]
    with open_results(tmp_path / "a.h5", metadata={"position_names": names, "text": "x" * 100_000}):
        pass
    with h5py.File(tmp_path / "a.h5") as file:
        assert list(file.attrs["position_names"]) == names
        assert len(file.attrs["text"]) == 100_000


# --- numbers that are not finite -----------------------------------------------------------------


def not_finite() -> dict:
    matrix = np.ones((4, 2, 2))
    matrix[2, 0, 1], matrix[3, 1, 1] = np.nan, -np.inf
    return {"E": np.array([0.0, 1, 2, np.inf]), "M": matrix}


def test_json_writes_null_and_warns_once(tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    write(path, not_finite(), [1, 2, 1])
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[2] == {"E": 2.0, "M": [[1.0, None], [1.0, 1.0]]}
    assert rows[3] == {"E": None, "M": [[1.0, 1.0], [1.0, None]]}
    captured = capsys.readouterr()
    expected = f"{path}: warning: row 2: M is not finite; such values are written as null\n"
    assert (captured.out, captured.err) == ("", expected)


def test_the_warning_can_go_elsewhere(tmp_path, capsys):
    lines = []
    write(tmp_path / "a.jsonl", not_finite(), warn=lines.append)
    assert len(lines) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("suffix", ["csv", "npz", "h5"])
def test_the_other_formats_keep_what_is_not_finite(suffix, tmp_path, capsys):
    path = tmp_path / f"a.{suffix}"
    write(path, not_finite())
    if suffix == "csv":
        read = {"M": np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:].reshape(4, 2, 2)}
    else:
        read = READERS[suffix](path)
    np.testing.assert_array_equal(read["M"], not_finite()["M"])
    assert capsys.readouterr().err == ""


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", READERS)
def test_a_file_that_exists_is_not_touched_without_force(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    path.write_text("precious")
    with pytest.raises(OutputError, match="exists already; force=True overwrites it") as caught:
        open_results(path)
    assert caught.value.exit_code == 6
    assert path.read_text() == "precious"
    write(path, columns(3), force=True)
    np.testing.assert_array_equal(READERS[suffix](path)["M"], columns(3)["M"])
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", READERS)
def test_after_an_error_nothing_stays_and_the_old_file_is_whole(suffix, tmp_path, threads):
    path = tmp_path / f"a.{suffix}"
    for force in (False, True):
        with pytest.raises(KeyboardInterrupt), open_results(path, force=force) as writer:
            writer.write(columns(5))
            assert path.exists() == force
            raise KeyboardInterrupt
        assert os.listdir(tmp_path) == ([path.name] if force else [])
        path.write_text("precious")
    assert path.read_text() == "precious"


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "a.csv"
    with pytest.raises(OutputError, match="exists already"), open_results(path) as writer:
        writer.write(columns(2))
        path.write_text("someone else's")
    assert path.read_text() == "someone else's"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_what_cannot_be_written_is_an_output_error(tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(OutputError, match=r"a\.csv: error: is a directory"):
        open_results(tmp_path / "a.csv", force=True)
    with pytest.raises(OutputError, match=r"cannot be written: No such file or directory"):
        open_results(tmp_path / "missing" / "a.csv")
    with pytest.raises(OutputError, match=r"the suffix '\.txt' is not that of a format: use \.csv, "):
        open_results(tmp_path / "a.txt")
    assert os.listdir(tmp_path) == ["a.csv"]


def test_the_format_may_differ_from_the_suffix(tmp_path):
    write(tmp_path / "a.txt", columns(2), format="jsonl")
    assert len(read_json_lines(tmp_path / "a.txt")["M"]) == 2
    with pytest.raises(ValueError, match="unknown output format 'xml'"):
        open_results(tmp_path / "a.csv", "xml")


def test_a_link_is_replaced_and_the_file_it_names_is_as_it_was(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write(tmp_path / "link.csv", {"a": np.ones(1)}, force=True)
    assert not (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "link.csv").read_text() == "a\n1.0\n"
    assert (tmp_path / "real.csv").read_text() == "old"


@pytest.mark.parametrize("format", ["jsonl", "csv", "npz", "hdf5", "parquet", "arrow"])
def test_a_device_is_written_to_and_not_replaced(format):
    write(os.devnull, columns(3), format=format)
    assert not os.path.isfile(os.devnull)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("format", ["jsonl", "csv", "npz", "hdf5", "parquet", "arrow"])
def test_a_full_disk_is_an_output_error(format):
    with pytest.raises(OutputError, match="/dev/full: error: cannot be written: No space left on device"):
        write("/dev/full", columns(3), format=format)


FILLS_DISK = """
import resource, signal, sys
import numpy as np
from mbcli.batch import result_writer
from mbcli.batch.result_writer import open_results
from mbcli.errors import OutputError
result_writer.MANY_BYTES = int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))
try:
    with open_results(sys.argv[1]) as writer:
        for _ in range(40):
            writer.write({"a": np.random.default_rng(1).random((100, 36, 36))})
except OutputError as error:
    print(error)
"""


@pytest.mark.parametrize("many_bytes", [1, 1 << 30], ids=["two threads", "one thread"])
@pytest.mark.parametrize("suffix", READERS)
def test_a_disk_that_fills_up_leaves_no_file_and_one_line(suffix, many_bytes, tmp_path):
    path = tmp_path / f"a.{suffix}"
    done = subprocess.run([sys.executable, "-c", FILLS_DISK, path, str(many_bytes)], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{path}: error: cannot be written: File too large\n", "")
    assert done.returncode == 0
    assert os.listdir(tmp_path) == []


def test_files_have_the_permissions_of_the_user(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.csv", columns(1))
    finally:
        os.umask(before)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o640


def test_metadata_that_cannot_be_written_leaves_no_file(tmp_path):
    with pytest.raises(TypeError):
        open_results(tmp_path / "a.npz", metadata={"model": object()})
    with pytest.raises(TypeError):
        open_results(tmp_path / "a.h5", metadata={"model": object()})
    assert os.listdir(tmp_path) == []


# --- chunks that do not fit ----------------------------------------------------------------------

MISFITS = [
    ({"a": np.ones(2), "M": np.ones((3, 2, 2))}, "columns of different lengths"),
    ({"a": np.ones(2)}, "differ from the first chunk's"),
    ({"M": np.ones((2, 2, 2)), "a": np.ones(2)}, "differ from the first chunk's"),
    ({"a": np.ones(2), "M": np.ones((2, 3, 2))}, "differ from the first chunk's"),
    ({"a": np.ones(2, int), "M": np.ones((2, 2, 2))}, "differ from the first chunk's"),
    ({"a": np.ones(2), "M": np.array(1.0)}, r"'M' is float64 of shape \(\)"),
    ({"a": np.ones(2), "M": np.ones((2, 2, 2), complex)}, "'M' is complex128"),
]


@pytest.mark.parametrize(("chunk", "message"), MISFITS)
def test_a_chunk_that_does_not_fit_is_refused(chunk, message, tmp_path):
    with pytest.raises(ValueError, match=message), open_results(tmp_path / "a.npz") as writer:
        writer.write({"a": np.ones(2), "M": np.ones((2, 2, 2))})
        writer.write(chunk)
    assert os.listdir(tmp_path) == []


def test_component_names_must_fit_and_differ(tmp_path):
    for names, message in ((["x"], "1 component names for column 'a'"), (["x", "x"], "same name")):
        with pytest.raises(ValueError, match=message):
            write(tmp_path / "a.csv", {"a": np.ones((1, 2))}, component_names={"a": names})


def test_what_stops_the_second_thread_stops_the_batch_soon(tmp_path, monkeypatch):
    """Rows that cannot be written are not computed for ever."""
    monkeypatch.setattr(result_writer, "MANY_BYTES", 1)
    with pytest.raises(OutputError, match="cannot be written: full"), open_results(tmp_path / "a.csv") as writer:
        writer.write(columns(1))
        writer._encoder.rows = lambda arrays, first_row: raise_error(OSError("full"))
        for _ in range(100):
            writer.write(columns(1))
    assert writer.row_count <= 2 + 2 * MOST_WAITING
    assert os.listdir(tmp_path) == []


def raise_error(error):
    raise error


def test_rows_wait_for_a_slow_disk(tmp_path, monkeypatch):
    """No more than a few chunks are in memory, however slowly they are written."""
    monkeypatch.setattr(result_writer, "MANY_BYTES", 1)
    begun, ended, ahead = 0, 0, []
    with open_results(tmp_path / "a.csv") as writer:
        rows = writer._encoder.rows

        def slowly(arrays, first_row):
            nonlocal ended
            time.sleep(0.002)
            rows(arrays, first_row)
            ended += 1

        writer._encoder.rows = slowly
        for _ in range(30):
            writer.write(columns(1))
            begun += 1
            ahead.append(begun - ended)
    assert 1 < max(ahead) <= MOST_WAITING + 1
    assert ended == 30


def test_a_column_cannot_hide_the_metadata(tmp_path):
    with pytest.raises(ValueError, match="cannot be called 'metadata'"):
        write(tmp_path / "a.npz", {"metadata": np.ones(2)})


# --- standard output and pipes -------------------------------------------------------------------

TO_STDOUT = """
import sys
import numpy as np
from mbcli.batch.result_writer import open_results
with open_results("-", sys.argv[1] or None) as writer:
    for row in range(int(sys.argv[2])):
        writer.write({"a": np.array([float(row)]), "M": np.full((1, 2, 2), 0.5)})
        if len(sys.argv) > 3:
            sys.stdin.readline()
"""


def run(*arguments, **options):
    command = [sys.executable, "-c", TO_STDOUT, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_each_chunk_leaves_stdout_before_the_next():
    with run("", "3", "wait", stdin=subprocess.PIPE) as process:
        for row in range(3):
            line = process.stdout.readline()
            assert json.loads(line) == {"a": row, "M": [[0.5, 0.5], [0.5, 0.5]]}
            process.stdin.write(b"\n")
            process.stdin.flush()


def test_binary_formats_go_through_a_pipe():
    with run("npz", "3") as process:
        data, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    np.testing.assert_array_equal(np.load(io.BytesIO(data))["a"], [0, 1, 2])
    with run("hdf5", "3") as process:
        data, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    with h5py.File(io.BytesIO(data)) as file:
        np.testing.assert_array_equal(file["results/a"], [0, 1, 2])


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_closed_pipe_reaches_the_caller(format):
    with run(format, "100000") as process:
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert b"\nBrokenPipeError" in errors
    assert b"OutputError" not in errors


def test_a_closed_named_pipe_reaches_the_caller(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: open(path, "rb").close())
    reader.start()
    with pytest.raises(BrokenPipeError), open_results(path) as writer:
        reader.join()
        for _ in range(100):
            writer.write(columns(100))


def test_binary_formats_refuse_a_terminal():
    controlling, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", TO_STDOUT, "npz", "1"], stdout=terminal, stderr=subprocess.PIPE
    ) as process:
        errors = process.stderr.read()
    os.close(terminal)
    os.close(controlling)
    assert b"OutputError: npz is not for a terminal: give -o FILE or redirect stdout" in errors


# --- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", READERS)
def test_memory_does_not_grow_with_the_number_of_rows(suffix, tmp_path, threads):
    def peak(chunks):
        chunk = columns(200)
        tracemalloc.start()
        with open_results(tmp_path / f"{chunks}.{suffix}") as writer:
            for _ in range(chunks):
                writer.write(chunk)
        _, size = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return size

    peak(1)
    few, many = peak(4), peak(40)
    # 36 chunks of 20 kB more have been written
    assert many < few + 100_000
    if suffix != "parquet":  # which has equal numbers once
        assert (tmp_path / f"40.{suffix}").stat().st_size > 700_000


@pytest.mark.parametrize("chunks", [[1], [9, 1], [70_000, 30_000, 7]])
def test_the_first_column_of_an_archive_is_written_at_once_and_gets_its_length_and_checksum_at_the_end(
    chunks, tmp_path
):
    path, numbers = tmp_path / "a.npz", np.random.default_rng(1).random((sum(chunks), 3))
    with open_results(path) as writer:
        for first, count in zip(np.cumsum([0, *chunks]), chunks, strict=False):
            rows = numbers[first : first + count]
            writer.write({"tau": rows, "norm": rows[:, 0]})
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        info = archive.getinfo("tau.npy")
        assert zlib.crc32(archive.read("tau.npy")) == info.CRC
    local = path.read_bytes()[info.header_offset :]
    assert int.from_bytes(local[14:18], "little") == info.CRC
    with np.load(path) as arrays:
        np.testing.assert_array_equal(arrays["tau"], numbers)
        np.testing.assert_array_equal(arrays["norm"], numbers[:, 0])


def test_an_archive_for_numpy_is_plain_zip(tmp_path):
    write(tmp_path / "a.npz", columns(3))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [f"{name}.npy" for name in columns(1)] + ["metadata.npy"]
