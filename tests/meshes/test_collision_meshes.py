"""Meshes that collide: read when something needs them, prepared once, kept for the next run, taken apart on request."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from command_line import cli, succeed

from mbcli.errors import ModelError, ResourceError
from mbcli.geometry import HalfSpace, Mesh, SceneGraph
from mbcli.math import RigidTransform
from mbcli.meshes import collision_hulls, kept_arrays
from mbcli.meshes.collision_hulls import hulls_of_file
from mbcli.models import load_model
from mbcli.multibody.compilation import compile_collision
from mbcli.multibody.plant import CoulombFriction, MultibodyPlant
from mbcli.multibody.tree import SpatialInertia

CORNERS = np.array([[x, y, z] for z in (0.0, 3.0) for y in (0.0, 2.0) for x in (0.0, 1.0)])
QUADS = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"]
# an L: 2 x 2 x 1 without its corner x > 1, y > 1
OUTLINE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def obj(corners, faces):
    return "".join("v {} {} {}\n".format(*c) for c in corners) + "".join(f"f {f}\n" for f in faces)


BRICK = obj(CORNERS, QUADS)
ELL = obj(
    [(x, y, z) for z in (0, 1) for x, y in OUTLINE],
    # the notch's corner is the first of the end faces: fans from there stay inside
    ["4 3 2 1 6 5", "10 11 12 7 8 9", *(f"{k + 1} {(k + 1) % 6 + 1} {(k + 1) % 6 + 7} {k + 7}" for k in range(6))],
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    monkeypatch.setattr(kept_arrays, "user_cache", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "meshes"


@pytest.fixture
def brick(tmp_path):
    path = tmp_path / "brick.obj"
    path.write_text(BRICK)
    return path


@pytest.fixture
def reads(monkeypatch):
    """Paths of mesh files that are opened or turned into triangles from here on."""
    found = []
    for name in ("load_triangles", "read_mesh_file"):
        real = getattr(collision_hulls, name)

        def counted(path, *rest, name=name, real=real, **options):
            found.append((name, str(path)))
            return real(path, *rest, **options)

        monkeypatch.setattr(collision_hulls, name, counted)
    return found


def prepared(reads):
    return [path for name, path in reads if name == "load_triangles"]


def same(a, b):
    assert a.is_convex == b.is_convex and len(a.hulls) == len(b.hulls)
    for x, y in zip(a.hulls, b.hulls, strict=True):
        for name in vars(x):
            np.testing.assert_array_equal(getattr(x, name), getattr(y, name))
            assert getattr(x, name).dtype == getattr(y, name).dtype


# ------------------------------------------------------------------------------ flat and broken meshes


def test_a_flat_mesh_collides_as_a_plate(tmp_path):
    """Turned and rounded to 32-bit numbers, as STL files have them."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) @ turn.T + [0.1, 0.2, 0.3]
    path = tmp_path / "flat.obj"
    path.write_text(obj(square.astype(np.float32).tolist(), ["1 2 3", "1 3 4"]))
    found = hulls_of_file(path)
    (hull,) = found.hulls
    assert found.is_convex and len(hull.vertices) == 8
    sides = np.abs(hull.face_normal @ turn[:, 2])
    assert sorted(sides.round(3)) == [0.0] * 4 + [1.0] * 2
    heights = (hull.vertices - [0.1, 0.2, 0.3]) @ turn[:, 2]
    assert 1e-6 < np.ptp(heights) < 1e-4
    for height in (0.11, 0.09, -0.09):  # a ball of 0.1 m beside it
        _, query = plant_of(path, False, np.array([0.1, 0.2, 0.3]) + height * turn[:, 2])
        (pair,) = query.ComputeSignedDistancePairwiseClosestPoints()
        assert pair.distance == pytest.approx(abs(height) - 0.1, abs=1e-4)
        assert abs(pair.nhat_BA_W @ turn[:, 2]) == pytest.approx(1.0)


def test_a_mesh_on_a_line_is_refused(tmp_path):
    path = tmp_path / "line.obj"
    path.write_text("v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n")
    with pytest.raises(ModelError, match=r"line\.obj: its vertices lie on a line"):
        hulls_of_file(path)


