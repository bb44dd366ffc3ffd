"""reactions: the spatial forces that joints transmit, welds included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.datasets import Dataset, Field
from mbcli.log.fields.common import brings_nothing
from mbcli.multibody.core.reaction_forces import reactions_at, reactions_of_steps

if TYPE_CHECKING:
    from mbcli.log.fields.block import Block
    from mbcli.log.fields.logged_plant import LoggedPlant

REACTIONS = "derived/reactions"
PARTS = ("moment_x", "moment_y", "moment_z", "force_x", "force_y", "force_z")
UNITS = ("N m",) * 3 + ("N",) * 3

WORDS = "spatial forces in joints"
BY_DEFAULT = False
REFUSED = True
DATASETS = (
    Dataset(
        REACTIONS,
        ("N m", "N"),
        "F_CJc_Jc of each joint: what it does to its child body C at the origin of its frame Jc on C, along its axes, "
        "moment first; of a discrete plant in the step from the row, where it took its forces. Whatever passes through "
        "the joint is in it: "
        "constraint, actuation, damping, springs.",
        "6 J",
    ),
)

brings = brings_nothing


def lacks(plant: Any) -> str:
    """It needs joints between rigid bodies."""
    if plant.elements.deformable_bodies:
        return "the model has deformable bodies, whose forces on joints are not known"
    return "" if plant.num_joints() else "the model has no joints"


def joint_names(plant: Any) -> tuple[str, ...]:
    """The names of all joints with those of their models."""
    return tuple(f"{plant.GetModelInstanceName(j.model_instance())}_{j.name()}" for j in plant.elements.joints)


def columns(logged: LoggedPlant) -> tuple[Field, ...]:
    """Six a joint."""
    names = tuple(f"{name}_{part}" for name in joint_names(logged.plant) for part in PARTS)
    return (Field(REACTIONS, UNITS * logged.plant.num_joints(), names, (len(names),)),)


def rows(block: Block) -> dict[str, Any]:
    """In the step from each row, as it was taken; of a continuous plant at each state under what acted there."""
    logged, samples = block.logged, block.samples
    plant, n = logged.plant, len(block.q)
    if samples.steps is not None:
        contacts = None if samples.contacts is None else samples.contacts.chosen(block.chosen)
        F = reactions_of_steps(plant, logged.loads.context, samples.steps.chosen(block.chosen), contacts)
        return {REACTIONS: F.reshape(n, -1)}
    forces, efforts = np.empty((n, 6 * plant.num_joints())), samples.effort[block.chosen]
    for k, time in enumerate(samples.time[block.chosen]):
        context = logged.loads.at(float(time), block.q[k], block.v[k], efforts[k])
        forces[k] = np.concatenate([force.get_coeffs() for force in reactions_at(plant, context)])
    return {REACTIONS: forces}
