"""Springs of any stiffness swing; in Drake's scheme, a run that they end names a smaller step that goes through."""

import re

import numpy as np
import pytest

from mbcli.errors import NumericalError
from mbcli.models.loading import ModelText, load_model
from mbcli.multibody.stepping.stiffness import ANGLE, too_stiff
from mbcli.simulation import simulate

WEIGHT, LENGTH = 8 * 0.01 * 9.81, 8 * 0.02  # [N], [m] of the rope below


def rope(stiffness, damping, links=8, axes=("0 1 0",)):
    """MJCF of a chain of capsules of 10 g and 20 mm that starts level, with springs [N m/rad] in its hinges."""
    joints = "".join(f'<joint axis="{axis}" stiffness="{stiffness}" damping="{damping}"/>' for axis in axes)
    body = f"""<body pos="0.02 0 0">{joints}
        <geom type="capsule" fromto="0 0 0 0.02 0 0" size="0.004" mass="0.01"/>"""
    text = f"<mujoco><worldbody>{body * links}{'</body>' * links}</worldbody></mujoco>"
    return ModelText(text.encode(), "rope.xml")


DRAKE = {"plant_config.step_scheme": "drake"}


def run(model, step, contact, **options):
    return simulate(load_model(model, dt=step, contact=contact, **options), until=0.5).summary


@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize("axes", [("0 1 0",), ("0 1 0", "0 0 1")])
@pytest.mark.parametrize(("stiffness", "damping"), [(3.0, 0.0), (10.0, 0.0), (100.0, 0.0), (100.0, 1e-3)])
def test_a_stiff_rope_swings(stiffness, damping, axes, contact):
    summary = run(rope(stiffness, damping, axes=axes), 1e-3, contact)
    assert summary.status == "complete"
    assert summary.energy_end - summary.energy_start < 0.01 * WEIGHT * LENGTH


@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize("axes", [("0 1 0",), ("0 1 0", "0 0 1")])
@pytest.mark.parametrize(("stiffness", "damping"), [(3.0, 0.0), (10.0, 0.0), (100.0, 0.0), (100.0, 1e-3)])
def test_with_explicit_springs_a_stiff_rope_names_a_step_with_which_it_swings(stiffness, damping, axes, contact):
    model = rope(stiffness, damping, axes=axes)
    with pytest.raises(NumericalError, match=r"springs and dampers are too stiff for steps of 0\.001 s") as failure:
        run(model, 1e-3, contact, overrides=DRAKE)
    step = float(re.search(r"try dt=([^\s;,]+)", str(failure.value)).group(1))
    assert step < 1e-3
    summary = run(model, step, contact, overrides=DRAKE)
    assert summary.status == "complete"
    assert summary.energy_end - summary.energy_start < 0.01 * WEIGHT * LENGTH


def test_the_rate_of_one_spring_is_that_of_its_closed_form():
    """One link: sqrt(k / I)."""
    plant = load_model(rope(1e3, 0.0, links=1), dt=1e-3, overrides=DRAKE).plant
    context = plant.CreateDefaultContext()
    rate = np.sqrt(1e3 / plant.CalcMassMatrix(context)[0, 0])
    found = too_stiff(plant, context)
    assert found.rate == pytest.approx(rate, rel=1e-9)
    assert found.step * rate <= ANGLE < 2.0 * found.step * rate


def test_steps_that_follow_their_springs_are_not_blamed():
    plant = load_model(rope(1e-3, 0.0), dt=1e-3, overrides=DRAKE).plant
    assert too_stiff(plant, plant.CreateDefaultContext()) is None
