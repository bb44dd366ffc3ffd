"""Identification of a plant from files of measured motion: everything between the files and the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, NumericalError
from mbcli.identification.data_checks import checked, missing_efforts
from mbcli.identification.drive_gains import DriveGains, KnownLoad, drive_gains, gains_of_known_bodies, of_other_bodies
from mbcli.identification.estimation import (
    BaseParameters,
    Equations,
    Weighted,
    all_alone,
    base_combinations,
    base_parameters,
    least_squares,
    predicted,
    relative_error,
    weigh,
)
from mbcli.identification.feet import Feet
from mbcli.identification.findings import Finding
from mbcli.identification.flight import Flight
from mbcli.identification.friction_choice import KINDS, STRIBECK_PARTS, FrictionLaw, friction_laws
from mbcli.identification.friction_signs import SLOW, slow_speeds
from mbcli.identification.held_joints import held_joints, without_efforts
from mbcli.identification.hypotheses import suspected
from mbcli.identification.known_efforts import known_efforts, told_of_speeds
from mbcli.identification.possible_bodies import Estimate, estimate
from mbcli.identification.records import TEMPERATURE, DataSettings, Record, given, read_record
from mbcli.identification.signals import MOVES, choose_cutoff, runs_of, velocities_of
from mbcli.identification.subject import HOLD, Subject
from mbcli.identification.temperatures import temperatures, with_temperatures
from mbcli.identification.unknowns import ARMATURE, COULOMB, FRICTIONS, INERTIAL, OFFSET, STRIBECK, VISCOUS, WARMTH
from mbcli.identification.weight_choice import ChosenWeights, choose_weights

if TYPE_CHECKING:
    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray

MOVES_ON = 0.3  # of the usual speed of a joint: slower, it may be about to turn back
UNCHANGED = 1e-9  # of the size of a parameter: it stays what the file says
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


@dataclass
class Identified:
    """What was found.

    Attributes:
        x, x0: (p,) parameters of the subject, identified and of the file. errors: (p,) standard errors. x_of_file: (p,)
        those that go into the file, where kinds that it has no place for stay as they are: fitted without these.
        base, weighted: of the data. estimate: None where nothing was identified. names: of the equations.
        figures: relative errors, by name. cross: (file, error) of each file by the others.
        counts: of samples, by what became of them. cutoff: [Hz] of the filter, None without. findings: of everything.
        data, validation: their Equations. gains: of drives, where they were identified.
        laws: of friction, by evidence.
        standing: names of velocities of joints that stand in what the result is judged by.
        known_speed: times the speeds of the data up to which efforts of other motion are known, of known_efforts().
    """

    subject: Subject
    names: list[str]
    x: FloatArray
    x0: FloatArray
    errors: FloatArray
    base: BaseParameters | None
    weighted: Weighted | None
    estimate: Estimate | None
    figures: dict[str, float | None]
    cross: list[tuple[str, float]]
    counts: dict[str, int]
    cutoff: float | None
    rate: float
    findings: list[Finding] = field(default_factory=list)
    data: list[Equations] = field(default_factory=list)
    validation: list[Equations] = field(default_factory=list)
    gains: DriveGains | None = None
    x_of_file: FloatArray = field(default_factory=lambda: np.zeros(0))
    known_speed: float | None = None
    standing: set[str] = field(default_factory=set)
    laws: list[FrictionLaw] = field(default_factory=list)

    def looks_wrong(self) -> bool:
        """Whether a finding says that the data are not what they claim to be, or that the result is not to be used."""
        return any(finding.severity == "error" for finding in self.findings)

    def per_velocity(self, equations: Sequence[Equations], x: FloatArray | None = None) -> list[float]:
        """Relative error of each equation's effort, as it was measured, where it is judged; x: None: those found."""
        x = self.x if x is None else x
        above = sum((((predicted(e, x) - e.raw_tau) * e.judged) ** 2).sum(axis=0) for e in equations)
        below = sum(((e.raw_tau * e.judged) ** 2).sum(axis=0) for e in equations)
        return [float(np.sqrt(a / b)) if b > 0.0 else 0.0 for a, b in zip(above, below, strict=True)]


