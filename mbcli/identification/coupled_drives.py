"""A drive that turns with the joint before its own, as in wrists: its friction acts on both joints."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from mbcli.identification.friction_signs import friction_sign

if TYPE_CHECKING:
    from mbcli.identification.trials import Trial


def coupled_drive(trial: Trial) -> tuple[float, str, str]:
    """By what factor the friction and rotor of one coupled drive make the error of the best case less, what that is,
    and the name of its velocity.

    The drive of joint e turns by v_e + v_d or v_e - v_d, d the joint before: what resists that acts on both.
    """
    subject, part, best = trial.subject, trial.part, (1.0, "", "")
    _, v, vdot = subject.complete(part.q, part.v, part.vdot)
    names = subject.plant.GetVelocityNames()
    angular = [d for d in subject.joints if d in subject.independent and subject.joint_of[d].is_angular()]
    for (d, e), sign in itertools.product(itertools.pairwise(angular), (1.0, -1.0)):
        speed, rate = v[:, e] + sign * v[:, d], vdot[:, e] + sign * vdot[:, d]
        slow = None if trial.slow is None else np.maximum(trial.slow[d], trial.slow[e])
        resists = np.column_stack((rate, speed, friction_sign(speed, slow)))
        columns = np.zeros((len(v), len(subject.independent), resists.shape[1]))
        for joint, factor in ((e, 1.0), (d, sign)):
            columns[:, int(np.searchsorted(subject.independent, joint))] = factor * resists
        gains, unknowns, _ = trial.gain_of(columns)
        error = float(np.sqrt(max(1.0 - gains[0], 0.0)))
        if error < best[0] and float(speed @ resists[:, 1:] @ unknowns[0, 1:]) > 0.0:  # friction takes power
            what = f"friction of its drive acts on {names[d]} too, as in a coupled wrist, which the model lacks"
            best = error, what, names[e]
    return best
