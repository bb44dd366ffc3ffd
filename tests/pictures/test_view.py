"""`mbcli view` without a browser: the scene of a model, the server, and the model that follows its files."""

import contextlib
import http.client
import json
import os
import socket
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import click
import numpy as np
import pytest
from command_line import cli, start
from repository import SAMPLES

from mbcli.cli.options import Options
from mbcli.cli.view import _loader, view
from mbcli.errors import ModelError, ResourceError
from mbcli.models.loading import load_model
from mbcli.models.placement import put_on_ground
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.state.context import Context
from mbcli.pictures import live_model
from mbcli.pictures.live_model import LiveModel
from mbcli.pictures.model_scene import MeshStore, drawing_context, scene_of
from mbcli.pictures.packing import (
    pack_arrays,
    pack_mesh,
    scene_document,
    scene_from_text,
    scene_text,
    unpack_arrays,
    unpack_mesh,
)
from mbcli.pictures.scene import PictureMesh, composed, matrix4, moved, pose_row
from mbcli.pictures.web_server import MOST_CONNECTIONS, MOST_LISTENERS, MOST_WAITING, PageServer

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 .2"/><mass value="2"/>
<inertia ixx=".4" iyy=".3" izz=".2" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 .2"/><geometry><box size=".1 .1 .4"/></geometry><material name="m">
<color rgba="1 0 0 .5"/></material></visual>
<visual><geometry><mesh filename="tetrahedron.obj"/></geometry></visual>
<collision><geometry><sphere radius=".1"/></geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 {height}"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="9" velocity="9"/></joint></robot>"""
TETRAHEDRON = "v 0 0 0\nv .3 0 0\nv 0 .3 0\nv 0 0 .3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.format(height=0.5))
    (tmp_path / "tetrahedron.obj").write_text(TETRAHEDRON)
    return tmp_path / "arm.urdf"


def live(path, **settings):
    def read():
        loaded = load_model(path, contact=True, **settings)
        return loaded, None

    return LiveModel(read, [os.fspath(path)])


# ---------------------------------------------------------------------------------------------- scene


def test_a_scene_has_what_the_file_says(arm):
    scene = scene_of(load_model(arm, contact=True, weld_base=True))
    assert [body.name for body in scene.bodies] == ["world", "arm::base", "arm::upper"]
    box, mesh, ball = scene.shapes
    assert (box.kind, box.size, box.color, box.role, box.body) == ("box", (0.1, 0.1, 0.4), (1, 0, 0, 0.5), "visual", 2)
    assert (ball.kind, ball.size, ball.role) == ("sphere", (0.1,), "collision")
    assert scene.meshes[mesh.mesh].triangles.shape == (4, 3)
    (shoulder,) = scene.coordinates
    assert (shoulder.lower, shoulder.upper, shoulder.unit) == (-1.0, 2.0, "rad")
    hinge = next(joint for joint in scene.joints if joint.count)
    assert (hinge.axis, hinge.X_PF[4:]) == ((0, 1, 0), (0, 0, 0.5))
    assert scene.weight == pytest.approx(2 * 9.81)


def test_the_ellipsoid_of_a_body_has_its_inertia(arm):
    body = scene_of(load_model(arm, contact=True)).bodies[2]
    a, b, c = body.ellipsoid  # of a solid ellipsoid: Ixx = m (b^2 + c^2) / 5
    R = matrix4(body.X_BE)[:3, :3]
    I = R @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ R.T * body.mass / 5.0
    np.testing.assert_allclose(I, np.diag([0.4, 0.3, 0.2]), atol=1e-12)
    np.testing.assert_allclose(body.X_BE[4:], [0, 0, 0.2])


