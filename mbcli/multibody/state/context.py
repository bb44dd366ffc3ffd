"""pydrake's interface to the state of one plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.state.last_step import LastStep
from mbcli.multibody.state.state_transfer import set_time_state_and_parameters
from mbcli.systems.contexts import Context as SystemContext, finite_time
from mbcli.systems.ports import InputValues
from mbcli.systems.vectors import BasicVector, ContinuousState, PlacedVector, nothing_changes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.multibody.scalars import Scalar
    from mbcli.multibody.state.evaluated_state import EvaluatedState
    from mbcli.multibody.state.owning_plant import OwningPlant


class Context(SystemContext):
    """Time, positions q, velocities v, parameters and inputs of a plant. Made by MultibodyPlant.CreateDefaultContext().

    Its methods are pydrake's. Plants, elements, constraints and runs work with its three parts: `state`
    (EvaluatedState: time, q, v and parameters, with the results computed from them), `inputs` (InputValues) and
    `last_step` (LastStep).
    """

    __slots__ = ("state", "inputs", "last_step")

    state: EvaluatedState

    def __init__(self, plant: OwningPlant, scalar: Scalar | None = None, compiled: bool | None = None) -> None:
        self.join(plant.make_state(scalar, compiled))

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
        self.state.time = finite_time(time_sec)
        self.state.forget_inputs()

    def _owner(self) -> Any:
        return self.state.plant

    def note_change(self) -> None:
        self.state.forget_positions()

    def _positions_and_velocities(self) -> PlacedVector:
        return PlacedVector(lambda: self.state.x, self._set_x, self._memory_of_x)

    def _set_x(self, x: ArrayLike) -> None:
        self.state.plant.SetPositionsAndVelocities(self, x)

    def _memory_of_x(self) -> Vector:
        self.state.forget_positions()
        return self.state.data.x

    def _continuous(self) -> ContinuousState:
        state = self.state
        if state.plant.is_discrete():
            return ContinuousState()
        return ContinuousState(self._positions_and_velocities(), kinds="q" * state.q.size + "v" * state.v.size)

    def _discrete(self) -> list[Any]:
        """[q; v] of a discrete plant, then [q; v; a] of the vertices of each deformable body, then activations."""
        if not self.state.plant.is_discrete():
            return []
        bodies = [PlacedVector(lambda own=own: own.values, own.set_values) for own in self.state.deformables]  # type: ignore[misc]
        if self.state.data.activation.size:
            bodies.append(PlacedVector(lambda: self.state.data.activation, self._set_activations))
        return [self._positions_and_velocities(), *bodies]

    def _set_activations(self, values: ArrayLike) -> None:
        self.state.plant.set_activations(self, values)

    def SetContinuousState(self, xc: ArrayLike) -> None:
        """[q; v] of a plant with time step 0; RuntimeError if the plant is discrete."""
        self._require_state(False, "SetContinuousState")
        self._set_x(xc)

    def SetDiscreteState(self, *group_and_value: Any, group_index: Any = None, xd: ArrayLike | None = None) -> None:
        """[q; v] of a plant with a time step, or one of its groups; RuntimeError if the plant is continuous."""
        self._require_state(True, "SetDiscreteState")
        if group_index is not None:
            group_and_value, xd = (group_index, *group_and_value, *([] if xd is None else [xd])), None
        if len(group_and_value) == 2 or hasattr((*group_and_value, None)[0], "get_data"):
            super().SetDiscreteState(*group_and_value)
        else:
            self._set_x(xd if xd is not None else group_and_value[0])

    def get_discrete_state_vector(self) -> Any:
        """[q; v] of a plant with a time step; RuntimeError if the plant is continuous."""
        self._require_state(True, "get_discrete_state_vector")
        return self._positions_and_velocities()

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


class StateVector(BasicVector):
    """A copy of an array, as systems return it."""

    def __init__(self, value: Vector) -> None:
        self.numbers, self.changed = value.copy(), nothing_changes
