"""The elements of URDF 1.0 to 1.2 and its Drake extensions: {element or parent/element: children and @attributes}.

Read by `xml_source.report_unread` to tell elements that this program does not use from those that nobody knows, and
both from those that are for other programs: nothing that is computed here depends on FOREIGN ones.
Formats: https://wiki.ros.org/urdf/XML, https://drake.mit.edu/doxygen_cxx/group__multibody__parsing.html
"""

from mbcli.parsers.proximity_properties import ELEMENTS
from mbcli.parsers.xml_source import ANY

_ORIGIN = "@xyz @rpy @quat_xyzw"
_SHAPES = "box sphere cylinder capsule mesh plane drake:capsule drake:ellipsoid"
_CONSTRAINTS = (
    "drake:ball_constraint drake:distance_constraint drake:tendon_constraint drake:linear_bushing_rpy "
    "drake:linear_spring_damper loop_joint"
)
# element: the start of its children's names, children with a name, children with a value
_DRAKE_PARTS = {
    "drake:ball_constraint": ("drake:ball_constraint", "body_A body_B", "p_AP p_BQ"),
    "drake:distance_constraint": (
        "drake:distance_constraint",
        "body_A body_B",
        "p_AP p_BQ distance stiffness damping",
    ),
    "drake:tendon_constraint": (
        "drake:tendon_constraint",
        "",
        "offset lower_limit upper_limit stiffness damping",
    ),
    "drake:linear_spring_damper": (
        "drake:linear_spring_damper",
        "body_A body_B",
        "p_AP p_BQ free_length stiffness damping",
    ),
    "drake:linear_bushing_rpy": (
        "drake:bushing",
        "frameA frameC",
        "torque_stiffness torque_damping force_stiffness force_damping",
    ),
}

KNOWN = {
    tag: frozenset(names.split())
    for tag, names in {
        "robot": "@name @version link joint material transmission frame drake:joint "
        f"drake:collision_filter_group force_element {_CONSTRAINTS}",
        "link": "@name @type inertial visual collision",
        "inertial": "origin mass inertia",
        "mass": "@value",
        "inertia": "@ixx @iyy @izz @ixy @ixz @iyz",
        "origin": _ORIGIN,
        "visual": "@name origin geometry material drake:accepting_renderer drake:illustration_properties "
        "drake:perception_properties",
        "collision": "@name origin geometry drake:proximity_properties drake_compliance",
        "geometry": _SHAPES,
        "box": "@size",
        "sphere": "@radius",
        "cylinder": "@radius @length",
        "capsule": "@radius @length",
        "plane": "@normal",
        "mesh": "@filename @scale drake:declare_convex",
        "drake:capsule": "@radius @length",
        "drake:ellipsoid": "@a @b @c",
        "material": "@name color texture",
        "color": "@rgba",
        "texture": "@filename",
        "drake:proximity_properties": " ".join(ELEMENTS),
        "drake_compliance": "static_friction dynamic_friction",
        "joint": "@name @type origin parent child axis limit dynamics mimic drake:screw_thread_pitch drake:mimic",
        "drake:joint": "@name @type origin parent child axis limit dynamics mimic drake:screw_thread_pitch",
        "loop_joint": "@name @type link1 link2 axis limit dynamics",
        "link1": "@link @xyz @rpy @quat_xyzw",
        "link2": "@link @xyz @rpy @quat_xyzw",
        "drake:tendon_constraint_joint": "@name @a",
        "parent": "@link",
        "child": "@link",
        "axis": "@xyz",
        "limit": "@lower @upper @velocity @effort @acceleration @deceleration @jerk @drake:acceleration",
        "dynamics": "@damping @friction",
        "mimic": "@joint @multiplier @offset",
        "drake:screw_thread_pitch": "@value",
        "frame": "@name @link @xyz @rpy",
        "transmission": "@name @type type joint actuator mechanicalReduction",
        "transmission/joint": "@name hardwareInterface mechanicalReduction",
        "actuator": "@name hardwareInterface mechanicalReduction motorInertia drake:gear_ratio drake:rotor_inertia "
        "drake:controller_gains",
        "drake:gear_ratio": "@value",
        "drake:rotor_inertia": "@value",
        "drake:controller_gains": "@p @d",
        "drake:collision_filter_group": "@name @ignore drake:member drake:member_group "
        "drake:ignored_collision_filter_group",
        "drake:member": "@link",
        "drake:member_group": "@name",
        "drake:ignored_collision_filter_group": "@name",
    }.items()
}
for _tag, (_start, _named, _valued) in _DRAKE_PARTS.items():
    _children = [(f"{_start}_{end}", "@name") for end in _named.split()]
    _children += [(f"{_start}_{end}", "@value") for end in _valued.split()]
    KNOWN[_tag] = frozenset(child for child, _ in _children)
    KNOWN |= {child: frozenset({attribute}) for child, attribute in _children}
KNOWN["drake:tendon_constraint"] |= {"drake:tendon_constraint_joint"}

FOREIGN = {
    tag: frozenset(names.split())
    for tag, names in {
        "robot": "gazebo sensor ros2_control mujoco plugin properties",
        "link": "@type @concave contact self_collision_checking collision_checking self_filter sensor",
        "joint": "@dont_collapse calibration safety_controller hardwareInterface traits controller_gains",
        "visual": "@group",
        "axis": "@rpy",
        "limit": "@command_effort @current @gear_velocity @stiffness @k_velocity @k_position",
        "dynamics": "@D @K @mu_coulomb @mu_viscous",
        "collision": "verbose surface @concave @group @mask",
        "geometry": "@name material",
        "material": ANY,
        "gazebo": ANY,
        "transmission": ANY,  # each vendor has its own
        "transmission/joint": ANY,
        "transmission/actuator": ANY,
    }.items()
}
