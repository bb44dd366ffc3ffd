"""A spring that turns a ball joint back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import non_negative
from mbcli.multibody.tree.force_element import ForceElement
from mbcli.multibody.tree.joints import BallQuaternionJoint

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar, Vector
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.multibody_forces import MultibodyForces


class BallSpring(ForceElement):
    """Torque -stiffness [N m/rad] times the rotation vector of M in F, of at most half a turn, as MuJoCo has it.

    Args:
        joint: BallQuaternionJoint.
        stiffness: [N m/rad], a parameter of a context; RuntimeError if it is negative.
    """

    def __init__(self, joint: BallQuaternionJoint, stiffness: float) -> None:
        if not isinstance(joint, BallQuaternionJoint):
            raise TypeError(f"BallSpring needs a BallQuaternionJoint, not {joint!r}")
        self._joint = joint
        self._stiffness = self._checked(stiffness)
        super().__init__(joint.instance_index)

    def _checked(self, value: Any, scalar: Any = FLOAT) -> Any:
        return non_negative(value, f"spring of joint '{self._joint.name()}': its stiffness", scalar)

    def tied_elements(self) -> Any:
        """The elements of the plant that it acts on."""
        return (self._joint,)

    def joint(self) -> BallQuaternionJoint:
        """RuntimeError before the spring is part of a plant."""
        self.GetParentPlant()
        return self._joint

    def default_stiffness(self) -> float:
        """[N m/rad]"""
        return self._stiffness

    def GetStiffness(self, context: Context) -> Scalar:
        """[N m/rad] as the context has it"""
        self.check_context(context)
        return context.state.parameters.get(self, "stiffness")

    def SetStiffness(self, context: Context, stiffness: float) -> None:
        """Another stiffness [N m/rad] in one context; RuntimeError if it is negative."""
        self.check_context(context)
        state = context.state
        state.set_parameter(self, "stiffness", self._checked(stiffness, state.scalar))

    def _turn(self, context: Context) -> tuple[Vector, Vector]:
        """The torque and the angular velocity of M in F, along F."""
        stiffness, state = self.GetStiffness(context), context.state
        kernels = state.scalar.load_kernels(False, state.model)
        q = np.array(state.q[self._joint.position_start() :][:4])
        start = self._joint.velocity_start()
        return -stiffness * np.array(kernels.rotation_vector(q, 0)), state.v[start : start + 3]

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        torque, _ = self._turn(context)
        start = self._joint.velocity_start()
        forces.mutable_generalized_forces()[start : start + 3] += torque

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        torque, _ = self._turn(context)
        stiffness = self.GetStiffness(context)
        return context.state.scalar.number(0.5 * torque @ torque / stiffness if stiffness else 0.0 * torque[0])

    def CalcConservativePower(self, context: Context) -> Scalar:
        torque, w = self._turn(context)
        return context.state.scalar.number(torque @ w)

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        self.check_context(context)
        return 0.0
