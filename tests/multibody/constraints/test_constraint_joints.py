"""Constraints of a plant as equations: joints of every type that close loops, and all that can be added."""

import numpy as np
import pytest
from constraint_scenes import X, Y, Z
from naive import X_FM, Jet, _acceleration, _velocity, quaternion_rotation, spin
from random_trees import MOVING, random_inertia, random_joint, random_pose, random_rotation

from mbcli.errors import ModelError
from mbcli.multibody.compilation.compile_constraints import compile_constraints
from mbcli.multibody.compilation.constrained_model import DEPENDENT, ConstrainedModel
from mbcli.multibody.compilation.constraint_rows import constraint_rows
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import FixedOffsetFrame, QuaternionFloatingJoint, ScrewJoint

LOOPS = [kind for kind in (*MOVING, "weld") if kind != "curvilinear"]
kinds = pytest.mark.parametrize("kind", LOOPS)


def two_bodies_and_a_loop(kind, seed, joint=None):
    """Bodies P and S, each free in World, and a joint between them that closes a loop; and the joint."""
    rng = np.random.default_rng(seed)
    plant = MultibodyPlant(0.0)
    bodies = [plant.AddRigidBody(name, random_inertia(rng)) for name in "PS"]
    for body in bodies:
        plant.AddJoint(QuaternionFloatingJoint(f"free{body.name()}", plant.world_frame(), body.body_frame()))
    F, M = (plant.AddFrame(FixedOffsetFrame(f"frame{b.name()}", b, random_pose(rng))) for b in bodies)
    loop = plant.AddJoint(joint(F, M) if joint else random_joint(rng, kind, "loop", F, M))
    plant.Finalize()
    assert plant.elements.loop_joints == [loop]
    return plant, loop


def constrained(plant, compiled=False):
    rows, owners = constraint_rows(plant)
    scene = ConstrainedModel(plant.model, compile_constraints(plant.model, rows), compiled)
    assert len(owners) == len(scene.row_number)
    return scene


def legal_motion(loop, seed):
    """q, v, vdot of P and S where P moves anyhow and S as the joint lets it: from the definition of the joint."""
    rng = np.random.default_rng(seed)
    nq, nv = loop.num_positions(), loop.num_velocities()
    R_P = random_rotation(rng).matrix()
    X_WP = spin(R_P, *rng.normal(size=(5, 3)))
    q_J, v_J, a_J = rng.uniform(-3.0, 3.0, nq), rng.normal(size=nv), rng.normal(size=nv)
    if loop.type_name() in ("ball_rpy", "rpy_floating"):
        q_J[1] = 0.5
    if "quaternion" in loop.type_name():
        q_J[:4] /= np.linalg.norm(q_J[:4])
    X_PF = Jet(loop.frame_on_parent().GetFixedPoseInBodyFrame().GetAsMatrix4())
    X_SM = Jet(loop.frame_on_child().GetFixedPoseInBodyFrame().GetAsMatrix4())
    X_WS = X_WP @ X_PF @ X_FM(loop, q_J, v_J, a_J) @ X_SM.inverse()
    q = np.concatenate([_pose_coordinates(jet.value) for jet in (X_WP, X_WS)])
    v = np.concatenate([_velocity(jet) for jet in (X_WP, X_WS)])
    return q, v, np.concatenate([_acceleration(jet) for jet in (X_WP, X_WS)])


def _pose_coordinates(X_WB):
    from mbcli.math import RotationMatrix

    wxyz = RotationMatrix(X_WB[:3, :3]).ToQuaternion().wxyz()
    np.testing.assert_allclose(quaternion_rotation(wxyz), X_WB[:3, :3], atol=1e-12)
    return np.concatenate([wxyz, X_WB[:3, 3]])


