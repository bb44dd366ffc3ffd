"""dynibo and frax as peers of StateFunctions, where they are installed: {what: call} at one state.

Both number joints in an order of their own, so that all joints of a state have one value: then neither time nor the
eigenvalues of the mass matrix, by which they are compared, depend on it.
"""

import importlib.util

import numpy as np


def dynibo_calls(path, floats, q, v, x):
    """Of a URDF file, with arrays for the results; no calls if dynibo is not installed or refuses it."""
    if importlib.util.find_spec("dynibo") is None:
        return {}, None
    import dynibo

    still = dynibo.Twist((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    kind = dynibo.FloatingRobot if floats else dynibo.Robot
    try:
        robot = kind.from_urdf(path)
    except dynibo.ModelError as error:
        print(f"dynibo: {error}")
        return {}, None
    n, size = robot.joint_count, robot.generalized_count
    base = (dynibo.BaseState(dynibo.Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), still, still),) if floats else ()
    q, v, x, forces = (np.full(count, value) for count, value in ((n, q), (n, v), (n, x), (size, x)))
    tau, M = robot.inverse_dynamics(*base, q, v, x), robot.mass_matrix(*base, q)
    vdot, last = robot.forward_dynamics(*base, q, v, forces), robot.link_count - 1
    J = robot.jacobian(*base, q, last)
    calls = {
        "inverse dynamics": lambda: robot.inverse_dynamics(*base, q, v, x, out=tau),
        "forward dynamics": lambda: robot.forward_dynamics(*base, q, v, forces, out=vdot),
        "mass matrix": lambda: robot.mass_matrix(*base, q, out=M),
        "gravity": lambda: robot.gravity(*base, q, out=tau),
        "pose": lambda: robot.forward_kinematics(*base, q, last),
        "Jacobian": lambda: robot.jacobian(*base, q, last, out=J),
    }
    return calls, np.array(M).reshape(size, size)


def frax_calls(path, floats, q, v, x):
    """Compiled by JAX in double precision, bases fixed; no calls if frax is not installed."""
    if floats or importlib.util.find_spec("frax") is None:
        return {}, None
    import jax

    jax.config.update("jax_enable_x64", True)
    import frax

    robot = frax.Robot(path)
    states = [np.full(robot.nv, value) for value in (q, v, x)]
    functions = {
        "forward dynamics": jax.jit(lambda q, v, x: robot.forward_dynamics(q, v, x, None)),
        "mass matrix": jax.jit(lambda q, v, x: robot.mass_matrix(q)),
        "gravity": jax.jit(lambda q, v, x: robot.gravity_vector(q)),
        "pose": jax.jit(lambda q, v, x: robot.joint_to_world_transforms(q)),
    }
    M = np.array(functions["mass matrix"](*states))
    return {what: lambda f=f: f(*states).block_until_ready() for what, f in functions.items()}, M
