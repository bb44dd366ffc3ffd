"""Pressure fields and rigid surfaces beside pydrake's, cut by a half space in random poses."""

import numpy as np
import pytest
from cut_tetrahedra import force_on_plane
from made_solids import bumpy_ball, gear, torus
from peer_modules import peer
from test_tetrahedral_meshes import as_vtk, block

from mbcli.geometry.hydroelastic_shapes import soft_solid_of
from mbcli.geometry.shapes import Box, Capsule, Convex, Cylinder, Ellipsoid, Mesh, Sphere
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.math.rotation_matrix import RotationMatrix
from mbcli.meshes.soft_mesh import soft_surface
from mbcli.meshes.volume_mesh import checked_mesh

pytestmark = pytest.mark.peers("pydrake")
drake = peer("pydrake.geometry")


def drake_force(shape, hint, R, height):
    """Force and area on the rigid half space z < 0 of a soft shape of modulus 1, and the faces of the surface."""
    from pydrake.math import RigidTransform, RotationMatrix as DrakeRotation

    graph = drake.SceneGraph()
    source = graph.RegisterSource("test")
    frame = graph.RegisterFrame(source, drake.GeometryFrame("soft"))
    soft, hard = drake.ProximityProperties(), drake.ProximityProperties()
    drake.AddCompliantHydroelasticProperties(resolution_hint=hint, hydroelastic_modulus=1.0, properties=soft)
    drake.AddRigidHydroelasticProperties(properties=hard)
    geometry = drake.GeometryInstance(RigidTransform(DrakeRotation(R), [0.0, 0.0, height]), shape, "soft")
    geometry.set_proximity_properties(soft)
    graph.RegisterGeometry(source, frame, geometry)
    ground = drake.GeometryInstance(RigidTransform(), drake.HalfSpace(), "ground")
    ground.set_proximity_properties(hard)
    graph.RegisterAnchoredGeometry(source, ground)
    context = graph.CreateDefaultContext()
    poses = drake.FramePoseVector()
    poses.set_value(frame, RigidTransform())
    graph.get_source_pose_port(source).FixValue(context, poses)
    surfaces = (
        graph.get_query_output_port()
        .Eval(context)
        .ComputeContactSurfaces(drake.HydroelasticContactRepresentation.kTriangle)
    )
    if not surfaces:
        return 0.0, 0.0
    mesh, pressure = surfaces[0].tri_mesh_W(), surfaces[0].tri_e_MN()
    force = 0.0
    for k, triangle in enumerate(mesh.triangles()):
        force += mesh.area(k) * np.mean([pressure.EvaluateAtVertex(triangle.vertex(i)) for i in range(3)])
    return force, surfaces[0].total_area()


def check_same(solid, shape, hint, reach, n=4):
    rng = np.random.default_rng(3)
    met = 0
    for _ in range(n):
        R = RotationMatrix(RollPitchYaw(rng.uniform(-3.0, 3.0, 3))).matrix()
        height = rng.uniform(-0.5, 0.8) * reach
        force, area, _ = force_on_plane(solid, R, height)
        other = drake_force(shape, hint, R, height)
        np.testing.assert_allclose([force, area], other, rtol=1e-11)
        met += force > 0.0
    assert met >= n // 2


@pytest.mark.parametrize("hint", [3.0, 1.0, 0.4, 0.15])
@pytest.mark.parametrize(
    ("kind", "measures"),
    [
        ("Sphere", (1.0,)),
        ("Ellipsoid", (0.5, 0.8, 1.2)),
        ("Box", (1.0, 2.0, 0.6)),
        ("Box", (1.0, 1.0, 2.0)),
        ("Cylinder", (1.0, 3.0)),
        ("Cylinder", (1.0, 2.0)),
        ("Cylinder", (1.0, 0.5)),
        ("Capsule", (0.5, 1.0)),
    ],
)
def test_shapes_press_as_in_drake(kind, measures, hint):
    """To rounding: the meshes have the same surface, and the field is linear where they are cut differently."""
    ours = {"Sphere": Sphere, "Ellipsoid": Ellipsoid, "Box": Box, "Cylinder": Cylinder, "Capsule": Capsule}[kind]
    check_same(soft_solid_of(ours(*measures), hint), getattr(drake, kind)(*measures), hint, 0.3)


def test_volume_meshes_and_hulls_press_as_in_drake(tmp_path):
    path = tmp_path / "block.vtk"
    vertices, cells = block()
    mesh = checked_mesh(vertices * [1.0, 2.0, 0.7], cells, "block")  # pydrake turns no tetrahedra
    path.write_bytes(as_vtk(mesh.vertices, mesh.tetrahedra))
    check_same(soft_solid_of(Mesh(path)), drake.Mesh(str(path), 1.0), 1.0, 0.3)
    points = np.random.default_rng(0).normal(size=(20, 3))
    path = tmp_path / "points.obj"
    rows = [f"v {x!r} {y!r} {z!r}" for x, y, z in points.tolist()] + [f"f 1 {k} {k + 1}" for k in range(2, 20)]
    path.write_text("\n".join(rows) + "\n")
    check_same(soft_solid_of(Convex(path)), drake.Convex(str(path), 1.0), 1.0, 0.5)


@pytest.mark.parametrize("name", ["torus", "bumpy ball", "gear"])
def test_filled_surfaces_press_as_in_drake(name, tmp_path):
    """pydrake reads the tetrahedra that were made here: the extents inside are the same."""
    solid = soft_surface(*{"torus": torus, "bumpy ball": lambda: bumpy_ball(3), "gear": gear}[name](), name)
    path = tmp_path / "filled.vtk"
    path.write_bytes(as_vtk(solid.vertices, solid.tetrahedra))
    check_same(solid, drake.Mesh(str(path), 1.0), 1.0, 0.3, n=2)
