"""The velocities nearest to given ones that constraints allow."""

import numpy as np

from mbcli.multibody.assembly.orthogonal_factors import CLEAR, RANK_TOLERANCE, OrthogonalFactors


def nearest_velocities(G, errd, start, weights, dense=None):
    """The velocities (nv,) nearest to `start`, whose errors are errd = G start, with G v = 0; dense: DenseSolver."""
    if not len(errd):
        return start.copy()
    change = None if dense is None else dense.find_shortest_change(G, errd, weights)
    if change is not None:
        return start - change
    factors = OrthogonalFactors(G.T)
    if factors.is_clear and weights.min() > CLEAR * weights.max():
        change, Z, root = -factors.shortest(errd), factors.null_space(), np.sqrt(weights)
        if Z.shape[1] and weights.min() < weights.max():  # else the shortest change is the nearest one
            change += Z @ OrthogonalFactors(root[:, None] * Z).least_squares(-root * change)
        return start + change
    change = -np.linalg.lstsq(G, errd, rcond=RANK_TOLERANCE)[0]
    _, singular, directions = np.linalg.svd(G)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))
    Z, root = directions[rank:].T, np.sqrt(weights)
    along = np.linalg.lstsq(root[:, None] * Z, -root * change, rcond=RANK_TOLERANCE)[0]
    return start + change + Z @ along
