"""Rows of constraints in the engine: errors, Jacobians, biases, and the sparse system of their multipliers."""

import functools

import numpy as np
import pytest
from constraint_scenes import bennett, bricard, chain_of_four_bars, constrained_scene, four_bar
from naive import Oracle

from mbcli.engine import load_kernels
from mbcli.engine.constraints.constraint_frames import CONTACT
from mbcli.multibody.compilation.compile_constraints import compile_constraints
from mbcli.multibody.compilation.constrained_model import AS_BEFORE, DEPENDENT, ConstrainedModel
from mbcli.multibody.compilation.constraint_rows import constraint_rows
from mbcli.multibody.constraints import CalcAssemblyQ, CalcAssemblyQDot, CalcConstraintsPositionError

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


@pytest.mark.parametrize("loops", [1, 7, 60])
def test_arrays_of_a_chain_of_loops_grow_with_its_length(loops):
    """Five equations a loop, of which two count in the plane: found, and the rods move as those of one four-bar."""
    plant, q = chain_of_four_bars(loops)
    rows, _ = constraint_rows(plant)
    scene = ConstrainedModel(plant.model, compile_constraints(plant.model, rows), False)
    assert scene.work.K.size <= 40 * loops
    assert scene.work.G.size <= 15 * loops
    assert scene.work.packed_H.size == 3 * loops + 1
    scene.data.q[:] = q
    scene.run("calc_constrained_dynamics", DEPENDENT)
    assert scene.independent().sum() == 2 * loops
    assert abs(scene.rows("err")).max() < 1e-14
    # all rods turn alike and all couplers stay level: one velocity, one equation
    mass = (loops + 1) / 3.0 + loops
    moment = -9.81 * np.cos(1.1) * (0.5 * (loops + 1) + loops)
    rods = [plant.GetJointByName(f"rod{k}").velocity_start() for k in range(loops + 1)]
    np.testing.assert_allclose(scene.data.vdot[rods], moment / mass, rtol=1e-10)


def test_constraints_in_any_order_are_solved_in_a_good_one():
    plant, _ = chain_of_four_bars(40)
    rows, _ = constraint_rows(plant)
    shuffled = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
    sizes = [compile_constraints(plant.model, r).sizes["nprofile"] for r in (rows, shuffled)]
    assert sizes[0] == sizes[1]


def test_rows_stay_taken_out_between_the_stages_of_a_step():
    """Slightly off the constraints dependent rows look independent, and would stop a Bennett linkage."""
    plant, cs = bennett()
    scene = cs.constrained
    q = CalcAssemblyQ(plant, [0.4, 1.2, -0.7], cs, np.ones(3)).q
    state = {"v": CalcAssemblyQDot(plant, q, [1.0, 0.5, 0.2], cs, np.ones(3)), "tau": np.array([1.0, -2.0, 0.5])}
    for name, value in state.items():
        getattr(scene.data, name)[:] = value
    found = {}
    for distance in (0.0, 1e-4):
        for tolerance in (DEPENDENT, AS_BEFORE):
            scene.data.q[:] = q + distance * np.array([0.3, -0.8, 0.5])
            scene.run("calc_constrained_dynamics", tolerance)
            found[distance, tolerance] = scene.data.vdot.copy()
            assert scene.independent().sum() == (3 if distance and tolerance == DEPENDENT else 2)
            if not distance:
                kept = scene.work.pivot_inverse != 0.0
            scene.work.pivot_inverse[:] = kept
    np.testing.assert_array_equal(found[0.0, DEPENDENT], found[0.0, AS_BEFORE])
    np.testing.assert_allclose(found[1e-4, AS_BEFORE], found[0.0, DEPENDENT], atol=1e-2)
    assert abs(found[1e-4, DEPENDENT] - found[0.0, DEPENDENT]).max() > 0.5


@pytest.mark.parametrize("mechanism", [bennett, bricard, four_bar])
@COMPILED
def test_positions_of_mechanisms_with_dependent_equations_are_projected(mechanism, compiled, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", str(int(compiled)))
    plant, cs = mechanism() if mechanism is not four_bar else four_bar(axes=np.eye(6)[[0, 1, 3, 4, 5]])
    rng = np.random.default_rng(4)
    nv = plant.num_velocities()
    q = CalcAssemblyQ(plant, rng.uniform(-2.0, 2.0, nv), cs, np.ones(nv)).q
    scene = cs.constrained
    for size in (1e-3, 1e-6, 1e-9):
        for _ in range(5):
            scene.data.q[:] = q + size * rng.normal(size=nv)
            assert 0 <= scene.run("project_positions", 1e-12, 20) <= 4
            assert abs(CalcConstraintsPositionError(plant, scene.data.q.copy(), cs)).max() <= 1e-12
            np.testing.assert_allclose(scene.data.q, q, atol=20.0 * size)


@pytest.mark.parametrize("angle", [0.0, 1e-7, 1e-5, 1e-3])
def test_positions_close_to_a_singular_one_are_projected(angle):
    """A parallelogram whose bars are nearly in one line: there a row becomes dependent, but it still counts."""
    plant, cs = four_bar(ground=2.0, lengths=(1.0, 2.0, 1.0))
    scene = cs.constrained
    q = np.array([angle, -angle, np.pi + angle])
    rng = np.random.default_rng(0)
    for size in (1e-6, 1e-9):
        for _ in range(5):
            scene.data.q[:] = q + size * rng.normal(size=3)
            assert scene.run("project_positions", 1e-12, 20) >= 0
            assert abs(CalcConstraintsPositionError(plant, scene.data.q.copy(), cs)).max() <= 1e-12
            np.testing.assert_allclose(scene.data.q, q, atol=1e-2 * max(angle, 1e-3))
