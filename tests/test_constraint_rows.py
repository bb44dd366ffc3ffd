"""Rows of constraints in the engine: errors, Jacobians, biases, and the sparse system of their multipliers."""

import functools

import numpy as np
import pytest
from constraint_scenes import constrained_scene
from naive import Oracle

from mbcli.engine import load_kernels
from mbcli.engine.constraint_frames import CONTACT
from mbcli.multibody.constrained_model import DEPENDENT

SEEDS = range(4)
STEP = 1e-6
BY_DIFFERENCES = 1e-7  # error of central differences at that step


@functools.cache
def mass_matrix_and_bias(seed):
    """H and C of the oracle, gravity in C, at the state of a scene."""
    plant, scene = constrained_scene(seed)
    q, v, oracle = scene.data.q, scene.data.v, Oracle(plant)
    return oracle.mass_matrix(q), oracle.bias(q, v) - oracle.conservative_forces(q, of_springs=False)


COMPILED = pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])


def at(scene, q, exact=0):
    scene.data.q[:] = q
    scene.run("calc_constraint_positions", exact)
    return scene.rows("err"), scene.dense("G")


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_jacobian_is_the_derivative_of_the_position_errors(seed):
    """All kinds of rows, in positions far from satisfying them; contacts have no position error (check 2)."""
    plant, scene = constrained_scene(seed)
    q = scene.data.q.copy()
    _, G = at(scene, q, exact=1)
    N = Oracle(plant).rates_map(q)
    contacts = scene.row_number[scene.constraints.row_kind == CONTACT]
    for k, direction in enumerate(np.eye(plant.num_velocities())):
        ends = [at(scene, q + h * (N @ direction))[0] for h in (STEP, -STEP)]
        expected = (ends[0] - ends[1]) / (2.0 * STEP)
        assert not expected[contacts].any()
        expected[contacts] = G[contacts, k]
        np.testing.assert_allclose(G[:, k], expected, rtol=0.0, atol=BY_DIFFERENCES)


@pytest.mark.parametrize("seed", SEEDS)
def test_gamma_is_minus_the_rate_of_the_jacobian_times_v(seed):
    """Check 1: free axes are displaced, predecessors move, frames are apart."""
    plant, scene = constrained_scene(seed)
    q, v = scene.data.q.copy(), scene.data.v.copy()
    scene.run("calc_constraint_velocities")
    gamma, errd, G = scene.rows("gamma"), scene.rows("errd"), scene.dense("G")
    np.testing.assert_allclose(errd, G @ v, rtol=0.0, atol=1e-13)
    N = Oracle(plant).rates_map(q)
    ends = [at(scene, q + h * (N @ v))[1] for h in (STEP, -STEP)]
    expected = -(ends[0] - ends[1]) @ v / (2.0 * STEP)
    np.testing.assert_allclose(gamma, expected, rtol=0.0, atol=BY_DIFFERENCES * max(1.0, abs(gamma).max()))


