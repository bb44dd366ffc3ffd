"""A step with TAMSI in equal parts, if no solution of the whole one is found.

Over a part of a step all that is known at its start is kept, masses, normals and forces; only velocities change, and
penetrations by them. Impulses of the parts add up, so that the momenta of the whole step are in balance. The laws of
other constraints give, at the same velocity, the same force in a part as in the whole step.
"""

from mbcli.engine.fields.contact_fields import (
    BOUNDED,
    BOUNDED_HIGH,
    BOUNDED_LOW,
    BOUNDED_R,
    HUNT_CROSSLEY_PENETRATION,
    HUNT_CROSSLEY_PENETRATION_AT_START,
    HUNT_CROSSLEY_STEP,
    HUNT_CROSSLEY_STRIKES,
    SETTING_APPROXIMATION,
    TAMSI,
    TORSIONAL,
    VECTOR_FREE,
    VECTOR_GAIN,
    VECTOR_START,
    VECTOR_VELOCITY,
)
from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.runtime.lane_memory import WIDTH


@slot(plain="contact.plain.keep_start")
def keep_start(solver, k):
    """The start of the parts: velocities and penetrations at the step's start, and the gain without constraints."""
    vectors = solver.vectors8
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_START, c] = vectors[VECTOR_VELOCITY, c]
            vectors[VECTOR_GAIN, c] = vectors[VECTOR_FREE, c] - vectors[VECTOR_VELOCITY, c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_kind[i] == TAMSI:
            solver.con_law[i, HUNT_CROSSLEY_PENETRATION_AT_START] = solver.con_law[i, HUNT_CROSSLEY_PENETRATION]


@slot(plain="contact.plain.return_to_start")
def return_to_start(solver):
    """vectors[VELOCITY] for a problem that is solved again: TAMSI begins at the start of the step."""
    if int(solver.settings[SETTING_APPROXIMATION]) != TAMSI:
        return
    for c in range(solver.vectors8.shape[1]):
        solver.vectors8[VECTOR_VELOCITY, c] = solver.vectors8[VECTOR_START, c]


@slot(plain="contact.plain.begin_substep")
def begin_substep(solver, k, parts, part):
    """Velocities with and without constraints for a part of the step of island k; the whole step is ready already."""
    if parts == 1:
        return
    vectors = solver.vectors8
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            if part == 0:
                vectors[VECTOR_VELOCITY, c] = vectors[VECTOR_START, c]
            vectors[VECTOR_FREE, c] = vectors[VECTOR_VELOCITY, c] + (1.0 / parts) * vectors[VECTOR_GAIN, c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if part == 0:
            for r in range(3):
                solver.con_sum[i, r] = 0.0
        if solver.con_kind[i] == TAMSI:
            if solver.con_law[i, HUNT_CROSSLEY_STRIKES] == 1.0:  # the target of its velocity is that of each part
                solver.con_law[i, HUNT_CROSSLEY_PENETRATION] = (
                    solver.con_law[i, HUNT_CROSSLEY_PENETRATION_AT_START] / parts
                )
            elif part == 0:
                solver.con_law[i, HUNT_CROSSLEY_PENETRATION] = solver.con_law[i, HUNT_CROSSLEY_PENETRATION_AT_START]
            else:
                solver.con_law[i, HUNT_CROSSLEY_PENETRATION] -= (
                    solver.con_law[i, HUNT_CROSSLEY_STEP] * solver.con_v[i, 2]
                )


@slot(plain="contact.plain.end_substep")
def end_substep(solver, k, parts):
    """After a part is solved: its impulses are added to those of the parts before."""
    if parts == 1:
        return
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        for r in range(3):
            solver.con_sum[i, r] += solver.con_impulse[i, r]


@slot(plain="contact.plain.halve_substeps")
def halve_substeps(solver, k):
    """The laws of island k for parts that are half as long."""
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        scale_law(solver, solver.con_order[c], 0.5)


@slot(plain="contact.plain.end_substeps")
def end_substeps(solver, k, parts):
    """The laws of the whole step again, its velocities without constraints, and its impulses."""
    if parts == 1:
        return
    vectors = solver.vectors8
    for p in range(solver.island_tree[k], solver.island_tree[k + 1]):
        t = solver.order[p]
        for c in range(solver.tree_slot[t] // WIDTH, solver.tree_slot[t + 1] // WIDTH):
            vectors[VECTOR_FREE, c] = vectors[VECTOR_START, c] + vectors[VECTOR_GAIN, c]
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        scale_law(solver, i, 1.0 * parts)
        if solver.con_kind[i] == TAMSI:
            solver.con_law[i, HUNT_CROSSLEY_PENETRATION] = solver.con_law[i, HUNT_CROSSLEY_PENETRATION_AT_START]
        for r in range(3):
            solver.con_impulse[i, r] = solver.con_sum[i, r]


@kernel
def scale_law(solver, i, ratio):
    """The law of constraint i for a time that is so many times as long."""
    law = solver.con_law
    if solver.con_kind[i] == TORSIONAL:
        return
    if solver.con_kind[i] == TAMSI:
        law[i, HUNT_CROSSLEY_STEP] *= ratio
        return
    law[i, BOUNDED_R] /= ratio  # it stands first in the laws of equalities too
    if solver.con_kind[i] == BOUNDED:
        law[i, BOUNDED_LOW] *= ratio
        law[i, BOUNDED_HIGH] *= ratio
