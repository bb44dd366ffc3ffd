"""What else data that do not fit could be: an effort with the other sign, swapped columns, degrees, another gravity.

Each hypothesis changes a part of the data, and what possible bodies explain of them tells whether it is true: bodies of
any parameters explain a mirrored effort, too. The fit of the data as they are is looked at joint by joint.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.identification.changing_load import changing_load
from mbcli.identification.coupled_drives import coupled_drive
from mbcli.identification.estimation import orthonormal, product
from mbcli.identification.findings import Finding
from mbcli.identification.mountings import mounting
from mbcli.identification.signals import joined
from mbcli.identification.trials import Explained, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

POOR = 0.12  # relative error of the fit of possible bodies, above which columns are tried otherwise
POOR_JOINT = 0.5  # the same of one joint
NOTICEABLE = 0.04  # the same of all, above which a load that changes is
TILTED = 0.2  # the same of one joint, above which another direction of gravity is
UNLIKELY = 2.0  # times the mass of the file, beyond which columns are tried otherwise, too
BETTER = 0.6  # times the error: what a hypothesis has to reach
BETTER_JOINT, NO_WORSE = 0.5, 0.9  # or times the error of its joint, and of all
BETTER_LAG, HARM = 0.9, 0.01  # times the error; part of the efforts that a lag has to explain
BETTER_LOAD = 0.75
AS_GOOD = 1.05  # times the least error: hypotheses that cannot be told from the best
SAMPLES = 400  # of a file, that are looked at
EQUATIONS_AN_UNKNOWN = 2.0  # that are independent, at least
FEWEST_OF_A_LAG = 20  # samples in which efforts of earlier and later ones are known
LONGEST_LAG, SHORTEST_LAG = 0.2, 0.015  # [s]
FAST = 0.3  # of the usual speed of a joint, below which it may be about to turn back
MANY = 6.0  # [rad or m] that a joint moves at least if these are degrees or millimetres
DEGREES, MILLIMETRES = np.pi / 180.0, 1e-3


@dataclass(frozen=True)
class Hypothesis:
    """What could be wrong, which joint's column it is, "" for none, and the efforts (n, d) or trial that it makes."""

    code: str
    what: str
    column: str
    joint: int | None
    trial: Callable[[], Trial]
    tau: FloatArray | None = None


class Suspicion(NamedTuple):
    """A hypothesis that explains the data much better, and the error that is left."""

    error: float
    code: str
    what: str
    column: str


def suspected(subject: Subject, runs: Sequence[Run], slow: FloatArray | None, cutoff: float | None) -> list[Finding]:
    """Findings of the runs of one file: the hypothesis that explains them best, if one is much better than none; or
    why none of that can be known.

    Args:
        runs: not thinned, that short recordings are tested too. cutoff: [Hz] of their filter, None: not filtered.
    """
    run = joined(runs)
    if subject.chains is not None:
        return [_unchecked(run, "the model has constraints or followers: a model of the moving tree alone would do")]
    if subject.feet:
        return [_unchecked(run, "unknown forces act on feet: a recording with the base held in the air would do")]
    picked = np.linspace(0, len(run) - 1, min(len(run), SAMPLES)).astype(int)
    trial = Trial(subject, run.part(picked), slow)
    short = _too_short(trial, len(run) / run.rate, cutoff)
    if short:
        return [_unchecked(run, short)]
    found, why_not = _lags(subject, runs, slow)
    usual = trial.by_bodies() or _unexplained(trial)
    suspicions = [Suspicion(s.error * usual.error, *s[1:]) for s in found]
    if usual.error > NOTICEABLE:
        suspicions += _surroundings(trial, usual)
    if _poor(usual) or _other_mass(subject, usual):
        suspicions += _best(list(_hypotheses(trial, _measured(subject, run))), trial, usual)
    if not suspicions:
        return why_not
    error, code, what, column = min(suspicions)
    others = [
        s.what + (f" ({s.column})" if s.column else "") for s in sorted(suspicions)[1:] if s.error < AS_GOOD * error
    ]
    message = (
        f"{what}: the model explains the data to {100 * error:.1f} % then, as they are to {100 * usual.error:.1f} %"
    )
    if others:
        message += f"; these data cannot tell that from: {'; '.join(dict.fromkeys(others))}"
    return [Finding(code, message, run.source, 0, column), *why_not]


def _poor(usual: Explained) -> bool:
    return usual.error > POOR or usual.of_joints.max() > POOR_JOINT


def _other_mass(subject: Subject, usual: Explained) -> bool:
    """Whether bodies explain the data by masses that are far from those of the file."""
    old, new = float(subject.reference[:, 0].sum()), float(usual.x[: 10 * len(subject.links) : 10].sum())
    return not old / UNLIKELY < new < old * UNLIKELY


def _unexplained(trial: Trial) -> Explained:
    """That of which no possible bodies come near it."""
    return Explained(1.0, np.ones(trial.tau.shape[1]), np.zeros(trial.A.shape[2]))


