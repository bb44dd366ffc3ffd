"""MJCF: the models of MuJoCo."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.parsers.formats.late import LateFunction, LateReader

if TYPE_CHECKING:
    from mbcli.parsers.spec import JointSpec

TITLE = "MJCF"
SUFFIXES = (".mjcf",)  # most files are named .xml, and known by their root element
ROOT_ELEMENTS = ("mujoco",)
FILE_TYPES = ("xml",)
IN_FOLDERS = True
IS_SCENE = False
NESTS = False
IN_SDFORMAT = False
MIXES_DRIVES = True
DRY_FRICTION = True

read = LateReader("mbcli.parsers.mjcf.read_mjcf", "read_mjcf")
MOST_TRIANGLES = 200_000  # of an STL file

engine_proof = LateFunction("mbcli.conversion.mujoco_proof", "prove_by_mujoco")
target = LateFunction("mbcli.parsers.writing.mjcf_target", "mjcf_target")


def has_joint_frame(joint: JointSpec, end: str) -> bool:
    return False


def readable_mesh(path: str) -> bool:
    """Whether MuJoCo reads a mesh file: OBJ, MSH, or an STL that is not text, of 200,000 triangles at most."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix != ".stl":
        return suffix in (".obj", ".msh")
    with open(path, "rb") as file:
        count = int.from_bytes(file.read(84)[80:], "little")
    return 0 < count <= MOST_TRIANGLES and os.path.getsize(path) == 84 + 50 * count
