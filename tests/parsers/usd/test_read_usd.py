"""What stages of USD mean: units, axes, bodies, masses, joints, drives, shapes, filters."""

from math import inf, pi
from pathlib import Path

import numpy as np
import pytest
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere
from usd_texts import ARM, body, joint, read_stage, stage_text

from mbcli.models.loading import load_model

pytest.importorskip("pxr", reason="usd-core is not installed")

MESH = """def Mesh "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"{apis}])
{{ int[] faceVertexCounts = [3, 3, 3, 3]
   int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
   point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
   {more} }}
"""


def read(text, **options):
    model, diagnostics = read_stage(text, **options)
    assert model is not None, [str(finding) for finding in diagnostics.findings]
    return model, diagnostics


def test_an_arm_has_its_joints_limits_drives_and_masses():
    model, _ = read(ARM)
    assert (model.name, model.format, model.gravity) == ("robot", "usd", (0.0, 0.0, -9.81))
    joints = {joint.name: joint for joint in model.joints}
    assert [(j.type, j.parent, j.child) for j in model.joints] == [
        ("fixed", "world", "base"),
        ("revolute", "base", "arm"),
        ("prismatic", "arm", "slider"),
    ]
    elbow = joints["elbow"].axes[0]
    assert elbow.xyz == (0.0, 1.0, 0.0)
    np.testing.assert_allclose((elbow.lower, elbow.upper, elbow.velocity), (-pi / 2, pi, pi / 2), rtol=1e-15)
    np.testing.assert_allclose((elbow.damping, elbow.friction), (0.01 * 180 / pi, 0.2), rtol=1e-15)
    assert joints["elbow"].reflected_inertia == 0.03  # not 0.029999999329447746, as single precision has it
    (drive,) = model.actuators
    assert (drive.joint, drive.effort_limit) == ("elbow", 5.0)
    np.testing.assert_allclose(drive.controller_gains, (2 * 180 / pi, 0.1 * 180 / pi), rtol=1e-15)
    np.testing.assert_allclose(drive.rest, (pi / 6, 0.0), rtol=1e-15)
    assert joints["slide"].axes[0].lower == -0.1
    links = {link.name: link for link in model.links}
    assert links["arm"].inertial.mass == 0.7
    assert links["arm"].inertial.inertia == (0.1, 0.2, 0.25, 0.0, 0.0, 0.0)
    (shell,) = links["arm"].collisions
    assert shell.shape == Box((0.2, 0.2, 0.2))
    srgb = tuple(round(1.055 * c ** (1.0 / 2.4) - 0.055, 6) for c in (0.1, 0.2, 0.3))  # numbers of USD are linear
    assert links["arm"].visuals[0].color == (*srgb, 1.0)
    assert str(shell.place) == "<string>:/robot/arm/shell"


def test_centimetres_grams_and_y_up_are_the_same_robot(tmp_path):
    metres = stage_text(
        'def PhysicsScene "s" {}\ndef Xform "robot" {'
        + body("a", (0, 0.2, 1), 2.0, (0.2, 0.3, 0.4))
        + joint("RevoluteJoint", "j", None, "/robot/a", (0, 0, 1), (0, -0.2, 0), 'uniform token physics:axis = "X"')
        + "}"
    )
    # the same with x, z, -y for x, y, z, lengths in cm, masses in g
    grams = stage_text(
        'def PhysicsScene "s" {}\ndef Xform "robot" {'
        + body("a", (0, 100, -20), 2000.0, (2e6, 4e6, 3e6))
        + joint("RevoluteJoint", "j", None, "/robot/a", (0, 100, 0), (0, 0, 20), 'uniform token physics:axis = "X"')
        + "}",
        meters=0.01,
        kilograms=0.001,
        up="Y",
    )
    found = []
    for name, text in (("m.usda", metres), ("g.usda", grams)):
        (tmp_path / name).write_text(text)
        plant = load_model(str(tmp_path / name), dt=0.0).plant
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [0.4])
        gravity = plant.CalcGravityGeneralizedForces(context)
        p_WA = plant.GetBodyByName("a").EvalPoseInWorld(context).translation()
        found.append([plant.CalcMassMatrix(context)[0, 0], gravity[0], *p_WA])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(found[0][0], 0.2 + 2 * 0.04, rtol=1e-14)