def identify(
    plant: Any,
    data: Sequence[str],
    validate: Sequence[str] = (),
    settings: Settings = Settings(),
    *,
    loaded: Sequence[str] = (),
    name: str = "",
    tell: Callable[[str], None] = lambda line: None,
) -> Identified:
    """Identifies parameters of a plant from files of motions, and tries them on other files.

    Args:
        plant: finalized. data: names of files; without one the parameters of the file are tried on those of `validate`.
        loaded: files of motions with the known load of the settings.
        name: of the model in findings. tell: takes lines on columns that are not used.

    Raises:
        ModelError, ResourceError: a file cannot be read, or lacks what is needed.
        ArgumentError: no such payload. NumericalError: no possible parameters were found.
    """
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
    # whatever the file says of friction: what is tested are the data
    of_data = (
        subject
        if settings.payload is None and not settings.known_bodies
        else Subject(plant, frictions=DEFAULT_FRICTIONS, armature=True, held=held, silent=silent, feet=feet)
    )
    if settings.known_bodies:
        findings += of_other_bodies(subject, of_data, runs["data"], slow, cutoff)
    for source in dict.fromkeys(run.source for run in whole):
        parts = [run for run in whole if run.source == source]
        findings += suspected(of_data, parts, slow, cutoff if data else cutoffs[use.index("validation")])
    result = Identified(
        subject,
        subject.independent_names(),
        subject.x0.copy(),
        subject.x0,
        np.zeros(len(subject.x0)),
        None,
        None,
        None,
        {},
        [],
        counts,
        cutoff,
        first[0].rate,
        findings,
        own,
        others,
        found_gains,
        subject.x0.copy(),
        laws=laws,
    )
    result.standing = _standing(subject, runs["validation"] or runs["data"])
    if own:
        try:
            _fit(result, own, first)
            result.x_of_file = _for_file(result, settings.in_file)
            if cutoff is not None:
                smoother: list[Equations] = []
                for record, (_, usable, _), warmth in zip(followed[: len(data)], kept, warmths, strict=False):
                    for run in runs_of(record, cutoff / 2.0, usable, velocity_of):
                        gained = run if found_gains is None else run.times(found_gains.values)
                        gained = feet.on(flight.alone(gained, cutoff / 2.0), record, cutoff / 2.0)
                        gained = with_temperatures(gained, record, warmth)
                        smoother.append(subject.equations(gained.thinned(cutoff / 2.0), slow))
                _count_bias(result, smoother)
            _count_gains(result, own)
            assert result.estimate is not None
            result.known_speed, part = known_efforts(subject, first, result.estimate)
            findings += told_of_speeds(result.known_speed, part, own[0].source)
        except NumericalError as error:
            why = [str(finding) for finding in findings if finding.severity == "error"]
            raise NumericalError("\n".join((*why, f"{own[0].source}: error: {error}"))) from None
    result.figures = _figures(result, own, others)
    return result


def _standing(subject: Subject, runs: Sequence[Run]) -> set[str]:
    """Names of velocities of joints that do not move: what holds them is friction, of any size."""
    names, found = subject.plant.GetVelocityNames(), set()
    for d in subject.joints:
        i = subject.joint_of[d].position_start()
        if max((float(np.ptp(run.q[:, i])) for run in runs), default=0.0) < MOVES:
            found.add(names[d])
    return found


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


def solved(
    subject: Subject, own: Sequence[Equations], base: tuple[Any, FloatArray], near: bool = False
) -> tuple[Weighted, Estimate]:
    """The weighted equations, and the possible parameters that fit them best."""
    weighted = weigh(own, subject.sizes, *_unknowns(subject, base), near)
    return weighted, _fitted(subject, weighted, ~subject.zero, np.zeros(len(subject.sizes)))


def _unknowns(subject: Subject, base: tuple[Any, FloatArray]) -> tuple[Any, FloatArray]:
    """Columns and combinations of weigh()."""
    # the combinations of closed chains are those of positions that satisfy the constraints, which measured ones do not
    return base if subject.chains is None else all_alone(len(subject.sizes))


def _fitted(subject: Subject, weighted: Weighted, kept: Any, others: FloatArray) -> Estimate:
    """The possible parameters that fit best; those that are not kept (p,) are `others` (p,)."""
    if kept.all():
        x = least_squares(weighted.R, weighted.c, subject.sizes)
        return estimate(weighted, subject.parameters, subject.reference, x)
    R, c = weighted.R[:, kept], weighted.c - weighted.R[:, ~kept] @ others[~kept]
    own = [p for p, there in zip(subject.parameters, kept, strict=True) if there]
    start = least_squares(R, c, subject.sizes[kept])
    found = estimate(replace(weighted, R=R, c=c), own, subject.reference, start)
    x, root = others.copy(), np.zeros((len(kept), found.root.shape[1]))
    x[kept], root[kept] = found.x, found.root
    return replace(found, x=x, root=root)


def _for_file(result: Identified, kinds: Sequence[str]) -> FloatArray:
    """(p,) what a file holds: all, or fitted again where it has no place for some kinds, whose numbers stay its own."""
    subject, weighted = result.subject, result.weighted
    kept = np.array([p.kind in kinds for p in subject.parameters])
    if weighted is None or kept.all():
        return result.x
    if subject.payload:  # what is found beside it is of this recording, and would pass for a part of it
        return np.where(kept, result.x, subject.x0)
    x = _fitted(subject, weighted, kept & ~subject.zero, np.where(subject.zero, 0.0, subject.x0)).x
    return np.where(np.abs(x - subject.x0) <= UNCHANGED * subject.sizes, subject.x0, x)


