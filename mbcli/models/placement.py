"""Robots that nothing holds, put down on the ground."""

from contextlib import suppress

import numpy as np

from mbcli.errors import MbcliError
from mbcli.models.falling import has_fixed_solids
from mbcli.models.loaded_model import LoadedModel
from mbcli.models.mechanisms import mechanisms
from mbcli.models.placed_solids import PlacedSolids
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.state.context import Context

ROUNDING = 1e-9  # [m]


def put_on_ground(plant: MultibodyPlant, context: Context, ground: float, stated: np.ndarray) -> list[str]:
    """Moves what floats up or down until its lowest solid touches the ground, at a height [m]; returns lines on it.

    Left where they are: bases whose z somebody stated (mask (nq,)), and those that their file or a posture puts at a
    height of their own, unless they reach into the ground there.
    """
    bases = {n: joint for n, joint in plant.free_joints.items() if int(joint.parent_body().index()) == 0}
    if not bases:
        return []
    solids, number, moved = PlacedSolids(plant), mechanisms(plant), []
    q = plant.GetPositions(context)
    solids.place(q)
    lowest = -solids.reaches([0.0, 0.0, -1.0])
    for n, joint in bases.items():
        own = np.isfinite(lowest) & (number[solids.body] == number[n])
        end = joint.position_start() + joint.num_positions()  # the translation comes last, and z is the last of it
        if not own.any() or stated[end - 1] or joint.is_locked(context):
            continue
        X_WF = joint.frame_on_parent().CalcPoseInBodyFrame(context)
        has_height = (X_WF @ q[end - 3 : end])[2] != 0.0
        gap = float(lowest[own].min()) - ground
        if abs(gap) <= ROUNDING or (has_height and gap > 0.0):
            continue
        q[end - 3 : end] += X_WF.rotation().matrix().T @ np.array([0.0, 0.0, -gap])
        moved.append(plant.elements.bodies[n])
    context.state.set_q(q)
    after = Context(plant, compiled=False)  # once: no kernel is compiled for it
    after.SetTimeStateAndParametersFrom(context)
    return [
        f"put on the ground: '{plant.name_in_contact(body)}' starts at z = "
        f"{body.EvalPoseInWorld(after).translation()[2]:.6g} m"
        for body in moved
    ]


def stand(loaded: LoadedModel, context: Context, stated: np.ndarray) -> None:
    """Puts down what floats in a picture, as put_on_ground() does for a run: on the ground of the model or, where it
    has none and no solid is fixed, on z = 0. Where a mesh cannot be read nothing moves: whoever draws it says so."""
    plant = loaded.plant
    if not plant.num_collision_geometries() or (loaded.ground is None and has_fixed_solids(plant)):
        return
    with suppress(MbcliError):
        put_on_ground(plant, context, loaded.ground or 0.0, stated)
