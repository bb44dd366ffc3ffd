"""Closed chains: of bars, as many as wanted, and those of the sample models."""

from pathlib import Path

import numpy as np
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.scenes.constraints_file import read_constraints

from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.constraints import ConstraintSet
from mbcli.multibody.parsing import Parser
from mbcli.multibody.parsing.constraints_file import add_constraints_of_file
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BallRpyJoint, FixedOffsetFrame, RevoluteJoint, RotationalInertia, SpatialInertia

SAMPLES = Path(__file__).resolve().parent.parent / "sample_models" / "closed_chains"
Z = np.array([0.0, 0.0, 1.0])
AXES = np.eye(6)
GRAVITY = (0.0, -9.81, 0.0)


def bar(plant, name, length, mass=1.0):
    """A thin bar along x from its origin."""
    inertia = RotationalInertia(1e-3 * mass, mass * length**2 / 12.0, mass * length**2 / 12.0)
    return plant.AddRigidBody(name, SpatialInertia.MakeFromCentralInertia(mass, [0.5 * length, 0.0, 0.0], inertia))


def end_of(plant, body, length, name):
    """A frame at the end of a bar, or at a distance along x of World."""
    pose = RigidTransform(p=[length, 0.0, 0.0])
    return plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), pose))


def chain_of_bars(lengths, axis=Z, gravity=GRAVITY):
    """Bars in a row on hinges about an axis: bodies bar0, bar1, ..., the first one on World's origin."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    inboard, at = plant.world_body(), 0.0
    for k, length in enumerate(lengths):
        body = bar(plant, f"bar{k}", length)
        plant.AddJoint(RevoluteJoint(f"hinge{k}", end_of(plant, inboard, at, f"end{k}"), body.body_frame(), axis))
        inboard, at = body, length
    plant.Finalize()
    return plant


def four_bar(ground=2.0, lengths=(1.0, 2.0, 2.0), axes=AXES[3:5], **stabilization):
    """A chain of three bars whose end is held on the x axis by loop constraints; plant and bound set."""
    plant = chain_of_bars(lengths)
    cs = ConstraintSet()
    last = f"bar{len(lengths) - 1}"
    frames = RigidTransform(p=[ground, 0.0, 0.0]), RigidTransform(p=[lengths[-1], 0.0, 0.0])
    for axis in axes:
        cs.AddLoopConstraint("world", last, *frames, axis, **stabilization)
    cs.Bind(plant)
    return plant, cs


def spatial_loop():
    """Three bars on ball joints, a floating body welded to their end, and World, which leaves it one turn free."""
    plant = MultibodyPlant(0.0)
    inboard = plant.world_frame()
    for k in range(3):
        body = bar(plant, f"bar{k}", 1.0)
        plant.AddJoint(BallRpyJoint(f"ball{k}", inboard, body.body_frame()))
        inboard = end_of(plant, body, 1.0, f"end{k}")
    bar(plant, "free", 0.5)
    plant.Finalize()
    cs = ConstraintSet()
    for axis in AXES:
        cs.AddLoopConstraint("bar2", "free", RigidTransform(p=[1.0, 0, 0]), RigidTransform(), axis)
    for axis in AXES[[0, 1, 3, 4, 5]]:
        goal = RigidTransform(p=[1.2, 0.4, -0.3])
        cs.AddLoopConstraint("world", "free", goal, RigidTransform(p=[0.5, 0, 0]), axis)
    cs.Bind(plant)
    return plant, cs


def hinge_loop(links):
    """A closed chain of hinges about z with links (length along x to the next hinge, twist about x); World is the last.

    Returns the plant of the open chain, and the bound set of five equations of the hinge that closes it.
    """
    plant = MultibodyPlant(0.0)
    steps = [RigidTransform(RollPitchYaw(twist, 0.0, 0.0), [length, 0.0, 0.0]) for length, twist in links]
    inboard = plant.world_frame()
    for k, step in enumerate(steps[:-1]):
        inertia = SpatialInertia.MakeFromCentralInertia(1.0, [0.3, 0.1, 0.2], RotationalInertia(0.1, 0.12, 0.13))
        body = plant.AddRigidBody(f"link{k}", inertia)
        plant.AddJoint(RevoluteJoint(f"hinge{k}", inboard, body.body_frame(), Z))
        inboard = plant.AddFrame(FixedOffsetFrame(f"next{k}", body.body_frame(), step))
    plant.Finalize()
    cs = ConstraintSet()
    for axis in AXES[[0, 1, 3, 4, 5]]:
        cs.AddLoopConstraint("world", f"link{len(steps) - 2}", steps[-1].inverse(), steps[-2], axis)
    cs.Bind(plant)
    return plant, cs


def bricard():
    """Six hinges, each at a right angle to the next: mobile with one dependent equation."""
    return hinge_loop([(1.0, sign * np.pi / 2.0) for sign in (1.0, -1.0) * 3])


def bennett():
    """Four hinges, lengths as the sines of the twists: mobile with three dependent equations."""
    long, short = (1.5, np.arcsin(1.5 * np.sin(0.6))), (1.0, 0.6)
    return hinge_loop([short, long, short, long])


def chain_of_four_bars(loops, angle=1.1):
    """Rods of 1 m on World, whose ends are joined by couplers of 1 m; all joints are hinges, a loop has five equations.

    Returns the plant and positions (nq,) at which all loops are closed and the rods stand at an angle [rad].
    """
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    rods = [bar(plant, f"rod{k}", 1.0) for k in range(loops + 1)]
    joints = []
    for k, rod in enumerate(rods):
        ground = end_of(plant, plant.world_body(), float(k), f"ground{k}")
        joints.append((plant.AddJoint(RevoluteJoint(f"rod{k}", ground, rod.body_frame(), Z)), angle))
    for k in range(loops):
        coupler = bar(plant, f"coupler{k}", 1.0)
        top = end_of(plant, rods[k], 1.0, f"top{k}")
        joints.append((plant.AddJoint(RevoluteJoint(f"coupler{k}", top, coupler.body_frame(), Z)), -angle))
        ends = end_of(plant, coupler, 1.0, f"end{k}"), end_of(plant, rods[k + 1], 1.0, f"back{k}")
        plant.AddJoint(RevoluteJoint(f"close{k}", *ends, Z))
    plant.Finalize()
    q = np.zeros(plant.num_positions())
    for joint, value in joints:
        q[joint.position_start()] = value
    return plant, q


def sample(file, constraints=None):
    """The plant of a sample model under the constraints of a file beside it."""
    plant, diagnostics = MultibodyPlant(0.0), Diagnostics()
    Parser(plant).AddModels(str(SAMPLES / file))
    if constraints is not None:
        add_constraints_of_file(plant, read_constraints(SAMPLES / constraints, diagnostics), diagnostics)
        diagnostics.raise_if_errors()
    plant.Finalize()
    return plant
