"""Coordinates of a free rotation, one file each: what a joint type with three velocities of rotation has first.

A file NAME.py has NUM_POSITIONS, ADVANCES_BY_RATES and LOCKS, and the kernels of OPERATIONS, each as OPERATION_NAME;
one that is missing is an error at import. registry.py names the files.
"""