def test_a_robot_with_a_broken_mesh_loads_without_it(tmp_path, robot):
    from mbcli.models.loading import notes_on_contact

    (tmp_path / "brick.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    loaded = load_model(str(robot), contact=True, ground=0.0)
    assert len(loaded.plant.compiled_geometries().solids) == 1  # the ground
    (note,) = notes_on_contact(loaded)
    assert "is left out of contact" in note and "brick.obj: vertex 0 is not finite" in note
    query = loaded.plant.get_geometry_query_input_port().Eval(loaded.plant.CreateDefaultContext())
    assert not query.HasCollisions()
    with pytest.raises(ModelError, match=r"r\.urdf:\d+:\d+: error: geometry .*brick\.obj: vertex 0 is not finite"):
        load_model(str(robot), contact=True, ground=0.0, strict=True).plant.compiled_geometries()
    assert cli("contact", robot, "--ground", "--missing-meshes", "error").code == 3
    assert succeed("contact", robot, "--ground").out == "nothing touches\n"


# ------------------------------------------------------------------------------------------- kept


def test_a_hull_is_prepared_once_for_a_content_a_format_and_a_scale(tmp_path, brick, reads):
    first = hulls_of_file(brick)
    same(hulls_of_file(brick), first)
    other = tmp_path / "elsewhere.obj"
    other.write_text(BRICK)
    same(hulls_of_file(other, (1.0, 1.0, 1.0)), first)
    assert prepared(reads) == [str(brick)]
    assert hulls_of_file(brick, 2.0).hulls[0].vertices.max() == 6.0
    brick.write_text(BRICK.replace("3.0", "4.0"))
    assert hulls_of_file(brick).hulls[0].vertices.max() == 4.0
    assert len(prepared(reads)) == 3
    (tmp_path / "brick.stl").write_text(BRICK)
    with pytest.raises(ModelError, match="cannot read the mesh"):
        hulls_of_file(tmp_path / "brick.stl")


def test_files_beside_a_gltf_file_are_part_of_its_content(tmp_path, reads):
    trimesh = pytest.importorskip("trimesh")
    for size in (1.0, 3.0):
        trimesh.creation.box((size, 1.0, 1.0)).export(tmp_path / "box.glb")
        files = trimesh.exchange.gltf.export_gltf(trimesh.load_scene(tmp_path / "box.glb"))
        for name, content in files.items():
            content = content if size == 1.0 or name.endswith(".bin") else (tmp_path / name).read_bytes()
            (tmp_path / name).write_bytes(content)
        assert np.ptp(hulls_of_file(tmp_path / "model.gltf").hulls[0].vertices[:, 0]) == pytest.approx(size)
    hulls_of_file(tmp_path / "model.gltf")
    assert len(prepared(reads)) == 2


def entries(folder):
    return sorted(folder.iterdir())


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content: b"something else",
    ],
)
def test_a_damaged_entry_is_made_again(folder, brick, reads, damage):
    first = hulls_of_file(brick)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    same(hulls_of_file(brick), first)
    assert entries(folder) == [entry] and entry.read_bytes() == whole
    assert len(prepared(reads)) == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("corners 0", lambda a: a + 1),
        ("edges 0", lambda a: -a),
        ("edge_start 0", lambda a: a[::-1]),
        ("corner_start 0", lambda a: a * 0),
        ("corner_start 0", lambda a: a[:-1]),
        ("vertices 0", lambda a: a * np.nan),
        ("vertices 0", lambda a: a[:, :2]),
        ("vertices 0", lambda a: a[:-1]),
        ("face_normal 0", lambda a: a[:-1]),
        ("face_normal 0", lambda a: a + np.inf),
        ("corners 0", lambda a: np.tile(a, 20)),
        ("is_convex", lambda a: a[:0]),
        ("vertices 1", lambda a: a),
    ],
)
def test_an_entry_that_would_lead_out_of_its_arrays_is_not_used(folder, brick, reads, name, value):
    first = hulls_of_file(brick)
    (entry,) = entries(folder)
    key = entry.stem
    arrays = kept_arrays.read_arrays(key)
    arrays[name] = value(arrays.get(name, np.zeros(3)))
    kept_arrays.keep_arrays(key, arrays)
    same(hulls_of_file(brick), first)
    assert len(prepared(reads)) == 2
    same(hulls_of_file(brick), first)
    assert len(prepared(reads)) == 2


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, brick, monkeypatch):
    (tmp_path / "cache").write_text("a file")
    assert hulls_of_file(brick).is_convex

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kept_arrays, "user_cache", no_home)
    assert hulls_of_file(brick).is_convex


