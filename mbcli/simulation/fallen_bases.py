"""Robots that were to stand, and fell over."""

from __future__ import annotations

from math import acos, degrees, radians
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector3
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree import RigidBody

FALLEN = radians(60.0)  # between the verticals of a base at the start and at the end


def verticals(plant: MultibodyPlant, context: Context) -> dict[RigidBody, Vector3]:
    """{base that floats: the direction that points upwards, in the base}"""
    bodies = [plant.get_body(index) for index in sorted(plant.GetFloatingBaseBodies())]
    return {body: body.EvalPoseInWorld(context).rotation().matrix()[2] for body in bodies}


def fallen_bases(plant: MultibodyPlant, context: Context, upright: dict[RigidBody, Vector3]) -> str | None:
    """A line on the bases whose vertical at the start has turned by more than FALLEN; None if there are none."""
    angles = {}
    for body, up_B in upright.items():
        cosine = float(body.EvalPoseInWorld(context).rotation().matrix()[2] @ up_B)
        if not cosine > np.cos(FALLEN):
            angles[plant.name_in_contact(body)] = degrees(acos(max(-1.0, min(1.0, cosine))))
    if not angles:
        return None
    fell = listed([f"{name} ({angle:.0f} degrees)" for name, angle in angles.items()])
    return f"fell over: {fell}; {argument('weld_base')} holds bases that float"
