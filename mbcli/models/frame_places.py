"""Inverse kinematics: positions within limits at which frames are where they are wanted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.engine.constraints.position_differences import turn_between
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.runtime.precompiled import precompiled_library
from mbcli.engine.smooth.rotations.quaternion import orientation_quaternion
from mbcli.errors import ArgumentError, NumericalError
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.models.loading import as_loaded, find_frame
from mbcli.multibody.assembly.closed_chains import take_equations
from mbcli.multibody.assembly.nearest_positions import AssemblySearch
from mbcli.multibody.compilation.compile_constraints import Tie, compile_constraints, slides, twists
from mbcli.multibody.compilation.constrained_model import ConstrainedModel
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.joint_kinds import has_angles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math import RigidTransform
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree import Frame

TOLERANCE = 1e-11  # of the norm of all errors [m and rad]
MOST_ITERATIONS = 100  # of each start
ATTEMPTS = 30  # starts: the given positions, then ones that are drawn within the limits
SPREAD = np.pi  # [rad or m] of drawn positions about the start if there is no limit
PATIENCE = 20  # searches that are interpreted before kernels are compiled for them

_searches = count()  # of this process


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

    Returns:
        q (nq,) [rad or m], the remaining errors [m], [rad], and how often it tried.

    Example:
        >>> found = mbcli.models.inverse_kinematics("sample_models/arm7.urdf", {"flange": [0.4, 0.1, 0.5]})
        >>> found.position_error < 1e-9
        True
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
        self._base = find_frame(plant, relative_to, argument("relative_to"))
        self._places = [_Place(plant, name, values) for name, values in targets.items()]
        self._freedom = _Freedom(plant, context)
        self._equations: _Equations | None = None
        self._collides: Callable[[Vector], bool] = (lambda q: False) if not collisions else _collider(plant)

    def solve(self, targets: Mapping[str, ArrayLike], attempts: int = ATTEMPTS, seed: int = 0) -> IkResult:
        """An IkResult. NumericalError, and a context that is not moved, if the places are not reached."""
        plant, context, freedom = self._plant, self._context, self._freedom
        for place in self._places:
            place.put(targets[place.name])
        equations, before = self._current_equations(), plant.GetPositions(context)
        starts = freedom.starts(before, max(1, attempts), np.random.default_rng(seed))
        iterations, first, collided = 0, 0, 0
        while first < len(starts):
            found = equations.search.within_bounds(starts[first:], freedom.weights, TOLERANCE, MOST_ITERATIONS)
            reached, iterations = freedom.with_still(found.q, before), iterations + found.iterations
            if not found.converged:
                break
            first += found.restarts + 1
            if not self._collides(reached):
                plant.SetPositions(context, reached)
                return IkResult(reached, *self._remaining(), iterations, first)
            collided += 1
        plant.SetPositions(context, reached)
        reason = self._unreached(*self._remaining(), equations.constraint_error(reached), len(starts), collided)
        plant.SetPositions(context, before)
        raise UnreachedError(reason, bool(collided))

    def _current_equations(self) -> _Equations:
        """Those for the places as they are now, of kernels that are compiled once they are worth it."""
        state = self._context.state
        compiled = state.compiled and _are_worth_compiling(state.model)
        equations = self._equations
        if equations is None or equations.compiled is not compiled:
            equations = _Equations(self._context, self._base, self._places, self._freedom.bounds, compiled)
            self._equations = equations
        equations.put(self._places)
        return equations

    def _remaining(self) -> tuple[float, float]:
        """Largest distance [m] and angle [rad] of a frame from its place, at the positions of the context."""
        distance = angle = 0.0
        for place in self._places:
            X = place.frame.CalcPose(self._context, self._base)
            distance = max(distance, float(np.linalg.norm(X.translation() - place.position)))
            if place.quaternion is not None:
                turn = turn_between(*(orientation_quaternion(q, 0) for q in (_wxyz(X), place.quaternion)))
                angle = max(angle, float(np.linalg.norm(turn)))
        return distance, angle

    def _unreached(self, distance: float, angle: float, constraints: float | None, attempts: int, collided: int) -> str:
        names = ", ".join(place.name for place in self._places)
        if collided:
            return (
                f"{names}: what is wanted is reached only where geometries overlap, in {collided} of {attempts} starts"
            )
        parts = [f"{distance:.6g} m"]
        if any(place.quaternion is not None for place in self._places):
            parts.append(f"{angle:.6g} rad")
        if constraints is not None:
            parts.append(f"{constraints:.3g} in the constraints")
        return (
            f"{names} cannot get where it is wanted within the limits: of {attempts} starts the best leaves "
            f"{' and '.join(parts)}"
        )


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


def _wxyz(X: RigidTransform) -> Vector:
    return X.rotation().ToQuaternion().wxyz()


class _Freedom:
    """Which positions of a plant a search moves, and between which bounds.

    Attributes:
        bounds: (n, 4) place in q, place in v, lower and upper limit [rad or m] of coordinates that can be drawn.
        weights: (nv,) 1, or infinite for what stays: what floats and locked joints.
    """

    def __init__(self, plant: MultibodyPlant, context: Context) -> None:
        lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
        self.weights, self._kept = np.ones(plant.num_velocities()), np.zeros(plant.num_positions(), dtype=bool)
        bounds = []
        for joint in plant.moving_joints():
            k, d, n = joint.position_start(), joint.velocity_start(), joint.num_velocities()
            floats = n == 6 and int(joint.parent_body().index()) == 0
            if floats or joint.is_locked(context):
                self.weights[d : d + n] = np.inf
                self._kept[k : k + joint.num_positions()] = True
            elif n == joint.num_positions() and not has_angles(joint):
                bounds += [(k + i, d + i, lower[k + i], upper[k + i]) for i in range(n)]
        self.bounds = np.reshape(bounds, (-1, 4))

    def with_still(self, q: Vector, before: Vector) -> Vector:
        """q with what stays still as before, to the last bit."""
        return np.where(self._kept, before, q)

    def starts(self, q: Vector, count: int, rng: np.random.Generator) -> Matrix:
        """(count, nq): q within its limits, then positions that are drawn within them, about q where there are none."""
        places, lower, upper = self.bounds[:, 0].astype(int), self.bounds[:, 2], self.bounds[:, 3]
        starts = np.tile(q, (count, 1))
        start = np.clip(q[places], lower, upper)
        low = np.where(np.isfinite(lower), lower, start - SPREAD)
        high = np.where(np.isfinite(upper), upper, start + SPREAD)
        starts[:, places] = rng.uniform(low, np.maximum(low, high), (count, len(places)))
        starts[0, places] = start
        return starts


class _Equations:
    """The constraints of a plant and, behind them, the places of frames as equations; `search` for what fulfils them.

    A place is a weld of its frame to the frame that it is given in, or three equations without an orientation. Where
    that weld is changes from place to place.
    """

    def __init__(self, context: Context, base: Frame, places: Sequence[_Place], bounds: Matrix, compiled: bool) -> None:
        state, axes = context.state, np.eye(3)
        active = state.current_constraints()
        rows: list[Any] = []
        owners: list[Any] = []
        if active is not None:
            active.require_rows()
            rows, owners, _ = take_equations(active, held={})
        self.compiled, self._num_rows, end = compiled, len(owners), len(owners)
        for place in places:
            kinds = slides(*axes) + (twists(*axes) if place.quaternion is not None else ())
            ends = [(int(f.body().index()), f.CalcPoseInBodyFrame(context).GetAsMatrix4()) for f in (base, place.frame)]
            rows.append(Tie(*ends[0], *ends[1], kinds, tuple(range(end, end + len(kinds)))))
            end += len(kinds)
        arrays = compile_constraints(state.model, rows)
        numbers = {int(arrays.row_number[first]): c for c, (first, _) in enumerate(arrays.constraint_rows)}
        self._of_places = [numbers[tie.numbers[0]] for tie in rows[len(rows) - len(places) :]]
        self._X_BP = arrays.constraint_X_BP
        self._X_BP.flags.writeable = True  # nobody else has these constraints
        self._base_poses = self._X_BP[self._of_places]
        self._constrained = ConstrainedModel(state.model, arrays, compiled)
        self.search = AssemblySearch(self._constrained, bounds=bounds)

    def put(self, places: Sequence[_Place]) -> None:
        """The equations of other places of the same frames."""
        for k, base, place in zip(self._of_places, self._base_poses, places, strict=True):
            R = base[:9].reshape(3, 3)
            turned = R if place.quaternion is None else R @ matrix_from_quaternion(place.quaternion)
            self._X_BP[k] = np.concatenate([turned.ravel(), R @ place.position + base[9:]])

    def constraint_error(self, q: Vector) -> float | None:
        """The norm of the errors of the plant's constraints; None without constraints."""
        if not self._num_rows:
            return None
        self._constrained.data.q[:] = q
        self._constrained.run("calc_constraint_positions", 1)
        return float(np.linalg.norm(self._constrained.rows("err")[: self._num_rows]))


def _are_worth_compiling(model: Any) -> bool:
    """Whether the kernels of a search are there, or searches of this process have been many."""
    return next(_searches) >= PATIENCE or is_compiled(ConstrainedModel.kernels_for(model, True).find_within_bounds)
