"""PlantSensing: what of a plant its sensors need, whatever the state."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.queries.state_batch import StateBatch
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.runtime.linking import load_kernels
from mbcli.geometry import shapes
from mbcli.geometry.properties import Role
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray, IntArray
    from mbcli.multibody.tree.sensor import Sensor

INTERPRETED_ROWS = 64  # states whose motion is sooner computed by interpreted kernels than by loaded ones
Solid = tuple[Any, Any, tuple[str, Any]]


class PlantSensing:
    """A finalized plant with sensors; model: arrays of a context with parameters of its own; None: the plant's."""

    def __init__(self, plant: Any, compiled: bool = True, model: Any = None) -> None:
        self.plant, self.model = plant, plant.model if model is None else model
        self._batch: Any = StateBatch(self.model, compiled=compiled, patience=INTERPRETED_ROWS)
        self._compiled, self._patience, self._called = compiled, INTERPRETED_ROWS, dict[str, Any]()
        self._default_poses: dict[Any, FloatArray] = {}
        self._own_solids: dict[Any, IntArray] = {}
        self._frames = [body.body_frame().index_number for body in plant.elements.bodies]

    def link_motions(self, q: FloatArray, v: FloatArray, vdot: FloatArray | None, links: list[int]) -> tuple[Any, ...]:
        """R (n, m, 3, 3), p (n, m, 3), V and A (n, m, 6) of m links in World; A is NaN without vdot."""
        frames = [self._frames[n] for n in links]
        R, p, V, A = self._batch.frame_motions(q, v, vdot, frames, 0)
        return R, p, V, np.full_like(V, np.nan) if A is None else A

    def kernel(self, name: str, count: int) -> Any:
        """A kernel for so many contacts or states: compiled, if that is done already or there have been many."""
        if name not in self._called:
            found = getattr(load_kernels(self._compiled), name)
            self._patience -= count
            if self._compiled and self._patience >= 0 and not is_compiled(found):
                return getattr(load_kernels(False), name)
            self._called[name] = found
        return self._called[name]

    def default_pose(self, sensor: Sensor) -> FloatArray:
        """X_WS (4, 4) of a sensor at the default positions."""
        if sensor not in self._default_poses:
            context = Context(self.plant, compiled=False)
            context.state.set_q(self.plant.GetDefaultPositions())
            X_WB = self.plant.EvalBodyPoseInWorld(context, sensor.body).GetAsMatrix4()
            self._default_poses[sensor] = X_WB @ sensor.X_BS
        return self._default_poses[sensor]

    # ------------------------------------------------------------------------------------------- the tree

    @cached_property
    def _mobods(self) -> list[Any]:
        return self.plant.forest()[0]

    def outboard(self, link: int) -> list[int]:
        """The links that hang on a link, itself the first."""
        found = {link}
        for mobod in self._mobods:  # inboard ones first
            if mobod.inboard in found:
                found.add(mobod.link)
        return sorted(found)

    def inboard_joint(self, link: int) -> Any:
        """The joint that carries a link."""
        number = next(mobod.joint for mobod in self._mobods if mobod.link == link)
        return None if number is None else self.plant.elements.joints[number]

    def outboard_end(self, joint: Any) -> tuple[int, float]:
        """The link that a joint carries, and 1 if that is its child, else -1."""
        number = self.plant.elements.joints.index(joint)
        mobod = next(mobod for mobod in self._mobods if mobod.joint == number)
        return mobod.link, -1.0 if mobod.reversed else 1.0

    # ------------------------------------------------------------------------------------------ geometries

    @cached_property
    def _solid_ids(self) -> tuple[Any, ...]:
        return self.plant.compiled_geometries().ids

    @cached_property
    def body_of_solid(self) -> IntArray:
        """The number of the body of each geometry that can touch."""
        bodies = self.plant.geometry_bodies
        return np.array([bodies[geometry].index_number for geometry in self._solid_ids], dtype=int)

    def own_solids(self, body: Any, names: Sequence[str] | None) -> IntArray:
        """Of each geometry that can touch: 2 of a body if it has one of the names, 1 of others of this body, else 0.

        names: without those of the model; None: all of the body count.
        """
        key = body.index_number, names if names is None else tuple(names)
        if key not in self._own_solids:
            own = (self.body_of_solid == body.index_number).astype(np.int64)
            if own.any():
                inspector = self.plant.scene_graph.model_inspector()
                known = [inspector.GetName(geometry).rpartition("::")[2] for geometry in self._solid_ids]
                own[(own > 0) & (True if names is None else np.isin(known, list(names)))] = 2
            self._own_solids[key] = own
        return self._own_solids[key]

    @cached_property
    def solids(self) -> list[Solid]:
        """(body, pose in it, shape as rays take it) of every geometry that collides."""
        if self.plant.scene_graph is None:
            return []
        inspector, found = self.plant.scene_graph.model_inspector(), []
        for geometry in inspector.GetAllGeometryIds(Role.kProximity):
            body = self.plant.geometry_bodies.get(geometry)
            if body is not None:
                X_BG = inspector.GetPoseInFrame(geometry).GetAsMatrix4()
                found.append((body, X_BG, ray_shape(inspector.GetShape(geometry))))
        return found


def ray_shape(shape: Any) -> tuple[str, Any]:
    """A Shape as rays take it."""
    if isinstance(shape, shapes.Mesh):
        from mbcli.geometry.hydroelastic_shapes import triangles_of  # late: few rays meet meshes

        vertices, triangles = triangles_of(shape)
        return "mesh", np.asarray(vertices)[np.asarray(triangles)]
    if isinstance(shape, shapes.HeightField):
        vertices, triangles = shape.surface()
        return "mesh", vertices[triangles]
    if isinstance(shape, shapes.HalfSpace):
        return "half_space", ()
    if isinstance(shape, shapes.Box):
        return "box", 0.5 * np.asarray(shape.size())
    if isinstance(shape, shapes.Sphere):
        return "sphere", (shape.radius(),)
    if isinstance(shape, shapes.Ellipsoid):
        return "ellipsoid", (shape.a(), shape.b(), shape.c())
    if isinstance(shape, (shapes.Cylinder, shapes.Capsule)):
        word = "cylinder" if isinstance(shape, shapes.Cylinder) else "capsule"
        return word, (shape.radius(), 0.5 * shape.length())
    raise TypeError(f"rays do not meet a {type(shape).__name__}")
