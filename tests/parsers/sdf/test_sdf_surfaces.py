"""Shapes of SDFormat that are surfaces: cones, polylines, parts of mesh files."""

import numpy as np
import pytest
from command_line import cli, succeed
from mbcli.parsers.geometry_inertia import mass_properties
from mbcli.parsers.spec import Cone, Mesh, Polyline

from mbcli.errors import ModelError
from mbcli.math import RigidTransform
from mbcli.meshes.made_surfaces import CONE_SIDES, cone_surface, prism_surface
from mbcli.meshes.triangles import load_triangles
from mbcli.models import load_model
from mbcli.models.loading import ModelText, notes_on_contact

SQUARE = ((0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0))
HOLE = ((0.5, 0.5), (0.5, 1.5), (1.5, 1.5), (1.5, 0.5))
ELL = ((0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0))
INERTIAL = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def polyline(*outlines, height=1.0, heights=None):
    heights = heights or [height] * len(outlines)
    points = ["".join(f"<point>{x} {y}</point>" for x, y in outline) for outline in outlines]
    return "".join(f"<polyline>{p}<height>{h}</height></polyline>" for p, h in zip(points, heights, strict=True))


def model(geometry, inertial=INERTIAL):
    sphere = "<geometry><sphere><radius>0.1</radius></sphere></geometry>"
    ball = f'<link name="ball">{INERTIAL}<collision name="c">{sphere}</collision></link>'
    return f"""<sdf version="1.11"><model name="m"><link name="solid">{inertial}<collision name="c"><geometry>{geometry}
</geometry></collision></link>{ball}</model></sdf>"""


def load(geometry, **options):
    return load_model(ModelText(model(geometry, **options).encode(), "m.sdf"), contact=True)


def shape_of(loaded):
    return loaded.specs[0].links[0].collisions[0].shape


def distance(loaded, probe):
    """Between the solid and a ball of 0.1 m at a place."""
    plant = loaded.plant
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, plant.GetBodyByName("solid"), RigidTransform())
    plant.SetFreeBodyPose(context, plant.GetBodyByName("ball"), RigidTransform(probe))
    (pair,) = plant.get_geometry_query_input_port().Eval(context).ComputeSignedDistancePairwiseClosestPoints()
    return pair.distance


# --------------------------------------------------------------------------------------------- cones


def test_a_cone_collides_as_a_pyramid_of_many_sides():
    loaded = load("<cone><radius>0.5</radius><length>2</length></cone>")
    assert shape_of(loaded) == Cone(0.5, 2.0)
    assert notes_on_contact(loaded) == [f"cones collide as pyramids of {CONE_SIDES} sides"]
    assert distance(loaded, [0.0, 0.0, 1.3]) == pytest.approx(0.2)  # above its tip
    assert distance(loaded, [0.0, 0.0, -1.4]) == pytest.approx(0.3)  # below its base
    slope = np.arctan2(0.5, 2.0)
    across = np.array([np.cos(slope), 0.0, np.sin(slope)])
    assert distance(loaded, np.array([0.25, 0.0, 0.0]) + 0.4 * across) == pytest.approx(0.3, abs=1e-3)


def test_the_mass_of_a_cone_is_that_of_a_fine_pyramid(monkeypatch):
    exact = mass_properties(Cone(0.5, 2.0), 700.0)
    assert exact.mass == pytest.approx(700.0 * np.pi * 0.25 * 2.0 / 3.0)
    monkeypatch.setattr("mbcli.meshes.made_surfaces.CONE_SIDES", 4000)
    from mbcli.parsers.geometry_inertia import mass_properties_of_triangles

    fine = mass_properties_of_triangles(*cone_surface(0.5, 2.0), 700.0)
    assert fine.mass == pytest.approx(exact.mass, rel=1e-5)
    np.testing.assert_allclose(fine.p_SScm, exact.p_SScm, atol=1e-9)
    np.testing.assert_allclose(fine.inertia, exact.inertia, rtol=1e-5, atol=1e-9)


