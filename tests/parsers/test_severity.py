"""Each value of a file acts, warns as it would move something, or is a note as it moves nothing."""

import importlib.util

import pytest
import severity_tables as tables
import urdf_severity

from mbcli.plugins import CLASSIC

ALL = {
    f"{where} {line}": (where, line, needs) for where, line, needs in (*tables.OF_USD_PHYSICS, *tables.OF_EXTENSIONS)
}


needs_usd = pytest.mark.skipif(importlib.util.find_spec("pxr") is None, reason="usd-core is not installed")


@needs_usd
@pytest.mark.parametrize("name", ALL)
def test_a_value_of_usd_acts_or_is_named(name):
    severity, _ = tables.outcome(*ALL[name])
    assert severity in ("acts", "warning", "note")


@needs_usd
def test_the_page_has_what_files_of_usd_do():
    assert tables.on_page(tables.START, tables.END) == tables.tables()


@needs_usd
def test_all_attributes_of_usd_physics_are_tried():
    """By introspection of the installed schemas; relationships that every joint and group needs are not values."""
    from pxr import Plug, Usd, UsdPhysics

    assert UsdPhysics
    registry, found = Usd.SchemaRegistry(), set()
    for kind in Plug.Registry().GetAllDerivedTypes("UsdSchemaBase"):
        if not kind.typeName.startswith("UsdPhysics"):
            continue
        name = registry.GetSchemaTypeName(kind)
        definition = registry.FindConcretePrimDefinition(name) or registry.FindAppliedAPIPrimDefinition(name)
        names = definition.GetPropertyNames() if definition else ()
        found |= {n.replace("__INSTANCE_NAME__", "angular") for n in names if "physics:" in n}
    structure = {"physics:body0", "physics:body1", "physics:filteredPairs", "physics:filteredGroups"}
    structure |= {"physics:excludeFromArticulation"}  # of loops, tested there; elsewhere it moves nothing
    structure |= {"physics:invertFilteredGroups", "physics:mergeGroup"}  # of groups, tests/parsers/usd has them
    structure |= {"limit:angular:physics:low", "limit:angular:physics:high"}  # of joints with six axes, tested there
    assert found - structure <= {tables.attribute_of(line) for _, line, _ in tables.OF_USD_PHYSICS}


@needs_usd
def test_a_kinematic_body_of_usd_that_carries_a_joint_is_held():
    models, _ = tables.read(tables.stage("body", "bool physics:kinematicEnabled = 1"))
    assert ("world", "a", "fixed") in [(j["parent"], j["child"], j["type"]) for j in models[0]["joints"]]


@needs_usd
def test_neutral_values_of_extensions_of_usd_warn_of_nothing():
    for where, line in (
        ("body", "float physxRigidBody:linearDamping = 0"),
        ("body", "int physxRigidBody:lockedPosAxis = 0"),
        ("body", "vector3f physxForce:force = (0, 0, 0)"),
        ("Revolute", "float physxJoint:jointFriction = 0"),
        ("body", "vector3f physics:velocity = (0, 0, 0)"),
        ("body", "bool physics:startsAsleep = 0"),
    ):
        _, findings = tables.read(tables.stage(where, line))
        assert [f for f in findings if f.severity == "warning" and tables.attribute_of(line) in f.message] == [], line


@pytest.mark.parametrize("part", CLASSIC)
def test_plugins_of_gazebo_classic_that_move_things_are_warned_of_with_a_cure(part):
    _, findings = tables.read(tables.plugin_robot(f"lib{part}.so"), "urdf")
    (finding,) = [f for f in findings if "<plugin>" in f.message]
    assert finding.severity == "warning" and CLASSIC[part] in finding.message


@pytest.mark.parametrize("name", ["libgazebo_ros_joint_state_publisher.so", "libgazebo_ros_camera.so", "libother.so"])
def test_plugins_that_move_nothing_are_no_warnings(name):
    _, findings = tables.read(tables.plugin_robot(name), "urdf")
    assert [f for f in findings if f.severity == "warning" and "plugin" in f.message] == []


def test_all_of_urdf_acts_or_is_named_and_the_page_says_which():
    outcomes = urdf_severity.outcomes()
    assert [name for name, (here, _) in outcomes.items() if here not in ("acts", "a warning", "a note")] == []
    assert tables.on_page(urdf_severity.START, urdf_severity.END) == urdf_severity.table()


@pytest.mark.parametrize("name", ["slip1", "static", "enable_wind", "dampingFactor"])
@pytest.mark.parametrize("value", ["0", "0.0", "false"])
def test_what_moves_nothing_in_an_element_of_gazebo_is_a_note(name, value):
    stated = {"END": f'<gazebo reference="b"><{name}>{value}</{name}></gazebo>'}
    assert urdf_severity.outcome(stated)[0] == "a note"


@pytest.mark.parametrize("name", ["selfCollide", "self_collide"])
def test_what_a_joint_says_of_its_neighbours_is_named(name):
    stated = {"END": f'<gazebo reference="j"><{name}>true</{name}></gazebo>'}
    assert urdf_severity.outcome(stated) == ("a note", "it is of a link")
