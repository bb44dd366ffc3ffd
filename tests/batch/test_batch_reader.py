"""The states of a batch: every format in, chunk by chunk, with the place of every error."""

import contextlib
import io
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from mbcli.batch import arriving_bytes, csv_states, number_lines
from mbcli.batch.number_lines import NumberLines
from mbcli.batch.reading_thread import MOST_WAITING, READER, read_ahead
from mbcli.batch.state_layout import StateLayout
from mbcli.batch.state_reader import open_states
from mbcli.errors import ModelError, ResourceError

LAYOUT = StateLayout(
    position_names=("base_qw", "arm_q", "slide_x"),
    velocity_names=("arm_w", "slide_v"),
    actuator_names=("motor",),
    default_q=[1.0, 0.25, 0.5],
    default_v=[0.0, -1.0],
)
FIELDS = ("q", "v", "vdot", "tau", "u", "time")


class Pipe(io.RawIOBase):
    """Bytes that cannot be sought and arrive in pieces of the given size."""

    def __init__(self, data: bytes, piece: int = 7):
        self._data, self._piece, self._at = data, piece, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        size = min(len(buffer), self._piece, len(self._data) - self._at)
        buffer[:size] = self._data[self._at : self._at + size]
        self._at += size
        return size


def read_all(source, layout=LAYOUT, **options) -> dict:
    """All chunks of a batch joined: {field: array or None}."""
    if isinstance(source, bytes):
        source = io.BytesIO(source)
    chunks = list(open_states(source, layout, **options))
    row = 0
    for chunk in chunks:
        assert chunk.first_row == row
        assert len(chunk) == len(chunk.q) == len(chunk.v) > 0
        row += len(chunk)
    joined = {}
    for field in FIELDS:
        parts = [getattr(chunk, field) for chunk in chunks]
        assert all(part is None for part in parts) or all(part is not None for part in parts)
        joined[field] = np.concatenate(parts) if parts and parts[0] is not None else None
    return joined


def error_of(source, layout=LAYOUT, **options) -> str:
    with pytest.raises(ModelError) as caught:
        read_all(source, layout, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def random_fields(rows: int, seed: int = 1) -> dict:
    random = np.random.default_rng(seed)
    sizes = {"q": 3, "v": 2, "vdot": 2, "tau": 2, "u": 1}
    fields = {field: random.standard_normal((rows, size)) * 1e3 for field, size in sizes.items()}
    return fields | {"time": np.arange(rows) * 0.001}


def to_csv(fields: dict, newline: str = "\n") -> bytes:
    header = [*LAYOUT.position_names, *LAYOUT.velocity_names]
    header += [f"{field}:{name}" for field in ("vdot", "tau") for name in LAYOUT.velocity_names]
    header += ["u:motor", "time"]
    table = np.column_stack([fields[field] for field in FIELDS])
    lines = [",".join(header)] + [",".join(map(repr, row)) for row in table.tolist()]
    return (newline.join(lines) + newline).encode()


def to_json_lines(fields: dict) -> bytes:
    rows = zip(*(fields[field].tolist() for field in FIELDS), strict=True)
    return "".join(json.dumps(dict(zip(FIELDS, row, strict=True))) + "\n" for row in rows).encode()


def to_npz(fields: dict, save=np.savez) -> bytes:
    data = io.BytesIO()
    save(data, **fields)
    return data.getvalue()


def to_table(fields: dict):
    pyarrow = pytest.importorskip("pyarrow")
    header, *lines = to_csv(fields).decode().splitlines()
    columns = np.array([line.split(",") for line in lines], float).T
    return pyarrow.table(dict(zip(header.split(","), columns, strict=True)))


def to_arrow(fields: dict, kind="new_stream") -> bytes:
    data, table = io.BytesIO(), to_table(fields)
    with getattr(pytest.importorskip("pyarrow.ipc"), kind)(data, table.schema) as writer:
        writer.write_table(table, max_chunksize=8)
    return data.getvalue()


def to_parquet(fields: dict) -> bytes:
    data = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(to_table(fields), data, row_group_size=9)
    return data.getvalue()


WRITERS = {
    "csv": to_csv,
    "csv with CRLF": lambda fields: to_csv(fields, "\r\n"),
    "jsonl": to_json_lines,
    "npz": to_npz,
    "compressed npz": lambda fields: to_npz(fields, np.savez_compressed),
    "arrow": to_arrow,
    "arrow file": lambda fields: to_arrow(fields, "new_file"),
    "parquet": to_parquet,
}


# --- every format --------------------------------------------------------------------------------


@pytest.mark.parametrize("rows_per_chunk", [1, 7, 50, 1024])
@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_written_numbers_exactly_and_in_order(kind, rows_per_chunk):
    fields = random_fields(50)
    read = read_all(WRITERS[kind](fields), rows_per_chunk=rows_per_chunk)
    for field in FIELDS:
        np.testing.assert_array_equal(read[field], fields[field])
        assert read[field].dtype == np.float64


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_is_recognized_by_content_in_a_pipe_of_small_pieces(kind):
    fields = random_fields(20)
    read = read_all(io.BufferedReader(Pipe(WRITERS[kind](fields))))
    for field in FIELDS:
        np.testing.assert_array_equal(read[field], fields[field])


@pytest.mark.parametrize("rows_per_chunk", [1, 7, 10])
def test_chunks_of_a_file_are_full_but_the_last(rows_per_chunk, tmp_path):
    fields = random_fields(25)
    for suffix, kind in (("csv", "csv"), ("jsonl", "jsonl"), ("npz", "npz")):
        path = tmp_path / f"states.{suffix}"
        path.write_bytes(WRITERS[kind](fields))
        lengths = [len(chunk) for chunk in open_states(path, LAYOUT, rows_per_chunk=rows_per_chunk)]
        assert sum(lengths) == 25
        # the header of a CSV file is a line of its first chunk
        assert max(lengths) == rows_per_chunk >= lengths[0] >= rows_per_chunk - 1
        assert set(lengths[1:-1]) == {rows_per_chunk}


def test_the_option_beats_the_suffix_and_the_suffix_beats_the_content(tmp_path):
    path = tmp_path / "states.csv"
    path.write_bytes(b'{"q": [1, 2, 3]}\n')
    assert "unknown column" in error_of(path)
    np.testing.assert_array_equal(read_all(path, input_format="jsonl")["q"], [[1, 2, 3]])


def test_a_missing_file_is_a_resource_error(tmp_path):
    with pytest.raises(ResourceError, match=r"nothing\.csv: error: cannot read the states: No such file"):
        open_states(tmp_path / "nothing.csv", LAYOUT)
    with pytest.raises(ResourceError, match="Is a directory"):
        open_states(tmp_path, LAYOUT)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="unknown input format 'xml'"):
        open_states(io.BytesIO(b""), LAYOUT, input_format="xml")
    with pytest.raises(ValueError, match="rows_per_chunk is 0"):
        open_states(io.BytesIO(b""), LAYOUT, rows_per_chunk=0)
    with pytest.raises(ValueError, match=r"default_q has shape \(1,\), expected \(2,\)"):
        StateLayout(("a", "b"), (), (), [0.0], [])


