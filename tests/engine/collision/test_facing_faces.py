"""The face of a solid that looks in a direction: on the solid, outermost, its corners counterclockwise from outside."""

from types import SimpleNamespace

import numpy as np
import pytest

from mbcli.engine import load_kernels
from mbcli.engine.collision.shapes import BOX, CYLINDER
from mbcli.math import UniformlyRandomRotationMatrix

kernels = load_kernels(False)
SIZE = np.array([0.3, 0.5, 0.7])
AXES = [sign * axis for axis in np.eye(3) for sign in (1.0, -1.0)]


def solid(kind, seed):
    """A solid of half sizes SIZE (radius, radius, half length) in a random pose, and that pose."""
    rng = np.random.default_rng(seed)
    R, p = UniformlyRandomRotationMatrix(rng).matrix(), rng.normal(size=3)
    size = SIZE if kind == BOX else SIZE[[0, 0, 2]]
    arrays = SimpleNamespace(
        kind=np.array([kind]),
        size=size[np.newaxis],
        X_WG=np.concatenate([R.ravel(), p])[np.newaxis],
        polygons=np.full((2, 12, 3), np.nan),
        rounding=np.zeros(1),
    )
    return arrays, R, p, size


def directions(seed, spread):
    """Unit vectors near each of the six axes."""
    rng = np.random.default_rng(seed)
    for axis in AXES:
        d = axis + rng.normal(size=3) * spread
        yield axis, d / np.linalg.norm(d)


@pytest.mark.parametrize("kind", [BOX, CYLINDER])
@pytest.mark.parametrize("seed", range(4))
def test_corners_of_a_face_are_outermost_and_go_round_its_outward_normal(kind, seed):
    arrays, R, p, size = solid(kind, seed)
    for axis, d in directions(seed, 0.1):
        if kind == CYLINDER and not axis[2]:
            continue  # the side of a cylinder faces with a line
        count, normal = kernels.facing(arrays, 0, R @ d, 1)
        np.testing.assert_allclose(normal, R @ axis, atol=1e-14)
        corners = (arrays.polygons[1, :count] - p) @ R
        assert np.isfinite(corners).all() and np.isnan(arrays.polygons[0]).all()
        np.testing.assert_allclose(corners @ axis, abs(axis @ size), rtol=1e-14)
        assert count == (4 if kind == BOX else 8)
        if kind == BOX:
            assert {tuple(c) for c in np.sign(corners).astype(int)} == {
                tuple(c) for c in np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T if c @ axis > 0
            }
            np.testing.assert_allclose(abs(corners), np.tile(size, (4, 1)), rtol=1e-14)
        following = np.roll(corners, -1, axis=0)
        assert ((np.cross(corners - corners.mean(axis=0), following - corners.mean(axis=0)) @ axis) > 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_side_of_a_cylinder_faces_with_its_outermost_line(seed):
    arrays, R, p, size = solid(CYLINDER, seed)
    angle = np.random.default_rng(seed).uniform(0.0, 2.0 * np.pi)
    d = np.array([np.cos(angle), np.sin(angle), 0.0])
    count, normal = kernels.facing(arrays, 0, R @ d, 0)
    np.testing.assert_allclose(normal, R @ d, atol=1e-14)
    corners = (arrays.polygons[0, :count] - p) @ R
    np.testing.assert_allclose(corners, [size[0] * d + [0, 0, z] for z in (size[2], -size[2])], atol=1e-14)
