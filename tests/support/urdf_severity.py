"""What each element and attribute of URDF 1.2 and of Gazebo's additions does here, as reading shows: a table of a page.

python tests/support/urdf_severity.py      writes docs/reference/severity.md anew
"""

from mbcli.parsers.urdf.urdf_gazebo import ACTING, OF_SOLVERS, UNUSED
from severity_tables import read, write_to_page

START, END = "<!-- table of URDF -->\n", "<!-- end of the table of URDF -->\n"

MASS = '<mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/>'
ROBOT = (
    f'<robot name="r"ROBOT_ATTRIBUTES><link name="a"><inertial>INERTIAL{MASS}</inertial></link>'
    f'<link name="b"><inertial><origin xyz="0 0 .1"/>{MASS}</inertial>'
    '<visual><geometry><box size=".1 .1 .1"/></geometry>VISUAL</visual>'
    "<collision><geometry>GEOMETRY</geometry>COLLISION</collision></link>"
    f'<link name="c"><inertial>{MASS}</inertial></link>'
    '<joint name="j" type="TYPE"><parent link="a"/><child link="b"/>JOINTAXISLIMIT</joint>'
    '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="1 0 0"/>TURNING</joint>END</robot>'
)
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="9"{}/>'
USUAL = {
    "ROBOT_ATTRIBUTES": "",
    "GEOMETRY": '<sphere radius=".1"/>',
    "TYPE": "revolute",
    "AXIS": '<axis xyz="0 1 0"/>',
    "LIMIT": LIMIT.format(""),
    **dict.fromkeys(("INERTIAL", "VISUAL", "COLLISION", "JOINT", "TURNING", "END"), ""),
}


_SIMPLE = "SimpleTransmission"
_LATER = ("acceleration", "deceleration", "jerk")  # limits of version 1.2


def _limit(name):
    values = {"lower": -1, "upper": 1, "effort": 9, "velocity": 9, name: -3 if name == "lower" else 3}
    return "<limit " + " ".join(f'{key}="{value}"' for key, value in values.items()) + "/>"


def _transmission(kind, joint="", actuator=""):
    return (
        f'<transmission name="t"><type>transmission_interface/{kind}</type><joint name="j">{joint}</joint>'
        f'<actuator name="m">{actuator}</actuator></transmission>'
    )


