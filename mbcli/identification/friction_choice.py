"""Which law of friction each joint has, by evidence: what predicts best the parts of the data that were left out.

Laws: viscous; and Coulomb; and a part that grows with the square root of the speed, or Stribeck's, which falls within a
speed, or, where data have temperatures, viscous friction that changes with these. All have an offset. The data are cut
into blocks of time, or files where these are many; each block is predicted from the others by least squares, by efforts
before the filter. A law with more numbers counts as better only if it is by more than chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.identification.estimation import base_combinations, product, weigh
from mbcli.identification.friction_signs import SLOW, friction_sign, stribeck_part
from mbcli.identification.unknowns import COULOMB, ROOT, STRIBECK, VISCOUS, WARMTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.identification.signals import Run
    from mbcli.identification.subject import Subject
    from mbcli.math.array_types import FloatArray

LAWS = (VISCOUS, COULOMB, ROOT, STRIBECK, WARMTH)  # each after the second is on top of the first two
KINDS = {  # of unknowns
    VISCOUS: (VISCOUS,),
    COULOMB: (VISCOUS, COULOMB),
    ROOT: (VISCOUS, COULOMB, ROOT),
    STRIBECK: (VISCOUS, COULOMB, STRIBECK),
    WARMTH: (VISCOUS, COULOMB, WARMTH),
}
STRIBECK_PARTS = (0.03, 0.06, 0.12, 0.25, 0.5)  # of the usual speed, that are tried
BLOCKS = 10
CHANCE = 2.0  # standard errors of the mean difference of blocks, that are chance
AT_ALL = 1.02  # times the least error of a joint: what is less is no difference
RIDGE = 1e-12  # of the mean of the diagonal of normal equations, by sizes of unknowns


@dataclass(frozen=True)
class FrictionLaw:
    """Of one joint.

    Attributes:
        law: of LAWS. alike: other laws that these data cannot tell from it. errors: {law: error of the efforts of this
            joint in blocks that were left out, over their size}; laws that fit only with a negative part are missing.
        speed: [rad/s or m/s] within which Stribeck's part falls, of STRIBECK.
    """

    joint: str
    velocity: int
    law: str
    alike: list[str]
    errors: dict[str, float]
    speed: float | None


@dataclass
class _Normal:
    """Normal equations of blocks (b, r, r), (b, r), and squares (b,) of right sides."""

    H: FloatArray
    h: FloatArray
    squares: FloatArray

    def errors(self, x: FloatArray) -> FloatArray:
        """(b,) squares of the errors of each block by its own x (b, r)."""
        found = np.einsum("br,brs,bs->b", x, self.H, x) - 2.0 * np.einsum("br,br->b", self.h, x) + self.squares
        return np.array(np.maximum(found, 1e-13 * self.squares))


def friction_laws(subject: Subject, runs: Sequence[Run], slow: FloatArray) -> list[FrictionLaw]:
    """The law of each joint.

    Args:
        subject: with viscous and Coulomb friction, without ROOT and STRIBECK. slow: (nv,) of slow_speeds().

    ModelError of models with constraints.
    """
    if subject.chains is not None:
        raise ModelError("friction is chosen by evidence for trees: this model has constraints; --friction names it")
    # a filter rounds what friction does where a joint turns back, and the square root of the speed would explain that
    equations = [subject.equations(replace(run, tau=run.raw_tau, signs=None), slow) for run in runs]
    columns, combinations = base_combinations(subject.exact_rows(runs), subject.sizes)
    noise = weigh(equations, subject.sizes, columns, combinations).noise
    A = np.concatenate([e.A[:, :, columns] for e in equations]) * subject.sizes[columns]
    y, usable = (np.concatenate([getattr(e, name) for e in equations]) for name in ("y", "usable"))
    tau = np.concatenate([e.tau for e in equations])
    v = np.concatenate([run.v for run in runs])
    blocks = blocks_of([e.source for e in equations], [len(e.y) for e in equations])
    at = {d: int(np.searchsorted(subject.independent, d)) for d in subject.joints}
    usual = slow / SLOW
    sums = [_normal(A[:, k], y[:, k], usable[:, k], blocks, noise[k]) for k in range(y.shape[1])]
    H, h, squares = (np.sum([getattr(s, name) for s in sums], axis=0) for name in ("H", "h", "squares"))
    whole = _Normal(H, h, squares)
    kind_at = {(subject.parameters[c].kind, subject.parameters[c].element): n for n, c in enumerate(columns)}
    found = []
    for d, k in at.items():
        if (COULOMB, d) not in kind_at or not usable[:, k].any() or not usual[d] > 0.0:
            continue
        sign = friction_sign(v[:, d], slow[d])
        added = [sign * np.sqrt(np.abs(v[:, d]))]
        added += [stribeck_part(v[:, d], sign, part * usual[d]) for part in STRIBECK_PARTS]
        if all(run.warmth is not None for run in runs):
            warmth = np.concatenate([run.warmth[:, d] for run in runs if run.warmth is not None])
            added.append((warmth - warmth.mean()) * v[:, d])
        B = np.column_stack((A[:, k], *added))
        own = _normal(B, y[:, k], usable[:, k], blocks, noise[k])
        tried = _tried(whole, sums[k], own, kind_at[COULOMB, d])
        size = float(((tau[:, k] / noise[k]) ** 2 * usable[:, k]).sum())
        found.append(_chosen(subject.joint_of[d].name(), d, tried, size, usual[d]))
    return found


def _tried(whole: _Normal, alone: _Normal, own: _Normal, coulomb: int) -> dict[tuple[str, float | None], FloatArray]:
    """{(law, part of the usual speed): squares of the errors of blocks (b,) that were left out}.

    whole: of all joints. alone, own: of this joint, without and with the columns of ROOT and STRIBECK.
    """
    r, q = whole.h.shape[1], own.h.shape[1]
    H, h = own.H.copy(), own.h.copy()
    H[:, :r, :r] += whole.H - alone.H
    h[:, :r] += whole.h - alone.h
    laws: list[tuple[str, float | None, list[int], int | None]] = [
        (VISCOUS, None, [c for c in range(r) if c != coulomb], None),
        (COULOMB, None, list(range(r)), coulomb),
        (ROOT, None, [*range(r), r], r),
    ]
    laws += [(STRIBECK, p, [*range(r), r + 1 + n], r + 1 + n) for n, p in enumerate(STRIBECK_PARTS)]
    if q > r + 1 + len(STRIBECK_PARTS):
        laws.append((WARMTH, None, [*range(r), q - 1], None))
    found = {}
    for law, part, which, positive in laws:
        at = np.ix_(which, which)
        if positive is not None:
            all_of_it = _solved(H.sum(axis=0)[at], h.sum(axis=0)[which])
            if all_of_it[which.index(positive)] <= 0.0:
                continue
        x = np.zeros((len(H), q))
        for b in range(len(H)):
            x[b, which] = _solved((H.sum(axis=0) - H[b])[at], (h.sum(axis=0) - h[b])[which])
        found[law, part] = own.errors(x)
    return found


def _chosen(
    joint: str, d: int, tried: dict[tuple[str, float | None], FloatArray], size: float, usual: float
) -> FrictionLaw:
    best_of = {law: min((e.sum(), part or 0.0) for (l, part), e in tried.items() if l == law) for law, _ in tried}
    squares = {law: tried[law, part or None] for law, (_, part) in best_of.items()}
    best = min(squares, key=lambda law: float(squares[law].sum()))

    def alike(law: str) -> bool:
        """Whether the best law is better by chance only."""
        more = squares[law] - squares[best]
        by_chance = more.mean() <= CHANCE * more.std(ddof=1) / np.sqrt(len(more))
        return bool(by_chance or squares[law].sum() <= AT_ALL**2 * squares[best].sum())

    same = [law for law in LAWS if law in squares and alike(law)]
    simple = [law for law in same if law in (VISCOUS, COULOMB)]
    law = simple[0] if simple else best
    errors = {name: float(np.sqrt(squares[name].sum() / max(size, 1e-300))) for name in LAWS if name in squares}
    speed = best_of[STRIBECK][1] * float(usual) if law == STRIBECK else None
    return FrictionLaw(joint, d, law, [name for name in same if name != law], errors, speed)


def blocks_of(sources: Sequence[str], lengths: Sequence[int]) -> list[Any]:
    """Rows of each block, of all runs one after another: files if there are BLOCKS // 2 or more, else parts of time."""
    ends = np.cumsum(lengths)
    if len(set(sources)) >= BLOCKS // 2:
        of_source: dict[str, list[Any]] = {}
        for source, end, length in zip(sources, ends, lengths, strict=True):
            of_source.setdefault(source, []).append(np.arange(end - length, end))
        return [np.concatenate(rows) for rows in of_source.values()]
    return np.array_split(np.arange(ends[-1]), BLOCKS)


def _normal(A: FloatArray, y: FloatArray, usable: Any, blocks: Sequence[Any], noise: float) -> _Normal:
    """Of the usable equations A x = y of one joint, by its noise."""
    parts = [rows[usable[rows]] for rows in blocks]
    H = np.stack([product(A[rows], A[rows]) for rows in parts]) / noise**2
    h = np.stack([A[rows].T @ y[rows] for rows in parts]) / noise**2
    return _Normal(H, h, np.array([float(y[rows] @ y[rows]) for rows in parts]) / noise**2)


def _solved(H: FloatArray, h: FloatArray) -> FloatArray:
    diagonal = np.sqrt(np.maximum(np.diag(H), 1e-300))
    scaled = H / diagonal[:, None] / diagonal + RIDGE * np.eye(len(H))
    return np.array(np.linalg.solve(scaled, h / diagonal) / diagonal)
