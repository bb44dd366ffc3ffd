"""Forces that act on bodies from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.math.array_arguments import as_array
from mbcli.multibody.core.signal_system import SignalSystem
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.tree.checked_numbers import require_finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector3
    from mbcli.multibody.tree.index import BodyIndex


class ExternallyAppliedSpatialForce:
    """A spatial force F_Bq_W on a body at point q, given from its origin as p_BoBq_B (3,) [m]; both zero at first."""

    def __init__(self) -> None:
        self.body_index: BodyIndex | None = None
        self._p_BoBq_B = np.zeros(3)
        self._F_Bq_W = SpatialForce.Zero()

    @property
    def p_BoBq_B(self) -> Vector3:
        """[m] (3,), read-only: assign another one to change it."""
        view = self._p_BoBq_B.view()
        view.flags.writeable = False
        return view

    @p_BoBq_B.setter
    def p_BoBq_B(self, p: ArrayLike) -> None:
        self._p_BoBq_B = as_array(p, (3,), "p_BoBq_B").copy()

    @property
    def F_Bq_W(self) -> SpatialForce:
        """F_Bq_W: torque [N m] about Bq and force [N] at Bq on the body, in World."""
        return self._F_Bq_W

    @F_Bq_W.setter
    def F_Bq_W(self, F: SpatialForce) -> None:
        if not isinstance(F, SpatialForce):
            raise TypeError(f"F_Bq_W is a SpatialForce, not {F!r}")
        self._F_Bq_W = SpatialForce(F.get_coeffs())

    def __copy__(self) -> ExternallyAppliedSpatialForce:
        other = ExternallyAppliedSpatialForce()
        other.body_index, other.p_BoBq_B, other.F_Bq_W = self.body_index, self._p_BoBq_B, self._F_Bq_W
        return other


def check_applied_forces(forces):
    """TypeError for what is not a list of ExternallyAppliedSpatialForce, RuntimeError if one is not finite."""
    if not isinstance(forces, (list, tuple)):
        raise TypeError(f"applied_spatial_force takes a list of ExternallyAppliedSpatialForce, not {forces!r}")
    for force in forces:
        if not isinstance(force, ExternallyAppliedSpatialForce):
            raise TypeError(f"applied_spatial_force takes ExternallyAppliedSpatialForce, not {force!r}")
        if force.body_index is None:
            raise RuntimeError("an applied spatial force has no body_index")
        for name in ("p_BoBq_B", "F_Bq_W"):
            values = getattr(force, name)
            values = values if name == "p_BoBq_B" else values.get_coeffs()
            require_finite(values, f"{name} of an applied spatial force on body {int(force.body_index)}")


class ExternallyAppliedSpatialForceMultiplexer(SignalSystem):
    """Makes one list of ExternallyAppliedSpatialForce of several.

    Args:
        num_inputs: number of lists.
    """

    def __init__(self, num_inputs: int) -> None:
        if num_inputs < 0:
            raise RuntimeError(f"the number of inputs must not be negative, it is {num_inputs}")
        self._names = [f"u{k}" for k in range(num_inputs)]
        super().__init__(dict.fromkeys(self._names), {"y0": self._concatenate})

    def _concatenate(self, context):
        forces = [force for name in self._names for force in self._required(context, name)]
        check_applied_forces(forces)
        return forces
