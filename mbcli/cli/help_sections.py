"""The help of a command: its own options first, then what commands share, by subject.

Options on models, of which there are twenty, are only named; --help-model describes them.
"""

from __future__ import annotations

import textwrap

import click

from mbcli.cli.options import BATCH_KEYS, MODEL_KEYS, OUTPUT_KEYS, STATE_KEYS

SECTIONS = {"State": STATE_KEYS, "Many states": BATCH_KEYS, "Output": OUTPUT_KEYS}
MODEL_TITLE = "Model"


def write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """In place of click's Command.format_options."""
    shared: dict[str, list[tuple[str, str]]]
    own, shared, model = [], {title: [] for title in SECTIONS}, []
    is_analysis = any(param.name == "models" for param in command.params)
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is None:
            continue
        title = next((title for title, keys in SECTIONS.items() if param.name in keys), None)
        if not is_analysis or (title is None and param.name not in MODEL_KEYS):
            own.append(record)
        elif title is not None:
            shared[title].append(record)
        elif isinstance(param, click.Option):
            model.append(param)
    for title, records in (("Options", own), *shared.items()):
        if records:
            with formatter.section(title):
                formatter.write_dl(records)
    if model:
        with formatter.section(f"{MODEL_TITLE} (--help-model describes these)"):
            names = " ".join(param.opts[0] for param in model)
            room = formatter.width - formatter.current_indent
            for line in textwrap.wrap(names, room, break_on_hyphens=False):
                formatter.write(" " * formatter.current_indent + line + "\n")
