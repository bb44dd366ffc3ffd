"""Which constraints share velocities, against sets; the order of elimination keeps little and is a permutation."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.models import description
from mbcli.multibody.compilation.shared_velocities import elimination_order, first_neighbours, shared_velocities

FOUR_BAR = SAMPLES / "closed_chains" / "four_bar.urdf"
SEEDS = range(20)


def random_supports(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    return [
        np.sort(rng.choice(size, size=rng.integers(0, min(size, 6) + 1), replace=False))
        for _ in range(rng.integers(0, 25))
    ]


def kept_elements(order, counts, supports):
    """By the definition: each row from the first row of a neighbour that comes before it."""
    starts = np.concatenate([[0], np.cumsum([counts[c] for c in order])])
    total = 0
    for k, c in enumerate(order):
        near = [j for j, d in enumerate(order[: k + 1]) if set(supports[c]) & set(supports[d])]
        total += counts[c] * (starts[k + 1] - starts[min(near, default=k)])
    return total


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_and_places_are_those_of_common_elements(seed, monkeypatch):
    monkeypatch.setattr("mbcli.multibody.compilation.shared_velocities.BLOCK", 3**seed)
    supports = random_supports(seed)
    expected_pairs, expected_places, expected_ends = [], [], []
    for c, mine in enumerate(supports):
        for d in range(c + 1):
            common = sorted(set(mine) & set(supports[d]))
            if common:
                expected_pairs.append((c, d))
                expected_places += [(list(mine).index(dof), list(supports[d]).index(dof)) for dof in common]
                expected_ends.append(len(expected_places))
    shared = shared_velocities(supports)
    assert shared.pairs.tolist() == [list(pair) for pair in expected_pairs]
    assert shared.places.tolist() == [list(place) for place in expected_places]
    assert shared.ends.tolist() == expected_ends
    first = [min([d for e, d in expected_pairs if e == c], default=c) for c in range(len(supports))]
    assert first_neighbours(shared, len(supports)).tolist() == first


@pytest.mark.parametrize("seed", SEEDS)
def test_an_order_has_every_constraint_once_and_keeps_no_more_than_the_given_one(seed):
    supports = random_supports(seed)
    counts = np.random.default_rng(seed).integers(1, 6, size=len(supports)).tolist()
    order = elimination_order(counts, shared_velocities(supports))
    assert sorted(order) == list(range(len(supports)))
    given = list(range(len(supports)))
    assert kept_elements(order, counts, supports) <= kept_elements(given, counts, supports)


def test_a_ladder_in_mixed_order_is_put_in_a_row():
    """Constraints between neighbours on a line need two rows each, at most, whatever the order they come in."""
    count = 200
    mixed = np.random.default_rng(5).permutation(count)
    supports = [np.array([k, k + 1]) for k in mixed]
    assert (
        kept_elements(elimination_order([1] * count, shared_velocities(supports)), [1] * count, supports)
        == 2 * count - 1
    )


def test_the_freedom_of_too_many_coupled_equations_is_not_sought(monkeypatch):
    document = description.describe(str(FOUR_BAR))
    assert document["mobility"]["mobility"] == 1
    monkeypatch.setattr(description, "MOST_OPERATIONS", 1.0)
    assert "not analysed" in description.describe(str(FOUR_BAR))["mobility"]["problem"]