@kinds
@pytest.mark.parametrize("seed", range(3))
def test_a_joint_that_closes_a_loop_holds_what_its_type_does_not_leave_free(kind, seed):
    """Its legal motions violate nothing, in positions, velocities and accelerations; its rows are 6 - nv (check 2)."""
    plant, loop = two_bodies_and_a_loop(kind, seed)
    scene = constrained(plant)
    size = 6 - loop.num_velocities()
    assert len(scene.row_number) == size
    if not size:
        return
    q, v, vdot = legal_motion(loop, seed)
    scene.data.q[:], scene.data.v[:] = q, v
    scene.run("calc_constraint_velocities")
    np.testing.assert_allclose(scene.rows("err"), 0.0, atol=1e-12)
    np.testing.assert_allclose(scene.rows("errd"), 0.0, atol=1e-11)
    G = scene.dense("G")
    np.testing.assert_allclose(G @ vdot, scene.rows("gamma"), atol=1e-9)
    assert np.linalg.matrix_rank(G, 1e-6) == size
    scene.run("calc_constraint_positions", 1)
    exact = scene.dense("G")
    # on the constraint the derivative of the error is G, whatever the free coordinates are
    np.testing.assert_allclose(exact, G, atol=1e-11)


@kinds
def test_positions_near_a_legal_one_are_projected_onto_it(kind):
    """The compiled Newton steps of a simulation, and the velocities with them; dependent rows would do no harm."""
    plant, loop = two_bodies_and_a_loop(kind, 5)
    scene = constrained(plant)
    q, v, _ = legal_motion(loop, 5)
    rng = np.random.default_rng(5)
    scene.data.q[:] = q + 1e-3 * rng.normal(size=len(q))
    scene.data.v[:] = v + 1e-2 * rng.normal(size=len(v))
    before = scene.data.v.copy()
    steps = scene.run("project_positions", 1e-12, 20)
    assert 0 <= steps <= 4
    np.testing.assert_array_equal(scene.data.v, before)
    scene.run("project_velocities", DEPENDENT)
    if len(scene.row_number):
        scene.run("calc_constraint_velocities")
        assert abs(scene.rows("err")).max() < 1e-12
        assert abs(scene.rows("errd")).max() < 1e-12
        scene.run_stage("full_mass_matrix")
        force = np.linalg.lstsq(scene.dense("G").T, scene.data.M @ (scene.data.v - before), rcond=1e-10)[0]
        np.testing.assert_allclose(scene.dense("G").T @ force, scene.data.M @ (scene.data.v - before), atol=1e-11)


def test_a_projection_that_does_not_get_there_says_so():
    plant, loop = two_bodies_and_a_loop("weld", 0)
    scene = constrained(plant)
    scene.data.q[:] = legal_motion(loop, 0)[0] + 0.3
    assert scene.run("project_positions", 1e-12, 1) == -1
    scene.data.q[0] = np.nan
    assert scene.run("project_positions", 1e-12, 20) == -1


def test_a_nut_may_be_on_any_thread():
    """A screw joint that closes a loop knows its angle up to full turns, its travel up to pitches."""
    plant, loop = two_bodies_and_a_loop("screw", 1, lambda F, M: ScrewJoint("loop", F, M, [0.0, 0.0, 2.0], 0.1))
    scene = constrained(plant)
    for turns in (0.0, 0.3, 3.3, -7.9):
        X_PF = loop.frame_on_parent().GetFixedPoseInBodyFrame().GetAsMatrix4()
        X_SM = loop.frame_on_child().GetFixedPoseInBodyFrame().GetAsMatrix4()
        across = X_FM(loop, [2 * np.pi * turns], [0.0], [0.0]).value
        X_PS = X_PF @ across @ np.linalg.inv(X_SM)
        scene.data.q[:] = np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], _pose_coordinates(X_PS)])
        scene.run("calc_constraint_positions", 0)
        np.testing.assert_allclose(scene.rows("err"), 0.0, atol=1e-12)
    plain, _ = two_bodies_and_a_loop("screw", 1, lambda F, M: ScrewJoint("loop", F, M, [0.0, 0.0, 1.0], 0.0))
    assert len(constrained(plain).row_number) == 5


def plant_with_constraints():
    rng = np.random.default_rng(0)
    plant = MultibodyPlant(0.0)
    bodies = [plant.AddRigidBody(f"b{k}", random_inertia(rng)) for k in range(4)]
    joints = []
    for k, kind in enumerate(("revolute", "prismatic", "revolute", "ball_rpy")):
        joints.append(plant.AddJoint(random_joint(rng, kind, f"j{k}", plant.world_frame(), bodies[k].body_frame())))
    return plant, bodies, joints


