"""Accelerations under constraint sets: the methods against one another and against closed forms."""

import numpy as np
import pytest
from constraint_scenes import X, Y, Z, bar, chain_of_bars, four_bar, random_constraint_set
from naive import Oracle
from random_trees import random_plant, random_state
from scipy.spatial.transform import Rotation

from mbcli.errors import NumericalError
from mbcli.math import RigidTransform
from mbcli.multibody.constraints import (
    CalcAssemblyQ,
    CalcAssemblyQDot,
    CalcConstrainedSystemVariables,
    CalcConstraintsJacobian,
    CalcConstraintsPositionError,
    CalcConstraintsVelocityError,
    ConstraintSet,
    ForwardDynamicsConstraintsDirect,
    ForwardDynamicsConstraintsNullSpace,
    ForwardDynamicsConstraintsRangeSpaceSparse,
    ForwardDynamicsContactsKokkevis,
    SolveConstrainedSystemDirect,
    SolveConstrainedSystemNullSpace,
    SolveConstrainedSystemRangeSpaceSparse,
)
from mbcli.multibody.constraints.linear_systems import range_and_null_space
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import PrismaticJoint, RevoluteJoint, RotationalInertia, SpatialInertia, UnitInertia

METHODS = {
    "direct": ForwardDynamicsConstraintsDirect,
    "range": ForwardDynamicsConstraintsRangeSpaceSparse,
    "null": ForwardDynamicsConstraintsNullSpace,
}
methods = pytest.mark.parametrize("method", METHODS)
SEEDS = range(5)
AXES = np.eye(6)


def scene(seed, **options):
    """A random tree with all types of joints, a bound set, state and tau."""
    plant = random_plant(seed, num_bodies=11, trees=1 + seed % 2, floating_bases=seed % 2, sprung=False)
    rng = np.random.default_rng(100 + seed)
    q, v = random_state(plant, rng)
    for attempt in range(20):
        cs = random_constraint_set(plant, seed + 100 * attempt, **options)
        if np.linalg.matrix_rank(CalcConstraintsJacobian(plant, q, cs), 1e-3) == cs.size():
            return plant, cs, q, v, rng.normal(size=plant.num_velocities())
    raise AssertionError("no independent constraints")


def close(a, b, tolerance=1e-9):
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance * max(1.0, abs(np.asarray(b)).max()))


# agreement (checks 3, 15)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("loaded", [False, True], ids=["free", "f_ext"])
def test_three_methods_agree_and_satisfy_the_equations(seed, loaded):
    """Against H and C of the oracle; f_ext, about World's origin, is that of J^T F (checks 3, 15)."""
    plant, cs, q, v, tau = scene(seed)
    rng = np.random.default_rng(seed)
    f_ext = rng.normal(size=(plant.num_bodies(), 6)) if loaded else None
    oracle = Oracle(plant)
    H, C = oracle.mass_matrix(q), oracle.bias(q, v) - oracle.conservative_forces(q)
    if loaded:
        for X_WB, J, F in zip(oracle.poses(q), oracle.jacobians(q), f_ext, strict=True):
            C = C - J.T @ np.concatenate([F[:3] - np.cross(X_WB[:3, 3], F[3:]), F[3:]])
    found = {}
    for name, method in METHODS.items():
        qddot = method(plant, q, v, tau, cs, f_ext=f_ext)
        found[name] = np.concatenate([qddot, cs.force])
        close(cs.H, H, 1e-12)
        close(cs.C, C, 1e-11)
        close(H @ qddot + C, tau + cs.G.T @ cs.force, 1e-10)
        close(cs.G @ qddot, cs.gamma, 1e-10)
    close(found["range"], found["direct"])
    close(found["null"], found["direct"])


@pytest.mark.parametrize("seed", SEEDS)
def test_four_methods_agree_on_contacts(seed):
    plant, cs, q, v, tau = scene(seed, contacts=3, loops=0)
    qddot, force = ForwardDynamicsContactsKokkevis(plant, q, v, tau, cs), cs.force.copy()
    assert cs.H is None  # neither H nor G is formed (check 4)
    assert cs.G is None
    for method in METHODS.values():
        close(method(plant, q, v, tau, cs), qddot)
        close(cs.force, force)


