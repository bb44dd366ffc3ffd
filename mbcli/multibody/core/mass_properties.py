"""Mass, centre of mass, momentum and inertia of a plant or of some of its model instances, as a context has them.

World counts nothing; a model instance that is listed twice counts once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.core.dynamics import known_accelerations
from mbcli.multibody.core.kinematics import frame_number, one_point
from mbcli.multibody.core.lookup import check_instance, num_bodies
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia, spatial_inertia_of
from mbcli.multibody.math import SpatialMomentum
from mbcli.multibody.math.spatial_vector import vector_of
from mbcli.multibody.state.frame_motions import WORLD_FRAME
from mbcli.multibody.tree.index import BodyIndex, ModelInstanceIndex

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Matrix6, Scalar, Vector, Vector3
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame

    Instances: TypeAlias = tuple[int | None, ...] | None  # numbers of model instances; None for all


MOVING = (-1,)  # in place of model instances: the bodies that are not fixed to World


def _is_same_list(known: list[BodyIndex], given: Iterable[BodyIndex]) -> bool:
    """Whether these are the same bodies in the same order; an invalid index is like no other."""
    try:
        return type(given) is list and known == given
    except RuntimeError:
        return False


def selections(plant: PlantData) -> dict[Instances, Vector]:
    """Arrays (num_bodies,) of ones and zeros by model instances, None for all."""
    plant.require_finalized("mass properties")
    return {None: np.ones(num_bodies(plant))}


def _links_of(plant: PlantData, key: Instances) -> Vector:
    """1 for each body of the model instances of this key, else 0; of all for None."""
    selected = plant.selections.get(key)
    if selected is None:
        numbers = key or ()
        if key == MOVING:
            selected = (plant.model.link_body != 0).astype(float)
        else:
            for instance in numbers:
                check_instance(plant, ModelInstanceIndex(instance))
            selected = np.array([float(int(body.model_instance()) in numbers) for body in plant.elements.bodies])
        plant.selections[key] = selected
    return selected


def _links_and_mass(plant: PlantData, context: Context, key: Instances) -> tuple[Vector, Scalar]:
    """Which links, and their mass."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if not state.parameters_current:
        state.ready_parameters()
    found = state.parameter_cache.get(key)
    if found is None:
        selected = state.scalar.convert(_links_of(plant, key))
        mass = state.kernels.query_mass(state.model_handle, selected)
        found = state.parameter_cache[key] = selected, mass
    return found


def massive_links(plant: PlantData, context: Context, key: Instances) -> tuple[Vector, Scalar]:
    """Which links, and their mass. RuntimeError if there is no body or no mass."""
    selected, mass = found = _links_and_mass(plant, context, key)
    state = context.state
    if not state.scalar.is_positive(mass):
        whose = "the plant has" if key is None else "these model instances have"
        amount = f"{float(state.scalar.real(mass) or 0.0):g} kg" if selected[1:].any() else "no body but World"
        raise RuntimeError(f"{whose} no mass ({amount}): there is no centre of mass")
    return found


def CalcTotalMass(
    plant: PlantData, context: Context, model_instances: Iterable[ModelInstanceIndex] | None = None
) -> Scalar:
    """The mass of all bodies, or of those of the model instances.

    Args:
      context: state of this plant, with its parameters.
      model_instances: default: all.

    Returns:
      [kg]; 0 if there is no body.

    Raises:
      RuntimeError: the context is another plant's; a model instance does not exist.

    Example:
      >>> float(round(plant.CalcTotalMass(context), 6))
      1.8
    """
    return _links_and_mass(plant, context, key_of(model_instances))[1]


def CalcCenterOfMassPositionInWorld(
    plant: PlantData, context: Context, model_instances: Iterable[ModelInstanceIndex] | None = None
) -> Vector3:
    """The centre of mass of all bodies, or of those of the model instances.

    Args:
      context: state of this plant.
      model_instances: default: all.

    Returns:
      p_WoScm_W (3,) [m].

    Raises:
      RuntimeError: the context is another plant's; the bodies have no mass.

    Example:
      >>> plant.CalcCenterOfMassPositionInWorld(context).round(4)
      array([-0.1957,  0.    ,  1.2689])
    """
    key = key_of(model_instances)
    state = context.state
    p = state.position_cache.get(("com", key))
    if p is None or state.plant is not plant:
        selected, mass = massive_links(plant, context, key)
        calls = state.calls if state.positions_current else state.at_positions()
        calls.query_com_position(selected, mass)
        p = state.position_cache["com", key] = state.copy_of_three()
    return p.copy()


