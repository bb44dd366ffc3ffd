"""pydrake's interface to the state of one plant."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from mbcli.multibody.plant.last_step import LastStep
from mbcli.multibody.plant.ports import InputValues
from mbcli.multibody.plant.state_transfer import set_time_state_and_parameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.plant.evaluated_state import EvaluatedState
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.scalars import Scalar
    from mbcli.multibody.tree.index import DiscreteStateIndex


class Context:
    """Time, positions q, velocities v, parameters and inputs of a plant. Made by MultibodyPlant.CreateDefaultContext().

    Its methods are pydrake's. Plants, elements, constraints and runs work with its three parts: `state`
    (EvaluatedState: time, q, v and parameters, with the results computed from them), `inputs` (InputValues) and
    `last_step` (LastStep).
    """

    __slots__ = ("state", "inputs", "last_step")

    state: EvaluatedState

    def __init__(self, plant: MultibodyPlant, scalar: Scalar | None = None, compiled: bool | None = None) -> None:
        self.join(plant.state_class(plant, scalar, compiled))

    def join(self, state: EvaluatedState) -> None:
        """Becomes the context of a state, without inputs."""
        self.state = state
        self.inputs = InputValues(state.forget_inputs)
        self.last_step = LastStep()

    def get_time(self) -> float:
        """[s]"""
        return self.state.time

    def SetTime(self, time_sec: float) -> None:
        """[s]; RuntimeError if it is not finite."""
        time = float(time_sec)
        if not isfinite(time):
            raise RuntimeError(f"a context's time must be finite, it is {time}")
        self.state.time = time
        self.state.forget_inputs()

    def SetContinuousState(self, xc: ArrayLike) -> None:
        """[q; v] of a plant with time step 0; RuntimeError if the plant is discrete."""
        self._require_state(False, "SetContinuousState")
        self.state.plant.SetPositionsAndVelocities(self, xc)

    def SetDiscreteState(self, xd: ArrayLike) -> None:
        """[q; v] of a plant with a time step; RuntimeError if the plant is continuous."""
        self._require_state(True, "SetDiscreteState")
        self.state.plant.SetPositionsAndVelocities(self, xd)

    def get_continuous_state_vector(self) -> StateVector:
        """[q; v] of a plant with time step 0; without elements if the plant is discrete."""
        state = self.state
        return StateVector(state.x[:0] if state.plant.is_discrete() else state.x)

    def get_discrete_state_vector(self) -> StateVector:
        """[q; v] of a plant with a time step; RuntimeError if the plant is continuous."""
        self._require_state(True, "get_discrete_state_vector")
        return StateVector(self.state.x)

    def num_discrete_state_groups(self) -> int:
        """[q; v] of a discrete plant, and one group for each deformable body; none of a continuous plant."""
        return 1 + len(self.state.deformables) if self.state.plant.is_discrete() else 0

    def get_discrete_state(self, index: DiscreteStateIndex | int) -> StateVector:
        """A group of the discrete state: 0 is [q; v], the others [q; v; a] of the vertices of a deformable body.

        RuntimeError if there is none.
        """
        groups = self.num_discrete_state_groups()
        if not 0 <= int(index) < groups:
            raise RuntimeError(f"get_discrete_state({int(index)}): the discrete state has {groups} groups")
        return StateVector(self.state.x if int(index) == 0 else self.state.deformables[int(index) - 1].values)

    def _require_state(self, discrete: bool, method: str) -> None:
        plant = self.state.plant
        if plant.is_discrete() is not discrete:
            has, step = ("continuous", "is 0") if discrete else ("discrete", f"is {plant.time_step():g} s")
            raise RuntimeError(f"{method}: the state of this plant is {has}, its time step {step}")

    def Clone(self) -> Context:
        """An independent copy."""
        state = self.state
        other = Context(state.plant, state.scalar, state.compiled)
        other.inputs.take_from(self.inputs)
        other.SetTimeStateAndParametersFrom(self)
        return other

    def SetTimeStateAndParametersFrom(self, source: Context) -> None:
        """Takes them from a context of this plant, or of one that was converted to or from another scalar type.

        Parameters are all that is not state and not input: locks and the activity of constraints among them. Sampled
        outputs are state. Inputs stay as they are.
        """
        set_time_state_and_parameters(self, source)


class StateVector:
    """A state as systems return it: a copy of an array."""

    def __init__(self, value: Vector) -> None:
        self._value = value.copy()

    def CopyToVector(self) -> Vector:
        """The elements, a new array (n,)."""
        return self._value.copy()

    value = CopyToVector

    def size(self) -> int:
        """The number of elements."""
        return self._value.size

    def __len__(self) -> int:
        return self._value.size

    def __getitem__(self, i: int) -> Any:
        return self._value[i]
