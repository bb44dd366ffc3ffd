"""What a log may ask for: the command that it records, without the parts that only a user may ask for.

A log is untrusted input. Of its command count numbers, choices and names in the model, and files that are embedded in
the log itself, as the record of each setting says. All else, as files elsewhere, packages and xacro, is refused by
name: the user gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import BATCH_KEYS
from mbcli.common.setting import always, askable_options, embedded_files, never, options_of
from mbcli.errors import ModelError
from mbcli.parsers.load_arguments import HoldArguments, LoadArguments
from mbcli.simulation.run_arguments import RunArguments
from mbcli.simulation.setting_groups import VIEW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog

MAY_ASK = {
    **askable_options(LoadArguments, HoldArguments, RunArguments),
    **dict.fromkeys(("pose", "q_list", "v_list", "assignments", "random_seed", "fill", "degrees", "each"), always),
    "models": embedded_files,
}
"""{parameter of `simulate`: (value, names of the files in the log) -> whether a log may ask for that value}; of others
it may not."""

DROPPED = frozenset(
    ("log_path", "force", "as_json", "no_log", "resume_path", "threads")
    + tuple(option.parameter for option in options_of(RunArguments, VIEW))
)
"""Those that change where results go, how fast they come or who looks on, and not what they are."""

OF_STARTS = (*BATCH_KEYS, "assignments", "degrees")
"""Those that give the starts of many worlds, whose log has them."""


def is_harmless(name: str) -> bool:
    """Whether a log may ask for every value of a parameter."""
    return MAY_ASK.get(name) is always


def recorded_words(log: Log | WorldsLog) -> list[str]:
    """The words that followed `simulate` in the command that wrote a log. ModelError if there is none."""
    argv = log.attrs.get("argv")
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv) or "simulate" not in argv[1:]:
        raise ModelError(
            f"{log.path}: error: has no record of a command: a run from Python goes on in Python (resume), and is "
            "run again there and compared by `mbcli log diff`; else give MODEL and the options again"
        )
    return argv[argv.index("simulate", 1) + 1 :]


def recorded_parameters(command: click.Command, words: Sequence[str], path: str) -> dict[str, Any]:
    """{parameter: value} that words give to a command; ModelError if they do not fit it."""
    if {"-h", "--help", "--help-model"} & set(words):
        raise ModelError(f"{path}: error: the command that it records runs nothing")
    try:
        context = command.make_context(command.name, list(words))
    except click.ClickException as error:
        raise ModelError(f"{path}: error: the command that it records is wrong: {error.format_message()}") from None
    given = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in context.params.items() if context.get_parameter_source(name) is given}


def refuse_foreign(
    parameters: dict[str, Any], embedded: Iterable[str], command: click.Command, path: str, advice: str
) -> None:
    """ModelError for what a log may not ask for.

    Args:
        parameters: of its command, but for those that the user gives.
        embedded: the names, as the command has them, of files that are in the log.
        advice: what the user can do.
    """
    inside, foreign = set(embedded), []
    for name, value in parameters.items():
        if name not in DROPPED and not MAY_ASK.get(name, never)(value, inside):
            values = list(value) if isinstance(value, tuple) else [value]
            foreign.append(_as_given(command, name, values, inside))
    if foreign:
        raise ModelError(
            f"{path}: error: its command names {', '.join(foreign)}, which a log may not ask for: {advice}"
        )


def _as_given(command: click.Command, name: str, values: list[Any], inside: set[str]) -> str:
    """A parameter as it stands in a command."""
    parameter = next(p for p in command.params if p.name == name)
    option = parameter.opts[0] if isinstance(parameter, click.Option) else "MODEL"
    texts = [str(value) for value in values if value not in inside and not isinstance(value, bool)]
    return " ".join([option, *texts])


def words_of(command: click.Command, parameters: dict[str, Any]) -> list[str]:
    """Parameters as words of a command, models behind the options."""
    words, models = [], []
    for name, value in parameters.items():
        parameter = next(p for p in command.params if p.name == name)
        values = list(value) if isinstance(value, tuple) else [value]
        option = max(parameter.opts, key=len)  # the long one, whose value may follow "="
        if not isinstance(parameter, click.Option):
            models += [str(item) for item in values]
        elif parameter.is_flag:
            words += [option] if value else []
        elif parameter.nargs > 1:
            words += [option, *map(repr, values)]
        else:
            words += [f"{option}={item!r}" if isinstance(item, float) else f"{option}={item}" for item in values]
    return [*words, *(["--", *models] if models else [])]
