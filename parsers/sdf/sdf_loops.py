"""Joints of closed chains whose place is given by their frames, not by poses of links.

SDFormat puts a joint at its child, and the frame of the parent at the same place when all links stand at their poses.
In a closed chain whose links have no poses all of them stand at the origin, and the frames that its joints name would
mean nothing. They are taken as they stand: a joint connects the frames that it names, which the mechanism has to be
assembled for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.sdf.sdf_scopes import Element
    from mbcli.parsers.spec import JointSpec

CLOSE_CHAINS = ("drake:weld_constraint", "mbcli:weld_constraint")


def connect_named_frames(
    joints: tuple[JointSpec, ...], elements: Sequence[Element], physics: Sequence[Element]
) -> tuple[JointSpec, ...]:
    """The joints (JointSpec) of a model; those between frames that are apart connect them if a chain is closed."""
    parents = Counter(joint.child for joint in joints)
    if max(parents.values(), default=0) < 2 and not any(element.tag in CLOSE_CHAINS for element in physics):
        return joints
    by_name = {element.name: element for element in elements}
    return tuple(_connected(joint, by_name) for joint in joints)


def _connected(joint: JointSpec, elements: Mapping[str, Element]) -> JointSpec:
    element, child = elements[joint.name], elements.get(joint.child)
    parent_frame = element.joint_ends[0]
    frame = elements.get(parent_frame) if parent_frame is not None else None
    if element.tag != "joint" or frame is None or frame.tag != "frame" or child is None:
        return joint
    if element.node.child("pose") is not None or child.node.child("pose") is not None:
        return joint
    X_PF = element.frames.X_AB(joint.parent, frame.name)
    if np.allclose(X_PF, joint.X_PF, rtol=0.0, atol=1e-9):
        return joint
    element.node.diagnostics.warning(
        "JOINT_FRAMES_APART",
        f"connects the frames {frame.name} and {element.joint_ends[1]}, which the poses of links put apart: in a "
        "closed chain of links without poses they are taken as they stand",
        element.node,
    )
    return replace(joint, X_PF=X_PF)
