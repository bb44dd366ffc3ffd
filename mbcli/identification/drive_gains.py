"""Gains of drives, effort per current, from motions with and without a load whose mass is known, or of known bodies.

The current of a joint is i = (A x + b + b_load) / k: A x is linear in the unknowns, b what the file says of the effort
beside them, and b_load what the load needs, which is 0 without it. So 1 / k is the factor of b_load where that, the
columns of A and b explain i, joint by joint; the file's numbers are not relied on, b has a factor of its own. Motion
without and with the load tells the two apart (Gautier and Briot 2014).
They divide by k, too, but put the noise of the currents among the columns, which needs total least squares; here it is
on the right side alone, where ordinary least squares have no bias.

Where the bodies of the file are right, they are the load: A x has rotors and friction alone, and 1 / k is the factor of
b. One motion does then. Currents alone do not show the scale: all masses, rotors and frictions times two, and all gains
too, explain them as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.data_checks import driven
from mbcli.identification.estimation import (
    TOLERANCE,
    base_combinations,
    covariance,
    least_squares,
    orthonormal,
    weigh,
)
from mbcli.identification.findings import Finding
from mbcli.identification.subject import link_named
from mbcli.multibody.inertia.inertial_parameters import of_central_inertia

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.identification.estimation import Equations
    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

BY_CHANCE = 3.0  # times the squares that so many more unknowns explain of noise
WORSE, AT_ALL = 1.1, 0.002  # times the error that others leave, and of the efforts beside: less does not matter
SURE = 3.0  # standard errors that the inverse of a gain is from 0, at least


@dataclass(frozen=True)
class KnownLoad:
    """A body of known mass [kg] on a link.

    Attributes:
        centre: of mass (3,) [m] in the link's frame; None: it is not known, and found with the inertia of the load.
        With a centre the load counts as a point.
    """

    link: str
    mass: float
    centre: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class DriveGains:
    """Gains (nv,) [N m/A or N/A] and their standard errors, 0 of gains that were given."""

    values: FloatArray
    errors: FloatArray


def drive_gains(
    subject: Subject, free: Sequence[Run], loaded: Sequence[Run], load: KnownLoad, slow: FloatArray, given: FloatArray
) -> DriveGains:
    """The gains of all joints that are driven.

    Args:
        free, loaded: motions without and with the load, whose efforts are currents. slow: of Subject.equations().
        given: (nv,) gains that are known already, NaN for the others.

    Raises:
        ArgumentError: there is no such link. ModelError: closed chains; a gain that the load does not show, by name.
    """
    _refuse_chains(subject)
    frame = _frame_of(subject, load.link)
    pi = of_central_inertia(load.mass, np.array(load.centre or np.zeros(3)), np.zeros((3, 3)))
    of_runs = [subject.equations(run, slow) for run in (*free, *loaded)]
    unknowns = np.arange(1, 10) if load.centre is None else np.zeros(0, dtype=int)
    of_load = [np.zeros((*run.tau.shape, 10)) for run in free]
    of_load += [_efforts(subject, frame, run) for run in loaded]
    of_load = [Y[:, subject.independent] for Y in of_load]
    acts = [np.concatenate((Y[:, :, unknowns], (Y @ pi)[:, :, None]), axis=2) for Y in of_load]
    largest = max(float(np.abs(b[:, :, -1]).max(initial=0.0)) for b in acts)
    sizes = np.concatenate((subject.sizes, np.full(len(unknowns), load.mass)))

    def of_joint(row: int) -> list[Equations]:
        both = enumerate(zip(of_runs, acts, strict=True))
        return [_of_currents(e, row, b, k >= len(free)) for k, (e, b) in both]

    found, unknown = _found(subject, given, of_joint, sizes, TOLERANCE * largest)
    if unknown:
        raise ModelError(
            f"the load on {load.link} does not show the gain of {', '.join(unknown)}: its efforts there cannot be told "
            "from those of the robot; give --effort-gain NAME=VALUE, or move it otherwise"
        )
    return found


def gains_of_known_bodies(subject: Subject, runs: Sequence[Run], slow: FloatArray, given: FloatArray) -> DriveGains:
    """The gains of all joints that are driven, where the bodies of the file are right.

    Args:
        subject: of rotors and friction alone. runs: motions whose efforts are currents. slow, given: as above.

    ModelError: closed chains; a gain that these motions do not show, by name, and why.
    """
    _refuse_chains(subject)
    of_runs = [subject.equations(run, slow) for run in runs]
    bodies = [(e.tau - e.y)[:, :, None] for e in of_runs]
    largest = max(float(np.abs(b).max(initial=0.0)) for b in bodies)

    def of_joint(row: int) -> list[Equations]:
        return [_of_bodies(e, row, b) for e, b in zip(of_runs, bodies, strict=True)]

    found, unknown = _found(subject, given, of_joint, subject.sizes, TOLERANCE * largest)
    if unknown:
        raise ModelError(
            f"the gain of {', '.join(unknown)} cannot be known from these data: what bodies need there cannot be told "
            "from rotors and friction; move all joints, give --effort-gain NAME=VALUE, or, where the file has the "
            "inertia of rotors, --no-armature"
        )
    return found


def of_other_bodies(
    subject: Subject, free: Subject, runs: Sequence[Run], slow: FloatArray, cutoff: float | None
) -> list[Finding]:
    """Findings of joints whose efforts other bodies than those of the file explain better, by more than chance.

    Args:
        subject: of rotors and friction alone. free: the same with bodies. runs: with the efforts by the gains that were
        found. cutoff: [Hz] of their filter: twice as many samples a second are independent; None: all are.
    """
    found = []
    of_runs = [(subject.equations(run, slow), free.equations(run, slow)) for run in runs]
    for k, name in enumerate(subject.independent_names()):
        rows = [e.usable[:, k] for e, _ in of_runs]
        tau = np.concatenate([e.tau[own, k] for (e, _), own in zip(of_runs, rows, strict=True)])
        bodies = np.concatenate([(e.tau - e.y)[own, k] for (e, _), own in zip(of_runs, rows, strict=True)])
        few = np.concatenate([e.A[own, k] for (e, _), own in zip(of_runs, rows, strict=True)])
        many = np.concatenate([e.A[own, k] for (_, e), own in zip(of_runs, rows, strict=True)])
        parts = [orthonormal(np.column_stack((A, bodies)))[0] for A in (few, many)]
        left = [float(((tau - Q @ (Q.T @ tau)) ** 2).sum()) for Q in parts]
        alone = 1.0 if cutoff is None else min(1.0, 2.0 * cutoff / runs[0].rate)
        more, rest = parts[1].shape[1] - parts[0].shape[1], alone * len(tau) - parts[1].shape[1]
        errors = np.sqrt(np.array(left) / max(float(tau @ tau), 1e-300))
        if (
            rest > 0.0
            and left[0] > (1.0 + BY_CHANCE * more / rest) * left[1]
            and errors[0] > WORSE * errors[1] + AT_ALL
        ):
            message = (
                f"bodies of the file explain the current to {100 * errors[0]:.1f} %, others would to "
                f"{100 * errors[1]:.1f} %: the gain is as wrong as the bodies are"
            )
            found.append(Finding("DATA_BODIES", message, runs[0].source, 0, name))
    return found


def _found(
    subject: Subject, given: FloatArray, of_joint: Callable[[int], list[Equations]], sizes: FloatArray, least: float
) -> tuple[DriveGains, list[str]]:
    """Gains, and the names of joints whose gain is not shown.

    of_joint: equations of the current of one of the independent velocities. sizes, least: of _inverse_gain().
    """
    plant = subject.plant
    values, errors = np.array(given, dtype=float), np.zeros(len(given))
    values[np.isnan(given) & (~driven(plant) | subject.held.velocities | subject.silent)] = 1.0
    unknown = []
    for d in np.flatnonzero(np.isnan(values)).tolist():
        found = _inverse_gain(of_joint(int(np.searchsorted(subject.independent, d))), sizes, least)
        if found is None or abs(found[0]) < SURE * found[1]:
            unknown.append(plant.GetVelocityNames()[d])
            continue
        values[d], errors[d] = 1.0 / found[0], found[1] / found[0] ** 2
    return DriveGains(values, errors), unknown


def _of_bodies(e: Equations, d: int, bodies: FloatArray) -> Equations:
    """Equation d, of one joint's current, with one unknown more: the factor of what the bodies need."""
    own = slice(d, d + 1)
    A = np.concatenate((e.A[:, own], bodies[:, own]), axis=2)
    return replace(
        e, A=A, y=e.tau[:, own], usable=e.usable[:, own], tau=e.tau[:, own], raw_tau=e.raw_tau[:, own], turns=None
    )


