"""Following a plan: by computed torque, by PD controllers with gravity compensation, or exactly.

computed-torque  u is what gives the accelerations of the plan, corrected by the errors: vdot = vdot_d +
                 2 w (v_d - v) + w^2 (q_d - q), with w = STIFFNESS, by the equations of motion at each call
pd               PD controllers of the gains of `--hold` aim at the plan at the end of each step, beside the efforts
                 that hold the robot against gravity, where it does not float
prescribed       controllers so stiff, without effort limits, that the joints are where the plan is at the end of each
                 step; their efforts are those that the motion takes

Actuated joints that are not in the plan stay where they start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.models.mechanisms import mechanisms
from mbcli.models.servo_gains import gains, joint_inertias
from mbcli.multibody.core.inputs import steps_with_controllers
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.simulation.control.choices import WAYS
from mbcli.simulation.control.commands import Commands
from mbcli.simulation.control.make_controller import period_of
from mbcli.simulation.control.run_controller import RunController
from mbcli.simulation.held_joint import Held

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.tree.joint_actuator import JointActuator
    from mbcli.simulation.control.plans import Plan

STIFFNESS = 50.0  # [rad/s] of the errors of computed torque, critically damped
RIGID = 1e9  # h Kd over the inertia of a joint whose motion is prescribed


class Follower(RunController):
    """The controller of a run that follows a plan.

    Args:
        plan: Plan.
        way: one of WAYS.
        plant: finalized, with the PD controllers of the run.
        q: (nq,) start of the run.
        effort_limits: "clamp", "warn" or "ignore".
    """

    def __init__(self, plan: Plan, way: str, plant: MultibodyPlant, q: Vector, effort_limits: str) -> None:
        super().__init__("trajectory", Commands(plant, effort_limits, period_of(None, plant)))
        self.plan, self._way, self._plant = plan, way, plant
        self._context, self._forces = Context(plant), MultibodyForces(plant)
        actuators = sorted(plant.elements.actuators, key=lambda actuator: actuator.input_start())
        self._dofs = np.array([a.joint().velocity_start() for a in actuators], dtype=int)
        self._places = np.array([a.joint().position_start() for a in actuators], dtype=int)
        self._rest = np.array(q)[self._places]
        rows = {int(d): k for k, d in enumerate(self._dofs)}
        self._rows = np.array([rows[int(d)] for d in plan.dofs], dtype=int)  # of the plan among the actuators
        self._free = np.setdiff1d(np.arange(plant.num_velocities()), self._dofs)
        self._pd = np.array(plant.model.pd_actuator, dtype=int)
        number = mechanisms(plant)
        floating = {int(number[n]) for n in plant.free_joints}
        self._stands = np.array([int(number[int(a.joint().child_body().index())]) not in floating for a in actuators])

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick."""
        if self._way == "computed-torque":
            self.commands.take(self._computed_torque(time, q, v), u, desired)
            return
        end = time + self.period
        wanted_q, wanted_v, _ = self._wanted(end)
        if self._way == "prescribed":
            wanted_v = (wanted_q - q[self._places]) / self.period
        desired[:, 0], desired[:, 1] = wanted_q[self._pd], wanted_v[self._pd]
        if self._way == "pd":
            self.commands.take(self._gravity(q), u, desired)

    def _wanted(self, time: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """q, v and vdot (nu,) of the joints of the actuators."""
        motion, q = self.plan.at(time), self._rest.copy()
        v, vdot = np.zeros(len(q)), np.zeros(len(q))
        q[self._rows], v[self._rows], vdot[self._rows] = motion.q, motion.v, motion.vdot
        return q, v, vdot

    def _computed_torque(self, time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        plant, context = self._plant, self._context
        wanted_q, wanted_v, wanted_vdot = self._wanted(time)
        errors = wanted_q - q[self._places], wanted_v - v[self._dofs]
        vdot = np.zeros(len(v))
        vdot[self._dofs] = wanted_vdot + STIFFNESS**2 * errors[0] + 2.0 * STIFFNESS * errors[1]
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, self._forces)
        if self._free.size:  # of joints without an actuator the accelerations follow from the others
            M, free = plant.CalcMassMatrix(context), self._free
            bias = plant.CalcInverseDynamics(context, vdot, self._forces)
            vdot[free] = -np.linalg.solve(M[np.ix_(free, free)], bias[free])
        return plant.CalcInverseDynamics(context, vdot, self._forces)[self._dofs]

    def _gravity(self, q: FloatArray) -> FloatArray:
        plant, context = self._plant, self._context
        plant.SetPositions(context, q)
        return np.where(self._stands, -plant.CalcGravityGeneralizedForces(context)[self._dofs], 0.0)


def require_followable(plan: Plan, way: str, plant: MultibodyPlant) -> None:
    """ArgumentError if joints of a plan have no actuator, or a way does not go with the plant."""
    if way not in WAYS:
        raise ArgumentError(f"{argument('follow')} is one of {', '.join(WAYS)}, not {way!r}")
    driven = [actuator.joint().velocity_start() for actuator in plant.elements.actuators]
    names = plant.GetVelocityNames()
    missing = [names[d] for d in plan.dofs if d not in driven]
    if missing:
        raise ArgumentError(f"{argument('trajectory')}: no actuator moves {', '.join(missing)}")
    shared = [names[d] for d in set(driven) if driven.count(d) > 1]
    if shared:
        raise ArgumentError(f"{argument('trajectory')}: several actuators move {', '.join(shared)}")
    if way == "computed-torque" and plant.free_joints and plant.meets_contact():
        raise ArgumentError(
            f"{argument('follow', way)}: forces of contact on a floating robot are not known before a step; give "
            f"{argument('follow', 'pd')} or {argument('follow', 'prescribed')}"
        )
    if way == "computed-torque" and plant.elements.constraints:
        raise ArgumentError(f"{argument('follow', way)} is for trees; give {argument('follow', 'prescribed')}")
    if way != "computed-torque" and not steps_with_controllers(plant):
        raise ArgumentError(
            f"{argument('follow', way)} needs a discrete plant whose steps take PD controllers; give {argument('dt')} "
            f"a step, or {argument('follow', 'computed-torque')}"
        )


def following_controllers(plan: Plan, way: str, plant: MultibodyPlant, q: Vector) -> dict[JointActuator, Held]:
    """The PD controllers by which joints follow; none for computed torque."""
    if way == "computed-torque":
        return {}
    inertia, h, held = joint_inertias(plant, q), plant.time_step(), {}
    for actuator in plant.elements.actuators:
        joint = actuator.joint()
        moved = float(inertia[joint.velocity_start()])
        p, d = gains(moved, actuator.effort_limit()) if way == "pd" else (0.0, RIGID * moved / h)
        held[actuator] = Held(float(q[joint.position_start()]), 0.0, p, d)
    return held
