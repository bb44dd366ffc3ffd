"""USD: scenes of Omniverse, Isaac and Newton, with the rigid bodies of UsdPhysics."""

from mbcli.parsers.formats.late import LateReader

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
target = engine_proof = None


def has_joint_frame(joint, end):
    return False
