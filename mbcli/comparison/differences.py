"""A difference between two values of one quantity, and what probably caused it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Factors by which a number is off when its unit was mistaken: (factor, words), by what the number is.
MASSES, LENGTHS, ANGLES, INERTIAS, ANY = "masses", "lengths", "angles", "inertias", "any"
FACTORS = {
    MASSES: (
        (1000.0, "grams for kilograms?"),
        (9.80665, "newtons for kilograms?"),
        (1.0 / 0.45359237, "pounds for kilograms?"),
    ),
    LENGTHS: (
        (1000.0, "millimetres for metres?"),
        (100.0, "centimetres for metres?"),
        (1.0 / 0.0254, "inches for metres?"),
        (2.0, "a diameter for a radius, or a half length for a length?"),
    ),
    ANGLES: ((180.0 / math.pi, "degrees for radians?"),),
    INERTIAS: (
        (1000.0, "grams for kilograms?"),
        (1e4, "centimetres for metres?"),
        (1e6, "millimetres for metres?"),
        (1e9, "grams and millimetres for kilograms and metres?"),
    ),
    ANY: ((1000.0, "thousandths of a unit?"), (180.0 / math.pi, "degrees for radians?"), (2.0, "twice the other")),
}
KIND_OF = {
    "mass": (MASSES,),
    "com": (LENGTHS,),
    "inertia": (INERTIAS,),
    "X_PF": (LENGTHS,),
    "X_CM": (LENGTHS,),
    "X_BF": (LENGTHS,),
    "X_BG": (LENGTHS,),
    "limits": (ANGLES, LENGTHS),
    "lower_limit": (ANGLES, LENGTHS),
    "upper_limit": (ANGLES, LENGTHS),
    "default_position": (ANGLES, LENGTHS),
    "velocity_limit": (ANGLES, LENGTHS),
}
OF_SHAPES = "shape "  # the sizes of shapes are named so
LEAST = 1e-3  # numbers of elements count as that large at least: rounding of a zero is no difference
CLOSE = 1e-4  # relative, of a factor
SHOWN = 6  # digits of a value in words


@dataclass(frozen=True)
class Difference:
    """What differs.

    name: of the quantity. worst: the largest difference of its numbers, infinite where something is missing.
    where: the element, as "joint elbow". cause: in words. engine: that differs from this one, "" for models.
    """

    name: str
    worst: float
    where: str
    cause: str
    engine: str = ""

    def as_dict(self) -> dict:
        """As JSON documents have it."""
        return {"name": self.name, "worst": self.worst, "where": self.where, "cause": self.cause, "engine": self.engine}

    def __str__(self) -> str:
        return f"{self.name} of {self.where}: {self.cause}"


@dataclass
class Comparison:
    """The differences beyond a tolerance, and how many quantities were compared.

    compared: {name of a quantity: largest difference}, relative to the largest number of the quantity and at least to
    1 for states. engines: {name: version, or why it was not compared}. without_result: the engines not compared.
    """

    tolerance: float
    differences: list[Difference] = field(default_factory=list)
    compared: dict[str, float] = field(default_factory=dict)
    engines: dict[str, str] = field(default_factory=dict)
    without_result: list[str] = field(default_factory=list)

    def values(self, name: str, where: str, a: Any, b: Any, labels: tuple[str, str] = ("A", "B")) -> bool:
        """Notes two values of a quantity (numbers, arrays or texts); returns whether they differ."""
        if isinstance(a, str) or isinstance(b, str) or a is None or b is None:
            self.compared.setdefault(name, 0.0)
            if type(a) is type(b) and a == b:  # arrays may stand beside None
                return False
            cause = f"{_words(a)} in {labels[0]}, {_words(b)} in {labels[1]}"
            self.differences.append(Difference(name, math.inf, where, cause))
            return True
        one, other = np.atleast_1d(np.asarray(a, dtype=float)), np.atleast_1d(np.asarray(b, dtype=float))
        worst, relative = deviation(one, other, LEAST)
        self.compared[name] = max(self.compared.get(name, 0.0), relative)
        if relative <= self.tolerance:
            return False
        values = f"{_words(one)} in {labels[0]}, {_words(other)} in {labels[1]}"
        guess = likely_cause(one, other, name)
        self.differences.append(Difference(name, worst, where, f"{values}; {guess}" if guess else values))
        return True

    def missing(self, name: str, where: str, present: str, absent: str) -> None:
        """Notes an element that only one has."""
        self.differences.append(Difference(name, math.inf, where, f"is in {present}, not in {absent}"))


def deviation(one: np.ndarray, other: np.ndarray, least: float = 0.0) -> tuple[float, float]:
    """The largest difference of two arrays, and that relative to the largest number of both, at least to `least`."""
    if one.shape != other.shape:
        return math.inf, math.inf
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        gaps = np.where(same, 0.0, np.abs(one - other))
    worst = float(np.max(gaps, initial=0.0))
    if not math.isfinite(worst):
        return math.inf, math.inf
    finite = np.concatenate([np.abs(x[np.isfinite(x)]).ravel() for x in (one, other)])
    scale = max(float(np.max(finite, initial=0.0)), least)
    return worst, worst / scale if scale else 0.0


def likely_cause(one: np.ndarray, other: np.ndarray, name: str = "") -> str:
    """What may have made one value of the other; "" if nothing is likely. name: of the quantity, which has units."""
    if one.shape != other.shape:
        return ""
    if not np.isfinite(one).all() or not np.isfinite(other).all():
        return "a limit is set in one only" if np.isfinite(one).any() or np.isfinite(other).any() else ""
    if not one.any() or not other.any():
        return "left out in one"
    changed = one != other
    a, b = one[changed], other[changed]
    if np.allclose(a, -b, rtol=1e-9):
        return "the sign is changed"
    if one.size > 1 and np.allclose(np.sort(one), np.sort(other), rtol=1e-9):
        return "the numbers are in another order"
    if a.all() and b.all():
        ratios = b / a
        if np.allclose(ratios, ratios[0], rtol=CLOSE):
            ratio = float(max(abs(ratios[0]), 1.0 / abs(ratios[0])))
            kinds = (LENGTHS,) if name.startswith(OF_SHAPES) else KIND_OF.get(name, ())
            for factor, words in (pair for kind in (*kinds, ANY) for pair in FACTORS[kind]):
                if abs(ratio / factor - 1.0) < CLOSE:
                    return f"a factor of {factor:.6g}: {words}"
    return ""


def _words(value: ArrayLike | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, (str, bool)):
        return repr(value)
    numbers = np.atleast_1d(np.asarray(value, dtype=float)).ravel()
    texts = [f"{x + 0.0:.{SHOWN}g}" for x in numbers]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts[:16])}{', ...' if len(texts) > 16 else ''}]"


def largest_where(one: np.ndarray, other: np.ndarray, names: Sequence[str]) -> str:
    """The name of the row, or of row and column, at which two arrays differ most."""
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(np.abs(one - other), nan=np.inf)
    place = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    return ", ".join(names[k] for k in dict.fromkeys(map(int, place)))
