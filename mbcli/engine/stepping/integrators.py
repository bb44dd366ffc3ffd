"""Runge-Kutta methods as tables, one kernel each to take an explicit and an implicit step by any of them, dense output.

The state is y = [q; v]. Inputs are held over a step. Explicit tables: A strictly lower triangular, weights b, and the
difference of the two embedded weights (empty if a method has none). Implicit ones are stiffly accurate: the last
stage is the end of the step. Sources: Bogacki and Shampine 1989; Dormand and Prince 1980; Hairer and Wanner, Solving
Ordinary Differential Equations II, sections IV.5 and IV.8 (Radau IIA and the filtered error estimate); Hairer, Norsett
and Wanner, the same I, sections II.4 (step doubling and local extrapolation) and II.6 (dense output).

Under error control the implicit method of first order takes each step once whole and once as two halves. Their
difference is the error of the whole one, and the extrapolated end goes on, which is of second order. Without that the
error of a run would go with the root of the accuracy: so many more steps are there the smaller each of them is.
"""

from dataclasses import dataclass

import numpy as np

from mbcli.engine.contact.contact_calls import set_contact_forces
from mbcli.engine.fields.run_fields import CLOCK_MIDDLE, CLOCK_NEXT_STEP, CLOCK_TIME, INTEGRATION_FIELDS
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.runtime.model import WritableArrays
from mbcli.engine.smooth.actuator_laws import add_transmission_forces
from mbcli.engine.smooth.coordinates import velocity_to_qdot
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import accelerations
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.joint_forces import add_actuation, add_joint_forces
from mbcli.engine.smooth.state import at_stage


@dataclass(frozen=True)
class Method:
    """A Runge-Kutta method: its table, the order of its result and of its error estimate (0: none).

    dense: weights of the derivatives of the stages in what dense output adds to the cubic through both ends.
    """

    A: np.ndarray
    b: np.ndarray
    error: np.ndarray
    order: int
    error_order: int
    implicit: bool = False
    dense: np.ndarray = None


def _explicit(A, b, embedded, order, error_order, dense=None):
    n = len(b)
    full = np.zeros((n, n))
    for i, row in enumerate(A, start=1):
        full[i, : len(row)] = row
    difference = np.array(b, float) - np.array(embedded, float) if embedded else np.zeros(n)
    dense = np.zeros(n) if dense is None else np.array(dense)
    return Method(full, np.array(b, float), difference, order, error_order, dense=dense)


def _implicit(A, error, order, error_order):
    return Method(np.array(A), np.array(A[-1]), np.array(error), order, error_order, True, np.zeros(len(A)))


METHODS = {
    "explicit_euler": _explicit([], [1.0], None, 1, 0),
    "runge_kutta2": _explicit([[1.0]], [0.5, 0.5], None, 2, 0),  # Heun's method, the explicit trapezoid
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
        # Shampine 1986: of fourth order, with continuous derivatives
        [
            -12715105075 / 11282082432,
            0.0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ],
    ),
    "radau1": _implicit([[1.0]], [0.0, 0.0], 1, 1),  # the error is that of a doubled step
    # the error weights apply to the derivatives at the start and at each stage
    "radau3": _implicit([[5 / 12, -1 / 12], [3 / 4, 1 / 4]], [2 / 6, -3 / 6, 1 / 6], 3, 2),
}
METHODS["implicit_euler"] = METHODS["radau1"]


class Integration(WritableArrays):
    """One attribute per entry of INTEGRATION_FIELDS: a run of a continuous plant by a method.

    Args:
        method: Method.
        y: [q; v] at its start, of the scalar type of the run.
        time: [s]
        next_step: [s] first step to try.
    """

    fields = INTEGRATION_FIELDS

    def __init__(self, method, y, time, next_step):
        wide = len(y) if method.implicit else 0
        stages = len(method.b)
        sizes = {"ny": len(y), "nstage": stages, "nrate": stages + 1, "nweight": len(method.error)}
        super().__init__(sizes | {"nwide": wide, "nsystem": stages * wide, "nkept": len(y) + 3}, y.dtype)
        self.method_A[:], self.method_b[:], self.method_error[:] = method.A, method.b, method.error
        self.method_dense[:], self.y[:] = method.dense, y
        self.clock[CLOCK_TIME], self.clock[CLOCK_NEXT_STEP] = time, next_step
        self.error_order[0] = method.error_order


FILTER = 0.4  # [1] the error estimate of implicit methods is solved through I - FILTER h J, which tames stiff parts
NEWTON_ITERATIONS = 8
FIXED_ITERATIONS = 100  # if the step is given, it is taken as long as Newton's method makes progress


