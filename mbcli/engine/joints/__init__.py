"""Joint types, one file each, and the numbers by which arrays name them.

Frame F is on the joint's parent, M on its child. The three types with one axis have it along z of both frames (the
compiler of the model turns the frames so), and write the child's pose and motion subspace in world terms at once. The
others give the pose of M in F and the columns of V_FM in F, and placement.py carries these into the world.
"""

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
