"""Samples in which nothing carries a floating base: the only ones that count where forces on it are not known.

The force that inverse dynamics ask of a base is its whole mass times what its centre of mass accelerates beside
gravity. In flight that is nothing, and on feet about the weight: the masses of a file tell these apart, even if wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.findings import Finding
from mbcli.identification.signals import EDGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.records import Record
    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject

CARRIED = 0.3  # of its weight, that a base is carried by at least if anything touches it


class Flight:
    """The floating bases of a plant on which no file says what forces act.

    Args:
        subject: of the plant; where it has feet, these say what acts. records: of all files. A column that is 0
            throughout says no more than none.
    """

    def __init__(self, subject: Subject, records: Sequence[Record]) -> None:
        self._subject = subject
        self._bases = []
        for joint in () if subject.feet else subject.plant.moving_joints():
            own = slice(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
            if joint.num_velocities() != 6 or subject.held.velocities[own].any() or subject.silent[own].any():
                continue
            if not any(np.nan_to_num(record.tau[:, own]).any() for record in records):
                self._bases.append(own)

    def alone(self, run: Run, cutoff: float | None) -> Run:
        """A run of which only samples in flight may be used, and none so near its ends that a filter mixes both."""
        if not self._bases:
            return run
        flies = np.ones(len(run), dtype=bool)
        q, v, vdot = self._subject.complete(run.q, run.v, run.vdot)
        forces = self._subject.batch.inverse_dynamics(q, v, vdot)
        weights = self._subject.batch.inverse_dynamics(q, np.zeros_like(v), np.zeros_like(vdot))
        for own in self._bases:
            force, weight = (np.linalg.norm(values[:, own][:, 3:], axis=1) for values in (forces, weights))
            flies &= (force < CARRIED * weight) | (weight == 0.0)  # without gravity nothing has to carry
        if cutoff is not None:
            edge = int(EDGE * run.rate / cutoff)
            near = np.convolve(~flies, np.ones(2 * edge + 1), mode="same") > 0.5
            flies &= ~near
        return replace(run, usable=run.usable & flies[:, None])

    def findings(self, runs: Sequence[Run]) -> list[Finding]:
        """What is left of runs. ModelError if that is nothing."""
        if not self._bases or not runs:
            return []
        whole, left = sum(map(len, runs)), sum(int(run.usable.any(axis=1).sum()) for run in runs)
        source = runs[0].source
        if not left:
            raise ModelError(
                f"{source}: error: something carries the base in all samples, and the data do not say with what force: "
                "record motion in flight, name the feet (--feet), give efforts on the base (columns tau:...), or weld "
                "it (without --floating)"
            )
        if left == whole:
            return []
        message = (
            f"{100 * left / whole:.0f} % of the samples are used: in the others something carries the base, of which "
            "the data do not say the force"
        )
        return [Finding("DATA_CARRIED", message, source)]
