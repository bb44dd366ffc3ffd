"""The fastest course along a path: closed forms, limits that hold, and pydrake's results."""

from importlib import import_module

import numpy as np
import pytest
from repository import MODELS

PENDULUM = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>"""

FILES = {"iiwa14/iiwa14_no_collision.urdf": "iiwa_link_0", "ur3e/ur3e_cylinders_collision.urdf": "ur_base_link"}


def pendulum():
    from mbcli.multibody.parsing import Parser
    from mbcli.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(PENDULUM, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("a"))
    plant.Finalize()
    return plant


def line(length=1.0):
    from mbcli.trajectories import PiecewisePolynomial

    return PiecewisePolynomial.FirstOrderHold([0.0, 1.0], [[0.0, length]])


def test_a_straight_path_is_a_trapezoid_of_speed():
    """Of length L within speed v and acceleration a: L / v + v / a."""
    from mbcli.multibody.optimization import Toppra

    toppra = Toppra(line(3.0), pendulum(), np.linspace(0.0, 1.0, 1201))
    toppra.AddJointVelocityLimit([-2.0], [1.5])
    toppra.AddJointAccelerationLimit([-2.5], [2.5])
    s = toppra.SolvePathParameterization()
    assert s.end_time() == pytest.approx(3.0 / 1.5 + 1.5 / 2.5, rel=1e-3)
    assert s.value(0.0)[0, 0] == 0.0 and s.value(s.end_time())[0, 0] == pytest.approx(1.0, abs=1e-12)
    assert 3.0 * s.EvalDerivative(0.5 * s.end_time())[0, 0] == pytest.approx(1.5, rel=1e-9)


def test_torques_are_inverse_dynamics_and_lead_to_the_limits():
    """A pendulum (I = 0.6 kg m^2, m g l = 9.81 N m) is accelerated by what the limits leave beside gravity."""
    from mbcli.multibody.optimization import Toppra, ToppraDiscretization

    toppra = Toppra(line(0.5), pendulum(), np.linspace(0.0, 1.0, 401))
    toppra.AddJointTorqueLimit([-20.0], [12.0], ToppraDiscretization.kCollocation)
    s = toppra.SolvePathParameterization()
    torque = []
    for t in np.linspace(0.0, s.end_time(), 50)[1:-1]:
        theta, acceleration = 0.5 * s.value(t)[0, 0], 0.5 * s.EvalDerivative(t, 2)[0, 0]
        torque.append(0.6 * acceleration + 9.81 * np.sin(theta))
    assert max(torque) == pytest.approx(12.0, rel=0.02) and min(torque) == pytest.approx(-20.0, rel=0.02)


def test_grids_are_halved_where_the_path_bends():
    from mbcli.multibody.optimization import CalcGridPointsOptions, Toppra
    from mbcli.trajectories import PiecewisePolynomial

    bent = PiecewisePolynomial.CubicShapePreserving([0.0, 1.0, 2.0], [[0.0, 1.0, 0.0]], True)
    options = CalcGridPointsOptions(max_err=1e-2, min_points=5, max_seg_length=0.5)
    for path in (line(), bent):
        s = Toppra.CalcGridPoints(path, options)
        lengths, middles = np.diff(s), 0.5 * (s[1:] + s[:-1])
        bend = [abs(path.EvalDerivative(t, 2)[0, 0]) for t in middles]
        assert (s[0], s[-1]) == (path.start_time(), path.end_time()) and s.size >= 5
        assert (lengths <= 0.5).all() and (0.5 * np.array(bend) * lengths**2 <= 1e-2).all()
    assert Toppra.CalcGridPoints(line(), CalcGridPointsOptions(min_points=100)).size == 129


def test_what_cannot_be_is_none_or_refused(caplog):
    from mbcli.multibody.optimization import Toppra

    plant, grid = pendulum(), np.linspace(0.0, 1.0, 21)
    toppra = Toppra(line(), plant, grid)
    toppra.AddJointVelocityLimit([-1.0], [1.0])
    toppra.AddJointAccelerationLimit([-1.0], [1.0])
    assert toppra.SolvePathParameterization(2.0) is None and "Toppra" in caplog.text
    assert toppra.SolvePathParameterization(0.0, 1.5) is None
    with pytest.raises(RuntimeError, match="gridpoints"):
        Toppra(line(), plant, [0.0, 0.5])
    with pytest.raises(RuntimeError, match="limit"):
        toppra.AddJointVelocityLimit([-1.0, 1.0], [1.0, 1.0])
    with pytest.raises(RuntimeError, match="above"):
        toppra.AddJointAccelerationLimit([1.0], [-1.0])


def duration(library, file, limits):
    plant_module = import_module(f"{library}.multibody.plant")
    trajectories, tree = (import_module(f"{library}.{name}") for name in ("trajectories", "multibody.tree"))
    optimization = import_module(f"{library}.multibody.optimization")
    plant = plant_module.MultibodyPlant(0.0)
    parser = import_module(f"{library}.multibody.parsing").Parser(plant)
    if parser.package_map().Contains("drake_models"):
        parser.package_map().Remove("drake_models")
    parser.package_map().Add("drake_models", str(MODELS))
    parser.AddModels(str(MODELS / file))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(FILES[file]))
    plant.Finalize()
    n = plant.num_positions()
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (n, 4))
    path = trajectories.PiecewisePolynomial.CubicWithContinuousSecondDerivatives([0.0, 0.3, 1.0, 1.5], points)
    options = optimization.CalcGridPointsOptions(max_err=1e-2, max_seg_length=0.1, min_points=40)
    toppra = optimization.Toppra(path, plant, optimization.Toppra.CalcGridPoints(path, options))
    frame, one = plant.get_body(tree.BodyIndex(plant.num_bodies() - 1)).body_frame(), np.ones(n)
    hold = trajectories.PiecewisePolynomial.FirstOrderHold
    toppra.AddJointVelocityLimit(-one, 1.5 * one)
    if limits == "accelerations":
        toppra.AddJointAccelerationLimit(-3.0 * one, 2.0 * one)
    elif limits == "collocation":
        toppra.AddJointAccelerationLimit(-3.0 * one, 2.0 * one, optimization.ToppraDiscretization.kCollocation)
    elif limits == "frames":
        toppra.AddFrameVelocityLimit(frame, -np.ones(6), 0.8 * np.ones(6))
        toppra.AddFrameAccelerationLimit(frame, -4.0 * np.ones(6), 6.0 * np.ones(6))
    elif limits == "torques":
        toppra.AddJointTorqueLimit(-200.0 * one, 150.0 * one)
        toppra.AddFrameTranslationalSpeedLimit(frame, 0.5)
    else:
        lower, upper = hold([0.1, 0.8], -3.0 * np.ones((6, 2))), hold([0.2, 0.9], 4.0 * np.ones((6, 2)))
        toppra.AddFrameTranslationalSpeedLimit(frame, hold([0.3, 0.8], [[0.2, 0.6]]))
        toppra.AddFrameAccelerationLimit(frame, lower, upper)
    s = toppra.SolvePathParameterization()
    return s.end_time(), s.value(0.4 * s.end_time())[0, 0]


@pytest.mark.peers("pydrake")
@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models are not here")
@pytest.mark.filterwarnings("ignore:a continuous plant")
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("limits", ["accelerations", "collocation", "frames", "torques", "over the path"])
def test_durations_are_those_of_pydrake(file, limits):
    np.testing.assert_allclose(duration("mbcli", file, limits), duration("pydrake", file, limits), rtol=1e-6)
