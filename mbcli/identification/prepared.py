"""What comes before a fit to efforts: files are read, filtered and checked, and become equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.data_checks import checked, missing_efforts
from mbcli.identification.drive_gains import DriveGains, KnownLoad, drive_gains, gains_of_known_bodies
from mbcli.identification.estimation import Equations, base_combinations, least_squares, relative_error, weigh
from mbcli.identification.feet import Feet
from mbcli.identification.findings import Finding
from mbcli.identification.flight import Flight
from mbcli.identification.friction_choice import KINDS, STRIBECK_PARTS, FrictionLaw, friction_laws
from mbcli.identification.friction_signs import SLOW, slow_speeds
from mbcli.identification.held_joints import held_joints, without_efforts
from mbcli.identification.records import TEMPERATURE, DataSettings, Record, given, read_record
from mbcli.identification.signals import choose_cutoff, runs_of, velocities_of
from mbcli.identification.subject import HOLD, Subject
from mbcli.identification.temperatures import temperatures, with_temperatures
from mbcli.identification.unknowns import ARMATURE, COULOMB, FRICTIONS, INERTIAL, OFFSET, STRIBECK, VISCOUS, WARMTH

if TYPE_CHECKING:
    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray

DEFAULT_FRICTIONS = (VISCOUS, COULOMB, OFFSET)


@dataclass(frozen=True)
class Settings(DataSettings):
    """How data are read and what is identified.

    Attributes:
        frictions: kinds of FRICTIONS. by_evidence: whether the law of each joint is chosen by held-out data, with
        `frictions` beside it. armature: whether armatures are identified. payload: name of the only link that
        is, None: all. in_file: kinds of parameters for which the file has a place.
        known_load: of the motions `loaded`; then efforts are currents, and `gains` those that are known, NaN others.
        known_bodies: whether the bodies of the file are right and stay: the same of currents without a load.
        held: {joint: where it stands}, of held_joints(). no_efforts: names of joints whose efforts are not used.
    """

    frictions: Sequence[str] = DEFAULT_FRICTIONS
    by_evidence: bool = False
    armature: bool = False
    payload: str | None = None
    known_load: KnownLoad | None = None
    known_bodies: bool = False
    held: Mapping[str, float | None] = field(default_factory=dict)
    no_efforts: Sequence[str] = ()
    in_file: Sequence[str] = (INERTIAL, ARMATURE, VISCOUS, COULOMB)


DEFAULTS = Settings()


@dataclass
class Prepared:
    """What comes before a fit: what was read, and the equations of it.

    Attributes:
        subject, findings, counts, cutoff, gains, laws: as of Identified. own, others: its data and validation.
        runs: of "data" and "validation", thinned. whole: not thinned. first: those that speeds are of. slow: (nv,) of
            Subject.equations(). cutoffs: [Hz] of each file. smoother: the equations of the data by half the cut-off.
    """

    subject: Subject
    findings: list[Finding]
    counts: dict[str, int]
    cutoff: float | None
    tested_cutoff: float | None
    runs: dict[str, list[Run]]
    whole: list[Run]
    first: list[Run]
    slow: FloatArray
    own: list[Equations]
    others: list[Equations]
    gains: DriveGains | None
    laws: list[FrictionLaw]
    smoother: Callable[[float], list[Equations]]

    def base(self) -> tuple[Any, FloatArray]:
        """Of base_combinations()."""
        return base_combinations(self.subject.exact_rows(self.first), self.subject.sizes)


def prepared(
    plant: Any,
    data: Sequence[str],
    validate: Sequence[str],
    settings: Settings,
    *,
    loaded: Sequence[str] = (),
    name: str = "",
    tell: Callable[[str], None] = lambda line: None,
) -> Prepared:
    """Reads files and makes equations of them; arguments and errors as of identify()."""
    unknown = set(settings.frictions) - set(FRICTIONS)
    if unknown:
        raise ValueError(f"there is no friction {', '.join(sorted(unknown))}")
    counts = dict.fromkeys(("rows", "samples", "used", "slow", "saturated", "at_stop", "outliers"), 0)
    gains = settings.gains
    of_currents = settings.known_load is not None or settings.known_bodies
    if of_currents:
        settings = replace(settings, gains=np.ones(plant.num_velocities()))
    feet = Feet(plant, settings.feet)
    records = [read_record(path, plant, settings, tell=tell) for path in (*data, *loaded, *validate)]
    held = held_joints(plant, settings.held, records if settings.held else ())
    silent = without_efforts(plant, settings.no_efforts, held)
    records = [replace(record, tau=np.where(silent, np.nan, record.tau)) for record in records]
    for record in records:
        _check_efforts(record, plant, held.velocities | silent)
    subject = Subject(
        plant,
        frictions=settings.frictions,
        armature=settings.armature,
        payload=settings.payload,
        bodies=not settings.known_bodies,
        held=held,
        name=name,
        silent=silent,
        feet=feet,
    )
    findings = list(subject.findings)
    if silent.any():
        findings.append(_silent_finding(plant, silent, records[0].source))
    if held.joints:
        findings.append(held.finding(plant, records[0].source))
    use = ["data"] * len(data) + ["loaded"] * len(loaded) + ["validation"] * len(validate)
    kept = [checked(record, plant) for record in records]
    for record, (told, _, left_out) in zip(records, kept, strict=True):
        findings += told
        if record.source in data:
            counts["rows"] += len(record.time)
            for reason, count in left_out.items():
                counts[reason] += count
    records = [held.fill(record) for record in records]
    cutoff = _cutoff(records[: len(data) + len(loaded)] or records, settings)
    cutoffs = [cutoff if kind != "validation" else _cutoff([r], settings) for kind, r in zip(use, records, strict=True)]
    followed = [feet.with_forces(_followed(record, subject), subject.batch) for record in records]
    warmths = [temperatures(record, plant) for record in records]
    for record, warmth in zip(records, warmths, strict=True):
        if warmth is None and WARMTH in settings.frictions:
            raise ModelError(
                f"{record.source}: error: no temperatures: columns u:{TEMPERATURE} or u:JOINT.{TEMPERATURE}"
            )
    velocity_of, flight = velocities_of(plant, subject.context), Flight(subject, followed)
    runs: dict[str, list[Run]] = {"data": [], "loaded": [], "validation": []}
    whole: list[Run] = []
    for kind, record, (_, usable, _), own_cutoff, warmth in zip(use, followed, kept, cutoffs, warmths, strict=True):
        found = [
            with_temperatures(feet.on(flight.alone(run, own_cutoff), record, own_cutoff), record, warmth)
            for run in runs_of(record, own_cutoff, usable, velocity_of)
        ]
        findings += flight.findings(found)
        whole += found if kind == "data" or not data else []
        runs[kind] += [run.thinned(own_cutoff) for run in found]
    first = runs["data"] or runs["validation"]
    if not first:
        raise ModelError(f"{records[0].source}: error: no stretch between gaps in time is long enough")
    slow = slow_speeds(np.concatenate([run.v for run in first]))
    usual_warmth = np.mean(
        np.concatenate([run.warmth for run in first if run.warmth is not None] or [np.zeros((1, 1))]), axis=0
    )
    subject.usual_warmth = usual_warmth
    found_gains = None
    if of_currents:
        known = np.full(plant.num_velocities(), np.nan) if gains is None else gains
        if settings.known_load is None:
            found_gains = gains_of_known_bodies(subject, runs["data"], slow, known)
        else:
            found_gains = drive_gains(subject, runs["data"], runs["loaded"], settings.known_load, slow, known)
        runs = {kind: [run.times(found_gains.values) for run in own] for kind, own in runs.items()}
        whole = [run.times(found_gains.values) for run in whole]
        first = runs["data"] or runs["validation"]
    laws: list[FrictionLaw] = []
    if settings.by_evidence and data and subject.frictions:
        laws = friction_laws(subject, runs["data"], slow)
        subject = _with_laws(subject, laws, settings, name)
        subject.usual_warmth = usual_warmth
    elif STRIBECK in subject.frictions and data:
        _choose_stribeck_speed(subject, runs["data"], slow)
    subject.choose_independent(subject.complete(first[0].q, first[0].v, first[0].vdot)[0], given(first[0].raw_tau))
    own = [subject.equations(run, slow) for run in runs["data"]]
    of_others = slow_speeds(np.concatenate([run.v for run in runs["validation"] or first]))
    others = [subject.equations(run, of_others) for run in runs["validation"]]

    def smoother(cutoff: float) -> list[Equations]:
        found = []
        for record, (_, usable, _), warmth in zip(followed[: len(data)], kept, warmths, strict=False):
            for run in runs_of(record, cutoff, usable, velocity_of):
                gained = run if found_gains is None else run.times(found_gains.values)
                gained = feet.on(flight.alone(gained, cutoff), record, cutoff)
                gained = with_temperatures(gained, record, warmth)
                found.append(subject.equations(gained.thinned(cutoff), slow))
        return found

    tested = cutoff if data else cutoffs[use.index("validation")]
    return Prepared(
        subject, findings, counts, cutoff, tested, runs, whole, first, slow, own, others, found_gains, laws, smoother
    )


def _check_efforts(record: Record, plant: Any, needless: Any) -> None:
    missing = missing_efforts(record, plant, needless)
    if missing:
        raise ModelError(
            f"{record.source}: error: no efforts of {', '.join(missing)}: columns tau:NAME, or u:NAME of "
            f"actuators{HOLD}; joints that move by efforts that nobody knows: --no-effort NAME"
        )


def _silent_finding(plant: Any, silent: Any, source: str) -> Finding:
    names = ", ".join(name for name, one in zip(plant.GetVelocityNames(), silent, strict=True) if one)
    message = (
        f"efforts of {names} are not used: friction and rotors there, and what these efforts alone would show, stay "
        "what the file says"
    )
    return Finding("DATA_SILENT", message, source)


def _followed(record: Record, subject: Subject) -> Record:
    """With the positions and velocities of followers (mimic); ModelError if others are missing."""
    try:
        q, v, vdot = subject.complete(record.q, record.v, record.vdot, False)
    except ModelError as error:
        raise ModelError(f"{record.source}: error: {error}") from None
    return replace(record, q=q, v=v, vdot=vdot)


def _cutoff(records: Sequence[Record], settings: Settings) -> float | None:
    """[Hz] of the fastest record, None where the rows give accelerations."""
    if settings.cutoff is not None:
        return settings.cutoff
    if all(given(record.vdot).all() and given(record.v).all() for record in records):
        return None
    return choose_cutoff(list(records))


def _with_laws(subject: Subject, laws: Sequence[FrictionLaw], settings: Settings, name: str) -> Subject:
    """The same with the law of friction of each joint."""
    kinds = {law.velocity: KINDS[law.law] for law in laws}
    others = [kind for kind in subject.frictions if kind not in (VISCOUS, COULOMB)]
    found = Subject(
        subject.plant,
        frictions=[kind for kind in FRICTIONS if kind in subject.frictions or any(kind in k for k in kinds.values())],
        armature=settings.armature,
        bodies=not settings.known_bodies,
        held=subject.held,
        name=name,
        laws={d: (*kinds.get(d, (VISCOUS, COULOMB)), *others) for d in subject.joints},
        silent=subject.silent,
        feet=subject.feet,
    )
    for law in laws:
        if law.speed is not None:
            found.stribeck_speed[law.velocity] = law.speed
    return found


def _choose_stribeck_speed(subject: Subject, runs: Sequence[Run], slow: FloatArray) -> None:
    """Takes that part of the usual speeds, within which friction falls, that explains the data best."""
    usual, errors = slow / SLOW, []
    if subject.chains is not None:
        raise ModelError("Stribeck friction is identified of trees: this model has constraints")
    for part in STRIBECK_PARTS:
        subject.stribeck_speed = np.where(usual > 0.0, part * usual, np.inf)
        equations = [subject.equations(run, slow) for run in runs]
        base = base_combinations(subject.exact_rows(runs), subject.sizes)
        weighted = weigh(equations, subject.sizes, *base)
        errors.append(relative_error(equations, least_squares(weighted.R, weighted.c, subject.sizes)))
    best = STRIBECK_PARTS[int(np.argmin(errors))]
    subject.stribeck_speed = np.where(usual > 0.0, best * usual, np.inf)