def test_a_full_cache_loses_what_was_used_long_ago(folder, brick, monkeypatch):
    hulls_of_file(brick)
    (first,) = entries(folder)
    monkeypatch.setattr(kept_arrays, "MOST_BYTES", 4 * first.stat().st_size)
    os.utime(first, (1e9, 1e9))
    for scale in range(2, 7):
        hulls_of_file(brick, float(scale))
        os.utime(max(entries(folder), key=lambda path: path.stat().st_mtime_ns), (1e9 + scale, 1e9 + scale))
    assert first not in entries(folder) and len(entries(folder)) <= 4
    old = entries(folder)[0]
    assert kept_arrays.read_arrays(old.stem) is not None
    assert old.stat().st_mtime > 1.1e9  # it was used today


def test_several_writers_and_readers_of_one_entry_do_not_meet(folder, brick):
    first, results = hulls_of_file(brick), []

    def work():
        for _ in range(20):
            for entry in folder.glob("*.arrays"):
                entry.unlink(missing_ok=True)
            results.append(hulls_of_file(brick))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    for result in results:
        same(result, first)
    assert [entry.suffix for entry in entries(folder)] == [".arrays"]


# ---------------------------------------------------------------------------- when something needs them

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'


@pytest.fixture
def robot(tmp_path, brick):
    """Two links, each with a mesh to be seen and one to collide; they are a metre apart."""
    geometry = '<{0}><geometry><mesh filename="{1}" scale="0.1 0.1 0.1"/></geometry></{0}>'
    link = (
        "<link name='{}'>"
        + INERTIAL
        + geometry.format("visual", "seen.obj")
        + geometry.format("collision", "brick.obj")
    )
    text = f"""<robot name="r">{link.format("a")}</link>{link.format("b")}</link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    (tmp_path / "seen.obj").write_text("not read\n")
    return path


def test_a_run_in_which_nothing_can_touch_reads_no_mesh(tmp_path, robot, reads):
    from mbcli.simulation import simulate

    simulate(str(robot), until=0.01)  # the two links are neighbours
    simulate(str(robot), until=0.01, contact=False, ground=None)
    succeed("inspect", robot, "--tree", "text")
    succeed("mass-matrix", robot, "--json")
    succeed("kinematics", robot)
    assert reads == []
    simulate(str(robot), until=0.01, ground=-1.0)
    assert prepared(reads) == [str(tmp_path / "brick.obj")]  # and nobody looks for what is only seen


def test_a_run_with_kept_hulls_imports_no_reader(tmp_path, robot):
    code = """
