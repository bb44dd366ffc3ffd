"""Which solids overlap or are near, with their distances, for those who ask about one state."""

from mbcli.engine.collision.broad_phase import may_touch, update_pairs
from mbcli.engine.collision.find_contacts import bounds_touch, place_solids_at
from mbcli.engine.collision.nearest import solids_nearest
from mbcli.engine.collision.segments import row_of
from mbcli.engine.collision.shapes import rotate_back
from mbcli.engine.fields.collision_fields import COLLISION_PAIRS, COLLISION_STATUS
from mbcli.engine.runtime.handles import collision_at
from mbcli.engine.runtime.kernel import Handle, Int, OutMatrix, Real, entry, kernel
from mbcli.engine.smooth.spatial import row3, subtract

INFINITE = float("inf")


@entry
def solids_overlap(model: Handle, data: Handle, collision: Handle):
    """From q: 1 if two solids overlap that no filter keeps apart, else 0."""
    place_solids_at(model, data, collision)
    c = collision_at(collision)
    c.counts[COLLISION_STATUS] = 0
    update_pairs(c)
    if c.counts[COLLISION_STATUS] == 0:
        for n in range(c.counts[COLLISION_PAIRS]):
            if overlap_by_distance(c, c.pairs[n, 0], c.pairs[n, 1]):
                return 1
        return 0
    for A in range(c.kind.shape[0]):  # there are more pairs of near solids than the broad phase has room for
        for B in range(A + 1, c.kind.shape[0]):
            if may_touch(c, A, B) and overlap_by_distance(c, A, B):
                return 1
    return 0


@kernel
def overlap_by_distance(c, A, B):
    """Whether two solids overlap."""
    return bounds_touch(c, A, B, 0.0) and solids_nearest(c, A, B, 0.0) < 0.0


@entry
def near_solids(model: Handle, data: Handle, collision: Handle, limit: Real, measured: Int, rows: OutMatrix):
    """From q: how many pairs are not farther apart than the limit (>= 0), and rows (n, 18) of those that there is room
    for, see note_pair(). measured 0: the pairs whose bounds are not farther apart.
    """
    place_solids_at(model, data, collision)
    c = collision_at(collision)
    count = 0
    for A in range(c.kind.shape[0]):
        for B in range(A + 1, c.kind.shape[0]):
            if not (may_touch(c, A, B) and bounds_touch(c, A, B, limit)):
                continue
            distance = solids_nearest(c, A, B, limit) if measured == 1 else 0.0
            if distance <= limit:
                note_pair(c, A, B, distance, rows, count)
                count += 1
    return count


@entry
def solids_near_point(
    model: Handle, data: Handle, collision: Handle, x: Real, y: Real, z: Real, limit: Real, rows: OutMatrix
):
    """From q, of a collision whose last solid is a point of World: as near_solids(), of that solid at x, y, z alone."""
    c = collision_at(collision)
    last = c.kind.shape[0] - 1
    c.X_BG[last, 9], c.X_BG[last, 10], c.X_BG[last, 11] = x, y, z
    place_solids_at(model, data, collision)
    count = 0
    for A in range(last):
        distance = solids_nearest(c, A, last, limit)
        if distance <= limit:
            note_pair(c, A, last, distance, rows, count)
            count += 1
    return count


@entry
def pair_of_solids(model: Handle, data: Handle, collision: Handle, A: Int, B: Int, rows: OutMatrix):
    """From q: as near_solids(), of one pair, however far apart."""
    place_solids_at(model, data, collision)
    c = collision_at(collision)
    note_pair(c, A, B, solids_nearest(c, A, B, INFINITE), rows, 0)


@kernel
def note_pair(c, A, B, distance, rows, n):
    """After solids_nearest(), if there is a row n: both solids, their distance, Collision.nearest, and the nearest
    points in the solids' own frames.
    """
    if n >= rows.shape[0]:
        return
    rows[n, 0], rows[n, 1], rows[n, 2] = A, B, distance
    for k in range(9):
        rows[n, 3 + k] = c.nearest[k]
    p_ACa = rotate_back(c.X_WG, A, subtract(row_of(c, 3), row3(c.X_WG, A, 9)))
    p_BCb = rotate_back(c.X_WG, B, subtract(row_of(c, 6), row3(c.X_WG, B, 9)))
    for k in range(3):
        rows[n, 12 + k], rows[n, 15 + k] = p_ACa[k], p_BCb[k]
