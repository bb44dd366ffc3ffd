"""Tetrahedra that fill closed surfaces: they hold together, keep the surface, and every field has a slope inside."""

import struct

import numpy as np
import pytest
from damaged_surfaces import damaged_surface
from made_solids import bumpy_ball, gear, grid_box, torus

from mbcli.errors import ModelError
from mbcli.geometry.hydroelastic_shapes import rigid_surface_of, soft_solid_of
from mbcli.geometry.shapes import ClosedSurface, Convex, Mesh
from mbcli.meshes.closed_surface import closed_surface
from mbcli.meshes.filled_surface import filled_surface
from mbcli.meshes.hull_surface import hull_surface, volume_and_centroid
from mbcli.meshes.inner_corners import flat_inside
from mbcli.meshes.soft_mesh import soft_surface, soft_volume
from mbcli.meshes.surface_distance import nearest_triangles
from mbcli.meshes.volume_mesh import checked_mesh, dihedral_angles, radius_ratios
from mbcli.meshes.winding import winding_numbers

REGULAR = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])
SOLIDS = {
    "L of two cells": grid_box(2),
    "L on a grid": grid_box(6),
    "flat L": grid_box(6, (1.0, 1.0, 0.1)),
    "torus": torus(),
    "bumpy ball": bumpy_ball(3),
    "gear": gear(),
}


def area_of(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2.0


@pytest.mark.parametrize("name", SOLIDS)
def test_a_filled_surface_is_kept(name):
    """Volume and area are those of the surface, and all its vertices are there: the surface has not moved."""
    vertices, triangles = SOLIDS[name]
    mesh, finding = filled_surface(vertices, triangles, name)
    assert not finding
    assert (mesh.volumes > 0.0).all()
    assert mesh.volume == pytest.approx(volume_and_centroid(vertices, triangles)[0], rel=1e-12)
    assert area_of(mesh.vertices, mesh.outer_triangles) == pytest.approx(area_of(vertices, triangles), rel=1e-9)
    distance, _ = nearest_triangles(vertices, mesh.vertices, mesh.outer_triangles)
    assert distance.max() < 1e-9
    checked_mesh(mesh.vertices, mesh.tetrahedra, name)  # each face has one tetrahedron or one on each side


@pytest.mark.parametrize("name", SOLIDS)
def test_every_tetrahedron_has_a_corner_inside(name):
    solid = soft_surface(*SOLIDS[name], name)
    assert not flat_inside(solid.tetrahedra).any()
    assert (solid.extent[solid.tetrahedra].max(axis=1) > 0.0).all()
    assert solid.extent.min() == 0.0 and solid.extent.max() == 1.0


def test_the_extent_inside_is_the_distance_from_the_surface():
    solid = soft_surface(*torus(60, 30, 1.0, 0.4), "torus")
    x, y, z = solid.vertices.T
    depth = 0.4 - np.hypot(np.hypot(x, y) - 1.0, z)
    assert np.abs(solid.extent * depth.max() - depth).max() < 0.01  # the surface has facets


def test_ten_thousand_triangles_that_are_not_convex_become_few_tetrahedra():
    vertices, triangles = torus(100, 50)
    solid = soft_surface(vertices, triangles, "torus")
    assert len(triangles) == 10_000 and len(solid.tetrahedra) < 60_000


def test_the_shape_of_a_regular_tetrahedron_is_perfect():
    mesh = checked_mesh(REGULAR, [[0, 2, 1, 3]], "regular")
    np.testing.assert_allclose(dihedral_angles(mesh.vertices, mesh.tetrahedra), np.arccos(1.0 / 3.0))
    np.testing.assert_allclose(radius_ratios(mesh.vertices, mesh.tetrahedra), 1.0)
    assert mesh.volume == pytest.approx(8.0 / 3.0)
    assert mesh.quality.smallest_ratio == pytest.approx(1.0)


def test_a_corner_of_a_cube_has_right_angles():
    corner = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    angles = np.sort(np.degrees(dihedral_angles(corner, np.array([[0, 1, 2, 3]])))[0])
    np.testing.assert_allclose(angles, [np.degrees(np.arccos(3.0**-0.5))] * 3 + [90.0] * 3)


@pytest.mark.parametrize(
    ("tetrahedra", "message"),
    [
        ([[0, 1, 2, 4]], "no volume"),
        ([[0, 1, 2, 9]], "not there"),
        ([[0, 1, 2, 3], [0, 1, 2, 3]], "the same side"),
        ([[0, 1, 2, 3], [0, 1, 2, 5], [0, 1, 2, 6]], "more than two"),
        ([[0, 1, 2, 7]], "not finite"),
        (np.zeros((0, 4)), "no tetrahedra"),
    ],
)
def test_tetrahedra_that_do_not_hold_together_are_refused(tetrahedra, message):
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, -1], [0, 0, 2], [0, 0, np.nan]]
    with pytest.raises(ModelError, match=message):
        checked_mesh(np.array(points if message == "not finite" else points[:7], dtype=float), tetrahedra, "mesh")


