"""Whether the inertia fits the mass and the size of the link: units and decimal points."""

from math import sqrt

import numpy as np

from mbcli.checks.inertia import describe_moments, is_possible, principal_moments, steiner
from mbcli.checks.link_extent import corners

LARGEST_RADIUS = 10.0  # [m] of gyration, for links whose geometry is not known
# All mass within the geometry gives a radius of gyration below its reach from the centre of mass; models simplify.
REACH_FACTOR = 2.0
SMALLEST_SHARE = 1 / 50  # of the reach: a solid ball has 0.63, a thin disc 0.5; much less is another unit

# what a tensor is off by if it is given in another unit
UNITS = {-3: "g m^2", -4: "kg cm^2", -6: "kg mm^2", -7: "g cm^2", -9: "g mm^2"}


def check_inertia_sizes(model, report):
    """INERTIA_IMPLAUSIBLE for each link with a possible inertia that does not fit its mass and geometry."""
    named = [(name, link) for name, link in model.links.items() if link.inertial is not None]
    named = [(name, link) for name, link in named if report.is_sound(link) and _is_solid(link.inertial)]
    moments = principal_moments([link.inertial.inertia for _, link in named])
    for (name, link), (a, b, c) in zip(named, moments, strict=True):
        if a < 0 or a + b < c * (1 - 1e-6):
            continue  # impossible at all
        reach = _reach(link, model) if report.thorough else None
        radius = sqrt(c / link.inertial.mass)
        problem = _problem(radius, reach)
        if problem is not None:
            mass = link.inertial.mass
            message = (
                f'link "{name}": the radius of gyration {radius:.3g} m is implausible{problem}: '
                f"{describe_moments(a, b, c)} with {mass:.6g} kg"
            )
            hint = _likely_cause(link.inertial, radius, reach)
            report("INERTIA_IMPLAUSIBLE", message, link.inertial.place, hint=hint)


def _is_solid(inertial):
    return inertial.mass > 0 and any(inertial.inertia)


def _reach(link, model):
    """The largest distance [m] of the link's own geometry from its centre of mass, or None."""
    points = corners(link, model.mesh_bounds)
    if points is None:
        return None
    return float(np.linalg.norm(points - link.inertial.X_LI[:3, 3], axis=1).max()) or None


def _problem(radius, reach):
    if reach is not None and radius > REACH_FACTOR * reach:
        return f", the link's geometry reaches no further than {reach:.3g} m from its centre of mass"
    if reach is not None and radius < SMALLEST_SHARE * reach:
        return f", the link's geometry reaches {reach:.3g} m from its centre of mass"
    return "" if reach is None and radius > LARGEST_RADIUS else None


def _likely_cause(inertial, radius, reach):
    """A frame or a power of ten that brings the radius of gyration into the geometry, or None."""
    size = reach if reach is not None else 1.0
    about_center = tuple(a - b for a, b in zip(inertial.inertia, steiner(inertial), strict=True))
    if radius > size and any(steiner(inertial)) and is_possible(about_center):
        ((_, _, c),) = principal_moments([about_center])
        if c > 0 and sqrt(c / inertial.mass) <= size:
            return "likely a wrong frame: it must be about the centre of mass, not the link's origin"
    if reach is None:
        return "likely a wrong unit or a misplaced decimal point, of the inertia or of the mass"
    # a solid of uniform density has about 0.6 of its reach
    exponent = round(2 * np.log10(0.6 * size / radius))
    if exponent == 0:
        return None
    unit = UNITS.get(exponent)
    given = f", as if given in {unit}" if unit else ""
    return f"likely a power of ten: 1e{exponent} times the inertia, or 1e{-exponent} times the mass, would fit{given}"
