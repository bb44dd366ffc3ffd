"""Curves over time or over their length, under the names of pydrake.trajectories."""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.trajectories.combined import CompositeTrajectory, PathParameterizedTrajectory, StackedTrajectory
    from mbcli.trajectories.constant_curvature import PiecewiseConstantCurvatureTrajectory
    from mbcli.trajectories.curve import (
        DerivativeTrajectory,
        FunctionHandleTrajectory,
        PiecewiseTrajectory,
        Trajectory,
    )
    from mbcli.trajectories.discrete_times import DiscreteTimeTrajectory
    from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial
    from mbcli.trajectories.poses import PiecewisePose, PiecewiseQuaternionSlerp
    from mbcli.trajectories.scalar_templates import (
        BezierCurve_,
        BsplineTrajectory_,
        CompositeTrajectory_,
        PathParameterizedTrajectory_,
        PiecewisePolynomial_,
        PiecewisePose_,
        PiecewiseQuaternionSlerp_,
        StackedTrajectory_,
        Trajectory_,
    )
    from mbcli.trajectories.splines import BezierCurve, BsplineTrajectory

__all__ = [
    "BezierCurve",
    "BezierCurve_",
    "BsplineTrajectory",
    "BsplineTrajectory_",
    "CompositeTrajectory",
    "CompositeTrajectory_",
    "DerivativeTrajectory",
    "DiscreteTimeTrajectory",
    "FunctionHandleTrajectory",
    "PathParameterizedTrajectory",
    "PathParameterizedTrajectory_",
    "PiecewiseConstantCurvatureTrajectory",
    "PiecewisePolynomial",
    "PiecewisePolynomial_",
    "PiecewisePose",
    "PiecewisePose_",
    "PiecewiseQuaternionSlerp",
    "PiecewiseQuaternionSlerp_",
    "PiecewiseTrajectory",
    "StackedTrajectory",
    "StackedTrajectory_",
    "Trajectory",
    "Trajectory_",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "combined": ("CompositeTrajectory", "PathParameterizedTrajectory", "StackedTrajectory"),
        "constant_curvature": ("PiecewiseConstantCurvatureTrajectory",),
        "curve": (
            "DerivativeTrajectory",
            "FunctionHandleTrajectory",
            "PiecewiseTrajectory",
            "Trajectory",
        ),
        "discrete_times": ("DiscreteTimeTrajectory",),
        "piecewise_polynomial": ("PiecewisePolynomial",),
        "poses": ("PiecewisePose", "PiecewiseQuaternionSlerp"),
        "scalar_templates": (
            "BezierCurve_",
            "BsplineTrajectory_",
            "CompositeTrajectory_",
            "PathParameterizedTrajectory_",
            "PiecewisePolynomial_",
            "PiecewisePose_",
            "PiecewiseQuaternionSlerp_",
            "StackedTrajectory_",
            "Trajectory_",
        ),
        "splines": ("BezierCurve", "BsplineTrajectory"),
    },
)
