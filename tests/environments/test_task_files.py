"""Faulty task files: each gives one line, which names the file, the line, the key and what there is."""

import textwrap
from dataclasses import fields

import pytest
from repository import ROOT, SAMPLES

from mbcli.environments import read_task
from mbcli.environments.task_file import SECTIONS, Load, TaskSettings
from mbcli.environments.task_worlds import TaskWorlds
from mbcli.environments.term_kinds import KINDS
from mbcli.errors import ModelError, ResourceError

PAGE = ROOT / "docs" / "how-to" / "learning.md"
TASK = f"""model: {SAMPLES / "cart_pole.sdf"}
period: 0.01
load: {{dt: 0.005}}
action: {{term: efforts, of: all}}
observation:
  - {{term: positions, of: all}}
reward:
  - {{term: alive, weight: 1}}
terminate:
  - {{term: coordinate_outside, of: hinge, low: -1, high: 1}}
start:
  - {{term: uniform_positions, of: all, within: 0.1}}
parameters:
  body.rod.mass: uniform(0.2, 0.4)
"""
FAULTS = [
    ("period: 0.01", "", 1, 'key "period" of TaskSettings is missing'),
    ("period: 0.01", "perod: 0.01\nperiod: 0.01", 2, 'unknown key "perod".*did you mean "period"'),
    ("period: 0.01", "period: fast", 2, "period must be a number"),
    ("period: 0.01", "period: 0", 2, "period must be greater than 0 s"),
    ("period: 0.01", "period: 0.01\ntime_limit: -1", 3, "time_limit must be greater than 0"),
    ("{dt: 0.005}", "{dt: 0.005, grund: 0}", 3, 'unknown key "grund" in Load.*did you mean "ground"'),
    ("{dt: 0.005}", "{dt: 0.005, hold: yes}", 3, "hold must be true or false"),
    ("action: {term: efforts, of: all}", "", 1, 'key "action" is missing'),
    ("term: efforts,", "term: effort,", 4, 'unknown term "effort" of action.*did you mean "efforts"'),
    ("term: efforts,", "", 4, 'action: a term is a mapping with the key "term"'),
    ("efforts, of: all", "efforts, of: [slider, rudder]", 4, "efforts: of: there is no actuator named 'rudder'"),
    ("efforts, of: all", "efforts, of: all, scale: 2", 4, 'unknown key "scale" of the term efforts; its keys are'),
    ("efforts, of: all", "targets, of: all, scale: 1", 4, "targets: of is all, and the model has no actuator with a c"),
    ("  - {term: positions, of: all}", "  positions: all", 6, "observation is a list of terms; found a mapping"),
    ("  - {term: positions, of: all}", "  []", 6, "observation is a list of terms; found a list of 0"),
    ("positions, of: all}\nrew", "positions}\nrew", 6, 'key "of" of the term positions is missing'),
    ("positions, of: all}\nrew", "positions, of: []}\nrew", 6, "positions: of is an empty list"),
    ("positions, of: all}\nrew", "positions, of: [hinge, hinge]}\nrew", 6, "positions: of names a position twice"),
    ("positions, of: all}\nrew", "body_height, body: wheel}\nrew", 6, "body_height: body: .*wheel.*there are"),
    ("{term: alive, weight: 1}", "{term: alive}", 8, 'key "weight" of the term alive is missing'),
    ("{term: alive, weight: 1}", "{term: alive, weight: much}", 8, "alive: weight must be a number"),
    ("{term: alive, weight: 1}", "{term: living, weight: 1}", 8, 'unknown term "living" of reward; '),
    ("alive, weight", "forward_velocity, body: cart, axis: w, weight", 8, "axis must be one of x, y, z"),
    ("of: hinge, low", "of: elbow, low", 10, "coordinate_outside: of: there is no position named 'elbow'"),
    ("low: -1, ", "", 10, 'key "low" of the term coordinate_outside is missing'),
    ("within: 0.1", "within: -0.1", 12, "uniform_positions: within must be greater than 0"),
    ("within: 0.1", "within: [0.1]", 12, "uniform_positions: within takes one value; found a list"),
    (
        "uniform_positions, of: all, within: 0.1",
        "state, values: {hing: 1}",
        12,
        "state: values: .*did you mean 'hinge'",
    ),
    ("body.rod.mass", "body.pole.mass", 14, "parameters.body.pole.mass: .*no body named 'pole'"),
    ("body.rod.mass", "plant_config.time_step", 14, "plant_config.time_step is not a parameter"),
    ("uniform(0.2, 0.4)", "unifrm(0.2, 0.4)", 14, "there is no unifrm.*did you mean uniform"),
    ("uniform(0.2, 0.4)", "0.3", 14, "body.rod.mass must be a string"),
    ("period: 0.01", "period: 0.01\nperiod: 0.02", 3, 'duplicate key "period"'),
    ("period: 0.01", "period: [0.01", 3, "YAML_SYNTAX"),
    ("parameters:", "parameter_sets: 0\nparameters:", 13, "parameter_sets must be at least 1"),
]


