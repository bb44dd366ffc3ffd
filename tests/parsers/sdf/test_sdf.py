"""SDFormat files to specifications: values, defaults, versions, one damaged token for each diagnostic, pydrake."""

from math import cos, inf, pi, sin

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.sdf.read_sdf import read_sdf
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere
from repository import MODELS

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not here")
SDF_FILES = sorted(MODELS.glob("*/*.sdf"))
# pydrake 1.51 has no frames attached to the world, and no drake:weld_constraint
REFUSED_BY_PYDRAKE = {"four_bar_loop.sdf", "four_bar_weld.sdf"}

TOLERANCE = 1e-12  # poses and inertias are a handful of products of numbers of order 1


def read(text, **options):
    diagnostics = Diagnostics()
    return read_sdf(text.encode(), diagnostics, name="m.sdf", **options), diagnostics


def in_model(body, version="1.11", attributes="name='m'"):
    drake = "xmlns:drake='http://drake.mit.edu'"
    return f"<sdf version='{version}' {drake}><model {attributes}>{body}</model></sdf>"


def in_link(body):
    return in_model(f"<link name='a'>{body}</link>")


def read_model(body, version="1.11", attributes="name='m'"):
    """The model of a body without findings."""
    models, diagnostics = read(in_model(body, version, attributes))
    assert [str(finding) for finding in diagnostics.findings] == []
    (model,) = models
    return model


def findings(text):
    _, diagnostics = read(text)
    return [(finding.severity, finding.code) for finding in diagnostics.findings]


LINKS = "<link name='a'/><link name='b'/><link name='c'/>"


def shaped(geometry, tag="collision"):
    return f"<{tag} name='c'><geometry>{geometry}</geometry></{tag}>"


def joint(kind="revolute", body="<axis/>", name="j", parent="a", child="b"):
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{body}</joint>"


def read_joint(kind, body):
    model = read_model(LINKS + joint(kind, body))
    return model.joints[0]


def assert_pose(actual, rotation=None, translation=(0, 0, 0)):
    np.testing.assert_allclose(actual[:3, :3], np.eye(3) if rotation is None else rotation, atol=TOLERANCE)
    np.testing.assert_allclose(actual[:3, 3], translation, atol=TOLERANCE)


def turn(axis, angle):
    i = "xyz".index(axis)
    R = np.eye(3)
    j, k = (i + 1) % 3, (i + 2) % 3
    R[j, j] = R[k, k] = cos(angle)
    R[j, k], R[k, j] = -sin(angle), sin(angle)
    return R


# ---------------------------------------------------------------------------------------- the whole format

ARM = """\
<?xml version="1.0"?>
<sdf version="1.9" xmlns:drake="http://drake.mit.edu">
  <model name="arm" canonical_link="upper" placement_frame="base">
    <pose>1 2 3 0 0 0</pose>
    <frame name="base" attached_to="shoulder">
      <pose relative_to="upper">0 0 0.5 0 0 0</pose>
    </frame>
    <link name="upper">
      <pose>0 0 2 0 0 0</pose>
      <inertial>
        <pose>0 0 -0.25 0 0 0</pose>
        <mass>2</mass>
        <inertia>
          <ixx>0.3</ixx>
          <iyy>0.2</iyy>
          <izz>0.25</izz>
          <ixy>0.01</ixy>
          <ixz>0.02</ixz>
          <iyz>0.03</iyz>
        </inertia>
      </inertial>
      <visual name="skin">
        <geometry><box><size>1 2 3</size></box></geometry>
        <material><diffuse>1 0.5 0</diffuse></material>
      </visual>
      <collision name="hull">
        <pose relative_to="lower">1 0 0 0 0 0</pose>
        <geometry><sphere><radius>0.5</radius></sphere></geometry>
        <drake:proximity_properties>
          <drake:mu_static>0.9</drake:mu_static>
          <drake:mu_dynamic>0.8</drake:mu_dynamic>
          <drake:point_contact_stiffness>1e5</drake:point_contact_stiffness>
          <drake:compliant_hydroelastic/><drake:mesh_resolution_hint>0.1</drake:mesh_resolution_hint>
          <drake:hydroelastic_modulus>1e6</drake:hydroelastic_modulus></drake:proximity_properties>
      </collision>
    </link>
    <link name="lower">
      <pose relative_to="upper">0 0 -1 0 0 0</pose>
      <gravity>true</gravity>
    </link>
    <link name="slider"/>
    <joint name="shoulder" type="revolute">
      <pose>0 0 0.5 0 0 0</pose>
      <parent>world</parent>
      <child>upper</child>
      <axis>
        <xyz expressed_in="__model__">0 2 0</xyz>
        <limit>
          <lower>-1</lower>
          <upper>1.5</upper>
          <effort>30</effort>
          <velocity>4</velocity>
          <drake:acceleration>9</drake:acceleration>
        </limit>
        <dynamics>
          <damping>0.1</damping>
          <friction>0.2</friction>
          <spring_reference>0.3</spring_reference>
          <spring_stiffness>7</spring_stiffness>
        </dynamics>
      </axis>
      <drake:rotor_inertia>1e-4</drake:rotor_inertia>
      <drake:gear_ratio>100</drake:gear_ratio>
      <drake:controller_gains p="10" d="1"/>
    </joint>
    <joint name="elbow" type="continuous">
      <parent>upper</parent>
      <child>lower</child>
      <axis>
        <xyz>0 1 0</xyz>
        <limit><effort>0</effort></limit>
      </axis>
      <drake:mimic joint="shoulder" multiplier="-2" offset="0.5"/>
    </joint>
    <drake:joint name="table" type="planar">
      <drake:parent>lower</drake:parent>
      <drake:child>slider</drake:child>
      <drake:damping>1 2 3</drake:damping>
    </drake:joint>
    <drake:collision_filter_group name="limbs">
      <drake:member>upper</drake:member>
      <drake:member_group>rest</drake:member_group>
      <drake:ignored_collision_filter_group>limbs</drake:ignored_collision_filter_group>
    </drake:collision_filter_group>
    <drake:collision_filter_group name="rest">
      <drake:member>lower</drake:member>
    </drake:collision_filter_group>
  </model>
</sdf>
"""


@pytest.fixture(scope="module")
def arm():
    (model,), diagnostics = read(ARM)
    assert diagnostics.findings == []
    return model


def test_the_model_itself(arm):
    assert (arm.name, arm.format, arm.version, arm.static) == ("arm", "sdf", "1.9", False)
    assert (arm.place.file, arm.place.line, arm.place.column) == ("m.sdf", 3, 3)
    assert_pose(arm.X_WModel, None, (1, 2, 0.5))  # the frame "base" is 2.5 m above the model frame
    link, X_LinkModel = arm.X_LinkModel
    assert link == "upper"
    assert_pose(X_LinkModel, None, (0, 0, -2))
    assert arm.sources[0].path == "m.sdf"
    assert arm.sources[0].content == ARM.encode()


def test_links_in_the_order_of_the_file(arm):
    assert [link.name for link in arm.links] == ["upper", "lower", "slider"]
    assert all(link.gravity for link in arm.links)
    assert_pose(arm.links[0].X_ModelL, None, (0, 0, 2))
    assert_pose(arm.links[1].X_ModelL, None, (0, 0, 1))


