"""`mbcli identify`: from measured motion to a model file that is right."""

from __future__ import annotations

import json
import math
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mbcli.batch import INPUT_FORMATS
from mbcli.cli.many_files import LostError, file_engine_options, result_of, results, take_where
from mbcli.cli.model import given_models, load
from mbcli.cli.options import (
    MODEL_KEYS,
    GroundCommand,
    Number,
    Options,
    ground_option,
    model_options,
    take,
    usage_errors,
)
from mbcli.cli.output import document, emit, number, refuse_existing, table, tell, write_file
from mbcli.common.json_text import to_json
from mbcli.errors import ModelError, NumericalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mbcli.identification.drive_gains import KnownLoad
    from mbcli.identification.findings import Finding
    from mbcli.identification.identify import Identified, Settings
    from mbcli.identification.parts import Part
    from mbcli.identification.trajectory import TrajectoryFit
    from mbcli.math.array_types import FloatArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.sweeps.file_cases import Where

FOUND = 1  # exit code: the data or the result look wrong
FRICTION_WORDS = ("viscous", "coulomb", "offset", "asymmetry", "stribeck", "sqrt", "stiffness", "temperature")
DEFAULT_WORDS = ("viscous", "coulomb", "offset")
AUTO = "auto"  # in place of these: the law of each joint by evidence
MOST_ROWS = 60  # of a table of parameters in a text


