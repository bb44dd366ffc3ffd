"""Mesh files, shapes and the inertia of what they hold (tree.md table (a) 34, (c) 17)."""

import struct

import numpy as np
import pytest

from mbcli.errors import ModelError, ResourceError
from mbcli.geometry import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    MeshcatCone,
    Sphere,
    SurfaceTriangle,
    TriangleSurfaceMesh,
)
from mbcli.meshes.triangles import load_triangles
from mbcli.multibody.tree import CalcSpatialInertia, SpatialInertia

# a brick of 1 x 2 x 3 whose least corner is the origin
CORNERS = np.array([[x, y, z] for z in (0.0, 3.0) for y in (0.0, 2.0) for x in (0.0, 1.0)])
TRIANGLES = np.array(
    [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4]]
    + [[2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]]
)
BRICK = SpatialInertia.SolidBoxWithDensity(500.0, 1.0, 2.0, 3.0).Shift([-0.5, -1.0, -1.5])


def obj_text(vertices=CORNERS, triangles=TRIANGLES):
    lines = ["# a brick", "mtllib elsewhere.mtl", *("v " + " ".join(map(str, v)) for v in vertices)]
    return "\n".join([*lines, *("f " + " ".join(str(i + 1) for i in t) for t in triangles), ""])


def binary_stl():
    facets = [struct.pack("<12fH", 0, 0, 0, *CORNERS[t].ravel(), 0) for t in TRIANGLES]
    return bytes(80) + struct.pack("<I", len(facets)) + b"".join(facets)


def ascii_stl():
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "\n".join(f"vertex {x} {y} {z}" for x, y, z in CORNERS[t])
        + "\nendloop\nendfacet"
        for t in TRIANGLES
    ]
    return "solid brick\n" + "\n".join(facets) + "\nendsolid brick\n"


def collada(unit="0.01", vertices=100.0 * CORNERS):
    numbers = " ".join(str(x) for x in vertices.ravel())
    indices = " ".join(str(i) for i in TRIANGLES.ravel())
    axes = "".join(f'<param name="{a}" type="float"/>' for a in "XYZ")
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="u" meter="{unit}"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="{vertices.size}">{numbers}</float_array><technique_common>
<accessor source="#a" count="{len(vertices)}" stride="3">{axes}</accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{len(TRIANGLES)}"><input semantic="VERTEX" source="#v" offset="0"/><p>{indices}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


FILES = {
    "brick.obj": obj_text().encode(),
    "brick.stl": binary_stl(),
    "lines.STL": ascii_stl().encode(),
    "brick.dae": collada().encode(),
}


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_brick(write, name):
    """tree (c) 17"""
    vertices, triangles = load_triangles(write(name, FILES[name]), scale=2.0)
    assert vertices.shape == (8, 3)
    assert triangles.shape == (12, 3)
    np.testing.assert_allclose(np.sort(vertices, axis=0), np.sort(2.0 * CORNERS, axis=0), atol=1e-6)
    M = CalcSpatialInertia(mesh=TriangleSurfaceMesh(triangles, 0.5 * vertices), density=500.0)
    np.testing.assert_allclose(M.CopyToFullMatrix6(), BRICK.CopyToFullMatrix6(), rtol=1e-6, atol=1e-6 * M.get_mass())


def test_nodes_of_a_gltf_file_are_placed(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    brick = trimesh.Trimesh(CORNERS, TRIANGLES)
    for x in (0.0, 10.0):
        place = np.eye(4)
        place[0, 3] = x
        scene.add_geometry(brick, transform=place)
    scene.export(tmp_path / "two.glb")
    vertices, triangles = load_triangles(tmp_path / "two.glb")
    assert (len(vertices), len(triangles)) == (16, 24)
    np.testing.assert_allclose(vertices.max(axis=0), [11.0, 2.0, 3.0], atol=1e-6)


def test_a_scale_that_mirrors_keeps_the_outside_outside(write):
    path = write("brick.obj", obj_text())
    M = CalcSpatialInertia(Mesh(path, [-1.0, 2.0, 0.5]), 500.0)
    expected = SpatialInertia.SolidBoxWithDensity(500.0, 1.0, 4.0, 1.5).Shift([0.5, -2.0, -0.75])
    np.testing.assert_allclose(M.CopyToFullMatrix6(), expected.CopyToFullMatrix6(), rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("brick.ply", b"", ModelError, "one of .obj, .stl, .dae, .gltf, .glb, .vtk, .msh, not '.ply'"),
        ("empty.stl", b"", ModelError, "it is not an STL file"),
        ("words.obj", b"this is no mesh\n", ModelError, "no triangles"),
        ("short.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 9\n", ModelError, "cannot read the mesh"),
        (
            "nan.obj",
            b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n",
            ModelError,
            r"vertex 1 is not finite: \[nan, 0.0, 0.0\]",
        ),
        ("bad.dae", b"<x/>", ModelError, "no triangles"),
        ("cut.dae", b"<x>", ModelError, "cannot read the mesh"),
        ("typed.dae", b"<!DOCTYPE x><x/>", ModelError, "a document type"),
        ("cut.stl", binary_stl()[:300], ModelError, "has 300 bytes, 12 triangles take 684"),
    ],
)
def test_a_file_that_is_no_mesh_is_named(write, name, content, error, message):
    with pytest.raises(error, match=f"{name}: .*({message})"):
        load_triangles(write(name, content))


