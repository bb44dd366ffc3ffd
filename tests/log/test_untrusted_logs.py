"""A log may come from anybody: what it names is never obeyed, what is damaged is told, sizes come before contents."""

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from command_line import cli, start, succeed
from repository import ROOT, SAMPLES
from test_log_writer import ENERGY, arm_header, rows

from mbcli.errors import ModelError
from mbcli.log.guarded_file import GuardedFile
from mbcli.log.reader import Log
from mbcli.log.recovery import recover
from mbcli.log.worlds import WorldsLog
from mbcli.log.writer import LogWriter
from mbcli.pictures.log_scene import scene_and_motion
from mbcli.simulation import resume, simulate

READS_HDF5 = {"guarded_file.py", "opened_file.py"}
WRITES_HDF5 = {
    "writer.py",
    "worlds_writer.py",
    "packing.py",
    "stored_texts.py",
    "array_results.py",
    "stored_sources.py",
}
SECRET = 4242.4242


@pytest.fixture
def path(tmp_path):
    with LogWriter(tmp_path / "a.h5", arm_header()) as log:
        log.append(**rows(0, 2500))
        log.checkpoint({"q": np.ones(2), "row": 4})
        log.finish("complete", 0)
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["secret"] = np.full((2500, 2), SECRET)
    np.full(5000, SECRET).tofile(tmp_path / "secret.bin")
    return tmp_path / "a.h5"


def edited(path, edit):
    with h5py.File(path, "r+") as file:
        edit(file)


def replaced(file, name, **options):
    attributes = dict(file[name].attrs)
    del file[name]
    made = file.create_dataset(name, **options)
    made.attrs.update({key: attributes[key] for key in ("names", "units")})


def external_link(file):
    del file["derived/energy_kinetic"]
    file["derived/energy_kinetic"] = h5py.ExternalLink("secret.h5", "/secret")


def soft_link(file):
    del file["derived/energy_kinetic"]
    file["derived/energy_kinetic"] = h5py.SoftLink("/time")


def external_storage(file):
    replaced(file, "derived/energy_kinetic", shape=(2500,), dtype="f8", external=[("secret.bin", 0, 20_000)])


def virtual(file):
    layout = h5py.VirtualLayout(shape=(2500,), dtype="f8")
    layout[:] = h5py.VirtualSource("secret.h5", "secret", shape=(2500, 2))[:, 0]
    attributes = dict(file[ENERGY].attrs)
    del file[ENERGY]
    file.create_virtual_dataset(ENERGY, layout).attrs.update({key: attributes[key] for key in ("names", "units")})


# ------------------------------------------------------------------------------------------- one guard


def test_hdf5_files_are_read_through_the_guard_alone():
    """No other module opens one for reading; those that write open new files."""
    for path in (ROOT / "mbcli").rglob("*.py"):
        tree = ast.parse(path.read_text())
        imports = any(
            isinstance(node, ast.Import)
            and any(name.name == "h5py" for name in node.names)
            or isinstance(node, ast.ImportFrom)
            and node.module == "h5py"
            for node in ast.walk(tree)
        )
        if not imports or path.name in READS_HDF5:
            continue
        assert path.name in WRITES_HDF5, f"{path} uses h5py: mbcli.log.guarded_file is the way to what a file has"
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "h5py.File":
                assert ast.literal_eval(node.args[1]) in ("w", "x"), f"{path}, line {node.lineno}"


@pytest.mark.parametrize("edit", [external_link, soft_link, external_storage, virtual])
def test_a_column_that_is_elsewhere_is_damage_to_every_reader(path, tmp_path, edit, monkeypatch):
    monkeypatch.chdir(tmp_path)
    edited(path, edit)
    for words in (
        ("info",),
        ("show",),
        ("export", "--to", "csv"),
        ("export", "--to", "npz", "-o", "out.npz"),
        ("tail",),
    ):
        result = cli("log", words[0], path, *words[1:])
        assert result.code == 3 and ENERGY in result.err and result.out == "", (words, result)
    result = succeed("log", "recover", path, "-o", tmp_path / "b.h5")
    assert ENERGY in result.err and "is lost" in result.err
    content = (tmp_path / "b.h5").read_bytes()
    assert b"secret" not in content and np.float64(SECRET).tobytes() not in content
    with h5py.File(tmp_path / "b.h5") as file:
        assert ENERGY not in file


