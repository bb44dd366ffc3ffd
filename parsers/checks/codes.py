"""The meaning of the codes of findings, each with an example.

The source of docs/reference/check.md and of the rules in SARIF.
"""

from __future__ import annotations

from mbcli.parsers.checks.code_examples import (
    BALL,
    COMPLIANT,
    FIXED,
    INERTIAL,
    MESH,
    RIGID,
    SPHERE,
    Code,
    arms,
    elastic,
    hinge,
    massive,
    touching,
)
from mbcli.parsers.checks.loss_codes import LOSSES

CODES = {
    # ------------------------------------------------------------------------------------ files and syntax
    "FILE_READ": Code("A file cannot be read: it is missing, or permission is."),
    "FILE_FORMAT": Code("The file is of no known format."),
    "XML_ERROR": Code(
        "The file is not well-formed XML, or is XML that a model file has no use for (DOCTYPE, great size or depth). "
        "A note: undeclared prefixes, names as a::b, -- in comments, a malformed declaration and encodings that Python "
        "knows are read as meant. A warning: the file is not in its encoding, no blank is between two attributes, or a "
        "closing tag is after the end.",
        "<link name='b'>",
    ),
    "USD_ERROR": Code(
        "USD cannot compose the stage: a layer is damaged, too large, or has value clips or expressions."
    ),
    "USD_WARNING": Code("What USD says itself of a stage that it composes."),
    "USD_WITHOUT_BODIES": Code("A stage of USD has no rigid bodies: its shapes belong to the world."),
    "USD_SHAPE": Code(
        "A shape of USD has no faces or no volume, or is of a kind that is not here, and is left out; or it is scaled "
        "or sheared as no shape here can be."
    ),
    "USD_HELD": Code("A kinematic body of USD is welded to the world where it stands."),
    "USD_APART": Code("The bodies of a joint of USD do not stand where it holds them: the joint counts."),
    "USD_UNSUPPORTED": Code("A joint, actuator or filter of USD that has no equivalent here, and what becomes of it."),
    "USD_UNUSED": Code(
        "What a stage of USD says beside rigid bodies, counted: lights and cameras, values for other engines, "
        "velocities at the start, breaking, what is disabled."
    ),
    "XACRO_UNEXPANDED": Code("The file contains xacro that must be expanded first.", '<link name="${prefix}b"/>'),
    "XACRO_FAULT": Code("With --xacro: xacro cannot expand the file, or it has no argument of that name."),
    "VERSION_UNSUPPORTED": Code(
        "The stated version of the format is not known.", '<robot name="r" version="7"/>', "text"
    ),
    "VERSION_FEATURE": Code(
        "The file uses an element or attribute of a newer version of its format than the one it states: other "
        "programs may skip it.",
        '<link name="b"/>' + FIXED + '<origin quat_xyzw="0 0 1 1"/></joint>',
    ),
    "URI_OUTSIDE": Code(
        "A mesh lies outside of the package or folder of the model, and is not read without --allow-outside.",
        '<link name="b"><collision><geometry><mesh filename="/x.obj"/></geometry></collision></link>',
    ),
    "URI_LOOKUP": Code(
        "A file that the model names is not found; every place that was looked at is listed. A note: meshes that are "
        "found near the file, where their names do not lead.",
        f'<link name="b"><collision><geometry>{MESH}</geometry></collision></link>',
    ),
    "URI_INVALID": Code("A URI is of a kind that is not read, as http, or leads out of its package."),
    # --------------------------------------------------------------------------- places of elements in a file
    "ELEMENT_MISSING": Code(
        "An element that must be there is not.", '<joint name="j" type="fixed"><parent link="a"/></joint>'
    ),
    "ELEMENT_INVALID": Code(
        "The format does not allow an element or its text here.",
        '<link name="b"><inertial><mass>x</mass></inertial></link>',
        "sdf",
    ),
    "ELEMENT_DUPLICATE": Code(
        "An element that may stand once stands twice: the first is used.",
        '<link name="b"/>' + FIXED + '<origin xyz="0 0 1"/><origin xyz="0 0 2"/></joint>',
    ),
    "ELEMENT_DEPRECATED": Code("An element of an older version; the finding names its successor."),
    "ELEMENT_UNKNOWN": Code("Unknown element, probably a typo; ignored.", hinge("<dynamic/>")),
    "ELEMENT_UNSUPPORTED": Code(
        "The format defines this element, and this program does not use it.",
        "<force_element/>",
    ),
    "ELEMENT_FOREIGN": Code(
        "The element is for another program: nothing that is computed here depends on it.", "<gazebo/>"
    ),
    "ELEMENT_MEANINGLESS": Code(
        "The element has no meaning where it stands.", '<link name="b"/>' + FIXED + '<axis xyz="1 0 0"/></joint>'
    ),
    "ATTRIBUTE_MISSING": Code("An attribute that must be there is not.", "<link/>"),
    "ATTRIBUTE_INVALID": Code(
        "The format does not allow the value of an attribute: numbers are strict, and there are exactly as many as "
        "must be.",
        '<link name="b"><inertial><mass value="1,5"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>',
    ),
    "ATTRIBUTE_UNKNOWN": Code("Unknown attribute, probably a typo; ignored.", '<link name="b" nam="c"/>'),
    "ATTRIBUTE_UNSUPPORTED": Code(
        "The format defines this attribute, and this program does not use it.",
        '<link name="b"><visual name="v"><geometry><mesh optimization="convex_hull"><uri>x.obj</uri></mesh></geometry>'
        "</visual></link>",
        "sdf",
    ),
    "ATTRIBUTE_FOREIGN": Code("The attribute is for another program.", '<link name="b" gz:x="1"/>'),
    "ATTRIBUTE_MEANINGLESS": Code("The attribute has no meaning where it stands."),
    "TEXT_UNKNOWN": Code("Text in a place where none belongs.", '<link name="b">text</link>'),
    "DUPLICATE_NAME": Code("Two elements have one name.", '<link name="a"/>'),
    "RESERVED_NAME": Code(
        "A name that SDFormat keeps for itself: it contains :: or is of the form __x__. An error in SDFormat, a note "
        "elsewhere.",
        hinge(child="b::c"),
    ),
    "NAME_UNPRINTABLE": Code(
        "A name has characters that are not seen: blanks at its ends, controls.", hinge(child="b ")
    ),
    # ---------------------------------------------------------------------------------------- the mechanism
    "MODEL_WITHOUT_LINK": Code("A model has no link.", '<sdf version="1.9"><model name="m"/></sdf>', "text"),
    "MODEL_SEVERAL_TREES": Code(
        "The robot consists of several trees that no joint connects, each floating freely.",
        f'<link name="b">{INERTIAL}</link>',
    ),
    "MODEL_CANONICAL_LINK_INVALID": Code(
        "The canonical link of a model is none of its links.",
        '<sdf version="1.9"><model name="m" canonical_link="x"><link name="a"/></model></sdf>',
        "text",
    ),
    "MODEL_PLACEMENT_FRAME_INVALID": Code(
        "The placement frame of a model is none of its frames.",
        '<sdf version="1.9"><model name="m" placement_frame="x"><link name="a"/></model></sdf>',
        "text",
    ),
    "MERGE_INCLUDE_UNSUPPORTED": Code("An include with merge names a model that cannot be merged."),
    "FRAME_ATTACHED_TO_INVALID": Code(
        "A frame is attached to a frame or link that is not there.", '<frame name="f" attached_to="x"/>', "sdf"
    ),
    "FRAME_ATTACHED_TO_CYCLE": Code(
        "Frames are attached to each other.",
        '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>',
        "sdf",
    ),
    "POSE_RELATIVE_TO_INVALID": Code(
        "A pose is relative to a frame or link that is not there.",
        '<frame name="f"><pose relative_to="x"/></frame>',
        "sdf",
    ),
    "POSE_RELATIVE_TO_CYCLE": Code(
        "Poses are relative to each other.",
        '<frame name="f"><pose relative_to="g"/></frame><frame name="g"><pose relative_to="f"/></frame>',
        "sdf",
    ),
    "JOINT_PARENT_LINK_INVALID": Code("The parent of a joint is not there.", hinge().replace('"a"', '"x"')),
    "JOINT_CHILD_LINK_INVALID": Code("The child of a joint is not there.", FIXED + "</joint>"),
    "JOINT_PARENT_SAME_AS_CHILD": Code(
        "A joint connects a link with itself.", FIXED.replace('"b"', '"a"') + "</joint>"
    ),
    "JOINT_CYCLE": Code(
        "Links hang on each other in a circle, and nothing holds any of them.",
        '<link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>',
    ),
    "JOINT_FRAMES_APART": Code(
        "The frames that joints of a closed chain name are taken as they stand, since its links have no poses.",
        '<frame name="f"><pose>1 0 0 0 0 0</pose></frame><link name="b"><inertial/></link>'
        '<joint name="j" type="revolute"><parent>f</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>'
        '<joint name="k" type="revolute"><parent>world</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>',
        "sdf",
    ),
    "LOOP_CUT": Code(
        "Joints form a closed loop. It is cut at the joint named, which becomes a constraint.",
        hinge() + '<joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint>',
    ),
    "JOINT_AXIS_INVALID": Code("The axis of a joint cannot be used."),
    "AXIS_NOT_UNIT": Code("The axis of a joint is not of length 1: it is normalised.", hinge('<axis xyz="0 2 0"/>')),
    "JOINT_AXIS_EXPRESSED_IN_INVALID": Code(
        "An axis is expressed in a frame that is not there.",
        '<link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child>'
        '<axis><xyz expressed_in="x">0 0 1</xyz></axis></joint>',
        "sdf",
    ),
    "JOINT_AXIS_MIMIC_INVALID": Code(
        "A joint cannot follow the other: that is missing, the joint itself, of other coordinates, or its follower.",
        hinge('<mimic joint="x"/>'),
    ),
    "JOINT_COUPLED": Code(
        "Joints that follow others: each keeps its coordinate, and a constraint holds it.",
        hinge()
        + f'<link name="c">{INERTIAL}</link><joint name="k" type="continuous"><parent link="b"/><child link="c"/>'
        '<mimic joint="j"/></joint>',
    ),
    "MIMIC_OUTSIDE_LIMITS": Code(
        "As MIMIC_EXCEEDS_LIMITS, and no more than one position is left to both joints.",
        hinge(limit='lower="0" upper="1"')
        + f'<link name="c">{INERTIAL}</link><joint name="k" type="revolute"><parent link="b"/><child link="c"/>'
        '<limit lower="0" upper="1"/><mimic joint="j" multiplier="-1"/></joint>',
    ),
    "MIMIC_EXCEEDS_LIMITS": Code(
        "A joint must go where its leader takes it, and its own limits are narrower: they hold for both.",
        hinge() + f'<link name="c">{INERTIAL}</link><joint name="k" type="revolute"><parent link="b"/><child link="c"/>'
        '<limit lower="0" upper="1"/><mimic joint="j"/></joint>',
    ),
    "TRANSMISSION_IGNORED": Code(
        "A transmission drives a joint that cannot be driven: it is left out.",
        hinge(limit='lower="0" upper="1" effort="0"')
        + '<transmission name="t"><type>SimpleTransmission</type><joint name="j"/><actuator name="m"/></transmission>',
    ),
    "MATERIAL_UNDEFINED": Code(
        "A visual names a material that has no color.",
        '<link name="b"><visual><geometry><sphere radius="1"/></geometry><material name="x"/></visual></link>',
    ),
    # --------------------------------------------------------------------------------------------- physics
    "LINK_MASS_INVALID": Code("The mass is negative, or nothing beside the inertia.", massive((1, 1, 1), mass="-1")),
    "LINK_INERTIA_INVALID": Code(
        "No body has this inertia: a principal moment is negative, or larger than the other two together (by more than "
        "1e-6 of the largest). The finding has the principal moments, a likely cause "
        "(sign, decimal point, swapped products, order of the six numbers, frame) and the nearest possible inertia. A "
        "warning if the model is only loaded.",
        massive((1.676, 0.0018, 0.0009)),
    ),
    "INERTIA_IMPLAUSIBLE": Code(
        "The largest radius of gyration, sqrt(I/m), is more than twice as far as the link's own geometry reaches from "
        "the centre of mass, or less than 1/50 of that; without known geometry: more than 10 m. The hint names the "
        "power of ten, unit or frame that would fit.",
        massive((3.6e-3, 3.6e-3, 3.6e-3), mass="0.001", rest=SPHERE),
    ),
    "INERTIA_PLACEHOLDER": Code(
        "As INERTIA_IMPLAUSIBLE, of a link whose moments are less than 1 % of those of the links that move with it.",
        massive((1, 1, 1), mass="10")
        + '<link name="c"><inertial><mass value="0.001"/><inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial>'
        + SPHERE
        + '</link><joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>',
    ),
    "INERTIA_DEFAULT": Code(
        "Some links of an SDFormat model state no inertial: the format gives them 1 kg and 1 kg m^2.",
        '<link name="b"/>',
        "sdf",
    ),
    "INERTIA_ALL_DEFAULT": Code(
        "As INERTIA_DEFAULT, of all links of a model: it is for kinematics.",
        '<sdf version="1.9"><model name="m"><link name="a"/></model></sdf>',
        "text",
    ),
    "INERTIA_ZERO": Code("A link is a point mass: legal, and rarely meant.", massive((0, 0, 0))),
    "INERTIA_CHANGED": Code("The compiler options of an MJCF file change an inertia that the file states."),
    "INERTIA_NOT_FINITE": Code("An inertia computed from the file is not a finite number."),
    "MESH_INERTIA": Code(
        "The inertia of a mesh cannot be computed, or (a note) is not that of what its surface holds, as MuJoCo's "
        '"legacy" inertia.'
    ),
    "INERTIA_WITHOUT_MASS": Code(
        "A link has moments of inertia and no mass: they are not used.", massive((1, 1, 1), mass="0")
    ),
    "MODEL_WITHOUT_MASS": Code(
        "No link has mass: the file is for kinematics. What needs no mass works; forces and motion are refused.",
        '<robot name="r"><link name="a"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<link name="b"/></robot>',
        "text",
    ),
    "MASSLESS_LINK_FIXED": Code(
        "A link that nothing holds has no mass and no joint, as planes and tables of other simulators: it is fixed to "
        "the world where its file puts it.",
        '<link name="b"/>',
    ),
    "LINK_WEIGHTLESS": Code(
        "The file takes links with mass out of gravity: `<turnGravityOff>` of URDF, `<gravity>` of SDFormat, "
        "`gravcomp` of MJCF. `mbcli inspect` names them.",
        '<gazebo reference="a"><turnGravityOff>true</turnGravityOff></gazebo>',
    ),
    "MOVING_MASS_MISSING": Code(
        "A joint moves links that have no mass: the mass matrix is singular. Runs and forward dynamics are refused. A "
        "note if the model is only loaded.",
        '<link name="b"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>',
    ),
    "FLOATING_MASS_MISSING": Code(
        "A floating subtree has no mass.",
        '<link name="b"/><joint name="j" type="continuous"><parent link="b"/><child link="c"/></joint><link name="c"/>',
    ),
    "MOTION_UNDETERMINED": Code(
        "Masses leave a motion open, though every joint moves some: the mass matrix is singular. Runs are refused. The "
        "hint says whether --weld-base helps. Of files that are one model or world, up to 500 velocities.",
        '<joint name="j" type="planar"><parent link="b"/><child link="a"/></joint><link name="b"/>',
    ),
    "UNITS_IMPLAUSIBLE": Code(
        "What moves weighs more than 10 kg, is longer than 5 m and lighter than air, and would not be in grams or "
        "kilograms, and millimetres or centimetres. Meshes count with --meshes.",
        massive(
            (83000, 83000, 41000),
            mass="250",
            rest='<collision><geometry><box size="50 40 60"/></geometry></collision>',
        ),
    ),
    "COM_OUTSIDE_GEOMETRY": Code(
        "The centre of mass is further from the box around the link's geometry than that box is across.",
        massive((1e-3, 1e-3, 1e-3), mass="0.1", rest=SPHERE).replace("<mass", '<origin xyz="0 0 9"/><mass'),
    ),
    "DENSITY_IMPLAUSIBLE": Code(
        "What moves together weighs more than 1e5 kg/m^3 of its geometry, five times as much as any metal; or less "
        "than 5 kg/m^3 and 1 % of what most of the model has. Meshes count with --meshes: what they enclose, or the "
        "boxes around open ones.",
        massive((2, 2, 2), mass="2000", rest=SPHERE),
    ),
    "INERTIAL_MISSING": Code(
        "A link that a joint moves has geometry and no inertial, where most others have one.",
        f'<link name="b">{SPHERE}</link>'
        + "".join(
            f'<link name="{child}">{INERTIAL.replace("1", "0.1")}{SPHERE}</link><joint name="{child}" '
            f'type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>'
            for parent, child in (("b", "c"), ("c", "d"), ("d", "e"))
        )
        + '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>',
    ),
    "INERTIA_ABOUT_ORIGIN": Code(
        "No mass within the box around a link's geometry has its moments of inertia about the centre of mass; taken as "
        "about the link's origin they are those of that geometry. Meshes count with --meshes.",
        massive(
            (1.33667, 1.33667, 0.00667),
            rest='<collision><origin xyz="0 0 1"/><geometry><box size="0.2 0.2 2"/></geometry></collision>',
        ).replace("<mass", '<origin xyz="0 0 1"/><mass'),
    ),
    "INERTIA_AXES_SWAPPED": Code(
        "The moments of inertia of a link are those of its geometry in another order, more than a factor of 2 apart. "
        "Meshes count with --meshes.",
        massive((0.0067, 0.34, 0.34), rest='<collision><geometry><box size="0.2 0.2 2"/></geometry></collision>'),
    ),
    "COLLISION_APART": Code(
        "The collisions of a link are further away from its visuals than either is across. Meshes count with --meshes.",
        f'<link name="b">{SPHERE.replace("collision", "visual")}'
        + SPHERE.replace("<geometry>", '<origin xyz="1 0 0"/><geometry>')
        + "</link>",
    ),
    "ANGLE_UNIT": Code(
        "An angle of a pose is more than a turn, and is read as radians: probably degrees.",
        '<link name="b"/>' + FIXED + '<origin rpy="0 90 0"/></joint>',
    ),
    "JOINT_ORIGIN_FAR": Code(
        "A joint is 50 times as far from the link that carries it as the next longest way or link of the model: "
        "probably millimetres.",
        hinge('<origin xyz="0 0 300"/>') + f'<link name="c">{INERTIAL}</link><joint name="k" type="fixed"><parent '
        'link="b"/><child link="c"/><origin xyz="0 0 0.3"/></joint>',
    ),
    "JOINT_LIMIT_TRAVEL": Code(
        "A prismatic joint travels ten times as far as the model is large: probably millimetres. Joints that move all "
        "of a model are left out. Meshes count with --meshes.",
        hinge('<origin xyz="0 0 0.3"/>', kind="prismatic", limit='lower="0" upper="40"'),
    ),
    "TWIN_ORIGIN": Code(
        "Left and right links, by their names, are where no mirror takes one to the other, though the other values of "
        "the model mirror each other. Up to two such values of a model are told; with more it is not meant to mirror.",
        arms(
            '<parent link="a"/><child link="right_upper"/><origin xyz="0 -0.2 0"/>|<parent link="a"/><child '
            'link="right_upper"/><origin xyz="0 0.2 0"/>'
        ),
    ),
    "TWIN_AXIS": Code(
        "The same of the axes of joints, whatever their sign.",
        arms('<axis xyz="1 0 0"/></joint><joint|<axis xyz="0 0 1"/></joint><joint'),
    ),
    "TWIN_PARENT": Code(
        "The same of the links that they hang on.",
        arms('<parent link="right_upper"/>|<parent link="a"/>'),
    ),
    "TWIN_LIMITS": Code(
        "The same of position limits.",
        arms(
            '<limit lower="-2.0" upper="1.0" effort="9" velocity="9"/><axis xyz="1 0 0"/></joint><joint|<limit '
            'lower="-1.0" upper="2.0" effort="9" velocity="9"/><axis xyz="1 0 0"/></joint><joint'
        ),
    ),
    "TWIN_EFFORT": Code(
        "The same of limits of effort and velocity.",
        arms(
            'effort="9" velocity="9"/><axis xyz="1 0 0"/></joint><joint|effort="90" velocity="9"/><axis '
            'xyz="1 0 0"/></joint><joint'
        ),
    ),
    "TWIN_MASS": Code(
        "The same of masses.",
        arms(
            '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link|'
            '<mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link'
        ),
    ),
    "TWIN_CENTER_OF_MASS": Code(
        "The same of centres of mass.",
        arms(
            '<origin xyz="0 -0.1 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            '</inertial></link><link|<origin xyz="0 0.1 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link><link'
        ),
    ),
    "TWIN_INERTIA": Code(
        "The same of moments and products of inertia.",
        arms(
            'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link|ixx="9" iyy="9" izz="9" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link><link'
        ),
    ),
    "JOINT_LIMIT_INVALID": Code(
        "The lower limit is above the upper. A warning: a continuous joint has position limits, which do not act (a "
        "note if both are equal, or if the model is only loaded).",
        hinge(limit='lower="1" upper="0"'),
    ),
    "JOINT_LIMIT_NEGATIVE": Code(
        "A limit of velocity, effort, acceleration, deceleration or jerk is negative: it is taken as no limit. A note "
        "if it is -1, which stands for that in some files.",
        hinge(limit='lower="0" upper="1" effort="-5"'),
    ),
    "JOINT_LIMIT_MISSING": Code(
        "A revolute or prismatic joint has no position limits, or one of two: it is unlimited there.",
        hinge(limit='effort="1"'),
    ),
    "JOINT_LIMIT_UNIT": Code(
        "A limit of a revolute joint is between four turns (25.1 rad) and 3600 rad: probably degrees.",
        hinge(limit='lower="-170" upper="170"'),
    ),
    "JOINT_LIMIT_LONG": Code(
        "A limit of a prismatic joint is between 50 m and 100 km: probably millimetres.",
        hinge(kind="prismatic", limit='lower="0" upper="300"'),
    ),
    "JOINT_RANGE_ZERO": Code("Both limits are the same: the joint cannot move.", hinge(limit='lower="0" upper="0"')),
    "JOINT_DEFAULT_OUTSIDE_LIMITS": Code(
        "The zero position is outside of the limits.", hinge(limit='lower="1" upper="2"')
    ),
    "JOINT_LIMIT_ZERO": Code("A velocity or effort limit is 0.", hinge(limit='lower="0" upper="1" effort="0"')),
    "JOINT_LIMIT_IMPLAUSIBLE": Code(
        "An effort limit above 1e6 or a velocity limit above 1e4: meant as no limit.",
        hinge(limit='lower="0" upper="1" effort="1e9"'),
    ),
    # --------------------------------------------------------------------------------------------- contact
    "HYDROELASTIC_INCOMPLETE": Code(
        "A rigid or compliant collision lacks a property that its shape needs: it touches at points. Round shapes need "
        "`drake:mesh_resolution_hint`, compliant ones `drake:hydroelastic_modulus`, compliant half spaces "
        "`drake:slab_thickness`.",
        touching(BALL, "<drake:rigid_hydroelastic/>"),
    ),
    "HYDROELASTIC_MODULUS": Code(
        "A hydroelastic modulus is below 1e4 Pa or above 1e9 Pa. Useful ones are 1e5 to 1e7 Pa: softer, solids go "
        "through each other; stiffer, nothing changes but the effort of solving.",
        touching('<box size="1 1 1"/>', COMPLIANT.format("1e12")),
    ),
    "HYDROELASTIC_HINT": Code(
        "The resolution hint is longer than the geometry: its mesh is as coarse as one can be.",
        touching(BALL, RIGID.format("2")),
    ),
    "HYDROELASTIC_MARGIN": Code(
        "The hydroelastic margin is more than half of the least width of the geometry.",
        touching('<box size="1 1 1"/>', COMPLIANT.format("1e6") + '<drake:hydroelastic_margin value="0.6"/>'),
    ),
    "HYDROELASTIC_SLAB": Code(
        "A slab thickness on something else than a half space: it is not used.",
        touching(BALL, RIGID.format("0.01") + '<drake:slab_thickness value="1"/>'),
    ),
    "HYDROELASTIC_MESH": Code(
        "With --meshes: a compliant collision names a mesh whose surface is not closed, so that it holds no volume to "
        "fill with tetrahedra."
    ),
    "HYDROELASTIC_UNUSED": Code(
        "The contact model of a scenario is point, so that hydroelastic properties of its models do nothing."
    ),
    "HYDROELASTIC_RIGID_ONLY": Code(
        "All collisions of the model with hydroelastic properties are rigid. Two rigid geometries have no contact "
        "surface: they touch at points. A warning in a scenario whose contact model is hydroelastic, which refuses "
        "them.",
        touching(BALL, RIGID.format("0.01")),
    ),
    # --------------------------------------------------------------------------------- deformable bodies
    "DEFORMABLE_INVALID": Code(
        "A deformable link has not exactly one collision with a shape, or a value that is out of its range: Young's "
        "modulus and density are positive, Poisson's ratio is between -1 and 0.5, damping is not negative, a wall has "
        "a normal.",
        elastic("<drake:poissons_ratio>0.5</drake:poissons_ratio>"),
        "sdf",
    ),
    "DEFORMABLE_REFERENCE": Code(
        "A joint, frame, constraint or filter group names a deformable link, which is no rigid body. Walls hold it, "
        "and in Python fixed constraints.",
        elastic() + '<joint name="j" type="fixed"><parent>a</parent><child>soft</child></joint>',
        "sdf",
    ),
    "DEFORMABLE_STATIC": Code(
        "A static model has a deformable link, which moves unless walls hold it.",
        "<static>1</static>" + elastic(),
        "sdf",
    ),
    "DEFORMABLE_MESH": Code(
        "The shape of a deformable link has no tetrahedra that can be simulated: those of a file are inside out or "
        "flat, or leave a vertex alone; a surface of triangles is not closed; no vertex is behind a wall.",
        elastic(
            wall="<drake:wall_boundary_condition><drake:point_on_plane>0 0 -9</drake:point_on_plane>"
            "<drake:outward_normal>0 0 1</drake:outward_normal></drake:wall_boundary_condition>"
        ),
        "sdf",
    ),
    "DEFORMABLE_SLIVERS": Code(
        "Tetrahedra of a deformable link have less than 5 degrees between two faces. They make the body stiffer than "
        "it is and its steps hard to solve."
    ),
    "DEFORMABLE_MATERIAL": Code(
        "A material that no solid has, or that linear tetrahedra do not follow: Young's modulus below 1e3 or above "
        "1e12 Pa, density below 1 or above 3e4 kg/m^3, Poisson's ratio above 0.495, damping by stiffness above 1 s, "
        "Drake's neo-Hookean material at a Poisson's ratio that is not positive.",
        elastic("<drake:youngs_modulus>5</drake:youngs_modulus>"),
        "sdf",
    ),
    # ---------------------------------------------------------------------------------------------- meshes
    "MESH_UNREADABLE": Code("With --meshes: a mesh file cannot be read."),
    "MESH_SIZE": Code("With --meshes: a mesh is larger than 20 m or smaller than 0.1 mm, its scale included."),
    "MESH_UNIT": Code("With --meshes: a COLLADA file is not in metres, which some readers ignore."),
    "MESH_UP_AXIS": Code("With --meshes: a COLLADA file is not z up, which some readers ignore."),
    # ----------------------------------------------------------------------------------------------- MJCF
    "EQUALITY_INACTIVE": Code("An equality that the file switches off is left out."),
    "KEYFRAME_SIZE": Code("A keyframe does not have the coordinates of the model, and is left out."),
    "INCLUDE_REPEATED": Code("A file is included a second time."),
    # ------------------------------------------------------------------------ YAML: directives, settings
    "INCLUDE_CYCLE": Code("Files include each other; the chain is listed."),
    "INCLUDE_DEPTH": Code("Files include each other more than 32 deep."),
    "INCLUDE_TOO_LARGE": Code("More directives or included models than are read, includes expanded."),
    "DUPLICATE_KEY": Code("A key stands twice in a mapping."),
    "KEY_MISSING": Code("A key that must be there is not."),
    "KEY_UNKNOWN": Code("Unknown key, probably a typo."),
    "KEY_UNSUPPORTED": Code("The key is known and not used."),
    "NAME_INVALID": Code("A name has a form that is not allowed."),
    "NAME_UNKNOWN": Code("A directive, a constraint or an SRDF file names an element that is not there."),
    "POSE_OF_HELD_BODY": Code("A default pose for a body that is held by a joint."),
    "POSE_RANDOM": Code("A pose is random: its mean is taken."),
    "POSE_UNUSED": Code("A pose is not used: nothing there is free to have it."),
    "INITIAL_POSITION": Code("An initial position names no joint, or has the wrong count of numbers."),
    "LENGTH_RANGE_FOUND": Code("A muscle of MJCF states no `lengthrange`: it has what the limits of joints leave it."),
    "GRAVITY_SET": Code("The file sets gravity."),
    "COMMAND_INTERFACE": Code(
        "Joints with a command interface in `<ros2_control>` get actuators, where the file has no `<transmission>`."
    ),
    "DRY_FRICTION": Code("Joints of URDF or SDFormat state dry friction: it acts in the steps of a discrete plant."),
    "SCENARIO_AMBIGUOUS": Code("The file has several scenarios, and none is named."),
    "SCENARIO_MISSING": Code("The file has no scenario of that name."),
    "VALUE_CHOICE": Code("A value is none of those that are allowed."),
    "VALUE_INVALID": Code("A value cannot be used."),
    "VALUE_RANGE": Code("A number is out of its range."),
    "VALUE_SIZE": Code("A list has the wrong count of items."),
    "VALUE_TYPE": Code("A value is of the wrong type."),
    "WELD_TO_SELF": Code("A weld connects a body with itself."),
    "YAML_ALIAS": Code("An alias without its anchor, or inside it."),
    "YAML_DOCUMENTS": Code("The file has more than one document."),
    "YAML_ENCODING": Code("The file is not UTF-8."),
    "YAML_KEY": Code("A key is missing or no plain string."),
    "YAML_MERGE": Code("A merge key: YAML 1.2 has none."),
    "YAML_SYNTAX": Code("The file is not well-formed YAML."),
    "YAML_TAG": Code("A tag that has no meaning where it stands."),
    "YAML_TOO_DEEP": Code("The document is nested too deep."),
    "YAML_TOO_LARGE": Code("The document is too large, aliases expanded."),
    "YAML_VERSION": Code("The document asks for another version of YAML."),
}


# of `mbcli convert`: properties that the written file cannot hold, or holds in another form
def reference_page() -> str:
    """The text of docs/reference/check.md below its introduction."""
    lines = ["| code | meaning | example |", "|---|---|---|"]
    for code, (meaning, example, _) in CODES.items():
        shown = f"`{_short(example)}`" if example else ""
        lines.append(f"| `{code}` | {meaning} | {shown} |")
    lines += [
        "",
        "Losses and changes that `mbcli convert` reports:",
        "",
        "| code | lost or changed |",
        "|---|---|",
    ]
    lines += [f"| `{code}` | {meaning} |" for code, meaning in LOSSES.items()]
    return "\n".join(lines) + "\n"


def _short(example: str) -> str:
    return example.replace(INERTIAL, "<inertial>...</inertial>").replace("|", "\\|")


if __name__ == "__main__":
    print(reference_page(), end="")
