"""Which trees constraints connect, and in which order their velocities are eliminated.

An island is a set of trees that constraints connect; islands are solved one by one. Inside an island trees are
eliminated by minimum degree (George and Liu 1989): the neighbors of an eliminated tree become neighbors of each other.
The pattern of the factor is that of this elimination; neither depends on numbers, so that both are kept for the next
problem if the same trees are connected.
"""

from mbcli.engine.fields.collision_fields import WORD
from mbcli.engine.fields.contact_fields import (
    COUNT_BLOCKS,
    COUNT_CONSTRAINTS,
    COUNT_ISLANDS,
    COUNT_PATTERN,
    COUNT_PLACES,
    COUNT_STATUS,
    COUNT_VALUES,
    PROBLEM_SOLVED,
    PROBLEM_TOO_MANY_BLOCKS,
    SETTING_APPROXIMATION,
    TAMSI,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.runtime.lane_memory import WIDTH


@kernel
def padded(n):
    """n numbers in whole vector registers."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


@kernel
def build_islands(solver):
    """After all constraints -> islands, order of elimination, blocks; as they are if the pattern is the same."""
    if pattern_is_known(solver):
        return
    solver.counts[COUNT_PATTERN] = -1
    find_islands(solver)
    order_islands(solver)
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
        return
    find_blocks_of_constraints(solver)
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        solver.con_pattern[i, 0], solver.con_pattern[i, 1] = solver.con_tree[i, 0], solver.con_tree[i, 1]
    solver.counts[COUNT_PATTERN] = solver.counts[COUNT_CONSTRAINTS]


@kernel
def pattern_is_known(solver):
    if solver.counts[COUNT_PATTERN] != solver.counts[COUNT_CONSTRAINTS]:
        return False
    known, wanted = solver.con_pattern, solver.con_tree
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if known[i, 0] != wanted[i, 0] or known[i, 1] != wanted[i, 1]:
            return False
    return True


@kernel
def find_blocks_of_constraints(solver):
    """con_block: the place in values of the upper block of the two trees of a constraint, or -1."""
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        solver.con_block[i] = -1
        if solver.con_tree[i, 1] >= 0:
            p, q = solver.tree_position[solver.con_tree[i, 0]], solver.tree_position[solver.con_tree[i, 1]]
            if p > q:
                p, q = q, p
            solver.con_block[i] = solver.panel_start[p] + find_block(solver, p, q)


@kernel
def find_islands(solver):
    """After all constraints -> tree_island, island_tree, order (not yet by elimination), island_con, con_order."""
    n_con, n_tree = solver.counts[COUNT_CONSTRAINTS], solver.tree_island.shape[0]
    root = solver.tree_position  # until places are known: a tree that stands for all it is connected with
    for t in range(n_tree):
        root[t] = t
        solver.tree_island[t] = -1
    for i in range(n_con):
        a, b = solver.con_tree[i, 0], solver.con_tree[i, 1]
        ra = representative(root, a)
        solver.tree_island[a] = 0
        if b >= 0:
            rb = representative(root, b)
            solver.tree_island[b] = 0
            if ra != rb:
                root[max(ra, rb)] = min(ra, rb)
    islands, places = 0, 0
    for t in range(n_tree):  # a representative is the first tree of its island
        if solver.tree_island[t] >= 0:
            r = representative(root, t)
            if r == t:
                solver.tree_island[t] = islands
                islands += 1
            else:
                solver.tree_island[t] = solver.tree_island[r]
            places += 1
    solver.counts[COUNT_ISLANDS], solver.counts[COUNT_PLACES] = islands, places
    sort_by_island(solver, islands, n_con, n_tree)


@kernel
def representative(root, t):
    while root[t] != t:
        root[t] = root[root[t]]
        t = root[t]
    return t


@kernel
def sort_by_island(solver, islands, n_con, n_tree):
    """Counting sorts of trees and of constraints."""
    start, con = solver.island_tree, solver.island_con
    for k in range(islands + 1):
        start[k] = 0
        con[k] = 0
    for t in range(n_tree):
        if solver.tree_island[t] >= 0:
            start[solver.tree_island[t] + 1] += 1
    for i in range(n_con):
        con[solver.tree_island[solver.con_tree[i, 0]] + 1] += 1
    for k in range(islands):
        start[k + 1] += start[k]
        con[k + 1] += con[k]
    next_tree, next_con = solver.degree, solver.panel_start  # both are free yet
    for k in range(islands):
        next_tree[k], next_con[k] = start[k], con[k]
    for t in range(n_tree):
        k = solver.tree_island[t]
        if k >= 0:
            solver.order[next_tree[k]] = t
            next_tree[k] += 1
    for i in range(n_con):
        k = solver.tree_island[solver.con_tree[i, 0]]
        solver.con_order[next_con[k]] = i
        next_con[k] += 1


@kernel
def order_islands(solver):
    """After find_islands -> order, tree_position, and the panels and blocks of the factor."""
    place, block = 0, 0
    for k in range(solver.counts[COUNT_ISLANDS]):
        first, end = solver.island_tree[k], solver.island_tree[k + 1]
        n = end - first
        words = (n + WORD - 1) // WORD
        if n * words > solver.neighbors.shape[0]:
            solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_BLOCKS
            return
        connect(solver, k, first, n, words)
        trees = solver.panel_width  # of the island, by their numbers in it; panels are written at places behind
        for i in range(n):
            trees[first + i] = solver.order[first + i]
            solver.degree[first + i] = count_neighbors(solver.neighbors, i, words)
        for _ in range(n):
            i = least_degree(solver.degree, first, n)
            t = trees[first + i]
            solver.order[place] = t
            solver.tree_position[t] = place
            solver.panel_block[place] = block
            block = eliminate_tree(solver, i, first, n, words, block, trees)
            if block < 0:
                solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_BLOCKS
                return
            place += 1
    solver.panel_block[place] = block
    solver.counts[COUNT_BLOCKS] = block
    place_panels(solver, place)


@kernel
def connect(solver, k, first, n, words):
    """The neighbors of the trees of island k, numbered as they stand in it."""
    neighbors = solver.neighbors
    for w in range(n * words):
        neighbors[w] = 0
    for i in range(n):
        solver.tree_position[solver.order[first + i]] = i
    for c in range(solver.island_con[k], solver.island_con[k + 1]):
        i = solver.con_order[c]
        if solver.con_tree[i, 1] >= 0:
            a, b = solver.tree_position[solver.con_tree[i, 0]], solver.tree_position[solver.con_tree[i, 1]]
            neighbors[a * words + b // WORD] |= 1 << (b % WORD)
            neighbors[b * words + a // WORD] |= 1 << (a % WORD)


@kernel
def count_neighbors(neighbors, i, words):
    count = 0
    for w in range(i * words, (i + 1) * words):
        bits = neighbors[w]
        while bits != 0:
            bits &= bits - 1
            count += 1
    return count


@kernel
def least_degree(degree, first, n):
    """The first of the least neighbors."""
    best, least = -1, n + 1
    for i in range(n):
        if degree[first + i] >= 0 and degree[first + i] < least:
            best, least = i, degree[first + i]
    return best


@kernel
def eliminate_tree(solver, i, first, n, words, block, trees):
    """Appends the blocks of tree i of the island, itself and its neighbors, and connects these; -1 without room."""
    neighbors, degree = solver.neighbors, solver.degree
    degree[first + i] = -1
    if block + n + 1 > solver.block_place.shape[0]:
        needed = block + 1 + count_neighbors(neighbors, i, words)
        if needed > solver.block_place.shape[0]:
            return -1
    solver.block_place[block] = trees[first + i]  # trees, until all places are known
    block += 1
    for w in range(words):
        bits = neighbors[i * words + w]
        while bits != 0:
            low = bits & -bits
            bits ^= low
            j = w * WORD + bit_number(low)
            solver.block_place[block] = trees[first + j]
            block += 1
            for u in range(words):
                neighbors[j * words + u] |= neighbors[i * words + u]
            neighbors[j * words + i // WORD] &= ~(1 << (i % WORD))
            neighbors[j * words + j // WORD] &= ~(1 << (j % WORD))
            degree[first + j] = count_neighbors(neighbors, j, words)
    return block


@kernel
def bit_number(low):
    """Number of the only bit that is set."""
    n = 0
    while low > 255:
        low >>= 8
        n += 8
    while low > 1:
        low >>= 1
        n += 1
    return n


@kernel
def place_panels(solver, places):
    """Sorts the blocks of each panel by place, and notes the places of all in values."""
    block_place = solver.block_place
    value = 0
    for p in range(places):
        t = solver.order[p]
        size = solver.tree_v[t + 1] - solver.tree_v[t]
        first, end = solver.panel_block[p], solver.panel_block[p + 1]
        for b in range(first, end):
            place = solver.tree_position[block_place[b]]
            c = b
            while c > first and block_place[c - 1] > place:
                block_place[c] = block_place[c - 1]
                c -= 1
            block_place[c] = place
        width = 0
        for b in range(first, end):
            solver.block_column[b] = width
            u = solver.order[block_place[b]]
            solver.block_size[b], solver.block_slot[b] = solver.tree_v[u + 1] - solver.tree_v[u], solver.tree_slot[u]
            width += padded(solver.block_size[b])
        solver.panel_start[p], solver.panel_width[p] = value, width
        value += size * width
    solver.panel_start[places] = value
    solver.counts[COUNT_VALUES] = value
    halves = 2 if int(solver.settings[SETTING_APPROXIMATION]) == TAMSI else 1
    if halves * value > solver.values.shape[0]:
        solver.counts[COUNT_STATUS] = PROBLEM_TOO_MANY_BLOCKS


@kernel
def find_block(solver, p, q):
    """Column in panel p of the block of the tree at place q."""
    low, high = solver.panel_block[p], solver.panel_block[p + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if solver.block_place[middle] <= q:
            low = middle
        else:
            high = middle
    return solver.block_column[low]