def test_mass_properties(arm):
    inertial = arm.links[0].inertial
    assert inertial.mass == 2
    assert inertial.inertia == (0.3, 0.2, 0.25, 0.01, 0.02, 0.03)
    assert_pose(inertial.X_LI, None, (0, 0, -0.25))


def test_a_link_without_inertial_has_unit_mass_and_inertia(arm):
    inertial = arm.links[1].inertial
    assert (inertial.mass, inertial.inertia) == (1.0, (1.0, 1.0, 1.0, 0.0, 0.0, 0.0))


def test_visual_and_collision(arm):
    (visual,), (collision,) = arm.links[0].visuals, arm.links[0].collisions
    assert (visual.name, visual.shape, visual.color) == ("skin", Box((1.0, 2.0, 3.0)), (1.0, 0.5, 0.0, 1.0))
    assert (collision.name, collision.shape) == ("hull", Sphere(0.5))
    assert_pose(collision.X_LG, None, (1, 0, -1))
    assert collision.properties == {
        ("material", "coulomb_friction"): (0.9, 0.8),
        ("material", "point_contact_stiffness"): 1e5,
        ("hydroelastic", "resolution_hint"): 0.1,
        ("hydroelastic", "hydroelastic_modulus"): 1e6,
        ("hydroelastic", "compliance_type"): "compliant",
    }


def test_joints_with_drakes_own_last(arm):
    shoulder, elbow, table = arm.joints
    assert [(j.name, j.type, j.parent, j.child) for j in arm.joints] == [
        ("shoulder", "revolute", "world", "upper"),
        ("elbow", "continuous", "upper", "lower"),
        ("table", "planar", "lower", "slider"),
    ]
    assert_pose(shoulder.X_CM, None, (0, 0, 0.5))
    assert_pose(shoulder.X_PF, None, (1, 2, 3))
    assert np.array_equal(elbow.X_CM, np.eye(4))
    assert_pose(elbow.X_PF, None, (0, 0, -1))
    # a drake:joint does not hold its child where the file shows it: F is the parent frame itself
    assert np.array_equal(table.X_PF, np.eye(4))
    assert table.damping == (1.0, 2.0, 3.0)


def test_axis_numbers(arm):
    (axis,) = arm.joints[0].axes
    assert axis.xyz == (0.0, 1.0, 0.0)
    assert (axis.lower, axis.upper, axis.velocity, axis.acceleration, axis.effort) == (-1, 1.5, 4, 9, 30)
    assert (axis.damping, axis.friction, axis.spring_reference, axis.spring_stiffness) == (0.1, 0.2, 0.3, 7)
    (elbow,) = arm.joints[1].axes
    assert (elbow.lower, elbow.upper, elbow.effort) == (-inf, inf, 0)
    assert (elbow.mimic.leader, elbow.mimic.multiplier, elbow.mimic.offset) == ("shoulder", -2, 0.5)


def test_actuators(arm):
    (actuator,) = arm.actuators
    assert (actuator.name, actuator.joint, actuator.effort_limit) == ("shoulder", "shoulder", 30)
    assert (actuator.rotor_inertia, actuator.gear_ratio, actuator.controller_gains) == (1e-4, 100, (10, 1))


def test_frames(arm):
    (frame,) = arm.frames
    assert (frame.name, frame.link) == ("base", "upper")
    assert_pose(frame.X_LF, None, (0, 0, 0.5))


def test_filter_groups_contain_the_members_of_their_groups(arm):
    limbs, rest = arm.filter_groups
    assert (limbs.name, limbs.members, limbs.ignores) == ("limbs", ("upper", "lower"), ("limbs",))
    assert (rest.name, rest.members, rest.ignores) == ("rest", ("lower",), ())


# ------------------------------------------------------------------------------- one damaged token each

