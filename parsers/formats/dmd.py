"""Model directives of Drake: models of other files, welds, frames, positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.formats.late import LateFunction

if TYPE_CHECKING:
    import os

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceFile

TITLE = "model directives"
SUFFIXES = (".dmd.yaml",)
ROOT_ELEMENTS = ()
FILE_TYPES = ("dmd.yaml", "directives")
IN_FOLDERS = True
IS_SCENE = True
HOLDS_SETTINGS = False

_read = LateFunction("mbcli.parsers.scenes.directives", "read_directives")


def read_scenes(
    source: str | os.PathLike[str] | bytes, diagnostics: Diagnostics, *, name: str | None, sources: list[SourceFile]
) -> list[tuple[None, Any]]:
    return [(None, _read(source, diagnostics, name=name, sources=sources))]
