"""Graphs of diagrams in matplotlib, under the names of pydrake.systems.drawing."""

from __future__ import annotations

import io
from typing import Any

from mbcli.common import child_processes
from mbcli.common.extra_packages import import_extra
from mbcli.errors import ResourceError

__all__ = ["plot_graphviz", "plot_system_graphviz"]


def plot_graphviz(dot_text: str) -> Any:
    """Draws a graph in the current axes; returns the image. ResourceError if Graphviz' program dot is not there."""
    pyplot = import_extra("matplotlib.pyplot", "plot", "plot_graphviz")
    dot = child_processes.find_program("dot")
    if dot is None:
        raise ResourceError("plot_graphviz needs the program dot of Graphviz, which is not on the path")
    png = child_processes.run([dot, "-Tpng"], input=dot_text.encode(), capture_output=True, check=True).stdout
    pyplot.axis("off")
    return pyplot.imshow(pyplot.imread(io.BytesIO(png)), aspect="equal")


def plot_system_graphviz(system: Any, **kwargs: Any) -> Any:
    """Draws a system as a graph; arguments go to GetGraphvizString()."""
    return plot_graphviz(system.GetGraphvizString(**kwargs))
