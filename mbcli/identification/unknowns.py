"""The unknowns of an identification: their kinds, names and units."""

from __future__ import annotations

from dataclasses import dataclass

INERTIAL, ARMATURE, VISCOUS, COULOMB, OFFSET, ASYMMETRY, STRIBECK, ROOT, STIFFNESS, WARMTH = (
    "inertial",
    "armature",
    "viscous",
    "coulomb",
    "offset",
    "asymmetry",
    "stribeck",
    "sqrt",
    "stiffness",
    "temperature",
)
FRICTIONS = (VISCOUS, COULOMB, OFFSET, ASYMMETRY, STRIBECK, ROOT, STIFFNESS, WARMTH)
POSITIVE = (ARMATURE, VISCOUS, COULOMB, STRIBECK, ROOT, STIFFNESS)  # kinds of parameters that are not negative


@dataclass(frozen=True)
class Parameter:
    """One number that is identified.

    Attributes:
        name: as "upper_arm.m" or "elbow.viscous". kind: INERTIAL, ARMATURE, ...; unit.
        element: number of the link, or of the velocity, that it belongs to; component: 0 to 9 of inertial ones.
        old: its value in the file. size: what counts as a large change of it, in its unit.
    """

    name: str
    kind: str
    unit: str
    element: int
    component: int
    old: float
    size: float
