"""Convex sets and regions without obstacles, under the names of pydrake.geometry.optimization.

What is least over a set Clarabel finds (the extra `solvers`); vertices and facets are Qhull's.
"""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.geometry.optimization.combined_sets import (
        CartesianProduct as CartesianProduct,
        Intersection as Intersection,
        MinkowskiSum as MinkowskiSum,
    )
    from mbcli.geometry.optimization.convex_set import ConvexSet as ConvexSet
    from mbcli.geometry.optimization.hyperellipsoid import Hyperellipsoid as Hyperellipsoid, Point as Point
    from mbcli.geometry.optimization.iris import Iris as Iris, IrisOptions as IrisOptions
    from mbcli.geometry.optimization.polytopes import HPolyhedron as HPolyhedron, VPolytope as VPolytope
