"""What stops a file from being read, what is left out or read as meant, and what is only worth knowing.

An error is for what leaves links, joints, masses, poses or limits of the motion unknown. One small file for each kind
of fault that files of real robots have.
"""

import numpy as np
import pytest
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models
from mbcli.parsers.spec import HalfSpace

import mbcli.all

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = (
    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="5" velocity="5"/></joint>'
)
DRIVE = (
    '<transmission name="t"><type>transmission_interface/SimpleTransmission</type>'
    '<joint name="j"/><actuator name="m"/></transmission>'
)
BALL = "<sphere><radius>1</radius></sphere>"


def robot(more="", *, inside="", joint=JOINT):
    """URDF of a base `a` that a revolute joint `j` connects with `b`; more: elements; inside: those in `b`."""
    links = f'<link name="a">{INERTIAL}</link><link name="b">{INERTIAL}{inside}</link>'
    return f'<robot name="r">{links}{joint}{more}</robot>'


def collision(shape):
    return f"<collision><geometry>{shape}</geometry></collision>"


def visual(shape, more=""):
    return f"<visual><geometry>{shape}</geometry>{more}</visual>"


def limited(limit):
    return JOINT.replace('<limit lower="-1" upper="1" effort="5" velocity="5"/>', f"<limit {limit}/>")


def fixed(more):
    return f'<link name="c"/><joint name="k" type="fixed"><parent link="b"/><child link="c"/>{more}</joint>'


def sdf(more="", *, inside="", limit="<lower>-1</lower><upper>1</upper>", version="1.9"):
    """The same in SDFormat."""
    inertial = "<inertial><mass>1</mass></inertial>"
    joint = (
        '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz>'
        f"<limit>{limit}</limit></axis></joint>"
    )
    links = f'<link name="a">{inertial}</link><link name="b">{inertial}{inside}</link>'
    return f'<sdf version="{version}"><model name="r">{links}{joint}{more}</model></sdf>'


def part(tag, geometry, more=""):
    return f'<{tag} name="c"><geometry>{geometry}</geometry>{more}</{tag}>'


def world(*more):
    return f'<sdf version="1.9"><world name="w"><model name="x"><link name="a"/></model>{"".join(more)}</world></sdf>'


def bounce(e):
    inside = f"<restitution_coefficient>{e}</restitution_coefficient><threshold>0.1</threshold>"
    return f"<surface><bounce>{inside}</bounce></surface>"


def friction(mu, mu2):
    return f"<surface><friction><ode><mu>{mu}</mu><mu2>{mu2}</mu2></ode></friction></surface>"


HEAD = "<?xml version='1.0' encoding='{}'?>"
WARNING, NOTE, ERROR = "warning", "note", "error"