def test_a_mass_that_is_not_stated_is_that_of_the_shapes():
    solid = 'def Sphere "ball" (prepend apiSchemas = ["PhysicsCollisionAPI"{}]) {{ double radius = 0.1 {} }}'
    density = "\nfloat physics:density = 500"
    text = stage_text(
        'def Xform "robot" {'
        + "".join(
            f'def Xform "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{ {own}\n{inside} }}'
            for name, own, inside in (
                ("water", "", solid.format("", "")),
                ("dense", "float physics:density = 2000", solid.format("", "")),
                ("shape", "", solid.format(', "PhysicsMassAPI"', density)),
                ("total", "float physics:mass = 3", solid.format("", "")),
                ("corner", "float physics:density = 6", MESH.format(name="m", apis="", more="")),
            )
        )
        + "}"
    )
    model, _ = read(text)
    masses = {link.name: link.inertial for link in model.links}
    volume = 4 / 3 * pi * 0.1**3
    expected = {"water": 1000 * volume, "dense": 2000 * volume, "shape": 500 * volume, "total": 3.0, "corner": 1.0}
    for name, mass in expected.items():
        np.testing.assert_allclose(masses[name].mass, mass, rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(masses["total"].inertia[:3], (3 * 0.4 * 0.01,) * 3, rtol=1e-12)
    np.testing.assert_allclose(masses["corner"].X_LI[:3, 3], (0.25,) * 3, rtol=1e-12)


def test_newtons_full_inertia_stands_before_the_principal_one_and_principal_axes_are_turned():
    text = stage_text(
        'def Xform "robot" {'
        + body("full", (0, 0, 0), 1.0, (1, 1, 1), "double[] newton:inertia = [2, 3, 4, 0.1, 0.2, 0.3]")
        + body("turned", (0, 0, 0), 1.0, (1, 2, 2.5), "quatf physics:principalAxes = (0.70710677, 0, 0, 0.70710677)")
        + "}"
    )
    full, turned = (link.inertial for link in read(text)[0].links)
    assert full.inertia == (2.0, 3.0, 4.0, 0.1, 0.2, 0.3)
    R = turned.X_LI[:3, :3]
    np.testing.assert_allclose(R @ np.diag(turned.inertia[:3]) @ R.T, np.diag((2, 1, 2.5)), atol=1e-15)


def test_shapes_take_their_scales_and_axes_and_those_of_prims_above():
    shapes = """
    def Xform "big" { double3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:scale"]
        def Cube "box" { double size = 1
            double3 xformOp:scale = (0.1, 0.2, 0.3)
            double3 xformOp:translate = (1, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"] }
        def Sphere "ball" { double radius = 0.5 }
    }
    def Sphere "egg" { double radius = 1
        double3 xformOp:scale = (0.1, 0.2, 0.3)
        uniform token[] xformOpOrder = ["xformOp:scale"] }
    def Cylinder "can" { double radius = 0.1
        double height = 0.5
        uniform token axis = "X" }
    def Capsule "pill" { double radius = 0.1
        double height = 0.5 }
    def Plane "floor" { uniform token axis = "Z" }
    """ + MESH.format(
        name="mesh", apis=', "PhysicsMeshCollisionAPI"', more='uniform token physics:approximation = "convexHull"'
    )
    model, diagnostics = read(stage_text('def Xform "robot" {' + body("a", (1, 2, 3), inside=shapes) + "}"))
    seen = {visual.name: visual for visual in model.links[0].visuals}
    assert seen["box"].shape == Box((0.2, 0.4, 0.6))
    np.testing.assert_allclose(seen["box"].X_LG[:3, 3], (2.0, 0.0, 0.0), atol=1e-15)
    assert seen["ball"].shape == Sphere(1.0)
    assert seen["egg"].shape == Ellipsoid((0.1, 0.2, 0.3))
    assert seen["can"].shape == Cylinder(0.1, 0.5)
    np.testing.assert_allclose(seen["can"].X_LG[:3, 2], (1.0, 0.0, 0.0), atol=1e-15)
    assert seen["pill"].shape == Capsule(0.1, 0.5)
    assert seen["floor"].shape == HalfSpace()
    (hull,) = model.links[0].collisions
    assert isinstance(hull.shape, Mesh)
    assert hull.shape.convex
    assert Path(hull.shape.path).read_text().splitlines()[1] == "v 1.0 0.0 0.0"


def test_what_is_a_guide_is_not_seen_and_what_has_a_physics_material_has_its_friction():
    inside = """
    def Cube "solid" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"]) { double size = 1
        uniform token purpose = "guide"
        rel material:binding:physics = </robot/rubber> }
    def Cube "shown" (prepend apiSchemas = ["MaterialBindingAPI"]) { double size = 2
        rel material:binding = </robot/red> }
    def Cube "hidden" { token visibility = "invisible" }"""
    text = stage_text(
        'def Xform "robot" {'
        + body("a", (0, 0, 0), inside=inside)
        + """
    def Material "rubber" (prepend apiSchemas = ["PhysicsMaterialAPI"])
    { float physics:staticFriction = 0.9
      float physics:dynamicFriction = 0.8 }
    def Material "red" { token outputs:surface.connect = </robot/red/shader.outputs:surface>
        color3f inputs:tint = (1, 0, 0)
        def Shader "shader" { uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </robot/red.inputs:tint>
            float inputs:opacity = 0.5
            token outputs:surface } }
}"""
    )
    (link,) = read(text)[0].links
    assert [visual.name for visual in link.visuals] == ["shown"]
    assert link.visuals[0].color == (1.0, 0.0, 0.0, 0.5)
    assert link.collisions[0].properties == {("material", "coulomb_friction"): (0.9, 0.8)}


def test_bodies_that_stand_turned_start_their_joints_there():
    turned = body("b", (0, 0, 1)).replace(
        'uniform token[] xformOpOrder = ["xformOp:translate"]',
        'float xformOp:rotateZ = 90\nuniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]',
    )
    text = stage_text(
        'def Xform "robot" {'
        + body("a", (0, 0, 0))
        + turned
        + joint("RevoluteJoint", "j", "/robot/a", "/robot/b", (0, 0, 1), (0, 0, 0), 'uniform token physics:axis = "Z"')
        + "}"
    )
    (hinge,) = read(text)[0].joints
    np.testing.assert_allclose(hinge.axes[0].default_position, pi / 2, rtol=1e-14)


def test_six_axes_of_which_some_are_locked_are_joints_in_a_row():
    locked = "".join(
        f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n"
        for axis in ("transY", "transZ", "rotX", "rotY")
    )
    more = locked + "float limit:transX:physics:low = -0.5\nfloat limit:transX:physics:high = 0.5"
    text = stage_text(
        'def Xform "robot" {' + body("a", (0, 0, 0)) + joint("Joint", "j", None, "/robot/a", more=more) + "}"
    )
    model, _ = read(text)
    assert [(j.name, j.type, j.parent, j.child, j.axes[0].xyz) for j in model.joints] == [
        ("j_x", "prismatic", "world", "a_0", (1.0, 0.0, 0.0)),
        ("j_qz", "revolute", "a_0", "a", (0.0, 0.0, 1.0)),
    ]
    assert (model.joints[0].axes[0].lower, model.joints[1].axes[0].lower) == (-0.5, -inf)


def test_what_closes_loops_follows_or_must_not_touch():
    excluded = "uniform bool physics:excludeFromArticulation = 1"
    text = stage_text(
        'def Xform "robot" {'
        + body("a", (0, 0, 0), apis=', "PhysicsFilteredPairsAPI"', more="rel physics:filteredPairs = </robot/c>")
        + body("b", (1, 0, 0))
        + body("c", (2, 0, 0))
        + joint("RevoluteJoint", "lead", "/robot/a", "/robot/b", (1, 0, 0))
        + joint(
            "RevoluteJoint",
            "follow",
            "/robot/b",
            "/robot/c",
            (1, 0, 0),
            apis='"NewtonMimicAPI"',
            more="rel newton:mimicJoint = </robot/lead>\nfloat newton:mimicCoef0 = 90\nfloat newton:mimicCoef1 = -2",
        )
        + joint("SphericalJoint", "ball", "/robot/a", "/robot/c", (2, 0, 0), more=excluded)
        + joint("FixedJoint", "weld", "/robot/a", "/robot/c", (2, 0, 0), more=excluded)
        + joint(
            "DistanceJoint",
            "rod",
            "/robot/a",
            "/robot/c",
            more="float physics:minDistance = 2\nfloat physics:maxDistance = 2",
        )
        + "}"
    )
    model, _ = read(text)
    assert [joint.name for joint in model.joints] == ["lead", "follow"]
    mimic = model.joints[1].axes[0].mimic
    assert (mimic.leader, mimic.multiplier) == ("lead", -2.0)
    np.testing.assert_allclose(mimic.offset, pi / 2)
    kinds = [type(constraint).__name__ for constraint in model.constraints]
    assert kinds == ["BallConstraintSpec", "WeldConstraintSpec", "DistanceConstraintSpec"]
    first, second = model.filter_groups
    assert (first.members, second.members, first.ignores) == (("a",), ("c",), (second.name,))


def test_joints_of_mujoco_on_one_body_follow_one_another(tmp_path):
    """The same body by MJCF: two hinges, the first of which stands at its `ref`."""
    mujoco = '<mujoco><worldbody><body name="b" pos="0 0 1"><joint name="one" axis="0 0 1" ref="30"/><joint name="two" '
    mujoco += 'axis="1 0 0" pos="0 0.1 0"/><inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/></body>'
    mujoco += "</worldbody></mujoco>"
    at = 'uniform token physics:axis = "{}"\n{}'
    body_text = body("b", (0, 0, 1), 2.0).replace("centerOfMass = (0, 0, 0)", "centerOfMass = (0.1, 0.2, 0.3)")
    text = stage_text(
        'def PhysicsScene "s" {}\ndef Xform "robot" {'
        + body_text
        + joint(
            "RevoluteJoint",
            "one",
            None,
            "/robot/b",
            (0, 0, 1),
            more=at.format("Z", "double mjc:ref = 30"),
            apis='"MjcJointAPI"',
        )
        + joint(
            "RevoluteJoint",
            "two",
            None,
            "/robot/b",
            (0, 0.1, 1),
            (0, 0.1, 0),
            more=at.format("X", ""),
            apis='"MjcJointAPI"',
        )
        + "}"
    )
    found = []
    for name, content in (("a.xml", mujoco), ("a.usda", text)):
        (tmp_path / name).write_text(content)
        plant = load_model(str(tmp_path / name), dt=0.0).plant
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [0.3, -0.8])
        found.append([plant.CalcMassMatrix(context), plant.CalcGravityGeneralizedForces(context)])
    for here, there in zip(*found, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-13, atol=1e-14)


