"""URDF files to ModelSpec: what each element becomes, one damaged token at a time, and the same as pydrake."""

from math import cos, inf, pi, sin

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from mbcli.parsers.urdf.read_urdf import read_urdf
from repository import MODELS

from mbcli.errors import ModelError, ResourceError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
BODY = f'<inertial><mass value="1"/>{INERTIA}</inertial>'

ROBOT = f"""<robot name="r" xmlns:drake="http://drake.mit.edu">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 -0.5" rpy="0 0 0.1"/>
      <mass value="2"/>
      <inertia ixx="1.25" iyy="1.5" izz="0.75" ixy="0.01" ixz="0.02" iyz="0.03"/>
    </inertial>
    <visual>
      <origin xyz="1 2 3"/>
      <geometry><box size="1 2 4"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material>
    </visual>
    <collision>
      <geometry><sphere radius="0.1"/></geometry>
    </collision>
  </link>
  <link name="lower">{BODY}</link>
  <joint name="weld" type="fixed">
    <parent link="world"/>
    <child link="base"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" velocity="3" effort="4"/>
    <dynamics damping="0.5" friction="0.125"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/>
    <child link="lower"/>
    <limit lower="-0.5" upper="0.25"/>
    <mimic joint="shoulder" multiplier="2" offset="0.75"/>
  </joint>
  <transmission name="t">
    <type>transmission_interface/SimpleTransmission</type>
    <joint name="shoulder"/>
    <actuator name="motor"><drake:gear_ratio value="50"/></actuator>
  </transmission>
</robot>
"""


def read(text, packages=None):
    """(model or None, diagnostics) of a document."""
    diagnostics = Diagnostics()
    model = read_urdf(text.encode(), diagnostics, packages=packages, name="r.urdf")
    return model, diagnostics


def read_sound(text):
    """The model of a document without a finding."""
    model, diagnostics = read(text)
    assert [str(finding) for finding in diagnostics.findings] == []
    return model


def robot(body, links="ab"):
    """A robot of links with mass 1, and more elements."""
    names = "".join(f'<link name="{name}">{BODY}</link>' for name in links)
    return f'<robot name="r" xmlns:drake="http://drake.mit.edu">{names}{body}</robot>'


def joint(file_type, content="", *, tag="joint", name="j", parent="a", child="b"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<{tag} name="{name}" type="{file_type}">{ends}{content}</{tag}>'


def one_joint(file_type, content="", *, tag="joint"):
    """(JointSpec, codes of the findings) of a robot of two links and this joint."""
    model, diagnostics = read(robot(joint(file_type, content, tag=tag)))
    assert model is not None, [str(finding) for finding in diagnostics.findings]
    return model.joints[0], [finding.code for finding in diagnostics.findings]


LIMIT = '<limit lower="-1" upper="1"/>'


# ---------------------------------------------------------------------------------- what becomes of it


def test_a_sound_robot_gives_no_finding_and_every_part():
    model = read_sound(ROBOT)
    assert (model.name, model.format, model.version) == ("r", "urdf", "1.0")
    assert [link.name for link in model.links] == ["base", "upper", "lower"]
    assert [part.name for part in model.joints] == ["weld", "shoulder", "elbow"]
    assert model.sources[0].content == ROBOT.encode()
    assert model.sources[0].path == "r.urdf"


def test_the_inertial_is_about_the_centre_of_mass_in_its_own_axes():
    inertial = read_sound(ROBOT).links[1].inertial
    assert inertial.mass == 2
    assert inertial.inertia == (1.25, 1.5, 0.75, 0.01, 0.02, 0.03)
    assert inertial.X_LI[:3, 3].tolist() == [0, 0, -0.5]
    assert inertial.X_LI[0, :2] == pytest.approx([cos(0.1), -sin(0.1)], abs=1e-15)
    assert read_sound(ROBOT).links[0].inertial is None


def test_rpy_turns_about_the_fixed_axes_x_y_z_in_this_order():
    r, p, y = 0.1, 0.2, 0.3
    Rx = np.array([[1, 0, 0], [0, cos(r), -sin(r)], [0, sin(r), cos(r)]])
    Ry = np.array([[cos(p), 0, sin(p)], [0, 1, 0], [-sin(p), 0, cos(p)]])
    Rz = np.array([[cos(y), -sin(y), 0], [sin(y), cos(y), 0], [0, 0, 1]])
    X_PF = read_sound(ROBOT).joints[1].X_PF
    assert X_PF[:3, :3] == pytest.approx(Rz @ Ry @ Rx, abs=1e-15)
    assert X_PF[:3, 3].tolist() == [0, 0, 1]


def test_a_quaternion_of_urdf_1_1_is_read_with_w_last():
    joint_spec, _ = one_joint("fixed", '<origin quat_xyzw="0 0 2 2"/>')
    assert joint_spec.X_PF[:3, :3] == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-15)


def test_axis_limits_and_dynamics():
    axis = read_sound(ROBOT).joints[1].axes[0]
    assert axis.xyz == (0, 1, 0)
    assert (axis.lower, axis.upper, axis.velocity, axis.effort) == (-1, 2, 3, 4)
    assert (axis.damping, axis.friction, axis.acceleration) == (0.5, 0.125, inf)
    prismatic = read_sound(ROBOT).joints[2].axes[0]
    assert prismatic.xyz == (1, 0, 0)
    assert (prismatic.velocity, prismatic.effort) == (inf, inf)


def test_deceleration_and_jerk_of_urdf_1_2_and_its_defaults():
    limited, _ = one_joint("revolute", '<limit lower="0" upper="1" deceleration="7" jerk="8"/>')
    assert (limited.axes[0].deceleration, limited.axes[0].jerk) == (7, 8)
    free, _ = one_joint("continuous", "<limit/>")
    bounds = ("lower", "upper", "velocity", "acceleration", "deceleration", "jerk", "effort")
    assert [getattr(free.axes[0], name) for name in bounds] == [-inf, *[inf] * 6]


@pytest.mark.parametrize("attribute", ["drake:acceleration", "acceleration"])
def test_acceleration_limit_of_drake_and_of_urdf_1_2(attribute):
    joint_spec, _ = one_joint("revolute", f'<limit lower="0" upper="1" {attribute}="7"/>')
    assert joint_spec.axes[0].acceleration == 7


def test_mimic_keeps_leader_multiplier_and_offset():
    mimic = read_sound(ROBOT).joints[2].axes[0].mimic
    assert (mimic.leader, mimic.multiplier, mimic.offset) == ("shoulder", 2, 0.75)


