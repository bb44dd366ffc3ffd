"""USD for Newton: what its own reader finds in a file that `convert` wrote, and how it moves there."""

import numpy as np
import pytest
from command_line import cli
from peer_modules import peer
from repository import SAMPLES

from mbcli.models.loading import load_model

newton, warp = peer("newton"), peer("warp")

UNLIMITED = 1e6  # from here on an effort or speed of Newton has no limit
MODELS = ("double_pendulum.urdf", "cart_pole.sdf", "arm7.urdf", "quadruped.urdf")


def read_by_newton(model, folder):
    """Newton's model of a file that is converted as the page of `convert` has it."""
    path = folder / "robot.usda"
    done = cli("convert", model, "--to", "usd", "-o", path)
    assert done.code == 0, done.err
    assert "proved by mbcli and newton" in done.err.splitlines()[-1]
    warp.config.quiet, warp.config.enable_backward = True, False
    builder = newton.ModelBuilder()
    builder.add_usd(str(path))
    return builder.finalize(device="cpu")


def ends(labels):
    return [label.rpartition("/")[2] for label in labels]


@pytest.mark.peers("newton")
@pytest.mark.parametrize("name", MODELS)
def test_newtons_reader_finds_the_bodies_and_joints_of_the_robot(tmp_path, name):
    model, plant = read_by_newton(SAMPLES / name, tmp_path), load_model(SAMPLES / name).plant
    bodies = ends(model.body_label)
    masses = dict(zip(bodies, model.body_mass.numpy().tolist(), strict=True))
    own = {body.name(): body.default_mass() for body in plant.elements.bodies[1:]}
    assert masses.keys() == own.keys()
    np.testing.assert_allclose([masses[n] for n in own], list(own.values()), rtol=1e-6)
    joints, there = {j.name(): j for j in plant.moving_joints() if j.num_velocities() == 1}, ends(model.joint_label)
    assert joints.keys() <= set(there)
    starts, parents, children = (
        a.numpy().tolist() for a in (model.joint_qd_start, model.joint_parent, model.joint_child)
    )
    for joint_name, joint in joints.items():
        k = there.index(joint_name)
        d = starts[k]
        assert children[k] == bodies.index(joint.child_body().name())
        parent = joint.parent_body().name()
        assert (bodies[parents[k]] if parents[k] >= 0 else "world").lower() == parent.lower()
        assert model.joint_type.numpy()[k] == (1 if joint.is_angular() else 0)  # newton.JointType
        np.testing.assert_allclose(model.joint_damping.numpy()[d], joint.default_damping(), rtol=1e-6)
        limit = model.joint_velocity_limit.numpy()[d]
        np.testing.assert_allclose(limit if limit < UNLIMITED else np.inf, joint.velocity_upper_limits()[0], rtol=1e-6)
    for actuator in plant.elements.actuators:
        limit = model.joint_effort_limit.numpy()[starts[there.index(actuator.joint().name())]]
        np.testing.assert_allclose(limit if limit < UNLIMITED else np.inf, actuator.effort_limit(), rtol=1e-6)


@pytest.mark.peers("newton")
def test_it_swings_in_newton_as_here(tmp_path):
    """200 ms from rest, in Newton's single precision: equal to 2e-4 rad, of 0.3 rad that it moves."""
    step, count = 1e-4, 2000
    model = read_by_newton(SAMPLES / "double_pendulum.urdf", tmp_path)
    start = np.array([0.0, 0.5])
    model.joint_q.assign(start.astype(np.float32))
    solver = newton.solvers.SolverFeatherstone(model, angular_damping=0.0)
    now, then, control = model.state(), model.state(), model.control()
    newton.eval_fk(model, model.joint_q, model.joint_qd, now)
    for _ in range(count):
        solver.step(now, then, control, None, step)
        now, then = then, now
    log = cli_log(tmp_path, step, step * count)
    assert np.abs(log - start).max() > 0.3
    np.testing.assert_allclose(now.joint_q.numpy(), log, atol=2e-4)


def cli_log(folder, step, duration):
    """q at the end of a run from the same state."""
    from mbcli.log import open_log

    done = cli(
        "simulate",
        SAMPLES / "double_pendulum.urdf",
        "--at",
        "elbow=0.5",
        "-t",
        duration,
        "--dt",
        step,
        "-o",
        folder / "a.h5",
    )
    assert done.code == 0, done.err
    with open_log(folder / "a.h5") as log:
        return log.q[-1]
