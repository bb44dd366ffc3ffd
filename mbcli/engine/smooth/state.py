"""Quantities of a state, in the order in which the algorithms need them."""

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.coordinates import normalize_quaternions
from mbcli.engine.smooth.inertia import world_inertias
from mbcli.engine.smooth.kinematics import position_kinematics, velocity_kinematics

UNMET, SINGULAR = 1, 2  # results of finish_step()
SINGULAR_STEP = -1  # result of step_fault() if constraints determine no motion


@kernel
def at_positions(model, data):
    """q -> poses, motion subspaces, inertias in world axes."""
    position_kinematics(model, data)
    world_inertias(model, data)


@kernel
def at_velocities(model, data):
    """q, v -> the same, velocities and their share in accelerations."""
    at_positions(model, data)
    velocity_kinematics(model, data)


@slot(constrained="constraints.constrained_motion.at_constrained_stage")
def at_stage(model, data):
    """As at_velocities(), for the derivatives of a scheme; in plants with constraints q and v may change."""
    at_velocities(model, data)


@slot(constrained="constraints.constrained_motion.error_of_constraints")
def constraint_error(model, data):
    """The norm of the position errors of constraints at q, zero without constraints."""
    return 0.0


@slot(constrained="constraints.constrained_motion.finish_constrained_step", python=INJECTED)
def finish_step(model, data, y, tolerance):
    """Makes y = [q; v] at the end of a step a state: quaternions of unit length, and the demands of constraints.

    `tolerance` is that of the norm of position errors. Returns 0, or that y cannot be made one: UNMET, SINGULAR.
    """
    normalize_quaternions(model, y)
    return 0


@slot(constrained="constraints.constrained_motion.note_constraint_ranks", python=INJECTED)
def note_ranks(data):
    """Notes the memory of constraints from state to state, before one that is only looked at."""


@slot(constrained="constraints.constrained_motion.restore_constraint_ranks", python=INJECTED)
def restore_ranks(data):
    """Restores the memory of constraints of note_ranks()."""


@kernel
def set_state(data, y):
    """q and v = y."""
    nq = data.q.shape[0]
    for i in range(nq):
        data.q[i] = y[i]
    for d in range(data.v.shape[0]):
        data.v[d] = y[nq + d]