import sys
from mbcli.models import load_model
loaded = load_model(sys.argv[1], contact=True, ground=0.0)
loaded.plant.compiled_geometries()
unwanted = ("trimesh", "collada", "scipy.spatial")
print(sorted(m for m in sys.modules if m in unwanted or m.startswith("mbcli.meshes.read_")))
"""

    def imported():
        command = [sys.executable, "-c", code, str(robot)]
        environment = os.environ | {"MBCLI_CACHE_DIR": str(tmp_path / "own"), "MBCLI_JIT": "0"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    assert imported() == "['mbcli.meshes.read_obj', 'scipy.spatial']"
    assert imported() == "[]"


def test_a_query_object_makes_the_arrays_of_collision_once_for_a_context(brick, monkeypatch):
    made = []
    real = compile_collision.Collision

    def counted(*arguments, **options):
        made.append(1)
        return real(*arguments, **options)

    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.setattr(compile_collision, "Collision", counted)
    plant = MultibodyPlant(0.0)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    friction = CoulombFriction(1.0, 1.0)
    plant.RegisterCollisionGeometry(body, RigidTransform(), Mesh(brick), "brick", friction)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", friction)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    port = plant.get_geometry_query_input_port()
    for z in (0.5, -0.5, -1.0):
        plant.SetFreeBodyPose(context, body, RigidTransform([0.0, 0.0, z]))
        (pair,) = port.Eval(context).ComputeSignedDistancePairwiseClosestPoints()
        assert pair.distance == pytest.approx(z)
    assert len(made) == 1
    other = plant.CreateDefaultContext()
    assert port.Eval(other).HasCollisions() is False
    assert port.Eval(context).HasCollisions() is True
    assert len(made) == 2
    plant.scene_graph.set_config(plant.scene_graph.get_config())  # what collides may be another now
    assert port.Eval(context).HasCollisions() is True
    assert len(made) == 3


# ----------------------------------------------------------------------------------------- progress


def test_a_terminal_is_told_of_meshes_that_take_long(monkeypatch):
    from mbcli.cli import progress_lines

    class Terminal:
        def __init__(self, isatty):
            self.text, self.isatty = "", lambda: isatty

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    def shown(patience, isatty=True, wanted=True):
        monkeypatch.setattr(progress_lines, "PATIENCE", patience)
        monkeypatch.setattr(sys, "stderr", terminal := Terminal(isatty))
        with progress_lines.MeshProgress(wanted) as progress:
            progress(0, 2)
            if patience == 0.0 and progress._timer is not None:
                progress._timer.join()
            progress(1, 2)
            progress(2, 2)
        return terminal.text

    text = shown(0.0)
    assert "0 of 2 ready" in text and "1 of 2 ready" in text and text.endswith("\r\x1b[K")
    assert shown(100.0) == shown(0.0, isatty=False) == shown(0.0, wanted=False) == ""


# ------------------------------------------------------------------------------------ convex parts


@pytest.fixture
def ell(tmp_path):
    path = tmp_path / "ell.obj"
    path.write_text(ELL)
    return path


def plant_of(path, decompose, probe):
    """A plant of the mesh, fixed, and a free ball of 0.1 m whose centre is at `probe`; its query object."""
    from mbcli.geometry import Sphere

    plant = MultibodyPlant(0.0)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    plant.settings.decompose_meshes = decompose
    friction = CoulombFriction(1.0, 1.0)
    plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), Mesh(path), "mesh", friction)
    body = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), "ball", friction)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, body, RigidTransform(probe))
    return plant, plant.get_geometry_query_input_port().Eval(context)


def two_bricks(vertices, triangles, name):
    """What a decomposition of the L gives."""
    return [
        np.array([(x, y, z) for x in (0.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]),
        np.array([(x, y, z) for x in (0.0, 1.0) for y in (1.0, 2.0) for z in (0.0, 1.0)]),
    ]


@pytest.fixture
def decomposition(monkeypatch):
    """CoACD's place taken by two_bricks(); the list of its calls."""
    from mbcli.meshes import decomposition

    calls = []

    def parts(*arguments):
        calls.append(arguments[2])
        return two_bricks(*arguments)

    monkeypatch.setattr(decomposition, "convex_parts", parts)
    monkeypatch.setattr(decomposition, "decomposition_version", lambda: "bricks 1")
    monkeypatch.setenv("MBCLI_JIT", "0")
    return calls


