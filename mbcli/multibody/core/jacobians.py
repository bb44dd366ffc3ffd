"""Jacobians and bias accelerations of frames, points and centres of mass.

V = J s with s = v (kV) or s = qdot (kQDot), and A = J vdot + bias for s = v. Each is measured in a frame A and
expressed in a frame E; rotational rows come first. A frame of another plant raises RuntimeError; one that is not a
frame, or not a JacobianWrtVariable, TypeError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import empty

from mbcli.multibody.core.kinematics import copy_of_points, frame_numbers, one_point, point_columns
from mbcli.multibody.core.mass_properties import key_of, massive_links
from mbcli.multibody.math import SpatialAcceleration
from mbcli.multibody.math.spatial_vector import vector_of
from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Points, Vector3
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import ModelInstanceIndex

kQDot, kV = JacobianWrtVariable.kQDot, JacobianWrtVariable.kV


def CalcJacobianAngularVelocity(
    plant: PlantData,
    context: Context,
    with_respect_to: JacobianWrtVariable,
    frame_B: Frame,
    frame_A: Frame,
    frame_E: Frame,
) -> Matrix:
    """J with w_AB_E = J s.

    Args:
      context: state of this plant.
      with_respect_to: kV for s = v, kQDot for s = qdot.
      frame_B: of this plant.
      frame_A: in which the velocity is measured.
      frame_E: in which it is expressed.

    Returns:
      (3, nv) or (3, nq) [1 by hinges, 0 by sliders].

    Raises:
      RuntimeError: the context or a frame is another plant's.

    Example:
      >>> lower, W = plant.GetFrameByName("lower"), plant.world_frame()
      >>> plant.CalcJacobianAngularVelocity(context, JacobianWrtVariable.kV, lower, W, W)[1]  # about y
      array([1., 1.])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, e = frame_numbers(plant, frame_B, frame_A, frame_E)
    calls = state.calls if state.positions_current else state.at_positions()
    calls.query_angular_jacobian(f, m, e)
    J = state.copy_of_J3()
    return J if with_respect_to is kV else _by_qdot(plant, context, with_respect_to, J)


def CalcJacobianTranslationalVelocity(
    plant: PlantData,
    context: Context,
    with_respect_to: JacobianWrtVariable,
    frame_B: Frame,
    p_BoBi_B: ArrayLike,
    frame_A: Frame,
    frame_E: Frame,
) -> Matrix:
    """J with v_ABi_E = J s, of points Bi that are fixed in B.

    Args:
      context: state of this plant.
      with_respect_to: kV for s = v, kQDot for s = qdot.
      frame_B: of this plant.
      p_BoBi_B: (3, p) or (3,) [m], a point a column.
      frame_A: in which the velocities are measured.
      frame_E: in which they are expressed.

    Returns:
      (3 p, nv) or (3 p, nq), three rows a point [m by hinges, 1 by sliders].

    Raises:
      RuntimeError: the context or a frame is another plant's; p_BoBi_B has another shape or no points.

    Example:
      >>> lower, W = plant.GetFrameByName("lower"), plant.world_frame()
      >>> J = plant.CalcJacobianTranslationalVelocity(context, JacobianWrtVariable.kV, lower, [0, 0, -0.8], W, W)
      >>> (J @ plant.GetVelocities(context)).round(4)  # v_WBi_W
      array([-1.3642,  0.    ,  0.2366])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, e = frame_numbers(plant, frame_B, frame_A, frame_E)
    points = point_columns(context, p_BoBi_B, "p_BoBi_B")
    n = points.shape[1]
    calls = state.calls if state.positions_current else state.at_positions()
    if n == 1:
        calls.query_point_jacobian(f, points, m, e)
        J = state.copy_of_J3()
    else:
        _require_some(points)
        J = empty((3 * n, state.shape_v[0]), state.dtype)
        calls.query_translational_jacobian(f, points, m, e, J)
    return J if with_respect_to is kV else _by_qdot(plant, context, with_respect_to, J)


def CalcJacobianSpatialVelocity(
    plant: PlantData,
    context: Context,
    with_respect_to: JacobianWrtVariable,
    frame_B: Frame,
    p_BoBp_B: ArrayLike,
    frame_A: Frame,
    frame_E: Frame,
) -> Matrix:
    """J with V_ABp_E = J s, of the point Bp that is fixed in B.

    Args:
      context: state of this plant.
      with_respect_to: kV for s = v, kQDot for s = qdot.
      frame_B: of this plant.
      p_BoBp_B: (3,) [m].
      frame_A: in which the velocity is measured.
      frame_E: in which it is expressed.

    Returns:
      (6, nv) or (6, nq), angular rows before translational ones [1 and m by hinges, 0 and 1 by sliders].

    Raises:
      RuntimeError: the context or a frame is another plant's; p_BoBp_B has another shape.

    Example:
      >>> lower, W = plant.GetFrameByName("lower"), plant.world_frame()
      >>> J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, lower, [0, 0, -0.8], W, W)
      >>> J[[1, 3]].round(4)  # about y, along x
      array([[ 1.    ,  1.    ],
             [-1.6231, -0.7021]])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, e = frame_numbers(plant, frame_B, frame_A, frame_E)
    point = one_point(context, p_BoBp_B, "p_BoBp_B")
    calls = state.calls if state.positions_current else state.at_positions()
    calls.query_spatial_jacobian(f, point, m, e)
    J = state.copy_of_J6()
    return J if with_respect_to is kV else _by_qdot(plant, context, with_respect_to, J)


