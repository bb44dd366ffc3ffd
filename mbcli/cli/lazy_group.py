"""LazyGroup: a group of commands whose modules are imported when they are used."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import click

from mbcli.common.suggestions import closest


def _write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    from mbcli.cli.help_sections import write_options

    write_options(command, ctx, formatter)


class LazyGroup(click.Group):
    """A group that knows its commands by a table.

    Args:
        table: command -> (module of mbcli.cli, its line in --help). The function in the module has the module's name.
    """

    def __init__(self, *args: Any, table: dict[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        module = self.table[name][0]
        command = getattr(import_module(f"mbcli.cli.{module}"), module)
        if not isinstance(command, click.Group):
            command.format_options = partial(_write_options, command)
        if ctx.resilient_parsing:
            from mbcli.cli.completion import is_wanted, teach

            if is_wanted():
                teach(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.table and not name.startswith("-") and not ctx.resilient_parsing:
            likely = closest(name, self.table)
            hint = f" Did you mean '{likely}'?" if likely else f" `{ctx.command_path} --help` lists the commands."
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])
