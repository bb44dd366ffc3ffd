"""Trajectories without contact against pydrake: every step of discrete plants, instants of continuous ones."""

from importlib import import_module

import numpy as np
import pytest
from repository import MODELS

pytestmark = pytest.mark.peers("pydrake")

needs_models = pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not here")

TIME_STEP = 1e-3
DURATION = 1.0
# Both sides take the same steps; what differs is rounding, which the motion of 1 s amplifies
TOLERANCE = 1e-9  # of the largest of 1 and the entries of pydrake's state

# Between instants the integrators choose their own steps: each result is off by a fraction of the accuracy asked for
ACCURACY = 1e-9
TIMES = (0.05, 0.1, 0.2)

# file: largest actuation [N m or N], largest initial velocity [rad/s or m/s]
CASES = {
    "iiwa14/iiwa14_no_collision.urdf": (5.0, 0.3),
    "atlas/atlas_minimal_contact.urdf": (5.0, 0.3),
    "allegro/allegro_hand_description_right.sdf": (0.01, 0.3),
    "quadrotor/quadrotor.urdf": (0.0, 0.3),
    "cart_pole/cart_pole.sdf": (5.0, 0.3),
    "acrobot/Acrobot.sdf": (1.0, 0.3),
    "ur3e/ur3e_cylinders_collision.urdf": (0.1, 0.3),
    "cassie/cassie_v2.urdf": (0.5, 0.3),
    "planar_gripper/planar_gripper.sdf": (0.01, 0.3),
}

# explicit damping is unstable where the step times damping over inertia exceeds 2, and Cassie's reaches 6200 / s
TAMSI_STEP = {"cassie/cassie_v2.urdf": 2e-4}


def make_plant(library, file, time_step, approximation=None, limited=False):
    plant_module = import_module(f"{library}.multibody.plant")
    plant = plant_module.MultibodyPlant(time_step)
    parser = import_module(f"{library}.multibody.parsing").Parser(plant)
    if parser.package_map().Contains("drake_models"):
        parser.package_map().Remove("drake_models")
    parser.package_map().Add("drake_models", str(MODELS))
    parser.AddModels(str(MODELS / file))
    for index in plant.GetJointIndices() if not limited else []:
        # stops make chaos of a second of motion, and under kTamsi pydrake has springs and dampers in their place
        joint = plant.get_mutable_joint(index)
        joint.set_position_limits(np.full(joint.num_positions(), -np.inf), np.full(joint.num_positions(), np.inf))
    if library == "mbcli":
        plant.set_step_scheme("drake")
    if approximation is not None:
        plant.set_discrete_contact_approximation(getattr(plant_module.DiscreteContactApproximation, approximation))
    plant.Finalize()
    return plant


def start(file, plant):
    """A random state and actuation, the same for both libraries; the actuation stays below the effort limits."""
    largest_u, largest_v = CASES[file]
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.5, 0.5, plant.num_positions())
    v = rng.uniform(-largest_v, largest_v, plant.num_velocities())
    u = rng.uniform(-1.0, 1.0, plant.num_actuators()) * np.minimum(largest_u, 0.9 * plant.GetEffortUpperLimits())
    for body in plant.GetFloatingBaseBodies():
        i = plant.get_body(body).floating_positions_start()
        q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    return q, v, u


def make_simulator(library, file, plant, config=None):
    analysis = import_module(f"{library}.systems.analysis")
    simulator = analysis.Simulator(plant)
    if config is not None:
        analysis.ApplySimulatorConfig(analysis.SimulatorConfig(**config), simulator)
    context = simulator.get_mutable_context()
    q, v, u = start(file, plant)
    # beyond a limit mbcli comes back slowly
    plant.SetPositions(context, np.clip(q, plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()))
    plant.SetVelocities(context, v)
    if u.size:
        plant.get_actuation_input_port().FixValue(context, u)
    return simulator


def states(library, file, plant, times, config=None):
    """[q; v] at the given times; quaternions of unit length, which pydrake's steps do not keep."""
    simulator = make_simulator(library, file, plant, config)
    result = []
    for time in times:
        simulator.AdvanceTo(time)
        state = np.array(plant.GetPositionsAndVelocities(simulator.get_context()))
        for body in plant.GetFloatingBaseBodies():
            i = plant.get_body(body).floating_positions_start()
            state[i : i + 4] /= np.linalg.norm(state[i : i + 4])
        result.append(state)
    return np.array(result)


