"""Contact surfaces as pydrake gives them: meshes, fields, and what is made of the faces of a ContactRecord."""

from types import SimpleNamespace

import numpy as np
import pytest

from mbcli import all as own
from mbcli.multibody.core.hydroelastic_results import hydroelastic_contacts

SQUARE = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]])


@pytest.fixture
def drake():
    import pydrake.all

    return pydrake.all


def some_polygons(seed):
    """(face_data, vertices) of convex polygons in some planes."""
    rng = np.random.default_rng(seed)
    data, vertices = [], []
    for count in (3, 4, 5, 8, 3):
        angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, count))
        R = own.RotationMatrix(own.RollPitchYaw(*rng.uniform(-3, 3, 3))).matrix()
        ring = np.column_stack([np.cos(angles), 2.0 * np.sin(angles), np.zeros(count)]) @ R.T + rng.normal(size=3)
        data += [count, *range(len(vertices), len(vertices) + count)]
        vertices += list(ring)
    return data, vertices


# -------------------------------------------------------------------------------------------------- meshes


@pytest.mark.peers("pydrake")
def test_polygons_measure_as_in_pydrake(drake):
    for seed in range(5):
        data, vertices = some_polygons(seed)
        ours, theirs = (lib.PolygonSurfaceMesh(face_data=data, vertices=vertices) for lib in (own, drake))
        assert ours.num_faces() == theirs.num_faces() == ours.num_elements() and ours.face_data() == theirs.face_data()
        assert ours.total_area() == pytest.approx(theirs.total_area(), rel=1e-14)
        np.testing.assert_allclose(ours.centroid(), theirs.centroid(), atol=1e-14)
        for box in zip(ours.CalcBoundingBox(), theirs.CalcBoundingBox(), strict=True):
            np.testing.assert_allclose(*box, atol=1e-15)
        for f in range(ours.num_faces()):
            assert ours.area(f=f) == pytest.approx(theirs.area(f=f), rel=1e-13)
            np.testing.assert_allclose(ours.face_normal(f=f), theirs.face_normal(f=f), atol=1e-13)
            np.testing.assert_allclose(ours.element_centroid(e=f), theirs.element_centroid(e=f), atol=1e-13)
            sides = [[e.vertex(i) for i in range(e.num_vertices())] for e in (ours.element(f), theirs.element(f))]
            assert sides[0] == sides[1]
        np.testing.assert_array_equal(ours.vertex(v=3), theirs.vertex(v=3))
        assert ours.Equal(ours) and not ours.Equal(own.PolygonSurfaceMesh(data, np.array(vertices) + 1e-15))
    flat = [lib.PolygonSurfaceMesh([3, 0, 1, 2], [[0, 0, 0], [1, 0, 0], [2, 0, 0]]) for lib in (own, drake)]
    assert flat[0].area(0) == flat[1].area(0) == 0.0
    np.testing.assert_array_equal(flat[0].face_normal(0), flat[1].face_normal(0))
    np.testing.assert_array_equal(flat[0].element_centroid(0), flat[1].element_centroid(0))


@pytest.mark.peers("pydrake")
def test_triangles_measure_as_in_pydrake(drake):
    rng = np.random.default_rng(7)
    vertices, rows = rng.normal(size=(8, 3)), [rng.permutation(8)[:3] for _ in range(6)]
    ours, theirs = (
        lib.TriangleSurfaceMesh([lib.SurfaceTriangle(*(int(k) for k in row)) for row in rows], list(vertices))
        for lib in (own, drake)
    )
    assert ours.total_area() == pytest.approx(theirs.total_area(), rel=1e-14)
    np.testing.assert_allclose(ours.centroid(), theirs.centroid(), atol=1e-14)
    for box in zip(ours.CalcBoundingBox(), theirs.CalcBoundingBox(), strict=True):
        np.testing.assert_allclose(*box, atol=1e-15)
    p, b = rng.normal(size=3), np.array([0.2, 0.3, 0.5])
    for t in range(6):
        assert ours.area(t=t) == pytest.approx(theirs.area(t=t), rel=1e-13)
        for name in ("face_normal", "element_centroid"):
            np.testing.assert_allclose(getattr(ours, name)(t=t), getattr(theirs, name)(t=t), atol=1e-13)
        np.testing.assert_allclose(
            ours.CalcBarycentric(p_MQ=p, t=t), theirs.CalcBarycentric(p_MQ=p, t=t), rtol=1e-9, atol=1e-9
        )
        places = [lib.CalcCartesianFromBarycentric(element_index=t, b_Q=b) for lib in (ours, theirs)]
        np.testing.assert_allclose(*places, atol=1e-14)
        assert ours.element(e=t).indices == tuple(theirs.element(e=t).vertex(i) for i in range(3))
    assert ours.Equal(mesh=ours) and not ours.Equal(own.TriangleSurfaceMesh(rows[:5], vertices))


