"""The joint types that move bodies of the engine: files of engine/smooth/joints. Arrays number them from 1 on."""

JOINT_TYPES = (
    "revolute",
    "prismatic",
    "screw",
    "universal",
    "planar",
    "ball_rpy",
    "ball_quaternion",
    "quaternion_floating",
    "rpy_floating",
    "curvilinear",
)