DAMAGED = [
    # (text in ARM, what it becomes, the finding's code, severity, line where it is reported)
    ('version="1.9"', 'version="1.1"', "VERSION_UNSUPPORTED", "error", 2),
    ('version="1.9"', 'version="1.13"', "VERSION_UNSUPPORTED", "error", 2),
    ('version="1.9" ', "", "ATTRIBUTE_MISSING", "error", 2),
    ('<model name="arm"', "<model", "ATTRIBUTE_MISSING", "error", 3),
    ('<model name="arm"', '<model name="world"', "RESERVED_NAME", "error", 3),
    ('canonical_link="upper"', 'canonical_link="uper"', "MODEL_CANONICAL_LINK_INVALID", "error", 3),
    ('placement_frame="base"', 'placement_frame="bas"', "MODEL_PLACEMENT_FRAME_INVALID", "error", 3),
    ("<pose>1 2 3", "<pose relative_to='upper'>1 2 3", "POSE_RELATIVE_TO_INVALID", "error", 4),
    ("<pose>1 2 3 0 0 0", "<pose>1 2 3 0 0", "ELEMENT_INVALID", "error", 4),
    ("<pose>1 2 3 0 0 0", "<pose>1 2 3 0 0 nan", "ELEMENT_INVALID", "error", 4),
    ("<pose>1 2 3 0", "<pose degrees='yes'>1 2 3 0", "ATTRIBUTE_INVALID", "error", 4),
    ("<pose>1 2 3 0", "<pose rotation_format='q'>1 2 3 0", "ATTRIBUTE_INVALID", "error", 4),
    ("<pose>1 2 3 0", "<pose rotation_format='quat_xyzw'>1 2 3 0 0 0 0 0", "ELEMENT_INVALID", "error", 4),
    ("<pose>1 2 3 0 0 0", "<pose rotation_format='quat_xyzw'>1 2 3 0 0 0 0", "ELEMENT_INVALID", "error", 4),
    ("<pose>1 2 3", "<pose frame='upper'>1 2 3", "ATTRIBUTE_INVALID", "error", 4),
    ('attached_to="shoulder"', 'attached_to="sholder"', "FRAME_ATTACHED_TO_INVALID", "error", 5),
    ('attached_to="shoulder"', 'attached_to="base"', "FRAME_ATTACHED_TO_CYCLE", "error", 5),
    ('relative_to="upper">0 0 0.5', 'relative_to="uper">0 0 0.5', "POSE_RELATIVE_TO_INVALID", "error", 6),
    ('relative_to="upper">0 0 0.5', 'relative_to="base">0 0 0.5', "POSE_RELATIVE_TO_CYCLE", "error", 6),
    ('<frame name="base"', '<frame name="__base__"', "RESERVED_NAME", "error", 5),
    ('<frame name="base"', '<frame name="a::base"', "RESERVED_NAME", "error", 5),
    ('<frame name="base"', '<frame name=""', "ATTRIBUTE_INVALID", "error", 5),
    ("<pose>0 0 -0.25", "<pose relative_to='lower'>0 0 -0.25", "POSE_RELATIVE_TO_INVALID", "error", 11),
    ("<inertial>", "<inertial auto='true'>", "LINK_INERTIA_INVALID", "error", 11),
    ("<mass>2", "<mass>-2", "LINK_MASS_INVALID", "error", 12),
    ("<mass>2", "<mass>2,5", "ELEMENT_INVALID", "error", 12),
    ("<mass>2<", "<mass><", "ELEMENT_INVALID", "error", 12),
    ("<ixx>0.3", "<ixx>3", "LINK_INERTIA_INVALID", "warning", 10),
    ("<izz>0.25", "<izz>-0.25", "LINK_INERTIA_INVALID", "warning", 10),
    ("<mass>2</mass>", "<mas>2</mas>", "ELEMENT_UNKNOWN", "warning", 12),
    ('<collision name="hull">', "<collision>", "ATTRIBUTE_MISSING", "warning", 26),
    ('<collision name="hull">', '<collision name="__c__">', "RESERVED_NAME", "warning", 26),
    ("<box><size>1 2 3", "<box><size>1 2", "ELEMENT_INVALID", "warning", 23),
    ("<box><size>1 2 3", "<box><size>1 0 3", "ELEMENT_INVALID", "warning", 23),
    ("<size>1 2 3</size>", "", "ELEMENT_MISSING", "warning", 23),
    ("<sphere><radius>0.5</radius></sphere>", "<heightmap/>", "ELEMENT_MISSING", "warning", 28),
    ("<diffuse>1 0.5 0", "<diffuse>1 5 0", "ELEMENT_INVALID", "warning", 24),
    ("<diffuse>1 0.5 0", "<diffuse>1 0.5", "ELEMENT_INVALID", "warning", 24),
    ("<diffuse>1 0.5 0</diffuse>", "<emissive>1 1 1</emissive>", "ELEMENT_FOREIGN", "note", 24),
    ('<pose relative_to="lower">', '<pose relative_to="lowr">', "POSE_RELATIVE_TO_INVALID", "error", 27),
    ("<drake:mu_dynamic>0.8", "<drake:mu_dynamic>1.8", "ELEMENT_INVALID", "warning", 26),
    ("<drake:mu_dynamic>0.8", "<drake:mu_dynamic>-1", "ELEMENT_INVALID", "warning", 31),
    ("_hydroelastic/>", "_hydroelastic/><drake:rigid_hydroelastic/>", "ELEMENT_INVALID", "warning", 33),
    ("drake:compliant_hydroelastic", "drake:compliant_hydro", "ELEMENT_UNKNOWN", "warning", 33),
    ('<link name="lower">', '<link name="upper">', "DUPLICATE_NAME", "error", 37),
    ('<link name="lower">', '<link name="shoulder">', "DUPLICATE_NAME", "error", 42),
    ("<gravity>true", "<gravity>off", "ELEMENT_INVALID", "error", 39),
    ("<gravity>true</gravity>", "<enable_wind>1</enable_wind>", "ELEMENT_FOREIGN", "note", 39),
    ("<gravity>true</gravity>", "<kinematic>1</kinematic>", "ELEMENT_UNSUPPORTED", "warning", 39),
    ('type="revolute"', 'type="revolut"', "ATTRIBUTE_INVALID", "error", 42),
    ('type="revolute"', 'type="gearbox"', "ATTRIBUTE_UNSUPPORTED", "error", 42),
    ('type="revolute"', 'kind="revolute"', "ATTRIBUTE_MISSING", "error", 42),
    ("<parent>world</parent>", "", "ELEMENT_MISSING", "error", 42),
    ("<parent>world", "<parent>wrld", "JOINT_PARENT_LINK_INVALID", "error", 44),
    ("<parent>world", "<parent>", "ELEMENT_INVALID", "error", 44),
    ("<parent>world", "<parent>upper", "JOINT_PARENT_SAME_AS_CHILD", "error", 45),
    ("<child>upper", "<child>uper", "JOINT_CHILD_LINK_INVALID", "error", 45),
    ("<child>lower", "<child>world", "JOINT_CHILD_LINK_INVALID", "error", 68),
    ('expressed_in="__model__"', 'expressed_in="modl"', "JOINT_AXIS_EXPRESSED_IN_INVALID", "error", 47),
    ("0 2 0</xyz>", "0 0 0</xyz>", "ELEMENT_INVALID", "error", 47),
    ("</xyz>", "</xyz><use_parent_model_frame>1</use_parent_model_frame>", "ELEMENT_INVALID", "error", 47),
    ("<xyz>0 1 0</xyz>", "<initial_position>1</initial_position>", "ELEMENT_UNSUPPORTED", "warning", 70),
    ("<lower>-1", "<lower>2", "ELEMENT_INVALID", "error", 48),
    ("<lower>-1", "<lower>-1 rad", "ELEMENT_INVALID", "error", 49),
    ("<drake:acceleration>9", "<drake:acceleration>-9", "ELEMENT_INVALID", "warning", 53),
    ("<damping>0.1", "<damping>-0.1", "ELEMENT_INVALID", "warning", 56),
    ("<damping>0.1</damping>", "<dampng>0.1</dampng>", "ELEMENT_UNKNOWN", "warning", 56),
    ("<friction>0.2", "<friction>-0.2", "ELEMENT_INVALID", "warning", 57),
    ("<spring_stiffness>7", "<spring_stiffness>-7", "ELEMENT_INVALID", "warning", 59),
    ("<drake:rotor_inertia>1e-4", "<drake:rotor_inertia>-1e-4", "ELEMENT_INVALID", "error", 62),
    ("<drake:gear_ratio>100", "<drake:gear_ratio>x", "ELEMENT_INVALID", "error", 63),
    ('p="10" d="1"', 'p="10"', "ATTRIBUTE_MISSING", "error", 64),
    ('p="10" d="1"', 'p="10" d="-1"', "ATTRIBUTE_INVALID", "error", 64),
    ('mimic joint="shoulder"', 'mimic joint="sholder"', "JOINT_AXIS_MIMIC_INVALID", "error", 73),
    ('mimic joint="shoulder"', 'mimic joint="elbow"', "JOINT_AXIS_MIMIC_INVALID", "error", 73),
    ('mimic joint="shoulder"', 'mimic joint="table"', "JOINT_AXIS_MIMIC_INVALID", "error", 73),
    ('mimic joint="shoulder"', "mimic", "ATTRIBUTE_MISSING", "error", 73),
    ('multiplier="-2" ', "", "ATTRIBUTE_MISSING", "error", 73),
    ('type="planar"', 'type="planr"', "ATTRIBUTE_INVALID", "error", 75),
    ("<drake:parent>lower", "<drake:parent>slider", "JOINT_PARENT_SAME_AS_CHILD", "error", 77),
    ("<drake:damping>1 2 3</drake:damping>", "", "ELEMENT_MISSING", "error", 75),
    ("<drake:damping>1 2 3", "<drake:damping>1 2", "ELEMENT_INVALID", "error", 78),
    ("<drake:damping>1 2 3", "<drake:damping>1 2 -3", "ELEMENT_INVALID", "error", 78),
    ("<drake:damping>1 2 3", "<pose/><drake:damping>1 2 3", "ELEMENT_UNSUPPORTED", "error", 78),
    ("<drake:member>upper", "<drake:member>uper", "ELEMENT_INVALID", "error", 81),
    ("<drake:member_group>rest", "<drake:member_group>res", "ELEMENT_INVALID", "error", 82),
    ("filter_group>limbs", "filter_group>limb", "ELEMENT_INVALID", "error", 83),
    ("<drake:member>lower</drake:member>", "", "ELEMENT_MISSING", "error", 85),
    ("<model name", "<include><uri>model://a</uri></include><model name", "URI_LOOKUP", "error", 3),
    ("<pose>1 2 3", "<include><uri>x</uri></include><pose>1 2 3", "URI_LOOKUP", "error", 4),
    ("<pose>1 2 3", "<include/><pose>1 2 3", "ELEMENT_MISSING", "error", 4),
    ("<pose>1 2 3", "<model name='n'/><pose>1 2 3", "MODEL_WITHOUT_LINK", "error", 4),
    ("<pose>1 2 3", "<model name='base'><link name='l'/></model><pose>1 2 3", "DUPLICATE_NAME", "error", 5),
    ("<pose>1 2 3", "<drake:linear_bushing_rpy/><pose>1 2 3", "ELEMENT_MISSING", "error", 4),
    ("<pose>1 2 3", "<drake:ball_constraint/><pose>1 2 3", "ELEMENT_MISSING", "error", 4),
    ("<pose>1 2 3", "<drake:linear_spring_damper/><pose>1 2 3", "ELEMENT_MISSING", "error", 4),
    ('version="1.9"', 'version="1.6"', "VERSION_FEATURE", "note", 3),
    ("<pose>1 2 3", "<allow_auto_disable>1</allow_auto_disable><pose>1 2 3", "ELEMENT_FOREIGN", "note", 4),
    ("<pose>1 2 3", "<lnk name='x'/><pose>1 2 3", "ELEMENT_UNKNOWN", "warning", 4),
    ("<pose>1 2 3", "<plugin name='x' filename='y'/><pose>1 2 3", "ELEMENT_FOREIGN", "note", 4),
    ("<pose>1 2 3", "<static>true</static><pose>1 2 3", "ELEMENT_INVALID", "error", 42),
]


