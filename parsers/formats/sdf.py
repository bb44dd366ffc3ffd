"""SDFormat: models and worlds of Gazebo, with Drake's elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.formats.late import LateFunction
from mbcli.parsers.joint_kinds import Form

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


def has_joint_frame(joint: JointSpec, end: str) -> bool:
    form = joint.kind.forms["sdf"]  # other elements than <joint> connect frames as they are
    return end == "child" and isinstance(form, Form) and form.tag == "joint"
