"""Help: commands by groups, `mbcli help`, what people type elsewhere, and -h, a line an option."""

import pytest
from command_line import cli, commands, succeed

from mbcli.cli import COMMANDS, ELSEWHERE, GROUPS, OPTIONS_ELSEWHERE, mbcli


def test_every_command_is_in_one_group():
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS)
    out = succeed("--help").out
    assert all(f"{title}:" in out for title in GROUPS)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_people_type_elsewhere_leads_to_a_command(name):
    done = cli(name, "x")
    assert done.code == 2 and f"Did you mean '{ELSEWHERE[name]}'?" in done.err
    words = ELSEWHERE[name].split()
    assert words[0] in COMMANDS and name not in COMMANDS
    assert cli(*[word for word in words if not word.startswith("-")], "--help").code == 0


@pytest.mark.parametrize("option", OPTIONS_ELSEWHERE)
def test_options_that_people_type_elsewhere_lead_to_one(option):
    """Where the command, or another one that is named, has it."""
    meant = OPTIONS_ELSEWHERE[option]
    known = {name: {o for param in command.params for o in param.opts} for name, command in commands(mbcli)}
    having = [name for name, options in known.items() if meant.split()[0] in options or " of mbcli " in meant]
    done = cli(*having[0].split(), f"{option}=1")
    assert done.code == 2 and done.err.count("\n") == 1
    assert f"No such option '{option}'. Did you mean {meant}?" in done.err
    assert {word.strip(",") for word in meant.split() if word.startswith("-")} <= set().union(*known.values())
    assert " of mbcli " in meant or f"Did you mean {meant}" not in cli("doctor", f"{option}=1").err


def test_help_is_a_command_too():
    assert succeed("help", "gravity").out == succeed("gravity", "--help").out
    assert succeed("help", "log", "show").out == succeed("log", "show", "--help").out
    assert succeed("help").out == succeed("--help").out


def test_every_command_is_described_by_its_own_function():
    """Commands share decorators, which keep nothing of the command before."""
    for name, command in commands(mbcli):
        assert command.help == command.callback.__doc__, name


@pytest.mark.parametrize("name", [name for name, _ in commands(mbcli)])
def test_short_help_has_each_option_and_fits_a_screen_or_two(name):
    command = dict(commands(mbcli))[name]
    out = succeed(*name.split(), "-h").out
    flags = [p.opts[0] for p in command.params if getattr(p, "help", None) and p.name not in ("h", "help_model")]
    assert all(flag in out for flag in flags)
    assert len(out.splitlines()) <= 80 and max(map(len, out.splitlines())) <= 115
    assert f"{name} --help explains all of them." in out
    assert len(out) <= len(succeed(*name.split(), "--help").out)
