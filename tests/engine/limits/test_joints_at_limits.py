"""Steps from states in which joints are exactly at their limits: at rest, in free fall, pushed, several at once."""

import numpy as np
import pytest
from limited_trees import random_limited_urdf, state_at_limits

import mbcli.multibody.parsing
import mbcli.multibody.plant
from mbcli.systems.analysis import Simulator

OURS = mbcli.multibody.plant, mbcli.multibody.parsing
H = 1e-3
SEEDS = range(8)
# of one step, of velocities up to 10 and accelerations up to 1e4 at stops
AS_PYDRAKE = 1e-9


class Robot:
    """A random robot with limits in mbcli, and what sets it in a state."""

    def __init__(self, seed, floating, damped, approximation="kLagged", gravity=True, library=OURS, scheme="midpoint"):
        self.text, self.limits = random_limited_urdf(seed, floating=floating, damped=damped)
        plants, parsing = library
        self.plant = plants.MultibodyPlant(H)
        if library is OURS:
            self.plant.set_step_scheme(scheme)
        self.plant.set_discrete_contact_approximation(getattr(plants.DiscreteContactApproximation, approximation))
        parsing.Parser(self.plant).AddModelsFromString(self.text, "urdf")
        if not gravity:
            self.plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
        self.plant.Finalize()

    def context(self, positions, velocities, locked=()):
        context = self.plant.CreateDefaultContext()
        for name, q in positions.items():
            joint = self.plant.GetJointByName(name)
            self.plant.SetPositions(context, self.with_position(context, joint, q))
        self.plant.SetVelocities(context, velocities)
        for name in locked:
            self.plant.GetJointByName(name).Lock(context)
        return context

    def with_position(self, context, joint, q):
        positions = self.plant.GetPositions(context)
        positions[joint.position_start()] = q
        return positions


def velocities(kind, size, rng):
    return {"at rest": np.zeros(size), "moving": rng.normal(size=size), "slow": 1e-12 * rng.normal(size=size)}[kind]


@pytest.mark.parametrize("motion", ["at rest", "slow", "moving"])
@pytest.mark.parametrize("gravity", [True, False], ids=["falling", "weightless"])
@pytest.mark.parametrize("floating", [True, False], ids=["floating", "fixed"])
@pytest.mark.parametrize("approximation", ["kLagged", "kSap", "kTamsi"])
def test_a_step_from_limits_is_finite_and_keeps_them(floating, gravity, motion, approximation):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        robot = Robot(seed, floating, damped=seed % 2 == 1, approximation=approximation, gravity=gravity)
        for n in range(6):
            at = state_at_limits(robot.limits, rng, inside=0.0 if n == 0 else 0.3)
            v = velocities(motion, robot.plant.num_velocities(), rng)
            locked = list(robot.limits)[:2] if n == 5 else ()
            context = robot.context(at, np.zeros_like(v) if locked else v, locked)
            Simulator(robot.plant, context).AdvanceTo(H)
            assert np.isfinite(robot.plant.GetPositionsAndVelocities(context)).all()
            for name, (lower, upper) in robot.limits.items():
                velocity = robot.plant.GetJointByName(name).GetOneVelocity(context)
                if motion == "at rest" and at[name] == lower:
                    assert velocity > -1e-3
                if motion == "at rest" and at[name] == upper:
                    assert velocity < 1e-3


def test_a_robot_that_falls_with_all_joints_at_stops_does_not_move_in_itself():
    """Free fall from rest: no stop has anything to do, whatever rounding says."""
    for seed in SEEDS:
        robot = Robot(seed, floating=True, damped=False)
        at = state_at_limits(robot.limits, np.random.default_rng(seed), inside=0.0)
        context = robot.context(at, np.zeros(robot.plant.num_velocities()))
        Simulator(robot.plant, context).AdvanceTo(0.05)
        for name in robot.limits:
            assert abs(robot.plant.GetJointByName(name).GetOneVelocity(context)) < 1e-10


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("approximation", ["kLagged", "kSap"])
@pytest.mark.parametrize("floating", [True, False], ids=["floating", "fixed"])
def test_a_thousand_states_at_limits_step_as_pydrakes(floating, approximation):
    """10 robots, 25 states each, in four groups of these parameters."""
    from pydrake.multibody import parsing, plant
    from pydrake.systems.analysis import Simulator as DrakeSimulator

    worst = 0.0
    for seed in range(100, 110):
        rng = np.random.default_rng(seed)
        ours = Robot(seed, floating, damped=seed % 2 == 1, approximation=approximation, scheme="drake")
        theirs = Robot(seed, floating, seed % 2 == 1, approximation, library=(plant, parsing))
        assert theirs.plant.GetPositionNames() == ours.plant.GetPositionNames()
        for n in range(25):
            at = state_at_limits(ours.limits, rng, inside=0.3)
            v = velocities(("at rest", "moving", "slow")[n % 3], ours.plant.num_velocities(), rng)
            states = []
            for robot, simulator in ((ours, Simulator), (theirs, DrakeSimulator)):
                context = robot.context(at, v)
                simulator(robot.plant, context).AdvanceTo(H)
                states.append(robot.plant.GetPositionsAndVelocities(context))
                if floating:
                    states[-1][:4] /= np.linalg.norm(states[-1][:4])  # pydrake lets it grow
            difference = abs(states[0] - states[1])
            assert np.isfinite(states[0]).all()
            worst = max(worst, difference.max())
    assert worst < AS_PYDRAKE


@pytest.mark.parametrize("floating", [True, False], ids=["floating", "fixed"])
@pytest.mark.parametrize("approximation", ["kLagged", "kTamsi"])
def test_positions_beyond_their_limits_return_slowly_and_gain_nothing(floating, approximation):
    """Half a degree to a radian beyond: no faster than the stops push, whatever the step, and no energy."""
    for seed in range(4):
        robot = Robot(seed, floating, damped=False, approximation=approximation, gravity=False)
        rng = np.random.default_rng(seed)
        at = {name: upper + rng.choice([0.0087, 1.0]) for name, (_, upper) in robot.limits.items()}
        context = robot.context(at, np.zeros(robot.plant.num_velocities()))
        for until in (H, 0.05, 0.2):
            Simulator(robot.plant, context).AdvanceTo(until)
            for name, (_, upper) in robot.limits.items():
                velocity = robot.plant.GetJointByName(name).GetOneVelocity(context)
                position = robot.plant.GetPositions(context)[robot.plant.GetJointByName(name).position_start()]
                assert position > upper
                assert -1e-2 < velocity < 0.0  # others pull at it
            assert robot.plant.CalcKineticEnergy(context) < 1e-4


def test_a_stop_that_is_passed_bears_a_load_where_it_is_and_lifts_it_back():
    """An arm that weighs on a stop, a tenth of a radian beyond it: it goes back as fast against its weight."""
    urdf = """<robot name="r"><link name="world"/><link name="arm"><inertial><origin xyz="1 0 0"/><mass value="5"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="0" effort="1" velocity="1"/></joint></robot>"""
    for h in (1e-3, 1e-2):
        plant = mbcli.multibody.plant.MultibodyPlant(h)
        mbcli.multibody.parsing.Parser(plant).AddModelsFromString(urdf, "urdf")
        plant.Finalize()
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [0.1])
        Simulator(plant, context).AdvanceTo(1.0)
        assert plant.GetVelocities(context)[0] == pytest.approx(-1e-3, rel=0.05)
        assert plant.GetPositions(context)[0] == pytest.approx(0.099, abs=1e-4)
