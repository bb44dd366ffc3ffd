"""The settings of a run: each with its type, its default, its sentence, the options that give it, whether a log may
ask for it, and whether many worlds and sweeps take it.

simulate(), resume(), RecordedRun, sweeps and `mbcli simulate` have them from here. A new one of the run is one entry;
those of what acts in it stand in the files of mbcli.simulation.actors.
"""

from typing import Annotated, Any, TypedDict

from mbcli.common.setting import Option, Setting, always, no_text, settings_of
from mbcli.parsers.load_arguments import HoldArguments, LoadArguments
from mbcli.simulation.actors import (
    following,
    inputs,
    live_view,
    plugins,
    pushes,
    require_known,
    sensors,
    user_controller,
    velocity_limits,
)
from mbcli.simulation.sampling import DEFAULT_DURATION, DEFAULT_RATE
from mbcli.simulation.setting_groups import ACCOUNT, ACTING, INTEGRATION, LOG, TIME

CONSTRAINT_TOLERANCE = 1e-10  # [m or 1] of the position errors of constraints in continuous integration
START_LIMITS = ("warn", "clamp", "error")


def _fields() -> str:
    from mbcli.log.fields import names_in_words

    return f"Fields to log beside q and v: {names_in_words()}"


class RunSettings(TypedDict, total=False):
    """Of the run itself."""

    duration: Annotated[
        float | None,
        Setting(
            "[s] from the start of the run, in place of `until`; None: that of the settings, else 5 s.",
            Option(
                "-t --duration",
                f"Simulated time from the start of the run; default {DEFAULT_DURATION:g} s.",
                name="duration",
                metavar="S",
                text=False,
                minimum=0.0,
            ),
            log_may_ask=always,
            of=TIME,
        ),
    ]
    integrator: Annotated[
        str | None,
        Setting(
            "makes the plant continuous: a name of SimulatorConfig.integration_scheme.",
            Option(
                "--integrator",
                "Makes the plant continuous, with this integrator: runge_kutta3 (default), runge_kutta2, "
                "runge_kutta5, bogacki_shampine3, explicit_euler, semi_explicit_euler, implicit_euler, radau1, radau3.",
                metavar="NAME",
            ),
            log_may_ask=always,
            of=INTEGRATION,
            worlds=False,
        ),
    ]
    accuracy: Annotated[
        float | None,
        Setting(
            "of continuous integration; None leaves it to the settings.",
            Option("--accuracy", "Accuracy of continuous integration.", metavar="A", text=False, above=0.0),
            log_may_ask=always,
            of=INTEGRATION,
            worlds=False,
        ),
    ]
    max_step: Annotated[
        float | None,
        Setting(
            "[s] the longest step of continuous integration; None leaves it to the settings.",
            Option("--max-step", "Longest step of continuous integration.", metavar="S", text=False, above=0.0),
            log_may_ask=always,
            of=INTEGRATION,
            worlds=False,
        ),
    ]
    constraint_tolerance: Annotated[
        float,
        Setting(
            "[m or 1] norm of the position errors of constraints that continuous integration keeps below.",
            Option(
                "--constraint-tolerance",
                "Continuous integration keeps the norm of the position errors of constraints below E; default "
                f"{CONSTRAINT_TOLERANCE:g}.",
                metavar="E",
                text=False,
                above=0.0,
                default=CONSTRAINT_TOLERANCE,
            ),
            default=CONSTRAINT_TOLERANCE,
            log_may_ask=always,
            of=INTEGRATION,
        ),
    ]
    pose: Annotated[
        str | None,
        Setting("name of the posture, of the files of the models, that the run starts in.", log_may_ask=always),
    ]
    start: Annotated[
        Any,
        Setting(
            "beside `pose`: None for the default state; {name: number} of positions and velocities, where the end of "
            "a name will do; arrays (q, v); the path of a log, whose last row it is; a Context of the plant, which "
            "the run advances; or a function (plant, context) -> mask (nq,) of the positions that it states, or None "
            "for all.",
            log_may_ask=no_text,
            sweeps=False,
        ),
    ]
    start_limits: Annotated[
        str | None,
        Setting(
            'what becomes of positions that start outside of their limits: "warn", "clamp" or "error"; None: "clamp" '
            'if the joints are held, else "warn".',
            Option(
                "--start-limits",
                "Positions that start outside of their limits (stops bring them back slowly): warn (default), clamp "
                "them to the limits (default with --hold), or stop with an error.",
                choices=START_LIMITS,
            ),
            choices=START_LIMITS,
            log_may_ask=always,
            of=ACTING,
        ),
    ]
    seed: Annotated[
        int | None,
        Setting(
            "draws the random poses of directives, random pushes and the noise of sensors; the log has it.",
            Option(
                "--seed",
                "Seed of random poses of directives, random pushes, controllers and the noise of sensors; recorded "
                "in the log.",
                metavar="N",
                text=False,
                whole=True,
                minimum=0,
            ),
            log_may_ask=always,
            of=ACTING,
            sweeps=False,
        ),
    ]
    log_rate: Annotated[
        float | None,
        Setting(
            "[Hz] of rows, 100 by default; 0 for every step of a discrete plant.",
            Option(
                "--log-rate",
                f"Samples per second, {DEFAULT_RATE:g}; 0 logs every step of a discrete plant.",
                metavar="HZ",
                text=False,
                minimum=0.0,
            ),
            log_may_ask=always,
            of=LOG,
        ),
    ]
    fields: Annotated[
        Any,
        Setting(
            "what the log has beside q and v: names (a sequence or one text) of mbcli.log.fields.",
            Option("--fields", _fields, metavar="LIST"),
            log_may_ask=always,
            of=LOG,
            sweeps=False,
        ),
    ]
    balance: Annotated[
        bool,
        Setting(
            "whether what does work on the plant is added up, for `summary.balance`.",
            Option(
                "--balance",
                "Add up the work of each cause; the rest of the change of energy is the error of the integration.",
                flag=True,
            ),
            default=False,
            log_may_ask=always,
            of=ACCOUNT,
        ),
    ]


class RunArguments(
    RunSettings,
    inputs.Settings,
    pushes.Settings,
    user_controller.Settings,
    following.Settings,
    velocity_limits.Settings,
    plugins.Settings,
    sensors.Settings,
    live_view.Settings,
    total=False,
):
    """Of the run alone, with those of what acts in it; simulate() also takes those of load_model()."""


class SimulateArguments(RunArguments, HoldArguments, LoadArguments, total=False):
    """All that simulate() takes, of the run and of load_model()."""


require_known(settings_of(SimulateArguments))
