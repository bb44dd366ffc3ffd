"""The help of a command: its own options first, then what commands share, by subject; or a line an option, for -h.

Options on models, of which there are twenty, are only named; --help-model describes them.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING

import click

from mbcli.cli.options import BATCH_KEYS, MODEL_KEYS, OUTPUT_KEYS, STATE_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

SECTIONS = {"State": STATE_KEYS, "Many states": BATCH_KEYS, "Output": OUTPUT_KEYS}
MODEL_TITLE = "Model"
HELPS = ("--help-model", "-h", "--help")  # options that only show help
LONGEST_NAMES = 34  # characters of the names of an option beside which its text stands


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """In place of click's Command.format_options."""
    own, shared = _by_section(command, ctx)
    model = shared.pop(MODEL_TITLE, [])
    for title, options in (("Options", own), *shared.items()):
        if options:
            with formatter.section(title):
                formatter.write_dl([option.get_help_record(ctx) or ("", "") for option in options])
    if model:
        _write_names(formatter, f"{MODEL_TITLE} (--help-model describes these)", model)


def _by_section(
    command: click.Command, ctx: click.Context
) -> tuple[list[click.Parameter], dict[str, list[click.Parameter]]]:
    """The options of a command that other commands do not have, and {title: those that are shared}."""
    own: list[click.Parameter]
    shared: dict[str, list[click.Parameter]]
    own, shared = [], {title: [] for title in (MODEL_TITLE, *SECTIONS)}
    is_analysis = any(param.name == "models" for param in command.params)
    for param in command.get_params(ctx):
        if not isinstance(param, click.Option) or param.get_help_record(ctx) is None:
            continue
        titles = (title for title, keys in {MODEL_TITLE: MODEL_KEYS, **SECTIONS}.items() if param.name in keys)
        title = next(titles, None) if is_analysis else None
        (own if title is None else shared[title]).append(param)
    return own, {title: options for title, options in shared.items() if options}


def short_help(ctx: click.Context) -> str:
    """Usage, the first sentence, examples, and a line for each option that other commands do not have."""
    command, formatter = ctx.command, ctx.make_formatter()
    command.format_usage(ctx, formatter)
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    shown = [paragraphs[0], *(part for part in paragraphs[1:] if part.startswith("\b"))]
    with formatter.indentation():
        for part in shown:
            formatter.write_paragraph()
            formatter.write_text(part)
    own, shared = _by_section(command, ctx)
    with formatter.section("Options"):
        records = [_short_record(param, ctx) for param in own if param.opts[0] not in HELPS]
        width = min(max((len(names) for names, _ in records), default=0), LONGEST_NAMES)
        room = formatter.width - formatter.current_indent - width - 2
        for names, text in records:
            said = textwrap.shorten(text, max(room, 20), placeholder=" ...")
            formatter.write(f"{'':{formatter.current_indent}}{names:{width}}  {said}\n")
    for title, options in shared.items():
        _write_names(formatter, title, options)
    formatter.write_paragraph()
    formatter.write_text(f"{ctx.command_path} --help explains all of them.")
    return formatter.getvalue().rstrip("\n")


def _short_record(param: click.Parameter, ctx: click.Context) -> tuple[str, str]:
    """(its names, the first clause of its help)"""
    names, text = param.get_help_record(ctx) or ("", "")
    if len(names) > LONGEST_NAMES:
        names = ", ".join(param.opts)
    return names, re.split(r"(?<=[.;]) ", " ".join(text.split()))[0].rstrip(";.")


def _write_names(formatter: click.HelpFormatter, title: str, options: Sequence[click.Parameter]) -> None:
    """The names of options alone, as long as lines are."""
    with formatter.section(title):
        names = " ".join(param.opts[0] for param in options)
        room = formatter.width - formatter.current_indent
        for line in textwrap.wrap(names, room, break_on_hyphens=False):
            formatter.write(" " * formatter.current_indent + line + "\n")