class FilesCommand(GroundCommand):
    """A command whose options --data, --loaded and --validate take several words, up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words, current = [], None
        for word in args:
            if word.startswith("-") and word != "-":
                current = word if word in ("--data", "--loaded", "--validate") else None
                if current is None:
                    words.append(word)
                continue
            words += [current, word] if current is not None else [word]
        return super().parse_args(ctx, words)


@click.command(cls=FilesCommand)
@model_options
@click.option("--data", multiple=True, metavar="FILE...", help="Measured motions: tables as --states takes, or logs.")
@click.option("--validate", multiple=True, metavar="FILE...", help="Motions that the result is tried on, not used.")
@click.option(
    "--columns",
    metavar="LIST",
    help="Names of the columns of --data in place of a header: time, NAME, v:NAME, tau:NAME, '-' for one that is not "
    "used ('-*6' for six); q, v, vdot, tau, i (currents) and u alone stand for all joints.",
)
@click.option("--data-format", type=click.Choice(INPUT_FORMATS), help="Format of --data and --validate.")
@click.option("--degrees", "in_degrees", is_flag=True, help="Angles in data without units are in degrees.")
@click.option("--drop-duplicates", is_flag=True, help="Leave out rows with the time of the row before.")
@click.option(
    "--effort-gain",
    metavar="LIST",
    help="Factor of efforts, such as a motor's torque per current: one number, one for each velocity, or "
    "NAME=VALUE pairs.",
)
@click.option("--loaded", multiple=True, metavar="FILE...", help="Motions with the load of --known-load.")
@click.option(
    "--known-load",
    metavar="LINK=M[,X,Y,Z]",
    help="Mass [kg], and centre [m] if it is known, of a load on LINK in --loaded: finds the gains of drives that "
    "--effort-gain does not name, from currents.",
)
@click.option(
    "--known-bodies",
    is_flag=True,
    help="Masses and inertias of MODEL are right, and stay: finds gains as --known-load does, without a load, and "
    "rotors and friction.",
)
@click.option(
    "--cutoff",
    type=Number(above=0.0),
    metavar="HZ",
    help="Cut-off of the filter; default: chosen from the data, and printed; no filter if rows give accelerations.",
)
@click.option(
    "--friction",
    default="viscous,coulomb,offset",
    metavar="LIST",
    help="What friction is identified: viscous, coulomb, offset, asymmetry (of viscous friction), stribeck, sqrt (of "
    "the speed), stiffness (a spring), temperature (what viscous friction changes with: columns u:temperature or "
    "u:JOINT.temperature), or none; auto: the law of each joint by data that are left out. [viscous,coulomb,offset]",
)
@click.option("--armature/--no-armature", default=True, help="Identify the inertia of rotors of each joint. [armature]")
@click.option(
    "--payload", metavar="LINK", help="Identify only this link and offsets of efforts; all other parameters stay."
)
@click.option(
    "--held",
    metavar="LIST",
    help="Joints that stand still, as those that the data lack: NAME at its default, NAME=VALUE [rad or m], or all "
    "that the data lack. Their links count as welded.",
)
@click.option(
    "--no-effort",
    metavar="LIST",
    help="Joints that move by efforts that nobody knows, or that are not to be used: NAME,NAME.",
)
@click.option(
    "--floating", is_flag=True, help="Bases float, and the data give their motion; default: bases are welded."
)
@click.option(
    "--feet",
    metavar="LIST",
    help="Links or frames that touch the ground under a base that floats: NAME,NAME. Data say when, u:NAME.contact (0: "
    "in the air), or with what force, u:NAME.fx, .fy and .fz [N] along the axes of NAME.",
)
@click.option(
    "--fit",
    type=click.Choice(["torque", "trajectory"]),
    default="torque",
    help="What is matched: efforts, or by simulation motion, if efforts are unknown or contact matters. [torque]",
)
@click.option(
    "--parameters",
    metavar="LIST",
    help="What --fit trajectory finds: paths of --set, body.NAME.inertial and delay (of inputs). "
    "[body.*.inertial,joint.*.damping,joint.*.friction]",
)
@click.option(
    "--segment",
    type=Number(above=0.0),
    default=0.5,
    metavar="T",
    help="Duration [s] of a stretch that --fit trajectory simulates. [0.5]",
)
@ground_option
@click.option(
    "--bootstrap",
    type=click.IntRange(min=2),
    metavar="N",
    help="Standard errors from N results of data that are drawn in blocks from --data, beside the others.",
)
@file_engine_options
@click.option(
    "--report",
    metavar="FILE",
    help="Write an HTML page with measured and predicted efforts; FILE.svg: the plots alone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-o", "--output", metavar="FILE", help="Write the model file with the identified numbers.")
@click.option("--force", is_flag=True, help="Replace existing files, and write a model that findings speak against.")
@click.pass_context
def identify(ctx: click.Context, **values: Any) -> None:
    """Identify masses, inertias and friction from measured motion.

    Data need the time, positions and efforts of all driven joints; --fit trajectory needs no efforts. The option -o
    writes MODEL with the identified numbers instead of its own. Without --data, --validate tests the parameters of
    MODEL. Exit code 1: data look wrong, or the result is not to be trusted; then -o writes only with --force.

    Options -j, --dask and --ray are for cross-validation, where there are several files of data, and for --bootstrap:
    each file that is left out, and each drawing, is done anywhere, with the same result.

    \b
    mbcli identify robot.urdf --data run1.csv run2.csv --validate run3.csv -o identified.urdf --report report.html
    mbcli identify arm.urdf --data log.csv --columns time,q,v,i --effort-gain 10,10.7,8.5 --json
    mbcli identify arm.urdf --data free.csv --loaded held.csv --known-load tool=5.2,0,0,0.1 --columns time,q,v,i
    mbcli identify arm.xml --data free.csv --known-bodies --columns time,q,v,i -o arm_with_rotors.xml
    mbcli identify arm.urdf --data held.csv --payload tool -o with_tool.urdf
    mbcli identify box.xml --data slide.csv --fit trajectory --parameters geometry.box.friction --floating
    """
    where = take_where(values)
    of_model = take(values, MODEL_KEYS)
    options = take(values, tuple(values))
    by_motion, contact = options.fit == "trajectory", _checked(options)
    of_model.weld_base = of_model.weld_base or not options.floating
    model = load(of_model, ctx, contact=contact, ground=options.ground)
    plant = model.plant
    model_format = _format_of(model, options.output)

    from mbcli.identification.document import fitted_document, identified_document
    from mbcli.identification.identify import identify as identify_plant
    from mbcli.identification.model_files import changed_file, changes_by_efforts, changes_by_rollouts, volumes_of
    from mbcli.identification.report import efforts_picture, fit_page, report_page
    from mbcli.identification.verdict import verdict, verdict_of_fit

    quiet = (ctx.obj or {}).get("verbosity", 0) < 0

    def say(line: str) -> None:
        if not quiet:
            tell(f"mbcli: {line}")

    elsewhere = None
    if where is not None:
        elsewhere = partial(_elsewhere, of_model, options, where, (ctx.obj or {}).get("verbosity", 0))
    with usage_errors():
        settings = _settings(options, model)
        name = str(of_model.models[0]) if of_model.models else ""
        result: Any
        if by_motion:
            from mbcli.identification.trajectory import fit_trajectory  # and with it what runs worlds

            paths, length = _paths(options), options.segment
            more_of = {"length": length, "contact": contact, "tell": say, "elsewhere": elsewhere}
            result = fit_trajectory(model, options.data, options.validate, paths, settings, **more_of)
            result.findings += verdict_of_fit(result, name, volumes_of(model))
        else:
            result = identify_plant(
                plant,
                options.data,
                options.validate,
                settings,
                loaded=options.loaded,
                name=name,
                tell=say,
                bootstrap=options.bootstrap or 0,
                elsewhere=elsewhere,
            )
            result.findings += verdict(result, name, volumes_of(model))
    more: list[Finding] = []
    text, output = None, options.output
    if output is not None:
        assert model_format is not None
        changes = changes_by_rollouts(result, model) if by_motion else changes_by_efforts(result, settings.in_file)
        text, more = changed_file(changes, model.sources[0].path, model_format)
    of_result: Any = fitted_document if by_motion else identified_document
    if output is not None and result.looks_wrong() and not options.force:
        output = text = None
        say("the model is not written, as findings speak against it: --force writes it")
    content = of_result(result, output, more)
    if text is not None and output is not None:
        write_file(output, text, options.force)
    report = options.report
    if report is not None:
        page: Any = fit_page if by_motion else efforts_picture if report.endswith(".svg") else report_page
        heading = f"Identification of {', '.join(model.instances)}"
        write_file(report, page(result, content, heading), options.force)
    for finding in (*result.findings, *more):
        if not quiet or finding.severity == "error":
            colour = {"error": "red", "warning": "yellow"}.get(finding.severity)
            tell(str(finding), colour=colour)
    words = _text_of_fit if by_motion else _text
    emit(to_json(document("identify", model, **content)) if options.as_json else words(result, content))
    if result.looks_wrong():
        ctx.exit(FOUND)


def _elsewhere(
    of_model: Options, options: Options, where: Where, verbosity: int, parts: Sequence[Part], state: Mapping[str, Any]
) -> Iterator[list[float]]:
    """The numbers of parts, by other processes. LostError: a machine kept failing. NumericalError of a part."""
    file = given_models(of_model)[0]
    cases = [{"file": file, "part": json.dumps(part)} for part in parts]
    given = vars(of_model) | vars(options) | {"state": state, "output": None, "report": None}
    for row in results("identify", cases, given, where, verbosity, "parts"):
        try:
            found = result_of(row)
        except LostError as error:
            raise LostError(f"{file}: error: not identified: {error}") from None
        if "error" in found:
            raise NumericalError(found["error"])
        yield found["numbers"]


_ready: list[Callable[[Part, Mapping[str, Any]], list[float]]] = []  # what a process for parts has prepared


def case(options: Options, values: Mapping[str, str]) -> dict[str, Any]:
    """The numbers of one part of many; the first one of a process prepares what all need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the process that asks has said it
        try:
            part_of = _ready[0] if _ready else _prepared(options)
            if options.package_map is None or not options.package_map.unanswered:
                _ready[:] = [part_of]
            return {"numbers": part_of(json.loads(values["part"]), options.state)}
        except NumericalError as error:
            return {"error": str(error)}


