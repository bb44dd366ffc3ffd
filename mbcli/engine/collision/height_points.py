"""Contact points of a convex solid and a height field, of the candidates that height_fields.py has found.

Candidates whose normals are nearly the same are the area of one contact, of which the deepest and those that span most
are taken, as manifold.py does it. The stiffness of the pair is shared among points as their normals are alike: points
of one plane are one contact, a ball in a valley has one on each side.
"""

from mbcli.engine.collision.manifold import BLEND, add_contact, spread
from mbcli.engine.collision.pair_laws import cover_of_pair
from mbcli.engine.fields.collision_fields import (
    CANDIDATE_GAP,
    CANDIDATE_NORMAL,
    CANDIDATE_POINT,
    CANDIDATE_WEIGHT,
    COLLISION_CANDIDATES,
    COLLISION_MARGIN,
    COLLISION_SINGLE_POINTS,
    HEIGHT_FIELD,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, dot, row3, scale

ONE_AREA = 0.98  # least cosine between normals of one area of contact
UNLIKE = 0.8  # cosine between normals from which on contacts have nothing to do with each other


@kernel
def add_height_contacts(c, points, A, B, own):
    """After height_field_nearest(): the contact points of a pair; own: its row of own_laws, or -1."""
    solid, sign = (B, -1.0) if c.kind[A] == HEIGHT_FIELD else (A, 1.0)
    cover = cover_of_pair(c, A, B, own)
    margin = c.settings[COLLISION_MARGIN] + cover
    count = choose_candidates(c, margin, BLEND * c.radius[solid])
    for k in range(count):
        normal, gap = row3(c.candidates, k, CANDIDATE_NORMAL), c.candidates[k, CANDIDATE_GAP]
        if gap >= margin:
            continue
        q = row3(c.candidates, k, CANDIDATE_POINT)
        p = add(q, scale(gap, normal))
        share = c.candidates[k, CANDIDATE_WEIGHT] / total_weight(c, count, normal)
        point_A, point_B = (p, q) if sign > 0.0 else (q, p)
        add_contact(c, points, own, A, B, scale(sign, normal), point_A, point_B, gap - cover, share)


@kernel
def total_weight(c, count, normal):
    """Of the first candidates, as far as their normals are like this one."""
    total = 0.0
    for k in range(count):
        like = dot(normal, row3(c.candidates, k, CANDIDATE_NORMAL))
        total += c.candidates[k, CANDIDATE_WEIGHT] * min(1.0, max(0.0, like - UNLIKE) / (1.0 - UNLIKE))
    return total


@kernel
def choose_candidates(c, margin, blend):
    """Moves candidates that become contacts, or share their stiffness, to the front, with weights; their number."""
    first, kept, count = 0, 0, c.counts[COLLISION_CANDIDATES]
    while first < count:
        for k in range(first + 1, count):
            if c.candidates[k, CANDIDATE_GAP] < c.candidates[first, CANDIDATE_GAP]:
                exchange(c, first, k)
        normal, deepest = row3(c.candidates, first, CANDIDATE_NORMAL), c.candidates[first, CANDIDATE_GAP]
        if deepest >= margin:
            break
        end = count_in_area(c, first, count, normal, 1e300)
        deep = count_in_area(c, first, end, normal, deepest + blend)
        few = 1 if c.counts[COLLISION_SINGLE_POINTS] == 1 else spread(c.candidates, first, deep - first, normal)
        for k in range(few):
            exchange(c, kept + k, first + k)
            gap = c.candidates[kept + k, CANDIDATE_GAP]
            c.candidates[kept + k, CANDIDATE_WEIGHT] = max(0.0, 1.0 - (gap - deepest) / blend)
        kept, first = kept + few, end
    return kept


@kernel
def count_in_area(c, first, count, normal, most):
    """Moves candidates from `first` on, of a normal and with gaps below `most`, to the front; returns their end."""
    end = first
    for k in range(first, count):
        if c.candidates[k, CANDIDATE_GAP] < most and dot(normal, row3(c.candidates, k, CANDIDATE_NORMAL)) >= ONE_AREA:
            exchange(c, end, k)
            end += 1
    return end


@kernel
def exchange(c, i, k):
    for n in range(c.candidates.shape[1]):
        c.candidates[i, n], c.candidates[k, n] = c.candidates[k, n], c.candidates[i, n]
