"""MCAP and rrd of a log with poses: a scene that moves. Read back by the viewers' own packages where they are there."""

import json
import shutil
import sys
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.log import open_log
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.models import load_model
from mbcli.pictures.timelines import recording_id

ARM = SAMPLES / "quadruped.urdf"
PENDULUM = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("timelines") / "run.h5"
    words = ("--ground", "--random", 3, "--at", "trunk_z=2", "-t", 0.05, "--fields", "poses,energy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MBCLI_JIT", "0")
        succeed("-q", "simulate", ARM, *words, "-o", path)
    return path


class Writer:
    """The interface of mcap.writer.Writer that the export uses; keeps what is written."""

    written = None

    def __init__(self, stream):
        Writer.written = self
        self.schemas, self.topics, self.messages = [], [], []

    def start(self, profile, library):
        pass

    def register_schema(self, name, encoding, data):
        assert encoding == "jsonschema"
        jsonschema.Draft202012Validator.check_schema(json.loads(data))
        self.schemas.append((name, json.loads(data)))
        return len(self.schemas)

    def register_channel(self, topic, message_encoding, schema_id):
        self.topics.append((topic, *self.schemas[schema_id - 1]))
        return len(self.topics)

    def add_message(self, channel, log_time, data, publish_time):
        topic, name, schema = self.topics[channel - 1]
        document = json.loads(data)
        jsonschema.validate(document, schema)
        self.messages.append((topic, name, log_time, document))

    def finish(self):
        pass


@pytest.fixture
def messages(path, monkeypatch):
    """(topic, schema, time [ns], document) of all messages of the log as MCAP."""
    monkeypatch.setitem(sys.modules, "mcap", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "mcap.writer", SimpleNamespace(Writer=Writer))
    succeed("log", "export", path, "--to", "mcap")
    return Writer.written.messages


def poses_of_bodies(path):
    """{name: X_WB (n, 4, 4)} by the kinematics of the model at the positions of the log."""
    plant = load_model(ARM, ground=0.0).plant
    context = plant.CreateDefaultContext()
    poses = {}
    with open_log(path) as log:
        for q in log.q:
            plant.SetPositions(context, q)
            for body in plant.elements.bodies[1:]:
                X_WB = body.EvalPoseInWorld(context).GetAsMatrix4()
                poses.setdefault(f"quadruped::{body.name()}", []).append(X_WB)
    return {name: np.array(matrices) for name, matrices in poses.items()}


def assert_pose(matrix, translation, rotation):
    x, y, z, w = rotation
    np.testing.assert_allclose(matrix[:3, 3], translation, atol=1e-12)
    np.testing.assert_allclose(matrix[:3, :3], matrix_from_quaternion(np.array([w, x, y, z])), atol=1e-12)


def test_mcap_has_the_transforms_of_all_bodies(path, messages):
    poses = poses_of_bodies(path)
    transforms = [message for message in messages if message[0] == "/derived/poses"]
    assert {name for _, name, _, _ in transforms} == {"foxglove.FrameTransforms"}
    assert [time for _, _, time, _ in transforms] == [k * 10_000_000 for k in range(6)]
    for k, (_, _, time, document) in enumerate(transforms):
        assert {each["child_frame_id"] for each in document["transforms"]} == set(poses)
        for each in document["transforms"]:
            assert each["parent_frame_id"] == "world" and each["timestamp"] == {"sec": 0, "nsec": time}
            translation = [each["translation"][axis] for axis in "xyz"]
            rotation = [each["rotation"][axis] for axis in "xyzw"]
            assert_pose(poses[each["child_frame_id"]][k], translation, rotation)


def test_mcap_has_the_shapes_of_the_bodies_once(messages):
    ((topic, name, time, document),) = [message for message in messages if message[0] == "/scene"]
    assert (name, time, document["deletions"]) == ("foxglove.SceneUpdate", 0, [])
    entities = {entity["frame_id"]: entity for entity in document["entities"]}
    assert all(entity["frame_locked"] and entity["lifetime"] == {"sec": 0, "nsec": 0} for entity in entities.values())
    (trunk,) = entities["quadruped::trunk"]["triangles"]
    corners = np.array([[point[axis] for axis in "xyz"] for point in trunk["points"]])
    np.testing.assert_allclose(np.ptp(corners, axis=0), [0.42, 0.2, 0.12])  # the box of the file
    assert max(trunk["indices"]) == len(corners) - 1 and len(trunk["indices"]) % 3 == 0