def error(ours, theirs):
    assert ours.shape == theirs.shape
    assert np.isfinite(theirs).all()
    scale = np.maximum(1.0, np.abs(theirs).max(axis=1))
    return (np.abs(ours - theirs).max(axis=1) / scale).max()


@needs_models
@pytest.mark.parametrize("approximation", ["kLagged", "kTamsi"])
@pytest.mark.parametrize("file", CASES)
def test_discrete_steps_equal_pydrake(file, approximation):
    step = TAMSI_STEP.get(file, TIME_STEP) if approximation == "kTamsi" else TIME_STEP
    times = step * np.arange(1, round(DURATION / step) + 1)
    ours, theirs = (
        states(library, file, make_plant(library, file, step, approximation), times) for library in ("mbcli", "pydrake")
    )
    assert error(ours, theirs) < TOLERANCE


@needs_models
@pytest.mark.parametrize("file", ["atlas/atlas_minimal_contact.urdf", "allegro/allegro_hand_description_right.sdf"])
def test_steps_at_limits_of_joints_equal_pydrake(file):
    """The random start is at some limits, others are hit soon."""
    times, runs = TIME_STEP * np.arange(1, 101), []
    for library, limited in (("mbcli", True), ("pydrake", True), ("mbcli", False)):
        plant = make_plant(library, file, TIME_STEP, "kLagged", limited)
        runs.append(states(library, file, plant, times))
    ours, theirs, free = runs
    assert error(ours, theirs) < TOLERANCE
    assert error(free, theirs) > 0.1


@needs_models
@pytest.mark.parametrize("file", CASES)
def test_continuous_runs_equal_pydrake(file):
    config = {"integration_scheme": "runge_kutta3", "accuracy": ACCURACY, "max_step_size": 0.01}
    ours, theirs = (
        states(library, file, make_plant(library, file, 0.0), TIMES, config) for library in ("mbcli", "pydrake")
    )
    assert error(ours, theirs) < 10.0 * ACCURACY


@needs_models
def test_times_between_steps_are_reached_as_pydrake_does():
    file, times = "acrobot/Acrobot.sdf", [0.0004, 0.001, 0.0015, 0.002, 0.0031, 0.0099999, 0.01, 0.0100001]
    ours, theirs = (
        states(library, file, make_plant(library, file, TIME_STEP), times) for library in ("mbcli", "pydrake")
    )
    assert error(ours, theirs) < TOLERANCE


DAMPED_WHEEL = """
<robot name="wheel">
  <link name="rim"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="0.8" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="axle" type="continuous"><parent link="world"/><child link="rim"/><axis xyz="0 0 1"/>
    <dynamics damping="10"/></joint>
</robot>"""


@pytest.mark.parametrize(
    ("approximation", "expected"),
    [("kLagged", 1 / 2.25), ("kSap", 1 / 2.25), ("kSimilar", 1 / 2.25), ("kTamsi", 1 - 1.25)],
)
@pytest.mark.parametrize("library", ["mbcli", "pydrake"])
def test_only_tamsi_damps_explicitly(library, approximation, expected):
    # h D / I = 0.1 * 10 / 0.8: v (1 + 1.25) = 1 where damping is implicit, as in the scheme of pydrake
    plant_module = import_module(f"{library}.multibody.plant")
    plant = plant_module.MultibodyPlant(0.1)
    if library == "mbcli":
        plant.set_step_scheme("drake")
    plant.set_discrete_contact_approximation(getattr(plant_module.DiscreteContactApproximation, approximation))
    import_module(f"{library}.multibody.parsing").Parser(plant).AddModelsFromString(DAMPED_WHEEL, "urdf")
    plant.Finalize()
    simulator = import_module(f"{library}.systems.analysis").Simulator(plant)
    plant.SetVelocities(simulator.get_mutable_context(), [1.0])
    simulator.AdvanceTo(0.1)
    assert plant.GetVelocities(simulator.get_context())[0] == pytest.approx(expected, abs=1e-12)
