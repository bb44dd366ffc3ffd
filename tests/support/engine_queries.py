"""Calls of the engine's queries (mbcli/engine/queries/plant_queries.py) with fixed arguments, for tests of all kernels.

Each is a function of kernels and the handles of a model and its data, and returns the array that the query fills, if
that is not one of the data.
"""

import numpy as np

from mbcli.engine.runtime.model import Data

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


def answer(name, *arguments):
    """A query that answers in the data."""
    return lambda kernels, model, data: getattr(kernels, name)(model, data, *arguments)


def com_answer(name, *arguments, before=()):
    """One that takes the mass of the selected links."""

    def run(kernels, model, data):
        mass = kernels.query_mass(model, SELECTED)
        getattr(kernels, name)(model, data, *before, SELECTED, mass, *arguments)

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


def link_poses(kernels, model, data):
    R, p = np.zeros((NUM_BODIES, 3, 3), scalar_type(data)), np.zeros((NUM_BODIES, 3), scalar_type(data))
    kernels.query_link_poses(model, data, R, p)
    return np.hstack([R.reshape(-1, 9), p])


def added_force(kernels, model, data):
    forces = AT_POSITION["query_force_at"](kernels, model, data)
    kernels.add_spatial_force(model, data, forces[2], 1, forces)
    return forces


# what returns a result; what answers in fields of the data, and how many rows of the first
AT_POSITION = {
    "query_points": query_in_place("query_points", POINTS, FRAME, MEASURED_IN),
    "query_force_at": query("query_force_at", (3, 6), EXPRESSED_IN, POINT, FORCE, 2),
    "add_spatial_force": added_force,
    "query_translational_jacobian": query(
        "query_translational_jacobian", (6, COLUMNS), FRAME, POINTS, MEASURED_IN, EXPRESSED_IN
    ),
}
ANSWERS_AT_POSITION = {
    "query_pose": ("answer_pose", 1, answer("query_pose", FRAME, MEASURED_IN)),
    "query_angular_jacobian": ("jacobian", 3, answer("query_angular_jacobian", FRAME, MEASURED_IN, EXPRESSED_IN)),
    "query_spatial_jacobian": (
        "jacobian",
        6,
        answer("query_spatial_jacobian", FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    ),
    "query_point_jacobian": ("jacobian", 3, answer("query_point_jacobian", FRAME, POINTS, MEASURED_IN, EXPRESSED_IN)),
    "query_com_jacobian": ("jacobian composite", 3, com_answer("query_com_jacobian", MEASURED_IN, EXPRESSED_IN)),
    "query_com_position": ("answer", 3, com_answer("query_com_position")),
    "query_inertia": ("answer", 12, com_answer("query_inertia", FRAME)),
}
AT_VELOCITY = {
    "query_point_velocities": query_in_place("query_point_velocities", POINTS, FRAME, MEASURED_IN, EXPRESSED_IN),
    "query_translational_bias": query_in_place("query_translational_bias", POINTS, FRAME, MEASURED_IN, EXPRESSED_IN),
}
ANSWERS_AT_VELOCITY = {
    "query_velocity": ("answer", 6, answer("query_velocity", FRAME, MEASURED_IN, EXPRESSED_IN)),
    "query_velocity_of_point": (
        "answer",
        6,
        answer("query_velocity_of_point", FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    ),
    "query_velocity_beside": ("answer", 6, answer("query_velocity_beside", FRAME, 3, MEASURED_IN, EXPRESSED_IN)),
    "query_bias": ("answer", 6, answer("query_bias", FRAME, POINT, MEASURED_IN, EXPRESSED_IN)),
    "query_com_velocity": ("answer", 3, com_answer("query_com_velocity")),
    "query_momentum": ("answer", 6, answer("query_momentum", SELECTED, POINT)),
    "query_com_bias": ("answer A", 3, com_answer("query_com_bias", MEASURED_IN, EXPRESSED_IN)),
    "query_acceleration": (
        "answer A vdot",
        6,
        answer("query_acceleration", J_V[0], FRAME, POINT, MEASURED_IN, EXPRESSED_IN),
    ),
    "query_acceleration_beside": (
        "answer A vdot",
        6,
        answer("query_acceleration_beside", J_V[0], FRAME, 3, MEASURED_IN, EXPRESSED_IN),
    ),
    "query_com_acceleration": (
        "answer A vdot",
        3,
        com_answer("query_com_acceleration", MEASURED_IN, EXPRESSED_IN, before=(J_V[0],)),
    ),
}
add_damping = query("add_damping", COLUMNS, np.array([0.2, 0.3]), 1)
link_accelerations = query("query_link_accelerations", (8, 6))  # of the first links
qdot = answer("query_qdot", J_V[0])
velocity_from_qdot = query("query_velocity_from_qdot", COLUMNS, J_V[0])
qdot_map = query("query_qdot_map", (COLUMNS, COLUMNS))
velocity_map = query("query_velocity_map", (COLUMNS, COLUMNS))
by_qdot = query("query_jacobian_by_qdot", (2, COLUMNS), J_V)


def forces_on_links(model, data):
    """Spatial forces at the origins of links."""
    return np.random.default_rng(5).normal(size=(NUM_BODIES, 6)).astype(scalar_type(data))


def reactions(kernels, model, data):
    result = np.zeros((7, 6), scalar_type(data))
    kernels.query_reactions(model, data, CHAIN, forces_on_links(model, data), result)
    return result