def _prepared(options: Options) -> Callable[[Part, Mapping[str, Any]], list[float]]:
    """The function of a part and the state, for these options."""
    ctx = click.Context(click.Command("identify"), info_name="identify", obj={"verbosity": -1})
    contact = _checked(options)
    model = load(options, ctx, contact=contact, ground=options.ground)
    settings = _settings(options, model)
    data, unseen = options.data, options.validate
    if options.fit == "trajectory":
        from mbcli.identification.trajectory import part_of_trajectory, prepared_segments

        paths, length = _paths(options), options.segment
        segments = prepared_segments(model, data, unseen, paths, settings, length=length, contact=contact)
        return partial(part_of_trajectory, segments)
    from mbcli.identification.identify import part_of
    from mbcli.identification.prepared import prepared

    name = str(options.models[0]) if options.models else ""
    ready = prepared(model.plant, data, unseen, settings, loaded=options.loaded, name=name)
    return partial(part_of, ready, base=ready.base())


def _paths(options: Options) -> list[str]:
    return [] if options.parameters is None else options.parameters.replace(",", " ").split()


def _checked(options: Options) -> bool:
    """Refuses options that do not go together, and files that are there; returns whether solids touch."""
    by_motion, paths = options.fit == "trajectory", _paths(options)
    if not options.data and not options.validate:
        raise click.UsageError("--data names files of measured motion")
    if options.output is not None and not options.data:
        raise click.UsageError("-o needs --data")
    if options.bootstrap is not None and (by_motion or not options.data):
        raise click.UsageError("--bootstrap needs --data and --fit torque")
    loaded = bool(options.loaded)
    if (options.known_load is not None) != loaded or (loaded and (not options.data or by_motion)):
        raise click.UsageError("--known-load needs --loaded and --data, --loaded --known-load, and both --fit torque")
    if options.known_bodies and (loaded or by_motion or not options.data or options.payload is not None):
        raise click.UsageError("--known-bodies needs --data and --fit torque, without --known-load and --payload")
    for path in (options.output, options.report):
        if path is not None:
            refuse_existing(path, options.force)
    if not by_motion and (paths or options.ground is not None):
        raise click.UsageError("--parameters and --ground need --fit trajectory")
    if by_motion and options.report is not None and options.report.endswith(".svg"):
        raise click.UsageError("--fit trajectory writes a page: --report FILE.html")
    if by_motion and (not options.data or options.payload is not None):
        raise click.UsageError("--fit trajectory needs --data" if not options.data else "--payload needs --fit torque")
    for word, value in (("--held", options.held), ("--no-effort", options.no_effort)):
        if by_motion and value is not None:
            raise click.UsageError(f"{word} needs --fit torque")
    if options.feet is not None and (by_motion or not options.floating):
        raise click.UsageError("--feet needs --floating and --fit torque")
    if loaded and options.no_effort is not None:
        raise click.UsageError("--no-effort: --known-load finds gains from all efforts")
    return options.ground is not None or any(path.startswith("geometry.") for path in paths)