def test_winding_numbers_tell_inside_from_outside():
    vertices, triangles = torus(60, 30)
    points = np.random.default_rng(0).uniform(-1.5, 1.5, (3000, 3))
    depth = 0.4 - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 1.0, points[:, 2])
    sure = np.abs(depth) > 0.01
    np.testing.assert_array_equal(winding_numbers(points, vertices, triangles)[sure], depth[sure] > 0.0)
    both = (
        np.concatenate([vertices, vertices + [0.1, 0.0, 0.0]]),
        np.concatenate([triangles, triangles + len(vertices)]),
    )
    assert set(winding_numbers(points, *both)) == {0, 1, 2}


def test_distances_are_those_of_all_triangles():
    vertices, triangles = bumpy_ball(2)
    points = np.random.default_rng(1).normal(size=(200, 3))
    distance, nearest = nearest_triangles(points, vertices, triangles)
    weights = np.random.default_rng(2).dirichlet(np.ones(3), 2000)
    for point, d, t in zip(points[:20], distance, nearest, strict=False):
        samples = np.einsum("wc,tcx->twx", weights, vertices[triangles])
        distances = np.linalg.norm(samples - point, axis=2)
        assert d <= distances.min() + 1e-12
        assert distances[t].min() < d + 0.02
    centre, _ = nearest_triangles(np.zeros((1, 3)), *hull_surface(REGULAR, "regular"))
    np.testing.assert_allclose(centre, 3.0**-0.5)


# ----------------------------------------------------------------------------------------- surfaces


def test_a_surface_with_a_hole_is_named():
    vertices, triangles = torus()
    with pytest.raises(ModelError, match="ring: its surface is not closed: 3 of 2400 edges"):
        soft_surface(vertices, triangles[1:], "ring")


def test_a_turned_triangle_is_named():
    vertices, triangles = torus()
    triangles = triangles.copy()
    triangles[5] = triangles[5][::-1]
    with pytest.raises(ModelError, match="do not all face the same way: they disagree at 3 of 2400"):
        soft_surface(vertices, triangles, "ring")


def test_a_surface_that_is_inside_out_is_turned():
    vertices, triangles = torus()
    turned, outwards = closed_surface(vertices, triangles[:, ::-1], "ring")
    assert volume_and_centroid(turned, outwards)[0] == pytest.approx(volume_and_centroid(vertices, triangles)[0])


def test_vertices_at_one_place_become_one():
    """As in an STL file, whose triangles have corners of their own."""
    vertices, triangles = torus()
    corners, alone = vertices[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3)
    whole, _ = closed_surface(corners, alone, "soup")
    assert len(whole) == len(vertices)