@pytest.mark.parametrize(("old", "new", "code", "severity", "line"), DAMAGED)
def test_a_damaged_token_is_reported_where_it_is(old, new, code, severity, line):
    assert old in ARM
    models, diagnostics = read(ARM.replace(old, new, 1))
    found = [(f.code, f.severity, f.place.line) for f in diagnostics.findings]
    assert (code, severity, line) in found, [str(f) for f in diagnostics.findings]
    assert all(f.place.file == "m.sdf" and f.xpath.startswith("/sdf") for f in diagnostics.findings if f.xpath)
    if severity == "error":
        assert models == ()
    else:
        assert len(models) == 1
        assert diagnostics.errors == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<robot name='r'/>", ("error", "ELEMENT_INVALID")),
        ("<sdf version='1.9'/>", ("error", "ELEMENT_MISSING")),
        (in_model(""), ("error", "MODEL_WITHOUT_LINK")),
        (in_model("<link name='a'/><link name='a'/>"), ("error", "DUPLICATE_NAME")),
        (in_model("<link name='a'><visual name='v'/></link>"), ("warning", "ELEMENT_MISSING")),
        (in_model(LINKS + joint(body="")), ("error", "ELEMENT_MISSING")),
        (in_model(LINKS + joint("universal", "<axis/>")), ("error", "ELEMENT_MISSING")),
        (in_model(LINKS + joint("universal", "<axis/><axis2/>")), ("error", "ELEMENT_INVALID")),
        (
            in_model(LINKS + joint("screw", "<thread_pitch>0</thread_pitch><axis/>"), "1.9"),
            ("error", "ELEMENT_INVALID"),
        ),
        (
            in_model(LINKS + joint("screw", "<thread_pitch>1e-320</thread_pitch><axis/>"), "1.9"),
            ("error", "ELEMENT_INVALID"),
        ),
        (in_model("<link name='a'><pose>1e308 0 0 0 0 0</pose></link>"), ("error", "ELEMENT_INVALID")),
        (in_model(LINKS + joint("fixed", "<axis/>")), ("note", "ELEMENT_MEANINGLESS")),
        (in_model(LINKS + joint("ball", "<axis><xyz>0 0 1</xyz></axis>")), ("note", "ELEMENT_MEANINGLESS")),
        (
            in_model(LINKS + joint("continuous", "<axis><limit><lower>-1</lower></limit></axis>")),
            ("note", "ELEMENT_MEANINGLESS"),
        ),
        (
            in_model(LINKS + joint("screw", "<axis><limit><lower>0</lower></limit></axis>")),
            ("warning", "ELEMENT_UNSUPPORTED"),
        ),
        (
            in_model(LINKS + joint("fixed", "<drake:mimic joint='k' multiplier='1' offset='0'/>")),
            ("note", "ELEMENT_MEANINGLESS"),
        ),
        (
            in_model(LINKS + joint("prismatic", "<axis><mimic joint='j'/></axis>")),
            ("error", "JOINT_AXIS_MIMIC_INVALID"),
        ),
        (
            in_link("<inertial><pose degrees='true' rotation_format='quat_xyzw'/></inertial>"),
            ("error", "ATTRIBUTE_INVALID"),
        ),
        (in_link(shaped("<mesh/>")), ("warning", "ELEMENT_MISSING")),
        (in_link(shaped("<mesh><uri>no.obj</uri></mesh>")), ("warning", "URI_LOOKUP")),
        (in_link(shaped("<mesh><uri>no.obj</uri></mesh>", "visual")), ("warning", "URI_LOOKUP")),
        (in_link(shaped("<mesh><uri>.</uri><scale>1 0 1</scale></mesh>")), ("warning", "ELEMENT_INVALID")),
        (in_link(shaped("<plane><normal>0 0 0</normal></plane>")), ("warning", "ELEMENT_INVALID")),
        (in_link(shaped("<box><size>1 1 1</size></box><sphere/>")), ("warning", "ELEMENT_UNSUPPORTED")),
        (
            "<sdf version='1.9'><model name='m'><link name='a'/></model><model name='m'><link name='a'/></model></sdf>",
            ("error", "DUPLICATE_NAME"),
        ),
        (
            "<sdf version='1.9'><model name='m'><link name='a'/></model><world name='w'/></sdf>",
            ("error", "ELEMENT_INVALID"),
        ),
        ("<sdf version='1.9'><world name='w'/><world name='v'/></sdf>", ("error", "ELEMENT_INVALID")),
        (
            "<sdf version='1.10'><world name='w'><include/></world></sdf>",
            ("error", "ELEMENT_MISSING"),
        ),
        (
            "<sdf version='1.9'><world name='w'><model name='m'><pose relative_to='n'/><link name='a'/></model></world>"
            "</sdf>",
            ("error", "POSE_RELATIVE_TO_INVALID"),
        ),
        (
            "<sdf version='1.9'><world name='w'><light name='l' type='point'/></world></sdf>",
            ("note", "ELEMENT_FOREIGN"),
        ),
    ],
)
def test_faults_of_small_files(text, expected):
    assert findings(text) == [expected]


def test_all_findings_of_a_file_are_collected():
    text = ARM.replace("<mass>2", "<mass>x").replace("<parent>world", "<parent>wrld").replace("0 2 0<", "0 0 0<")
    _, diagnostics = read(text)
    assert [f.code for f in diagnostics.errors] == ["JOINT_PARENT_LINK_INVALID", "ELEMENT_INVALID", "ELEMENT_INVALID"]


def test_a_wrong_name_gets_a_suggestion():
    _, diagnostics = read(ARM.replace("<child>lower", "<child>lowr"))
    assert diagnostics.errors[0].hint == 'did you mean "lower"?'


def test_a_cycle_names_its_whole_chain():
    body = "".join(f"<frame name='{name}' attached_to='{to}'/>" for name, to in ("fh", "gf", "hg")) + LINKS
    _, diagnostics = read(in_model(body))
    (finding,) = diagnostics.findings
    assert '"f" -> "h" -> "g" -> "f"' in finding.message


