"""Which solids may touch: pairs of bounding balls that are near, kept until one of them has moved.

Solids are entered, the largest first, in cells of a hashed grid, one size of cells for each level of sizes: whoever is
near one that was entered before is in a cell around (Ericson 2005, section 7.2). A pair counts as near up to a skin
more than it must; until a centre has moved by half of that no pair can be missing (Verlet 1967). Pairs are sorted, so
that results do not depend on when they were found.
"""

from mbcli.engine.fields.collision_fields import (
    COLLISION_BUILT,
    COLLISION_KEPT,
    COLLISION_PAIRS,
    COLLISION_REACH,
    COLLISION_SKIN,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_PAIRS,
    HALF_SPACE,
    WORD,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import dot, row3, set_row3, subtract


@kernel
def update_pairs(c):
    """After place_solids -> pairs, found anew where solids have moved too far since they were found."""
    if c.counts[COLLISION_BUILT] == 1 and not moved(c):
        return
    c.counts[COLLISION_PAIRS], c.counts[COLLISION_BUILT] = 0, 1
    c.counts[COLLISION_KEPT] = 0
    for n in range(c.kept_count.shape[0]):
        c.kept_count[n] = -1
    for g in range(c.kind.shape[0]):
        set_row3(c.built_at, g, 0, row3(c.p_WC, g, 0))
    for p in range(c.planes.shape[0]):
        first = c.counts[COLLISION_PAIRS]
        for g in range(c.kind.shape[0]):
            if c.kind[g] != HALF_SPACE and may_touch(c, g, c.planes[p]):
                add_pair(c, g, c.planes[p], first)
    for k in range(c.heads.shape[0]):
        c.heads[k] = -1
    for n in range(c.rounds.shape[0]):
        first = c.counts[COLLISION_PAIRS]
        for l in range(c.level[n] + 1):
            pairs_in_level(c, n, l, first)
        enter(c, n)


@kernel
def moved(c):
    most = 0.25 * c.settings[COLLISION_SKIN] * c.settings[COLLISION_SKIN]
    for n in range(c.rounds.shape[0]):
        step = subtract(row3(c.p_WC, c.rounds[n], 0), row3(c.built_at, c.rounds[n], 0))
        if not dot(step, step) <= most:
            return True
    return False


@kernel
def may_touch(c, g, h):
    """Whether they are on different bodies, no filter keeps them apart, and one at least is convex and finite."""
    if c.body[g] == c.body[h] or (c.kind[g] >= HALF_SPACE and c.kind[h] >= HALF_SPACE):
        return False
    a, b = c.filter_row[g], c.filter_row[h]
    return (c.filters[a, b // WORD] >> (b % WORD)) & 1 == 0


@kernel
def add_pair(c, g, h, first):
    """Keeps a pair, those from `first` on sorted."""
    n = c.counts[COLLISION_PAIRS]
    if n >= c.pairs.shape[0]:
        c.counts[COLLISION_STATUS] |= COLLISION_TOO_MANY_PAIRS
        return
    a, b = min(g, h), max(g, h)
    while n > first and (c.pairs[n - 1, 0] > a or (c.pairs[n - 1, 0] == a and c.pairs[n - 1, 1] > b)):
        c.pairs[n, 0], c.pairs[n, 1] = c.pairs[n - 1, 0], c.pairs[n - 1, 1]
        n -= 1
    c.pairs[n, 0], c.pairs[n, 1] = a, b
    c.counts[COLLISION_PAIRS] += 1


@kernel
def cell_along(x, per_length):
    """Which cell a coordinate is in; rounds down, also below 0."""
    cell = int(x * per_length)
    return cell - 1 if cell > x * per_length else cell


@kernel
def head_of(c, x, y, z, l):
    """Place of a cell in heads; cells share places."""
    return (x * 73856093 ^ y * 19349663 ^ z * 83492791 ^ l * 2654435761) & (c.heads.shape[0] - 1)


@kernel
def enter(c, n):
    g, l = c.rounds[n], c.level[n]
    for k in range(3):
        c.cells[n, k] = cell_along(c.p_WC[g, k], c.level_cells[l])
    c.cells[n, 3] = l
    head = head_of(c, c.cells[n, 0], c.cells[n, 1], c.cells[n, 2], l)
    c.followers[n] = c.heads[head]
    c.heads[head] = n


@kernel
def pairs_in_level(c, n, l, first):
    """Pairs of the n-th of the rounds and those of level l that were entered before."""
    g = c.rounds[n]
    x, y, z = (
        cell_along(c.p_WC[g, 0], c.level_cells[l]),
        cell_along(c.p_WC[g, 1], c.level_cells[l]),
        cell_along(c.p_WC[g, 2], c.level_cells[l]),
    )
    around = 1 if c.level_cells[l] > 0.0 else 0
    for i in range(x - around, x + around + 1):
        for j in range(y - around, y + around + 1):
            for k in range(z - around, z + around + 1):
                m = c.heads[head_of(c, i, j, k, l)]
                while m >= 0:
                    here = c.cells[m, 0] == i and c.cells[m, 1] == j and c.cells[m, 2] == k and c.cells[m, 3] == l
                    if here and balls_near(c, g, c.rounds[m]) and may_touch(c, g, c.rounds[m]):
                        add_pair(c, g, c.rounds[m], first)
                    m = c.followers[m]


@kernel
def balls_near(c, g, h):
    apart = subtract(row3(c.p_WC, g, 0), row3(c.p_WC, h, 0))
    reach = c.radius[g] + c.radius[h] + c.settings[COLLISION_REACH] + c.settings[COLLISION_SKIN]
    return dot(apart, apart) <= reach * reach
