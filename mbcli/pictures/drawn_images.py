"""Images of runs drawn by matplotlib, for machines without Chromium: simple shading, no shadows."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.pictures.cameras import Camera, way_to_eye
from mbcli.pictures.framing import frame_runs
from mbcli.pictures.scene import arrow_length, moved
from mbcli.pictures.shape_surfaces import drawn_shapes, placed_vertices, surface_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mbcli.math.array_types import Array, FloatArray, Matrix, Vector3
    from mbcli.pictures.scene import ContactPoints, ContactSurfaces, Motion, PictureShape, Scene

DPI = 100
ZOOM = 1.15  # so that the sphere of a camera is two thirds as high as a picture, within axes with numbers
EYE = 10.0  # radii from the middle: nearer than the eye of matplotlib
MOST_TRIANGLES = 4000  # of a mesh: more are thinned out, of World's those are left out that are far away
VISUAL_COLOR = (0.62, 0.69, 0.76)
FORCE_COLOR = (0.84, 0.2, 0.42)
LIGHT = np.array([0.45, -0.6, 0.66])


def drawn_images(
    runs: Sequence[tuple[Scene, Motion]],
    times: FloatArray,
    size: tuple[int, int],
    traces: Sequence[str] = (),
    camera: Camera | None = None,
) -> Iterator[bytes]:
    """PNG files of runs at times [s], as images() of images.py describes.

    ResourceError if there is no matplotlib.
    """
    import_extra("matplotlib", "plot", "an image that Chromium does not draw")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    solids = [
        [(shape, *surface_of(shape, scene, MOST_TRIANGLES if shape.body else None)) for shape in drawn_shapes(scene)]
        for scene, _ in runs
    ]
    camera, framing = camera or Camera(), frame_runs(runs)
    digits = time_digits(runs)
    first = runs[0][1]
    largest = largest_force(first)
    reference = runs[0][0].weight or largest  # [N]: arrows are drawn in proportion to it
    figure: Any = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
    canvas = FigureCanvasAgg(figure)
    for time in times:
        figure.clear()
        axes = figure.add_axes((0, 0, 1, 1), projection="3d", computed_zorder=False)
        seen = camera.seen(framing, int(first.drawn_rows(time)))
        pixels = _frame(axes, *seen)
        figure.text(0.02, 0.96, f"t = {time:.{digits}f} s")
        for k, ((scene, motion), parts) in enumerate(zip(runs, solids, strict=True)):
            row = int(motion.drawn_rows(time))
            faces, colors = [], []
            for shape, vertices, triangles in parts:
                placed = _before_the_eye(placed_vertices(shape, vertices, motion, row)[triangles], *seen)
                faces.append(placed)
                colors.append(_shaded(placed, shape, ghost=k > 0))
            if faces:
                painted = np.concatenate(colors)
                solid = Poly3DCollection(np.concatenate(faces), facecolors=painted, edgecolors=painted, linewidths=0.4)
                axes.add_collection3d(solid).set_clip_on(False)  # the axes are a square, the picture is not
            if motion.surfaces is not None and k == 0:
                _draw_surfaces(figure, axes, motion.surfaces, row)
            for name in traces:
                path = _trace(scene, motion, name)
                if path is not None:
                    axes.plot(*path[: row + 1].T, color=(0.85, 0.28, 0.06), linewidth=1.5)
            if motion.contacts is not None and k == 0 and reference > 0.0:
                _draw_forces(axes, motion.contacts, row, 0.45 * framing.size, reference)
                _draw_scale(figure, pixels * 0.45 * framing.size, reference, largest)
        stream = io.BytesIO()
        canvas.print_png(stream)
        yield stream.getvalue()


def _frame(axes: Any, centre: Vector3, radius: float, azimuth: float, elevation: float) -> float:
    """Turns the axes to a sphere; how many pixels a metre is in its middle."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    axes.set_proj_type("persp")
    axes.view_init(elev=elevation, azim=azimuth)
    for set_limits, middle in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), centre, strict=True):
        set_limits(middle - radius, middle + radius)
    axes.set_box_aspect((1.0, 1.0, 1.0), zoom=ZOOM)
    axes.apply_aspect()
    way = way_to_eye(azimuth, elevation)
    for axis, name, along in zip((axes.xaxis, axes.yaxis, axes.zaxis), "xyz", way, strict=True):
        axis.set_label_text(f"{name} [m]" if abs(along) < 0.97 else "")
        if abs(along) >= 0.97:  # its numbers would lie on each other
            axis.set_ticklabels([])
    across = radius * np.array([-math.sin(math.radians(azimuth)), math.cos(math.radians(azimuth)), 0.0])
    x, y, _ = proj_transform(*np.stack([centre, centre + across]).T, axes.get_proj())
    return float(np.linalg.norm(np.diff(axes.transData.transform(np.column_stack([x, y])), axis=0))) / radius