def _surroundings(trial: Trial, usual: Explained) -> list[Suspicion]:
    found = []
    factor, what = changing_load(trial)
    if factor < BETTER_LOAD:
        found.append(Suspicion(factor * trial.by_anything().error, "DATA_LOAD", what, ""))
    if _poor(usual):
        factor, what, column = coupled_drive(trial)
        if factor < BETTER:
            found.append(Suspicion(factor * trial.by_anything().error, "DATA_COUPLED", what, column))
    mounted = mounting(trial, BETTER * usual.error, _poor(usual)) if usual.of_joints.max() > TILTED else None
    if mounted is not None:
        found.append(Suspicion(mounted[0].error, "DATA_GRAVITY", mounted[1], ""))
    return found


def _best(hypotheses: Sequence[Hypothesis], trial: Trial, usual: Explained) -> list[Suspicion]:
    """The hypotheses that are much better than none, and not much worse than the best."""
    trials = [h.trial() for h in hypotheses]
    least = [t.by_anything(h.tau).error for h, t in zip(hypotheses, trials, strict=True)]
    found: list[Suspicion] = []
    limit = NO_WORSE * usual.error
    for k in np.argsort(least, kind="stable").tolist():
        if least[k] > limit:
            break
        h, explained = hypotheses[k], trials[k].by_bodies(hypotheses[k].tau)
        if explained is None:
            continue
        better = explained.error < BETTER * usual.error
        if h.joint is not None and not better:
            own = usual.of_joints[h.joint]
            better = (
                own > POOR_JOINT
                and explained.of_joints[h.joint] < BETTER_JOINT * own
                and explained.error < NO_WORSE * usual.error
            )
        if better:
            found.append(Suspicion(explained.error, h.code, h.what, h.column))
            limit = min(limit, AS_GOOD * explained.error)
    return found


def _hypotheses(trial: Trial, measured: Sequence[int]) -> Iterator[Hypothesis]:
    """Columns of each joint with an effort, of velocity d, equation n."""
    subject, part = trial.subject, trial.part
    names, tau = subject.plant.GetVelocityNames(), trial.tau
    at = {d: int(np.searchsorted(subject.independent, d)) for d in subject.joints if d in measured}

    def scaled(factor: float, *joints: int) -> Callable[[], Trial]:
        return lambda: trial.changed(partial(_times, factor=factor), list(joints))

    angular = [d for d in at if subject.joint_of[d].is_angular()]
    far = [d for d in at if np.ptp(part.q[:, subject.joint_of[d].position_start()]) > MANY]
    for d, n in at.items():
        mirrored = scaled(-1.0, d)
        other, unit = (DEGREES, "degrees: --degrees") if d in angular else (MILLIMETRES, "millimetres")
        yield Hypothesis("DATA_SIGN", "the effort has the other sign", names[d], n, lambda: trial, _times(tau, n, -1.0))
        yield Hypothesis("DATA_SIGN", "position and velocity have the other sign", names[d], n, mirrored)
        yield Hypothesis("DATA_SIGN", "the joint turns the other way", names[d], n, mirrored, _times(tau, n, -1.0))
        if d in far:
            what = f"position and velocity are in {unit}"
            yield Hypothesis("DATA_UNITS", what, names[d], n, scaled(other, d))
    if len(angular) > 1 and set(angular) & set(far):
        what = "all angles are in degrees: --degrees"
        yield Hypothesis("DATA_UNITS", what, "", None, scaled(DEGREES, *angular))
    for d, e in itertools.combinations(at, 2):
        what, turned = f"swapped with that of {names[e]}", _swapped(tau, [at[d], at[e]])
        yield Hypothesis("DATA_SWAPPED", f"the effort is {what}", names[d], None, lambda: trial, turned)
        other_way = partial(trial.changed, _swapped, [d, e])
        yield Hypothesis("DATA_SWAPPED", f"the position is {what}", names[d], None, other_way)
        yield Hypothesis("DATA_SWAPPED", f"all of the joint is {what}", names[d], None, other_way, turned)


def _measured(subject: Subject, run: Run) -> list[int]:
    """Velocities with efforts, whose equations count."""
    return [d for d in subject.independent.tolist() if not np.isnan(run.tau[0, d])]


def _unchecked(run: Run, why: str, what: str = "order, signs and lags of efforts and positions") -> Finding:
    return Finding("DATA_UNCHECKED", f"{what} were not checked: {why}", run.source)


