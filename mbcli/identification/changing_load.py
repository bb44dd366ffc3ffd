"""A load that an arm takes, or puts down, in the course of a recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.identification.trials import Trial

MASS_AND_MOMENTS = 4  # of the ten parameters of a body: of inertias of loads little is seen
SHORTEST = 0.08  # of a recording, before and after the change


def changing_load(trial: Trial) -> tuple[float, str]:
    """By what factor a change of the load on one link makes the error of the best case less, and what that is."""
    subject, part = trial.subject, trial.part
    q, v, vdot = subject.complete(part.q, part.v, part.vdot)
    parents = {int(p) for p in subject.model.body_parent[1:]}
    best = (1.0, "")
    first, last = int(SHORTEST * len(part)), int((1.0 - SHORTEST) * len(part))
    if subject.payload or last - first < 2:
        return best
    for n, frame in zip(subject.links, subject.frames, strict=True):
        if int(subject.model.link_body[n]) in parents:
            continue
        Y = subject.batch.inverse_dynamics_regressor(q, v, vdot, [frame], [True])[:, subject.independent]
        gains, unknowns, _ = trial.gain_of(Y[:, :, :MASS_AND_MOMENTS])
        k = first + int(np.argmax(gains[first:last]))
        factor = float(np.sqrt(max(1.0 - gains[k], 0.0)))
        name = subject.plant.elements.bodies[n].name()
        if factor < best[0]:
            when = part.time[k]
            best = factor, f"the load on {name} changes at about {when:.3g} s, by {unknowns[k, 0]:+.2g} kg"
    return best