def read(text, folder):
    path = folder / "my.task.yaml"
    path.write_text(text)
    file = read_task(path)
    loaded = file.loaded()
    file.variations(loaded)
    return file.task(TaskWorlds(loaded, 2, threads=1))


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def test_the_file_without_a_fault_is_read(tmp_path):
    assert read(TASK, tmp_path).action_size(None) == 1


@pytest.mark.parametrize(("old", "new", "line", "message"), FAULTS, ids=[fault[3][:50] for fault in FAULTS])
def test_a_fault_is_one_line_with_its_place_and_what_there_is(tmp_path, old, new, line, message):
    assert TASK.count(old) == 1
    with pytest.raises(ModelError, match=message) as caught:
        read(TASK.replace(old, new), tmp_path)
    text = str(caught.value)
    assert text.count("\n") == 0, text
    assert text.startswith(f"{tmp_path / 'my.task.yaml'}:{line}:"), text


def test_all_faults_of_a_file_are_told_at_once(tmp_path):
    with pytest.raises(ModelError) as caught:
        read(TASK.replace("alive", "alve").replace("low: -1", "lo: -1").replace("period: 0.01", "period: x"), tmp_path)
    lines = str(caught.value).splitlines()
    assert [line.split(":")[1] for line in lines] == ["2", "8", "10", "10"]


def test_a_mapping_is_read_as_a_file_and_its_faults_name_keys():
    with pytest.raises(ModelError, match='<task>:.*unknown term "alve" of reward'):
        read_task({"period": 0.01, "action": {"term": "efforts", "of": "all"}, "reward": [{"term": "alve"}]})


def test_a_file_that_is_not_there_is_a_missing_resource(tmp_path):
    with pytest.raises(ResourceError, match="none.yaml"):
        read_task(tmp_path / "none.yaml")


def test_every_term_has_kinds_that_there_are_and_its_line_on_the_page():
    page = PAGE.read_text()
    for registry in SECTIONS.values():
        for name, term in registry.items():
            assert {parameter.kind for parameter in term.parameters.values()} <= KINDS.keys(), name
            optional = {True: "", False: " (may be left out)"}
            keys = ", ".join(f"`{key}`{optional[p.is_required]}" for key, p in term.parameters.items())
            assert f"| `{name}` | {keys} | {term.summary} |\n" in page


def test_every_key_of_a_file_is_on_the_page():
    page = PAGE.read_text()
    for name in (*SECTIONS, *(field.name for record in (TaskSettings, Load) for field in fields(record))):
        assert f"`{name}`" in page


def test_the_page_shows_the_example_and_the_line_of_a_fault(tmp_path):
    example = ROOT / "docs" / "examples" / "balance.task.yaml"
    assert textwrap.indent(example.read_text(), "    ") in PAGE.read_text()
    path = tmp_path / example.name
    path.write_text(example.read_text().replace("angle_near", "angle_ner"))
    with pytest.raises(ModelError) as caught:
        read_task(path)
    assert f"    {str(caught.value).removeprefix(f'{tmp_path}/')}\n" in PAGE.read_text()
