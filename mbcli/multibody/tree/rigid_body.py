"""Rigid bodies."""

from __future__ import annotations

import cmath
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.array_arguments import as_array
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia, copy_of, spatial_inertia_of
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.math.spatial_vector import vector_of
from mbcli.multibody.scalars import FLOAT
from mbcli.multibody.tree.checked_numbers import non_negative
from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.frame import RigidBodyFrame
from mbcli.multibody.tree.index import ModelInstanceIndex
from mbcli.multibody.tree.multibody_forces import MultibodyForces

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
    from mbcli.multibody.inertia.unit_inertia import UnitInertia
    from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame


class RigidBody(NamedElement):
    """A rigid body B with its frame; M_BBo_B is its spatial inertia about Bo expressed in B.

    RigidBody(body_name, M_BBo_B) or RigidBody(body_name, model_instance, M_BBo_B).

    Args:
        body_name: not empty.
        model_instance: that of a plant to which it will be added; the default one if not given.
        M_BBo_B: SpatialInertia, zero if not given.
    """

    def __init__(
        self,
        body_name: str,
        model_instance: ModelInstanceIndex | SpatialInertia | None = None,
        M_BBo_B: SpatialInertia | None = None,
    ) -> None:
        if not body_name:
            raise RuntimeError("a body needs a name")
        if isinstance(model_instance, SpatialInertia) and M_BBo_B is None:
            model_instance, M_BBo_B = None, model_instance
        if isinstance(model_instance, SpatialInertia):
            raise TypeError(f"body '{body_name}': expected a ModelInstanceIndex, not {model_instance!r}")
        if model_instance is not None:
            self.instance_index = ModelInstanceIndex(model_instance)
        self._name = body_name
        self._M_BBo_B = SpatialInertia.Zero() if M_BBo_B is None else copy_of(M_BBo_B)
        self.frame = RigidBodyFrame(self)
        self.has_weight = True  # a model file may take a body out of gravity

    def body_frame(self) -> RigidBodyFrame:
        """The frame B of the body.

        Returns:
          The RigidBodyFrame.

        Example:
          >>> plant.GetBodyByName("lower").body_frame() is plant.GetFrameByName("lower")
          True
        """
        return self.frame

    def default_mass(self) -> float:
        """[kg]"""
        return self._M_BBo_B.get_mass()

    get_default_mass = default_mass

    def default_com(self) -> Vector3:
        """p_BoBcm_B [m]"""
        return self._M_BBo_B.get_com()

    def default_unit_inertia(self) -> UnitInertia:
        """G_BBo_B [m^2]"""
        return self._M_BBo_B.get_unit_inertia()

    def default_rotational_inertia(self) -> RotationalInertia:
        """I_BBo_B [kg m^2]"""
        return self._M_BBo_B.CalcRotationalInertia()

    def default_spatial_inertia(self) -> SpatialInertia:
        """M_BBo_B"""
        return copy_of(self._M_BBo_B)

    def get_mass(self, context: Context) -> Scalar:
        """[kg] as the context has it"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B).mass

    def CalcCenterOfMassInBodyFrame(self, context: Context) -> Vector3:
        """p_BoBcm_B [m] as the context has it"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B).p_array.copy()

    def CalcSpatialInertiaInBodyFrame(self, context: Context) -> SpatialInertia:
        """M_BBo_B as the context has it"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return copy_of(state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B))

    def SetSpatialInertiaInBodyFrame(self, context: Context, M_Bo_B: SpatialInertia) -> None:
        """Another M_BBo_B in one context; the default stays."""
        if context.state.plant is not self.parent_plant:
            self.check_context(context)
        if not isinstance(M_Bo_B, SpatialInertia):
            raise TypeError(f"body '{self.name()}': M_Bo_B is a SpatialInertia, not {M_Bo_B!r}")
        self._set_inertia(context, M_Bo_B.mass, M_Bo_B.p_array, M_Bo_B.G_array)

    def SetMass(self, context: Context, mass: float) -> None:
        """Another mass [kg] in one context, with the same centre of mass and unit inertia. RuntimeError below 0."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        mass = non_negative(mass, f"body '{self._name}': its mass", state.scalar)
        M = state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B)
        self._set_inertia(context, mass, M.p_array, M.G_array)

    def SetCenterOfMassInBodyFrame(self, context: Context, com: ArrayLike) -> None:
        """Another p_BoBcm_B (3,) [m] in one context, with the same inertia about Bo: the result may be impossible."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        M = state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B)
        self._set_inertia(context, M.mass, self._com(com).copy(), M.G_array)

    def SetCenterOfMassInBodyFrameAndPreserveCentralInertia(
        self, context: Context, center_of_mass_position: ArrayLike
    ) -> None:
        """Another p_BoBcm_B (3,) [m] in one context, with the same inertia about the centre of mass."""
        com = self._com(center_of_mass_position)
        M = self.CalcSpatialInertiaInBodyFrame(context)
        central = M.get_unit_inertia().ShiftToCenterOfMass(-M.get_com())
        self._set_inertia(context, M.mass, com.copy(), central.ShiftFromCenterOfMass(com).I_array)

    def _com(self, com):
        if type(com) is not np.ndarray or com.shape != (3,) or com.dtype is not FLOAT.dtype:
            com = as_array(com, (3,), f"body '{self._name}': centre of mass")
        if com.dtype.kind != "O" and not all(map(cmath.isfinite, com.tolist())):
            raise RuntimeError(f"body '{self.name()}': its centre of mass {com.tolist()} is not finite")
        return com

    def _set_inertia(self, context, mass, com, unit_inertia):
        """Of a mass and arrays (3,), (3, 3) that nobody else will change; physically valid or not."""
        state = context.state
        M, dtype = spatial_inertia_of(mass, com, unit_inertia), state.dtype
        if type(mass) is not float or com.dtype is not dtype or unit_inertia.dtype is not dtype:  # may not fit
            state.scalar.array(M.CopyToFullMatrix6(), f"body '{self._name}': its inertia")
        state.set_parameter(self, "M_BBo_B", M)

    def EvalPoseInWorld(self, context: Context) -> RigidTransform:
        """X_WB"""
        return self.frame.CalcPoseInWorld(context)

    def EvalSpatialVelocityInWorld(self, context: Context) -> SpatialVelocity:
        """V_WB_W at Bo"""
        return self.frame.CalcSpatialVelocityInWorld(context)

    def EvalSpatialAccelerationInWorld(self, context: Context) -> SpatialAcceleration:
        """A_WB_W at Bo, from the forward dynamics of the context."""
        return self.frame.CalcSpatialAccelerationInWorld(context)

    def CalcCenterOfMassTranslationalVelocityInWorld(self, context: Context) -> Vector3:
        """v_WBcm_W (3,)"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        V = state.velocity_cache.get(self)
        if V is None:
            com = state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B).p_array
            V = state.velocity_cache[self] = state.velocity_of_point(self.frame.index_number, com)
        return V[3:].copy()

    def CalcCenterOfMassTranslationalAccelerationInWorld(self, context: Context) -> Vector3:
        """a_WBcm_W (3,), from the forward dynamics of the context."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        A = state.input_cache.get(self)
        if A is None:
            com = state.parameters.values.get((self, "M_BBo_B"), self._M_BBo_B).p_array
            A = state.input_cache[self] = self.parent_plant.point_acceleration(context, self.frame.index_number, com)
        return A[3:].copy()

    def get_num_flexible_positions(self) -> int:
        """0: all bodies are rigid."""
        return 0

    def get_num_flexible_velocities(self) -> int:
        """0: all bodies are rigid."""
        return 0

    def _free_joint(self):
        """The joint of six degrees of freedom that moves the body, or None."""
        return self.GetParentPlant().free_joint_of(self)

    def required_free_joint(self) -> Any:
        """The joint of six degrees of freedom that moves the body. RuntimeError if there is none."""
        try:
            return self.parent_plant.free_joints[self.index_number]
        except (AttributeError, KeyError):
            self._free_joint()  # raises if the plant is not finalized
            raise RuntimeError(f"body '{self.name()}' is not a free body") from None

    def is_floating(self) -> bool:
        """Whether the body moves with six degrees of freedom, of whatever joint. After Finalize()."""
        return self._free_joint() is not None

    def is_floating_base_body(self) -> bool:
        """Whether Finalize() gave the body its floating joint, as no joint of the model holds it. After Finalize()."""
        joint = self._free_joint()
        return joint is not None and joint.is_ephemeral()

    def has_quaternion_dofs(self) -> bool:
        """Whether the body is free and has a quaternion for its orientation."""
        joint = self._free_joint()
        return joint is not None and joint.num_positions() == 7

    def floating_positions_start(self) -> int:
        """Index in q of the first coordinate of a free body."""
        return self.required_free_joint().position_start()

    def floating_velocities_start_in_v(self) -> int:
        """Index in v of the first velocity of a free body."""
        return self.required_free_joint().velocity_start()

    def floating_velocities_start(self) -> int:
        """Index in x = [q; v] of the first velocity of a free body."""
        return self.GetParentPlant().num_positions() + self.floating_velocities_start_in_v()

    def floating_position_suffix(self, position_index_in_body: int) -> str:
        """What tells the k-th position of a free body from its others: qw, qx, ... or x."""
        return self.required_free_joint().position_suffix(position_index_in_body)

    def floating_velocity_suffix(self, velocity_index_in_body: int) -> str:
        """What tells the k-th velocity of a free body from its others: wx, wy, ... or vz."""
        return self.required_free_joint().velocity_suffix(velocity_index_in_body)

    def Lock(self, context: Context) -> None:
        """Stops a free body in one context of a discrete plant; see Joint.Lock()."""
        self.required_free_joint().Lock(context)

    def Unlock(self, context: Context) -> None:
        """Ends Lock()."""
        self.required_free_joint().Unlock(context)

    def is_locked(self, context: Context) -> bool:
        """Whether a free body is locked in a context. RuntimeError for a body that is not free."""
        return self.required_free_joint().is_locked(context)

    def GetForceInWorld(self, context: Context, forces: MultibodyForces) -> SpatialForce:
        """F_BBo_W, the spatial force that `forces` holds for this body. RuntimeError for those of another plant."""
        if type(forces) is not MultibodyForces or forces.sizes is not self.parent_plant.sizes_of_forces:
            self.GetParentPlant().check_forces(forces)
        return vector_of(SpatialForce, forces.F_Bo_W[self.index_number].copy())

    def AddInForceInWorld(self, context: Context, F_Bo_W: SpatialForce, forces: MultibodyForces) -> None:
        """Adds a spatial force at Bo, expressed in World. RuntimeError for forces of another plant."""
        if type(forces) is not MultibodyForces or forces.sizes is not self.parent_plant.sizes_of_forces:
            self.GetParentPlant().check_forces(forces)
        if not isinstance(F_Bo_W, SpatialForce):  # those of other scalars are derived from it
            raise TypeError(f"F_Bo_W is a SpatialForce, not {F_Bo_W!r}")
        F = F_Bo_W.coeffs_array
        state = context.state
        if F.dtype is not state.dtype or not (F.base is None or F.flags.c_contiguous):
            F = state.scalar.array(F, f"body '{self.name()}': F_Bo_W")
        state.calls.add_spatial_force(F, self.index_number, forces.F_Bo_W)

    def AddInForce(
        self, context: Context, p_BP_E: ArrayLike, F_Bp_E: SpatialForce, frame_E: Frame, forces: MultibodyForces
    ) -> None:
        """Adds a spatial force at the point P at p_BP_E (3,) [m] from Bo, everything expressed in frame E."""
        plant = self.parent_plant
        state = context.state
        if state.plant is not plant:
            self.check_context(context)
        if type(forces) is not MultibodyForces or forces.sizes is not plant.sizes_of_forces:
            plant.check_forces(forces)
        if not isinstance(F_Bp_E, SpatialForce):
            raise TypeError(f"F_Bp_E is a SpatialForce, not {F_Bp_E!r}")
        if type(p_BP_E) is not np.ndarray or p_BP_E.shape != (3,):
            p_BP_E = as_array(p_BP_E, (3,), "p_BP_E")
        p = plant.one_point(context, p_BP_E, "p_BP_E")
        e, F = plant.frame_number(frame_E), F_Bp_E.coeffs_array
        if F.dtype is not state.dtype or not (F.base is None or F.flags.c_contiguous):
            F = state.scalar.array(F, f"body '{self.name()}': F_Bp_E")
        calls = state.calls if state.positions_current else state.at_positions()
        calls.query_force_at(e, p, F, self.index_number, forces.F_Bo_W)


Body = RigidBody  # its former name
