"""One record for each argument of a call: what it means, what it may be, which options of a command give it, and
whether a log may ask for it.

A record is a TypedDict whose fields are `Annotated[type, Setting(...)]`: type checkers read the types, and everything
else follows from the Setting: the signature and the docstring of a function that takes `**settings`, the options of
commands, what of a recorded call or command is repeated for a log, and what many worlds and sweeps take.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import TYPE_CHECKING, Any, ForwardRef, get_type_hints

from mbcli.common.argument_names import argument
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
    from typing import TypedDict, Unpack

    MayAsk = Callable[[Any, Collection[str]], bool]

    class OptionKind(TypedDict, total=False):
        """Of an Option, which says what each means."""

        metavar: str
        choices: tuple[str, ...]
        minimum: float
        above: float
        whole: bool
        text: bool
        flag: bool
        count: int
        multiple: bool
        default: Any
        log_may_ask: MayAsk
        sweeps: bool


WIDTH = 120  # of docstrings


def never(value: Any, embedded: Collection[str]) -> bool:
    """A log may not ask for it: the user gives it again."""
    return False


def always(value: Any, embedded: Collection[str]) -> bool:
    """A number, a choice or a name of the model."""
    return True


def no_text(value: Any, embedded: Collection[str]) -> bool:
    """Numbers, since a text would be the name of a file."""
    return not isinstance(value, str)


def equations(value: Any, embedded: Collection[str]) -> bool:
    """Texts with "=", since others would be names of files."""
    return all(isinstance(item, str) and "=" in item for item in _items(value))


def embedded_files(value: Any, embedded: Collection[str]) -> bool:
    """Names of files that the log has in it."""
    return all(isinstance(item, str) and item in embedded for item in _items(value))


def _items(value: Any) -> Iterable[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


class Option:
    """An option of a command.

    Args:
        flags: as "--dt --time-step".
        says: its help, or a function that makes it when it is asked for.
        name: of the parameter; default: that of the first flag.
        metavar: how help shows its value.
        choices: its values, if there are only some.
        minimum, above: of a number.
        whole: whether the number is an integer.
        text: whether it is a text; False for a number.
        flag: whether it has no value.
        count: of its numbers.
        multiple: whether it can be given more than once.
        default: of the option.
        log_may_ask: (value, names of the files that a log has in it) -> whether a log may ask for this value; default:
            as its setting.
        sweeps: whether runs of sweeps take it; default: as its setting.
    """

    def __init__(
        self,
        flags: str,
        says: str | Callable[[], str],
        *,
        name: str = "",
        **kind: Unpack[OptionKind],
    ) -> None:
        self.flags, self.says, self.kind = tuple(flags.split()), says, kind
        self.parameter = name or self.flags[0].removeprefix("--").replace("-", "_")


class Setting:
    """An argument.

    Args:
        says: what it is, with its unit first, and what the default does.
        options: that give it.
        default: its value if it is not given.
        choices: its values, if there are only some; None is always one where it is the default.
        log_may_ask: as of Option.
        of: the command line's group of these options.
        worlds: whether runs of many worlds take it.
        sweeps: whether the runs of sweeps take it.
    """

    def __init__(
        self,
        says: str,
        *options: Option,
        default: Any = None,
        choices: tuple[str, ...] = (),
        log_may_ask: MayAsk = never,
        of: str = "",
        worlds: bool = True,
        sweeps: bool = True,
    ) -> None:
        self.says, self.options, self.default, self.choices = says, options, default, choices
        self.log_may_ask, self.of, self.worlds, self.sweeps = log_may_ask, of, worlds, sweeps


@cache
def types_of(record: Any) -> dict[str, Any]:
    """{name: Annotated type} of a TypedDict, in its order, those of its bases first."""
    written = {name: hint for name, hint in record.__annotations__.items() if isinstance(hint, ForwardRef)}
    holder = type("holder", (), {"__annotations__": written})  # others may quote names that are not imported
    return {**record.__annotations__, **get_type_hints(holder, include_extras=True)}


def settings_of(record: Any) -> dict[str, Setting]:
    """{name: Setting} of a TypedDict, in its order."""
    return {name: hint.__metadata__[0] for name, hint in types_of(record).items()}


def complete(record: Any, given: Mapping[str, Any], function: str) -> dict[str, Any]:
    """The values of all settings, the default of those that are not given.

    function: that takes them, for the TypeError of a name that there is not. ArgumentError for a value that is none of
    the choices.
    """
    settings = settings_of(record)
    refuse_unknown(settings, given, function)
    values = {name: setting.default for name, setting in settings.items()} | dict(given)
    for name, setting in settings.items():
        if setting.choices:
            require_choice(name, values[name], setting)
    return values


def refuse_unknown(known: Collection[str], given: Iterable[str], function: str) -> None:
    """TypeError for a name that is not known, as of a function with these parameters."""
    for name in given:
        if name not in known:
            likely = closest(name, list(known))
            meant = f"; did you mean '{likely}'?" if likely else ""
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'{meant}")


def require_choice(name: str, value: Any, setting: Setting) -> Any:
    """The value. ArgumentError if it is no choice of the setting."""
    choices = setting.choices
    if value not in choices and (value is not None or setting.default is not None):
        listed = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
        raise ArgumentError(f"{argument(name)} is {listed}, not {value!r}")
    return value


def options_of(record: Any, group: str) -> list[Option]:
    """The options of the settings of a group, in the order of the record."""
    return [option for setting in settings_of(record).values() if setting.of == group for option in setting.options]


def options_of_sweeps(record: Any, groups: Collection[str]) -> list[Option]:
    """The options of these groups that runs of sweeps take."""
    settings = [setting for setting in settings_of(record).values() if setting.of in groups]
    return [o for setting in settings for o in setting.options if o.kind.get("sweeps", setting.sweeps)]


def options_of_single_runs(record: Any) -> list[Option]:
    """The options that runs of many worlds do not take."""
    return [option for setting in settings_of(record).values() if not setting.worlds for option in setting.options]


def askable_options(*records: Any) -> dict[str, MayAsk]:
    """{parameter: whether a log may ask for a value of it} of all options."""
    return {
        option.parameter: option.kind.get("log_may_ask", setting.log_may_ask)
        for record in records
        for setting in settings_of(record).values()
        for option in setting.options
    }


def documented(function: Any, *records: Any) -> Any:
    """Gives a function of `**settings` the signature of the records, and their sentences at "{settings}" in its
    docstring."""
    signature = inspect.signature(function)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    kind = inspect.Parameter.KEYWORD_ONLY
    added = [
        inspect.Parameter(name, kind, default=setting.default, annotation=types_of(record)[name].__origin__)
        for record in records
        for name, setting in settings_of(record).items()
        if name not in signature.parameters
    ]
    function.__signature__ = signature.replace(parameters=[*own, *added])
    if function.__doc__:  # not with -OO
        lines = [
            line
            for record in records
            for name, setting in settings_of(record).items()
            if name not in signature.parameters
            for line in _filled(f"{name}: {setting.says}")
        ]
        function.__doc__ = function.__doc__.replace("        {settings}", "\n".join(lines))
    return function


def _filled(text: str) -> Iterator[str]:
    """Lines of an entry of a docstring; textwrap would take ten times as long, at each start."""
    line = " " * 7
    for word in text.split(" "):
        if len(line) + 1 + len(word) > WIDTH:
            yield line
            line = " " * 11
        line += f" {word}"
    yield line
