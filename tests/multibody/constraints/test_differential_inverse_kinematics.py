"""Velocities of joints that move a frame as wanted: what they promise, and pydrake's."""

from importlib import import_module

import numpy as np
import pytest
from repository import SAMPLES

ARM = str(SAMPLES / "arm7.urdf")


class Arm:
    """The arm of seven joints under mbcli or pydrake, and the parameters of its differential inverse kinematics."""

    def __init__(self, root):
        self.ik = import_module(f"{root}.multibody.inverse_kinematics")
        self.math = import_module(f"{root}.math")
        parsing, plant = (import_module(f"{root}.multibody.{name}") for name in ("parsing", "plant"))
        self.plant = plant.MultibodyPlant(0.001)
        parsing.Parser(self.plant).AddModels(ARM)
        names = [self.plant.get_body(index).name() for index in self.plant.GetBodyIndices(first_model(self.plant))]
        self.plant.Finalize()
        self.tip = self.plant.GetFrameByName(names[-1])
        self.context = self.plant.CreateDefaultContext()
        n = self.plant.num_positions()
        self.parameters = self.ik.DifferentialInverseKinematicsParameters(n, n)
        self.parameters.set_time_step(0.01)
        self.parameters.set_joint_velocity_limits((np.full(n, -0.8), np.full(n, 0.8)))
        self.parameters.set_joint_acceleration_limits((np.full(n, -40.0), np.full(n, 40.0)))
        self.parameters.set_joint_position_limits((np.full(n, -2.0), np.full(n, 2.0)))
        self.parameters.set_nominal_joint_position(np.linspace(-0.3, 0.4, n))
        self.parameters.set_joint_centering_gain(0.5 * np.eye(n))

    def solve(self, q, wanted):
        self.plant.SetPositions(self.context, q)
        do = self.ik.DoDifferentialInverseKinematics
        return do(self.plant, self.context, wanted, self.tip, self.parameters)


def first_model(plant):
    return import_module(f"{type(plant).__module__.split('.')[0]}.multibody.tree").ModelInstanceIndex(2)


def jacobian(arm):
    """J (6, nv) of the tip at the positions of the context, in World."""
    kV, world = import_module("mbcli.multibody.tree").JacobianWrtVariable.kV, arm.plant.world_frame()
    return arm.plant.CalcJacobianSpatialVelocity(arm.context, kV, arm.tip, np.zeros(3), world, world)


STATES = np.random.default_rng(8).uniform(-1.2, 1.2, size=(12, 7))


@pytest.mark.parametrize("size", [0.05, 0.5, 5.0])
def test_the_frame_moves_along_what_is_wanted_within_all_limits(size):
    arm = Arm("mbcli")
    for k, q in enumerate(STATES):
        V = size * np.random.default_rng(k).normal(size=6)
        result = arm.solve(q, V)
        v = result.joint_velocities
        assert result.status.name in ("kSolutionFound", "kStuck")
        arm.plant.SetVelocities(arm.context, v)
        found = arm.plant.EvalBodySpatialVelocityInWorld(arm.context, arm.tip.body()).get_coeffs()
        arm.plant.SetVelocities(arm.context, np.zeros(7))
        alpha = found @ V / (V @ V)
        np.testing.assert_allclose(found, alpha * V, atol=1e-9 * max(1.0, size))
        assert -1e-9 <= alpha <= 1.0 + 1e-9 and np.abs(v).max() <= 0.4 + 1e-6  # 40 rad/s^2 in 10 ms


def test_a_pose_is_reached_and_what_is_free_goes_to_the_middle():
    arm = Arm("mbcli")
    arm.parameters.set_joint_acceleration_limits((np.full(7, -1e3), np.full(7, 1e3)))
    q, goal = STATES[0].copy(), None
    arm.plant.SetPositions(arm.context, STATES[0] + 0.15)
    goal = arm.tip.CalcPoseInWorld(arm.context)
    for _ in range(400):
        q = q + 0.01 * arm.solve(q, goal).joint_velocities
    arm.plant.SetPositions(arm.context, q)
    assert arm.tip.CalcPoseInWorld(arm.context).IsNearlyEqualTo(goal, 1e-6)
    gap = arm.parameters.get_nominal_joint_position() - q
    null = np.linalg.svd(jacobian(arm))[2][6:]
    before = null @ (arm.parameters.get_nominal_joint_position() - STATES[0])
    assert abs(float((null @ gap)[0])) < abs(float(before[0]))


def test_limits_that_cannot_hold_have_no_solution_and_small_ones_are_stuck():
    arm = Arm("mbcli")
    kinds = arm.ik.DifferentialInverseKinematicsStatus
    assert arm.solve(np.full(7, 3.0), np.ones(6)).status is kinds.kNoSolutionFound  # 1 rad beyond, in one step
    arm.parameters.set_joint_velocity_limits((np.full(7, -1e-5), np.full(7, 1e-5)))
    assert arm.solve(STATES[1], np.ones(6)).status is kinds.kStuck
    for wrong in (
        lambda: arm.parameters.set_time_step(0.0),
        lambda: arm.parameters.set_joint_velocity_limits((np.ones(7), -np.ones(7))),
        lambda: arm.parameters.set_nominal_joint_position([1.0]),
        lambda: arm.ik.DoDifferentialInverseKinematics(
            np.zeros(7), np.zeros(7), np.zeros(3), np.eye(7), arm.parameters
        ),
    ):
        with pytest.raises(RuntimeError):
            wrong()