# name: (text or bytes, [(severity, code), ...]); a file without an error is read, its joint j has one coordinate
URDF = {
    "sound": (robot(), []),
    # the file as XML
    "version_0": ('<?xml version="0.0" ?>' + robot(), [(NOTE, "XML_ERROR")]),
    "declaration_after_comment": ('<!-- by hand -->\n<?xml version="1.0"?>' + robot(), [(NOTE, "XML_ERROR")]),
    "latin_1": ((HEAD.format("latin-1") + "<!-- é -->" + robot()).encode("latin-1"), [(NOTE, "XML_ERROR")]),
    "windows_1252": ((HEAD.format("cp1252") + "<!-- € -->" + robot()).encode("cp1252"), []),
    "not_in_utf_8": (("<!-- 90° -->" + robot()).encode("latin-1"), [(WARNING, "XML_ERROR")]),
    # transmissions
    "drive": (robot(DRIVE), []),
    "drive_of_no_joint": (robot(DRIVE.replace('<joint name="j"/>', "")), [(WARNING, "ELEMENT_MISSING")]),
    "drive_of_unnamed_joint": (robot(DRIVE.replace(' name="j"', "")), [(WARNING, "ATTRIBUTE_MISSING")]),
    "drive_of_unknown_joint": (robot(DRIVE.replace('"j"', '"q"')), [(WARNING, "ATTRIBUTE_INVALID")]),
    "drive_without_type": (
        robot(DRIVE.replace("<type>transmission_interface/SimpleTransmission</type>", "")),
        [(WARNING, "ELEMENT_MISSING")],
    ),
    "drive_twice": (robot(DRIVE + DRIVE), [(WARNING, "DUPLICATE_NAME")]),
    "drive_of_fixed_joint": (
        robot(fixed("") + DRIVE.replace('"j"', '"k"')),
        [(WARNING, "TRANSMISSION_IGNORED")],
    ),
    "reduction_of_no_number": (
        robot(DRIVE.replace('"m"/>', '"m"><mechanicalReduction>n</mechanicalReduction></actuator>')),
        [(WARNING, "ELEMENT_INVALID")],
    ),
    "reduction": (
        robot(DRIVE.replace('"m"/>', '"m"><mechanicalReduction>50</mechanicalReduction></actuator>')),
        [(NOTE, "ELEMENT_FOREIGN")],
    ),
    "vendor_in_drive": (
        robot(DRIVE.replace('"m"/>', '"m"><motorTorqueConstant>1</motorTorqueConstant></actuator>')),
        [(NOTE, "ELEMENT_FOREIGN")],
    ),
    # xacro that is left over
    "call_without_definition": (
        robot('<xacro:arm x="1"/>').replace("<robot", '<robot xmlns:xacro="x"'),
        [(WARNING, "XACRO_UNEXPANDED")],
    ),
    "definition_without_call": (
        robot('<xacro:property name="x" value="1"/>').replace("<robot", '<robot xmlns:xacro="x"'),
        [(NOTE, "ELEMENT_FOREIGN")],
    ),
    "call_of_definition": (
        robot('<xacro:macro name="x"/><xacro:x/>').replace("<robot", '<robot xmlns:xacro="x"'),
        [(ERROR, "XACRO_UNEXPANDED")],
    ),
    # shapes
    "box_of_size_0": (robot(inside=collision('<box size="0 0 0"/>')), [(WARNING, "ATTRIBUTE_INVALID")]),
    "flat_box": (robot(inside=visual('<box size="1 0 1"/>')), [(WARNING, "ATTRIBUTE_INVALID")]),
    "plane": (robot(inside=collision('<plane normal="0 0 1"/>')), []),
    "unknown_shape": (robot(inside=collision('<cone radius="1"/>')), [(WARNING, "ELEMENT_INVALID")]),
    "unknown_beside_shape": (
        robot(inside=collision('<box size="1 1 1"/><color/>')),
        [(WARNING, "ELEMENT_UNKNOWN")],
    ),
    "no_shape": (robot(inside=visual("")), [(WARNING, "ELEMENT_MISSING")]),
    "no_geometry": (robot(inside="<collision/>"), [(WARNING, "ELEMENT_MISSING")]),
    "mesh_without_filename": (robot(inside=visual('<mesh scale="1 1 1"/>')), [(WARNING, "ATTRIBUTE_MISSING")]),
    "mesh_of_no_file": (robot(inside=collision('<mesh filename=""/>')), [(WARNING, "ATTRIBUTE_INVALID")]),
    "capsule": (robot(inside=collision('<capsule radius="1" length="1"/>')), [(NOTE, "VERSION_FEATURE")]),
    "two_shapes_of_one_name": (
        robot(inside=2 * collision('<sphere radius="1"/>').replace("<collision", '<collision name="c"')),
        [(NOTE, "DUPLICATE_NAME")],
    ),
    # colors
    "color_of_three": (
        robot(inside=visual('<sphere radius="1"/>', '<material name="m"><color rgba="1 0 0"/></material>')),
        [(WARNING, "ATTRIBUTE_INVALID")],
    ),
    "material_without_name": (
        robot('<material><color rgba="1 0 0 1"/></material>'),
        [(WARNING, "ATTRIBUTE_MISSING")],
    ),
    "material_of_no_color": (
        robot(inside=visual('<sphere radius="1"/>', '<material name="m"/>')),
        [(NOTE, "MATERIAL_UNDEFINED")],
    ),
    "material_twice": (robot(2 * '<material name="m"><color rgba="1 0 0 1"/></material>'), []),
    "material_in_collision": (
        robot(inside=collision('<sphere radius="1"/>').replace("</coll", '<material name="m"/></coll')),
        [(NOTE, "ELEMENT_MEANINGLESS")],
    ),
    # limits and what else a joint has
    "limits_of_minus_1": (
        robot(joint=limited('lower="-1" upper="1" effort="-1" velocity="-1"')),
        [(NOTE, "JOINT_LIMIT_NEGATIVE")] * 2,
    ),
    "limit_below_0": (
        robot(joint=limited('lower="-1" upper="1" effort="-7"')),
        [(WARNING, "JOINT_LIMIT_NEGATIVE")],
    ),
    "infinite_limits": (robot(joint=limited('lower="-inf" upper="inf" effort="inf" velocity="1e308"')), []),
    "negative_damping": (
        robot(joint=JOINT.replace("</joint>", '<dynamics damping="-1"/></joint>')),
        [(WARNING, "ATTRIBUTE_INVALID")],
    ),
    "mimic_on_fixed_joint": (robot(fixed('<mimic joint="j"/>')), [(NOTE, "ELEMENT_MEANINGLESS")]),
    "mimic_of_nothing_on_fixed_joint": (robot(fixed('<mimic joint="q"/>')), [(NOTE, "ELEMENT_MEANINGLESS")]),
    "mimic_of_unknown_joint": (
        robot(joint=JOINT.replace("</joint>", '<mimic joint="q"/></joint>')),
        [(ERROR, "JOINT_AXIS_MIMIC_INVALID")],
    ),
    "lower_above_upper": (robot(joint=limited('lower="1" upper="-1"')), [(ERROR, "JOINT_LIMIT_INVALID")]),
    "limit_of_no_number": (robot(joint=limited('lower="a" upper="1"')), [(ERROR, "ATTRIBUTE_INVALID")]),
    "four_numbers": (
        robot(joint=JOINT.replace("</joint>", '<origin xyz="0 0 0 0"/></joint>')),
        [(ERROR, "ATTRIBUTE_INVALID")],
    ),
    "no_inertial_in_the_file": (robot().replace(INERTIAL, ""), [(NOTE, "MODEL_WITHOUT_MASS")]),
    "no_inertial_in_a_moving_link": (
        robot('<link name="c"/>' + JOINT.replace('"j"', '"k"').replace('"b"', '"c"').replace('"a"', '"b"')),
        [(WARNING, "MOVING_MASS_MISSING")],
    ),
    "no_inertial_in_a_fixed_link": (robot(fixed("")), []),
    "inertia_without_mass": (
        robot().replace('<mass value="1"/>', '<mass value="0"/>', 1),
        [(WARNING, "INERTIA_WITHOUT_MASS")],
    ),
    "negative_mass": (
        robot().replace('<mass value="1"/>', '<mass value="-1"/>', 1),
        [(ERROR, "LINK_MASS_INVALID")],
    ),
    # other programs
    "safety_controller": (
        robot(joint=JOINT.replace("</joint>", '<safety_controller k_velocity="1"/></joint>')),
        [(NOTE, "ELEMENT_FOREIGN")],
    ),
    "contact_of_pybullet": (
        robot(inside='<contact><lateral_friction value="1"/></contact>'),
        [(NOTE, "ELEMENT_FOREIGN")],
    ),
    "self_collision_checking": (robot(inside="<self_collision_checking/>"), [(NOTE, "ELEMENT_FOREIGN")]),
    "ros2_control": (
        robot('<ros2_control name="c" type="system"><joint name="j"/></ros2_control>'),
        [(NOTE, "ELEMENT_FOREIGN")],
    ),
    "no_name": (robot().replace(' name="r"', ""), [(WARNING, "ATTRIBUTE_MISSING")]),
    "typing_error": (robot(joint=JOINT.replace("</joint>", "<dynamic/></joint>")), [(WARNING, "ELEMENT_UNKNOWN")]),
}

