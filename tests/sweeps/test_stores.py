"""Sweeps whose table and journal lie in an object store: a server of S3 that runs here, and fsspec's memory."""

import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import OutputError, ResourceError
from mbcli.sweeps import stored_lines, stores, sweep

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("s3fs", "moto", "flask_cors")), reason="needs s3fs and the server of moto"
)
PENDULUM = str(SAMPLES / "double_pendulum.urdf")
WORDS = (
    "sweep",
    PENDULUM,
    "-t",
    "0.01",
    "-j",
    "1",
    "--vary",
    "state.elbow=linspace(-1, 1, 7)",
    "--measure",
    "max(elbow)",
)


@pytest.fixture(scope="module")
def server():
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def bucket(server, monkeypatch, tmp_path):
    """The address of an empty bucket; the working folder is empty, too."""
    import s3fs

    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.chdir(tmp_path)
    s3fs.S3FileSystem.clear_instance_cache()
    name = f"bucket{time.monotonic_ns()}"
    s3fs.S3FileSystem().mkdir(name)
    return f"s3://{name}"


def content(address):
    files, path = stores.file_system(address)
    files.invalidate_cache()
    return files.cat_file(path)


def test_a_sweep_in_a_store_that_is_killed_goes_on_to_the_bytes_of_a_local_one(bucket, tmp_path):
    words = ["sweep", PENDULUM, "--vary", "state.elbow=linspace(-1, 1, 250)", "-t", "20", "-j", "1"]
    here = subprocess.Popen([sys.executable, "-m", "mbcli", "-q", *words, "-o", "here.csv"])
    output = f"{bucket}/table.csv"
    client = subprocess.Popen([sys.executable, "-m", "mbcli", "-q", *words, "-o", output])
    while client.poll() is None and len(stores.names_in(f"{output}.journal")) < 2:
        time.sleep(0.05)
    client.send_signal(signal.SIGKILL)
    assert client.wait() == -signal.SIGKILL and not stores.exists(output)
    status = succeed("sweep", "status", output, "--json").json()
    assert 0 < status["done"] < 250 and status["states"] == {"ok": status["done"]}
    assert all(content(f"{output}.journal/{name}").endswith(b"\n") for name in stores.names_in(f"{output}.journal"))
    again = succeed(*words, "-o", output, "--resume")
    assert f"{status['done']} of them before" in again.err
    assert here.wait() == 0
    assert content(output) == Path("here.csv").read_bytes()
    assert succeed("sweep", "status", output, "--json").json()["done"] == 250
    assert os.listdir(tmp_path) != [] and not [name for name in os.listdir(tmp_path) if "table" in name]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_parts_in_a_store_are_merged_to_the_whole(bucket, suffix):
    output = f"{bucket}/folder/t.{suffix}"
    succeed(*WORDS, "-o", f"whole.{suffix}")
    succeed(*WORDS, "-o", output, "--shard", "2/2")
    assert "run --shard 1/2 with --resume" in cli("sweep", "merge", output).err
    assert "1 of 2 parts have begun" in succeed("sweep", "status", output).out
    succeed(*WORDS, "-o", output, "--shard", "1/2", "--resume")
    succeed("sweep", "merge", output)
    assert content(output) == Path(f"whole.{suffix}").read_bytes()
    assert cli("sweep", "merge", output).code == 6
    succeed("sweep", "merge", output, "--force", "-q")


def test_what_is_in_a_store_is_not_replaced_by_accident(bucket):
    output = f"{bucket}/t.csv"
    succeed(*WORDS, "-o", output)
    again = cli(*WORDS, "-o", output)
    assert again.code == 6 and again.err == f"{output}: error: exists already; --force replaces it\n"
    stores.remove(output)
    again = cli(*WORDS, "-o", output)
    assert (
        again.code == 6
        and again.err == f"{output}.journal: error: exists: --resume goes on with it, --force replaces it\n"
    )
    assert cli(*WORDS, "--seed", "3", "-o", output, "--resume").code == 3
    succeed(*WORDS, "--seed", "3", "-o", output, "--force")
    assert len(stores.names_in(f"{output}.journal")) == 2  # its head, and its rows: none of the first
    assert cli(*WORDS, "-o", f"{bucket}/other.csv", "--resume").code == 2
    assert cli("sweep", "status", f"{bucket}/other.csv").code == 4


def test_lines_of_a_store_that_are_damaged_or_cut_run_again_and_are_replaced(bucket):
    output, journal = f"{bucket}/t.csv", f"{bucket}/t.csv.journal"
    succeed(*WORDS, "-o", output)
    first = content(output)
    name = stores.names_in(journal)[1]
    lines = content(f"{journal}/{name}").replace(b'"point":2', b'"point":9')
    files, path = stores.file_system(f"{journal}/{name}")
    files.pipe_file(path, lines[:-9])
    assert "5 of them before" in succeed(*WORDS, "-o", output, "--resume").err
    assert content(output) == first and name not in stores.names_in(journal)
    assert "7 of them before" in succeed(*WORDS, "-o", output, "--resume").err


def test_two_clients_of_one_output_lose_nothing(bucket):
    output, journal = f"{bucket}/t.csv", f"{bucket}/t.csv.journal"
    succeed(*WORDS, "-o", "here.csv")
    options = {"duration": 0.01, "jobs": 1, "measures": ["max(elbow)"], "journal": journal}
    vary = {"state.elbow": "linspace(-1, 1, 7)"}

    ran = []

    def second(progress):
        if progress.done >= 3 and not ran:
            ran.append(sweep(PENDULUM, vary, resume=True, **options))

    table = sweep(PENDULUM, vary, on_progress=second, **options)
    assert table.as_csv() == Path("here.csv").read_text()
    status = succeed("sweep", "status", output, "--json").json()
    assert status["done"] == 7 and status["journals"] == [journal]
    names = stores.names_in(journal)
    lines = b"".join(content(f"{journal}/{name}") for name in names).splitlines()
    assert len(names) >= 3 and len(lines) > 8  # a head, seven rows, and what both have run