def test_an_axis_is_normalised_with_a_warning():
    joint_spec, codes = one_joint("continuous", '<axis xyz="0 3 4"/>')
    assert joint_spec.axes[0].xyz == pytest.approx((0, 0.6, 0.8), abs=1e-16)
    assert codes == ["AXIS_NOT_UNIT"]
    _, codes = one_joint("continuous", '<axis xyz="0 0.7071068 0.7071068"/>')
    assert codes == []


def test_a_transmission_makes_an_actuator_with_the_effort_limit_of_its_joint():
    (actuator,) = read_sound(ROBOT).actuators
    assert (actuator.name, actuator.joint, actuator.effort_limit) == ("motor", "shoulder", 4)
    assert (actuator.gear_ratio, actuator.rotor_inertia, actuator.controller_gains) == (50, 0, None)


def test_drake_actuator_values():
    extras = '<drake:rotor_inertia value="0.25"/><drake:controller_gains p="100" d="5"/>'
    (actuator,) = read_sound(ROBOT.replace('<drake:gear_ratio value="50"/>', extras)).actuators
    assert (actuator.rotor_inertia, actuator.gear_ratio, actuator.controller_gains) == (0.25, 1, (100, 5))
    assert read_sound(ROBOT.replace(' effort="4"', "")).actuators[0].effort_limit == inf


def test_prefix_without_declaration_and_with_https_mean_the_same():
    expected = read_sound(ROBOT).actuators[0].gear_ratio
    assert read_sound(ROBOT.replace("http:", "https:")).actuators[0].gear_ratio == expected
    model, diagnostics = read(ROBOT.replace(' xmlns:drake="http://drake.mit.edu"', ""))
    assert model.actuators[0].gear_ratio == expected
    assert [finding.code for finding in diagnostics.findings] == ["XML_ERROR"]


def test_an_effort_limit_of_zero_makes_no_actuator_and_says_so():
    model, diagnostics = read(ROBOT.replace('effort="4"', 'effort="0"'))
    assert model.actuators == ()
    assert [finding.code for finding in diagnostics.findings] == ["TRANSMISSION_IGNORED"]


def test_standard_joint_types():
    assert one_joint("fixed")[0].axes == ()
    assert one_joint("continuous")[0].type == "continuous"
    assert one_joint("prismatic", LIMIT)[0].type == "prismatic"
    floating, _ = one_joint("floating", '<origin xyz="1 2 3"/>')
    assert (floating.type, floating.axes) == ("quaternion_floating", ())
    assert floating.X_PF[:3, 3].tolist() == [1, 2, 3]


def test_planar_joint_turns_its_normal_to_z():
    planar, _ = one_joint("planar", '<origin xyz="1 0 0" rpy="0.5 0 0"/><axis xyz="0 1 0"/><dynamics damping="1 2 3"/>')
    assert planar.damping == (1, 2, 3)
    assert planar.axes[0].xyz == (0, 0, 1)
    assert planar.X_CM[:3, 2] == pytest.approx([0, 1, 0], abs=1e-15)
    assert planar.X_PF[:3, 2] == pytest.approx([0, cos(0.5), sin(0.5)], abs=1e-15)
    assert planar.X_PF[:3, 3].tolist() == [1, 0, 0]


@pytest.mark.parametrize("axis", ["0 0 1", "0 0 -1", "1 2 3", "-0.3 0.2 -0.9", "1e-9 0 -1", "1 0 0"])
def test_planar_frames_are_rotations_whose_z_is_the_axis(axis):
    planar, _ = one_joint("planar", f'<axis xyz="{axis}"/>')
    R = planar.X_CM[:3, :3]
    normal = np.array([float(c) for c in axis.split()])
    assert pytest.approx(np.eye(3), abs=1e-15) == R @ R.T
    assert np.linalg.det(R) == pytest.approx(1)
    assert R[:, 2] == pytest.approx(normal / np.linalg.norm(normal), abs=1e-15)


def test_drake_joint_types():
    ball, _ = one_joint("ball", '<dynamics damping="2"/>', tag="drake:joint")
    assert (ball.type, ball.axes, ball.damping) == ("ball", (), (2,))
    universal, _ = one_joint("universal", '<dynamics damping="2"/>', tag="drake:joint")
    assert [(axis.xyz, axis.damping) for axis in universal.axes] == [((1, 0, 0), 2), ((0, 1, 0), 2)]
    pitch = '<drake:screw_thread_pitch value="0.02"/><axis xyz="0 0 1"/><dynamics damping="3"/>'
    screw, _ = one_joint("screw", pitch, tag="drake:joint")
    assert (screw.screw_pitch, screw.axes[0].xyz, screw.axes[0].damping) == (0.02, (0, 0, 1), 3)
    assert one_joint("planar", tag="drake:joint")[0].type == "planar"


@pytest.mark.parametrize("limit", [LIMIT, '<limit lower="0" upper="0"/>', '<limit lower="-2"/>', '<limit upper="0"/>'])
def test_the_limits_of_a_continuous_joint_do_not_act_unless_drakes_are_wanted(limit):
    joint_spec, codes = one_joint("continuous", limit)
    assert (joint_spec.axes[0].lower, joint_spec.axes[0].upper) == (-inf, inf)
    assert codes == ["JOINT_LIMIT_INVALID"]
    text = robot(joint("continuous", limit))
    for drakes, stated in ((False, (-inf, inf)), (True, joint_spec.axes[0].drakes_limits)):
        plant = MultibodyPlant(0.0)
        plant.settings.continuous_joint_limits = drakes
        Parser(plant).AddModelsFromString(text, "urdf")
        added = plant.GetJointByName("j")
        assert (added.position_lower_limit(), added.position_upper_limit()) == stated


@pytest.mark.parametrize("missing", ["lower", "upper"])
def test_a_limit_without_one_end_is_told(missing):
    stated = "upper" if missing == "lower" else "lower"
    for kind in ("revolute", "prismatic"):
        joint_spec, codes = one_joint(kind, f'<limit {stated}="1"/>')
        assert codes == ["JOINT_LIMIT_MISSING"]
        assert getattr(joint_spec.axes[0], missing) == (-inf if missing == "lower" else inf)


@pytest.mark.parametrize(
    "inside, told",
    [
        ("<motorInertia>0.01</motorInertia>", True),
        ('<drake:rotor_inertia value="0.01"/><motorInertia>0.01</motorInertia>', False),
        ("<motorInertia>0</motorInertia>", False),
    ],
)
def test_the_inertia_of_a_rotor_is_told_with_what_acts(inside, told):
    drive = (
        "<transmission><type>transmission_interface/SimpleTransmission</type><joint name='j'/>"
        f"<actuator name='m'>{inside}</actuator></transmission>"
    )
    _, diagnostics = read(robot(joint("revolute", LIMIT) + drive))
    found = [f.message for f in diagnostics.warnings if "motorInertia" in f.message]
    assert len(found) == told and all('<drake:rotor_inertia value="0.01"/>' in message for message in found)