def test_followers_in_a_cycle_are_reported_with_the_chain():
    follow = "<axis><mimic joint='{}'/></axis>"
    body = LINKS + joint(body=follow.format("k")) + joint(name="k", parent="b", child="c", body=follow.format("j"))
    _, diagnostics = read(in_model(body))
    (finding,) = diagnostics.findings
    assert (finding.code, finding.message.endswith('"j" -> "k" -> "j"')) == ("JOINT_AXIS_MIMIC_INVALID", True)


def test_what_is_no_xml_is_an_error_and_not_an_exception():
    models, diagnostics = read("<sdf version='1.9'><model")
    assert models == ()
    assert [f.code for f in diagnostics.errors] == ["XML_ERROR"]


# ------------------------------------------------------------------------------------------------ poses


@pytest.mark.parametrize(
    ("pose", "rotation", "translation"),
    [
        ("<pose/>", np.eye(3), (0, 0, 0)),
        ("<pose>1 2 3 0 0 0.5</pose>", turn("z", 0.5), (1, 2, 3)),
        ("<pose>0 0 0 0.1 0.2 0.3</pose>", turn("z", 0.3) @ turn("y", 0.2) @ turn("x", 0.1), (0, 0, 0)),
        ("<pose degrees='true'>0 0 0 90 0 180</pose>", turn("z", pi) @ turn("x", pi / 2), (0, 0, 0)),
        ("<pose rotation_format='quat_xyzw'>1 2 3 0 0 2 2</pose>", turn("z", pi / 2), (1, 2, 3)),
        ("<pose rotation_format='quat_xyzw'>0 0 0 1e-300 0 0 0</pose>", turn("x", pi), (0, 0, 0)),
    ],
)
def test_pose_formats(pose, rotation, translation):
    model = read_model(f"<link name='a'>{pose}</link>")
    assert_pose(model.links[0].X_ModelL, rotation, translation)


# --------------------------------------------------------------------------------------------- versions

TURNED = "<link name='a'/><link name='b'><pose>0 0 0 0 0 1</pose></link>"


@pytest.mark.parametrize("minor", range(4, 13))
def test_every_version_has_links_and_fixed_joints(minor):
    model = read_model(LINKS + joint("fixed", ""), version=f"1.{minor}")
    assert (model.version, len(model.links), len(model.joints)) == (f"1.{minor}", 3, 1)


@pytest.mark.parametrize(
    ("version", "axis", "in_model_frame"),
    [
        ("1.4", "<xyz>1 0 0</xyz>", True),
        ("1.5", "<xyz>1 0 0</xyz>", False),
        ("1.6", "<xyz>1 0 0</xyz>", False),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>true</use_parent_model_frame>", True),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>0</use_parent_model_frame>", False),
        ("1.7", "<xyz>1 0 0</xyz>", False),
        ("1.7", "<xyz expressed_in='__model__'>1 0 0</xyz>", True),
        ("1.7", "<xyz expressed_in='a'>1 0 0</xyz>", True),
    ],
)
def test_the_frame_of_an_axis(version, axis, in_model_frame):
    model = read_model(TURNED + joint(body=f"<axis>{axis}</axis>"), version=version)
    expected = (cos(1), -sin(1), 0) if in_model_frame else (1, 0, 0)
    np.testing.assert_allclose(model.joints[0].axes[0].xyz, expected, atol=TOLERANCE)


def test_before_1_7_a_pose_names_its_frame_by_frame():
    model = read_model("<link name='a'><pose>1 0 0 0 0 0</pose></link><link name='b'><pose frame='a'/></link>", "1.6")
    assert_pose(model.links[1].X_ModelL, None, (1, 0, 0))


def test_colons_in_names_until_1_7():
    assert read_model("<link name='m::a'/>", version="1.7").links[0].name == "m::a"


# ------------------------------------------------------------------------------------- files and worlds


def test_several_models_and_models_of_a_world():
    two = "<model name='m'><pose>1 0 0 0 0 0</pose><link name='a'/></model><model name='n'><link name='b'/></model>"
    models, diagnostics = read(f"<sdf version='1.9'>{two}</sdf>")
    (world,), in_world = read(f"<sdf version='1.9'><world name='w'>{two}</world></sdf>")
    assert diagnostics.findings == in_world.findings == []
    assert world.is_world
    for found in (models, world.models):
        assert [model.name for model in found] == ["m", "n"]
        assert_pose(found[0].X_WModel, None, (1, 0, 0))


def test_a_static_model_may_have_fixed_joints_or_no_link():
    model = read_model("<static>true</static>" + LINKS + joint("fixed", ""))
    assert model.static
    empty = read_model("<static>1</static><pose>1 0 0 0 0 0</pose><frame name='f'/>")
    assert empty.frames[0].link == "world"
    assert_pose(empty.frames[0].X_LF, None, (1, 0, 0))
    assert empty.X_LinkModel[0] == "world"


def test_a_closed_loop_is_kept_as_the_file_has_it():
    ring = joint() + joint(name="k", parent="b", child="c") + joint(name="l", parent="a", child="c")
    (model,), diagnostics = read(in_model(LINKS + ring))
    assert [finding.code for finding in diagnostics.findings] == ["LOOP_CUT"]
    assert [(j.parent, j.child) for j in model.joints] == [("a", "b"), ("b", "c"), ("a", "c")]


@needs_models
@pytest.mark.parametrize("path", SDF_FILES, ids=lambda path: path.name)
def test_every_shared_model_loads(path):
    diagnostics = Diagnostics()
    packages = PackageMap()
    packages.add("drake_models", MODELS)
    assert len(read_sdf(str(path), diagnostics, packages=packages)) == 1
    assert diagnostics.errors == []
    known = {"XML_ERROR", "ELEMENT_UNSUPPORTED", "URI_LOOKUP", "JOINT_FRAMES_APART"}
    assert {f.code for f in diagnostics.warnings} <= known


@needs_models
def test_the_four_bar_loop_is_attached_to_the_world():
    (model,) = read_sdf(str(MODELS / "four_bar/four_bar_loop.sdf"), Diagnostics())
    frames = {frame.name: frame for frame in model.frames}
    assert (frames["Wd"].link, frames["Wr"].link) == ("world", "world")
    assert_pose(frames["Wd"].X_LF, None, (-2, 0, 0))
    joints = {joint.name: joint for joint in model.joints}
    assert (joints["world_rocker"].parent, joints["world_rocker"].child) == ("world", "rocker")
    # no link of this closed chain has a pose: joints connect the frames that they name
    closing = joints["coupler_rocker"]
    assert (closing.parent, closing.child) == ("coupler", "rocker")
    assert_pose(closing.X_CM, None, (0, 2, 0))
    assert_pose(closing.X_PF, None, (4.8, 0, 0))


def test_frames_are_taken_as_they_stand_in_closed_chains_of_links_without_poses_only():
    frame = "<frame name='f' attached_to='a'><pose>1 0 0 0 0 0</pose></frame>"
    ring = joint(parent="f") + joint(name="k", parent="b", child="c") + joint(name="l", parent="a", child="c")
    found = {}
    for name, content in {
        "loop": LINKS + frame + ring,
        "tree": LINKS + frame + joint(parent="f") + joint(name="k", parent="b", child="c"),
        "posed": LINKS.replace("<link name='b'/>", "<link name='b'><pose>0 1 0 0 0 0</pose></link>") + frame + ring,
    }.items():
        (model,), diagnostics = read(in_model(content))
        codes = [finding.code for finding in diagnostics.findings]
        found[name] = (tuple(model.joints[0].X_PF[:3, 3]), "JOINT_FRAMES_APART" in codes)
    assert found == {"loop": ((1, 0, 0), True), "tree": ((0, 0, 0), False), "posed": ((0, 1, 0), False)}