HUGE = "".join(
    f"<{tag}>{sign}1.79769e+308</{tag}>" for tag, sign in zip(("lower", "upper", "effort"), ("-", "", ""), strict=True)
)
SDF = {
    "sound": (sdf(), []),
    "latin_1": ((HEAD.format("latin-1") + sdf()).encode("latin-1"), [(NOTE, "XML_ERROR")]),
    "largest_number_as_limit": (sdf(limit=HUGE), []),
    "infinite_limits": (sdf(limit="<lower>-inf</lower><upper>inf</upper><velocity>inf</velocity>"), []),
    "more_friction_the_other_way": (
        sdf(inside=part("collision", BALL, friction(0.5, 0.8))),
        [(WARNING, "ELEMENT_UNSUPPORTED")],
    ),
    "less_friction_the_other_way": (sdf(inside=part("collision", BALL, friction(0.8, 0.5))), []),
    "negative_friction": (
        sdf(inside=part("collision", BALL, friction(-1, -1))),
        [(WARNING, "ELEMENT_INVALID")],
    ),
    "box_of_size_0": (
        sdf(inside=part("collision", "<box><size>0 0 0</size></box>")),
        [(WARNING, "ELEMENT_INVALID")],
    ),
    "no_shape": (sdf(inside=part("visual", "")), [(WARNING, "ELEMENT_MISSING")]),
    "no_geometry": (sdf(inside='<collision name="c"/>'), [(WARNING, "ELEMENT_MISSING")]),
    "empty": (sdf(inside=part("visual", "<empty/>")), []),
    "unknown_shape": (sdf(inside=part("collision", "<torus/>")), [(WARNING, "ELEMENT_UNKNOWN")]),
    "mesh_without_uri": (
        sdf(inside=part("collision", "<mesh><scale>1 1 1</scale></mesh>")),
        [(WARNING, "ELEMENT_MISSING")],
    ),
    "two_shapes_of_one_name": (
        sdf(inside=2 * part("visual", BALL)),
        [(WARNING, "DUPLICATE_NAME")],
    ),
    "color_above_1": (
        sdf(inside=part("visual", BALL, "<material><diffuse>255 0 0 1</diffuse></material>")),
        [(WARNING, "ELEMENT_INVALID")],
    ),
    "capsule": (
        sdf(inside=part("collision", "<capsule><radius>1</radius><length>1</length></capsule>"), version="1.7"),
        [(NOTE, "VERSION_FEATURE")],
    ),
    "flattened": (
        sdf(
            '<frame name="x::__model__" attached_to="x::l"><pose relative_to="__model__">1 2 3 0 0 0</pose></frame>'
            '<link name="x::l"><inertial/><pose relative_to="x::__model__">0 0 1 0 0 0</pose></link>'
            '<joint name="k" type="fixed"><parent>b</parent><child>x::l</child></joint>',
            version="1.7",
        ),
        [],
    ),
    "light_named_as_model": (world('<light name="x" type="point"/>'), [(ERROR, "DUPLICATE_NAME")]),
    "frame_named_as_model": (world('<frame name="x"/>'), [(ERROR, "DUPLICATE_NAME")]),
    "plugin_named_as_model": (world('<plugin name="x" filename="f"/>'), [(NOTE, "ELEMENT_FOREIGN")]),
    "no_truth_value": (
        sdf("<allow_auto_disable>often</allow_auto_disable>"),
        [(WARNING, "ELEMENT_INVALID"), (NOTE, "ELEMENT_FOREIGN")],
    ),
    "no_color": (
        sdf(inside=part("visual", BALL, "<material><ambient>red</ambient></material>")),
        [(WARNING, "ELEMENT_INVALID"), (NOTE, "ELEMENT_FOREIGN")],
    ),
    "no_rate": (
        sdf(inside='<sensor name="s" type="imu"><update_rate>fast</update_rate></sensor>'),
        [(WARNING, "ELEMENT_INVALID")],
    ),
    "unused_and_well_formed": (
        sdf("<allow_auto_disable>True</allow_auto_disable>", inside='<sensor name="s" type="camera"/>'),
        [(NOTE, "ELEMENT_FOREIGN")] * 2,
    ),
    "bounces": (sdf(inside=part("collision", BALL, bounce("0.8"))), []),
    "bounces_too_much": (sdf(inside=part("collision", BALL, bounce("1.2"))), [(WARNING, "ELEMENT_INVALID")]),
    "gravity_of_earth": (world("<gravity>0 0 -9.8</gravity>"), []),
    "gravity_of_moon": (world("<gravity>0 0 -1.6</gravity>"), []),
    "negative_damping": (
        sdf().replace("</axis>", "<dynamics><damping>-1</damping></dynamics></axis>"),
        [(WARNING, "ELEMENT_INVALID")],
    ),
    "mimic_on_fixed_joint": (
        sdf(
            '<link name="c"/><joint name="k" type="fixed"><parent>b</parent><child>c</child>'
            '<axis><xyz>0 0 1</xyz><mimic joint="q"><multiplier>1</multiplier></mimic></axis></joint>',
            version="1.11",
        ),
        [(NOTE, "ELEMENT_MEANINGLESS")],
    ),
    "lower_above_upper": (sdf(limit="<lower>1</lower><upper>-1</upper>"), [(ERROR, "ELEMENT_INVALID")]),
    "four_numbers": (sdf(inside="<pose>0 0 0 0</pose>"), [(ERROR, "ELEMENT_INVALID")]),
    "no_inertial_in_the_file": (
        sdf().replace("<inertial><mass>1</mass></inertial>", ""),
        [(NOTE, "INERTIA_ALL_DEFAULT")],
    ),
    "no_inertial_in_a_link": (
        sdf().replace("<inertial><mass>1</mass></inertial>", "", 1),
        [(WARNING, "INERTIA_DEFAULT")],
    ),
    "negative_mass": (sdf().replace("<mass>1", "<mass>-1", 1), [(ERROR, "LINK_MASS_INVALID")]),
}
CASES = [("urdf", name) for name in URDF] + [("sdf", name) for name in SDF]
TABLES = {"urdf": URDF, "sdf": SDF}
READ = [(key, name) for key, name in CASES if ERROR not in [severity for severity, _ in TABLES[key][name][1]]]