def geometries(content):
    model = read_sound(f'<robot name="r"><link name="a">{content}</link></robot>')
    link = model.links[0]
    return link.visuals + link.collisions


@pytest.mark.parametrize(
    ("element", "shape"),
    [
        ('<box size="1 2 3"/>', Box((1, 2, 3))),
        ('<sphere radius="0"/>', Sphere(0)),
        ('<cylinder radius="1" length="2"/>', Cylinder(1, 2)),
        ('<capsule radius="1" length="2"/>', Capsule(1, 2)),
    ],
)
def test_shapes(element, shape):
    (geometry,) = geometries(f"<collision><geometry>{element}</geometry></collision>")
    assert geometry.shape == shape
    assert geometry.name == type(shape).__name__


@pytest.mark.parametrize(
    ("element", "shape"),
    [
        ('<drake:capsule radius="1" length="2"/>', Capsule(1, 2)),
        ('<drake:ellipsoid a="1" b="2" c="3"/>', Ellipsoid((1, 2, 3))),
    ],
)
def test_drake_shapes(element, shape):
    text = f'<link name="c"><visual><geometry>{element}</geometry></visual></link>'
    assert read_sound(robot(text, links="")).links[0].visuals[0].shape == shape


def test_geometry_names_are_unique_within_visuals_and_within_collisions():
    box = "<geometry><box size='1 1 1'/></geometry>"
    text = f"<visual>{box}</visual><visual name='x'>{box}</visual><visual>{box}</visual><collision>{box}</collision>"
    assert [geometry.name for geometry in geometries(text)] == ["Box", "x", "Box_1", "Box"]


def test_pose_and_color_of_a_visual():
    (visual,) = read_sound(ROBOT).links[1].visuals
    assert visual.X_LG[:3, 3].tolist() == [1, 2, 3]
    assert visual.color == (1, 0, 0, 0.5)


def test_a_material_is_found_by_name_in_the_robot_and_in_earlier_visuals():
    def visual(material):
        return f"<visual><geometry><sphere radius='1'/></geometry>{material}</visual>"

    text = (
        '<material name="blue"><color rgba="0 0 1 1"/></material><link name="c">'
        + visual('<material name="blue"/>')
        + visual('<material name="own"><color rgba="0 1 0 1"/></material>')
        + visual('<material name="own"/>')
        + "</link>"
    )
    colors = [geometry.color for geometry in read_sound(robot(text, links="")).links[0].visuals]
    assert colors == [(0, 0, 1, 1), (0, 1, 0, 1), (0, 1, 0, 1)]


def proximity(content):
    text = (
        '<link name="c"><collision><geometry><sphere radius="1"/></geometry>'
        f"<drake:proximity_properties>{content}</drake:proximity_properties></collision></link>"
    )
    return read_sound(robot(text, links="")).links[0].collisions[0].properties


def test_proximity_properties():
    assert proximity('<drake:mu_static value="0.9"/><drake:mu_dynamic value="0.5"/>') == {
        ("material", "coulomb_friction"): (0.9, 0.5)
    }
    assert proximity('<drake:mu_dynamic value="0.5"/>') == {("material", "coulomb_friction"): (0.5, 0.5)}
    assert proximity("") == {}
    everything = (
        '<drake:hunt_crossley_dissipation value="1"/><drake:relaxation_time value="2"/>'
        '<drake:point_contact_stiffness value="3"/><drake:hydroelastic_modulus value="4"/>'
        '<drake:mesh_resolution_hint value="5"/><drake:compliant_hydroelastic/>'
    )
    assert proximity(everything) == {
        ("material", "hunt_crossley_dissipation"): 1,
        ("material", "relaxation_time"): 2,
        ("material", "point_contact_stiffness"): 3,
        ("hydroelastic", "hydroelastic_modulus"): 4,
        ("hydroelastic", "resolution_hint"): 5,
        ("hydroelastic", "compliance_type"): "compliant",
    }


def test_frames_hang_on_links_or_the_world():
    text = '<frame name="tip" link="b" xyz="1 2 3" rpy="0 0 0.5"/><frame name="home" link="world"/>'
    tip, home = read_sound(robot(joint("fixed") + text)).frames
    assert (tip.name, tip.link, tip.X_LF[:3, 3].tolist()) == ("tip", "b", [1, 2, 3])
    assert tip.X_LF[0, 0] == pytest.approx(cos(0.5))
    assert (home.name, home.link) == ("home", "world")


def test_collision_filter_groups_take_the_links_of_their_member_groups():
    text = (
        '<drake:collision_filter_group name="g"><drake:member link="a"/></drake:collision_filter_group>'
        '<drake:collision_filter_group name="h"><drake:member link="b"/><drake:member_group name="g"/>'
        '<drake:ignored_collision_filter_group name="h"/></drake:collision_filter_group>'
        '<drake:collision_filter_group name="off" ignore="true"><drake:member link="nothing"/>'
        "</drake:collision_filter_group>"
    )
    g, h = read_sound(robot(joint("fixed") + text)).filter_groups
    assert (g.name, g.members, g.ignores) == ("g", ("a",), ())
    assert (h.name, h.members, h.ignores) == ("h", ("b", "a"), ("h",))


def test_a_link_named_world_is_the_world():
    text = f'<link name="world">{BODY}</link>' + joint("fixed", parent="world", child="a", name="w")
    model, diagnostics = read(robot(text, links="a"))
    assert [link.name for link in model.links] == ["a"]
    assert model.joints[0].parent == "world"
    assert [finding.code for finding in diagnostics.findings] == ["ELEMENT_MEANINGLESS"]


def test_geometry_of_the_world_is_kept_in_a_link_named_world():
    text = '<link name="world"><visual><geometry><box size="9 9 1"/></geometry></visual></link>'
    model = read_sound(robot(text, links="a"))
    assert [link.name for link in model.links] == ["a", "world"]
    assert model.links[1].inertial is None


def test_a_mesh_is_resolved_but_not_opened(tmp_path):
    (tmp_path / "part.obj").write_text("this is no mesh")
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="part.obj" scale="2"/></geometry>'
        "</visual></link></robot>"
    )
    diagnostics = Diagnostics()
    mesh = read_urdf(path, diagnostics).links[0].visuals[0].shape
    assert mesh == Mesh("part.obj", (2, 2, 2), False, str(tmp_path / "part.obj"))
    assert diagnostics.findings == []


