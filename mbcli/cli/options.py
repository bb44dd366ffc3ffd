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

from mbcli.batch import FORMAT_OF_SUFFIX
from mbcli.batch import FORMATS as ROW_FORMATS
from mbcli.common.argument_names import NO_VALUE
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import parse_number
from mbcli.common.output_files import refuse_missing_folder
from mbcli.errors import ArgumentError
from mbcli.parsers.formats import FORMATS, format_of_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


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


INPUT_FORMATS = tuple(FORMATS)

resource_options = together(
    click.option("--package", "packages", multiple=True, metavar="NAME=DIR", help="The directory of package://NAME."),
    click.option("--package-path", "package_paths", multiple=True, metavar="DIR", help="Look for packages below DIR."),
    click.option("--allow-outside", is_flag=True, help="Let models name files outside of their package or folder."),
    click.option(
        "--missing-meshes",
        type=click.Choice(["error", "warn", "ignore"]),
        default="warn",
        help="How a mesh file that cannot be found is reported; ignore: as a note. [warn]",
    ),
    click.option(
        "--missing-includes",
        type=click.Choice(["error", "skip"]),
        default="error",
        help="An SDFormat <include> whose file cannot be found: an error, or skipped with a warning. [error]",
    ),
    click.option(
        "--xacro",
        is_flag=True,
        help="Expand xacro files by the package xacro (mbcli[xacro]). That runs code of the file: only for files that "
        "you trust.",
    ),
    click.option(
        "--xacro-arg", "xacro_args", multiple=True, metavar="NAME:=VALUE", help="An argument of the xacro file."
    ),
)
_model_settings = (
    click.option("--input-format", type=click.Choice(INPUT_FORMATS), help="Format of MODEL; '-' is stdin."),
    resource_options,
    click.option("--weld", "welds", multiple=True, metavar="FRAME", help="Weld a body or frame to the world's origin."),
    click.option("--weld-base", is_flag=True, help="Weld every base that would float, where its file puts it."),
    click.option(
        "--gravity",
        type=(Number(), Number(), Number()),
        metavar="X Y Z",
        help="Gravity [m/s^2] in the world frame, in place of that of files: --gravity 0 0 -1.62 on the Moon.",
    ),
    click.option(
        "--constraints",
        "constraints_file",
        metavar="FILE",
        help="More constraints (YAML): contact, loop, coupler, distance, ball, weld, tendon.",
    ),
    click.option(
        "--srdf",
        "srdf_files",
        multiple=True,
        metavar="FILE",
        help="Pairs of links that do not collide, and named postures, of the model (SRDF).",
    ),
    click.option(
        "--self-contact",
        type=click.Choice(["auto", "all", "none"]),
        help="Contact between the bodies of one robot, beside those that a joint connects: all, none, or auto "
        "(default): all but those that overlap at the default positions or are always in touch.",
    ),
    click.option(
        "--decompose",
        is_flag=True,
        help="Meshes that are not convex collide by convex parts (mbcli[decompose]), not by their hulls. The first run "
        "takes seconds to minutes a mesh.",
    ),
    click.option("--config", "config_file", metavar="FILE", help="Settings (YAML): plant configuration or scenario."),
    click.option("--scenario-name", "--scenario_name", metavar="NAME", help="The scenario of a file that has several."),
    click.option("--scenario-file", "--scenario_file", metavar="FILE", help="A scenario; the same as a MODEL."),
    click.option("--scenario-text", "--scenario_text", metavar="YAML", help="Keys that replace those of the scenario."),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="PATH=VALUE",
        help="Change a setting, as plant_config.time_step=0.002, or a parameter of elements: joint.elbow.damping=0.3, "
        "body.gripper.mass=+0.5 (adds), actuator.*.gear_ratio=*1.1 (multiplies), geometry.foot.friction=0.8.",
    ),
    click.option("--strict", is_flag=True, help="Warnings on the model are errors."),
    click.option(
        "--loops",
        type=click.Choice(["cut", "error"]),
        default="cut",
        help="A joint that closes a loop is cut (default) and held together by a constraint, or is an error.",
    ),
)


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
model_options = together(click.argument("models", nargs=-1, metavar="MODEL..."), *_model_settings, _model_help)
optional_model_options = together(
    click.argument("models", nargs=-1, metavar="[MODEL...]"), *_model_settings, _model_help
)

ground_option = click.option(
    "--ground",
    type=Number(),
    metavar="[Z]",
    help="Add a ground: a half-space of World at the height Z [m], 0 without a number, with a friction of 1.",
)


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

hold_options = together(
    click.option(
        "--hold",
        "posture",
        metavar="[POSE]",
        help="PD controllers hold the joints where they start, or in the posture POSE, where the robot then starts "
        "unless told otherwise. Joints of one degree of freedom get an actuator if they have none, except followers "
        "(mimic) and joints that carry a planar base. The run names joints that it does not hold.",
    ),
    click.option(
        "--kp", type=Number(above=0.0), metavar="K", help="Stiffness of held joints; default: computed from the masses."
    ),
    click.option(
        "--kd", type=Number(minimum=0.0), metavar="D", help="Damping of held and driven joints; default: critical."
    ),
    click.option(
        "--drive",
        "drives",
        multiple=True,
        metavar="NAME=VALUE",
        help="A controller drives this joint at a velocity [rad/s or m/s].",
    ),
)


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
        "rate), slide_x (length), slide_v (its rate), base_z, base_qw (quaternion).",
    ),
    click.option("--state", "state_file", metavar="FILE", help="State from a JSON document ('-': stdin) or a log."),
    click.option("--time", "state_time", type=Number(), metavar="T", help="The time [s] in a log; default: the last."),
    click.option("--random", "random_seed", type=click.IntRange(min=0), metavar="SEED", help="Draw a random state."),
)

row_options = (
    click.option(
        "--fill",
        type=click.Choice(["default"]),
        help="default: take coordinates that --states leaves out from the model, or from --q, --pose, ...; without it, "
        "--states must give all.",
    ),
    click.option("--degrees", is_flag=True, help="Angles in tables of --states without units are in degrees."),
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

MODEL_KEYS = (
    "models",
    "input_format",
    "packages",
    "package_paths",
    "allow_outside",
    "missing_meshes",
    "missing_includes",
    "xacro",
    "xacro_args",
    "welds",
    "weld_base",
    "gravity",
    "constraints_file",
    "srdf_files",
    "self_contact",
    "decompose",
    "config_file",
    "scenario_name",
    "scenario_file",
    "scenario_text",
    "overrides",
    "strict",
    "loops",
)
STATE_KEYS = ("pose", "q_list", "v_list", "assignments", "state_file", "state_time", "random_seed")
BATCH_KEYS = ("states", "states_format", "fill", "degrees")
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
    # BATCH_KEYS
    states: str | None
    states_format: str | None
    fill: str | None
    degrees: bool
    # OUTPUT_KEYS
    as_json: bool
    output_format: str | None
    output: str | None
    force: bool
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
