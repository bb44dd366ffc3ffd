"""How far what can stand may sink into what it stands on, so that it stands: docs/explanation/contact_defaults.md.

A body of half width b and weight m g whose centre of mass is at the height H stands on contact that lets it sink by d
with the restoring stiffness m g b^2 / d against turning, and falls over by itself where that is below m g H. With
d = s b^2 / H it tips at (1 - s) of the push that tips a rigid one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.engine.fields import collision_fields as kinds
from mbcli.math import RigidTransform
from mbcli.multibody.compilation.loads import Extent
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.compilation.loads import Load

SHARE = 0.02  # s of b^2 / H
THINNEST = 1e-3  # of the half length: what is thinner counts as that thin
NARROWEST = 5e-3  # b / H: what is narrower is an edge or a tip, no base to stand on
LEAST_DEPTH = 1e-30  # [m], so that the stiffness under what is smaller than any body is a number
LEVEL = 0.01  # of the height of what stands: points so near to the lowest one are of its base
RIM = 2.0 * np.pi * np.arange(32) / 32
HEADINGS = np.pi * np.arange(360) / 360


class Piece(NamedTuple):
    """One convex solid of a body: link: the body's index; points (n, 3) in its frame, a ball of `rounding` at each."""

    link: int
    points: FloatArray
    rounding: float
    axes: FloatArray  # (3, 3) in the body's frame: rows are the axes of the geometry


class Base(NamedTuple):
    """How something stands: half width and height of the centre of mass over it [m]; half width of the narrowest body
    that it could stand on alone, None if there is none; how many solids it stands on.
    """

    half_width: float
    height: float
    foot: float | None
    solids: int


@dataclass(frozen=True)
class Standing:
    """A tree of bodies that a floating joint moves: its links, the root first, mass [kg], and how it stands.

    span: smallest and largest half extent [m]; base and extent: of the default positions, base None if it stands on an
    edge or a tip.
    """

    links: tuple[int, ...]
    mass: float
    span: tuple[float, float]
    base: Base | None
    extent: Extent

    def depth_under(self, load: Load) -> float:
        """[m] that it may sink by what it carries, so that a tower does not fall over at its base."""
        if self.base is None or load.height <= 0.0:
            return np.inf
        return max(LEAST_DEPTH, SHARE * self.base.half_width**2 / load.height)

    def depth(self) -> float:
        """[m] that it may sink by its weight: so that it stands as by default, on one foot, or on any side."""
        half_width, half_length = self.span
        depths = [max(half_width, THINNEST * half_length) ** 2 / half_length] if half_length > 0.0 else []
        if self.base is not None:
            depths.append(min(self.base.half_width, self.base.foot or np.inf) ** 2 / self.base.height)
        return max(LEAST_DEPTH, SHARE * min(depths, default=np.inf))

    def needed_stiffness(self, g: float) -> float:
        """[N/m] of a contact of each solid below which it falls over by itself in its default position; 0: it may not
        stand at all.
        """
        if self.base is None:
            return 0.0
        return self.mass * g * self.base.height / self.base.half_width / self.base.half_width / self.base.solids


def piece_of(link: int, X_BG: FloatArray, kind: int, size: Any, rounding: float, hull: Any) -> Piece:
    """The Piece of a Solid at X_BG (12,) on a body."""
    R, p = X_BG[:9].reshape(3, 3), X_BG[9:]
    return Piece(link, _POINTS[kind](size, hull) @ R.T + p, rounding, R.T)


def standing_trees(plant: Any, pieces: Iterable[Piece]) -> list[Standing]:
    """Of the trees of a finalized plant that float and have pieces."""
    roots = _roots(plant)
    of: dict[Any, list[Piece]] = {}
    for piece in pieces:
        if roots[piece.link] is not None:
            of.setdefault(roots[piece.link], []).append(piece)
    if not of:
        return []
    context = Context(plant, compiled=False)  # for poses once: to load compiled kernels takes longer
    context.state.set_q(plant.GetDefaultPositions())
    down = _down(plant)
    found = []
    for root, own in of.items():
        links = [root, *(n for n, r in roots.items() if r == root and n != root)]
        inertias = [plant.elements.bodies[n].default_spatial_inertia() for n in links]
        poses = {n: _pose(plant.elements.bodies[n], context) for n in links}
        mass = sum(M.get_mass() for M in inertias)
        if mass <= 0.0:
            continue
        centers = [M.get_mass() * poses[n].multiply(M.get_com()) for n, M in zip(links, inertias, strict=True)]
        placed = [_placed(piece, poses[piece.link]) for piece in own]
        if len(links) == 1:
            axes = np.vstack([_axes_of_inertia(inertias[0], poses[root]), *(piece.axes for piece in placed)])
        else:
            axes = np.eye(3)
        span = _span(placed, axes)
        center = sum(centers) / mass
        extent = _extent(placed, np.vstack([*_across(down), -down]), center)
        found.append(Standing(tuple(links), mass, span, _base(placed, center, down), extent))
    return found


