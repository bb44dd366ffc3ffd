"""MuJoCo's numbers of a soft constraint: how far it is from rigid, and the acceleration that it asks for.

With the impedance d(r) at the violation r the constraint has the acceleration (1 - d) a_0 + d a_ref, where a_0 is that
without it and a_ref = -b v - k d r
(https://mujoco.readthedocs.io/en/stable/computation/index.html, "Constraint model").
"""

from mbcli.engine.runtime.kernel import kernel

SMALLEST = 1e-15


@kernel
def impedance(depth, first, last, width, middle, power):
    """d at a depth [m or rad] >= 0: from `first` at 0 to `last` at `width`, by powers that meet at `middle` of it."""
    if first == last or width <= SMALLEST:
        return 0.5 * (first + last) + 0.0 * depth
    x = depth / width
    if x.real >= 1.0:
        return last + 0.0 * depth
    if power == 1.0:
        y = x
    elif x.real <= middle:
        y = x**power / middle ** (power - 1.0)
    else:
        y = 1.0 - (1.0 - x) ** power / (1.0 - middle) ** (power - 1.0)
    return first + y * (last - first)


@kernel
def reference_numbers(time, ratio, last, h):
    """k [1/s^2] and b [1/s] of `solref`: a time constant, at least two steps h, and a damping ratio; or -k, -b."""
    if time <= 0.0:
        return -time / (last * last), -ratio / last
    time = max(time, 2.0 * h)
    return 1.0 / (last * last * time * time * ratio * ratio), 2.0 / (last * time)
