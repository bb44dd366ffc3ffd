"""Up to three rows whose impulse is that of one spring each: constraints of a plant, nearly rigid or not.

Over a step the impulse of a row is (v_hat - v) / R. Numbers of the law: R of all, then v_hat of each; rows that are not
there have no velocity and v_hat = 0.
"""

from mbcli.engine.runtime.kernel import kernel


@kernel
def response_equality(law, i, x, y, z):
    s = 1.0 / law[i, 0]
    return s * (law[i, 1] - x), s * (law[i, 2] - y), s * (law[i, 3] - z), s, s, s, 0.0, 0.0, 0.0


@kernel
def cost_equality(law, i, x, y, z):
    a, b, c, _, _, _, _, _, _ = response_equality(law, i, x, y, z)
    return 0.5 * law[i, 0] * (a * a + b * b + c * c)
