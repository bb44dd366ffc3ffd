"""Systems of pydrake.multibody.benchmarks, joints added with their frames, what elements print."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbcli.math import RigidTransform
from mbcli.multibody.benchmarks import MassDamperSpringAnalyticalSolution
from mbcli.multibody.benchmarks.acrobot import AcrobotParameters, MakeAcrobotPlant
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PrismaticJoint, RevoluteJoint, SpatialInertia


@pytest.mark.parametrize("damping", [0.0, 0.7, 4.0, 9.0])  # none, less than critical, critical, more
def test_the_motion_of_a_mass_on_a_spring_solves_its_equation(damping):
    mass, stiffness = 1.0, 4.0
    motion = MassDamperSpringAnalyticalSolution(mass, damping, stiffness)
    motion.SetInitialValue(0.3, -1.2)
    found = solve_ivp(
        lambda t, y: [y[1], -(damping * y[1] + stiffness * y[0]) / mass],
        (0.0, 3.0),
        [0.3, -1.2],
        rtol=1e-11,
        atol=1e-13,
    )
    assert motion.get_x(3.0) == pytest.approx(found.y[0, -1], abs=1e-9)
    assert motion.get_xDt(3.0) == pytest.approx(found.y[1, -1], abs=1e-9)
    x, v, a = motion.get_x(1.0), motion.get_xDt(1.0), motion.get_xDtDt(1.0)
    assert mass * a + damping * v + stiffness * x == pytest.approx(0.0, abs=1e-14)
    with pytest.raises(RuntimeError, match="no such system"):
        MassDamperSpringAnalyticalSolution(0.0, damping, stiffness)


def test_the_acrobot_has_the_equations_of_the_book():
    """R. Tedrake, Underactuated Robotics, chapter 3; lengths differ, so that no two terms are alike."""
    p = AcrobotParameters(m1=1.3, m2=0.7, l1=1.1, lc1=0.4, lc2=0.9, Ic1=0.05, Ic2=0.21, g=9.5)
    plant = MakeAcrobotPlant(p, True)
    context = plant.CreateDefaultContext()
    (q1, q2), (v1, v2) = q, v = (0.3, -0.7), (1.0, 0.5)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    I1, I2, arm = p.Ic1 + p.m1 * p.lc1**2, p.Ic2 + p.m2 * p.lc2**2, p.m2 * p.l1 * p.lc2
    coupled = I2 + arm * np.cos(q2)
    M = [[I1 + I2 + p.m2 * p.l1**2 + 2.0 * arm * np.cos(q2), coupled], [coupled, I2]]
    np.testing.assert_allclose(plant.CalcMassMatrix(context), M, atol=1e-12)
    bias = [-arm * np.sin(q2) * (2.0 * v1 + v2) * v2, arm * np.sin(q2) * v1 * v1]
    np.testing.assert_allclose(plant.CalcBiasTerm(context), bias, atol=1e-12)
    of_forearm = -p.m2 * p.g * p.lc2 * np.sin(q1 + q2)
    weight = [-(p.m1 * p.lc1 + p.m2 * p.l1) * p.g * np.sin(q1) + of_forearm, of_forearm]
    np.testing.assert_allclose(plant.CalcGravityGeneralizedForces(context), weight, atol=1e-12)
    assert plant.MakeActuationMatrix().tolist() == [[0.0], [1.0]]
    assert not MakeAcrobotPlant(p, False).is_finalized()


@pytest.mark.peers("pydrake")
def test_the_acrobot_is_that_of_pydrake():
    from pydrake.multibody.benchmarks import acrobot as theirs

    plants = MakeAcrobotPlant(AcrobotParameters(), True), theirs.MakeAcrobotPlant(theirs.AcrobotParameters(), True)
    found = []
    for plant in plants:
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [0.3, -0.7])
        plant.SetVelocities(context, [1.0, 0.5])
        bias, gravity = plant.CalcBiasTerm(context), plant.CalcGravityGeneralizedForces(context)
        found.append([plant.CalcMassMatrix(context).ravel(), bias, gravity])
        assert plant.HasBodyNamed("Link2") and plant.HasJointNamed("ElbowJoint") and plant.num_actuators() == 1
    for ours, other in zip(*found, strict=True):
        np.testing.assert_allclose(ours, other, atol=1e-12)


def test_a_joint_is_added_with_its_frames():
    plant = MultibodyPlant(0.0)
    bodies = [plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1)) for name in ("a", "b")]
    X_PF, X_BM = RigidTransform([1.0, 0.0, 0.0]), RigidTransform([0.0, 2.0, 0.0])
    first = plant.AddJoint(PrismaticJoint, "slide", plant.world_body(), None, bodies[0], None, [0.0, 0.0, 1.0])
    joint = plant.AddJoint(RevoluteJoint, "hinge", bodies[0], X_PF, bodies[1], X_BM, axis=[0.0, 1.0, 0.0], damping=0.5)
    assert first.frame_on_parent() is plant.world_frame() and first.frame_on_child() is bodies[0].body_frame()
    assert (joint.frame_on_parent().name(), joint.frame_on_child().name()) == ("hinge_parent", "hinge_child")
    assert joint.frame_on_parent().GetFixedPoseInBodyFrame().IsExactlyEqualTo(X_PF)
    assert joint.frame_on_child().GetFixedPoseInBodyFrame().IsExactlyEqualTo(X_BM)
    assert joint.default_damping_vector().tolist() == [0.5]
    assert repr(joint) == "<RevoluteJoint name='hinge' index=1 model_instance=1>"
    with pytest.raises(TypeError, match="takes a name, a parent"):
        plant.AddJoint(RevoluteJoint, "hinge2", plant.world_body())
    with pytest.raises(TypeError, match="a joint alone"):
        plant.AddJoint(joint, "hinge2")


def test_a_port_that_is_not_to_be_remembered_is_computed_each_time():
    from mbcli.systems.framework import LeafSystem

    calls = []

    class Counter(LeafSystem):
        def __init__(self, caching):
            super().__init__()
            port = self.DeclareVectorOutputPort(
                "y", 1, lambda context, output: calls.append(1) or output.SetFromVector([1])
            )
            if not caching:
                port.disable_caching_by_default()

    for caching, count in ((True, 1), (False, 3)):
        calls.clear()
        system = Counter(caching)
        context = system.CreateDefaultContext()
        for _ in range(3):
            assert system.get_output_port().Eval(context) == [1.0]
        assert len(calls) == count