def _fit(result: Identified, own: list[Equations], runs: Sequence[Run]) -> None:
    subject, counts = result.subject, result.counts
    for e in own:
        counts["samples"] += len(e.y)
        counts["used"] += int(e.usable.sum())
        counts["slow"] += e.y.size - int(e.usable.sum())
    if not counts["used"]:
        raise ModelError(f"{own[0].source}: error: no sample can be used: nothing moves fast enough")
    base = base_combinations(subject.exact_rows(runs), subject.sizes)
    weighted, found = solved(subject, own, base)
    # of data that look wrong nothing is to be hidden
    chosen = None if result.looks_wrong() else _choose_weights(subject, own, runs, weighted, base)
    if chosen is not None and chosen.near:
        weighted, found = solved(subject, own, base, chosen.near)
        result.findings.append(chosen.finding(own[0].source))
    counts["outliers"] = weighted.outliers
    x = least_squares(weighted.R, weighted.c, subject.sizes)
    result.weighted, result.estimate = weighted, found
    result.base = base_parameters(weighted, subject.sizes, own, *base)
    same = np.abs(found.x - subject.x0) <= UNCHANGED * subject.sizes
    result.x, result.errors = np.where(same, subject.x0, found.x), found.errors
    result.figures = {"least_squares": relative_error(own, x, raw=True)}
    if len({e.source for e in own}) > 1:
        for source in dict.fromkeys(e.source for e in own):
            rest, left = [e for e in own if e.source != source], [e for e in own if e.source == source]
            tried = solved(subject, rest, base, weighted.near)[1]
            result.cross.append((source, relative_error(left, tried.x, raw=True)))


def _choose_weights(
    subject: Subject,
    own: Sequence[Equations],
    runs: Sequence[Run],
    weighted: Weighted,
    base: tuple[Any, FloatArray],
) -> ChosenWeights:
    """By what bodies that can be predict of blocks that were left out, while joints move on.

    Near where a joint turns back Stribeck's friction, backlash and what a filter rounds are no noise, and a friction
    that is not the true one would predict them best.
    """
    usual = slow_speeds(np.concatenate([run.v for run in runs])) / SLOW
    judged = np.concatenate([e.judged for e in own])
    if subject.chains is None:
        speeds = np.concatenate([np.abs(run.v) for run in runs])
        judged = judged & (speeds >= MOVES_ON * usual)[:, subject.independent]

    def fitted(R: FloatArray, c: FloatArray) -> FloatArray:
        return _fitted(subject, replace(weighted, R=R, c=c), ~subject.zero, np.zeros(len(subject.sizes))).x

    return choose_weights(own, judged, weighted, subject.sizes, _unknowns(subject, base), fitted)


def _count_bias(result: Identified, smoother: list[Equations]) -> None:
    """Adds to standard errors how much a smoother filter changes the result: what noise does not explain."""
    base, before, weighted = result.base, result.estimate, result.weighted
    assert base is not None and before is not None and weighted is not None
    if not any(e.usable.any() for e in smoother):
        return
    try:
        after = solved(result.subject, smoother, (base.columns, base.combinations), weighted.near)[1]
    except NumericalError:  # nothing to compare with
        return
    _add_error(result, after.x - before.x)


def _count_gains(result: Identified, own: list[Equations]) -> None:
    """Adds to standard errors how much the result changes where a gain that was found is off by its own."""
    base, before, weighted, gains = result.base, result.estimate, result.weighted, result.gains
    if gains is None:
        return
    assert base is not None and before is not None and weighted is not None
    for d in np.flatnonzero(gains.errors).tolist():
        factors = np.ones(own[0].y.shape[1])
        factors[int(np.searchsorted(result.subject.independent, d))] += gains.errors[d] / gains.values[d]
        changed = [replace(e, y=e.y + (factors - 1.0) * e.tau, tau=factors * e.tau) for e in own]
        after = solved(result.subject, changed, (base.columns, base.combinations), weighted.near)[1]
        _add_error(result, after.x - before.x)


def _add_error(result: Identified, error: FloatArray) -> None:
    """Counts an error (p,) of the parameters beside those that are counted already."""
    assert result.estimate is not None and result.base is not None
    result.estimate = replace(result.estimate, root=np.hstack((result.estimate.root, error[:, None])))
    result.errors = result.estimate.errors
    result.base = replace(result.base, errors=np.hypot(result.base.errors, result.base.combinations @ error))


def _figures(result: Identified, own: list[Equations], others: list[Equations]) -> dict[str, float | None]:
    """Relative errors of efforts as they were measured, before and after, on data and on those of validation."""
    x, x0, in_file = result.x, result.x0, result.x_of_file
    figures: dict[str, float | None] = {
        "before": relative_error(own, x0, raw=True) if own else None,
        "after": relative_error(own, x, raw=True) if own else None,
        "of_file": relative_error(own, in_file, raw=True) if own else None,
        "least_squares": result.figures.get("least_squares"),
        "validation_before": relative_error(others, x0, raw=True) if others else None,
        "validation": relative_error(others, x, raw=True) if others else None,
        "validation_of_file": relative_error(others, in_file, raw=True) if others else None,
        "validation_filtered": relative_error(others, x) if others else None,
    }
    return figures
