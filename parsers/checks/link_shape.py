"""What the geometry of a link says of its mass: density, where the collisions are, how the mass is spread.

Density is that of what shapes and closed meshes enclose. Elsewhere geometry counts as the box around it, which holds
more than the solid: what does not fit a box fits no shape in it.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mbcli.parsers.checks.flat_model import WORLD
from mbcli.parsers.checks.inertia import is_possible, steiner
from mbcli.parsers.checks.inertia_size import REACH_FACTOR
from mbcli.parsers.checks.link_extent import DENSEST, LEAST_VOLUME, corners, corners_of, half_lengths
from mbcli.parsers.checks.welded import welded_groups
from mbcli.parsers.geometry_inertia import mass_properties, matrix_of
from mbcli.parsers.spec import Mesh

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.checks.flat_model import FlatModel, MeshBounds
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import InertialSpec, LinkSpec, Shape

    from mbcli.math.array_types import Matrix, Matrix3, Vector3

LIGHTEST = 5.0  # [kg/m^3]: air has 1.2, a shell of plastic 30
LIGHTER = 0.01  # of the density of most of the model
LEAST_LIGHT_MASS = 1e-3  # [kg]: less is a placeholder
LEAST_COMPARED = 4  # parts of a model that have a density
APART, LEAST_APART = 1.0, 0.1  # between the boxes of visuals and collisions, in diagonals of the larger one, in m
SLENDER = 2.0  # ratio of a moment of inertia and that of the box, which are another axis's
FITS = 1.35  # ratio of moments of an inertia and a box that are the same but for rounding and hollows


class Shaped(NamedTuple):
    """A link with mass, and the box around its geometry."""

    name: str
    link: LinkSpec
    lower: Vector3  # [m] corners in the link frame
    upper: Vector3


def check_densities(model: FlatModel, report: Report) -> None:
    """DENSITY_IMPLAUSIBLE for what moves together, and weighs as no matter does."""
    group = welded_groups(model)
    mass: dict[str, float] = {}
    heaviest: dict[str, tuple[str, InertialSpec]] = {}
    volume: dict[str, float] = {}
    unknown = set()
    for name, link in model.links.items():
        key = group[name]
        if link.inertial is not None and report.is_sound(link):
            mass[key] = mass.get(key, 0.0) + max(link.inertial.mass, 0.0)
            if key not in heaviest or link.inertial.mass > heaviest[key][1].mass:
                heaviest[key] = name, link.inertial
        if not link.visuals and not link.collisions:
            continue
        points = corners(link, model.mesh_bounds)
        if points is None:
            unknown.add(key)
        else:
            sides = np.maximum(points.max(axis=0) - points.min(axis=0), 0.0)
            box = float(sides.prod())
            volume[key] = volume.get(key, 0.0) + min(box, _solid_volume(link, model.mesh_bounds) or box)
    density = {
        key: mass[key] / volume[key]
        for key in mass
        if key != WORLD and key not in unknown and mass[key] > 0 and LEAST_VOLUME < volume.get(key, 0.0) < np.inf
    }
    usual = float(np.median([*density.values()])) if len(density) >= LEAST_COMPARED else 0.0
    for key, value in density.items():
        name, inertial = heaviest[key]
        if value > DENSEST:
            hint = "is it in grams? Or is the geometry in another unit than metres?"
        elif value < LIGHTEST and value < LIGHTER * usual and mass[key] > LEAST_LIGHT_MASS:
            hint = f"most of the model has {usual:.3g} kg/m^3; is it in tonnes? Or is the geometry too large?"
        else:
            continue
        message = f'link "{name}": {mass[key]:.4g} kg in {volume[key]:.3g} m^3 of geometry are {value:.3g} kg/m^3'
        report("DENSITY_IMPLAUSIBLE", message, inertial.place, "mass", hint=hint)


def _solid_volume(link: LinkSpec, mesh_bounds: MeshBounds) -> float:
    """[m^3] that the link's visuals enclose, or its collisions if that is more; of known shapes.

    Of a mesh that is not closed it is that of the box around it.
    """
    sums = [sum(_volume(g.shape, mesh_bounds) for g in shapes) for shapes in (link.visuals, link.collisions)]
    return max(sums)


def _volume(shape: Shape, mesh_bounds: MeshBounds) -> float:
    if isinstance(shape, Mesh):
        extent = mesh_bounds.get(shape.path or "")
        if extent is not None and extent.volume is not None and shape.submesh is None:
            return abs(extent.volume * float(np.prod(shape.scale)))
    half = half_lengths(shape, mesh_bounds)
    if half is None:
        return 0.0
    return float(8.0 * half.prod()) if isinstance(shape, Mesh) else mass_properties(shape, 1.0).mass


def check_collision_places(model: FlatModel, report: Report) -> None:
    """COLLISION_APART for each link whose collisions are not where its visuals are."""
    for name, link in model.links.items():
        if not link.visuals or not link.collisions or not report.is_sound(link):
            continue
        seen, touched = (corners_of(shapes, model.mesh_bounds) for shapes in (link.visuals, link.collisions))
        if (
            seen is None
            or touched is None
            or np.ptp(seen, axis=0).prod() <= LEAST_VOLUME < np.ptp(touched, axis=0).prod()
        ):
            continue  # a visual so small stands for one that is not there
        gap = np.maximum(touched.min(axis=0) - seen.max(axis=0), seen.min(axis=0) - touched.max(axis=0))
        distance = float(np.linalg.norm(np.maximum(gap, 0.0)))
        size = max(float(np.linalg.norm(points.max(axis=0) - points.min(axis=0))) for points in (seen, touched))
        if distance > max(APART * size, LEAST_APART):
            message = f'link "{name}": its collisions are {distance:.3g} m away from its visuals, {size:.3g} m across'
            hint = "are the unit and the frame of the <origin> or <pose> of the collision right?"
            report("COLLISION_APART", message, link.collisions[0].place, "origin", "pose", hint=hint)


def check_inertia_shapes(model: FlatModel, report: Report) -> None:
    """INERTIA_ABOUT_ORIGIN, INERTIA_AXES_SWAPPED for each link whose inertia would be that of its box otherwise."""
    for name, link, lower, upper in _shaped(model, report):
        inertial = link.inertial
        assert inertial is not None
        com = inertial.X_LI[:3, 3]
        if not ((lower < com) & (com < upper)).all():
            continue
        reach = float(np.linalg.norm(np.maximum(upper - com, com - lower)))
        if model.principal_moments[name][2] > inertial.mass * (REACH_FACTOR * reach) ** 2:
            continue  # check_inertia_sizes() tells of it
        most = (upper - com) * (com - lower)  # second moments of mass at the ends of the box, of 1 kg
        box = (upper - lower) ** 2 / 12.0  # of a solid box
        here = _second_moments(matrix_of(inertial.inertia), inertial.X_LI[:3, :3]) / inertial.mass
        shift = steiner(inertial)
        about_center = tuple(a - b for a, b in zip(inertial.inertia, shift, strict=True))
        if (here > most).any() and any(shift) and is_possible(about_center):
            moved = _second_moments(matrix_of(about_center), inertial.X_LI[:3, :3]) / inertial.mass
            if (moved > 0).all() and _distance(moved, box) < np.log(FITS) + 0.5 * np.log(2) < _distance(here, box):
                message = f'link "{name}": no mass within its geometry has such moments of inertia about its centre'
                hint = "likely it is about the link's origin: it must be about the centre of mass"
                report("INERTIA_ABOUT_ORIGIN", message, inertial.place, "inertia", hint=hint)
                continue
        moments, of_box = here.sum() - here, box.sum() - box
        orders = [_distance(moments[[*order]], of_box) for order in permutations(range(3))]  # the first as they are
        if min(orders) < np.log(FITS) and orders[0] > np.log(SLENDER):
            message = f'link "{name}": its moments of inertia are those of its geometry with axes swapped'
            report(
                "INERTIA_AXES_SWAPPED", message, inertial.place, "inertia", hint="are ixx, iyy, izz in their places?"
            )


def _shaped(model: FlatModel, report: Report) -> Iterator[Shaped]:
    group = welded_groups(model)
    for name, link in model.links.items():
        inertial = link.inertial
        if inertial is None or not inertial.mass > 0 or not any(inertial.inertia) or group[name] == WORLD:
            continue
        points = corners(link, model.mesh_bounds) if report.is_sound(link) else None
        if points is not None:
            yield Shaped(name, link, points.min(axis=0), points.max(axis=0))


def _second_moments(inertia: Matrix3, R_LI: Matrix) -> Vector3:
    """(3,) [kg m^2] of mass along the axes of the link, integrals of x^2 dm, about the centre of mass."""
    J = R_LI @ inertia @ R_LI.T
    return np.trace(J) / 2.0 - np.diag(J)


def _distance(moments: Vector3, others: Vector3) -> float:
    """The largest ratio of two triples of second moments, as a logarithm."""
    if not (moments > 0).all() or not (others > 0).all():
        return np.inf
    return float(abs(np.log(moments / others)).max())
