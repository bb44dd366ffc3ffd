"""When a limit of a joint can act in a discrete step."""

from mbcli.engine.jit import kernel


@kernel
def limit_gap(model, q, k):
    """How far limit k is at positions q [rad or m]; negative where it is passed."""
    return model.limit_side[k] * (q[model.dof_q[model.limit_dof[k]]] - model.limit_value[k])


@kernel
def reach_of_limits(v, v_free, h):
    """The gap below which a limit can act in a step h: what twice the velocity at its start, or at its end, closes."""
    return 4.0 * h * max(abs(v), abs(v_free))
