"""Forces on bodies at work in a run: in compiled steps of discrete plants, else through the port of applied forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.contact.python_forces import needs_python
from mbcli.multibody.stepping.inputs import LinkForce, applied_forces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.multibody.core.applied_forces import ExternallyAppliedSpatialForce
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.rigid_body import RigidBody
    from mbcli.simulation.pushes import Push

PORT = "applied_spatial_force"


class Followers:
    """The forces that a context has at its port during a run, beside what the port had before."""

    def __init__(self) -> None:
        self._context: Context | None = None
        self._fixed: Any = None
        self._followed: Any = None

    def start(self, plant: MultibodyPlant, context: Context, forces: Sequence[LinkForce]) -> list[LinkForce]:
        """Lets forces act in a context; returns those that the steps are to take instead, all or none."""
        may_sleep = plant.settings.sleep_tolerance > 0.0 and plant.meets_contact()
        elastic = bool(plant.elements.deformable_bodies)
        if plant.is_discrete() and not (needs_python(plant, context) or may_sleep or elastic):
            return list(forces)
        self._follow(plant, context, forces)
        return []

    def _follow(self, plant: MultibodyPlant, context: Context, forces: Sequence[LinkForce]) -> None:
        inputs = context.inputs
        self._context, self._fixed, self._followed = context, inputs.fixed.get(PORT), inputs.followed.get(PORT)

        def acting(at: Context) -> list[ExternallyAppliedSpatialForce]:
            t = at.get_time()
            others = self._fixed if self._fixed is not None else self._followed(at) if self._followed else []
            return [*others, *applied_forces(forces, t, plant.time_step())]

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
    point = np.array(body.CalcCenterOfMassInBodyFrame(context) if push.point is None else push.point)
    return LinkForce(int(body.index()), point, np.array([0.0, 0.0, 0.0, *push.force]), push.start, push.end)
