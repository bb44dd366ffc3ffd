"""Bodies of USD without masses of their own weigh as MuJoCo's schema says: groups of shapes, inertia of meshes."""

import numpy as np
import pytest
from mbcli.parsers.mjcf.mjcf_inertia import mesh_mass_properties
from usd_texts import read_stage, stage_text

pytest.importorskip("pxr", reason="usd-core is not installed")

# a block with a part that hangs over: MuJoCo's "legacy" inertia counts what lies outside as matter
POINTS = ((0, 0, 0), (2, 0, 0), (2, 0, 1), (0.2, 0, 0.2), (0, 0, 1))
FACES = [(0, 1, 2, 3, 4), (9, 8, 7, 6, 5), *[(k, k + 5, (k + 1) % 5 + 5, (k + 1) % 5) for k in range(5)]]
VERTICES = np.array([*POINTS, *[(x, 1, z) for x, _, z in POINTS]], float)


def inertial(body, *, scene="", states=""):
    text = f"""def PhysicsScene "scene" {{ {scene} }}
        def Xform "robot" {{ def Xform "body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
        {{ {states}
           {body} }} }}"""
    model, diagnostics = read_stage(stage_text(text))
    assert model is not None, [str(finding) for finding in diagnostics.findings]
    return next(link for link in model.links if link.name == "body").inertial


def cube(name, size, group=None):
    apis = 'prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"]'
    stated = "" if group is None else f"uniform int mjc:group = {group}"
    return f'def Cube "{name}" ({apis}) {{ double size = {size}\n float physics:mass = {size}\n {stated} }}\n'


@pytest.mark.parametrize(
    "low, high, mass", [(None, None, 7.0), (3, None, 6.0), (None, 3, 5.0), (1, 3, 4.0), (6, None, None)]
)
def test_shapes_outside_of_the_range_of_groups_weigh_nothing(low, high, mass):
    ends = {"min": low, "max": high}
    scene = "\n".join(
        f"uniform int mjc:compiler:inertiaGroupRange:{end} = {value}"
        for end, value in ends.items()
        if value is not None
    )
    found = inertial(cube("a", 1) + cube("b", 4, 3) + cube("c", 2, 4), scene=scene)
    assert (None if found is None else found.mass) == mass


@pytest.mark.parametrize("word, mass", [("auto", 9.0), ("false", 9.0), ("true", 4.0)])
def test_shapes_weigh_before_what_a_body_states_if_the_scene_says_so(word, mass):
    states = (
        "float physics:mass = 9\n float3 physics:diagonalInertia = (1, 1, 1)\npoint3f physics:centerOfMass = (1, 0, 0)"
    )
    scene = f'uniform token mjc:compiler:inertiaFromGeom = "{word}"'
    found = inertial(cube("a", 4), scene=scene, states=states)
    assert found.mass == mass
    assert found.X_LI[0, 3] == (0.0 if word == "true" else 1.0)


@pytest.mark.parametrize("kind", ["legacy", "exact", "convex", "shell"])
def test_meshes_have_the_inertia_that_mujocos_schema_names(kind):
    apis = 'prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "PhysicsMassAPI"]'
    mesh = f"""def Mesh "m" ({apis}) {{
        int[] faceVertexCounts = {[len(face) for face in FACES]}
        int[] faceVertexIndices = {[k for face in FACES for k in face]}
        point3f[] points = [{", ".join(map(str, map(tuple, VERTICES.tolist())))}]
        uniform token physics:approximation = "convexHull"
        uniform token mjc:inertia = "{kind}"
        float physics:mass = 3 }}"""
    triangles, polygons = zip(
        *[((f[0], f[k], f[k + 1]), n) for n, f in enumerate(FACES) for k in range(1, len(f) - 1)], strict=True
    )
    there = mesh_mass_properties(VERTICES, np.array(triangles), np.array(polygons), kind, 1.0, "m")
    found = inertial(mesh)
    assert found.mass == 3.0
    np.testing.assert_allclose(found.X_LI[:3, 3], there.p_SScm, atol=1e-15)
    np.testing.assert_allclose(found.inertia, np.array(there.inertia) * 3.0 / there.mass, atol=1e-15)


def test_the_four_kinds_of_inertia_of_that_mesh_differ():
    triangles, polygons = zip(
        *[((f[0], f[k], f[k + 1]), n) for n, f in enumerate(FACES) for k in range(1, len(f) - 1)], strict=True
    )
    masses = [
        mesh_mass_properties(VERTICES, np.array(triangles), np.array(polygons), kind, 1.0, "m").mass
        for kind in ("legacy", "exact", "convex", "shell")
    ]
    assert len({round(mass, 6) for mass in masses}) == 4
