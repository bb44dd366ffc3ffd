"""The settings of a run: each with its type, its default, its sentence, the options that give it, whether a log may
ask for it, and whether many worlds and sweeps take it.

simulate(), resume(), RecordedRun, sweeps and `mbcli simulate` have them from here; a new one is one entry.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from mbcli.common.setting import Option, Setting, always, equations, never, no_text
from mbcli.parsers.load_arguments import HoldArguments, LoadArguments
from mbcli.simulation.control.choices import DEFAULT_LIMIT, INTERPOLATIONS, WAYS
from mbcli.simulation.limit_choice import CHOICES as LIMIT_CHOICES

DEFAULT_DURATION = 5.0  # [s]
DEFAULT_RATE = 100.0  # [Hz] of samples
CONSTRAINT_TOLERANCE = 1e-10  # [m or 1] of the position errors of constraints in continuous integration
START_LIMITS = ("warn", "clamp", "error")
TIME, INTEGRATION, INPUT, ACTING, LOG, ACCOUNT = "time", "integration", "input", "acting", "log", "account"  # groups


def _fields() -> str:
    from mbcli.log.fields import names_in_words

    return f"Fields to log beside q and v: {names_in_words()}"


class RunArguments(TypedDict, total=False):
    """Of the run alone; simulate() also takes those of load_model()."""

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
    inputs: Annotated[
        Any,
        Setting(
            "actuation [N m or N]: an array (nu,), {actuator: number}, an Input with times, or a CSV file; None for "
            "zero, or, with a Context as start, for what its ports have.",
            Option(
                "--u",
                "Constant actuation, a list or NAME=VALUE pairs.",
                name="u_text",
                metavar="LIST",
                log_may_ask=always,
            ),
            Option(
                "--input",
                "Actuation over time ('-': stdin): CSV with columns time and actuator names; a row holds until the "
                "next.",
                name="input_file",
                metavar="FILE",
                log_may_ask=never,
                sweeps=False,
            ),
            log_may_ask=no_text,
            of=INPUT,
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
    pushes: Annotated[
        Iterable[Any],
        Setting(
            "forces on bodies: each a mbcli.simulation.pushes.Push, a text as `mbcli simulate --push` takes it, or "
            "the name of a table.",
            Option(
                "--push",
                "A force [N] on a body, along the world's axes: 'torso=30,0,0 from 1 to 1.2'; at its centre of mass, "
                "or at a point [m] of its frame: 'torso=30,0,0@0,0,0.4'; in direction and at time of --seed: "
                "'torso=30@random for 0.2', or a table with columns body, fx, fy, fz, from, to.",
                name="pushes",
                metavar="PUSH",
                multiple=True,
            ),
            default=(),
            log_may_ask=equations,
            of=ACTING,
        ),
    ]
    controller: Annotated[
        Any,
        Setting(
            "gives the actuation in place of inputs: a function of what its parameters name, of time, q, v, sensors, "
            "targets, plant and random, a class, `FILE.py:NAME`, a command, or a ControllerChoice "
            "(docs/how-to/control.md).",
            Option(
                "--controller",
                "Gives the actuation: a function or class of a file of Python, or a program that answers lines of "
                "JSON (docs/how-to/control.md).",
                metavar="FILE.py[:NAME]|COMMAND",
            ),
            Option(
                "--controller-rate",
                "Calls of it a second; default: its attribute rate, else every step.",
                metavar="HZ",
                text=False,
                above=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-limit",
                f"Wall-clock time that a call may take; default {DEFAULT_LIMIT:g} s.",
                metavar="S",
                text=False,
                above=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-delay",
                "Time after which its commands act, a whole number of calls; default 0 s.",
                metavar="S",
                text=False,
                minimum=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-quantum",
                "Effort [N m or N] of whose multiples the efforts are that act; default: as the controller gives them.",
                metavar="E",
                text=False,
                above=0.0,
                log_may_ask=always,
            ),
            Option(
                "--controller-pickle",
                "Keep its state for --resume as Python pickles it; else it has save() and load(). Reading a pickle "
                "runs what is in it: ask for that with logs of your own.",
                flag=True,
                sweeps=False,
            ),
            of=ACTING,
        ),
    ]
    trajectory: Annotated[
        Any,
        Setting(
            "the motion that joints follow, or, with a controller, what this is given as targets: a table "
            "(docs/how-to/control.md), or a Follow with the way.",
            Option(
                "--trajectory",
                "A motion that joints follow: columns time and names of positions, and of velocities if they are "
                "given. With --controller: the targets that it is given.",
                metavar="CSV",
            ),
            Option(
                "--follow",
                "How: computed-torque (default), pd controllers with gravity compensation, or prescribed: exactly, "
                "with the efforts that it takes.",
                choices=WAYS,
            ),
            Option("--interpolation", "Of --trajectory between its rows; default cubic.", choices=INTERPOLATIONS),
            of=ACTING,
        ),
    ]
    effort_limits: Annotated[
        str,
        Setting(
            'inputs beyond the effort limits of actuators end there, "clamp", or act, with a warning, "warn", or '
            'without one, "ignore". Of ports of a Context nothing is asked.',
            Option(
                "--effort-limits",
                "Clamp inputs to the effort limits of actuators (clamp, the default), or let them act, with a "
                "warning (warn) or without (ignore).",
                choices=LIMIT_CHOICES,
                default="clamp",
            ),
            default="clamp",
            choices=LIMIT_CHOICES,
            log_may_ask=always,
            of=ACTING,
        ),
    ]
    velocity_limits: Annotated[
        str,
        Setting(
            'velocities beyond the limits of joints are held there, "clamp", or reported, "warn", or neither, '
            '"ignore".',
            Option(
                "--velocity-limits",
                "Report joints that are faster than their velocity limits (warn, the default), hold them there "
                "(clamp), or neither (ignore).",
                choices=LIMIT_CHOICES,
                default="warn",
            ),
            default="warn",
            choices=LIMIT_CHOICES,
            log_may_ask=always,
            of=ACTING,
        ),
    ]
    plugins: Annotated[bool, Setting("whether those of the model act.", default=True, log_may_ask=always)]
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
    sensor_noise: Annotated[
        bool,
        Setting(
            "whether sensors have the noise of their files, which `seed` draws.",
            Option(
                "--sensor-noise",
                "Whether sensors have the noise of their files, drawn by --seed (on, the default), or none (off).",
                choices=("on", "off"),
                default="on",
            ),
            default=True,
            log_may_ask=always,
            of=LOG,
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
            worlds=False,
            sweeps=False,
        ),
    ]


class SimulateArguments(RunArguments, HoldArguments, LoadArguments, total=False):
    """All that simulate() takes, of the run and of load_model()."""
