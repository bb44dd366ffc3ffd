"""Hydroelastic properties: how they are given, in Python and in files, and what each geometry is by them."""

import math

import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.writing.conversion import converted

from mbcli import all as own
from mbcli.checks.file_check import check_file
from mbcli.errors import ModelError
from mbcli.geometry.hydroelastic_properties import HydroelasticProperties, hydroelastic_properties

RUBBER = own.CoulombFriction(0.5, 0.5)
BALL = '<sphere radius="0.1"/>'
SHAPES = {
    "Sphere": (0.1,),
    "Ellipsoid": (0.1, 0.2, 0.3),
    "Cylinder": (0.1, 0.2),
    "Capsule": (0.1, 0.2),
    "Box": (0.1, 0.2, 0.3),
    "HalfSpace": (),
}


@pytest.fixture
def drake():
    import pydrake.all

    return pydrake.all


def properties(lib=own, **values):
    """ProximityProperties of a rigid or compliant geometry, with values taken away that are None."""
    result = lib.ProximityProperties()
    lib.AddContactMaterial(friction=lib.CoulombFriction(0.5, 0.5), properties=result)
    compliance = values.pop("compliance_type", None)
    if compliance == "rigid":
        lib.AddRigidHydroelasticProperties(result)
    elif compliance == "compliant":
        lib.AddCompliantHydroelasticProperties(1.0, 1.0, result)
        result.RemoveProperty("hydroelastic", "resolution_hint")
        result.RemoveProperty("hydroelastic", "hydroelastic_modulus")
    for name, value in values.items():
        result.AddProperty("hydroelastic", name, value)
    return result


def what_is(shape, given, **defaults):
    """Of a geometry with these properties, after defaults of a scene."""
    instance = own.GeometryInstance(own.RigidTransform(), shape, "ball")
    instance.set_proximity_properties(given)
    return hydroelastic_properties(instance, shape, own.DefaultProximityProperties(**defaults), "b")


# --------------------------------------------------------------------------------------------------- Python


@pytest.mark.parametrize("lib", ["own", pytest.param("drake", marks=pytest.mark.peers("pydrake"))])
def test_functions_add_what_pydrake_adds(lib, request):
    lib = own if lib == "own" else request.getfixturevalue(lib)
    expected = {"compliance_type"}
    for add, more in (
        (lambda p: lib.AddRigidHydroelasticProperties(p), set()),
        (lambda p: lib.AddRigidHydroelasticProperties(properties=p), set()),
        (lambda p: lib.AddRigidHydroelasticProperties(0.1, p), {"resolution_hint"}),
        (lambda p: lib.AddRigidHydroelasticProperties(resolution_hint=0.1, properties=p), {"resolution_hint"}),
        (
            lambda p: lib.AddCompliantHydroelasticProperties(
                resolution_hint=0.1, hydroelastic_modulus=1e6, properties=p
            ),
            {"resolution_hint", "hydroelastic_modulus"},
        ),
        (
            lambda p: lib.AddCompliantHydroelasticPropertiesForHalfSpace(
                slab_thickness=0.1, hydroelastic_modulus=1e6, properties=p
            ),
            {"slab_thickness", "hydroelastic_modulus"},
        ),
    ):
        result = lib.ProximityProperties()
        add(result)
        assert set(result.GetPropertiesInGroup("hydroelastic")) == expected | more
        assert all(result.GetProperty("hydroelastic", name) in (0.1, 1e6) for name in more)
        with pytest.raises(RuntimeError, match="already"):
            add(result)
    for E in (0, -1.0, math.nan if lib is own else -1.0):
        with pytest.raises(RuntimeError, match="modulus must be positive"):
            lib.AddCompliantHydroelasticProperties(0.1, E, lib.ProximityProperties())
    with pytest.raises(TypeError):
        lib.AddRigidHydroelasticProperties(0.1, 0.2, lib.ProximityProperties())


def test_a_failed_addition_adds_nothing():
    result = own.ProximityProperties()
    result.AddProperty("hydroelastic", "hydroelastic_modulus", 3.0)
    with pytest.raises(RuntimeError, match="'hydroelastic_modulus'"):
        own.AddCompliantHydroelasticProperties(0.1, 1e6, result)
    assert set(result.GetPropertiesInGroup("hydroelastic")) == {"hydroelastic_modulus"}
    for call in (
        lambda: own.AddRigidHydroelasticProperties(),
        lambda: own.AddRigidHydroelasticProperties(0.1, properties=result, slab_thickness=1),
        lambda: own.AddRigidHydroelasticProperties(0.1, 0.2),
        lambda: own.AddCompliantHydroelasticProperties(0.1, 1e6, own.GeometryProperties()),
    ):
        with pytest.raises(TypeError):
            call()


