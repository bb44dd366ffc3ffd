"""USD: scenes of Omniverse, Isaac and Newton, with the rigid bodies of UsdPhysics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.formats.late import LateFunction, LateReader

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec

TITLE = "USD"
SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
ROOT_ELEMENTS = ()
FILE_TYPES = ("usda", "usdc", "usdz")
IN_FOLDERS = False  # layers of a robot are USD files as well
IS_SCENE = False
NESTS = False
IN_SDFORMAT = False
MIXES_DRIVES = True
DRY_FRICTION = True

read = LateReader("mbcli.parsers.usd.read_usd", "read_usd")
engine_proof = LateFunction("mbcli.conversion.newton_proof", "prove_by_newton")
target = LateFunction("mbcli.parsers.writing.usd_target", "usd_target")


def has_joint_frame(joint: JointSpec, end: str) -> bool:
    return False
