"""The values of elements of SDFormat that this program does not use: they must be of their type all the same.

libsdformat refuses a file with such a value. As there, a number may have more text behind it, a vector more numbers,
and an element without text has its default.

Types: http://sdformat.org/spec
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mbcli.parsers.xml_node import quoted

if TYPE_CHECKING:
    from mbcli.parsers.xml_node import Node

_NUMBER = r"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|inf(?:inity)?|nan)"
_REST = r"(?:\D.*)?"


def _numbers(count: int) -> str:
    return rf"{_NUMBER}(?:\s+{_NUMBER}){{{count - 1}}}{_REST}"


# type: (what it is called, its form)
_TYPES = {
    "bool": ("true or false", r"true|false|[01]"),
    "int": ("an integer", rf"[+-]?\d+{_REST}"),
    "double": ("a number", _numbers(1)),
    "vector2": ("2 numbers", _numbers(2)),
    "vector3": ("3 numbers", _numbers(3)),
    "color": ("3 or 4 numbers", rf"{_NUMBER}(?:\s+{_NUMBER}){{2,3}}"),
    "pose": ("6 numbers", rf"{_NUMBER}(?:\s+{_NUMBER}){{5,6}}"),
}
_FORMS = {name: re.compile(form, re.IGNORECASE | re.ASCII | re.DOTALL) for name, (_, form) in _TYPES.items()}

# {parent element: {type: elements}}
_VALUES = {
    "world": {"vector3": "gravity magnetic_field"},
    "wind": {"vector3": "linear_velocity"},
    "scene": {"color": "ambient background", "bool": "shadows grid origin_visual"},
    "physics": {"double": "max_step_size real_time_factor real_time_update_rate", "int": "max_contacts"},
    "spherical_coordinates": {"double": "latitude_deg longitude_deg elevation heading_deg"},
    "model": {"bool": "self_collide allow_auto_disable enable_wind"},
    "link": {"bool": "self_collide enable_wind must_be_base_link kinematic"},
    "velocity_decay": {"double": "linear angular"},
    "visual": {"bool": "cast_shadows", "double": "laser_retro transparency", "int": "visibility_flags"},
    "collision": {"double": "laser_retro", "int": "max_contacts"},
    "material": {
        "color": "ambient specular emissive",
        "double": "shininess render_order",
        "bool": "lighting double_sided",
    },
    "bounce": {"double": "restitution_coefficient threshold"},
    "ode": {"double": "slip1 slip2 soft_cfm soft_erp kp kd max_vel min_depth"},
    "bullet": {"double": "friction friction2 rolling_friction soft_cfm soft_erp kp kd", "vector3": "fdir1"},
    "torsional": {"double": "coefficient patch_radius surface_radius", "bool": "use_patch_radius"},
    "plane": {"vector2": "size"},
    "joint": {"double": "gearbox_ratio thread_pitch screw_thread_pitch"},
    "axis": {"double": "initial_position", "bool": "use_parent_model_frame"},
    "axis2": {"double": "initial_position", "bool": "use_parent_model_frame"},
    "inertial": {"double": "density"},
    "light": {
        "bool": "cast_shadows light_on visualize",
        "color": "diffuse specular",
        "vector3": "direction",
        "double": "intensity",
        "pose": "pose",
    },
    "attenuation": {"double": "range linear constant quadratic"},
    "spot": {"double": "inner_angle outer_angle falloff"},
    "sensor": {"bool": "always_on visualize enable_metrics", "double": "update_rate", "pose": "pose"},
    "actor": {"pose": "pose"},
}
_TYPE_OF = {
    (parent, tag): kind for parent, types in _VALUES.items() for kind, tags in types.items() for tag in tags.split()
}
_SKIPPED = ("plugin",)  # their contents are their own


def check_unused_values(root: Node) -> None:
    """ELEMENT_INVALID for each element below a node whose text was not read and is not of its type."""
    pending = [root]
    while pending:
        node = pending.pop()
        for child in node.child_nodes:
            if child.tag in _SKIPPED:
                continue
            pending.append(child)
            kind = _TYPE_OF.get((node.tag, child.tag))
            if kind is not None and not child.is_text_read:
                _check_value(child, kind)


def _check_value(node: Node, kind: str) -> None:
    text = node.raw_text.strip()
    if text and not _FORMS[kind].fullmatch(text):
        message = f"<{node.tag}> must be {_TYPES[kind][0]}, found {quoted(text)}: it is not used here"
        node.diagnostics.warning("ELEMENT_INVALID", message, node, value=text)
