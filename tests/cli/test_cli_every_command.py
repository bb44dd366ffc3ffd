"""Every command: its text, its JSON against the published schemas, its exit codes, and what users do wrong with it.

A command that is added needs its Trial in command_cases.py.
"""

import json
import os
import re
import shlex
import signal
import sys

import jsonschema
import pytest
from command_cases import KINDS, TRIALS, material
from command_line import cli, commands, start
from mbcli.parsers.scenes.file_schemas import schema_text
from peer_modules import PEERS
from recorded import same_as_recorded
from recorded_words import WORDS, models

from mbcli.cli import mbcli

FAULTS = [(command, fault) for command, trial in TRIALS.items() for fault in trial.faults]
FOUND = [(command, *found) for command, trial in TRIALS.items() for found in trial.found]
SERVERS = ("view",)  # they run until they are interrupted


def is_valid(schema, document):
    return jsonschema.Draft202012Validator(json.loads(schema_text(schema))).is_valid(document)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("material")
    before, os.environ["MBCLI_JIT"] = os.environ.get("MBCLI_JIT"), "0"
    material(folder)
    models(folder)
    os.environ.pop("MBCLI_JIT")
    if before is not None:
        os.environ["MBCLI_JIT"] = before
    return folder


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """An empty folder but for links to the files of material(), as the current one."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    for file in files.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, words, **options):
    return cli(*command.split(), *shlex.split(words), **options)


def test_every_command_is_tried():
    assert list(TRIALS) == [name for name, _ in commands(mbcli)]


@pytest.mark.parametrize("name, command", list(commands(mbcli)))
def test_every_command_has_its_json_and_three_kinds_of_faults(name, command):
    trial = TRIALS[name]
    kinds = {fault.kind for fault in trial.faults}
    assert kinds <= set(KINDS) and len(kinds) >= 3
    gives_json = any("--json" in param.opts for param in command.params)
    assert gives_json <= (trial.json is not None)
    takes_files = any(param.name in ("models", "path", "paths", "first") for param in command.params)
    assert not takes_files or "missing file" in kinds
    writes = any("--output" in param.opts for param in command.params)
    assert not writes or "unwritable output" in kinds


@pytest.mark.parametrize("command", [name for name in TRIALS if name not in SERVERS])
def test_every_command_shows_its_result(command, folder):
    result = run(command, TRIALS[command].words)
    assert result.code == 0, result.err
    assert TRIALS[command].shows in result.out and "Traceback" not in result.err
    assert all(line == line.rstrip() for line in result.out.splitlines())


UNSTEADY = (
    "doctor",
    "completion",
    "schema",
    "view",
    "replay",
    "codegen",
    "log plot",
    "log recover",
    "log info",
)  # a machine's, or long
ONCE = ("sweep", "log verify")  # they start processes
RECORDED = [
    (command, words)
    for command, trial in TRIALS.items()
    if command not in UNSTEADY
    for words in dict.fromkeys((trial.words, trial.json, *WORDS.get(command, ())))
    if words is not None and not (command in ONCE and words == trial.words)
]


def steady(text, *folders):
    """Without places and times of the machine."""
    for folder in folders:
        text = text.replace(str(folder), "")
    text = re.sub(r'"(wall_time|realtime_rate|command|version)": [^\n]*|[0-9a-f]{32,}', "", text)
    text = re.sub(r'[^"\s]*/file_meshes/[^"\s]*', "", text)  # of the cache
    return re.sub(r" in \S+ s\b( \(\S+ times real time\))?", "", text)


@pytest.mark.parametrize("command, words", RECORDED, ids=[" ".join(words) for words in RECORDED])
def test_every_command_prints_what_was_recorded(command, words, files, folder, monkeypatch):
    for engine in PEERS:  # which may prove a conversion, or not be installed
        monkeypatch.setitem(sys.modules, engine, None)
    result = run(command, words)
    out, err = (steady(text, folder, files) for text in (result.out, result.err))
    found = {"code": str(result.code), "out": out, "err": err}
    same_as_recorded(__file__, f"{command} {words}", found)


@pytest.mark.parametrize("gives_json", [False, True])
@pytest.mark.parametrize("command", SERVERS)
def test_a_server_says_its_address_and_ends_by_an_interrupt(command, gives_json, folder):
    words = TRIALS[command].json if gives_json else TRIALS[command].words
    process = start(*command.split(), *words.split(), env={"MBCLI_JIT": "0"})
    line = process.stdout.readline()
    assert TRIALS[command].shows in line and (not gives_json or is_valid("results", json.loads(line)))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode in (0, 130) and "Traceback" not in err


@pytest.mark.parametrize(
    "command", [name for name, trial in TRIALS.items() if trial.json is not None and name not in SERVERS]
)
def test_the_json_of_every_command_fits_its_schema(command, folder):
    result = run(command, TRIALS[command].json)
    assert result.code == 0, result.err
    if TRIALS[command].rows:
        rows = [json.loads(line) for line in result.out.splitlines()]
        assert rows and all(is_valid("rows", row) and "time" in row for row in rows)
        assert not is_valid("rows", rows[0] | {"q": "much"})
    else:
        document = json.loads(result.out)
        assert is_valid("results", document) and document["schema"] == f"mbcli/{command.replace(' ', '-')}"
        assert not is_valid("results", document | {"schema_version": 9})


@pytest.mark.parametrize("command, words, code", FOUND)
def test_exit_codes_tell_what_was_found(command, words, code, folder):
    result = run(command, words)
    assert result.code == code, result.err
    assert "Traceback" not in result.err and (result.out or result.err)


@pytest.mark.parametrize("command, fault", FAULTS, ids=[f"{command} {fault.words}" for command, fault in FAULTS])
def test_a_fault_gives_one_line_and_leaves_nothing(command, fault, folder):
    before = {path.name: os.readlink(path) for path in folder.iterdir()}
    contents = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = cli("-q", *command.split(), *shlex.split(fault.words))
    assert result.code == fault.code, result.err
    assert fault.says in result.err and "Traceback" not in result.err
    assert result.err.count("\n") == 1 and result.err.endswith("\n") and result.out == ""
    assert {path.name: os.readlink(path) for path in folder.iterdir()} == before
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == contents


def test_the_rows_of_states_fit_their_schema(folder):
    for command in ("mass-matrix", "kinematics", "energy", "inverse-dynamics --vdot zero", "jacobian --frame lower"):
        lines = run(command, "m.urdf --states rows.csv --format jsonl").out.splitlines()
        assert len(lines) == 2 and all(is_valid("rows", json.loads(line)) for line in lines)
    lines = run("log export", "run.h5 --to jsonl").out.splitlines()
    assert lines and all(is_valid("rows", json.loads(line)) for line in lines)


def test_every_schema_of_a_result_belongs_to_a_command():
    results = json.loads(schema_text("results"))
    names = {ref["$ref"].rpartition("/")[2] for ref in results["oneOf"]}
    tried = {command.replace(" ", "-") for command, trial in TRIALS.items() if trial.json and not trial.rows}
    # mbcli --version --json, inspect --geometry, serve, many worlds: see below; test_shards.py, test_policies.py,
    # test_many_files.py
    others = ("simulate-each", "log-info-worlds", "sweep-status", "compare-policies", "compare-folders")
    assert names - tried == {"version", "geometry", "error", *others}


def test_the_json_of_many_worlds_fits_its_schema(folder, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")  # worlds run compiled
    words = ("simulate m.urdf --states rows.csv --each -t 0.02 -o out.h5 --json", "log info out.h5 --json")
    for line, schema in zip(words, ("simulate-each", "log-info-worlds"), strict=True):
        document = cli(*line.split()).json()
        assert document["schema"] == f"mbcli/{schema}" and document["worlds"] == 2 and is_valid("results", document)
        assert not is_valid("results", document | {"worlds": "two"})
