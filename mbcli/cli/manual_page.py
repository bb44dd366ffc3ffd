"""The manual page, roff, from the help of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mbcli import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 78


def manual_page(group: click.Group) -> str:
    """One page on all commands."""
    lines = [f'.TH MBCLI 1 "" "mbcli {__version__}" "User Commands"', ".SH NAME"]
    lines += [r"mbcli \- multibody dynamics from robot model files", ".SH SYNOPSIS", ".B mbcli"]
    lines += [r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]", ".SH DESCRIPTION"]
    settings = {"terminal_width": WIDTH, "help_option_names": group.context_settings["help_option_names"]}
    ctx = click.Context(group, info_name="mbcli", **settings)
    lines += _verbatim(group.get_help(ctx))
    lines.append(".SH COMMANDS")
    for path, command in _commands(group, ctx):
        inner = click.Context(command, info_name=path, **settings)
        lines += [f'.SS "{path}"', *_verbatim(command.get_help(inner))]
    return "\n".join(lines)


def _commands(group: click.Group, ctx: click.Context, path: str = "mbcli") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None  # it is one of the group's
        if isinstance(command, click.Group):
            yield from _commands(command, ctx, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _verbatim(text: str) -> list[str]:
    """Lines as they are: roff takes a backslash, and a dot or quote at the start of a line, for its own."""
    escaped = (line.replace("\\", r"\e").replace("-", r"\-") for line in text.splitlines())
    return [".nf", *(rf"\&{line}" if line[:1] in (".", "'") else line for line in escaped), ".fi"]
