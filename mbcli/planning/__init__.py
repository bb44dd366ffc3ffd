"""Motions that minimize costs within constraints, and diagrams of a robot, under the names of pydrake.planning."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.planning.direct_collocation import (
        AddDirectCollocationConstraint,
        DirectCollocation,
        DirectCollocationConstraint,
    )
    from mbcli.planning.direct_transcription import DirectTranscription
    from mbcli.planning.kinematic_trajectory_optimization import KinematicTrajectoryOptimization
    from mbcli.planning.multiple_shooting import MultipleShooting
    from mbcli.planning.region_of_attraction import RegionOfAttraction, RegionOfAttractionOptions
    from mbcli.planning.robot_diagram import RobotDiagram, RobotDiagramBuilder

__all__ = [
    "AddDirectCollocationConstraint",
    "DirectCollocation",
    "DirectCollocationConstraint",
    "DirectTranscription",
    "KinematicTrajectoryOptimization",
    "MultipleShooting",
    "RegionOfAttraction",
    "RegionOfAttractionOptions",
    "RobotDiagram",
    "RobotDiagramBuilder",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "direct_collocation": (
            "AddDirectCollocationConstraint",
            "DirectCollocation",
            "DirectCollocationConstraint",
        ),
        "direct_transcription": ("DirectTranscription",),
        "kinematic_trajectory_optimization": ("KinematicTrajectoryOptimization",),
        "multiple_shooting": ("MultipleShooting",),
        "region_of_attraction": ("RegionOfAttraction", "RegionOfAttractionOptions"),
        "robot_diagram": ("RobotDiagram", "RobotDiagramBuilder"),
    },
)
