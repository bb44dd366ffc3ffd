"""URDF: the robots of ROS, with Drake's elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.formats.late import LateFunction, LateReader

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec

TITLE = "URDF"
SUFFIXES = (".urdf", ".xacro")
ROOT_ELEMENTS = ("robot",)
FILE_TYPES = ()
IN_FOLDERS = True
IS_SCENE = False
NESTS = False
IN_SDFORMAT = True
MIXES_DRIVES = False
DRY_FRICTION = False

read = LateReader("mbcli.parsers.urdf.read_urdf", "read_urdf")
engine_proof = None
target = LateFunction("mbcli.parsers.writing.urdf_target", "urdf_target")


def has_joint_frame(joint: JointSpec, end: str) -> bool:
    return end == "parent" or joint.kind.axis_is_normal
