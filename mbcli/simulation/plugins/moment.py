"""Moment: what the laws of plugins read of a state, and what they give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.state.context import Context
from mbcli.multibody.stepping.inputs import LinkForce
from mbcli.simulation.plugins.resistance import Resistance, about_origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.math.array_types import FloatArray, Matrix3, Vector3
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody


class Moment:
    """A state of a plant, read by laws, and the efforts, velocities of joints and forces that they give.

    Args:
        of_run: a context of the plant, whose parameters count.
        period: [s] for which what is given holds.
        ahead: [s] after the time of a state: where bodies are then, their forces are taken.
        efforts: {velocity index: actuator index} of joints that take efforts.
        driven: {velocity index: row of the PD controller} of joints that are driven at velocities.
        pushed: bodies on which forces act.

    Attributes:
        time: [s] of the state.
        gravity: (3,) [m/s^2] in World; wind: (3,) [m/s] of the air, in World.
        forces: [LinkForce], one for each of these bodies, about its origin.
        u: (nu,) efforts [N m or N] of this moment.
        aims: {row: velocity} of this moment.
    """

    def __init__(
        self,
        of_run: Context,
        period: float,
        ahead: float,
        efforts: Mapping[int, int],
        driven: Mapping[int, int],
        pushed: Sequence[RigidBody],
    ) -> None:
        plant: MultibodyPlant = of_run.state.plant
        self.time, self.period, self._ahead, self.wind = 0.0, period, ahead, np.array(plant.wind)
        self.gravity = plant.gravity_field().gravity_vector()
        self._plant, self._context = plant, Context(plant)
        self._context.state.take_parameters(of_run.state)
        self._efforts, self._driven = efforts, driven
        zero, links = np.zeros(3), [int(body.index()) for body in pushed if body is not plant.world_body()]
        self.forces = [LinkForce(n, zero, np.zeros(6), -np.inf, np.inf) for n in links]
        self._wrench = {force.link: force.force for force in self.forces}
        self.resistance = Resistance(plant, period, links)
        self.u: FloatArray = np.zeros(plant.num_actuators())
        self.aims: dict[int, float] = {}
        self._q: Any = None
        self._v: Any = None

    def begin(self, time: float, q: FloatArray, v: FloatArray) -> None:
        """Of the state q (nq,), v (nv,) at a time [s], with nothing given yet."""
        self.time = time
        self._q, self._v = q, v
        self._plant.SetPositions(self._context, q)
        if self._ahead:  # bodies; joints stay where a controller sees them
            qdot = self._plant.MapVelocityToQDot(self._context, v)
            self._plant.SetPositions(self._context, q + self._ahead * qdot)
        self._plant.SetVelocities(self._context, v)
        for force in self.forces:
            force.force[:] = 0.0
        self.resistance.begin()
        self.u[:] = 0.0
        self.aims.clear()

    def finish(self) -> None:
        """After all laws: forces that fall with velocities do so within the step, where it takes much of these."""
        for link, change in self.resistance.changes(self._context, self._v):
            self._wrench[link] += change

    # what laws read

    def position(self, joint: Joint) -> float:
        """[rad or m] of a joint of one axis."""
        return float(self._q[joint.position_start()])

    def velocity(self, joint: Joint) -> float:
        """[rad/s or m/s] likewise."""
        return float(self._v[joint.velocity_start()])

    def axis(self, joint: Any) -> Vector3:
        """(3,) its axis, in World."""
        return joint.frame_on_parent().CalcPoseInWorld(self._context).rotation().matrix() @ joint.axis()

    def rotation(self, body: RigidBody) -> Matrix3:
        """R_WB (3, 3)."""
        return self._plant.EvalBodyPoseInWorld(self._context, body).rotation().matrix()

    def origin(self, body: RigidBody) -> Vector3:
        """(3,) [m] of its frame, in World."""
        return self._plant.EvalBodyPoseInWorld(self._context, body).translation()

    def centre_of_mass(self, body: RigidBody) -> Vector3:
        """(3,) [m] in its frame."""
        return np.array(body.CalcCenterOfMassInBodyFrame(self._context))

    def inertia(self, body: RigidBody) -> tuple[float, Matrix3]:
        """[kg], and (3, 3) [kg m^2] about its centre of mass in World."""
        M, R = body.CalcSpatialInertiaInBodyFrame(self._context), self.rotation(body)
        about_centre = M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
        return float(M.get_mass()), R @ about_centre @ R.T

    def angular_velocity(self, body: RigidBody) -> Vector3:
        """w_WB (3,) [rad/s] in World."""
        return self._plant.EvalBodySpatialVelocityInWorld(self._context, body).rotational()

    def velocity_of(self, body: RigidBody, point: Vector3 | None = None) -> Vector3:
        """(3,) [m/s] in World, of a point (3,) [m] of its frame; None: its origin."""
        V = self._plant.EvalBodySpatialVelocityInWorld(self._context, body)
        if point is None:
            return V.translational()
        return V.translational() + np.cross(V.rotational(), self.rotation(body) @ point)

    # what laws give

    def effort(self, joint: Joint, effort: float) -> None:
        """More effort [N m or N] on a joint."""
        self.u[self._efforts[joint.velocity_start()]] += effort

    def drive(self, joint: Joint, velocity: float) -> None:
        """A joint goes at a velocity [rad/s or m/s], with the effort that this takes, within its limit."""
        row = self._driven.get(joint.velocity_start())
        if row is not None:
            self.aims[row] = velocity

    def force(
        self, body: RigidBody, force: Vector3, point: Vector3 | None = None, slope: Matrix3 | None = None
    ) -> None:
        """More force (3,) [N] in World on a body, at a point (3,) [m] of its frame; None: its origin.

        slope: (3, 3) [N s/m] by which it falls with the velocity of the point, in World, not negative; None: it stays.
        """
        arm = np.zeros(3) if point is None else self.rotation(body) @ point
        self._add(body, np.concatenate([np.cross(arm, force), force]), None if slope is None else (slope, arm))

    def torque(self, body: RigidBody, torque: Vector3, slope: Matrix3 | None = None) -> None:
        """More moment (3,) [N m] in World on a body; slope: (3, 3) [N m s] by which it falls with angular velocity."""
        self._add(body, np.concatenate([torque, np.zeros(3)]), None if slope is None else (slope, None))

    def _add(self, body: RigidBody, wrench: FloatArray, falls: tuple[Matrix3, Vector3 | None] | None) -> None:
        link = int(body.index())
        if link not in self._wrench:  # it is World
            return
        self._wrench[link] += wrench
        if falls is not None:
            slope, arm = falls
            if arm is None:
                self.resistance.add(link, wrench, np.kron([[1.0, 0.0], [0.0, 0.0]], slope))
            else:
                self.resistance.add(link, wrench, about_origin(slope, arm))