@slot(python=INJECTED)
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
        data.u[k] = u[k]
    add_actuation(model, data)
    at_stage(model, data)
    add_joint_forces(model, data)
    clear_applied_forces(data)
    set_contact_forces(data)
    add_element_forces(model, data, data.F_applied, 0)
    add_transmission_forces(model, data, 0.0)
    accelerations(model, data, 0.0)
    velocity_to_qdot(model, data, data.v, data.qdot)
    for i in range(nq):
        dy[i] = data.qdot[i]
    for d in range(nv):
        dy[nq + d] = data.vdot[d]


@slot(python=INJECTED)
def explicit_step(model, data, run, u, h):
    """y_end = y after h; returns the largest error estimate relative to max(1, |y|), 0 if there is none."""
    n, A, b, rates = run.y.shape[0], run.method_A, run.method_b, run.rates
    for s in range(b.shape[0]):
        for i in range(n):
            total = run.y[i]
            for k in range(s):
                total += h * A[s, k] * rates[k, i]
            run.y_stage[i] = total
        derivative(model, data, run.y_stage, u, rates[s])
    largest = 0.0
    for i in range(n):
        total = run.y[i]
        error = 0.0
        for s in range(b.shape[0]):
            total += h * b[s] * rates[s, i]
            error += h * run.method_error[s] * rates[s, i]
        run.y_end[i] = total
        largest = larger(largest, abs(error) / max(1.0, abs(total)))
    return largest


@kernel
def larger(a, b):
    """The larger of two numbers, NaN if b is."""
    return b if not b <= a else a


@kernel
def semi_explicit_step(model, data, run, u, h):
    """Velocities by their old derivative, then positions by the new velocities."""
    nq, nv = data.q.shape[0], data.v.shape[0]
    derivative(model, data, run.y, u, run.rates[0])
    for d in range(nv):
        data.v[d] = run.y[nq + d] + h * run.rates[0, nq + d]
        run.y_end[nq + d] = data.v[d]
    velocity_to_qdot(model, data, data.v, data.qdot)
    for i in range(nq):
        run.y_end[i] = run.y[i] + h * data.qdot[i]


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
def jacobian_by_differences(model, data, run, u):
    """rates[0] = dy at y, J = d(dy)/dy by forward differences."""
    n, column = run.y.shape[0], run.rates[1]
    derivative(model, data, run.y, u, run.rates[0])
    for j in range(n):
        for i in range(n):
            run.y_stage[i] = run.y[i]
        step = 1.4901161193847656e-08 * max(1.0, abs(run.y[j]))
        run.y_stage[j] = run.y[j] + step
        step = run.y_stage[j] - run.y[j]
        derivative(model, data, run.y_stage, u, column)
        for i in range(n):
            run.J[i, j] = (column[i] - run.rates[0, i]) / step


@kernel
def implicit_step(model, data, run, u, h, accuracy):
    """y_end = y after h by a stiffly accurate method; returns the error estimate, or -1 where Newton did not converge.

    Without error control accuracy is 0. After jacobian_by_differences().
    """
    n, s = run.y.shape[0], run.method_A.shape[0]
    if s == 1 and accuracy > 0.0:
        return doubled_step(model, data, run, u, h, accuracy)
    if not factorize_stages(run, h) or not solve_stages(model, data, run, run.y, u, h, accuracy):
        return -1.0
    for i in range(n):
        run.y_end[i] = run.y[i] + run.increments[0, (s - 1) * n + i]
        run.y_middle[i] = run.y[i] + run.increments[0, i]
    run.clock[CLOCK_MIDDLE] = run.method_A[0, 0] + run.method_A[0, 1] if s == 2 else 0.0
    return filtered_error(run, h) if accuracy > 0.0 else 0.0


@kernel
def doubled_step(model, data, run, u, h, accuracy):
    """As implicit_step(), by one step and by two of half its length; y_middle is on the extrapolated solution too."""
    n = run.y.shape[0]
    if not factorize_stages(run, h) or not solve_stages(model, data, run, run.y, u, h, accuracy):
        return -1.0
    for i in range(n):
        run.y_whole[i] = run.y[i] + run.increments[0, i]
    if not factorize_stages(run, 0.5 * h) or not solve_stages(model, data, run, run.y, u, 0.5 * h, accuracy):
        return -1.0
    for i in range(n):
        run.y_middle[i] = run.y[i] + run.increments[0, i]
    if not solve_stages(model, data, run, run.y_middle, u, 0.5 * h, accuracy):
        return -1.0
    largest = 0.0
    for i in range(n):
        end = run.y_middle[i] + run.increments[0, i]
        difference = run.y_whole[i] - end
        run.y_end[i] = end - difference
        # half a step is off by a quarter of the error of the whole one, which is twice the difference
        run.y_middle[i] -= 0.5 * difference
        # how far dense output leaves the chord; if the motion is smooth, half of the difference
        bend = 0.5 * (run.y[i] + run.y_end[i]) - run.y_middle[i]
        largest = larger(largest, larger(abs(difference), abs(bend)) / max(1.0, abs(run.y_end[i])))
    run.clock[CLOCK_MIDDLE] = 0.5
    return largest


