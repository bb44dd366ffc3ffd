"""Geometries projected to a plane, by matplotlib, under the names of pydrake.systems.planar_scenegraph_visualizer."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.properties import Role
from mbcli.pictures.model_scene import MeshStore, shape_as_drawn
from mbcli.pictures.scene import PictureShape, Scene
from mbcli.pictures.shape_surfaces import surface_of
from mbcli.systems.pyplot_visualizer import PyPlotVisualizer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.systems.ports import InputPort

__all__ = ["ConnectPlanarSceneGraphVisualizer", "PlanarSceneGraphVisualizer"]

XZ = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
GREY = (0.9, 0.9, 0.9, 1.0)


class PlanarSceneGraphVisualizer(PyPlotVisualizer):
    """Draws the convex hull of each geometry with the illustration role, projected to a plane.

    Args:
        scene_graph: whose geometries are drawn.
        T_VW: (3, 4) from points (x, y, z, 1) of World to those of the picture (x, y, 1).
        xlim, ylim: of the picture.
        use_random_colors: whether each geometry has a colour of its own in place of the model's.
        others: see PyPlotVisualizer; substitute_collocated_mesh_files takes no effect.
    """

    def __init__(
        self,
        scene_graph: Any,
        draw_period: float | None = None,
        T_VW: ArrayLike = XZ,
        xlim: Any = (-1.0, 1),
        ylim: Any = (-1, 1),
        facecolor: Any = (1, 1, 1),
        use_random_colors: bool = False,
        substitute_collocated_mesh_files: bool = True,
        ax: Any = None,
        show: bool | None = None,
    ) -> None:
        super().__init__(draw_period=draw_period, facecolor=facecolor, figsize=None, ax=ax, show=show)
        self._scene_graph, self._T_VW = scene_graph, np.array(T_VW, dtype=float)
        self.ax.set_xlim(xlim)
        self.ax.set_ylim(ylim)
        self._query = self.DeclareAbstractInputPort("geometry_query")
        colors = np.random.default_rng(0).uniform(size=(1000, 3)) if use_random_colors else None
        inspector, store = scene_graph.model_inspector(), MeshStore()
        self._shapes = []  # (geometry, vertices (n, 3) in its frame, what is filled)
        for k, geometry in enumerate(inspector.GetAllGeometryIds(Role.kIllustration)):
            kind, size, key, mesh, _ = shape_as_drawn(inspector.GetShape(geometry), store)
            if kind is None or kind == "half_space":
                continue
            scene = Scene("", [], np.zeros((0, 7)), meshes={} if mesh is None else {str(key): mesh})
            vertices, _ = surface_of(PictureShape("", 0, "visual", kind, (), size, key), scene)
            color = inspector.GetProperties(geometry, Role.kIllustration).GetPropertyOrDefault("phong", "diffuse", None)
            given = GREY if color is None else tuple(np.asarray(color.rgba if hasattr(color, "rgba") else color))
            face = given if colors is None else tuple(colors[k % 1000])
            (patch,) = self.ax.fill([0.0], [0.0], zorder=0, edgecolor="k", facecolor=face, closed=True)
            self._shapes.append((geometry, np.asarray(vertices), patch))

    def get_geometry_query_input_port(self) -> InputPort:
        """The port of the QueryObject."""
        return self._query

    def _kept(self, context: Any) -> Any:
        query = self._query.Eval(context)
        return [query.GetPoseInWorld(geometry).GetAsMatrix34() for geometry, _, _ in self._shapes]

    def draw(self, context: Any) -> None:
        """Draws a context, or the poses that were kept of one."""
        from scipy.spatial import ConvexHull, QhullError  # late: scripts that import all names do not draw

        poses = context if isinstance(context, list) else self._kept(context)
        for X_WG, (_, vertices, patch) in zip(poses, self._shapes, strict=True):
            p_W = np.column_stack([vertices @ X_WG[:, :3].T + X_WG[:, 3], np.ones(len(vertices))])
            projected = p_W @ self._T_VW.T
            flat = projected[:, :2] / projected[:, 2:]
            with suppress(QhullError):  # of a line or a point
                flat = flat[ConvexHull(flat).vertices]
            patch.get_path().vertices = np.vstack([flat, flat[:1]])
            patch.get_path().codes = None
            depth = float(np.cross(self._T_VW[0, :3], self._T_VW[1, :3]) @ p_W[:, :3].mean(axis=0))
            patch.set_zorder(depth)
        context_time = None if isinstance(context, list) else context.get_time()
        if context_time is not None:
            self.ax.set_title(f"t = {context_time:.1f}")


def ConnectPlanarSceneGraphVisualizer(
    builder: Any, scene_graph: Any, output_port: Any = None, **kwargs: Any
) -> PlanarSceneGraphVisualizer:
    """Adds a PlanarSceneGraphVisualizer that is connected to a SceneGraph, or to a port with its QueryObject."""
    visualizer = builder.AddSystem(PlanarSceneGraphVisualizer(scene_graph, **kwargs))
    port = scene_graph.get_query_output_port() if output_port is None else output_port
    builder.Connect(port, visualizer.get_geometry_query_input_port())
    return visualizer
