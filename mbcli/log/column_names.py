"""The names of the columns of a log, in exports and in tables."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORT_NAMES = {"state/q": "q", "state/v": "v", "input/u": "u"}


def column_names(log: Any, fields: Iterable[str]) -> list[str]:
    """CSV columns: coordinates by their own name if it is unique, `FIELD` or `FIELD:NAME` for the rest."""
    coordinates = Counter(name for path in ("state/q", "state/v") for name in log.names[path])
    endings = Counter(path.rpartition("/")[2] for path in log.fields())
    names = []
    single = getattr(log, "columns", ())
    for path in fields:
        if path in single:
            names.append(path)
            continue
        ending = path.rpartition("/")[2]
        field = ending if endings[ending] == 1 else path
        for name in log.names[path]:
            own = path in ("state/q", "state/v") and coordinates[name] == 1 and name != "time"
            names.append(name if own else f"{field}:{name}" if log.row_shape(path) else field)
    return names


def short_name(path: str) -> str:
    """q, v, u or the path: the key of a field."""
    return SHORT_NAMES.get(path, path)


def flat_rows(array: np.ndarray) -> np.ndarray:
    """(n, ...) as (n, columns)."""
    return array.reshape(len(array), prod(array.shape[1:]))
