"""A robot with two arms as data, and as a file of URDF, SDFormat or MJCF with its meshes."""

import struct
from copy import deepcopy
from itertools import product

FORMATS = {"urdf": ".urdf", "sdf": ".sdf", "mjcf": ".xml"}
MESH = "meshes/forearm.stl"
FOREARM = (0.06, 0.05, 0.25)  # [m]


def robot():
    """{"links": {name: link}, "joints": {name: joint}}: values are those of a file, lengths in metres."""
    links, joints = {"torso": _link((0.25, 0.35, 0.5), (0, 0, 0.25), 12.0)}, {}
    for side, s in (("left", 1), ("right", -1)):
        links[f"{side}_shoulder"] = _link((0.1, 0.12, 0.1), (0, 0.05 * s, 0), 1.5)
        links[f"{side}_upper"] = _link((0.07, 0.09, 0.3), (0, 0.01 * s, -0.15), 2.0)
        links[f"{side}_upper"]["inertia"][3] = 3e-4 * s
        links[f"{side}_forearm"] = _link(FOREARM, (0, 0, -0.125), 1.2, mesh=MESH)
        links[f"{side}_hand"] = _link((0.08, 0.1, 0.05), (0, 0, -0.025), 0.4)
        joints[f"{side}_pitch"] = _joint("torso", f"{side}_shoulder", (0, 0.2 * s, 0.45), (0, 1, 0), (-2.5, 1.2))
        limits = (-0.2, 2.4) if s > 0 else (-2.4, 0.2)
        joints[f"{side}_roll"] = _joint(f"{side}_shoulder", f"{side}_upper", (0, 0.1 * s, 0), (1, 0, 0), limits)
        joints[f"{side}_elbow"] = _joint(f"{side}_upper", f"{side}_forearm", (0, 0, -0.3), (0, 1, 0), (-2.2, 0.05))
        joints[f"{side}_wrist"] = _joint(f"{side}_forearm", f"{side}_hand", (0, 0, -0.25), (0, 0, 1), (-1.5, 1.5))
        for finger, f in (("a", 1), ("b", -1)):
            name = f"{side}_finger_{finger}"
            links[name] = _link((0.01, 0.02, 0.06), (0.01 * f, 0, -0.03), 0.05)
            joints[f"{side}_grip_{finger}"] = _joint(
                f"{side}_hand", name, (0, 0, -0.05), (f, 0, 0), (0, 0.04), kind="prismatic", effort=20, velocity=0.2
            )
        joints[f"{side}_grip_b"]["mimic"] = f"{side}_grip_a"
        joints[f"{side}_grip_b"]["multiplier"] = 1
    return {"links": links, "joints": joints}


def damaged(change):
    """A robot after change(links, joints)."""
    made = deepcopy(robot())
    change(made["links"], made["joints"])
    return made


def write(made, format, folder):
    """The path of its file in a folder, beside its meshes."""
    (folder / "meshes").mkdir(exist_ok=True)
    (folder / MESH).write_bytes(_box_stl(FOREARM))
    path = folder / f"robot{FORMATS[format]}"
    path.write_text({"urdf": _urdf, "sdf": _sdf, "mjcf": _mjcf}[format](made["links"], made["joints"]))
    return path


def _link(size, at, mass, mesh=None):
    x, y, z = (side * side for side in size)
    inertia = [mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y), 0.0, 0.0, 0.0]
    return {
        "size": list(size), "mesh": mesh, "scale": [1, 1, 1], "mass": mass, "com": list(at), "turn": [0, 0, 0],
        "inertia": inertia, "visual": list(at), "collision": list(at), "inertial": True,
    }  # fmt: skip


def _joint(parent, child, at, axis, limits, kind="revolute", effort=60, velocity=3):
    return {
        "parent": parent, "child": child, "at": list(at), "turn": [0, 0, 0], "axis": list(axis), "kind": kind,
        "lower": limits[0], "upper": limits[1], "effort": effort, "velocity": velocity, "mimic": None,
    }  # fmt: skip


def _box_stl(size):
    """A binary STL file of a box about the origin, its triangles outwards."""
    corners = [
        [(2 * bit - 1) * side / 2 for bit, side in zip(bits, size, strict=True)] for bits in product((0, 1), repeat=3)
    ]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    data = b"".join(struct.pack("<12fH", 0, 0, 0, *(x for k in t for x in corners[k]), 0) for t in triangles)
    return b"\0" * 80 + struct.pack("<I", len(triangles)) + data


def _text(values):
    return " ".join(f"{value:.10g}" if isinstance(value, int | float) else value for value in values)


# ------------------------------------------------------------------------------------------------- URDF

_NAMES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")


def _urdf(links, joints):
    lines = ['<robot name="arms">']
    for name, link in links.items():
        lines.append(f'  <link name="{name}">')
        if link["inertial"]:
            moments = " ".join(f'{key}="{_text([value])}"' for key, value in zip(_NAMES, link["inertia"], strict=True))
            lines += [
                "    <inertial>",
                f'      <origin xyz="{_text(link["com"])}" rpy="{_text(link["turn"])}"/>',
                f'      <mass value="{_text([link["mass"]])}"/>',
                f"      <inertia {moments}/>",
                "    </inertial>",
            ]
        shape = f'<box size="{_text(link["size"])}"/>'
        if link["mesh"]:
            shape = f'<mesh filename="{link["mesh"]}" scale="{_text(link["scale"])}"/>'
        for kind in ("visual", "collision"):
            lines.append(f'    <{kind}><origin xyz="{_text(link[kind])}"/><geometry>{shape}</geometry></{kind}>')
        lines.append("  </link>")
    for name, joint in joints.items():
        limits = " ".join(f'{key}="{_text([joint[key]])}"' for key in ("lower", "upper", "effort", "velocity"))
        mimic = f'<mimic joint="{joint["mimic"]}" multiplier="{joint["multiplier"]}"/>' if joint["mimic"] else ""
        lines += [
            f'  <joint name="{name}" type="{joint["kind"]}">',
            f'    <parent link="{joint["parent"]}"/>',
            f'    <child link="{joint["child"]}"/>',
            f'    <origin xyz="{_text(joint["at"])}" rpy="{_text(joint["turn"])}"/>',
            f'    <axis xyz="{_text(joint["axis"])}"/>',
            f"    <limit {limits}/>{mimic}",
            "  </joint>",
        ]
    return "\n".join([*lines, "</robot>", ""])