def _settings(options: Options, model: LoadedModel) -> Settings:
    """How data are read, and what is identified."""
    from mbcli.identification.identify import Settings
    from mbcli.identification.model_files import kinds_in_file
    from mbcli.identification.records import CURRENT, expanded_columns

    plant, known_load = model.plant, options.known_load
    finds_gains = known_load is not None or options.known_bodies
    words = (options.columns or "").replace(",", " ").split()
    if any(word.partition(":")[0] == CURRENT for word in words) and not finds_gains and options.effort_gain is None:
        raise click.UsageError(
            "--columns has currents (i): --effort-gain, --known-load or --known-bodies make efforts of them"
        )
    return Settings(
        columns=None if options.columns is None else expanded_columns(plant, options.columns),
        degrees=options.in_degrees,
        drop_duplicates=options.drop_duplicates,
        file_format=options.data_format,
        gains=_gains(plant, options.effort_gain, math.nan if finds_gains else 1.0),
        cutoff=options.cutoff,
        frictions=_frictions(options.friction),
        by_evidence=AUTO in options.friction.replace(",", " ").split(),
        armature=options.armature,
        payload=options.payload,
        known_load=None if known_load is None else _known_load(known_load),
        known_bodies=options.known_bodies,
        held=held_words(options.held),
        feet=[] if options.feet is None else options.feet.replace(",", " ").split(),
        no_efforts=[] if options.no_effort is None else options.no_effort.replace(",", " ").split(),
        in_file=kinds_in_file(model.specs[0].format if model.specs else ""),
    )