def CalcJacobianPositionVector(
    plant: PlantData, context: Context, frame_B: Frame, p_BoBi_B: ArrayLike, frame_A: Frame, frame_E: Frame
) -> Matrix:
    """J (3 p, nq) [m/rad or 1]: derivatives by q, taken in A, of p_AoBi; points as in the translational Jacobian."""
    return CalcJacobianTranslationalVelocity(plant, context, kQDot, frame_B, p_BoBi_B, frame_A, frame_E)


def CalcJacobianCenterOfMassTranslationalVelocity(
    plant: PlantData,
    context: Context,
    model_instances: Iterable[ModelInstanceIndex] | None = None,
    with_respect_to: JacobianWrtVariable | None = None,
    frame_A: Frame | None = None,
    frame_E: Frame | None = None,
) -> Matrix:
    """J with v_AScm_E = J s of the centre of mass of all bodies, or of those of the model instances.

    Call it as (context, with_respect_to, frame_A, frame_E) or (context, model_instances, with_respect_to, frame_A,
    frame_E).

    Args:
      context: state of this plant.
      model_instances: default: all.
      with_respect_to: kV for s = v, kQDot for s = qdot.
      frame_A: in which the velocity is measured.
      frame_E: in which it is expressed.

    Returns:
      (3, nv) or (3, nq) [m by hinges, 1 by sliders].

    Raises:
      RuntimeError: the context or a frame is another plant's; the bodies have no mass.

    Example:
      >>> W = plant.world_frame()
      >>> J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, JacobianWrtVariable.kV, W, W)
      >>> J[0].round(4)  # along x
      array([-0.7311, -0.117 ])
    """
    model_instances, with_respect_to, frame_A, frame_E = _instances_first(
        model_instances, with_respect_to, frame_A, frame_E
    )
    _, m, e = frame_numbers(plant, frame_A, frame_A, frame_E)
    selected, mass = massive_links(plant, context, key_of(model_instances))
    state = context.state
    calls = state.calls if state.positions_current else state.at_positions()
    calls.query_com_jacobian(selected, mass, m, e)
    J = state.copy_of_J3()
    return J if with_respect_to is kV else _by_qdot(plant, context, with_respect_to, J)


def CalcBiasSpatialAcceleration(
    plant: PlantData,
    context: Context,
    with_respect_to: JacobianWrtVariable,
    frame_B: Frame,
    p_BoBp_B: ArrayLike,
    frame_A: Frame,
    frame_E: Frame,
) -> SpatialAcceleration:
    """A_ABp_E for zero vdot, Jdot v, of the point Bp that is fixed in B.

    Args:
      context: state of this plant.
      with_respect_to: kV.
      frame_B: of this plant.
      p_BoBp_B: (3,) [m].
      frame_A: in which the acceleration is measured.
      frame_E: in which it is expressed.

    Returns:
      SpatialAcceleration, angular before translational [rad/s^2, m/s^2].

    Raises:
      RuntimeError: kQDot; the context or a frame is another plant's; p_BoBp_B has another shape.

    Example:
      >>> lower, W = plant.GetFrameByName("lower"), plant.world_frame()
      >>> A = plant.CalcBiasSpatialAcceleration(context, JacobianWrtVariable.kV, lower, [0, 0, -0.8], W, W)
      >>> A.translational().round(4)
      array([0.3753, 0.    , 1.29  ])
    """
    if with_respect_to is not kV:
        _require_v(with_respect_to, "CalcBiasSpatialAcceleration")
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, e = frame_numbers(plant, frame_B, frame_A, frame_E)
    point = one_point(context, p_BoBp_B, "p_BoBp_B")
    calls = state.calls if state.velocities_current else state.at_velocities()
    calls.query_bias(f, point, m, e)
    return vector_of(SpatialAcceleration, state.copy_of_six())


