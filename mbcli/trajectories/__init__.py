"""Curves over time or over their length, under the names of pydrake.trajectories."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.trajectories.combined import (
        CompositeTrajectory as CompositeTrajectory,
        PathParameterizedTrajectory as PathParameterizedTrajectory,
        StackedTrajectory as StackedTrajectory,
    )
    from mbcli.trajectories.constant_curvature import (
        PiecewiseConstantCurvatureTrajectory as PiecewiseConstantCurvatureTrajectory,
    )
    from mbcli.trajectories.curve import (
        DerivativeTrajectory as DerivativeTrajectory,
        FunctionHandleTrajectory as FunctionHandleTrajectory,
        PiecewiseTrajectory as PiecewiseTrajectory,
        Trajectory as Trajectory,
    )
    from mbcli.trajectories.discrete_times import DiscreteTimeTrajectory as DiscreteTimeTrajectory
    from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial as PiecewisePolynomial
    from mbcli.trajectories.poses import (
        PiecewisePose as PiecewisePose,
        PiecewiseQuaternionSlerp as PiecewiseQuaternionSlerp,
    )
    from mbcli.trajectories.scalar_templates import (
        BezierCurve_ as BezierCurve_,
        BsplineTrajectory_ as BsplineTrajectory_,
        CompositeTrajectory_ as CompositeTrajectory_,
        PathParameterizedTrajectory_ as PathParameterizedTrajectory_,
        PiecewisePolynomial_ as PiecewisePolynomial_,
        PiecewisePose_ as PiecewisePose_,
        PiecewiseQuaternionSlerp_ as PiecewiseQuaternionSlerp_,
        StackedTrajectory_ as StackedTrajectory_,
        Trajectory_ as Trajectory_,
    )
    from mbcli.trajectories.splines import BezierCurve as BezierCurve, BsplineTrajectory as BsplineTrajectory