@pytest.mark.parametrize("name", ["all_joints.sdf", "quadruped.urdf", "herd.dmd.yaml"])
def test_poses_of_a_scene_are_those_of_kinematics(name):
    loaded = load_model(SAMPLES / name, contact=True)
    plant, rng = loaded.plant, np.random.default_rng(3)
    q = plant.GetDefaultPositions() + 0.1 * rng.normal(size=plant.num_positions())
    scene = scene_of(loaded, q)
    context = Context(plant, compiled=False)
    plant.SetPositions(context, q)
    for body, row in zip(plant.elements.bodies, scene.X_WB, strict=True):
        expected = plant.EvalBodyPoseInWorld(context, body)
        np.testing.assert_allclose(matrix4(row), expected.GetAsMatrix4(), atol=1e-14)


def test_poses_as_rows_multiply_as_matrices_do():
    from mbcli.math import RigidTransform, RollPitchYaw

    A, B = RigidTransform(RollPitchYaw(0.3, -1.2, 2.0), [1, 2, 3]), RigidTransform(RollPitchYaw(1, 0.2, -2), [0, 1, -1])
    row = composed(np.array([pose_row(A)]), np.array(pose_row(B)))[0]
    np.testing.assert_allclose(matrix4(row), (A @ B).GetAsMatrix4(), atol=1e-14)
    np.testing.assert_allclose(moved(np.array(pose_row(A)), [1, 0, 2]), A @ np.array([1.0, 0, 2]), atol=1e-14)


def test_a_mesh_that_is_missing_is_a_note_and_the_rest_is_drawn(arm):
    (arm.parent / "tetrahedron.obj").write_text("f 1 2 3\n")
    scene = scene_of(load_model(arm, contact=True))
    assert [shape.kind for shape in scene.shapes] == ["box", "sphere"]
    assert len(scene.notes) == 1 and "tetrahedron.obj" in scene.notes[0]


# ---------------------------------------------------------------------------------------------- packs


def test_packed_numbers_come_back_to_half_a_step():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(50, 3, 4)) * 1e3, np.array([2**31 - 1, -(2**31) + 1, 5])
    back = unpack_arrays(pack_arrays({"a": (a, 1e-5), "b": (b, 1), "none": (np.zeros((0, 3)), 1)}))
    assert np.abs(back["a"] - a).max() <= 0.5e-5 + 1e-10
    np.testing.assert_array_equal(back["b"], b)
    assert back["none"].shape == (0, 3)
    with pytest.raises(ModelError, match="not finite"):
        pack_arrays({"a": (np.array([np.nan]), 1)})


def test_a_mesh_loses_no_more_than_a_part_of_65535_of_its_size():
    rng = np.random.default_rng(2)
    mesh = PictureMesh(rng.normal(size=(200, 3)), rng.integers(0, 200, size=(300, 3)))
    back = unpack_mesh(pack_mesh(mesh))
    np.testing.assert_array_equal(back.triangles, mesh.triangles)
    assert np.abs(back.vertices - mesh.vertices).max() <= np.ptp(mesh.vertices, axis=0).max() / 65535


def test_a_scene_as_text_comes_back(arm):
    scene = scene_of(load_model([arm, SAMPLES / "quadruped.urdf"], contact=True, ground=0.0))
    back = scene_from_text(scene_text(scene), "x.h5")
    for name in ("bodies", "shapes", "frames", "joints", "coordinates", "name", "weight"):
        assert getattr(back, name) == getattr(scene, name), name
    np.testing.assert_array_equal(back.X_WB, scene.X_WB)
    assert back.meshes.keys() == scene.meshes.keys()


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d["scene"].pop("bodies"),
        lambda d: d["scene"]["shapes"][0].update(body=99),
        lambda d: d["scene"]["shapes"][0].update(kind="teapot"),
        lambda d: d["scene"].update(version=99),
        lambda d: d["scene"]["joints"][0].update(child=99),
        lambda d: d["scene"]["joints"][0].update(X_PF=[1, 2]),
        lambda d: d["scene"]["bodies"][1].update(com="abc"),
        lambda d: d["scene"]["shapes"][0].update(size=[1, None, float("nan")]),
        lambda d: d["scene"].update(X_WB=[[1, 2]]),
        lambda d: d["meshes"].clear(),
        lambda d: d["meshes"].update(dict.fromkeys(d["meshes"], "AAAA")),
    ],
)
def test_a_scene_that_is_damaged_is_refused_in_one_line(arm, damage):
    document = json.loads(scene_text(scene_of(load_model(arm, contact=True))))
    damage(document)
    with pytest.raises(ModelError, match="^x.h5: error: [^\n]*$"):
        scene_from_text(json.dumps(document), "x.h5")