def test_automatic_inertia_of_a_cone(tmp_path):
    loaded = load("<cone><radius>0.5</radius><length>2</length></cone>", inertial='<inertial auto="true"/>')
    body = loaded.plant.GetBodyByName("solid")
    assert body.default_mass() == pytest.approx(1000.0 * np.pi * 0.25 * 2.0 / 3.0)
    np.testing.assert_allclose(body.default_com(), [0.0, 0.0, -0.5], atol=1e-12)


# ----------------------------------------------------------------------------------------- polylines


@pytest.mark.parametrize(
    ("outlines", "area", "center"),
    [
        ((SQUARE,), 4.0, (1.0, 1.0)),
        ((SQUARE[::-1],), 4.0, (1.0, 1.0)),
        ((ELL,), 3.0, (5.0 / 6.0, 5.0 / 6.0)),
        ((SQUARE, HOLE), 3.0, (1.0, 1.0)),
        ((HOLE, SQUARE[::-1]), 3.0, (1.0, 1.0)),
        ((SQUARE, HOLE, ((0.9, 0.9), (1.1, 0.9), (1.1, 1.1), (0.9, 1.1))), 3.04, (1.0, 1.0)),
        ((SQUARE, tuple((x + 4.0, y) for x, y in SQUARE)), 8.0, (3.0, 1.0)),
    ],
)
def test_the_mass_of_a_prism_is_that_of_its_outlines(outlines, area, center):
    found = mass_properties(Polyline(outlines, 0.5), 100.0)
    assert found.mass == pytest.approx(50.0 * area)
    np.testing.assert_allclose(found.p_SScm, [*center, 0.25], atol=1e-12)


def test_the_inertia_of_a_square_prism_is_that_of_a_box():
    found = mass_properties(Polyline((SQUARE,), 0.5), 100.0)
    m = found.mass
    np.testing.assert_allclose(
        found.inertia, [m * (4 + 0.25) / 12, m * (4 + 0.25) / 12, m * 8 / 12, 0, 0, 0], atol=1e-10 * m
    )


def test_the_surface_of_a_prism_is_closed():
    vertices, triangles = prism_surface((SQUARE, HOLE), 1.0)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    np.testing.assert_allclose(np.cross(b - a, c - a).sum(axis=0), 0.0, atol=1e-12)


def test_a_polyline_collides_by_its_hull_and_says_so_if_it_is_hollow():
    convex = load(polyline([*SQUARE, SQUARE[0]]))  # some close it
    assert shape_of(convex) == Polyline((SQUARE,), 1.0)
    assert notes_on_contact(convex) == []
    assert distance(convex, [1.0, 1.0, 1.4]) == pytest.approx(0.3)
    assert distance(convex, [1.0, 1.0, -0.4]) == pytest.approx(0.3)
    hollow = load(polyline(ELL))
    assert notes_on_contact(hollow) == ["polylines that are not convex collide by their convex hulls"]
    assert distance(hollow, [1.4, 1.4, 0.5]) < 0.0
    ring = load(polyline(SQUARE, HOLE))
    assert shape_of(ring) == Polyline((SQUARE, HOLE), 1.0)
    assert notes_on_contact(ring) == ["polylines that are not convex collide by their convex hulls"]


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (polyline(SQUARE[:2]), "a <polyline> needs three points or more"),
        (polyline(SQUARE, HOLE, heights=[1.0, 2.0]), "the <polyline> is 2.0 m high: 1.0 m of the first is taken"),
        (polyline(SQUARE, height=0), "<height> of <polyline> must be positive, found '0'"),
        (polyline(SQUARE).replace("<point>2.0 2.0<", "<point>2.0<"), "<point> must be 2 numbers, found 1"),
        ("<heightmap><size>1 1 0</size></heightmap>", "the <size> of <heightmap> must be positive"),
        ("<heightmap><uri>a.png</uri></heightmap>", "a.png"),
    ],
)
def test_faults_of_polylines_and_heightmaps_are_warnings(geometry, message):
    loaded = load(geometry)
    findings = [f for f in loaded.diagnostics.findings if f.severity == "warning"]
    assert any(message.replace("'", '"') in str(f).replace("'", '"') for f in findings), list(map(str, findings))
    assert not loaded.diagnostics.errors