def test_an_integrator_follows_a_pose_in_a_diagram():
    from mbcli.common.value import AbstractValue
    from mbcli.math import RigidTransform
    from mbcli.systems.analysis import Simulator

    arm = Arm("mbcli")
    system = arm.ik.DifferentialInverseKinematicsIntegrator(arm.plant, arm.tip, 0.01, arm.parameters)
    simulator = Simulator(system)
    context = simulator.get_mutable_context()
    arm.plant.SetPositions(arm.context, STATES[2] + 0.1)
    goal = arm.tip.CalcPoseInWorld(arm.context)
    system.SetPositions(context, STATES[2])
    system.GetInputPort("X_AE_desired").FixValue(context, AbstractValue.Make(goal))
    simulator.AdvanceTo(4.0)
    assert system.ForwardKinematics(context).IsNearlyEqualTo(goal, 1e-5)
    assert system.GetOutputPort("joint_positions").Eval(context).shape == (7,)
    away = AbstractValue.Make(RigidTransform([9.0, 0.0, 9.0]))
    for wanted, status in ((away, "kStuck"), (AbstractValue.Make(goal), "kSolutionFound")):
        system.GetInputPort("X_AE_desired").FixValue(context, wanted)
        simulator.AdvanceTo(context.get_time() + 3.0)
        (number,) = context.get_discrete_state(1).CopyToVector()
        assert arm.ik.DifferentialInverseKinematicsStatus(int(number)).name == status


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("size", [0.02, 0.3, 2.0, 5.0])
def test_the_cost_that_pydrake_states_is_not_larger_than_its_own(size):
    """Where limits act, pydrake's velocities cost a little more by its own formula; elsewhere they are ours."""
    ours, theirs = Arm("mbcli"), Arm("pydrake")
    for k, q in enumerate(STATES):
        V = size * np.random.default_rng(k).normal(size=6)
        a, b = ours.solve(q, V), theirs.solve(q, V)
        assert a.status.name == b.status.name
        J = jacobian(ours)
        P = np.linalg.svd(J)[2][6:]
        rest = 0.5 * (np.linspace(-0.3, 0.4, 7) - q)
        alpha, cost = [], []
        for v in (a.joint_velocities, b.joint_velocities):
            alpha.append(J @ v @ V / (V @ V))
            cost.append(-100.0 * alpha[-1] + np.sum((P @ (v - rest)) ** 2))
            np.testing.assert_allclose(J @ v, alpha[-1] * V, atol=1e-9 * size)
        assert cost[0] <= cost[1] + 1e-4
        if alpha[1] > 1.0 - 1e-6:
            np.testing.assert_allclose(a.joint_velocities, b.joint_velocities, atol=1e-6)


def cost_of(v, J, V, P, rest):
    """alpha and the cost of joint velocities (nv,)."""
    alpha = (J @ v) @ V / (V @ V)
    return alpha, -100.0 * alpha + np.square(P @ (v - rest)).sum()


@pytest.mark.parametrize("seed", range(40))
def test_velocities_at_limits_are_the_best_of_all_that_hold(seed):
    """The cost is convex: no way that stays within the limits leads down from the least."""
    ik, rng = import_module("mbcli.multibody.inverse_kinematics"), np.random.default_rng(seed)
    J = rng.normal(size=(rng.integers(1, 4), 5))
    V, P = rng.normal(size=len(J)), np.linalg.svd(J)[2][len(J) :]
    parameters, rest = ik.DifferentialInverseKinematicsParameters(5, 5), rng.uniform(-0.5, 0.5, 5)
    parameters.set_time_step(0.1)
    parameters.set_joint_velocity_limits((-rng.uniform(0.02, 0.5, 5), rng.uniform(0.02, 0.5, 5)))
    parameters.set_joint_position_limits((-rng.uniform(0.0, 0.05, 5), rng.uniform(0.0, 0.05, 5)))
    parameters.set_joint_centering_gain(np.eye(5))
    parameters.set_nominal_joint_position(rest)
    found = ik.DoDifferentialInverseKinematics(np.zeros(5), np.zeros(5), V, J, parameters).joint_velocities
    G, h = parameters.rows(np.zeros(5), np.zeros(5), np.eye(5))
    alpha, least = cost_of(found, J, V, P, rest)
    assert (G @ found <= h + 1e-8).all()
    np.testing.assert_allclose(J @ found, alpha * V, atol=1e-9)
    tried = 0
    for way in (np.column_stack([np.linalg.pinv(J) @ V, P.T]) @ rng.normal(size=(1 + len(P), 2000))).T:
        alpha, cost = cost_of(found + 1e-3 * way, J, V, P, rest)
        if (G @ (found + 1e-3 * way) <= h).all() and 0.0 <= alpha <= 1.0:
            assert cost >= least - 1e-8
            tried += 1
    assert tried