def test_missing_meshes_are_reported_once_per_package_and_are_no_error():
    meshes = "".join(
        f'<visual><geometry><mesh filename="package://nope/{i}.obj"/></geometry></visual>' for i in range(3)
    )
    text = f'<robot name="r">\n<link name="a">{meshes}</link></robot>'
    model, diagnostics = read(text, PackageMap(environment={}))
    assert [geometry.shape.path for geometry in model.links[0].visuals] == [None] * 3
    (finding,) = diagnostics.findings
    assert (finding.severity, finding.code, finding.place.line) == ("warning", "URI_LOOKUP", 2)
    assert finding.message.startswith('3 visual meshes not found, the first: "package://nope/0.obj"')
    _, diagnostics = read(text.replace("visual>", "collision>"), PackageMap(environment={}))
    assert [finding.severity for finding in diagnostics.findings] == ["warning"]
    for choice, severity in (("error", "error"), ("ignore", "note")):
        _, diagnostics = read(text, PackageMap(environment={}, missing_meshes=choice))
        assert [finding.severity for finding in diagnostics.findings] == [severity]


# --------------------------------------------------------------------- one damaged token, one finding

FAULTS = [
    # the 31 faults that were tried on other tools, as far as they belong to a parser
    pytest.param(
        'izz="0.75"', 'izz="7.5"', '<inertial>', "warning", "LINK_INERTIA_INVALID",
        "break the triangle inequality: ", id="inertia breaks triangle",
    ),
    pytest.param(
        'iyz="0.03"', 'iyz="3"', '<inertial>', "warning", "LINK_INERTIA_INVALID",
        "must not be negative: ", id="inertia not positive",
    ),
    pytest.param(
        '<mass value="2"/>', '<mass value="-2"/>', '<mass value="-2"', "error", "LINK_MASS_INVALID",
        "the mass -2.0 kg is negative", id="negative mass",
    ),
    pytest.param(
        '<mass value="2"/>', '<mass value="nan"/>', '<mass value="nan"/>', "error", "ATTRIBUTE_INVALID",
        'attribute "value" of <mass> must be a finite number, found "nan"', id="mass nan",
    ),
    pytest.param(
        BODY, "", '<joint name="elbow"', "note", "MOVING_MASS_MISSING",
        'joint "elbow" moves link "lower", whose subtree has no mass', id="massless leaf",
    ),
    pytest.param(
        '<dynamics damping="0.5" friction="0.125"/>', "<dynamics><damping>0.5</damping></dynamics>", "<damping>",
        "warning", "ELEMENT_UNKNOWN", "<damping> in <dynamics> is unknown and not used", id="nested damping",
    ),
    pytest.param(
        "<dynamics ", "<dynamic ", "<dynamic ", "warning", "ELEMENT_UNKNOWN",
        "<dynamic> in <joint> is unknown and not used", id="element typo",
    ),
    pytest.param(
        "damping=", "dampng=", "<dynamics ", "warning", "ATTRIBUTE_UNKNOWN",
        'attribute "dampng" in <dynamics> is unknown and not used', id="attribute typo",
    ),
    pytest.param(
        'lower="-1"', 'lower="3"', '<limit lower="3"', "error", "JOINT_LIMIT_INVALID",
        "the lower limit 3.0 is above the upper limit 2.0", id="lower above upper",
    ),
    pytest.param(
        'upper="2"', 'upper="170"', "<limit ", "warning", "JOINT_LIMIT_UNIT",
        "the limits [-1, 170] rad are more than four turns", id="limits in degrees",
    ),
    pytest.param(
        '<limit lower="-1" upper="2" velocity="3" effort="4"/>', "", '<joint name="shoulder" type', "warning",
        "JOINT_LIMIT_MISSING", "1 joint has no position limits although", id="revolute without limit",
    ),
    pytest.param(
        'xyz="0 1 0"', 'xyz="0 2 0"', "<axis ", "warning", "AXIS_NOT_UNIT",
        "the axis has length 2: normalised", id="axis not of unit length",
    ),
    pytest.param(
        'mimic joint="shoulder"', 'mimic joint="sholder"', "<mimic ", "error", "JOINT_AXIS_MIMIC_INVALID",
        'there is no joint "sholder" to mimic', id="mimic without leader",
    ),
    pytest.param(
        '<child link="base"/>', '<child link="lower"/>', '<joint name="elbow"', "warning",
        "JOINT_CHILD_LINK_INVALID", 'link "lower" is the child of two joints, "weld" and "elbow", which close no loop',
        id="two parents",
    ),
    pytest.param(
        '<parent link="world"/>', '<parent link="lower"/>', '<joint name="', "error", "JOINT_CYCLE",
        "links are their own parents (child -> parent): base -> lower -> upper -> base", id="cycle without root",
    ),
    pytest.param(
        'name="elbow"', 'name="shoulder"', '<joint name="shoulder" type="prismatic"', "error", "DUPLICATE_NAME",
        'the joint name "shoulder" is taken already, at r.urdf:23:3', id="duplicate joint name",
    ),
    pytest.param(
        '<mass value="2"/>', '<mass value="${m}"/>', '<mass value="${m}"/>', "error", "ATTRIBUTE_INVALID",
        'must be a finite number, found "${m}"', id="unexpanded xacro value",
    ),
    pytest.param(
        'xyz="0 0 1"', 'xyz="0 0 1 2"', '<origin xyz="0 0 1 2"', "error", "ATTRIBUTE_INVALID",
        'attribute "xyz" of <origin> must be 3 numbers, found 4: "0 0 1 2"', id="four numbers",
    ),
    pytest.param(
        'xyz="1 2 3"', 'xyz="1 2 3m"', '<origin xyz="1 2 3m"', "error", "ATTRIBUTE_INVALID",
        'must be 3 finite numbers, found "3m" in "1 2 3m"', id="number with a unit",
    ),
    pytest.param(
        '<mass value="2"/>', '<mass value="1,5"/>', '<mass value="1,5"/>', "error", "ATTRIBUTE_INVALID",
        'attribute "value" of <mass> must be a finite number, found "1,5"', id="decimal comma",
    ),
    pytest.param(
        'effort="4"', 'effort="4" jerk="-5"', "<limit ", "warning", "JOINT_LIMIT_NEGATIVE",
        'attribute "jerk" of <limit> is negative, -5.0: taken as no limit', id="negative jerk",
    ),
    pytest.param(
        'ixx="1.25" iyy="1.5"', 'ixx="1250" iyy="1500.5"', "<inertial>", "warning", "LINK_INERTIA_INVALID",
        "break the triangle inequality", id="inertia in g",
    ),
    pytest.param(
        '<mass value="2"/>', '<mass value="0.002"/>', "<inertial>", "warning", "INERTIA_IMPLAUSIBLE",
        "the radius of gyration 27.4 m is implausible: ", id="radius of gyration",
    ),
    pytest.param(
        "</joint>\n  <transmission", '<safety_controller k_velocity="1"/></joint>\n  <transmission',
        "<safety_controller", "note", "ELEMENT_FOREIGN",
        "<safety_controller> in <joint> is for another program and not used", id="safety controller",
    ),
    # names and references
    pytest.param(
        "</robot>", "<link/></robot>", "<link/>", "error", "ATTRIBUTE_MISSING",
        '<link> must have the attribute "name"', id="link without name",
    ),
    pytest.param(
        "</robot>", '<link name=""/></robot>', '<link name=""/>', "error", "ATTRIBUTE_INVALID",
        'attribute "name" of <link> is empty', id="link with empty name",
    ),
    pytest.param(
        "</robot>", '<link name="${p}base"/></robot>', '<link name="${p}base"/>', "error", "XACRO_UNEXPANDED",
        'attribute "name" of <link> is unexpanded xacro, "${p}base"', id="unexpanded xacro name",
    ),
    pytest.param(
        "</robot>", '<link name="upper"/></robot>', '<link name="upper"/>', "error", "DUPLICATE_NAME",
        'the link name "upper" is taken already, at r.urdf:3:3', id="duplicate link name",
    ),
    pytest.param(
        'parent link="base"', 'parent link="bse"', '<parent link="bse"', "error", "JOINT_PARENT_LINK_INVALID",
        'there is no link "bse" for attribute "link" of <parent>', id="unknown parent",
    ),
    pytest.param(
        'child link="lower"', 'child link="lowr"', '<child link="lowr"', "error", "JOINT_CHILD_LINK_INVALID",
        'there is no link "lowr" for attribute "link" of <child>', id="unknown child",
    ),
    pytest.param(
        'child link="lower"', 'child link="upper"', '<joint name="elbow"', "error", "JOINT_PARENT_SAME_AS_CHILD",
        'joint "elbow" connects link "upper" to itself', id="parent is child",
    ),
    pytest.param(
        '    <parent link="base"/>\n', "", '<joint name="shoulder"', "error", "ELEMENT_MISSING",
        "<joint> must have a <parent>", id="missing parent",
    ),
    pytest.param(
        '    <child link="lower"/>\n', "", '<joint name="elbow"', "error", "ELEMENT_MISSING",
        "<joint> must have a <child>", id="missing child",
    ),
    pytest.param(
        '<parent link="upper"/>', "<parent/>", "<parent/>", "error", "ATTRIBUTE_MISSING",
        '<parent> must have the attribute "link"', id="parent without link",
    ),
    pytest.param(
        '<joint name="elbow"', "<joint", "<joint type", "error", "ATTRIBUTE_MISSING",
        '<joint> must have the attribute "name"', id="joint without name",
    ),
    pytest.param(
        ' type="prismatic"', "", '<joint name="elbow"', "error", "ATTRIBUTE_MISSING",
        '<joint> must have the attribute "type"', id="joint without type",
    ),
    pytest.param(
        'type="prismatic"', 'type="prismatc"', '<joint name="elbow"', "error", "ATTRIBUTE_INVALID",
        'there is no joint type "prismatc"', id="unknown joint type",
    ),
    pytest.param(
        'type="prismatic"', 'type="ball"', '<joint name="elbow"', "error", "ATTRIBUTE_INVALID",
        "a joint of type ball is written as <drake:joint>", id="drake type in joint",
    ),
    pytest.param(
        '<parent link="world"/>', '<parent link="upper"/>', '<joint name="weld"', "error", "JOINT_CYCLE",
        "links are their own parents", id="cycle of two",
    ),
    # values
    pytest.param(
        'xyz="0 1 0"', 'xyz="0 0 0"', "<axis ", "error", "ATTRIBUTE_INVALID",
        "the axis of a joint must not be zero", id="zero axis",
    ),
    pytest.param(
        'damping="0.5"', 'damping="-0.5"', "<dynamics ", "warning", "ATTRIBUTE_INVALID",
        'attribute "damping" of <dynamics> must not be negative, found -0.5: it is taken as 0', id="negative damping",
    ),
    pytest.param(
        'velocity="3"', 'velocity="-3"', "<limit ", "warning", "JOINT_LIMIT_NEGATIVE",
        'attribute "velocity" of <limit> is negative, -3.0: taken as no limit', id="negative velocity limit",
    ),
    pytest.param(
        'effort="4"', 'effort="-1"', "<limit ", "note", "JOINT_LIMIT_NEGATIVE",
        'attribute "effort" of <limit> is negative, -1.0: taken as no limit', id="effort limit of -1",
    ),
    pytest.param(
        'upper="2"', 'upper="nan"', "<limit ", "error", "ATTRIBUTE_INVALID",
        'attribute "upper" of <limit> must be a number, found "nan"', id="limit nan",
    ),
    pytest.param(
        'rpy="0.1 0.2 0.3"', 'rpy="0.1 0.2 0.3" quat_xyzw="0 0 0 1"', '<origin xyz="0 0 1"', "error",
        "ATTRIBUTE_INVALID", "<origin> has both rpy and quat_xyzw", id="two rotations",
    ),
    pytest.param(
        ' ixx="1.25"', "", "<inertia iyy", "error", "ATTRIBUTE_MISSING",
        '<inertia> must have the attribute "ixx"', id="missing moment of inertia",
    ),
    pytest.param(
        '      <mass value="2"/>\n', "", "<inertial>\n", "warning", "ELEMENT_MISSING",
        "<inertial> has no <mass>: taken as 0", id="missing mass",
    ),
    # geometry
    pytest.param(
        'size="1 2 4"', 'size="1 0 4"', "<box ", "warning", "ATTRIBUTE_INVALID",
        "the size of a <box> must be positive, found (1.0, 0.0, 4.0): the visual is left out", id="flat box",
    ),
    pytest.param(
        'radius="0.1"', 'radius="-0.1"', "<sphere ", "warning", "ATTRIBUTE_INVALID",
        'attribute "radius" of <sphere> must not be negative, found -0.1: the collision is left out',
        id="negative radius",
    ),
    pytest.param(
        '<sphere radius="0.1"/>', "<sphre/>", "<sphre/>", "warning", "ELEMENT_INVALID",
        "<sphre> is not a shape of URDF: the collision is left out", id="unknown shape",
    ),
    pytest.param(
        '<sphere radius="0.1"/>', "", "<geometry></geometry>", "warning", "ELEMENT_MISSING",
        "<geometry> must have a shape: the collision is left out", id="no shape",
    ),
    pytest.param(
        '<geometry><sphere radius="0.1"/></geometry>', "", "<collision>", "warning", "ELEMENT_MISSING",
        "<collision> must have a <geometry>: the collision is left out", id="no geometry",
    ),
    pytest.param(
        'rgba="1 0 0 0.5"', 'rgba="255 0 0 1"', "<color ", "warning", "ATTRIBUTE_INVALID",
        "the values of rgba must be in [0, 1], found 255 0 0 1: 1 0 0 1 is taken",
        id="color above one",
    ),
    pytest.param(
        '<color rgba="1 0 0 0.5"/>', "", "<material ", "note", "MATERIAL_UNDEFINED",
        'material "red" has no color and is not defined before', id="undefined material",
    ),
    # transmissions
    pytest.param(
        '    <joint name="shoulder"/>', '    <joint name="shouldr"/>', '<joint name="shouldr"/>', "warning",
        "ATTRIBUTE_INVALID", 'there is no joint "shouldr" for the transmission: the transmission is left out',
        id="transmission without joint",
    ),
    pytest.param(
        "    <type>transmission_interface/SimpleTransmission</type>\n", "", "<transmission ", "warning",
        "ELEMENT_MISSING", "<transmission> must have a <type>: the transmission is left out",
        id="transmission without type",
    ),
    pytest.param(
        "SimpleTransmission", "DifferentialTransmission", "<transmission ", "warning", "ELEMENT_UNSUPPORTED",
        "not used: only a SimpleTransmission is", id="other transmission",
    ),
    pytest.param(
        '<drake:gear_ratio value="50"/>', "<mechanicalReduction>50</mechanicalReduction>", "<mechanicalReduction>",
        "note", "ELEMENT_FOREIGN", "<mechanicalReduction> in <actuator> is for another program",
        id="mechanical reduction",
    ),
    # the robot
    pytest.param(
        '<robot name="r"', '<robot name="r" version="2.0"', "<robot ", "warning", "VERSION_UNSUPPORTED",
        'URDF version "2.0" is ignored, it is read as 1.2', id="unknown version",
    ),
    pytest.param(
        '<robot name="r"', "<robot", "<robot ", "warning", "ATTRIBUTE_MISSING",
        '<robot> must have the attribute "name": the model is named after its file', id="robot without name",
    ),
    pytest.param(
        '<link name="base"/>', '<link name="base"/><xacro:include filename="m"/>', "<robot ", "error",
        "XACRO_UNEXPANDED", "the file contains xacro: run xacro on it first", id="xacro elements",
    ),
    pytest.param(
        '<link name="base"/>',
        '<link name="base"/><loop_joint name="l"><link1 link="base"/><link2 link="lower"/></loop_joint>',
        "<loop_joint ", "error",
        "ATTRIBUTE_MISSING", '<loop_joint> must have the attribute "type"', id="loop joint without a type",
    ),
    pytest.param(
        '<link name="base"/>', '<link name="base"/><gazebo><plugin/></gazebo>', "<gazebo>", "note",
        "ELEMENT_FOREIGN", "<gazebo> in <robot> is for another program and not used", id="gazebo",
    ),
    pytest.param(
        '<link name="base"/>', '<link name="base"/><force_element/>', "<force_element", "warning",
        "ELEMENT_UNSUPPORTED", "not used: the model moves as if it were not there", id="force element",
    ),
    pytest.param(
        '<link name="base"/>', f'<link name="base"/><link name="stray">{BODY}</link>', '<link name="stray"', "warning",
        "MODEL_SEVERAL_TREES", 'the robot is 2 separate trees; no joint holds "stray"', id="two roots",
    ),
    pytest.param(
        "</robot>", '<frame name="upper" link="base"/></robot>', "<frame ", "error", "DUPLICATE_NAME",
        'the frame name "upper" is taken already, at r.urdf:3:3', id="frame named like a link",
    ),
    pytest.param(
        "</robot>", '<frame name="f" link="bse"/></robot>', "<frame ", "error", "FRAME_ATTACHED_TO_INVALID",
        'there is no link "bse" for attribute "link" of <frame>', id="frame on unknown link",
    ),
    pytest.param(
        "</robot>", '<drake:collision_filter_group name="g"/></robot>', "<drake:collision", "warning",
        "ELEMENT_MISSING", 'collision filter group "g" must have a <drake:member>: it is left out',
        id="empty filter group",
    ),
]  # fmt: skip


