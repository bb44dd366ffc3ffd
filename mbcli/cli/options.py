"""The options that commands share, and which commands take them.

resource_options what else model files name; part of model_options
model_options    every command that reads models; optional_model_options: simulate, whose --resume knows them
state_options    every analysis of one state or of a batch
output_options   every command with a result
"""

from __future__ import annotations

import functools
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from mbcli.batch import FORMAT_OF_SUFFIX, FORMATS as ROW_FORMATS
from mbcli.common.argument_names import NO_VALUE
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import parse_number
from mbcli.common.output_files import refuse_missing_folder
from mbcli.common.setting import options_of, settings_of
from mbcli.errors import ArgumentError
from mbcli.parsers.formats import format_of_name
from mbcli.parsers.load_arguments import GROUND, HOLD, MODEL, HoldArguments, LoadArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mbcli.common.setting import Option, OptionKind


class Number(click.ParamType):
    """The value of an option that is one finite number, at least `minimum` or greater than `above`."""

    name = "number"

    def __init__(self, *, minimum: float | None = None, above: float | None = None) -> None:
        self.minimum, self.above = minimum, above

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = value if isinstance(value, float) else parse_number(value)
        if number is None:
            self.fail(f"'{value}' is not a finite number", param, ctx)
        if self.minimum is not None and number < self.minimum:
            self.fail(f"{value} is less than {self.minimum:g}", param, ctx)
        if self.above is not None and number <= self.above:
            self.fail(f"{value} is not greater than {self.above:g}", param, ctx)
        return number


OPTION_OF_ARGUMENT = {
    "model": "MODEL",
    "overrides": "--set",
    "inputs": "--u or --input",
    "pushes": "--push",
    "measures": "--measure",
}


def as_option(name: str, value: Any = NO_VALUE) -> str:
    """How messages of the library name an argument in a shell: `--dt`, `--start-limits clamp`, `--no-contact`."""
    option = OPTION_OF_ARGUMENT.get(name, f"--{name.replace('_', '-')}")
    if value is NO_VALUE or value is True:
        return option
    if value is None or value is False:
        return f"--no-{name.replace('_', '-')}"
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}"


@contextmanager
def usage_errors() -> Iterator[None]:
    """Arguments that a function of the library refuses are options that do not fit."""
    try:
        yield
    except ArgumentError as error:
        raise click.UsageError(str(error)) from None


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        return functools.reduce(lambda inner, option: option(inner), reversed(options), command)

    return decorate


class SettingOption(click.Option):
    """An option of a setting; its help may be made when it is asked for: a run starts sooner."""

    def __init__(self, declarations: Sequence[str], says: str | Callable[[], str], **kind: Any) -> None:
        self._says = says
        super().__init__(declarations, **kind)

    @property
    def help(self) -> str | None:
        """The help text."""
        return self._says if isinstance(self._says, str) else self._says()

    @help.setter
    def help(self, text: str | None) -> None:
        """click sets what it was given, which is none."""


AS_CLICK_HAS_IT = {"metavar": "metavar", "multiple": "multiple", "default": "default", "flag": "is_flag"}


def setting_options(record: Any, *groups: str) -> Callable[[Any], Any]:
    """The decorator that gives a command the options of the settings of these groups."""
    return together(*(setting_option(option) for group in groups for option in options_of(record, group)))


def setting_option(option: Option) -> Callable[[Any], Any]:
    """The decorator that gives a command an option."""
    kind: dict[str, Any] = {AS_CLICK_HAS_IT[k]: value for k, value in option.kind.items() if k in AS_CLICK_HAS_IT}
    return click.option(
        *option.flags, option.parameter, cls=SettingOption, says=option.says, type=_click_type(option.kind), **kind
    )


def _click_type(kind: OptionKind) -> Any:
    if kind.get("choices"):
        return click.Choice(kind["choices"])
    if kind.get("text", True):
        return None
    if kind.get("whole"):
        return click.IntRange(min=int(kind["minimum"]))
    number = Number(minimum=kind.get("minimum"), above=kind.get("above"))
    return (number,) * kind["count"] if "count" in kind else number


