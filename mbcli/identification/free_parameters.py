"""Parameters that rollouts are fitted by, as numbers without bounds or units: zero is what the file says.

A positive parameter is value e^theta, another one value + size theta. The pseudo-inertia of a body is L U U^T L^T, of
that of the file, L L^T, and an upper triangle U with the diagonal e^d (Rucker and Wensing 2022): every theta is a body
that can be, and theta = 0 is that of the file. Then the divergence of the body from that of the file is a sum of
squares: |U|^2 - 2 sum d - 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError
from mbcli.identification.subject import possible
from mbcli.models.parameter_assignments import matching_parameters
from mbcli.multibody.core.regressors import MovedBodies
from mbcli.multibody.inertia.inertial_parameters import (
    PARAMETERS,
    UNITS,
    central_inertia,
    parameters_of,
    pseudo_inertia,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel

INERTIAL = ".inertial"  # of body.NAME: all ten parameters
DELAY = "delay"
NOTHING = -40.0  # theta of a positive parameter that is as good as zero
FIRST_DELAY = 0.005  # [s]
UPPER = np.triu_indices(4, 1)
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # of body.NAME.inertia
FREE_SIZE = 0.1  # [its unit] typical size of a parameter of either sign that is zero in the file
UNKNOWN = 0.1  # weight of the prior of a parameter that is zero in the file


@dataclass(frozen=True)
class Fitted:
    """One parameter as it was found."""

    name: str
    unit: str
    old: float
    new: float
    standard_error: float


class _Scalar:
    """A parameter by its path."""

    width = 1

    def __init__(self, path: str, unit: str, old: float, start: float, positive: bool) -> None:
        self.path, self.unit, self.old = path, unit, old
        self._start, self.positive = (old if old != 0.0 else start), positive
        self._size = abs(old) or FREE_SIZE
        self._weight = UNKNOWN if old == 0.0 else 1.0

    def value(self, theta: FloatArray) -> float:
        if self.positive:
            return self._start * float(np.exp(theta[0]))
        return self.old + self._size * float(theta[0])

    def overrides(self, theta: FloatArray) -> dict[str, Any]:
        return {} if self.path == DELAY else {self.path: self.value(theta)}

    def prior(self, theta: FloatArray) -> FloatArray:
        return self._weight * (_root_of_divergence(theta) if self.positive else theta)

    def named(self, theta: FloatArray) -> list[tuple[str, str, float, float]]:
        return [(self.path, self.unit, self.old, self.value(theta))]


class _Body:
    """The ten parameters of a link."""

    width = 10

    def __init__(self, name: str, link: int, given: FloatArray) -> None:
        self.name, self.link, self._given = name, link, given
        self._half = np.linalg.cholesky(pseudo_inertia(possible(given)))

    def parameters(self, theta: FloatArray) -> FloatArray:
        U = np.diag(np.exp(theta[:4]))
        U[UPPER] = theta[4:]
        return parameters_of(self._half @ U @ U.T @ self._half.T)

    def overrides(self, theta: FloatArray) -> dict[str, Any]:
        mass, center, about = central_inertia(self.parameters(theta))
        elements = [float(about[place]) for place in PLACES]
        stem = f"body.{self.name}"
        return {f"{stem}.mass": float(mass), f"{stem}.com": center.tolist(), f"{stem}.inertia": elements}

    def prior(self, theta: FloatArray) -> FloatArray:
        return np.concatenate((_root_of_divergence(2.0 * theta[:4]), theta[4:]))

    def named(self, theta: FloatArray) -> list[tuple[str, str, float, float]]:
        new = self.parameters(theta)
        rows = zip(PARAMETERS, UNITS, self._given.tolist(), new.tolist(), strict=True)
        return [(f"{self.name}.{what}", unit, a, b) for what, unit, a, b in rows]


def _root_of_divergence(x: FloatArray) -> FloatArray:
    """sign(x) sqrt(e^x - 1 - x), whose square is the divergence of a number e^x from 1."""
    small = np.abs(x) < 1e-4
    with np.errstate(over="ignore"):
        large = np.sign(x) * np.sqrt(np.maximum(np.expm1(x) - x, 0.0))
    return np.where(small, x / np.sqrt(2.0), large)


class FreeParameters:
    """The parameters that `paths` name.

    Args:
        loaded: its model. paths: those of `--set`, with patterns, `body.NAME.inertial`, and `delay`. A path without a
            pattern is one number, whatever it names; a pattern is one for each element.
        starts: {parameter of a joint: {its name: value}} from which what the file says is zero starts.

    Attributes:
        size: how many numbers theta has.

    ArgumentError: a path names nothing, or a parameter without a value.
    """

    def __init__(self, loaded: LoadedModel, paths: Sequence[str], starts: Mapping[str, Mapping[str, float]]) -> None:
        self.loaded = loaded
        plant = loaded.plant
        context = plant.CreateDefaultContext()
        if not context.state.parameters_current:
            context.state.ready_parameters()
        moved = MovedBodies(plant, context.state.model)
        self.parts: list[_Scalar | _Body] = []
        for path in dict.fromkeys(paths):
            if path == DELAY:
                self.parts.append(_Scalar(DELAY, "s", 0.0, FIRST_DELAY, True))
                continue
            if path.startswith("body.") and path.endswith(INERTIAL):
                for one, _, values, (element, *_) in matching_parameters(loaded, path.removesuffix(INERTIAL) + ".mass"):
                    link = int(element.index())
                    if values[0] > 0.0 and int(context.state.model.link_body[link]):
                        name = one.removeprefix("body.").removesuffix(".mass")
                        self.parts.append(_Body(name, link, moved.of_link(link)))
                continue
            for one, definition, values, _ in matching_parameters(loaded, path):
                if len(values) != 1:
                    raise ArgumentError(f"{one} has {len(values)} values: name one, as {one}.0 or {one}.x")
                if not np.isfinite(values[0]):
                    raise ArgumentError(f"{one} has no value in the file to start from")
                name, _, parameter = one.partition(".")[2].rpartition(".")
                start = starts.get(parameter, {}).get(name, 1.0)
                positive = max(definition.at_least, definition.above) >= 0.0
                self.parts.append(_Scalar(one, definition.unit, float(values[0]), start, positive))
        taken = [part.path if isinstance(part, _Scalar) else f"body.{part.name}" for part in self.parts]
        for path in taken:
            stem = path.rpartition(".")[0]
            if taken.count(path) > 1 or (path.startswith("body.") and stem in taken):
                raise ArgumentError(f"{path} is named twice")
        if not self.parts:
            raise ArgumentError("no parameter is to be found")
        ends = np.cumsum([0, *(part.width for part in self.parts)])
        self._spans = [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        self.size = int(ends[-1])

    def overrides(self, theta: FloatArray) -> dict[str, Any]:
        """{path: value}, as `--set` takes them."""
        found: dict[str, Any] = {}
        for part, span in zip(self.parts, self._spans, strict=True):
            found |= part.overrides(theta[span])
        return found

    def delay(self, theta: FloatArray) -> float:
        """[s] by which inputs act late."""
        for part, span in zip(self.parts, self._spans, strict=True):
            if isinstance(part, _Scalar) and part.path == DELAY:
                return part.value(theta[span])
        return 0.0

    def prior(self, theta: FloatArray) -> FloatArray:
        """Residuals whose squares are the divergences from the file."""
        return np.concatenate([p.prior(theta[span]) for p, span in zip(self.parts, self._spans, strict=True)])

    def of_file(self) -> FloatArray:
        """theta of the file itself; 0 is where the search starts, which differs for what the file says is zero."""
        found = np.zeros(self.size)
        for part, span in zip(self.parts, self._spans, strict=True):
            if isinstance(part, _Scalar) and part.old == 0.0 and part.positive:
                found[span] = NOTHING
        return found

    def prior_slopes(self, theta: FloatArray) -> FloatArray:
        """The derivatives of prior(), each by its own number."""
        step = 1e-6
        return (self.prior(theta + step) - self.prior(theta - step)) / (2.0 * step)

    def named(self, theta: FloatArray) -> list[tuple[str, str, float, float]]:
        """(name, unit, old, new) of all parameters: ten of a body."""
        return [row for p, span in zip(self.parts, self._spans, strict=True) for row in p.named(theta[span])]

    def fitted(self, theta: FloatArray, covariance: FloatArray) -> list[Fitted]:
        """All parameters, with standard errors from the covariance of theta."""
        rows = self.named(theta)
        slopes = np.empty((len(rows), self.size))
        for k in range(self.size):
            step = np.zeros(self.size)
            step[k] = 1e-6
            ahead, behind = self.named(theta + step), self.named(theta - step)
            slopes[:, k] = [(a[3] - b[3]) / 2e-6 for a, b in zip(ahead, behind, strict=True)]
        errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", slopes, covariance, slopes), 0.0))
        return [Fitted(*row, float(e)) for row, e in zip(rows, errors, strict=True)]

    def inertias(self, theta: FloatArray) -> dict[int, FloatArray]:
        """{number of a link: its ten parameters}"""
        parts = zip(self.parts, self._spans, strict=True)
        return {part.link: part.parameters(theta[span]) for part, span in parts if isinstance(part, _Body)}

    def scalars(self, theta: FloatArray) -> dict[str, float]:
        """{path: value} of what is no inertia."""
        parts = zip(self.parts, self._spans, strict=True)
        return {part.path: part.value(theta[span]) for part, span in parts if isinstance(part, _Scalar)}
