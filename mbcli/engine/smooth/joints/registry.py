"""The joint types that move bodies of the engine, by the numbers that arrays have for them."""

from importlib import import_module

from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.runtime.dispatch import require_constants
from mbcli.engine.smooth.rotations.registry import NUM_VELOCITIES

JOINTS = {n: import_module(f"mbcli.engine.smooth.joints.{name}") for n, name in enumerate(JOINT_TYPES, start=1)}
MOST_VELOCITIES = 6  # of a joint
CONSTANTS = (
    "NUM_POSITIONS",
    "NUM_VELOCITIES",
    "POSITION_SUFFIXES",
    "VELOCITY_SUFFIXES",
    "IS_ANGULAR",  # whether each velocity is in rad/s, not in m/s
    "ZERO_POSITIONS",
    "ROTATION",  # a module of engine/smooth/rotations of which its first positions are; else qdot = v
    "HAS_AXIS",
    "CARRIED",  # pairs of its velocities, of which the first moves the axis of the second in F
)


def require_counts(modules):
    """ImportError if a joint type says something of another number of coordinates than it has.

    Behind the positions of ROTATION each is the integral of a velocity: there is no place for other rates of positions.
    """
    for module in modules:
        nq, nv = module.NUM_POSITIONS, module.NUM_VELOCITIES
        counts = {"POSITION_SUFFIXES": nq, "ZERO_POSITIONS": nq, "VELOCITY_SUFFIXES": nv, "IS_ANGULAR": nv}
        wrong = [f"{name} of {count}" for name, count in counts.items() if len(getattr(module, name)) != count]
        turning = module.ROTATION
        if nq - nv != (0 if turning is None else turning.NUM_POSITIONS - NUM_VELOCITIES):
            wrong.append(f"a ROTATION by which {nq} positions have {nv} velocities")
        if wrong:
            raise ImportError(f"{module.__name__} lacks {', '.join(wrong)}", name=module.__name__, path=module.__file__)


require_constants(JOINTS.values(), CONSTANTS)
require_counts(JOINTS.values())
WITH_AXIS = {number: module for number, module in JOINTS.items() if module.HAS_AXIS}
OTHERS = {number: module for number, module in JOINTS.items() if not module.HAS_AXIS}


def number_of_joint(module):
    """The number of a joint type. ValueError if it moves no bodies of the engine, as welds."""
    for number, other in JOINTS.items():
        if other is module:
            return number
    raise ValueError(f"{module.__name__} is no joint type of the engine")
