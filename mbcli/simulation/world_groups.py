"""Worlds of equal parameters, and how threads share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.models.parameter_assignments import override_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    Piece: TypeAlias = tuple[int, int, int]  # (group, first, end) of worlds

TASKS_PER_THREAD = 4  # worlds take different times: a thread that is done with some takes others


def groups_of_worlds(count: int, parameters: Mapping[str, Any]) -> dict[tuple[str, ...], list[int]]:
    """{overrides of some worlds, PATH=VALUE texts: the numbers of these worlds}"""
    columns = []
    for path, values in parameters.items():
        if isinstance(values, str) or np.ndim(values) == 0:
            columns.append([override_texts({path: values})[0]] * count)
            continue
        if len(values) != count:
            raise ArgumentError(f"{argument('parameters')}: {path} has {len(values)} values, there are {count} worlds")
        columns.append([override_texts({path: value})[0] for value in values])
    groups: dict[tuple[str, ...], list[int]] = {}
    for k, texts in enumerate(zip(*columns, strict=True) if columns else [()] * count):
        groups.setdefault(texts, []).append(k)
    return groups


def tasks_of_threads(groups: Mapping[Any, Sequence[int]], count: int, threads: int) -> Iterator[list[Piece]]:
    """Lists of (group, first, end), with about as many worlds each, for the threads to take."""
    group_of = np.empty(count, dtype=np.int64)
    for number, worlds in enumerate(groups.values()):
        group_of[worlds] = number
    starts = np.flatnonzero(np.diff(group_of, prepend=-1))
    size = count if threads == 1 else -(-count // (TASKS_PER_THREAD * threads))
    size = size if threads == 1 else -(-size // 8) * 8
    task, room = [], size
    for first, end in zip(starts, [*starts[1:], count], strict=True):
        while first < end:
            last = min(end, first + room)
            task.append((int(group_of[first]), int(first), int(last)))
            room -= last - first
            first = last
            if room == 0:
                yield task
                task, room = [], size
    if task:
        yield task
