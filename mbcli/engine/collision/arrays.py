"""The arrays of the solids of one plant, and the work space of one search for contact, as an object kernels take."""

from dataclasses import dataclass, fields as dataclass_fields, replace
from types import SimpleNamespace

import numpy as np

from mbcli.engine.collision.field_meshes import FieldMeshes, join_meshes
from mbcli.engine.fields.collision_fields import (
    BALL,
    BOX,
    CAPSULE,
    COLLISION_AT_AHEAD,
    COLLISION_AT_CONVEX,
    COLLISION_AT_HEIGHTS,
    COLLISION_AT_POINTS,
    COLLISION_AT_SELF,
    COLLISION_AT_TOUCHING,
    COLLISION_BOUNCES,
    COLLISION_FACES,
    COLLISION_FIELDS,
    COLLISION_MARGIN,
    COLLISION_NEEDED,
    COLLISION_REACH,
    COLLISION_SINGLE_POINTS,
    COLLISION_SKIN,
    COLLISION_STRICT,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHT_FIELD,
    MESH_NONE,
    NO_FIELD,
    WORD,
)
from mbcli.engine.fields.model_fields import shape_of
from mbcli.engine.runtime.addresses import address_of_function, is_at_hand
from mbcli.engine.runtime.model import Arrays

LEVEL_RATIO = 4.0  # of the largest radii of levels of sizes, at least
FEW = 32  # solids of a level that share one cell
SKIN_SHARE = 0.2  # of the median radius
INFINITE_RADIUS = 1e300
NO_GRAIN = (-1, 0.0, 0.0, 0.0, 0.0, 0.0)  # friction is the same in all directions
AS_THE_OTHER = -1.0  # in place of a restitution: that of what the solid touches
CANDIDATES = 64  # on height fields that there is room for, at first
KEPT_ELEMENTS = 4096  # pairs of elements of meshes that there is room for, at least
AT_NEED = {  # what not every run needs: pairs whose distance has no closed form, and what is fast or bounces
    COLLISION_AT_CONVEX: "convex_nearest_called",
    COLLISION_AT_HEIGHTS: "height_field_nearest_called",
    COLLISION_AT_AHEAD: "meet_ahead_called",
}
SHARED = {field.name for field in dataclass_fields(FieldMeshes)} | {"heights"}  # that nothing writes, often large

PRISM = SimpleNamespace(  # of a height field, as a Hull of mbcli.meshes, see height_prisms.py
    vertices=np.zeros((6, 3)),
    edge_start=np.arange(0, 19, 3),
    edges=np.array([1, 2, 3, 0, 2, 4, 0, 1, 5, 0, 4, 5, 1, 3, 5, 2, 3, 4]),
    face_normal=np.zeros((5, 3)),
    corner_start=np.array([0, 3, 6, 10, 14, 18]),
    corners=np.array([0, 1, 2, 3, 5, 4, 4, 5, 2, 1, 5, 3, 0, 2, 3, 4, 1, 0]),
)


@dataclass(frozen=True)
class Solid:
    """The engine's view of one geometry.

    size: as in COLLISION_FIELDS. material: stiffness, dissipation, relaxation time, dynamic, static friction.
    filter_row: solids of one row have the same filters. hull: Hull of a CONVEX solid. heights: (rows, columns) of a
    height field. cover, mixing: as in COLLISION_FIELDS. field_kind, mesh_of, compliance: of contact surfaces, as there.
    """

    kind: int
    body: int
    X_BG: np.ndarray  # (12,)
    size: tuple = (0.0, 0.0, 0.0)
    rounding: float = 0.0
    material: tuple = (1.0, 0.0, 0.0, 0.0, 0.0)
    filter_row: int = 0
    hull: object = None
    cover: float = 0.0
    mixing: tuple = (0, 0, 0)
    field_kind: int = NO_FIELD
    mesh_of: int = MESH_NONE
    compliance: tuple = (np.inf, 0.0)
    reach: float = 0.0  # [m] how far its mesh goes beyond the solid at most
    torsional: tuple = (0.0, 0.0)  # [m] torsional and rolling friction
    bounce: tuple = (AS_THE_OTHER, 0.0)  # restitution, threshold [m/s]
    soft: tuple | None = None  # columns SOFT_..., under the law mujoco
    grain: tuple = NO_GRAIN  # body, direction in it (3), friction along and across it
    link: int = -1
    heights: np.ndarray | None = None

    def with_body(self, body):
        return replace(self, body=body)


