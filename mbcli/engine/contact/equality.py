"""Up to three rows whose impulse is that of one spring each: constraints of a plant, nearly rigid or not.

Over a step the impulse of a row is (v_hat - v) / R. Numbers of the law: R of all, then v_hat of each; rows that are not
there have no velocity and v_hat = 0.
"""

from mbcli.engine.runtime.kernel import kernel


@kernel
def equality_response(law, i, x, y, z):
    """Impulse at the velocities of the rows, and the second derivative of the cost by each."""
    s = 1.0 / law[i, 0]
    return s * (law[i, 1] - x), s * (law[i, 2] - y), s * (law[i, 3] - z), s


@kernel
def equality_cost(law, i, x, y, z):
    """The cost at the velocities of the rows."""
    a, b, c, _ = equality_response(law, i, x, y, z)
    return 0.5 * law[i, 0] * (a * a + b * b + c * c)
