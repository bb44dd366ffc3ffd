"""The scene description: everything that a picture of a model or of a run needs, as plain numbers and names.

The browser page, HTML files, images and exports are readers of it. A pose is a row (7,): the quaternion w, x, y, z of
R_AB, then p_AoBo_A [m]. Bodies have numbers; World is body 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mbcli.math.rotation_array import matrix_from_quaternion, quaternions_from_matrices

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray
    from mbcli.math.rigid_transform import RigidTransform

IDENTITY = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

# The names of the measures of each kind of shape, in the order of PictureShape.size; meshes have none.
MEASURES = {
    "box": ("width", "depth", "height"),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "ellipsoid": ("a", "b", "c"),
    "half_space": (),
    "mesh": (),
}


@dataclass(frozen=True)
class PictureMesh:
    """Triangles of a surface.

    Attributes:
        vertices: (n, 3) [m]
        triangles: (m, 3) indices of vertices, counterclockwise seen from outside.
    """

    vertices: FloatArray
    triangles: IntArray


@dataclass(frozen=True)
class PictureBody:
    """A body: its name, mass [kg], centre of mass p_BoBcm_B (3,) [m], and its inertia as an ellipsoid.

    Attributes:
        ellipsoid: semi-axes (3,) [m] of the solid ellipsoid of even density that has its mass and inertia; None if it
            has no mass.
        X_BE: pose (7,) of that ellipsoid.
    """

    name: str
    mass: float = 0.0
    com: tuple[float, ...] = (0.0, 0.0, 0.0)
    ellipsoid: tuple[float, ...] | None = None
    X_BE: tuple[float, ...] = IDENTITY


@dataclass(frozen=True)
class PictureShape:
    """A geometry on a body.

    Attributes:
        role: "visual" or "collision".
        kind: a key of MEASURES.
        size: the measures of the kind [m].
        mesh: key in Scene.meshes of a mesh.
        color: RGBA from 0 to 1; None if the file gives none.
        vertex_start: of a deformable body, whose mesh has places in World: its first one in Motion.vertices; else None.
    """

    name: str
    body: int
    role: str
    kind: str
    X_BG: tuple[float, ...]
    size: tuple[float, ...] = ()
    mesh: str | None = None
    color: tuple[float, ...] | None = None
    vertex_start: int | None = None


@dataclass(frozen=True)
class PictureFrame:
    """A frame that a file names, fixed to a body."""

    name: str
    body: int
    X_BF: tuple[float, ...]


@dataclass(frozen=True)
class PictureJoint:
    """A joint: its frames F on the parent body and M on the child body C, and its axis in F if it has one.

    Attributes:
        start, count: its positions among those of the model.
        closes_loop: whether it is cut and held together by a constraint; it has no positions then.
    """

    name: str
    type: str
    parent: int
    child: int
    X_PF: tuple[float, ...]
    axis: tuple[float, ...] | None
    start: int
    count: int
    closes_loop: bool = False
    X_CM: tuple[float, ...] = IDENTITY


@dataclass(frozen=True)
class PictureCoordinate:
    """A position: its name, the joint's number, unit ("rad", "m", or "1" of a quaternion), and limits (None: none)."""

    name: str
    joint: int
    unit: str
    lower: float | None
    upper: float | None
    default: float


@dataclass(frozen=True)
class Scene:
    """A model as it is drawn.

    Attributes:
        X_WB: (nbody, 7) poses of the bodies to begin with.
        q: (nq,) the positions at these poses.
        postures: {name: q (nq,)} of the files.
        meshes: {key: PictureMesh}
        weight: [N] of all bodies that move, 0 without gravity: contact forces are drawn in proportion to it.
        notes: sentences on what could not be drawn.
    """

    name: str
    bodies: list[PictureBody]
    X_WB: FloatArray
    shapes: list[PictureShape] = field(default_factory=list)
    frames: list[PictureFrame] = field(default_factory=list)
    joints: list[PictureJoint] = field(default_factory=list)
    coordinates: list[PictureCoordinate] = field(default_factory=list)
    q: FloatArray = field(default_factory=lambda: np.zeros(0))
    postures: dict[str, FloatArray] = field(default_factory=dict)
    meshes: dict[str, PictureMesh] = field(default_factory=dict)
    weight: float = 0.0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ContactPoints:
    """Points of contact over time: those of row i are rows offset[i] to offset[i + 1].

    Attributes:
        offset: (n + 1,)
        point: (k, 3) [m] in World.
        force: (k, 3) [N] in World, as drawn_forces() has it.
        body_a, body_b: (k,) numbers of bodies.
    """

    offset: IntArray
    point: FloatArray
    force: FloatArray
    body_a: IntArray
    body_b: IntArray


