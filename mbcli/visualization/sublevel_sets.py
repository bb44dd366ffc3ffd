"""Where functions of two variables are at most 1, as filled shapes of matplotlib's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LIGHT = (0.8, 0.8, 0.95, 1.0)
LENGTHS = np.geomspace(1e-6, 1e6, 2000)  # at which an expression is tried along a direction


def plot_sublevelset_quadratic(
    ax: Any,
    A: ArrayLike,
    b: ArrayLike = (0.0, 0.0),
    c: float = 0.0,
    vertices: int = 51,
    facecolor: Any = LIGHT,
    **more: Any,
) -> Any:
    """Fills x' A x + b' x + c <= 1, an ellipse.

    Args:
      ax: matplotlib's axes. A: (2, 2), positive definite. b: (2,).
      vertices: of the shape. facecolor, more: as of ax.fill().

    Returns:
      What ax.fill() gives.

    Raises:
      RuntimeError: A is not positive definite, or no point is that low.

    Example:
      >>> import matplotlib.pyplot as plt
      >>> shape = plot_sublevelset_quadratic(plt.figure().gca(), [[1.0, 0.0], [0.0, 4.0]], vertices=4)
      >>> abs(shape[0].get_xy()).max(axis=0).round(6)
      array([1. , 0.5])
    """
    given, slope = np.asarray(A, dtype=float), np.asarray(b, dtype=float)
    form = 0.5 * (given + given.T)
    if not np.linalg.eigvalsh(form).min() > 0.0:
        raise RuntimeError("plot_sublevelset_quadratic: A is not positive definite")
    center = -0.5 * np.linalg.solve(form, slope)
    rest = 1.0 - float(c) + center @ form @ center
    if rest < 0.0:
        raise RuntimeError("plot_sublevelset_quadratic: the function is above 1 everywhere")
    points = center[:, None] + np.sqrt(rest) * np.linalg.solve(np.linalg.cholesky(form).T, _directions(vertices))
    return ax.fill(*points, facecolor=facecolor, **more)


def plot_sublevelset_expression(ax: Any, e: Any, vertices: int = 51, facecolor: Any = LIGHT, **more: Any) -> Any:
    """Fills e(x, y) <= 1, which is to be seen whole from the origin.

    Args:
      ax: matplotlib's axes.
      e: an expression of two variables, the first of which by name is along x; a polynomial of degree 2 is any ellipse.
      vertices: of the shape. facecolor, more: as of ax.fill().

    Returns:
      What ax.fill() gives.

    Raises:
      RuntimeError: the expression has not two variables, or does not pass 1 along a direction.
    """
    import sympy  # late: an extra

    variables = sorted(e.free_symbols, key=str)
    if len(variables) != 2:
        raise RuntimeError(f"plot_sublevelset_expression: {len(variables)} variables, not 2")
    p = e.as_poly(*variables)
    if p is not None and p.total_degree() == 2:
        xx, xy, yy, x, y, c = (float(p.coeff_monomial(m)) for m in ((2, 0), (1, 1), (0, 2), (1, 0), (0, 1), (0, 0)))
        A = [[xx, 0.5 * xy], [0.5 * xy, yy]]
        return plot_sublevelset_quadratic(ax, A, (x, y), c, vertices, facecolor, **more)
    value = sympy.lambdify(variables, e, modules="numpy")
    points = [_edge(value, direction) * direction for direction in _directions(vertices).T]
    return ax.fill(*np.array(points).T, facecolor=facecolor, **more)


def _directions(count: int) -> Any:
    """(2, count)"""
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.array([np.cos(angles), np.sin(angles)])


def _edge(value: Any, direction: Any) -> float:
    """How far along a direction the value first is 1."""
    from scipy.optimize import brentq

    above = np.flatnonzero(np.broadcast_to(value(*np.outer(direction, LENGTHS)), LENGTHS.shape) >= 1.0)
    if not above.size or above[0] == 0:
        raise RuntimeError("plot_sublevelset_expression: the expression does not pass 1 along a direction")
    last, first = LENGTHS[above[0] - 1], LENGTHS[above[0]]
    return float(brentq(lambda s: float(value(*(s * direction))) - 1.0, last, first, xtol=1e-14))