# --- defaults and names --------------------------------------------------------------------------


def test_missing_columns_have_the_defaults_of_the_model():
    read = read_all(b"slide_x,u:motor\n7,1\n8,2\n")
    np.testing.assert_array_equal(read["q"], [[1.0, 0.25, 7], [1.0, 0.25, 8]])
    np.testing.assert_array_equal(read["v"], [[0, -1], [0, -1]])
    np.testing.assert_array_equal(read["u"], [[1], [2]])
    assert read["vdot"] is read["tau"] is read["time"] is None


def test_a_force_given_in_part_is_zero_elsewhere():
    np.testing.assert_array_equal(read_all(b"tau:slide_v\n3\n")["tau"], [[0, 3]])
    np.testing.assert_array_equal(read_all(b'{"tau": {"slide_v": 3}}')["tau"], [[0, 3]])


def test_json_rows_take_arrays_objects_and_names_in_any_row():
    lines = [
        {"q": [1, 2, 3], "v": [4, 5]},
        {"positions": {"arm_q": 2}, "velocities": {"slide_v": 5}},
        {"arm_q": 2, "v:slide_v": 5},
        {"slide_x": 9, "q": {"arm_q": 8}},
        {"q": {"arm_q": 8}, "slide_x": 9},
        {},
    ]
    read = read_all("\n".join(map(json.dumps, lines)).encode())
    expected_q = [[1, 2, 3], [1, 2, 0.5], [1, 2, 0.5], [1, 8, 9], [1, 8, 9], [1, 0.25, 0.5]]
    np.testing.assert_array_equal(read["q"], expected_q)
    np.testing.assert_array_equal(read["v"], [[4, 5], [0, 5], [0, 5], [0, -1], [0, -1], [0, -1]])


def test_the_defaults_are_not_changed_by_reading():
    read = read_all(b'{"arm_q": 5}\n{"q": {"base_qw": 3}}\n{}\n')
    np.testing.assert_array_equal(read["q"][2], LAYOUT.default_q)
    np.testing.assert_array_equal(LAYOUT.default_q, [1.0, 0.25, 0.5])


def test_json_in_long_names_equals_json_in_short_names():
    fields = random_fields(5)
    text = to_json_lines(fields)
    for short, long in (("q", "positions"), ("v", "velocities"), ("tau", "forces"), ("u", "actuation")):
        text = text.replace(f'"{short}"'.encode(), f'"{long}"'.encode())
    read = read_all(text)
    for field in FIELDS:
        np.testing.assert_array_equal(read[field], fields[field])


def test_a_name_of_a_position_and_a_velocity_must_say_which():
    layout = StateLayout(("slide",), ("slide",), (), [0.0], [0.0])
    read = read_all(b"v:slide,q:slide\n1,2\n", layout)
    assert (read["q"].item(), read["v"].item()) == (2, 1)
    assert error_of(b"slide\n1\n", layout).endswith("column 'slide' is ambiguous: it can mean q:slide, v:slide")


def test_names_in_unicode_with_commas_and_a_byte_order_mark():
    layout = StateLayout(("Schulter_ü", "関節,1"), (), (), [0.0, 0.0], [])
    for text in ('\ufeffSchulter_ü,"関節,1"\n1,2\n', '\ufeff{"Schulter_ü": 1, "関節,1": 2}\n'):
        for source in (io.BytesIO(text.encode()), io.BufferedReader(Pipe(text.encode(), 1))):
            np.testing.assert_array_equal(read_all(source, layout)["q"], [[1, 2]])


def test_a_header_longer_than_any_buffer():
    names = [f"joint_with_a_long_name_{index}_q" for index in range(60_000)]
    layout = StateLayout(names, (), (), np.zeros(len(names)), [])
    data = (",".join(names) + "\n" + ",".join(map(str, range(len(names)))) + "\n").encode()
    assert len(data) > 2 * arriving_bytes.READ_SIZE - 500_000
    for source in (io.BytesIO(data), io.BufferedReader(Pipe(data, 65536))):
        np.testing.assert_array_equal(read_all(source, layout)["q"][0], np.arange(len(names)))