def test_a_convex_surface_is_pressed_most_at_its_centroid():
    vertices, triangles = grid_box(3, (1.0, 2.0, 3.0), notch=False)
    solid = soft_surface(vertices, triangles, "box")
    assert len(solid.tetrahedra) == 12  # flat faces need two triangles
    np.testing.assert_allclose(solid.vertices[solid.extent == 1.0], [[0.5, 1.0, 1.5]])


def test_a_hull_has_no_vertices_within_its_faces():
    vertices, triangles = hull_surface(grid_box(5)[0], "L")
    assert len(vertices) == 10 and len(triangles) == 16
    assert volume_and_centroid(vertices, triangles)[0] == pytest.approx(1.0 - 0.6 * 0.6 / 2.0)  # 2 of 5 cells left out


# ------------------------------------------------------------------------------------- volume meshes


def block(n=4):
    """Vertices and tetrahedra of a cube of side 1 about the origin."""
    grid = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
    number = {tuple(p): k for k, p in enumerate(grid)}
    cells = []
    for p in grid[(grid < n).all(axis=1)]:
        for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
            steps = np.cumsum(np.vstack([p, np.eye(3, dtype=int)[list(order)]]), axis=0)
            cells.append([number[tuple(q)] for q in steps])
    return grid / n - 0.5, np.array(cells)


def as_vtk(vertices, cells, kind="ASCII"):
    """A legacy file of version 3; of 5 for kind 5."""
    head = f"# vtk DataFile Version {5 if kind == 5 else 3}.0\nblock\n{'BINARY' if kind == 'BINARY' else 'ASCII'}\n"
    head += f"DATASET UNSTRUCTURED_GRID\nPOINTS {len(vertices)} double\n"
    rows = np.column_stack([np.full(len(cells), 4), cells])
    if kind == "BINARY":
        return b"".join(
            [
                head.encode(),
                vertices.astype(">f8").tobytes(),
                f"\nCELLS {len(cells)} {rows.size}\n".encode(),
                rows.astype(">i4").tobytes(),
                f"\nCELL_TYPES {len(cells)}\n".encode(),
                struct.pack(f">{len(cells)}i", *[10] * len(cells)),
                b"\n",
            ]
        )
    text = head + "\n".join(" ".join(repr(float(x)) for x in row) for row in vertices)
    if kind == 5:
        text += f"\nCELLS {len(cells) + 1} {cells.size}\nOFFSETS vtktypeint64\n"
        text += " ".join(str(4 * k) for k in range(len(cells) + 1)) + "\nCONNECTIVITY vtktypeint64\n"
        text += " ".join(str(k) for k in cells.ravel())
    else:
        text += f"\nCELLS {len(cells)} {rows.size}\n" + "\n".join(" ".join(str(k) for k in row) for row in rows)
    return (text + f"\nCELL_TYPES {len(cells)}\n" + "10\n" * len(cells)).encode()


@pytest.mark.parametrize("kind", ["ASCII", "BINARY", 5])
def test_volume_meshes_are_taken_as_they_are(tmp_path, kind):
    vertices, cells = block()
    path = tmp_path / "block.vtk"
    path.write_bytes(as_vtk(vertices, cells, kind))
    solid = soft_solid_of(Mesh(path, scale3=[1.0, 2.0, -3.0]))
    np.testing.assert_array_equal(solid.vertices, vertices * [1.0, 2.0, -3.0])
    assert len(solid.tetrahedra) == len(cells)
    np.testing.assert_allclose(solid.extent, ((0.5 - np.abs(vertices)) * [1.0, 2.0, 3.0]).min(axis=1) * 2.0, atol=1e-15)
    assert "of 384 tetrahedra have all corners on the surface" in solid.finding
    surface = volume_and_centroid(*rigid_surface_of(Mesh(path)))
    assert surface[0] == pytest.approx(1.0)
    assert len(soft_solid_of(Convex(path)).tetrahedra) == 12


