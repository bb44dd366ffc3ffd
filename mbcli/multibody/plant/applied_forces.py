"""Forces that act on bodies from outside."""

import numpy as np

from mbcli.multibody.plant.signal_system import SignalSystem


class ExternallyAppliedSpatialForce:
    """A spatial force F_Bq_W on a body at point q, given from its origin as p_BoBq_B."""

    def __init__(self):
        self.body_index = None
        self.p_BoBq_B = np.zeros(3)
        self.F_Bq_W = None


def check_applied_forces(forces):
    """TypeError where something is not a list of ExternallyAppliedSpatialForce."""
    if not isinstance(forces, (list, tuple)):
        raise TypeError(f"applied_spatial_force takes a list of ExternallyAppliedSpatialForce, not {forces!r}")
    for force in forces:
        if not isinstance(force, ExternallyAppliedSpatialForce):
            raise TypeError(f"applied_spatial_force takes ExternallyAppliedSpatialForce, not {force!r}")


class ExternallyAppliedSpatialForceMultiplexer(SignalSystem):
    """Makes one list of ExternallyAppliedSpatialForce of several.

    Args:
        num_inputs: number of lists.
    """

    def __init__(self, num_inputs):
        if num_inputs < 0:
            raise RuntimeError(f"the number of inputs must not be negative, it is {num_inputs}")
        self._names = [f"u{k}" for k in range(num_inputs)]
        super().__init__(dict.fromkeys(self._names), {"y0": self._concatenate})

    def _concatenate(self, context):
        forces = [force for name in self._names for force in self._required(context, name)]
        check_applied_forces(forces)
        return forces