def test_meshes_refuse_faces_that_are_none():
    for data, message in (([2, 0, 1], "has 2 vertices"), ([4, 0, 1, 2], "ends within"), ([3, 0, 1, 9], "beyond")):
        with pytest.raises(RuntimeError, match=message):
            own.PolygonSurfaceMesh(data, SQUARE)
    empty = own.PolygonSurfaceMesh()
    assert empty.num_faces() == 0 and empty.total_area() == 0.0


# ----------------------------------------------------------------------------------------------- a surface


def record_of(faces, solids, pressure=lambda p: 100.0 + 10.0 * p[0]):
    """A ContactRecord of flat faces (k, 3), each between solids (A, B), with friction 0.5 along x."""
    corners, starts, rows = [], [0], []
    for polygon, pair in zip(faces, solids, strict=True):
        data = [len(polygon), *range(len(polygon))]
        mesh = own.PolygonSurfaceMesh(data, polygon)
        C, area, normal = mesh.element_centroid(0), mesh.area(0), mesh.face_normal(0)
        p = pressure(C)
        corners += [[*v, pressure(v)] for v in polygon]
        starts.append(len(corners))
        gradients = np.concatenate([np.array([10.0, 0, 0]) + 5.0 * normal, np.zeros(3)])
        rows.append((pair, C, normal, area, p, 5.0, area * p * (normal + [0.5, 0, 0]), gradients, [0.0, 0.0, 0.25]))
    names = ("solid", "position", "normal", "area", "pressure", "gradient", "force", "field_gradients", "moment")
    arrays = {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    n = np.arange(float(len(rows)))
    arrays |= {"distance": -0.01 * (n + 1.0), "separation": n, "slip": 2.0 * n}
    return Record(**arrays, corner_start=np.array(starts), corners=np.array(corners))


class Record(SimpleNamespace):
    """Stands for a ContactRecord."""

    def __len__(self):
        return len(self.area)


def strip(count):
    """Unit squares side by side along x, with their normals up."""
    return [SQUARE / [2, 1, 1] + [k, 0, 0] for k in range(count)]


def new_ids(count):
    return [own.GeometryId.get_new_id() for _ in range(count)]


def test_a_surface_of_polygons():
    ids = new_ids(3)
    record = record_of(strip(3), [(0, 2)] * 3)
    (info,) = hydroelastic_contacts(record, ids, np.array([False, False, True]), False)
    surface, F = info.contact_surface(), info.F_Ac_W()
    assert (surface.id_M(), surface.id_N()) == (ids[0], ids[2])
    assert surface.num_faces() == 3 and surface.num_vertices() == 8  # those of neighbours are shared
    assert surface.total_area() == pytest.approx(3.0) and info.area() == pytest.approx(3.0)
    np.testing.assert_allclose(surface.centroid(), [1.5, 0.5, 0.0])
    np.testing.assert_allclose(surface.centroid(face_index=2), [2.5, 0.5, 0.0])
    np.testing.assert_allclose(surface.face_normal(face_index=1), [0, 0, 1])
    assert surface.area(face_index=0) == pytest.approx(1.0) and not surface.is_triangle()
    assert surface.representation() == own.HydroelasticContactRepresentation.kPolygon
    # 105 + 115 + 125 N along the normal, half of that along x; the moment of the first about the middle
    np.testing.assert_allclose(F.translational(), [172.5, 0.0, 345.0])
    np.testing.assert_allclose(F.rotational(), [0.0, -(125.0 - 105.0), 0.75])
    field = surface.poly_e_MN()
    assert field.EvaluateAtVertex(0) == pytest.approx(100.0)
    assert field.EvaluateCartesian(1, [1.5, 0.5, 0.0]) == pytest.approx(115.0)
    np.testing.assert_allclose(field.EvaluateGradient(e=0), [10.0, 0.0, 5.0])
    assert surface.HasGradE_M() and not surface.HasGradE_N()
    np.testing.assert_allclose(surface.EvaluateGradE_M_W(index=1), [10.0, 0.0, 5.0])
    for call in (lambda: surface.EvaluateGradE_N_W(0), surface.tri_mesh_W, surface.tri_e_MN):
        with pytest.raises(RuntimeError):
            call()
    assert info.mean_pressure() == pytest.approx(115.0) and info.largest_pressure() == pytest.approx(130.0)
    assert surface.Equal(surface) and len(info.polygons()) == info.num_faces() == 3


def test_faces_of_two_meshes_share_no_vertices_as_in_pydrake():
    (info,) = hydroelastic_contacts(record_of(strip(3), [(0, 1)] * 3), new_ids(2), np.zeros(2, bool), False)
    assert info.contact_surface().num_vertices() == 12


def test_the_geometry_with_the_smaller_identifier_is_M():
    ids = new_ids(2)
    record = record_of(strip(2), [(0, 1)] * 2)
    there, turned = (hydroelastic_contacts(record, order, np.zeros(2, bool), False)[0] for order in (ids, ids[::-1]))
    surface = turned.contact_surface()
    assert (surface.id_M(), surface.id_N()) == tuple(ids)
    np.testing.assert_allclose(surface.face_normal(0), [0, 0, -1])
    np.testing.assert_allclose(turned.F_Ac_W().get_coeffs(), -there.F_Ac_W().get_coeffs())
    assert surface.HasGradE_N() and not surface.HasGradE_M()
    assert surface.poly_e_MN().EvaluateCartesian(0, surface.centroid(0)) == pytest.approx(105.0)
    assert not surface.Equal(there.contact_surface())
    first, last = (info.polygons()[0] for info in (there, turned))
    np.testing.assert_allclose(first[::-1], last)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("plane", "vertices"), [(False, 10), (True, 8)])