def test_a_column_that_was_deleted_is_missed(path):
    edited(path, lambda file: file.__delitem__(ENERGY))
    result = cli("log", "export", path, "--to", "csv")
    assert (result.code, result.out) == (3, "") and f"{ENERGY} is missing" in result.err


def test_the_worlds_of_a_log_are_read_through_the_guard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLES / "double_pendulum.urdf", "arm.urdf")
    Path("starts.csv").write_text("shoulder,elbow\n0.1,0.2\n0.3,0.4\n")
    succeed(
        "-q",
        "simulate",
        "arm.urdf",
        "-t",
        0.05,
        "--states",
        "starts.csv",
        "--each",
        "--fill",
        "default",
        "-o",
        "all.h5",
    )
    np.full(5000, SECRET).tofile("secret.bin")
    with h5py.File("all.h5") as file:
        shape = file["state/q"].shape
    edited(
        "all.h5", lambda file: replaced(file, "state/q", dtype="f8", shape=shape, external=[("secret.bin", 0, 40_000)])
    )
    for words in (
        ("log", "info", "all.h5"),
        ("log", "show", "all.h5", "--world", 1),
        ("log", "export", "all.h5", "--to", "csv"),
    ):
        result = cli(*words)
        assert result.code == 3 and "state/q is not stored in this file" in result.err and "4242" not in result.out
    with pytest.raises(ModelError, match="state/q"):
        WorldsLog("all.h5")


# ------------------------------------------------------------------------------------------- sizes


def nothing_stored(file):
    replaced(file, "state/q", dtype="f8", shape=(10**7, 100), maxshape=(None, 100), chunks=(1024, 100))


def many_rows(file):
    replaced(file, "time", dtype="f8", shape=(10**11,), maxshape=(None,), chunks=(1024,))


