"""A flexible mount between two frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.math import SpatialForce
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import non_negative
from mbcli.multibody.tree.force_element import ForceElement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.multibody_forces import MultibodyForces
    from mbcli.multibody.tree.rigid_body import RigidBody

CONSTANTS = (
    "torque_stiffness_constants",
    "torque_damping_constants",
    "force_stiffness_constants",
    "force_damping_constants",
)


class LinearBushingRollPitchYaw(ForceElement):
    """A massless bushing between frame A of one body and frame C of another, with springs and dampers of six kinds.

    The torque follows the roll, pitch and yaw angles of C in A: three gimbal torques -k q - d dq/dt, one for each
    angle, and the torque t on C whose power is theirs. The force f on C follows r = p_AoCo, expressed in the frame B
    halfway between A and C: -k r - d dr/dt. It acts at Bo, the middle between Ao and Co; A feels -t and -f there.

    dr/dt is the rate in a frame that turns with half the angular velocity of C in A. With it the bushing's power is
    tau . dq/dt + f . dr/dt, so its damping always dissipates; B itself turns a little differently unless the axis
    of rotation is fixed, and with its rate that would not hold.

    The angles do not wrap: roll and yaw jump at +-pi, and the torque with them. Near pitch = +-pi/2 (|cos| < 0.008)
    the rates are not defined, and queries of the force raise RuntimeError. With three different force stiffnesses
    the force is not conservative, so there is no potential energy: the methods for energy and power raise RuntimeError.

    Args:
        frameA, frameC: Frame.
        torque_stiffness_constants: of roll, pitch, yaw [N m/rad] (3,), not negative, as all of these.
        torque_damping_constants: [N m s/rad] (3,)
        force_stiffness_constants: of x, y, z in B [N/m] (3,)
        force_damping_constants: [N s/m] (3,)
    """

    row: int  # in the arrays of the engine, after Finalize()
    _torque_stiffness_constants: Vector3
    _torque_damping_constants: Vector3
    _force_stiffness_constants: Vector3
    _force_damping_constants: Vector3

    def __init__(
        self,
        frameA: Frame,
        frameC: Frame,
        torque_stiffness_constants: ArrayLike,
        torque_damping_constants: ArrayLike,
        force_stiffness_constants: ArrayLike,
        force_damping_constants: ArrayLike,
    ) -> None:
        self._frameA, self._frameC = frameA, frameC
        values = (
            torque_stiffness_constants,
            torque_damping_constants,
            force_stiffness_constants,
            force_damping_constants,
        )
        for name, value in zip(CONSTANTS, values, strict=True):
            setattr(self, f"_{name}", self._checked(name, value))
        super().__init__(frameC.instance_index)

    def _name(self):
        return f"bushing between frames '{self._frameA.name()}' and '{self._frameC.name()}'"

    def _checked(self, name, value, scalar=FLOAT):
        return non_negative(value, f"{self._name()}: {name}", scalar, (3,))

    def tied_elements(self) -> Any:
        """The elements of the plant that it acts on."""
        return (self._frameA, self._frameC)

    def frameA(self) -> Frame:
        """RuntimeError before the bushing is part of a plant, as for frameC(), link0(), link1()."""
        self.GetParentPlant()
        return self._frameA

    def frameC(self) -> Frame:
        """Frame C, on link1. RuntimeError before the bushing is part of a plant."""
        self.GetParentPlant()
        return self._frameC

    def link0(self) -> RigidBody:
        """The body of frame A."""
        return self.frameA().body()

    def link1(self) -> RigidBody:
        """The body of frame C."""
        return self.frameC().body()

    # the constants: defaults, and those of a context

    def torque_stiffness_constants(self) -> Vector3:
        """The default [N m/rad] of roll, pitch, yaw (3,)"""
        return self._torque_stiffness_constants.copy()

    def torque_damping_constants(self) -> Vector3:
        """The default [N m s/rad] of roll, pitch, yaw (3,)"""
        return self._torque_damping_constants.copy()

    def force_stiffness_constants(self) -> Vector3:
        """The default [N/m] of x, y, z (3,)"""
        return self._force_stiffness_constants.copy()

    def force_damping_constants(self) -> Vector3:
        """The default [N s/m] of x, y, z (3,)"""
        return self._force_damping_constants.copy()

    def GetTorqueStiffnessConstants(self, context: Context) -> Vector3:
        """[N m/rad] (3,) as the context has them"""
        return self._get(context, "torque_stiffness_constants")

    def GetTorqueDampingConstants(self, context: Context) -> Vector3:
        """[N m s/rad] (3,) as the context has them"""
        return self._get(context, "torque_damping_constants")

    def GetForceStiffnessConstants(self, context: Context) -> Vector3:
        """[N/m] (3,) as the context has them"""
        return self._get(context, "force_stiffness_constants")

    def GetForceDampingConstants(self, context: Context) -> Vector3:
        """[N s/m] (3,) as the context has them"""
        return self._get(context, "force_damping_constants")

    def SetTorqueStiffnessConstants(self, context: Context, torque_stiffness: ArrayLike) -> None:
        """Others [N m/rad] (3,) in one context."""
        self._set(context, "torque_stiffness_constants", torque_stiffness)

    def SetTorqueDampingConstants(self, context: Context, torque_damping: ArrayLike) -> None:
        """Others [N m s/rad] (3,) in one context."""
        self._set(context, "torque_damping_constants", torque_damping)

    def SetForceStiffnessConstants(self, context: Context, force_stiffness: ArrayLike) -> None:
        """Others [N/m] (3,) in one context."""
        self._set(context, "force_stiffness_constants", force_stiffness)

    def SetForceDampingConstants(self, context: Context, force_damping: ArrayLike) -> None:
        """Others [N s/m] (3,) in one context."""
        self._set(context, "force_damping_constants", force_damping)

    def _get(self, context, name):
        self.check_context(context)
        return context.state.parameters.get(self, name).copy()

    def _set(self, context, name, value):
        self.check_context(context)
        state = context.state
        state.set_parameter(self, name, self._checked(name, value, state.scalar))

    # forces

    def fault(self) -> str:
        """Why it has no force, as a message."""
        return (
            f"the {self._name()} (force element {int(self._index)}) is near gimbal lock: the pitch of C in A is near "
            "pi/2, its angles and their rates are not defined"
        )

    def _force_on_C(self, context):
        """t, f on C at Bo, and p_AoBo, expressed in World."""
        self.check_context(context)
        self.GetParentPlant().check_force_elements(context)
        forces = np.array(context.state.at_velocities().calc_bushing(self.row))
        p_AoCo = (
            self._frameC.CalcPoseInWorld(context).translation() - self._frameA.CalcPoseInWorld(context).translation()
        )
        return forces[:3], forces[3:], 0.5 * p_AoCo

    def CalcBushingSpatialForceOnFrameA(self, context: Context) -> SpatialForce:
        """F_A_A: moment about Ao and force of the bushing on A, expressed in A. RuntimeError near gimbal lock."""
        t, f, p_AoBo = self._force_on_C(context)
        R_AW = self._frameA.CalcRotationMatrixInWorld(context).matrix().T
        return SpatialForce(R_AW @ (-t - np.cross(p_AoBo, f)), R_AW @ -f)

    def CalcBushingSpatialForceOnFrameC(self, context: Context) -> SpatialForce:
        """F_C_C: moment about Co and force of the bushing on C, expressed in C. RuntimeError near gimbal lock."""
        t, f, p_AoBo = self._force_on_C(context)
        R_CW = self._frameC.CalcRotationMatrixInWorld(context).matrix().T
        return SpatialForce(R_CW @ (t - np.cross(p_AoBo, f)), R_CW @ f)

    def CalcAndAddForceContribution(self, context: Context, forces: MultibodyForces) -> None:
        for frame, F_F in (
            (self._frameA, self.CalcBushingSpatialForceOnFrameA(context)),
            (self._frameC, self.CalcBushingSpatialForceOnFrameC(context)),
        ):
            X_WF, X_WB = frame.CalcPoseInWorld(context), frame.body().EvalPoseInWorld(context)
            F_W = F_F.Rotate(X_WF.rotation()).Shift(X_WB.translation() - X_WF.translation())
            frame.body().AddInForceInWorld(context, F_W, forces)

    def CalcPotentialEnergy(self, context: Context) -> Scalar:
        self._refuse_energy("potential energy")

    def CalcConservativePower(self, context: Context) -> Scalar:
        self._refuse_energy("conservative power")

    def CalcNonConservativePower(self, context: Context) -> Scalar:
        self._refuse_energy("non-conservative power")

    def _refuse_energy(self, what):
        raise RuntimeError(
            f"the {self._name()} has no {what}: its force is not conservative if its force stiffnesses differ"
        )