def test_a_model_without_coordinates_still_counts_rows():
    layout = StateLayout((), (), (), [], [])
    assert read_all(b"time\n1\n2\n", layout)["q"].shape == (2, 0)
    assert read_all(b'{"q": []}\n{}\n', layout)["q"].shape == (2, 0)


# --- nothing to read -----------------------------------------------------------------------------


def test_an_input_without_rows_gives_no_chunk():
    assert list(open_states(io.BytesIO(b"arm_q\n"), LAYOUT)) == []
    assert list(open_states(io.BytesIO(b"\n\n"), LAYOUT, input_format="jsonl")) == []
    assert list(open_states(io.BytesIO(to_npz({"q": np.empty((0, 3))})), LAYOUT)) == []


@pytest.mark.parametrize("data", [b"", b"\n \r\n\n", b"\xef\xbb\xbf"])
def test_an_empty_input_has_no_header(data):
    assert error_of(data) == "<stream>:1: error: empty, expected a header with the names of the columns"


# --- bad rows ------------------------------------------------------------------------------------

BAD_CSV = [
    ("1,2\n3,x", 3, "column 'arm_w': 'x' is not a number"),
    ("1,2\n\n  \n3,nan", 5, "column 'arm_w': 'nan' is not a number"),
    ("inf,2", 2, "column 'arm_q': 'inf' is not a number"),
    ("1_000,2", 2, "column 'arm_q': '1_000' is not a number"),
    ("0x10,2", 2, "column 'arm_q': '0x10' is not a number"),
    ("1e999,2", 2, "column 'arm_q': '1e999' is too large"),
    ("1 2,3", 2, "column 'arm_q': '1 2' is not a number"),
    ("1-2,3", 2, "column 'arm_q': '1-2' is not a number"),
    (".,3", 2, "column 'arm_q': '.' is not a number"),
    ("１,3", 2, "column 'arm_q': '１' is not a number"),
    ("1,\n", 2, "column 'arm_w' has no value"),
    (",,", 2, "3 values, the header has 2 columns"),
    ("1,2\n1", 3, "1 values, the header has 2 columns"),
    ("1\n1", 2, "1 values, the header has 2 columns"),
    ("1,2,3", 2, "3 values, the header has 2 columns"),
    ("1,2,", 2, "3 values, the header has 2 columns"),
    ('"1,2', 2, "not CSV: unexpected end of data"),
    ("1,\x1b[31m", 2, r"column 'arm_w': '\x1b[31m' is not a number"),
    ("1,\x00", 2, r"column 'arm_w': '\x00' is not a number"),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("rows", "line", "message"), BAD_CSV)
