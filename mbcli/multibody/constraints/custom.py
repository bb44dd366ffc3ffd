"""Constraints that a user writes in Python."""

import numpy as np


class Constraint:
    """Rows of a constraint set whose equations a subclass computes; `model` is the plant, `time` is 0.

    At the position level they say phi(q) = 0, at the velocity level G v + (what does not depend on v) = 0, at the
    acceleration level G vdot = gamma. A constraint that exists at the velocity or acceleration level only leaves the
    errors above it zero.

    Args:
        size: number of rows.
        name, userDefinedId: unique within a constraint set, or None.
        enableBaumgarteStabilization, stabilizationTimeConstant: whether errors decay, with which time constant [s].
    """

    def __init__(
        self,
        size,
        name=None,
        userDefinedId=None,
        enableBaumgarteStabilization=False,
        stabilizationTimeConstant=0.1,
    ):
        self.size, self.name, self.userDefinedId = int(size), name, userDefinedId
        self.enableBaumgarteStabilization = enableBaumgarteStabilization
        self.stabilizationTimeConstant = stabilizationTimeConstant

    def bind(self, model):
        """Called when the constraint set is bound; may raise."""

    def jacobian(self, model, time, Q, QDot):
        """G (size, nv); QDot is None if positions are asked for."""
        raise NotImplementedError

    def gamma(self, model, time, Q, QDot, G):
        """(size,): what G vdot has to be, without stabilization."""
        raise NotImplementedError

    def position_error(self, model, time, Q):
        """phi (size,)"""
        return np.zeros(self.size)

    def velocity_error(self, model, time, Q, QDot, G):
        """(size,)"""
        return G @ QDot

    def forces(self, model, time, Q, QDot, multipliers):
        """Bodies, frames on them and spatial forces (6,) in these frames, for multipliers (size,)."""
        raise NotImplementedError(f"custom constraint {self.name!r} does not say which forces on bodies it makes")
