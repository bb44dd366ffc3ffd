"""Shapes in their own frame G: their sizes, nothing else. Lengths in metres."""

from __future__ import annotations

import os
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh
from mbcli.meshes.height_grids import checked_heights, height_surface

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray

SMALLEST_SCALE = 1e-8


class Shape:
    """Measures are given in the order of MEASURES, one by one or in one array; each is finite and positive.

    RuntimeError for another measure.
    """

    MEASURES: tuple[str, ...] = ()

    def __init__(self, *measures: Any, **named: Any) -> None:
        if "measures" in named:
            measures = (named.pop("measures"),)
        if len(measures) == 1 and len(self.MEASURES) > 1 and np.ndim(measures[0]):
            measures = tuple(np.ravel(measures[0]))
        values = dict(zip(self.MEASURES, measures, strict=False)) | named
        if len(measures) + len(named) != len(self.MEASURES) or set(values) != set(self.MEASURES):
            raise TypeError(f"{type(self).__name__} has the measures {', '.join(self.MEASURES) or 'none'}")
        self._measures = {name: self._checked(name, float(values[name])) for name in self.MEASURES}

    def _checked(self, name: str, value: float) -> float:
        if not 0.0 < value < np.inf:
            raise RuntimeError(f"{type(self).__name__}: its {name} must be finite and positive, it is {value}")
        return value

    def Clone(self) -> Any:
        """A shape of its own with the same measures."""
        return copy(self)

    def __getattr__(self, name: str) -> Callable[[], float]:
        """A measure is a method without arguments."""
        measures = self.__dict__.get("_measures", {})
        if name not in measures:
            raise AttributeError(f"{type(self).__name__} has no '{name}'")
        return lambda: measures[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v:g}' for n, v in self._measures.items())})"


class Box(Shape):
    """Full lengths along x, y, z about the origin."""

    MEASURES = ("width", "depth", "height")

    def size(self) -> FloatArray:
        """(3,)"""
        return np.array(list(self._measures.values()))


class Sphere(Shape):
    """About the origin; the radius may be 0."""

    MEASURES = ("radius",)

    def _checked(self, name: str, value: float) -> float:
        return value if value == 0.0 else super()._checked(name, value)


class Cylinder(Shape):
    """About the origin, along z."""

    MEASURES = ("radius", "length")


class Capsule(Shape):
    """About the origin, along z; `length` is that of the cylinder between the half balls."""

    MEASURES = ("radius", "length")


class Ellipsoid(Shape):
    """Semi-axes along x, y, z."""

    MEASURES = ("a", "b", "c")


class HalfSpace(Shape):
    """Everything below z = 0."""


class HeightField(Shape):
    """The solid between z = -base and heights over a grid in x and y: two triangles a cell.

    Args:
        heights: (rows, columns) [m] over z = 0; rows from -y to y, columns from -x to x; at least 2 of each, at most
            mbcli.meshes.height_grids.MOST_HEIGHTS heights, all above -base.
        x, y: [m] half of its length along x and along y.
        base: [m] how deep the solid goes below z = 0.
    """

    MEASURES = ("x", "y", "base")

    def __init__(self, heights: ArrayLike, x: float, y: float, base: float) -> None:
        super().__init__(x, y, base)
        self.heights = checked_heights(np.array(heights, dtype=float), base)

    def surface(self) -> tuple[FloatArray, IntArray]:
        """Vertices (n, 3) [m] and triangles (m, 3) of the heights and of the walls down to the base, outwards."""
        return height_surface(self.heights, *self._measures.values())

    def __repr__(self) -> str:
        rows, columns = self.heights.shape
        return f"HeightField({rows} x {columns}, {', '.join(f'{n}={v:g}' for n, v in self._measures.items())})"


class MeshcatCone(Shape):
    """Tip at the origin, axis along +z; semi-axes a and b of its base."""

    MEASURES = ("height", "a", "b")

    def __init__(self, *measures: Any, **named: float) -> None:
        if len(measures) == 1 and np.ndim(measures[0]):
            measures = tuple(np.ravel(measures[0]))
        rest = dict.fromkeys(("a", "b")[max(0, len(measures) - 1) :], 1.0)
        super().__init__(*measures, **rest | named)


class Mesh(Shape):
    """The surface in a mesh file (see mbcli.meshes.triangles), scaled.

    Args:
        filename: of the file, which is read when it is needed.
        scale: one number, or three for x, y, z; not near 0, negative ones mirror.
        submesh: the name of the part of the file that is meant; None: all of it.
        center: whether the middle of the box around that part is moved to the origin.
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        scale: float = 1.0,
        *,
        scale3: ArrayLike | None = None,
        submesh: str | None = None,
        center: bool = False,
    ) -> None:
        super().__init__()
        self._filename = os.fspath(filename)
        self.submesh, self.center = submesh, center
        scale3 = np.array(scale if scale3 is None else scale3, dtype=float)
        if scale3.shape not in ((), (3,)) or not (np.isfinite(scale3) & (np.abs(scale3) >= SMALLEST_SCALE)).all():
            raise RuntimeError(f"{self!r}: the scale must be one number or three, none of them near 0, not {scale3}")
        self._scale3 = np.array(np.broadcast_to(scale3, 3))

    def filename(self) -> str:
        """The file's name, as it was given."""
        return self._filename

    def extension(self) -> str:
        """As '.obj', in lower case."""
        return os.path.splitext(self._filename)[1].lower()

    def scale(self) -> float:
        """The one scale; RuntimeError if it differs between the axes."""
        if not (self._scale3 == self._scale3[0]).all():
            raise RuntimeError(f"{self!r} is scaled by {self._scale3.tolist()}, not by one number")
        return float(self._scale3[0])

    def scale3(self) -> FloatArray:
        """(3,)"""
        return self._scale3.copy()

    def GetConvexHull(self) -> PolygonSurfaceMesh:
        """The triangles about all its vertices, scaled. ResourceError or ModelError as of load_triangles()."""
        from mbcli.meshes.hull_surface import hull_surface  # Qhull takes long to be there
        from mbcli.meshes.triangles import load_triangles

        points, _ = load_triangles(self._filename, self._scale3, submesh=self.submesh, center=self.center)
        vertices, triangles = hull_surface(points, self._filename)
        return PolygonSurfaceMesh(np.insert(triangles, 0, 3, axis=1).ravel(), vertices)

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self._filename}')"


class Convex(Mesh):
    """The convex hull of the mesh in a file."""


class ClosedSurface(Shape):
    """What a closed surface of triangles holds that is no file: a cone, a prism. It collides by its convex hull.

    Args:
        vertices: (n, 3) [m]
        triangles: (m, 3) indices of vertices, counterclockwise seen from outside.
        label: what it is, for messages.
    """

    def __init__(self, vertices: ArrayLike, triangles: ArrayLike, label: str) -> None:
        super().__init__()
        self.vertices = np.array(vertices, dtype=float).reshape(-1, 3)
        self.triangles = np.array(triangles, dtype=np.int64).reshape(-1, 3)
        self.label = label

    def __repr__(self) -> str:
        return f"ClosedSurface('{self.label}')"
