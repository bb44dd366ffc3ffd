"""SDFormat: models and worlds of Gazebo, with Drake's elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.formats.late import LateFunction

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec

TITLE = "SDFormat"
SUFFIXES = (".sdf", ".world")
ROOT_ELEMENTS = ("sdf",)
FILE_TYPES = ()
IN_FOLDERS = True
IS_SCENE = False
NESTS = True
IN_SDFORMAT = False  # an <include> reads the elements of its own format by itself
MIXES_DRIVES = False
DRY_FRICTION = False

read = LateFunction("mbcli.parsers.sdf.read_sdf", "read_sdf")
engine_proof = None
target = LateFunction("mbcli.parsers.writing.sdf_target", "sdf_target")

# Drake's own joints, which connect frames as they are
_ON_FRAMES_OF_LINKS = ("planar", "quaternion_floating", "rpy_floating")


def has_joint_frame(joint: JointSpec, end: str) -> bool:
    return end == "child" and joint.type not in _ON_FRAMES_OF_LINKS
