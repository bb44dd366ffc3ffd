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


def _short_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    if isinstance(ctx.command, click.Group):
        click.echo(ctx.get_help(), color=ctx.color)
    else:
        from mbcli.cli.help_sections import short_help

        click.echo(short_help(ctx), color=ctx.color)
    ctx.exit()


def _short_help_option() -> click.Option:
    return click.Option(
        ["-h"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_short_help,
        help="Show the options, a line each.",
    )


class LazyGroup(click.Group):
    """A group that knows its commands by a table.

    Args:
        table: command -> (module of mbcli.cli, its line in --help). The function in the module has the module's name.
        groups: {title: commands} of --help; default: all under one.
        elsewhere: {what is no command: the words that do it}.
        aliases: {another name: the command}, which --help does not list.
    """

    def __init__(
        self,
        *args: Any,
        table: dict[str, tuple[str, str]],
        groups: dict[str, tuple[str, ...]] | None = None,
        elsewhere: dict[str, str] | None = None,
        aliases: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.table, self.elsewhere, self.aliases = table, elsewhere or {}, aliases or {}
        self.groups = {"Commands": tuple(table)} if groups is None else groups
        self.params.append(_short_help_option())

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        name = self.aliases.get(name, name)
        if name not in self.table:
            return None
        module = self.table[name][0]
        command = getattr(import_module(f"mbcli.cli.{module}"), module)
        if not isinstance(command, click.Group):
            command.format_options = partial(_write_options, command)
            if not any(param.opts == ["-h"] for param in command.params):
                command.params.append(_short_help_option())
        if ctx.resilient_parsing:
            from mbcli.cli.completion import is_wanted, teach

            if is_wanted():
                teach(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        args = [self.aliases.get(args[0], args[0]), *args[1:]]
        name = args[0]
        if name not in self.table and not name.startswith("-") and not ctx.resilient_parsing:
            likely = self.elsewhere.get(name.lower()) or closest(name, self.table)
            hint = f" Did you mean '{likely}'?" if likely else f" `{ctx.command_path} --help` lists the commands."
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in self.groups.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.table[name][1]) for name in names])
