"""The surfaces of the shapes of a scene, as triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.pictures.scene import composed, matrix4

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.pictures.scene import Motion, PictureShape, Scene


def drawn_shapes(scene: Scene) -> list[PictureShape]:
    """Visuals, or what collides if there are none; no half spaces."""
    solid = [shape for shape in scene.shapes if shape.kind != "half_space"]
    return [shape for shape in solid if shape.role == "visual"] or solid


def surface_of(shape: PictureShape, scene: Scene, most: int | None = None) -> tuple[FloatArray, Any]:
    """Vertices (n, 3) and triangles (m, 3) of a shape in its frame; of a mesh about `most` of its triangles."""
    if shape.kind == "mesh":
        mesh = scene.meshes[shape.mesh or ""]
        step = 1 if most is None else max(len(mesh.triangles) // most, 1)
        return mesh.vertices, mesh.triangles[::step]
    if shape.kind == "box":
        corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5], indexing="ij")).reshape(3, -1).T
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return corners * shape.size, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    # bodies of revolution about z: outlines of radius and height
    angle = np.linspace(-np.pi / 2, np.pi / 2, 9)
    if shape.kind == "cylinder":
        r, length = shape.size
        outline = np.array([[0, -length / 2], [r, -length / 2], [r, length / 2], [0, length / 2]])
    elif shape.kind == "capsule":
        r, length = shape.size
        outline = np.column_stack([r * np.cos(angle), r * np.sin(angle) + np.copysign(length / 2, angle)])
    else:
        outline = np.column_stack([np.cos(angle), np.sin(angle)])
    turns = np.linspace(0.0, 2 * np.pi, 18, endpoint=False)
    rings = np.array([[(r * np.cos(t), r * np.sin(t), z) for t in turns] for r, z in outline])
    rows, columns = np.meshgrid(np.arange(len(outline) - 1), np.arange(18), indexing="ij")
    a, b = rows * 18 + columns, rows * 18 + (columns + 1) % 18
    triangles = np.concatenate(
        [np.stack([a, b, b + 18], -1).reshape(-1, 3), np.stack([a, b + 18, a + 18], -1).reshape(-1, 3)]
    )
    scale = {"sphere": np.repeat(shape.size, 3), "ellipsoid": np.array(shape.size)}.get(shape.kind, np.ones(3))
    return rings.reshape(-1, 3) * scale, triangles


def placed_vertices(shape: PictureShape, vertices: FloatArray, motion: Motion, row: int) -> FloatArray:
    """Vertices of a shape in World at a row: moved by its body, or those that the row has of a deformable one."""
    if shape.vertex_start is not None and motion.vertices is not None:
        return motion.vertices[row, shape.vertex_start : shape.vertex_start + len(vertices)]
    X_WG = matrix4(composed(motion.X_WB[row, shape.body], np.array(shape.X_BG)))
    return vertices @ X_WG[:3, :3].T + X_WG[:3, 3]