# --------------------------------------------------------------------------------------------- geometry


def read_collision(geometry, extra=""):
    parts = f"<pose>1 2 3 0 0 0.5</pose><geometry>{geometry}</geometry>{extra}"
    return read_model(f"<link name='a'><collision name='c'>{parts}</collision></link>").links[0].collisions[0]


@pytest.mark.parametrize(
    ("geometry", "shape"),
    [
        ("<box><size>1 2 3</size></box>", Box((1, 2, 3))),
        ("<sphere><radius>2</radius></sphere>", Sphere(2)),
        ("<cylinder><radius>1</radius><length>3</length></cylinder>", Cylinder(1, 3)),
        ("<capsule><radius>1</radius><length>3</length></capsule>", Capsule(1, 3)),
        ("<drake:capsule><radius>1</radius><length>3</length></drake:capsule>", Capsule(1, 3)),
        ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", Ellipsoid((1, 2, 3))),
        ("<drake:ellipsoid><a>1</a><b>2</b><c>3</c></drake:ellipsoid>", Ellipsoid((1, 2, 3))),
        ("<plane/>", HalfSpace()),
    ],
)
def test_shapes(geometry, shape):
    collision = read_collision(geometry)
    assert collision.shape == shape
    assert_pose(collision.X_LG, turn("z", 0.5), (1, 2, 3))


@pytest.mark.parametrize("normal", [(0, 0, 1), (1, 0, 0), (0, 0, -1), (1, 2, 3), (1e-12, 0, 1)])
def test_the_normal_of_a_plane_is_the_z_axis_of_its_half_space(normal):
    collision = read_collision(f"<plane><normal>{' '.join(map(str, normal))}</normal></plane>")
    R = turn("z", 0.5).T @ collision.X_LG[:3, :3]
    np.testing.assert_allclose(R[:, 2], np.array(normal) / np.linalg.norm(normal), atol=TOLERANCE)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=TOLERANCE)
    assert np.linalg.det(R) > 0


def test_a_mesh_is_looked_for_in_its_package(tmp_path):
    (tmp_path / "part.obj").write_text("")
    packages = PackageMap(environment={})
    packages.add("shop", tmp_path)
    mesh = "<mesh><uri>package://shop/part.obj</uri><scale>1 2 -3</scale></mesh>"
    text = in_model(f"<link name='a'><visual name='v'><geometry>{mesh}</geometry></visual></link>")
    (model,), diagnostics = read(text, packages=packages)
    assert diagnostics.findings == []
    path = str(tmp_path / "part.obj")
    assert model.links[0].visuals[0].shape == Mesh("package://shop/part.obj", (1, 2, -3), False, path)


def test_a_geometry_without_shape_is_left_out():
    assert read_model("<link name='a'>" + shaped("<empty/>", "visual") + "</link>").links[0].visuals == ()


@pytest.mark.parametrize(
    ("extra", "friction"),
    [
        ("", None),
        ("<surface><friction><ode><mu>0.4</mu><mu2>0.2</mu2></ode></friction></surface>", (0.4, 0.2)),
        ("<surface><friction><ode><mu2>0.2</mu2></ode></friction></surface>", (1.0, 0.2)),
    ],
)
def test_friction(extra, friction):
    properties = read_collision("<sphere><radius>1</radius></sphere>", extra).properties
    assert properties.get(("material", "coulomb_friction")) == friction


# ----------------------------------------------------------------------------------------------- joints


def test_an_axis_is_z_by_default():
    (axis,) = read_joint("revolute", "<axis/>").axes
    assert (axis.xyz, axis.lower, axis.upper, axis.velocity, axis.effort) == ((0, 0, 1), -inf, inf, inf, inf)


@pytest.mark.parametrize("length", ["1e100", "1e-300", "3"])
def test_an_axis_of_any_length_but_zero_becomes_a_unit_vector(length):
    (axis,) = read_joint("revolute", f"<axis><xyz>{length} -{length} 0</xyz></axis>").axes
    np.testing.assert_allclose(axis.xyz, (0.5**0.5, -(0.5**0.5), 0), rtol=1e-15)


def test_negative_velocity_and_effort_mean_no_limit():
    body = "<axis><limit><velocity>-1</velocity><effort>-1</effort><lower>-inf</lower></limit></axis>"
    (axis,) = read_joint("prismatic", body).axes
    assert (axis.velocity, axis.effort, axis.lower) == (inf, inf, -inf)


def test_the_axes_of_a_universal_joint_become_x_and_y_of_its_frames():
    body = (
        "<pose>0 0 1 0 0 0</pose><axis><xyz>0 0 1</xyz><dynamics><damping>2</damping></dynamics></axis>"
        "<axis2><xyz>1 0 0</xyz><dynamics><damping>2</damping></dynamics></axis2>"
    )
    universal = read_joint("universal", body)
    assert [axis.xyz for axis in universal.axes] == [(1, 0, 0), (0, 1, 0)]
    assert [axis.damping for axis in universal.axes] == [2, 2]
    R = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])  # columns: z, x, z cross x = y
    assert_pose(universal.X_CM, R, (0, 0, 1))
    assert_pose(universal.X_PF, R, (0, 0, 1))


def test_a_universal_joint_has_one_damping():
    body = "<axis><xyz>1 0 0</xyz><dynamics><damping>2</damping></dynamics></axis><axis2><xyz>0 1 0</xyz></axis2>"
    (model,), diagnostics = read(in_model(LINKS + joint("universal", body)))
    assert [f.severity for f in diagnostics.findings] == ["warning"]
    assert [axis.damping for axis in model.joints[0].axes] == [2, 2]


@pytest.mark.parametrize(
    ("version", "body", "pitch"),
    [
        ("1.9", "", 1.0),
        ("1.10", "<screw_thread_pitch>2</screw_thread_pitch>", 2.0),
        ("1.9", "<thread_pitch>2</thread_pitch>", -pi),
    ],
)
def test_pitch_of_a_screw(version, body, pitch):
    (screw,) = read_model(LINKS + joint("screw", body + "<axis/>"), version).joints
    assert screw.screw_pitch == pytest.approx(pitch, rel=1e-15)


def test_a_ball_joint_has_the_damping_of_its_axis():
    damped = read_joint("ball", "<axis><dynamics><damping>2</damping></dynamics></axis>")
    assert (damped.damping, damped.axes) == ((2,), ())
    assert read_joint("ball", "").damping == (0,)


@pytest.mark.parametrize("kind", ["quaternion_floating", "rpy_floating"])
def test_floating_joints(kind):
    body = (
        LINKS
        + f"<drake:joint name='j' type='{kind}'><drake:parent>a</drake:parent><drake:child>b</drake:child>\
<drake:damping>1 2</drake:damping></drake:joint>"
    )
    (model,), diagnostics = read(in_model(body))
    assert diagnostics.findings == []
    assert (model.joints[0].type, model.joints[0].damping) == (kind, (1, 2))


def test_the_standard_mimic_counts_from_its_reference():
    numbers = "<multiplier>2</multiplier><offset>3</offset><reference>5</reference>"
    follower = f"<axis><mimic joint='j'>{numbers}</mimic></axis>"
    body = LINKS + joint() + joint(name="k", parent="b", child="c", body=follower)
    mimic = read_model(body, version="1.11").joints[1].axes[0].mimic
    # 2 (q - 5) + 3
    assert (mimic.leader, mimic.multiplier, mimic.offset, mimic.leader_axis) == ("j", 2, -7, 0)


