"""`mbcli completion`: completion for shells, and a manual page, from the commands themselves."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class, split_arg_string

from mbcli.cli import completed_names as names

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "_MBCLI_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
FILE_WORDS = ("FILE", "LOG", "MODEL", "CONSTRAINTS", "INPUT", "OUTPUT")

_FRAME, _JOINT = names.elements(names.FRAMES), names.elements(names.JOINTS, "=")
# what options and arguments take: (words of the line, incomplete word) -> what it can become
COMPLETIONS = {
    "--set": names.parameter_paths,
    "--vary": names.varied_paths,
    "--at": _JOINT,
    "--drive": _JOINT,
    "--u": names.elements(("actuator", "motor", "joint"), "="),
    "--actuated": names.elements(names.JOINTS),
    "--force-on": names.elements(names.BODIES, "="),
    "--ik": names.elements(names.FRAMES, "="),
    **dict.fromkeys(("--weld", "--frame", "--relative-to", "--measured-in", "--expressed-in"), _FRAME),
    **dict.fromkeys(("--pose", "--hold"), names.elements(names.POSTURES)),
}
ARGUMENTS: dict[tuple[str | None, str | None], Callable[[list[str], str], list[str]]] = {
    ("schema", "name"): names.schemas,
    ("explain", "code"): names.codes,
}
COMMANDS_ON_LOGS = ("show", "tail", "diff", "export", "plot")
NO_SPACE = {  # a word that goes on, as `joint.` and `elbow=`: no space behind it
    "bash": ("    return 0\n", "    [[ ${COMPREPLY[0]} == *[.=] ]] && compopt -o nospace\n    return 0\n"),
    "zsh": (
        "        compadd -U -V unsorted -a completions\n",
        "        if [[ ${completions[1]} == *[.=] ]]; then\n"
        "            compadd -S '' -U -V unsorted -a completions\n"
        "        else\n"
        "            compadd -U -V unsorted -a completions\n"
        "        fi\n",
    ),
}


@click.command("completion")
@click.argument("shell", type=click.Choice([*SHELLS, "man"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell, or a manual page.

    Commands, options, choices, files; of the models on the line the names of joints, bodies, frames and postures, and
    the paths of --set and --vary; the fields of logs.

    \b
    eval "$(mbcli completion bash)"                                       in ~/.bashrc
    eval "$(mbcli completion zsh)"                                        in ~/.zshrc
    mbcli completion fish > ~/.config/fish/completions/mbcli.fish
    mbcli completion man > ~/.local/share/man/man1/mbcli.1
    """
    mbcli = ctx.find_root().command
    if shell == "man":
        from mbcli.cli.manual_page import manual_page

        assert isinstance(mbcli, click.Group)
        click.echo(manual_page(mbcli))
        return
    completion_class = get_completion_class(shell)
    assert completion_class is not None  # click knows SHELLS
    source = completion_class(mbcli, {}, "mbcli", VARIABLE).source()
    click.echo(source.replace(*NO_SPACE.get(shell, ("", ""))))


def is_wanted() -> bool:
    """Whether this process is to complete a line: a shell has asked for it."""
    return VARIABLE in os.environ


def teach(command: click.Command) -> None:
    """Gives the parameters of a command their completions."""
    for param in command.params:
        complete = COMPLETIONS.get(param.opts[0]) or ARGUMENTS.get((command.name, param.name))
        if param.opts[0] == "--fields" and command.name in COMMANDS_ON_LOGS:
            complete = names.fields_of_logs
        words = set(re.split(r"[^A-Z]+", param.metavar or ""))
        if complete is not None:
            param.type = Completed(complete)
        elif isinstance(param.type, click.types.StringParamType) and words & {*FILE_WORDS, "A", "B"}:
            param.type = click.Path()
        elif isinstance(param.type, click.types.StringParamType) and "DIR" in words:
            param.type = click.Path(file_okay=False)


class Completed(click.ParamType):
    """A text that is completed by a function of the words of the line and of its beginning."""

    name = "name"

    def __init__(self, complete: Callable[[list[str], str], list[str]]) -> None:
        self._complete = complete

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The completions that begin so; click has no words of a line that ends in an option."""
        words = split_arg_string(os.environ.get("COMP_WORDS", ""))
        found = dict.fromkeys(self._complete(words, incomplete))
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]