def place_of(text, marker, attribute=None):
    """Line and column, from 1, of the only place of a piece of text; those of an attribute of the tag it starts."""
    start = text.index(marker)
    if attribute is not None:
        at = text.find(f"{attribute}=", start, text.index(">", start))
        start = max(start, at)
    before = text[:start]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(("old", "new", "marker", "severity", "code", "message"), FAULTS)
def test_one_damaged_token_is_one_finding_at_its_place(old, new, marker, severity, code, message):
    assert ROBOT.count(old) == 1
    text = ROBOT.replace(old, new)
    model, diagnostics = read(text)
    found = [f for f in diagnostics.findings if f.code == code and message in f.message]
    assert len(found) == 1, [str(finding) for finding in diagnostics.findings]
    assert found[0].severity == severity
    assert (found[0].place.line, found[0].place.column) == place_of(text, marker, found[0].attribute)
    assert (model is None) == bool(diagnostics.errors)
    assert [f.code for f in diagnostics.errors] == ([code] if severity == "error" else [])


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("<dynamics ", "<dynamic ", 'did you mean "dynamics"?'),
        ("damping=", "dampng=", 'did you mean "damping"?'),
        (
            '<dynamics damping="0.5" friction="0.125"/>',
            "<dynamics><damping>0.5</damping></dynamics>",
            '"damping" is an attribute here',
        ),
        ('parent link="base"', 'parent link="bse"', 'did you mean "base"?'),
        ('type="prismatic"', 'type="prismatc"', 'did you mean "prismatic"?'),
        ('upper="2"', 'upper="170"', "are they in degrees?"),
        ('<mass value="2"/>', '<mass value="1,5"/>', "the decimal sign is a point"),
        ('<mass value="2"/>', '<mass value="${m}"/>', "unexpanded xacro"),
        ('value="2"', 'value="inf"', "leave it out if there is no limit"),
    ],
)
def test_hints(old, new, hint):
    _, diagnostics = read(ROBOT.replace(old, new))
    assert any(hint in (finding.hint or "") for finding in diagnostics.findings)


