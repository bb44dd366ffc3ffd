"""Drake's force elements and constraints, and mass properties from collisions, of SDFormat files."""

import re
from math import inf, pi

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.spec import (
    BallConstraintSpec,
    BushingSpec,
    DistanceConstraintSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
    WeldConstraintSpec,
)

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

LINKS = (
    "<link name='a'/><link name='b'/><frame name='f' attached_to='b'><pose>1 2 3 0 0 0</pose></frame>"
    "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis/></joint>"
)


def text_of(body):
    return f"<sdf version='1.11' xmlns:drake='http://drake.mit.edu'><model name='m'>{body}</model></sdf>"


def read(body):
    diagnostics = Diagnostics()
    return read_sdf(text_of(body).encode(), diagnostics), [(f.severity, f.code) for f in diagnostics.findings]


def read_model(body):
    (model,), findings = read(body)
    assert findings == []
    return model


def element(tag, prefix, **children):
    inner = "".join(f"<drake:{prefix}_{name}>{value}</drake:{prefix}_{name}>" for name, value in children.items())
    return f"<drake:{tag}>{inner}</drake:{tag}>"


POINTS = {"body_A": "a", "p_AP": "1 2 3", "body_B": "b", "p_BQ": "4 5 6"}
P, Q = (1.0, 2.0, 3.0), (4.0, 5.0, 6.0)
BUSHING = {
    "frameA": "a",
    "frameC": "f",
    "torque_stiffness": "1 2 3",
    "torque_damping": "4 5 6",
    "force_stiffness": "7 8 9",
    "force_damping": "0 1 2",
}
SPRING = {**POINTS, "free_length": 1, "stiffness": 2, "damping": 3}
TENDON_JOINT = "<drake:tendon_constraint_joint name='j' a='2'/>"
TENDON = {"offset": 1, "lower_limit": "-inf", "upper_limit": 2, "stiffness": 3, "damping": 4}


def tendon(**children):
    return element("tendon_constraint", "tendon_constraint", **children).replace(
        "<drake:tendon_constraint>", f"<drake:tendon_constraint>{TENDON_JOINT}"
    )


ELEMENTS = {
    "linear_bushing_rpy": element("linear_bushing_rpy", "bushing", **BUSHING),
    "linear_spring_damper": element("linear_spring_damper", "linear_spring_damper", **SPRING),
    "ball_constraint": element("ball_constraint", "ball_constraint", **POINTS),
    "distance_constraint": element("distance_constraint", "distance_constraint", **POINTS, distance=2),
    "tendon_constraint": tendon(**TENDON),
    "weld_constraint": "<drake:weld_constraint><parent>a</parent><child>f</child></drake:weld_constraint>",
}


def test_force_elements():
    body = ELEMENTS["linear_bushing_rpy"] + ELEMENTS["linear_spring_damper"]
    bushing, spring = read_model(LINKS + body).force_elements
    assert bushing == BushingSpec("a", "f", (1, 2, 3), (4, 5, 6), (7, 8, 9), (0, 1, 2), bushing.place)
    assert spring == SpringDamperSpec("a", P, "b", Q, 1.0, 2.0, 3.0, spring.place)


def test_constraints():
    names = ("ball_constraint", "distance_constraint", "tendon_constraint", "weld_constraint")
    ball, distance, cord, weld = read_model(LINKS + "".join(ELEMENTS[name] for name in names)).constraints
    assert ball == BallConstraintSpec("a", P, "b", Q, ball.place)
    assert distance == DistanceConstraintSpec("a", P, "b", Q, 2.0, distance.place)
    assert cord == TendonConstraintSpec(("j",), (2.0,), cord.place, 1.0, -inf, 2.0, 3.0, 4.0)
    assert isinstance(weld, WeldConstraintSpec)
    assert (weld.link_A, weld.link_B) == ("a", "b")
    np.testing.assert_array_equal(weld.X_BQ[:3, 3], (1, 2, 3))


def test_a_plant_has_them():
    plant = MultibodyPlant(1e-3)
    Parser(plant).AddModelsFromString(text_of(LINKS + "".join(ELEMENTS.values())), "sdf")
    assert plant.num_force_elements() == 1 + 2  # gravity
    assert plant.num_constraints() == 4


