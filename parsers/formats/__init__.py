"""The file formats that the program knows: one file a format, and its line in NAMES.

The file of a format has

TITLE          its name in messages
SUFFIXES       of the names of its files, in small letters
ROOT_ELEMENTS  of its XML documents, by which a file with another suffix is known
FILE_TYPES     other words for it, where a type is given with a text
IN_FOLDERS     whether a file is taken for one by its suffix, if a folder is searched for models
IS_SCENE       whether its files name models of other files, instead of being one

A format of models has further

read(source, diagnostics, *, packages, name)  the ModelSpecs in a file or text: a tuple, empty after errors
has_joint_frame(joint, end)  whether a JointSpec has a frame of its own on its "parent" or "child" wherever that is, as
                             in pydrake; else it has one where it is not in the link's frame
target         () -> the Target by which `mbcli convert` writes it (parsers/writing/target.py); None: it is not written
engine_proof   (Conversion, PlantComparison, *, seed): adds what the engine of the format makes of a text that is to be
               written, and returns its name and version, or None if it is not installed; None: there is no such engine
NESTS          whether its models stand in each other. Such models come after those of other formats that they include,
               and their frame before their elements, in pydrake's order
IN_SDFORMAT    whether an <include> of SDFormat may name its files, though they are of another format
MIXES_DRIVES   whether motors and servos stand beside each other in one file
DRY_FRICTION   whether the engine that it is of has the dry friction of joints; else a note says that it acts here

and one of scenes

HOLDS_SETTINGS  whether its files may hold settings of a run
read_scenes(source, diagnostics, *, name, sources)  [(Scenario or None, ModelDirectives)] of a file or text; appends the
                                                    files that were read to sources

and no more is needed: choosing a format by suffix or content, loading, checking, including, adding to plants and
converting ask FORMATS. A file that lacks one of these is an error, with its name, when this package is imported. A
function that needs the reader or writer is a `late` one: the module is imported when it is called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mbcli.parsers.joint_kinds import require_forms

from mbcli.common.kind_files import require_contents, require_single_owners
from mbcli.common.suggestions import alternatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAMES = (
    "urdf",
    "sdf",
    "mjcf",
    "usd",
    "dmd",
    "scenario",
)
"""Of the formats, as options and ModelSpec.format have them."""

CONSTANTS = {
    "TITLE": str,
    "SUFFIXES": tuple,
    "ROOT_ELEMENTS": tuple,
    "FILE_TYPES": tuple,
    "IN_FOLDERS": bool,
    "IS_SCENE": bool,
}
OF_MODELS = {"NESTS": bool, "IN_SDFORMAT": bool, "MIXES_DRIVES": bool, "DRY_FRICTION": bool}
OF_SCENES = {"HOLDS_SETTINGS": bool}


def checked_format(name: str, file_format: Any) -> Any:
    """The file of a format. TypeError, with its name, if something is missing."""
    is_scene = getattr(file_format, "IS_SCENE", False) is True
    what = f"the file format '{name}'"
    if is_scene:
        require_contents(what, file_format, CONSTANTS | OF_SCENES, ("read_scenes",))
    else:
        operations, or_none = ("read", "has_joint_frame"), ("target", "engine_proof")
        require_contents(what, file_format, CONSTANTS | OF_MODELS, operations, or_none)
    return file_format


def formats_by_name(names: Iterable[str]) -> dict[str, Any]:
    """Imports the file of each format. TypeError if one lacks something, or two claim the same suffix or element."""
    found = {name: checked_format(name, import_module(f"{__name__}.{name}")) for name in names}
    marks = {name: (*known.SUFFIXES, *(f"<{tag}>" for tag in known.ROOT_ELEMENTS)) for name, known in found.items()}
    require_single_owners("the file formats", marks)
    return found


FORMATS: Mapping[str, Any] = formats_by_name(NAMES)
"""The file of each format by its name."""

OF_SUFFIX = {suffix: name for name, known in FORMATS.items() for suffix in known.SUFFIXES}
OF_ROOT_ELEMENT = {tag: name for name, known in FORMATS.items() for tag in known.ROOT_ELEMENTS}
OF_FILE_TYPE = {word: name for name, known in FORMATS.items() for word in (name, *known.FILE_TYPES)}
MODEL_FORMATS = tuple(name for name, known in FORMATS.items() if not known.IS_SCENE)
TARGETS = tuple(name for name in MODEL_FORMATS if FORMATS[name].target is not None)
"""The formats that are written."""

require_forms(TARGETS)


def format_of_name(path: str) -> str | None:
    """The format of a file by the suffix of its name, the longest that is known; None if none is."""
    name = path.lower()
    suffix = max((suffix for suffix in OF_SUFFIX if name.endswith(suffix)), key=len, default=None)
    return None if suffix is None else OF_SUFFIX[suffix]


def titles(names: Iterable[str]) -> str:
    """The names of formats in a sentence: URDF, SDFormat or MJCF."""
    return alternatives(FORMATS[name].TITLE for name in names)
