"""The kernels of assembly: decompositions, the manifold of positions, the same results interpreted and compiled."""

from contextlib import nullcontext

import numpy as np
import pytest
from constraint_scenes import Y, chain_of_bars, four_bar, random_constraint_set, spatial_loop
from random_trees import random_plant, random_state
from repository import ROOT
from scipy.spatial.transform import Rotation

from mbcli.engine.constraints.orthogonal_rows import complete_rows, orthogonalize_rows
from mbcli.engine.constraints.position_differences import turn_rate_transposed
from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.math import RigidTransform
from mbcli.models import load_model
from mbcli.multibody.assembly import closed_chains, nearest_positions
from mbcli.multibody.assembly.nearest_positions import complete_by_lapack, orthogonalize_by_lapack
from mbcli.multibody.assembly.position_manifold import PositionManifold
from mbcli.multibody.constraints import (
    CalcAssemblyQ,
    CalcAssemblyQOfStates,
    CalcConstraintsJacobian,
    CalcConstraintsPositionError,
    Constraint,
    ConstraintSet,
)
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BallRpyJoint, RpyFloatingJoint, SpatialInertia

AXES = np.eye(6)
SAMPLES = ROOT / "sample_models" / "closed_chains"


def matrices():
    """Wide, tall, square, of lower rank, with rows of zeros, with lengths far apart; and none."""
    rng = np.random.default_rng(3)
    wide, tall = rng.normal(size=(4, 9)), rng.normal(size=(7, 3))
    scales = np.diag([1.0, 1e-3, 1e-6, 1e-8])
    repeated = np.vstack([wide, wide[1:3], 2.0 * wide[0] - wide[3]])
    symmetric = wide[:, :4] + wide[:, :4].T
    return [wide, tall, scales @ wide, repeated, symmetric, np.zeros((3, 5)), np.vstack([wide, 0 * wide]), wide[:0]]


@pytest.mark.parametrize("decompose", [orthogonalize_rows, orthogonalize_by_lapack])
@pytest.mark.parametrize("A", matrices())
def test_rows_are_turned_until_they_are_orthogonal(decompose, A):
    m, n = A.shape
    wide = max(m, n)
    rows, turned_by, lengths = np.full((wide, n), 7.0), np.full((wide, wide), 7.0), np.full(wide, 7.0)
    rows[:m] = A
    decompose(rows, turned_by, lengths, m, n)
    rows, turned_by, lengths = rows[:m], turned_by[:m, :m], lengths[:m]
    size = max(1.0, np.abs(A).max(initial=0.0))
    np.testing.assert_allclose(turned_by @ A, rows, atol=1e-14 * size)
    np.testing.assert_allclose(rows @ rows.T, np.diag(lengths**2), atol=1e-14 * size**2)
    kept = turned_by[lengths > 0.0]
    np.testing.assert_allclose(kept @ kept.T, np.eye(len(kept)), atol=1e-14)
    singular = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(np.sort(lengths)[::-1][: len(singular)], singular, rtol=1e-9, atol=1e-14 * size)


@pytest.mark.parametrize("complete", [complete_rows, complete_by_lapack])
@pytest.mark.parametrize("rank", [0, 1, 4, 6])
def test_rows_are_completed_to_a_basis(complete, rank):
    basis = np.full((6, 6), 7.0)
    basis[:rank] = np.linalg.qr(np.random.default_rng(1).normal(size=(6, max(rank, 1))))[0].T[:rank]
    before = basis.copy()
    complete(basis, rank, 6)
    np.testing.assert_allclose(basis @ basis.T, np.eye(6), atol=1e-14)
    np.testing.assert_array_equal(basis[:rank], before[:rank])


# positions


def turning_plant():
    """A body on a ball joint, one with angles that floats, one with a quaternion."""
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.SolidSphereWithMass(1.0, 0.1)
    bodies = [plant.AddRigidBody(name, inertia) for name in ("ball", "angles", "quaternion")]
    plant.AddJoint(BallRpyJoint("ball", plant.world_frame(), bodies[0].body_frame()))
    plant.AddJoint(RpyFloatingJoint("angles", plant.world_frame(), bodies[1].body_frame()))
    plant.Finalize()
    return plant


def rotations(plant, q):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    poses = [plant.GetBodyByName(name).EvalPoseInWorld(context) for name in ("ball", "angles", "quaternion")]
    return [X.rotation().matrix() for X in poses], np.array([X.translation() for X in poses])


