"""What all parts of a plant share: its elements, settings and arrays, and what a call asks of the plant first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mbcli.multibody.scalars import FLOAT, Scalar
from mbcli.multibody.state.context import Context
from mbcli.multibody.state.evaluated_state import EvaluatedState
from mbcli.multibody.tree.checked_numbers import require_finite
from mbcli.systems.system import System

if TYPE_CHECKING:
    from mbcli.math.array_types import Array
    from mbcli.multibody.compilation.compile_model import MobilizedJoint
    from mbcli.multibody.core.plant_elements import PlantElements
    from mbcli.multibody.core.plant_settings import PlantSettings
    from mbcli.multibody.state.owning_plant import OwningPlant
    from mbcli.multibody.tree.element import MultibodyElement
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement


class PlantPart(System):
    """The base of the parts of MultibodyPlant. The bases of a part are the parts that it builds on.

    Attributes:
        scalar: the numbers of its contexts; state_class: of the states of its contexts.
        elements: PlantElements; settings: PlantSettings.
        model: the Model of the default parameters, with an attribute for each of its fields; None before Finalize().
        free_joints: the joints of six degrees of freedom that move a body from World outward, by the number of the
            body, after Finalize().
    """

    scalar: Scalar = FLOAT
    state_class: type[EvaluatedState] = EvaluatedState
    class_of_floats: type | None = None  # of plants of other scalars

    elements: PlantElements
    settings: PlantSettings
    model: Any
    free_joints: dict[int, Joint]
    _mobilized_joints: list[MobilizedJoint]  # after Finalize(), depth first: an inboard link comes before
    _gravity: UniformGravityFieldElement
    _time_step: float
    _name: str

    def whole_plant(self) -> OwningPlant:
        """The plant that this is a part of: itself, to a type checker."""
        return cast("OwningPlant", self)

    def make_state(self, scalar: Scalar | None = None, compiled: bool | None = None) -> EvaluatedState:
        """That of a new context."""
        return self.state_class(self.whole_plant(), scalar, compiled)

    def time_step(self) -> float:
        """[s], 0 for a continuous plant"""
        return self._time_step

    def is_discrete(self) -> bool:
        """Whether the plant has a time step."""
        return self._time_step > 0.0

    def port_array(self, value: Any, what: str) -> Array:
        """A new array of the plant's numbers for a port. TypeError for others, RuntimeError if they are not finite."""
        array = self.scalar.array(value, what)
        require_finite(array, what)
        return array

    def is_finalized(self) -> bool:
        """Whether Finalize() has been called."""
        return self.model is not None

    def require_finalized(self, what: str) -> None:
        """RuntimeError before Finalize()."""
        if self.model is None:
            raise RuntimeError(f"{what}: call Finalize() first")

    def require_not_finalized(self, what: str) -> None:
        """RuntimeError after Finalize()."""
        if self.model is not None:
            raise RuntimeError(f"{what}: the plant is finalized, nothing can be changed")

    def check_context(self, context: Context) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, Context):
            if hasattr(type(context), "find"):
                raise RuntimeError(
                    "a plant was given the root context of a diagram: call plant.GetMyContextFromRoot(context) first"
                )
            raise RuntimeError("this context belongs to another system")
        if context.state.plant is not self:
            raise RuntimeError("this context belongs to another plant")

    def _require_own(self, element: MultibodyElement, wanted_by: str) -> None:
        if element.parent_plant is not self:
            raise RuntimeError(f"{wanted_by}: {element!r} is not part of this plant")
