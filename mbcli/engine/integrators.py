"""Runge-Kutta methods as tables, and one kernel each to take an explicit and an implicit step by any of them.

The state is y = [q; v]. Inputs are held over a step. Explicit tables: A strictly lower triangular, weights b, and the
difference of the two embedded weights (empty where a method has none). Implicit ones are stiffly accurate: the last
stage is the end of the step. Sources: Bogacki and Shampine 1989; Dormand and Prince 1980; Hairer and Wanner, Solving
Ordinary Differential Equations II, sections IV.5 and IV.8 (Radau IIA and the filtered error estimate).
"""

from dataclasses import dataclass

import numpy as np

from mbcli.engine.contact_calls import set_contact_forces
from mbcli.engine.coordinates import velocity_to_qdot
from mbcli.engine.force_elements import add_element_forces
from mbcli.engine.forward_dynamics import accelerations
from mbcli.engine.inverse_dynamics import clear_applied_forces
from mbcli.engine.jit import kernel
from mbcli.engine.joint_forces import add_joint_forces
from mbcli.engine.state import at_stage


@dataclass(frozen=True)
class Method:
    """A Runge-Kutta method: its table, the order of its result and of its error estimate (0: none)."""

    A: np.ndarray
    b: np.ndarray
    error: np.ndarray
    order: int
    error_order: int
    implicit: bool = False


def _explicit(A, b, embedded, order, error_order):
    n = len(b)
    full = np.zeros((n, n))
    for i, row in enumerate(A, start=1):
        full[i, : len(row)] = row
    difference = np.array(b, float) - np.array(embedded, float) if embedded else np.zeros(n)
    return Method(full, np.array(b, float), difference, order, error_order)


