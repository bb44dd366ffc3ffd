"""The command line: one command per file, each a few calls into the library. Only this package knows click."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click

from mbcli import __version__
from mbcli.cli.lazy_group import LazyGroup
from mbcli.cli.options import as_option
from mbcli.cli.signals import Terminated, signals_end_commands
from mbcli.common import kept_files
from mbcli.common.argument_names import spelled
from mbcli.errors import MbcliError, NumericalError, OutputError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterable

# command -> (module of this package, its line in --help); modules are imported when their command runs
COMMANDS = {
    "simulate": ("simulate", "Run a model over time and write an HDF5 log."),
    "sweep": ("sweep", "Run a model at many values of its parameters, into one table."),
    "check": ("check", "Report every fault of model files; for CI."),
    "inspect": ("inspect", "Describe a model: tree, joints, masses, frames, unused elements."),
    "compare": ("compare", "Compare two models, or one model in every engine that is installed."),
    "convert": ("convert", "Write a model as URDF, SDFormat, MJCF or USD, list the losses, prove the rest."),
    "kinematics": ("kinematics", "Poses and velocities of bodies and frames."),
    "jacobian": ("jacobian", "The Jacobian of a frame, of points or of the centre of mass, and its bias."),
    "mass-matrix": ("mass_matrix", "The mass matrix M(q)."),
    "inverse-dynamics": ("inverse_dynamics", "Generalized forces for given accelerations."),
    "forward-dynamics": ("forward_dynamics", "Accelerations for given forces."),
    "assemble": ("assemble", "The nearest state that satisfies the constraints."),
    "constrained-dynamics": ("constrained_dynamics", "Accelerations and forces under constraints, and impulses."),
    "bias": ("bias", "The bias term C(q,v)v."),
    "gravity": ("gravity", "The generalized forces of gravity."),
    "symbolic": ("symbolic", "Closed forms of M, C v, tau_g and poses of small models."),
    "codegen": (
        "codegen",
        "Write functions of a model as C, Python, JAX, CasADi or ONNX code, or an FMU, and prove it.",
    ),
    "energy": ("energy", "Kinetic and potential energy, and power."),
    "com": ("com", "Centre of mass, its velocity, and the total mass."),
    "momentum": ("momentum", "Momentum about a point."),
    "spatial": ("spatial", "Shift, rotate, compose and multiply spatial vectors."),
    "bushing": ("bushing", "Stiffness of bushings, the spring of a hinge."),
    "contact": ("contact", "Contacts at a state with their forces, and distances."),
    "linearize": ("linearize", "Derivatives of the motion by state and actuation."),
    "optimize": ("optimize", "The efforts that cost least over a time, within limits, and feedback about them."),
    "identify": ("identify", "Masses, inertias and friction from measured motion, into the model file."),
    "excite": ("excite", "A motion within limits from which parameters can be identified."),
    "loads": ("loads", "What actuators and joints bear over a run: peaks, power, forces in joints."),
    "serve": ("serve", "Answer questions about a model, one JSON document a line."),
    "view": ("view", "Show a model in the browser, with sliders for its joints."),
    "replay": ("replay", "Show logs over time: in the browser, as one HTML file, as images or a video."),
    "log": ("log", "Look into the logs that simulate writes."),
    "schema": ("schema", "Print the JSON Schema of a configuration, scenario, directives, log or of results."),
    "explain": ("explain", "Explain the code of a finding."),
    "doctor": ("doctor", "Look at versions, cache, extras and other engines."),
    "completion": ("completion", "Print the completion script of a shell, or a manual page."),
}
GROUPS = {  # of commands in --help
    "Models": ("check", "inspect", "compare", "convert", "view"),
    "Runs": ("simulate", "sweep", "optimize", "linearize", "log", "replay", "loads"),
    "Answers at a state": (
        "kinematics", "jacobian", "mass-matrix", "inverse-dynamics", "forward-dynamics", "assemble",
        "constrained-dynamics", "bias", "gravity", "energy", "com", "momentum", "spatial", "bushing", "contact",
    ),
    "Models from data, models as code": ("identify", "excite", "symbolic", "codegen"),
    "mbcli itself": ("serve", "schema", "explain", "doctor", "completion"),
}  # fmt: skip
ELSEWHERE = {  # what people type: the command that does it
    "sim": "simulate", "run": "simulate", "rollout": "simulate", "resume": "simulate --resume",
    "batch": "simulate --each", "plot": "log plot", "diff": "log diff", "export": "log export", "show": "log show",
    "tail": "log tail", "verify": "log verify", "recover": "log recover",
    "poses": "kinematics", "id": "inverse-dynamics", "rnea": "inverse-dynamics", "aba": "forward-dynamics",
    "fd": "forward-dynamics",
    "crba": "mass-matrix", "info": "inspect", "describe": "inspect", "tree": "inspect", "lint": "check",
    "validate": "check", "visualize": "view", "show-model": "view", "video": "replay", "animate": "replay",
    "gif": "replay", "render": "replay", "play": "replay", "drag": "simulate --view",
    "collisions": "contact", "sysid": "identify", "calibrate": "identify", "lqr": "linearize",
    "ilqr": "optimize", "ddp": "optimize", "mpc": "simulate --controller", "plan": "optimize",
    "live": "simulate --view", "fix": "check --fix", "repair": "check --fix", "bag": "log export --to ros",
}  # fmt: skip
OPTIONS_ELSEWHERE = {  # options that people type: what does it, where there is no such option
    **dict.fromkeys(("--worlds", "--num-worlds", "--envs", "--num-envs"), "--states STARTS"),
    **dict.fromkeys(("--fixed-base", "--fix-base", "--fix"), "--weld-base"),
    **dict.fromkeys(("--torque", "--effort", "--tau", "--control"), "--u ACTUATOR=VALUE"),
    **dict.fromkeys(("--gui", "--viewer", "--render", "--live"), "--view"),
    **dict.fromkeys(("--gif", "--video", "--mp4"), "-o FILE.gif of mbcli replay"),
    **dict.fromkeys(("--until", "--seconds"), "--duration"),
    **dict.fromkeys(("--timestep", "--step"), "--time-step"),
    **dict.fromkeys(("--deg", "--angles"), "--degrees"),
    **dict.fromkeys(("--target", "--goal", "--position", "--pos", "--xyz", "--rpy"), "--to FRAME=x,y,z"),
    **dict.fromkeys(("--link", "--body", "--tool", "--end-effector", "--ee"), "--frame NAME"),
    **dict.fromkeys(("--repair", "--mend", "--autofix"), "--fix"),
    **dict.fromkeys(("--bag", "--rosbag"), "--states BAG, or --to ros of mbcli log export"),
    **dict.fromkeys(("--initial", "--start", "--qpos", "--joint"), "--at NAME=VALUE"),
}
ALIASES = dict.fromkeys(("fk", "ik", "forward-kinematics", "inverse-kinematics"), "kinematics")
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)  # errors of disks that take no more
BUG = 70  # exit codes; the others stand with the errors (mbcli/errors.py)
INTERRUPTED, PIPE_CLOSED = 130, 141


class Commands(LazyGroup):
    """All commands; a reader of stdout that goes away ends them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] == "help":  # as git and others have it
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        try:
            return super().make_context(*args, **kwargs)
        except BrokenPipeError:  # click itself would exit with 1
            raise PipeClosed from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise PipeClosed from None


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        if "--json" in (ctx.obj or {}).get("arguments", ()):
            from mbcli.common.json_text import to_json
            from mbcli.log.provenance import collect_provenance

            click.echo(to_json({"schema": "mbcli/version", "schema_version": 1, **collect_provenance()}))
        else:
            click.echo(f"mbcli {__version__}")
        ctx.exit()


