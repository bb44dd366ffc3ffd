"""Holding and driving joints in plants whose steps have no controllers: a sampled controller gives the efforts.

The law is that of engine/limits/pd_control.py. A step takes the controller at its end, -Kp (q + h v' - q_d) -
Kd (v' - v_d); here the motion until the next tick is not known, and that of the inertia I of the joint alone stands for
it: gains are divided by 1 + (h Kd + h^2 Kp) / I. So gains of any size are stable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.models.servo_gains import joint_inertias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.held_joint import Held

SERVO_PERIOD = 0.001  # [s] of continuous plants


class ServoTicks:
    """The controller of a run that holds and drives joints.

    Args:
        plant: finalized.
        q: (nq,) at which inertias are taken.
        held: what is held and driven.
        carried: {actuator: effort [N m or N]} that is fed forward at the start.
        input_at: time [s] -> actuation (nu,) that is added.
    """

    name = "hold"

    def __init__(
        self,
        plant: MultibodyPlant,
        q: Vector,
        held: Mapping[JointActuator, Held],
        carried: Mapping[JointActuator, float],
        input_at: Callable[[float], Vector],
    ) -> None:
        h = self.period = plant.time_step() or SERVO_PERIOD
        actuators, self._input_at = list(held), input_at
        dofs = [a.joint().velocity_start() for a in actuators]
        inertia = joint_inertias(plant, q)[dofs]
        aims = np.array([(each.position, each.velocity, each.p, each.d, each.rate) for each in held.values()])
        self._q_desired, self._v_desired, p, d, rate = aims.reshape(-1, 5).T
        softer = 1.0 + h * (d + h * p) / inertia
        self._p, self._d, self._share = p / softer, d / softer, np.minimum(1.0, h * rate)
        self._places = np.array([a.joint().position_start() for a in actuators], dtype=int)
        self._dofs, self._inputs = np.array(dofs, dtype=int), np.array([a.input_start() for a in actuators], dtype=int)
        self._limit = np.array([a.effort_limit() for a in actuators])
        self._carried = np.array([carried[a] for a in actuators])
        self._h = h

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """The efforts of a tick."""
        u[:] = self._input_at(time)
        forward = u[self._inputs]
        error = q[self._places] + self._h * v[self._dofs] - self._q_desired
        effort = forward + self._carried - self._p * error - self._d * (v[self._dofs] - self._v_desired)
        effort = np.clip(effort, -self._limit, self._limit)
        self._carried += self._share * (effort - forward - self._carried)
        u[self._inputs] = effort

    def compiled_calls(self, state: object, u: FloatArray) -> None:
        """It is of Python."""

    def save(self) -> dict[str, FloatArray]:
        """What it feeds forward."""
        return {"servo_carried": self._carried.copy()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save()."""
        self._carried[:] = saved["servo_carried"]