def read(text, input_format, **settings):
    """(models, findings) of a document, as `mbcli check` reads it."""
    diagnostics = Diagnostics(thorough=True, **settings)
    content = text if isinstance(text, bytes) else text.encode()
    return load_models(content, input_format=input_format, diagnostics=diagnostics, name="f"), diagnostics.findings


# findings of the checks of physics, which most of these small files have
BESIDE = {"INERTIA_DEFAULT", "INERTIA_ALL_DEFAULT", "RESERVED_NAME"}


@pytest.mark.parametrize(("input_format", "name"), CASES)
def test_every_kind_of_fault_has_its_severity(input_format, name):
    text, expected = TABLES[input_format][name]
    models, findings = read(text, input_format)
    others = {"ELEMENT_MEANINGLESS"} - {code for _, code in expected}
    others |= BESIDE - {code for _, code in expected}
    found = sorted((f.severity, f.code) for f in findings if f.code not in others)
    assert found == sorted(expected), [str(finding) for finding in findings]
    assert bool(models) == (ERROR not in [severity for severity, _ in expected])


def file_of(folder, input_format, name):
    text = TABLES[input_format][name][0]
    path = folder / f"{name}.{input_format}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def plant_of(library, path):
    plant = library.MultibodyPlant(0.001)
    library.Parser(plant).AddModels(str(path))
    plant.Finalize()
    return plant


