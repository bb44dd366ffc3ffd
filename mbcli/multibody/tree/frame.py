"""Frames fixed to bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.math import RigidTransform
from mbcli.math.rigid_transform import transform_of
from mbcli.math.rotation_matrix import rotation_of
from mbcli.multibody.math import SpatialAcceleration, SpatialVelocity
from mbcli.multibody.math.spatial_vector import vector_of
from mbcli.multibody.state.parameters import DEFAULTS
from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.index import ModelInstanceIndex

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector3
    from mbcli.math.rotation_matrix import RotationMatrix
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.parameters import Parameters
    from mbcli.multibody.tree.rigid_body import RigidBody

WORLD = 0  # the number of World's frame


class Frame(NamedElement):
    """A frame F fixed to a body B.

    Spatial velocities and accelerations are those of its origin Fo. They are measured in a frame M, which may move, and
    expressed in a frame E. Accelerations come from the forward dynamics of the context.
    """

    _body: RigidBody

    def body(self) -> RigidBody:
        """The body that the frame is fixed to."""
        return self._body

    def is_world_frame(self) -> bool:
        """Whether it is World's frame."""
        return self._index is not None and int(self._index) == WORLD

    def is_body_frame(self) -> bool:
        """Whether it is the frame of a body itself."""
        return isinstance(self, RigidBodyFrame)

    # in the body

    def pose_in_body(self, parameters: Parameters) -> RigidTransform:
        """X_BF under these parameters."""
        raise NotImplementedError

    def GetFixedPoseInBodyFrame(self) -> RigidTransform:
        """X_BF, the default pose of this frame in its body."""
        return self.pose_in_body(DEFAULTS)

    def CalcPoseInBodyFrame(self, context: Context) -> RigidTransform:
        """X_BF as the context has it."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return self.pose_in_body(state.parameters)

    def GetFixedRotationMatrixInBodyFrame(self) -> RotationMatrix:
        """R_BF, the default."""
        return self.GetFixedPoseInBodyFrame().rotation()

    def CalcRotationMatrixInBodyFrame(self, context: Context) -> RotationMatrix:
        """R_BF as the context has it."""
        return self.CalcPoseInBodyFrame(context).rotation()

    def GetFixedOffsetPoseInBody(self, X_FQ: RigidTransform) -> RigidTransform:
        """X_BQ = X_BF X_FQ, by the default X_BF."""
        return self.GetFixedPoseInBodyFrame() @ X_FQ

    def CalcOffsetPoseInBody(self, context: Context, X_FQ: RigidTransform) -> RigidTransform:
        """X_BQ = X_BF X_FQ as the context has it."""
        return self.CalcPoseInBodyFrame(context) @ X_FQ

    def GetFixedRotationMatrixInBody(self, R_FQ: RotationMatrix) -> RotationMatrix:
        """R_BQ = R_BF R_FQ, by the default R_BF."""
        return self.GetFixedRotationMatrixInBodyFrame() @ R_FQ

    def CalcOffsetRotationMatrixInBody(self, context: Context, R_FQ: RotationMatrix) -> RotationMatrix:
        """R_BQ = R_BF R_FQ as the context has it."""
        return self.CalcRotationMatrixInBodyFrame(context) @ R_FQ

    # in World and in other frames

    def CalcPoseInWorld(self, context: Context) -> RigidTransform:
        """X_WF"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        R, p = state.pose(self.index_number, WORLD)
        return transform_of(R, p)

    def CalcPose(self, context: Context, frame_M: Frame) -> RigidTransform:
        """X_MF"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        R, p = state.pose(self.index_number, self.parent_plant.frame_number(frame_M))
        return transform_of(R, p)

    def CalcRotationMatrixInWorld(self, context: Context) -> RotationMatrix:
        """R_WF"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return rotation_of(state.pose(self.index_number, WORLD)[0])

    def CalcRotationMatrix(self, context: Context, frame_M: Frame) -> RotationMatrix:
        """R_MF"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        m = self.parent_plant.frame_number(frame_M)
        return rotation_of(state.pose(self.index_number, m)[0])

    def EvalAngularVelocityInWorld(self, context: Context) -> Vector3:
        """w_WF_W (3,)"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return state.velocity(self.index_number, WORLD, WORLD)[:3].copy()

    def CalcAngularVelocity(self, context: Context, measured_in_frame: Frame, expressed_in_frame: Frame) -> Vector3:
        """w_MF_E (3,)"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        f, m, e = self.parent_plant.frame_numbers(self, measured_in_frame, expressed_in_frame)
        return state.velocity(f, m, e)[:3].copy()

    def CalcSpatialVelocityInWorld(self, context: Context) -> SpatialVelocity:
        """V_WF_W"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        return vector_of(SpatialVelocity, state.velocity(self.index_number, WORLD, WORLD))

    def CalcSpatialVelocity(self, context: Context, frame_M: Frame, frame_E: Frame) -> SpatialVelocity:
        """V_MF_E"""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        f, m, e = self.parent_plant.frame_numbers(self, frame_M, frame_E)
        return vector_of(SpatialVelocity, state.velocity(f, m, e))

    def CalcRelativeSpatialVelocityInWorld(self, context: Context, other_frame: Frame) -> SpatialVelocity:
        """V_WF_W - V_WB_W for the other frame B: the rate in World of the way from Bo to Fo, not V_BF."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        b = self.parent_plant.frame_number(other_frame)
        V = state.velocity_beside(self.index_number, b, WORLD, WORLD)
        return vector_of(SpatialVelocity, V)

    def CalcRelativeSpatialVelocity(
        self, context: Context, other_frame: Frame, measured_in_frame: Frame, expressed_in_frame: Frame
    ) -> SpatialVelocity:
        """V_MF_E - V_MB_E for the other frame B."""
        state = context.state
        if state.plant is not self.parent_plant:
            self.check_context(context)
        b, m, e = self.parent_plant.frame_numbers(other_frame, measured_in_frame, expressed_in_frame)
        V = state.velocity_beside(self.index_number, b, m, e)
        return vector_of(SpatialVelocity, V)

    def CalcSpatialAccelerationInWorld(self, context: Context) -> SpatialAcceleration:
        """A_WF_W"""
        if context.state.plant is not self.parent_plant:
            self.check_context(context)
        return vector_of(
            SpatialAcceleration, self.parent_plant.frame_acceleration(context, self.index_number, WORLD, WORLD)
        )

    def CalcSpatialAcceleration(
        self, context: Context, measured_in_frame: Frame, expressed_in_frame: Frame
    ) -> SpatialAcceleration:
        """A_MF_E"""
        if context.state.plant is not self.parent_plant:
            self.check_context(context)
        f, m, e = self.parent_plant.frame_numbers(self, measured_in_frame, expressed_in_frame)
        return vector_of(SpatialAcceleration, self.parent_plant.frame_acceleration(context, f, m, e))

    def CalcRelativeSpatialAccelerationInWorld(self, context: Context, other_frame: Frame) -> SpatialAcceleration:
        """A_WF_W - A_WB_W for the other frame B."""
        if context.state.plant is not self.parent_plant:
            self.check_context(context)
        b = self.parent_plant.frame_number(other_frame)
        A = self.parent_plant.frame_acceleration_beside(context, self.index_number, b, WORLD, WORLD)
        return vector_of(SpatialAcceleration, A)

    def CalcRelativeSpatialAcceleration(
        self, context: Context, other_frame: Frame, measured_in_frame: Frame, expressed_in_frame: Frame
    ) -> SpatialAcceleration:
        """A_MF_E - A_MB_E for the other frame B."""
        if context.state.plant is not self.parent_plant:
            self.check_context(context)
        b, m, e = self.parent_plant.frame_numbers(other_frame, measured_in_frame, expressed_in_frame)
        A = self.parent_plant.frame_acceleration_beside(context, self.index_number, b, m, e)
        return vector_of(SpatialAcceleration, A)


class RigidBodyFrame(Frame):
    """The frame of a body itself; made with the body."""

    def __init__(self, body: RigidBody) -> None:
        self._body = body
        self._name = body.name()

    def pose_in_body(self, parameters: Parameters) -> RigidTransform:
        return RigidTransform.Identity()


class FixedOffsetFrame(Frame):
    """A frame F at a fixed pose in a frame P.

    FixedOffsetFrame(name, P, X_PF, model_instance=None), FixedOffsetFrame(P, X_PF) without a name, and the same two
    with a body, bodyB and X_BF, in place of P and X_PF: the body stands for its frame.

    Args:
      name: may be empty.
      P: the parent frame.
      X_PF: pose of F in P [m]; default: identity.
      model_instance: that of P's body if not given.
      bodyB: a body in place of P.
      X_BF: pose of F in the body [m].

    Raises:
      TypeError: no parent is given.

    Example:
      >>> tip = FixedOffsetFrame("tip", plant.GetFrameByName("lower"), RigidTransform([0, 0, -0.8]))
      >>> tip.GetFixedPoseInBodyFrame().translation()
      array([ 0. ,  0. , -0.8])
    """

    def __init__(
        self,
        name: str | Frame | RigidBody = "",
        P: Frame | RigidBody | RigidTransform | None = None,
        X_PF: RigidTransform | None = None,
        model_instance: ModelInstanceIndex | None = None,
        *,
        bodyB: Frame | RigidBody | None = None,
        X_BF: RigidTransform | None = None,
    ) -> None:
        parent: Frame | RigidBody | RigidTransform | None = P
        pose: Any = X_PF
        if not isinstance(name, str):  # (P, X_PF): unnamed
            if P is not None and X_PF is not None:
                raise TypeError(f"FixedOffsetFrame: expected a name, not {name!r}")
            parent, pose = name, X_PF if P is None else P
            name = ""
        if (parent is None) == (bodyB is None) or (pose is not None and X_BF is not None):
            raise TypeError(f"FixedOffsetFrame '{name}': give a frame P and X_PF, or a body bodyB and X_BF")
        parent = bodyB if parent is None else parent
        pose = X_BF if pose is None else pose
        if parent is None or isinstance(parent, RigidTransform):
            raise TypeError(f"FixedOffsetFrame '{name}': expected a frame or a body, not {parent!r}")
        self._parent_frame = parent if isinstance(parent, Frame) else parent.body_frame()
        self._body = self._parent_frame.body()
        self._name = name
        given = type(pose) is RigidTransform
        self._X_PF = transform_of(pose.R_array, pose.p_array) if given else RigidTransform(pose)
        if model_instance is None:
            self.instance_index = self._body.instance_index  # None before the body is added
        else:
            given = type(model_instance) is ModelInstanceIndex
            self.instance_index = model_instance if given else ModelInstanceIndex(model_instance)

    def parent_frame(self) -> Frame:
        """P"""
        return self._parent_frame

    def pose_in_body(self, parameters: Parameters) -> RigidTransform:
        return self._parent_frame.pose_in_body(parameters) @ parameters.get(self, "X_PF")

    def GetPoseInParentFrame(self, context: Context) -> RigidTransform:
        """X_PF as the context has it."""
        self.check_context(context)
        return RigidTransform(context.state.parameters.get(self, "X_PF"))

    def SetPoseInParentFrame(self, context: Context, X_PF: RigidTransform) -> None:
        """Moves the frame in one context; the default stays."""
        self.check_context(context)
        X_PF = RigidTransform(X_PF)
        state = context.state
        state.scalar.array(X_PF.GetAsMatrix34(), f"frame '{self.name()}': its pose")
        state.set_parameter(self, "X_PF", X_PF)

    SetPoseInBodyFrame = SetPoseInParentFrame  # its former name


BodyFrame = RigidBodyFrame  # its former name
