"""Closed surfaces with damage, by seed: what a file may hold that nobody checked."""

import numpy as np
from made_solids import bumpy_ball, gear, grid_box, torus


def damaged_surface(seed):
    """A label, vertices and triangles."""
    rng = np.random.default_rng(seed)
    vertices, triangles = (torus(8, 5), bumpy_ball(2), gear(3), grid_box(2))[seed % 4]
    vertices, triangles = vertices.copy(), triangles.copy()
    damage = DAMAGES[seed // 4 % len(DAMAGES)]
    vertices, triangles = damage(rng, vertices, triangles)
    return damage.__name__, vertices, triangles


def missing_triangles(rng, v, t):
    return v, np.delete(t, rng.integers(len(t), size=rng.integers(1, 5)), axis=0)


def turned_triangles(rng, v, t):
    some = rng.integers(len(t), size=rng.integers(1, 5))
    t[some] = t[some][:, ::-1]
    return v, t


def doubled_triangles(rng, v, t):
    return v, np.concatenate([t, t[rng.integers(len(t), size=3)]])


def soup(rng, v, t):
    """Each triangle with corners of its own."""
    return v[t].reshape(-1, 3), np.arange(3 * len(t)).reshape(-1, 3)


def torn_soup(rng, v, t):
    corners = v[t].reshape(-1, 3)
    return corners + rng.normal(size=corners.shape) * 1e-3, np.arange(3 * len(t)).reshape(-1, 3)


def shaken(rng, v, t):
    return v + rng.normal(size=v.shape) * 0.03, t


def crossing_itself(rng, v, t):
    return v + rng.normal(size=v.shape) * 0.4, t


def two_that_cross(rng, v, t):
    return np.concatenate([v, v + rng.uniform(0.1, 0.4, 3)]), np.concatenate([t, t + len(v)])


def two_that_are_equal(rng, v, t):
    return np.concatenate([v, v]), np.concatenate([t, t + len(v)])


def one_in_another(rng, v, t):
    middle = v.mean(axis=0)
    return np.concatenate([v, middle + 0.2 * (v - middle)]), np.concatenate([t, t[:, ::-1] + len(v)])


def flattened(rng, v, t):
    return v * [1.0, 1.0, 10.0 ** -rng.integers(2, 18)], t


def needles(rng, v, t):
    return v * [10.0 ** rng.integers(2, 6), 1.0, 1.0], t


def huge_or_tiny(rng, v, t):
    return v * 10.0 ** float(rng.choice([-200, -120, -30, -9, 9, 30, 120, 200, 308])), t


def far_away(rng, v, t):
    return v + 10.0 ** rng.integers(2, 14), t


def not_numbers(rng, v, t):
    v[rng.integers(len(v)), rng.integers(3)] = rng.choice([np.nan, np.inf, -np.inf])
    return v, t


def at_one_place(rng, v, t):
    return np.zeros_like(v), t


def vertices_on_each_other(rng, v, t):
    some = rng.integers(len(v), size=(4, 2))
    v[some[:, 0]] = v[some[:, 1]]
    return v, t


def mixed_up(rng, v, t):
    return v, rng.permutation(t.ravel()).reshape(-1, 3)


def spikes(rng, v, t):
    some = rng.integers(len(v), size=3)
    v[some] *= rng.uniform(2.0, 50.0, (3, 1))
    return v, t


def rounded(rng, v, t):
    """As a file with few digits has it: vertices on each other, triangles that cross a little."""
    return np.round(v, 1), t


DAMAGES = [
    missing_triangles, turned_triangles, doubled_triangles, soup, torn_soup, shaken, crossing_itself, two_that_cross,
    two_that_are_equal, one_in_another, flattened, needles, huge_or_tiny, far_away, not_numbers, at_one_place,
    vertices_on_each_other, mixed_up, spikes, rounded,
]  # fmt: skip
