"""Rigid bodies."""

from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.frame import RigidBodyFrame
from mbcli.multibody.tree.spatial_inertia import SpatialInertia


class RigidBody(NamedElement):
    """A rigid body B with its frame; M_BBo_B is its spatial inertia about Bo expressed in B.

    Args:
        body_name: not empty.
        M_BBo_B: SpatialInertia, zero where not given.
    """

    def __init__(self, body_name, M_BBo_B=None):
        if not body_name:
            raise RuntimeError("a body needs a name")
        self._name = body_name
        self._M_BBo_B = SpatialInertia.Zero() if M_BBo_B is None else M_BBo_B
        self._frame = RigidBodyFrame(self)

    def body_frame(self):
        return self._frame

    def default_mass(self):
        """[kg]"""
        return self._M_BBo_B.get_mass()

    get_default_mass = default_mass

    def default_com(self):
        """p_BoBcm_B [m]"""
        return self._M_BBo_B.get_com()

    def default_unit_inertia(self):
        return self._M_BBo_B.get_unit_inertia()

    def default_rotational_inertia(self):
        """I_BBo_B [kg m^2]"""
        return self._M_BBo_B.CalcRotationalInertia()

    def default_spatial_inertia(self):
        return self._M_BBo_B

    def get_mass(self, context):
        """[kg] as the context has it"""
        return self.CalcSpatialInertiaInBodyFrame(context).get_mass()

    def CalcCenterOfMassInBodyFrame(self, context):
        """p_BoBcm_B [m] as the context has it"""
        return self.CalcSpatialInertiaInBodyFrame(context).get_com()

    def CalcSpatialInertiaInBodyFrame(self, context):
        """M_BBo_B as the context has it"""
        return context._parameters.get(self, "M_BBo_B")

    def SetSpatialInertiaInBodyFrame(self, context, M_Bo_B):
        """Another M_BBo_B in one context; the default stays."""
        context._set_parameter(self, "M_BBo_B", M_Bo_B)

    def SetMass(self, context, mass):
        """Another mass [kg] in one context, with the same centre of mass and unit inertia."""
        M = self.CalcSpatialInertiaInBodyFrame(context)
        self.SetSpatialInertiaInBodyFrame(context, SpatialInertia(mass, M.get_com(), M.get_unit_inertia()))

    def EvalPoseInWorld(self, context):
        """X_WB"""
        return self.GetParentPlant().EvalBodyPoseInWorld(context, self)

    def EvalSpatialVelocityInWorld(self, context):
        """V_WB_W at Bo"""
        return self.GetParentPlant().EvalBodySpatialVelocityInWorld(context, self)

    def EvalSpatialAccelerationInWorld(self, context):
        """A_WB_W at Bo, from the forward dynamics of the context."""
        return self.GetParentPlant().EvalBodySpatialAccelerationInWorld(context, self)

    def _free_joint(self):
        """The joint of six degrees of freedom that moves the body, or None."""
        return self.GetParentPlant()._free_joint_of(self)

    def _required_free_joint(self):
        joint = self._free_joint()
        if joint is None:
            raise RuntimeError(f"body '{self.name()}' is not a free body")
        return joint

    def is_floating(self):
        """Whether the body moves with six degrees of freedom, of whatever joint. After Finalize()."""
        return self._free_joint() is not None

    def is_floating_base_body(self):
        """Whether Finalize() gave the body its floating joint, as no joint of the model holds it. After Finalize()."""
        joint = self._free_joint()
        return joint is not None and joint.is_ephemeral()

    def has_quaternion_dofs(self):
        joint = self._free_joint()
        return joint is not None and joint.num_positions() == 7

    def floating_positions_start(self):
        """Index in q of the first coordinate of a free body."""
        return self._required_free_joint().position_start()

    def floating_velocities_start_in_v(self):
        """Index in v of the first velocity of a free body."""
        return self._required_free_joint().velocity_start()

    def GetForceInWorld(self, context, forces):
        """F_BBo_W, the spatial force that `forces` holds for this body."""
        from mbcli.multibody.math import SpatialForce

        return SpatialForce(F=forces._body_forces[int(self.index())].copy())

    def AddInForceInWorld(self, context, F_Bo_W, forces):
        """Adds a spatial force at Bo, expressed in World."""
        forces._body_forces[int(self.index())] += F_Bo_W.get_coeffs()

    def AddInForce(self, context, p_BP_E, F_Bp_E, frame_E, forces):
        """Adds a spatial force at point P of the body, everything expressed in frame E."""
        R_WE = frame_E.CalcRotationMatrixInWorld(context)
        self.AddInForceInWorld(context, F_Bp_E.Rotate(R_WE).Shift(-(R_WE @ p_BP_E)), forces)
