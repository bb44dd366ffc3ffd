"""Pushes of a run at work: in the compiled steps of discrete plants, else through the port of applied forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.contact.python_forces import needs_python
from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.stepping.run import LinkForce
from mbcli.simulation.pushes import pushed_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.simulation.pushes import Push

PORT = "applied_spatial_force"
SAME_TIME = 1e-9  # [s] a push that begins at the time of a step acts in it


class Followers:
    """The pushes that a context has at its port during a run, beside what the port had before."""

    def __init__(self) -> None:
        self._context: Context | None = None
        self._fixed: Any = None
        self._followed: Any = None

    def start(self, plant: MultibodyPlant, context: Context, pushes: Iterable[Push]) -> list[LinkForce]:
        """Lets pushes act in a context; returns those that the steps are to take instead, all or none.

        ArgumentError if there is no such body, or several are called so.
        """
        bodies = [(push, pushed_body(plant, push.body)) for push in pushes]
        may_sleep = plant.settings.sleep_tolerance > 0.0 and plant.meets_contact()
        elastic = bool(plant.elements.deformable_bodies)
        if plant.is_discrete() and not (needs_python(plant, context) or may_sleep or elastic):
            return [link_force(push, body, context) for push, body in bodies]
        self._follow(plant, context, bodies)
        return []

    def _follow(self, plant: MultibodyPlant, context: Context, bodies: Sequence[tuple[Push, RigidBody]]) -> None:
        inputs = context.inputs
        self._context, self._fixed, self._followed = context, inputs.fixed.get(PORT), inputs.followed.get(PORT)

        def acting(at: Context) -> list[ExternallyAppliedSpatialForce]:
            t = at.get_time() + SAME_TIME
            others = self._fixed if self._fixed is not None else self._followed(at) if self._followed else []
            return [*others, *(_force(push, body, at) for push, body in bodies if push.start <= t < push.end)]

        plant.get_applied_spatial_force_input_port().Follow(context, acting)

    def end(self) -> None:
        """The port has what it had."""
        if self._context is None:
            return
        inputs, self._context = self._context.inputs, None
        inputs.followed.pop(PORT, None)
        if self._followed is not None:
            inputs.follow(PORT, self._followed)
        if self._fixed is not None:
            inputs.fix(PORT, self._fixed)


def link_force(push: Push, body: RigidBody, context: Context) -> LinkForce:
    """A push on a body as steps take it."""
    return LinkForce(int(body.index()), _point(push, body, context), np.array(push.force), push.start, push.end)


def _point(push: Push, body: RigidBody, context: Context) -> FloatArray:
    """(3,) [m] in the body's frame."""
    return np.array(body.CalcCenterOfMassInBodyFrame(context) if push.point is None else push.point)


def _force(push: Push, body: RigidBody, context: Context) -> ExternallyAppliedSpatialForce:
    force = ExternallyAppliedSpatialForce()
    force.body_index = body.index()
    force.p_BoBq_B = _point(push, body, context)
    force.F_Bq_W = SpatialForce(np.zeros(3), np.array(push.force))
    return force
