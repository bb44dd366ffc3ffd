"""Frames of a plant by names that may have their model instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.parsing.scene_names import SceneNames

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.frame import Frame


def GetScopedFrameByName(plant: MultibodyPlant, full_name: str) -> Frame:
    """The frame of a name such as `arm::gripper::finger`; without a scope there must be one frame of that name.

    Raises RuntimeError if there is none, or several.
    """
    try:
        instance, name = SceneNames(plant).frame(full_name)
    except LookupError as error:
        raise RuntimeError(f"GetScopedFrameByName: {error}") from None
    return plant.GetFrameByName(name, plant.GetModelInstanceByName(instance))


def GetScopedFrameByNameMaybe(plant: MultibodyPlant, full_name: str) -> Frame | None:
    """As GetScopedFrameByName(), but None if there is none or several."""
    try:
        return GetScopedFrameByName(plant, full_name)
    except RuntimeError:
        return None
