"""Large convex regions without obstacles (Deits and Tedrake, WAFR 2014).

Planes between an ellipsoid and the obstacles make a polyhedron, whose largest ellipsoid is the next one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.optimization.hyperellipsoid import Hyperellipsoid
from mbcli.geometry.optimization.polytopes import HPolyhedron

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.geometry.optimization.convex_set import ConvexSet

FIRST_RADIUS = 1e-2  # of the ball about the sample


@dataclass
class IrisOptions:
    """When Iris() ends, and where it starts.

    Attributes:
        require_sample_point_is_contained: ends before a region that leaves the sample out.
        iteration_limit: largest number of ellipsoids.
        termination_threshold, relative_termination_threshold: ends where the ellipsoid's volume grows by less.
        starting_ellipse: in place of a small ball about the sample; bounding_region: in addition to the domain.
        verify_domain_boundedness: whether an unbounded domain is refused; else Clarabel may find no ellipsoid.
        termination_func: of a region; ends where it is true.
        configuration_obstacles: without effect in Iris().
    """

    require_sample_point_is_contained: bool = False
    iteration_limit: int = 100
    termination_threshold: float = 2e-2
    relative_termination_threshold: float = 1e-3
    starting_ellipse: Hyperellipsoid | None = None
    bounding_region: HPolyhedron | None = None
    verify_domain_boundedness: bool = True
    termination_func: Callable[[HPolyhedron], bool] | None = None
    configuration_obstacles: list[Any] = field(default_factory=list)


def Iris(
    obstacles: Sequence[ConvexSet], sample: ArrayLike, domain: HPolyhedron, options: IrisOptions | None = None
) -> HPolyhedron:
    """A region of the domain without the inside of obstacles, grown from a sample (n,): first the domain's rows.

    ValueError if the domain is unbounded or of another dimension; RuntimeError if nothing of it is left.
    """
    options = options or IrisOptions()
    sample = np.ravel(np.asarray(sample, dtype=float))
    if {len(sample), *(o.ambient_dimension() for o in obstacles)} != {domain.ambient_dimension()}:
        raise ValueError(f"Iris: sample, obstacles and domain are of one dimension, {domain.ambient_dimension()}")
    if options.bounding_region is not None:
        domain = domain.Intersection(options.bounding_region)
    if options.verify_domain_boundedness and not domain.IsBounded():
        raise ValueError("Iris: the domain is unbounded")
    ellipsoid = options.starting_ellipse or Hyperellipsoid.MakeHypersphere(FIRST_RADIUS, sample)
    region, volume = domain, ellipsoid.CalcVolume()
    for _ in range(max(1, options.iteration_limit)):
        found = _between(ellipsoid, obstacles, domain)
        if options.require_sample_point_is_contained and not found.PointInSet(sample, 0.0):
            break
        region = found
        if options.termination_func is not None and options.termination_func(region):
            break
        ellipsoid = region.inscribed_ellipsoid()
        before, volume = volume, ellipsoid.CalcVolume()
        if volume - before <= max(options.termination_threshold, options.relative_termination_threshold * before):
            break
    return region


def _between(ellipsoid: Hyperellipsoid, obstacles: Sequence[ConvexSet], domain: HPolyhedron) -> HPolyhedron:
    """The domain within planes that touch the obstacles, the nearest ones first, where they still matter."""
    metric = ellipsoid.A().T @ ellipsoid.A()
    touching = [ellipsoid.MinimumUniformScalingToTouch(obstacle) for obstacle in obstacles]
    region = domain
    for k in np.argsort([scale for scale, _ in touching], kind="stable"):
        x = touching[k][1]
        normal = metric @ (x - ellipsoid.center())
        if not normal.any():  # the center is inside the obstacle: any plane leads out
            normal[0] = 1.0
        if region.IntersectsWith(obstacles[k]):
            normal /= np.linalg.norm(normal)
            region = region.Intersection(HPolyhedron(normal, normal @ x))
    return region
