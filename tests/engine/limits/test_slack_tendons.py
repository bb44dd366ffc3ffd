"""Tendons of MJCF that are slack between two lengths: dead bands of springs, limits of lines; their dampers."""

import numpy as np
import pytest
from command_line import cli
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.load import load_models

from mbcli.errors import ModelError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run
from mbcli.systems.analysis import Simulator

H, G = 1e-3, 9.81
BODY = """<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody><site name="w" pos="0 0 1"/>
<body pos="0 0 0.8"><joint name="x" type="slide" axis="0 0 1"/><geom size="0.05" mass="1"/><site name="s"/></body>
</worldbody><tendon>{}</tendon></mujoco>"""
LINE = '<spatial {}><site site="w"/><site site="s"/></spatial>'
SUM = "<fixed {}><joint joint='x' coef='1'/></fixed>"
BANDS = {  # of both kinds, between heights -0.1 and 0.1
    "line": LINE.format('springlength="0.1 0.3" stiffness="{k}" damping="{c}"'),
    "sum": SUM.format('springlength="-0.1 0.1" stiffness="{k}" damping="{c}"'),
}


def plant_of(text, time_step=H):
    plant = MultibodyPlant(time_step)
    Parser(plant).AddModelsFromString(text, "mjcf")
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def findings(text, tmp_path):
    path, diagnostics = tmp_path / "m.xml", Diagnostics()
    path.write_text(text)
    (model,) = load_models(path, diagnostics=diagnostics)
    return model, [finding.message for finding in diagnostics.warnings]


@pytest.mark.parametrize("kind", BANDS)
@pytest.mark.parametrize(("k", "c"), [(300.0, 9.0), (3e4, 30.0), (3e6, 30.0)])
def test_a_load_falls_through_a_dead_band_and_hangs_beyond_it(kind, k, c, tmp_path):
    text = BODY.format(BANDS[kind].format(k=k, c=c))
    assert findings(text, tmp_path)[1] == []
    plant, context = plant_of(text)
    simulator = Simulator(plant, context)
    simulator.AdvanceTo(0.05)  # damping acts in the band too: m dv/dt = -m g - c v
    v = -G / c * (1.0 - np.exp(-0.05 * c))
    assert plant.GetVelocities(context)[0] == pytest.approx(v, rel=1e-2)
    simulator.AdvanceTo(5.0)
    give = max(G / k, 0.0)  # a spring that a step does not resolve is as stiff as a step lets it be
    assert plant.GetPositions(context)[0] == pytest.approx(-0.1 - give, abs=2e-5)


@pytest.mark.parametrize("tendon", [LINE.format('range="0.1 0.3"'), SUM.format('range="-0.1 0.1"')])
@pytest.mark.parametrize("speed", [0.0, -3.0, 3.0])
def test_a_load_keeps_within_the_range_of_its_tendon(tendon, speed, tmp_path):
    text = BODY.format(tendon)
    assert findings(text, tmp_path)[1] == []
    plant, context = plant_of(text)
    plant.SetVelocities(context, [speed])
    simulator = Simulator(plant, context)
    for k in range(1, 101):
        simulator.AdvanceTo(0.01 * k)
        assert abs(plant.GetPositions(context)[0]) < 0.1 + 3.5 * H
    assert plant.GetPositions(context)[0] == pytest.approx(-0.1, abs=1e-6)


@pytest.mark.parametrize("tendon", [LINE, SUM])
def test_a_damper_without_a_spring_lets_a_load_sink_at_its_weight_over_its_constant(tendon, tmp_path):
    text = BODY.format(tendon.format('damping="30"'))
    assert findings(text, tmp_path)[1] == []
    plant, context = plant_of(text)
    Simulator(plant, context).AdvanceTo(1.0)
    assert plant.GetVelocities(context)[0] == pytest.approx(-G / 30.0, rel=1e-3)


def test_a_string_is_slack_at_any_shorter_length():
    plant, context = plant_of(BODY.format(LINE.format('springlength="0 0.5" stiffness="500"')))
    plant.SetVelocities(context, [1.9])
    Simulator(plant, context).AdvanceTo(0.38)  # up and down again
    assert plant.GetPositions(context)[0] == pytest.approx(1.9 * 0.38 - 0.5 * G * 0.38**2, abs=2e-3)


def test_a_continuous_plant_says_what_holds_a_dead_band():
    plant, context = plant_of(BODY.format(BANDS["line"].format(k=300, c=0)), 0.0)
    with pytest.raises(ModelError, match="the steps of a plant with a time step have both"):
        Run(plant, context, 0.1)


@pytest.mark.parametrize("kind", BANDS)
def test_a_copy_in_mjcf_has_the_dead_band_and_other_formats_lose_it_with_a_word(kind, tmp_path):
    source = tmp_path / "m.xml"
    source.write_text(BODY.format(BANDS[kind].format(k=300, c=9) + LINE.format('range="0.05 0.35"')))
    assert cli("convert", source, "-o", tmp_path / "copy.xml").code == 0
    (one,), (other,) = (load_models(p, diagnostics=Diagnostics()) for p in (source, tmp_path / "copy.xml"))

    def told(model):
        names = ("distance", "least", "lower", "upper", "stiffness", "damping")
        return sorted(repr([getattr(c, name, None) for name in names]) for c in model.constraints)

    assert told(one) == told(other)
    assert len(one.force_elements) == len(other.force_elements)
    for suffix in ("sdf", "urdf", "usda"):
        result = cli("convert", source, "-o", tmp_path / f"copy.{suffix}")
        assert result.code != 0
        assert "distance between" in result.err or "the tendon over" in result.err


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("kind", BANDS)
def test_a_load_moves_through_its_dead_band_as_in_mujoco(kind):
    import mujoco

    text = BODY.format(BANDS[kind].format(k=300, c=2))
    plant, context = plant_of(text)
    there = mujoco.MjModel.from_xml_string(text)
    data, simulator = mujoco.MjData(there), Simulator(plant, context)
    for time in (0.1, 0.2, 0.3):
        simulator.AdvanceTo(time)
        while data.time < time - H / 2:
            mujoco.mj_step(there, data)
        np.testing.assert_allclose(plant.GetPositions(context), data.qpos, atol=3e-3)
