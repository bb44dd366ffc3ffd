"""The kinds of numbers of a context: floats, complex numbers, AutoDiffXd or symbolic expressions.

All run the kernels of the engine. Objects run them interpreted; the few kernels that compute sines, roots and the like
from the digits of a number, or decide by its size, are given a twin for them here.
"""

from __future__ import annotations

import functools
from math import copysign, inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine import load_kernels
from mbcli.engine.fields.model_fields import MODEL_FIELDS, ROW_OFFSET, ROW_SLOPE
from mbcli.engine.runtime.linking import compiled_kernels, link_interpreted
from mbcli.errors import ModelError
from mbcli.math.array_arguments import as_numbers, describe

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@dataclass(frozen=True)
class Scalar:
    """A scalar type.

    Args:
        name: as in the names of templates.
        dtype: of the arrays that hold it.
        real: number -> its real part as a float, for decisions; None for a symbol, which has none.
        number: what a result of the engine is turned into.
        constant: what becomes of a float of the model; None: it stays.
        kernels: () -> kernels by name; None: those of the engine, compiled or not.
    """

    name: str
    dtype: np.dtype[Any]
    real: Callable[[Any], float | None]
    number: Callable[[Any], Any]
    constant: Callable[[float], Any] | None = None
    kernels: Callable[[bool], Any] | None = None

    def can_compile(self):
        return self.kernels is None

    def load_kernels(self, compiled, model, constrained=False, contact=False, surfaces=False, tamsi=False, sleep=False):
        """Kernels for a model, by name; with constraints, or those of steps that meet contact, if there are any.

        surfaces: those of plants in which solids may meet in contact surfaces. tamsi: those of steps under TAMSI.
        sleep: those of runs in which islands may sleep.
        """
        if self.kernels is not None:
            return self.kernels(constrained)
        plain = model.is_plain and not tamsi
        kinds = ["constrained"] * constrained + ["contact"] * contact + ["surfaces"] * surfaces
        kinds += ["sleep"] * sleep + ["plain"] * plain
        if compiled and self is not FLOAT:
            return compiled_kernels("-".join(kinds))
        return load_kernels(compiled, "-".join(kinds))

    def require_constrained_motion(self):
        """ModelError if motion under constraints cannot be computed with such numbers: it asks which are larger."""
        if self is EXPRESSION:
            raise ModelError(f"motion under constraints cannot be computed with numbers of type {self.name}")

    def require_unlimited_efforts(self, actuators):
        """ModelError naming the first controller whose effort has a limit that such numbers cannot be compared with."""
        limited = next((a for a in actuators if isfinite(a.effort_limit())), None) if self is EXPRESSION else None
        if limited is not None:
            raise ModelError(
                f"actuator '{limited.name()}': a PD controller with a finite effort limit ({limited.effort_limit():g}) "
                f"cannot act on numbers of type {self.name}; give it no limit, or take a plant of float or AutoDiffXd"
            )

    def require_unlimited_positions(self, joint):
        """ModelError if a step would ask whether such a number is within the limits of a joint; None: of none."""
        if self is EXPRESSION and joint is not None:
            raise ModelError(
                f"joint '{joint.name()}': its limits cannot act in a step on numbers of type {self.name}; "
                "give it none, or take a plant of float or AutoDiffXd"
            )

    def clamped(self, value, limit):
        """A number of this type within -limit and limit."""
        if limit == inf:
            return value
        real = self.real(value)
        if real is None:
            from sympy import Max, Min  # late: for symbols alone

            return Max(-limit, Min(limit, value))
        return value if abs(real) <= limit else copysign(limit, real)

    def array(self, value, what):
        """A new array in C order of this scalar's type; TypeError naming `what` where the numbers do not fit."""
        if type(value) is not np.ndarray or value.dtype is not self.dtype:
            value = self._fitting(as_numbers(value, what), what)
        return value.copy()

    def one(self, value, what):
        """One number of this scalar's type; TypeError as from array()."""
        array = self.array(value, what)
        if array.ndim:
            raise TypeError(f"{what}: expected one number, got {describe(value)}")
        return array.item()

    def reals(self, array):
        """The real parts of numbers, for checks; symbols, which have none, are left out."""
        if array.dtype.kind == "f":
            return array
        return np.array([real for real in map(self.real, array.flat) if real is not None], dtype=float)

    def is_positive(self, value):
        """Whether a number of this type is greater than 0; a symbol is, a symbolic number if its value is."""
        real = self.real(value)
        if real is None:
            real = float(value) if value.is_number else 1.0
        return real > 0.0

    def _fitting(self, array, what):
        """Numbers as an array of this type, if that loses nothing."""
        try:
            if array.dtype.kind == "c" and self.dtype.kind != "c":
                raise TypeError
            return array.astype(self.dtype, copy=False)
        except TypeError:
            other = next(type(x).__name__ for x in array.flat if not isinstance(x, float))
            kind = "complex numbers" if array.dtype.kind == "c" else f"numbers of type {other}"
            raise TypeError(f"{what}: {kind} do not fit into a plant of {self.name}") from None

    def convert_model(self, model):
        """A model of floats, or one compiled with this scalar's values, as the engine takes it for this scalar."""
        if model.dtype == self.dtype and self.constant is None:
            return model
        arrays = {}
        if self.constant is not None:
            arrays = {f.name: self.convert(getattr(model, f.name)) for f in MODEL_FIELDS if f.kind == "real"}
        return model.replace(dtype=self.dtype, **arrays)

    def convert(self, array):
        """Numbers of an array as constants of this scalar, if it has its own."""
        if self.constant is None:
            return array
        result = np.empty(array.shape, dtype=object)
        result[...] = np.reshape([self.constant(x) for x in array.flat], array.shape)
        return result


