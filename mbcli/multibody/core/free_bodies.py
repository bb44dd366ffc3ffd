"""Poses and velocities of free bodies: those that a joint of six degrees of freedom connects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.math import RigidTransform
from mbcli.multibody.core.lookup import free_joint_of
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from typing import TypeVar

    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.rigid_body import RigidBody

    Given = TypeVar("Given")


def SetDefaultFreeBodyPose(
    plant: PlantData, body: RigidBody, X_PB: RigidTransform | None = None, *, X_WB: RigidTransform | None = None
) -> None:
    """X_PB of a floating body in contexts made from now on; kept for a body that turns out not to float.

    P is the body's parent, whichever name the pose is given by.

    Args:
      body: of this plant.
      X_PB: RigidTransform [m].
      X_WB: the same.

    Raises:
      RuntimeError: the body is another plant's.
      TypeError: no pose is given, or two are.

    Example:
      >>> box = MultibodyPlant(0.0)
      >>> body = box.AddRigidBody("box", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
      >>> box.SetDefaultFreeBodyPose(body, RigidTransform([0, 0, 0.5]))
      >>> box.GetDefaultFreeBodyPose(body).translation()
      array([0. , 0. , 0.5])
    """
    X_PB = RigidTransform(_one_of(X_PB, X_WB, "SetDefaultFreeBodyPose: X_PB"))
    plant.require_own(body, "SetDefaultFreeBodyPose")
    plant.default_free_poses[int(body.index())] = X_PB
    if plant.is_finalized() and body.is_floating_base_body():
        free_joint_of(plant, body).SetDefaultPose(X_PB)


def GetDefaultFreeBodyPose(plant: PlantData, body: RigidBody) -> RigidTransform:
    """Identity if none was set."""
    return plant.default_free_poses.get(int(body.index()), RigidTransform())


def GetFreeBodyPose(plant: PlantData, context: Context, body: RigidBody) -> RigidTransform:
    """X_PB, P and B the frames that the body's joint of six degrees of freedom connects; P is W for a floating base.

    Args:
      context: state of this plant.
      body: with such a joint.

    Returns:
      RigidTransform [m].

    Raises:
      RuntimeError: the body is another plant's, or has no such joint.

    Example:
      >>> robot.GetFreeBodyPose(stance, robot.GetBodyByName("trunk")).translation()
      array([0., 0., 0.])
    """
    if body.parent_plant is not plant.origin:
        plant.require_own(body, "GetFreeBodyPose")
    return body.required_free_joint().GetPose(context)


def SetFreeBodyPose(
    plant: PlantData,
    context: Context,
    body: RigidBody,
    X_JpJc: RigidTransform | None = None,
    *,
    X_PB: RigidTransform | None = None,
    X_WB: RigidTransform | None = None,
) -> None:
    """SetFreeBodyPose(context, body, X_JpJc), under this name or a former one; see GetFreeBodyPose().

    Args:
      context: of this plant; changed.
      body: with a joint of six degrees of freedom.
      X_JpJc: the pose of the body's joint frame in its parent's [m]; in W for a floating base.
      X_PB: the same.
      X_WB: the same.

    Raises:
      RuntimeError: the body is another plant's, or has no such joint.
      TypeError: no pose is given, or two are.

    Example:
      >>> robot.SetFreeBodyPose(stance, robot.GetBodyByName("trunk"), RigidTransform([0, 0, 0.5]))
      >>> robot.GetPositions(stance)[:7]  # quaternion w x y z, then the position
      array([1. , 0. , 0. , 0. , 0. , 0. , 0.5])
    """
    if X_JpJc is None or X_PB is not None or X_WB is not None:
        X_JpJc = _one_of(X_JpJc, X_PB if X_PB is not None else X_WB, "SetFreeBodyPose: X_JpJc")
    if not isinstance(X_JpJc, RigidTransform):  # those of other scalars are derived from it
        X_JpJc = RigidTransform(X_JpJc)
    if body.parent_plant is not plant.origin:
        plant.require_own(body, "SetFreeBodyPose")
    body.required_free_joint().SetPose(context, X_JpJc)


def SetFloatingBaseBodyPoseInWorldFrame(
    plant: PlantData, context: Context, body: RigidBody, X_WB: RigidTransform
) -> None:
    """X_WB of a floating base. RuntimeError for another body."""
    _require_floating_base(plant, body, "SetFloatingBaseBodyPoseInWorldFrame")
    SetFreeBodyPose(plant, context, body, X_WB)


def SetFloatingBaseBodyPoseInAnchoredFrame(
    plant: PlantData, context: Context, frame_F: Frame, body: RigidBody, X_FB: RigidTransform
) -> None:
    """X_FB of a floating base in a frame that is fixed in World. RuntimeError for other bodies or frames."""
    _require_floating_base(plant, body, "SetFloatingBaseBodyPoseInAnchoredFrame")
    if not plant.whole_plant().IsAnchored(frame_F.body()):
        raise RuntimeError(f"SetFloatingBaseBodyPoseInAnchoredFrame: frame '{frame_F.name()}' is not anchored")
    SetFreeBodyPose(plant, context, body, frame_F.CalcPoseInWorld(context) @ X_FB)


def SetDefaultFloatingBaseBodyPose(plant: PlantData, body: RigidBody, X_WB: RigidTransform) -> None:
    """X_WB of a floating base in contexts made from now on; kept for a body that turns out not to float."""
    SetDefaultFreeBodyPose(plant, body, X_WB)


def GetDefaultFloatingBaseBodyPose(plant: PlantData, body: RigidBody) -> RigidTransform:
    """X_WB, identity if none was set."""
    return GetDefaultFreeBodyPose(plant, body)


def _require_floating_base(plant: PlantData, body: RigidBody, method: str) -> None:
    plant.require_finalized(method)
    plant.require_own(body, method)
    if not body.is_floating_base_body():
        raise RuntimeError(f"{method}: body '{body.name()}' is not a floating base")


def SetFreeBodySpatialVelocity(
    plant: PlantData,
    *arguments: Any,
    body: RigidBody | None = None,
    V_PB: SpatialVelocity | None = None,
    context: Context | None = None,
    V_WB: SpatialVelocity | None = None,
    V_JpJc: SpatialVelocity | None = None,
) -> None:
    """SetFreeBodySpatialVelocity(context, body, V_JpJc); the former order (body, V_PB, context) too.

    Args:
      context: of this plant; changed.
      body: with a joint of six degrees of freedom.
      V_JpJc: SpatialVelocity [rad/s, m/s] of the body's joint frame in its parent's; in W for a floating base.
      V_PB: the same.
      V_WB: the same.

    Raises:
      RuntimeError: the body is another plant's, or has no such joint.
      TypeError: no body or no velocity is given.

    Example:
      >>> V_WB = SpatialVelocity(w=[0, 0, 1], v=[2, 0, 0])
      >>> robot.SetFreeBodySpatialVelocity(stance, robot.GetBodyByName("trunk"), V_WB)
      >>> robot.GetVelocities(stance)[:6]
      array([0., 0., 1., 2., 0., 0.])
    """
    for argument in arguments:
        if isinstance(argument, Context):
            context = argument
        elif isinstance(argument, SpatialVelocity):
            V_PB = argument
        else:
            body = argument
    former = V_WB if V_JpJc is None else V_JpJc
    V_PB = _one_of(V_PB, former, "SetFreeBodySpatialVelocity: V_JpJc")
    if body is None:
        raise TypeError("SetFreeBodySpatialVelocity: body must be given")
    plant.require_own(body, "SetFreeBodySpatialVelocity")
    joint = body.required_free_joint()
    joint.SetVelocities(context, V_PB.get_coeffs())


def _one_of(value: Given | None, former: Given | None, name: str) -> Given:
    """An argument that has a former name; TypeError unless it is given by one of the two."""
    given = [each for each in (value, former) if each is not None]
    if len(given) != 1:
        raise TypeError(f"{name} must be given, once")
    return given[0]