def _refuse_chains(subject: Subject) -> None:
    if subject.chains is not None:
        raise ModelError("gains of drives are found for robots without closed chains and followers: give --effort-gain")


def _frame_of(subject: Subject, link: str) -> int:
    moved = [subject.plant.elements.bodies[n] for links in subject.moved.links for n in links]
    return int(subject.plant.elements.bodies[link_named(link, moved, "known load")].body_frame().index())


def _efforts(subject: Subject, frame: int, run: Run) -> FloatArray:
    """(n, nv, 10): efforts by the parameters of a body on a frame."""
    q, v, vdot = subject.complete(run.q, run.v, run.vdot)
    return np.array(subject.batch.inverse_dynamics_regressor(q, v, vdot, [frame], [True]))


def _of_currents(e: Equations, d: int, load: FloatArray, is_loaded: bool) -> Equations:
    """Equations d, of one joint's current, with more unknowns: of the load, the factor of b, the inverse of its gain.

    They stand twice, the first may be used without the load, the second with it: errors under load have their own size.
    """
    known = np.insert(load, load.shape[2] - 1, e.tau - e.y, axis=2)[:, d : d + 1]
    A = np.concatenate((e.A[:, d : d + 1], known), axis=2)
    usable = np.zeros((len(load), 2), dtype=bool)
    usable[:, int(is_loaded)] = e.usable[:, d]
    twice: dict[str, Any] = {name: np.repeat(getattr(e, name)[:, d : d + 1], 2, axis=1) for name in ("tau", "raw_tau")}
    return replace(e, A=np.repeat(A, 2, axis=1), y=twice["tau"], usable=usable, **twice)


