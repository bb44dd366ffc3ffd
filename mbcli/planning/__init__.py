"""Motions that minimize costs within constraints, under the names of pydrake.planning; needs SymPy."""

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

__all__ = [
    "AddDirectCollocationConstraint",
    "DirectCollocation",
    "DirectCollocationConstraint",
    "DirectTranscription",
    "KinematicTrajectoryOptimization",
    "MultipleShooting",
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
    },
)