def test_a_folder_that_another_program_has_marked_is_an_empty_one(bucket):
    files, path = stores.file_system(f"{bucket}/set/")
    files.pipe_file(f"{path.rstrip('/')}/", b"")
    assert stores.names_in(f"{bucket}/set/") == []
    succeed(*WORDS, "-o", f"{bucket}/set/")
    assert stores.names_in(f"{bucket}/set/") == ["part-00000.parquet"]


def test_nothing_is_there_under_its_name_until_it_is_whole(bucket):
    class Broken:
        left = 3

        def read(self, size):
            self.left -= 1
            if not self.left:
                raise OSError("no more")
            return b"x" * (6 << 20)

    for folder in (bucket, "memory://folder"):
        with pytest.raises(OutputError, match=r"/t.csv: error: cannot be written: no more"):
            stores.put(f"{folder}/t.csv", Broken())
        with pytest.raises(KeyError), stores.written(f"{folder}/t.csv"):
            raise KeyError
        assert not stores.exists(f"{folder}/t.csv") and stores.names_in(folder) == []


def test_a_thread_that_ends_to_write_does_not_end_what_another_writes(bucket):
    half, ended = threading.Event(), threading.Event()

    class Broken:
        left = 3

        def read(self, size):
            self.left -= 1
            if self.left == 1:
                half.set()
                ended.wait(5.0)
            if not self.left:
                raise OSError("no more")
            return b"half"

    def write_broken():
        with pytest.raises(OutputError):
            stores.put(f"{bucket}/broken", Broken())

    class Whole(io.BytesIO):
        def read(self, size):
            half.wait(0.5)  # in vain, where one waits for the other
            return super().read(size)

    thread = threading.Thread(target=write_broken)

    stores.put(f"{bucket}/first", io.BytesIO(b"first"))
    threading.Timer(0.1, thread.start).start()
    stores.put(f"{bucket}/whole", Whole(b"whole"))
    names = stores.names_in(bucket)
    ended.set()
    half.wait()
    thread.join()
    assert names == stores.names_in(bucket) == ["first", "whole"] and content(f"{bucket}/whole") == b"whole"


def test_a_store_that_is_away_for_a_while_costs_a_warning_and_at_the_end_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_lines, "SENT_EVERY", 0.05)
    write, fails, failed = stored_lines.write_bytes, [], threading.Event()

    def away(place, lines):
        if fails:
            failed.set()
            raise OutputError(f"{place}: error: cannot be written: away")
        write(place, lines)

    monkeypatch.setattr(stored_lines, "write_bytes", away)
    vary, options = {"state.elbow": "linspace(0, 1, 40)"}, {"duration": 0.3, "jobs": 1}
    here = sweep(PENDULUM, vary, **options).as_csv()

    def look(progress):
        fails[:] = [True] if 5 < progress.done < 20 else []
        if fails:
            assert failed.wait(60.0)  # cases may be faster than lines are sent

    with pytest.warns(RuntimeWarning, match="cannot be written: away; it is tried again"):
        there = sweep(PENDULUM, vary, journal="memory://j1", on_progress=look, **options)
    assert there.as_csv() == here
    assert len(sweep(PENDULUM, vary, journal="memory://j1", resume=True, retries=0, **options).rows) == 40
    with pytest.raises(OutputError, match="away; its lines are in ") as error:
        sweep(PENDULUM, vary, journal="memory://j2", on_progress=lambda progress: fails.append(True), **options)
    lines = Path(str(error.value).rpartition(" are in ")[2])
    assert lines.read_bytes().count(b"\n") == 41
    monkeypatch.chdir(tmp_path)
    lines.rename("j2")  # they are a journal
    done = []
    sweep(PENDULUM, vary, journal="j2", resume=True, on_progress=lambda progress: done.append(progress.done), **options)
    assert done == [40]


def test_lines_that_come_while_others_are_sent_wait_for_the_next_object(monkeypatch):
    lines, sent = stored_lines.StoredLines("memory://lines"), []
    Path(lines.path).write_bytes(b"one\n")

    def slow(place, content):
        sent.append(content)
        with open(lines.path, "ab") as file:
            file.write(b"more\nhal")

    monkeypatch.setattr(stored_lines, "write_bytes", slow)
    lines.close()
    lines.close()
    assert sent == [b"one\n", b"more\n"]


def test_other_commands_refuse_an_address_in_a_line(tmp_path):
    for words in (
        ("simulate", PENDULUM, "-t", "0.01"),
        ("convert", PENDULUM, "--to", "sdf"),
        (*WORDS, "--plot", "s3://b/t.png"),
    ):
        result = cli(*words, *([] if "--plot" in words else ["-o", "s3://bucket/out.h5"]))
        assert result.code == 6 and result.err.count("\n") == 1
        assert (
            "only tables of sweeps go to a store; write it to a disk, and copy it there when it is whole" in result.err
        )


def test_addresses_of_files_and_of_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeed(*WORDS, "-o", f"file://{tmp_path}/t.csv")
    succeed("sweep", "status", f"file://{tmp_path}/t.csv")
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "t.csv.journal"]
    result = cli(*WORDS, "-o", "nothing://a/t.csv")
    assert result.code == 4 and result.err.startswith("nothing://a/t.csv: error: is no address of a store: ")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ResourceError, match=r"a store needs the package fsspec, .* pip install 'mbcli\[s3\]'"):
        stores.exists("s3://bucket/t.csv")
