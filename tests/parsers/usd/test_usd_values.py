"""Transforms of USD as poses and stretches, numbers of single precision as the decimals that they mean."""

import numpy as np
import pytest
from mbcli.parsers.kept_meshes import obj_of
from mbcli.parsers.poses import rotation_about
from mbcli.parsers.usd.usd_meshes import turned_round
from mbcli.parsers.usd.usd_stage import split_affine

from mbcli.math.single_precision import shortest_decimals

R = rotation_about((1.0, 2.0, 3.0), 0.7)


def affine(linear, p=(1.0, 2.0, 3.0)):
    A = np.eye(4)
    A[:3, :3], A[:3, 3] = linear, p
    return A


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (0.1, 2.0, 3.0), (-1.0, 2.0, 3.0), (-1.0, -2.0, -3.0)])
def test_a_transform_is_a_rotation_after_a_stretch(scale):
    X, S = split_affine(affine(R @ np.diag(scale)))
    np.testing.assert_allclose(X[:3, :3] @ S, R @ np.diag(scale), atol=1e-15)
    np.testing.assert_allclose(X[:3, :3].T @ X[:3, :3], np.eye(3), atol=1e-15)
    assert np.linalg.det(X[:3, :3]) > 0.0
    np.testing.assert_allclose(S, np.diag(np.diag(S)), atol=1e-15)


def test_a_shear_is_a_rotation_after_a_symmetric_stretch():
    shear = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 2.0]])
    X, S = split_affine(affine(R @ shear))
    np.testing.assert_allclose(X[:3, :3] @ S, R @ shear, atol=1e-14)
    np.testing.assert_allclose(S, S.T, atol=1e-14)


@pytest.mark.parametrize("linear", [np.diag((1.0, 0.0, 1.0)), np.diag((np.nan, 1.0, 1.0)), np.zeros((3, 3))])
def test_what_has_no_volume_is_no_transform(linear):
    assert split_affine(affine(linear)) is None


def test_single_precision_means_its_shortest_decimal():
    assert shortest_decimals(np.array([[0.1, 1e-7, 12345.678]], np.float32)).tolist() == [[0.1, 1e-7, 12345.678]]


def test_faces_of_any_size_are_written_and_turned():
    points = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 2, 0)])
    counts, indices = np.array([4, 3]), np.array([0, 1, 2, 3, 2, 3, 4])
    assert obj_of(points, counts, indices).decode().splitlines()[-2:] == ["f 1 2 3 4", "f 3 4 5"]
    assert turned_round(counts, indices).tolist() == [3, 2, 1, 0, 4, 3, 2]
    chosen = obj_of(points, counts, indices, np.array([False, True])).decode().splitlines()
    assert chosen == ["v 1.0 1.0 0.0", "v 0.0 1.0 0.0", "v 2.0 2.0 0.0", "f 1 2 3"]
