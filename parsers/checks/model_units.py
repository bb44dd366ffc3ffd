"""Whether masses and sizes of a model are in kilograms and metres: what moves is lighter than air, and huge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.checks.flat_model import WORLD
from mbcli.parsers.checks.link_extent import corners
from mbcli.parsers.checks.welded import welded_groups

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel, MeshBounds
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import LinkSpec

    from mbcli.math.array_types import Vector

LIGHTEST = 0.5  # [kg/m^3] of the boxes around all that moves: air has 1.2
SMALLEST, LEAST_MASS = 5.0, 10.0  # [m, kg] of a model that is looked at: less may be a balloon or a placeholder
LEAST_SHARE = 0.5  # of the mass is in links whose size is known
PLAUSIBLE_DENSITY, PLAUSIBLE_SIZE = (50.0, 2e4), (0.005, 20.0)  # [kg/m^3, m]
UNITS = {  # [kg, m]
    "grams and millimetres": (1e-3, 1e-3),
    "kilograms and millimetres": (1.0, 1e-3),
    "kilograms and centimetres": (1.0, 1e-2),
    "grams and centimetres": (1e-3, 1e-2),
}


def check_model_units(model: FlatModel, report: Report) -> None:
    """UNITS_IMPLAUSIBLE, once a robot: worlds of several have things of all kinds."""
    if sum(mobod.joint is None for mobod in model.forest[0]) > 1:
        return
    group = welded_groups(model)
    moving = [
        (link, link.inertial.mass)
        for name, link in model.links.items()
        if link.inertial is not None and link.inertial.mass > 0 and group[name] != WORLD and report.is_sound(link)
    ]
    sizes = [(mass, _lengths(link, model.mesh_bounds)) for link, mass in moving]
    known = [(mass, lengths) for mass, lengths in sizes if lengths is not None]
    mass, volume = sum(m for m, _ in known), sum(lengths.prod() for _, lengths in known)
    if not known or mass < LEAST_MASS or mass < LEAST_SHARE * sum(m for m, _ in sizes):
        return
    size = max(lengths.max() for _, lengths in known)
    if size < SMALLEST or not mass < LIGHTEST * volume < np.inf:
        return
    density = mass / volume
    likely = [words for words, (kg, m) in UNITS.items() if _is_plausible(density * kg / m**3, size * m)]
    if likely:
        message = (
            f"what moves weighs {mass:.4g} kg, is up to {size:.4g} m long and lighter than air: {density:.2g} kg/m^3"
        )
        report("UNITS_IMPLAUSIBLE", message, model.place, hint=f"is it in {', or in '.join(likely)}?")


def _is_plausible(density: float, size: float) -> bool:
    return all(low <= value <= high for value, (low, high) in ((density, PLAUSIBLE_DENSITY), (size, PLAUSIBLE_SIZE)))


def _lengths(link: LinkSpec, mesh_bounds: MeshBounds) -> Vector | None:
    """(3,) [m] of the box around a link, None if it is unknown."""
    points = corners(link, mesh_bounds)
    return None if points is None else points.max(axis=0) - points.min(axis=0)
