"""WorldPictures: pictures of worlds as arrays of bytes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.pictures.drawn_images import drawn_images
from mbcli.pictures.model_scene import poses_over_time, scene_of
from mbcli.pictures.scene import Motion

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, Vector
    from mbcli.models.loaded_model import LoadedModel

SIZE = 640, 480  # pixels


class WorldPictures:
    """Draws states of a model. ResourceError if there is no matplotlib.

    Args:
        loaded: the model.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self._image: Any = import_extra("matplotlib.image", "plot", "render()")
        self._plant, self._scene = loaded.plant, scene_of(loaded, roles="visual")

    def of(self, time: float, q: Vector) -> Array:
        """The picture (height, width, 3) of bytes of positions q (nq,) at a time [s]."""
        motion = Motion("", np.array([time]), poses_over_time(self._plant, q[None]))
        (png,) = drawn_images([(self._scene, motion)], motion.times, SIZE)
        pixels = self._image.imread(io.BytesIO(png))[:, :, :3]
        return np.rint(255.0 * pixels).astype(np.uint8)
