"""Deprecation warnings, under the names of pydrake.common.deprecation. Nothing of mbcli gives one."""

from __future__ import annotations

import warnings


class DrakeDeprecationWarning(DeprecationWarning):
    """What pydrake warns with where a name is about to go."""


def install_numpy_warning_filters(force: bool = False) -> None:
    """Shows numpy's warnings of comparisons between elements as errors, as pydrake does."""
    warnings.filterwarnings("error", category=DeprecationWarning, message="elementwise")