def CalcBiasTranslationalAcceleration(
    plant: PlantData,
    context: Context,
    with_respect_to: JacobianWrtVariable,
    frame_B: Frame,
    p_BoBi_B: ArrayLike,
    frame_A: Frame,
    frame_E: Frame,
) -> Matrix:
    """a_ABi_E for zero vdot, Jdot v, of points Bi that are fixed in B.

    Args:
      context: state of this plant.
      with_respect_to: kV.
      frame_B: of this plant.
      p_BoBi_B: (3, p) or (3,) [m], a point a column.
      frame_A: in which the accelerations are measured.
      frame_E: in which they are expressed.

    Returns:
      (3, p) [m/s^2].

    Raises:
      RuntimeError: kQDot; the context or a frame is another plant's; p_BoBi_B has another shape or no points.

    Example:
      >>> lower, W = plant.GetFrameByName("lower"), plant.world_frame()
      >>> a = plant.CalcBiasTranslationalAcceleration(context, JacobianWrtVariable.kV, lower, [0, 0, -0.8], W, W)
      >>> a.ravel().round(4)
      array([0.3753, 0.    , 1.29  ])
    """
    if with_respect_to is not kV:
        _require_v(with_respect_to, "CalcBiasTranslationalAcceleration")
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f, m, e = frame_numbers(plant, frame_B, frame_A, frame_E)
    points = copy_of_points(context, p_BoBi_B, "p_BoBi_B")
    _require_some(points)
    calls = state.calls if state.velocities_current else state.at_velocities()
    calls.query_translational_bias(f, m, e, points)
    return points


def CalcBiasCenterOfMassTranslationalAcceleration(
    plant: PlantData,
    context: Context,
    model_instances: Iterable[ModelInstanceIndex] | None = None,
    with_respect_to: JacobianWrtVariable | None = None,
    frame_A: Frame | None = None,
    frame_E: Frame | None = None,
) -> Vector3:
    """a_AScm_E (3,) [m/s^2] for zero vdot; arguments and errors as for the Jacobian, and RuntimeError for kQDot."""
    model_instances, with_respect_to, frame_A, frame_E = _instances_first(
        model_instances, with_respect_to, frame_A, frame_E
    )
    if with_respect_to is not kV:
        _require_v(with_respect_to, "CalcBiasCenterOfMassTranslationalAcceleration")
    _, m, e = frame_numbers(plant, frame_A, frame_A, frame_E)
    selected, mass = massive_links(plant, context, key_of(model_instances))
    state = context.state
    calls = state.calls if state.velocities_current else state.at_velocities()
    calls.query_com_bias(selected, mass, m, e)
    return state.copy_of_three()


def _by_qdot(plant: PlantData, context: Context, with_respect_to: JacobianWrtVariable, J: Matrix) -> Matrix:
    """The Jacobian by qdot, from that by v."""
    if with_respect_to is not kQDot:
        raise TypeError(f"with_respect_to is a JacobianWrtVariable, not {with_respect_to!r}")
    if plant.velocities_are_rates:
        return J
    state = context.state
    by_qdot = empty((J.shape[0], state.shape_q[0]), state.dtype)
    state.calls.query_jacobian_by_qdot(J, by_qdot)
    return by_qdot


def _require_v(with_respect_to: Any, method: str) -> None:
    if not isinstance(with_respect_to, JacobianWrtVariable):
        raise TypeError(f"{method}: with_respect_to is a JacobianWrtVariable, not {with_respect_to!r}")
    if with_respect_to is not kV:
        raise RuntimeError(f"{method}: with_respect_to must be kV, it is {with_respect_to.name}")


def _require_some(points: Points) -> None:
    if points.shape[1] == 0:
        raise RuntimeError("p_BoBi_B has no columns: give at least one point")


def _instances_first(
    model_instances: Any, with_respect_to: Any, frame_A: Any, frame_E: Any
) -> tuple[Any, Any, Any, Any]:
    """The arguments of the methods that can do without model instances, which are None then."""
    if not isinstance(model_instances, JacobianWrtVariable):
        return model_instances, with_respect_to, frame_A, frame_E
    if with_respect_to is None:  # frames given by name
        return None, model_instances, frame_A, frame_E
    return None, model_instances, with_respect_to, frame_E if frame_A is None else frame_A
