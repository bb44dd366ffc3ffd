"""Inputs that once ended a command by a traceback, by a signal or never: one line each, and the right exit code."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings

import h5py
import pytest
from command_line import cli
from repository import SAMPLES

from mbcli.cli import serve
from mbcli.cli.signals import Terminated, send_again, terminate
from mbcli.common.suggestions import MOST_NAMES, closest
from mbcli.log import opened_file
from mbcli.pictures.html import _page
from mbcli.pictures.web_server import _integer

CART = SAMPLES / "cart_pole.sdf"
ARM = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(scope="module")
def run_log(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "run.h5"
    result = cli("-q", "simulate", CART, "-t", "0.05", "-o", path)
    assert result.code == 0, result.err
    return path


@pytest.mark.parametrize("nested", ["[" * 500 + "]" * 500, '{"a":' * 500 + "1" + "}" * 500])
@pytest.mark.parametrize("key", ["id", "q", "at"])
def test_a_question_nested_deep_does_not_end_the_server(key, nested):
    lines = f'{{"command":"gravity","{key}":{nested}}}\n{{"command":"gravity","id":7}}\n'
    result = subprocess.run(
        [sys.executable, "-P", "-m", "mbcli", "serve", str(ARM)],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["exit_code"] == 2 and "nested too deep" in first["message"]
    assert second["id"] == 7 and "exit_code" not in second


def test_an_identity_of_some_levels_comes_back():
    value = [[{"a": [1, {"b": []}]}]]
    assert serve._read(json.dumps({"id": value}).encode())["id"] == value
    assert not serve._is_deeper(value, 7) and serve._is_deeper(value, 2)


@pytest.mark.parametrize("name", ["columns", "scalar", "gone"])
def test_names_of_columns_of_another_kind_are_recovered_from(name, run_log, tmp_path):
    bad = tmp_path / "bad.h5"
    shutil.copy(run_log, bad)
    with h5py.File(bad, "r+") as file:
        columns = next(path for path in file if path.endswith("_columns"))
        del file[columns]
        if name == "columns":
            file.create_group(columns)
        elif name == "scalar":
            file[columns] = 1.0
    result = cli("log", "recover", bad, "-o", tmp_path / "r.h5")
    assert result.code in (0, 3), result.err
    assert "internal error" not in result.err


def test_a_log_that_ended_before_its_first_rows_says_so(run_log, tmp_path):
    bad = tmp_path / "early.h5.partial"
    with h5py.File(bad, "w", libver=("v110", "v110")) as file:
        file.attrs["format"] = "mbcli-log"
    content = bytearray(bad.read_bytes())
    content[11] = 1  # of the superblock: open for writing, without readers, as a killed process leaves it
    content[44:48] = opened_checksum(content[:44])
    bad.write_bytes(content)
    for command in ("info", "recover"):
        result = cli("log", command, bad)
        assert result.code == 3, result.err
        assert "ended before the first rows were written" in result.err


def opened_checksum(block):
    """Jenkins' lookup3 of a block of a multiple of 4 bytes, with which HDF5 guards its superblock."""
    mask = 0xFFFFFFFF

    def turned(x, k):
        return ((x << k) | (x >> (32 - k))) & mask

    words = [int.from_bytes(block[k : k + 4], "little") for k in range(0, len(block), 4)]
    a = b = c = (0xDEADBEEF + len(block)) & mask
    while len(words) > 3:
        a, b, c = (a + words[0]) & mask, (b + words[1]) & mask, (c + words[2]) & mask
        words = words[3:]
        for shifts in ((4, 6, 8), (16, 19, 4)):
            a = ((a - c) & mask) ^ turned(c, shifts[0])
            c = (c + b) & mask
            b = ((b - a) & mask) ^ turned(a, shifts[1])
            a = (a + c) & mask
            c = ((c - b) & mask) ^ turned(b, shifts[2])
            b = (b + a) & mask
    a, b, c = ((x + w) & mask for x, w in zip((a, b, c), [*words, 0, 0][:3], strict=True))
    for left, right, shift in (
        (0, 1, 14),
        (2, 0, 11),
        (1, 2, 25),
        (0, 1, 16),
        (2, 0, 4),
        (1, 2, 14),
        (0, 1, 24),
    ):
        values = [c, b, a]
        values[left] = ((values[left] ^ values[right]) - turned(values[right], shift)) & mask
        c, b, a = values
    return c.to_bytes(4, "little")


