"""The common parts of the elements of a URDF file: names, references to links, poses, numbers with a sign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.angles import check_radians
from mbcli.parsers.duplicate_names import report_duplicate
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.number_texts import ZEROS
from mbcli.parsers.spec import IDENTITY, pose
from mbcli.parsers.xml_node import quoted

from mbcli.common.suggestions import did_you_mean
from mbcli.math.roll_pitch_yaw import rows_from_angles
from mbcli.math.rotation_array import matrix_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4


def read_name(node: Node) -> str | None:
    """The element's name; an error if it is missing, empty or not expanded."""
    name = node.attribute("name", required=True)
    if name is not None:
        _check_name(node, "name", name)
    return name


def _check_name(node: Node, attribute: str, name: str) -> None:
    if not name:
        problem, code = "is empty", "ATTRIBUTE_INVALID"
    elif "${" in name:
        problem, code = f"is unexpanded xacro, {quoted(name)}: run xacro on the file first", "XACRO_UNEXPANDED"
    else:
        return
    node.diagnostics.error(
        code, f'attribute "{attribute}" of <{node.tag}> {problem}', node, attribute=attribute, value=name
    )


def nodes_by_name(nodes: Iterable[Node], kind: str) -> dict[str, Node]:
    """{name: node} in file order; a name given twice is an error and its first element stays."""
    named: dict[str, Node] = {}
    for node in nodes:
        name = read_name(node)
        if name is None:
            node.ignore("settled")
            continue
        first = named.setdefault(name, node)
        if first is not node:
            report_duplicate(node, kind, name, first.place)
            node.ignore("settled")
    return named


def read_link_name(
    node: Node, attribute: str, links: Collection[str], code: str, *, required: bool = True
) -> str | None:
    """The name of a link, or "world", that an attribute states; None after an error."""
    name = node.attribute(attribute, required=required)
    if name is None or name in links or name == WORLD:
        return name
    node.diagnostics.error(
        code,
        f'there is no link "{name}" for attribute "{attribute}" of <{node.tag}>',
        node,
        attribute=attribute,
        value=name,
        hint=did_you_mean(name, links),
    )
    return None


def read_unsigned(
    node: Node, name: str, default: float | None = None, *, required: bool = False, positive: bool = False
) -> Any:
    """A number that must not be negative (or zero, with `positive`); the default after an error."""
    number = node.number(name, default, required=required)
    if number is not None and (number < 0 or (positive and number == 0)):
        node.refuse(
            name,
            f'attribute "{name}" of <{node.tag}> must {"be positive" if positive else "not be negative"}, '
            f"found {number!r}",
            value=repr(number),
        )
        return default
    return number


def read_origin(node: Node) -> Matrix4:
    """The pose that a child <origin> states; identity without one."""
    origin = node.child("origin")
    return IDENTITY if origin is None else read_pose(origin)


def read_pose(node: Node) -> Matrix4:
    """The pose of xyz [m] and rpy [rad] (about the fixed axes x, y, z in that order) or quat_xyzw (URDF 1.1)."""
    xyz = node.vector("xyz", 3)
    rpy = node.vector("rpy", 3)
    quaternion = node.vector("quat_xyzw", 4)
    if quaternion is not None:
        if rpy is not None:
            node.diagnostics.error("ATTRIBUTE_INVALID", f"<{node.tag}> has both rpy and quat_xyzw", node)
        x, y, z, w = quaternion
        wxyz = np.array([w, x, y, z])
        if wxyz.any():
            return pose(matrix_from_quaternion(wxyz / abs(wxyz).max()), xyz)
        node.refuse("quat_xyzw", "a quaternion must not be zero")
    if (xyz is None or xyz is ZEROS) and (rpy is None or rpy is ZEROS):
        return IDENTITY
    if rpy is None or not any(rpy):
        return pose(None, xyz)
    check_radians(rpy, node, "rpy")
    return pose(rows_from_angles(*rpy), xyz)
