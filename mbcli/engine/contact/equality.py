"""Up to three rows whose impulse is that of one spring each: constraints of a plant, nearly rigid or not.

Over a step the impulse of a row is (v_hat - v) / R. Numbers of the law: R of all, then v_hat of each; rows that are not
there have no velocity and v_hat = 0.
"""

from mbcli.engine.runtime.kernel import kernel


@kernel
def equality_impulse(law, i, x, y, z):
    """Impulse at the velocities of the rows, and the cost there."""
    resistance = law[i, 0]
    a, b, c = (law[i, 1] - x) / resistance, (law[i, 2] - y) / resistance, (law[i, 3] - z) / resistance
    return a, b, c, 0.5 * resistance * (a * a + b * b + c * c)
