"""From constraints between links and joints to the arrays of the engine.

Three things can be constrained: the motion of frame S on one link in frame P on another (Tie), a sum of coordinates
(Coupling), or code of a user (Given). Each has rows, numbered by the caller; the engine puts them into an
order of its own, in which constraints with common velocities are close to each other.
"""

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.engine.constraints import constraint_frames as kinds
from mbcli.engine.runtime.model import Constraints
from mbcli.multibody.compilation.compile_model import rotations_with_z
from mbcli.multibody.compilation.shared_velocities import elimination_order, first_neighbours, shared_velocities

NO_AXIS = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Row:
    """One equation between frames P and S: kind as in engine/constraints/constraint_frames.py, with its data.

    limits: between which phi may be instead of zero; spring: stiffness and damping beyond them, rigid by default.
    """

    kind: int
    axis: tuple = (*NO_AXIS, *NO_AXIS)
    second: tuple = NO_AXIS
    constant: float = 0.0
    limits: tuple = (0.0, 0.0)
    spring: tuple = (np.inf, 0.0)

    def is_equation(self):
        """Whether it demands that phi is zero."""
        return self.limits == (0.0, 0.0) and self.spring[0] == np.inf


@dataclass(frozen=True)
class Tie:
    """Equations between frame P on link `predecessor` and S on `successor`, at poses (4, 4) in these links."""

    predecessor: int
    X_P: np.ndarray
    successor: int
    X_S: np.ndarray
    rows: tuple
    numbers: tuple


@dataclass(frozen=True)
class Coupling:
    """sum of coefficient * q = offset over terms (place in q, place in v, coefficient); limits and spring as in Row."""

    terms: tuple
    offset: float
    numbers: tuple
    limits: tuple = (0.0, 0.0)
    spring: tuple = (np.inf, 0.0)

    @property
    def rows(self):
        return (Row(kinds.COUPLER, constant=self.offset, limits=self.limits, spring=self.spring),)


@dataclass(frozen=True)
class Given:
    """Rows whose errors, Jacobian and bias the caller computes."""

    numbers: tuple

    @property
    def rows(self):
        return (Row(kinds.CUSTOM),) * len(self.numbers)


def slides(*axes):
    """Rows that hold translations along axes of P."""
    return tuple(Row(kinds.SLIDE, (*NO_AXIS, *axis)) for axis in axes)


def twists(*axes):
    """Rows that hold turns about axes of P."""
    return tuple(Row(kinds.TWIST, (*axis, *NO_AXIS)) for axis in axes)


def normals(axis):
    """Two axes normal to another one."""
    R = rotations_with_z(axis[None])[0]
    return tuple(R[:, 0]), tuple(R[:, 1])


def alignments(axes, free):
    """Rows that hold turns about two axes of P normal to the axis `free`, about which turns are free."""
    return tuple(Row(kinds.ALIGN, (*axis, *NO_AXIS), tuple(free)) for axis in axes)


def threads(axis, travel):
    """The row of a screw along an axis of P, with its travel per radian [m/rad]."""
    return (Row(kinds.THREAD, (*(-travel * np.asarray(axis)), *axis), tuple(axis), travel),)


def perpendicular(axis, other):
    """The row that keeps an axis of P perpendicular to another one of S."""
    return (Row(kinds.PERPENDICULAR, (*axis, *NO_AXIS), tuple(other)),)


def distance(length, spring=(np.inf, 0.0), least=None):
    """The row that keeps So at a distance [m] from Po, or from `least` to that; spring as in Row."""
    limits = (0.0, 0.0) if least is None else (least - length, 0.0)
    return (Row(kinds.DISTANCE, constant=length, limits=limits, spring=spring),)


def contact(normal):
    """The row that holds the velocity of So along an axis of World, P."""
    return (Row(kinds.CONTACT, (*NO_AXIS, *normal)),)


