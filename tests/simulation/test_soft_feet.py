"""A robot on compliant feet, whose contacts are surfaces, stands and walks in place for ten seconds."""

import warnings

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.log import open_log
from mbcli.models.loading import load_model
from mbcli.simulation import Worlds

QUADRUPED = SAMPLES / "quadruped.urdf"
SOFT = """
scene_graph_config:
  default_proximity_properties:
    {compliance_type: compliant, hydroelastic_modulus: 5.0e+5, resolution_hint: 0.01, hunt_crossley_dissipation: 20.0}
"""
HEIGHT = 0.462  # [m] of the trunk at the start


@pytest.fixture
def soft(tmp_path):
    path = tmp_path / "soft.yaml"
    path.write_text(SOFT)
    return path


def test_it_stands_for_ten_seconds(tmp_path, soft):
    settings = ("--ground", "--hold", "--config", soft, "-t", 10, "--fields", "contact", "-o", tmp_path / "stand.h5")
    found = succeed("simulate", QUADRUPED, *settings)
    assert "warning" not in found.err
    with open_log(tmp_path / "stand.h5") as log:
        assert log.times[-1] == 10.0
        assert np.abs(log.v[-1]).max() < 1e-3
        assert log.q[-1, 6] == pytest.approx(HEIGHT, abs=0.01)


def test_it_walks_in_place_for_ten_seconds(soft):
    """Diagonal legs bend in turn, once a second, and their feet leave the ground."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_model(QUADRUPED, ground=0.0, hold=True, contact=True, config=str(soft))
        worlds = Worlds(model, 1)
        plant, context = model.plant, model.plant.CreateDefaultContext()
        shank, foot = plant.GetFrameByName("front_left_shank"), np.array([0.0, 0.0, -0.22])
        start, heights, trunk = worlds.desired[0, :, 0].copy(), [], []
        for k in range(500):
            desired, t = start.copy(), 0.02 * k
            for i, name in enumerate(worlds.controlled):
                half_turn = 0.0 if "front_left" in name or "rear_right" in name else np.pi
                bent = max(0.0, np.sin(2.0 * np.pi * t + half_turn)) * min(1.0, t)
                desired[i] += 0.25 * bent if "hip_pitch" in name else -0.5 * bent if "knee" in name else 0.0
            worlds.desired[0, :, 0] = desired
            worlds.step(20)
            plant.SetPositions(context, worlds.q[0])
            heights.append(shank.CalcPoseInWorld(context).multiply(foot)[2])
            trunk.append(worlds.q[0].copy())
    trunk = np.array(trunk)
    assert worlds.failures() == {} and worlds.time[0] == pytest.approx(10.0)
    assert np.abs(trunk[:, 6] - HEIGHT).max() < 0.02
    assert (1.0 - 2.0 * (trunk[:, 1] ** 2 + trunk[:, 2] ** 2)).min() > 0.999  # upright
    assert np.hypot(*trunk[-1, 4:6]) < 0.1
    lifts = np.diff((np.array(heights) > min(heights) + 5e-3).astype(int))
    assert (lifts > 0).sum() in (9, 10)
