"""Where a step of a continuous plant meets or leaves a compliant stop: under error control a step ends there.

The force of a stop has a kink there, over which no scheme has its order. A joint with a stop has one velocity, which is
the rate of its position, so that both ends of a step give the cubic of its position.
"""

from mbcli.engine.runtime.kernel import kernel

PARTS = 8  # of a step, in which a position that comes and goes is looked for
CLOSE = 1e-3  # of the accuracy: so near to a stop a position is at it
BISECTIONS = 40
WHOLE = 1.0 - 1e-6  # of a step: a crossing that late is at its end


@kernel
def gap_within_step(model, run, h, n, s):
    """How far stop n is after the part s of the step of length h from y to y_end."""
    d = model.stop_dof[n]
    i, nv = model.dof_q[d], model.dof_q.shape[0]
    k = run.y.shape[0] - nv + d
    rest = 1.0 - s
    start = rest * rest * ((1.0 + 2.0 * s) * run.y[i] + s * h * run.y[k])
    end = s * s * ((3.0 - 2.0 * s) * run.y_end[i] - rest * h * run.y_end[k])
    return model.stop_side[n] * (start + end - model.stop_value[n])


@kernel
def crossing_of_stop(model, run, h, n):
    """The part of the step after which stop n is met or left for the first time; 1.0 if it is not."""
    close, known, last = CLOSE * run.accuracy[0], 0.0, 0.0
    for j in range(PARTS + 1):
        s = j / PARTS
        gap = gap_within_step(model, run, h, n, s)
        if abs(gap) <= close:
            continue
        if known * gap < 0.0:
            low, high = last, s
            for _ in range(BISECTIONS):
                middle = 0.5 * (low + high)
                if known * gap_within_step(model, run, h, n, middle) > 0.0:
                    low = middle
                else:
                    high = middle
            return high
        known, last = gap, s
    return 1.0


@kernel
def part_to_stop(model, run, h):
    """After a step from y to y_end: the part of it after which the first stop is met or left; 1.0 without one."""
    first = 1.0
    for n in range(model.stop_dof.shape[0]):
        first = min(first, crossing_of_stop(model, run, h, n))
    return first if first < WHOLE else 1.0
