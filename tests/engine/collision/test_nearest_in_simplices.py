"""The point of a triangle nearest to the origin, by the conditions that make it that."""

import numpy as np
import pytest

from mbcli.engine import load_kernels

kernels = load_kernels(False)


def triangles(kind, rng):
    """Corners (3, 3) with the origin beside corners, sides and the face; or long and thin."""
    for _ in range(400):
        P = rng.normal(size=(3, 3))
        if kind == "thin":
            P[2] = 0.5 * (P[0] + P[1]) + 1e-3 * rng.normal(size=3)
        yield P - rng.normal(size=3) * rng.choice([0.0, 0.3, 3.0])


@pytest.mark.parametrize("kind", ["any", "thin"])
def test_no_corner_of_a_triangle_is_nearer_than_the_point_of_its_weights(kind):
    """p is nearest if and only if p . (corner - p) >= 0 for all corners, as p is in the triangle."""
    seen = set()
    for P in triangles(kind, np.random.default_rng(1)):
        weights = np.array(kernels.triangle_weights(P, 0, 1, 2))
        assert weights.sum() == pytest.approx(1.0, abs=1e-14)
        assert weights.min() >= -1e-14
        p = weights @ P
        assert ((P - p) @ p >= -1e-12 * (P**2).sum()).all()
        seen.add(tuple(weights > 0.0))
    assert len(seen) >= (7 if kind == "any" else 5)  # corners, sides, face; no thin one is nearest everywhere
