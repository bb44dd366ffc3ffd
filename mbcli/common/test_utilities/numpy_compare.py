"""Comparisons of numbers and arrays of any scalar type, under the names of pydrake.common.test_utilities.

Each is an AssertionError where it does not hold. Two NaN are equal, as numpy.testing has it.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import AutoDiffXd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mbcli.math.array_types import Array


def to_float(x: Any) -> Any:
    """The values of numbers of any scalar type as floats; an expression has one if it has no variables."""
    return np.vectorize(_value, otypes=[float])(np.asarray(x)) if np.ndim(x) else np.float64(_value(x))


def _value(x: Any) -> float:
    x = x.item() if isinstance(x, np.ndarray) else x
    if isinstance(x, AutoDiffXd):
        return x.value()
    return float(x)


def assert_equal(a: Any, b: Any) -> None:
    """All elements are equal; AutoDiffXd with their derivatives, expressions and formulas by structure or as text."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != object and b.dtype != object:
        np.testing.assert_equal(a, b)
        return
    for x, y in np.broadcast(a, b):
        assert _are_equal(x, y), f"{x} is not {y}"


def assert_not_equal(a: Any, b: Any) -> None:
    """Some element is not equal."""
    pairs = list(np.broadcast(np.asarray(a), np.asarray(b)))
    assert pairs, "there are no elements"
    assert not all(_are_equal(x, y) for x, y in pairs), f"{a} is {b}"


def assert_allclose(a: Any, b: Any, atol: float = 1e-15, rtol: float = 0.0) -> None:
    """All elements are equal to tolerances; derivatives of AutoDiffXd too."""
    a, b = np.asarray(a), np.asarray(b)
    np.testing.assert_allclose(to_float(a), to_float(b), atol=atol, rtol=rtol)
    for x, y in np.broadcast(a, b):
        if isinstance(x, AutoDiffXd) and isinstance(y, AutoDiffXd):
            np.testing.assert_allclose(x.derivatives(), y.derivatives(), atol=atol, rtol=rtol)


def assert_float_equal(a: Any, bf: Any) -> None:
    """The values of a are the floats bf."""
    np.testing.assert_equal(to_float(a), np.asarray(bf, dtype=float))


def assert_float_not_equal(a: Any, bf: Any) -> None:
    """Some value of a is not the float in bf."""
    assert_not_equal(to_float(a), np.asarray(bf, dtype=float))


def assert_float_allclose(a: Any, bf: Any, atol: float = 1e-15, rtol: float = 0.0) -> None:
    """The values of a are the floats bf to tolerances."""
    np.testing.assert_allclose(to_float(a), np.asarray(bf, dtype=float), atol=atol, rtol=rtol)


def _are_equal(x: Any, y: Any) -> bool:
    if isinstance(y, str):
        return str(x) == y
    if isinstance(x, AutoDiffXd) and isinstance(y, AutoDiffXd):
        return x.value() == y.value() and np.array_equal(x.derivatives(), y.derivatives())
    if hasattr(x, "EqualTo") and type(x) is type(y):
        return bool(x.EqualTo(y))
    return bool(x == y)


def resolve_type(a: Array) -> type:
    """The one type that all elements have. AssertionError if they have several, or there is none."""
    kinds = {_scalar_type(x) for x in np.asarray(a).flat}
    assert len(kinds) == 1, f"elements have the types {kinds}"
    return kinds.pop()


def _scalar_type(x: Any) -> type:
    if type(x).__module__.startswith("sympy.core"):
        from mbcli.symbolic import Expression, Variable

        return Variable if isinstance(x, Variable) else Expression
    return type(x.item() if isinstance(x, np.generic) else x)


def check_nonsymbolic_types(check_func: Callable[..., object]) -> Callable[..., None]:
    """A test that runs with T=float and T=AutoDiffXd."""
    return _with_types(check_func, lambda: (float, AutoDiffXd))


def check_all_types(check_func: Callable[..., object]) -> Callable[..., None]:
    """A test that runs with T=float, T=AutoDiffXd and T=Expression."""

    def kinds() -> tuple[type, ...]:
        from mbcli.symbolic import Expression  # SymPy is an extra

        return float, AutoDiffXd, Expression

    return _with_types(check_func, kinds)


def _with_types(check: Callable[..., object], kinds: Callable[[], tuple[type, ...]]) -> Callable[..., None]:
    @functools.wraps(check)
    def wrapper(*arguments: Any, **named: Any) -> None:
        for kind in kinds():
            check(*arguments, T=kind, **named)

    return wrapper


@contextmanager
def soft_sub_test(hint_for_error: object) -> Iterator[None]:
    """Prints a hint if an exception leaves the block."""
    try:
        yield
    except Exception:
        print(f"soft_sub_test: {hint_for_error}")
        raise
