"""The numbers by which arrays name joint types."""

WELD = 0
REVOLUTE = 1
PRISMATIC = 2
SCREW = 3
UNIVERSAL = 4
PLANAR = 5
BALL_RPY = 6
QUATERNION_FLOATING = 7
RPY_FLOATING = 8
CURVILINEAR = 9

# pairs of velocities of one joint, of which the first moves the axis of the second in F: where M is, or how it stands
_OF_FLOATING = tuple((translation, rotation) for translation in (3, 4, 5) for rotation in (0, 1, 2))
CARRIED = {
    UNIVERSAL: ((0, 1),),
    PLANAR: ((0, 2), (1, 2)),
    QUATERNION_FLOATING: _OF_FLOATING,
    RPY_FLOATING: _OF_FLOATING,
}
MOST_VELOCITIES = 6  # of a joint
