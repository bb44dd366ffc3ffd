"""MJCF: the models of MuJoCo."""

from mbcli.parsers.formats.late import LateFunction, LateReader

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
target = LateFunction("mbcli.parsers.writing.mjcf_target", "mjcf_target")


def has_joint_frame(joint, end):
    return False
