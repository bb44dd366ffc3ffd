"""Impacts under constraint sets: three methods, their sign, energy and restitution (check 7)."""

import numpy as np
import pytest
from constraint_scenes import X, Y, Z, bar
from naive import Oracle
from test_constraints_dynamics import close, scene

from mbcli.multibody.constraints import (
    ComputeConstraintImpulsesDirect,
    ComputeConstraintImpulsesNullSpace,
    ComputeConstraintImpulsesRangeSpaceSparse,
    ConstraintSet,
)
from mbcli.multibody.plant import MultibodyPlant

METHODS = {
    "direct": ComputeConstraintImpulsesDirect,
    "range": ComputeConstraintImpulsesRangeSpaceSparse,
    "null": ComputeConstraintImpulsesNullSpace,
}
methods = pytest.mark.parametrize("method", METHODS)


@pytest.mark.parametrize("seed", range(4))
def test_methods_agree_and_lose_the_energy_of_the_change(seed):
    """Check 7: H (v+ - v-) = G^T impulse; without restitution T- - T+ is the energy of v+ - v-."""
    plant, cs, q, v, _ = scene(seed)
    H = Oracle(plant).mass_matrix(q)
    expected = None
    for method in METHODS.values():
        after = method(plant, q, v, cs)
        found = np.concatenate([after, cs.impulse])
        close(H @ (after - v), cs.G.T @ cs.impulse)
        close(cs.G @ after, np.zeros(cs.size()))
        lost = 0.5 * v @ H @ v - 0.5 * after @ H @ after
        assert lost == pytest.approx(0.5 * (after - v) @ H @ (after - v), rel=1e-9)
        assert lost > 0.0
        expected = found if expected is None else expected
        close(found, expected)


@pytest.mark.parametrize("seed", range(4))
@methods
def test_velocities_after_an_impact_with_restitution(seed, method):
    """v_plus row by row: G v+ = v_plus."""
    plant, cs, q, v, _ = scene(seed)
    METHODS[method](plant, q, v, cs)
    cs.v_plus[:] = -0.6 * cs.errd
    after = METHODS[method](plant, q, v, cs)
    close(cs.G @ after, -0.6 * (cs.G @ v))
    close(Oracle(plant).mass_matrix(q) @ (after - v), cs.G.T @ cs.impulse)


@methods
def test_an_impulse_pushes_along_the_normal(method):
    """A bar that falls flat onto its middle: the impulse is m v upwards, also along a slanted normal."""
    plant = MultibodyPlant(0.0)
    bar(plant, "bar", 1.0, 3.0)
    plant.Finalize()
    normal = np.array([0.6, 0.0, 0.8])
    for n in (Z, normal):
        cs = ConstraintSet()
        cs.AddContactConstraint("bar", [0.5, 0, 0], n)
        cs.Bind(plant)
        q, v = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0, 0, 0, 0, 0, -2.0])
        after = METHODS[method](plant, q, v, cs)
        np.testing.assert_allclose(cs.impulse, [3.0 * 2.0 * n[2]], rtol=1e-12)
        np.testing.assert_allclose(after[3:], v[3:] + cs.impulse[0] * n / 3.0, atol=1e-12)
        bodies, frames, impulses = cs.calcImpulses(0, plant, q, v)
        assert [int(body) for body in bodies] == [1, 0]
        np.testing.assert_allclose(impulses[0], [0, 0, 0, *(cs.impulse[0] * n)], atol=1e-12)
        np.testing.assert_allclose(impulses[1], -impulses[0], atol=1e-12)
        np.testing.assert_allclose(frames[0].translation(), [0.5, 0, 0])


def test_v_plus_of_the_wrong_shape_is_an_error():
    plant, cs, q, v, _ = scene(0)
    cs.v_plus = np.zeros(cs.size() + 1)
    with pytest.raises(ValueError, match="v_plus must have"):
        ComputeConstraintImpulsesDirect(plant, q, v, cs)


def test_dependent_rows_get_the_shortest_impulses():
    plant = MultibodyPlant(0.0)
    bar(plant, "bar", 1.0)
    plant.Finalize()
    cs = ConstraintSet()
    for point in ([0, 0, 0], [1, 0, 0]):
        for normal in (X, Y, Z):
            cs.AddContactConstraint("bar", point, normal)
    cs.Bind(plant)
    q, v = np.array([1.0, 0, 0, 0, 0, 0, 0]), np.random.default_rng(0).normal(size=6)
    for method in (ComputeConstraintImpulsesRangeSpaceSparse, ComputeConstraintImpulsesNullSpace):
        after = method(plant, q, v, cs)
        H = cs.H
        np.testing.assert_allclose(cs.G @ after, 0.0, atol=1e-13)
        shortest = np.linalg.lstsq(cs.G.T, H @ (after - v), rcond=1e-9)[0]
        np.testing.assert_allclose(cs.impulse, shortest, atol=1e-12)