def test_the_method_of_kokkevis_makes_no_jacobian_and_no_mass_matrix():
    """Check 4: its kernels leave the arrays of these alone, and write their own; loop constraints are refused."""
    plant, cs, q, v, tau = scene(0, contacts=3, loops=0)
    for name in ("G", "packed_H", "K", "Y", "response_A", "response_F", "response_residual"):
        getattr(cs.constrained.work, name)[:] = np.nan
    cs.constrained.data.M[:] = np.nan
    assert np.isfinite(ForwardDynamicsContactsKokkevis(plant, q, v, tau, cs)).all()
    for name in ("G", "packed_H", "K", "Y"):
        assert np.isnan(getattr(cs.constrained.work, name)).all()
    assert np.isnan(cs.constrained.data.M).all()
    plant, cs, q, v, tau = scene(0)
    with pytest.raises(ValueError, match="contact constraints only"):
        ForwardDynamicsContactsKokkevis(plant, q, v, tau, cs)
    with pytest.raises(TypeError):
        ForwardDynamicsContactsKokkevis(plant, q, v, tau, cs, f_ext=np.zeros((12, 6)))


def test_dense_helpers_solve_the_system_of_a_set():
    plant, cs, q, v, tau = scene(1)
    CalcConstrainedSystemVariables(plant, q, v, tau, cs)
    c = tau - cs.C
    expected = SolveConstrainedSystemDirect(cs.H, cs.G, c, cs.gamma)
    for found in (
        SolveConstrainedSystemNullSpace(cs.H, cs.G, c, cs.gamma),
        SolveConstrainedSystemRangeSpaceSparse(plant, cs.H, cs.G, c, cs.gamma),
    ):
        close(found[0], expected[0])
        close(found[1], expected[1])
    Q = np.linalg.qr(cs.G.T, mode="complete")[0]
    m = len(cs.gamma)
    given = SolveConstrainedSystemNullSpace(cs.H, cs.G, c, cs.gamma, Q[:, :m], Q[:, m:])
    close(given[0], expected[0])


def test_bad_shapes_are_errors():
    plant, cs, q, v, tau = scene(0)
    with pytest.raises(RuntimeError, match="Q must have"):
        ForwardDynamicsConstraintsDirect(plant, q[1:], v, tau, cs)
    with pytest.raises(RuntimeError, match="Tau must have"):
        ForwardDynamicsConstraintsDirect(plant, q, v, tau[1:], cs)
    with pytest.raises(ValueError, match="f_ext must be finite and"):
        ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs, f_ext=np.zeros(6))


# the null-space method (check 5)


def massless_slider():
    """A massless carriage on a slider, held by a loop constraint, and a wheel on an axle."""
    plant = MultibodyPlant(0.0)
    carriage = plant.AddRigidBody("carriage", SpatialInertia(0.0, np.zeros(3), UnitInertia(0.0, 0.0, 0.0)))
    block = plant.AddRigidBody(
        "block", SpatialInertia.MakeFromCentralInertia(2.0, np.zeros(3), RotationalInertia(1, 1, 1))
    )
    plant.AddJoint(PrismaticJoint("x", plant.world_frame(), carriage.body_frame(), X))
    plant.AddJoint(RevoluteJoint("turn", plant.world_frame(), block.body_frame(), Y))
    plant.Finalize()
    cs = ConstraintSet()
    cs.AddLoopConstraint("world", "carriage", RigidTransform(), RigidTransform(), AXES[3])
    cs.Bind(plant)
    return plant, cs


def test_null_space_method_works_where_the_mass_matrix_is_singular_along_the_constraints():
    """Check 5: H is singular, but positive definite where the constraints leave freedom; range-space says it fails."""
    plant, cs = massless_slider()
    q, v, tau = np.zeros(2), np.zeros(2), np.array([3.0, 5.0])
    qddot = ForwardDynamicsConstraintsNullSpace(plant, q, v, tau, cs)
    np.testing.assert_allclose(qddot, [0.0, 5.0], atol=1e-14)
    np.testing.assert_allclose(cs.force, [-3.0], atol=1e-14)
    np.testing.assert_allclose(ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs), qddot, atol=1e-13)
    with pytest.raises(NumericalError, match="the mass matrix is singular at velocity 0"):
        ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs)


def test_null_space_bases_are_orthonormal_and_of_the_right_spaces():
    G = np.random.default_rng(0).normal(size=(3, 7))
    G = np.vstack([G, G[0] + G[1]])
    Y_, Z_ = range_and_null_space(G)
    Q = np.hstack([Y_, Z_])
    assert Y_.shape == (7, 3)
    np.testing.assert_allclose(G @ Z_, 0.0, atol=1e-14)
    np.testing.assert_allclose(Q.T @ Q, np.eye(7), atol=1e-14)


