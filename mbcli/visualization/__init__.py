"""Views of diagrams and models, under the names of pydrake.visualization; Meshcat, which pydrake has in geometry."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.visualization.animation import MeshcatAnimation as MeshcatAnimation
    from mbcli.visualization.configuration import (
        AddDefaultVisualization as AddDefaultVisualization,
        ApplyVisualizationConfig as ApplyVisualizationConfig,
        VisualizationConfig as VisualizationConfig,
    )
    from mbcli.visualization.meshcat import (
        Meshcat as Meshcat,
        MeshcatParams as MeshcatParams,
        StartMeshcat as StartMeshcat,
    )
    from mbcli.visualization.meshcat_visualizer import (
        MeshcatVisualizer as MeshcatVisualizer,
        MeshcatVisualizerParams as MeshcatVisualizerParams,
    )
    from mbcli.visualization.model_visualizer import ModelVisualizer as ModelVisualizer
    from mbcli.visualization.sliders import MeshcatPoseSliders as MeshcatPoseSliders
    from mbcli.visualization.sublevel_sets import (
        plot_sublevelset_expression as plot_sublevelset_expression,
        plot_sublevelset_quadratic as plot_sublevelset_quadratic,
    )
    from mbcli.visualization.triads import AddFrameTriadIllustration as AddFrameTriadIllustration