def _pose(body, context):
    """X_WB, of floats in plants of other numbers too."""
    X_WB = body.EvalPoseInWorld(context).GetAsMatrix4()
    return RigidTransform(context.state.scalar.reals(X_WB).reshape(4, 4))


def _roots(plant):
    """{link: the link of the free joint that carries it, or None}."""
    roots = {0: None}
    for mobod in plant.forest()[0]:
        roots[mobod.link] = mobod.link if mobod.link in plant.free_joints else roots[mobod.inboard]
    return roots


def _down(plant):
    """The axis of World (3,) along which gravity pulls most, z without gravity: floors are across it."""
    g = plant.gravity_field().gravity_vector()
    if not np.any(g):
        return np.array([0.0, 0.0, -1.0])
    k = int(np.abs(g).argmax())
    return np.sign(g[k]) * np.eye(3)[k]


def _placed(piece, X_WB):
    R = X_WB.rotation().matrix()
    return Piece(piece.link, piece.points @ R.T + X_WB.translation(), piece.rounding, piece.axes @ R.T)


def _axes_of_inertia(M, X_WB):
    moments = M.get_unit_inertia().ShiftToCenterOfMass(M.get_com()).CopyToFullMatrix3()
    return np.linalg.eigh(moments)[1].T @ X_WB.rotation().matrix().T


def _span(placed, axes):
    """Smallest and largest half extent of pieces along axes (n, 3)."""
    along = np.array([(piece.points @ axes.T).max(axis=0) + piece.rounding for piece in placed])
    against = np.array([(-piece.points @ axes.T).max(axis=0) + piece.rounding for piece in placed])
    extents = 0.5 * (along.max(axis=0) + against.max(axis=0))
    return float(extents.min()), float(extents.max())


def _across(down):
    """The two axes of World across one of them."""
    return [axis for axis in np.eye(3) if abs(axis @ down) < 0.5]


def _extent(placed, axes, center):
    along = [piece.points @ axes.T for piece in placed]
    lower = np.min([p.min(axis=0) - piece.rounding for p, piece in zip(along, placed, strict=True)], axis=0)
    upper = np.max([p.max(axis=0) + piece.rounding for p, piece in zip(along, placed, strict=True)], axis=0)
    return Extent(lower, upper, float(axes[2] @ center))


def _base(placed, center, down):
    """The Base of what is lowest."""
    reach = [piece.points @ down + piece.rounding for piece in placed]
    lowest, highest = (
        max(r.max() for r in reach),
        min(r.min() - 2.0 * p.rounding for r, p in zip(reach, placed, strict=True)),
    )
    height = lowest - center @ down
    across = _across(down)
    touching, axes = {}, []
    for piece, r in zip(placed, reach, strict=True):
        near = r >= lowest - LEVEL * (lowest - highest)
        if near.any():
            touching.setdefault(piece.link, []).append(piece.points[near] @ np.transpose(across))
            axes.append(piece.axes @ np.transpose(across))
    if height <= 0.0:
        return None  # it hangs in what it touches, or rolls back by itself
    axes = np.vstack(axes)
    whole = _half_width(np.vstack([row for rows in touching.values() for row in rows]), axes)
    if whole < NARROWEST * height:
        return None
    feet = [_half_width(np.vstack(rows), axes) for rows in touching.values()]
    solids = sum(len(own) for own in touching.values())
    return Base(whole, height, min((b for b in feet if b >= NARROWEST * height), default=None), solids)


def _half_width(points, axes):
    """Half of the least width of points (n, 2), over headings and axes (m, 2)."""
    if len(points) < 3:
        return 0.0
    size = np.linalg.norm(axes, axis=1)
    axes = axes[size > 0.5] / size[size > 0.5, None]
    directions = np.vstack([np.transpose([np.cos(HEADINGS), np.sin(HEADINGS)]), axes])
    along = points @ directions.T
    return 0.5 * float((along.max(axis=0) - along.min(axis=0)).min())


def _box(size, hull):
    return np.array(np.meshgrid(*((-x, x) for x in size))).reshape(3, -1).T


def _cylinder(size, hull):
    rim = np.transpose([size[0] * np.cos(RIM), size[1] * np.sin(RIM)])
    return np.vstack([np.column_stack([rim, np.full(len(rim), z)]) for z in (-size[2], size[2])])


_POINTS = {
    kinds.BALL: lambda size, hull: np.zeros((1, 3)),
    kinds.CAPSULE: lambda size, hull: np.array([[0.0, 0.0, -size[2]], [0.0, 0.0, size[2]]]),
    kinds.BOX: _box,
    kinds.CYLINDER: _cylinder,
    kinds.ELLIPSOID: lambda size, hull: np.vstack([np.diag(size), -np.diag(size)]),
    kinds.CONVEX: lambda size, hull: np.asarray(hull.vertices),
}