# closed forms (check 6)


def box_on_floor():
    plant = MultibodyPlant(0.0)
    inertia = RotationalInertia(0.3, 0.4, 0.5)
    plant.AddRigidBody("box", SpatialInertia.MakeFromCentralInertia(7.0, [0.1, 0.05, 0.2], inertia))
    plant.Finalize()
    cs = ConstraintSet()
    corners = [[x, y, 0.0] for x, y in ((-0.5, -0.5), (0.6, -0.5), (0.1, 0.7))]
    for corner in corners:
        cs.AddContactConstraint("box", corner, Z)
    for corner, normal in ((0, X), (0, Y), (1, Y)):
        cs.AddContactConstraint("box", corners[corner], normal)
    cs.Bind(plant)
    return plant, cs


@methods
def test_forces_of_the_floor_carry_a_box(method):
    """Sum of the normal forces is m g, they are positive, and calcForces balances the weight about every point."""
    plant, cs = box_on_floor()
    q = np.array([1.0, 0, 0, 0, 0.3, -0.2, 0.4])
    qddot = METHODS[method](plant, q, np.zeros(6), np.zeros(6), cs)
    np.testing.assert_allclose(qddot, 0.0, atol=1e-12)
    assert sum(cs.force[:3]) == pytest.approx(7.0 * 9.81, rel=1e-12)
    assert (cs.force[:3] > 1.0).all()
    total = np.zeros(6)
    for group in range(cs.getGroupIndexMax() + 1):
        bodies, frames, forces = cs.calcForces(group, plant, q, np.zeros(6), resolveAllInRootFrame=True)
        assert [int(body) for body in bodies] == [0, 0]
        p, F = frames[0].translation(), forces[0]
        total += np.concatenate([F[:3] + np.cross(p, F[3:]), F[3:]])
        np.testing.assert_allclose(forces[1], -F, atol=1e-12)
    weight = np.array([0.0, 0.0, -7.0 * 9.81])
    com = np.array([0.3, -0.2, 0.4]) + [0.1, 0.05, 0.2]
    np.testing.assert_allclose(total, -np.concatenate([np.cross(com, weight), weight]), atol=1e-11)


@methods
def test_tension_of_a_pendulum_that_a_loop_constraint_holds(method):
    """A free bar whose end is held at World's origin: the force is that of the compound pendulum, in closed form."""
    plant = MultibodyPlant(0.0)
    length, mass = 1.4, 2.0
    bar(plant, "bar", length, mass)
    plant.Finalize()
    cs = ConstraintSet()
    for axis in AXES[3:]:
        cs.AddLoopConstraint("world", "bar", RigidTransform(), RigidTransform(), axis)
    cs.Bind(plant)
    angle, rate = 0.7, 1.3  # of the bar below the x axis, about y
    q = np.array([np.cos(angle / 2), 0, np.sin(angle / 2), 0, 0, 0, 0])
    v = np.array([0, rate, 0, 0, 0, 0])
    qddot = METHODS[method](plant, q, v, np.zeros(6), cs)
    along, across = np.array([np.cos(angle), 0, -np.sin(angle)]), np.array([-np.sin(angle), 0, -np.cos(angle)])
    g = np.array([0.0, 0.0, -9.81])
    acceleration = 1.5 * (g @ across) / length  # m g l/2 over m l^2/3
    assert qddot[1] == pytest.approx(acceleration, rel=1e-12)
    expected = mass * (0.5 * length * (acceleration * across - rate**2 * along) - g)
    np.testing.assert_allclose(cs.force, expected, atol=1e-11)
    assert cs.force @ along < 0.0  # it pulls the bar towards the pivot


# forces on bodies (check 8)


