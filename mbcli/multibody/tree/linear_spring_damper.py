"""A spring and a damper between two points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.tree.checked_numbers import finite, non_negative
from mbcli.multibody.tree.force_element import ForceElement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.multibody_forces import MultibodyForces
    from mbcli.multibody.tree.rigid_body import RigidBody


class LinearSpringDamper(ForceElement):
    """A massless spring and damper between point P of body A and point Q of body B.

    With the length l = |PQ|, A feels the force (stiffness (l - free_length) + damping dl/dt) towards Q at P, and B the
    opposite at Q. It has no direction if P and Q meet: queries of its force raise RuntimeError there.

    Args:
        bodyA, bodyB: RigidBody.
        p_AP, p_BQ: [m] (3,), in A and in B.
        free_length: [m], positive.
        stiffness: [N/m], not negative.
        damping: [N s/m], not negative.
    """

    row: int  # in the arrays of the engine, after Finalize()

    def __init__(
        self,
        bodyA: RigidBody,
        p_AP: ArrayLike,
        bodyB: RigidBody,
        p_BQ: ArrayLike,
        free_length: float,
        stiffness: float,
        damping: float,
    ) -> None:
        self._bodyA, self._bodyB = bodyA, bodyB
        what = f"spring-damper between bodies '{bodyA.name()}' and '{bodyB.name()}'"
        self._p_AP, self._p_BQ = (
            finite(p, f"{what}: {name}", shape=(3,)) for p, name in ((p_AP, "p_AP"), (p_BQ, "p_BQ"))
        )
        self._free_length = non_negative(free_length, f"{what}: its free length")
        if self._free_length == 0.0:
            raise RuntimeError(f"{what}: its free length must be greater than 0, it is {free_length}")
        self._stiffness = non_negative(stiffness, f"{what}: its stiffness")
        self._damping = non_negative(damping, f"{what}: its damping")
        super().__init__(bodyA.instance_index)

    def tied_elements(self) -> Any:
        """The elements of the plant that it acts on."""
        return (self._bodyA, self._bodyB)

    def bodyA(self) -> RigidBody:
        """The body that has point P."""
        return self._bodyA

    def bodyB(self) -> RigidBody:
        """The body that has point Q."""
        return self._bodyB

    def p_AP(self) -> Vector3:
        """[m] (3,)"""
        return self._p_AP.copy()

    def p_BQ(self) -> Vector3:
        """[m] (3,)"""
        return self._p_BQ.copy()

    def free_length(self) -> float:
        """[m]"""
        return self._free_length

    def stiffness(self) -> float:
        """[N/m]"""
        return self._stiffness

    def damping(self) -> float:
        """[N s/m]"""
        return self._damping

    def fault(self) -> str:
        """Why it has no force, as a message."""
        return (
            f"the spring-damper between bodies '{self._bodyA.name()}' and '{self._bodyB.name()}' (force element "
            f"{int(self._index)}) has nearly no length: its force has no direction"
        )

    def _state(self, context):
        """Force on A at P in World (3,), length, and rate of the length."""
        self.check_context(context)
        self.GetParentPlant().check_force_elements(context)
        *f_AP, length, rate = context.state.at_velocities().calc_spring_damper(self.row)
        return np.array(f_AP), length, rate

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        f_AP, _, _ = self._state(context)
        X_WL = context.state.at_links().X_WL
        for body, p, f in ((self._bodyA, self._p_AP, f_AP), (self._bodyB, self._p_BQ, -f_AP)):
            n = int(body.index())
            forces.F_Bo_W[n] += [*np.cross(X_WL[n, :9].reshape(3, 3) @ p, f), *f]

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        _, length, _ = self._state(context)
        return 0.5 * self._stiffness * (length - self._free_length) ** 2

    def CalcConservativePower(self, context: Context) -> Scalar:
        _, length, rate = self._state(context)
        return -self._stiffness * (length - self._free_length) * rate

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        _, _, rate = self._state(context)
        return -self._damping * rate**2
