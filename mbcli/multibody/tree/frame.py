"""Frames fixed to bodies."""

from mbcli.math import RigidTransform
from mbcli.multibody.tree.element import NamedElement
from mbcli.multibody.tree.parameters import DEFAULTS


class Frame(NamedElement):
    """A frame F fixed to a body B."""

    def body(self):
        return self._body

    def is_world_frame(self):
        return self._index is not None and int(self._index) == 0

    def is_body_frame(self):
        return isinstance(self, RigidBodyFrame)

    def GetFixedPoseInBodyFrame(self):
        """X_BF, the default pose of this frame in its body."""
        return self._pose_in_body(DEFAULTS)

    def CalcPoseInBodyFrame(self, context):
        """X_BF as the context has it."""
        return self._pose_in_body(context._parameters)

    def GetFixedRotationMatrixInBodyFrame(self):
        return self.GetFixedPoseInBodyFrame().rotation()

    def CalcRotationMatrixInBodyFrame(self, context):
        return self.CalcPoseInBodyFrame(context).rotation()

    def GetFixedOffsetPoseInBody(self, X_FQ):
        """X_BQ = X_BF X_FQ."""
        return self.GetFixedPoseInBodyFrame() @ X_FQ

    def CalcOffsetPoseInBody(self, context, X_FQ):
        """X_BQ = X_BF X_FQ as the context has it."""
        return self.CalcPoseInBodyFrame(context) @ X_FQ

    def CalcPoseInWorld(self, context):
        """X_WF."""
        return self.GetParentPlant().EvalBodyPoseInWorld(context, self._body) @ self.CalcPoseInBodyFrame(context)

    def CalcPose(self, context, frame_M):
        """X_MF, the pose of this frame in another."""
        return frame_M.CalcPoseInWorld(context).InvertAndCompose(self.CalcPoseInWorld(context))

    def CalcRotationMatrixInWorld(self, context):
        return self.CalcPoseInWorld(context).rotation()

    def CalcRotationMatrix(self, context, frame_M):
        return self.CalcPose(context, frame_M).rotation()

    def CalcSpatialVelocityInWorld(self, context):
        """V_WF_W at Fo."""
        plant = self.GetParentPlant()
        V_WB = plant.EvalBodySpatialVelocityInWorld(context, self._body)
        R_WB = plant.EvalBodyPoseInWorld(context, self._body).rotation()
        return V_WB.Shift(R_WB @ self.CalcPoseInBodyFrame(context).translation())

    def CalcSpatialAccelerationInWorld(self, context):
        """A_WF_W at Fo, from the forward dynamics of the context."""
        plant = self.GetParentPlant()
        A_WB = plant.EvalBodySpatialAccelerationInWorld(context, self._body)
        w_WB = plant.EvalBodySpatialVelocityInWorld(context, self._body).rotational()
        R_WB = plant.EvalBodyPoseInWorld(context, self._body).rotation()
        return A_WB.Shift(R_WB @ self.CalcPoseInBodyFrame(context).translation(), w_WB)


class RigidBodyFrame(Frame):
    """The frame of a body itself; made with the body."""

    def __init__(self, body):
        self._body = body
        self._name = body.name()

    def _pose_in_body(self, parameters):
        return RigidTransform()

    def CalcPoseInWorld(self, context):
        """X_WB."""
        return self.GetParentPlant().EvalBodyPoseInWorld(context, self._body)


class FixedOffsetFrame(Frame):
    """A frame F at a fixed pose in a frame P.

    Args:
        name: may be empty.
        P: the parent frame, or a body, which stands for its body frame.
        X_PF: pose of F in P.
        model_instance: that of P's body where not given.
    """

    def __init__(self, name="", P=None, X_PF=None, model_instance=None, *, bodyB=None, X_BF=None):
        if not isinstance(name, str):  # (P, X_PF): unnamed
            name, P, X_PF = "", name, P
        parent = P if P is not None else bodyB
        pose = X_PF if X_PF is not None else X_BF
        self._parent_frame = parent if isinstance(parent, Frame) else parent.body_frame()
        self._body = self._parent_frame.body()
        self._name = name
        self._X_PF = RigidTransform() if pose is None else pose
        self._model_instance = self._body.model_instance() if model_instance is None else model_instance

    def parent_frame(self):
        return self._parent_frame

    def _pose_in_body(self, parameters):
        return self._parent_frame._pose_in_body(parameters) @ parameters.get(self, "X_PF")

    def GetPoseInParentFrame(self, context):
        """X_PF as the context has it."""
        return context._parameters.get(self, "X_PF")

    def SetPoseInParentFrame(self, context, X_PF):
        """Moves the frame in one context; the default stays."""
        context._set_parameter(self, "X_PF", X_PF)
