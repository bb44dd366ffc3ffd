"""Identification of a plant from files of measured motion: the fit to efforts, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, NumericalError
from mbcli.identification.drive_gains import DriveGains, of_other_bodies
from mbcli.identification.estimation import (
    BaseParameters,
    Equations,
    Weighted,
    all_alone,
    base_parameters,
    least_squares,
    predicted,
    relative_error,
    weigh,
)
from mbcli.identification.findings import Finding
from mbcli.identification.friction_choice import FrictionLaw
from mbcli.identification.friction_signs import SLOW, slow_speeds
from mbcli.identification.hypotheses import suspected
from mbcli.identification.known_efforts import known_efforts, told_of_speeds
from mbcli.identification.parts import DRAWN, LEFT_OUT, Bootstrap, block_length, drawn, each_part
from mbcli.identification.possible_bodies import Estimate, estimate
from mbcli.identification.prepared import (
    DEFAULT_FRICTIONS,
    DEFAULTS,
    Prepared,
    Settings as Settings,
    prepared,
)
from mbcli.identification.signals import MOVES
from mbcli.identification.subject import Subject
from mbcli.identification.weight_choice import ChosenWeights, choose_weights

if TYPE_CHECKING:
    from mbcli.identification.parts import Elsewhere, Part
    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray

MOVES_ON = 0.3  # of the usual speed of a joint: slower, it may be about to turn back
UNCHANGED = 1e-9  # of the size of a parameter: it stays what the file says


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
        bootstrap: what data that are drawn from these say of the errors, where that was asked for.
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
    bootstrap: Bootstrap | None = None

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
    settings: Settings = DEFAULTS,
    *,
    loaded: Sequence[str] = (),
    name: str = "",
    tell: Callable[[str], None] = lambda line: None,
    bootstrap: int = 0,
    elsewhere: Elsewhere | None = None,
) -> Identified:
    """Identifies parameters of a plant from files of motions, and tries them on other files.

    Args:
        plant: finalized. data: names of files; without one the parameters of the file are tried on those of `validate`.
        loaded: files of motions with the known load of the settings.
        name: of the model in findings. tell: takes lines on columns that are not used.
        bootstrap: how often data are drawn from these, to see how much the result changes.
        elsewhere: what gives the results of parts, of part_of() in other processes; None: this one does.

    Raises:
        ModelError, ResourceError: a file cannot be read, or lacks what is needed.
        ArgumentError: no such payload. NumericalError: no possible parameters were found.
    """
    ready = prepared(plant, data, validate, settings, loaded=loaded, name=name, tell=tell)
    subject, findings, runs, slow, first = ready.subject, ready.findings, ready.runs, ready.slow, ready.first
    cutoff, own, others, found_gains = ready.cutoff, ready.own, ready.others, ready.gains
    # whatever the file says of friction: what is tested are the data
    of_data = (
        subject
        if settings.payload is None and not settings.known_bodies
        else Subject(
            plant,
            frictions=DEFAULT_FRICTIONS,
            armature=True,
            held=subject.held,
            silent=subject.silent,
            feet=subject.feet,
        )
    )
    if settings.known_bodies:
        findings += of_other_bodies(subject, of_data, runs["data"], slow, cutoff)
    for source in dict.fromkeys(run.source for run in ready.whole):
        parts = [run for run in ready.whole if run.source == source]
        findings += suspected(of_data, parts, slow, ready.tested_cutoff)
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
        ready.counts,
        cutoff,
        first[0].rate,
        findings,
        own,
        others,
        found_gains,
        subject.x0.copy(),
        laws=ready.laws,
    )
    result.standing = _standing(subject, runs["validation"] or runs["data"])
    if own:
        try:
            _fit(result, ready, bootstrap, elsewhere)
            result.x_of_file = _for_file(result, settings.in_file)
            if cutoff is not None:
                _count_bias(result, ready.smoother(cutoff / 2.0))
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


def solved(
    subject: Subject, own: Sequence[Equations], base: tuple[Any, FloatArray], near: bool = False
) -> tuple[Weighted, Estimate]:
    """The weighted equations, and the possible parameters that fit them best."""
    weighted = weigh(own, subject.sizes, *_unknowns(subject, base), near)
    return weighted, _fitted(subject, weighted, ~subject.zero, np.zeros(len(subject.sizes)))


def part_of(
    ready: Prepared, part: Part, state: Mapping[str, Any], base: tuple[Any, FloatArray] | None = None
) -> list[float]:
    """The numbers of one part: the error of a file by the others, or the parameters of drawn data and then their
    combinations, none where nothing possible explains these.

    state: "near" of the weights, "block" of drawn(). base: of ready.base().
    """
    subject, own, base = ready.subject, ready.own, ready.base() if base is None else base
    if LEFT_OUT in part:
        source = list(dict.fromkeys(e.source for e in own))[part[LEFT_OUT]]
        rest, left = [e for e in own if e.source != source], [e for e in own if e.source == source]
        return [relative_error(left, solved(subject, rest, base, state["near"])[1].x, raw=True)]
    try:
        weighted, found = solved(subject, [drawn(own, state["block"], part[DRAWN])], base, state["near"])
    except NumericalError:
        return []
    columns = base[0]
    return [*found.x.tolist(), *least_squares(weighted.R[:, columns], weighted.c, subject.sizes[columns]).tolist()]


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


def _fit(result: Identified, ready: Prepared, bootstrap: int, elsewhere: Elsewhere | None) -> None:
    subject, counts, own = result.subject, result.counts, ready.own
    for e in own:
        counts["samples"] += len(e.y)
        counts["used"] += int(e.usable.sum())
        counts["slow"] += e.y.size - int(e.usable.sum())
    if not counts["used"]:
        raise ModelError(f"{own[0].source}: error: no sample can be used: nothing moves fast enough")
    base = ready.base()
    weighted, found = solved(subject, own, base)
    # of data that look wrong nothing is to be hidden
    chosen = None if result.looks_wrong() else _choose_weights(subject, own, ready.first, weighted, base)
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
    state = {"near": weighted.near, "block": block_length(own, weighted, result.x)}
    files, drawings = each_part(
        [e.source for e in own], bootstrap, state, lambda part: part_of(ready, part, state, base), elsewhere
    )
    result.cross = [(source, error) for source, [error] in files.items()]
    if bootstrap:
        result.bootstrap = Bootstrap.of(drawings, len(subject.sizes), state["block"] / own[0].rate)


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