def test_a_leader_may_be_the_second_axis_of_a_universal_joint():
    universal = joint("universal", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>")
    follower = joint(name="k", parent="b", child="c", body="<axis><mimic joint='j' axis='axis2'/></axis>")
    assert read_model(LINKS + universal + follower).joints[1].axes[0].mimic.leader_axis == 1
    assert findings(in_model(LINKS + joint() + follower)) == [("error", "JOINT_AXIS_MIMIC_INVALID")]


# ---------------------------------------------------------------------------------------------- pydrake


def peer_plant(text=None, path=None):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.001)
    parser = Parser(plant)
    if path is not None:
        parser.package_map().Remove("drake_models")
        parser.package_map().Add("drake_models", str(MODELS))
        parser.AddModels(str(path))
    else:
        parser.AddModelsFromString(text, "sdf")
    return plant


def peer_pose(frame):
    return frame.GetFixedPoseInBodyFrame().GetAsMatrix4()


def inertia_about_com(inertial):
    """The inertia matrix about the centre of mass in the link's axes."""
    xx, yy, zz, xy, xz, yz = inertial.inertia
    R = inertial.X_LI[:3, :3]
    return R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T


def assert_same_links(model, plant):
    from pydrake.multibody.tree import BodyIndex

    peers = [plant.get_body(BodyIndex(i)) for i in range(1, plant.num_bodies())]
    assert [link.name for link in model.links] == [peer.name() for peer in peers]
    for link, peer in zip(model.links, peers, strict=True):
        M = peer.default_spatial_inertia()
        scale = max(M.get_mass(), 1e-12)
        np.testing.assert_allclose(link.inertial.mass, M.get_mass(), rtol=TOLERANCE)
        np.testing.assert_allclose(link.inertial.X_LI[:3, 3], M.get_com(), atol=TOLERANCE)
        expected = M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
        np.testing.assert_allclose(inertia_about_com(link.inertial), expected, rtol=0, atol=TOLERANCE * scale)


def assert_same_frames(model, plant):
    for frame in model.frames:
        peer = plant.GetFrameByName(frame.name)
        assert peer.body().name() == frame.link
        np.testing.assert_allclose(frame.X_LF, peer_pose(peer), atol=TOLERANCE)
    link, X_LinkModel = model.X_LinkModel
    peer = plant.GetFrameByName("__model__")
    assert peer.body().name() == link
    np.testing.assert_allclose(X_LinkModel, peer_pose(peer), atol=TOLERANCE)


def assert_same_joints(model, plant):
    peers = [plant.get_joint(i) for i in plant.GetJointIndices()]
    assert [joint.name for joint in model.joints] == [peer.name() for peer in peers]
    for joint, peer in zip(model.joints, peers, strict=True):
        assert (joint.parent, joint.child) == (peer.parent_body().name(), peer.child_body().name())
        np.testing.assert_allclose(joint.X_PF, peer_pose(peer.frame_on_parent()), atol=TOLERANCE)
        np.testing.assert_allclose(joint.X_CM, peer_pose(peer.frame_on_child()), atol=TOLERANCE)
        if peer.num_velocities() == 1:
            assert_same_axis(joint.axes[0], peer)


def assert_same_axis(axis, peer):
    direction = {"RevoluteJoint": "revolute_axis", "PrismaticJoint": "translation_axis", "ScrewJoint": "screw_axis"}
    if hasattr(peer, direction[type(peer).__name__]):
        np.testing.assert_allclose(axis.xyz, getattr(peer, direction[type(peer).__name__])(), atol=TOLERANCE)
    numbers = (axis.lower, axis.upper, axis.velocity, axis.acceleration, axis.damping)
    assert numbers == (
        *(*peer.position_lower_limits(), *peer.position_upper_limits()),
        *(*peer.velocity_upper_limits(), *peer.acceleration_upper_limits()),
        *peer.default_damping_vector(),
    )


def assert_same_actuators(model, plant):
    peers = [plant.get_joint_actuator(i) for i in plant.GetJointActuatorIndices()]
    assert [(a.name, a.joint) for a in model.actuators] == [(p.name(), p.joint().name()) for p in peers]
    for actuator, peer in zip(model.actuators, peers, strict=True):
        assert (actuator.effort_limit, actuator.rotor_inertia, actuator.gear_ratio) == (
            *(peer.effort_limit(), peer.default_rotor_inertia(), peer.default_gear_ratio()),
        )
        assert (actuator.controller_gains is not None) == peer.has_controller()
        if peer.has_controller():
            gains = peer.get_controller_gains()
            assert actuator.controller_gains == (gains.p, gains.d)


def assert_same_springs(model, plant):
    from pydrake.multibody.tree import ForceElementIndex

    elements = [plant.get_force_element(ForceElementIndex(i)) for i in range(plant.num_force_elements())]
    peers = [e.joint().name() for e in elements if type(e).__name__ in ("RevoluteSpring", "PrismaticSpring")]
    assert [j.name for j in model.joints if any(axis.spring_stiffness for axis in j.axes)] == peers


def assert_same(model, plant):
    for check in (
        assert_same_links,
        assert_same_frames,
        assert_same_joints,
        assert_same_actuators,
        assert_same_springs,
    ):
        check(model, plant)


@pytest.mark.peers("pydrake")
@needs_models
@pytest.mark.parametrize(
    "path", [path for path in SDF_FILES if path.name not in REFUSED_BY_PYDRAKE], ids=lambda path: path.name
)
def test_shared_models_agree_with_pydrake(path):
    (model,) = read_sdf(str(path), Diagnostics())
    assert_same(model, peer_plant(path=path))


