"""What a log may ask for: the command that it records, without the parts that only a user may ask for.

A log is untrusted input. Of its command count the options of HARMLESS, which are numbers, choices and names in the
model, and files that are embedded in the log itself. All else, as files elsewhere, packages and xacro, is refused by
name: the user gives it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.log.reader import Log

HARMLESS = frozenset(
    (
        "duration",
        "time_step",
        "integrator",
        "accuracy",
        "max_step",
        "constraint_tolerance",
        "ground",
        "no_contact",
        "contact_model",
        "contact_approximation",
        "sleep_tolerance",
        "posture",
        "kp",
        "kd",
        "drives",
        "u_text",
        "pose",
        "q_list",
        "v_list",
        "assignments",
        "fill",
        "degrees",
        "random_seed",
        "start_limits",
        "effort_limits",
        "velocity_limits",
        "controller_rate",
        "controller_limit",
        "seed",
        "log_rate",
        "fields",
        "sensor_noise",
        "balance",
        "welds",
        "weld_base",
        "gravity",
        "self_contact",
        "decompose",
        "overrides",
        "scenario_name",
        "strict",
        "loops",
        "missing_meshes",
        "missing_includes",
        "input_format",
    )
)
"""Parameters of `simulate` whose values a log may give."""

FILES = frozenset(("models", "config_file", "constraints_file", "srdf_files", "scenario_file"))
"""Those that name files, which a log may have in it."""

DROPPED = frozenset(("log_path", "force", "as_json", "no_log", "resume_path", "threads"))
"""Those that change where results go, or how fast they come, and not what they are."""


def recorded_words(log: Log) -> list[str]:
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
        if name in HARMLESS or name in DROPPED:
            continue
        values = list(value) if isinstance(value, tuple) else [value]
        if name == "pushes" and all("=" in text for text in values):  # others are names of tables
            continue
        if name not in FILES or not set(values) <= inside:
            foreign.append(_as_given(command, name, values, inside if name in FILES else set()))
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
