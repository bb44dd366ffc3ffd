"""Discrete steps of random trees closed by random constraints: at rest and moving, with gravity and without.

Joints start at their lower limits. Nothing may be measured by what vanishes there: velocities, forces, gaps.
"""

import numpy as np
import pytest

from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UniversalJoint,
)

SEEDS = (5, 7, 8, 11, 14, 16)
ALONG_AXIS = (RevoluteJoint, PrismaticJoint)


def random_loops(seed, gravity):
    """A context that satisfies the constraints, its joints with limits at these."""
    rng = np.random.default_rng(seed)
    plant = MultibodyPlant(1e-3)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81 * gravity])
    bodies, joints = [plant.world_body()], []
    for k in range(rng.integers(2, 6)):
        inertia = SpatialInertia.SolidBoxWithMass(rng.uniform(0.2, 3), *rng.uniform(0.1, 0.5, 3))
        body, parent = plant.AddRigidBody(f"b{k}", inertia), bodies[rng.integers(len(bodies))]
        pose = RigidTransform(RollPitchYaw(rng.normal(size=3)), 0.5 * rng.normal(size=3))
        F = plant.AddFrame(FixedOffsetFrame(f"F{k}", parent.body_frame(), pose))
        M = plant.AddFrame(FixedOffsetFrame(f"M{k}", body.body_frame(), RigidTransform(0.3 * rng.normal(size=3))))
        kind = (RevoluteJoint, PrismaticJoint, BallRpyJoint, UniversalJoint, None)[rng.integers(5)]
        bodies.append(body)
        if kind is None and parent is bodies[0]:
            continue  # it floats
        kind = kind or RevoluteJoint
        joint = kind(f"j{k}", F, M, rng.normal(size=3)) if kind in ALONG_AXIS else kind(f"j{k}", F, M)
        if kind is RevoluteJoint and rng.random() < 0.5:
            joint.set_position_limits([0.0], [rng.uniform(0.1, 1.0)])
        joints.append(plant.AddJoint(joint))
    for _ in range(rng.integers(1, 3)):
        A, B = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        plant.AddBallConstraint(A, 0.3 * rng.normal(size=3), B)
    axial = [joint for joint in joints if joint.num_velocities() == 1]
    if len(axial) > 1:
        plant.AddCouplerConstraint(axial[0], axial[1], rng.uniform(-2, 2), 0.0)
    plant.Finalize()
    return plant, plant.CreateDefaultContext(), rng


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("gravity", [0.0, 1.0])
def test_random_loops_step_without_gaining_energy(seed, moving, gravity, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    plant, context, rng = random_loops(seed, gravity)
    if moving:
        v = rng.normal(size=plant.num_velocities())
        context.state.set_v(ClosedChains(context).impulses(context.state.q, v)[0])
    blocks = list(Run(plant, context, 0.01).blocks())
    energy = np.concatenate([block.energy for block in blocks]).sum(axis=1)
    assert np.isfinite([*context.state.q, *context.state.v]).all()
    assert max(block.constraint_error.max() for block in blocks) < 1e-9
    assert energy.max() - energy[0] < 1e-4 * max(1.0, abs(energy[0]))
    if not moving and gravity == 0.0:
        np.testing.assert_allclose(context.state.v, 0.0, atol=1e-9)
