"""Frames of a plant by names that may say their model instance."""

from mbcli.multibody.parsing.scene_names import SceneNames


def GetScopedFrameByName(plant, full_name):
    """The frame of a name such as `arm::gripper::finger`; without a scope there must be one frame of that name.

    Raises RuntimeError where there is none, or several.
    """
    try:
        instance, name = SceneNames(plant).frame(full_name)
    except LookupError as error:
        raise RuntimeError(f"GetScopedFrameByName: {error}") from None
    return plant.GetFrameByName(name, plant.GetModelInstanceByName(instance))


def GetScopedFrameByNameMaybe(plant, full_name):
    """As GetScopedFrameByName(), but None where there is none or several."""
    try:
        return GetScopedFrameByName(plant, full_name)
    except RuntimeError:
        return None