def mass_matrix(plant, random):
    context = plant.CreateDefaultContext()
    q = random.uniform(-1, 1, plant.num_positions())
    plant.SetPositions(context, q / np.linalg.norm(q))
    return plant.CalcMassMatrix(context)


@pytest.mark.parametrize(("input_format", "name"), READ)
def test_a_file_that_is_read_moves(input_format, name, tmp_path):
    plant = plant_of(mbcli.all, file_of(tmp_path, input_format, name))
    context = plant.CreateDefaultContext()
    if not plant.HasJointNamed("j"):
        assert plant.num_positions() == 7
        return
    plant.GetJointByName("j").set_angle(context, 0.5)
    R = plant.GetBodyByName("b").EvalPoseInWorld(context).rotation().matrix()
    np.testing.assert_allclose(R[:2, :2], [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]], atol=1e-15)


# what peers refuse, and is read here with a finding
REFUSED_BY_PYDRAKE = {
    "urdf": "declaration_after_comment drive_of_no_joint drive_of_unnamed_joint drive_of_unknown_joint "
    "drive_without_type drive_twice material_without_name material_twice limits_of_minus_1 infinite_limits "
    "negative_damping mimic_on_fixed_joint mimic_of_nothing_on_fixed_joint no_name",
    "sdf": "negative_friction unknown_shape two_shapes_of_one_name color_above_1 no_truth_value no_color no_rate "
    "negative_damping mimic_on_fixed_joint flattened bounces_too_much",
}
REFUSED_BY_PINOCCHIO = (
    "declaration_after_comment material_twice limits_of_minus_1 limit_below_0 infinite_limits no_name"
)


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize(("input_format", "name"), READ)
def test_it_moves_as_in_pydrake(input_format, name, tmp_path):
    import pydrake.all as pydrake

    path = file_of(tmp_path, input_format, name)
    if name in REFUSED_BY_PYDRAKE[input_format].split():
        with pytest.raises((RuntimeError, SystemExit)):
            plant_of(pydrake, path)
        return
    theirs = plant_of(pydrake, path)
    if name == "inertia_without_mass":  # pydrake gives such a link 1 kg
        assert theirs.GetBodyByName("a").default_mass() == pytest.approx(1)
        return
    ours = plant_of(mbcli.all, path)
    assert ours.GetPositionNames() == theirs.GetPositionNames()
    assert ours.num_actuators() == theirs.num_actuators()
    M = [mass_matrix(plant, np.random.default_rng(1)) for plant in (ours, theirs)]
    np.testing.assert_allclose(*M, rtol=0, atol=1e-13 * np.abs(M[1]).max())