def test_a_log_without_poses_has_no_scene(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcap", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "mcap.writer", SimpleNamespace(Writer=Writer))
    succeed("log", "export", path, "--to", "mcap", "--fields", "q")
    assert {topic for topic, *_ in Writer.written.topics} == {"/state/q"}


def test_the_messages_come_back_by_the_reader_of_mcap(path, tmp_path):
    reader = pytest.importorskip("mcap.reader")
    succeed("log", "export", path, "-o", tmp_path / "run.mcap")
    poses = poses_of_bodies(path)
    with open(tmp_path / "run.mcap", "rb") as stream:
        read = [
            (c.topic, s.name, s.encoding, json.loads(m.data)) for s, c, m in reader.make_reader(stream).iter_messages()
        ]
    transforms = [document for topic, *_, document in read if topic == "/derived/poses"]
    assert len(transforms) == 6 and {encoding for _, _, encoding, _ in read} == {"jsonschema"}
    last = {each["child_frame_id"]: each for each in transforms[-1]["transforms"]}
    for name, matrices in poses.items():
        np.testing.assert_allclose([last[name]["translation"][axis] for axis in "xyz"], matrices[-1, :3, 3])
    assert [name for topic, name, *_ in read if topic == "/scene"] == ["foxglove.SceneUpdate"]


def test_the_transforms_come_back_by_the_reader_of_rrd(path, tmp_path):
    chunk = pytest.importorskip("rerun.chunk")
    succeed("log", "export", path, "-o", tmp_path / "run.rrd")
    chunks = list(chunk.RrdReader(str(tmp_path / "run.rrd")).stream().to_chunks())
    rows = {each.entity_path.replace("\\", ""): each.to_record_batch().to_pydict() for each in chunks}
    for name, matrices in poses_of_bodies(path).items():
        columns = rows[f"/world/{name}"]
        for k, matrix in enumerate(matrices):
            (translation,), (rotation,) = columns["Transform3D:translation"][k], columns["Transform3D:quaternion"][k]
            np.testing.assert_allclose(matrix[:3, 3], translation, atol=1e-6)  # its numbers are of 32 bits
            w, xyz = rotation[3], rotation[:3]
            np.testing.assert_allclose(matrix[:3, :3], matrix_from_quaternion(np.array([w, *xyz])), atol=1e-6)
    assert len(rows["/world/quadruped::trunk/shape_0"]["Mesh3D:vertex_positions"][0]) == 8
    assert "/derived/energy_kinetic" in rows
    (recording,) = chunk.RrdReader(str(tmp_path / "run.rrd")).recordings()
    with open_log(path) as log:
        assert recording.recording_id == recording_id(log)


def test_two_runs_of_one_model_are_two_recordings(path, tmp_path, monkeypatch):
    """Rerun would draw them into one another."""
    copy = shutil.copy(path, tmp_path / "copy.h5")
    numbers = []
    monkeypatch.setenv("MBCLI_JIT", "0")
    for k in range(2):  # in one second
        succeed("-q", "simulate", PENDULUM, "--at", f"elbow={k}", "-t", "0.01", "-o", tmp_path / f"{k}.h5")
    for log in (path, copy, tmp_path / "0.h5", tmp_path / "1.h5"):
        with open_log(log) as opened:
            numbers.append(recording_id(opened))
    assert numbers[0] == numbers[1] and len(set(numbers)) == 3


def test_a_missing_package_is_named(path, monkeypatch):
    for package, extra in (("mcap.writer", "mcap"), ("rerun", "rerun")):
        monkeypatch.setitem(sys.modules, package, None)
        result = cli("log", "export", path, "--to", {"rerun": "rrd"}.get(extra, extra))
        assert result.code == 4 and f"pip install 'mbcli[{extra}]'" in result.err