@pytest.mark.parametrize(
    ("content", "tag", "message"),
    [
        (joint("revolute"), "drake:joint", "a joint of type revolute is written as <joint>"),
        (joint("curvilinear"), "drake:joint", "joints of type curvilinear cannot be read"),
        (joint("screw"), "drake:joint", "<drake:joint> must have a <drake:screw_thread_pitch>"),
        (joint("planar", '<dynamics damping="1"/>'), "joint", "must be 3 numbers, found 1"),
        (joint("continuous", '<mimic joint="j"/>'), "joint", 'joint "j" mimics itself'),
    ],
)
def test_errors_of_other_joint_types(content, tag, message):
    text = content.replace("<joint", f"<{tag}").replace("</joint", f"</{tag}")
    model, diagnostics = read(robot(text))
    assert model is None
    assert [message in finding.message for finding in diagnostics.errors] == [True]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ('<mimic joint="k"/>', '<mimic joint="j"/>', "joints mimic each other: j -> k -> j"),
        (None, '<mimic joint="j"/>', 'joint "k" with 1 coordinates cannot mimic "j" with 0'),
    ],
)
def test_impossible_mimics(first, second, message):
    head = joint("fixed") if first is None else joint("continuous", first)
    model, diagnostics = read(robot(head + joint("continuous", second, name="k", child="c"), links="abc"))
    assert model is None
    assert [finding.message for finding in diagnostics.errors] == [message]