# what is stated -> where it stands in ROBOT and its text
OF_URDF = {
    "`version` of `<robot>`": {"ROBOT_ATTRIBUTES": ' version="1.2"'},
    "`xyz` of the `<origin>` of a joint": {"JOINT": '<origin xyz="1 0 0"/>'},
    "`rpy`": {"JOINT": '<origin rpy="1 0 0"/>'},
    "`quat_xyzw`": {"ROBOT_ATTRIBUTES": ' version="1.2"', "JOINT": '<origin quat_xyzw="1 0 0 0"/>'},
    "`<origin>` of `<inertial>`": {"INERTIAL": '<origin rpy="1 0 0" xyz=".1 0 0"/>'},
    "`<origin>` of `<visual>`": {"VISUAL": '<origin xyz="1 0 0"/>'},
    "`<color>`": {"VISUAL": '<material name="m"><color rgba="1 0 0 1"/></material>'},
    "`<texture>`": {"VISUAL": '<material name="m"><texture filename="x.png"/></material>'},
    "`<origin>` of `<collision>`": {"COLLISION": '<origin xyz=".1 0 0"/>'},
    "`<verbose>`": {"COLLISION": '<verbose value="1"/>'},
    "`<box>`": {"GEOMETRY": '<box size=".1 .2 .3"/>'},
    "`<cylinder>`": {"GEOMETRY": '<cylinder radius=".1" length="1"/>'},
    "`<capsule>`": {"GEOMETRY": '<capsule radius=".1" length="1"/>'},
    **{f'`type="{kind}"`': {"TYPE": kind} for kind in ("prismatic", "continuous")},
    **{f'`type="{kind}"`': {"TYPE": kind, "LIMIT": ""} for kind in ("floating", "planar", "fixed")},
    "`<axis>`": {"AXIS": '<axis xyz="0 0 1"/>'},
    **{f"`{name}` of `<limit>`": {"LIMIT": _limit(name)} for name in ("lower", "upper", "effort", "velocity")},
    **{f"`{name}` of `<limit>`": {"LIMIT": LIMIT.format(f' {name}="3"')} for name in _LATER},
    "`damping`": {"TURNING": '<dynamics damping="1"/>'},
    "`friction`": {"TURNING": '<dynamics friction="1"/>'},
    "`<mimic>`": {"TURNING": '<mimic joint="j" multiplier="2" offset=".1"/>'},
    "`<calibration>`": {"TURNING": '<calibration rising="1"/>'},
    "`<safety_controller>`": {"TURNING": '<safety_controller k_velocity="1"/>'},
    "`<transmission>` that is simple": {"END": _transmission(_SIMPLE)},
    "`<transmission>` of another type": {"END": _transmission("DifferentialTransmission")},
    "`<mechanicalReduction>`": {"END": _transmission(_SIMPLE, "", "<mechanicalReduction>5</mechanicalReduction>")},
    "`<hardwareInterface>`": {"END": _transmission(_SIMPLE, "<hardwareInterface>E</hardwareInterface>")},
    "`<sensor>`": {"END": '<sensor name="s"><parent link="a"/><camera/></sensor>'},
    "`<ros2_control>`": {"END": '<ros2_control name="x" type="system"/>'},
    "`<loop_joint>`": {
        "END": '<loop_joint name="l" type="fixed"><link1 link="a" xyz="0 0 0"/><link2 link="c"/></loop_joint>'
    },
}
WITHIN = ("`<mechanicalReduction>`", "`<hardwareInterface>`")  # of a transmission that acts
_OTHER_VALUES = {
    "fdir1": "1 0 0",
    "collision": "<surface/>",
    "surface": "<friction/>",
    "velocity_decay": "<linear>1</linear>",
    "gravity": "false",
    **dict.fromkeys(("turnGravityOff", "selfCollide", "self_collide", "static", "enable_wind"), "true"),
}


def of_gazebo(name):
    """Where an element of a <gazebo> element of a link stands, and its text."""
    more = "<mu1>0.5</mu1><mu2>0.1</mu2>" if name == "fdir1" else ""
    value = _OTHER_VALUES.get(name, "0.3")
    return {"END": f'<gazebo reference="b">{more}<{name}>{value}</{name}></gazebo>'}


def robot(stated):
    text = ROBOT
    for name, value in {**USUAL, **stated}.items():
        text = text.replace(name, value)
    return text


def outcome(stated, usual=None):
    """("acts", "a warning", "a note" or "nothing", what the finding says)."""
    before, found = read(robot(usual or {}), "urdf")
    after, findings = read(robot(stated), "urdf")
    if before != after:
        return "acts", ""
    told = {finding.message for finding in found}
    new = sorted((f for f in findings if f.message not in told), key=lambda f: f.severity, reverse=True)
    if not new:
        return "nothing", ""
    return f"a {new[0].severity}", new[0].message.partition(" in <")[2].partition(": ")[2]


def outcomes():
    """{what is stated: outcome()}."""
    simple = {"END": _transmission(_SIMPLE)}
    found = {name: outcome(stated, simple if name in WITHIN else None) for name, stated in OF_URDF.items()}
    for name in (*sorted(ACTING), *UNUSED, *OF_SOLVERS):
        found[f"`<{name}>` of `<gazebo>`"] = outcome(of_gazebo(name))
    return found


def table():
    """The text between the marks of the page."""
    lines = [f"| {name} | {here} | {why} |" for name, (here, why) in outcomes().items()]
    return "\n".join(["| what is stated | here | why |", "|---|---|---|", *lines, ""])


if __name__ == "__main__":
    write_to_page(START, END, table())