def test_constraints_that_were_added_are_equations():
    """Errors against their definitions in World, and who owns which row."""
    rng = np.random.default_rng(1)
    plant, bodies, joints = plant_with_constraints()
    points = rng.normal(size=(4, 3))
    X_AP, X_BQ = random_pose(rng), random_pose(rng)
    plant.AddBallConstraint(bodies[0], points[0], bodies[1], points[1])
    plant.AddWeldConstraint(bodies[2], X_AP, bodies[3], X_BQ)
    plant.AddDistanceConstraint(bodies[3], points[2], bodies[0], points[3], 0.8)
    plant.AddCouplerConstraint(joints[0], joints[1], 2.0, 0.3)
    plant.AddTendonConstraint([joints[1].index(), joints[2].index()], [0.5, 1.5], 0.2, 0.7, 0.7)
    plant.Finalize()
    rows, owners = constraint_rows(plant)
    assert [owner.kind for owner in owners] == ["ball"] * 3 + ["weld"] * 6 + ["distance", "coupler", "tendon"]
    scene = ConstrainedModel(plant.model, compile_constraints(plant.model, rows), False)
    q = rng.uniform(-1.0, 1.0, plant.num_positions())
    scene.data.q[:] = q
    scene.run("calc_constraint_positions", 0)
    err = scene.rows("err")
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    poses = [plant.EvalBodyPoseInWorld(context, b) for b in bodies]
    p = [poses[k].multiply(point) for k, point in zip((0, 1, 3, 0), points, strict=True)]
    np.testing.assert_allclose(err[:3], poses[0].rotation().matrix().T @ (p[1] - p[0]), atol=1e-14)
    X_PQ = poses[2].multiply(X_AP).inverse().multiply(poses[3].multiply(X_BQ))
    half = X_PQ.rotation().ToQuaternion().wxyz()
    np.testing.assert_allclose(err[3:6], 2.0 * np.sign(half[0]) * half[1:], atol=1e-13)
    np.testing.assert_allclose(err[6:9], X_PQ.translation(), atol=1e-14)
    gap = p[3] - p[2]
    assert err[9] == pytest.approx((gap @ gap - 0.8**2) / (2 * 0.8), rel=1e-13)
    assert err[10] == pytest.approx(q[0] - 2.0 * q[1] - 0.3, rel=1e-13)
    assert err[11] == pytest.approx(0.5 * q[1] + 1.5 * q[2] + 0.2 - 0.7, rel=1e-13)


def test_constraints_that_are_switched_off_have_no_equations():
    plant, bodies, _ = plant_with_constraints()
    ball = plant.AddBallConstraint(bodies[0], X, bodies[1], Y)
    plant.AddDistanceConstraint(bodies[0], X, bodies[2], Z, 0.8)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetConstraintActiveStatus(context, ball, False)
    rows, owners = constraint_rows(plant, context.state.parameters)
    assert [owner.kind for owner in owners] == ["distance"]
    assert [row.numbers for row in rows] == [(0,)]
    assert len(constraint_rows(plant)[1]) == 4


def test_constraints_that_are_no_equations_are_named():
    plant, bodies, joints = plant_with_constraints()
    plant.AddDistanceConstraint(bodies[0], X, bodies[1], Y, 0.5, stiffness=10.0)
    plant.Finalize()
    assert constraint_rows(plant) == ([], [])  # a force element
    plant, bodies, joints = plant_with_constraints()
    plant.AddTendonConstraint([joints[1].index()], [0.5], upper_limit=1.0)
    plant.Finalize()
    with pytest.raises(ModelError, match="only a rigid tendon with equal limits"):
        constraint_rows(plant)
    plant, _ = two_bodies_and_a_loop("curvilinear", 0)
    with pytest.raises(ModelError, match="a joint of type curvilinear cannot close a loop"):
        constraint_rows(plant)
