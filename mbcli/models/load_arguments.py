"""The arguments of load_model() by name and type, for functions that hand them on: for type checkers alone.

A test compares them with the signature of load_model(), whose docstring says what each means.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from mbcli.parsers.diagnostics import Diagnostic
from mbcli.parsers.package_map import PackageMap


class HoldArguments(TypedDict, total=False):
    """Of joints that are held or driven."""

    hold: bool | str | None
    kp: float | None
    kd: float | None
    drive: Mapping[str, float] | None


class LoadArguments(TypedDict, total=False):
    """All others."""

    contact: bool
    ground: float | None
    dt: float | None
    contact_model: str | None
    contact_approximation: str | None
    sleep: float | None
    self_contact: str | None
    srdf: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
    decompose: bool | None
    weld: Iterable[str]
    weld_base: bool
    gravity: Iterable[float] | None
    constraints: str | os.PathLike[str] | None
    loops: str
    config: Any
    overrides: Iterable[str] | Mapping[str, Any]
    scenario_name: str | None
    scenario_text: str | None
    packages: PackageMap | Mapping[str, str | os.PathLike[str]] | None
    file_type: str | None
    strict: bool
    on_findings: Callable[[Sequence[Diagnostic]], object]
    on_mesh: Callable[[int, int], object]


class AllLoadArguments(HoldArguments, LoadArguments, total=False):
    """All of them."""
