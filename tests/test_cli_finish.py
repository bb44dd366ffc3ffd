"""Completion, help by sections, explain, doctor, --version --json, the manual page."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest
from command_line import SAMPLES, cli, succeed
from mbcli.parsers.checks.codes import CODES
from mbcli.parsers.scenes.file_schemas import schema_text

from mbcli.cli import COMMANDS

MODEL = SAMPLES / "double_pendulum.urdf"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema_text("results")))


def completions(line, shell="bash"):
    """What a shell is offered for the last word of a line."""
    words = line.split(" ")
    environment = {"_MBCLI_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "mbcli"], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return [entry.partition(",")[2] for entry in done.stdout.splitlines() if entry]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mbcli insp", ["inspect"]),
        ("mbcli log ta", ["tail"]),
        ("mbcli mass-matrix x --input-format s", ["sdf", "scenario"]),
        ("mbcli mass-matrix sample_models/doub", ["sample_models/doub"]),  # the shell completes files
        (f"mbcli mass-matrix {MODEL} --at el", ["elbow="]),
        (f"mbcli kinematics {MODEL} --frame u", ["upper"]),
        ("mbcli mass-matrix nothing.urdf --at el", []),
    ],
)
def test_completion_offers_commands_choices_files_and_names(line, expected):
    assert completions(line) == expected


def test_an_unknown_command_offers_the_commands():
    assert completions("mbcli nothing ") == list(COMMANDS)


def test_a_damaged_model_offers_what_can_be_read(tmp_path):
    (tmp_path / "bad.urdf").write_text('<robot><joint name="knee" type="revolute"/><joint name="fix" type="fixed"/><jo')
    assert completions(f"mbcli gravity {tmp_path / 'bad.urdf'} --at ") == ["knee="]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_shells_are_printed(shell):
    script = succeed("completion", shell).out
    assert "_MBCLI_COMPLETE" in script and "mbcli" in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_other_shells_are_refused():
    assert cli("completion", "csh").code == 2
    assert cli("completion").code == 2
    assert cli("completion", "bash", "more").code == 2


def test_the_manual_page_has_every_command():
    page = succeed("completion", "man").out
    assert page.startswith(".TH MBCLI 1")
    for name in COMMANDS:
        assert f'"mbcli {name}' in page, name
    assert not [line for line in page.splitlines() if line.startswith("'")]


def test_help_shows_own_options_first_and_model_options_apart():
    text = succeed("mass-matrix", "--help").out
    places = [
        text.index(part)
        for part in ("mbcli mass-matrix arm.urdf", "--inverse", "--at NAME", "--states FILE", "--force", "--weld-base")
    ]
    assert places == sorted(places)
    assert "--weld-base" in text and "Weld every base" not in text
    assert "Weld every base" in succeed("mass-matrix", "--help-model").out


@pytest.mark.parametrize("command", ["simulate", "check", "inspect", "kinematics", "log export", "schema", "explain"])
def test_every_option_is_in_the_help(command):
    from mbcli.cli import mbcli

    words = command.split()
    group = mbcli
    context = None
    for word in words:
        import click

        context = click.Context(group)
        group = group.get_command(context, word)
    text = succeed(*words, "--help").out
    for param in group.params:
        if getattr(param, "hidden", False) or param.param_type_name == "argument":
            continue
        assert param.opts[-1] in text or param.opts[0] in text, param.opts


def test_version_as_json():
    document = succeed("--version", "--json").json()
    VALIDATOR.validate(document)
    assert document["packages"].keys() >= {"numpy", "h5py"}
    assert succeed("--json", "--version").json() == document
    refused = cli("--json", "inspect", MODEL)
    assert refused.code == 2 and "It goes behind the command" in refused.err


def test_explain_shows_the_meaning_an_example_and_its_finding():
    text = succeed("explain", "LINK_MASS_INVALID").out
    assert text.startswith("LINK_MASS_INVALID: ") and "Example (urdf):" in text
    assert "error: " in text and "[LINK_MASS_INVALID]" in text
    assert succeed("explain", "[link_mass_invalid]").out == text
    VALIDATOR.validate(succeed("explain", "LINK_MASS_INVALID", "--json").json())
    listed = [line.split()[0] for line in succeed("explain").out.splitlines()]
    assert listed == list(CODES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("LINK_MASS",), "did you mean LINK_MASS_INVALID?"),
        (("QQQQQQQQ",), "without a code all are listed"),
        (("URI_LOOKUP", "XML_ERROR"), "unexpected extra argument"),
    ],
)
def test_unknown_codes_are_refused(words, message):
    result = cli("explain", *words)
    assert (result.code, result.out) == (2, "") and message in result.err


def test_the_doctor_finds_missing_folders_and_extras(monkeypatch, tmp_path):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    healthy = cli("doctor", "--json")
    VALIDATOR.validate(healthy.json())
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "nowhere"))
    result = cli("doctor")
    assert result.code == 1
    assert "ROS_PACKAGE_PATH" in result.out and "no such folder" in result.out
    assert cli("doctor", "--fix").code == 2
