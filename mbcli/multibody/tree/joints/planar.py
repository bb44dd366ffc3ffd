"""PlanarJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.engine.smooth.joints import planar
from mbcli.multibody.tree.joint import Joint, X, Y, Z

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector, Vector3
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame


class PlanarJoint(Joint):
    """x, y [m] along F and a rotation [rad] about z; damping (3,) in N s/m, N s/m, N m s.

    Forces on its coordinates act on Mo along x and y of F [N], and as a torque about z [N m].
    """

    kinematics = planar
    kTypeName = "planar"
    _rotates = _translates = True

    def __init__(
        self, name: str, frame_on_parent: Frame, frame_on_child: Frame, damping: ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        super().__init__(name, frame_on_parent, frame_on_child, damping)

    def held_rows(self, rows: Any) -> Any:
        """The rows that hold M in the plane z = 0 of F."""
        return rows.slides(Z) + rows.alignments((X, Y), Z)

    def default_damping(self) -> Vector3:
        """(3,) [N s/m, N s/m, N m s]"""
        return self.default_damping_vector()

    damping = default_damping  # its name in earlier releases

    def get_translation(self, context: Context) -> Vector:
        """p_FoMo_F: x and y (2,) [m]"""
        return self.GetPositions(context)[:2]

    def set_translation(self, context: Context, p_FoMo_F: ArrayLike) -> PlanarJoint:
        """Replaces p_FoMo_F (2,) [m] in a context; returns the joint."""
        return self.set_pose(context, p_FoMo_F, self.get_rotation(context))

    def get_rotation(self, context: Context) -> Scalar:
        """[rad]"""
        return context.state.scalar.number(self.GetPositions(context)[2])

    def set_rotation(self, context: Context, theta: float) -> PlanarJoint:
        """Replaces theta [rad] in a context; returns the joint."""
        return self.set_pose(context, self.get_translation(context), theta)

    def set_pose(self, context: Context, p_FoMo_F: ArrayLike, theta: float) -> PlanarJoint:
        """Replaces p_FoMo_F (2,) [m] and theta [rad] in a context; returns the joint."""
        self.SetPositions(context, [*self._sized(p_FoMo_F, 2, context), theta])
        return self

    def get_translational_velocity(self, context: Context) -> Vector:
        """v_FoMo_F: along x and y (2,) [m/s]"""
        return self.GetVelocities(context)[:2]

    def set_translational_velocity(self, context: Context, v_FoMo_F: ArrayLike) -> PlanarJoint:
        """Replaces v_FoMo_F (2,) [m/s] in a context; returns the joint."""
        self.SetVelocities(context, [*self._sized(v_FoMo_F, 2, context), self.get_angular_velocity(context)])
        return self

    def get_angular_velocity(self, context: Context) -> Scalar:
        """[rad/s]"""
        return context.state.scalar.number(self.GetVelocities(context)[2])

    def set_angular_velocity(self, context: Context, theta_dot: float) -> PlanarJoint:
        """Replaces the rate of theta [rad/s] in a context; returns the joint."""
        self.SetVelocities(context, [*self.get_translational_velocity(context), theta_dot])
        return self

    def get_default_translation(self) -> Vector:
        """p_FoMo_F: x and y (2,) [m] in new contexts."""
        return self.default_positions()[:2]

    def set_default_translation(self, p_FoMo_F: ArrayLike) -> None:
        """Replaces p_FoMo_F (2,) [m] of new contexts."""
        self._set_default_part(0, p_FoMo_F, 2)

    def get_default_rotation(self) -> float:
        """theta [rad] in new contexts."""
        return float(self._default_positions[2])

    def set_default_rotation(self, theta: float) -> None:
        """Replaces theta [rad] of new contexts."""
        self._set_default_part(2, theta, 1)

    def set_default_pose(self, p_FoMo_F: ArrayLike, theta: float) -> None:
        """Replaces p_FoMo_F (2,) [m] and theta [rad] of new contexts."""
        self.set_default_positions([*self._sized(p_FoMo_F, 2), theta])

    def set_random_pose_distribution(self, p_FoMo_F: Any, theta: Any) -> None:
        """Distribution of plant.SetRandomState() for x and y, and the angle; see random_distribution."""
        self._set_random_parts((0, p_FoMo_F, 2), (2, theta, 1))
