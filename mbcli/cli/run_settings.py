"""From the options of `mbcli simulate` and `mbcli sweep` to the settings of the model and of the run."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import AT_START
from mbcli.common.setting import options_of_sweeps, settings_of
from mbcli.parsers.load_arguments import CONTACT, GROUND, HOLD, STEP, HoldArguments, LoadArguments
from mbcli.simulation.control.choices import DEFAULT_LIMIT, WAYS, ControllerChoice, Follow
from mbcli.simulation.run_arguments import RunArguments
from mbcli.simulation.setting_groups import ACCOUNT, ACTING, INPUT, INTEGRATION, LOG, TIME

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.cli.options import Options
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def plant_arguments(options: Options) -> dict[str, Any]:
    """The arguments of load_model() on the plant of a run: what is held and driven among them."""
    groups = (STEP, GROUND, CONTACT)
    settings = {name: setting for name, setting in settings_of(LoadArguments).items() if setting.of in groups}
    given = {name: getattr(options, setting.options[0].parameter, None) for name, setting in settings.items()}
    return given | {
        "dt": chosen_time_step(options),
        "contact": not options.no_contact,
        **holding_or_following(options),
    }


def run_arguments(options: Options, *, of_sweeps: bool = False) -> dict[str, Any]:
    """The settings of a run, but for its start and its inputs.

    of_sweeps: whether only those that sweeps take are wanted, and of pushes, controllers and plans what is given.
    """
    found: dict[str, Any] = {}
    for name, setting in settings_of(RunArguments).items():
        if not setting.options or name == "inputs" or (of_sweeps and not setting.sweeps):
            continue
        convert = CONVERSIONS.get(name)
        found[name] = getattr(options, setting.options[0].parameter) if convert is None else convert(options)
    if of_sweeps:
        return {name: value for name, value in found.items() if value or name not in ("pushes", *CHOICES)}
    return found


def refuse_two_controls(options: Options) -> None:
    """UsageError if two options give the actuation."""
    if options.controller is not None and (options.input_file is not None or options.u_text is not None):
        raise click.UsageError("--controller gives the actuation: no --input and no --u beside it")
    if options.trajectory is not None and (options.posture is not None or options.drives):
        raise click.UsageError("--trajectory moves and holds the joints: no --hold and no --drive beside it")


def chosen_time_step(options: Options) -> float | None:
    """The step [s] that the options ask for, None if none does; UsageError for options that exclude each other."""
    time_step = options.time_step
    if options.integrator is not None or options.accuracy is not None or options.max_step is not None:
        if time_step:
            raise click.UsageError("--integrator, --accuracy and --max-step are for continuous plants, --dt is not 0")
        time_step = 0.0
    if options.input_file is not None and options.u_text is not None:
        raise click.UsageError("--input and --u exclude each other")
    if options.no_log and options.log_path is not None:
        raise click.UsageError("--no-log and -o exclude each other")
    if options.no_contact and (options.ground is not None or options.contact_model or options.contact_approximation):
        raise click.UsageError("--no-contact excludes --ground, --contact-model and --contact-approximation")
    return time_step


def holding_or_following(options: Options) -> dict[str, Any]:
    """As holding_arguments(); joints that follow a motion are held, so that those without an actuator get one."""
    held = holding_arguments(options)
    return held | {"hold": True} if options.trajectory is not None and held["hold"] is None else held


def holding_arguments(options: Options) -> dict[str, Any]:
    """The arguments of load_model() on joints that are held and driven."""
    from mbcli.cli.state import by_name

    velocities = by_name(options.drives, lambda name: name, "--drive") or None
    posture = options.posture
    return {"hold": True if posture == AT_START else posture, "kp": options.kp, "kd": options.kd, "drive": velocities}


def controller_choice(options: Options) -> ControllerChoice | None:
    """The ControllerChoice that options mean, None without one; UsageError for options without a controller."""
    if options.controller is None:
        for key in (f"controller_{part}" for part in ("rate", "limit", "pickle", "delay", "quantum")):
            if getattr(options, key):
                raise click.UsageError(f"--{key.replace('_', '-')} needs --controller")
        return None
    limit = DEFAULT_LIMIT if options.controller_limit is None else options.controller_limit
    late = options.controller_delay or 0.0, options.controller_quantum or 0.0
    given = getattr(options, "policy", None) or getattr(options, "plan", None) or options.controller
    return ControllerChoice(given, options.controller_rate, limit, options.controller_pickle, *late)


def follow_choice(options: Options) -> Follow | None:
    """The Follow that options mean, None without one; UsageError for options without a trajectory."""
    if options.trajectory is None:
        for key in ("follow", "interpolation"):
            if getattr(options, key) is not None:
                raise click.UsageError(f"--{key} needs --trajectory")
        return None
    if options.controller is not None and options.follow is not None:
        raise click.UsageError("--controller follows the trajectory itself: no --follow beside it")
    return Follow(options.trajectory, options.follow or WAYS[0], options.interpolation or "cubic")


def read_actuation(plant: MultibodyPlant, options: Options) -> Any:
    """What --input or --u give: an Input, u (nu,) or None."""
    from mbcli.cli.analysis import parse_inputs
    from mbcli.simulation.input_series import read_input

    if options.input_file == "-":
        return read_input(plant, "<stdin>", sys.stdin)
    if options.input_file is not None:
        return read_input(plant, options.input_file)
    if options.u_text is not None and "=" in options.u_text:
        return named_inputs(plant, options.u_text)
    return parse_inputs(plant, {"u": options.u_text}).get("u")


def named_inputs(plant: MultibodyPlant, text: str) -> dict[str, float]:
    """{name: number} of NAME=VALUE pairs for actuators and targets. UsageError for what means nothing."""
    from mbcli.cli.state import by_name
    from mbcli.simulation.input_series import RunInputs

    names: dict[Any, str]
    find, names = RunInputs(plant).find, {}

    def place(name: str) -> Any:
        k = find(name)
        names.setdefault(k, name)
        return k

    return {names[k]: value for k, value in by_name(text.replace(",", " ").split(), place, "--u").items()}


CHOICES: dict[str, Callable[[Options], Any]] = {"controller": controller_choice, "trajectory": follow_choice}
CONVERSIONS: dict[str, Callable[[Options], Any]] = {
    **CHOICES,
    "sensor_noise": lambda options: options.sensor_noise == "on",
}
"""{setting: its value by the options} of settings that are not the value of their option."""

GROUPS = (
    (RunArguments, (TIME,)),
    (LoadArguments, (STEP,)),
    (RunArguments, (INTEGRATION,)),
    (LoadArguments, (GROUND, CONTACT)),
    (HoldArguments, (HOLD,)),
    (RunArguments, (INPUT, ACTING, LOG, ACCOUNT)),
)
SWEEP_OPTIONS = tuple(option for record, groups in GROUPS for option in options_of_sweeps(record, groups))
"""Of a sweep's runs, in the order of `mbcli simulate`."""
