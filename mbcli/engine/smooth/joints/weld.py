"""Weld: no coordinates. Welded links are one body of the engine, so there is nothing to compute here.

The poses of the links in that body are constants of the model (link_X_BL), found by mbcli.common.topology.
"""

NUM_POSITIONS = 0
NUM_VELOCITIES = 0
POSITION_SUFFIXES = ()
VELOCITY_SUFFIXES = ()
IS_ANGULAR = ()
ZERO_POSITIONS = ()
ROTATION = None
HAS_AXIS = False
CARRIED = ()