def test_missing_and_large_files_and_wrong_scales_are_refused(write, monkeypatch):
    path = write("brick.obj", obj_text())
    with pytest.raises(ResourceError, match=r"nothing\.obj: cannot read the mesh: No such file"):
        load_triangles("nothing.obj")
    for scale in (0.0, np.nan, [1.0, 2.0], [1.0, 0.0, 1.0]):
        with pytest.raises(ModelError, match="the scale of a mesh is one finite number or three"):
            load_triangles(path, scale)
    monkeypatch.setattr("mbcli.meshes.triangles.MAX_TRIANGLES", 11)
    with pytest.raises(ResourceError, match="12 triangles, the most are 11"):
        load_triangles(path)
    monkeypatch.setattr("mbcli.meshes.triangles.MAX_BYTES", 10)
    with pytest.raises(ResourceError, match="the most of a mesh file are 10"):
        load_triangles(path)


# shapes


SHAPES = {
    "box": (Box(0.3, 0.4, 0.5), SpatialInertia.SolidBoxWithDensity(700.0, 0.3, 0.4, 0.5)),
    "array": (Box([0.3, 0.4, 0.5]), SpatialInertia.SolidBoxWithDensity(700.0, 0.3, 0.4, 0.5)),
    "sphere": (Sphere(0.2), SpatialInertia.SolidSphereWithDensity(700.0, 0.2)),
    "ellipsoid": (Ellipsoid(a=0.1, b=0.2, c=0.3), SpatialInertia.SolidEllipsoidWithDensity(700.0, 0.1, 0.2, 0.3)),
    "cylinder": (Cylinder(0.1, 0.5), SpatialInertia.SolidCylinderWithDensity(700.0, 0.1, 0.5, [0, 0, 1])),
    "capsule": (Capsule(0.1, length=0.5), SpatialInertia.SolidCapsuleWithDensity(700.0, 0.1, 0.5, [0, 0, 1])),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_inertia_of_a_shape_is_that_of_its_factory(name):
    shape, expected = SHAPES[name]
    np.testing.assert_array_equal(CalcSpatialInertia(shape, 700.0).CopyToFullMatrix6(), expected.CopyToFullMatrix6())


def test_a_mesh_of_a_ball_has_nearly_its_inertia_and_a_convex_shape_that_of_its_hull(write):
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=4, radius=0.3)
    M = CalcSpatialInertia(TriangleSurfaceMesh(ball.faces, ball.vertices), 1000.0)
    expected = SpatialInertia.SolidSphereWithDensity(1000.0, 0.3)
    assert abs(M.get_mass() / expected.get_mass() - 1.0) < 4e-3
    np.testing.assert_allclose(
        M.CopyToFullMatrix6(), expected.CopyToFullMatrix6(), rtol=8e-3, atol=1e-12 * expected.get_mass()
    )
    # a dent in one face: the hull is the brick without it
    dent = np.vstack([CORNERS, [0.5, 1.0, 2.0]])
    triangles = [*np.delete(TRIANGLES, [2, 3], axis=0), [4, 5, 8], [5, 7, 8], [7, 6, 8], [6, 4, 8]]
    path = write("dent.obj", obj_text(dent, triangles))
    np.testing.assert_allclose(
        CalcSpatialInertia(Convex(path), 500.0).CopyToFullMatrix6(), BRICK.CopyToFullMatrix6(), rtol=1e-12, atol=1e-9
    )
    assert CalcSpatialInertia(Mesh(path), 500.0).get_mass() == pytest.approx(500.0 * (6.0 - 2.0 / 3.0))


def test_what_has_no_volume_is_refused(write):
    inside_out = TriangleSurfaceMesh(TRIANGLES[:, ::-1], CORNERS)
    flat = write("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    for shape, message in (
        (HalfSpace(), r"HalfSpace\(\) has no volume"),
        (MeshcatCone(0.5), "MeshcatCone"),
        (inside_out, "not closed, or inside out"),
        (Convex(flat), "lie in one plane"),
        ("box", "'box' has no volume"),
    ):
        with pytest.raises(RuntimeError, match=message):
            CalcSpatialInertia(shape, 1.0)
    for density in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(RuntimeError, match="density must be finite and positive"):
            CalcSpatialInertia(Box(1, 1, 1), density)