@pytest.mark.parametrize("seed", SEEDS)
@COMPILED
def test_accelerations_and_multipliers_are_those_of_the_dense_system(seed, compiled):
    """Against H and C of the oracle; rows whose bodies hang together are left to the test of dependent ones."""
    _, scene = constrained_scene(seed, compiled)
    tau = scene.data.tau.copy()
    scene.run("calc_constrained_dynamics", DEPENDENT)
    vdot, force, gamma, G = scene.data.vdot, scene.rows("force"), scene.rows("gamma"), scene.dense("G")
    H, C = mass_matrix_and_bias(seed)
    np.testing.assert_array_equal(scene.data.tau, tau)
    np.testing.assert_allclose(scene.work.bias, C, rtol=0.0, atol=1e-10 * max(1.0, abs(C).max()))
    scale = max(1.0, abs(H @ vdot).max())
    np.testing.assert_allclose(H @ vdot + C, tau + G.T @ force, rtol=0.0, atol=1e-11 * scale)
    kept = scene.independent()
    assert kept.sum() == np.linalg.matrix_rank(G, 1e-9)
    np.testing.assert_allclose((G @ vdot)[kept], gamma[kept], rtol=0.0, atol=1e-10 * max(1.0, abs(gamma).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_factor_of_the_mass_matrix_has_the_sparsity_of_the_tree(seed):
    """Check 4: H = L^T L and L has nothing where no velocity carries the other."""
    plant, scene = constrained_scene(seed)
    scene.run("calc_constrained_dynamics", DEPENDENT)
    L = scene.packed_matrix()
    H, _ = mass_matrix_and_bias(seed)
    np.testing.assert_allclose(L.T @ L, H, rtol=0.0, atol=1e-12 * abs(H).max())
    carried = np.zeros_like(H, dtype=bool)
    for d in range(len(H)):
        e = d
        while e >= 0:
            carried[d, e] = True
            e = scene.model.dof_parent[e]
    assert not L[~carried].any()
    assert scene.work.packed_H.size == carried.sum() < H.size / 2
    np.testing.assert_allclose(L.T @ scene.dense("Y").T, scene.dense("G").T, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_impulses_change_velocities_as_wanted(seed):
    plant, scene = constrained_scene(seed)
    v = scene.data.v.copy()
    wanted = np.random.default_rng(seed).normal(size=len(scene.row_number))
    scene.set_rows("v_plus", wanted)
    scene.run("calc_constraint_impulses", DEPENDENT)
    dv, impulse, G, kept = scene.work.dv, scene.rows("impulse"), scene.dense("G"), scene.independent()
    np.testing.assert_allclose((G @ (v + dv))[kept], wanted[kept], rtol=0.0, atol=1e-11 * abs(wanted).max())
    H, _ = mass_matrix_and_bias(seed)
    np.testing.assert_allclose(H @ dv, G.T @ impulse, rtol=0.0, atol=1e-10 * max(1.0, abs(impulse).max()))


@pytest.mark.parametrize("seed", range(2))
def test_complex_steps_pass_through_constrained_dynamics(seed):
    """Derivatives of the accelerations by q, v and tau at once, against central differences of sixth order."""
    _, scene = constrained_scene(seed, sprung=False)
    rng = np.random.default_rng(seed)
    names = ("q", "v", "tau")
    state = {name: getattr(scene.data, name).copy() for name in names}
    direction = {name: rng.normal(size=state[name].shape) for name in names}

    def vdot(h):
        _, scene = constrained_scene(seed, dtype=complex if isinstance(h, complex) else float, sprung=False)
        for name in names:
            getattr(scene.data, name)[:] = state[name] + h * direction[name]
        scene.run("calc_constrained_dynamics", DEPENDENT)
        return scene.data.vdot.copy()

    h = 1e-3
    expected = sum(factor * (vdot(k * h) - vdot(-k * h)) for k, factor in ((1, 45.0), (2, -9.0), (3, 1.0))) / (60.0 * h)
    exact = vdot(1e-30j).imag / 1e-30
    np.testing.assert_allclose(exact, expected, rtol=0.0, atol=1e-6 * abs(expected).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_and_interpreted_kernels_agree(seed):
    scenes = [constrained_scene(seed, compiled)[1] for compiled in (False, True)]
    for name, arguments in (("calc_constraint_positions", (1,)), ("calc_constrained_dynamics", (DEPENDENT,))):
        for scene in scenes:
            scene.run(name, *arguments)
        for field in ("err", "G", "gamma", "force", "errd", "bias"):
            a, b = (getattr(scene.work, field) for scene in scenes)
            np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10 * max(1.0, abs(a).max()), err_msg=field)


def quaternion_of(R):
    w, u = load_kernels(False).rotation_quaternion(*(tuple(column) for column in R.T))
    return np.array([w, *u])


def test_the_quaternion_of_a_rotation_is_right_for_every_angle():
    """Also at 180 degrees, where the antisymmetric part of the matrix vanishes; the scalar is not negative."""
    rng = np.random.default_rng(0)
    for angle in (0.0, 1e-9, 0.3, 2.0, 3.1, np.pi - 1e-9, np.pi):
        for axis in (*np.eye(3), *-np.eye(3), *rng.normal(size=(20, 3))):
            u = np.asarray(axis) / np.linalg.norm(axis)
            K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            R = np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
            found = quaternion_of(R)
            expected = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * u)])
            if angle == np.pi:
                assert abs(abs(found @ expected) - 1.0) < 1e-12
            else:
                np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9)