def test_bodies_may_be_in_nested_models():
    nested = "<model name='c'><link name='x'/><frame name='g'><pose>0 0 1 0 0 0</pose></frame></model>"
    body = ELEMENTS["ball_constraint"].replace(">b<", ">c::x<") + ELEMENTS["linear_bushing_rpy"].replace(
        ">f<", ">c::g<"
    )
    model = read_model(LINKS + nested + body)
    assert model.constraints[0].link_B == "c::x"
    assert model.force_elements[0].frame_C == "c::g"
    plant = MultibodyPlant(1e-3)
    Parser(plant).AddModelsFromString(text_of(LINKS + nested + body), "sdf")
    assert plant.num_constraints() == 1


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_missing_child_is_an_error(name):
    first_child = r"(<[^>]*>)<(\S+)[^>]*(?:/>|>[^<]*</\2>)"
    damaged = re.sub(first_child, r"\1", ELEMENTS[name], count=1)
    assert damaged != ELEMENTS[name]
    assert read(LINKS + damaged) == ((), [("error", "ELEMENT_MISSING")])


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("linear_bushing_rpy", ">f<", ">g<"),
        ("linear_bushing_rpy", ">1 2 3<", ">1 -2 3<"),
        ("linear_bushing_rpy", ">1 2 3<", ">1 2<"),
        ("linear_spring_damper", ">b<", ">f<"),  # a frame is no body
        ("linear_spring_damper", "free_length>1<", "free_length>0<"),
        ("linear_spring_damper", "stiffness>2<", "stiffness>-2<"),
        ("ball_constraint", ">a<", "><"),
        ("distance_constraint", "distance>2<", "distance>0<"),
        ("tendon_constraint", "damping>4<", "damping>-4<"),
        ("tendon_constraint", "name='j'", "name='k'"),
        ("tendon_constraint", "name='j'", "name='a'"),  # a link is no joint
        ("weld_constraint", "child>f<", "child>g<"),
    ],
)
def test_a_bad_value_is_an_error(name, old, new):
    assert old in ELEMENTS[name]
    models, findings = read(LINKS + ELEMENTS[name].replace(old, new, 1))
    assert (models, findings) == ((), [("error", "ELEMENT_INVALID")])


# ----------------------------------------------------------------------------- mass from the collisions


def box(density="", pose="", name="c"):
    return f"<collision name='{name}'>{pose}{density}<geometry><box><size>1 2 3</size></box></geometry></collision>"


def automatic(inertial, *collisions):
    return f"<link name='l'><inertial auto='true'>{inertial}</inertial>{''.join(collisions)}</link>"


@pytest.mark.parametrize(
    ("inertial", "density", "mass"),
    [
        ("", "", 6000.0),  # water
        ("<density>5</density>", "", 30.0),
        ("<density>5</density>", "<density>7</density>", 42.0),
        ("<mass>3</mass>", "", 3.0),
    ],
)
def test_a_box_of_a_density(inertial, density, mass):
    found = read_model(automatic(inertial, box(density))).links[0].inertial
    assert found.mass == pytest.approx(mass, rel=1e-14)
    moments = np.array([13, 10, 5, 0, 0, 0]) / 12 * mass
    np.testing.assert_allclose(found.inertia, moments, rtol=1e-13, atol=1e-12)


def test_several_shapes_make_one_body():
    apart = "<pose>0 0 4 0 0 0</pose>"
    found = read_model(automatic("<density>1</density>", box(), box(pose=apart, name="d"))).links[0].inertial
    assert found.mass == pytest.approx(12.0, rel=1e-14)
    np.testing.assert_allclose(found.X_LI[:3, 3], (0, 0, 2), atol=1e-13)
    np.testing.assert_allclose(found.inertia[:3], (13 + 12 * 4, 10 + 12 * 4, 5), rtol=1e-13)


@pytest.mark.parametrize(
    ("geometry", "mass"),
    [
        ("<sphere><radius>2</radius></sphere>", 4 / 3 * pi * 8),
        ("<cylinder><radius>2</radius><length>3</length></cylinder>", pi * 12),
        ("<capsule><radius>2</radius><length>3</length></capsule>", pi * 12 + 4 / 3 * pi * 8),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", 8 * pi),
    ],
)
def test_the_mass_of_each_shape(geometry, mass):
    collision = f"<collision name='c'><geometry>{geometry}</geometry></collision>"
    found = read_model(automatic("<density>1</density>", collision)).links[0].inertial
    assert found.mass == pytest.approx(mass, rel=1e-14)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (automatic(""), "ELEMENT_MISSING"),
        (automatic("<pose>1 0 0 0 0 0</pose>", box()), "LINK_INERTIA_INVALID"),
        (automatic("<inertia/>", box()), "LINK_INERTIA_INVALID"),
        (automatic("<density>0</density>", box()), "ELEMENT_INVALID"),
        (automatic("", box("<density>-1</density>")), "ELEMENT_INVALID"),
        (automatic("", box(), "<collision name='d'><geometry><plane/></geometry></collision>"), "LINK_INERTIA_INVALID"),
        (automatic("", box(), "<collision name='d'><geometry><empty/></geometry></collision>"), "LINK_INERTIA_INVALID"),
    ],
)
def test_what_no_mass_follows_from(body, code):
    models, findings = read(body)
    assert (models, findings) == ((), [("error", code)])


def test_a_mesh_that_is_not_there_has_no_mass():
    mesh = "<collision name='d'><geometry><mesh><uri>no.obj</uri></mesh></geometry></collision>"
    models, findings = read(automatic("", mesh))
    assert models == ()
    assert ("error", "LINK_INERTIA_INVALID") in findings
