"""Velocities of the default state: zero, but for floating bodies of which a model file states how they move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context


def set_default_velocities(plant: PlantData, context: Context) -> None:
    """Those that files state of centres of mass, at the origins of bodies, for the positions of a context."""
    for n, stated in plant.default_free_velocities.items():
        body: Any = plant.elements.bodies[n]
        if body.is_floating_base_body():
            joint, w, v = body.required_free_joint(), np.array(stated[:3]), np.array(stated[3:])
            arm = joint.GetPose(context).rotation().matrix() @ body.default_com()
            joint.SetVelocities(context, np.concatenate([w, v - np.cross(w, arm)]))
