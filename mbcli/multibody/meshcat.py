"""Sliders and contacts in a Meshcat, under the names of pydrake.multibody.meshcat."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.visualization.meshcat_visualizer import (
        ContactVisualizer as ContactVisualizer,
        ContactVisualizerParams as ContactVisualizerParams,
    )
    from mbcli.visualization.sliders import JointSliders as JointSliders
