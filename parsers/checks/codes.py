"""The meaning of the codes of findings, each with an example.

The source of docs/reference/check.md and of the rules in SARIF.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# the text around the example of each format
FRAMES = {
    "urdf": '<robot name="r"><link name="a">{inertial}</link>{example}</robot>',
    "sdf": '<sdf version="1.9"><model name="m"><link name="a"><inertial/></link>{example}</model></sdf>',
    "mjcf": "<mujoco>{example}</mujoco>",
    "text": "{example}",
}
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


class Code(NamedTuple):
    """An example is None if it would need other files."""

    meaning: str
    example: str | None = None
    format: str = "urdf"

    def document(self) -> str:
        """The example as a whole file, for `input_format`."""
        return FRAMES[self.format].replace("{inertial}", INERTIAL).replace("{example}", self.example or "")

    @property
    def input_format(self) -> str:
        return "urdf" if self.format == "text" else self.format


def _hinge(inside: str = "", *, child: str = "b", kind: str = "revolute", limit: str = 'lower="-1" upper="1"') -> str:
    return (
        f'<link name="{child}">{INERTIAL}</link><joint name="j" type="{kind}"><parent link="a"/>'
        f'<child link="{child}"/><limit {limit}/>{inside}</joint>'
    )


def _massive(moments: Sequence[float], mass: str = "1", rest: str = "") -> str:
    xx, yy, zz = moments
    return (
        f'<link name="b"><inertial><mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}"/></inertial>{rest}'
        '</link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    )


_SPHERE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def _touching(shape: str, properties: str) -> str:
    return (
        f'<link name="b"><collision><geometry>{shape}</geometry><drake:proximity_properties>{properties}'
        "</drake:proximity_properties></collision></link>"
    )


_BALL = '<sphere radius="0.1"/>'
_RIGID = '<drake:rigid_hydroelastic/><drake:mesh_resolution_hint value="{}"/>'
_COMPLIANT = '<drake:compliant_hydroelastic/><drake:hydroelastic_modulus value="{}"/>'


def _elastic(properties: str = "", wall: str = "") -> str:
    return (
        '<link name="soft"><collision name="c"><geometry><box><size>1 1 1</size></box></geometry></collision>'
        f"<drake:deformable_properties>{properties}</drake:deformable_properties>{wall}</link>"
    )


_MESH = '<mesh filename="package://nowhere/x.obj"/>'
_FIXED = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/>'

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
        "A shape of USD has no faces or no volume, or is of a kind that is not here, and is left out; or it is scaled or "
        "sheared as no shape here can be."
    ),
    "USD_HELD": Code("A kinematic body of USD is welded to the world where it stands."),
    "USD_APART": Code("The bodies of a joint of USD do not stand where it holds them: the joint counts."),
    "USD_UNSUPPORTED": Code("A joint, actuator or filter of USD that has no equivalent here, and what becomes of it."),
    "USD_UNUSED": Code(
        "What a stage of USD says beside rigid bodies, counted: lights and cameras, values for other engines, "
        "velocities at the start, breaking, what is disabled."
    ),
    "XACRO_UNEXPANDED": Code("The file contains xacro that must be expanded first.", '<link name="${prefix}b"/>'),
    "VERSION_UNSUPPORTED": Code(
        "The stated version of the format is not known.", '<robot name="r" version="7"/>', "text"
    ),
    "VERSION_FEATURE": Code(
        "The file uses an element or attribute of a newer version of its format than the one it states: other "
        "programs may skip it.",
        '<link name="b"/>' + _FIXED + '<origin quat_xyzw="0 0 1 1"/></joint>',
    ),
    "URI_OUTSIDE": Code(
        "A mesh lies outside of the package or folder of the model, and is not read without --allow-outside.",
        '<link name="b"><collision><geometry><mesh filename="/x.obj"/></geometry></collision></link>',
    ),
    "URI_LOOKUP": Code(
        "A file that the model names is not found; every place that was looked at is listed. A note: meshes that are "
        "found near the file, where their names do not lead.",
        f'<link name="b"><collision><geometry>{_MESH}</geometry></collision></link>',
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
        '<link name="b"/>' + _FIXED + '<origin xyz="0 0 1"/><origin xyz="0 0 2"/></joint>',
    ),
    "ELEMENT_DEPRECATED": Code("An element of an older version; the finding names its successor."),
    "ELEMENT_UNKNOWN": Code("Unknown element, probably a typo; ignored.", _hinge("<dynamic/>")),
    "ELEMENT_UNSUPPORTED": Code(
        "The format defines this element, and this program does not use it.",
        "<force_element/>",
    ),
    "ELEMENT_FOREIGN": Code(
        "The element is for another program: nothing that is computed here depends on it.", "<gazebo/>"
    ),
    "ELEMENT_MEANINGLESS": Code(
        "The element has no meaning where it stands.", '<link name="b"/>' + _FIXED + '<axis xyz="1 0 0"/></joint>'
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
        _hinge(child="b::c"),
    ),
    "NAME_UNPRINTABLE": Code(
        "A name has characters that are not seen: blanks at its ends, controls.", _hinge(child="b ")
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
    "JOINT_PARENT_LINK_INVALID": Code("The parent of a joint is not there.", _hinge().replace('"a"', '"x"')),
    "JOINT_CHILD_LINK_INVALID": Code("The child of a joint is not there.", _FIXED + "</joint>"),
    "JOINT_PARENT_SAME_AS_CHILD": Code(
        "A joint connects a link with itself.", _FIXED.replace('"b"', '"a"') + "</joint>"
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
        _hinge() + '<joint name="k" type="fixed"><parent link="a"/><child link="b"/></joint>',
    ),
    "JOINT_AXIS_INVALID": Code("The axis of a joint cannot be used."),
    "AXIS_NOT_UNIT": Code("The axis of a joint is not of length 1: it is normalised.", _hinge('<axis xyz="0 2 0"/>')),
    "JOINT_AXIS_EXPRESSED_IN_INVALID": Code(
        "An axis is expressed in a frame that is not there.",
        '<link name="b"/><joint name="j" type="revolute"><parent>a</parent><child>b</child>'
        '<axis><xyz expressed_in="x">0 0 1</xyz></axis></joint>',
        "sdf",
    ),
    "JOINT_AXIS_MIMIC_INVALID": Code(
        "A joint cannot follow the other: that is missing, the joint itself, of other coordinates, or its follower.",
        _hinge('<mimic joint="x"/>'),
    ),
    "JOINT_COUPLED": Code(
        "Joints that follow others: each keeps its coordinate, and a constraint holds it.",
        _hinge()
        + f'<link name="c">{INERTIAL}</link><joint name="k" type="continuous"><parent link="b"/><child link="c"/>'
        '<mimic joint="j"/></joint>',
    ),
    "MIMIC_OUTSIDE_LIMITS": Code(
        "As MIMIC_EXCEEDS_LIMITS, and no more than one position is left to both joints.",
        _hinge(limit='lower="0" upper="1"')
        + f'<link name="c">{INERTIAL}</link><joint name="k" type="revolute"><parent link="b"/><child link="c"/>'
        '<limit lower="0" upper="1"/><mimic joint="j" multiplier="-1"/></joint>',
    ),
    "MIMIC_EXCEEDS_LIMITS": Code(
        "A joint must go where its leader takes it, and its own limits are narrower: they hold for both.",
        _hinge()
        + f'<link name="c">{INERTIAL}</link><joint name="k" type="revolute"><parent link="b"/><child link="c"/>'
        '<limit lower="0" upper="1"/><mimic joint="j"/></joint>',
    ),
    "TRANSMISSION_IGNORED": Code(
        "A transmission drives a joint that cannot be driven: it is left out.",
        _hinge(limit='lower="0" upper="1" effort="0"')
        + '<transmission name="t"><type>SimpleTransmission</type><joint name="j"/><actuator name="m"/></transmission>',
    ),
    "MATERIAL_UNDEFINED": Code(
        "A visual names a material that has no color.",
        '<link name="b"><visual><geometry><sphere radius="1"/></geometry><material name="x"/></visual></link>',
    ),
    # --------------------------------------------------------------------------------------------- physics
    "LINK_MASS_INVALID": Code("The mass is negative, or nothing beside the inertia.", _massive((1, 1, 1), mass="-1")),
    "LINK_INERTIA_INVALID": Code(
        "No body has this inertia: a principal moment is negative, or larger than the other two together (by more than "
        "1e-6 of the largest). The finding has the principal moments, a likely cause "
        "(sign, decimal point, swapped products, order of the six numbers, frame) and the nearest possible inertia. A "
        "warning if the model is only loaded.",
        _massive((1.676, 0.0018, 0.0009)),
    ),
    "INERTIA_IMPLAUSIBLE": Code(
        "The largest radius of gyration, sqrt(I/m), is more than twice as far as the link's own geometry reaches from "
        "the centre of mass, or less than 1/50 of that; without known geometry: more than 10 m. The hint names the "
        "power of ten, unit or frame that would fit.",
        _massive((3.6e-3, 3.6e-3, 3.6e-3), mass="0.001", rest=_SPHERE),
    ),
    "INERTIA_PLACEHOLDER": Code(
        "As INERTIA_IMPLAUSIBLE, of a link whose moments are less than 1 % of those of the links that move with it.",
        _massive((1, 1, 1), mass="10")
        + '<link name="c"><inertial><mass value="0.001"/><inertia ixx="0.001" iyy="0.001" izz="0.001"/></inertial>'
        + _SPHERE
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
    "INERTIA_ZERO": Code("A link is a point mass: legal, and rarely meant.", _massive((0, 0, 0))),
    "INERTIA_CHANGED": Code("The compiler options of an MJCF file change an inertia that the file states."),
    "INERTIA_NOT_FINITE": Code("An inertia computed from the file is not a finite number."),
    "MESH_INERTIA": Code(
        "The inertia of a mesh cannot be computed, or (a note) is not that of what its surface holds, as MuJoCo's "
        '"legacy" inertia.'
    ),
    "INERTIA_WITHOUT_MASS": Code(
        "A link has moments of inertia and no mass: they are not used.", _massive((1, 1, 1), mass="0")
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
        _massive(
            (83000, 83000, 41000),
            mass="250",
            rest='<collision><geometry><box size="50 40 60"/></geometry></collision>',
        ),
    ),
    "COM_OUTSIDE_GEOMETRY": Code(
        "The centre of mass is further from the box around the link's geometry than that box is across.",
        _massive((1e-3, 1e-3, 1e-3), mass="0.1", rest=_SPHERE).replace("<mass", '<origin xyz="0 0 9"/><mass'),
    ),
    "JOINT_LIMIT_INVALID": Code(
        "The lower limit is above the upper. A warning: a continuous joint has position limits, which are applied here "
        "and not in every program (a note if the model is only loaded).",
        _hinge(limit='lower="1" upper="0"'),
    ),
    "JOINT_LIMIT_NEGATIVE": Code(
        "A limit of velocity, effort, acceleration, deceleration or jerk is negative: it is taken as no limit. A note "
        "if it is -1, which stands for that in some files.",
        _hinge(limit='lower="0" upper="1" effort="-5"'),
    ),
    "JOINT_LIMIT_MISSING": Code(
        "A revolute or prismatic joint has no position limits: it is unlimited.", _hinge(limit='effort="1"')
    ),
    "JOINT_LIMIT_UNIT": Code(
        "A limit of a revolute joint is between four turns (25.1 rad) and 3600 rad: probably degrees.",
        _hinge(limit='lower="-170" upper="170"'),
    ),
    "JOINT_LIMIT_LONG": Code(
        "A limit of a prismatic joint is between 50 m and 100 km: probably millimetres.",
        _hinge(kind="prismatic", limit='lower="0" upper="300"'),
    ),
    "JOINT_RANGE_ZERO": Code("Both limits are the same: the joint cannot move.", _hinge(limit='lower="0" upper="0"')),
    "JOINT_DEFAULT_OUTSIDE_LIMITS": Code(
        "The zero position is outside of the limits.", _hinge(limit='lower="1" upper="2"')
    ),
    "JOINT_LIMIT_ZERO": Code("A velocity or effort limit is 0.", _hinge(limit='lower="0" upper="1" effort="0"')),
    "JOINT_LIMIT_IMPLAUSIBLE": Code(
        "An effort limit above 1e6 or a velocity limit above 1e4: meant as no limit.",
        _hinge(limit='lower="0" upper="1" effort="1e9"'),
    ),
    # --------------------------------------------------------------------------------------------- contact
    "HYDROELASTIC_INCOMPLETE": Code(
        "A rigid or compliant collision lacks a property that its shape needs: it touches at points. Round shapes need "
        "`drake:mesh_resolution_hint`, compliant ones `drake:hydroelastic_modulus`, compliant half spaces "
        "`drake:slab_thickness`.",
        _touching(_BALL, "<drake:rigid_hydroelastic/>"),
    ),
    "HYDROELASTIC_MODULUS": Code(
        "A hydroelastic modulus is below 1e4 Pa or above 1e9 Pa. Useful ones are 1e5 to 1e7 Pa: softer, solids go "
        "through each other; stiffer, nothing changes but the effort of solving.",
        _touching('<box size="1 1 1"/>', _COMPLIANT.format("1e12")),
    ),
    "HYDROELASTIC_HINT": Code(
        "The resolution hint is longer than the geometry: its mesh is as coarse as one can be.",
        _touching(_BALL, _RIGID.format("2")),
    ),
    "HYDROELASTIC_MARGIN": Code(
        "The hydroelastic margin is more than half of the least width of the geometry.",
        _touching('<box size="1 1 1"/>', _COMPLIANT.format("1e6") + '<drake:hydroelastic_margin value="0.6"/>'),
    ),
    "HYDROELASTIC_SLAB": Code(
        "A slab thickness on something else than a half space: it is not used.",
        _touching(_BALL, _RIGID.format("0.01") + '<drake:slab_thickness value="1"/>'),
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
        _touching(_BALL, _RIGID.format("0.01")),
    ),
    # --------------------------------------------------------------------------------- deformable bodies
    "DEFORMABLE_INVALID": Code(
        "A deformable link has not exactly one collision with a shape, or a value that is out of its range: Young's "
        "modulus and density are positive, Poisson's ratio is between -1 and 0.5, damping is not negative, a wall has "
        "a normal.",
        _elastic("<drake:poissons_ratio>0.5</drake:poissons_ratio>"),
        "sdf",
    ),
    "DEFORMABLE_REFERENCE": Code(
        "A joint, frame, constraint or filter group names a deformable link, which is no rigid body. Walls hold it, "
        "and in Python fixed constraints.",
        _elastic() + '<joint name="j" type="fixed"><parent>a</parent><child>soft</child></joint>',
        "sdf",
    ),
    "DEFORMABLE_STATIC": Code(
        "A static model has a deformable link, which moves unless walls hold it.",
        "<static>1</static>" + _elastic(),
        "sdf",
    ),
    "DEFORMABLE_MESH": Code(
        "The shape of a deformable link has no tetrahedra that can be simulated: those of a file are inside out or "
        "flat, or leave a vertex alone; a surface of triangles is not closed; no vertex is behind a wall.",
        _elastic(
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
        _elastic("<drake:youngs_modulus>5</drake:youngs_modulus>"),
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
    "GRAVITY_SET": Code("The file sets gravity."),
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
LOSSES = {
    "ACTUATOR": "An actuator that the format has no place for: the second of a joint, one of a joint that closes a "
    "loop, one whose effort limit is 0, or one that aims elsewhere than at the default position, in MJCF than at the "
    "control 0.",
    "CONSTRAINT": "A constraint of a kind that the format does not have.",
    "CONSTRAINT_NAME": "The name of a constraint.",
    "CONTACT": "What MJCF says of contact: what touches what, margins, frictions of pairs; in MJCF, how two "
    "frictions become one.",
    "DEFAULT_POSE": "The pose of a floating link at the start.",
    "DEFORMABLE": "A deformable link, which URDF does not have.",
    "EXTENSION": "Elements that only programs that know Drake's elements read, or this one alone.",
    "FRAME": "A frame that is added, since the format states an element by it.",
    "FRICTION": "The friction at rest of a collision, where MJCF has one coefficient.",
    "GEOMETRY": "A shape that the format does not have, or describes in another way.",
    "GRAVITY": "The gravity of the plant.",
    "INERTIA": "The mass or inertia of a link that MuJoCo refuses, and what is written in its place.",
    "JOINT": "A joint of a kind that the format does not have, or that is several joints there.",
    "JOINT_ACCELERATION": "The acceleration limit of a joint.",
    "JOINT_DAMPING": "The damping of a joint.",
    "JOINT_DECELERATION": "The deceleration limit of a joint.",
    "JOINT_DEFAULT_POSITION": "The default position of a joint.",
    "JOINT_EFFORT": "The effort limit of a joint.",
    "JOINT_FRICTION": "The friction of a joint.",
    "JOINT_JERK": "The jerk limit of a joint.",
    "JOINT_LIMITS": "Limits that are one number: a little around it, for MuJoCo takes a range without width for none.",
    "JOINT_LOWER": "The lower position limit of a joint.",
    "JOINT_MIMIC": "That a joint follows another.",
    "JOINT_REVERSED": "A joint leads the other way, since the format wants a tree.",
    "JOINT_SPRING_REFERENCE": "The rest position of the spring of a joint.",
    "JOINT_SPRING_STIFFNESS": "The spring of a joint.",
    "JOINT_STOP_DISSIPATION": "What a stop at a position limit of a joint takes of a motion.",
    "JOINT_STOP_STIFFNESS": "The stiffness of the stops at the position limits of a joint.",
    "JOINT_TYPE": "The coordinates of a joint are of another kind.",
    "JOINT_UPPER": "The upper position limit of a joint.",
    "JOINT_VELOCITY": "The velocity limit of a joint.",
    "LINK": "A link without mass or shape between two joints, which stand on one body in MJCF.",
    "LINK_FRAME": "The frame of a link is elsewhere in it.",
    "LINK_GRAVITY": "That a link is out of gravity.",
    "LOOP": "A joint that closes a loop and is an equality in MJCF.",
    "MESH": "A mesh that is not found, is named otherwise, or is converted.",
    "NAME": "A name that is changed.",
    "ORDER": "The coordinates come in another order.",
    "POSTURE": "A named posture.",
    "PRECISION": "Numbers of which the format has fewer digits.",
    "PROPERTIES": "Proximity properties that the format has no elements for.",
    "REFLECTED_INERTIA": "The inertia of a joint's drive.",
    "PLUGIN": "A plugin that acts in runs, and links that are slowed down or held by the file.",
    "SENSOR": "A sensor, or a part of what it measures.",
    "WORLD": "Geometry of the world that stands on a link welded to it.",
}


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