def test_triangles_about_centroids_of_polygons(turned, plane, vertices):
    triangles = []
    for square in strip(2):
        center = square.mean(axis=0)
        triangles += [np.array([center, square[k], square[(k + 1) % 4]]) for k in range(4)]
    ids = new_ids(2)
    (info,) = hydroelastic_contacts(
        record_of(triangles, [(0, 1)] * 8), ids[::-1] if turned else ids, np.array([plane, False]), True
    )
    surface = info.contact_surface()
    assert surface.is_triangle() and (surface.num_faces(), surface.num_vertices()) == (8, vertices)
    assert surface.total_area() == pytest.approx(2.0)
    np.testing.assert_allclose(surface.face_normal(5), [0, 0, -1 if turned else 1])
    mesh, field = surface.tri_mesh_W(), surface.tri_e_MN()
    for v in range(vertices):
        assert field.EvaluateAtVertex(v) == pytest.approx(100.0 + 10.0 * mesh.vertex(v)[0])
    assert field.Evaluate(0, [1 / 3] * 3) == pytest.approx(field.EvaluateCartesian(0, mesh.element_centroid(0)))
    with pytest.raises(RuntimeError):
        surface.poly_mesh_W()


def test_points_are_no_surfaces_and_surfaces_come_in_the_order_of_identifiers():
    ids = new_ids(4)
    record = record_of(strip(4), [(2, 3), (2, 3), (0, 1), (0, 2)])
    record.area[3] = 0.0  # a point
    infos = hydroelastic_contacts(record, ids, np.zeros(4, bool), False)
    assert [(info.id_M(), info.id_N()) for info in infos] == [(ids[0], ids[1]), (ids[2], ids[3])]
    results = own.ContactResults(None, (), infos)
    assert results.num_hydroelastic_contacts() == 2 and results.num_point_pair_contacts() == 0
    chosen = results.SelectHydroelastic(lambda info: info.contact_surface().num_faces() == 2)
    assert chosen.num_hydroelastic_contacts() == 1 and chosen.hydroelastic_contact_info(0) is infos[1]
    for i in (-1, 2):
        with pytest.raises(IndexError, match="there are 2"):
            results.hydroelastic_contact_info(i)
    record.area[:] = 0.0
    assert hydroelastic_contacts(record, ids, np.zeros(4, bool), False) == []
