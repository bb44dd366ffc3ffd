"""Every URDF file that pydrake brings along and reads: the same plant in both libraries."""

import functools

import numpy as np
import pytest
from peer_modules import peer_folder
from test_peers_models import Side, library, names_and_counts, names_of_instances

pytestmark = pytest.mark.peers("pydrake")

SHARE = peer_folder("pydrake") / "share"
FILES = sorted(SHARE.rglob("*.urdf"))
LIMITS = [f"{kind}{side}Limits" for kind in ("Position", "Velocity", "Acceleration") for side in ("Lower", "Upper")]


def plant_of(lib, path):
    plant = lib.MultibodyPlant(0.001)
    lib.Parser(plant).AddModels(str(path))
    plant.Finalize()
    return plant


@functools.cache
def sides(path):
    try:
        theirs = plant_of(library("pydrake"), path)
    except RuntimeError as error:
        pytest.skip(f"pydrake refuses it: {error}")
    return Side(library("mbcli"), plant_of(library("mbcli"), path)), Side(library("pydrake"), theirs)


def frame_names(side):
    return [side.plant.get_frame(side.lib.FrameIndex(i)).name() for i in range(side.plant.num_frames())]


def test_there_are_files():
    assert len(FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_names_counts_order_and_limits_equal_pydrake(path):
    ours, theirs = sides(path)
    assert names_and_counts(ours) == names_and_counts(theirs)
    assert names_of_instances(ours) == names_of_instances(theirs)
    for limits in LIMITS:
        assert getattr(ours.plant, f"Get{limits}")().tolist() == getattr(theirs.plant, f"Get{limits}")().tolist()
    assert ours.plant.GetEffortUpperLimits().tolist() == theirs.plant.GetEffortUpperLimits().tolist()
    assert frame_names(ours) == frame_names(theirs)
    assert ours.plant.num_constraints() == theirs.plant.num_constraints()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_inertias_and_mass_matrices_equal_pydrake(path):
    ours, theirs = sides(path)
    for body, their in zip(ours.bodies[1:], theirs.bodies[1:], strict=True):
        M = their.default_spatial_inertia().CopyToFullMatrix6()
        np.testing.assert_allclose(
            body.default_spatial_inertia().CopyToFullMatrix6(), M, rtol=0, atol=1e-13 * np.abs(M).max()
        )
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = rng.uniform(-1.0, 1.0, ours.plant.num_positions())
        matrices = []
        for side in (ours, theirs):
            side.plant.SetPositions(side.context, q)
            matrices.append(side.plant.CalcMassMatrix(side.context))
        np.testing.assert_allclose(*matrices, rtol=0, atol=1e-12 * max(np.abs(matrices[1]).max(initial=0.0), 1.0))