def test_a_bad_value_in_csv_is_named_by_line_and_column(rows, line, message, newline, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(("arm_q,arm_w\n" + rows).replace("\n", newline).encode())
    for rows_per_chunk in (1, 1024):
        assert error_of(path, rows_per_chunk=rows_per_chunk) == f"{path}:{line}: error: {message}"


def test_a_line_that_is_not_utf8_is_named():
    expected = "<stream>:3: error: byte 3 of the line is not UTF-8"
    assert error_of(b"arm_q,arm_w\n1,2\n1,\xff\n") == expected
    assert error_of(b'{"arm_q": 1}\n\n1,\xff\n') == expected


BAD_HEADERS = [
    ("knee,elbow\n", "unknown column 'knee'"),
    ("elbow,slide_y\n", "unknown column 'elbow'"),
    ("slide_y,elbow\n", "unknown column 'slide_y'; did you mean 'slide_x'?"),
    ("arm_q,tau:arm_q\n", "unknown column 'tau:arm_q'; did you mean 'tau:arm_w'?"),
    ("arm_q,time,arm_q\n", "duplicate column 'arm_q'"),
    ("arm_q,q:arm_q\n", "duplicate column 'q:arm_q' ('arm_q' is the same)"),
    ("arm_q,\n", "column 2 has no name"),
    ("1.0,2e-3\n", "numbers where the names of the columns are expected"),
    ('"arm_q\n', "not CSV: unexpected end of data"),
]


@pytest.mark.parametrize(("header", "message"), BAD_HEADERS)
def test_a_bad_header_is_refused_at_its_line(header, message):
    assert error_of(f"\n{header}1,2\n".encode()) == f"<stream>:2: error: {message}"


BAD_JSON = [
    ('{"q": [1, 2]}', "", "q has 2 values, the model has 3"),
    ('{"q": [1, 2, NaN]}', "", "NaN is not a number of JSON"),
    ('{"q": [1, 2, Infinity]}', "", "Infinity is not a number of JSON"),
    ('{"q": [1, 2, 1e999]}', "", "q[2] ('slide_x') is too large"),
    ('{"q": [1, 1' + 400 * "0" + ", 2]}", "", "q[1] ('arm_q') is too large"),
    ('{"q": [1, "2", 3]}', "", "q[1] ('arm_q') is a string, expected a number"),
    ('{"q": [1, true, 3]}', "", "q[1] ('arm_q') is true or false, expected a number"),
    ('{"q": [1, null, 3]}', "", "q[1] ('arm_q') is null, expected a number"),
    ('{"q": [1, [2], 3]}', "", "q[1] ('arm_q') is an array, expected a number"),
    ('{"q": 1}', "", "q is a number, expected an array or an object"),
    ('{"q": {"arn_q": 1}}', "", "q has no component 'arn_q'; did you mean 'arm_q'?"),
    ('{"q": {"arm_q": "1"}}', "", "'arm_q' is a string, expected a number"),
    ('{"arm_q": []}', "", "'arm_q' is an array, expected a number"),
    ('{"time": false}', "", "'time' is true or false, expected a number"),
    ('{"q": [1, 2, 3], "arm_q": 1}', "", "'arm_q' is given a second time"),
    ('{"arm_q": 1, "q": [1, 2, 3]}', "", "'q' gives q a second time"),
    ('{"arm_q": 1, "q": {"arm_q": 1}}', "", "'arm_q' is given a second time"),
    ('{"q": [1, 2, 3], "positions": [1, 2, 3]}', "", "'positions' gives q a second time"),
    ('{"arm_q": 1, "arm_q": 1}', "", "duplicate key 'arm_q'"),
    ('{"veloc": []}', "", "unknown column 'veloc'"),
    ("[1, 2, 3]", "", "expected one JSON object per line, got an array"),
    ('{"q": [1, 2, 3]', ":16", "not JSON: Expecting ',' delimiter"),
    ('{"q": [1, 2, 3]} {}', ":18", "not JSON: Extra data"),
    ('{"q": ' + 100_000 * "[", "", "nested too deeply"),
    ('{"vdot": [1, 2]}', "", "this row has vdot, the rows before it did not have"),
]


@pytest.mark.parametrize(("line", "column", "message"), BAD_JSON)
def test_a_bad_json_row_is_named_by_its_line(line, column, message):
    data = f'{{"q": [1, 2, 3]}}\r\n\r\n{line}\r\n'.encode()
    assert error_of(data, input_format="jsonl") == f"<stream>:3{column}: error: {message}"


def test_a_field_that_rows_before_had_may_not_go_missing():
    data = b'{"u": [1], "time": 0}\n{"u": [1]}\n'
    assert error_of(data) == "<stream>:2: error: this row does not have time, the rows before it had"


@pytest.mark.parametrize("rows_per_chunk", [1, 3, 1024])
def test_the_rows_before_a_bad_row_are_delivered(rows_per_chunk):
    not_finite = np.array([[1.0, 0, 0], [2, 0, 0], [3, 0, 0], [4, 0, 0], [5, np.nan, 0], [6, 0, 0]])
    sources = [
        b"base_qw\n1\n2\n3\n4\nbad\n6\n",
        b"".join(b'{"base_qw": %d}\n' % row for row in (1, 2, 3, 4)) + b"bad\n",
        to_npz({"q": not_finite}),
    ]
    for source in sources:
        rows = []
        with pytest.raises(ModelError):
            for chunk in open_states(io.BytesIO(source), LAYOUT, rows_per_chunk=rows_per_chunk):
                rows += chunk.q[:, 0].tolist()
        assert rows == [1, 2, 3, 4]


def test_numbers_in_quotes_and_spaces_are_read():
    read = read_all(b'"arm_q", "arm_w"\n"1.5","2"\n 1. ,\t.5 \n+1E2,-0\r\n')
    np.testing.assert_array_equal(read["q"][:, 1], [1.5, 1, 100])
    np.testing.assert_array_equal(read["v"][:, 0], [2, 0.5, 0])
    assert np.signbit(read["v"][2, 0])


def test_the_quick_and_the_careful_look_at_csv_agree(monkeypatch):
    random = np.random.default_rng(5)
    tokens = [
        "1",
        "-2.5",
        ".5",
        "1.",
        "+3e-2",
        "1e",
        "e1",
        "--1",
        "",
        " 4",
        "5\t",
        "+",
        ".",
        "1e400",
        "1 1",
        "0",
    ]
    layout = StateLayout(("a", "b"), (), (), [0.0, 0.0], [])
    num_alike = 0
    for _ in range(1000):
        lines = [",".join(random.choice(tokens, random.choice([2, 2, 2, 3]))) for _ in range(2)]
        num_alike += same_with_and_without_kernel("\n".join(["a,b", *lines, ""]).encode(), layout, monkeypatch)
    assert num_alike > 50


def same_with_and_without_kernel(data, layout, monkeypatch) -> int:
    """Reads lines by the kernel, by NumPy and with care; all agree. The number of rows that the kernel has read."""

    def outcome():
        chunks, message = [], None
        try:
            for chunk in open_states(io.BytesIO(data), layout, rows_per_chunk=7):
                chunks.append(chunk)
        except ModelError as error:
            message = str(error)
        return message, [[getattr(c, f).tolist() for c in chunks if getattr(c, f) is not None] for f in FIELDS]

    read_alike, num_alike = NumberLines._read_alike, 0

    def counted(self, values, count):
        nonlocal num_alike
        row = read_alike(self, values, count)
        num_alike += row - count
        return row

    with monkeypatch.context() as patch:
        patch.setattr(number_lines, "may_compile", lambda: False)
        patch.setattr(number_lines, "FEWEST_PLAIN", 1)
        plain = outcome()
        patch.setattr(NumberLines, "_read_plain", lambda self, plan, values, count: count)
        careful = outcome()
    assert plain == careful, data
    with monkeypatch.context() as patch:
        patch.setattr(number_lines, "FEW_ROWS", 0)
        patch.setattr(number_lines, "MANY_ROWS", 0)
        patch.setattr(number_lines, "may_compile", lambda: True)
        patch.setattr(NumberLines, "_read_alike", counted)
        assert outcome() == careful, data
    return num_alike


JSON_TOKENS = (
    '{"q":[1,2.5]}',
    '{"q":[1,2.5]} ',
    '{"q":[1,2.5],"v":[3,-4e-3]}',
    '{"positions":[1,2],"velocities":[3,4]}',
    '{"v":[3,4],"q":[1,2]}',
    '{"q":[1,2],"q":[3,4]}',
    '{"q":[1,2],"positions":[3,4]}',
    '{"q":["1",2]}',
    '{"q":[true,2]}',
    '{"q":[null,2]}',
    '{"q":[1]}',
    '{"q":[[1],[2]]}',
    '{"q":[1,2]',
    '"v":[1,2]}',
    '{"q":[1,2]},{"q":[3,4]}',
    '{"q":[1,2.5],"vdot":[1,2]}',
    '{"a":1}',
    '{"q":[1,1e400]}',
    '{"q":[1,10000000000000000000000]}',
    '{"q":{"a":1}}',
    '{"q":[1,2],[1,3,4]}',
    '{"q":[1,2],"v":[1,2],"v":[3,4]}',
    '{"q": [1, 2], "v": [3, 4]}',
    '{"time":0.5,"q":[1,2]}',
    '{"q":[1,2],"time":0.5}',
    '{"q":1,"v":[3,4]}',
    '{"q":[1,2],"v":[]}',
    '{"q":[1,.5]}',
    "{}",
    "",
    "[1,2]",
)


def test_json_lines_read_at_once_are_those_read_one_by_one(monkeypatch):
    random = np.random.default_rng(11)
    layout = StateLayout(("a", "b"), ("c", "d"), (), [0.5, 0.0], [0.0, -1.0])
    num_rows, num_alike = 0, 0
    for _ in range(1500):
        few = random.choice(JSON_TOKENS, 2)
        lines = random.choice(few, random.integers(1, 6))
        num_rows += len(lines)
        num_alike += same_with_and_without_kernel("\n".join(lines).encode(), layout, monkeypatch)
    assert 300 < num_alike < num_rows


def test_a_kernel_is_loaded_for_some_rows_and_compiled_for_many(monkeypatch):
    """The kernel reads from the row on that is worth it; rows are the same."""
    layout = StateLayout(("a",), (), (), [0.0], [])
    data = b"a\n" + b"".join(b"%d\n" % row for row in range(1000))
    monkeypatch.setattr(number_lines, "precompiled_library", lambda: None)
    monkeypatch.setattr(number_lines, "MANY_ROWS", 400)
    monkeypatch.setattr(NumberLines, "_read_plain", lambda self, plan, values, count: count)
    for may_compile, is_compiled, careful in ((True, True, 100), (True, False, 400), (False, True, 1000)):
        num_careful, read_row = 0, csv_states.RowReader.__call__

        def counted(*arguments, read_row=read_row):
            nonlocal num_careful
            num_careful += 1
            return read_row(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(csv_states.RowReader, "__call__", counted)
            patch.setattr(number_lines, "may_compile", lambda answer=may_compile: answer)
            patch.setattr(number_lines, "is_compiled", lambda kernel, answer=is_compiled: answer)
            np.testing.assert_array_equal(read_all(data, layout)["q"][:, 0], np.arange(1000))
        assert num_careful == careful


def test_chunks_of_large_models_have_few_rows():
    """The mass matrices of a chunk have 4 MB, if more than a few rows have them."""
    for num_velocities, rows in ((7, 4096), (36, 404), (1000, 16)):
        layout = StateLayout((), [f"v{k}" for k in range(num_velocities)], (), [], np.zeros(num_velocities))
        data = b"v0\n" + b"1\n" * (rows + 1)
        assert [len(chunk) for chunk in open_states(io.BytesIO(data), layout)] == [rows, 1]


def test_chunks_of_arrays_have_more_rows_than_those_of_text():
    numbers = np.zeros(20_000)
    arrays = io.BytesIO()
    np.savez(arrays, time=numbers)
    arrays.seek(0)
    assert [len(chunk) for chunk in open_states(arrays, LAYOUT)] == [16_384, 3_616]


def test_a_line_without_end_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(arriving_bytes, "LONGEST_LINE", 3 * arriving_bytes.READ_SIZE)
    message = error_of(b"arm_q\n1\n" + b"1" * 6 * arriving_bytes.READ_SIZE)
    assert message == f"<stream>:3: error: longer than {3 * arriving_bytes.READ_SIZE} bytes"


# --- NPZ -----------------------------------------------------------------------------------------


def test_npz_takes_other_number_types_and_orders():
    q = np.arange(12).reshape(4, 3)
    for array in (q, q.astype(">f4"), q.astype(np.uint8), np.asfortranarray(q.astype(float))):
        for rows_per_chunk in (3, 10):
            read = read_all(to_npz({"q": array}), rows_per_chunk=rows_per_chunk)
            np.testing.assert_array_equal(read["q"], q)
            np.testing.assert_array_equal(read["v"], np.tile(LAYOUT.default_v, (4, 1)))


BAD_NPZ = [
    ({"q": np.zeros((2, 4))}, "array 'q' has shape (2, 4), expected (n, 3)"),
    ({"q": np.zeros(3)}, "array 'q' has shape (3,), expected (n, 3)"),
    ({"q": np.array(1.0)}, "array 'q' has shape (), expected (n, 3)"),
    ({"time": np.zeros((2, 1))}, "array 'time' has shape (2, 1), expected (n,)"),
    ({"q": np.zeros((2, 3)), "v": np.zeros((3, 2))}, "different numbers of rows: q 2, v 3"),
    ({"q": np.zeros((2, 3), complex)}, "array 'q' has type complex128, expected real numbers"),
    ({"q": np.zeros((2, 3), bool)}, "array 'q' has type bool, expected real numbers"),
    ({"qdot": np.zeros((2, 3))}, "array 'qdot' is unknown; did you mean 'vdot'?"),
    ({"q": np.array([[1, 2, 3], [1, np.inf, 3]])}, "row 1: q[1] ('arm_q') is not finite"),
    ({"q": np.zeros((1, 3)), "time": np.array([np.nan])}, "row 0: time is not finite"),
    ({}, "no arrays, expected q, v, vdot, tau, u, time"),
]


@pytest.mark.parametrize(("arrays", "message"), BAD_NPZ)
def test_a_bad_npz_array_is_named(arrays, message):
    text = error_of(to_npz(arrays))
    assert text.startswith("<stream>: error: ")
    assert message in text


def test_npz_never_unpickles():
    data = io.BytesIO()
    np.savez(data, q=np.array([[print, 1, 2]], dtype=object))
    assert "has type object, expected real numbers" in error_of(data.getvalue())


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damaged_npz_is_an_error_of_the_input(save):
    data = to_npz(random_fields(200), save)
    random = np.random.default_rng(3)
    failures = 0
    for _ in range(150):
        damaged = bytearray(data)
        for place in random.integers(0, len(data), 3):
            damaged[place] = random.integers(256)
        if random.random() < 0.3:
            del damaged[random.integers(len(damaged)) :]
        try:
            read_all(bytes(damaged), input_format="npz")
        except ModelError:
            failures += 1
    assert failures > 50


def test_npz_that_promises_more_than_it_has_is_cut_short():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive, archive.open("q.npy", "w") as member:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)}
        np.lib.format.write_array_header_1_0(member, header)
    assert error_of(data.getvalue()).endswith("array 'q' is cut short")