def test_positions_move_along_rotation_vectors():
    """Against scipy, over half a turn too, and near gimbal lock, with angles that stay near those before."""
    plant = turning_plant()
    manifold, rng = PositionManifold(plant.model), np.random.default_rng(0)
    for k in range(40):
        q, d = random_state(plant, rng)
        if k % 4 == 0:
            q[1] = q[4] = 0.5 * np.pi - 1e-9  # pitch
        if k % 5 == 0:
            d = np.zeros_like(d)
        moved = manifold.moved(q, d)
        before, after = rotations(plant, q), rotations(plant, moved)
        starts = [plant.GetJointByName(name).velocity_start() for name in ("ball", "angles", "quaternion")]
        for R, R_moved, start in zip(before[0], after[0], starts, strict=True):
            expected = Rotation.from_rotvec(d[start : start + 3]).as_matrix() @ R
            np.testing.assert_allclose(R_moved, expected, atol=1e-13)
        for row, start in zip(after[1][1:] - before[1][1:], starts[1:], strict=True):
            np.testing.assert_allclose(row, d[start + 3 : start + 6], atol=1e-14)
        if not d.any() and k % 4:
            np.testing.assert_allclose(moved, q, atol=1e-13)


def test_differences_are_what_positions_were_moved_by():
    plant = turning_plant()
    manifold, rng = PositionManifold(plant.model), np.random.default_rng(1)
    for size in (1e-9, 1e-3, 0.5, 1.5):
        q, d = random_state(plant, rng)
        d *= size / np.abs(d).max()
        np.testing.assert_allclose(manifold.difference(manifold.moved(q, d), q), d, atol=1e-13)


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3, 1.0, 3.0])
def test_rates_of_rotation_vectors_are_those_of_differences(size):
    e, h = size * np.array([0.6, -0.48, 0.64]), 1e-6
    J = np.empty((3, 3))
    for k, w in enumerate(np.eye(3)):
        ends = [(Rotation.from_rotvec(s * h * w) * Rotation.from_rotvec(e)).as_rotvec() for s in (1.0, -1.0)]
        J[:, k] = (ends[0] - ends[1]) / (2.0 * h)
    np.testing.assert_allclose([turn_rate_transposed(tuple(e), tuple(row)) for row in np.eye(3)], J, atol=1e-8)


# searches


def standing_chain():
    """A chain whose end is held while the point of a contact keeps its height."""
    plant = chain_of_bars([1.0, 1.0, 1.0, 1.0])
    cs = ConstraintSet()
    cs.AddContactConstraint("bar1", [1.0, 0, 0], Y)
    for axis in AXES[3:5]:
        cs.AddLoopConstraint("world", "bar3", RigidTransform(p=[2.0, 0, 0]), RigidTransform(p=[1.0, 0, 0]), axis)
    cs.Bind(plant)
    return plant, cs


def random_mechanism(seed):
    plant = random_plant(seed, num_bodies=9, floating_bases=1)
    return plant, random_constraint_set(plant, seed, contacts=1, loops=2)


MECHANISMS = {
    "four-bar": four_bar,
    "hinge": lambda: four_bar(axes=AXES[[0, 1, 3, 4, 5]]),
    "unreachable": lambda: four_bar(ground=5.5),
    "spatial": spatial_loop,
    "contact": standing_chain,
    "tree-0": lambda: random_mechanism(0),
    "tree-1": lambda: random_mechanism(1),
}


def weights_of(plant, rng):
    nv = plant.num_velocities()
    return np.ones(nv), rng.uniform(0.1, 3.0, nv), np.where(rng.random(nv) < 0.4, 0.0, 1.0), np.zeros(nv)


def assert_same(found, expected, is_sharp=True):
    """Steps to a minimum that is flat, or not reached, end where rounding takes them: then is_sharp is False."""
    for name in ("converged", "rank", "redundant", "restarts"):
        assert getattr(found, name) == getattr(expected, name), name
    if expected.converged and is_sharp:
        assert found.iterations == expected.iterations
        np.testing.assert_allclose(found.q, expected.q, atol=1e-6)
    assert found.position_error == pytest.approx(expected.position_error, rel=1e-6, abs=1e-11)


def cost_of(plant, start, q, weights):
    manifold = PositionManifold(plant.model)
    return 0.5 * weights @ manifold.difference(q, manifold.normalized(start)) ** 2


