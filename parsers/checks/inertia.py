"""Whether a body can have its inertia: moments that are not negative and keep the triangle inequality."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import InertialSpec, LinkSpec

# Moments that a file prints with six digits break a condition by rounding; rods and points are legal.
RELATIVE_TOLERANCE = 1e-6
NAMES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
LARGEST_SQUARE = 1e100  # [m^2] of the radius of gyration; beyond it a division overflows
POINT_RADIUS = 1e-6  # [m] of gyration: less is a point mass, whatever the noise in its moments
LARGEST_SHIFT = 9  # places that a decimal point may have moved


if TYPE_CHECKING:

    class Model(Protocol):
        """What is asked of a FlatModel, which asks this file for the moments."""

        @property
        def links(self) -> Mapping[str, LinkSpec]: ...

        @property
        def principal_moments(self) -> Mapping[str, Sequence[float]]: ...


def check_inertias(model: Model, report: Report) -> None:
    """LINK_MASS_INVALID, LINK_INERTIA_INVALID, INERTIA_WITHOUT_MASS and INERTIA_ZERO for each link."""
    named = [(name, link.inertial) for name, link in model.links.items() if link.inertial is not None]
    named = [(name, inertial) for name, inertial in named if report.is_sound(inertial)]
    for name, inertial in named:
        a, b, c = model.principal_moments[name]
        if inertial.mass < 0:
            message = f"the mass {inertial.mass!r} kg is negative"
            report("LINK_MASS_INVALID", message, inertial.place, "mass")
            continue
        if inertial.mass > 0 and not max(map(abs, inertial.inertia)) / inertial.mass < LARGEST_SQUARE:
            message = f"the mass {inertial.mass!r} kg is nothing beside the moments of inertia"
            report("LINK_MASS_INVALID", message, inertial.place, "mass")
            continue
        if not any(inertial.inertia):
            if inertial.mass > 0:
                message = f'link "{name}" is a point mass: its inertia is zero'
                report("INERTIA_ZERO", message, inertial.place, "inertia")
            continue
        if inertial.mass == 0:
            message = f'link "{name}" has no mass: {describe_moments(a, b, c)} are not used'
            report("INERTIA_WITHOUT_MASS", message, inertial.place, "mass", hint="likely the mass is missing")
            continue
        if max(abs(a), abs(c)) < POINT_RADIUS**2 * inertial.mass:
            message = f'link "{name}" is a point mass: {describe_moments(a, b, c)} are next to nothing'
            report("INERTIA_ZERO", message, inertial.place, "inertia")
            continue
        problem = _problem(a, b, c)
        if problem:
            report("LINK_INERTIA_INVALID", problem, inertial.place, hint=_hint(inertial))


def principal_moments(inertias: Sequence[tuple[float, ...]]) -> list[list[float]]:
    """Ascending principal moments [kg m^2], lists of three, of inertias (ixx, iyy, izz, ixy, ixz, iyz)."""
    if not inertias:
        return []
    tensors = np.array(inertias)[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    scale = np.abs(tensors).max(axis=(1, 2), initial=np.finfo(float).tiny)  # squares stay finite
    with np.errstate(over="ignore"):
        return (np.linalg.eigvalsh(tensors / scale[:, None, None]) * scale[:, None]).tolist()


def matrix(inertia: Sequence[float]) -> list[list[float]]:
    """The symmetric 3x3 tensor, as lists, of (ixx, iyy, izz, ixy, ixz, iyz)."""
    ixx, iyy, izz, ixy, ixz, iyz = inertia
    return [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]]


def describe_moments(a: float, b: float, c: float) -> str:
    return f"the principal moments of inertia {a:.6g}, {b:.6g}, {c:.6g} kg m^2"


def _problem(a: float, b: float, c: float) -> str | None:
    """The condition that ascending principal moments break, or None."""
    tolerance = RELATIVE_TOLERANCE * max(abs(a), abs(c))
    if a < -tolerance:
        return f"{describe_moments(a, b, c)} must not be negative: {a:.6g} < 0"
    if a + b < c - tolerance:
        return f"{describe_moments(a, b, c)} break the triangle inequality: {a:.6g} + {b:.6g} < {c:.6g}"
    return None


def is_possible(inertia: tuple[float, ...]) -> bool:
    """Whether a body of some mass can have this inertia (ixx .. iyz)."""
    ((a, b, c),) = principal_moments([inertia])
    return _problem(a, b, c) is None


def steiner(inertial: InertialSpec) -> tuple[float, ...]:
    """The growth of the inertia (ixx .. iyz) from the centre of mass to the link's origin, in the axes of I."""
    x, y, z = (inertial.X_LI[:3, :3].T @ inertial.X_LI[:3, 3]).tolist()
    m = inertial.mass
    return tuple(m * v for v in (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z))


