"""Which constraints share velocities, and the order in which their multipliers are eliminated.

Supports are lists of arrays, one for each constraint: the velocities that move it, ascending. Two constraints are
neighbours if they share a velocity; the matrix of the multipliers has blocks for neighbours alone.
"""

from collections import deque

import numpy as np

from mbcli.common.fast_dataclass import dataclass

BLOCK = 1 << 20  # common velocities that are looked for at once


@dataclass(frozen=True)
class SharedVelocities:
    """All pairs of constraints c >= d that share velocities, by c, then d, then velocity.

    Attributes:
        pairs: (npair, 2) of c and d; c = d is among them if c has any velocity.
        ends: (npair,) of the entries of `places` for each pair.
        places: (nshared, 2) of the shared velocity in the supports of c and of d.
    """

    pairs: np.ndarray
    ends: np.ndarray
    places: np.ndarray


def shared_velocities(supports):
    """The SharedVelocities of constraints with these supports."""
    velocity, owner, place = _entries(supports)
    place = place.astype(np.int32)  # there are many of them
    order = np.argsort(velocity, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = np.searchsorted(velocity[order], velocity)  # of the entries of that velocity: smaller owners come first
    sharing = rank - first + 1
    parts = [(np.zeros((0, 2), int), np.zeros(0, int), np.zeros((0, 2), np.int32))]
    for start, end in _blocks(supports, sharing):
        counts = sharing[start:end]
        later = np.repeat(np.arange(start, end), counts)
        within = np.arange(len(later)) - np.repeat(np.cumsum(counts) - counts, counts)
        earlier = order[np.repeat(first[start:end], counts) + within]
        pairs = owner[later] * len(supports) + owner[earlier]
        by_pair = np.argsort(pairs, kind="stable")  # velocities of a pair ascend already
        pairs, places = pairs[by_pair], np.column_stack([place[later[by_pair]], place[earlier[by_pair]]])
        lasts = np.flatnonzero(np.append(pairs[1:] != pairs[:-1], True))
        parts.append((np.column_stack(np.divmod(pairs[lasts], len(supports))), np.diff(lasts, prepend=-1), places))
    pairs, sizes, places = map(np.concatenate, zip(*parts, strict=True))
    return SharedVelocities(pairs, np.cumsum(sizes), places)


def _blocks(supports, sharing):
    """Starts and ends of the elements of some supports each, so that what is computed at once takes little memory."""
    sums = np.concatenate([[0], np.cumsum(sharing)]).tolist()
    start = end = 0
    for support in supports:
        end += len(support)
        if sums[end] - sums[start] >= BLOCK:
            yield start, end
            start = end
    if end > start:
        yield start, end


def elimination_order(counts, shared):
    """An order in which neighbours are close: the given one, or that of Cuthill and McKee (1969), if it is better.

    counts: how many rows each constraint has. shared: the SharedVelocities of the constraints.
    """
    neighbours = _neighbours(shared, len(counts))
    given = np.arange(len(counts))
    found = _level_by_level(neighbours)[::-1]
    return min((given, found), key=lambda order: _kept_elements(order, counts, neighbours)).tolist()


def first_neighbours(shared, count):
    """(count,) the first neighbour of each of `count` constraints, itself if it has none."""
    first = np.arange(count)
    np.minimum.at(first, shared.pairs[:, 0], shared.pairs[:, 1])
    return first


def _entries(supports):
    """Velocity, constraint and place in its support of all elements of all supports."""
    lengths = [len(support) for support in supports]
    owner = np.repeat(np.arange(len(supports)), lengths)
    velocity = np.concatenate([np.zeros(0, int), *supports])
    place = np.concatenate([np.zeros(0, int), *(np.arange(length) for length in lengths)])
    return velocity, owner, place


def _neighbours(shared, count):
    """For each constraint an ascending array of those that share velocities with it, itself among them."""
    pairs = shared.pairs
    apart = pairs[pairs[:, 0] != pairs[:, 1]]
    both = np.concatenate([pairs, apart[:, ::-1]])
    both = both[np.argsort(both[:, 0] * count + both[:, 1], kind="stable")]
    bounds = np.searchsorted(both[:, 0], np.arange(count + 1))
    return [both[start:end, 1] for start, end in zip(bounds[:-1], bounds[1:], strict=True)]


def _level_by_level(neighbours):
    """Breadth-first orders of all connected constraints, those with few neighbours first."""
    degrees = np.array([len(near) for near in neighbours], dtype=int)
    seen = np.zeros(len(neighbours), dtype=bool)
    found = []
    for start in np.argsort(degrees, kind="stable"):
        if seen[start]:
            continue
        seen[start] = True
        front = deque([int(start)])
        while front:
            c = front.popleft()
            found.append(c)
            new = neighbours[c][~seen[neighbours[c]]]
            seen[new] = True
            front.extend(new[np.argsort(degrees[new], kind="stable")].tolist())
    return np.array(found, dtype=int)


def _kept_elements(order, counts, neighbours):
    """How many elements the matrix of the multipliers keeps in an order."""
    place = np.empty(len(order), dtype=int)
    place[order] = np.arange(len(order))
    sizes = np.asarray(counts, dtype=int)[order]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    first = [min(place[neighbours[c]].min(initial=k), k) for k, c in enumerate(order)]
    return int((sizes * (starts[1:] - starts[first])).sum()) if len(order) else 0
