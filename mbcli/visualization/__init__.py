"""Views of diagrams and models, under the names of pydrake.visualization; Meshcat, which pydrake has in geometry."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.visualization.animation import MeshcatAnimation
    from mbcli.visualization.configuration import (
        AddDefaultVisualization,
        ApplyVisualizationConfig,
        VisualizationConfig,
    )
    from mbcli.visualization.meshcat import Meshcat, MeshcatParams, StartMeshcat
    from mbcli.visualization.meshcat_visualizer import MeshcatVisualizer, MeshcatVisualizerParams
    from mbcli.visualization.model_visualizer import ModelVisualizer
    from mbcli.visualization.sliders import MeshcatPoseSliders
    from mbcli.visualization.sublevel_sets import plot_sublevelset_expression, plot_sublevelset_quadratic
    from mbcli.visualization.triads import AddFrameTriadIllustration

__all__ = [
    "AddDefaultVisualization",
    "AddFrameTriadIllustration",
    "ApplyVisualizationConfig",
    "Meshcat",
    "MeshcatAnimation",
    "MeshcatParams",
    "MeshcatPoseSliders",
    "MeshcatVisualizer",
    "MeshcatVisualizerParams",
    "ModelVisualizer",
    "StartMeshcat",
    "VisualizationConfig",
    "plot_sublevelset_expression",
    "plot_sublevelset_quadratic",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "configuration": ("AddDefaultVisualization", "ApplyVisualizationConfig", "VisualizationConfig"),
        "animation": ("MeshcatAnimation",),
        "meshcat": ("Meshcat", "MeshcatParams", "StartMeshcat"),
        "meshcat_visualizer": ("MeshcatVisualizer", "MeshcatVisualizerParams"),
        "model_visualizer": ("ModelVisualizer",),
        "sliders": ("MeshcatPoseSliders",),
        "sublevel_sets": ("plot_sublevelset_expression", "plot_sublevelset_quadratic"),
        "triads": ("AddFrameTriadIllustration",),
    },
)