def test_tetrahedra_without_a_corner_inside_are_cut():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    solid = soft_volume(corners, np.array([[0, 1, 2, 3], [1, 2, 3, 4]]), "two")
    assert len(solid.tetrahedra) == 6 and solid.extent.tolist() == [0.0] * 5 + [1.0]  # in the triangle between them


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace(b"UNSTRUCTURED_GRID", b"POLYDATA"), "UNSTRUCTURED_GRID of tetrahedra, not POLYDATA"),
        (lambda t: t.replace(b"# vtk", b"# xyz"), "first line"),
        (lambda t: t[: len(t) // 2], "ends within its numbers"),
        (lambda t: t[:-3] + b"12\n", "VTK's type 12"),
        (lambda t: t.replace(b"CELLS 384", b"CELLS 99999999999"), "how many"),
        (lambda t: t.replace(b"-0.5", b"a", 1), "a word"),
        (lambda t: t.replace(b"-0.5", b"nan", 1), "not finite"),
        (lambda t: t.replace(b"double", b"quaternion"), "type 'quaternion'"),
        (lambda t: t.replace(b"\n4 ", b"\n5 ", 1), "four corners"),
        (lambda t: b"", "first line"),
    ],
)
def test_broken_volume_meshes_say_what_is_wrong(tmp_path, change, message):
    path = tmp_path / "block.vtk"
    path.write_bytes(change(as_vtk(*block())))
    with pytest.raises(ModelError, match=f"block.vtk.*{message}"):
        soft_solid_of(Mesh(path))


def test_filled_meshes_are_kept_and_shared(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path))
    from mbcli.meshes import soft_mesh

    monkeypatch.setattr(soft_mesh, "_REMEMBERED", {})
    first = soft_solid_of(ClosedSurface(*torus(), "ring"))
    assert soft_solid_of(ClosedSurface(*torus(), "another ring")) is first
    soft_mesh._REMEMBERED.clear()
    monkeypatch.setattr(soft_mesh, "soft_surface", None)  # what is on disk is not made again
    again = soft_solid_of(ClosedSurface(*torus(), "ring"))
    assert again is not first
    for part in ("vertices", "tetrahedra", "extent"):
        np.testing.assert_array_equal(getattr(again, part), getattr(first, part))


# ------------------------------------------------------------------------------------------- damage


def test_two_solids_that_cross_are_filled_by_a_lattice_that_says_so():
    vertices, triangles = grid_box(2, notch=False)
    both = np.concatenate([vertices, vertices + 0.4]), np.concatenate([triangles, triangles + len(vertices)])
    mesh, finding = filled_surface(*both, "boxes")
    assert "boxes: its triangles cross each other" in finding
    assert mesh.volume == pytest.approx(2.0 - 0.6**3, rel=0.05)  # of both together, less the bevels
    assert mesh.quality.smallest_angle > np.radians(10.0)


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_damaged_surfaces_end_in_one_error_or_a_valid_solid(start, monkeypatch):
    """200 seeded ones: holes, turned and doubled triangles, crossings, needles, spikes, scales from 1e-200 to 1e308."""
    monkeypatch.setattr("mbcli.meshes.filled_surface.LEAST_ACROSS", 8)  # coarse, to be quick
    monkeypatch.setattr("mbcli.meshes.filled_surface.MOST_ACROSS", 8)
    ended = {"valid": 0, "refused": 0}
    for seed in range(start, start + 50):
        label, vertices, triangles = damaged_surface(seed)
        try:
            solid = soft_surface(vertices, triangles, "mesh")
        except ModelError as error:
            assert str(error).startswith("mesh: ") and "\n" not in str(error), label
            ended["refused"] += 1
            continue
        mesh = checked_mesh(solid.vertices, solid.tetrahedra, label)
        assert (mesh.volumes > 0.0).all() and len(mesh.tetrahedra) == len(solid.tetrahedra)
        assert solid.extent.min() == 0.0 and solid.extent.max() == 1.0
        ended["valid"] += 1
    assert min(ended.values()) > 10, ended