def _format_of(loaded: LoadedModel, output: str | None) -> str | None:
    """The format of the one file that -o changes; ModelError if there are several."""
    if output is None:
        return None
    if len(loaded.specs) != 1 or not loaded.sources:
        raise ModelError("-o writes the file of one model: give one")
    return loaded.specs[0].format


def _frictions(text: str) -> list[str]:
    words = [] if text == "none" else text.replace(",", " ").split()
    for word in words:
        if word not in (*FRICTION_WORDS, AUTO):
            there = ", ".join((*FRICTION_WORDS, AUTO))
            raise click.UsageError(f"--friction: there is no '{word}'; there are {there} and none")
    if AUTO in words:
        twice = [word for word in words if word in (*DEFAULT_WORDS, "stribeck", "sqrt", "temperature")]
        if twice:
            raise click.UsageError(f"--friction: {AUTO} chooses {', '.join(twice)}")
        words = [*DEFAULT_WORDS, *(word for word in words if word != AUTO)]
    return words


def held_words(text: str | None) -> dict[str, float | None]:
    """{joint: where it stands, None at its default} of --held."""
    from mbcli.cli.state import number

    found: dict[str, float | None] = {}
    for word in () if text is None else text.replace(",", " ").split():
        name, equals, value = word.partition("=")
        if name in found:
            raise click.UsageError(f"--held: '{name}' twice")
        found[name] = number(value, f"--held {name}") if equals else None
    if text is not None and not found:
        raise click.UsageError("--held: no names")
    return found


def _gains(plant: MultibodyPlant, text: str | None, other: float) -> FloatArray | None:
    """(nv,) of --effort-gain, None without it; other: of what NAME=VALUE pairs do not name."""
    if text is None:
        return None
    import numpy as np

    from mbcli.cli.analysis import parse_inputs
    from mbcli.common.number_text import parse_number

    single = parse_number(text.strip())
    if single is not None:
        return np.full(plant.num_velocities(), single)
    if "=" in text:
        gains = parse_inputs(plant, {"tau": text})["tau"]
        gains[gains == 0.0] = other
        return gains
    from mbcli.cli.state import numbers

    return numbers(text, plant.GetVelocityNames(), "--effort-gain")


def _known_load(text: str) -> KnownLoad:
    """LINK=M[,X,Y,Z] of --known-load."""
    from mbcli.common.number_text import parse_number
    from mbcli.identification.drive_gains import KnownLoad

    link, _, numbers = text.rpartition("=")
    found = [parse_number(word) for word in numbers.split(",")]
    values = [value for value in found if value is not None]
    if not link or len(values) != len(found) or len(values) not in (1, 4) or not values[0] > 0.0:
        raise click.UsageError(f"--known-load: '{text}' is not LINK=MASS or LINK=MASS,X,Y,Z, the mass above 0")
    return KnownLoad(link, values[0], (values[1], values[2], values[3]) if values[1:] else None)


