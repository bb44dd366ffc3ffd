"""Shapes of where functions are at most 1: their vertices are where these are 1."""

import numpy as np
import pytest

from mbcli.symbolic import Variable
from mbcli.visualization import plot_sublevelset_expression, plot_sublevelset_quadratic

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def ax():
    figure = plt.figure()
    yield figure.gca()
    plt.close(figure)


def test_vertices_of_an_ellipse_are_on_it(ax):
    A, b, c = np.array([[1.0, 0.3], [0.3, 2.0]]), np.array([3.0, 4.0]), -5.0
    x, y = Variable("x"), Variable("y")
    e = x**2 + 0.6 * x * y + 2.0 * y**2 + 3.0 * x + 4.0 * y - 5.0
    for shape in (
        plot_sublevelset_quadratic(ax, A, b, c, vertices=11),
        plot_sublevelset_expression(ax, e, 11, facecolor=(0.0, 0.0, 1.0, 1.0)),
    ):
        points = shape[0].get_xy()
        assert points.shape == (12, 2)
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", points, A, points) + points @ b + c, 1.0, atol=1e-9)
    assert shape[0].get_facecolor() == (0.0, 0.0, 1.0, 1.0)
    with pytest.raises(RuntimeError, match="positive definite"):
        plot_sublevelset_quadratic(ax, -A)
    with pytest.raises(RuntimeError, match="above 1 everywhere"):
        plot_sublevelset_quadratic(ax, A, c=2.0)


def test_vertices_of_any_shape_about_the_origin_are_on_it(ax):
    x, y = Variable("x"), Variable("y")
    e = (x**2 + 4.0 * y**2) * (4.0 * x**2 + y**2) + 0.1 * x**3
    points = plot_sublevelset_expression(ax, e, 30)[0].get_xy()
    values = [float(e.subs({x: p[0], y: p[1]})) for p in points]
    np.testing.assert_allclose(values, 1.0, atol=1e-9)
    with pytest.raises(RuntimeError, match="does not pass 1"):
        plot_sublevelset_expression(ax, x**4 - y**4)
    with pytest.raises(RuntimeError, match="1 variables, not 2"):
        plot_sublevelset_expression(ax, x**4)
