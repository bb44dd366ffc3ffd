"""A step of an elastic body that touches nothing."""

from mbcli.errors import NumericalError

TOLERANCE = 1e-10  # of the change of velocities by an iteration, relative to the velocities
MOST_ITERATIONS = 60
SLOW = 0.3  # reduction of the change by an iteration above which the matrix is made anew


def free_step(body, q, v, force, h, tolerance=TOLERANCE):
    """(positions, velocities) after a step of length h [s] under forces (n, 3) [N], to a relative tolerance.

    NumericalError if Newton's method does not converge.
    """
    body.start(q, v, force, h)
    body.factorize()
    return solve_alone(body, tolerance)


def solve_alone(body, tolerance=TOLERANCE):
    """The same for a body whose step is started and factorized."""
    at, before = body.v, None
    for _ in range(MOST_ITERATIONS):
        following = body.improved(at)
        size = body.rate(following - at, following)
        at = following
        if size <= tolerance * tolerance:
            return body.end(at), at
        if before is not None and size > SLOW * SLOW * before:
            body.factorize(body.last, at)
        before = size
    raise NumericalError("the step of an elastic body has no solution that was found: its parts move too far in a step")