@pytest.mark.parametrize("minimize", [True, False])
@pytest.mark.parametrize("name", MECHANISMS)
def test_one_kernel_finds_what_loops_with_lapack_find(name, minimize, monkeypatch):
    plant, cs = MECHANISMS[name]()
    monkeypatch.setattr(nearest_positions, "MOST_ROWS", -1)
    other = cs.Copy()
    other.Bind(plant)
    rng = np.random.default_rng(5)
    settings = {"restarts": 1, "max_iter": 30, "minimize": minimize}
    for weights in weights_of(plant, rng):
        q, _ = random_state(plant, rng)
        expected = CalcAssemblyQ(plant, q, other, weights, **settings)
        monkeypatch.setattr(nearest_positions, "MOST_ROWS", 100)
        found = CalcAssemblyQ(plant, q, cs, weights, **settings)
        assert_same(found, expected, not minimize or (weights.all() and expected.stationarity < 1e-6))
        if minimize and expected.stationarity < 1e-6:
            costs = [cost_of(plant, q, result.q, weights) for result in (found, expected)]
            assert costs[0] == pytest.approx(costs[1], rel=1e-6, abs=1e-9)
        monkeypatch.setattr(nearest_positions, "MOST_ROWS", -1)


class SameRows(Constraint):
    """The rows of another set, as a custom constraint."""

    def __init__(self, cs):
        super().__init__(cs.size())
        self.cs = cs

    def jacobian(self, model, time, Q, QDot):
        return CalcConstraintsJacobian(model, Q, self.cs)

    def position_error(self, model, time, Q):
        return CalcConstraintsPositionError(model, Q, self.cs)


def test_custom_constraints_are_assembled_as_others():
    plant, cs = four_bar()
    custom = ConstraintSet()
    custom.AddCustomConstraint(SameRows(cs))
    custom.Bind(plant)
    weights = [1.0, 2.0, 0.5]
    for start in np.random.default_rng(2).uniform(-np.pi, np.pi, (5, 3)):
        expected = CalcAssemblyQ(plant, start, cs, weights)
        assert_same(CalcAssemblyQ(plant, start, custom, weights), expected)
    many = CalcAssemblyQOfStates(plant, [start, start], custom, weights, threads=2)
    for found in many:
        assert_same(found, expected)


@pytest.mark.parametrize("threads", [1, 3])
def test_assemblies_of_many_states_are_those_of_single_ones(threads):
    """To the last bit: what a search keeps has no effect on the next one."""
    plant, cs = spatial_loop()
    rng = np.random.default_rng(4)
    starts = np.array([random_state(plant, rng)[0] for _ in range(7)])
    weights = rng.uniform(0.5, 2.0, plant.num_velocities())
    many = CalcAssemblyQOfStates(plant, starts, cs, weights, threads=threads)
    for start, found in zip(starts, many, strict=True):
        single = CalcAssemblyQ(plant, start, cs, weights)
        np.testing.assert_array_equal(found.q, single.q)
        assert vars(found) | {"q": 0} == vars(single) | {"q": 0}


def test_no_states_have_no_assemblies_and_bad_ones_are_refused():
    plant, cs = four_bar()
    assert CalcAssemblyQOfStates(plant, np.empty((0, 3)), cs, np.ones(3)) == []
    with pytest.raises(ValueError, match=r"QInit must have a row for each state, it has shape \(3,\)"):
        CalcAssemblyQOfStates(plant, np.zeros(3), cs, np.ones(3))
    with pytest.raises(ValueError, match="Q must be finite"):
        CalcAssemblyQOfStates(plant, [[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]], cs, np.ones(3))
    with pytest.raises(ValueError, match="weights must be 3 finite numbers"):
        CalcAssemblyQOfStates(plant, np.zeros((2, 3)), cs, [1.0, -1.0, 1.0])


@pytest.mark.skipif(not compiled_by_default(), reason="nothing is to be compiled")
def test_assemblies_of_a_context_are_compiled_after_some(monkeypatch):
    """Interpreted ones come first where kernels have to be compiled; both are the same but for rounding."""
    monkeypatch.setattr(closed_chains, "is_compiled", lambda kernel: False)
    plant = load_model(SAMPLES / "slider_crank.urdf").plant
    context, announced = plant.CreateDefaultContext(), []
    assemblies = closed_chains.Assemblies(context, patience=1, announce=lambda: announced.append(True) or nullcontext())
    rng, q = np.random.default_rng(0), plant.GetDefaultPositions()
    for k in range(3):
        start = q + rng.uniform(-0.3, 0.3, len(q))
        found, chains = assemblies.within_limits(start)
        expected, _ = closed_chains.assemble_within_limits(context, start)
        assert_same(found, expected)
        assert np.linalg.norm(chains.position_errors(found.q)[0]) < 1e-12
        assert len(announced) == (k > 0)