def test_layers_variants_instances_and_packages_are_composed(tmp_path):
    (tmp_path / "part.usda").write_text(stage_text('def Xform "robot" { def Sphere "ball" { double radius = 0.25 } }'))
    text = stage_text(
        'def Xform "robot" (variants = { string size = "small" }\nprepend variantSets = "size") {'
        + body("a", (0, 0, 0), inside='def "skin" (instanceable = true\nprepend references = @./part.usda@) {}')
        + 'variantSet "size" = { "small" { def Xform "extra" { } } "large" {'
        + body("big", (0, 0, 0))
        + "} } }"
    )
    path = tmp_path / "robot.usda"
    path.write_text(text)
    model, _ = read(str(path))
    assert [link.name for link in model.links] == ["a"]
    assert model.links[0].visuals[0].shape == Sphere(0.25)
    assert {source.path.rpartition("/")[2] for source in model.sources} == {"robot.usda", "part.usda"}

    from pxr import Sdf, UsdUtils

    Sdf.Layer.FindOrOpen(str(path)).Export(str(tmp_path / "robot.usdc"))
    UsdUtils.CreateNewUsdzPackage(str(path), str(tmp_path / "robot.usdz"))
    for name in ("robot.usdc", "robot.usdz"):
        model, _ = read(str(tmp_path / name))
        assert model.links[0].visuals[0].shape == Sphere(0.25), name


