"""`<option timestep>` of an MJCF file is the step of its runs, unless something else is asked for."""

import pytest
from command_line import succeed

from mbcli.models import load_model

BODY = '<worldbody><body name="b"><joint name="j"/><geom size=".1"/></body></worldbody>'


@pytest.fixture
def model(tmp_path):
    def write(options, name="m"):
        path = tmp_path / f"{name}.xml"
        path.write_text(f'<mujoco model="{name}">{options}{BODY}</mujoco>')
        return str(path)

    return write


@pytest.mark.parametrize(
    ("options", "step"),
    [
        ('<option timestep="0.004"/>', 0.004),
        ('<option timestep="0.004"/><option timestep="0.002"/>', 0.002),
        ('<option timestep="0.004"/><option gravity="0 0 0"/>', 0.004),
        ("", 0.001),
        ('<option timestep="0"/>', 0.001),
        ('<option timestep="fast"/>', 0.001),
    ],
)
def test_the_step_is_that_of_the_last_option_that_states_one(model, options, step):
    loaded = load_model(model(options))
    assert loaded.plant.time_step() == loaded.config.plant_config.time_step == step


def test_what_is_asked_for_takes_its_place(model):
    path = model('<option timestep="0.004"/>')
    assert load_model(path, dt=0.002).plant.time_step() == 0.002
    assert load_model(path, dt=0.0).plant.time_step() == 0.0
    assert load_model([path, model('<option timestep="0.003"/>', "n")]).plant.time_step() == 0.003
    words = ("simulate", path, "--no-contact", "--no-log", "-t", "0.04", "--json")
    assert succeed(*words).json()["steps"] == 10 and succeed(*words, "--dt", "0.001").json()["steps"] == 40
