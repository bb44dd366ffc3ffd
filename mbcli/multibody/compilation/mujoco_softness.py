"""What the law of contact "mujoco" has of a plant: how soft limits and geometries are, and what gives way to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.properties import SOFTNESS
from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.tree.joint import Joint

DEFAULT = (0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0)  # solref and solimp of what states none
RIGID = (0.0,) * 8  # in place of them and a mobility: nearly rigid, as under other laws


class Mobility(NamedTuple):
    """What a velocity and a body give way to an impulse, at the default positions: "invweight0" of MuJoCo."""

    velocities: FloatArray  # [1/(kg m^2) or 1/kg] (nv,)
    bodies: FloatArray  # [1/kg] (num_bodies,): of the centre of mass, the mean of three directions


def mobility_at_defaults(plant: Any) -> Mobility:
    """The Mobility of a finalized plant. ModelError if its mass matrix has no inverse."""
    whole: Any = plant.whole_plant()
    context, world = whole.CreateDefaultContext(), whole.world_frame()
    try:
        inverse = np.linalg.inv(whole.CalcMassMatrix(context)) if whole.num_velocities() else np.zeros((0, 0))
    except np.linalg.LinAlgError:
        raise ModelError('contact as "mujoco" has it needs a mass matrix that has an inverse') from None
    bodies = np.zeros(len(plant.elements.bodies))
    for body in plant.elements.bodies[1:]:
        p_BoBcm = body.CalcCenterOfMassInBodyFrame(context) if body.get_mass(context) > 0.0 else np.zeros(3)
        J = whole.CalcJacobianTranslationalVelocity(
            context, JacobianWrtVariable.kV, body.body_frame(), p_BoBcm, world, world
        )
        bodies[int(body.index())] = np.einsum("ij,jk,ik->", J, inverse, J) / 3.0
    return Mobility(np.diag(inverse).copy(), bodies)


def softness_of_limit(joint: Joint, mobility: Mobility | None) -> tuple[tuple[float, ...], float]:
    """(row of limit_soft, how far before the limit it acts) of a joint with one velocity."""
    if mobility is None:
        return RIGID, 0.0
    *softness, margin = joint.stop_softness or (*DEFAULT, 0.0)
    return (*softness, mobility.velocities[joint.velocity_start()]), margin


def softness_of_geometry(instance: GeometryInstance, body: int, mobility: Mobility | None) -> Sequence[float] | None:
    """The row of soft of a Solid; None under other laws."""
    properties = instance.proximity
    if mobility is None or properties is None:
        return None
    softness = properties.GetPropertyOrDefault("mujoco", SOFTNESS, DEFAULT)
    mix, ratio = (properties.GetPropertyOrDefault("mujoco", *kind) for kind in (("solmix", 1.0), ("impratio", -1.0)))
    return (*softness, mix, mobility.bodies[body], ratio)