def test_what_is_not_physics_is_counted_in_one_note_each():
    text = stage_text(
        'def Xform "robot" {'
        + body("a", (0, 0, 0), more="float physxRigidBody:sleepThreshold = 1\nfloat physics:nonsense = 1")
        + 'def DistantLight "sun" {}\ndef Camera "eye" {} }'
    )
    _, diagnostics = read(text)
    notes = [finding.message for finding in diagnostics.findings if finding.code == "USD_UNUSED"]
    assert notes == [
        "1 values for other engines are not used: 1 physxRigidBody:sleepThreshold",
        "2 prims say nothing of rigid bodies: 1 DistantLight, 1 Camera",
    ]
    (warning,) = diagnostics.warnings
    assert (warning.code, warning.xpath) == ("ATTRIBUTE_UNSUPPORTED", "/robot/a")


def test_names_that_converters_had_to_change_are_those_of_the_source():
    named = [("tn__lefthip_eB", "left-hip"), ("knee_1", "knee"), ("plain", "Shown in a window")]
    bodies = "".join(body(name, (0, 0, 0)).replace("])", f']\ndisplayName = "{shown}")', 1) for name, shown in named)
    model, _ = read(stage_text('def Xform "robot" {' + bodies + "}"))
    assert [link.name for link in model.links] == ["left-hip", "knee", "plain"]
