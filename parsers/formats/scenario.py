"""Scenarios: directives with the settings of a run, or directives alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.formats.late import LateFunction

if TYPE_CHECKING:
    import os

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceFile

TITLE = "scenario"
SUFFIXES = (".yaml", ".yml")
ROOT_ELEMENTS = ()
FILE_TYPES = ()
IN_FOLDERS = False  # other files of a robot are YAML as well
IS_SCENE = True
HOLDS_SETTINGS = True

_read = LateFunction("mbcli.parsers.scenes.scenario", "read_all_scenarios")


def read_scenes(
    source: str | os.PathLike[str] | bytes, diagnostics: Diagnostics, *, name: str | None, sources: list[SourceFile]
) -> list[tuple[Any, Any]]:
    scenarios = _read(source, diagnostics, name=name)
    sources += [file for scenario in scenarios for file in scenario.sources]
    return [(scenario, scenario.directives) for scenario in scenarios]