def test_shapes_say_and_check_their_measures(write):
    assert (Box(1, 2, 3).width(), Box(1, 2, 3).depth(), Box(1, 2, 3).height()) == (1.0, 2.0, 3.0)
    assert (Capsule(0.1, 0.5).radius(), Capsule(0.1, 0.5).length(), Sphere(0.0).radius()) == (0.1, 0.5, 0.0)
    assert (MeshcatCone(2.0, b=3.0).a(), MeshcatCone([2.0, 4.0, 3.0]).a()) == (1.0, 4.0)
    mesh = Mesh("a/B.OBJ", scale=2.0)
    assert (mesh.extension(), mesh.scale(), mesh.scale3().tolist()) == (".obj", 2.0, [2.0, 2.0, 2.0])
    with pytest.raises(RuntimeError, match="is scaled by"):
        Mesh("a.obj", scale3=[1, 2, 3]).scale()
    for make in (
        lambda: Box(1, 0, 1),
        lambda: Cylinder(-1, 1),
        lambda: Ellipsoid(1, 1, np.nan),
        lambda: Sphere(np.inf),
    ):
        with pytest.raises(RuntimeError, match="must be finite and positive"):
            make()
    for make in (lambda: Box(1, 2), lambda: Sphere(1, 2), lambda: Capsule(1, size=2), lambda: Box(1, 2, 3, 4)):
        with pytest.raises(TypeError, match="has the measures"):
            make()
    with pytest.raises(RuntimeError, match="none of them near 0"):
        Mesh("a.obj", 1e-9)
    with pytest.raises(AttributeError, match="Sphere has no 'length'"):
        Sphere(1.0).length()


def test_a_surface_says_its_parts_and_checks_its_indices():
    mesh = TriangleSurfaceMesh([SurfaceTriangle(*t) for t in TRIANGLES], list(CORNERS))
    assert (mesh.num_triangles(), mesh.num_elements(), mesh.num_vertices()) == (12, 12, 8)
    assert mesh.total_area() == pytest.approx(22.0)
    assert mesh.triangles()[1].vertex(2) == 3
    assert mesh.vertex(7).tolist() == mesh.vertices()[7].tolist() == [1.0, 2.0, 3.0]
    for make in (lambda: SurfaceTriangle(0, 1, -1), lambda: TriangleSurfaceMesh([[0, 1, 8]], CORNERS)):
        with pytest.raises(RuntimeError, match="vertex"):
            make()
    with pytest.raises(RuntimeError, match="no triangle"):
        TriangleSurfaceMesh([], CORNERS)


@pytest.mark.peers("pydrake")
def test_inertias_agree_with_pydrake(write):
    from pydrake import geometry
    from pydrake.multibody import tree

    rng = np.random.default_rng(4)
    for kind, count in ((Box, 3), (Sphere, 1), (Ellipsoid, 3), (Cylinder, 2), (Capsule, 2)):
        measures = rng.uniform(0.1, 1.0, count)
        ours = CalcSpatialInertia(kind(*measures), 300.0)
        theirs = tree.CalcSpatialInertia(getattr(geometry, kind.__name__)(*measures), 300.0)
        np.testing.assert_allclose(ours.CopyToFullMatrix6(), theirs.CopyToFullMatrix6(), rtol=1e-13)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    vertices = CORNERS @ (turn * np.linalg.det(turn)) + rng.normal(size=3)
    path = str(write("turned.obj", obj_text(vertices)))
    for kind in ("Mesh", "Convex"):
        ours = CalcSpatialInertia({"Mesh": Mesh, "Convex": Convex}[kind](path, 0.7), 300.0).CopyToFullMatrix6()
        theirs = tree.CalcSpatialInertia(getattr(geometry, kind)(path, 0.7), 300.0).CopyToFullMatrix6()
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10 * abs(theirs).max())


def msh(triangles=TRIANGLES):
    """MuJoCo's format."""
    head = np.array([len(CORNERS), 0, 0, len(triangles)], "<i4").tobytes()
    return head + CORNERS.astype("<f4").tobytes() + np.array(triangles, "<i4").tobytes()


@pytest.mark.parametrize("content", [msh(), msh([])])
def test_msh_files_have_their_triangles_or_those_of_the_hull(tmp_path, content):
    path = tmp_path / "brick.msh"
    path.write_bytes(content)
    vertices, triangles = load_triangles(path)
    assert (vertices.min(axis=0), vertices.max(axis=0)) == (pytest.approx([0, 0, 0]), pytest.approx([1, 2, 3]))
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", np.cross(a, b), c) / 6.0 == pytest.approx(6.0)


def test_damaged_msh_files_are_read_or_are_one_error_that_names_them(tmp_path):
    random, path, refused = np.random.default_rng(5), tmp_path / "brick.msh", 0
    for _ in range(300):
        content = bytearray(msh() if random.random() < 0.7 else msh([]))
        for _ in range(random.integers(1, 5)):
            content[random.integers(len(content)) if random.random() < 0.5 else random.integers(16)] = random.integers(
                256
            )
        path.write_bytes(content[: random.integers(len(content))] if random.random() < 0.3 else content)
        try:
            vertices, triangles = load_triangles(path)
        except (ModelError, ResourceError) as error:
            refused += 1
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
        else:
            assert np.isfinite(vertices).all() and triangles.max() < len(vertices)
    assert 0 < refused < 300