@pytest.mark.peers("pinocchio")
@pytest.mark.parametrize("name", [name for input_format, name in READ if input_format == "urdf"])
def test_it_moves_as_in_pinocchio(name, tmp_path):
    import pinocchio

    path = file_of(tmp_path, "urdf", name)
    if name in REFUSED_BY_PINOCCHIO.split():
        with pytest.raises(ValueError):
            pinocchio.buildModelFromUrdf(str(path))
        return
    model = pinocchio.buildModelFromUrdf(str(path))
    plant = mbcli.all.MultibodyPlant(0.001)
    mbcli.all.Parser(plant).AddModels(str(path))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("a"))
    plant.Finalize()
    assert plant.num_velocities() == model.nv
    M = pinocchio.crba(model, model.createData(), np.zeros(model.nq))
    np.testing.assert_allclose(plant.CalcMassMatrix(plant.CreateDefaultContext()), M, rtol=0, atol=1e-13)


# name: (format, text, the code of the only error); findings that follow from a fault are none of their own
ALONE = {
    "missing_include": (
        "sdf",
        sdf(
            '<include><uri>nope.sdf</uri><name>arm</name></include><frame name="f" attached_to="arm::x">'
            '<pose relative_to="arm">0 0 0 0 0 0</pose></frame><allow_auto_disable>often</allow_auto_disable><typo/>'
            '<joint name="k" type="fixed"><parent>b</parent><child>arm::x</child></joint>'
        ),
        "URI_LOOKUP",
    ),
    "missing_include_of_all_links": (
        "sdf",
        '<sdf version="1.9"><model name="m"><include><uri>nope.sdf</uri></include></model></sdf>',
        "URI_LOOKUP",
    ),
    "name_of_a_link": (
        "sdf",
        sdf().replace('"b"', '"b::c"').replace(">b<", ">b::c<"),
        "RESERVED_NAME",
    ),
    "missing_include_of_mjcf": (
        "mjcf",
        '<mujoco><include file="nope.xml"/><worldbody><body childclass="c"><geom type="mesh" mesh="m" material="x"/>'
        '</body></worldbody><actuator><motor joint="j"/></actuator><typo/></mujoco>',
        "URI_LOOKUP",
    ),
    "joint_that_a_transmission_drives": (
        "urdf",
        robot(DRIVE.replace("</joint>", "<hardwareInterface/></joint>"), joint=JOINT.replace(' type="revolute"', "")),
        "ATTRIBUTE_MISSING",
    ),
    "link_with_contents": (
        "urdf",
        robot('<link><inertial><mass value="1"/></inertial><visual/></link>'),
        "ATTRIBUTE_MISSING",
    ),
    "frame_that_a_bushing_has": (
        "urdf",
        robot(
            '<frame name="f" link="q"/><drake:linear_bushing_rpy><drake:bushing_frameA name="f"/>'
            '<drake:bushing_frameC name="a"/>'
            + "".join(
                f'<drake:bushing_{kind} value="1 1 1"/>'
                for kind in ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")
            )
            + "</drake:linear_bushing_rpy>"
        ).replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"'),
        "FRAME_ATTACHED_TO_INVALID",
    ),
}


