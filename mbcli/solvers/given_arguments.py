"""The arguments of methods that take several kinds of them, as users give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Array


def ordered_arguments(given: Any, named: dict[str, Any], keys: Sequence[str], also: Sequence[str] = ()) -> list[Any]:
    """Arguments by the order of keys, None for those left out; the first may have one of the other names too."""
    if len(given) > len(keys):
        raise TypeError(f"expected at most {len(keys)} arguments ({', '.join(keys)}), got {len(given)}")
    found = dict(zip(keys, given, strict=False))
    for name, value in named.items():
        key = keys[0] if name in also else name
        if key not in keys or key in found:
            raise TypeError(f"unexpected argument '{name}'; there are {', '.join(keys)}")
        found[key] = value
    return [found.get(key) for key in keys]


def flat_variables(vars: Any) -> Array:
    """Variables (n,), from one, an array of any shape, or a list of these."""
    if isinstance(vars, (list, tuple)) and vars and all(np.ndim(v) for v in vars):
        return np.concatenate([np.asarray(v, dtype=object).ravel() for v in vars])
    return np.asarray(vars, dtype=object).ravel()