# ---------------------------------------------------------------------------------------------- server


@contextmanager
def served(model):
    get = {"/": model.page, "/scene": model.scene_json, "/mesh/": model.mesh}
    with PageServer(get, {"/poses": model.poses}) as server:
        yield server


def ask(server, path, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, urlsplit(server.url).path.rstrip("/") + path, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def test_the_server_sends_the_page_the_scene_and_its_meshes(arm):
    model = live(arm)
    with served(model) as server:
        status, page = ask(server, "/")
        assert status == 200 and b"<canvas" in page and b"http://" not in page.partition(b"<script>")[0]
        scene = json.loads(ask(server, "/scene")[1])
        assert scene.pop("framing")["size"] > 0.0 and scene == json.loads(json.dumps(scene_document(model.scene)))
        (key,) = scene["meshes"]
        assert unpack_mesh(ask(server, f"/mesh/{key}")[1]).triangles.shape == (4, 3)
        assert ask(server, "/scene", Host=f"localhost:{server.port}")[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "/mesh/../arm.urdf", "/mesh/", "/mesh", "/mesh/x", "/arm.urdf", "/mesh/..%2farm.urdf"],
)
def test_the_server_has_no_files(arm, path):
    with served(live(arm)) as server:
        assert ask(server, path)[0] == 404


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Host": "127.0.0.1:1"}, {"Origin": "http://evil.example"}, {"Host": ""}]
)
def test_the_server_answers_pages_of_its_own_alone(arm, headers):
    with served(live(arm)) as server:
        assert ask(server, "/scene", **headers)[0] == 403
        json_body = {"method": "POST", "body": '{"q": [0]}', "Content_Type": "application/json"}
        assert ask(server, "/poses", **json_body, **headers)[0] == 403


def test_the_server_answers_the_address_that_it_printed_alone(arm):
    with served(live(arm)) as server:
        token = urlsplit(server.url).path.strip("/")
        other = "x" * len(token)
        for path in ("/", "/scene", f"/{other}/", f"/{other}/scene", f"/{token}", f"/{token[:-1]}/scene"):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            connection.request("GET", path)
            response = connection.getresponse()
            assert (response.status, response.read()) == (403, b"only at the address that mbcli printed"), path
        with served(live(arm)) as second:
            assert urlsplit(second.url).path != urlsplit(server.url).path and len(token) >= 20


def test_the_server_bounds_pages_that_listen_and_what_waits_for_them(arm):
    with served(live(arm)) as server, contextlib.ExitStack() as stack:
        responses = []
        for _ in range(MOST_LISTENERS + 1):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            stack.callback(connection.close)
            connection.request("GET", urlsplit(server.url).path + "events")
            responses.append(connection.getresponse())
        assert [response.status for response in responses] == [200] * MOST_LISTENERS + [503]
        listener = server.forget(server._listeners[0]) or server.listen()  # that nobody reads
        for _ in range(2 * MOST_WAITING):
            server.tell("scene", {})
        assert listener.qsize() <= MOST_WAITING


def test_the_server_bounds_its_connections(arm):
    with served(live(arm)) as server, contextlib.ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as refused:
            assert refused.recv(1) == b""


def test_the_server_takes_json_alone(arm):
    with served(live(arm)) as server:
        assert ask(server, "/poses", "POST", '{"q": [0]}', Content_Type="text/plain")[0] == 404
        assert ask(server, "/poses", "POST", "{", Content_Type="application/json")[0] == 400
        assert ask(server, "/poses", "POST", "{}", Content_Type="application/json", Content_Length="9999999")[0] == 413
        for body in ("[]", "{}", '{"q": "x"}', '{"q": [1, 2]}', '{"q": [1e999]}', '{"q": null}'):
            status, answer = ask(server, "/poses", "POST", body, Content_Type="application/json")
            assert status == 200 and "finite numbers" in json.loads(answer)["error"]


