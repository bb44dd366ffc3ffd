"""A base of systems that draw with matplotlib, under the names of pydrake.systems.pyplot_visualizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray

__all__ = ["PyPlotVisualizer"]

PERIOD = 1.0 / 30.0  # [s]


class PyPlotVisualizer(LeafSystem):
    """Draws in axes `ax` of a figure `fig`; a class derived from it declares an input port and has draw(context).

    Args:
        draw_period: [s] of simulated time between pictures.
        facecolor, figsize: of the figure.
        ax: where it draws; axes of its own figure if not given.
        show: whether a window is opened; if not given, where matplotlib has one.
    """

    def __init__(
        self,
        draw_period: float | None = None,
        facecolor: Any = (1, 1, 1),
        figsize: Any = None,
        ax: Any = None,
        show: bool | None = None,
    ) -> None:
        super().__init__()
        self._pyplot = import_extra("matplotlib.pyplot", "plot", "PyPlotVisualizer")
        self.timestep = PERIOD if draw_period is None else float(draw_period)
        if ax is None:
            self.fig, self.ax = self._pyplot.subplots(facecolor=facecolor, figsize=figsize)
        else:
            self.fig, self.ax = ax.get_figure(), ax
        self.ax.axis("equal")
        self.ax.axis("off")
        interactive = self._pyplot.get_backend().lower() not in ("template", "agg")
        self._show = interactive if show is None else bool(show)
        self._recording, self._recorded = False, []  # type: ignore[var-annotated]
        self.DeclarePeriodicPublishEvent(self.timestep, 0.0, self._publish)
        self.DeclareForcedPublishEvent(self._publish)
        self.DeclareInitializationPublishEvent(lambda context: self._open())

    def _open(self) -> None:
        if self._show:
            self.fig.show()

    def _publish(self, context: Any) -> None:
        self.draw(context)
        if self._recording:
            self._recorded.append(self._kept(context))
        if self._show:
            self._pyplot.pause(1e-10)

    def _kept(self, context: Any) -> Any:
        """What draw() can be given of a context later."""
        kept = self.CreateDefaultContext()
        kept.SetTime(context.get_time())
        self.FixInputPortsFrom(self, context, kept)
        return kept

    def _context_of(self, x: FloatArray) -> Any:
        context = self.CreateDefaultContext()
        self.get_input_port(0).FixValue(context, x)
        return context

    def draw(self, context: Any) -> None:
        """Draws a context."""
        raise NotImplementedError

    def start_recording(self) -> None:
        """Keeps what is drawn from now on."""
        self._recording = True

    def stop_recording(self) -> None:
        """Keeps nothing from now on."""
        self._recording = False

    def reset_recording(self) -> None:
        """Forgets what was kept."""
        self._recorded = []

    def get_recording_as_animation(self, **kwargs: Any) -> Any:
        """A matplotlib.animation.FuncAnimation of what was kept; arguments go to it."""
        return self._animation(len(self._recorded), self._recorded.__getitem__, **kwargs)

    def animate(self, log: Any, resample: bool = True, **kwargs: Any) -> Any:
        """A FuncAnimation of a VectorLog or a Trajectory, whose values are the input of what is drawn.

        resample: whether values at equal distances of time are drawn in place of those of the log.
        """
        if hasattr(log, "sample_times"):
            times, values = log.sample_times(), log.data()
        else:
            times = np.arange(log.start_time(), log.end_time() + self.timestep, self.timestep)
            values, resample = log.vector_values(times), False
        if resample:
            wanted = np.arange(times[0], times[-1], self.timestep)
            values = np.array([np.interp(wanted, times, row) for row in values])
        return self._animation(values.shape[1], lambda k: self._context_of(values[:, k]), **kwargs)

    def _animation(self, count: int, context_of: Callable[[int], Any], **kwargs: Any) -> Any:
        animation = import_extra("matplotlib.animation", "plot", "PyPlotVisualizer")
        kwargs = {"interval": 1000.0 * self.timestep, "repeat": True} | kwargs
        return animation.FuncAnimation(self.fig, lambda k: self.draw(context_of(k)), frames=count, **kwargs)
