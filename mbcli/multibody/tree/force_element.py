"""The base of force elements, which users subclass for forces of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.multibody.tree.element import MultibodyElement

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.multibody.tree.multibody_forces import MultibodyForces

METHODS = (
    "CalcAndAddForceContribution",
    "CalcPotentialEnergy",
    "CalcConservativePower",
    "CalcNonConservativePower",
)


class ForceElement(MultibodyElement):
    """A force that depends on time and state, never on accelerations.

    Subclass it, define CalcAndAddForceContribution(), add it with MultibodyPlant.AddForceElement(): the force then acts
    wherever the plant's own elements do, in simulation too. The other methods are for those who ask for energies.
    For every state, the power of the force is CalcConservativePower() + CalcNonConservativePower().

    Args:
        model_instance: that of the element; the world's if not given.
    """

    def __init__(self, model_instance: ModelInstanceIndex | None = None) -> None:
        self.instance_index = model_instance

    def __repr__(self):
        if self._index is None:
            return f"<{type(self).__name__} index=not added>"
        return f"<{type(self).__name__} index={int(self._index)} model_instance={int(self.model_instance())}>"

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        """Adds the element's forces in a context to `forces`, a MultibodyForces; must not change other entries."""
        self._undefined("CalcAndAddForceContribution")

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        """[J]; RuntimeError if the force has none."""
        self._undefined("CalcPotentialEnergy")

    def CalcConservativePower(self, context: Context) -> Scalar:
        """[W], minus the rate of the potential energy; RuntimeError if the force has none."""
        self._undefined("CalcConservativePower")

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        """[W] of the part of the force that stores no energy, negative if it dissipates."""
        self._undefined("CalcNonConservativePower")

    def _undefined(self, method):
        raise RuntimeError(f"{self!r} does not define {method}()")

    def tied_elements(self) -> Any:
        """The bodies, frames and joints that must be part of the element's plant."""
        return ()


def redefines(element, kind):
    """Whether the class of an element has another method of METHODS than the class `kind` that it derives from."""
    return any(getattr(type(element), name) is not getattr(kind, name) for name in METHODS)
