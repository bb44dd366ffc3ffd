"""A motion from which parameters can be identified: curves within limits that minimize a condition number.

The position of each joint is a curve that begins and ends at rest (curves.py). Whatever the coefficients are,
the curve is scaled and shifted such that it stays within the limits of position, velocity and acceleration; motions
that need larger efforts than there are, or collide, are not taken. A random search with a seed, whose steps grow where
they succeed and shrink where they do not, minimizes the condition number of the equations for the base parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ArgumentError, ModelError, NumericalError
from mbcli.identification.curves import BSplines, Curves, FourierSeries
from mbcli.identification.estimation import base_combinations
from mbcli.identification.held_joints import HeldJoints, nothing_held
from mbcli.identification.subject import Subject

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

WITHOUT_LIMIT = np.pi / 2.0  # [rad or m] around the default position, of joints without limits
SPEED, SPEEDS_A_SECOND = 1.5, 4.0  # [rad/s or m/s] without a limit; acceleration without one: so many speeds a second
SAMPLES = 120  # of a motion that is tried
FOURIER, BSPLINES = "fourier", "bsplines"
BASES = (FOURIER, BSPLINES)
SAMPLES_OF_LIMITS = 20  # for each coefficient, where limits are looked at
AMPLITUDE, PLACE = -2, -1  # columns of the unknowns behind the coefficients of the curves
STARTS = 20  # random motions before the search


@dataclass(frozen=True)
class Motion:
    """A motion that excites parameters.

    Attributes:
        time (n,), q (n, nq), v, vdot, tau (n, nv). condition: of the equations for the base parameters, by their sizes;
        first: that of the best of the random motions the search began with. rank: how many base parameters there are.
        use: for "position", "velocity", "acceleration" and "effort", {joint: part of its limit}.
    """

    time: FloatArray
    q: FloatArray
    v: FloatArray
    vdot: FloatArray
    tau: FloatArray
    condition: float
    first: float
    rank: int
    use: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Within:
    """What motions stay within, beside the limits of the plant.

    Attributes:
        margin: part of the limits that is used, from 0 to 1. speed, acceleration: [rad/s or m/s, and per second] of any
        joint, None: those of the plant alone.
    """

    margin: float = 0.9
    speed: float | None = None
    acceleration: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.margin <= 1.0:
            raise ArgumentError(f"margin is {self.margin:g}: it is a part of the limits, from 0 to 1")


@dataclass(frozen=True)
class Bounds:
    """Limits (n,) of the joints that move: positions, speeds, accelerations, efforts."""

    lower: FloatArray
    upper: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    effort: FloatArray


def excite(
    plant: Any,
    duration: float,
    *,
    rate: float = 100.0,
    basis: str = FOURIER,
    harmonics: int = 5,
    points: int = 15,
    within: Within = Within(),
    tries: int = 400,
    seed: int = 0,
    held: HeldJoints | None = None,
    collides: Callable[[FloatArray], bool] | None = None,
) -> Motion:
    """A motion of all joints of one degree of freedom that are not held.

    Args:
        plant: finalized, its bases welded. duration: [s]. rate: [1/s] of its samples.
        basis: "fourier" or "bsplines". harmonics: of Fourier series. points: of B-splines.
        within: limits. tries: of the search. seed: of its random numbers.
        collides: positions (nq,) -> whether bodies touch; None: it is not asked.

    Raises:
        ModelError: the plant has other joints, or closed chains. NumericalError: no motion within the limits was found.
    """
    if basis not in BASES:
        raise ArgumentError(f"basis: there is no '{basis}'; there are {' and '.join(BASES)}")
    held = held or nothing_held(plant)
    moving = [j for j in plant.moving_joints() if j.num_velocities() and not held.velocities[j.velocity_start()]]
    others = [j.name() for j in moving if j.num_velocities() > 1]
    if others:
        raise ModelError(f"excite is for joints of one degree of freedom: {', '.join(others)} has more")
    loops = [c.kind for c in plant.elements.constraints if c.kind != "coupler"]
    if loops:
        raise ModelError(
            f"excite is for robots without closed chains: this one has a constraint of the kind {loops[0]}"
        )
    subject = Subject(plant, frictions=("viscous", "coulomb", "offset"), armature=False, held=held)
    followers = {c.joint0.velocity_start() for c in plant.elements.constraints}
    leaders = [d for d in subject.joints if d not in followers]
    curves: Curves = FourierSeries(duration, harmonics) if basis == FOURIER else BSplines(duration, points)
    search = _Search(subject, leaders, _bounds(subject, leaders, within), duration, curves)
    search.collides, search.margin = collides, within.margin
    rng = np.random.default_rng(seed)
    shape = (len(leaders), curves.count + 2)
    best, coefficients = np.inf, np.zeros(shape)
    for n in range(5 * STARTS):
        tried = rng.normal(size=shape)
        tried[:, AMPLITUDE] *= n // STARTS  # at first all of the limits, then less
        cost = search.cost(tried)
        if cost < best and search.is_free(tried):
            best, coefficients = cost, tried
        if n + 1 >= min(STARTS, tries + 1) and np.isfinite(best):
            break
    if not np.isfinite(best):
        raise NumericalError("no motion within the limits was found: efforts, or collisions, leave no room")
    first, step = best, 0.5
    for _ in range(tries):
        tried = coefficients + step * rng.normal(size=shape) * (rng.uniform(size=shape) < 0.5)
        cost = search.cost(tried)
        if cost < best and search.is_free(tried):
            best, coefficients, step = cost, tried, min(2.0, 1.5 * step)
        else:
            step = max(1e-2, 0.9 * step)
    time = np.arange(0.0, duration + 0.5 / rate, 1.0 / rate)
    q, v, vdot = search.motion(coefficients, curves.matrices(time))
    tau = search.efforts(q, v, vdot)
    return Motion(time, q, v, vdot, tau, best, first, search.rank, search.use(q, v, vdot, tau))


def _bounds(subject: Subject, leaders: list[int], within: Within) -> Bounds:
    plant, margin = subject.plant, within.margin
    at = [subject.joint_of[d].position_start() for d in leaders]
    default = np.array(plant.GetPositions(subject.context))[at]
    lower, upper = plant.GetPositionLowerLimits()[at], plant.GetPositionUpperLimits()[at]
    lower = np.where(np.isfinite(lower), lower, default - WITHOUT_LIMIT)
    upper = np.where(np.isfinite(upper), upper, default + WITHOUT_LIMIT)
    middle, half = 0.5 * (lower + upper), 0.5 * margin * (upper - lower)
    fastest = plant.GetVelocityUpperLimits()[leaders]
    fastest = np.where(np.isfinite(fastest), fastest, SPEED)
    fastest = margin * np.minimum(fastest, np.inf if within.speed is None else within.speed)
    hardest = plant.GetAccelerationUpperLimits()[leaders]
    hardest = margin * np.where(np.isfinite(hardest), hardest, SPEEDS_A_SECOND * fastest)
    hardest = np.minimum(hardest, np.inf if within.acceleration is None else margin * within.acceleration)
    effort = np.full(plant.num_velocities(), np.inf)
    for actuator in plant.elements.actuators:
        effort[actuator.joint().velocity_start()] = margin * actuator.effort_limit()
    effort[(effort == 0.0) | subject.held.velocities] = np.inf
    return Bounds(middle - half, middle + half, fastest, hardest, effort)


class _Search:
    """Costs of motions.

    Attributes:
        rank: of the base parameters.
    """

    collides: Callable[[FloatArray], bool] | None = None
    margin = 1.0

    def __init__(self, subject: Subject, leaders: list[int], bounds: Bounds, duration: float, curves: Curves) -> None:
        self._subject, self._leaders, self._bounds = subject, leaders, bounds
        self._tried = curves.matrices(np.linspace(0.0, duration, SAMPLES, endpoint=False))
        dense = np.linspace(0.0, duration, SAMPLES_OF_LIMITS * curves.count, endpoint=False)
        self._dense = curves.matrices(dense)
        exact = subject.exact_rows([]) if subject.chains is None else self._followed_rows()
        self._columns, _ = base_combinations(exact, subject.sizes)
        self._sizes = subject.sizes[self._columns]
        self.rank = len(self._columns)

    def _followed_rows(self) -> FloatArray:
        """Equations of random states of leaders, whose followers follow: see Subject.exact_rows()."""
        rng, plant = np.random.default_rng(0), self._subject.plant
        q = rng.uniform(self._bounds.lower, self._bounds.upper, size=(SAMPLES, len(self._leaders)))
        states = self._whole(q, *rng.normal(size=(2, SAMPLES, len(self._leaders))))
        A = self._subject.columns(*states, None)
        self._subject.choose_independent(states[0], np.isin(np.arange(plant.num_velocities()), self._leaders))
        N, _ = self._subject.motions(states[0])
        return np.einsum("nik,nip->nkp", N, A).reshape(-1, A.shape[2])

    def motion(
        self, coefficients: FloatArray, matrices: tuple[FloatArray, ...]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q (n, nq), v, vdot (n, nv) at the times of matrices, scaled and shifted into the limits of whole motions."""
        own = coefficients[:, :AMPLITUDE]
        scale, shift = self._fit(own, np.exp(-np.abs(coefficients[:, AMPLITUDE])), coefficients[:, PLACE])
        x, xd, xdd = (matrix @ own.T for matrix in matrices)
        return self._whole(x * scale + shift, xd * scale, xdd * scale)

    def _fit(self, own: FloatArray, part: FloatArray, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Factor and offset of each joint: the largest motion times a part of 1, moved by the place within limits."""
        x, xd, xdd = (matrix @ own.T for matrix in self._dense)
        b = self._bounds
        low, high = x.min(axis=0), x.max(axis=0)
        span = np.maximum(high - low, 1e-12)
        scale = np.minimum((b.upper - b.lower) / span, b.speed / np.maximum(np.abs(xd).max(axis=0), 1e-12))
        scale = 0.99 * part * np.minimum(scale, b.acceleration / np.maximum(np.abs(xdd).max(axis=0), 1e-12))
        room = 0.5 * (b.upper - b.lower - scale * (high - low))
        return scale, 0.5 * (b.lower + b.upper) - scale * 0.5 * (low + high) + np.tanh(place) * 0.9 * room

    def _whole(self, x: FloatArray, xd: FloatArray, xdd: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        plant = self._subject.plant
        q = np.full((len(x), plant.num_positions()), np.nan)
        v, vdot = (np.full((len(x), plant.num_velocities()), np.nan) for _ in range(2))
        held = self._subject.held
        q[:, held.positions] = held.q[held.positions]
        v[:, held.velocities] = vdot[:, held.velocities] = 0.0
        for k, d in enumerate(self._leaders):
            q[:, self._subject.joint_of[d].position_start()] = x[:, k]
            v[:, d], vdot[:, d] = xd[:, k], xdd[:, k]
        return self._subject.complete(q, v, vdot)

    def efforts(self, q: FloatArray, v: FloatArray, vdot: FloatArray) -> FloatArray:
        """(n, nv) by the parameters of the file."""
        return self._subject.batch.inverse_dynamics(q, v, vdot)

    def is_free(self, coefficients: FloatArray) -> bool:
        """Whether no bodies touch."""
        if self.collides is None:
            return True
        return not any(self.collides(row) for row in self.motion(coefficients, self._tried)[0][::2])

    def cost(self, coefficients: FloatArray) -> float:
        """The condition number; infinite for a motion that needs efforts that are not there."""
        q, v, vdot = self.motion(coefficients, self._tried)
        if (np.abs(self.efforts(q, v, vdot)) > self._bounds.effort).any():
            return np.inf
        A = self._subject.columns(q, v, vdot, None)
        if self._subject.chains is not None:
            N, _ = self._subject.motions(q)
            A = np.einsum("nik,nip->nkp", N, A)
        else:
            A = A[:, self._subject.independent]
        scale = np.sqrt((A**2).sum(axis=2).mean(axis=0))[:, None]
        rows = (A[:, :, self._columns] / np.where(scale > 0.0, scale, 1.0)).reshape(-1, self.rank) * self._sizes
        values = np.linalg.svd(rows, compute_uv=False)
        return float(values[0] / values[-1]) if values[-1] > 1e-12 * values[0] else np.inf

    def use(self, q: FloatArray, v: FloatArray, vdot: FloatArray, tau: FloatArray) -> dict[str, dict[str, float]]:
        """The parts of the limits, with their margin, that a motion takes."""
        b, found = self._bounds, {}
        positions = [self._subject.joint_of[d].position_start() for d in self._leaders]
        x = q[:, positions]
        parts = {
            "position": np.maximum((x - b.lower).max(axis=0), (b.upper - x).max(axis=0)) / (b.upper - b.lower),
            "velocity": np.abs(v[:, self._leaders]).max(axis=0) / b.speed,
            "acceleration": np.abs(vdot[:, self._leaders]).max(axis=0) / b.acceleration,
            "effort": np.abs(tau[:, self._leaders]).max(axis=0) / b.effort[self._leaders],
        }
        for name, values in parts.items():
            found[name] = {
                self._subject.joint_of[d].name(): float(self.margin * value)
                for d, value in zip(self._leaders, values, strict=True)
            }
        return found
