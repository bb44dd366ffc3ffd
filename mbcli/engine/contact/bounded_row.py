"""A single row whose impulse is a spring's between two bounds: limits, controllers, tendons.

Over a step the impulse is clamp((v_hat - v) / R, low, high). Numbers of the law: R, v_hat, low, high; the sign by which
a row of the plant counts.
"""

from mbcli.engine.fields.contact_fields import BOUNDED_HIGH, BOUNDED_LOW, BOUNDED_R, BOUNDED_V_HAT
from mbcli.engine.runtime.kernel import kernel


@kernel
def bounded_impulse(law, i, v):
    """Impulse at the velocity v of the row, and the cost there."""
    resistance, low, high = law[i, BOUNDED_R], law[i, BOUNDED_LOW], law[i, BOUNDED_HIGH]
    impulse = (law[i, BOUNDED_V_HAT] - v) / resistance
    if impulse > high:
        return high, resistance * high * (impulse - 0.5 * high)
    if impulse < low:
        return low, resistance * low * (impulse - 0.5 * low)
    return impulse, 0.5 * resistance * impulse * impulse


@kernel
def bounded_hessian(law, i, v):
    """Second derivative of the cost."""
    impulse = (law[i, BOUNDED_V_HAT] - v) / law[i, BOUNDED_R]
    if impulse > law[i, BOUNDED_HIGH] or impulse < law[i, BOUNDED_LOW]:
        return 0.0
    return 1.0 / law[i, BOUNDED_R]
