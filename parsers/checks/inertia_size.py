"""Whether the inertia fits the mass and the size of the link: units and decimal points."""

from __future__ import annotations

from math import inf, log10, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.checks.flat_model import WORLD
from mbcli.parsers.checks.inertia import (
    POINT_RADIUS,
    RELATIVE_TOLERANCE,
    describe_moments,
    is_possible,
    principal_moments,
    steiner,
)
from mbcli.parsers.checks.link_extent import corners, marks_a_place
from mbcli.parsers.checks.report import MAX_RELATED
from mbcli.parsers.checks.welded import welded_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import InertialSpec, LinkSpec

LARGEST_RADIUS = 10.0  # [m] of gyration, for links whose geometry is not known
# All mass within the geometry gives a radius of gyration below its reach from the centre of mass; models simplify.
REACH_FACTOR = 2.0
SMALLEST_SHARE = 1 / 50  # of the reach: a solid ball has 0.63, a thin disc 0.5; much less is another unit
POINT_SHARE = 1e-6  # of the reach [or of a metre]: less is a point mass, not a mistaken unit
ISOTROPIC, ROUND = 0.02, 1  # relative; digits behind the point, of moments that are one number for all axes
NEGLIGIBLE = 0.01  # of the largest moment of inertia of the links that move with it

# the factor by which a tensor is off if it is given in another unit
UNITS = {-3: "g m^2", -4: "kg cm^2", -6: "kg mm^2", -7: "g cm^2", -9: "g mm^2"}


def check_inertia_sizes(model: FlatModel, report: Report) -> None:
    """INERTIA_IMPLAUSIBLE, INERTIA_PLACEHOLDER, INERTIA_ZERO of links whose inertia is possible;
    INERTIA_DEFAULT or INERTIA_ALL_DEFAULT once a model."""
    stated = [(name, link, link.inertial) for name, link in model.links.items() if link.inertial is not None]
    named = [(name, link, inertial) for name, link, inertial in stated if report.is_sound(link) and _is_solid(inertial)]
    moments, group = model.principal_moments, welded_groups(model)
    largest: dict[str, float] = {}  # moment of inertia among the links that move together
    for name, _, _ in named:
        largest[group[name]] = max(moments[name][2], largest.get(group[name], 0.0))
    defaults: list[Any] = []
    alike: dict[float, list[Any]] = {}  # about a moment [kg m^2] that is that of every axis: (message, hint, link)
    for name, link, inertial in named:
        a, b, c = moments[name]
        if a < 0 or a + b < c * (1 - RELATIVE_TOLERANCE) or group[name] == WORLD:
            continue  # impossible at all, or without effect
        if _is_default(link):
            defaults.append((name, link))
            continue
        reach = _reach(link, model) if report.thorough and not marks_a_place(link, model.mesh_bounds) else None
        radius = sqrt(c / inertial.mass)
        if radius < POINT_RADIUS:
            continue  # a point mass, which the check of the inertia reports
        if radius < POINT_SHARE * (reach or 1.0):
            message = f'link "{name}" is a point mass: its radius of gyration is {radius:.3g} m'
            report("INERTIA_ZERO", message, inertial.place)
            continue
        problem = _problem(radius, reach)
        if problem is not None:
            message = (
                f'link "{name}": the radius of gyration {radius:.3g} m is implausible{problem}: '
                f"{describe_moments(a, b, c)} with {inertial.mass:.6g} kg"
            )
            hint = _likely_cause(inertial, radius, reach)
            if c < NEGLIGIBLE * largest[group[name]]:
                report("INERTIA_PLACEHOLDER", message, inertial.place, hint=hint)
            elif c - a <= ISOTROPIC * c:
                alike.setdefault(float(f"{c:.{ROUND}e}"), []).append((message, hint, inertial))
            else:
                report("INERTIA_IMPLAUSIBLE", message, inertial.place, hint=hint)
    for found in alike.values():
        _report_alike(found, report)
    if defaults:
        _report_defaults(defaults, sum(group[name] != WORLD for name in model.links), report)


def _report_alike(found: Sequence[tuple[str, str | None, InertialSpec]], report: Report) -> None:
    """One finding for links that have one moment of inertia about every axis: a number put in for all of them."""
    (message, hint, first), *others = found
    if others:
        message += f"; {len(others)} more links have the same about every axis"
        if any(inertial.mass != first.mass for _, _, inertial in others):
            hint = "a number put in for all of them, as for a simulator that would be unstable otherwise?"
    related = [inertial.place for _, _, inertial in others[:MAX_RELATED]]
    report("INERTIA_IMPLAUSIBLE", message, first.place, hint=hint, related=related)


def _report_defaults(defaults: Sequence[tuple[str, LinkSpec]], moving: int, report: Report) -> None:
    """One finding for the links (name, LinkSpec) that have the format's mass; moving: how many the model has in all."""
    (name, first), *others = defaults
    more = f" (and {len(others)} more)" if others else ""
    message = f'link "{name}" has no inertial{more}: 1 kg and 1 kg m^2 about every axis are taken'
    code = "INERTIA_ALL_DEFAULT" if len(defaults) == moving else "INERTIA_DEFAULT"
    report(code, message, first.place, related=[link.place for _, link in others[:MAX_RELATED]])


def _is_default(link: LinkSpec) -> bool:
    """Whether the mass is that which SDFormat gives to a link without one."""
    inertial = link.inertial
    if inertial is None:
        return False
    return inertial.place == link.place and inertial.mass == 1 and inertial.inertia == (1, 1, 1, 0, 0, 0)


def _is_solid(inertial: InertialSpec) -> bool:
    return inertial.mass > 0 and any(inertial.inertia)


def _reach(link: LinkSpec, model: FlatModel) -> float | None:
    """The largest distance [m] of the link's own geometry from its centre of mass, or None."""
    points = corners(link, model.mesh_bounds)
    if points is None or link.inertial is None:
        return None
    return float(np.linalg.norm(points - link.inertial.X_LI[:3, 3], axis=1).max()) or None


def _problem(radius: float, reach: float | None) -> str | None:
    if reach is not None and radius > REACH_FACTOR * reach:
        return f", the link's geometry reaches no further than {reach:.3g} m from its centre of mass"
    if reach is not None and radius < SMALLEST_SHARE * reach:
        return f", the link's geometry reaches {reach:.3g} m from its centre of mass"
    return "" if reach is None and radius > LARGEST_RADIUS else None


def _likely_cause(inertial: InertialSpec, radius: float, reach: float | None) -> str | None:
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
    share = 0.6 * size / radius
    exponent = round(2 * log10(share)) if 0 < share < inf else 0
    if exponent == 0:
        return None
    given = f", as if it were given in {UNITS[exponent]}" if exponent in UNITS else ""
    return f"1e{exponent} times the inertia or 1e{-exponent} times the mass would fit{given}"
