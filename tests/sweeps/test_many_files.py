"""Commands over many files: processes and workers without files print and write what one process does."""

import json
import os
import socket
import warnings
from importlib.util import find_spec

import jsonschema
import numpy as np
import pytest
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import ROOT

from benchmarks.bare_cluster import BareCluster, can_hide_folders
from mbcli.cli import run
from mbcli.cli.file_worker import FileRunner
from mbcli.errors import ResourceError
from mbcli.sweeps import file_cases
from mbcli.sweeps.carried_files import CarriedFiles
from mbcli.sweeps.clusters import RecentFiles, Reply
from mbcli.sweeps.engines import engine_of
from mbcli.sweeps.file_cases import FileCargo
from mbcli.sweeps.messages import Work
from mbcli.sweeps.points import Point
from mbcli.sweeps.tasks import run_task

CUBE = "v 0 0 -.1\nv .1 0 0\nv 0 .1 0\nv -.1 -.1 0\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n"
BODY = """<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>"""
HOPPER = """<robot name="hopper"><link name="leg" colour="red">{body}
<visual><geometry><mesh filename="{beside}/shell.obj"/></geometry></visual>
<visual><geometry><mesh filename="../shells/shel.obj"/></geometry></visual>
<collision><geometry><mesh filename="package://feet/meshes/foot.obj"/></geometry></collision></link></robot>"""
WORLD = """<sdf version="1.9"><model name="pair"><include><uri>package://feet</uri></include>
<link name="own"><visual name="v"><geometry><mesh><uri>shells/shell.obj</uri></mesh></geometry></visual></link>
</model></sdf>"""
FOOT = """<sdf version="1.9"><model name="foot"><link name="sole"><inertial><mass>-1</mass></inertial>
<visual name="v"><geometry><mesh><uri>meshes/foot.obj</uri></mesh></geometry></visual></link></model></sdf>"""
MJCF = """<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><body name="b">
<freejoint/><geom type="mesh" mesh="m"/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.fixture
def robots(tmp_path, monkeypatch):
    """A folder of models with meshes, an include, and faults in some; the working folder is beside it."""
    files = {
        "hopper.urdf": HOPPER.format(body=BODY, beside="../shells"),
        "pair.sdf": WORLD,
        "inline.xml": MJCF,
        "broken.urdf": "<robot name='x'><link",
        "scene.dmd.yaml": "directives:\n- add_model: {name: h, file: package://feet/model.sdf}\n",
    }
    folder = tmp_path / "lab"
    for name, text in {
        **{f"robots/{name}": text for name, text in files.items()},
        "robots/shells/shell.obj": CUBE,
        "shells/shell.obj": "mtllib shell.mtl\n" + CUBE,
        "shells/shell.mtl": "newmtl a\nKd 1 0 0\n",
        "feet/package.xml": "<package><name>feet</name></package>",
        "feet/model.config": "<model><name>feet</name><sdf version='1.9'>model.sdf</sdf></model>",
        "feet/model.sdf": FOOT,
        "feet/meshes/foot.obj": CUBE,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return folder


CHECK = ["check", "robots", "--package", "feet=feet", "--allow-outside", "--meshes"]
CONVERT = ["convert", "robots", "--package", "feet=feet", "--allow-outside", "--to", "sdf"]


class Bare:
    """An engine in this process, for which files lie below a folder of each task alone. deaths: by file."""

    def __init__(self, deaths=()):
        self.queue, self.rounds, self.sent, self.deaths = [], 0, set(), dict(deaths)

    def give(self, content):
        assert content == b""

    def slots(self, without):
        return 1

    def submit(self, text, files, without):
        self.rounds += 1
        self.sent |= set(json.loads(text)["files"])
        self.queue.append((self.rounds, text, files))
        return self.rounds

    def ended(self):
        key, text, files = self.queue.pop(0)
        for _, values in json.loads(text)["cases"]:
            name = os.path.basename(values["file"])
            if self.deaths.get(name, 0) > 0:
                self.deaths[name] -= 1
                return [(key, Reply(None, "KilledWorker", "a"))]
        return [(key, Reply(run_task(text, b"", *files.values()), "", "a"))]

    def close(self):
        pass


@pytest.fixture
def bare(monkeypatch):
    def with_deaths(deaths=()):
        engine = Bare(deaths)
        monkeypatch.setattr(file_cases, "engine_of", lambda dask, ray: engine)
        return engine

    return with_deaths


def said(capsys, *words):
    code = run(map(str, words))
    return code, *capsys.readouterr()


def written(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_check_says_the_same_of_files_that_its_worker_does_not_see(robots, capsys, bare):
    alone = said(capsys, *CHECK)
    engine = bare()
    assert said(capsys, *CHECK, "--dask", "x") == alone
    assert "there is " in alone[1] and "mass -1" in alone[1]  # hints of similar names, faults of included files
    assert alone[0] == 1
    sent = {os.path.relpath(path, robots) for path in engine.sent}
    assert {"shells/shell.mtl", "feet/meshes/foot.obj", "feet/model.config"} <= sent
    bare()
    assert said(capsys, *CHECK, "--json", "--dask", "x") == said(capsys, *CHECK, "--json")


def test_convert_writes_the_same_of_files_that_its_worker_does_not_see(robots, capsys, bare):
    for k, words in enumerate((["-o", "out/"], ["--bundle", "-o", "out/"])):
        alone = said(capsys, *CONVERT, *words)
        files = written(robots / "out")
        (robots / "out").rename(robots / f"alone{k}")
        engine = bare()
        assert said(capsys, *CONVERT, *words, "--dask", "x") == alone
        assert written(robots / "out") == files and len(files) > 2
        assert engine.rounds <= 3 * 5
        assert said(capsys, *CONVERT, *words, "--dask", "x")[0] == 6  # without --force nothing is replaced
        (robots / "out").rename(robots / f"there{k}")
    assert any("meshes" in str(path) for path in files)


def test_processes_say_and_write_the_same_too(robots, capsys):
    assert said(capsys, *CHECK, "-j", "2") == said(capsys, *CHECK)
    alone = said(capsys, *CONVERT, "-o", "out/")
    files = written(robots / "out")
    assert said(capsys, *CONVERT, "-o", "out/", "--force", "-j", "2") == alone
    assert written(robots / "out") == files


def test_log_verify_repeats_several_logs_anywhere(robots, capsys, bare, ready_kernels):
    model = ROOT / "sample_models" / "double_pendulum.urdf"
    for k in range(2):
        assert run(["-q", "simulate", str(model), "--at", f"elbow={k}", "-t", "0.02", "-o", f"{k}.h5"]) == 0
    (robots / "2.h5").write_bytes(b"no log")
    capsys.readouterr()
    words = ["log", "verify", "0.h5", "1.h5", "2.h5"]
    alone = said(capsys, *words)
    assert alone[0] == 3 and alone[1].startswith("0.h5: verified: same: 3 rows") and "2.h5" in alone[2]
    bare()
    assert said(capsys, *words, "--dask", "x") == alone
    assert said(capsys, *words, "-j", "2") == alone
    documents = said(capsys, *words[:-1], "--json")[1].splitlines()
    assert [json.loads(line)["log"] for line in documents] == ["0.h5", "1.h5"]


def test_two_folders_are_compared_pair_by_pair_anywhere(robots, capsys, bare, ready_kernels):
    for name in ("hopper.urdf", "inline.xml"):
        (robots / "new").mkdir(exist_ok=True)
        (robots / "new" / name).write_text(
            (robots / "robots" / name).read_text().replace('mass value="1"', 'mass value="2"')
        )
    (robots / "new" / "broken.sdf").write_text("<sdf")
    (robots / "new" / "other.urdf").write_text("<robot name='x'><link name='a'/></robot>")
    words = ["-q", "compare", "robots", "new", "--package", "feet=feet", "--allow-outside"]
    alone = said(capsys, *words)
    rows = {line.split()[0]: line for line in alone[1].splitlines() if line}
    assert (
        "different" in rows["hopper.urdf"] and "1 in A, 2 in B" in rows["hopper.urdf"] and "same" in rows["inline.xml"]
    )
    assert "is in new, not in robots" in rows["other.urdf"] and "is in robots, not in new" in rows["pair.sdf"]
    assert (
        "not compared" in rows["broken.urdf"] and alone[0] == 3
    )  # a pair but for its format, of which none can be read
    engine = bare()
    assert said(capsys, *words, "--dask", "x") == alone
    assert {os.path.relpath(path, robots) for path in engine.sent} >= {"robots/hopper.urdf", "new/hopper.urdf"}
    bare({"inline.xml": 9})
    code, out, _ = said(capsys, *words, "--json", "--dask", "x")
    document = json.loads(out)
    jsonschema.Draft202012Validator(json.loads(schema_text("results"))).validate(document)
    pairs = {pair["name"]: pair for pair in document["pairs"]}
    assert code == 4 and pairs["inline.xml"]["error"] == "set aside after 3 tries: KilledWorker"
    assert json.loads(said(capsys, *words, "--json", "-j", "2")[1]) == json.loads(said(capsys, *words, "--json")[1])


def test_a_cluster_that_is_not_there_is_no_finding_of_a_pair(robots, capsys, monkeypatch):
    def away(dask, ray):
        raise ResourceError("no cluster at x")

    monkeypatch.setattr(file_cases, "engine_of", away)
    code, out, err = said(capsys, "compare", "robots", "robots", "--package", "feet=feet", "--dask", "x")
    assert (code, out, err) == (4, "", "mbcli: error: no cluster at x\n")


def test_identify_does_its_parts_anywhere(robots, capsys, bare, ready_kernels, monkeypatch):
    """Files that are left out and drawn data: what one process says, byte for byte, of workers that see no file."""
    monkeypatch.setenv("MBCLI_JIT", "1")  # worlds run compiled
    (robots / "arm.urdf").write_text((ROOT / "sample_models" / "double_pendulum.urdf").read_text())
    random = np.random.default_rng(0)
    header = "time,shoulder,elbow,tau:shoulder,tau:elbow"
    for k in range(3):
        turns = 2.0 * np.pi * random.uniform(0.3, 0.8, size=(2, 1)) * np.linspace(0.0, 6.0, 301)
        tau = 9.0 * np.sin(turns) + 0.1 * random.normal(size=turns.shape)
        table = np.vstack((np.linspace(0.0, 6.0, 301), np.sin(turns), tau)).T
        np.savetxt(robots / f"{k}.csv", table, delimiter=",", header=header, comments="")
        start = ["--weld-base", "--dt", "0.01", "--log-rate", "100", "--at", f"elbow={k}.3"]
        assert run(["-q", "simulate", "arm.urdf", *start, "-t", "0.6", "-o", f"{k}.h5"]) == 0
    capsys.readouterr()
    words = ["identify", "arm.urdf", "--json", "--data", "0.csv", "1.csv", str(robots / "2.csv")]
    by_motion = [*words[:4], "0.h5", "1.h5", "2.h5", "--fit", "trajectory", "--parameters", "joint.elbow.damping"]
    for given in ([*words, "--bootstrap", "4"], [*by_motion, "--segment", "0.2"]):
        alone = said(capsys, *given)
        document = json.loads(alone[1])
        assert len(document["cross_validation"]) == 3
        assert document["bootstrap"] is None or document["bootstrap"]["count"] == 4
        engine = bare({"arm.urdf": 1})
        assert said(capsys, *given, "--dask", "x") == alone
        assert {os.path.basename(path) for path in engine.sent} == {"arm.urdf", *map(os.path.basename, given[4:7])}
    bare({"arm.urdf": 99})
    code, out, err = said(capsys, *words, "--dask", "x")
    assert code == 4 and out == "" and "arm.urdf: error: not identified: set aside after 3 tries" in err


def test_a_file_at_which_workers_end_is_tried_again_and_set_aside_after_three(robots, capsys, bare):
    alone = said(capsys, *CHECK)
    bare({"hopper.urdf": 2})
    assert said(capsys, *CHECK, "--dask", "x") == alone
    engine = bare({"hopper.urdf": 9})
    code, out, err = said(capsys, *CHECK, "--dask", "x", "--retries", "8")
    assert code == 4 and engine.deaths["hopper.urdf"] == 6 and "4 files" in out and "hopper" not in out
    assert err == "robots/hopper.urdf: error: not checked: set aside after 3 tries: KilledWorker\n"
    bare({"hopper.urdf": 9})
    code, out, err = said(capsys, *CONVERT, "-o", "out/", "--dask", "x")
    assert code == 4 and "not converted: set aside after 3 tries: KilledWorker" in out
    assert not (robots / "out" / "hopper.sdf").exists() and (robots / "out" / "inline.sdf").exists()


def test_what_cannot_go_is_done_here(robots, capsys, bare):
    (robots / "robots" / "box.usda").write_text('#usda 1.0\n(defaultPrim = "a")\ndef Xform "a" {}\n')
    alone = said(capsys, *CHECK)
    engine = bare()
    assert said(capsys, *CHECK, "--dask", "x") == alone
    assert "box.usda" not in " ".join(engine.sent)
    words = ["check", "robots/../robots/hopper.urdf", "robots/pair.sdf", "--package", "feet=feet"]
    alone = said(capsys, *words)
    engine = bare()
    assert said(capsys, *words, "--dask", "x") == alone
    assert not any("hopper" in path for path in engine.sent)


def test_options_that_do_not_fit_are_refused(robots, capsys):
    for words, told in (
        (["check", "-", "-j", "2"], "stdin is read by this process"),
        ([*CHECK, "--dask", "a", "--ray", "b"], "--dask or --ray"),
        (["convert", "robots/hopper.urdf", "-o", "x.sdf", "-j", "2"], "are for several MODELs"),
        (["log", "verify", "a.h5", "b.h5", "-o", "c.h5"], "-o keeps the second run of one LOG"),
        (["log", "verify", "a.h5", "--trust", "--ray", "x"], "no --dask, --ray"),
        (["compare", "robots/pair.sdf", "robots/pair.sdf", "-j", "2"], "are for the models of two folders"),
        (["identify", "a.urdf", "--validate", "a.csv", "--bootstrap", "9"], "--bootstrap needs --data"),
    ):
        code, _, err = said(capsys, *words)
        assert code == 2 and told in err


def test_a_fault_of_a_machine_is_no_result(monkeypatch, robots):
    runner = FileRunner(json.dumps({"command": "check", "options": {}}))
    from mbcli.sweeps.points import Point

    for error, status in (
        (MemoryError(), "out_of_memory"),
        (OSError(28, "No space left on device"), "file"),
        (ZeroDivisionError("bug"), "crashed"),
    ):

        def fail(options, values, error=error):
            raise error

        monkeypatch.setattr(runner, "_case", fail)
        assert runner.row(Point(0, 0, {"file": "a.urdf"}), lambda: None)["status"] == status


def test_a_file_that_many_models_share_is_given_to_an_engine_once():
    given, gone = [], set()
    recent = RecentFiles(lambda contents: [given.append(c) or len(given) for c in contents], lambda k: k not in gone)
    assert recent.of({"a": b"A", "b": b"B"}) == [1, 2] and recent.of({"b": b"B", "c": b"C"}) == [2, 3]
    gone.add(2)
    assert recent.of({"b": b"B"}) == [4] and given == [b"A", b"B", b"C", b"B"]


def test_questions_of_a_worker_get_the_answers_of_a_map(robots):
    from mbcli.parsers.package_map import PackageMap

    packages = PackageMap()
    packages.add("feet", "feet")
    there = CarriedFiles(document=CarriedFiles(packages).document() | {"top": "/top"})
    with pytest.raises(Exception, match="is not in the bundle"):
        there.resolve("package://feet/meshes/foot.obj", "/top/x")
    here = CarriedFiles(packages)
    assert here.answer(there.unanswered) and not here.answer(['["system", "ls"]'])
    there = CarriedFiles(document=json.loads(json.dumps(here.document())) | {"top": "/top"})
    assert there.resolve("package://feet/meshes/foot.obj", "/top/x") == f"/top{robots}/feet/meshes/foot.obj"
    assert here.paths() == [f"{robots}/feet/meshes/foot.obj"]


@pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask")
@pytest.mark.skipif(not can_hide_folders(), reason="needs mount namespaces")
def test_a_worker_that_asks_for_other_files_gets_none(robots, tmp_path):
    """Its questions start where the case has files, as those of a model do; else the case stays on this machine."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("secret")
    point = Point(0, 0, {"file": "robots/hopper.urdf"})
    for asks in (["resolve", "key", f"{tmp_path}/secrets"], ["find_nearby", "key", f"{robots}/../secrets"]):
        cargo = FileCargo(Work("{}", module="mbcli.cli.file_worker"), PackageMap)
        cargo.task([point])
        assert not cargo.is_answered(point, {"asks": [json.dumps(asks)]}) and cargo.left == {0}
    cargo = FileCargo(Work("{}", module="mbcli.cli.file_worker"), PackageMap)
    cargo.task([point])
    assert cargo.is_answered(point, {"asks": [json.dumps(["resolve", "../shells/shell.obj", f"{robots}/robots"])]})
    assert b"secret" not in b"".join(cargo.task([point])[1].values())


def test_workers_of_dask_that_see_no_file_check_a_folder(robots, tmp_path, capsys):
    alone = said(capsys, *CHECK)
    with BareCluster(tmp_path / "cluster", 2, hidden=[robots]) as cluster, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert said(capsys, *CHECK, "--dask", cluster.address) == alone


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_workers_of_ray_check_a_folder(robots, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    alone = said(capsys, *CHECK)
    assert said(capsys, *CHECK, "--ray", "local") == alone
    compare = ["-q", "compare", "robots", "robots", "--package", "feet=feet", "--allow-outside"]
    alone = said(capsys, *compare)
    assert said(capsys, *compare, "--ray", "local") == alone


@pytest.mark.skipif(find_spec("ray") is None, reason="needs Ray")
def test_a_port_without_ray_is_said_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ResourceError, match=rf"ray: no Ray cluster at 127.0.0.1:{port}: .*refused"):
        engine_of(None, f"127.0.0.1:{port}")