def _show_model_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """The callback of --help-model."""
    if not value or ctx.resilient_parsing:
        return
    formatter = ctx.make_formatter()
    records = [param.get_help_record(ctx) for param in ctx.command.params if param.name in MODEL_KEYS[1:]]
    formatter.write_text(f"What {ctx.command_path}, like every command that reads models, takes beside MODEL:")
    with formatter.section("Model"):
        formatter.write_dl([record for record in records if record is not None])
    click.echo(formatter.getvalue().rstrip("\n"), color=ctx.color)
    ctx.exit()


_model_help = click.option(
    "--help-model",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_model_help,
    help="Describe the options on models.",
)
_model_settings = setting_options(LoadArguments, MODEL)
resource_options = together(*map(setting_option, settings_of(LoadArguments)["packages"].options))
model_options = together(click.argument("models", nargs=-1, metavar="MODEL..."), _model_settings, _model_help)
optional_model_options = together(
    click.argument("models", nargs=-1, metavar="[MODEL...]"), _model_settings, _model_help
)

ground_option = setting_options(LoadArguments, GROUND)


class GroundCommand(click.Command):
    """A command with ground_option, whose number may be left out: a word that is not a number is not a height.

    left_out: {option: its number where that is left out}, of such options.
    """

    left_out = {"--ground": "0"}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = []
        for word, following in zip(args, [*args, ""][1:], strict=True):
            alone = word in self.left_out and parse_number(following) is None
            words += [word, self.left_out[word]] if alone else [word]
        return super().parse_args(ctx, words)


AT_START = ""  # in place of the name of a posture

hold_options = setting_options(HoldArguments, HOLD)


class HoldCommand(GroundCommand):
    """A command with hold_options too: the word after --hold is not a posture if it is an option or names a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = []
        for word, following in zip(args, [*args, ""][1:], strict=True):
            alone = word == "--hold" and (not following or following.startswith("-") or _is_model(following))
            words += ["--hold", AT_START] if alone else [word]
        return super().parse_args(ctx, words)


def _is_model(word: str) -> bool:
    """Whether a word is a MODEL argument."""
    is_named_so = format_of_name(word) is not None or word.lower().endswith(".xml")
    return is_named_so or "://" in word or os.path.exists(word)


state_options = together(
    click.option("--pose", metavar="NAME", help="A posture that the model's files name; `inspect` lists them."),
    click.option("--q", "q_list", metavar="LIST", help="Positions, in the order of `inspect`."),
    click.option("--v", "v_list", metavar="LIST", help="Velocities, in the order of `inspect`."),
    click.option(
        "--at",
        "assignments",
        multiple=True,
        metavar="NAME=VALUE",
        help="One position or velocity by name; any unambiguous ending will do: elbow, elbow_q (angle), elbow_w (its "
        "rate), slide_x (length), slide_v (its rate), base_z, base_qw (quaternion). Angles may be 30deg or pi/2.",
    ),
    click.option("--state", "state_file", metavar="FILE", help="State from a JSON document ('-': stdin) or a log."),
    click.option("--time", "state_time", type=Number(), metavar="T", help="The time [s] in a log; default: the last."),
    click.option("--random", "random_seed", type=click.IntRange(min=0), metavar="SEED", help="Draw a random state."),
    click.option(
        "--degrees",
        is_flag=True,
        help="Angles in --q, --v, --at and in tables of --states are in degrees where no unit says otherwise.",
    ),
)

row_options = (
    click.option(
        "--fill",
        type=click.Choice(["default"]),
        is_flag=False,
        flag_value="default",
        help="default: take coordinates that --states leaves out from the model, or from --q, --pose, ...; without it, "
        "--states must give all.",
    ),
)

batch_options = together(
    click.option(
        "--states",
        metavar="FILE",
        help="Evaluate every row of a CSV, JSONL, NPZ, Parquet or Arrow file or a log ('-': stdin). Columns have the "
        "names of --at; others are vdot:NAME, tau:NAME, u:NAME and time (docs/reference/rows.md).",
    ),
    click.option("--states-format", type=click.Choice(ROW_FORMATS), help="Format of --states."),
    *row_options,
)


def writable_path(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The value of -o, once the folder that it is in is known to be there: not after all the work."""
    if value not in (None, "-") and not ctx.resilient_parsing:
        refuse_missing_folder(value)
    return value


