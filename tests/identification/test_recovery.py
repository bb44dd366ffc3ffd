"""Parameters of simulated robots come back from their motions, without noise to 1e-8, with noise within its bounds."""

import numpy as np
import pytest
from measured_motion import (
    constrained_motion,
    drawn_states,
    forces,
    free_motion,
    hand,
    otherwise,
    plant_of,
    write_npz,
)
from repository import SAMPLES

from mbcli.identification.identify import Settings, identify
from mbcli.identification.subject import Subject

EXACT = 1e-8


def pair(tmp_path, urdf, **options):
    """The plant of a file, and one whose parameters are others."""
    (tmp_path / "file.urdf").write_text(urdf)
    (tmp_path / "true.urdf").write_text(otherwise(urdf))
    return plant_of(tmp_path / "file.urdf", **options), plant_of(tmp_path / "true.urdf", **options)


def assert_recovers(plant, true, path, **settings):
    result = identify(plant, [path], settings=Settings(**settings))
    truth = Subject(true, frictions=Settings.frictions, armature=settings.get("armature", False)).x0
    base = result.base
    assert base.rank == len(base.columns)
    sizes = result.subject.sizes[base.columns]
    wanted = base.combinations @ truth
    assert np.abs((base.values - wanted) / sizes).max() < EXACT
    assert np.abs((base.combinations @ result.x - wanted) / sizes).max() < EXACT  # of bodies that can be
    assert np.abs((base.combinations @ result.x0 - wanted) / sizes).max() > 0.1
    assert result.figures["after"] < EXACT < 0.05 < result.figures["before"]
    return result


def test_a_fixed_arm_is_recovered(tmp_path):
    plant, true = pair(tmp_path, (SAMPLES / "arm7.urdf").read_text(), weld_base=True)
    q, v, vdot = drawn_states(true, 150, 1)
    result = assert_recovers(plant, true, write_npz(tmp_path / "a.npz", q, v, vdot, forces(true, q, v, vdot)))
    assert result.cutoff is None


def test_a_floating_quadruped_is_recovered_from_pushes_that_are_known(tmp_path):
    plant, true = pair(tmp_path, (SAMPLES / "quadruped.urdf").read_text())
    assert_recovers(plant, true, write_npz(tmp_path / "a.npz", *free_motion(true, 150, 2)))


def test_a_four_bar_is_recovered_by_the_null_space_of_its_loop(tmp_path):
    plant, true = pair(tmp_path, (SAMPLES / "closed_chains" / "four_bar.urdf").read_text())
    path = write_npz(tmp_path / "a.npz", *constrained_motion(true, 120, 3, [0]))
    result = assert_recovers(plant, true, path)
    assert len(result.names) == 1


def test_a_hand_with_followers_is_recovered(tmp_path):
    plant, true = pair(tmp_path, hand())
    driven = [
        joint.velocity_start()
        for joint in true.elements.joints
        if joint.num_velocities() and not joint.name().endswith("_tip")
    ]
    path = write_npz(tmp_path / "a.npz", *constrained_motion(true, 150, 4, driven))
    assert_recovers(plant, true, path)


@pytest.mark.parametrize("armature", [True, False])
def test_armatures_are_told_from_inertias_of_links(tmp_path, armature):
    plant, true = pair(tmp_path, (SAMPLES / "double_pendulum.urdf").read_text(), weld_base=True)
    q, v, vdot = drawn_states(true, 80, 5)
    tau = forces(true, q, v, vdot)
    assert_recovers(plant, true, write_npz(tmp_path / "a.npz", q, v, vdot, tau), armature=armature)
