"""How much of a shape is below a level, against closed forms: exact, or as exact as the page of plugins says."""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.solids import solids_of
from mbcli.parsers.spec import (
    IDENTITY,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    GeometrySpec,
    HalfSpace,
    LinkSpec,
    Mesh,
    SourceLocation,
    Sphere,
    pose,
)

from mbcli.math.rotation_matrix import RotationMatrix

UP = np.array([0.0, 0.0, 1.0])
PLACE = SourceLocation("m.sdf", 1)


def solid(shape, X=IDENTITY):
    diagnostics = Diagnostics()
    found = solids_of(LinkSpec("a", PLACE, collisions=(GeometrySpec("c", shape, X, PLACE),)), diagnostics)
    return found, [str(finding) for finding in diagnostics.findings]


def below(shape, up, level, X=IDENTITY):
    ((found,), findings) = solid(shape, X)
    assert not findings
    return found.below(np.asarray(up) / np.linalg.norm(up), level)


def test_a_sphere_has_the_cap_of_its_depth():
    depth = 0.3
    volume, moment = below(Sphere(0.5), (1, 2, 3), depth - 0.5)
    assert volume == pytest.approx(np.pi * depth**2 * (3 * 0.5 - depth) / 3, rel=1e-12)
    centre = 3 * (2 * 0.5 - depth) ** 2 / (4 * (3 * 0.5 - depth))
    np.testing.assert_allclose(moment / volume, -centre * np.array([1, 2, 3]) / np.sqrt(14), rtol=1e-12)


def test_an_ellipsoid_is_cut_as_the_many_boxes_in_it_are():
    rng = np.random.default_rng(0)
    radii, up, level = np.array([1.0, 0.6, 0.3]), np.array([0.5, -0.3, 0.8]), 0.1
    points = rng.uniform(-1, 1, (400000, 3)) * radii
    held = points[(np.square(points / radii).sum(axis=1) < 1) & (points @ up / np.linalg.norm(up) < level)]
    volume, moment = below(Ellipsoid(tuple(radii)), up, level)
    assert volume == pytest.approx(len(held) / len(points) * 8 * radii.prod(), rel=5e-3)
    np.testing.assert_allclose(moment / volume, held.mean(axis=0), atol=3e-3)


def test_a_box_is_cut_by_any_plane_as_its_mesh_is(tmp_path):
    cut = below(Box((2, 1, 1)), (1, 0, 1), 0.0)
    assert cut[0] == pytest.approx(1.0, rel=1e-14)  # by symmetry
    corner = below(Box((1, 1, 1)), (-1, -1, -1), -1.5 / np.sqrt(3) + 0.5 / np.sqrt(3))  # a tetrahedron of sides 0.5
    assert corner[0] == pytest.approx(0.5**3 / 6, rel=1e-12)
    np.testing.assert_allclose(corner[1] / corner[0], 0.5 - 0.5 / 4, rtol=1e-12)
    lines = [f"v {x} {y} {z}" for x in (-1, 1) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    mesh = tmp_path / "box.obj"
    mesh.write_text("\n".join([*lines, *(f"f {face}" for face in faces)]))
    X = pose(RotationMatrix.MakeXRotation(0.4).matrix(), np.array([0.1, 0.2, 0.3]))
    for level in (-0.4, 0.0, 0.2, 3.0):
        for a, b in zip(
            below(Box((2, 1, 1)), (1, 2, 5), level, X),
            below(Mesh("b", path=str(mesh)), (1, 2, 5), level, X),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_a_cylinder_is_cut_across_exactly_and_along_to_a_part_in_a_thousand():
    cylinder = Cylinder(0.5, 2.0)
    volume, moment = below(cylinder, UP, -0.4)
    assert volume == pytest.approx(np.pi * 0.25 * 0.6, rel=1e-12) and moment[2] / volume == pytest.approx(-0.7)
    volume, _ = below(cylinder, (0.5, 0, 1), 0.2)
    assert volume == pytest.approx(np.pi * 0.25 * (1.0 + 0.2 * np.sqrt(1.25)), rel=1e-12)
    for level in (-0.3, -0.1, 0.2):
        angle = np.arccos(-level / 0.5)
        volume, _ = below(cylinder, (1, 0, 0), level)
        assert volume == pytest.approx(0.25 * (angle - np.sin(2 * angle) / 2) * 2.0, rel=1e-3)


def test_cones_and_capsules_have_their_volume_and_are_cut_nearly():
    volume, moment = below(Cone(0.5, 2.0), UP, np.inf)
    assert volume == pytest.approx(np.pi * 0.5 / 3, rel=1e-12) and moment[2] / volume == pytest.approx(-0.5)
    volume, _ = below(Cone(0.5, 2.0), UP, 0.0)
    assert volume == pytest.approx(np.pi * 0.5 / 3 * (1 - 1 / 8), rel=1e-12)
    volume, _ = below(Capsule(0.5, 1.0), UP, np.inf)
    assert volume == pytest.approx(np.pi * (0.25 + 4 / 3 * 0.125), rel=1e-12)
    volume, _ = below(Capsule(0.5, 1.0), UP, -0.5)
    assert volume == pytest.approx(2 / 3 * np.pi * 0.125, rel=1e-2)


def test_what_displaces_nothing_is_a_finding(tmp_path):
    assert solid(HalfSpace()) == ((), [])
    (tmp_path / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n")
    for mesh in (Mesh("a.obj"), Mesh("open.obj", path=str(tmp_path / "open.obj"))):
        found, (line,) = solid(mesh)
        assert not found and "displaces nothing" in line and "warning" in line