@kernel
def factorize_stages(run, h):
    """The factors of I - h A x J; False if that is singular."""
    n, s = run.y.shape[0], run.method_A.shape[0]
    for a in range(s):
        for b in range(s):
            for i in range(n):
                for j in range(n):
                    run.system[a * n + i, b * n + j] = -h * run.method_A[a, b] * run.J[i, j]
        for i in range(n):
            run.system[a * n + i, a * n + i] += 1.0
    return factorize(run.system, run.system_pivots)


@kernel
def solve_stages(model, data, run, start, u, h, accuracy):
    """increments[0] = those of all stages of a step from `start`, one after another; False without convergence.

    After factorize_stages(). rates[1:] are the derivatives of the last iteration.
    """
    n, s, z = start.shape[0], run.method_A.shape[0], run.increments
    tolerance = 1.0e-3 * accuracy if accuracy > 0.0 else 1.0e-12
    for i in range(s * n):
        z[0, i] = 0.0
    previous = 0.0
    for iteration in range(NEWTON_ITERATIONS if accuracy > 0.0 else FIXED_ITERATIONS):
        for a in range(s):
            for i in range(n):
                run.y_stage[i] = start[i] + z[0, a * n + i]
            derivative(model, data, run.y_stage, u, run.rates[1 + a])
        for a in range(s):
            for i in range(n):
                total = -z[0, a * n + i]
                for b in range(s):
                    total += h * run.method_A[a, b] * run.rates[1 + b, i]
                z[1, a * n + i] = total
        solve_factorized(run.system, run.system_pivots, z[1])
        change = 0.0
        for i in range(s * n):
            z[0, i] += z[1, i]
            change = larger(change, abs(z[1, i]) / max(1.0, abs(start[i % n])))
        if not change < 1.0e10:
            return False
        rate = change / previous if iteration > 0 and previous > 0.0 else 0.0
        if change <= 1.0e-15 or (iteration > 0 and rate < 1.0 and change * rate / (1.0 - rate) <= tolerance):
            return True
        if iteration > 1 and rate >= 1.0:
            return False
        previous = change
    return False


@kernel
def filtered_error(run, h):
    """The largest error by the embedded weights, relative to max(1, |y|); -1 if the filter is singular."""
    n = run.y.shape[0]
    for i in range(n):
        error = 0.0
        for a in range(run.method_error.shape[0]):
            error += h * run.method_error[a] * run.rates[a, i]
        run.y_stage[i] = error
        for j in range(n):
            run.filter[i, j] = -FILTER * h * run.J[i, j]
        run.filter[i, i] += 1.0
    if not factorize(run.filter, run.filter_pivots):
        return -1.0
    solve_factorized(run.filter, run.filter_pivots, run.y_stage)
    largest = 0.0
    for i in range(n):
        largest = larger(largest, abs(run.y_stage[i]) / max(1.0, abs(run.y_end[i])))
    return largest


# ------------------------------------------------------------------------------------------ dense output


@slot(python=INJECTED)
def rate_at_end(model, data, t, run, u):
    """The last row of rates = dy at y_end, which is at the time t."""
    derivative(model, data, run.y_end, u, run.rates[run.rates.shape[0] - 1])


@kernel
def join_ends(run, h):
    """`dense` of an explicit step: the cubic with its states and derivatives at both ends, and the term of the method.

    After rate_at_end(). Powers of the part of the step that is done, from 0 to 1; y_end may be corrected.
    """
    last = run.rates.shape[0] - 1
    for i in range(run.y.shape[0]):
        start, end = h * run.rates[0, i], h * run.rates[last, i]
        change = run.y_end[i] - run.y[i]
        more = 0.0
        for s in range(run.method_dense.shape[0]):
            more += h * run.method_dense[s] * run.rates[s, i]
        run.dense[0, i], run.dense[1, i] = run.y[i], start
        run.dense[2, i] = 3.0 * change - 2.0 * start - end + more
        run.dense[3, i] = start + end - 2.0 * change - 2.0 * more
        run.dense[4, i] = more


@kernel
def join_stages(run):
    """`dense` of an implicit step: the polynomial through its start, y_middle and end; it damps stiff parts."""
    c = run.clock[CLOCK_MIDDLE]
    for i in range(run.y.shape[0]):
        change, bend = run.y_end[i] - run.y[i], 0.0
        if c > 0.0:
            bend = (c * change - (run.y_middle[i] - run.y[i])) / (c * (1.0 - c))
        run.dense[0, i], run.dense[1, i], run.dense[2, i] = run.y[i], change - bend, bend
        run.dense[3, i], run.dense[4, i] = 0.0, 0.0


@kernel
def evaluate_dense(run, share):
    """y_stage = the state after a share of the step."""
    for i in range(run.y.shape[0]):
        total = run.dense[4, i]
        for k in range(3, -1, -1):
            total = total * share + run.dense[k, i]
        run.y_stage[i] = total