def test_an_actuator_drives_one_coordinate():
    transmission = "<transmission><type>SimpleTransmission</type><joint name='j'/><actuator name='m'/></transmission>"
    model, diagnostics = read(robot(joint("ball", tag="drake:joint") + transmission))
    assert model.actuators == ()
    assert [f.message for f in diagnostics.findings] == ['joint "j" has 3 coordinates: no actuator']
    model, diagnostics = read(robot(joint("fixed") + transmission))
    assert model.actuators == ()
    assert [f.message for f in diagnostics.findings] == ['joint "j" is fixed: no actuator']


def test_friction_must_be_ordered_and_positive():
    for values in ('<drake:mu_static value="0.4"/><drake:mu_dynamic value="0.5"/>', '<drake:mu_static value="-1"/>'):
        collision = (
            '<link name="c"><collision><geometry><sphere radius="1"/></geometry>'
            f"<drake:proximity_properties>{values}</drake:proximity_properties></collision></link>"
        )
        model, diagnostics = read(robot(collision, links=""))
        assert ["0 <= dynamic <= static" in finding.message for finding in diagnostics.warnings] == [True]
        assert model.links[0].collisions[0].properties == {}


def test_all_errors_of_a_file_are_reported_at_once():
    text = ROBOT.replace('<mass value="2"/>', '<mass value="x"/>').replace('effort="4"', 'effort="y"')
    _, diagnostics = read(text)
    with pytest.raises(ModelError) as error:
        diagnostics.raise_if_errors()
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == ["r.urdf:6:13", "r.urdf:28:46"]


def test_an_axis_of_a_fixed_joint_is_only_noted():
    _, codes = one_joint("fixed", '<axis xyz="0 0 0"/><limit/>')
    assert codes == ["ELEMENT_MEANINGLESS", "ELEMENT_MEANINGLESS"]


# ------------------------------------------------------------------------------------------------ load


def test_load_chooses_the_parser_by_suffix_or_root_element(tmp_path):
    for name in ("r.urdf", "r.xml"):
        path = tmp_path / name
        path.write_text("<?xml version='1.0'?><!-- <sdf> -->\n" + ROBOT)
        (model,) = load_models(path, diagnostics=Diagnostics())
        assert (model.format, model.place.file) == ("urdf", str(path))
    (model,) = load_models(ROBOT.encode(), diagnostics=Diagnostics(), name="<stdin>")
    assert model.place.file == "<stdin>"
    (model,) = load_models(ROBOT.encode("utf-16"), diagnostics=Diagnostics())
    assert model.name == "r"


def test_load_refuses_what_is_no_model(tmp_path):
    with pytest.raises(ModelError, match="not a model file: its root element is <html>"):
        load_models(b"<html/>", diagnostics=Diagnostics())
    with pytest.raises(ModelError, match="not a model file: it has no root element"):
        load_models(b"name: yaml", diagnostics=Diagnostics())
    with pytest.raises(ModelError, match='unknown model format "obj"'):
        load_models(b"<robot/>", input_format="obj", diagnostics=Diagnostics())


def test_load_names_a_missing_file(tmp_path):
    with pytest.raises(ResourceError, match="nothing.urdf: no such file"):
        load_models(tmp_path / "nothing.urdf", diagnostics=Diagnostics())
    with pytest.raises(ResourceError, match="is a directory"):
        load_models(tmp_path, diagnostics=Diagnostics())


def test_load_takes_package_uris(tmp_path):
    (tmp_path / "r.urdf").write_text(ROBOT)
    packages = PackageMap(environment={})
    packages.add("arm", tmp_path)
    (model,) = load_models("package://arm/r.urdf", packages=packages, diagnostics=Diagnostics())
    assert model.name == "r"


def test_load_gives_nothing_for_a_file_with_errors():
    diagnostics = Diagnostics()
    assert load_models(b'<robot name="r"><link/></robot>', diagnostics=diagnostics) == ()
    assert [finding.code for finding in diagnostics.errors] == ["ATTRIBUTE_MISSING"]


# ---------------------------------------------------------------------------------------- real robots


FILES = sorted(MODELS.glob("*/*.urdf"))


def read_shared(path):
    packages = PackageMap()
    packages.add("drake_models", MODELS)
    diagnostics = Diagnostics()
    model = read_urdf(path, diagnostics, packages=packages)
    assert [str(finding) for finding in diagnostics.errors] == []
    return model


@pytest.mark.skipif(not FILES, reason="no shared models")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_robots_are_read_without_unknown_physics(path):
    model = read_shared(path)
    assert model.links
    assert all(part.type in ("fixed", "revolute", "continuous", "prismatic") for part in model.joints)


def pydrake_plant(parse):
    """A plant that a function filled through a pydrake Parser."""
    from pydrake.multibody import parsing, plant as plant_module

    plant = plant_module.MultibodyPlant(0.001)
    parser = parsing.Parser(plant)
    packages = parser.package_map()
    if FILES:
        packages.Remove("drake_models")
        packages.Add("drake_models", str(MODELS))
    parse(parser)
    return plant


