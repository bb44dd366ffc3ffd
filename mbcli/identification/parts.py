"""Parts of an identification that need none of each other: files that are left out, and data that are drawn again.

A part has a little of what was found beside it, its state, and gives numbers: all as JSON has it, so that any process
with the same files can do it.

Drawn data are blocks of time of the data, longer than errors are alike, one after another up to as many samples
(Kuensch 1989): all joints of a sample stay together, and so do errors and the motion that they belong to. What differs
between the results of many such data is what the noise of one recording does to a result, whatever its distribution;
what a filter or a missing effect shifts in all of them alike is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mbcli.identification.estimation import correlations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mbcli.identification.estimation import Equations, Weighted
    from mbcli.math.array_types import FloatArray

    Part: TypeAlias = Mapping[str, int]
    Elsewhere: TypeAlias = Callable[[Sequence[Part], Mapping[str, Any]], Iterable[list[float]]]

LEFT_OUT, DRAWN = "left_out", "drawn"  # keys of parts: the number of a file, of drawn data
BLOCK = 5  # times as long as errors are alike; less would cut too many of these
FEWEST_BLOCKS = 10


@dataclass(frozen=True)
class Bootstrap:
    """What drawn data say of the errors of a result.

    Attributes:
        count, failed: how many there were, and how many of them no possible parameters explain. block: [s].
        errors (p,), base_errors (r,): standard deviations of parameters and of combinations.
    """

    count: int
    failed: int
    block: float
    errors: FloatArray
    base_errors: FloatArray

    @classmethod
    def of(cls, drawings: Sequence[Sequence[float]], p: int, block: float) -> Bootstrap | None:
        """Of p parameters and the combinations after them; None of fewer than two that were explained."""
        found = np.array([numbers for numbers in drawings if numbers])
        if len(found) < 2:
            return None
        deviations = found.std(axis=0, ddof=1)
        return cls(len(drawings), len(drawings) - len(found), block, deviations[:p], deviations[p:])


def each_part(
    sources: Sequence[str],
    bootstrap: int,
    state: Mapping[str, Any],
    here: Callable[[Part], list[float]],
    elsewhere: Elsewhere | None,
) -> tuple[dict[str, list[float]], list[list[float]]]:
    """The numbers of files that are left out, where there are several, and of drawn data."""
    files = list(dict.fromkeys(sources))
    parts: list[Part] = [{LEFT_OUT: k} for k in range(len(files) if len(files) > 1 else 0)]
    left_out = len(parts)
    parts += [{DRAWN: k} for k in range(bootstrap)]
    found = list(map(here, parts) if elsewhere is None or not parts else elsewhere(parts, state))
    return dict(zip(files, found[:left_out], strict=False)), found[left_out:]


def block_length(equations: Sequence[Equations], weighted: Weighted, x: FloatArray) -> int:
    """Samples of a block, by the errors of the result."""
    alike = correlations([e.A @ x - e.y for e in equations], weighted.weights)
    most = sum(len(e.y) for e in equations) // FEWEST_BLOCKS
    return max(1, min(BLOCK * max(map(len, alike)), most, *(len(e.y) for e in equations)))


def drawn(equations: Sequence[Equations], block: int, number: int) -> Equations:
    """Equations of blocks that are drawn from those of all runs; another draw for each number."""
    random = np.random.default_rng([number])
    total = sum(len(e.y) for e in equations)
    starts = [(k, first) for k, e in enumerate(equations) for first in range(len(e.y) - block + 1)]
    chosen = [starts[int(n)] for n in random.integers(len(starts), size=-(-total // block))]

    def of(name: str) -> Any:
        return np.concatenate([getattr(equations[k], name)[first : first + block] for k, first in chosen])[:total]

    names = ("A", "y", "usable", "tau", "raw_tau", "time", "judged")
    return replace(equations[0], turns=None, **{name: of(name) for name in names})