METHODS = {
    "explicit_euler": _explicit([], [1.0], None, 1, 0),
    "runge_kutta2": _explicit([[0.5]], [0.0, 1.0], None, 2, 0),
    "runge_kutta3": _explicit([[0.5], [-1.0, 2.0]], [1 / 6, 4 / 6, 1 / 6], [0.0, 1.0, 0.0], 3, 2),
    "bogacki_shampine3": _explicit(
        [[0.5], [0.0, 0.75], [2 / 9, 1 / 3, 4 / 9]], [2 / 9, 1 / 3, 4 / 9, 0.0], [7 / 24, 1 / 4, 1 / 3, 1 / 8], 3, 2
    ),
    "runge_kutta5": _explicit(
        [
            [1 / 5],
            [3 / 40, 9 / 40],
            [44 / 45, -56 / 15, 32 / 9],
            [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
            [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
            [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
        ],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0],
        [5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40],
        5,
        4,
    ),
    # the error weights apply to the derivatives at the start and at each stage
    "radau1": Method(np.array([[1.0]]), np.array([1.0]), np.array([0.5, -0.5]), 1, 1, True),
    "radau3": Method(
        np.array([[5 / 12, -1 / 12], [3 / 4, 1 / 4]]),
        np.array([3 / 4, 1 / 4]),
        np.array([2 / 6, -3 / 6, 1 / 6]),
        3,
        2,
        True,
    ),
}
METHODS["implicit_euler"] = METHODS["radau1"]

FILTER = 0.4  # [1] the error estimate of implicit methods is solved through I - FILTER h J, which tames stiff parts
NEWTON_ITERATIONS = 8


@kernel
def derivative(model, data, y, u, dy):
    """dy = [qdot; vdot] at y = [q; v] under the actuation u."""
    nq, nv = data.q.shape[0], data.v.shape[0]
    for i in range(nq):
        data.q[i] = y[i]
    for d in range(nv):
        data.v[d] = y[nq + d]
        data.tau[d] = 0.0
        data.diagonal[d] = model.dof_armature[d]
    for k in range(u.shape[0]):
        data.tau[model.actuator_dof[k]] += u[k]
    at_stage(model, data)
    add_joint_forces(model, data)
    clear_applied_forces(data)
    set_contact_forces(data)
    add_element_forces(model, data, data.F_applied, 0)
    accelerations(model, data, 0.0)
    velocity_to_qdot(model, data, data.v, data.qdot)
    for i in range(nq):
        dy[i] = data.qdot[i]
    for d in range(nv):
        dy[nq + d] = data.vdot[d]


@kernel
def explicit_step(model, data, y, u, h, A, b, error_weights, rates, stage, end):
    """end = y after h; returns the largest error estimate relative to max(1, |y|), 0 where there is none."""
    n = y.shape[0]
    for s in range(b.shape[0]):
        for i in range(n):
            total = y[i]
            for k in range(s):
                total += h * A[s, k] * rates[k, i]
            stage[i] = total
        derivative(model, data, stage, u, rates[s])
    largest = 0.0
    for i in range(n):
        total = y[i]
        error = 0.0
        for s in range(b.shape[0]):
            total += h * b[s] * rates[s, i]
            error += h * error_weights[s] * rates[s, i]
        end[i] = total
        largest = larger(largest, abs(error) / max(1.0, abs(total)))
    return largest


@kernel
def larger(a, b):
    """The larger of two numbers, NaN if b is."""
    return b if not b <= a else a


@kernel
def semi_explicit_step(model, data, y, u, h, rates, end):
    """Velocities by their old derivative, then positions by the new velocities."""
    nq, nv = data.q.shape[0], data.v.shape[0]
    derivative(model, data, y, u, rates[0])
    for d in range(nv):
        data.v[d] = y[nq + d] + h * rates[0, nq + d]
        end[nq + d] = data.v[d]
    velocity_to_qdot(model, data, data.v, data.qdot)
    for i in range(nq):
        end[i] = y[i] + h * data.qdot[i]


@kernel
def factorize(M, pivots):
    """LU factors of M in its place with row exchanges; False where M is singular or not finite."""
    n = M.shape[0]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(M[i, k]) > abs(M[p, k]):
                p = i
        pivots[k] = p
        if not abs(M[p, k]) > 0.0:
            return False
        if p != k:
            for j in range(n):
                M[k, j], M[p, j] = M[p, j], M[k, j]
        for i in range(k + 1, n):
            M[i, k] /= M[k, k]
            factor = M[i, k]
            for j in range(k + 1, n):
                M[i, j] -= factor * M[k, j]
    return True


@kernel
def solve_factorized(M, pivots, x):
    """x becomes the solution of the factorized system with right-hand side x."""
    n = M.shape[0]
    for k in range(n):
        p = pivots[k]
        x[k], x[p] = x[p], x[k]
    for k in range(n):
        for i in range(k + 1, n):
            x[i] -= M[i, k] * x[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            x[k] -= M[k, j] * x[j]
        x[k] /= M[k, k]


@kernel
def jacobian_by_differences(model, data, y, u, dy, stage, column, J):
    """J = d(dy)/dy by forward differences at y, where dy is the derivative."""
    n = y.shape[0]
    for j in range(n):
        for i in range(n):
            stage[i] = y[i]
        step = 1.4901161193847656e-08 * max(1.0, abs(y[j]))
        stage[j] = y[j] + step
        step = stage[j] - y[j]
        derivative(model, data, stage, u, column)
        for i in range(n):
            J[i, j] = (column[i] - dy[i]) / step


@kernel
def implicit_step(
    model, data, y, u, h, A, error_weights, tolerance, rates, stage, end, J, system, pivots, z, small, small_pivots
):
    """end = y after h by a stiffly accurate method; returns the error estimate, or -1 where Newton did not converge.

    rates[0] must hold the derivative at y and J its Jacobian. z are the increments of all stages, one after another;
    `system` (s n, s n) and `small` (n, n) are scratch for I - h A x J and I - FILTER h J.
    """
    n, s = y.shape[0], A.shape[0]
    for a in range(s):
        for b in range(s):
            for i in range(n):
                for j in range(n):
                    system[a * n + i, b * n + j] = -h * A[a, b] * J[i, j]
        for i in range(n):
            system[a * n + i, a * n + i] += 1.0
    if not factorize(system, pivots):
        return -1.0
    for i in range(s * n):
        z[0, i] = 0.0
    converged = False
    previous = 0.0
    for iteration in range(NEWTON_ITERATIONS):
        for a in range(s):
            for i in range(n):
                stage[i] = y[i] + z[0, a * n + i]
            derivative(model, data, stage, u, rates[1 + a])
        for a in range(s):
            for i in range(n):
                total = -z[0, a * n + i]
                for b in range(s):
                    total += h * A[a, b] * rates[1 + b, i]
                z[1, a * n + i] = total
        solve_factorized(system, pivots, z[1])
        change = 0.0
        for i in range(s * n):
            z[0, i] += z[1, i]
            change = larger(change, abs(z[1, i]) / max(1.0, abs(y[i % n])))
        if not change < 1.0e10:
            return -1.0
        rate = change / previous if iteration > 0 and previous > 0.0 else 0.0
        if change <= 1.0e-15 or (iteration > 0 and rate < 1.0 and change * rate / (1.0 - rate) <= tolerance):
            converged = True
            break
        if iteration > 1 and rate >= 1.0:
            return -1.0
        previous = change
    if not converged:
        return -1.0
    for i in range(n):
        end[i] = y[i] + z[0, (s - 1) * n + i]
        error = 0.0
        for a in range(s + 1):
            error += h * error_weights[a] * rates[a, i]
        stage[i] = error
        for j in range(n):
            small[i, j] = -FILTER * h * J[i, j]
        small[i, i] += 1.0
    if not factorize(small, small_pivots):
        return -1.0
    solve_factorized(small, small_pivots, stage)
    largest = 0.0
    for i in range(n):
        largest = larger(largest, abs(stage[i]) / max(1.0, abs(end[i])))
    return largest