def assert_same_as_pydrake(model, plant):
    from pydrake.multibody.tree import JointActuatorIndex, JointIndex

    theirs = [plant.get_joint(JointIndex(i)) for i in range(plant.num_joints())]
    assert [part.name for part in model.joints] == [part.name() for part in theirs]
    for ours, their in zip(model.joints, theirs, strict=True):
        assert_same_joint(ours, their)
    assert plant.num_bodies() == 1 + len(model.links)
    for link in model.links:
        assert_same_inertia(link, plant.GetBodyByName(link.name))
    for frame in model.frames:
        their = plant.GetFrameByName(frame.name)
        assert frame.link == their.body().name()
        assert pytest.approx(their.GetFixedPoseInBodyFrame().GetAsMatrix4(), abs=1e-14) == frame.X_LF
    drives = [plant.get_joint_actuator(JointActuatorIndex(i)) for i in range(plant.num_actuators())]
    assert [
        (drive.name, drive.joint, drive.effort_limit, drive.rotor_inertia, drive.gear_ratio)
        for drive in model.actuators
    ] == [
        (d.name(), d.joint().name(), d.effort_limit(), d.default_rotor_inertia(), d.default_gear_ratio())
        for d in drives
    ]


TYPES = {
    "fixed": "WeldJoint",
    "revolute": "RevoluteJoint",
    "continuous": "RevoluteJoint",
    "prismatic": "PrismaticJoint",
    "screw": "ScrewJoint",
    "universal": "UniversalJoint",
    "planar": "PlanarJoint",
    "ball": "BallRpyJoint",
}


def assert_same_joint(ours, their):
    assert TYPES[ours.type] == type(their).__name__
    assert (ours.parent, ours.child) == (their.parent_body().name(), their.child_body().name())
    for frame, X in ((their.frame_on_parent(), ours.X_PF), (their.frame_on_child(), ours.X_CM)):
        assert pytest.approx(frame.GetFixedPoseInBodyFrame().GetAsMatrix4(), abs=1e-14) == X
    if ours.axes and ours.type != "planar":
        for limit, theirs in (
            ("lower", their.position_lower_limits()),
            ("upper", their.position_upper_limits()),
            ("velocity", their.velocity_upper_limits()),
            ("acceleration", their.acceleration_upper_limits()),
        ):
            assert [getattr(axis, limit) for axis in ours.axes] == theirs.tolist()
    damping = ours.damping or tuple(axis.damping for axis in ours.axes)
    if damping:
        assert their.default_damping_vector() == pytest.approx(np.resize(damping, their.num_velocities()), abs=0)
    for axis_name in ("revolute_axis", "translation_axis", "screw_axis"):
        if hasattr(their, axis_name):
            assert ours.axes[0].xyz == pytest.approx(getattr(their, axis_name)(), abs=1e-15)
    if ours.type == "screw":
        assert ours.screw_pitch == their.screw_pitch()


def assert_same_inertia(link, body):
    M = body.default_spatial_inertia()
    if link.inertial is None:
        assert M.get_mass() == 0
        return
    inertial = link.inertial
    assert inertial.mass == M.get_mass()
    assert inertial.X_LI[:3, 3].tolist() == M.get_com().tolist()
    ixx, iyy, izz, ixy, ixz, iyz = inertial.inertia
    R = inertial.X_LI[:3, :3]
    I_LcmL = R @ [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]] @ R.T
    theirs = M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
    # moving the reference point there and back costs digits of m c^2
    lost = 1e-14 * inertial.mass * float(M.get_com() @ M.get_com())
    assert I_LcmL == pytest.approx(theirs, abs=1e-14 * np.abs(theirs).max() + lost)


@pytest.mark.peers("pydrake")
@pytest.mark.skipif(not FILES, reason="no shared models")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_real_robots_equal_pydrake(path):
    plant = pydrake_plant(lambda parser: parser.AddModels(str(path)))
    assert_same_as_pydrake(read_shared(path), plant)


@pytest.mark.peers("pydrake")
def test_every_joint_type_equals_pydrake():
    place = '<origin xyz="1 2 3" rpy="0.3 -0.2 0.1"/>'
    turn = place + '<axis xyz="0.48 0.6 0.64"/>'
    limits = '<limit lower="-1" upper="2" velocity="3" effort="4" drake:acceleration="5"/>'
    damped = '<dynamics damping="0.5"/>'
    pitch = '<drake:screw_thread_pitch value="0.02"/>'
    parts = [
        joint("fixed", place, name="j0", parent="world", child="a"),
        joint("revolute", turn + limits + damped, name="j1"),
        joint("ball", place + damped, name="j2", parent="b", child="c", tag="drake:joint"),
        joint("continuous", turn, name="j3", parent="c", child="d"),
        joint("prismatic", turn + limits, name="j4", parent="d", child="e"),
        joint("planar", turn + '<dynamics damping="1 2 3"/>', name="j5", parent="e", child="f"),
        joint("universal", place + damped, name="j6", parent="f", child="g", tag="drake:joint"),
        joint("screw", turn + pitch + damped, name="j7", parent="g", child="h", tag="drake:joint"),
        joint("planar", '<axis xyz="0 0 -1"/>', name="j8", parent="h", child="i", tag="drake:joint"),
        "<transmission type='SimpleTransmission'><joint name='j1'/><actuator name='m'>"
        "<drake:rotor_inertia value='0.5'/><drake:gear_ratio value='7'/></actuator></transmission>",
        '<frame name="tip" link="i" xyz="1 2 3" rpy="0.1 0.2 0.3"/>',
    ]
    text = robot("".join(parts), links="abcdefghi")
    plant = pydrake_plant(lambda parser: parser.AddModelsFromString(text, "urdf"))
    assert_same_as_pydrake(read_sound(text), plant)


def test_degrees_are_suspected_only_in_a_range():
    for upper, suspicious in (("25", False), ("25.2", True), ("3600", True), ("1e6", False)):
        _, codes = one_joint("revolute", f'<limit lower="0" upper="{upper}"/>')
        assert (codes == ["JOINT_LIMIT_UNIT"]) is suspicious
    assert 8 * pi < 25.2
    _, codes = one_joint("prismatic", '<limit lower="0" upper="170"/>')
    assert codes == []


def test_the_world_may_be_the_child_of_a_joint():
    model = read_sound(robot(joint("fixed", parent="a", child="world"), links="a"))
    assert (model.joints[0].parent, model.joints[0].child) == ("a", "world")
