"""Joint types, one file each, with all that the engine knows of them; registry.py names them.

Frame F is on the joint's parent, M on its child. A file NAME.py has the CONSTANTS of registry.py and either

    place_NAME(model, data, b, axes, r, is_root)  if HAS_AXIS: along z of both frames (the compiler of the model turns
                                                  the frames so); pose and motion subspace in world terms at once
    pose_NAME, subspace_NAME(model, data, b)      else: the pose of M in F and the columns of V_FM in F, which
    bias_NAME(model, data, b, w, v)               mobilizers.py carries into the world, and what comes of columns that
                                                  move in F

One that is missing is an error at import.
"""
