"""Joint types, one file each. The numbers by which arrays name them are in engine/fields/joint_types.py.

Frame F is on the joint's parent, M on its child. The three types with one axis have it along z of both frames (the
compiler of the model turns the frames so), and write the child's pose and motion subspace in world terms at once. The
others give the pose of M in F and the columns of V_FM in F, and placement.py carries these into the world.
"""
