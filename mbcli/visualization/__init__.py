"""Views of diagrams and models, under the names of pydrake.visualization."""

from mbcli.late_names import late_names

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.visualization.configuration import (
        AddDefaultVisualization,
        ApplyVisualizationConfig,
        VisualizationConfig,
    )
    from mbcli.visualization.model_visualizer import ModelVisualizer
    from mbcli.visualization.sliders import MeshcatPoseSliders
    from mbcli.visualization.triads import AddFrameTriadIllustration

__all__ = [
    "AddDefaultVisualization",
    "AddFrameTriadIllustration",
    "ApplyVisualizationConfig",
    "MeshcatPoseSliders",
    "ModelVisualizer",
    "VisualizationConfig",
]

__getattr__ = late_names(
    __name__,
    {
        "configuration": ("AddDefaultVisualization", "ApplyVisualizationConfig", "VisualizationConfig"),
        "model_visualizer": ("ModelVisualizer",),
        "sliders": ("MeshcatPoseSliders",),
        "triads": ("AddFrameTriadIllustration",),
    },
)
