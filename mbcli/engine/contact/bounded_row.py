"""A single row whose impulse is a spring's between two bounds: limits, controllers, tendons.

Over a step the impulse is clamp((v_hat - v) / R, low, high). Numbers of the law: R, v_hat, low, high; the sign by which
a row of the plant counts.
"""

from mbcli.engine.runtime.kernel import kernel

R, V_HAT, LOW, HIGH, SIGN = 0, 1, 2, 3, 4


@kernel
def bounded_impulse(law, i, v):
    """Impulse at the velocity v of the row, and the cost there."""
    resistance, low, high = law[i, R], law[i, LOW], law[i, HIGH]
    impulse = (law[i, V_HAT] - v) / resistance
    if impulse > high:
        return high, resistance * high * (impulse - 0.5 * high)
    if impulse < low:
        return low, resistance * low * (impulse - 0.5 * low)
    return impulse, 0.5 * resistance * impulse * impulse


@kernel
def bounded_hessian(law, i, v):
    """Second derivative of the cost."""
    impulse = (law[i, V_HAT] - v) / law[i, R]
    if impulse > law[i, HIGH] or impulse < law[i, LOW]:
        return 0.0
    return 1.0 / law[i, R]
