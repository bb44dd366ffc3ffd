"""Inverse kinematics: positions within limits at which frames are where they are wanted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.engine.runtime.precompiled import precompiled_library
from mbcli.errors import ArgumentError, NumericalError
from mbcli.models.loading import as_loaded, find_frame
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.assembly.nearest_positions import PositionSearch
from mbcli.multibody.assembly.position_manifold import rotation_vector, rotation_vector_rate
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree import JacobianWrtVariable
from mbcli.multibody.tree.joint_kinds import has_angles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree import Frame

TOLERANCE = 1e-11  # of the norm of all errors [m and rad]
MOST_ITERATIONS = 100  # of each start
ATTEMPTS = 30  # starts: the given positions, then ones that are drawn within the limits
SPREAD = np.pi  # [rad or m] of drawn positions about the start if there is no limit


@dataclass(frozen=True)
class IkResult:
    """Positions q (nq,) within limits at which the wanted frames are where they are wanted.

    Attributes:
        position_error, angle_error: largest distance [m] and angle [rad] of a frame from where it is wanted.
        iterations: steps of all starts. attempts: starts.
    """

    q: np.ndarray
    position_error: float
    angle_error: float
    iterations: int
    attempts: int


def inverse_kinematics(
    model: Any,
    targets: Mapping[str, ArrayLike],
    q: ArrayLike | None = None,
    *,
    relative_to: str = "world",
    attempts: int = ATTEMPTS,
    seed: int = 0,
    collisions: bool = False,
) -> IkResult:
    """Positions at which frames have wanted places, found from q: an IkResult.

    Levenberg-Marquardt steps on the errors of the frames, of the plant's constraints, and of positions beyond their
    limits. Where they get stuck they start again from positions that are drawn within the limits, the same in every
    call. What floats and locked joints stay where they are.

    Args:
        model: what describe() takes.
        targets: {frame or body: x, y, z [m] of its origin, or these and the quaternion w, x, y, z of its orientation}.
        q: (nq,) where the search begins; None for the default positions.
        relative_to: the frame in which places are given.
        attempts: starts, at most.
        seed: of the drawn positions.
        collisions: whether positions at which geometries overlap are refused, and other ones looked for.

    Raises:
        ArgumentError: a frame is not there, or does not have three or seven numbers; collisions of a model that is
            loaded without contact.
        NumericalError: the places were not reached; the message has the remaining errors.
    """
    plant = as_loaded(model).plant
    # one call alone ends before a compiler is loaded; a program that has it loaded, or a wheel, calls native code
    is_near = "numba" in sys.modules or precompiled_library() is not None
    context = Context(plant) if is_near else Context(plant, compiled=False)
    plant.SetPositions(context, plant.GetDefaultPositions() if q is None else q)
    return solve(plant, context, targets, relative_to, attempts, seed, collisions)


def solve(
    plant: MultibodyPlant,
    context: Context,
    targets: Mapping[str, ArrayLike],
    relative_to: str = "world",
    attempts: int = ATTEMPTS,
    seed: int = 0,
    collisions: bool = False,
) -> IkResult:
    """As inverse_kinematics(), from the positions of a context, which it moves to those found."""
    return PlaceSearch(plant, context, targets, relative_to, collisions=collisions).solve(targets, attempts, seed)


class PlaceSearch:
    """Searches for places of the same frames, from the positions that a context has, which it moves to those found.

    Args:
        targets, relative_to, collisions: as of inverse_kinematics(); of the targets the frames, and which of them have
            an orientation.
    """

    def __init__(
        self,
        plant: MultibodyPlant,
        context: Context,
        targets: Mapping[str, ArrayLike],
        relative_to: str = "world",
        *,
        collisions: bool = False,
    ) -> None:
        self._plant, self._context = plant, context
        places = [_Place(plant, name, values) for name, values in targets.items()]
        self._errors = _Errors(plant, context, places, find_frame(plant, relative_to, argument("relative_to")))
        self._search = PositionSearch(context.state.model, self._errors.most_equations(), self._errors.evaluate)
        self._collides: Callable[[Vector], bool] = (lambda q: False) if not collisions else _collider(plant)

    def solve(self, targets: Mapping[str, ArrayLike], attempts: int = ATTEMPTS, seed: int = 0) -> IkResult:
        """An IkResult. NumericalError, and a context that is not moved, if the places are not reached."""
        plant, context, errors = self._plant, self._context, self._errors
        for place in errors.places:
            place.put(targets[place.name])
        rng = np.random.default_rng(seed)
        errors.begin(plant.GetPositions(context))
        start, iterations = errors.within_limits(plant.GetPositions(context)), 0
        size, reached, collided = np.inf, start, 0
        for attempt in range(max(1, attempts)):
            q = errors.drawn(start, rng) if attempt else start
            found = self._search.feasible(q, np.ones(plant.num_velocities()), TOLERANCE, MOST_ITERATIONS)
            iterations += found.iterations
            candidate = errors.within_limits(found.q)
            remaining = float(np.linalg.norm(errors.evaluate(candidate)[0]))
            if remaining <= 10.0 * TOLERANCE and self._collides(candidate):
                collided += 1
                continue
            if remaining < size:
                size, reached = remaining, candidate
            if found.converged:
                break
        errors.evaluate(reached)
        distance, angle = errors.remaining()
        if not size <= 10.0 * TOLERANCE:
            raise UnreachedError(_unreached(errors, distance, angle, attempts, collided), bool(collided))
        plant.SetPositions(context, reached)
        return IkResult(reached, distance, angle, iterations, attempt + 1)


class UnreachedError(NumericalError):
    """Places were not reached; collides: whether they were, where geometries overlap."""

    def __init__(self, message: str, collides: bool) -> None:
        super().__init__(message)
        self.collides = collides


def _collider(plant: MultibodyPlant) -> Callable[[Vector], bool]:
    """q -> whether geometries overlap that no filter leaves out. ArgumentError for a plant without contact."""
    if not plant.geometry_source_is_registered():
        raise ArgumentError(f"{argument('collisions')}: the model is loaded without contact")
    context = plant.CreateDefaultContext()

    def collides(q: Vector) -> bool:
        plant.SetPositions(context, q)
        overlap: bool = plant.get_geometry_query_input_port().Eval(context).HasCollisions()
        return overlap

    return collides


def _unreached(errors: _Errors, distance: float, angle: float, attempts: int, collided: int) -> str:
    names = ", ".join(place.name for place in errors.places)
    if collided:
        return f"{names}: what is wanted is reached only where geometries overlap, in {collided} of {attempts} starts"
    parts = [f"{distance:.6g} m"]
    if any(place.quaternion is not None for place in errors.places):
        parts.append(f"{angle:.6g} rad")
    constraints = errors.constraint_error()
    if constraints is not None:
        parts.append(f"{constraints:.3g} in the constraints")
    return (
        f"{names} cannot get where it is wanted within the limits: of {attempts} starts the best leaves "
        f"{' and '.join(parts)}"
    )


class _Place:
    """Where a frame is wanted: position (3,) [m] and quaternion (4,) or None."""

    def __init__(self, plant: MultibodyPlant, name: str, values: ArrayLike) -> None:
        self.name = name
        self.frame: Frame = find_frame(plant, name, argument("ik"))
        self.put(values)

    def put(self, values: ArrayLike) -> None:
        """Another place of the frame. ArgumentError for what is none."""
        wanted, name = argument("ik"), self.name
        numbers = np.asarray(values, dtype=float)
        if numbers.shape not in ((3,), (7,)) or not np.isfinite(numbers).all():
            raise ArgumentError(f"{wanted}: '{name}' needs x, y, z, or these and a quaternion w, x, y, z")
        self.position, self.quaternion = numbers[:3], None
        if len(numbers) == 7:
            length = np.linalg.norm(numbers[3:])
            if not length > 0.0:
                raise ArgumentError(f"{wanted}: the quaternion of '{name}' is zero, and gives no orientation")
            self.quaternion = numbers[3:] / length


class _Errors:
    """The errors of positions q: of frames, of constraints and of limits, with their derivative along velocities."""

    def __init__(self, plant: MultibodyPlant, context: Context, places: Sequence[_Place], base: Frame) -> None:
        self.places, self._plant, self._base = places, plant, base
        self._context = Context(plant, compiled=context.state.compiled)
        plant.SetPositions(self._context, plant.GetPositions(context))
        self._chains = ClosedChains(self._context, held={}) if plant.elements.constraints else None
        self._lower, self._upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
        self._still = np.zeros(plant.num_velocities(), dtype=bool)
        self._start, self._kept = plant.GetPositions(context), np.zeros(plant.num_positions(), dtype=bool)
        self._drawn, limited = np.zeros(plant.num_positions(), dtype=bool), []
        for joint in plant.moving_joints():
            k, d, n = joint.position_start(), joint.velocity_start(), joint.num_velocities()
            floats = n == 6 and int(joint.parent_body().index()) == 0
            if floats or joint.is_locked(context):
                self._still[d : d + n] = True
                self._kept[k : k + joint.num_positions()] = True
            elif n == joint.num_positions() and not has_angles(joint):
                self._drawn[k : k + n] = True
                limited += [(k + i, d + i) for i in range(n)]
        self._limited = np.reshape(limited, (-1, 2)).astype(int)

    def begin(self, q: Vector) -> None:
        """Another start, from which what floats and locked joints do not move."""
        self._start = q

    def within_limits(self, q: Vector) -> Vector:
        """q with what can be drawn moved into its limits, and what stays still to the last bit."""
        clipped = np.where(self._drawn, np.clip(q, self._lower, self._upper), q)
        return np.where(self._kept, self._start, clipped)

    def drawn(self, start: Vector, rng: np.random.Generator) -> Vector:
        """Positions within limits, about the start if there are none."""
        low = np.where(np.isfinite(self._lower), self._lower, start - SPREAD)
        high = np.where(np.isfinite(self._upper), self._upper, start + SPREAD)
        return np.where(self._drawn, rng.uniform(low, np.maximum(low, high)), start)

    def evaluate(self, q: Vector) -> tuple[Vector, Matrix]:
        """phi (n,) and its derivative along velocities (n, nv)."""
        plant, context = self._plant, self._context
        plant.SetPositions(context, q)
        rows = [self._of_place(place) for place in self.places]
        if self._chains is not None:
            phi, G = self._chains.position_errors(q)
            rows.append((np.array(phi), np.array(G)))
        k, d = self._limited.T
        beyond = np.maximum(q[k] - self._upper[k], 0.0) - np.maximum(self._lower[k] - q[k], 0.0)
        outside = np.flatnonzero(beyond)
        rows.append((beyond[outside], np.eye(len(self._still))[d[outside]]))
        phi, G = (np.concatenate([row[side] for row in rows]) for side in (0, 1))
        G[:, self._still] = 0.0
        return phi, G

    def most_equations(self) -> int:
        """How many there are where everything is beyond its limit."""
        of_places = sum(3 if place.quaternion is None else 6 for place in self.places)
        return of_places + (0 if self._chains is None else self._chains.nrow) + len(self._limited)

    def _of_place(self, place: _Place) -> tuple[Vector, Matrix]:
        plant, context, base = self._plant, self._context, self._base
        X = place.frame.CalcPose(context, base)
        origin = np.zeros(3)
        J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, place.frame, origin, base, base)
        phi, G = X.translation() - place.position, J[3:]
        if place.quaternion is not None:
            turn = rotation_vector(X.rotation().ToQuaternion().wxyz(), place.quaternion)
            phi, G = np.concatenate([turn, phi]), np.concatenate([rotation_vector_rate(turn) @ J[:3], G])
        return phi, G

    def remaining(self) -> tuple[float, float]:
        """Largest distance [m] and angle [rad] of a frame from its place, at the positions evaluated last."""
        distance = angle = 0.0
        for place in self.places:
            phi, _ = self._of_place(place)
            distance = max(distance, float(np.linalg.norm(phi[-3:])))
            if place.quaternion is not None:
                angle = max(angle, float(np.linalg.norm(phi[:3])))
        return distance, angle

    def constraint_error(self) -> float | None:
        """The norm of the errors of the constraints at the positions evaluated last; None without constraints."""
        if self._chains is None:
            return None
        return float(np.linalg.norm(self._chains.position_errors(self._plant.GetPositions(self._context))[0]))