class Collision(Arrays):
    """Solids of one model, and room to search for contact among them.

    Args:
        solids: list of Solid.
        filters: bits of the rows of filters, as `filter_words` makes them.
        margin: [m] distance below which solids give contact points; 0: if they overlap.
        single_points: whether each pair gives one point, also of a face on a face.
        pairs: how many pairs of near solids there is room for.
        candidates: how many points where a solid may touch a height field there is room for.
        own_laws: {(solid, solid): (friction, static friction, cover, torsional, rolling friction, friction across)} of
            pairs with a law of their own; the smaller solid first.
        meshes: FieldMeshes of the solids.
        faces: FACES_...
        strict: whether solids that overlap without a contact surface are a fault.
    """

    fields = COLLISION_FIELDS

    def __init__(
        self,
        solids,
        filters,
        margin=0.0,
        single_points=False,
        pairs=None,
        candidates=CANDIDATES,
        own_laws=None,
        meshes=None,
        faces=0,
        strict=False,
    ):
        meshes = join_meshes([]) if meshes is None else meshes
        values = _arrays_of(solids, filters) | vars(meshes)
        radii = values["radius"][values["rounds"]]
        ordered = np.sort(radii)  # np.median would import numpy.ma
        skin = SKIN_SHARE * float(ordered[(len(radii) - 1) // 2] + ordered[len(radii) // 2]) / 2 if len(radii) else 0.0
        own_laws = dict(sorted((own_laws or {}).items()))
        bounces = any(solid.bounce[0] > 0.0 for solid in solids)
        reach = margin + _largest_cover(solids, own_laws) + (2.0 * skin if bounces else 0.0)
        values["own_pairs"], values["own_laws"] = list(own_laws), [law[:6] for law in own_laws.values()]
        values["own_soft"] = [law[6:] for law in own_laws.values() if values["soft"]]
        values["settings"] = np.zeros(3)
        values["settings"][[COLLISION_MARGIN, COLLISION_SKIN, COLLISION_REACH]] = margin, skin, reach
        values["level"], values["level_cells"] = _levels(radii, reach + skin)
        n = len(solids)
        self.sizes = {
            "nsolid": n,
            "nsolid1": n + 1,
            "nround": len(radii),
            "nplane": len(values["planes"]),
            "nvertex": len(values["vertices"]),
            "nvertex1": len(values["vertices"]) + 1,
            "nedge": len(values["edges"]),
            "nface": len(values["face_normal"]),
            "nface1": len(values["face_normal"]) + 1,
            "ncorner": len(values["corners"]),
            "nfilter": len(filters),
            "nword": values["filters"].shape[1],
            "nown": len(own_laws),
            "nsoft": len(values["soft"]),
            "nownsoft": len(own_laws) if values["soft"] else 0,
            "ngrained": len(values["grained"]),
            "nmesh": len(meshes.mesh_root),
            "nnode": len(meshes.node_box),
            "ntetrahedron": len(meshes.tetrahedra),
            "ntriangle": len(meshes.triangles),
            "nkept": KEPT_ELEMENTS + 8 * (len(meshes.tetrahedra) + len(meshes.triangles))
            if len(meshes.node_box)
            else 0,
            "nlevel": len(values["level_cells"]),
            "nheight": len(values["heights"]),
            "ncandidate": candidates if len(values["heights"]) else 0,
            "nhead": 1 << max(4, (2 * n - 1).bit_length()),
            "npair": 16 * n + n * len(values["planes"]) + 64 if pairs is None else pairs,
        }
        for field in COLLISION_FIELDS:
            kind = np.int64 if field.kind == "int" else np.float64
            shape = shape_of(field, self.sizes)
            value = values.get(field.name)
            copy = None if field.name in SHARED else True
            array = np.zeros(shape, kind) if value is None else np.array(value, kind, order="C", copy=copy)
            array = array.reshape(shape)
            setattr(self, field.name, array)
        self.counts[COLLISION_SINGLE_POINTS], self.counts[COLLISION_BOUNCES] = int(single_points), int(bounces)
        self.counts[COLLISION_FACES], self.counts[COLLISION_STRICT] = faces, int(strict)

    def ready_compiled_search(self, kernels, points):
        """Compiles or loads what a compiled search calls by address; points: the handle of the contact points."""
        self.addresses[COLLISION_AT_SELF], self.addresses[COLLISION_AT_POINTS] = self.handle(True), points
        self.addresses[COLLISION_AT_TOUCHING] = address_of_function(kernels.add_touching_points_called)
        for place, name in AT_NEED.items():
            if is_at_hand(getattr(kernels, name)):
                self.addresses[place] = address_of_function(getattr(kernels, name))

    def ready_what_is_needed(self, kernels):
        """Compiles or loads what a compiled search has asked for: it marks the address."""
        for place, name in AT_NEED.items():
            if self.addresses[place] == COLLISION_NEEDED:
                self.addresses[place] = address_of_function(getattr(kernels, name))


def _arrays_of(solids, filters):
    """The fields that follow from each solid by itself."""
    boxes = [_bounding_box(solid) for solid in solids]
    centers = np.reshape([(high + low) / 2 for low, high in boxes], (-1, 3))
    extents = np.reshape([(high - low) / 2 for low, high in boxes], (-1, 3))
    radii = np.array([_radius(solid, center) + solid.reach for solid, center in zip(solids, centers, strict=True)])
    extents += np.reshape([solid.reach for solid in solids], (-1, 1))
    is_plane = np.array([solid.kind == HALF_SPACE for solid in solids], dtype=bool)
    is_soft = np.array([solid.soft is not None and solid.mixing[0] == 1 for solid in solids], dtype=bool)
    rounds = np.flatnonzero(~is_plane)
    return {
        "kind": [solid.kind for solid in solids],
        "body": [solid.body for solid in solids],
        "link": [solid.link for solid in solids],
        "X_BG": [solid.X_BG for solid in solids],
        "size": [solid.size for solid in solids],
        "rounding": [solid.rounding for solid in solids],
        "material": [solid.material for solid in solids],
        "cover": [solid.cover for solid in solids],
        "mixing": [solid.mixing for solid in solids],
        "torsional": [solid.torsional for solid in solids],
        "grained": [k for k, solid in enumerate(solids) if solid.grain[0] >= 0],
        "grain_body": [solid.grain[0] for solid in solids],
        "grain": [solid.grain[1:] for solid in solids],
        "bounce": [solid.bounce for solid in solids],
        "soft": [solid.soft for solid in solids if solid.soft is not None],
        "thickness": np.where(is_plane | is_soft, np.inf, extents.min(axis=1, initial=np.inf)),
        "field_kind": [solid.field_kind for solid in solids],
        "mesh_of": [solid.mesh_of for solid in solids],
        "compliance": [solid.compliance for solid in solids],
        "filter_row": [solid.filter_row for solid in solids],
        "filters": filters,
        "center": centers,
        "extent": extents,
        "radius": radii,
        "planes": np.flatnonzero(is_plane),
        "rounds": rounds[np.argsort(-radii[rounds], kind="stable")],
        **_grid_arrays([solid.heights for solid in solids]),
        **_hull_arrays([PRISM if solid.kind == HEIGHT_FIELD else solid.hull for solid in solids]),
    }


def _grid_arrays(fields):
    """The heights of all height fields one after another; None for solids that are none."""
    there, grid = [], np.zeros((len(fields), 3), dtype=np.int64)
    for row, heights in zip(grid, fields, strict=True):
        if heights is not None:
            row[:] = *heights.shape, sum(len(before) for before in there)
            there.append(np.ravel(heights))
    return {"grid": grid, "heights": there[0] if len(there) == 1 else np.concatenate([np.zeros(0), *there])}


def _bounding_box(solid):
    if solid.kind == HEIGHT_FIELD:
        x, y, base = solid.size
        return np.array([-x, -y, -base]), np.array([x, y, solid.heights.max()])
    if solid.kind == CONVEX:
        return solid.hull.vertices.min(axis=0), solid.hull.vertices.max(axis=0)
    half = np.array(solid.size) + solid.rounding
    return -half, half


def _radius(solid, center):
    """Of a ball about the centre that has all of the solid in it."""
    a, b, h = solid.size
    return {
        BALL: lambda: solid.rounding,
        CAPSULE: lambda: h + solid.rounding,
        BOX: lambda: np.linalg.norm(solid.size),
        CYLINDER: lambda: np.hypot(a, h),
        ELLIPSOID: lambda: max(solid.size),
        CONVEX: lambda: np.linalg.norm(solid.hull.vertices - center, axis=1).max(),
        HEIGHT_FIELD: lambda: np.linalg.norm(_bounding_box(solid)[1] - center),
        HALF_SPACE: lambda: INFINITE_RADIUS,
    }[solid.kind]()


def _largest_cover(solids, own_laws):
    """How far apart two of the solids may touch at most."""
    largest = sorted((solid.cover for solid in solids), reverse=True)[:2]
    return max([0.0, sum(largest), *(law[2] for law in own_laws.values())])


def filter_words(filters):
    """Rows of bits from bool (n, n): solids of two rows do not touch."""
    filters = np.asarray(filters, dtype=bool)
    n = len(filters)
    words = np.zeros((n, -(-n // WORD)), dtype=np.int64)
    for b in range(n):
        words[:, b // WORD] |= filters[:, b].astype(np.int64) << (b % WORD)
    return words


def _levels(radii, reach):
    """Level of each of the radii, which fall, and one over the size of the cells of each level."""
    level, first = [], []
    for n, radius in enumerate(radii):
        if not first or radius * LEVEL_RATIO <= radii[first[-1]]:
            first.append(n)
        level.append(len(first) - 1)
    counts = np.diff([*first, len(radii)])
    cells = [1.0 / (2.0 * radii[n] + reach) if count > FEW else 0.0 for n, count in zip(first, counts, strict=True)]
    return level, cells or [0.0]


def _hull_arrays(hulls):
    """Hulls one after another; None for solids that have none."""
    octants = np.array([[1.0 if o >> k & 1 else -1.0 for k in range(3)] for o in range(8)])
    there = [hull for hull in hulls if hull is not None]
    vertex_start = np.cumsum([0, *(0 if hull is None else len(hull.vertices) for hull in hulls)])
    face_start = np.cumsum([0, *(0 if hull is None else len(hull.face_normal) for hull in hulls)])
    base = [first for first, hull in zip(vertex_start, hulls, strict=False) if hull is not None]
    climb = np.zeros((len(hulls), 8), dtype=np.int64)
    for k, hull in enumerate(hulls):
        if hull is not None:
            climb[k] = vertex_start[k] + np.argmax(octants @ hull.vertices.T, axis=1)
    return {
        "vertices": np.concatenate([np.zeros((0, 3)), *(hull.vertices for hull in there)]),
        "vertex_start": vertex_start,
        "climb_start": climb,
        "edge_start": _joined_starts([hull.edge_start for hull in there]),
        "edges": _joined_indices([hull.edges for hull in there], base),
        "face_start": face_start,
        "face_normal": np.concatenate([np.zeros((0, 3)), *(hull.face_normal for hull in there)]),
        "corner_start": _joined_starts([hull.corner_start for hull in there]),
        "corners": _joined_indices([hull.corners for hull in there], base),
    }


def _joined_starts(starts):
    """Starts of rows, the last their end, of arrays that are put one after another."""
    ends = np.cumsum([0, *(start[-1] for start in starts)])
    return np.concatenate([[0], *(end + start[1:] for end, start in zip(ends, starts, strict=False))]).astype(np.int64)


def _joined_indices(indices, bases):
    """Indices of arrays one after another, each raised by its base."""
    rows = [base + row for base, row in zip(bases, indices, strict=True)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *rows])
