"""Faulty control files: each gives one line, which names the file, the line, the key and what there is."""

import pytest
from command_line import cli
from repository import ROOT, SAMPLES

from mbcli.errors import ModelError, ResourceError
from mbcli.optimal_control.control_file import ControlSettings, loaded_for, read_control
from mbcli.optimal_control.cost_terms import COSTS

PAGE = ROOT / "docs" / "how-to" / "control.md"
TASK = f"""model: {SAMPLES / "cart_pole.sdf"}
period: 0.02
horizon: 0.1
load: {{dt: 0.01}}
efforts: {{slider: 20}}
start: {{hinge: 0.1}}
cost:
  - {{term: efforts, of: all, target: 0, weight: 1}}
  - {{term: positions, of: [slider, hinge], target: [0, 1], weight: 1, at: end}}
  - {{term: place, frame: rod, target: [0, 0, 1], weight: 1}}
"""
FAULTS = [
    ("period: 0.02", "", 1, 'key "period" of ControlSettings is missing'),
    ("period: 0.02", "perod: 1\nperiod: 0.02", 2, 'unknown key "perod".*did you mean "period"'),
    ("horizon: 0.1", "horizon: -1", 3, "horizon must be greater than 0"),
    ("horizon: 0.1", "horizon: 0.03", 3, "horizon: 0.03 s is not 1 to .* periods of 0.02 s"),
    ("period: 0.02", "period: 0.025", 2, "period: 0.025 s is not 1 to .* time steps of 0.01 s"),
    ("{slider: 20}", "{slider: [50, 60]}", 5, "efforts of slider are beyond the limit of the model"),
    ("{dt: 0.01}", "{dt: 0.01, grund: 0}", 4, 'unknown key "grund" in Load'),
    ("{slider: 20}", "{sliter: 20}", 5, "efforts: there is no actuator named 'sliter'"),
    ("{slider: 20}", "{slider: much}", 5, "efforts must be a number"),
    ("{slider: 20}", "{slider: [20, 10]}", 5, "efforts goes from 20 to 10"),
    ("{slider: 20}", "20", 5, "efforts is a mapping of actuators and limits"),
    ("{hinge: 0.1}", "{hing: 0.1}", 6, "start: .*did you mean 'hinge'"),
    ("{hinge: 0.1}", "3", 6, "start is a mapping of names and numbers"),
    ("term: efforts", "term: effort", 8, 'unknown term "effort" of cost.*did you mean "efforts"'),
    (", target: 0, weight: 1}", ", weight: 1}", 8, 'key "target" of the term efforts is missing'),
    ("target: 0, weight: 1}", "target: 0}", 8, 'key "weight" of the term efforts is missing'),
    ("target: 0, weight: 1}", "target: 0, weight: -1}", 8, "weight must be at least 0"),
    ("target: 0, weight: 1}", "target: 0, weight: 1, at: end}", 8, "efforts: at the end there are no efforts"),
    ("at: end", "at: last", 9, "at must be one of run, end, both"),
    ("[0, 1]", "[0, 1, 2]", 9, "positions: target has 3 numbers for 2 names"),
    ("[0, 1]", "[0, {}]", 9, "positions: target is a number or a list of numbers"),
    ("[slider, hinge]", "[slider, elbow]", 9, "positions: of: there is no position named 'elbow'"),
    ("frame: rod", "frame: pole", 10, "place: frame: .*pole.*there are"),
    ("[0, 0, 1]", "[0, 1]", 10, "place: target is a list of 3 numbers; found 2"),
]


@pytest.mark.usefixtures("ready_kernels")
@pytest.mark.parametrize(("old", "new", "line", "words"), FAULTS)
def test_a_faulty_control_file_is_one_line_with_its_place(tmp_path, old, new, line, words):
    path = tmp_path / "my.control.yaml"
    assert TASK.count(old) == 1
    path.write_text(TASK.replace(old, new))
    with pytest.raises(ModelError, match=words) as error:
        file = read_control(path)
        file.problem(loaded_for(file, None))
    assert str(error.value).startswith(f"{path}:{line}:")
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("ready_kernels")
def test_the_command_says_the_same_and_its_code_is_3(tmp_path):
    path = tmp_path / "my.control.yaml"
    path.write_text(TASK.replace("{slider: 20}", "{sliter: 20}"))
    done = cli("optimize", "--task", str(path))
    assert done.code == 3
    assert done.out == ""
    assert done.err.startswith(f"{path}:5:") and done.err.count("\n") == 1


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ResourceError, match=r"none\.yaml"):
        read_control(tmp_path / "none.yaml")


@pytest.mark.usefixtures("ready_kernels")
@pytest.mark.parametrize(
    ("model", "change", "words"),
    [
        ("cart_pole.sdf", {"load": {"dt": 0.0}}, "dt must be greater than 0"),
        ("arm7.urdf", {"load": {"dt": 0.01, "hold": True}}, "remember their load"),
        ("arm7.urdf", {"load": {"dt": 0.01, "actuators": "position"}}, "servo"),
    ],
)
def test_what_plans_do_not_have_is_said(model, change, words):
    task = {"model": str(SAMPLES / model), "period": 0.01, "horizon": 0.02, "load": {"dt": 0.01}}
    task |= {"cost": [{"term": "velocities", "of": "all", "target": 0, "weight": 1}], **change}
    with pytest.raises(ModelError, match=words):
        file = read_control(task)
        file.problem(loaded_for(file, None))


def test_the_page_names_every_term_and_key():
    text = PAGE.read_text()
    missing = [name for name in (*COSTS, *ControlSettings.__dataclass_fields__) if f"`{name}" not in text]
    assert missing == []