def test_a_taken_port_is_said(arm):
    with served(live(arm)) as server, pytest.raises(ResourceError, match=str(server.port)):
        PageServer({}, port=server.port)


def test_poses_are_those_of_kinematics(arm):
    model = live(arm, weld_base=True)
    answer = model.poses({"q": [0.7]})
    np.testing.assert_allclose(
        answer["X_WB"][2], [np.cos(0.35), 0, np.sin(0.35), 0, 0, 0, 0.5], atol=1e-9
    )  # a turn of 0.7 about y


def test_loops_are_closed_and_the_moved_joint_stays():
    model = live(SAMPLES / "closed_chains" / "four_bar.urdf")
    q = model.scene.q.copy()
    q[0] += 0.2
    began = time.process_time()
    answer = model.poses({"q": q.tolist(), "moved": 0})
    print(f"closed in {time.process_time() - began:.3f} s")
    assert answer["adjusted"] and answer["note"] is None
    assert answer["q"][0] == pytest.approx(q[0], abs=1e-3)
    chains = ClosedChains(drawing_context(model.loaded.plant, answer["q"]))
    assert np.linalg.norm(chains.position_errors(np.array(answer["q"]))[0]) < 1e-8


def test_contacts_push_what_stands_on_the_ground_up():
    model = live(SAMPLES / "quadruped.urdf", ground=0.0)
    q = model.scene.q.copy()
    q[6] = 0.36
    contacts = model.poses({"q": q.tolist(), "contacts": True})["contacts"]
    assert contacts and all(contact["force"][2] > 0.0 for contact in contacts)
    assert model.poses({"q": q.tolist()})["contacts"] == []


def test_a_contact_surface_is_triangles_with_pressures(tmp_path):
    (tmp_path / "ball.urdf").write_text(
        '<robot name="ball"><link name="ball"><inertial><mass value="1"/>'
        '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><sphere radius="0.1"/></geometry>'
        '<drake:proximity_properties xmlns:drake="x"><drake:compliant_hydroelastic/>'
        '<drake:mesh_resolution_hint value="0.03"/><drake:hydroelastic_modulus value="1e5"/>'
        "</drake:proximity_properties></collision></link></robot>"
    )
    model = live(tmp_path / "ball.urdf", ground=0.0)
    q = [1.0, 0, 0, 0, 0, 0, 0.08]
    answer = model.poses({"q": q, "contacts": True})
    corners, pressures = np.reshape(answer["surfaces"]["vertices"], (-1, 3, 3)), np.array(answer["surfaces"]["values"])
    assert len(corners) > 10 and pressures.shape == (3 * len(corners),) and pressures.min() > -1e-6
    np.testing.assert_allclose(corners[:, :, 2], 0.0, atol=1e-6)  # in the plane of the rigid ground
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2.0
    (contact,) = answer["contacts"]
    assert contact["force"][2] == pytest.approx(area @ pressures.reshape(-1, 3).mean(axis=1), rel=1e-6)


# ---------------------------------------------------------------------------------------------- files


def test_a_saved_file_is_read_again_within_half_a_second(arm):
    model = live(arm)
    assert not model.is_changed()
    arm.write_text(ARM.format(height=0.75))
    began = time.process_time()
    assert model.is_changed() and model.reload()
    assert time.process_time() - began < 0.5
    assert model.scene.joints[0].X_PF[6] == 0.75 and not model.is_changed()


def test_a_mesh_that_is_saved_is_read_again(arm):
    model = live(arm)
    before = set(model.scene.meshes)
    (arm.parent / "tetrahedron.obj").write_text(TETRAHEDRON.replace(".3", ".4"))
    assert model.is_changed() and model.reload()
    assert set(model.scene.meshes) != before and len(model.scene.meshes) == 1


