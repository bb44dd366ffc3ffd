"""Tendons with limits without steps to hold them: assembly keeps them within, continuous plants refuse them."""

import numpy as np
import pytest

from mbcli.errors import ModelError
from mbcli.multibody.assembly.closed_chains import assemble_context, assemble_within_limits
from mbcli.multibody.contact.meeting_contact import prepare_contact
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import PrismaticJoint, SpatialInertia


def slides(time_step=0.0, **tendon):
    """Two sliders, the first led by a third one, and a tendon of q0 + 2 q1."""
    plant, joints = MultibodyPlant(time_step), []
    for k in range(3):
        body = plant.AddRigidBody(f"s{k}", SpatialInertia.SolidSphereWithMass(1.0 + k, 0.1))
        joints.append(plant.AddJoint(PrismaticJoint(f"j{k}", plant.world_frame(), body.body_frame(), [1, 0, 0])))
    plant.AddCouplerConstraint(joints[2], joints[0], 3.0)
    plant.AddTendonConstraint([joint.index() for joint in joints[:2]], [1.0, 2.0], **tendon)
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


@pytest.mark.parametrize("limits", [(-0.5, 0.5), (-np.inf, 0.5)])
def test_an_assembly_keeps_tendons_within_their_limits_with_the_least_change(limits):
    plant, context = slides(lower_limit=limits[0], upper_limit=limits[1])
    found, chains = assemble_within_limits(context, np.array([0.4, 0.6, 1.2]))
    assert found.converged
    assert found.q[2] == pytest.approx(3.0 * found.q[0], abs=1e-12)
    assert found.q[0] + 2.0 * found.q[1] == pytest.approx(0.5, abs=1e-12)
    # nearest: along q0 with its follower, ten times as heavy in the sum of squares, and q1
    slack = 0.4 + 1.2 - 0.5
    np.testing.assert_allclose(found.q[:2], [0.4 - 0.1 * slack / 4.1, 0.6 - 2.0 * slack / 4.1], atol=1e-10)
    v = chains.assemble_velocities(found.q, np.ones(3))
    assert v[0] + 2.0 * v[1] == pytest.approx(0.0, abs=1e-12)


def test_an_assembly_leaves_a_tendon_alone_that_is_within_its_limits():
    plant, context = slides(lower_limit=-0.5, upper_limit=0.5)
    found, chains = assemble_within_limits(context, np.array([0.1, 0.1, 0.0]))
    np.testing.assert_allclose(found.q, [0.01, 0.1, 0.03], atol=1e-10)
    v = np.array([1.0, 1.0, 3.0])
    np.testing.assert_allclose(chains.assemble_velocities(found.q, v), v, atol=1e-12)


def test_the_start_of_a_run_is_put_within_the_limits_of_tendons():
    plant, context = slides(1e-3, upper_limit=0.5)
    plant.SetPositions(context, [0.4, 0.6, 1.2])
    lines = assemble_context(context, 1e-10)
    assert lines[0].startswith("assembled the start")
    assert context.state.q[0] + 2.0 * context.state.q[1] == pytest.approx(0.5, abs=1e-9)
    assert assemble_context(context, 1e-8) == []


def test_a_continuous_run_says_what_holds_a_tendon_with_limits():
    plant, context = slides(upper_limit=0.5)
    with pytest.raises(ModelError, match="others act in the steps of a plant with a time step"):
        Run(plant, context, 0.1)


def test_a_tendon_within_its_limits_is_no_error_and_one_beyond_them_is_by_how_much():
    plant, context = slides(1e-3, lower_limit=-0.25, upper_limit=0.5)
    prepare_contact(context.state)
    for q, error in ((0.1, 0.0), (-0.2, 0.35), (0.3, 0.4)):
        plant.SetPositions(context, [q, q, 3.0 * q])
        assert context.state.constraint_error() == pytest.approx(error, abs=1e-12)
    plant, context = slides(1e-3, lower_limit=0.1, upper_limit=0.1, stiffness=100.0)
    prepare_contact(context.state)
    assert context.state.constraint_error() == 0.0  # a spring