# --- logs ----------------------------------------------------------------------------------------


def write_log(path, rows, position_names=LAYOUT.position_names, q=None, end="complete"):
    """A log with the fields of random_fields and what a reader of states has no use for."""
    from mbcli.log.fields import STANDARD_FIELDS
    from mbcli.log.format import LogHeader
    from mbcli.log.writer import LogWriter

    header = LogHeader(
        model_name="arm",
        position_names=position_names,
        position_units=("1",) * len(position_names),
        velocity_names=LAYOUT.velocity_names[::-1],
        velocity_units=("1",) * 2,
        actuator_names=LAYOUT.actuator_names,
        actuator_units=("N m",),
    )
    header = replace(header, fields=(header.input_field(), STANDARD_FIELDS["derived/energy_kinetic"]))
    fields = random_fields(rows)
    with LogWriter(path, header) as log:
        others = {"input/u": fields["u"], "derived/energy_kinetic": np.full(rows, np.nan)}
        log.append(time=fields["time"], q=fields["q"] if q is None else q, v=fields["v"][:, ::-1], **others)
        log.finish(end, 0)
    return path


@pytest.mark.parametrize("rows_per_chunk", [7, 1024])
def test_a_log_is_read_by_its_names(rows_per_chunk, tmp_path):
    fields = random_fields(50)
    path = write_log(tmp_path / "run.h5", 50)
    unnamed = tmp_path / "run.data"
    unnamed.write_bytes(path.read_bytes())
    for source in (path, unnamed, io.BufferedReader(Pipe(path.read_bytes(), 4096))):
        read = read_all(source, rows_per_chunk=rows_per_chunk)
        for field in ("time", "q", "v", "u"):
            np.testing.assert_array_equal(read[field], fields[field])
        assert read["vdot"] is read["tau"] is None


