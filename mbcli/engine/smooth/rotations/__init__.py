"""Coordinates of a free rotation, one file each: what a joint type with three velocities of rotation has first.

A file NAME.py has NUM_POSITIONS, ADVANCES_BY_RATES and LOCKS, and a kernel OPERATION_NAME for each operation that
registry.py dispatches: rates, velocity, row, advance, normalize, undefined, locked, orientation, turn. One that is
missing is an error at import. registry.py names the files.
"""
