"""Warnings of deprecated names in tests, under the name of pydrake.common.test_utilities."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mbcli.common.deprecation import DrakeDeprecationWarning

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def catch_drake_warnings(action: Any = "always", expected_count: int | None = None) -> Iterator[list[Any]]:
    """Gives the list of the DrakeDeprecationWarnings of its block. ValueError if they are not as many as expected."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action, DrakeDeprecationWarning)
        yield caught
    if expected_count is not None and len(caught) != expected_count:
        raise ValueError(f"expected {expected_count} warnings, got {[str(w.message) for w in caught]}")