def test_a_log_of_part_of_the_model_leaves_the_rest_at_its_defaults(tmp_path):
    q = np.arange(4.0).reshape(4, 1)
    path = write_log(tmp_path / "run.h5", 4, ("slide_x",), q)
    np.testing.assert_array_equal(read_all(path)["q"], [[1.0, 0.25, row] for row in range(4)])


def test_a_log_of_another_model_is_refused(tmp_path):
    path = write_log(tmp_path / "run.h5", 4, ("arm_p",), np.zeros((4, 1)))
    expected = f"{path}: error: unknown column 'q:arm_p'; did you mean 'q:arm_q'?"
    assert error_of(path) == expected


def test_a_row_of_a_log_that_is_not_finite_is_named(tmp_path):
    q = np.zeros((9, 3))
    q[7, 1] = np.nan
    path = write_log(tmp_path / "run.h5", 9, q=q)
    for rows_per_chunk in (4, 1024):
        message = error_of(path, rows_per_chunk=rows_per_chunk)
        assert message == f"{path}: error: row 7: 'q:arm_q' is not finite"


def test_a_hdf5_file_that_is_no_log_is_refused(tmp_path):
    import h5py

    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["q"] = np.zeros((2, 3))
    assert error_of(tmp_path / "other.h5") == f"{tmp_path / 'other.h5'}: error: is not an mbcli log"
    piped = Pipe((tmp_path / "other.h5").read_bytes(), 4096)
    assert error_of(io.BufferedReader(piped)) == "<stream>: error: is not an mbcli log"


# --- pipes and memory ----------------------------------------------------------------------------

ECHO = """
import sys
from mbcli.batch.state_reader import open_states
from mbcli.batch.state_layout import StateLayout
layout = StateLayout(("a", "b"), (), (), [0.0, 0.0], [])
for chunk in open_states("-", layout):
    for row in chunk.q.tolist():
        print(*row, flush=True)
"""


