"""Sine and cosine of all coordinates at once, and functions of single numbers, for every scalar type.

The angle is reduced to [-pi/4, pi/4] by multiples of pi/2 in two steps (Cody and Waite 1980), then the minimax
polynomials of that interval are evaluated (their coefficients are those published with Cephes by S. Moshier). The
loop has no branch, so the compiler runs it on vector registers; it is analytic in the angle, so complex steps pass
through. Below LARGEST the error is about one unit in the last place; beyond it the library functions take over.
"""

import numpy as np

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot

TWO_OVER_PI = 0.6366197723675814
HALF_PI_HIGH = 1.5707963109016418  # 25 bits: exact when multiplied by a count below 2^20
HALF_PI_LOW = 1.5893254773528196e-8
LARGEST = 5.0e5  # [rad]


@slot(lanes="queries.lanes.sine_and_cosine", numbers=INJECTED)
def sine_and_cosine(x, sine, cosine):
    """sine[i], cosine[i] of x[i] [rad] for arrays of one length."""
    if largest_magnitude(x) < LARGEST:
        by_polynomials(x, sine, cosine)
    else:
        by_library(x, sine, cosine)


@kernel
def largest_magnitude(x):
    largest = 0.0
    for i in range(x.shape[0]):
        largest = max(largest, abs(x[i].real))
    return largest


@kernel
def by_polynomials(x, sine, cosine):
    for i in range(x.shape[0]):
        count = np.rint(x[i].real * TWO_OVER_PI)
        r = x[i] - count * HALF_PI_HIGH
        r = r - count * HALF_PI_LOW
        z = r * r
        s = r + r * z * (
            -1.66666666666666324348e-01
            + z
            * (
                8.33333333332248946124e-03
                + z
                * (
                    -1.98412698298579493134e-04
                    + z
                    * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
                )
            )
        )
        c = (
            1.0
            - 0.5 * z
            + z
            * z
            * (
                4.16666666666666019037e-02
                + z
                * (
                    -1.38888888888741095749e-03
                    + z
                    * (
                        2.48015872894767294178e-05
                        + z
                        * (
                            -2.75573143513906633035e-07
                            + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)
                        )
                    )
                )
            )
        )
        # the quadrant as 0/1 numbers: odd swaps sine and cosine, half turns change the sign
        half = np.floor(count * 0.5)
        odd = count - 2.0 * half
        sign = 1.0 - 2.0 * (half - 2.0 * np.floor(half * 0.5))
        sine[i] = sign * ((1.0 - odd) * s + odd * c)
        cosine[i] = sign * ((1.0 - odd) * c - odd * s)


@kernel
def by_library(x, sine, cosine):
    for i in range(x.shape[0]):
        sine[i] = np.sin(x[i])
        cosine[i] = np.cos(x[i])


# Functions of one number. tanh and arctan are taken at the real part, and what is left, zero for real numbers and
# tiny for complex steps, enters by their addition theorems: so they are analytic, and exact for large real parts too.


@slot(numbers=INJECTED)
def square_root(x):
    return np.sqrt(x)


@slot(numbers=INJECTED)
def sine_cosine(x):
    """Sine and cosine of one angle [rad]."""
    return np.sin(x), np.cos(x)


@slot(numbers=INJECTED)
def hyperbolic_tangent(x):
    real, rest = np.tanh(x.real), np.tanh(x - x.real)
    return (real + rest) / (1.0 + real * rest)


@slot(numbers=INJECTED)
def arctangent(y, x):
    """Angle [rad] of the point (x, y), in (-pi, pi]."""
    rest = (y * x.real - x * y.real) / (x * x.real + y * y.real)
    return np.arctan2(y.real, x.real) + np.arctan(rest)


@kernel
def nearest_whole(x):
    """The whole number nearest to x."""
    return np.rint(x)


@slot(numbers=INJECTED)
def sign_of(x):
    """1 or -1, the sign of the real part; of zero too."""
    return np.copysign(1.0, x.real)