def registration(lib, shape, given):
    """None, or the property that the error names when a geometry is registered."""
    plant, graph = lib.MultibodyPlant(0.001), lib.SceneGraph()
    plant.RegisterAsSourceForSceneGraph(graph)
    body = plant.AddRigidBody("b", lib.SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    try:
        plant.RegisterCollisionGeometry(body, lib.RigidTransform(), shape, "ball", given)
    except RuntimeError as error:
        return next(name for name in NAMED if name in str(error))
    return None


NAMED = ("resolution_hint", "slab_thickness", "hydroelastic_modulus", "margin")
GIVEN = [
    {},
    {"compliance_type": "rigid"},
    {"compliance_type": "rigid", "resolution_hint": 0.1},
    {"compliance_type": "rigid", "resolution_hint": -0.1},
    {"compliance_type": "rigid", "resolution_hint": 0.1, "margin": -1.0},
    {"compliance_type": "compliant"},
    {"compliance_type": "compliant", "resolution_hint": 0.1},
    {"compliance_type": "compliant", "hydroelastic_modulus": 1e6},
    {"compliance_type": "compliant", "hydroelastic_modulus": 1e6, "slab_thickness": 0.1},
    {"compliance_type": "compliant", "hydroelastic_modulus": 1e6, "slab_thickness": 0.1, "resolution_hint": 0.1},
    {"compliance_type": "compliant", "hydroelastic_modulus": 1e6, "slab_thickness": -0.1, "resolution_hint": 0.1},
    {"compliance_type": "compliant", "hydroelastic_modulus": 0.0, "slab_thickness": 0.1, "resolution_hint": 0.1},
    {"compliance_type": "compliant", "hydroelastic_modulus": math.nan, "slab_thickness": 0.1, "resolution_hint": 0.1},
    {"compliance_type": "compliant", "hydroelastic_modulus": 1e6, "slab_thickness": 0.1, "resolution_hint": 0.0},
    {
        "compliance_type": "compliant",
        "hydroelastic_modulus": 1e6,
        "slab_thickness": 0.1,
        "resolution_hint": 0.1,
        "margin": -1e-4,
    },
    {"hydroelastic_modulus": -1.0},
]


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("given", GIVEN)
def test_registration_refuses_what_pydrake_refuses(drake, name, given):
    refused = [registration(lib, getattr(lib, name)(*SHAPES[name]), properties(lib, **given)) for lib in (own, drake)]
    assert refused[0] == refused[1]


def test_an_error_names_geometry_body_and_property():
    message = r"geometry 'ball' of body 'b': the property \('hydroelastic', 'resolution_hint'\) is missing"
    plant, graph = own.MultibodyPlant(0.001), own.SceneGraph()
    plant.RegisterAsSourceForSceneGraph(graph)
    body = plant.AddRigidBody("b", own.SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    with pytest.raises(ModelError, match=message + ", which a rigid Sphere needs"):
        plant.RegisterCollisionGeometry(
            body, own.RigidTransform(), own.Sphere(0.1), "ball", properties(compliance_type="rigid")
        )
    for value, problem in (("thick", "must be a number"), (math.inf, "must be finite and positive")):
        with pytest.raises(ModelError, match=f"'slab_thickness'\\) {problem}"):
            what_is(own.HalfSpace(), properties(compliance_type="compliant", slab_thickness=value))
    text = properties()
    text.AddProperty("hydroelastic", "compliance_type", "soft")
    with pytest.raises(ModelError, match="must be one of undefined, rigid, compliant, not 'soft'"):
        what_is(own.Sphere(0.1), text)


def test_what_a_geometry_is_with_defaults_of_the_scene():
    ball, box, ground = own.Sphere(0.1), own.Box(1, 1, 1), own.HalfSpace()
    bare = properties()
    assert what_is(ball, bare) is None and what_is(ball, None) is None
    compliant = HydroelasticProperties("compliant", 1e7, 0.02, None, 0.0)
    assert what_is(ball, bare, compliance_type="compliant") == compliant and compliant.is_compliant
    assert what_is(box, bare, compliance_type="rigid") == HydroelasticProperties("rigid", math.inf, None, None, 0.0)
    assert what_is(ground, bare, compliance_type="rigid").compliance == "rigid"
    with pytest.raises(ModelError, match="'slab_thickness'"):
        what_is(ground, bare, compliance_type="compliant")
    slab = what_is(ground, bare, compliance_type="compliant", slab_thickness=0.3, margin=1e-4)
    assert slab == HydroelasticProperties("compliant", 1e7, None, 0.3, 1e-4)
    # what a geometry has of its own goes first, one by one
    mixed = properties(hydroelastic_modulus=3e5, margin=1e-3)
    assert what_is(ball, mixed) is None
    assert what_is(ball, mixed, compliance_type="compliant", margin=5.0) == HydroelasticProperties(
        "compliant", 3e5, 0.02, None, 1e-3
    )
    assert what_is(box, properties(compliance_type="rigid"), compliance_type="compliant").compliance == "rigid"
    with pytest.raises(ModelError, match="'resolution_hint'"):
        what_is(ball, bare, compliance_type="rigid", resolution_hint=None)


# ---------------------------------------------------------------------------------------------------- files


def urdf(shape, elements):
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    return (
        f'<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="a">{inertial}'
        f'<collision name="c"><geometry>{shape}</geometry>'
        f"<drake:proximity_properties>{elements}</drake:proximity_properties></collision></link></robot>"
    )


def sdf(shape, elements):
    return (
        f'<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="r"><link name="a">'
        f'<inertial/><collision name="c"><geometry>{shape}</geometry>'
        f"<drake:proximity_properties>{elements}</drake:proximity_properties></collision></link></model></sdf>"
    )


def read(text, input_format="urdf"):
    """(properties of group hydroelastic, findings) of a file."""
    diagnostics = Diagnostics()
    (model,) = load_models(text.encode(), input_format=input_format, diagnostics=diagnostics, name="r")
    found = model.links[0].collisions[0].properties
    return {name: value for (group, name), value in found.items() if group == "hydroelastic"}, diagnostics.findings


def elements(form, **values):
    """Drake's elements of a format; True: without a number."""
    parts = []
    for tag, value in values.items():
        end = "/>" if value is True else f' value="{value}"/>' if form == "urdf" else f">{value}</drake:{tag}>"
        parts.append(f"<drake:{tag}{end}")
    return "".join(parts)


@pytest.mark.parametrize(("form", "frame", "shape"), [("urdf", urdf, BALL), ("sdf", sdf, None)])
def test_files_give_all_properties(form, frame, shape):
    shape = shape or "<sphere><radius>0.1</radius></sphere>"
    numbers = {"hydroelastic_modulus": 2e6, "mesh_resolution_hint": 0.03, "hydroelastic_margin": 1e-4}
    text = frame(shape, elements(form, compliant_hydroelastic=True, **numbers))
    found, findings = read(text, form)
    assert findings == [] and found == {
        "compliance_type": "compliant",
        "hydroelastic_modulus": 2e6,
        "resolution_hint": 0.03,
        "margin": 1e-4,
    }
    rigid, findings = read(frame(shape, elements(form, rigid_hydroelastic=True, **numbers)), form)
    assert rigid == {"compliance_type": "rigid", "resolution_hint": 0.03}
    assert [f.code for f in findings] == ["ELEMENT_MEANINGLESS"] * 2
    both = elements(form, rigid_hydroelastic=True, compliant_hydroelastic=True, **numbers)
    found, findings = read(frame(shape, both), form)
    assert "compliance_type" not in found and [f.code for f in findings] == ["ELEMENT_INVALID"]
    lacking, findings = read(frame(shape, elements(form, compliant_hydroelastic=True)), form)
    assert lacking == {} and [(f.code, f.severity) for f in findings] == [("HYDROELASTIC_INCOMPLETE", "warning")]
    assert "<drake:mesh_resolution_hint> and <drake:hydroelastic_modulus>" in findings[0].message
    named_before, findings = read(frame(shape, elements(form, soft_hydroelastic=True, **numbers)), form)
    assert named_before["compliance_type"] == "compliant" and [f.code for f in findings] == ["ELEMENT_DEPRECATED"]
    for tag in numbers:
        found, findings = read(frame(shape, elements(form, **{tag: -1})), form)
        assert found == {} and [f.code for f in findings] == ["ELEMENT_INVALID"]


def test_a_compliant_half_space_of_a_file_needs_its_slab():
    plane = "<plane><normal>0 0 1</normal></plane>"
    soft = {"compliant_hydroelastic": True, "hydroelastic_modulus": 1e6}
    found, findings = read(sdf(plane, elements("sdf", **soft, slab_thickness=0.2)), "sdf")
    assert found["slab_thickness"] == 0.2 and findings == []
    found, (finding,) = read(sdf(plane, elements("sdf", **soft)), "sdf")
    assert "compliance_type" not in found and "a compliant half space needs <drake:slab_thickness>" in finding.message


@pytest.mark.parametrize("target", ["urdf", "sdf"])
def test_conversion_keeps_them(target):
    numbers = {"hydroelastic_modulus": 2e6, "mesh_resolution_hint": 0.03, "hydroelastic_margin": 1e-4}
    text = urdf(BALL, elements("urdf", compliant_hydroelastic=True, **numbers))
    (model,) = load_models(text.encode(), input_format="urdf", diagnostics=Diagnostics(), name="r")
    written = converted(model, target, packages=PackageMap(), folder=".").text.decode()
    assert read(written, target)[0] == read(text)[0]


# ---------------------------------------------------------------------------------------------------- check


def codes_of(text, folder, mesh_files=False):
    path = folder / "r.urdf"
    path.write_text(text)
    return [f.code for f in check_file(str(path), mesh_files=mesh_files).findings if "HYDRO" in f.code]


@pytest.mark.parametrize(
    ("shape", "given", "code"),
    [
        (BALL, {"hydroelastic_modulus": 1e3, "mesh_resolution_hint": 0.02}, "HYDROELASTIC_MODULUS"),
        (BALL, {"hydroelastic_modulus": 1e12, "mesh_resolution_hint": 0.02}, "HYDROELASTIC_MODULUS"),
        (BALL, {"hydroelastic_modulus": 1e6, "mesh_resolution_hint": 0.3}, "HYDROELASTIC_HINT"),
        (
            BALL,
            {"hydroelastic_modulus": 1e6, "mesh_resolution_hint": 0.02, "hydroelastic_margin": 0.2},
            "HYDROELASTIC_MARGIN",
        ),
        ('<box size="1 1 1"/>', {"hydroelastic_modulus": 1e6, "slab_thickness": 0.02}, "HYDROELASTIC_SLAB"),
        (BALL, {"hydroelastic_modulus": 1e6, "mesh_resolution_hint": 0.02, "hydroelastic_margin": 1e-4}, None),
        ('<box size="1 1 1"/>', {"hydroelastic_modulus": 1e5}, None),
    ],
)
def test_check_names_values_that_make_no_sense(tmp_path, shape, given, code):
    text = urdf(shape, elements("urdf", compliant_hydroelastic=True, **given))
    assert codes_of(text, tmp_path) == ([] if code is None else [code])


def test_check_notes_that_rigid_solids_alone_have_no_surfaces(tmp_path):
    text = urdf(BALL, elements("urdf", rigid_hydroelastic=True, mesh_resolution_hint=0.02))
    assert codes_of(text, tmp_path) == ["HYDROELASTIC_RIGID_ONLY"]


def test_check_names_a_compliant_mesh_that_is_not_closed(tmp_path):
    rows = ["v 0.05 0 0", "v -0.05 0.05 0", "v -0.05 -0.05 0", "v 0 0 0.1", "f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"]
    text = urdf('<mesh filename="m.obj"/>', elements("urdf", compliant_hydroelastic=True, hydroelastic_modulus=1e6))
    (tmp_path / "m.obj").write_text("\n".join(rows))
    assert codes_of(text, tmp_path, mesh_files=True) == []
    (tmp_path / "m.obj").write_text("\n".join(rows[:-1]))
    assert codes_of(text, tmp_path, mesh_files=True) == ["HYDROELASTIC_MESH"] and codes_of(text, tmp_path) == []
    rigid = urdf('<mesh filename="m.obj"/>', elements("urdf", rigid_hydroelastic=True))
    assert codes_of(rigid, tmp_path, mesh_files=True) == ["HYDROELASTIC_RIGID_ONLY"]


@pytest.mark.parametrize(
    ("contact_model", "kind", "code"),
    [
        ("point", "compliant", ("HYDROELASTIC_UNUSED", "note")),
        ("point", None, None),
        ("hydroelastic", "rigid", ("HYDROELASTIC_RIGID_ONLY", "warning")),
        ("hydroelastic", None, ("HYDROELASTIC_RIGID_ONLY", "warning")),
        ("hydroelastic", "compliant", None),
        ("hydroelastic_with_fallback", "rigid", None),
    ],
)
def test_check_compares_the_contact_model_of_a_scenario_with_its_models(tmp_path, contact_model, kind, code):
    given = {} if kind is None else {f"{kind}_hydroelastic": True, "mesh_resolution_hint": 0.02}
    if kind == "compliant":
        given["hydroelastic_modulus"] = 1e6
    (tmp_path / "ball.urdf").write_text(urdf(BALL, elements("urdf", **given)))
    scene = tmp_path / "s.scenario.yaml"
    scene.write_text(
        f"plant_config: {{contact_model: {contact_model}}}\ndirectives:\n- add_model: {{name: ball, file: ball.urdf}}\n"
    )
    found = [f for f in check_file(str(scene)).findings if "HYDRO" in f.code and f.place.file.endswith("yaml")]
    assert [(f.code, f.severity) for f in found] == ([] if code is None else [code])
