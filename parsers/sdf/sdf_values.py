"""The common parts of the elements of an SDFormat file: names, poses, numbers in children."""

from __future__ import annotations

from math import radians
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.angles import check_radians
from mbcli.parsers.frame_names import is_reserved
from mbcli.parsers.spec import IDENTITY, pose
from mbcli.parsers.xml_node import quoted

from mbcli.math.roll_pitch_yaw import rows_from_angles
from mbcli.math.rotation_array import matrix_from_quaternion

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol, TypeVar, overload

    from mbcli.parsers.sdf.sdf_frames import FrameScope
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

    Default = TypeVar("Default")

    class FileOfVersion(Protocol):
        """What is asked of `sdf_scopes.File`."""

        @property
        def minor(self) -> int: ...

    class ModelElement(Protocol):
        """What is asked of `sdf_scopes.Element`."""

        @property
        def name(self) -> Any: ...

        @property
        def tag(self) -> str: ...

        @property
        def node(self) -> Node: ...

        @property
        def frames(self) -> FrameScope: ...

        @property
        def file(self) -> FileOfVersion: ...

        @property
        def joint_ends(self) -> tuple[str | None, ...]: ...


LARGEST_COORDINATE = 1e100  # [m]; sums of poses stay finite


def read_name(node: Node, minor: int) -> str | None:
    """The name of an element, or None with an error."""
    name = node.attribute("name", required=True)
    problem = name_problem(name, minor) if name is not None else None
    if problem:
        code, message = problem
        node.diagnostics.error(code, f"<{node.tag}>: {message}", node, attribute="name", value=name)
    if name is None or problem:
        node.ignore("settled")
        return None
    return name


def claim_name(nodes: Mapping[str, Node], name: str, node: Node) -> bool:
    """Whether an element may have a name beside those that have one, {name: node}; False with an error."""
    first = nodes.get(name)
    if first is None:
        return True
    message = f"the name {quoted(name)} of <{node.tag}> is already that of a <{first.tag}>"
    attribute = "name" if "name" in node.attribute_names else None
    node.diagnostics.error("DUPLICATE_NAME", message, node, attribute=attribute, value=name, related=(first.place,))
    node.ignore("settled")
    return False


def name_problem(name: str, minor: int) -> tuple[str, str] | None:
    if not name.strip():
        return "ATTRIBUTE_INVALID", "the name must not be empty"
    if is_reserved(name):
        return "RESERVED_NAME", f"the name {quoted(name)} is reserved"
    if "::" in name and minor >= 8:
        return "RESERVED_NAME", f'the name {quoted(name)} must not contain "::"'
    return None


def read_pose(owner: Node, minor: int) -> tuple[Matrix4, str | None]:
    """(X, name of the frame that X is given in, or None if the file leaves it to the default)."""
    node = owner.child("pose")
    if node is None:
        return IDENTITY, None
    relative_to = node.attribute("relative_to") or None
    if minor <= 6:
        relative_to = relative_to or node.attribute("frame") or None
    elif node.attribute("frame") is not None:
        message = 'attribute "frame" of <pose> is called "relative_to" since SDFormat 1.7'
        node.refuse("frame", message)
    return _read_pose_value(node), relative_to


def _read_pose_value(node: Node) -> Matrix4:
    X = _read_any_pose(node)
    if abs(X[:3, 3]).max() > LARGEST_COORDINATE:
        node.diagnostics.error("ELEMENT_INVALID", f"<pose> is further away than {LARGEST_COORDINATE:g} m", node)
        return IDENTITY
    return X


def _read_any_pose(node: Node) -> Matrix4:
    in_degrees = node.boolean("degrees", False)
    rotation_format = node.attribute("rotation_format", "euler_rpy")
    if rotation_format == "euler_rpy":
        *p, roll, pitch, yaw = node.text_vector(6, (0.0,) * 6)
        angles = (roll, pitch, yaw)
        rpy = [radians(angle) for angle in angles] if in_degrees else angles
        if not in_degrees:
            check_radians(angles, node)
        return pose(rows_from_angles(*rpy) if any(rpy) else None, p)
    if rotation_format != "quat_xyzw":
        message = f'rotation_format must be "euler_rpy" or "quat_xyzw", found {quoted(rotation_format)}'
        node.refuse("rotation_format", message)
        node.text()
        return IDENTITY
    if in_degrees:
        message = '"degrees" does not apply to a pose with a quaternion'
        node.refuse("degrees", message)
    *p, x, y, z, w = node.text_vector(7, (0.0,) * 6 + (1.0,))
    if not any((w, x, y, z)):
        node.diagnostics.error("ELEMENT_INVALID", "the quaternion of <pose> must not be zero", node)
        return IDENTITY
    wxyz = np.array([w, x, y, z])
    return pose(matrix_from_quaternion(wxyz / abs(wxyz).max()), p)


if TYPE_CHECKING:

    @overload
    def child_number(owner: Node, tag: str, default: float) -> float: ...

    @overload
    def child_number(owner: Node, tag: str, default: None) -> float | None: ...


def child_number(owner: Node, tag: str, default: float | None) -> float | None:
    node = owner.child(tag)
    return node.text_number(default, required=True) if node is not None else default


def child_boolean(owner: Node, tag: str, default: bool) -> bool:
    node = owner.child(tag)
    return node.text_boolean(default) if node is not None else default


def child_vector(owner: Node, tag: str, count: int, default: Default) -> Default:
    node = owner.child(tag)
    return node.text_vector(count, default) if node is not None else default


def descendant(node: Node | None, *tags: str) -> Node | None:
    """The child of the child ... of these tags, or None."""
    for tag in tags:
        node = node.child(tag) if node is not None else None
    return node
