"""A base that is mounted otherwise than the file says: gravity has another direction in its frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.queries.state_batch import StateBatch
from mbcli.engine.runtime.kernel import may_compile
from mbcli.identification.trials import Explained, Trial

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

MOST_STEPS = 6
STARTS = 3  # of six along axes: those that explain most by themselves
SETTLED = 1e-3  # [rad]
LEAST_TILT = 2.0  # [degrees]


def mounting(trial: Trial, limit: float, far: bool) -> tuple[Explained, str] | None:
    """What explains the data better than to an error of `limit`, and which gravity that is; None if none does.

    far: whether directions are looked at that are far from that of the file.
    """
    subject = trial.subject
    usual = np.array(subject.model.gravity, dtype=float)
    strength = float(np.linalg.norm(usual))
    if strength == 0.0 or subject.payload or any(j.num_velocities() > 1 for j in subject.plant.moving_joints()):
        return None
    columns = [_columns(trial, g) for g in strength * np.vstack((np.zeros(3), np.eye(3)))]
    without, slopes = columns[0], np.stack([A - columns[0] for A in columns[1:]], axis=-1)

    def under(direction: FloatArray) -> Trial:
        return trial.with_columns(without + slopes @ direction)

    def refined(direction: FloatArray) -> tuple[float, FloatArray]:
        """The least error near a direction, and where that is."""
        best = (np.inf, direction)
        for _ in range(MOST_STEPS):
            now = under(direction)
            explained = now.by_bodies() or now.by_anything()
            if explained.error > best[0]:
                break
            best = (explained.error, direction)
            more = np.einsum("ndpk,p->ndk", slopes, explained.x)
            # along the direction itself gravity is told from masses by accelerations alone: that is not asked
            across = np.linalg.svd(direction[None])[2][1:].T
            step = across @ now.gain_of(more @ across)[1][0]
            direction = direction + step / max(1.0, float(np.linalg.norm(step)))
            direction /= np.linalg.norm(direction)
            if np.linalg.norm(step) < SETTLED:
                break
        return best

    error, direction = refined(usual / strength)
    if error >= limit and far:
        starts = [sign * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
        starts.sort(key=lambda u: under(u).by_anything().error)
        error, direction = min((refined(u) for u in starts[:STARTS]), key=lambda found: found[0])
    found = under(direction).by_bodies()
    angle = float(np.degrees(np.arccos(np.clip(direction @ usual / strength, -1.0, 1.0))))
    if found is None or found.error >= limit or angle < LEAST_TILT:
        return None
    g = ", ".join(f"{value:.3g}" for value in strength * direction)
    return found, f"gravity is tilted by {angle:.0f} degrees against the base, as ({g}) m/s^2: --gravity"


def _columns(trial: Trial, gravity: FloatArray) -> FloatArray:
    """A (n, d, p) under another gravity (3,) [m/s^2]."""
    subject, part = trial.subject, trial.part
    batch = StateBatch(subject.model.replace(gravity=gravity), compiled=may_compile())
    q, v, vdot = subject.complete(part.q, part.v, part.vdot)
    return subject.columns(q, v, vdot, part.signs_of(v, trial.slow), batch)[:, subject.independent]