def _refuse_json(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:  # --version, which may have it, has ended the command before
        raise click.NoSuchOption("--json", "No such option '--json'. It goes behind the command.", ctx=ctx)


@click.command(
    cls=Commands,
    table=COMMANDS,
    groups=GROUPS,
    elsewhere=ELSEWHERE,
    aliases=ALIASES,
    context_settings={"help_option_names": ["--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done, 1 a check found something, 2 usage, 3 model or configuration invalid, 4 file missing, "
    "5 numerical failure, 6 output cannot be written, 70 a bug, 129/130/141/143 stopped by a signal.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Version; with --json those of Python and packages too.",
)
@click.option("--json", is_flag=True, hidden=True, expose_value=False, callback=_refuse_json)
@click.option("-v", "--verbose", is_flag=True, help="Also print the notes on a model, not only warnings.")
@click.option("-q", "--quiet", is_flag=True, help="Print no warnings, no progress.")
@click.option("--no-color", is_flag=True, help="No colours (NO_COLOR does the same).")
@click.option("--debug", is_flag=True, help="Print a traceback if an error stops the command.")
@click.pass_context
def mbcli(ctx: click.Context, verbose: bool, quiet: bool, no_color: bool, debug: bool) -> None:
    """Multibody dynamics from robot model files.

    \b
    mbcli simulate robot.sdf -t 5 -o run.h5      run it, write a log
    mbcli inspect robot.urdf                     describe it
    mbcli mass-matrix robot.urdf --at elbow=0.3  compute something at a state
    mbcli simulate -h                            the options of a command, a line each; all about it: --help
    """
    ctx.ensure_object(dict)["verbosity"] = int(verbose) - int(quiet)
    kept_files.tell = (lambda message: None) if quiet else _warn_of_kept_files
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        ctx.color = False


def _warn_of_kept_files(message: str) -> None:
    from mbcli.cli.output import warn  # late: it is seldom said

    warn(message)


class PipeClosed(BaseException):
    """The reader of stdout has gone, as `head` does."""


GLOBAL_OPTIONS = ("-v", "--verbose", "-q", "--quiet", "--no-color", "--debug", "--version")


def run(arguments: Iterable[str]) -> int:
    """Runs the command line and returns its exit code; every error becomes one line on stderr."""
    arguments = list(arguments)
    try:
        with signals_end_commands():
            return _run(arguments)
    except Terminated as stopped:  # while handlers change
        return stopped.exit_code


def _run(arguments: list[str]) -> int:
    shown, warnings.showwarning = warnings.showwarning, show_warning
    tell = kept_files.tell
    try:
        with spelled(as_option):
            code = mbcli.main(arguments, "mbcli", standalone_mode=False, obj={"arguments": arguments})
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except Terminated as stopped:
        return stopped.exit_code
    except (PipeClosed, BrokenPipeError):
        _discard_stdout()
        return PIPE_CLOSED
    except Exception as error:
        if "--debug" in arguments:
            import traceback

            traceback.print_exc()
        return report_error(error)
    finally:
        warnings.showwarning, kept_files.tell = shown, tell


def show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    """A warning of mbcli is one line; those of other packages tell where they come from."""
    if category.__module__.startswith("mbcli."):
        say(str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def report_error(error: Exception) -> int:
    """Reports in one line why the command stopped; returns its exit code."""
    if isinstance(error, click.UsageError):
        _say_usage_error(error)
        return error.exit_code
    if isinstance(error, click.ClickException):
        say(error.format_message())
        return error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        error = ResourceError(f"{error.filename}: error: {error.strerror}")
    elif isinstance(error, OSError):
        error = _without_file(error)
    elif type(error).__name__ == "LinAlgError":  # numpy's, which most commands do not import for their errors
        error = NumericalError(f"a matrix cannot be factored: {error}")
    elif isinstance(error, MemoryError):
        error = ResourceError("there is not enough memory")
    if isinstance(error, MbcliError):
        say(error)
        return error.exit_code
    click.echo(
        f"mbcli: internal error: {type(error).__name__}: {_printable(str(error))}\n"
        "This is a bug in mbcli: please report it with the model and the output of --debug.",
        err=True,
    )
    return BUG


def _without_file(error: OSError) -> MbcliError:
    """An error of the system that names no file: that of stdout if stdout cannot be written, else what it says."""
    reason = error.strerror or str(error) or type(error).__name__
    try:
        sys.stdout.flush()
    except OSError as of_stdout:
        _discard_stdout()
        return OutputError(f"<stdout>: error: cannot be written: {of_stdout.strerror or reason}")
    if _arose_in_echo(error):
        _discard_stdout()
        return OutputError(f"<stdout>: error: cannot be written: {reason}")
    return (OutputError if error.errno in FULL else ResourceError)(reason)


def _arose_in_echo(error: Exception) -> bool:
    """Whether click.echo raised it: what a disk refused of a long text is not there for another flush to refuse."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place is not None and place.tb_frame.f_code is click.echo.__code__


def _discard_stdout() -> None:
    """Drops buffered output that has nowhere to go; Python would complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_usage_error(error: click.UsageError) -> None:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    command = error.ctx.command_path if error.ctx else "mbcli"
    message = error.format_message()
    option = getattr(error, "option_name", None)
    meant = OPTIONS_ELSEWHERE.get(str(option)) if isinstance(error, click.NoSuchOption) else None
    if meant is not None and _has(error.ctx, meant):
        message = f"No such option '{option}'. Did you mean {meant}?"
    if option in GLOBAL_OPTIONS:
        assert error.ctx is not None  # of a command
        message += f" It goes before the command: mbcli {option} {error.ctx.info_name}"
    if type(error) is not click.UsageError:  # one of click's own checks
        message = f"{message.rstrip('.')}; try {command} --help"
    click.echo(f"{command}: error: {_printable(message)}", err=True)


def _has(ctx: click.Context | None, words: str) -> bool:
    """Whether the command has the option that words name; what another command does is said by all."""
    known = {name for param in ctx.command.params for name in param.opts} if ctx else set()
    return " of mbcli " in words or words.split()[0] in known


def say(error: object) -> None:
    """Prints an error: as it is if it names its place, else after the program's name."""
    for line in str(error).split("\n"):
        names_place = ": error: " in line or ": warning: " in line
        click.echo(_printable(line) if names_place else f"mbcli: error: {_printable(line)}", err=True)


def _printable(text: str) -> str:
    """Control characters in names of files and in files are shown, not sent to a terminal."""
    from mbcli.parsers.diagnostics import printable  # late: it costs --help nothing

    return printable(text)
