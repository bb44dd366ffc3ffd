"""Centre of mass and momentum at a state, as data: what `mbcli com --json` and `mbcli momentum --json` print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import there_are
from mbcli.errors import ArgumentError, ModelError
from mbcli.math.array_arguments import as_array
from mbcli.multibody.core.mass_properties import MOVING
from mbcli.multibody.tree.index import ModelInstanceIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody


def center_of_mass(context: Context, *, instance: Iterable[str] = (), bodies: bool = False) -> dict[str, Any]:
    """The centre of mass of a plant at the state of a context.

    Args:
        context: state of a plant.
        instance: names of the model instances that count; default: all that moves. Scenery, which is fixed to the
            world, counts where it is named, or where nothing else has mass.
        bodies: whether each body is told too.

    Returns:
        p_WCom (3,) [m], v_WCom (3,) [m/s] and total_mass [kg] of these; left_out: scoped names of the scenery with mass
        that does not count; `bodies`: mass, p_WCom and v_WCom of each by its scoped name, if asked for.

    Raises:
        ArgumentError: an unknown name.
        ModelError: there is no mass.

    Example:
        >>> mbcli.models.center_of_mass(context)["p_WCom"].round(4)
        array([-0.1957,  0.    ,  1.2689])
    """
    plant = context.state.plant
    chosen = instances_with_mass(context, instance)
    result: dict[str, Any] = {
        "p_WCom": plant.CalcCenterOfMassPositionInWorld(context, chosen),
        "v_WCom": plant.CalcCenterOfMassTranslationalVelocityInWorld(context, chosen),
        "total_mass": plant.CalcTotalMass(context, chosen),
        "left_out": _scenery(context) if chosen is MOVING else [],
    }
    if bodies:
        result["bodies"] = {
            body.scoped_name().get_full(): {
                "mass": body.get_mass(context),
                "p_WCom": body.EvalPoseInWorld(context) @ body.CalcCenterOfMassInBodyFrame(context),
                "v_WCom": body.CalcCenterOfMassTranslationalVelocityInWorld(context),
            }
            for body in _bodies_of(plant, chosen)
        }
    return result


def momentum(context: Context, point: ArrayLike | str = (0.0, 0.0, 0.0), *, bodies: bool = False) -> dict[str, Any]:
    """The spatial momentum of a plant in World at the state of a context, about a point. Rotors count nothing.

    Args:
        context: state of a plant.
        point: p_WoP (3,) [m], or "com" for the centre of mass.
        bodies: whether each body is told too.

    Returns:
        L_WS_W (6,), angular [kg m^2/s], then linear [kg m/s]; `bodies`: the same of each by its scoped name, where
        asked for.

    Raises:
        ArgumentError: another text.
        TypeError: not three numbers.
        ModelError: "com" without mass.

    Example:
        >>> mbcli.models.momentum(context, "com")["L_WS_W"].round(4)
        array([ 0.    ,  0.3477,  0.    , -1.3211,  0.    ,  0.4565])
    """
    plant = context.state.plant
    if isinstance(point, str):
        if point != "com":
            raise ArgumentError(f"{argument('point')} is three numbers or 'com', not {point!r}")
        p_WoP = plant.CalcCenterOfMassPositionInWorld(context, instances_with_mass(context))
    else:
        p_WoP = as_array(point, (3,), "point")
    result: dict[str, Any] = {"L_WS_W": plant.CalcSpatialMomentumInWorldAboutPoint(context, p_WoP).get_coeffs()}
    if bodies:
        result["bodies"] = {
            body.scoped_name().get_full(): _momentum_of_body(context, body, p_WoP) for body in _bodies_of(plant, None)
        }
    return result


def instances_with_mass(context: Context, names: Iterable[str] = ()) -> Any:
    """Model instances of these names; without names MOVING, None for all where nothing that moves has mass.

    ArgumentError for an unknown name, ModelError without mass.
    """
    plant = context.state.plant
    names = list(names)
    for name in names:
        if not plant.HasModelInstanceNamed(name):
            there = [plant.GetModelInstanceName(ModelInstanceIndex(k)) for k in range(2, plant.num_model_instances())]
            raise ArgumentError(f"{argument('instance')}: there is no model '{name}'; {there_are(name, there)}")
    chosen: Any = [plant.GetModelInstanceByName(name) for name in names] or MOVING
    if chosen is MOVING and not plant.CalcTotalMass(context, MOVING) > 0.0:
        chosen = None
    if not plant.CalcTotalMass(context, chosen) > 0.0:
        raise ModelError(f"{'these models have' if names else 'the model has'} no mass: there is no centre of mass")
    return chosen


def _scenery(context: Context) -> list[str]:
    """Scoped names of the bodies with mass that are fixed to the world."""
    bodies = context.state.plant.elements.bodies[1:]
    fixed = [body for body in bodies if context.state.plant.IsAnchored(body) and body.get_mass(context) > 0.0]
    return [body.scoped_name().get_full() for body in fixed]


def links_with_mass(context: Context, names: Iterable[str] = ()) -> tuple[np.ndarray, float]:
    """1 for each body that counts, else 0, (num_bodies,), and their mass [kg]; as instances_with_mass()."""
    plant = context.state.plant
    chosen = instances_with_mass(context, names)
    counted = _bodies_of(plant, chosen)
    selected = [body in counted for body in plant.elements.bodies]
    return np.array(selected, dtype=float), float(plant.CalcTotalMass(context, chosen))


def all_links(plant: MultibodyPlant) -> np.ndarray:
    """1 for each body, (num_bodies,)."""
    return np.ones(plant.num_bodies())


def _momentum_of_body(context: Context, body: RigidBody, p_WoP: np.ndarray) -> np.ndarray:
    X_WB = body.EvalPoseInWorld(context)
    M_BBo_W = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(X_WB.rotation())
    L_WBo = M_BBo_W * body.EvalSpatialVelocityInWorld(context)
    return L_WBo.Shift(p_WoP - X_WB.translation()).get_coeffs()


def _bodies_of(plant: MultibodyPlant, instances: Any) -> list[RigidBody]:
    """All bodies but World that count, see instances_with_mass()."""
    bodies = plant.elements.bodies[1:]
    if instances is MOVING:
        return [body for body in bodies if not plant.IsAnchored(body)]
    return [body for body in bodies if instances is None or body.model_instance() in instances]