def twice_deflated(file):
    """HDF5 would inflate 8 GB from this."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((1,))
    for _ in range(2):
        properties.set_deflate(9)
    del file["model/resolved"]
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(200_000_000)
    space = h5py.h5s.create_simple((1,))
    dataset = h5py.h5d.create(file["model"].id, b"resolved", kind, space, properties)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(1, dtype="S200000000"), kind)


def one_for_many(file):
    for k in range(200):
        file[f"derived/copy_{k}"] = file[ENERGY]


def test_groups_in_each_other_are_damage(path, tmp_path):
    """The copy of recover() went on for ever."""

    def circle(file):
        file["model/again"] = file["model"]
        file["run/root"] = file["/"]

    edited(path, circle)
    with pytest.raises(ModelError, match="is a link"):
        list(GuardedFile(path).datasets())
    result = succeed("log", "recover", path, "-o", tmp_path / "b.h5")
    assert "model/again: is lost" in result.err and "run/root: is lost" in result.err
    assert cli("log", "info", tmp_path / "b.h5").code == 0


@pytest.mark.parametrize("edit", [nothing_stored, many_rows, twice_deflated, one_for_many])
def test_sizes_are_looked_at_before_contents(path, tmp_path, edit):
    edited(path, edit)
    script = (
        "import sys; from mbcli.cli import run\n"
        "for words in (['info'], ['show'], ['export', '--to', 'csv'], ['recover', '-o', sys.argv[2], '--force']):\n"
        "    print(words[0], run(['log', words[0], sys.argv[1], *words[1:]]), file=sys.stderr)\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(int(peak.split()[1]) // 1024)\n"  # ru_maxrss is at least that of the process that started this one
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path, tmp_path / "b.h5"], capture_output=True, text=True, timeout=60
    )
    assert int(done.stdout.split("\n")[-2]) < 600, done.stdout[-200:]  # [MB]
    for command in ("info 3", "export 3") if edit is not twice_deflated else ("info 3",):
        assert f"{command}\n" in done.stderr, done.stderr


def test_damage_of_metadata_is_an_error_of_one_line_and_no_bug(path):
    """One flipped bit in each of many places of HDF5's own data."""
    untouched = path.read_bytes()
    for place in range(0, len(untouched), max(len(untouched) // 300, 1)):
        spoiled = bytearray(untouched)
        spoiled[place] ^= 4
        path.write_bytes(spoiled)
        try:
            with Log(path) as log:
                log.damage()
        except ModelError as error:
            assert "\n" not in str(error)


def test_a_reason_is_told_without_the_advice_of_hdf5(path, tmp_path):
    content = bytearray(path.read_bytes())
    content[11] |= 5  # open for write, by SWMR: in an old superblock HDF5 says "may use <h5clear file>"
    content[20] ^= 1
    path.write_bytes(content)
    for words in (("info", path), ("recover", path, "-o", tmp_path / "b.h5")):
        result = cli("log", *words)
        assert result.code == 3 and "h5clear" not in result.err and "flags" not in result.err, result.err


# ------------------------------------------------------------------------------------------- commands


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLES / "double_pendulum.urdf", "arm.urdf")
    Path("push.csv").write_text("time,elbow\n0,1\n")
    Path("other.urdf").write_text(Path("arm.urdf").read_text().replace("elbow", "knee"))
    succeed("-q", "simulate", "arm.urdf", "-t", 0.1, "-o", "run.h5")
    return tmp_path / "run.h5"


def ask_for(path, *words):
    edited(path, lambda file: file.attrs.__setitem__("argv", np.bytes_(json.dumps(["mbcli", "simulate", *words]))))


FOREIGN = [
    ("arm.urdf", "--push", "push.csv"),
    ("/etc/passwd",),
    ("other.urdf",),
    ("package://x/arm.urdf",),
    ("arm.urdf", "--xacro"),
    ("arm.urdf", "--xacro-arg", "x:=1"),
    ("arm.urdf", "--input", "push.csv"),
    ("arm.urdf", "--config", "push.csv"),
    ("arm.urdf", "--constraints", "push.csv"),
    ("arm.urdf", "--srdf", "push.csv"),
    ("arm.urdf", "--package", "x=."),
    ("arm.urdf", "--package-path", "."),
    ("arm.urdf", "--allow-outside"),
    ("arm.urdf", "--scenario-text", "random_seed: 3"),
    ("arm.urdf", "--states", "push.csv", "--each"),
]


@pytest.mark.parametrize("words", FOREIGN, ids=" ".join)
def test_what_a_log_may_not_ask_for_needs_the_user(run, words):
    ask_for(run, *words, "-t", "0.2")
    before = run.read_bytes()
    for command in (("log", "verify", "run.h5"), ("simulate", "--resume", "run.h5", "-t", 0.3)):
        result = cli(*command)
        assert result.code == 3 and "which a log may not ask for" in result.err, (command, result)
        assert words[-1].partition("=")[0] in result.err or words[1] in result.err
    assert run.read_bytes() == before and not Path("run.h5.partial").exists()


def test_every_option_of_simulate_is_harmless_or_a_file_or_refused():
    """A new option is refused until somebody has said what a log may do with it."""
    from mbcli.cli import recorded_command
    from mbcli.cli.simulate import simulate as command

    names = {parameter.name for parameter in command.params} - {"help_model", "h"}
    asked = {name for name, may_ask in recorded_command.MAY_ASK.items() if may_ask(0.5, {"arm.urdf"})}
    files = {name for name, may_ask in recorded_command.MAY_ASK.items() if may_ask("arm.urdf", {"arm.urdf"})} - asked
    assert asked | files | recorded_command.DROPPED <= names
    assert files == {"models", "config_file", "constraints_file", "srdf_files", "scenario_file"}
    assert names - asked - files - recorded_command.DROPPED == {
        *("packages", "package_paths", "allow_outside", "xacro", "xacro_args", "scenario_text", "input_file"),
        *("state_file", "state_time", "states", "states_format"),
        "pushes",  # but for those that name no table
        *("controller", "controller_pickle", "task", "trajectory", "follow", "interpolation"),  # programs, and files
    }
    may_push = recorded_command.MAY_ASK["pushes"]
    assert may_push(("arm=1,0,0", "arm=2,0,0"), ()) and not may_push(("arm=1,0,0", "pushes.csv"), ("pushes.csv",))


def test_a_log_writes_where_the_user_says(run, tmp_path):
    ask_for(run, "arm.urdf", "-t", "0.1", "-o", str(tmp_path / "planted.h5"), "--force")
    succeed("log", "verify", "run.h5")
    assert not (tmp_path / "planted.h5").exists()


def test_what_the_user_gives_or_trusts_is_used(run):
    succeed("-q", "simulate", "arm.urdf", "--input", "push.csv", "-t", 0.1, "-o", "pushed.h5")
    assert cli("log", "verify", "pushed.h5").code == 3
    assert succeed("log", "verify", "pushed.h5", "--trust").out.startswith("verified: same: 11 rows")
    assert cli("simulate", "--resume", "pushed.h5", "-t", 0.2).code == 3
    succeed("-q", "simulate", "--resume", "pushed.h5", "-t", 0.2, "--input", "push.csv")
    assert succeed("log", "verify", "pushed.h5", "--trust").out.startswith("verified: same: 21 rows")


def test_a_model_that_has_changed_is_not_read_for_a_log(run):
    Path("arm.urdf").write_text(Path("other.urdf").read_text())
    assert succeed("log", "verify", "run.h5").out.startswith("verified")  # by what the log has
    result = cli("simulate", "--resume", "run.h5", "-t", 0.2)
    assert result.code == 3 and "have changed" in result.err


def test_a_log_of_a_call_from_python_may_not_ask_for_more_either(run):
    simulate("arm.urdf", 0.1, log="call.h5", inputs="push.csv").close()
    with pytest.raises(ModelError, match="inputs, which a log may not ask for"):
        resume("call.h5", until=0.2)
    resume("call.h5", until=0.2, inputs="push.csv").close()
    simulate("arm.urdf", 0.1, log="plain.h5", start={"elbow": 0.1}).close()
    resume("plain.h5", until=0.2).close()
    call = ["mbcli.simulation.simulate", json.dumps({"model": "/etc/passwd", "until": 1.0})]
    edited("plain.h5", lambda file: file.attrs.__setitem__("argv", np.bytes_(json.dumps(call))))
    with pytest.raises(ModelError, match="model, which a log may not ask for"):
        resume("plain.h5", until=0.3)


def test_meshes_outside_of_the_folder_of_the_model_are_not_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("robot", "private"):
        Path(folder).mkdir()
        Path(folder, "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    text = (SAMPLES / "double_pendulum.urdf").read_text()
    mesh = '<link name="extra"><visual><geometry><mesh filename="part.obj"/></geometry></visual></link>'
    mesh += (
        '<joint name="x" type="fixed"><parent link="extra_base"/><child link="extra"/></joint><link name="extra_base"/>'
    )
    Path("robot/arm.urdf").write_text(text.replace("</robot>", f"{mesh}</robot>"))
    succeed("-q", "simulate", "robot/arm.urdf", "-t", 0.02, "--weld-base", "-o", "run.h5")
    scene, _ = scene_and_motion("run.h5")
    assert len(scene.meshes) == 1 and not scene.notes

    with h5py.File("run.h5", "r+") as file:
        model = file["model/resolved"][()].replace(b"/robot/part.obj", b"/private/part.obj")
        del file["model/resolved"], file.attrs["model_sha256"]
        file["model/resolved"] = np.bytes_(model)
    scene, _ = scene_and_motion("run.h5")
    assert not scene.meshes and "private/part.obj" in scene.notes[-1] and "not drawn" in scene.notes[-1]
    assert len(scene_and_motion("run.h5", allow_outside=True)[0].meshes) == 1
    succeed("replay", "run.h5", "-o", "page.html")


# ------------------------------------------------------------------------------------------- what is said


def test_a_run_is_not_resumed_to_an_earlier_time(run):
    before = run.read_bytes()
    result = cli("simulate", "--resume", "run.h5", "-t", 0.05)
    assert result.code == 2 and "goes to 0.1 s" in result.err and "at 0.05 s" in result.err
    assert run.read_bytes() == before
    succeed("-q", "simulate", "--resume", "run.h5", "-t", 0.2)
    succeed("-q", "simulate", "--resume", "run.h5")  # to where it is
    succeed("log", "verify", "run.h5")
    with Log("run.h5") as log:
        assert "--resume" not in log.attrs["argv"]


def test_a_model_in_another_folder_is_the_same_model(run, monkeypatch):
    Path("copy").mkdir()
    shutil.copy("arm.urdf", "copy/arm.urdf")
    succeed("-q", "simulate", "copy/arm.urdf", "-t", 0.1, "-o", "copy.h5")
    succeed("-q", "simulate", "other.urdf", "-t", 0.1, "-o", "other.h5")
    assert json.loads(succeed("log", "diff", "run.h5", "copy.h5", "--json").out)["same_model"]
    other = cli("log", "diff", "run.h5", "other.h5", "--json").json()
    assert not other["same_model"]
    Path("arm.urdf").unlink()
    document = succeed("log", "verify", "run.h5", "--json").json()
    assert document["same"] and document["same_model"]


def test_rows_between_times_that_a_log_does_not_have_are_an_error(run):
    result = cli("log", "export", "run.h5", "--to", "csv", "--from", 9)
    assert (result.code, result.out) == (4, "") and "goes from 0 to 0.1 s" in result.err


def test_a_log_without_contacts_says_so(path):
    with Log(path) as log, pytest.raises(KeyError, match="contacts were not logged"):
        log.contacts()
    kept = simulate(SAMPLES / "double_pendulum.urdf", 0.01, contact=False)
    with pytest.raises(KeyError, match="contacts were not logged"):
        kept.contacts()


def test_a_log_tells_how_its_kernels_were_made(run):
    document = succeed("log", "info", "run.h5", "--json").json()
    assert document["provenance"]["kernels"] in ("interpreted", "compiled") or (
        document["provenance"]["kernels"].startswith("precompiled for x86-64")
    )
    assert "deterministic" not in succeed("log", "info", "run.h5").out
    edited(run, lambda file: file.attrs.__setitem__("kernels", np.bytes_("by hand")))
    assert succeed("log", "verify", "run.h5", "--json").json()["other_software"] == ["kernels"]


# ------------------------------------------------------------------------------------------- disks and signals


FULL_AFTER = """
import resource, sys
from mbcli.cli import run
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize("size", [0, 4000, 20_000])
def test_a_resume_on_a_full_disk_leaves_what_there_was(tmp_path, monkeypatch, size):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLES / "double_pendulum.urdf", "arm.urdf")
    log = subprocess.run(
        [sys.executable, "-c", "import os, sys\nfrom mbcli.cli import simulate as module\nfrom mbcli.cli import run\n"
         "from mbcli.log.writer import LogWriter\nLogWriter.finish = lambda self, *_: (self.flush(), os._exit(9))\n"
         "run(['-q', 'simulate', 'arm.urdf', '-t', '1', '--log-rate', '0', '-o', 'run.h5'])"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert log.returncode == 9 and Path("run.h5.partial").stat().st_size > 60_000, log.stderr
    before = Path("run.h5.partial").read_bytes()
    words = ["-q", "simulate", "--resume", "run.h5.partial", "-t", "2"]
    done = subprocess.run([sys.executable, "-c", FULL_AFTER, str(size), *words], capture_output=True, text=True)
    assert done.returncode == 6 and "run.h5.partial is as it was" in done.stderr, done.stderr
    assert Path("run.h5.partial").read_bytes() == before and not Path("run.h5.partial.old").exists()
    succeed("-q", "simulate", "--resume", "run.h5.partial", "-t", "2")


def test_an_error_of_the_system_that_names_no_file_is_not_blamed_on_stdout(monkeypatch):
    import mbcli.log.export

    def fails(*_, **__):
        raise OSError(111, "Connection refused")

    monkeypatch.setattr(mbcli.log.export, "select", fails)
    log = simulate(SAMPLES / "double_pendulum.urdf", 0.01, log="x.h5", force=True)
    log.close()
    result = cli("log", "show", "x.h5")
    os.unlink("x.h5")
    assert result.code == 4 and result.err == "mbcli: error: Connection refused\n"


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="a signal of POSIX")
def test_a_terminal_that_goes_away_ends_a_run_as_sigterm_does(tmp_path):
    process = start("-q", "simulate", SAMPLES / "double_pendulum.urdf", "-t", "1e6", "-o", tmp_path / "a.h5")
    partial = tmp_path / "a.h5.partial"
    for _ in range(600):
        if partial.exists() and partial.stat().st_size > 50_000:
            break
        signal.sigtimedwait([], 0.1)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 129
    with Log(tmp_path / "a.h5") as log:
        assert log.status == "interrupted" and log.attrs["exit_code"] == 129


def test_a_log_cut_in_the_middle_of_its_pieces_is_read_in_bounds(path, tmp_path):
    """A file whose first block states an exabyte."""
    content = bytearray(path.read_bytes())
    content[28:36] = (2**60).to_bytes(8, "little")
    path.write_bytes(content)
    with pytest.raises(ModelError):
        recover(path, tmp_path / "b.h5")
    with pytest.raises(ModelError), GuardedFile(path):
        pass
