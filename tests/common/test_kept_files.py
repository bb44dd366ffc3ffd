"""Files kept for the next run: used if they are whole and nobody else may have written them, never an error."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from repository import SUPPORT

from mbcli.common import file_locks, kept_files
from mbcli.common.kept_files import keep, read_kept, ready_to_keep, ready_to_read

PROGRAM = SUPPORT / "kept_file_damages.py"


@pytest.fixture
def told(monkeypatch):
    """What is told of folders and files, of which nothing was told before."""
    lines = []
    monkeypatch.setattr(kept_files, "tell", lines.append)
    monkeypatch.setattr(kept_files, "_told", set())
    return lines


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_files_are_kept_where_the_file_system_has_no_locks(tmp_path, monkeypatch, number):
    """As some of a network: kept files need none, and kernels are compiled without waiting for another process."""
    fcntl = pytest.importorskip("fcntl")

    def without(*_):
        raise OSError(number, os.strerror(number))

    for name in ("flock", "lockf", "fcntl"):
        monkeypatch.setattr(fcntl, name, without)
    path = tmp_path / "cache" / "meshes" / "a"
    assert keep(path, b"content") and read_kept(path) == b"content"
    assert file_locks.wait_for_lock(str(tmp_path / "lock")) is None
    with open(path, "r+b") as file:
        assert file_locks.is_free(file, take=True) and file_locks.is_free(file, take=False)


@pytest.fixture
def kept(tmp_path):
    path = tmp_path / "cache" / "kernels" / "a"
    assert keep(path, b"content")
    return path


def test_what_is_kept_is_read_back_by_its_name_alone(kept, told):
    assert read_kept(kept) == b"content"
    other = kept.with_name("b")
    kept.rename(other)
    assert read_kept(other) is None
    assert read_kept(kept) is None
    assert told == []


def test_every_changed_byte_and_every_cut_counts_as_not_there(kept):
    whole = kept.read_bytes()
    for k in range(len(whole)):
        kept.write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        assert read_kept(kept) is None
        kept.write_bytes(whole[:k])
        assert read_kept(kept) is None
    kept.write_bytes(whole + b"x")
    assert read_kept(kept) is None
    kept.write_bytes(whole)
    assert read_kept(kept) == b"content"


def test_a_folder_is_made_for_this_user_alone_whatever_the_umask(tmp_path):
    before = os.umask(0o000)
    try:
        assert keep(tmp_path / "cache" / "a", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "cache" / "a").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_told_once_and_not_used(kept, told, mode):
    kept.parent.chmod(mode)
    assert not ready_to_read(kept.parent)
    assert not ready_to_keep(kept.parent)
    assert not keep(kept.with_name("b"), b"")
    assert not kept.with_name("b").exists()
    (line,) = told
    assert f"{kept.parent} can be written by others (mode {mode:o})" in line and "chmod go-w" in line


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_is_told_and_not_read(kept, told, mode):
    kept.chmod(mode)
    assert read_kept(kept) is None
    assert keep(kept, b"anew")
    assert read_kept(kept) == b"anew"
    assert len(told) == 1 and str(kept) in told[0]


def test_what_belongs_to_another_user_is_not_used_but_for_root(kept, told, monkeypatch):
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    own = owner == 0  # the tests run as root: what root has made is used by all
    assert ready_to_read(kept.parent) is own
    assert (read_kept(kept) is not None) is own
    if own:
        os.chown(kept, 12345, -1)
        assert read_kept(kept) is None
        os.chown(kept.parent, 12345, -1)
        assert not ready_to_read(kept.parent)
    assert all("belongs to another user" in line for line in told)
    assert len(told) == 2


def test_links_pipes_and_folders_are_no_kept_files(kept):
    content = kept.rename(kept.with_name("elsewhere"))
    kept.symlink_to(content)
    assert read_kept(kept) is None
    kept.unlink()
    os.mkfifo(kept)
    assert read_kept(kept) is None  # and does not wait for a writer
    kept.unlink()
    kept.mkdir()
    assert read_kept(kept) is None
    assert not keep(kept, b"")


def test_what_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    assert not keep(tmp_path / "file" / "cache" / "a", b"")
    assert not keep(Path("/proc/none/a"), b"")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    assert not keep(tmp_path / "cache" / "a", b"")
    assert list((tmp_path / "cache").iterdir()) == []


def test_damaged_files_of_the_cache_change_no_result(tmp_path):
    """MBCLI_DAMAGES=500 for more of them."""
    count = os.environ.get("MBCLI_DAMAGES", "9")
    command = [sys.executable, PROGRAM, tmp_path, "1", count]
    environment = {**os.environ, "MBCLI_PRECOMPILED": "0"}  # with kernels of a wheel none would be kept
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, f"done {count} damages, 0 faults\n"), done.stderr[-3000:]
