"""The positions nearest to given ones that satisfy equations: weighted least squares on a manifold.

First a feasible point, by Levenberg-Marquardt steps whose damping goes with the square of the error, so that dependent
equations do no harm (Yamashita and Fukushima 2001). Then Newton's method in the null space of the derivative, on the
curvature of the Lagrangian, each step followed by one back to feasibility.
"""

from dataclasses import dataclass, replace

import numpy as np

RANK_TOLERANCE = 1e-9  # of singular values, relative to the largest
STATIONARY = 1e-8  # of the projected gradient, relative to the weights times the difference, and one
LARGEST_STEP = 1.0  # [rad or m] in one coordinate
DIFFERENCE_STEP = 1e-5  # [rad or m] for the curvature
LIGHTEST = 1e-8  # a weight of zero in steps to feasibility, relative to the largest


@dataclass(frozen=True)
class AssemblyProblem:
    """The problem: manifold (PositionManifold), evaluate: q -> (phi, derivative), start q (nq,), weights (nv,).

    tolerance: of the norm of phi; max_iterations: of each start.
    """

    manifold: object
    evaluate: object
    start: np.ndarray
    weights: np.ndarray
    tolerance: float
    max_iterations: int


@dataclass
class Nearest:
    """Fields as those of AssemblyResult."""

    q: np.ndarray
    converged: bool
    iterations: int
    position_error: float
    rank: int = 0
    redundant: int = 0
    stationarity: float = np.inf
    restarts: int = 0


def find_nearest(problem, restarts, minimize):
    """A Nearest for an AssemblyProblem, from its start and from as many others as are needed and allowed."""
    rng = np.random.default_rng(0)
    best, iterations = None, 0
    for attempt in range(restarts + 1):
        q = problem.start
        if attempt:
            spread = min(0.05 * 2.0**attempt, np.pi)
            q = problem.manifold.moved(q, rng.uniform(-spread, spread, len(problem.weights)))
        found = find_feasible(problem, q)
        iterations += found.iterations
        found.restarts = attempt
        if best is None or found.position_error < best.position_error:
            best = found
        if found.converged:
            break
    best.iterations = iterations
    if best.converged and minimize:
        best = minimize_difference(problem, best)
    return _described(problem, best)


def find_feasible(problem, q):
    """The Nearest that the steps from q lead to; not converged if they get stuck or are too many."""
    phi, G = problem.evaluate(q)
    error = np.linalg.norm(phi)
    heaviest = problem.weights.max(initial=0.0) or 1.0
    scale = 1.0 / np.sqrt(np.maximum(problem.weights / heaviest, LIGHTEST))
    damping = 1e-2
    for iteration in range(problem.max_iterations):
        if error <= problem.tolerance:
            return Nearest(q, True, iteration, error)
        U, singular, V = np.linalg.svd(G * scale, full_matrices=False)
        rising = U.T @ phi * singular
        kept = singular > RANK_TOLERANCE * singular.max(initial=0.0)
        if np.linalg.norm(rising) <= 1e-12 * singular.max(initial=0.0) * error:
            break  # no direction makes the error smaller
        while damping < 1e10:
            step = -scale * (V[kept].T @ (rising[kept] / (singular[kept] ** 2 + damping * error**2)))
            step *= min(1.0, LARGEST_STEP / max(np.abs(step).max(), 1e-300))
            q_next = problem.manifold.moved(q, step)
            phi_next, G_next = problem.evaluate(q_next)
            error_next = np.linalg.norm(phi_next)
            if error_next < (1.0 - 1e-4) * error:
                damping *= 0.2
                break
            damping = max(8.0 * damping, 1e-3)
        else:
            break
        q, phi, G, error = q_next, phi_next, G_next, error_next
    return Nearest(q, bool(error <= problem.tolerance), problem.max_iterations, error)


def minimize_difference(problem, found):
    """From a feasible Nearest to the minimum of the weighted difference on the constraints, if its steps get there."""
    back = replace(problem, max_iterations=30)
    q, cost = found.q, _cost(problem, found.q)
    for _ in range(problem.max_iterations):
        Z, reduced, force = _projected_gradient(problem, q)
        if np.linalg.norm(reduced) <= _stationary(problem, q) or not Z.shape[1]:
            break
        values, vectors = np.linalg.eigh(_curvature(problem, q, Z, force))
        values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
        along = -vectors @ (vectors.T @ reduced / values)
        step = Z @ along
        step *= min(1.0, LARGEST_STEP / np.abs(step).max())
        found.iterations += 1
        for _ in range(12):
            tried = find_feasible(back, problem.manifold.moved(q, step))
            cost_tried = _cost(problem, tried.q)
            if tried.converged and cost_tried <= cost + 1e-4 * (step @ Z) @ reduced + 1e-13 * cost:
                break
            step = 0.3 * step
        else:
            break
        q, cost, found.position_error = tried.q, cost_tried, tried.position_error
    found.q = q
    return found


def _cost(problem, q):
    difference = problem.manifold.difference(q, problem.start)
    return 0.5 * problem.weights @ difference**2


def _gradient(problem, q):
    """Of the cost by motions d of q, (nv,)."""
    difference = problem.manifold.difference(q, problem.start)
    return problem.manifold.difference_rate(q, problem.start).T @ (problem.weights * difference)


def _stationary(problem, q):
    difference = problem.manifold.difference(q, problem.start)
    return STATIONARY * (1.0 + np.linalg.norm(problem.weights * difference))


def _projected_gradient(problem, q):
    """Basis Z of the directions along the constraints, the gradient along them, and the multipliers of the rest."""
    _, G = problem.evaluate(q)
    gradient = _gradient(problem, q)
    U, singular, V = np.linalg.svd(G)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))
    Z = V[rank:].T
    force = -U[:, :rank] @ (V[:rank] @ gradient / singular[:rank])
    return Z, Z.T @ gradient, force


def _curvature(problem, q, Z, force):
    """Of the Lagrangian along Z, by central differences of its gradient."""
    columns = []
    for direction in Z.T:
        ends = []
        for sign in (1.0, -1.0):
            moved = problem.manifold.moved(q, sign * DIFFERENCE_STEP * direction)
            ends.append(_gradient(problem, moved) + problem.evaluate(moved)[1].T @ force)
        columns.append(Z.T @ (ends[0] - ends[1]) / (2.0 * DIFFERENCE_STEP))
    curvature = np.array(columns)
    return 0.5 * (curvature + curvature.T)


def _described(problem, found):
    """Completes rank, redundant rows and stationarity."""
    phi, G = problem.evaluate(found.q)
    Z, reduced, _ = _projected_gradient(problem, found.q)
    found.position_error = float(np.linalg.norm(phi))
    found.rank = G.shape[1] - Z.shape[1]
    found.redundant = G.shape[0] - found.rank
    found.stationarity = float(np.linalg.norm(reduced))
    return found
