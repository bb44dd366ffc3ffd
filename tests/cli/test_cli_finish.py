"""Completion, help by sections, explain, doctor, --version --json, the manual page."""

import json
import os
import subprocess
import sys

import jsonschema
import pytest
from command_line import cli, succeed
from mbcli.parsers.checks.codes import CODES
from mbcli.parsers.scenes.file_schemas import schema_text
from repository import SAMPLES

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
        (
            f"mbcli mass-matrix {MODEL} --set ",
            ["body.", "joint.", "actuator.", "geometry.", "field.", "plant_config.", "simulator_config."],
        ),
        (f"mbcli mass-matrix {MODEL} --set joint.", ["joint.shoulder.", "joint.elbow.", "joint.*."]),
        (f"mbcli mass-matrix {MODEL} --set joint.elbow.d", ["joint.elbow.damping=", "joint.elbow.default_position="]),
        (f"mbcli mass-matrix {MODEL} --set body.up", ["body.upper."]),
        (f"mbcli mass-matrix {MODEL} --set plant_config.time", ["plant_config.time_step="]),
        (f"mbcli mass-matrix {MODEL} --set nothing.", []),
        (f"mbcli sweep {MODEL} --vary s", ["simulator_config.", "state.", "state=random"]),
        (f"mbcli sweep {MODEL} --vary state.e", ["state.elbow="]),
        (f"mbcli inverse-dynamics {MODEL} --force-on l", ["lower="]),
        (f"mbcli gravity {SAMPLES / 'herd.dmd.yaml'} --weld tr", ["trunk"]),
        ("mbcli schema res", ["results"]),
        ("mbcli explain LINK_INERTIA_I", ["LINK_INERTIA_INVALID"]),
    ],
)
def test_completion_offers_commands_choices_files_and_names(line, expected):
    assert completions(line) == expected


def test_models_of_directives_and_meshes_that_are_not_there(tmp_path):
    box = '<collision><geometry><mesh filename="package://nowhere/gone.stl"/></geometry></collision>'
    (tmp_path / "a.urdf").write_text(f'<robot name="a"><link name="hand">{box}</link></robot>')
    (tmp_path / "s.dmd.yaml").write_text(
        "directives:\n- add_model: {name: a, file: a.urdf}\n- add_model: {file: b.urdf}\n"
    )
    line = f"mbcli mass-matrix {tmp_path / 's.dmd.yaml'}"
    assert completions(f"{line} --weld h") == ["hand"]
    assert completions(f"{line} --set geometry.") == ["geometry.hand.", "geometry.*."]  # by the name of its body


def test_fields_of_logs_are_offered(tmp_path):
    succeed("-q", "simulate", MODEL, "-t", 0.01, "-o", tmp_path / "a.h5")
    line = f"mbcli log plot {tmp_path / 'a.h5'} --fields q,"
    assert completions(f"{line}energy_k") == ["q,energy_kinetic"]
    assert completions(f"{line}double_pendulum_el") == ["q,double_pendulum_elbow_q", "q,double_pendulum_elbow_w"]
    (tmp_path / "a.h5").write_text("no log")
    assert completions(f"{line}e") == []


def test_postures_are_offered(tmp_path):
    (tmp_path / "a.srdf").write_text('<robot name="a"><group_state name="home" group="g"/></robot>')
    assert completions(f"mbcli mass-matrix {MODEL} --srdf {tmp_path / 'a.srdf'} --pose ") == ["home"]


def test_the_parameters_that_are_offered_are_those_that_there_are():
    from mbcli.cli.completed_names import PARAMETERS_OF_KIND
    from mbcli.models.element_parameters import KINDS

    assert {kind: tuple(of_kind.table) for kind, of_kind in KINDS.items()} == PARAMETERS_OF_KIND


def test_completion_loads_no_model():
    """A user waits for it at every press of a key."""
    program = "import sys, runpy; sys.argv = ['mbcli']\ntry:\n runpy.run_module('mbcli', run_name='__main__')\n"
    slow = ("numba", "h5py", "mbcli.meshes", "mbcli.multibody.plant")
    program += f"except SystemExit: pass\nprint([m for m in {slow} if m in sys.modules])"
    line = f"mbcli mass-matrix {MODEL} --set joint.el"
    environment = {"_MBCLI_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "4"}
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["plain,joint.elbow.", "[]"]


def test_a_word_that_goes_on_gets_no_space(tmp_path):
    """In a real bash: joint.elbow. is taken without a space behind it, a whole word with one."""
    script = succeed("completion", "bash").out
    program = tmp_path / "mbcli"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -m mbcli\n")
    program.chmod(0o755)
    for word, expected in (
        ("joint.el", "joint.elbow. nospace"),
        ("--set joint.elbow.da", "joint.elbow.damping= nospace"),
    ):
        words = f"mbcli mass-matrix {MODEL} --set {word.removeprefix('--set ')}".split()
        commands = (
            f"{script}\ncompopt() {{ option=$2; }}\n"
            f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}\n"
            f"_mbcli_completion {program}; echo $COMPREPLY $option"
        )
        done = subprocess.run(["bash", "-c", commands], capture_output=True, text=True)
        assert done.stdout.split("\n")[0] == expected, done.stderr


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
