"""Motions at many states are those at one after another, and of linear systems the matrices' products."""

import numpy as np
import pytest

from mbcli.systems.analysis import BatchEvalTimeDerivatives, BatchEvalUniquePeriodicDiscreteUpdate
from mbcli.systems.framework import InputPortSelection
from mbcli.systems.primitives import LinearSystem

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((3, 3)), RNG.standard_normal((3, 2))
X, U = RNG.standard_normal((3, 5)), RNG.standard_normal((2, 5))


def test_derivatives_of_a_linear_system_are_its_matrices_products():
    system = LinearSystem(A=A, B=B)
    context = system.CreateDefaultContext()
    found = BatchEvalTimeDerivatives(system, context, np.zeros((1, 5)), X, U)
    np.testing.assert_allclose(found, A @ X + B @ U, atol=1e-14)
    assert not context.get_continuous_state_vector().CopyToVector().any()
    system.get_input_port().FixValue(context, [1.0, 2.0])
    held = BatchEvalTimeDerivatives(
        system, context, np.zeros(5), X, [], input_port_index=InputPortSelection.kNoInput, parallelize=None
    )
    np.testing.assert_allclose(held, A @ X + (B @ [1.0, 2.0])[:, None], atol=1e-14)


def test_steps_of_a_difference_equation_follow_each_other():
    system = LinearSystem(A=A, B=B, time_period=0.1)
    found = BatchEvalUniquePeriodicDiscreteUpdate(system, system.CreateDefaultContext(), np.zeros(5), X, U, 3)
    wanted = X
    for _ in range(3):
        wanted = A @ wanted + B @ U
    np.testing.assert_allclose(found, wanted, atol=1e-13)


def test_shapes_that_do_not_fit_are_refused():
    system = LinearSystem(A=A, B=B)
    context = system.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="do not fit 4 times"):
        BatchEvalTimeDerivatives(system, context, np.zeros(4), X, U)
    with pytest.raises(RuntimeError, match=r"expected \(2, 5\)"):
        BatchEvalTimeDerivatives(system, context, np.zeros(5), X, X)
    with pytest.raises(RuntimeError, match="no difference equation"):
        BatchEvalUniquePeriodicDiscreteUpdate(system, context, np.zeros(5), X, U)