# --------------------------------------------------------------------------------------- the probable meaning


def _hint(inertial: InertialSpec) -> str:
    """The first explanation that makes the inertia possible, and the nearest tensor that is."""
    inertia = inertial.inertia
    causes = (cause for explain in _EXPLANATIONS for cause in explain(inertial))
    cause = next(causes, None)
    nearest = ", ".join(f"{name} {value:.6g}" for name, value in zip(NAMES, nearest_possible(inertia), strict=True))
    return "; ".join(filter(None, (cause, f"the nearest possible inertia is {nearest}")))


def nearest_possible(inertia: tuple[float, ...]) -> tuple[float, ...]:
    """The possible inertia whose second moments of mass are nearest: those that are negative become 0."""
    scale = max(map(abs, inertia))
    tensor = np.array(matrix([value / scale for value in inertia]))
    moments, axes = np.linalg.eigh(np.trace(tensor) / 2 * np.eye(3) - tensor)  # second moments, integrals of x^2 dm
    second = (axes * np.maximum(moments, 0)) @ axes.T
    possible = scale * (np.trace(second) * np.eye(3) - second)
    return tuple(possible[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist())


def _explain_sign(inertial: InertialSpec) -> Iterator[str]:
    """One moment is negative."""
    values = inertial.inertia
    wrong = [name for name, value in zip(NAMES[:3], values[:3], strict=True) if value < 0]
    if len(wrong) == 1 and is_possible((*map(abs, values[:3]), *values[3:])):
        yield f"likely a wrong sign of {wrong[0]}"


def _explain_decimal_point(inertial: InertialSpec) -> Iterator[str]:
    """One number is a power of ten off."""
    values = inertial.inertia
    for shift in range(1, LARGEST_SHIFT + 1):
        for (k, value), factor in product(enumerate(values), (10.0**-shift, 10.0**shift)):
            candidate = (*values[:k], value * factor, *values[k + 1 :])
            if value and min(candidate[:3]) > 0 and np.isfinite(candidate[k]) and is_possible(candidate):
                yield f"likely a misplaced decimal point: {NAMES[k]} {value * factor:.6g} instead of {value:.6g}"


def _explain_products(inertial: InertialSpec) -> Iterator[str]:
    """The products of inertia stand in each other's places, or have wrong signs."""
    moments, products = inertial.inertia[:3], inertial.inertia[3:]
    for order in permutations(products):
        if order != products and is_possible((*moments, *order)):
            yield "likely swapped products: ixy {:.6g}, ixz {:.6g}, iyz {:.6g}".format(*order)
    if is_possible((*moments, *(-value for value in products))):
        yield "likely wrong signs of the products of inertia"


def _explain_order(inertial: InertialSpec) -> Iterator[str]:
    """Six numbers in the order ixx iyy izz ixy ixz iyz, read as ixx ixy ixz iyy iyz izz, and the other way round."""
    ixx, iyy, izz, ixy, ixz, iyz = inertial.inertia
    for candidate in ((ixx, ixy, ixz, iyy, iyz, izz), (ixx, ixy, iyz, iyy, izz, ixz)):
        if min(candidate[:3]) > 0 and is_possible(candidate):
            text = ", ".join(f"{name} {value:.6g}" for name, value in zip(NAMES, candidate, strict=True))
            yield f"likely the six numbers are in another order: {text}"


def _explain_frame(inertial: InertialSpec) -> Iterator[str]:
    """The way from the link's origin to the centre of mass was taken off twice."""
    shift = steiner(inertial)
    if any(shift) and is_possible(tuple(a + b for a, b in zip(inertial.inertia, shift, strict=True))):
        yield "likely a wrong frame: it must be about the centre of mass, and seems to be shifted twice"


_EXPLANATIONS = (
    _explain_sign,
    _explain_order,
    _explain_products,
    _explain_decimal_point,
    _explain_frame,
)
