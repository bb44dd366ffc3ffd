"""Functions of the positions of a plant with their derivatives: what constraints and costs of positions are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import ExtractValue
from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable
from mbcli.solvers.evaluators import Constraint, Cost, carried

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame

    Slopes = tuple[FloatArray, FloatArray]  # values (m,) and their derivatives by q (m, nq)

kQDot = JacobianWrtVariable.kQDot


class PlantFunction:
    """A function of the positions of a plant, which are set in a context; its derivatives are those of its motion."""

    _plant: MultibodyPlant
    _context: Context
    _has_geometries = False

    def _begin(self, plant: MultibodyPlant, context: Context) -> None:
        if context is None:
            raise TypeError("a context of the plant is needed")
        plant.check_context(context)
        self._plant, self._context = plant, context

    def _slopes(self) -> Slopes:
        """At the positions of the context."""
        raise NotImplementedError

    def _at(self, x: Any) -> Slopes:
        """Remembered with what else depends on these positions, but where geometries count, which others may change."""
        state, q = self._context.state, np.asarray(x, dtype=float)
        if not np.array_equal(state.q, q):
            self._plant.SetPositions(self._context, q)
        if self._has_geometries:
            return self._slopes()
        found = state.position_cache.get(self)
        if found is None:
            found = state.position_cache[self] = self._slopes()
        return found

    def _evaluate(self, x: Any) -> Any:
        x = np.asarray(x)
        if x.dtype != object:
            return self._at(x)[0].copy()
        y, J = self._at(ExtractValue(x).reshape(-1))
        return carried(y, J, x)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, nq) by q."""
        return self._at(x)[1].copy()

    # parts that several are made of

    def _position(self, frame_B: Frame, p_BQ: FloatArray, frame_A: Frame) -> Slopes:
        """p_AQ (3,) in A."""
        p = self._plant.CalcPointsPositions(self._context, frame_B, p_BQ, frame_A).reshape(3)
        J = self._plant.CalcJacobianPositionVector(self._context, frame_B, p_BQ, frame_A, frame_A)
        return p, J

    def _rotation(self, frame_A: Frame, frame_B: Frame) -> Slopes:
        """R_AB (3, 3), and J (3, nq) of w_AB in A."""
        R = frame_B.CalcRotationMatrix(self._context, frame_A).matrix()
        return R, self._plant.CalcJacobianAngularVelocity(
            self._context, JacobianWrtVariable.kQDot, frame_B, frame_A, frame_A
        )

    def _trace(self, frame_A: Frame, R_AC: FloatArray, frame_B: Frame, R_BD: FloatArray) -> tuple[float, FloatArray]:
        """The trace of R_CD, which is 1 + 2 cos of the angle between C and D, of frames C on A and D on B."""
        R_AB, J = self._rotation(frame_A, frame_B)
        N = R_AB @ R_BD @ R_AC.T  # the trace is that of N, whose rate is w x N
        return float(np.trace(N)), -axial_part(N) @ J

    def _cosine(self, frame_A: Frame, a_A: FloatArray, frame_B: Frame, b_B: FloatArray) -> tuple[float, FloatArray]:
        """The cosine of the angle between two unit vectors, one on A and one on B."""
        R_AB, J = self._rotation(frame_A, frame_B)
        b_A = R_AB @ b_B
        return float(a_A @ b_A), np.cross(b_A, a_A) @ J


class PlantConstraint(PlantFunction, Constraint):
    """A constraint of the positions of a plant."""

    def _bounded(self, plant: MultibodyPlant, context: Context, lower: ArrayLike, upper: ArrayLike) -> None:
        self._begin(plant, context)
        Constraint.__init__(self, self._evaluate, lower, upper, plant.num_positions())


class PlantCost(PlantFunction, Cost):
    """A cost of the positions of a plant."""

    def _start(self, plant: MultibodyPlant, context: Context) -> None:
        self._begin(plant, context)
        Cost.__init__(self, self._evaluate, 1, plant.num_positions())


def axial_part(N: FloatArray) -> FloatArray:
    return np.array([N[2, 1] - N[1, 2], N[0, 2] - N[2, 0], N[1, 0] - N[0, 1]])


def three_numbers(value: ArrayLike) -> FloatArray:
    return np.asarray(value, dtype=float).reshape(3)


def unit_vector(value: ArrayLike) -> FloatArray:
    vector = three_numbers(value)
    length = np.linalg.norm(vector)
    if not length > 0.0:
        raise RuntimeError("a direction must not be zero")
    return vector / length