def test_a_broken_file_keeps_the_picture_until_it_is_mended(arm):
    model = live(arm)
    arm.write_text("<robot")
    assert model.is_changed() and not model.reload()
    assert "arm.urdf" in model.problem and not model.is_changed()
    assert len(model.poses({"q": model.scene.q.tolist()})["X_WB"]) == 3
    arm.write_text(ARM.format(height=0.5))
    assert model.is_changed() and model.reload() and model.problem is None


def test_meshes_are_read_once(arm, monkeypatch):
    store, loaded, count = MeshStore(), load_model(arm, contact=True), []
    from mbcli.pictures import model_scene

    read = model_scene.load_triangles
    monkeypatch.setattr(model_scene, "load_triangles", lambda *a, **k: count.append(a) or read(*a, **k))
    for _ in range(3):
        scene_of(loaded, meshes=store)
    assert len(count) == 1


# ---------------------------------------------------------------------------------------------- command


def test_a_file_that_was_added_with_a_fault_is_read_when_it_is_mended(arm):
    """The model has not been read with it, so that nobody knows that it belongs to the model."""
    scene, added = arm.parent / "scene.dmd.yaml", arm.parent / "added.urdf"
    scene.write_text("directives:\n- add_model: {name: a, file: arm.urdf}\n")
    process = start("view", scene, "--no-browser")
    assert process.stdout.readline()
    added.write_text("<robot")
    scene.write_text(scene.read_text() + "- add_model: {name: b, file: added.urdf}\n")
    assert "added.urdf:1:" in process.stderr.readline()
    added.write_text(ARM.format(height=0.7))
    assert process.stderr.readline() == "mbcli: read again\n"
    added.unlink()
    assert "added.urdf" in process.stderr.readline()
    added.write_text(ARM.format(height=0.7))
    assert process.stderr.readline() == "mbcli: read again\n"
    process.terminate()
    assert process.communicate(timeout=20)[1] == ""


def test_view_serves_until_it_is_stopped(arm):
    process = start("view", arm, "--no-browser")
    url = process.stdout.readline().strip()
    address = urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=20)
    connection.request("GET", address.path + "scene")
    assert json.loads(connection.getresponse().read())["name"] == "arm"
    process.terminate()
    assert process.wait(timeout=20) == 143
    assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["nowhere.urdf"], 4, "nowhere.urdf"),
        (["-"], 2, "give a file"),
        ([SAMPLES / "pendulum.urdf", "--port", "70000"], 2, "--port"),
        ([SAMPLES / "pendulum.urdf", "--pose", "nod"], 2, "nod"),
        ([], 2, "MODEL"),
    ],
)
def test_view_refuses_in_one_line(arguments, code, message):
    result = cli("view", *arguments, "--no-browser")
    assert result.code == code and message in result.err and result.err.count("\n") == 1


def test_paths_of_models_that_are_no_files_are_not_watched(arm):
    assert live_model.watched_paths([os.fspath(arm), "-", "package://x/y.urdf"]) == [os.fspath(arm)]


def test_what_floats_stands_on_the_ground_as_in_runs_and_without_one_at_zero(tmp_path):
    dog = SAMPLES / "quadruped.urdf"

    def height(*words):
        arguments = view.make_context("view", [str(dog), *words], obj={"verbosity": 0}).params
        model, state = Options(**arguments), Options(**arguments)
        loaded, q = _loader(click.Context(view, obj={"verbosity": 0}), model, state, arguments["ground"])()
        return q[loaded.plant.GetPositionNames().index("quadruped_trunk_z")]

    run = load_model(dog, contact=True, ground=0.25)
    context = run.plant.CreateDefaultContext()
    put_on_ground(run.plant, context, 0.25, np.zeros(run.plant.num_positions(), dtype=bool))
    start = run.plant.GetPositions(context)[run.plant.GetPositionNames().index("quadruped_trunk_z")]
    assert height("--ground", "0.25") == start > 0.25
    assert height() == pytest.approx(start - 0.25) and height("--at", "quadruped_trunk_z=0.1") == 0.1