def CalcCenterOfMassTranslationalVelocityInWorld(
    plant: PlantData, context: Context, model_instances: Iterable[ModelInstanceIndex] | None = None
) -> Vector3:
    """The velocity of the centre of mass of all bodies, or of those of the model instances.

    Args:
      context: state of this plant.
      model_instances: default: all.

    Returns:
      v_WScm_W (3,) [m/s].

    Raises:
      RuntimeError: the context is another plant's; the bodies have no mass.

    Example:
      >>> plant.CalcCenterOfMassTranslationalVelocityInWorld(context).round(4)
      array([-0.734 ,  0.    ,  0.2536])
    """
    key = key_of(model_instances)
    state = context.state
    v = state.velocity_cache.get(("com", key))
    if v is None or state.plant is not plant:
        selected, mass = massive_links(plant, context, key)
        calls = state.calls if state.velocities_current else state.at_velocities()
        calls.query_com_velocity(selected, mass)
        v = state.velocity_cache["com", key] = state.copy_of_three()
    return v.copy()


def CalcCenterOfMassTranslationalAccelerationInWorld(
    plant: PlantData, context: Context, model_instances: Iterable[ModelInstanceIndex] | None = None
) -> Vector3:
    """a_WScm_W (3,) [m/s^2], from the forward dynamics of the context. RuntimeError if the bodies have no mass."""
    key = key_of(model_instances)
    state = context.state
    a = state.input_cache.get(("com", key))
    if a is None or state.plant is not plant:
        selected, mass = massive_links(plant, context, key)
        vdot = known_accelerations(plant, context)
        state.at_velocities().query_com_acceleration(vdot, selected, mass, WORLD_FRAME, WORLD_FRAME)
        a = state.input_cache["com", key] = state.copy_of_three()
    return a.copy()


def CalcSpatialMomentumInWorldAboutPoint(
    plant: PlantData,
    context: Context,
    model_instances: Iterable[ModelInstanceIndex] | None = None,
    p_WoP_W: ArrayLike | None = None,
) -> SpatialMomentum:
    """The momentum of all bodies, or of those of the model instances, about a point P.

    Call it as (context, p_WoP_W) or (context, model_instances, p_WoP_W).

    Args:
      context: state of this plant.
      model_instances: default: all.
      p_WoP_W: (3,) [m].

    Returns:
      L_WSP_W, angular before linear [N m s, N s].

    Raises:
      RuntimeError: the context is another plant's; a model instance does not exist; p_WoP_W has another shape.

    Example:
      >>> plant.CalcSpatialMomentumInWorldAboutPoint(context, [0, 0, 2.0]).rotational().round(4)
      array([0.    , 1.4029, 0.    ])
    """
    if p_WoP_W is None:
        model_instances, p_WoP_W = None, model_instances
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    selected = _links_of(plant, key_of(model_instances))
    p = one_point(context, p_WoP_W, "p_WoP_W")
    calls = state.calls if state.velocities_current else state.at_velocities()
    calls.query_momentum(selected, p)
    return vector_of(SpatialMomentum, state.copy_of_six())


