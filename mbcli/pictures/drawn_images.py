"""Images of runs drawn by matplotlib, for machines without Chromium: simple shading, no shadows."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import require_extra
from mbcli.pictures.scene import composed, matrix4, moved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.pictures.scene import Motion, PictureShape, Scene

DPI = 100
MOST_TRIANGLES = 4000  # of a mesh: more are thinned out
VISUAL_COLOR = (0.62, 0.69, 0.76)
FORCE_COLOR = (0.84, 0.2, 0.42)
LIGHT = np.array([0.45, -0.6, 0.66])


def drawn_images(
    runs: Sequence[tuple[Scene, Motion]], times: FloatArray, size: tuple[int, int], traces: Sequence[str] = ()
) -> Iterator[bytes]:
    """PNG files of runs at times [s]; size: width and height [pixels].

    ResourceError if there is no matplotlib.
    """
    require_extra("matplotlib", "plot", "an image that Chromium does not draw")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    solids = [
        [(shape, *surface_of(shape, scene, MOST_TRIANGLES)) for shape in drawn_shapes(scene)] for scene, _ in runs
    ]
    low, high = _bounds(runs, solids)
    figure: Any = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    for time in times:
        figure.clear()
        axes = figure.add_axes((0, 0, 1, 1), projection="3d", computed_zorder=False)
        _frame(axes, low, high, time)
        for k, ((scene, motion), parts) in enumerate(zip(runs, solids, strict=True)):
            row = int(motion.drawn_rows(time))
            faces, colors = [], []
            for shape, vertices, triangles in parts:
                placed = _placed(shape, vertices, motion, row)[triangles]
                faces.append(placed)
                colors.append(_shaded(placed, shape, ghost=k > 0))
            if faces:
                painted = np.concatenate(colors)
                solid = Poly3DCollection(np.concatenate(faces), facecolors=painted, edgecolors=painted, linewidths=0.4)
                axes.add_collection3d(solid)
            if motion.surfaces is not None and k == 0:
                _draw_surfaces(figure, axes, motion.surfaces, row)
            for name in traces:
                path = _trace(scene, motion, name)
                if path is not None:
                    axes.plot(*path[: row + 1].T, color=(0.85, 0.28, 0.06), linewidth=1.5)
            if motion.contacts is not None and k == 0:
                _draw_forces(axes, scene, motion.contacts, row, float(np.max(high - low)))
        stream = io.BytesIO()
        canvas.print_png(stream)
        yield stream.getvalue()


def _frame(axes, low, high, time):
    axes.set_proj_type("persp")
    axes.view_init(elev=20, azim=-54)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_zlim(low[2], high[2])
    axes.set_box_aspect(high - low)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_zlabel("z [m]")
    axes.text2D(0.02, 0.96, f"t = {time:.2f} s", transform=axes.transAxes)


def drawn_shapes(scene: Scene) -> list[PictureShape]:
    """Visuals, or what collides if there are none; no half spaces."""
    solid = [shape for shape in scene.shapes if shape.kind != "half_space"]
    return [shape for shape in solid if shape.role == "visual"] or solid


def _bounds(runs, solids):
    """Corners of a box around everything at the first and the last row."""
    points = []
    for (_, motion), parts in zip(runs, solids, strict=True):
        points.append(motion.X_WB[:, 1:, 4:].reshape(-1, 3))
        for row in (0, -1):
            for shape, vertices, _ in parts:
                points.append(_placed(shape, vertices, motion, row))
    every = np.concatenate([np.zeros((1, 3)) if not points else points[0][:0], *points])
    if not len(every):
        every = np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]])
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.05 * max(float((high - low).max()), 1e-3)
    return low - room, high + room


def _placed(shape: PictureShape, vertices: FloatArray, motion: Motion, row: int) -> FloatArray:
    """Vertices of a shape in World at a row: moved by its body, or those that the row has of a deformable one."""
    if shape.vertex_start is not None and motion.vertices is not None:
        return motion.vertices[row, shape.vertex_start : shape.vertex_start + len(vertices)]
    X_WG = matrix4(composed(motion.X_WB[row, shape.body], np.array(shape.X_BG)))
    return vertices @ X_WG[:3, :3].T + X_WG[:3, 3]


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


def _shaded(placed, shape, *, ghost):
    """RGBA (m, 4) of triangles (m, 3, 3) under a light."""
    normal = np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0])
    length = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    bright = 0.62 + 0.38 * (normal / length) @ LIGHT
    color = np.array(shape.color[:3] if shape.color else VISUAL_COLOR)
    alpha = 0.25 if ghost else shape.color[3] if shape.color else 1.0
    return np.column_stack([np.clip(bright[:, None] * color, 0.0, 1.0), np.full(len(placed), alpha)])


def _trace(scene, motion, name):
    """Places (n, 3) of a frame or body over time, None if there is none of that name."""
    for frame in scene.frames:
        if name in (frame.name, frame.name.rpartition("::")[2]):
            return moved(motion.X_WB[:, frame.body], np.array(frame.X_BF[4:]))
    for k, body in enumerate(scene.bodies):
        if name in (body.name, body.name.rpartition("::")[2]):
            return motion.X_WB[:, k, 4:]
    return None


def _draw_forces(axes, scene, contacts, row, extent):
    first, last = contacts.offset[row], contacts.offset[row + 1]
    force = np.nan_to_num(contacts.force[first:last])
    if len(force):
        scale = 0.3 * extent / (scene.weight or max(float(np.abs(force).max()), 1e-9))
        axes.quiver(*contacts.point[first:last].T, *(scale * force).T, color=FORCE_COLOR, linewidth=1.6)


def _draw_surfaces(figure, axes, surfaces, row):
    """Triangles by the mean pressure at their corners, over what is there, and a legend."""
    from matplotlib import colormaps
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    largest = max(float(np.max(surfaces.values, initial=0.0)), 1e-12)
    first, last = surfaces.offset[row], surfaces.offset[row + 1]
    if last > first:
        painted = colormaps["viridis"](surfaces.values[first:last].mean(axis=1) / largest)
        axes.add_collection3d(Poly3DCollection(surfaces.vertices[first:last], facecolors=painted, edgecolors="none"))
    scale = figure.add_axes((0.74, 0.94, 0.22, 0.02))
    scale.imshow(np.linspace(0.0, 1.0, 256)[None], aspect="auto", cmap="viridis", extent=(0.0, largest, 0.0, 1.0))
    scale.set_yticks([])
    scale.set_xticks([0.0, largest], ["0", _pressure_text(largest)])


def _pressure_text(value):
    """143000.0 as "143 kPa"."""
    size, unit = next(pair for pair in ((1e6, "MPa"), (1e3, "kPa"), (0.0, "Pa")) if value >= pair[0])
    return f"{value / (size or 1.0):.3g} {unit}"
