"""The settings of load_model(): each with its type, its default, its sentence and the options that give it.

Functions that hand them on take `**loading: Unpack[LoadArguments]`; options of commands are made from them.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from mbcli.parsers.formats import FORMATS

from mbcli.common.setting import Option, Setting, always, embedded_files
from mbcli.config.contact_laws import CONTACT_LAWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.parsers.diagnostics import Diagnostic
    from mbcli.parsers.package_map import PackageMap

SELF_CONTACT = ("auto", "all", "none")
ACTUATORS = ("motor", "position", "velocity", "none")
CONTACT_MODELS = ("point", "hydroelastic", "hydroelastic_with_fallback")  # as MultibodyPlantConfig has them
DEFAULT_SLEEP_TOLERANCE = 1e-3  # [m/s]
MODEL, HOLD, STEP, GROUND, CONTACT = "model", "hold", "step", "ground", "contact"  # groups of options


class HoldArguments(TypedDict, total=False):
    """Of joints that are held or driven, of plants that are finalized too."""

    hold: Annotated[
        bool | str | None,
        Setting(
            "for simulate() and context_that_holds(): whether PD controllers hold the joints where they start, or "
            "the name of the posture that they hold, which is also where a run starts if nothing else says so. "
            "Joints of one degree of freedom that have no actuator get one. None leaves it to the settings "
            "(False).",
            Option(
                "--hold",
                "PD controllers hold the joints where they start, or in the posture POSE, where the robot then "
                "starts unless told otherwise. Joints of one degree of freedom get an actuator if they have none, "
                "except followers (mimic) and joints that carry a planar base. The run names joints that it does "
                "not hold.",
                name="posture",
                metavar="[POSE]",
            ),
            log_may_ask=always,
            of=HOLD,
        ),
    ]
    kp: Annotated[
        float | None,
        Setting(
            "stiffness [N m/rad or N/m] of these controllers; None: from the masses.",
            Option(
                "--kp",
                "Stiffness of held joints, and of the servos of --actuators; default: computed from the masses.",
                metavar="K",
                text=False,
                above=0.0,
            ),
            log_may_ask=always,
            of=HOLD,
        ),
    ]
    kd: Annotated[
        float | None,
        Setting(
            "damping [N m s/rad or N s/m] of these controllers; None: critical.",
            Option(
                "--kd",
                "Damping of held and driven joints, and of the servos of --actuators; default: critical.",
                metavar="D",
                text=False,
                minimum=0.0,
            ),
            log_may_ask=always,
            of=HOLD,
        ),
    ]
    drive: Annotated[
        Mapping[str, float] | None,
        Setting(
            "{joint: velocity} [rad/s or m/s] at which controllers drive joints.",
            Option(
                "--drive",
                "A controller drives this joint at a velocity [rad/s or m/s].",
                name="drives",
                metavar="NAME=VALUE",
                multiple=True,
            ),
            log_may_ask=always,
            of=HOLD,
        ),
    ]


class LoadArguments(TypedDict, total=False):
    """All others."""

    file_type: Annotated[
        str | None,
        Setting(
            "a name of mbcli.parsers.formats.FORMATS; None for that of the file's name.",
            Option("--input-format", "Format of MODEL; '-' is stdin.", choices=tuple(FORMATS)),
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    packages: Annotated[
        "PackageMap | Mapping[str, str | os.PathLike[str]] | None",
        Setting(
            "where package:// URIs lead: a PackageMap, or {name: folder}.",
            Option("--package", "The directory of package://NAME.", name="packages", metavar="NAME=DIR", multiple=True),
            Option(
                "--package-path", "Look for packages below DIR.", name="package_paths", metavar="DIR", multiple=True
            ),
            Option("--allow-outside", "Let models name files outside of their package or folder.", flag=True),
            Option(
                "--missing-meshes",
                "How a mesh file that cannot be found is reported; ignore: as a note. [warn]",
                choices=("error", "warn", "ignore"),
                default="warn",
                log_may_ask=always,
            ),
            Option(
                "--missing-includes",
                "An SDFormat <include> whose file cannot be found: an error, or skipped with a warning. [error]",
                choices=("error", "skip"),
                default="error",
                log_may_ask=always,
            ),
            Option(
                "--xacro",
                "Expand xacro files by the package xacro (mbcli[xacro]). That runs code of the file: only for "
                "files that you trust.",
                flag=True,
            ),
            Option(
                "--xacro-arg", "An argument of the xacro file.", name="xacro_args", metavar="NAME:=VALUE", multiple=True
            ),
            of=MODEL,
        ),
    ]
    weld: Annotated[
        Iterable[str],
        Setting(
            "bodies or frames that are welded to the world's origin.",
            Option(
                "--weld", "Weld a body or frame to the world's origin.", name="welds", metavar="FRAME", multiple=True
            ),
            default=(),
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    weld_base: Annotated[
        bool,
        Setting(
            "whether every base that would float is welded, where its file puts it.",
            Option("--weld-base", "Weld every base that would float, where its file puts it.", flag=True),
            default=False,
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    gravity: Annotated[
        Iterable[float] | None,
        Setting(
            "(3,) [m/s^2] in World, in place of what files state.",
            Option(
                "--gravity",
                "Gravity [m/s^2] in the world frame, in place of that of files: --gravity 0 0 -1.62 on the Moon.",
                metavar="X Y Z",
                text=False,
                count=3,
            ),
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    actuators: Annotated[
        str | None,
        Setting(
            'what all joints of one degree of freedom get, whatever their files say: "motor", whose input is an '
            'effort; "position" or "velocity", a servo whose input is where it aims, with gains from the masses or '
            'of `kp` and `kd`; "none". Followers and joints that carry a planar base get nothing. None: those of the '
            "files.",
            Option(
                "--actuators",
                "Give joints of one degree of freedom motors, or servos of positions or velocities with gains from "
                "the masses, or nothing; default: what MODEL says.",
                choices=ACTUATORS,
            ),
            choices=ACTUATORS,
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    constraints: Annotated[
        str | os.PathLike[str] | None,
        Setting(
            "a file (YAML) of constraints between what the models have.",
            Option(
                "--constraints",
                "More constraints (YAML): contact, loop, coupler, distance, ball, weld, tendon.",
                name="constraints_file",
                metavar="FILE",
            ),
            log_may_ask=embedded_files,
            of=MODEL,
        ),
    ]
    srdf: Annotated[
        str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        Setting(
            "files (SRDF) with pairs of links that are not to collide, and named postures, of the models.",
            Option(
                "--srdf",
                "Pairs of links that do not collide, and named postures, of the model (SRDF).",
                name="srdf_files",
                metavar="FILE",
                multiple=True,
            ),
            default=(),
            log_may_ask=embedded_files,
            of=MODEL,
        ),
    ]
    self_contact: Annotated[
        str | None,
        Setting(
            'what the bodies of one mechanism do where they meet: "all" touch; "none" do; "auto": all but those '
            "that overlap at the default positions or are always in touch. None leaves it to the settings "
            '("auto").',
            Option(
                "--self-contact",
                "Contact between the bodies of one robot, beside those that a joint connects: all, none, or auto "
                "(default): all but those that overlap at the default positions or are always in touch.",
                choices=SELF_CONTACT,
            ),
            choices=SELF_CONTACT,
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    decompose: Annotated[
        bool | None,
        Setting(
            "whether meshes that are not convex collide by convex parts of them, which CoACD (extra `decompose`) "
            "finds; False: by their hulls. None leaves it to the settings (False).",
            Option(
                "--decompose",
                "Meshes that are not convex collide by convex parts (mbcli[decompose]), not by their hulls. The "
                "first run takes seconds to minutes a mesh.",
                flag=True,
            ),
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    config: Annotated[
        Any,
        Setting(
            "settings: a file (YAML), a RunConfig, MultibodyPlantConfig or SimulatorConfig.",
            Option("--config", "Settings (YAML): plant configuration or scenario.", name="config_file", metavar="FILE"),
            log_may_ask=embedded_files,
            of=MODEL,
        ),
    ]
    scenario_name: Annotated[
        str | None,
        Setting(
            "which scenario of a file that has several.",
            Option("--scenario-name --scenario_name", "The scenario of a file that has several.", metavar="NAME"),
            Option(
                "--scenario-file --scenario_file",
                "A scenario; the same as a MODEL.",
                metavar="FILE",
                log_may_ask=embedded_files,
            ),
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    scenario_text: Annotated[
        str | None,
        Setting(
            "YAML that replaces keys of the scenario.",
            Option("--scenario-text --scenario_text", "Keys that replace those of the scenario.", metavar="YAML"),
            of=MODEL,
        ),
    ]
    overrides: Annotated[
        Iterable[str] | Mapping[str, Any],
        Setting(
            'single settings and parameters of elements, as "plant_config.time_step=0.002" and '
            '"joint.elbow.damping=0.3", or {path: value}; `mbcli.models.parameter_assignments` says what there '
            "is.",
            Option(
                "--set",
                "Change a setting, as plant_config.time_step=0.002, or a parameter of elements: "
                "joint.elbow.damping=0.3, body.gripper.mass=+0.5 (adds), actuator.*.gear_ratio=*1.1 (multiplies), "
                "geometry.foot.friction=0.8.",
                name="overrides",
                metavar="PATH=VALUE",
                multiple=True,
            ),
            default=(),
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    strict: Annotated[
        bool,
        Setting(
            "whether warnings on the model are errors. Else collision meshes that cannot be read are left out.",
            Option("--strict", "Warnings on the model are errors.", flag=True),
            default=False,
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    loops: Annotated[
        str,
        Setting(
            'what becomes of joints that close loops: "cut", held together by a constraint, or "error".',
            Option(
                "--loops",
                "A joint that closes a loop is cut (default) and held together by a constraint, or is an error.",
                choices=("cut", "error"),
                default="cut",
            ),
            default="cut",
            log_may_ask=always,
            of=MODEL,
        ),
    ]
    dt: Annotated[
        float | None,
        Setting(
            "[s] step of a discrete plant, 0 for a continuous one; None leaves it to the settings (0.001).",
            Option(
                "--dt --time-step",
                "Step of a discrete plant; 0 integrates in continuous time. Default 0.001 s.",
                name="time_step",
                metavar="S",
                text=False,
                minimum=0.0,
            ),
            log_may_ask=always,
            of=STEP,
        ),
    ]
    ground: Annotated[
        float | None,
        Setting(
            "[m] height of a ground, a half-space of World; None for none.",
            Option(
                "--ground",
                "Add a ground: a half-space of World at the height Z [m], 0 without a number, with a friction of 1.",
                metavar="[Z]",
                text=False,
            ),
            log_may_ask=always,
            of=GROUND,
        ),
    ]
    contact: Annotated[
        bool,
        Setting(
            "whether geometries are registered, and so can touch.",
            Option("--no-contact", "Leave out all collision geometries: nothing touches.", flag=True),
            default=False,
            log_may_ask=always,
            of=CONTACT,
        ),
    ]
    contact_model: Annotated[
        str | None,
        Setting(
            '"point", "hydroelastic" or "hydroelastic_with_fallback"; None leaves it to the settings.',
            Option(
                "--contact-model",
                "point; hydroelastic: contact surfaces; hydroelastic_with_fallback (default): surfaces, or points "
                "between geometries that have none.",
                choices=CONTACT_MODELS,
            ),
            log_may_ask=always,
            of=CONTACT,
        ),
    ]
    contact_approximation: Annotated[
        str | None,
        Setting(
            '"lagged", "similar", "sap", "tamsi" or "mujoco"; None leaves it to the settings.',
            Option(
                "--contact-approximation",
                "How contact enters the step of a discrete plant; default lagged. mujoco: it and limits are as soft as "
                "MJCF files say.",
                choices=CONTACT_LAWS,
            ),
            log_may_ask=always,
            of=CONTACT,
        ),
    ]
    sleep: Annotated[
        float | None,
        Setting(
            "[m/s] speed below which what contacts hold at rest may sleep in runs of a discrete plant; 0: "
            "nothing; None leaves it to the settings (0).",
            Option(
                "--sleep",
                f"Discrete plants: bodies in contact that stay slower than V [m/s] ({DEFAULT_SLEEP_TOLERANCE:g} "
                "without a number) for 0.1 s sleep, at almost no cost, until something touches them. Results "
                "change by motion slower than V. Default 0: nothing sleeps.",
                name="sleep_tolerance",
                metavar="[V]",
                text=False,
                minimum=0.0,
            ),
            log_may_ask=always,
            of=CONTACT,
            worlds=False,
            sweeps=False,
        ),
    ]
    terrain: Annotated[
        Any,
        Setting(
            "an mbcli.geometry.HeightField in the place of `ground`: its z = 0 is that of World, and robots are put "
            "on that height."
        ),
    ]
    on_findings: Annotated[
        "Callable[[Sequence[Diagnostic]], object]",
        Setting("is given the findings that are not errors, also if an error follows.", default=lambda findings: None),
    ]
    on_mesh: Annotated[
        Callable[[int, int], object],
        Setting("is told how many collision meshes of how many are ready.", default=lambda done, count: None),
    ]


class AllLoadArguments(HoldArguments, LoadArguments, total=False):
    """All of them."""