@pytest.mark.parametrize("name", ALONE)
def test_nothing_is_said_of_what_follows_from_an_error(name):
    input_format, text, code = ALONE[name]
    models, findings = read(text, input_format)
    assert models == ()
    assert [f.code for f in findings if not f.code.endswith("_DEFAULT")] == [code], [
        str(finding) for finding in findings
    ]


@pytest.mark.parametrize(
    ("shape", "more"),
    [
        ('<mesh scale="1 1 1" unknown="1"><typo/></mesh>', ""),
        ("<sphere/>", "<drake:proximity_properties><typo/></drake:proximity_properties>"),
        ("<cone/>", "<typo/>"),
    ],
)
def test_nothing_is_said_of_the_rest_of_what_is_left_out(shape, more):
    text = robot(inside=collision(shape).replace("</collision>", f"{more}</collision>"))
    models, findings = read(text.replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"'), "urdf")
    assert models[0].links[1].collisions == ()
    assert [f.severity for f in findings] == ["warning"], [str(finding) for finding in findings]


def test_a_plane_of_urdf_is_a_half_space():
    models, _ = read(robot(inside=collision('<plane normal="0 3 4"/>')), "urdf")
    (geometry,) = models[0].links[1].collisions
    assert isinstance(geometry.shape, HalfSpace)
    np.testing.assert_allclose(geometry.X_LG[:3, 2], [0, 0.6, 0.8], atol=1e-15)


def test_the_first_direction_of_friction_counts_if_the_second_has_more():
    for mu2, pair in ((0.8, (0.5, 0.5)), (0.3, (0.5, 0.3))):
        models, _ = read(sdf(inside=part("collision", BALL, friction(0.5, mu2))), "sdf")
        assert models[0].links[1].collisions[0].properties == {("material", "coulomb_friction"): pair}


def test_frames_of_a_flattened_model_are_those_of_the_models_in_it():
    models, _ = read(SDF["flattened"][0], "sdf")
    link = next(link for link in models[0].links if link.name == "x::l")
    np.testing.assert_allclose(link.X_ModelL[:3, 3], [1, 2, 4])
    assert [frame.name for frame in models[0].frames] == ["x::__model__"]


def test_two_joints_whose_actuators_have_one_name_have_two_actuators():
    more = '<link name="c">' + INERTIAL + "</link>" + JOINT.replace('"j"', '"k"').replace('"b"', '"c"')
    models, findings = read(robot(more + DRIVE + DRIVE.replace('"j"', '"k"')), "urdf")
    assert [(a.name, a.joint) for a in models[0].actuators] == [("m", "j"), ("m_1", "k")]
    assert [(f.severity, f.code) for f in findings] == [("warning", "DUPLICATE_NAME")]


def test_names_of_a_file_come_before_made_up_ones():
    inside = collision('<box size="1 1 1"/>') + collision('<box size="2 2 2"/>').replace(
        "<collision", '<collision name="Box"'
    )
    models, _ = read(robot(inside=inside), "urdf")
    assert {part.name: part.shape.size[0] for part in models[0].links[1].collisions} == {"Box_1": 1, "Box": 2}


def test_made_up_names_of_mjcf_avoid_those_of_the_file():
    """The link between two joints of a body is called after it."""
    text = """<mujoco><worldbody>
      <body name="b"><joint name="x" type="slide" axis="1 0 0"/><joint type="hinge"/><geom size="1"/>
        <geom name="geom0" size="2"/></body>
      <body name="b0"><joint name="b0_-b"/><geom size="1"/></body></worldbody>
      <actuator><motor joint="x"/><motor name="motor0" joint="b0_-b"/></actuator></mujoco>"""
    models, findings = read(text, "mjcf")
    assert [str(f) for f in findings if f.severity == "error"] == []
    assert {"b", "b0", "b0_"} == {link.name for link in models[0].links}
    assert len({joint.name for joint in models[0].joints}) == 3
    assert [actuator.name for actuator in models[0].actuators] == ["motor0_", "motor0"]
    (body,) = [link for link in models[0].links if link.name == "b"]
    assert sorted(geometry.name for geometry in body.collisions) == ["geom0", "geom0_"]