def _too_short(trial: Trial, duration: float, cutoff: float | None) -> str:
    """Why data cannot tell a hypothesis from the truth, and what would do; empty if they can.

    Of a filtered signal, twice its cut-off in each second is independent. With about as many unknowns as that, least
    squares explain anything.
    """
    rows = (trial.A * trial.weights(trial.tau)[:, None])[trial.usable]
    unknowns = orthonormal(rows[:, rows.any(axis=0)])[0].shape[1] if len(rows) else 0
    alone = 1.0 if cutoff is None else min(1.0, 2.0 * cutoff * duration / len(trial.part))
    known = alone * len(rows)
    wanted = EQUATIONS_AN_UNKNOWN * unknowns
    if known >= wanted and unknowns:
        return ""
    longer = f"{np.ceil(duration * wanted / known):.0f} s" if known >= 1.0 else "a longer one"
    return (
        f"{duration:.3g} s of motion have {known:.0f} independent equations for {unknowns} unknowns; a recording of "
        f"{longer} or more, in which all joints move, would do"
    )


def _lags(subject: Subject, runs: Sequence[Run], slow: FloatArray | None) -> tuple[list[Suspicion], list[Finding]]:
    """A lag of all efforts, or of one, with its error as a part of that of none; and why none can be known."""
    run = joined(runs)
    most = int(LONGEST_LAG * run.rate)
    starts = np.cumsum([0, *map(len, runs)])
    inner = np.concatenate([np.arange(a + most, max(a, b - most)) for a, b in itertools.pairwise(starts)])
    inner = inner[np.linspace(0, len(inner) - 1, min(len(inner), SAMPLES)).astype(int)]
    if most < 1 or len(inner) < FEWEST_OF_A_LAG:
        why = (
            f"{run.rate:.3g} samples a second are too few: {np.ceil(1.0 / LONGEST_LAG):.0f} or more would do"
            if most < 1
            else f"stretches without gaps are too short: one of {2.0 * LONGEST_LAG + FEWEST_OF_A_LAG / run.rate:.3g} s "
            "would do"
        )
        return [], [_unchecked(run, why, "lags of efforts")]
    trial = Trial(subject, run.part(inner), slow)
    weights = (trial.usable * trial.weights(trial.tau)).ravel()
    A, known = trial.A.reshape(-1, trial.A.shape[2]) * weights[:, None], trial.known.ravel()
    Q = orthonormal(A[:, A.any(axis=0)])[0]
    names, measured = subject.plant.GetVelocityNames(), _measured(subject, run)
    step = max(1, int(SHORTEST_LAG / 2.0 * run.rate))
    shifts = np.arange(-(most // step) * step, most + 1, step)

    def shifted(velocities: Sequence[int], shift: int) -> FloatArray:
        """Efforts (n, d), of some velocities later ones."""
        tau = run.tau[inner].copy()
        tau[:, velocities] = run.tau[inner + shift][:, velocities]
        return np.nan_to_num(tau[:, subject.independent])

    def errors(velocities: Sequence[int]) -> list[tuple[float, int]]:
        """(error, shift) of each shift of the efforts of some velocities."""
        y = np.stack([(shifted(velocities, int(k)).ravel() - known) * weights for k in shifts], axis=1)
        size = np.maximum((y**2).sum(axis=0), 1e-300)
        left = np.sqrt(np.maximum(size - (product(Q, y) ** 2).sum(axis=0), 0.0) / size)
        return list(zip(left.tolist(), shifts.tolist(), strict=True))

    everything = errors(measured)
    usual = {shift: error for error, shift in everything}[0]
    groups = [(*min(everything), "the efforts", "tau", measured)]
    for d in measured if run.tau.shape[1] > 1 else ():
        groups.append((*min(errors([d])), "the effort", names[d], [d]))
    best, shift, what, column, which = min(groups)
    explains = np.sqrt(max(usual**2 - best**2, 0.0) * (1 if what == "the efforts" else len(measured)))
    if (
        best >= BETTER_LAG * usual
        or explains < HARM
        or abs(shift) / run.rate <= SHORTEST_LAG
        or abs(shift) == shifts[-1]
    ):
        return [], []
    if len(which) == 1:  # where a joint turns back its friction gives way as if it were late
        d = which[0]
        speed = np.abs(trial.part.v[:, d])
        turns = speed < FAST * np.percentile(speed, 90.0)
        trial = trial.without(turns, int(np.searchsorted(subject.independent, d)))
    # bodies that cannot be explain a lag of what is wrong otherwise
    as_it_is, later = trial.by_bodies(), trial.by_bodies(shifted(which, shift))
    if as_it_is is None or later is None or later.error >= BETTER_LAG * as_it_is.error:
        return [], []
    when = "behind" if shift > 0 else "ahead of"
    verb = "are" if what == "the efforts" else "is"
    text = f"{what} {verb} {abs(shift) / run.rate * 1e3:.0f} ms {when} the motion"
    return [Suspicion(later.error / as_it_is.error, "DATA_LAG", text, column)], []


def _times(values: FloatArray, k: int | list[int], factor: float) -> FloatArray:
    result = values.copy()
    result[:, k] *= factor
    return result


def _swapped(values: FloatArray, pair: list[int]) -> FloatArray:
    result = values.copy()
    result[:, pair] = values[:, pair[::-1]]
    return result