@pytest.mark.parametrize("seed", SEEDS)
def test_wrenches_of_groups_are_the_generalized_forces_of_their_rows(seed):
    """Check 8: sum of J^T F is G^T force for each group, local and root frames agree, and nothing is left over."""
    plant, cs, q, v, tau = scene(seed)
    ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs)
    oracle = Oracle(plant)
    poses, J = oracle.poses(q), oracle.jacobians(q)
    for g in range(cs.getGroupIndexMax() + 1):
        rows = cs.groups[g].rows
        bodies, frames, forces = cs.calcForces(g, plant, q, v)
        generalized, total = np.zeros(len(v)), np.zeros(6)
        in_world = []
        for body, X_BF, F in zip(bodies, frames, forces, strict=True):
            X_WB = poses[int(body)]
            R, p = X_WB[:3, :3] @ X_BF.rotation().matrix(), X_WB[:3, :3] @ X_BF.translation()
            moment, force = R @ F[:3], R @ F[3:]
            in_world.append((p + X_WB[:3, 3], np.concatenate([moment, force])))
            generalized += J[int(body)].T @ np.concatenate([moment + np.cross(p, force), force])
            total += np.concatenate([moment + np.cross(p + X_WB[:3, 3], force), force])
        close(generalized, cs.G[rows].T @ cs.force[rows], 1e-10)
        close(total, np.zeros(6), 1e-10 * max(1.0, abs(cs.force).max()))
        ids, root_frames, root_forces = cs.calcForces(g, plant, q, v, resolveAllInRootFrame=True)
        assert [int(n) for n in ids] == [0, 0]
        for (p, F), X_WF, F_root in zip(in_world, root_frames, root_forces, strict=True):
            close(X_WF.translation(), p, 1e-12)
            assert (X_WF.rotation().matrix() == np.eye(3)).all()
            close(F_root, F, 1e-10)


# stabilization (check 9)


def test_errors_decay_as_the_stabilization_says():
    """Of a point held in P, d2phi/dt2 = -2 alpha dphi/dt - beta^2 phi, by differences along the motion."""
    plant, cs = four_bar(enableBaumgarteStabilization=True, stabilizationTimeConstant=0.2)
    q, v = np.array([0.3, 0.2, -0.4]), np.array([1.0, 0.5, -2.0])
    a = ForwardDynamicsConstraintsDirect(plant, q, v, np.ones(3), cs)
    h = 1e-4
    phi = [CalcConstraintsPositionError(plant, q + t * v + 0.5 * t * t * a, cs) for t in (-h, 0.0, h)]
    rate, second = (phi[2] - phi[0]) / (2 * h), (phi[2] - 2 * phi[1] + phi[0]) / h**2
    np.testing.assert_allclose(second, -2 / 0.2 * rate - phi[1] / 0.2**2, rtol=1e-5)


def drift_of_four_bar(stabilized):
    plant, cs = four_bar(enableBaumgarteStabilization=stabilized, stabilizationTimeConstant=0.1)
    q = CalcAssemblyQ(plant, [0.4, 0.2, -1.5], cs, np.ones(3)).q
    v = CalcAssemblyQDot(plant, q, np.array([2.0, 0.0, 0.0]), cs, np.ones(3))
    q = q + [0.0, 2e-3, 0.0]  # off the constraint
    h, errors = 5e-3, []

    def rate(y):
        return np.concatenate([y[3:], ForwardDynamicsConstraintsRangeSpaceSparse(plant, y[:3], y[3:], np.zeros(3), cs)])

    y = np.concatenate([q, v])
    for _ in range(160):
        errors.append(np.linalg.norm(CalcConstraintsPositionError(plant, y[:3], cs)))
        k1 = rate(y)
        k2 = rate(y + 0.5 * h * k1)
        k3 = rate(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    return errors


def test_stabilization_takes_the_error_of_a_simulated_four_bar_away():
    """Within 0.8 s = 8 time constants: 9 e^-8 of the error is left; without it the error stays."""
    with_it, without = drift_of_four_bar(True), drift_of_four_bar(False)
    assert with_it[-1] < 1e-2 * with_it[0]
    assert without[-1] > 0.5 * without[0]


# dependent constraints (check 17)


def test_dependent_rows_are_found_and_get_the_shortest_multipliers():
    """Eight rows on the six velocities of a body: the direct method names the problem, the others solve it."""
    plant, _ = box_on_floor()
    cs = ConstraintSet()
    for corner, normals in (([0, 0, 0], (X, Y, Z)), ([1, 0, 0], (X, Y, Z)), ([0, 1, 0], (Z, Y))):
        for normal in normals:
            cs.AddContactConstraint("box", corner, normal)
    cs.Bind(plant)
    q, v = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.zeros(6)
    tau = np.random.default_rng(0).normal(size=6)
    with pytest.raises(NumericalError, match="singular: its constraints depend on one another"):
        ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs)
    for method in (ForwardDynamicsConstraintsRangeSpaceSparse, ForwardDynamicsConstraintsNullSpace):
        qddot = method(plant, q, v, tau, cs)
        np.testing.assert_allclose(qddot, 0.0, atol=1e-12)
        shortest = np.linalg.lstsq(cs.G.T, cs.C - tau, rcond=1e-9)[0]
        np.testing.assert_allclose(cs.force, shortest, atol=1e-11)
    assert cs.independent.sum() == 6
    cs.SetSolver("lstsq")
    np.testing.assert_allclose(ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs), 0.0, atol=1e-12)


