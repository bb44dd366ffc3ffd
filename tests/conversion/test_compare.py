"""compare: the element that differs between two models, and what other engines do otherwise."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import ROOT, SAMPLES

from mbcli.common import engine_process
from mbcli.comparison import Comparison, compare_engines, compare_models
from mbcli.comparison.differences import likely_cause
from mbcli.comparison.peer_process import PeerError, ask
from mbcli.errors import ArgumentError, ResourceError
from mbcli.models import ModelText

PENDULUM = SAMPLES / "double_pendulum.urdf"


def link(name, mass, com, inertia, shape=""):
    values = " ".join(f'{k}="{v}"' for k, v in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), inertia, strict=True))
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia {values}/></inertial>'
        f"{shape}</link>"
    )


def joint(name, parent, child, xyz, axis, damping, lower=-2.0, kind="revolute"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
        f'<axis xyz="{axis}"/><limit lower="{lower}" upper="2" effort="30" velocity="5"/>'
        f'<dynamics damping="{damping}"/></joint>'
    )


SHAPE = '<collision name="tip"><geometry><sphere radius="0.05"/></geometry></collision>'
ROBOT = "".join(
    [
        '<robot name="arm">',
        link("base", 4.0, "0 0 0.1", (0.02, 0.03, 0.04, 0, 0, 0)),
        link("upper", 2.5, "0.01 0.02 0.21", (0.011, 0.012, 0.013, 0.001, 0.002, 0.003)),
        link("fore", 1.5, "0.03 -0.04 0.15", (0.005, 0.006, 0.007, 0, 0, 0.001), SHAPE),
        joint("shoulder", "base", "upper", "0 0 0.2", "0 1 0", 0.3),
        joint("elbow", "upper", "fore", "0 0.01 0.4", "0 0 1", 0.2, -1.5),
        '<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="elbow"/>'
        '<actuator name="motor"><mechanicalReduction>5</mechanicalReduction></actuator></transmission></robot>',
    ]
)
SPOILED = [  # (text, what takes its place, the quantity, the element, a word of the cause)
    ('mass value="1.5"', 'mass value="1500"', "mass", "body fore", "grams for kilograms"),
    ('xyz="0.03 -0.04 0.15"', 'xyz="0.03 0.04 0.15"', "com", "body fore", "the sign is changed"),
    ('ixx="0.011" iyy="0.012"', 'ixx="0.012" iyy="0.011"', "inertia", "body upper", "another order"),
    ('ixy="0.001" ixz="0.002" iyz="0.003"', 'ixy="0" ixz="0" iyz="0"', "inertia", "body upper", "0.001"),
    ('xyz="0 0 0.2"', 'xyz="0 0 200"', "X_PF", "joint shoulder", "a factor of 1000"),
    ('axis xyz="0 0 1"', 'axis xyz="0 0 -1"', "axis", "joint elbow", "the sign is changed"),
    ('damping="0.3"', 'damping="0"', "damping", "joint shoulder", "left out in one"),
    ('lower="-1.5"', 'lower="-85.94366926962348"', "lower_limit", "joint elbow", "degrees for radians"),
    ('radius="0.05"', 'radius="0.1"', "shape radius", "geometry tip", "a diameter for a radius"),
    ('name="elbow" type="revolute"', 'name="elbow" type="prismatic"', "type", "joint elbow", "'prismatic' in B"),
]


def model(text, name="arm.urdf"):
    return ModelText(text.encode(), name)


# -------------------------------------------------------------------------------------------- two models


@pytest.mark.parametrize("before, after, quantity, where, cause", SPOILED, ids=[f"{s[2]}-{s[3]}" for s in SPOILED])
def test_the_spoiled_element_is_named_first(before, after, quantity, where, cause):
    assert ROBOT.count(before) == 1
    found = compare_models(model(ROBOT), model(ROBOT.replace(before, after))).differences
    assert (found[0].name, found[0].where) == (quantity, where) and cause in found[0].cause
    of_elements = [d for d in found if d.where.split()[0] in ("body", "joint", "actuator", "geometry", "frame")]
    assert {d.where for d in of_elements} == {where}
    for following in (d for d in found if d not in of_elements):
        assert following.cause == f"follows from {quantity} of {where}"


def test_equal_models_do_not_differ():
    result = compare_models(model(ROBOT), model(ROBOT))
    assert result.differences == []
    assert {"mass", "axis", "mass_matrix", "bias", "gravity_forces"} <= result.compared.keys()


def test_names_and_files_of_models_do_not_matter():
    assert not compare_models(model(ROBOT), model(ROBOT.replace('name="arm"', 'name="leg"'), "x.urdf")).differences


def test_what_one_model_lacks_is_named():
    other = ROBOT.replace('"elbow"', '"wrist"').replace('"fore"', '"hand"')
    found = {(d.where, d.cause) for d in compare_models(model(ROBOT), model(other)).differences}
    assert ("joint elbow", "is in A, not in B") in found and ("joint wrist", "is in B, not in A") in found
    assert ("body fore", "is in A, not in B") in found and ("body hand", "is in B, not in A") in found


def test_the_tolerance_is_of_the_numbers():
    other = model(ROBOT.replace('mass value="1.5"', 'mass value="1.5001"'))
    assert not compare_models(model(ROBOT), other, tolerance=1e-3).differences
    assert compare_models(model(ROBOT), other, tolerance=1e-5).differences
    with pytest.raises(ArgumentError, match="tolerance must not be negative"):
        compare_models(model(ROBOT), other, tolerance=-1.0)


def test_a_model_and_its_conversion_are_the_same(tmp_path):
    succeed("convert", PENDULUM, "--to", "sdf", "-o", tmp_path / "x.sdf")
    found = compare_models(PENDULUM, tmp_path / "x.sdf").differences
    assert not [d for d in found if d.where.split()[0] in ("body", "joint", "actuator")], found


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([1.0], [0.45359237], "pounds"),
        ([-1.0], [-9.80665], "newtons"),
        ([0.1, 0.2], [0.2, 0.1], "another order"),
        ([np.inf], [2.0], "a limit is set in one only"),
        ([1.0], [1.3], ""),
        ([1.0, 2.0], [1.0], ""),
    ],
)
def test_likely_causes(one, other, words):
    cause = likely_cause(np.array(one), np.array(other), "mass")
    assert words in cause and (words or not cause)


# ---------------------------------------------------------------------------------------------- engines


class StubbedPeers:
    """Engines whose answers a test gives."""

    def __init__(self, monkeypatch, answers):
        self.requests = {}
        monkeypatch.setattr("mbcli.comparison.engine_comparison.installed", lambda: list(answers))

        def ask(engine, request):
            self.requests[engine] = request
            answer = answers[engine](request)
            if isinstance(answer, PeerError):
                raise answer
            return answer

        monkeypatch.setattr("mbcli.comparison.engine_comparison.ask", ask)


def own_answer(overrides=(), **changes):
    """What an engine answers that computes as ours does, of a model with other parameters."""

    def answer(request):
        from mbcli.comparison.own_engine import evaluate_own
        from mbcli.models import load_model

        plant = load_model(PENDULUM, dt=0.0, overrides=overrides).plant
        q, v = ([request[x][name] for name in ("shoulder", "elbow")] for x in "qv")
        document = evaluate_own(plant, np.array(q), np.array(v), request["duration"])
        return json.loads(json.dumps(document | {"version": "1"}, default=np.ndarray.tolist)) | changes

    return answer


STATE = (np.array([0.5, -0.3]), np.array([1.0, 2.0]))


def compared(monkeypatch, overrides=(), own=(), **changes) -> Comparison:
    from mbcli.models import load_model

    StubbedPeers(monkeypatch, {"mujoco": own_answer(overrides, **changes)})
    return compare_engines(load_model(PENDULUM, dt=0.0, overrides=own), STATE, duration=0.2)


def test_an_engine_that_computes_the_same(monkeypatch):
    result = compared(monkeypatch)
    assert result.differences == [] and result.engines == {"mujoco": "version 1"}
    assert {"mass_matrix", "bias", "accelerations", "pose", "simulation"} <= result.compared.keys()


def test_an_engine_that_ignores_damping_or_drops_armature(monkeypatch):
    result = compared(monkeypatch, own=["joint.*.damping=0.7"])
    assert [(d.name, d.cause) for d in result.differences] == [
        ("accelerations", "the damping of joints is ignored"),
        ("simulation", "follows from accelerations"),
    ]
    result = compared(monkeypatch, own=["joint.*.armature=0.4", "joint.*.damping=0.7"])
    assert [(d.name, d.cause) for d in result.differences[:2]] == [
        ("mass_matrix", "the armature (rotor inertia) is dropped"),
        ("accelerations", "damping and armature are ignored"),
    ]


def test_an_engine_with_another_inertia_or_mass(monkeypatch):
    result = compared(monkeypatch, ["body.lower.inertia=*2"])
    assert (result.differences[0].name, result.differences[0].where) == ("inertia", "body lower")
    assert "twice" in result.differences[0].cause
    assert {d.cause for d in result.differences[1:]} == {"follows from inertia of body lower"}
    result = compared(monkeypatch, ["body.lower.mass=*1000"])
    assert "grams for kilograms" in result.differences[0].cause and result.differences[0].where == "body lower"


def test_other_limits_and_other_coordinates(monkeypatch):
    result = compared(monkeypatch, ["joint.elbow.lower_limit=-1"])
    assert [(d.name, d.where) for d in result.differences] == [("limits", "joint elbow")]
    result = compared(monkeypatch, velocities=["shoulder", "ellbow"])
    assert result.differences[0].name == "coordinates" and "it has no elbow; only it has ellbow" in (
        result.differences[0].cause
    )


def test_a_crash_of_an_engine_is_a_line(monkeypatch):
    StubbedPeers(monkeypatch, {"pydrake": lambda r: PeerError("crashed: SIGSEGV"), "mujoco": own_answer()})
    result = compare_engines(PENDULUM, duration=0.0)
    assert result.engines == {"pydrake": "crashed: SIGSEGV", "mujoco": "version 1"} and not result.differences


def test_processes_that_die_or_refuse(monkeypatch, tmp_path):
    request = {"path": str(PENDULUM), "format": "urdf"}
    (tmp_path / "dying_engine.py").write_text(
        "import os, signal\ndef evaluate(r): os.kill(os.getpid(), signal.SIGSEGV)"
    )
    (tmp_path / "slow_engine.py").write_text("import time\ndef evaluate(r): time.sleep(60)")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    for name in ("dying_engine", "slow_engine"):
        runner = tmp_path / f"run_{name}.py"
        runner.write_text(
            "import sys, importlib\nfrom mbcli.comparison import peer_process as p\n"
            f"p.import_module = lambda name: importlib.import_module('{name}')\np.main('mujoco')\n"
        )
    original = engine_process.child_processes.run

    def run(command, **options):
        return original([command[0], str(tmp_path / f"run_{engine}.py")], **options)

    monkeypatch.setattr(engine_process.child_processes, "run", run)
    engine = "dying_engine"
    with pytest.raises(PeerError, match="crashed: SIGSEGV"):
        ask("mujoco", request)
    engine = "slow_engine"
    with pytest.raises(PeerError, match="no result within"):
        ask("mujoco", request, longest=0.5)
    with pytest.raises(PeerError, match="reads no SDF"):
        ask("mujoco", request | {"format": "sdf"})


def test_an_engine_that_fails_at_import_cannot_be_asked(monkeypatch, tmp_path):
    (tmp_path / "pydrake").mkdir()
    (tmp_path / "pydrake/__init__.py").write_text("raise RuntimeError('no libdrake.so')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(PeerError, match="cannot be asked: RuntimeError: no libdrake.so"):
        ask("pydrake", {"path": str(PENDULUM), "format": "urdf"})


def test_unknown_and_missing_engines(monkeypatch):
    with pytest.raises(ArgumentError, match="there is no engine 'mujocoo'; did you mean mujoco?"):
        compare_engines(PENDULUM, engines=["mujocoo"])
    monkeypatch.setattr("mbcli.comparison.engine_comparison.installed", list)
    with pytest.raises(ResourceError, match="the engine mujoco is not installed"):
        compare_engines(PENDULUM, engines=["mujoco"])
    with pytest.raises(ResourceError, match="no other engine is installed"):
        compare_engines(PENDULUM)


@pytest.mark.peers("pydrake", "pinocchio", "mujoco")
@pytest.mark.parametrize("options", [{}, {"weld": ["base"]}], ids=["floating", "welded"])
def test_the_engines_agree(options, tmp_path):
    from mbcli.models import load_model

    path = tmp_path / "arm.urdf"
    path.write_text(ROBOT.replace('damping="0.3"', 'damping="0"').replace('damping="0.2"', 'damping="0"'))
    loaded = load_model(path, dt=0.0, **options)
    plant = loaded.plant
    q, v = plant.GetDefaultPositions(), np.zeros(plant.num_velocities())
    if not options:
        q[:4] = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])
        q[4:7] = 0.3, -0.2, 1.0
    q[-2:], v[-2:] = (0.4, -0.7), (0.5, -0.3)
    result = compare_engines(
        loaded, (q, v), engines=["pydrake", "pinocchio", "mujoco"], tolerance=1e-9, duration=0.3 if options else 0.0
    )
    assert all(version.startswith(("version", "compared")) for version in result.engines.values()), result.engines
    assert not result.differences, result.differences
    assert {"mass_matrix", "bias", "gravity_forces", "accelerations", "pose", "mass"} <= result.compared.keys()


@pytest.mark.peers("pinocchio")
def test_engines_that_leave_something_out_are_found():
    found = compare_engines(SAMPLES / "arm7.urdf", engines=["pinocchio"], tolerance=1e-8, duration=0.0).differences
    assert [(d.name, d.cause) for d in found][0] == ("mass_matrix", "the armature (rotor inertia) is dropped")


# --------------------------------------------------------------------------------------------- command


def test_two_models_in_the_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.urdf").write_text(ROBOT)
    Path("b.urdf").write_text(ROBOT.replace('mass value="1.5"', 'mass value="3"'))
    same = succeed("compare", "a.urdf", "a.urdf")
    assert same.out.startswith("the models are the same (")
    result = cli("compare", "a.urdf", "b.urdf")
    assert result.code == 1 and result.out.splitlines()[1].split()[:3] == ["mass", "body", "fore"]
    assert "4 differences; A is a.urdf, B is b.urdf" in result.out
    document = cli("compare", "a.urdf", "b.urdf", "--json", "-o", "d.json")
    assert document.code == 1 and document.out == ""
    content = json.loads(Path("d.json").read_text())
    jsonschema.validate(content, json.loads(schema_text("results")))
    assert content["quantities"][0]["where"] == "body fore" and content["other_model"]["files"][0]["path"]
    assert cli("compare", "a.urdf", "b.urdf", "-o", "d.json").code == 6
    assert cli("compare", "a.urdf", "b.urdf", "--tolerance", "3").code == 0


def test_engines_in_the_shell(monkeypatch):
    StubbedPeers(monkeypatch, {"mujoco": own_answer(), "pydrake": lambda r: PeerError("refused the model: no")})
    result = succeed("compare", PENDULUM, "--at", "elbow=0.5", "--duration", "0", "--json")
    document = result.json()
    jsonschema.validate(document, json.loads(schema_text("results")))
    assert document["engines"] == {"mujoco": "version 1", "pydrake": "refused the model: no"}
    assert document["quantities"] == [] and document["other_model"] is None
    text = succeed("compare", PENDULUM, "--duration", "0").out
    assert "pydrake: refused the model: no" in text and "the engines agree: " in text
    StubbedPeers(monkeypatch, {"mujoco": own_answer(["body.upper.mass=*2"])})
    result = cli("compare", PENDULUM, "--duration", "0")
    assert result.code == 1 and "body upper" in result.out


def test_no_result_of_an_engine_is_no_agreement(monkeypatch):
    def refuses(request):
        return PeerError("reads no SDF")

    none = ("compare", PENDULUM, "--duration", "0")
    StubbedPeers(monkeypatch, {"mujoco": refuses, "pydrake": refuses})
    result = cli(*none)
    assert (result.code, result.err) == (
        4,
        "mbcli: error: mujoco was not compared: reads no SDF; pydrake was not compared: reads no SDF\n",
    )
    assert "mujoco: reads no SDF" in result.out
    StubbedPeers(monkeypatch, {"mujoco": own_answer(), "pydrake": refuses})
    assert cli(*none).code == 0  # one that happens to be installed
    result = cli(*none, "--engines", "mujoco,pydrake", "--json")
    assert result.code == 4 and result.json()["compared"] and "pydrake was not compared" in result.err
    StubbedPeers(monkeypatch, {"mujoco": own_answer(["body.upper.mass=*2"]), "pydrake": refuses})
    assert cli(*none, "--engines", "mujoco,pydrake").code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((PENDULUM, PENDULUM, PENDULUM), 2, "compare takes one model or two, not 3"),
        ((PENDULUM, PENDULUM, "--at", "elbow=1"), 2, "no options of the state"),
        ((PENDULUM, PENDULUM, "--engines", "mujoco"), 2, "--engines is for one model"),
        ((PENDULUM, "--engines", "bullet"), 2, "there is no engine 'bullet'; did you mean pybullet?"),
        (("a.h5", "b.h5"), 2, "two logs are compared by `mbcli log diff`"),
        ((PENDULUM, "gone.urdf"), 4, "gone.urdf: no such file"),
        ((PENDULUM, PENDULUM, "--format", "csv"), 2, "compare gives text or json, not csv"),
        ((SAMPLES / "herd.dmd.yaml",), 2, "one model file"),
    ],
)
def test_bad_input_of_the_command(arguments, code, message):
    result = cli("compare", *arguments)
    assert result.code == code, result.err
    assert message in result.err