@pytest.mark.parametrize("rows", [[b"a,b\n1,2\n", b"3,4\n", b"5,6\n"], [b'{"q":[1,2]}\n', b'{"q":[3,4]}\n']])
def test_a_row_on_a_pipe_is_answered_before_the_next_is_written(rows):
    process = subprocess.Popen([sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    with process:
        for index, row in enumerate(rows):
            process.stdin.write(row)
            # would wait for ever if the reader wanted a whole chunk
            assert process.stdout.readline().split() == [b"%.1f" % (2 * index + 1), b"%.1f" % (2 * index + 2)]
        process.stdin.write(b"\n")
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_half_a_line_on_a_pipe_waits_for_its_end_and_does_not_hold_up_the_line_before():
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        os.write(writing, b"arm_q\n1\n2")
        chunks = open_states(source, LAYOUT)
        assert next(chunks).q[:, 1].tolist() == [1]
        os.write(writing, b"5\n3")
        assert next(chunks).q[:, 1].tolist() == [25]
        os.close(writing)
        assert next(chunks).q[:, 1].tolist() == [3]
        assert next(chunks, None) is None


def test_what_has_arrived_on_a_pipe_is_one_chunk():
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        os.write(writing, b"arm_q\n" + b"1\n" * 500)
        os.close(writing)
        lengths = [len(chunk) for chunk in open_states(source, LAYOUT, rows_per_chunk=200)]
    assert sum(lengths) == 500
    assert len(lengths) == 3


# --- reading ahead --------------------------------------------------------------------------------


def reading_threads():
    return [thread for thread in threading.enumerate() if thread.name == READER]


def test_what_is_read_ahead_comes_in_its_order_and_its_error_after_it():
    def items():
        yield from range(20)
        raise ModelError("row 20")

    taken = []
    with pytest.raises(ModelError, match="row 20"):
        for item in read_ahead(items()):
            taken.append(item)
    assert taken == list(range(20))
    assert not reading_threads()


def test_no_more_is_read_ahead_than_may_wait_and_a_reader_that_is_closed_closes_what_it_reads():
    begun, events = [], []

    def items():
        try:
            for k in range(100):
                begun.append(k)
                yield k
        finally:
            events.append("closed by " + threading.current_thread().name)

    reader = read_ahead(items())
    assert next(reader) == 0
    end = time.monotonic() + 0.2
    while time.monotonic() < end:  # time for more, if more were read
        assert len(begun) <= 1 + MOST_WAITING
        time.sleep(0.01)
    assert reading_threads()
    reader.close()
    assert events == [f"closed by {READER}"]
    assert not reading_threads()


@pytest.mark.parametrize("kind", ["npz", "h5", "parquet", "arrow"])
def test_files_of_arrays_are_read_ahead_by_a_thread_that_ends_with_the_rows(kind, tmp_path):
    """Also with those that are not taken."""
    if kind in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    path, fields = tmp_path / f"states.{kind}", random_fields(50)
    if kind == "h5":
        write_log(path, 50)
    else:
        path.write_bytes(WRITERS[kind](fields))
    np.testing.assert_array_equal(read_all(path, rows_per_chunk=4)["q"], fields["q"])
    assert not reading_threads()
    chunks = open_states(path, LAYOUT, rows_per_chunk=4)
    np.testing.assert_array_equal(next(chunks).q, fields["q"][:4])
    assert len(reading_threads()) == 1
    chunks.close()
    assert not reading_threads()


def test_text_and_what_is_in_memory_are_read_without_a_thread(tmp_path):
    (tmp_path / "states.csv").write_bytes(WRITERS["csv"](random_fields(50)))
    for source in (tmp_path / "states.csv", io.BytesIO(WRITERS["npz"](random_fields(50)))):
        chunks = open_states(source, LAYOUT, rows_per_chunk=4)
        next(chunks)
        assert not reading_threads()


def test_a_named_pipe_is_read_like_standard_input(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for kind in ("csv", "npz"):
        (tmp_path / "data").write_bytes(WRITERS[kind](random_fields(20)))
        with subprocess.Popen(["sh", "-c", 'cat "$1" > "$2"', "sh", tmp_path / "data", path]):
            np.testing.assert_array_equal(read_all(path)["q"], random_fields(20)["q"])


def test_a_group_of_rows_of_parquet_is_not_in_memory_at_once(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    numbers = np.random.default_rng(3).random((8, 400_000))
    layout = StateLayout([f"q{k}" for k in range(8)], (), (), np.zeros(8), [])
    table = pyarrow.table(dict(zip(layout.position_names, numbers, strict=True)))
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=numbers.shape[1], use_dictionary=False)
    del table
    before, most, rows = pyarrow.total_allocated_bytes(), 0, 0
    for chunk in open_states(tmp_path / "a.parquet", layout):
        most = max(most, pyarrow.total_allocated_bytes() - before)
        np.testing.assert_array_equal(chunk.q, numbers[:, rows : rows + len(chunk)].T)
        rows += len(chunk)
    assert rows == numbers.shape[1]
    assert most < numbers.nbytes / 2


@pytest.mark.parametrize("kind", ["csv", "jsonl", "npz"])
def test_memory_does_not_grow_with_the_file(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(arriving_bytes, "READ_SIZE", 1 << 16)

    def peak(rows):
        path = tmp_path / f"states_{rows}.{kind}"
        path.write_bytes(WRITERS[kind](random_fields(rows)))
        tracemalloc.start()
        total = sum(len(chunk) for chunk in open_states(path, LAYOUT, rows_per_chunk=64))
        _, size = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert total == rows
        return size, path.stat().st_size

    peak(10)
    small, small_size = peak(1000)
    large, large_size = peak(4000)
    assert large_size > 3.9 * small_size > 80_000
    assert large < 1.2 * small


def test_the_file_is_closed_at_the_end_and_after_an_error(tmp_path):
    path = tmp_path / "states.csv"
    for text in ("arm_q\n1\n2\n", "arm_q\n1\nx\n"):
        path.write_text(text)
        with open(path, "rb") as stream:
            lowest_free = os.dup(stream.fileno())
            os.close(lowest_free)
            with contextlib.suppress(ModelError):
                list(open_states(path, LAYOUT))
            again = os.dup(stream.fileno())
            os.close(again)
        assert again == lowest_free


def test_a_wide_csv_file_is_read_at_more_than_fifty_megabytes_a_second():
    random = np.random.default_rng(2)
    names = [f"q{index}" for index in range(40)]
    layout = StateLayout(names, (), (), np.zeros(40), [])
    table = random.standard_normal((4000, 40))
    data = (",".join(names) + "\n" + "\n".join(",".join(map(repr, row)) for row in table.tolist())).encode()
    read_all(data, layout)  # the kernel is loaded, or compiled
    start = time.process_time()
    read = read_all(data, layout)
    elapsed = time.process_time() - start
    np.testing.assert_array_equal(read["q"], table)
    # 500 MB/s on the machine where it was measured
    assert len(data) / elapsed > 50e6


def test_reading_does_not_import_scipy_or_h5py():
    code = textwrap.dedent("""
        import sys, io
        from mbcli.batch.state_reader import open_states
        from mbcli.batch.state_layout import StateLayout
        import mbcli.batch.result_writer
        list(open_states(io.BytesIO(b"a\\n1\\n"), StateLayout(("a",), (), (), [0.0], [])))
        assert not {"scipy", "h5py", "numba"} & set(sys.modules)
    """)
    subprocess.run([sys.executable, "-c", code], check=True)


def test_random_damage_of_an_npz_is_an_error_of_the_file(tmp_path):
    """Wrong offsets and sizes send zipfile anywhere, also to what the system refuses."""
    rng = np.random.default_rng(8)
    content = np.frombuffer(to_npz(random_fields(20)), dtype="u1")
    path, refused = tmp_path / "states.npz", 0
    for trial in range(400):
        damaged = content.copy()
        if trial % 2:  # in the directory at the end
            places = len(content) - 1 - rng.integers(0, 300, size=3)
        else:
            places = rng.integers(0, len(content), size=3)
        damaged[places] ^= rng.integers(1, 256, size=3, dtype="u1")
        path.write_bytes(damaged.tobytes())
        try:
            read_all(path)
        except ModelError as error:
            refused += 1
            assert str(error).startswith(f"{path}: error: ") and "\n" not in str(error)
    assert refused > 200


def test_a_directory_of_an_npz_that_points_before_the_file_is_damage(tmp_path):
    content = to_npz(random_fields(20))
    end = content.rfind(b"PK\x05\x06")
    path = tmp_path / "states.npz"
    path.write_bytes(content[: end + 16] + b"\xff\xff\xff\x7f" + content[end + 20 :])
    assert error_of(path).startswith(f"{path}: error: not a readable NPZ file")


@pytest.mark.parametrize("kind", ["arrow", "arrow file", "parquet"])
def test_damage_of_a_table_of_columns_is_an_error_of_the_file(kind):
    rng = np.random.default_rng(9)
    content = np.frombuffer(WRITERS[kind](random_fields(20)), dtype="u1")
    refused = 0
    for trial in range(200):
        damaged = content.copy()
        damaged[rng.integers(0, len(content), size=3)] = rng.integers(0, 256, size=3)
        data = damaged.tobytes() if trial % 2 else content[: rng.integers(9, len(content))].tobytes()
        try:
            read_all(data)
        except ModelError as error:
            refused += 1
            assert str(error).startswith("<stream>") and "\n" not in str(error)
    assert refused > 50


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_columns_of_a_table_are_numbers_that_are_there(kind):
    pyarrow = pytest.importorskip("pyarrow")

    def message(**columns):
        table, data = pyarrow.table(columns), io.BytesIO()
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, data)
        else:
            with pytest.importorskip("pyarrow.ipc").new_stream(data, table.schema) as writer:
                writer.write_table(table)
        return error_of(data.getvalue())

    assert message(arm_q=["1"]) == "<stream>: error: column 'arm_q' is string, expected numbers"
    assert message(arm_q=[1.0, None]) == "<stream>: error: row 1: column 'arm_q' has no value"
    assert message(arm_q=[1.0, float("nan")]) == "<stream>: error: row 1: 'arm_q' is not finite"
    assert message(knee=[1.0]).startswith("<stream>: error: unknown column 'knee'")


def test_an_arrow_stream_is_read_as_it_arrives():
    pyarrow, ipc = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.ipc")
    source, sink = os.pipe()
    batch = pyarrow.record_batch({"arm_q": np.array([1.0, 2.0])})
    with open(source, "rb") as stream:
        with open(sink, "wb", buffering=0) as out, ipc.new_stream(out, batch.schema) as writer:
            writer.write_batch(batch)
            chunks = open_states(stream, LAYOUT)
            assert len(next(chunks)) == 2  # the stream has not ended
            writer.write_batch(batch)
            assert next(chunks).first_row == 2
        assert next(chunks, None) is None


def test_numbers_without_a_kernel_are_read_at_once_and_only_other_lines_with_care(monkeypatch):
    layout = StateLayout(("a", "b"), (), (), [0.0, 0.0], [])
    rows = [b"%d,%r" % (row, row / 7) for row in range(1000)]
    rows[700] = b"# a comment"
    rows[800] = b'"800", 1e-3'
    careful, read_row = [], csv_states.RowReader.__call__

    def counted(self, line, where, row):
        careful.append(line)
        return read_row(self, line, where, row)

    monkeypatch.setattr(number_lines, "may_compile", lambda: False)
    monkeypatch.setattr(csv_states.RowReader, "__call__", counted)
    q = read_all(b"a,b\n" + b"\n".join(rows), layout)["q"]
    wanted = np.delete(np.column_stack((np.arange(1000), np.arange(1000) / 7)), 700, axis=0)
    wanted[799, 1] = 1e-3
    np.testing.assert_array_equal(q, wanted)
    assert rows[800] in careful and len(careful) < 50
    rows[900] = b"900,x"
    with pytest.raises(ModelError, match=":902: error: column 'b': 'x' is not a number"):
        read_all(b"a,b\n" + b"\n".join(rows), layout)
