"""Model directives of Drake: models of other files, welds, frames, positions."""

from mbcli.parsers.formats.late import LateFunction

TITLE = "model directives"
SUFFIXES = (".dmd.yaml",)
ROOT_ELEMENTS = ()
FILE_TYPES = ("dmd.yaml", "directives")
IN_FOLDERS = True
IS_SCENE = True
HOLDS_SETTINGS = False

_read = LateFunction("mbcli.parsers.scenes.directives", "read_directives")


def read_scenes(source, diagnostics, *, name, sources):
    return [(None, _read(source, diagnostics, name=name, sources=sources))]
