"""The meshes of contact surfaces as arrays of the engine: pressure fields of tetrahedra, and rigid surfaces.

Each mesh has a tree of boxes along its own axes with one tetrahedron or triangle at each leaf. The tree is halved at
the median of the longest axis, level by level, so that its depth is the logarithm of its leaves.
"""

from dataclasses import dataclass

import numpy as np

# the corners of each side of a tetrahedron, counterclockwise seen from outside
SIDES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))


@dataclass(frozen=True, eq=False)
class FieldMesh:
    """A pressure field in units of its modulus, or a rigid surface; as COLLISION_FIELDS have them, of one mesh."""

    node_box: np.ndarray
    node_children: np.ndarray
    tetrahedra: np.ndarray
    tetrahedron_planes: np.ndarray
    tetrahedron_field: np.ndarray
    triangles: np.ndarray

    @property
    def is_soft(self):
        return len(self.tetrahedra) > 0

    @property
    def corners(self):
        """(n, 3)"""
        return self.tetrahedra.reshape(-1, 3) if self.is_soft else self.triangles[:, :9].reshape(-1, 3)


@dataclass(frozen=True, eq=False)
class FieldMeshes:
    """Several of them, one after another, under the names of COLLISION_FIELDS."""

    mesh_root: np.ndarray
    node_box: np.ndarray
    node_children: np.ndarray
    tetrahedra: np.ndarray
    tetrahedron_planes: np.ndarray
    tetrahedron_field: np.ndarray
    triangles: np.ndarray


def soft_mesh(vertices, tetrahedra, extent):
    """FieldMesh of tetrahedra (m, 4) with the pressure / modulus extent (n,) at vertices (n, 3)."""
    X = vertices[tetrahedra]  # (m, 4, 3)
    edges = X[:, 1:] - X[:, :1]
    rise = extent[tetrahedra]
    gradient = np.linalg.solve(edges, (rise[:, 1:] - rise[:, :1])[:, :, None])[:, :, 0]
    field = np.column_stack([gradient, rise[:, 0] - np.einsum("ij,ij->i", gradient, X[:, 0])])
    planes = np.empty((len(X), 4, 4))
    for k, (a, b, c) in enumerate(SIDES):
        normal = np.cross(X[:, b] - X[:, a], X[:, c] - X[:, a])
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        planes[:, k, :3], planes[:, k, 3] = normal, np.einsum("ij,ij->i", normal, X[:, a])
    order, boxes, children = _tree(X)
    return FieldMesh(
        boxes, children, X[order].reshape(-1, 12), planes[order].reshape(-1, 16), field[order], np.zeros((0, 12))
    )


def rigid_mesh(vertices, triangles):
    """FieldMesh of triangles (m, 3) of vertices (n, 3), counterclockwise seen from outside; those without area go."""
    X = vertices[triangles]
    normal = np.cross(X[:, 1] - X[:, 0], X[:, 2] - X[:, 0])
    size = np.linalg.norm(normal, axis=1)
    there = size > 0.0
    X, normal = X[there], normal[there] / size[there, None]
    order, boxes, children = _tree(X)
    rows = np.column_stack([X.reshape(-1, 9), normal])[order]
    return FieldMesh(boxes, children, np.zeros((0, 12)), np.zeros((0, 16)), np.zeros((0, 4)), rows)


def join_meshes(meshes):
    """FieldMeshes of a list of FieldMesh."""
    nodes, tetrahedra, triangles = 0, 0, 0
    roots, children = [], [np.zeros((0, 2), dtype=np.int64)]
    for mesh in meshes:
        roots.append(nodes)
        leaf = mesh.node_children[:, :1] < 0
        element = tetrahedra if mesh.is_soft else triangles
        children.append(np.where(leaf, mesh.node_children + [0, element], mesh.node_children + nodes))
        nodes, tetrahedra, triangles = (
            nodes + len(mesh.node_box),
            tetrahedra + len(mesh.tetrahedra),
            triangles + len(mesh.triangles),
        )
    widths = {"node_box": 6, "tetrahedra": 12, "tetrahedron_planes": 16, "tetrahedron_field": 4, "triangles": 12}
    joined = {
        name: np.concatenate([np.zeros((0, width)), *(getattr(mesh, name) for mesh in meshes)])
        for name, width in widths.items()
    }
    return FieldMeshes(mesh_root=np.array(roots, dtype=np.int64), node_children=np.concatenate(children), **joined)


def _tree(X):
    """(order of elements X (m, k, 3) at the leaves, boxes of the nodes (n, 6), children of the nodes (n, 2))."""
    low, high = X.min(axis=1), X.max(axis=1)
    middle = (low + high) / 2.0
    m = len(X)
    order = np.arange(m)
    levels = [(np.array([0]), np.array([m]))]  # first element and number of elements of each node of a level
    while levels[-1][1].max() > 1:
        first, count = levels[-1]
        order = _sorted_within(order, middle, first, count)
        inner = count > 1
        left = (count[inner] + 1) // 2
        levels.append(
            (
                np.column_stack([first[inner], first[inner] + left]).ravel(),
                np.column_stack([left, count[inner] - left]).ravel(),
            )
        )
    first, count = (np.concatenate(column) for column in zip(*levels, strict=True))
    low, high = low[order], high[order]
    is_leaf = count == 1
    children = np.empty((len(first), 2), dtype=np.int64)
    children[is_leaf] = np.column_stack([np.full(is_leaf.sum(), -1), first[is_leaf]])
    child = 1 + 2 * np.arange((~is_leaf).sum())
    children[~is_leaf] = np.column_stack([child, child + 1])
    box_low, box_high = low[first], high[first]
    ends = np.cumsum([len(starts) for starts, _ in levels])
    for end, (starts, _) in zip(ends[::-1], levels[::-1], strict=True):
        node = np.arange(end - len(starts), end)
        node = node[~is_leaf[node]]
        box_low[node] = box_low[children[node]].min(axis=1)
        box_high[node] = box_high[children[node]].max(axis=1)
    return order, np.hstack([(box_low + box_high) / 2.0, (box_high - box_low) / 2.0]), children


def _sorted_within(order, middle, first, count):
    """Elements of each node sorted along its longest axis; those of nodes of an earlier level stay."""
    node = np.full(len(order), -1)
    several = np.flatnonzero(count > 1)
    starts, sizes = first[several], count[several]
    places = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes) + np.arange(sizes.sum())
    node[places] = np.repeat(np.arange(len(several)), sizes)
    points = middle[order[places]]
    at = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    span = np.maximum.reduceat(points, at) - np.minimum.reduceat(points, at)
    along = points[np.arange(len(points)), np.repeat(span.argmax(axis=1), sizes)]
    result = order.copy()
    result[places] = order[places][np.lexsort((along, node[places]))]
    return result