@pytest.mark.parametrize("blocks", [1, 2, 4, 8, 12, 16, 20, 24])
def test_recovering_onto_a_disk_that_fills_ends_by_code_6(blocks, run_log, tmp_path):
    """A bound on the size of files fails as a full disk does."""
    resource = pytest.importorskip("resource")
    most = blocks * 1024
    assert run_log.stat().st_size > most
    result = subprocess.run(
        [sys.executable, "-P", "-m", "mbcli", "log", "recover", str(run_log), "-o", str(tmp_path / "r.h5")],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert result.returncode == 6, result.stderr
    assert "cannot be written" in result.stderr and "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [37, 95, 38])  # ENOLCK, EOPNOTSUPP, ENOSYS
def test_a_file_system_without_locks_is_read_and_written(number, monkeypatch, run_log, tmp_path):
    real, asked = h5py.File, []

    def without_locks(path, *arguments, locking=None, **options):
        asked.append(locking)
        if locking != False:  # noqa: E712  (None is the default, which locks)
            raise OSError(f"unable to lock file, errno = {number}, error message = 'of a test'")
        return real(path, *arguments, locking=locking, **options)

    monkeypatch.setattr(opened_file.h5py, "File", without_locks)
    monkeypatch.setattr(opened_file, "_NOTED", [])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with opened_file.new_file(tmp_path / "n.h5") as file:
            file["x"] = 1.0
        for _ in range(3):
            opened_file.open_file(str(run_log)).close()
    assert False in asked
    assert [w.category for w in told] == [opened_file.LockWarning]


def test_a_lock_that_another_process_holds_is_respected(monkeypatch, tmp_path):
    def held(*arguments, **options):
        raise BlockingIOError("unable to lock file, errno = 11, error message = 'Resource temporarily unavailable'")

    monkeypatch.setattr(opened_file.h5py, "File", held)
    with pytest.raises(OSError, match="errno = 11"), opened_file.new_file(tmp_path / "n.h5"):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_a_destructor_ends_the_command_all_the_same(number, monkeypatch):
    class Last:
        def __del__(self):
            signal.raise_signal(number)

    before = signal.signal(number, terminate)
    monkeypatch.setattr(sys, "unraisablehook", send_again)
    try:
        with pytest.raises(Terminated):
            last = Last()
            del last
            gc.collect()
            time.sleep(5.0)
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("stem", ["a--b", "a-", "\x1b[31m", os.fsdecode(b"\xff\xfe"), "two\nlines", "\u202e"])
@pytest.mark.parametrize("target", ["mjcf", "sdf", "urdf"])
def test_a_file_of_any_name_is_converted(stem, target, tmp_path):
    shutil.copy(SAMPLES / "pendulum.urdf", tmp_path / f"{stem}.urdf")
    result = cli("-q", "convert", tmp_path / f"{stem}.urdf", "--to", target, "-o", tmp_path / f"o.{target}", "--lossy")
    assert result.code in (0, 1), result.err
    assert cli("-q", "check", tmp_path / f"o.{target}", "--input-format", target).code in (0, 1)


def test_names_are_suggested_among_some_hundreds():
    assert closest("left_arm", ["left_arn", *(f"link_{k}" for k in range(MOST_NAMES - 1))]) == "left_arn"
    assert closest("left_arm", ["left_arn", *(f"link_{k}" for k in range(MOST_NAMES))]) is None


def test_a_page_has_the_licence_of_three_js():
    text = _page("t", {}, connects=False)
    assert "Copyright © 2010-2026 three.js authors" in text
    assert "The above copyright notice and this permission notice shall be included" in " ".join(text.split())
    assert text.index("three.js authors") < text.index("var THREE=")


def test_an_integer_of_thousands_of_digits_is_no_number_of_a_page():
    assert json.loads("[-12, 3]", parse_int=_integer) == [-12, 3]
    with pytest.raises(ValueError, match="too many digits"):
        json.loads("[" + 4000 * "9" + "]", parse_int=_integer)


def test_a_chain_of_300_links_becomes_mjcf_and_is_proven(tmp_path):
    bodies = "<body><joint axis='0 1 0'/><geom size='.1' contype='0' conaffinity='0'/>"
    (tmp_path / "deep.xml").write_text(f"<mujoco><worldbody>{bodies * 240}{'</body>' * 240}</worldbody></mujoco>")
    result = cli("convert", tmp_path / "deep.xml", "--to", "mjcf", "-o", tmp_path / "o.xml")
    assert result.code in (0, 1), result.err
    assert "internal error" not in result.err


UNIT = """#usda 1.0
(
  defaultPrim = "r"
  {name} = {value}
)
def Xform "r" {{
 def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI","PhysicsMassAPI"]) {{
  float physics:mass = 1
 }}
}}
"""


@pytest.mark.parametrize("name", ["metersPerUnit", "kilogramsPerUnit"])
@pytest.mark.parametrize("value", ["1e300", "-1", "0", "1e-300", "inf"])
def test_a_unit_of_usd_that_no_file_has_is_an_error(name, value, tmp_path):
    pytest.importorskip("pxr")
    (tmp_path / "u.usda").write_text(UNIT.format(name=name, value=value))
    result = cli("check", tmp_path / "u.usda")
    assert result.code == 1, result.err
    assert f"{name} must be a number from" in result.out


@pytest.mark.parametrize("arc", ["references", "payload", "inherits"])
@pytest.mark.parametrize("files", [1, 7])
def test_usd_that_names_the_next_ten_times_is_refused_before_it_is_made(arc, files, tmp_path):
    pytest.importorskip("pxr")
    if files > 1 and arc == "inherits":
        files = 1
    head = '#usda 1.0\n(\n  defaultPrim = "r0"\n)\n'
    for number in range(8):
        target = f"@m{number + 1}.usda@" if files > 1 else f"</r{number + 1}>"
        name = "r0" if files > 1 else f"r{number}"
        prims = "".join(f'  def "c{k}" ({arc} = {target}) {{}}\n' for k in range(10)) if number < 7 else ""
        text = f'def Xform "{name}" {{\n{prims}}}\n'
        path = tmp_path / f"m{number if files > 1 else 0}.usda"
        with open(path, "a") as file:
            file.write((head if not file.tell() else "") + text)
    result = cli("check", tmp_path / "m0.usda")
    assert result.code == 1, result.err
    assert "it has more than 200000 prims" in result.out