# --------------------------------------------------------------------------------- parts of mesh files


@pytest.fixture
def two_boxes(tmp_path):
    """Boxes of 1 m and of 2 m whose least corners are at 0 and at x = 10."""
    lines, count = [], 0
    for name, size, x0 in (("small", 1.0, 0.0), ("large", 2.0, 10.0)):
        lines.append(f"o {name}")
        corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
        lines += [f"v {x0 + size * x} {size * y} {size * z}" for x, y, z in corners]
        quads = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
        lines += ["f " + " ".join(str(count + k) for k in quad) for quad in quads]
        count += 8
    (tmp_path / "two.obj").write_text("\n".join(lines))
    return tmp_path / "two.obj"


def submesh(name="large", center="", scale=""):
    return f"<mesh><uri>two.obj</uri>{scale}<submesh><name>{name}</name>{center}</submesh></mesh>"


def test_a_part_of_a_file_is_read_by_its_name(two_boxes):
    vertices, triangles = load_triangles(two_boxes, 0.5, submesh="large")
    assert len(triangles) == 12
    np.testing.assert_array_equal([vertices.min(axis=0), vertices.max(axis=0)], [[5.0, 0.0, 0.0], [6.0, 1.0, 1.0]])
    vertices, _ = load_triangles(two_boxes, 0.5, submesh="large", center=True)
    np.testing.assert_array_equal([vertices.min(axis=0), vertices.max(axis=0)], [[-0.5] * 3, [0.5] * 3])
    with pytest.raises(ModelError, match=r"two\.obj: there is no part 'other' in it, but large, small"):
        load_triangles(two_boxes, submesh="other")


def test_nodes_of_collada_and_gltf_files_are_parts(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = trimesh.Scene()
    for name, size in (("small", 1.0), ("large", 2.0)):
        X = np.eye(4)
        X[0, 3] = 10.0 * size
        scene.add_geometry(trimesh.creation.box([size] * 3), node_name=name, geom_name=name, transform=X)
    scene.export(tmp_path / "two.glb")
    vertices, _ = load_triangles(tmp_path / "two.glb", submesh="large")
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [[19, -1, -1], [21, 1, 1]])


def test_a_submesh_collides_and_weighs_alone(tmp_path, two_boxes):
    for center, place in (("<center>true</center>", [-1.0, -1.0, -1.0]), ("<center>false</center>", [10.0, 0.0, 0.0])):
        path = tmp_path / "m.sdf"
        path.write_text(model(submesh(center=center), inertial='<inertial auto="true"/>'))
        loaded = load_model(str(path), contact=True)
        shape = shape_of(loaded)
        assert (shape.submesh, shape.center) == ("large", "true" in center)
        assert distance(loaded, np.add(place, [1.0, 1.0, 2.4])) == pytest.approx(0.3)
        body = loaded.plant.GetBodyByName("solid")
        assert body.default_mass() == pytest.approx(8000.0)
        np.testing.assert_allclose(body.default_com(), np.add(place, 1.0))
    path.write_text(model(submesh("other")))
    loaded = load_model(str(path), contact=True)
    (note,) = notes_on_contact(loaded)
    assert "there is no part 'other' in it, but large, small" in note
    assert isinstance(shape_of(loaded), Mesh)


# ------------------------------------------------------------------------------------------ conversion


@pytest.mark.parametrize(
    "geometry", [polyline(SQUARE, HOLE), "<cone><radius>1</radius><length>2</length></cone>", submesh()]
)
def test_surfaces_survive_a_conversion_to_sdf_and_are_lost_in_urdf(tmp_path, two_boxes, geometry):
    path = tmp_path / "m.sdf"
    path.write_text(model(geometry))
    succeed("convert", path, "-o", tmp_path / "again.sdf")
    assert shape_of(load_model(str(tmp_path / "again.sdf"))) == shape_of(load_model(str(path)))
    result = cli("convert", path, "-o", tmp_path / "again.urdf")
    assert "of link 'solid'" in result.err + result.out
    for command in (["inspect", path, "--json"], ["check", path]):
        assert cli(*command).code in (0, 1)
