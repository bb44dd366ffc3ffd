"""Kernels of constraints at many states, eight at once if they are compiled."""

from mbcli.multibody.compilation.constrained_model import ConstrainedModel


class ConstrainedBatch:
    """Memory of its own to evaluate many states of a ConstrainedModel in.

    Args:
        constrained: whose kernels and constraints these are; interpreted, states are evaluated one after another.
    """

    def __init__(self, constrained):
        self._constrained = constrained
        if constrained.compiled:
            from mbcli.engine.queries.lane_data import LaneData, LaneWork, load_lane_kernels

            model, constraints = constrained.model, constrained.constraints
            self._kernels, self._data = load_lane_kernels(), LaneData(model.sizes)
            self._work = LaneWork(constraints.sizes)
            self._handles = model.handle(True), self._data.handle, constraints.handle(True), self._work.handle
        else:
            own = ConstrainedModel(constrained.model, constrained.constraints, False)
            self._kernels, self._data, self._work, self._handles = own.kernels, own.data, own.work, own.handles
        self._data.diagonal.T[...] = constrained.model.dof_armature

    def take_stabilization(self):
        """Takes the stabilization that the ConstrainedModel has now."""
        stabilization = self._constrained.work.stabilization
        self._work.stabilization.T[...] = stabilization.T

    def run(self, name, *rows):
        """A kernel of engine/queries/constraint_batch.py."""
        getattr(self._kernels, name)(*self._handles, *rows)