def test_convex_parts_leave_the_notch_of_an_ell_open(ell, brick, decomposition, reads):
    notch = [1.4, 1.4, 0.5]
    plant, query = plant_of(ell, False, notch)
    assert query.HasCollisions()  # with the hull
    (note,) = plant.compiled_geometries().notes
    assert note.endswith("ell.obj; decompose=True makes convex parts of them")
    plant, query = plant_of(ell, True, notch)
    assert not query.HasCollisions() and plant.compiled_geometries().notes == ()
    (pair,) = query.ComputeSignedDistancePairwiseClosestPoints()  # one, though the mesh is two solids
    assert pair.distance == pytest.approx(0.3)
    ids = plant.compiled_geometries().ids
    assert len(ids) == 3 and len(set(ids)) == 2
    assert query.ComputeSignedDistancePairClosestPoints(*sorted(set(ids))).distance == pytest.approx(0.3)
    assert query.FindCollisionCandidates() == []  # by their boxes
    _, query = plant_of(ell, True, [0.9, 1.05, 0.5])  # in both parts
    assert len(query.FindCollisionCandidates()) == 1
    (pair,) = query.ComputePointPairPenetration()
    assert pair.depth == pytest.approx(0.15)  # the deeper of 0.05 and 0.15
    assert decomposition == [str(ell)]  # kept
    plant_of(brick, True, notch)[1].HasCollisions()
    assert decomposition == [str(ell)]  # a convex mesh is one part


def test_a_model_is_loaded_with_convex_parts_on_request(tmp_path, ell, decomposition):
    model = tmp_path / "m.urdf"
    model.write_text(f"""<robot name="m"><link name="world"/><link name="l">{INERTIAL}<collision><geometry>
<mesh filename="ell.obj"/></geometry></collision></link><joint name="w" type="fixed"><parent link="world"/>
<child link="l"/></joint><link name="ball">{INERTIAL}<collision><geometry><sphere radius="0.2"/></geometry></collision>
</link></robot>""")
    for decompose in (False, True):
        loaded = load_model(str(model), contact=True, decompose=decompose)
        context = loaded.plant.CreateDefaultContext()
        ball = loaded.plant.GetBodyByName("ball")
        loaded.plant.SetFreeBodyPose(context, ball, RigidTransform([1.25, 1.15, 0.5]))
        query = loaded.plant.get_geometry_query_input_port().Eval(context)
        distances = [pair.distance for pair in query.ComputeSignedDistancePairwiseClosestPoints()]
        assert (min(distances) < -0.2) if not decompose else min(distances) == pytest.approx(-0.05)
        assert loaded.config.decompose is decompose


def test_without_the_extra_the_message_says_how_to_install_it(ell, monkeypatch):
    from mbcli.meshes import decomposition

    def missing(name):
        import importlib.metadata

        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    monkeypatch.setitem(sys.modules, "coacd", None)
    line = r"decompose=True needs the package coacd, which is not installed: pip install 'mbcli\[decompose\]'"
    with pytest.raises(ResourceError, match=line):
        decomposition.convex_parts(CORNERS, np.zeros((0, 3)), "x")
    plant, query = plant_of(ell, True, [0.0, 0.0, 0.0])
    with pytest.raises(ResourceError, match=line):
        query.HasCollisions()


def test_coacd_finds_the_parts_of_an_ell(ell, capfd):
    pytest.importorskip("coacd")
    found = hulls_of_file(ell, decompose=True)
    assert len(found.hulls) > 1 and not found.is_convex
    assert capfd.readouterr() == ("", "")  # results go there
    _, query = plant_of(ell, True, [1.4, 1.4, 0.5])
    assert not query.HasCollisions()
    same(hulls_of_file(ell, decompose=True), found)


def test_the_command_line_takes_parts_too(tmp_path, ell):
    pytest.importorskip("coacd")
    model = tmp_path / "m.urdf"
    collision = '<collision><geometry><mesh filename="ell.obj"/></geometry></collision>'
    model.write_text(f'<robot name="m"><link name="l">{INERTIAL}{collision}</link></robot>')
    ball = tmp_path / "b.urdf"
    collision = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    ball.write_text(f'<robot name="b"><link name="ball">{INERTIAL}{collision}</link></robot>')
    at = ["--at", "ball_x=1.4", "--at", "ball_y=1.4", "--at", "ball_z=0.5", "--distances", "--json"]
    near = succeed("contact", model, ball, *at).json()["distances"][0]["distance"]
    parts = succeed("contact", model, ball, *at, "--decompose").json()["distances"][0]["distance"]
    assert near < 0.0 < parts
    assert cli("inspect", model, "--decompose").code == 0