def CalcSpatialInertia(
    plant: PlantData, context: Context, frame_F: Frame, body_indexes: Iterable[BodyIndex]
) -> SpatialInertia:
    """The inertia of bodies as if welded at their poses, about the origin of a frame F, expressed in F.

    Args:
      context: state of this plant.
      frame_F: of this plant.
      body_indexes: each once.

    Returns:
      M_SFo_F [kg, m, kg m^2].

    Raises:
      RuntimeError: the context or the frame is another plant's; an index is invalid or repeated.

    Example:
      >>> M = plant.CalcSpatialInertia(context, plant.world_frame(), [BodyIndex(1), BodyIndex(2)])
      >>> M.get_com().round(4)
      array([-0.1957,  0.    ,  1.2689])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    f = frame_number(plant, frame_F)
    calls = state.calls if state.positions_current else state.at_positions()
    found = state.parameter_cache.get("listed")
    if found is None or not _is_same_list(found[0], body_indexes):
        found = _listed_links_and_mass(plant, context, list(body_indexes))
    _, selected, mass = found
    if not state.scalar.is_positive(mass):
        return SpatialInertia.Zero()
    calls.query_inertia(selected, mass, f)
    return spatial_inertia_of(mass, state.copy_of_three(), state.copy_of_G())


def _listed_links_and_mass(
    plant: PlantData, context: Context, body_indexes: list[BodyIndex]
) -> tuple[list[BodyIndex], Vector, Scalar]:
    """The list, 1 for each of these bodies, else 0, and their mass: as remembered for the next call."""
    numbers = [(i if type(i) is BodyIndex else BodyIndex(i)).number for i in body_indexes]  # None: invalid
    state = context.state
    selected = state.scalar.convert(_listed_links(plant, numbers))
    mass = state.kernels.query_mass(state.model_handle, selected)
    found = state.parameter_cache["listed"] = body_indexes, selected, mass
    return found


def _listed_links(plant: PlantData, numbers: list[int | None]) -> Vector:
    """1 for each of these bodies, else 0. RuntimeError for an invalid or repeated index."""
    selected = np.zeros(len(plant.elements.bodies))
    for n in numbers:
        if n is None or n >= len(selected):
            raise RuntimeError(f"CalcSpatialInertia: there is no body {n}, the plant has {len(selected)}")
        if selected[n]:
            raise RuntimeError(f"CalcSpatialInertia: body '{plant.elements.bodies[n].name()}' ({n}) is listed twice")
        selected[n] = 1.0
    return selected


def CalcArticulatedBodyInertias(plant: PlantData, context: Context) -> dict[BodyIndex, tuple[Matrix6, Matrix6]]:
    """{BodyIndex: (P_B_W, Pplus_PB_W)}, each (6, 6), of the bodies that joints with velocities move.

    P_B_W is the inertia about Bo, expressed in World, that body B shows with all that is outboard of it when the
    joints there are free: F = P_B_W A + bias. Pplus_PB_W is what of it its own inboard joint passes on, about Bo
    too. Reflected inertias count. Links that are welded to B are part of it.
    """
    plant.check_context(context)
    state = context.state
    data = state.at_links()
    model, result = state.model, {}
    data.tau[:], data.diagonal[:] = 0.0, model.dof_armature
    data.diagonal[model.locked_dof] = np.inf
    state.calls.full_forward_dynamics()
    rows, columns = np.triu_indices(6)
    for mobilized in plant.mobilized_joints:
        if mobilized.joint.num_velocities() == 0:
            continue
        link = mobilized.outboard
        b = model.link_body[link]
        Pplus = np.zeros((6, 6), data.q.dtype)
        Pplus[rows, columns] = Pplus[columns, rows] = data.articulated[b]
        d = slice(model.body_v[b], model.body_v[b] + model.body_nv[b])
        if model.body_free[b]:  # whose row was kept: its velocities are eliminated here, one after another
            P = Pplus.copy()
            for k, own in reversed(list(enumerate(data.diagonal[d]))):
                u = Pplus[k].copy()
                Pplus -= np.outer(u / (u[k] + own), u)
        else:
            U = data.U[d]
            P = Pplus + (U.T / data.D[d]) @ U  # what eliminating them took away
        p = data.p_RoBo[b] + data.X_WB[b, :9].reshape(3, 3) @ model.link_X_BL[link, 9:]
        to_Ro = np.eye(6, dtype=data.q.dtype)  # V_Ro = to_Ro V_Bo
        to_Ro[3:, :3] = [[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]]
        result[BodyIndex(link)] = to_Ro.T @ P @ to_Ro, to_Ro.T @ Pplus @ to_Ro
    return result


def coms(context: Context) -> tuple[Vector, Matrix, Matrix]:
    """Masses (n,), centres of mass in W (n, 3) and their velocities (n, 3) of all bodies but World."""
    state = context.state
    data = state.at_links()
    inertia = state.model.link_inertia[1:]
    R = data.X_WL[1:, :9].reshape(-1, 3, 3)
    arm = np.einsum("nij,nj->ni", R, inertia[:, 1:4])
    velocity = data.V_WL[1:, 3:] + np.cross(data.V_WL[1:, :3], arm)
    return inertia[:, 0], data.X_WL[1:, 9:] + arm, velocity


def key_of(model_instances: Iterable[ModelInstanceIndex] | None) -> Instances:
    """The numbers of model instances; None for all."""
    if model_instances is None:
        return None
    return tuple([i.number if type(i) is ModelInstanceIndex else int(i) for i in model_instances])