def loop_rows(axes):
    """Rows for the spatial axes (6,) of P that S on the successor does not move along.

    Two rotational axes leave turns about their normal free: then the position error must not depend on that angle.
    """
    turning = [axis[:3] for axis in axes if axis[:3].any()]
    pure = all(not axis[3:].any() for axis in axes if axis[:3].any())
    free = None
    if pure and turning and np.linalg.matrix_rank(np.array(turning)) == 2:
        free = np.linalg.svd(np.array(turning))[2][2]
    rows = []
    for axis in axes:
        if not axis[:3].any():
            rows += slides(axis[3:])
        elif free is not None:
            rows += alignments((axis[:3],), free)
        elif not axis[3:].any():
            rows += twists(axis[:3])
        else:
            rows.append(Row(kinds.TWIST, tuple(axis)))
    return rows


def compile_constraints(model, constraints):
    """The Constraints on a Model.

    Args:
        model: of the engine.
        constraints: Tie, Coupling and Given in any order; their numbers are 0, 1, ... each once.
    """
    level, packed, npacked = _packing(model)
    constraints = [c for c in constraints if c.rows]
    supports = [_support(model, c) for c in constraints]
    shared = shared_velocities(supports)
    order = elimination_order([len(c.rows) for c in constraints], shared)
    if order != list(range(len(order))):
        constraints, supports = [constraints[k] for k in order], [supports[k] for k in order]
        shared = shared_velocities(supports)
    counts = np.array([len(c.rows) for c in constraints], dtype=int)
    first_row = np.concatenate([[0], np.cumsum(counts)]).astype(int)
    first_support = np.concatenate([[0], np.cumsum([len(s) for s in supports])]).astype(int)
    entries = np.concatenate([[0], np.cumsum([len(s) * n for s, n in zip(supports, counts, strict=True)])]).astype(int)
    profile_first = np.repeat(first_row[first_neighbours(shared, len(counts))], counts)
    widths = np.arange(len(profile_first)) - profile_first + 1
    ends = np.cumsum(widths)
    terms = _terms(constraints, supports, entries, first_row)
    rows = [row for c in constraints for row in c.rows]
    sizes = {
        "nconstraint": len(constraints),
        "nrow": len(rows),
        "nsupport": int(first_support[-1]),
        "nentry": int(entries[-1]),
        "npacked": npacked,
        "npair": len(shared.pairs),
        "nshared": len(shared.places),
        "nterm": len(terms),
        "nprofile": int(widths.sum()),
    }
    return Constraints(
        model.sizes | sizes,
        {
            "dof_level": level,
            "dof_packed": packed,
            **_frames(model, constraints),
            "constraint_rows": np.column_stack([first_row[:-1], first_row[1:]]),
            "constraint_support": np.column_stack([first_support[:-1], first_support[1:]]),
            "constraint_entry": entries[:-1],
            "support_dof": np.concatenate([np.zeros(0, int), *supports]),
            "support_parent": np.concatenate([np.zeros(0, int)] + [_parents(model, s) for s in supports]),
            "support_side": np.concatenate(
                [np.zeros(0, int)] + [_sides(model, c, s) for c, s in zip(constraints, supports, strict=True)]
            ),
            "row_number": [n for c in constraints for n in c.numbers],
            "row_kind": [row.kind for row in rows],
            "row_axis": np.reshape([row.axis for row in rows], (-1, 6)),
            "row_second": np.reshape([row.second for row in rows], (-1, 3)),
            "row_constant": [row.constant for row in rows],
            "row_limits": np.reshape([row.limits for row in rows], (-1, 2)),
            "row_spring": np.reshape([row.spring for row in rows], (-1, 2)),
            **{name: [t[k] for t in terms] for k, name in enumerate(TERM_FIELDS)},
            "pair_constraint": shared.pairs,
            "pair_shared": np.column_stack([np.concatenate([[0], shared.ends])[:-1], shared.ends]),
            "shared_place": shared.places,
            "profile_first": profile_first,
            "profile_start": ends - widths - profile_first,
        },
        model.dtype,
    )


