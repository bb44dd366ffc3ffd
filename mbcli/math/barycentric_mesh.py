"""Interpolation on a grid, under the name of pydrake.math."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class BarycentricMesh:
    """A grid in n dimensions, and values between its points from n + 1 of them (Freudenthal's simplices).

    Beyond the grid a value is that of the nearest point of its border.

    Args:
        input_grid: for each dimension its coordinates, at least one; the first one changes fastest.
    """

    def __init__(self, input_grid: Iterable[Iterable[float]]) -> None:
        self._grid = [np.array(sorted(set(map(float, axis)))) for axis in input_grid]
        if not self._grid or any(axis.size == 0 for axis in self._grid):
            raise RuntimeError("BarycentricMesh: every dimension has at least one coordinate")
        self._stride = np.cumprod([1, *(axis.size for axis in self._grid[:-1])])

    def get_input_grid(self) -> list[set[float]]:
        """The coordinates of each dimension."""
        return [set(axis.tolist()) for axis in self._grid]

    def get_input_size(self) -> int:
        """The number of dimensions."""
        return len(self._grid)

    def get_num_mesh_points(self) -> int:
        """The number of points."""
        return int(np.prod([axis.size for axis in self._grid]))

    def get_num_interpolants(self) -> int:
        """How many points a value is made of: one more than there are dimensions with several coordinates."""
        return 1 + sum(axis.size > 1 for axis in self._grid)

    def get_mesh_point(self, index: int) -> FloatArray:
        """The coordinates (n,) of a point."""
        if not 0 <= index < self.get_num_mesh_points():
            raise RuntimeError(f"there are {self.get_num_mesh_points()} mesh points, no {index}")
        return np.array(
            [axis[index // stride % axis.size] for axis, stride in zip(self._grid, self._stride, strict=True)]
        )

    def get_all_mesh_points(self) -> FloatArray:
        """The coordinates (n, points)."""
        return np.array([self.get_mesh_point(k) for k in range(self.get_num_mesh_points())]).T

    def EvalBarycentricWeights(self, input: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Points and their weights, which sum up to 1, for coordinates (n,)."""
        x = np.asarray(input, dtype=float).reshape(-1)
        if x.size != len(self._grid):
            raise RuntimeError(f"the mesh has {len(self._grid)} dimensions, the point {x.size}")
        index, steps = (
            0,
            [],
        )  # the corner of largest coordinates; how far below it the point is, and the way to that side
        for value, axis, stride in zip(x, self._grid, self._stride, strict=True):
            if axis.size == 1:
                continue
            if value <= axis[0]:
                steps.append((0.0, 0))
                continue
            k = int(np.clip(np.searchsorted(axis, value), 1, axis.size - 1))
            below = float(np.clip((axis[k] - value) / (axis[k] - axis[k - 1]), 0.0, 1.0))
            index += k * int(stride)
            steps.append((below, int(stride)))
        steps.sort(key=lambda step: -step[0])
        fractions = np.array([1.0, *(below for below, _ in steps), 0.0])
        corners = index - np.cumsum([0, *(stride for _, stride in steps)])
        return corners, -np.diff(fractions)

    def Eval(self, mesh_values: ArrayLike, input: ArrayLike) -> FloatArray:
        """The value (m,) at coordinates (n,), of values (m, points)."""
        points, weights = self.EvalBarycentricWeights(input)
        return np.asarray(np.asarray(mesh_values, dtype=float)[:, points] @ weights)

    def MeshValuesFrom(self, vector_func: Callable[[FloatArray], Any]) -> FloatArray:
        """The values (m, points) of a function of coordinates (n,)."""
        return np.array([np.ravel(vector_func(x)) for x in self.get_all_mesh_points().T], dtype=float).T
