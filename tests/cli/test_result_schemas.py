"""`schemas/results.schema.json`: every command with --json prints a document that fits it."""

import json

import jsonschema
import pytest
from command_line import cli, succeed
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import SAMPLES

TWO_LINKS, QUADRUPED = SAMPLES / "double_pendulum.urdf", SAMPLES / "quadruped.urdf"
LOOP = SAMPLES / "closed_chains" / "andrews.urdf"
SCHEMA = json.loads(schema_text("results"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
RUNS = [
    ("check", QUADRUPED),
    ("inspect", QUADRUPED),
    ("kinematics", TWO_LINKS, "--vdot", "0 1"),
    ("jacobian", TWO_LINKS, "--frame", "lower"),
    ("mass-matrix", TWO_LINKS),
    ("mass-matrix", TWO_LINKS, "--derivatives"),
    ("inverse-dynamics", TWO_LINKS),
    ("inverse-dynamics", LOOP, "--exact"),
    ("forward-dynamics", TWO_LINKS),
    ("bias", TWO_LINKS),
    ("gravity", TWO_LINKS),
    ("energy", TWO_LINKS, "--bodies"),
    ("com", TWO_LINKS, "--bodies"),
    ("momentum", TWO_LINKS, "--bodies"),
    ("assemble", LOOP),
    ("constrained-dynamics", LOOP),
    ("contact", QUADRUPED, "--ground", "--distances"),
    ("linearize", TWO_LINKS),
    ("symbolic", TWO_LINKS),
    ("simulate", TWO_LINKS, "-t", 0.01, "--no-log"),
    ("simulate", TWO_LINKS, "-t", 0.01, "--no-log", "--hold"),
    ("inverse-dynamics", TWO_LINKS, "--reactions"),
]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.mark.parametrize(
    "words", RUNS, ids=lambda words: "-".join(str(word) for word in words if word not in SAMPLES.iterdir())[:40]
)
def test_documents_fit_the_schema(words):
    document = succeed("-q", *words, "--json").json()
    VALIDATOR.validate(document)
    assert document["schema"] == f"mbcli/{words[0]}"


def test_a_document_of_numbers_that_are_not_finite_fits_the_schema():
    result = cli("-q", "energy", TWO_LINKS, "--v", "1e200 0", "--json")
    assert result.code == 5 and result.json()["not_finite"] == ["kinetic"]
    VALIDATOR.validate(result.json())


def test_findings_fit_the_schema(tmp_path):
    (tmp_path / "bad.urdf").write_text('<robot name="r"><link name="a"><inertial/></link><joint/></robot>')
    result = cli("check", tmp_path / "bad.urdf", "--json")
    assert result.code == 1
    VALIDATOR.validate(result.json())
    assert result.json()["findings"]


def test_log_documents_fit_the_schema(tmp_path):
    succeed("-q", "simulate", TWO_LINKS, "-t", 0.05, "-o", tmp_path / "a.h5")
    for words in (("info",), ("show",), ("recover",)):
        VALIDATOR.validate(succeed("log", *words, tmp_path / "a.h5", "--json").json())
    succeed("-q", "simulate", TWO_LINKS, "-t", 0.05, "--fields", "u,reactions", "-o", tmp_path / "b.h5")
    for name in ("a.h5", "b.h5"):
        document = succeed("loads", tmp_path / name, "--json").json()
        VALIDATOR.validate(document)
        assert bool(document["joints"]) == (name == "b.h5")


def test_a_spoiled_document_does_not_fit():
    document = succeed("mass-matrix", TWO_LINKS, "--json").json()
    for changes in ({"M": [1, 2]}, {"schema": "mbcli/mass"}, {"schema_version": 2}, {"q": "0"}, {"model": {}}):
        assert not VALIDATOR.is_valid(document | changes), changes
    del document["M"]
    assert not VALIDATOR.is_valid(document)