def _before_the_eye(faces: Array, centre: Vector3, radius: float, azimuth: float, elevation: float) -> Array:
    """Those of triangles (m, 3, 3), of many the nearest, that are well before the eye: matplotlib turns others over."""
    if len(faces) > MOST_TRIANGLES:
        away = faces.mean(axis=1) - centre
        near = np.argpartition(np.einsum("ni,ni->n", away, away), MOST_TRIANGLES)[:MOST_TRIANGLES]
        faces = faces[near]
    return faces[((faces - centre) @ way_to_eye(azimuth, elevation)).max(axis=1) < EYE * radius]


def largest_force(motion: Motion) -> float:
    """The largest contact force [N] of a motion; 0 without any."""
    force = np.zeros((0, 3)) if motion.contacts is None else np.nan_to_num(motion.contacts.force)
    return float(np.linalg.norm(force, axis=1).max(initial=0.0))


def time_digits(runs: Sequence[tuple[Scene, Motion]]) -> int:
    """Digits of times after the point: more in a shorter run, from 2 to 9."""
    start, end = (pick(motion.times[k] for _, motion in runs) for pick, k in ((min, 0), (max, -1)))
    return min(max(2, 2 - math.floor(math.log10(end - start or 1.0))), 9)


def _shaded(placed: Array, shape: PictureShape, *, ghost: bool) -> Matrix:
    """RGBA (m, 4) of triangles (m, 3, 3) under a light."""
    normal = np.cross(placed[:, 1] - placed[:, 0], placed[:, 2] - placed[:, 0])
    length = np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    bright = 0.62 + 0.38 * (normal / length) @ LIGHT
    color = np.array(shape.color[:3] if shape.color else VISUAL_COLOR)
    alpha = 0.25 if ghost else shape.color[3] if shape.color else 1.0
    return np.column_stack([np.clip(bright[:, None] * color, 0.0, 1.0), np.full(len(placed), alpha)])


def _trace(scene: Scene, motion: Motion, name: str) -> Matrix | None:
    """Places (n, 3) of a frame or body over time, None if there is none of that name."""
    for frame in scene.frames:
        if name in (frame.name, frame.name.rpartition("::")[2]):
            return moved(motion.X_WB[:, frame.body], np.array(frame.X_BF[4:]))
    for k, body in enumerate(scene.bodies):
        if name in (body.name, body.name.rpartition("::")[2]):
            return motion.X_WB[:, k, 4:]
    return None


def _draw_forces(axes: Any, contacts: ContactPoints, row: int, length: float, reference: float) -> None:
    """Arrows, of a length [m] for the reference [N]."""
    first, last = contacts.offset[row], contacts.offset[row + 1]
    force = np.nan_to_num(contacts.force[first:last])
    size = np.linalg.norm(force, axis=1, keepdims=True)
    arrows = length * arrow_length(size, reference) * force / np.maximum(size, 1e-300)
    if len(force):
        axes.quiver(*contacts.point[first:last].T, *arrows.T, color=FORCE_COLOR, linewidth=1.6)


def _draw_scale(figure: Any, pixels: float, reference: float, largest: float) -> None:
    """Lines in the lower left corner, as long as the arrows of round forces in the middle of the picture.

    pixels: of the arrow of the reference [N]; largest: force of the run [N], which may need a second line.
    """
    from matplotlib.lines import Line2D

    force = rounded_down(reference)
    while pixels * force / reference > 0.3 * figure.bbox.width:
        force = rounded_down(0.99 * force)
    for k, shown in enumerate([10.0 * force, force] if largest > reference else [force]):
        x, y = 0.02 * figure.bbox.width, 0.04 * figure.bbox.height + 18 * k
        end = x + pixels * float(arrow_length(np.asarray(shown), reference))
        figure.add_artist(Line2D([x, end], [y, y], transform=None, color=FORCE_COLOR, linewidth=1.6, marker="|"))
        figure.text(end + 8, y, unit_text(shown, "N"), transform=None, verticalalignment="center")


def rounded_down(value: float) -> float:
    """The largest of 1, 2, 5, 10, ... that is not larger than a value above 0."""
    power = 10.0 ** math.floor(math.log10(value) + 1e-9)
    return power * next(part for part in (5.0, 2.0, 1.0) if part == 1.0 or value >= 0.9998 * part * power)


def _draw_surfaces(figure: Any, axes: Any, surfaces: ContactSurfaces, row: int) -> None:
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
    scale.set_xticks([0.0, largest], ["0", unit_text(largest, "Pa")])


def unit_text(value: float, unit: str) -> str:
    """143000.0 and "Pa" as "143 kPa"."""
    prefixes = ((1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"))
    size, prefix = next((pair for pair in prefixes if value >= 0.9995 * pair[0]), (1e-6, "µ"))
    return f"{value / size:.3g} {prefix}{unit}"