def _same(value):
    return value


def _real_part(value):
    return value.real


FLOAT = Scalar("float", np.dtype(float), _same, float)
COMPLEX = Scalar("complex", np.dtype(complex), _real_part, _same)


@functools.cache
def autodiff_kernels(constrained=False):
    """Functions of one number that AutoDiffXd knows by name; floats in the arrays are constants."""
    from mbcli.engine.smooth import trigonometry  # late: most plants are of floats, and of compiled kernels

    def sine_and_cosine(x, sine, cosine):
        for i, angle in enumerate(x):  # those not set by the user are floats
            sine[i], cosine[i] = dual_number(angle).sin(), dual_number(angle).cos()

    def sine_cosine(x):
        return _function("sin")(x), _function("cos")(x)

    given = {
        trigonometry.sine_and_cosine: sine_and_cosine,
        trigonometry.sine_cosine: sine_cosine,
        trigonometry.square_root: _function("sqrt"),
        trigonometry.hyperbolic_tangent: _function("tanh"),
        trigonometry.arctangent: lambda y, x: dual_number(y).arctan2(dual_number(x)),
        trigonometry.sign_of: lambda x: np.copysign(1.0, x.real),
    }
    return link_interpreted({"numbers", "constrained"} if constrained else {"numbers"}, given)


def _function(name):
    return lambda x: getattr(dual_number(x), name)()


def dual_number(x):
    """A number as an AutoDiffXd."""
    from mbcli.autodiffutils import AutoDiffXd

    return x if isinstance(x, AutoDiffXd) else AutoDiffXd(x)


@functools.cache
def symbolic_kernels(constrained=False):
    """Functions of one number as SymPy has them. What a decision by size would need, as no length, is passed over."""
    import sympy

    from mbcli.engine.limits import bounded_rows, joint_limits
    from mbcli.engine.queries import stages
    from mbcli.engine.smooth import force_elements, trigonometry
    from mbcli.engine.smooth.joints import curvilinear

    def sine_and_cosine(x, sine, cosine):
        for i, angle in enumerate(x):
            sine[i], cosine[i] = sympy.sin(angle), sympy.cos(angle)

    def take_segment(segments, curves, periods, c, q, i, chosen):
        raise NotImplementedError("curvilinear joints have no symbolic form: their segments follow from a number")

    given = {
        trigonometry.sine_and_cosine: sine_and_cosine,
        trigonometry.sine_cosine: lambda x: (sympy.sin(x), sympy.cos(x)),
        trigonometry.square_root: sympy.sqrt,
        trigonometry.hyperbolic_tangent: sympy.tanh,
        trigonometry.arctangent: sympy.atan2,
        trigonometry.sign_of: sympy.sign,
        force_elements.element_fault: lambda model, data: 0,
        stages.calc_element_fault: lambda model, data: 0,
        curvilinear.take_segment: take_segment,
        joint_limits.is_in_reach: lambda model, data, h, k: False,
        bounded_rows.largest_disagreement: lambda model, data: 0,
        bounded_rows.clamped_effort: lambda data, i, x: (
            data.bounded_row[i, ROW_OFFSET] - data.bounded_row[i, ROW_SLOPE] * x
        ),
    }
    return link_interpreted({"numbers"}, given)


def exact_number(value):
    """A float as a rational: its decimal of 14 digits, or a whole number if it is one to rounding.

    The last two digits are rounding of products and of sums of inertias. Rotations by right angles have elements like
    6e-17, which would keep terms alive that are not there.
    """
    import sympy

    if isinstance(value, sympy.Basic) and not isinstance(value, sympy.Float):
        return value
    value = float(value)
    if not isfinite(value):  # as a limit of effort that is none
        return sympy.nan if value != value else sympy.oo if value > 0.0 else -sympy.oo
    if abs(value - round(value)) < 1e-15:
        return sympy.Integer(round(value))
    return sympy.Rational(f"{value:.14g}")


AUTODIFF = Scalar("AutoDiffXd", np.dtype(object), lambda x: x.real, dual_number, kernels=autodiff_kernels)
EXPRESSION = Scalar("Expression", np.dtype(object), lambda x: None, _same, exact_number, symbolic_kernels)
