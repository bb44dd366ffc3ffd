"""Where elastic bodies touch solids and each other, as rows of the contact problem.

The surface of a body is sampled: at its vertices, each of which stands for a third of the triangles about it, and
finer against solids that are small beside a triangle. Pressure is kappa times the depth of a sample. kappa = 100 E / l
with Young's modulus E and l the cube root of the body's volume: a body that rests sinks by about a fiftieth of what it
is compressed by. Against a solid that is thinner than that, l is its thickness, so that a body that comes with the
speed v sinks by about v/(100 c) of it, with c the speed of sound in the body. Two elastic bodies give way in series;
each is sampled on the other, and each side has half of the pressure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mbcli.engine.fields.collision_fields import BOX, CONVEX, GRAIN_COEFFICIENT_ALONG, HALF_SPACE, HEIGHT_FIELD
from mbcli.engine.fields.contact_fields import (
    COUPLING_DISSIPATION,
    COUPLING_DISTANCE,
    COUPLING_ERROR,
    COUPLING_FRICTION,
    COUPLING_LAW_NUMBERS,
    COUPLING_NORMAL,
    COUPLING_NUMBERS,
    COUPLING_POINT,
    COUPLING_RELAXATION,
    COUPLING_STIFFNESS,
)

# columns of weights of samples, and of the places that surface_samples.py finds
SAMPLE_AREA = 3
TOUCH_NORMAL, TOUCH_POINT, TOUCH_DISTANCE, TOUCH_WEIGHTS, TOUCH_NUMBERS = 0, 3, 6, 7, 10
STIFFNESS_RATIO = 100.0  # kappa l / E
LOOK_AHEAD = 1.5  # steps in which a sample may come to touch
MOST_SOLIDS = 1 << 19  # of one plant
FINEST = 6  # parts of an edge between samples
FINE_ENOUGH = 2.5  # edges of triangles that a solid is wide, from which on vertices are samples enough


def boundary_triangles(points, tets):
    """(t, 3) triangles that belong to one tetrahedron only, counterclockwise seen from outside."""
    faces = np.concatenate([tets[:, [1, 2, 3]], tets[:, [0, 2, 3]], tets[:, [0, 1, 3]], tets[:, [0, 1, 2]]])
    opposite = np.concatenate([tets[:, k] for k in range(4)])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    outer = np.sort(first[count == 1])
    faces, opposite = faces[outer], opposite[outer]
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), points[opposite] - a) > 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return np.ascontiguousarray(faces)


class Surface:
    """The surface of an elastic body and its samples.

    Args:
        points (n, 3), tets (m, 4): the reference mesh.
        youngs_modulus [Pa]; material: dissipation [s/m], relaxation time [s], friction.
    """

    def __init__(self, points, tets, youngs_modulus, volume, material):
        self.triangles = boundary_triangles(points, tets)
        a, b, c = (points[self.triangles[:, k]] for k in range(3))
        self.areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        self.edge = float(np.mean([np.linalg.norm(d, axis=1).mean() for d in (b - a, c - b, a - c)]))
        self._size = volume ** (1.0 / 3.0)
        self.kappa = STIFFNESS_RATIO * youngs_modulus / self._size
        self.dissipation, self.relaxation, self.friction = material
        self._samples: dict[int, Any] = {}

    def kappa_against(self, thickness):
        """kappa against a solid of some least width [m]."""
        return self.kappa * max(1.0, self._size / thickness)

    def samples(self, parts):
        """(vertices (s, 3), weights of these and area (s, 4)); parts: of an edge, 1 for samples at the vertices."""
        if parts not in self._samples:
            self._samples[parts] = self._at_vertices() if parts == 1 else self._inside(parts)
        return self._samples[parts]

    def parts_for(self, width):
        """How finely a solid of some width [m] asks for samples."""
        if width >= FINE_ENOUGH * self.edge:
            return 1
        return int(np.clip(np.ceil(FINE_ENOUGH * self.edge / width), 2, FINEST))

    def _at_vertices(self):
        area = np.bincount(self.triangles.ravel(), np.repeat(self.areas / 3.0, 3))
        vertices = np.flatnonzero(area > 0.0)
        weights = np.zeros((len(vertices), 4))
        weights[:, 0], weights[:, SAMPLE_AREA] = 1.0, area[vertices]
        return np.ascontiguousarray(np.repeat(vertices[:, None], 3, axis=1)), weights

    def _inside(self, parts):
        """The middles of parts^2 triangles that each triangle is cut into."""
        middles = []
        for i in range(parts):
            for j in range(parts - i):
                middles.append((i + 1 / 3, j + 1 / 3))
                if i + j < parts - 1:
                    middles.append((i + 2 / 3, j + 2 / 3))
        u, v = np.array(middles).T / parts
        inner = np.stack([1.0 - u - v, u, v, np.full(len(u), 1.0 / parts**2)], axis=1)
        weights = np.tile(inner, (len(self.triangles), 1))
        weights[:, SAMPLE_AREA] *= np.repeat(self.areas, len(inner))
        return np.ascontiguousarray(np.repeat(self.triangles, len(inner), axis=0)), weights


@dataclass
class Rows:
    """Rows of the contact problem, c of them: contacts, and vertices that are fixed.

    body (c, 2): elastic bodies A and B, -1 for none; sample (c,): of A, -1 for fixed vertices; vertices, weights
    (c, 6): of A, then of B; rigid (c,): body of the engine, -1 for none; solid (c,): its solid, -1 for fixed vertices;
    link (c,): of these, the body of the plant; places, laws: columns COUPLING_...; area (c,) [m^2].
    """

    body: np.ndarray
    sample: np.ndarray
    vertices: np.ndarray
    weights: np.ndarray
    rigid: np.ndarray
    solid: np.ndarray
    link: np.ndarray
    places: np.ndarray
    laws: np.ndarray
    area: np.ndarray

    def __len__(self):
        return len(self.rigid)

    @classmethod
    def empty(cls, count):
        return cls(
            np.full((count, 2), -1),
            np.full(count, -1),
            np.full((count, 6), -1),
            np.zeros((count, 6)),
            np.full(count, -1),
            np.full(count, -1),
            np.full(count, -1),
            np.zeros((count, COUPLING_NUMBERS)),
            np.zeros((count, COUPLING_LAW_NUMBERS)),
            np.zeros(count),
        )

    @classmethod
    def join(cls, parts):
        parts = [*parts, cls.empty(0)]
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in cls.__dataclass_fields__))

    def without(self, others):
        """Those whose sample is not on the same solid or body in other Rows."""
        return self.only(~np.isin(self.keys(), others.keys()))

    def only(self, chosen):
        """Those of a mask."""
        return Rows(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def keys(self):
        other = np.where(self.solid >= 0, self.solid, MOST_SOLIDS + self.body[:, 1])
        return (self.body[:, 0] << 48) + (other << 28) + self.sample


class ElasticContacts:
    """The search for contacts of elastic bodies.

    Args:
        kernels: of the engine; surfaces: Surface of each body.
        collision: the arrays of the rigid solids; allowed (bodies, solids): whether they may touch; between (bodies,
            bodies): the same of elastic bodies.
    """

    def __init__(self, kernels, surfaces, collision, collision_handle, allowed, between):
        self.kernels, self.surfaces = kernels, surfaces
        self.collision, self._handle = collision, collision_handle
        self.allowed, self.between = allowed & (collision.kind != HEIGHT_FIELD), between
        most = max((len(s.triangles) for s in surfaces), default=0)
        self._room(most + 16)

    def _room(self, count):
        self._found, self._places = np.zeros((count, 2), dtype=np.int64), np.zeros((count, TOUCH_NUMBERS))

    def _need(self, count):
        if count > len(self._found):
            self._room(2 * count)

    def with_solids(self, a, x, v, h, gap, twist_of):
        """Rows of body a at positions x (n, 3) and expected velocities v with the solids, which have been placed.

        gap [m]: least distance that counts. twist_of(body): 9 numbers, w and v of a body about a point, and that point.
        """
        surface, c, rows = self.surfaces[a], self.collision, []
        fastest = np.sqrt(np.einsum("ij,ij->i", v, v).max())
        columns = np.ascontiguousarray(x.T)  # whose least is found much sooner
        low, high = columns.min(axis=1), columns.max(axis=1)
        for B in np.flatnonzero(self.allowed[a]):
            twist = twist_of(int(c.body[B]))
            radius, width = float(c.radius[B]), self._width(B)
            speed = fastest + np.linalg.norm(twist[3:6])
            if c.kind[B] != HALF_SPACE:
                speed += np.linalg.norm(twist[:3]) * (radius + np.linalg.norm(c.p_WC[B] - twist[6:]))
                beside = np.maximum(0.0, np.maximum(low - c.p_WC[B], c.p_WC[B] - high))
                if np.linalg.norm(beside) > radius + gap + LOOK_AHEAD * h * speed:
                    continue
            samples, weights = surface.samples(surface.parts_for(width))
            self._need(len(samples))
            motion = np.array([LOOK_AHEAD * h, gap, *twist])
            count = self.kernels.samples_in_solid(
                self._handle, int(B), x, v, samples, weights, motion, self._found, self._places
            )
            if count:
                rows.append(self._rows_with_solid(a, int(B), samples, weights, count))
        return rows

    def _width(self, B):
        """How wide a solid is for samples [m]: the second width of a flat one, the least radius of a round one."""
        c = self.collision
        if c.kind[B] == HALF_SPACE:
            return np.inf
        if c.kind[B] in (BOX, CONVEX):
            return 2.0 * float(np.sort(c.extent[B])[1])
        return float(c.extent[B].min())

    def _thickness(self, B):
        """The least width of a solid [m]."""
        c = self.collision
        return np.inf if c.kind[B] == HALF_SPACE else 2.0 * float(c.extent[B].min())

    def _rows_with_solid(self, a, B, samples, weights, count):
        surface, c = self.surfaces[a], self.collision
        rows, found, places = Rows.empty(count), self._found[:count, 0], self._places[:count]
        rows.body[:, 0], rows.sample[:], rows.rigid[:], rows.solid[:] = a, found, c.body[B], B
        rows.vertices[:, :3], rows.weights[:, :3] = samples[found], weights[found, :3]
        _, dissipation, relaxation, friction, _ = c.material[B]
        if c.grain_body[B] >= 0:  # as compile_collision.py says
            friction = min(c.grain[B, GRAIN_COEFFICIENT_ALONG:])
        self._place(rows, places, weights[found, SAMPLE_AREA])
        rows.laws[:, COUPLING_STIFFNESS] = surface.kappa_against(self._thickness(B)) * rows.area
        rows.laws[:, COUPLING_DISSIPATION] = 0.5 * (surface.dissipation + dissipation)
        rows.laws[:, COUPLING_RELAXATION] = surface.relaxation + relaxation
        rows.laws[:, COUPLING_FRICTION] = _combined(surface.friction, friction)
        return rows

    def between_bodies(self, a, b, positions, velocities, h, gap):
        """Rows of the samples of body a on body b; positions, velocities (n, 3): of both, first of a.

        gap [m]: least distance that counts.
        """
        A, B = self.surfaces[a], self.surfaces[b]
        x, y = positions
        common = 0.5 * (velocities[0].mean(axis=0) + velocities[1].mean(axis=0))
        margin = gap + LOOK_AHEAD * h * sum(np.sqrt(((v - common) ** 2).sum(axis=1).max()) for v in velocities)
        corners = y[B.triangles]
        boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        reach = margin + B.edge
        low, high = boxes[:, :3].min(axis=0) - margin, boxes[:, 3:].max(axis=0) + margin
        samples, weights = A.samples(A.parts_for(FINE_ENOUGH * B.edge))
        at = np.einsum("sk,ski->si", weights[:, :3], x[samples])
        near = np.flatnonzero(((at >= low) & (at <= high)).all(axis=1))
        if not len(near):
            return []
        samples, weights = np.ascontiguousarray(samples[near]), np.ascontiguousarray(weights[near])
        first, last = at[near].min(axis=0) - reach, at[near].max(axis=0) + reach
        touched = np.flatnonzero(((boxes[:, :3] <= last) & (boxes[:, 3:] >= first)).all(axis=1))
        if not len(touched):
            return []
        self._need(len(samples))
        triangles = np.ascontiguousarray(B.triangles[touched])
        boxes = np.ascontiguousarray(boxes[touched])
        count = self.kernels.samples_in_surface(
            x, samples, weights, y, triangles, boxes, reach, margin, self._found, self._places
        )
        if not count:
            return []
        rows, found, places = Rows.empty(count), self._found[:count, 0], self._places[:count]
        rows.body[:, 0], rows.body[:, 1], rows.sample[:] = a, b, near[found]
        rows.vertices[:, :3], rows.weights[:, :3] = samples[found], weights[found, :3]
        rows.vertices[:, 3:] = triangles[self._found[:count, 1]]
        rows.weights[:, 3:] = places[:, TOUCH_WEIGHTS : TOUCH_WEIGHTS + 3]
        self._place(rows, places, weights[found, SAMPLE_AREA])
        kappa = A.kappa * B.kappa / (A.kappa + B.kappa)
        rows.laws[:, COUPLING_STIFFNESS] = 0.5 * kappa * rows.area
        rows.laws[:, COUPLING_DISSIPATION] = 0.5 * (A.dissipation + B.dissipation)
        rows.laws[:, COUPLING_RELAXATION] = A.relaxation + B.relaxation
        rows.laws[:, COUPLING_FRICTION] = _combined(A.friction, B.friction)
        closing = np.einsum("ci,ci->c", _mean(velocities[0], rows, 0), places[:, TOUCH_NORMAL : TOUCH_NORMAL + 3])
        closing -= np.einsum("ci,ci->c", _mean(velocities[1], rows, 3), places[:, TOUCH_NORMAL : TOUCH_NORMAL + 3])
        distance = places[:, TOUCH_DISTANCE]
        return [rows.only((distance < gap) | (distance + LOOK_AHEAD * h * closing < 0.0))]

    @staticmethod
    def _place(rows, places, area):
        rows.places[:, COUPLING_NORMAL : COUPLING_NORMAL + 3] = places[:, TOUCH_NORMAL : TOUCH_NORMAL + 3]
        rows.places[:, COUPLING_POINT : COUPLING_POINT + 3] = places[:, TOUCH_POINT : TOUCH_POINT + 3]
        rows.laws[:, COUPLING_DISTANCE] = places[:, TOUCH_DISTANCE]
        rows.area[:] = area


def row_axes(rows):
    """(c, 3, 3): the axes of each row in W: two tangents and the normal, as tangent_of(), those of W if fixed."""
    normal = rows.places[:, COUPLING_NORMAL : COUPLING_NORMAL + 3]
    c, n = np.arange(len(rows)), np.abs(normal).argmin(axis=1)
    i, j = n - 2, n - 1  # the axes that follow n, counted from the end
    along, size = normal[c, n], np.hypot(normal[c, i], normal[c, j])
    size[size == 0.0] = 1.0  # of fixed vertices
    axes = np.zeros((len(rows), 3, 3))
    axes[c, 0, i], axes[c, 0, j] = normal[c, j] / size, -normal[c, i] / size
    axes[c, 1, i], axes[c, 1, j] = normal[c, i] * along / size, normal[c, j] * along / size
    axes[c, 1, n], axes[:, 2] = -size, normal
    axes[rows.laws[:, COUPLING_STIFFNESS] == 0.0] = np.eye(3)
    return axes


def fixed_rows(a, vertices, x, rigid, link, p_WQ):
    """Rows that hold vertices of body a, at x, at the points p_WQ (k, 3) of a rigid body, which is a link of it."""
    rows = Rows.empty(len(vertices))
    rows.body[:, 0], rows.rigid[:], rows.link[:] = a, rigid, link
    rows.vertices[:, 0], rows.weights[:, 0] = vertices, 1.0
    rows.places[:, COUPLING_POINT : COUPLING_POINT + 3] = x[vertices]
    rows.places[:, COUPLING_ERROR : COUPLING_ERROR + 3] = x[vertices] - p_WQ
    return rows


def _mean(values, rows, first):
    """(c, 3) values of vertices at the samples on side A, or at their places on side B: first column 0 or 3."""
    columns = slice(first, first + 3)
    return np.einsum("ck,cki->ci", rows.weights[:, columns], values[rows.vertices[:, columns]])


def _combined(a, b):
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


@dataclass(frozen=True)
class TouchingPair:
    """A pair that touches: GeometryId of the elastic body A and of B, the vertices of A (n, 3) [m] in W, triangles
    (t, 3) of its surface that touch, and the forces (c, 3) [N] on A at points (c, 3) [m].
    """

    id_A: Any
    id_B: Any
    vertices: np.ndarray
    triangles: np.ndarray
    points: np.ndarray
    forces: np.ndarray


def touching_triangles(surface, vertices, weights):
    """(t, 3) triangles of a surface that touch: whose samples do, or all three vertices; else those at a vertex.

    vertices, weights (c, 3): of the samples that touch.
    """
    whole = (weights != 0.0).all(axis=1)
    count = 1 + int(surface.triangles.max())
    keys = np.sort(surface.triangles, axis=1) @ [count * count, count, 1]
    inside = np.isin(keys, np.sort(vertices[whole], axis=1) @ [count * count, count, 1])
    alone = vertices[~whole][weights[~whole] != 0.0]
    corners = np.isin(surface.triangles, alone)
    touched = inside | corners.all(axis=1)
    return surface.triangles[touched if touched.any() else corners.any(axis=1)]
