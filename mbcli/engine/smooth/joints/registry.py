"""The joint types that move bodies of the engine, by the numbers that arrays have for them."""

from importlib import import_module

from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.runtime.dispatch import require_constants

JOINTS = {n: import_module(f"mbcli.engine.smooth.joints.{name}") for n, name in enumerate(JOINT_TYPES, start=1)}
MOST_VELOCITIES = 6  # of a joint
CONSTANTS = (
    "NUM_POSITIONS",
    "NUM_VELOCITIES",
    "POSITION_SUFFIXES",
    "VELOCITY_SUFFIXES",
    "ZERO_POSITIONS",
    "ROTATION",  # a module of engine/smooth/rotations of which its first positions are; else qdot = v
    "HAS_AXIS",
    "CARRIED",  # pairs of its velocities, of which the first moves the axis of the second in F
)

require_constants(JOINTS.values(), CONSTANTS)
WITH_AXIS = {number: module for number, module in JOINTS.items() if module.HAS_AXIS}
OTHERS = {number: module for number, module in JOINTS.items() if not module.HAS_AXIS}


def number_of_joint(module):
    """The number of a joint type. ValueError if it moves no bodies of the engine, as welds."""
    for number, other in JOINTS.items():
        if other is module:
            return number
    raise ValueError(f"{module.__name__} is no joint type of the engine")