@dataclass(frozen=True)
class ContactSurfaces:
    """Triangles of contact surfaces over time: those of row i are rows offset[i] to offset[i + 1].

    Attributes:
        offset: (n + 1,)
        vertices: (k, 3, 3) [m] of the corners of each triangle, in World.
        values: (k, 3) of each corner: the pressure [Pa].
    """

    offset: IntArray
    vertices: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class Motion:
    """A scene over time.

    Attributes:
        name: of the run.
        times: (n,) [s]
        X_WB: (n, nbody, 7)
        contacts: ContactPoints, None if they are not known.
        surfaces: ContactSurfaces, None if there are none.
        vertices: (n, k, 3) [m] in World of all vertices of deformable bodies, None if there are none.
    """

    name: str
    times: FloatArray
    X_WB: FloatArray
    contacts: ContactPoints | None = None
    surfaces: ContactSurfaces | None = None
    vertices: FloatArray | None = None

    def rows(self, chosen: IntArray) -> Motion:
        """The motion at some of its rows (m,), in their order."""
        contacts, surfaces = self.contacts, self.surfaces
        if contacts is not None:
            offset, kept = _chosen(contacts.offset, chosen)
            parts = (getattr(contacts, name)[kept] for name in ("point", "force", "body_a", "body_b"))
            contacts = ContactPoints(offset, *parts)
        if surfaces is not None:
            offset, kept = _chosen(surfaces.offset, chosen)
            surfaces = ContactSurfaces(offset, surfaces.vertices[kept], surfaces.values[kept])
        vertices = None if self.vertices is None else self.vertices[chosen]
        return Motion(self.name, self.times[chosen], self.X_WB[chosen], contacts, surfaces, vertices)

    def rows_at_rate(self, rate: float) -> IntArray:
        """The rows nearest to samples at a rate [Hz], the first and the last among them; all if there are fewer."""
        times = self.times
        if len(times) < 2 or not rate:
            return np.arange(len(times))
        duration = times[-1] - times[0]
        wanted = times[0] + np.arange(int(duration * rate + 0.5) + 1) / rate
        if len(wanted) >= len(times):
            return np.arange(len(times))
        after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
        nearest = np.where(wanted - times[after - 1] < times[after] - wanted, after - 1, after)
        return np.unique([*nearest, 0, len(times) - 1])

    def at_rate(self, rate: float) -> Motion:
        """The motion at rows_at_rate()."""
        rows = self.rows_at_rate(rate)
        return self if len(rows) == len(self.times) else self.rows(rows)

    def drawn_rows(self, times: FloatArray) -> IntArray:
        """The rows at or before times (m,) [s], from which contacts are drawn; the first one before it."""
        return np.clip(np.searchsorted(self.times, times + 1e-9, side="right") - 1, 0, len(self.times) - 1)


def moving_bodies(scene: Scene) -> BoolArray:
    """Which bodies move (nbody,): those that no chain of joints without positions holds to World."""
    welds = [(joint.parent, joint.child) for joint in scene.joints if not joint.count and not joint.closes_loop]
    moves = np.ones(len(scene.bodies), dtype=bool)
    held = [0]
    while held:
        body = held.pop()
        moves[body] = False
        held += [other for pair in welds if body in pair for other in pair if moves[other]]
    return moves


def drawn_forces(moves: BoolArray, body_a: IntArray, body_b: IntArray, force_b: FloatArray) -> FloatArray:
    """The forces (k, 3) [N] that pictures show of contacts with forces (k, 3) on B.

    They act on the body that moves; where both move, or none, on the one with the higher number, which a model names
    later. moves (nbody,) as moving_bodies() has it; body_a, body_b (k,) numbers of bodies.
    """
    on_a = np.where(moves[body_a] == moves[body_b], body_a > body_b, moves[body_a])
    return np.where(on_a[:, None], -force_b, force_b)


def arrow_length(force: FloatArray, reference: float) -> FloatArray:
    """How long the arrows of forces (...) [N] are, 1 for the reference [N]; longer ones grow by their logarithm."""
    ratio = np.asarray(force, dtype=float) / reference
    return np.where(ratio <= 1.0, ratio, 1.0 + 0.25 * np.log(np.maximum(ratio, 1.0)))


def _chosen(offset: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """The offsets of the chosen rows, and the entries that they have."""
    counts = np.diff(offset)[chosen]
    new = np.concatenate([[0], np.cumsum(counts)])
    kept = np.repeat(offset[:-1][chosen] - new[:-1], counts) + np.arange(new[-1])
    return new, kept


def pose_row(X: RigidTransform) -> tuple[float, ...]:
    """The pose (7,) of a RigidTransform."""
    quaternion = quaternions_from_matrices(X.rotation().matrix())
    return (*quaternion.tolist(), *X.translation().tolist())


def composed(X_AB: FloatArray, X_BC: FloatArray) -> FloatArray:
    """X_AC (..., 7) of poses X_AB (..., 7) and one X_BC (7,)."""
    X_AB = np.asarray(X_AB, dtype=float)
    w, v = X_AB[..., :1], X_AB[..., 1:4]
    s, u = float(X_BC[0]), np.asarray(X_BC[1:4], dtype=float)
    scalar = w * s - (v @ u)[..., None]
    vector = w * u + s * v + np.cross(v, u)
    return np.concatenate([scalar, vector, moved(X_AB, X_BC[4:])], axis=-1)


def moved(X_AB: FloatArray, p_B: FloatArray) -> FloatArray:
    """Points p_A (..., 3) of poses X_AB (..., 7) and a point p_B (3,) [m]."""
    w, v, p = X_AB[..., :1], X_AB[..., 1:4], np.asarray(p_B, dtype=float)
    t = 2.0 * np.cross(v, p)
    return X_AB[..., 4:] + p + w * t + np.cross(v, t)


def matrix4(X: FloatArray) -> FloatArray:
    """The matrix (4, 4) of a pose (7,)."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = matrix_from_quaternion(np.asarray(X[:4], dtype=float)), X[4:]
    return result