# a parent, a child that is not where its parent is, and a frame on each
PLACED = (
    "<pose>1 0 0 0.3 0 0</pose><link name='a'><pose>1 0 0 0 0 0.2</pose></link>"
    "<link name='b'><pose>0 2 0 0 0.7 0.5</pose></link>"
    "<frame name='f' attached_to='a'><pose>0 0 1 0.4 0 0</pose></frame>"
    "<frame name='g' attached_to='b'><pose>0 0.2 1 0 0.3 0</pose></frame>"
)
LIMITS = (
    "<limit><lower>-1</lower><upper>2</upper><velocity>3</velocity><effort>5</effort>"
    "<drake:acceleration>4</drake:acceleration></limit>"
)
DYNAMICS = (
    "<dynamics><damping>0.2</damping><spring_reference>0.1</spring_reference>"
    "<spring_stiffness>7</spring_stiffness></dynamics>"
)
PITCHES = ("thread_pitch", "screw_thread_pitch")
AXES_XZ = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0.6 0.8 0</xyz></axis2>"


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("ends", ["a b", "f g", "world b", "world g", "g a", "__model__ b"])
@pytest.mark.parametrize("pose", ["", "<pose>{}</pose>", "<pose relative_to='f'>{}</pose>"])
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("fixed", ""),
        ("revolute", f"<axis><xyz expressed_in='__model__'>1 2 3</xyz>{LIMITS}{DYNAMICS}</axis>"),
        ("continuous", f"<axis><xyz expressed_in='f'>0 1 0</xyz>{LIMITS}{DYNAMICS}</axis>"),
        ("prismatic", f"<axis><xyz>0 3 0</xyz>{LIMITS}{DYNAMICS}</axis>"),
        ("screw", f"<axis><xyz>0 3 0</xyz>{LIMITS}{DYNAMICS}</axis>"),
        ("universal", AXES_XZ),
        ("ball", ""),
    ],
)
def test_joints_agree_with_pydrake(kind, body, pose, ends):
    parent, child = ends.split()
    pose = pose.format("0.1 0.2 0.3 0.5 0 0")
    text = in_model(PLACED + joint(kind, pose + body, parent=parent, child=child))
    (model,), diagnostics = read(text)
    assert diagnostics.errors == []
    assert_same(model, peer_plant(text))


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "screw", "universal", "ball", "fixed"])
@pytest.mark.parametrize("effort", ["", "0", "-1", "5", "inf", "-inf", "1e-12"])
def test_who_has_an_actuator_agrees_with_pydrake(kind, effort):
    limit = f"<limit><effort>{effort}</effort></limit>" if effort else ""
    axes = f"<axis><xyz>0 0 1</xyz>{limit}</axis>"
    if kind == "universal":
        axes += f"<axis2><xyz>1 0 0</xyz>{limit}</axis2>"
    extra = "<drake:rotor_inertia>3</drake:rotor_inertia><drake:gear_ratio>2</drake:gear_ratio>"
    extra += "<drake:controller_gains p='4' d='5'/>"
    text = in_model(LINKS + joint(kind, axes + extra))
    (model,), _ = read(text)
    assert_same_actuators(model, peer_plant(text))


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("ends", [("a", "b"), ("f", "g"), ("g", "a"), ("__model__", "b")])
def test_planar_joints_come_last_and_agree_with_pydrake(ends):
    planar = f"<drake:joint name='p' type='planar'><drake:parent>{ends[0]}</drake:parent>\
<drake:child>{ends[1]}</drake:child><drake:damping>1 2 3</drake:damping></drake:joint>"
    body = PLACED + "<link name='c'/>" + planar + joint("revolute", "<axis/>", parent="a", child="c")
    text = in_model(body)
    (model,), diagnostics = read(text)
    assert diagnostics.findings == []
    plant = peer_plant(text)
    assert_same(model, plant)
    assert model.joints[1].damping == tuple(plant.GetJointByName("p").default_damping_vector())


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("body", ["", *(f"<{tag}>{p}</{tag}>" for tag in PITCHES for p in (2, -3.5))])
@pytest.mark.parametrize("version", ["1.6", "1.9", "1.10"])
def test_the_pitch_of_a_screw_agrees_with_pydrake(version, body):
    text = in_model(LINKS + joint("screw", body + "<axis/>"), version)
    (model,), _ = read(text)
    assert model.joints[0].screw_pitch == peer_plant(text).GetJointByName("j").screw_pitch()


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("version", ["1.4", "1.5", "1.6"])
@pytest.mark.parametrize("use", ["", "<use_parent_model_frame>1</use_parent_model_frame>"])
def test_axes_of_old_versions_agree_with_pydrake(version, use):
    text = in_model(TURNED + joint(body=f"<axis><xyz>1 0 0</xyz>{use}</axis>"), version)
    (model,), _ = read(text)
    assert_same_joints(model, peer_plant(text))


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize(
    "inertial",
    [
        "",
        "<inertial/>",
        "<inertial><mass>3</mass></inertial>",
        "<inertial><inertia><ixx>1.5</ixx></inertia></inertial>",
        "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>",
        "<inertial><pose>1 2 3 0.1 0.2 0.3</pose><mass>2</mass><inertia><ixx>2</ixx><iyy>3</iyy><izz>4</izz>"
        "<ixy>0.1</ixy><ixz>-0.2</ixz><iyz>0.3</iyz></inertia></inertial>",
    ],
)
def test_mass_properties_agree_with_pydrake(inertial):
    text = in_model(f"<link name='a'>{inertial}</link>")
    (model,), diagnostics = read(text)
    assert diagnostics.findings == []
    assert_same_links(model, peer_plant(text))


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize(
    "body",
    [
        "<pose relative_to='world'>1 0 0 0 0 0</pose><link name='a'/>",
        "<link name='a'/><link name='a'/>",
        "<link name='a'/><frame name='__f__'/>",
        "<link name='a'/><frame name='b::f'/>",
        "<link name='a'/><frame name='f' attached_to='f'/>",
        "<link name='a'/><frame name='f' attached_to='nope'/>",
        "<link name='a'/><frame name='f'><pose relative_to='nope'/></frame>",
        "<frame name='f'/>",
        "<static>true</static>" + LINKS + joint(),
        LINKS + joint(child="world"),
        LINKS + joint(child="nope"),
        LINKS + joint(parent="nope"),
        LINKS + joint(parent="b"),
        LINKS + joint("planar"),
        LINKS + joint("gearbox"),
        LINKS + joint(body=""),
        LINKS + joint(body="<axis><xyz>0 0 0</xyz></axis>"),
        LINKS + joint(body="<axis><limit><lower>2</lower><upper>1</upper></limit></axis>"),
        LINKS + joint("universal", "<axis/><axis2/>"),
    ],
)
def test_what_pydrake_refuses_is_refused(body):
    text = in_model(body)
    assert any(severity == "error" for severity, _ in findings(text))
    with pytest.raises(RuntimeError):
        peer_plant(text)


# ------------------------------------------------------------------------------------- what cannot move well

MASSLESS = "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"


def massless_findings(body):
    models, diagnostics = read(in_model(body))
    assert len(models) == 1
    return [(f.code, f.severity, f.message.partition(",")[0]) for f in diagnostics.findings]


def test_a_joint_that_moves_no_mass_is_warned_of():
    links = f"<link name='a'/><link name='b'>{MASSLESS}</link><link name='c'>{MASSLESS}</link>"
    carried = joint() + joint("fixed", "", "k", "b", "c")
    assert massless_findings(links + carried) == [
        ("MOVING_MASS_MISSING", "note", 'joint "j" moves link "b"'),
    ]
    assert massless_findings(links.replace(MASSLESS, "", 1) + carried) == []


def test_a_reversed_joint_moves_its_parent():
    links = f"<link name='a'>{MASSLESS}</link><link name='b'/>"
    assert massless_findings(links + joint() + joint("fixed", "", "k", "world", "b")) == [
        ("MOVING_MASS_MISSING", "note", 'joint "j" moves link "a"'),
    ]


def test_a_closed_loop_is_no_fault():
    body = joint() + joint(name="k", parent="b", child="c") + joint(name="l", parent="a", child="c")
    for loop in (body, joint() + joint(name="k", parent="b", child="a")):
        ((code, severity, _),) = massless_findings(LINKS + loop)
        assert (code, severity) == ("LOOP_CUT", "note")


@pytest.mark.parametrize("tag", ["point_contact_stiffness", "hydroelastic_modulus"])
def test_a_stiffness_of_zero_is_left_out(tag):
    extra = f"<drake:proximity_properties><drake:{tag}>0</drake:{tag}></drake:proximity_properties>"
    collision = shaped("<sphere><radius>1</radius></sphere>").replace("</collision>", extra + "</collision>")
    models, diagnostics = read(in_link(collision))
    assert models[0].links[0].collisions[0].properties == {}
    assert [(f.severity, f.code) for f in diagnostics.findings] == [("warning", "ELEMENT_INVALID")]
