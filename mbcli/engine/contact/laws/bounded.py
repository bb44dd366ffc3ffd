"""A single row whose impulse is a spring's between two bounds: limits, controllers, tendons.

Over a step the impulse is clamp((v_hat - v) / R, low, high). Numbers of the law: R, v_hat, low, high; the sign by which
a row of the plant counts.
"""

from mbcli.engine.fields.contact_fields import BOUNDED_HIGH, BOUNDED_LOW, BOUNDED_R, BOUNDED_V_HAT
from mbcli.engine.runtime.kernel import kernel


@kernel
def response_bounded(law, i, x, y, z):
    impulse, stiffness = impulse_of_row(law, i, x)
    return impulse, 0.0, 0.0, stiffness, 0.0, 0.0, 0.0, 0.0, 0.0


@kernel
def impulse_of_row(law, i, v):
    """Impulse at the velocity v of the row, and the second derivative of the cost."""
    low, high, stiffness = law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH], 1.0 / law[i, BOUNDED_R]
    impulse = (law[i, BOUNDED_V_HAT] - v) * stiffness
    if impulse > high:
        return high, 0.0
    if impulse < low:
        return low, 0.0
    return impulse, stiffness


@kernel
def cost_bounded(law, i, x, y, z):
    impulse, _ = impulse_of_row(law, i, x)
    return impulse * (law[i, BOUNDED_V_HAT] - x - 0.5 * law[i, BOUNDED_R] * impulse)
