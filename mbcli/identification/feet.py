"""Feet that touch something: forces that sensors give count as efforts, others are taken out of the equations.

A force f on a foot makes the equations tau + J^T f = Y x, J of the foot by all velocities. Where a foot touches and
nobody gives f, as many joints of its leg as f has components are moved such that the foot stands, whatever the base and
other joints do: v = N v', and N^T (tau - Y x) = 0 has no f. The equations of these joints are spent on that, and the
base feels what their efforts say of f; feet in the air leave all equations. So contacts need not be rigid, only known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.records import CONTACT, FORCES, given
from mbcli.identification.signals import EDGE
from mbcli.models.loading import find_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.estimation import Equations
    from mbcli.identification.records import Record
    from mbcli.identification.signals import Run
    from mbcli.math.array_types import FloatArray

NEARLY_STRAIGHT = (
    1e-2  # of the largest singular value of joints that stand for a foot: a leg shows no force along itself
)
FEW = 5  # states that choose these joints


class Feet:
    """The feet of a plant whose bases float.

    Args:
        plant: finalized. names: of frames or links, whose origins the forces act at; none: there are no feet.

    ArgumentError: there is no such frame.
    """

    def __init__(self, plant: Any, names: Sequence[str] = ()) -> None:
        self._plant, self.names = plant, list(names)
        self._frames = [int(find_frame(plant, name, "feet").index()) for name in names]
        self._first = len(plant.GetActuatorNames())
        self.bases = np.zeros(plant.num_velocities(), dtype=bool)
        for joint in plant.moving_joints():
            if joint.num_velocities() == 6:
                self.bases[joint.velocity_start() : joint.velocity_start() + 6] = True

    def __bool__(self) -> bool:
        return bool(self.names)

    def _columns(self, foot: int) -> tuple[int, slice]:
        """Where a record has the contact of a foot, and its force."""
        start = self._first + (1 + len(FORCES)) * foot
        return start, slice(start + 1, start + 1 + len(FORCES))

    def with_forces(self, record: Record, batch: Any) -> Record:
        """The record with the forces that it gives among its efforts. ModelError: a foot has no column.

        batch: StateBatch of the plant.
        """
        tau, rest = record.tau.copy(), None
        for k, name in enumerate(self.names):
            contact, force = self._columns(k)
            known = given(record.u)
            if known[force].all():
                if rest is None:
                    rest = np.zeros_like(record.v)
                    tau[:, self.bases] = np.nan_to_num(tau[:, self.bases])
                frame = self._frames[k]
                J = batch.point_jacobians(record.q, rest, frame, np.zeros(3), 0, frame)[0][:, 3:]
                tau += np.einsum("nij,ni->nj", J, record.u[:, force])
            elif not known[contact]:
                wanted = ", ".join(f"u:{name}{part}" for part in (CONTACT, *FORCES))
                raise ModelError(
                    f"{record.source}: error: nothing says when {name} touches, or with what force: columns {wanted}"
                )
        return replace(record, tau=tau)

    def on(self, run: Run, record: Record, cutoff: float | None) -> Run:
        """A run with the feet that touch by unknown forces, without samples in which a filter mixes both."""
        if not self.names:
            return run
        at, known = np.searchsorted(record.rows, run.rows), given(record.u)
        touch = np.zeros((len(run), len(self.names)), dtype=bool)
        for k in range(len(self.names)):
            contact, force = self._columns(k)
            if not known[force].all():
                touch[:, k] = record.u[at, contact] != 0.0
        usable = run.usable
        if cutoff is not None:
            changes = np.append((touch[1:] != touch[:-1]).any(axis=1), False)
            edge = int(EDGE * run.rate / cutoff)
            near = np.convolve(changes, np.ones(2 * edge + 1), mode="same") > 0.5
            usable = usable & ~near[:, None]
        return replace(run, usable=usable, touch=touch)

    def without_forces(self, e: Equations, q: FloatArray, touch: Any, independent: Any, batch: Any) -> Equations:
        """Equations (n, d) of these velocities, in which no unknown force acts."""
        spare = np.flatnonzero(~self.bases[independent])
        A, y, tau, raw, usable, judged = (getattr(e, name).copy() for name in ARRAYS)
        turns = None if e.turns is None else (e.turns[0], e.turns[1].copy())
        arrays = [A, y[:, :, None], tau[:, :, None], raw[:, :, None]] + ([] if turns is None else [turns[1]])
        for feet in np.unique(touch, axis=0):
            if not feet.any():
                continue
            rows = np.flatnonzero((touch == feet).all(axis=1))
            still = np.zeros((len(rows), self._plant.num_velocities()))
            frames = [self._frames[k] for k in np.flatnonzero(feet)]
            J = [batch.point_jacobians(q[rows], still, f, np.zeros(3), 0, 0)[0][:, 3:] for f in frames]
            G = np.concatenate(J, axis=1)[:, :, independent]
            spent = spare[_most_independent(G[np.linspace(0, len(rows) - 1, FEW).astype(int)][:, :, spare])]
            left = np.setdiff1d(np.arange(G.shape[2]), spent)
            if len(spent) < G.shape[1]:  # legs of fewer joints than a force has components
                usable[rows], judged[rows] = False, False
                continue
            sizes = np.linalg.svd(G[:, :, spent], compute_uv=False)
            good = sizes[:, -1] > NEARLY_STRAIGHT * sizes[:, 0]
            usable[rows[~good]], judged[rows[~good]] = False, False
            rows, G = rows[good], G[good]
            N = -np.linalg.solve(G[:, :, spent], G[:, :, left])
            acts = np.abs(N) > 1e-12
            for values in arrays:
                values[np.ix_(rows, left)] += np.einsum("nij,nip->njp", N, values[np.ix_(rows, spent)])
            for may in (usable, judged):
                may[np.ix_(rows, left)] &= ~np.einsum("nij,ni->nj", acts, ~may[np.ix_(rows, spent)]).astype(bool)
                may[np.ix_(rows, spent)] = False
        return replace(e, A=A, y=y, tau=tau, raw_tau=raw, usable=usable, judged=judged, turns=turns)


ARRAYS = ("A", "y", "tau", "raw_tau", "usable", "judged")


def _most_independent(G: FloatArray) -> Any:
    """Columns of G (k, m, d) that its m rows are independent by, as many as there are."""
    from scipy.linalg import qr

    T, order = qr(G.reshape(-1, G.shape[2]), pivoting=True, mode="r")
    rank = int(np.linalg.matrix_rank(G[0], tol=1e-8 * max(float(np.abs(G[0]).max(initial=0.0)), 1e-300)))
    return np.sort(order[: min(rank, G.shape[1])])
