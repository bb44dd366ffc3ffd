"""Functions of constraint sets by one kernel each: the same as its stages one by one, without memory, for any input."""

import numpy as np
import pytest
from constraint_scenes import chain_of_bars, four_bar
from test_constraints_dynamics import scene

from mbcli.multibody.assembly.orthogonal_factors import OrthogonalFactors
from mbcli.multibody.constraints import (
    CalcAssemblyQDot,
    CalcConstrainedSystemVariables,
    CalcConstraintsJacobian,
    CalcConstraintsPositionError,
    CalcConstraintsVelocityError,
    ComputeConstraintImpulsesDirect,
    ComputeConstraintImpulsesNullSpace,
    ComputeConstraintImpulsesRangeSpaceSparse,
    Constraint,
    ConstraintSet,
    ForwardDynamicsConstraintsDirect,
    ForwardDynamicsConstraintsNullSpace,
    ForwardDynamicsConstraintsRangeSpaceSparse,
)


def all_results(plant, cs, q, v, tau):
    """What the functions return and leave in the set."""
    found = {
        "err": CalcConstraintsPositionError(plant, q, cs),
        "G": CalcConstraintsJacobian(plant, q, cs),
        "errd": CalcConstraintsVelocityError(plant, q, v, cs),
        "range": ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs),
        "force": cs.force,
        "direct": ForwardDynamicsConstraintsDirect(plant, q, v, tau, cs),
        "null": ForwardDynamicsConstraintsNullSpace(plant, q, v, tau, cs),
        "impulse_range": ComputeConstraintImpulsesRangeSpaceSparse(plant, q, v, cs),
        "impulse": cs.impulse,
        "impulse_direct": ComputeConstraintImpulsesDirect(plant, q, v, cs),
        "impulse_null": ComputeConstraintImpulsesNullSpace(plant, q, v, cs),
        "assembled": CalcAssemblyQDot(plant, q, v, cs, np.ones(len(v))),
    }
    CalcConstrainedSystemVariables(plant, q, v, tau, cs)
    return found | {name: getattr(cs, name) for name in ("H", "C", "gamma")}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("jit", ["0", "1"])
def test_results_are_those_of_the_stages(seed, jit, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", jit)
    plant, cs, q, v, tau = scene(seed)
    found, other = all_results(plant, cs, q, v, tau), cs.Copy()
    other.Bind(plant)
    model = other.constrained
    model.data.q[:], model.data.v[:], model.data.tau[:] = q, v, tau
    model.run("calc_constrained_system")
    expected = {"H": model.mass_matrix(), "C": model.work.bias.copy(), "G": model.dense("G")}
    expected |= {name: model.rows(name) for name in ("err", "errd", "gamma")}
    model.run("solve_constrained_system", 1e-12)
    expected |= {"range": model.data.vdot.copy(), "force": model.rows("force")}
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("seed", range(2))
def test_no_call_remembers_another(seed):
    plant, cs, q, v, tau = scene(seed)
    first = all_results(plant, cs, q, v, tau)
    kept = {name: np.array(value) for name, value in first.items()}
    moved = q.copy()
    moved[-1] += 0.3
    all_results(plant, cs, moved, -v, 2.0 * tau)
    for name, value in all_results(plant, cs, q, v, tau).items():
        np.testing.assert_array_equal(value, kept[name], err_msg=name)
        np.testing.assert_array_equal(first[name], kept[name], err_msg=f"{name} was written again")


def test_lists_and_other_arrays_are_taken_as_arrays_of_doubles():
    plant, cs, q, v, tau = scene(0)
    expected = all_results(plant, cs, q, v, tau)
    strided = np.column_stack([v, v])[:, 0]
    for name, value in all_results(plant, cs, list(q), strided, [*tau]).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


def test_forces_of_one_call_are_not_in_the_next():
    plant, cs = four_bar()
    q, v, tau = np.array([0.3, 0.5, -0.9]), np.zeros(3), np.zeros(3)
    expected = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs)
    f_ext = np.random.default_rng(0).normal(size=(6, plant.num_bodies())).T  # not in C order
    loaded = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs, f_ext=f_ext)
    assert np.abs(loaded - expected).max() > 1e-3
    np.testing.assert_array_equal(ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, tau, cs), expected)


def test_custom_rows_stand_among_others_in_the_first_call_too():
    class Sum(Constraint):
        """The angles of the hinges add up to nothing."""

        def jacobian(self, model, time, Q, QDot):
            return np.ones((1, 3))

        def position_error(self, model, time, Q):
            return np.array([np.sum(Q)])

        def gamma(self, model, time, Q, QDot, G):
            return np.zeros(1)

    plant, cs = chain_of_bars((1.0, 2.0, 1.5)), ConstraintSet()
    cs.AddCustomConstraint(Sum(1, "sum", enableBaumgarteStabilization=True, stabilizationTimeConstant=0.5))
    cs.AddContactConstraint("bar2", [1.5, 0.0, 0.0], [0.0, 1.0, 0.0])
    cs.Bind(plant)
    q, v = np.array([0.3, 0.5, -0.9]), np.array([0.2, -0.4, 0.7])
    qddot = ForwardDynamicsConstraintsRangeSpaceSparse(plant, q, v, np.zeros(3), cs)
    np.testing.assert_array_equal(cs.G[0], np.ones(3))
    np.testing.assert_allclose(qddot.sum(), -4.0 * v.sum() - 4.0 * q.sum(), rtol=1e-10)  # alpha = beta = 2
    np.testing.assert_allclose(cs.G @ qddot, cs.gamma, atol=1e-12)


@pytest.mark.parametrize("shape", [(7, 3), (3, 3), (5, 1)])
def test_orthogonal_factors_solve_least_squares_and_shortest(shape):
    rng = np.random.default_rng(3)
    A, b, s = rng.normal(size=shape), rng.normal(size=shape[0]), rng.normal(size=shape[1])
    factors = OrthogonalFactors(A)
    assert factors.is_clear
    np.testing.assert_allclose(A.T @ (A @ factors.least_squares(b) - b), 0.0, atol=1e-13)
    x, Z = factors.shortest(s), factors.null_space()
    np.testing.assert_allclose(A.T @ x, s, atol=1e-13)
    np.testing.assert_allclose(Z.T @ np.column_stack([A, x]), 0.0, atol=1e-13)
    np.testing.assert_allclose(Z.T @ Z, np.eye(shape[0] - shape[1]), atol=1e-13)


@pytest.mark.parametrize("A", [np.zeros((3, 0)), np.ones((3, 2)), np.ones((2, 3)), np.zeros((3, 2))])
def test_orthogonal_factors_leave_other_ranks_alone(A):
    assert not OrthogonalFactors(A).is_clear