def _inverse_gain(equations: Sequence[Equations], sizes: FloatArray, least: float) -> tuple[float, float] | None:
    """1 / k, the last unknown, and its standard error; None where no motion shows it, or the load's efforts are all
    below the least. sizes: of the unknowns before those that are efforts themselves.

    It is not shown either where what the load changes in the currents is rounding.
    """
    rows = np.concatenate([e.A[e.usable.any(axis=1), 0] for e in equations])
    if not len(rows) or float(np.abs(rows[:, -1]).max()) <= least:
        return None
    lengths = np.linalg.norm(rows, axis=0)
    others = np.sqrt(len(rows)) / np.maximum(lengths[len(sizes) :], np.sqrt(len(rows)) * 1e-9)
    sizes = np.append(sizes, others)
    # the load is taken last, so that it leads a combination only if the others do not make it up
    order = sizes.copy()
    order[-1] = 1e-6 * float((lengths * sizes)[:-1].max(initial=0.0)) / lengths[-1] or 1.0
    columns, combinations = base_combinations(rows, order)
    if columns[-1] != len(sizes) - 1:
        return None
    weighted = weigh(equations, sizes, columns, combinations)
    x = least_squares(weighted.R[:, columns], weighted.c, sizes[columns])
    currents = np.concatenate([e.y[e.usable.any(axis=1), 0] for e in equations])
    if abs(x[-1]) * lengths[-1] <= TOLERANCE * np.linalg.norm(currents):
        return None
    spread = covariance(weighted, equations, columns, x, sizes)
    return float(x[-1]), float(np.sqrt(max(spread[-1, -1], 0.0)))