# --------------------------------------------------------------------------------------------- SDFormat


def _sdf(links, joints):
    lines = ['<sdf version="1.9">', '<model name="arms">']
    inboard = {joint["child"]: joint for joint in joints.values()}
    for name, link in links.items():
        joint = inboard.get(name)
        pose = "" if joint is None else _pose(joint["at"], joint["turn"], joint["parent"])
        lines.append(f'  <link name="{name}">{pose}')
        if link["inertial"]:
            moments = "".join(
                f"<{key}>{_text([value])}</{key}>" for key, value in zip(_NAMES, link["inertia"], strict=True)
            )
            lines += [
                "    <inertial>",
                f"      {_pose(link['com'], link['turn'])}",
                f"      <mass>{_text([link['mass']])}</mass>",
                f"      <inertia>{moments}</inertia>",
                "    </inertial>",
            ]
        shape = f"<box><size>{_text(link['size'])}</size></box>"
        if link["mesh"]:
            shape = f"<mesh><uri>{link['mesh']}</uri><scale>{_text(link['scale'])}</scale></mesh>"
        for kind in ("visual", "collision"):
            lines.append(f'    <{kind} name="{kind}">{_pose(link[kind])}<geometry>{shape}</geometry></{kind}>')
        lines.append("  </link>")
    for name, joint in joints.items():
        mimic = ""
        if joint["mimic"]:
            inside = f"<multiplier>{joint['multiplier']}</multiplier><offset>0</offset><reference>0</reference>"
            mimic = f'<mimic joint="{joint["mimic"]}">{inside}</mimic>'
        limits = "".join(f"<{key}>{_text([joint[key]])}</{key}>" for key in ("lower", "upper", "effort", "velocity"))
        lines += [
            f'  <joint name="{name}" type="{joint["kind"]}">',
            f"    <parent>{joint['parent']}</parent>",
            f"    <child>{joint['child']}</child>",
            f"    <axis><xyz>{_text(joint['axis'])}</xyz><limit>{limits}</limit>{mimic}</axis>",
            "  </joint>",
        ]
    return "\n".join([*lines, "</model>", "</sdf>", ""])


def _pose(at, turn=(0, 0, 0), frame=None):
    relative = "" if frame is None else f' relative_to="{frame}"'
    return f"<pose{relative}>{_text([*at, *turn])}</pose>"


# ------------------------------------------------------------------------------------------------- MJCF


def _mjcf(links, joints):
    meshes = "".join(
        f'<mesh name="{name}_mesh" file="{link["mesh"]}" scale="{_text(link["scale"])}"/>'
        for name, link in links.items()
        if link["mesh"]
    )
    couplings = "".join(
        f'<joint joint1="{name}" joint2="{joint["mimic"]}" polycoef="0 {joint["multiplier"]} 0 0 0"/>'
        for name, joint in joints.items()
        if joint["mimic"]
    )
    lines = [
        '<mujoco model="arms">',
        '<compiler angle="radian" eulerseq="XYZ" inertiafromgeom="false"/>',
        f"<asset>{meshes}</asset>",
        "<worldbody>",
    ]
    held = {joint["child"] for joint in joints.values()}
    for name in links:
        if name not in held:
            lines += _mjcf_body(name, links, joints)
    return "\n".join([*lines, "</worldbody>", f"<equality>{couplings}</equality>", "</mujoco>", ""])


def _mjcf_body(name, links, joints):
    link = links[name]
    held = next(((key, joint) for key, joint in joints.items() if joint["child"] == name), None)
    place = f' pos="{_text(held[1]["at"])}" euler="{_text(held[1]["turn"])}"' if held else ""
    lines = [f'<body name="{name}"{place}>']
    if link["inertial"]:
        lines.append(
            f'  <inertial pos="{_text(link["com"])}" mass="{_text([link["mass"]])}" '
            f'fullinertia="{_text(link["inertia"])}"/>'
        )
    if held:
        key, joint = held
        kind = {"revolute": "hinge", "prismatic": "slide"}.get(joint["kind"], joint["kind"])
        lines.append(
            f'  <joint name="{key}" type="{kind}" axis="{_text(joint["axis"])}" limited="true" '
            f'range="{_text([joint["lower"], joint["upper"]])}"/>'
        )
    for kind, touching in (("visual", "0"), ("collision", "1")):
        shape = f'type="box" size="{_text([side / 2 for side in link["size"]])}"'
        if link["mesh"]:
            shape = f'type="mesh" mesh="{name}_mesh"'
        lines.append(
            f'  <geom name="{name}_{kind}" {shape} pos="{_text(link[kind])}" contype="{touching}" '
            f'conaffinity="{touching}"/>'
        )
    for joint in joints.values():
        if joint["parent"] == name and joint["child"] in links:
            lines += _mjcf_body(joint["child"], links, joints)
    return [*lines, "</body>"]
