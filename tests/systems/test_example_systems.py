"""Systems of tutorials beside plants of the same mechanisms, and closed forms."""

import numpy as np
import pytest

from mbcli.examples import AcrobotPlant, PendulumParams, PendulumPlant, QuadrotorPlant, StabilizingLQRController
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder
from mbcli.systems.primitives import IsControllable, Linearize


def test_an_acrobot_is_a_plant_of_two_links():
    plant = MultibodyPlant(0.0)
    parent = plant.world_frame()
    for k, (m, lc, Ic) in enumerate(((1.0, 0.5, 0.083), (1.0, 1.0, 0.33))):
        body = plant.AddRigidBody(
            f"link{k}", SpatialInertia(m, [0, 0, -lc], UnitInertia(Ic + m * lc**2, Ic + m * lc**2, 0.0))
        )
        at = plant.AddFrame(FixedOffsetFrame(f"pin{k}", parent, RigidTransform([0, 0, -float(k)])))
        plant.AddJoint(RevoluteJoint(f"joint{k}", at, body.body_frame(), [0, 1, 0], damping=0.1))
        parent = body.body_frame()
    plant.Finalize()
    acrobot, there = AcrobotPlant(), plant.CreateDefaultContext()
    here, x = acrobot.CreateDefaultContext(), np.array([0.3, -0.8, 1.1, 0.4])
    here.SetContinuousState(x)
    acrobot.get_input_port().FixValue(here, [0.7])
    plant.SetPositionsAndVelocities(there, x)
    plant.get_applied_generalized_force_input_port().FixValue(there, [0.0, 0.7])
    np.testing.assert_allclose(acrobot.MassMatrix(here), plant.CalcMassMatrix(there), rtol=1e-12)
    found = acrobot.EvalTimeDerivatives(here).CopyToVector()
    np.testing.assert_allclose(found, plant.EvalTimeDerivatives(there).CopyToVector(), rtol=1e-12)


def test_a_quadrotor_is_a_free_body_under_four_forces():
    quadrotor = QuadrotorPlant()
    here = quadrotor.CreateDefaultContext()
    x = np.array([0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.7, -0.8, 0.9, 1.0, -1.1, 1.2])
    here.SetContinuousState(x)
    u = np.array([2.0, 1.5, 1.8, 2.2])
    quadrotor.get_input_port().FixValue(here, u)
    found = quadrotor.EvalTimeDerivatives(here).CopyToVector()
    rpy = RollPitchYaw(x[3:6])
    R = rpy.ToRotationMatrix().matrix()
    w = np.asarray(rpy.CalcAngularVelocityInChildFromRpyDt(x[9:])).ravel()
    moment = [0.15 * (u[1] - u[3]), 0.15 * (u[2] - u[0]), 0.0245 * (u[0] - u[1] + u[2] - u[3])]
    alpha = np.linalg.solve(quadrotor.inertia(), moment - np.cross(w, quadrotor.inertia() @ w))
    np.testing.assert_allclose(found[:6], x[6:], rtol=1e-15)
    np.testing.assert_allclose(found[6:9], R[:, 2] * u.sum() / 0.775 - [0, 0, 9.81], rtol=1e-12)
    expected = np.asarray(rpy.CalcRpyDDtFromAngularAccelInChild(x[9:], alpha)).ravel()
    np.testing.assert_allclose(found[9:], expected, rtol=1e-10)


def test_a_quadrotor_comes_back_to_its_place():
    builder = DiagramBuilder()
    quadrotor = builder.AddSystem(QuadrotorPlant())
    hover = builder.AddSystem(StabilizingLQRController(quadrotor, [0.0, 0.0, 1.0]))
    builder.Connect(quadrotor.get_output_port(), hover.get_input_port())
    builder.Connect(hover.get_output_port(), quadrotor.get_input_port())
    simulator = Simulator(builder.Build())
    context = simulator.get_mutable_context()
    context.SetContinuousState(np.concatenate([[0.5, -0.3, 0.6, 0.2, -0.1, 0.4], np.zeros(6)]))
    simulator.AdvanceTo(6.0)
    goal = np.concatenate([[0.0, 0.0, 1.0], np.zeros(9)])
    np.testing.assert_allclose(context.get_continuous_state_vector().CopyToVector(), goal, atol=2e-3)


def test_a_pendulum_has_the_poles_of_its_linearization():
    pendulum = PendulumPlant()
    context = pendulum.CreateDefaultContext()
    context.SetContinuousState([np.pi, 0.0])
    pendulum.get_input_port().FixValue(context, [0.0])
    linear = Linearize(pendulum, context)
    np.testing.assert_allclose(linear.A(), [[0.0, 1.0], [9.81 / 0.5, -0.1 / 0.25]], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(linear.B(), [[0.0], [4.0]], rtol=1e-12)
    assert IsControllable(linear)
    parameters = PendulumParams().with_length(0.7)
    assert (parameters.length(), PendulumParams().length()) == (0.7, 0.5)
    with pytest.raises(AttributeError):
        parameters.set_height(1.0)


@pytest.mark.parametrize("name", ["acrobot", "quadrotor"])
def test_shapes_follow_the_state(name):
    from mbcli.examples import AcrobotGeometry, AcrobotPlant, QuadrotorGeometry, QuadrotorPlant
    from mbcli.geometry import SceneGraph
    from mbcli.systems.framework import DiagramBuilder

    builder = DiagramBuilder()
    scene_graph = builder.AddSystem(SceneGraph())
    plant = builder.AddSystem(AcrobotPlant() if name == "acrobot" else QuadrotorPlant())
    kind = AcrobotGeometry if name == "acrobot" else QuadrotorGeometry
    made = kind.AddToBuilder(builder, plant.get_output_port(0), scene_graph)
    context = builder.Build().CreateDefaultContext()
    state = np.zeros(4 if name == "acrobot" else 12)
    state[:2] = [0.5 * np.pi, 0.25 * np.pi] if name == "acrobot" else [1.0, 2.0]
    plant.GetMyContextFromRoot(context).SetContinuousState(state)
    poses = made.get_output_port().Eval(made.GetMyContextFromRoot(context))
    X = poses.value(poses.ids()[-1])
    if name == "acrobot":  # the elbow is l1 = 1 m along -x, the lower link 135 degrees from below
        np.testing.assert_allclose(X.translation(), [-1.0, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(X.rotation() @ [0.0, 0.0, -1.0], [-np.sqrt(0.5), 0.0, np.sqrt(0.5)], atol=1e-12)
    else:
        np.testing.assert_allclose(X.translation(), [1.0, 2.0, 0.0], atol=1e-12)
