"""Motions that minimize costs within constraints, under the names of pydrake.planning; needs SymPy."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.planning.kinematic_trajectory_optimization import KinematicTrajectoryOptimization

__all__ = ["KinematicTrajectoryOptimization"]

__getattr__ = lazy_exports(
    __name__,
    {"kinematic_trajectory_optimization": ("KinematicTrajectoryOptimization",)},
)
