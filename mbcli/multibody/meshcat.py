"""Sliders and contacts in a Meshcat, under the names of pydrake.multibody.meshcat."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.visualization.meshcat_visualizer import ContactVisualizer, ContactVisualizerParams
    from mbcli.visualization.sliders import JointSliders

__all__ = ["ContactVisualizer", "ContactVisualizerParams", "JointSliders"]

__getattr__ = lazy_exports(
    __name__,
    {
        "mbcli.visualization.meshcat_visualizer": ("ContactVisualizer", "ContactVisualizerParams"),
        "mbcli.visualization.sliders": ("JointSliders",),
    },
)
