"""Values and derivatives of functions of AutoDiffXd out of their domains and at their ends."""

import math

import pydrake.math
from pydrake.autodiffutils import AutoDiffXd


def show(*what):
    print(*what[:-1], what[-1].value(), *what[-1].derivatives())


for name in ("acos", "asin", "log", "sqrt", "exp", "sinh", "cosh", "sin", "cos", "tan", "atan", "tanh"):
    for x in (-2.0, 0.0, 1.0, 1e4, math.inf, math.nan):
        show(name, x, getattr(pydrake.math, name)(AutoDiffXd(x, [1.0, 2.0])))
for x in (-2.0, 0.0, 2.0):
    for exponent in (0.5, -1.0, 2.0):
        show("power", x, exponent, AutoDiffXd(x, [1.0, 2.0]) ** exponent)
zero = AutoDiffXd(0.0, [1.0, 2.0])
for x in (1.0, 0.0, -1.0):
    number = AutoDiffXd(x, [1.0, 2.0])
    show("ratio", x, number / zero)
    show("by 0", x, number / 0.0)
    show("of number", x, x / zero)
show("arctan2", pydrake.math.atan2(zero, zero))