def test_rows_that_contradict_one_another_are_an_error():
    plant = chain_of_bars([1.0])
    cs = ConstraintSet()
    cs.AddContactConstraint("bar0", [1.0, 0, 0], Y)
    cs.AddContactConstraint("bar0", [1.0, 0.5, 0], Y)
    cs.Bind(plant)
    for method in (ForwardDynamicsConstraintsRangeSpaceSparse, ForwardDynamicsConstraintsNullSpace):
        with pytest.raises(NumericalError, match="the constraints contradict one another"):
            method(plant, np.array([0.0]), np.array([3.0]), np.zeros(1), cs)


# loops with free axes (checks 1, 2, 19)


def test_legal_motion_of_a_cylindrical_loop_has_no_errors():
    """S slides and turns about z of P while P moves: the constrained rows see nothing of it (checks 1, 2)."""
    rng = np.random.default_rng(3)
    plant = MultibodyPlant(0.0)
    for name in ("P", "S"):
        bar(plant, name, 1.0)
    plant.Finalize()
    cs = ConstraintSet()
    frames = [RigidTransform(p=rng.normal(size=3)) for _ in range(2)]
    for k in (0, 1, 3, 4):
        cs.AddLoopConstraint("P", "S", *frames, AXES[k])
    cs.Bind(plant)

    def q_at(t):
        R_P = Rotation.from_rotvec(np.array([0.4, -0.8, 0.3]) * t + [0.5, 0.1, -0.7])
        p_P = np.array([0.2, 0.5, -0.1]) * t
        R_S = R_P * Rotation.from_rotvec([0.0, 0.0, 2.9 + 1.7 * t])
        Po = p_P + R_P.apply(frames[0].translation().copy())
        p_S = Po + R_P.apply([0.0, 0.0, 0.8 + 0.9 * t]) - R_S.apply(frames[1].translation().copy())
        parts = [np.concatenate([R.as_quat()[[3, 0, 1, 2]], p]) for R, p in ((R_P, p_P), (R_S, p_S))]
        return np.concatenate(parts)

    def v_at(t):
        h = 1e-4
        before, now, after = (q_at(t + k * h) for k in (-1, 0, 1))
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, now)
        return plant.MapQDotToVelocity(context, (after - before) / (2.0 * h))

    for t in (0.0, 0.3):
        assert np.abs(CalcConstraintsPositionError(plant, q_at(t), cs)).max() < 1e-14
        assert np.abs(CalcConstraintsVelocityError(plant, q_at(t), v_at(t), cs)).max() < 1e-7
        CalcConstrainedSystemVariables(plant, q_at(t), v_at(t), np.zeros(12), cs)
        h = 1e-3
        vdot = (v_at(t + h) - v_at(t - h)) / (2.0 * h)
        np.testing.assert_allclose(cs.G @ vdot, cs.gamma, atol=1e-5)
        assert abs(cs.gamma).max() > 1.0


def test_a_turn_of_180_degrees_is_not_taken_for_none():
    """Check 19: the error of a rotation grows up to 180 degrees, with all axes held and with one of them free."""
    plant = MultibodyPlant(0.0)
    bar(plant, "bar", 1.0)
    plant.Finalize()
    for held in ((0, 1, 2), (0, 1)):
        cs = ConstraintSet()
        for k in held:
            cs.AddLoopConstraint("world", "bar", RigidTransform(), RigidTransform(), AXES[k])
        cs.Bind(plant)
        sizes = []
        for angle in np.linspace(0.0, np.pi, 9):
            free = 0.9 if len(held) == 2 else 0.0
            turned = _product(
                np.array([np.cos(angle / 2), np.sin(angle / 2), 0, 0]), np.array([np.cos(free), 0, 0, np.sin(free)])
            )
            error = CalcConstraintsPositionError(plant, [*turned, 0, 0, 0], cs)
            sizes.append(np.linalg.norm(error))
        np.testing.assert_allclose(sizes, 2.0 * np.sin(np.linspace(0.0, np.pi, 9) / 2.0), atol=1e-9)


def _product(a, b):
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([w, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])
