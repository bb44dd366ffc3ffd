"""Calls of the engine's queries (mbcli/engine/queries.py) with fixed arguments, for tests of all kernels.

Each is a function of kernels and the handles of a model and its data, and returns the array that the query fills.
"""

import numpy as np

from mbcli.engine.model import Data

FRAME, MEASURED_IN, EXPRESSED_IN = 7, 20, 26  # on different bodies of the plants that the tests use
FRAMES = np.array([FRAME, EXPRESSED_IN, 0])
POINTS = np.array([[0.1, -0.2], [0.3, 0.5], [-0.4, 0.2]])
POINT = POINTS[:, 0].copy()
NUM_BODIES = 80  # more than any of the plants has
COLUMNS = 80  # of a Jacobian: more than any of the plants has coordinates
J_V = np.random.default_rng(3).normal(size=(2, COLUMNS))
FORCE = np.random.default_rng(4).normal(size=6)
SELECTED = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0])  # of the first links
# a chain: outboard link, inboard link, frame on the child, whether the child is inboard, number of the joint
CHAIN = np.array([(k + 1, k, k + 3, k % 2, k) for k in range(7)])


def query(name, shape, *arguments):
    def run(kernels, model, data):
        result = np.zeros(shape, scalar_type(data))
        getattr(kernels, name)(model, data, *arguments, result)
        return result

    return run


def com_query(name, shape, *arguments, before=()):
    """A query that takes the mass of the selected links."""

    def run(kernels, model, data):
        mass = kernels.query_mass(model, SELECTED)
        return query(name, shape, *before, SELECTED, mass, *arguments)(kernels, model, data)

    return run


def scalar_type(data):
    """Handles of compiled kernels are those of real numbers."""
    return data.q.dtype if isinstance(data, Data) else float


def query_in_place(name, array, *arguments):
    """A query that turns an array into its result."""

    def run(kernels, model, data):
        result = array.astype(scalar_type(data))
        getattr(kernels, name)(model, data, *arguments, result)
        return result

    return run


AT_POSITION = {
    "query_pose": query("query_pose", (1, 4, 3), FRAME, MEASURED_IN),
    "query_poses": query("query_poses", (3, 4, 3), FRAMES, MEASURED_IN),
    "query_points": query_in_place("query_points", POINTS, FRAME, MEASURED_IN),
    "query_force_at": query("query_force_at", (3, 6), EXPRESSED_IN, POINT, FORCE, 2),
    "query_angular_jacobian": query("query_angular_jacobian", (3, COLUMNS), FRAME, MEASURED_IN, EXPRESSED_IN),
    "query_spatial_jacobian": query("query_spatial_jacobian", (6, COLUMNS), FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    "query_translational_jacobian": query(
        "query_translational_jacobian", (6, COLUMNS), FRAME, POINTS, MEASURED_IN, EXPRESSED_IN
    ),
    "query_com_position": com_query("query_com_position", 3),
    "query_inertia": com_query("query_inertia", 12, FRAME),
}
AT_VELOCITY = {
    "query_velocity": query("query_velocity", 6, FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    "query_velocities": query("query_velocities", (3, 6), FRAMES, MEASURED_IN),
    "query_point_velocities": query_in_place("query_point_velocities", POINTS, FRAME, MEASURED_IN, EXPRESSED_IN),
    "query_bias": query("query_bias", 6, FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    "query_translational_bias": query_in_place("query_translational_bias", POINTS, FRAME, MEASURED_IN, EXPRESSED_IN),
    "query_com_velocity": com_query("query_com_velocity", 3),
    "query_momentum": query("query_momentum", 6, SELECTED, POINT),
}
BY_VDOT = {
    "query_acceleration": query("query_acceleration", 6, J_V[0], FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    "query_accelerations": query("query_accelerations", (3, 6), J_V[0], FRAMES, MEASURED_IN),
    "query_com_acceleration": com_query("query_com_acceleration", 3, MEASURED_IN, EXPRESSED_IN, before=(J_V[0],)),
}
RATES = {
    "query_qdot": query("query_qdot", COLUMNS, J_V[0]),
    "query_velocity_from_qdot": query("query_velocity_from_qdot", COLUMNS, J_V[0]),
}
qdot_map = query("query_qdot_map", (COLUMNS, COLUMNS))
velocity_map = query("query_velocity_map", (COLUMNS, COLUMNS))
by_qdot = query("query_jacobian_by_qdot", (2, COLUMNS), J_V)
com_jacobian = com_query("query_com_jacobian", (3, COLUMNS), MEASURED_IN, EXPRESSED_IN)
com_bias = com_query("query_com_bias", 3, MEASURED_IN, EXPRESSED_IN)
reactions = query("query_reactions", (7, 6), CHAIN)