def share_at_most(model, constraints, most):
    """Whether pairs of constraints share no more velocities than that, all pairs together, with less work than these.

    That number is the length of shared_place, and measures what compile_constraints() and each rank take.
    """
    sharing, found = np.zeros(model.sizes["nv"], dtype=int), 0
    for constraint in constraints:
        if constraint.rows:
            support = _support(model, constraint)
            sharing[support] += 1
            found += int(sharing[support].sum())
            if found > most:
                return False
    return True


TERM_FIELDS = ("term_row", "term_q", "term_entry", "term_coefficient")


def _packing(model):
    """Level of each velocity, start of its row in packed arrays, their size."""
    level = np.zeros(len(model.dof_parent), dtype=int)
    for d, parent in enumerate(model.dof_parent):
        level[d] = level[parent] + 1 if parent >= 0 else 0
    ends = np.cumsum(level + 1)
    return level, ends - level - 1, int(ends[-1]) if len(ends) else 0


def _ancestors(model, dof):
    """A velocity and those that carry it."""
    found = []
    while dof >= 0:
        found.append(dof)
        dof = int(model.dof_parent[dof])
    return found


def _last_dof(model, link):
    """The velocity that moves a link, -1 for one that is welded to World."""
    b = model.link_body[link]
    return int(model.body_v[b] + model.body_nv[b]) - 1


def _support(model, constraint):
    """The velocities that move the constrained points and frames, ascending; all of them if that is unknown."""
    if isinstance(constraint, Given):
        return np.arange(model.sizes["nv"])
    if isinstance(constraint, Coupling):
        ends = [dof for _, dof, _ in constraint.terms]
    else:
        ends = [_last_dof(model, constraint.predecessor), _last_dof(model, constraint.successor)]
    return np.array(sorted({dof for end in ends for dof in _ancestors(model, end)}), dtype=int)


def _parents(model, support):
    """Place in the support of the next velocity towards World, -1 for that of a root."""
    parents = model.dof_parent[support]
    return np.where(parents >= 0, np.searchsorted(support, parents), -1)


def _sides(model, constraint, support):
    if isinstance(constraint, Given):
        return np.full(len(support), 2)
    if isinstance(constraint, Coupling):
        return np.zeros(len(support), dtype=int)
    behind_S = np.isin(support, _ancestors(model, _last_dof(model, constraint.successor)))
    behind_P = np.isin(support, _ancestors(model, _last_dof(model, constraint.predecessor)))
    return behind_S.astype(int) - behind_P.astype(int)


def _frames(model, constraints):
    """Bodies of the engine, and the poses of P and S in them."""
    bodies, poses = [], ([], [])
    for c in constraints:
        ends = ((c.predecessor, c.X_P), (c.successor, c.X_S)) if isinstance(c, Tie) else ((0, np.eye(4)),) * 2
        bodies.append([model.link_body[link] for link, _ in ends])
        for rows, (link, X) in zip(poses, ends, strict=True):
            R, p = model.link_X_BL[link, :9].reshape(3, 3), model.link_X_BL[link, 9:]
            rows.append([*(R @ X[:3, :3]).ravel(), *(R @ X[:3, 3] + p)])
    return {
        "constraint_body": np.reshape(bodies, (-1, 2)),
        "constraint_X_BP": np.reshape(poses[0], (-1, 12)),
        "constraint_X_BS": np.reshape(poses[1], (-1, 12)),
    }


def _terms(constraints, supports, entries, first_row):
    """Rows of TERM_FIELDS; the offset of a coupling is the constant of its row."""
    found = []
    for c, constraint in enumerate(constraints):
        if isinstance(constraint, Coupling):
            for q, dof, coefficient in constraint.terms:
                found.append((first_row[c], q, entries[c] + np.searchsorted(supports[c], dof), coefficient))
    return found
