"""What a picture is fitted to: the robot, not the ground on which it is, and not the way of its flight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.errors import ModelError
from mbcli.pictures.scene import Motion, moved, moving_bodies
from mbcli.pictures.shape_surfaces import placed_vertices, surface_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.pictures.scene import PictureShape, Scene

FOLLOWED = 2.0  # times its own radius: a robot whose way needs a larger sphere is followed
NEAR = 2.0  # times the radius of what moves: what is fixed and within it is in the picture too


@dataclass(frozen=True)
class Framing:
    """A sphere that holds the robot at all times, and sizes for what is drawn beside it.

    Attributes:
        centre: [m] in World, (1, 3) if the camera stands still, else (n, 3), for each row of the first motion.
        radius: [m]
        size: [m] the diagonal of the box around what moves at the first row; of everything if nothing moves.
        bottom: [m] the lowest z of that box.
    """

    centre: FloatArray
    radius: float
    size: float
    bottom: float

    def centre_at(self, row: int) -> FloatArray:
        """The centre (3,) [m] at a row of the first motion."""
        return self.centre[row if len(self.centre) > 1 else 0]


class _Mark(NamedTuple):
    """A ball that goes with a body: where it is in all rows of a run (n, 3), its radius, and whether it moves."""

    path: FloatArray
    radius: float
    moves: bool


def frame_scene(scene: Scene) -> Framing:
    """The framing of a scene at the poses that it begins with."""
    return frame_runs([(scene, Motion(scene.name, np.zeros(1), scene.X_WB[None]))])


def frame_runs(runs: Sequence[tuple[Scene, Motion]]) -> Framing:
    """The framing of runs: of the first one where it is followed, of all where the camera stands still.

    The camera follows the first run's robot if a sphere around its whole way is more than twice as large as one around
    the robot. Else what is fixed and near, as the base of an arm, is in the sphere. ModelError for what is as large as
    no number tells.
    """
    first, *others = [_marks(*run) for run in runs]
    every = [*first, *(mark for marks in others for mark in marks)]
    own = [mark for mark in first if mark.moves]
    low, high = _box_of_first_row(*runs[0])
    size, bottom = max(float(np.linalg.norm(high - low)), 1e-3), float(low[2])
    weights = np.array([mark.radius for mark in own])
    weights = (weights / weights.max()) ** 3 if weights.any() else np.ones(len(own))
    followed = sum(w * mark.path for w, mark in zip(weights, own, strict=True)) / weights.sum()
    centre, radius = _sphere([mark for mark in every if mark.moves])
    if not math.isfinite(radius + size):
        raise ModelError(f"{runs[0][1].name}: error: is too large to be drawn")
    around = _radius(own, followed)
    if radius > FOLLOWED * around:
        return Framing(followed, max(around, 0.5e-3), size, bottom)
    reach = NEAR * radius
    near = [mark for mark in every if mark.moves or _radius([mark], centre) <= reach]
    centre, radius = _sphere(near)
    return Framing(centre[None], max(radius, 0.5e-3), size, bottom)


def _sphere(marks: list[_Mark]) -> tuple[FloatArray, float]:
    """Centre (3,) and radius of a sphere around marks at all times."""
    low = np.min([(mark.path - mark.radius).min(axis=0) for mark in marks], axis=0)
    high = np.max([(mark.path + mark.radius).max(axis=0) for mark in marks], axis=0)
    centre = 0.5 * (low + high)
    return centre, _radius(marks, centre)


def _radius(marks: list[_Mark], centre: FloatArray) -> float:
    """Of spheres around a centre (3,), or (n, 3) of each row."""
    return float(max(np.linalg.norm(mark.path - centre, axis=1).max() + mark.radius for mark in marks))


def _marks(scene: Scene, motion: Motion) -> list[_Mark]:
    """A ball around each shape; points of bodies without one. All move where nothing does."""
    moves = moving_bodies(scene)
    marks = []
    for shape in _solids(scene):
        vertices = surface_of(shape, scene)[0]
        if not len(vertices):
            continue
        start = shape.vertex_start
        if start is not None and motion.vertices is not None:
            places = motion.vertices[:, start : start + len(vertices)]
            path = places.mean(axis=1)
            radius = np.linalg.norm(places - path[:, None], axis=2).max()
        else:
            middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
            radius = np.linalg.norm(vertices - middle, axis=1).max()
            path = moved(motion.X_WB[:, shape.body], moved(np.array(shape.X_BG), middle))
        marks.append(_Mark(path, float(radius), start is not None or bool(moves[shape.body])))
    for body, points in _bare_points(scene).items():
        marks += [_Mark(moved(motion.X_WB[:, body], p), 0.0, bool(moves[body])) for p in points]
    if not marks:
        marks = [_Mark(np.array([[0.0, 0.0, 0.5]]), 0.9, True)]
    return marks if any(mark.moves for mark in marks) else [_Mark(mark.path, mark.radius, True) for mark in marks]


def _solids(scene: Scene) -> list[PictureShape]:
    return [shape for shape in scene.shapes if shape.kind != "half_space"]


def _bare_points(scene: Scene) -> dict[int, list[FloatArray]]:
    """In the frames of bodies without shapes, but World: their origins, centres of mass and joints."""
    shaped = {shape.body for shape in _solids(scene)}
    points = {k: [np.zeros(3), np.array(b.com)] for k, b in enumerate(scene.bodies) if k and k not in shaped}
    for joint in scene.joints:
        for body, pose in ((joint.parent, joint.X_PF), (joint.child, joint.X_CM)):
            if body in points:
                points[body].append(np.array(pose[4:]))
    return points


def _box_of_first_row(scene: Scene, motion: Motion) -> tuple[FloatArray, FloatArray]:
    """Corners of the box around what moves."""
    moves = moving_bodies(scene)
    found: list[tuple[bool, FloatArray]] = []
    for shape in _solids(scene):
        vertices = placed_vertices(shape, surface_of(shape, scene)[0], motion, 0)
        found.append((shape.vertex_start is not None or bool(moves[shape.body]), vertices))
    for body, points in _bare_points(scene).items():
        found.append((bool(moves[body]), moved(motion.X_WB[0, body], np.array(points))))
    chosen = [places for does, places in found if does] or [places for _, places in found]
    every = np.concatenate(chosen) if chosen else np.zeros((0, 3))
    if not len(every):
        every = np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    return every.min(axis=0), every.max(axis=0)