def _text(result: Identified, content: dict[str, Any]) -> str:
    """The result for people."""
    from mbcli.identification.report import friction_table

    lines = []
    figures = content["errors"]
    words = {
        "before": "data, parameters of the file",
        "after": "data, identified",
        "validation_before": "unseen data, parameters of the file",
        "validation": "unseen data, identified",
        "validation_of_file": "unseen data, by the written file alone",
    }
    rows = [[text, f"{100 * figures[key]:.2f}", "%"] for key, text in words.items() if figures[key] is not None]
    lines.append("error of efforts, as measured (norm of the errors over norm of the efforts)")
    lines.append(table(rows))
    lines += _text_of_joints(content)
    if content["effort_gains"] is not None:
        head = ["joint", "gain of its drive", "standard error"]
        gains = [[g["name"], g["value"], g["standard_error"]] for g in content["effort_gains"]]
        lines += ["", table(gains, head)]
    if result.base is None:
        return "\n".join(lines)
    if content["friction"]:
        head, laws = friction_table(content["friction"])
        lines += ["", table(laws, head)]
    drawn = content["bootstrap"] is not None
    keys = ["name", "old", "new", "standard_error", *(["bootstrap_error"] if drawn else []), "unit"]
    rows = [[p[key] for key in keys] for p in content["parameters"] if p["touched"]]
    head = ["parameter", "file", "identified", "standard error", *(["by bootstrap"] if drawn else []), ""]
    lines += ["", table(rows[:MOST_ROWS], head)]
    if len(rows) > MOST_ROWS:
        lines.append(f"{len(rows) - MOST_ROWS} more: --json")
    base = content["base_parameters"]
    keys = ["value", "standard_error", *(["bootstrap_error"] if drawn else []), "old"]
    rows = [["unknown" if b[key] is None else number(b[key]) for key in keys] for b in base]
    known = f"{content['rank']} of {content['largest_rank']} combinations that motions can show"
    lines += ["", f"the data determine {known}, condition {content['condition']:.3g}"]
    head = ["identified", "standard error", *(["by bootstrap"] if drawn else []), "file"]
    numbers = table(rows, head).split("\n")
    width = max(map(len, numbers))
    for line, name in zip(numbers, ["combination", *(b["name"] for b in base)], strict=True):
        lines.append(f"{line.ljust(width)}  {name}")
    if drawn:
        of = content["bootstrap"]
        failed = f", {of['failed']} of which no possible bodies explain" if of["failed"] else ""
        lines.append(f"bootstrap: {of['count']} times the data, in blocks of {of['block']:.3g} s{failed}")
    if result.known_speed is not None:
        lines.append(
            f"efforts of other motion are known to 10 % up to {result.known_speed:g} times the speeds of the data"
        )
    if content["untouched"]:
        lines.append(f"not touched by the data: {', '.join(content['untouched'])}")
    counts = content["samples"]
    cutoff = "none, rows give accelerations" if result.cutoff is None else f"{result.cutoff:.3g} Hz"
    lines += [
        "",
        f"filter: {cutoff}; {counts['rows']} rows, {counts['samples']} samples, {counts['used']} equations used, "
        f"{counts['slow']} left out (slow, at a stop, saturated, at ends), {counts['outliers']} outliers count less",
    ]
    for entry in content["cross_validation"]:
        lines.append(f"{entry['file']} by the other files: {100 * entry['error']:.2f} %")
    if content["output"]:
        again = any(p["in_file"] != p["new"] for p in content["parameters"])
        lines.append(f"model: {content['output']}{', fitted without what it has no place for' if again else ''}")
    return "\n".join(lines)


def _text_of_joints(content: dict[str, Any]) -> list[str]:
    """A table of errors joint by joint, where there are several."""
    from mbcli.identification.report import joint_errors

    head, by_joint = joint_errors(content["errors_of_joints"])
    if len(by_joint) < 2:
        return []
    return ["", table([[name, *(f"{100 * e:.2f} %" for e in errors)] for name, errors in by_joint], head)]


def _text_of_fit(result: TrajectoryFit, content: dict[str, Any]) -> str:
    """The same of a fit by simulation."""
    figures = content["errors"]
    words = {
        "before": "data, parameters of the file",
        "after": "data, identified",
        "validation_before": "unseen data, parameters of the file",
        "validation": "unseen data, identified",
    }
    rows = [[text, f"{100 * figures[key]:.2f}", "%"] for key, text in words.items() if figures[key] is not None]
    lines = ["error of simulated positions (norm of the errors over norm of the ways)", table(rows)]
    lines += _text_of_joints(content)
    rows = [[p["name"], p["old"], p["new"], p["standard_error"], p["unit"]] for p in content["parameters"]]
    lines += ["", table(rows[:MOST_ROWS], ["parameter", "file", "identified", "standard error", ""])]
    if len(rows) > MOST_ROWS:
        lines.append(f"{len(rows) - MOST_ROWS} more: --json")
    lines += ["", f"{result.rows} rows, {result.segments} stretches, {result.steps} steps of the search"]
    lines += [f"{file} by the other files: {100 * error:.2f} %" for file, error in result.cross]
    if content["output"]:
        lines.append(f"model: {content['output']}")
    return "\n".join(lines)
