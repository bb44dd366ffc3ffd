"""CurvilinearJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.engine.smooth.joints import curvilinear
from mbcli.multibody.tree.joints.one_dof import OneDofJoint, limits_and_damping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import Scalar
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.multibody_forces import MultibodyForces
    from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory

LARGEST_GAP = 1e-6  # between the ends of a periodic curve, relative to its length; more is a jump at every lap


class CurvilinearJoint(OneDofJoint):
    """Travel of M by a distance s [m] along a plane curve in F: X_FM = curvilinear_path.CalcPose(s); damping in N s/m.

    CurvilinearJoint(name, F, M, curvilinear_path, damping) or CurvilinearJoint(name, F, M, curvilinear_path,
    pos_lower_limit, pos_upper_limit, damping); the damping is 0 if it is not given. Without limits the joint is
    limited to the length of the curve, [0, L], and not limited if the curve is periodic. x of M is the direction of
    travel, z of M the normal of the plane. A force on its coordinate acts on Mo along x of M [N].

    Where the turning rate jumps, at a break, the angular velocity jumps with it while the speed does not: the kinetic
    energy of a body that resists turning is not continuous there.

    Args:
        curvilinear_path: a PiecewiseConstantCurvatureTrajectory; RuntimeError if it is periodic and does not close.
    """

    kinematics = curvilinear
    kTypeName = "curvilinear"
    _rotates = _translates = True

    def __init__(
        self,
        name: str,
        frame_on_parent: Frame,
        frame_on_child: Frame,
        curvilinear_path: PiecewiseConstantCurvatureTrajectory,
        *arguments: Any,
        pos_lower_limit: float | None = None,
        pos_upper_limit: float | None = None,
        damping: float | None = None,
    ) -> None:
        if curvilinear_path.get_number_of_segments() == 0:
            raise RuntimeError(f"joint '{name}': the curve is empty")
        if curvilinear_path.is_periodic():
            largest_gap = LARGEST_GAP * max(1.0, curvilinear_path.length())
            if not curvilinear_path.EndpointsAreNearlyEqual(largest_gap):
                raise RuntimeError(f"joint '{name}': the curve is periodic, but its ends do not meet")
        self._path = curvilinear_path
        limited = len(arguments) > 1 or pos_lower_limit is not None or pos_upper_limit is not None
        lower, upper, damping = limits_and_damping(arguments, pos_lower_limit, pos_upper_limit, damping)
        if not (limited or curvilinear_path.is_periodic()):
            lower, upper = 0.0, curvilinear_path.length()
        super().__init__(name, frame_on_parent, frame_on_child, damping, lower, upper)

    @classmethod
    def from_description(
        cls, name: str, frame_on_parent: Frame, frame_on_child: Frame, stated: Mapping[str, Any]
    ) -> None:
        """None: the entry does not say along which curve."""

    def get_trajectory(self) -> PiecewiseConstantCurvatureTrajectory:
        """The PiecewiseConstantCurvatureTrajectory."""
        return self._path

    def get_distance(self, context: Context) -> Scalar:
        """s [m], not wrapped."""
        return self.GetOnePosition(context)

    def set_distance(self, context: Context, distance: float) -> CurvilinearJoint:
        """Replaces s [m] in a context; returns the joint."""
        return self._set_position(context, distance)

    def get_tangential_velocity(self, context: Context) -> Scalar:
        """[m/s]"""
        return self.GetOneVelocity(context)

    def set_tangential_velocity(self, context: Context, tangential_velocity: float) -> CurvilinearJoint:
        """Replaces the rate of s [m/s] in a context; returns the joint."""
        return self._set_velocity(context, tangential_velocity)

    def get_default_distance(self) -> Scalar:
        """s [m] in new contexts."""
        return self._default_position()

    def set_default_distance(self, distance: float) -> None:
        """Replaces s [m] of new contexts."""
        self.set_default_positions([distance])

    def set_random_distance_distribution(self, distance: Any) -> None:
        """Distribution of plant.SetRandomState() for s; see mbcli.multibody.tree.random_distribution."""
        self._set_random_parts((0, distance, 1))

    def AddInForce(self, context: Context, force: Scalar, forces: MultibodyForces) -> None:
        """Adds a force [N] on Mo along x of M."""
        self.AddInOneForce(context, 0, force, forces)
