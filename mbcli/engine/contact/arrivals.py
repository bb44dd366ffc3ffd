"""Impacts at their times: positions move with the velocities without constraints up to where surfaces meet.

The normal of an impact is that of the time at which surfaces meet, and so are the arms of its impulse. If positions
moved with the new velocities from the start of the step on, the angular momentum would jump by the impulse times the
way that one surface passes along the other until then. Two trees (or one and World) that touch nothing else in the
step, and in which nothing else acts by a constraint, pass the share s = -x / (h w) of it before they meet, with the
gap x and the speed w of separation without constraints. So they move by h (s v_free + (1 - s) v'), which keeps the
momenta. Of contacts of a pair that meet at several times s is the first. Others have s = 0: the shares of two trees
would not agree about the gaps between them.
"""

from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    COUNT_ARRIVALS,
    COUNT_CONSTRAINTS,
    TORSIONAL,
    VECTOR_DIRECTION,
    VECTOR_FREE,
    VECTOR_UNTOUCHED,
)
from mbcli.engine.runtime.kernel import kernel

NONE, SEVERAL = -2, -3  # in tree_partner, where -1 is World
LATEST = 0.999  # of the step, before which surfaces meet


@kernel
def arrival_of(solver, first):
    """The share of the step before the impact of a contact, alone or the first of its patch; 0 where it has none."""
    return solver.tree_arrival[solver.con_tree[first, 0]] if solver.counts[COUNT_ARRIVALS] > 0 else 0.0


@kernel
def find_partners(solver):
    """After all constraints -> tree_partner; no tree has an arrival yet."""
    partner = solver.tree_partner
    for t in range(partner.shape[0]):
        partner[t] = NONE
        solver.tree_arrival[t] = 0.0
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        for k in range(2):
            t, other = solver.con_tree[i, k], solver.con_tree[i, 1 - k]
            if t < 0:
                continue
            acts = solver.con_kind[i] >= BOUNDED and solver.con_kind[i] != TORSIONAL
            partner[t] = SEVERAL if acts or (partner[t] != NONE and partner[t] != other) else other


@kernel
def note_arrival(solver, first, gap, free, h):
    """After find_partners: contact `first`, alone or of a patch, strikes: its gap, its speed without constraints."""
    a, b = solver.con_tree[first, 0], solver.con_tree[first, 1]
    alone = solver.tree_partner[a] == b and (b < 0 or solver.tree_partner[b] == a)
    share = -gap / (h * free) if free < 0.0 and gap > 0.0 else 0.0
    if not alone or share <= 0.0 or share > LATEST:
        return
    solver.counts[COUNT_ARRIVALS] += 1
    if solver.tree_arrival[a] == 0.0 or share < solver.tree_arrival[a]:
        solver.tree_arrival[a] = share
        if b >= 0:
            solver.tree_arrival[b] = share


@kernel
def keep_untouched(solver):
    """vectors[UNTOUCHED]: the velocities without constraints, which TAMSI changes for parts of a step."""
    for s in range(solver.vectors8.shape[1]):
        solver.vectors8[VECTOR_UNTOUCHED, s] = solver.vectors8[VECTOR_FREE, s]


@kernel
def go_with_mean_velocities(data, solver):
    """v becomes the mean over the step, of which vectors[DIRECTION] keeps the end."""
    for d in range(data.v.shape[0]):
        slot, share = solver.dof_slot[d], solver.tree_arrival[solver.dof_tree[d]]
        solver.vectors[VECTOR_DIRECTION, slot] = data.v[d]
        if share > 0.0:
            data.v[d] += share * (solver.vectors[VECTOR_UNTOUCHED, slot] - data.v[d])


@kernel
def go_on_with_last_velocities(data, solver):
    """v becomes that of the end again."""
    for d in range(data.v.shape[0]):
        data.v[d] = solver.vectors[VECTOR_DIRECTION, solver.dof_slot[d]]