output_options = together(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json", *ROW_FORMATS]),
        help="Format of the result; default: text, for --states JSON lines or by the suffix of -o.",
    ),
    click.option("-o", "--output", metavar="FILE", callback=writable_path, help="Write the result to a file."),
    click.option("--force", is_flag=True, help="Replace an existing file."),
)

MODEL_KEYS = ("models", *(option.parameter for option in options_of(LoadArguments, MODEL)))
STATE_KEYS = ("pose", "q_list", "v_list", "assignments", "state_file", "state_time", "random_seed", "degrees")
BATCH_KEYS = ("states", "states_format", "fill")
OUTPUT_KEYS = ("as_json", "output_format", "output", "force")


class Options:
    """The values of shared options, by name; those of a single command are there too, if it takes them so."""

    # MODEL_KEYS
    models: tuple[str, ...]
    input_format: str | None
    packages: tuple[str, ...]
    package_paths: tuple[str, ...]
    allow_outside: bool
    missing_meshes: str
    missing_includes: str
    xacro: bool
    xacro_args: tuple[str, ...]
    welds: tuple[str, ...]
    weld_base: bool
    gravity: tuple[float, float, float] | None
    actuators: str | None
    constraints_file: str | None
    srdf_files: tuple[str, ...]
    self_contact: str | None
    decompose: bool
    config_file: str | None
    scenario_name: str | None
    scenario_file: str | None
    scenario_text: str | None
    overrides: tuple[str, ...]
    strict: bool
    loops: str
    # STATE_KEYS
    pose: str | None
    q_list: str | None
    v_list: str | None
    assignments: tuple[str, ...]
    state_file: str | None
    state_time: float | None
    random_seed: int | None
    degrees: bool
    # BATCH_KEYS
    states: str | None
    states_format: str | None
    fill: str | None
    # OUTPUT_KEYS
    as_json: bool
    output_format: str | None
    output: str | None
    force: bool
    package_map: Any = None  # a PackageMap that answers in place of one of the resource_options
    # ground_option and hold_options
    ground: float | None
    posture: str | None
    kp: float | None
    kd: float | None
    drives: tuple[str, ...]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


def joined(*names: str) -> str:
    """Names in a message: all, or the first few of many."""
    return listed(names)


def take(values: dict[str, Any], *groups: Sequence[str]) -> Options:
    """Removes the values of the named groups from click's keyword arguments and returns them as Options."""
    return Options(**{key: values.pop(key) for group in groups for key in group if key in values})


def state_is_given(state: Options) -> bool:
    """Whether state_options say something."""
    return any(getattr(state, key) not in (None, (), False) for key in STATE_KEYS)


class OutputOptions(Options):
    """The values of output_options."""

    def result_format(self) -> str | None:
        """The format of --json, --format or the suffix of -o; None without them."""
        if self.as_json and self.output_format not in (None, "json"):
            raise click.UsageError(f"--json and --format {self.output_format} exclude each other")
        if self.as_json:
            return "json"
        suffix = os.path.splitext(self.output or "")[1].lower()
        return self.output_format or (FORMAT_OF_SUFFIX | {".json": "json"}).get(suffix)


def take_output(values: dict[str, Any]) -> OutputOptions:
    """take() for output_options."""
    return OutputOptions(**vars(take(values, OUTPUT_KEYS)))
