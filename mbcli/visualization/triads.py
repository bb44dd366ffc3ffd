"""Frames as three sticks."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

from mbcli.geometry.shapes import Cylinder
from mbcli.math import RigidTransform, RotationMatrix

if TYPE_CHECKING:
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

QUARTER = 0.5 * pi  # [rad]


def AddFrameTriadIllustration(
    *,
    scene_graph: SceneGraph,
    body: Any = None,
    frame: Any = None,
    frame_index: Any = None,
    frame_id: Any = None,
    plant: MultibodyPlant | None = None,
    name: str | None = None,
    length: float = 0.3,
    radius: float = 0.005,
    opacity: float = 0.9,
    X_FT: RigidTransform | None = None,
) -> None:
    """Adds visual geometry to a plant: the axes x, y and z of a frame in red, green and blue.

    RuntimeError unless one of body, frame, frame_index and frame_id is given, the last two with their plant.
    """
    if sum(given is not None for given in (body, frame, frame_index, frame_id)) != 1:
        raise RuntimeError("AddFrameTriadIllustration takes one of body, frame, frame_index and frame_id")
    if frame_index is not None and plant is not None:
        frame = plant.get_frame(frame_index)
    if frame_id is not None and plant is not None:
        body = plant.GetBodyFromFrameId(frame_id)
    if body is None and frame is None:
        raise RuntimeError("AddFrameTriadIllustration: an index or id of a frame is that of a plant, which is missing")
    frame = body.body_frame() if frame is None else frame
    own = frame.body().parent_plant
    if own.scene_graph is not scene_graph:
        raise RuntimeError(f"AddFrameTriadIllustration: {frame.name()} is of a plant with another scene graph")
    X_BT = frame.GetFixedPoseInBodyFrame() @ (RigidTransform() if X_FT is None else X_FT)
    label = f"_{frame.name()}_frame" if name is None else name
    turns = (RotationMatrix.MakeYRotation(QUARTER), RotationMatrix.MakeXRotation(-QUARTER), RotationMatrix())
    for k, axis in enumerate("xyz"):
        along = [0.5 * length if k == j else 0.0 for j in range(3)]
        color = [float(k == j) for j in range(3)]
        X_BG = X_BT @ RigidTransform(turns[k], along)
        own.RegisterVisualGeometry(
            frame.body(), X_BG, Cylinder(radius, length), f"{label} {axis}-axis", [*color, opacity]
        )
