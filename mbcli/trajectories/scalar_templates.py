"""X_[T] of trajectories."""

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.trajectories.combined import CompositeTrajectory, PathParameterizedTrajectory, StackedTrajectory
from mbcli.trajectories.curve import Trajectory
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial
from mbcli.trajectories.poses import PiecewisePose, PiecewiseQuaternionSlerp
from mbcli.trajectories.splines import BezierCurve, BsplineTrajectory

BezierCurve_ = ScalarTemplate(BezierCurve)
BsplineTrajectory_ = ScalarTemplate(BsplineTrajectory)
CompositeTrajectory_ = ScalarTemplate(CompositeTrajectory)
PathParameterizedTrajectory_ = ScalarTemplate(PathParameterizedTrajectory)
PiecewisePolynomial_ = ScalarTemplate(PiecewisePolynomial)
PiecewisePose_ = ScalarTemplate(PiecewisePose)
PiecewiseQuaternionSlerp_ = ScalarTemplate(PiecewiseQuaternionSlerp)
StackedTrajectory_ = ScalarTemplate(StackedTrajectory)
Trajectory_ = ScalarTemplate(Trajectory)
