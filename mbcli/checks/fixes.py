"""`mbcli check --fix`: cures of findings that follow from the file alone, made in its text, which is read again.

Only what has one cure is mended: an axis gets the length 1, angles that are plainly degrees become radians, a name that
differs by its case or lacks its prefix becomes the one that is there, a mesh is named as the one file that is there is.
All other characters of a file stay as they are.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_right
from collections import Counter
from contextlib import chdir
from dataclasses import dataclass, field
from math import hypot, isfinite, radians
from typing import TYPE_CHECKING

from mbcli.checks.file_check import check_file
from mbcli.common.output_files import write_in_place
from mbcli.errors import ModelError, OutputError, ResourceError
from mbcli.parsers.colors import BYTES, color_of_bytes
from mbcli.parsers.formats import OF_ROOT_ELEMENT, format_of_name
from mbcli.parsers.name_spellings import spelled_alike
from mbcli.parsers.package_map import MissingFileError
from mbcli.parsers.xml_edits import Tag, XmlText, edited, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mbcli.checks.file_check import FileCheck
    from mbcli.parsers.diagnostics import Diagnostic
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import SourceLocation

ROOTS = ("robot", "sdf")  # elements of the files that are mended
LARGEST_FILE = 1 << 24  # [bytes]
MOST_PASSES = 8  # a cure may bring findings to light that were not looked for before
MOST_ALONE = 200  # cures that are tried one at a time, where not all of them together are proved
LARGEST_DEGREES = 360.0  # of a limit that is plainly in degrees
ENDLESS = (50.0, 100.0, 200.0)  # of limits that are equal on both sides: they may stand for no limit
LEAST_DEGREES = 30.0  # of the largest angle of a pose that is
SPECIAL = re.compile("[&<>\"'\n\r]")  # characters that no cure reads or writes: they may be written in several ways
MEANT = re.compile(r'did you mean "([^"]*)"\?')


@dataclass(frozen=True)
class Fix:
    """A cure: `old` at places of the text becomes `new`.

    Attributes:
        code, line: of the finding.
        what: the element or attribute that changes.
        edits: (start, end, text) in the text.
    """

    code: str
    line: int
    what: str
    old: str
    new: str
    edits: tuple[tuple[int, int, str], ...]


@dataclass
class Mended:
    """What became of a file: the cures that were proved, those that were not, and its text with the former.

    Attributes:
        why_not: why nothing of it can be mended, "" if it can.
    """

    path: str
    why_not: str = ""
    fixes: list[Fix] = field(default_factory=list)
    unproved: list[Fix] = field(default_factory=list)
    before: bytes = b""
    after: bytes = b""

    def write(self) -> None:
        """Puts the text in the place of the file's. OutputError if another process has changed it, or it cannot be."""
        try:
            with open(self.path, "rb") as file:
                unchanged = file.read(LARGEST_FILE + 1) == self.before
            if not unchanged:
                raise OutputError(f"{self.path}: error: was changed meanwhile: nothing is mended in it")
            write_in_place(self.path, self.after, stat.S_IMODE(os.stat(self.path).st_mode))
        except OSError as error:
            raise OutputError(f"{self.path}: error: cannot be written: {error.strerror}") from None


def mend(
    path: str, packages: PackageMap, *, mesh_files: bool = False, wanted: Callable[[str], bool] = lambda code: True
) -> Mended:
    """The cures of a URDF or SDFormat file; nothing is written. Mended without any for other files.

    A cure is proved where its finding is gone in the text that has it, and no error has come.

    Args:
        path: of a file that is no link.
        packages, mesh_files: as of check_file().
        wanted: whether findings of a code are to be mended.
    """
    result = Mended(path)
    text = _text(result)
    if text is None:
        return result
    folder, name = os.path.dirname(os.path.abspath(path)), os.path.abspath(path)

    def check(text: str) -> FileCheck:
        with chdir(folder):  # a document begins its paths there
            return check_file(text.encode(), name=name, packages=packages, mesh_files=mesh_files)

    found = check(text)
    for _ in range(MOST_PASSES):
        proposals = [fix for fix in _proposals(name, text, found.findings, packages) if wanted(fix.code)]
        proposals = [fix for fix in proposals if fix not in result.unproved]
        if not proposals:
            break
        accepted, after = _proved(text, found, proposals, check)
        result.fixes += accepted
        result.unproved = [fix for fix in proposals if fix not in accepted]
        if not accepted:
            break
        text, found = _edited(text, accepted), after
    result.after = text.encode()
    return result


def _text(result: Mended) -> str | None:
    """What is to be mended; None, and why, for files that are not."""
    path = result.path
    if os.path.islink(path):
        result.why_not = "it is a link: give the file that it leads to"
    elif not os.path.isfile(path) or format_of_name(path) not in (None, *map(OF_ROOT_ELEMENT.get, ROOTS)):
        result.why_not = "it is no file of URDF or SDFormat"
    elif os.path.getsize(path) > LARGEST_FILE:
        result.why_not = "it is too large"
    if result.why_not:
        return None
    with open(path, "rb") as file:
        result.before = result.after = file.read(LARGEST_FILE)
    try:
        text = result.before.decode("utf-8")
        if _Elements(path, text).root.name not in ROOTS:
            result.why_not = "it is no file of URDF or SDFormat"
    except UnicodeDecodeError:
        result.why_not = "it is not UTF-8"
    except ModelError:
        result.why_not = "its elements cannot be told apart"
    return None if result.why_not else text


def _proved(
    text: str, before: FileCheck, fixes: Sequence[Fix], check: Callable[[str], FileCheck]
) -> tuple[list[Fix], FileCheck]:
    """The fixes that are proved, all together or one after the other, and the findings of the text that has them."""
    after = check(_edited(text, fixes))
    if _is_proof(before, after, fixes):
        return list(fixes), after
    accepted: list[Fix] = []
    last = before
    for fix in fixes[:MOST_ALONE] if len(fixes) > 1 else ():
        after = check(_edited(text, [*accepted, fix]))
        if _is_proof(before, after, [*accepted, fix]):
            accepted.append(fix)
            last = after
    return accepted, last


def _is_proof(before: FileCheck, after: FileCheck, fixes: Iterable[Fix]) -> bool:
    """Whether the findings of fixes are gone, and no error has come. Edits keep all lines."""
    was, stays = _places(before), _places(after)
    errors = {(finding.code, finding.place.line) for finding in after.findings if finding.severity == "error"}
    if after.failure is not None or not errors <= was.keys():
        return False
    gone = Counter((fix.code, fix.line) for fix in fixes)
    return all(stays[key] <= was[key] - count for key, count in gone.items())


def _places(checked: FileCheck) -> Counter[tuple[str, int]]:
    """(code, line) of all findings, those that one finding stands for included."""
    return Counter((finding.code, place.line) for finding in checked.findings for place in _all_places(finding))


def _all_places(finding: Diagnostic) -> Iterator[SourceLocation]:
    yield finding.place
    yield from finding.related


def _edited(text: str, fixes: Iterable[Fix]) -> str:
    return edited(text, (edit for fix in fixes for edit in fix.edits))


# --------------------------------------------------------------------------------------------- cures


def _proposals(name: str, text: str, findings: Iterable[Diagnostic], packages: PackageMap) -> list[Fix]:
    """A cure for each finding in the file that has one; no two of them change the same characters."""
    elements = _Elements(name, text)
    context = _Context(text, elements, packages, os.path.dirname(name))
    fixes: list[Fix] = []
    taken: set[tuple[int, int]] = set()
    for finding in findings:
        cure = CURES.get(finding.code)
        if cure is None:
            continue
        for place in dict.fromkeys(_all_places(finding)):
            tag = elements.at(place) if place.file == name else None
            change = None if tag is None else cure(context, finding, tag)
            if change is None or taken & {edit[:2] for edit in change.edits}:
                continue
            taken |= {edit[:2] for edit in change.edits}
            fixes.append(Fix(finding.code, place.line, change.what, change.old, change.new, change.edits))
    return fixes


@dataclass(frozen=True)
class _Change:
    what: str
    old: str
    new: str
    edits: tuple[tuple[int, int, str], ...]


class _Elements:
    """The elements of a text, by the places of findings in them. ModelError if it cannot be taken apart."""

    def __init__(self, name: str, text: str) -> None:
        self.root = XmlText(name, text).root()
        self.all = list(self.root.below())
        self.parents = {id(child): tag for tag in self.all for child in tag.children}
        self._starts = [tag.start for tag in self.all]
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, place: SourceLocation) -> Tag | None:
        """The element in whose start tag a place is; None if there is none."""
        if not 0 < place.line <= len(self._lines):
            return None
        offset = self._lines[place.line - 1] + place.column - 1
        k = bisect_right(self._starts, offset) - 1
        return self.all[k] if k >= 0 and offset < self.all[k].inside else None

    def around(self, tag: Tag, name: str) -> Tag:
        """The innermost element of a name that it stands in, or the root."""
        while tag.name != name and id(tag) in self.parents:
            tag = self.parents[id(tag)]
        return tag


@dataclass(frozen=True)
class _Context:
    text: str
    elements: _Elements
    packages: PackageMap
    folder: str

    def value(self, tag: Tag, attribute: str | None) -> tuple[str, int, int] | None:
        """(text, start, end) of an attribute or, without a name, of what is in an element without others."""
        if attribute is not None:
            found = tag.attributes.get(attribute)
        elif tag.closed or tag.children:
            found = None
        else:
            inside = self.text[tag.inside : tag.content_end]
            start = tag.inside + len(inside) - len(inside.lstrip())
            found = inside.strip(), start, start + len(inside.strip())
        return None if found is None or SPECIAL.search(found[0]) else found

    def change(self, tag: Tag, attribute: str | None, new: str) -> _Change | None:
        """The change of one value; None if it says that already, or cannot be told apart."""
        found = self.value(tag, attribute)
        if found is None or found[0] == new or SPECIAL.search(new):
            return None
        old, start, end = found
        return _Change(f"<{tag.name}>" if attribute is None else attribute, old, new, ((start, end, new),))


def _shortest(value: float) -> str:
    """A number by the fewest digits that read back the same, without minus zero and `.0`."""
    return repr(value + 0.0).removesuffix(".0")


def _unit_axis(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
    found = context.value(tag, finding.attribute)
    axis = numbers(found[0]) if found else None
    if axis is None or len(axis) != 3 or not all(map(isfinite, axis)) or not hypot(*axis):
        return None
    length = hypot(*axis)
    return context.change(tag, finding.attribute, " ".join(_shortest(x / length) for x in axis))


def _limits_in_radians(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
    """Of limits that are whole or half degrees up to a turn, where the finding says that they are turns in radians."""
    places: list[tuple[Tag, str | None]] = [(tag, bound) for bound in ("lower", "upper") if bound in tag.attributes]
    places = places or [(child, None) for child in tag.children if child.name in ("lower", "upper")]
    found = [(each, attribute, context.value(each, attribute)) for each, attribute in places]
    changes = []
    bounds = [numbers(value[0]) for _, _, value in found if value]
    if len(bounds) == 2 and any(bounds == [[-endless], [endless]] for endless in ENDLESS):
        return None
    for each, attribute, value in found:
        angle = numbers(value[0]) if value else None
        if angle is None or len(angle) != 1 or not _is_in_degrees(angle[0]):
            return None
        if angle[0]:
            changes.append(context.change(each, attribute, _shortest(radians(angle[0]))))
    made = [change for change in changes if change is not None]
    if not made or len(made) != len(changes):
        return None
    old, new = (" ".join(getattr(change, side) for change in made) for side in ("old", "new"))
    return _Change(f"limits of <{tag.name}>", old, new, tuple(edit for change in made for edit in change.edits))


def _is_in_degrees(angle: float) -> bool:
    return abs(angle) <= LARGEST_DEGREES and (2.0 * angle).is_integer()


def _pose_in_radians(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
    """Of angles that are all whole or half degrees, one of them large."""
    attribute = finding.attribute
    found = context.value(tag, attribute)
    values = numbers(found[0]) if found else None
    if found is None or values is None or len(values) != (3 if attribute is not None else 6):
        return None
    angles = values[-3:]
    if not all(map(_is_in_degrees, angles)) or max(map(abs, angles)) < LEAST_DEGREES:
        return None
    words = list(re.finditer(r"\S+", found[0]))[-3:]
    new = found[0]
    for word, angle in reversed([(w, a) for w, a in zip(words, angles, strict=True) if a]):
        new = new[: word.start()] + _shortest(radians(angle)) + new[word.end() :]
    return context.change(tag, attribute, new)


def _value(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
    """Of a colour in bytes: the numbers that are taken for it; of a word in another case: the one that is known."""
    meant = MEANT.fullmatch(finding.hint or "")
    if meant is not None:
        known = meant[1]
        named = [name for name, each in tag.attributes.items() if each[0].casefold() == known.casefold()]
        return context.change(tag, named[0], known) if len(named) == 1 else None
    found = context.value(tag, finding.attribute) if finding.hint == BYTES else None
    rgba = numbers(found[0]) if found else None
    if rgba is None or len(rgba) != 4:
        return None
    return context.change(tag, finding.attribute, " ".join(map(_shortest, color_of_bytes(rgba))))


def _name(*kinds: str, attribute: str | None = None) -> Callable[[_Context, Diagnostic, Tag], _Change | None]:
    """The cure of a name that no element of these kinds has: the one that differs by its case, else the one that ends
    so, after what a model puts before its names."""

    def cure(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
        key = finding.attribute or attribute
        of_value = (name for name, each in tag.attributes.items() if each[0] == finding.value)
        key = next(of_value, None) if key is None else key
        found = context.value(tag, key)
        wanted = found[0].strip() if found else ""
        if not wanted or wanted != (finding.value or wanted).strip() or "::" in wanted:
            return None
        scope = context.elements.around(tag, "model").children
        names = [each.attributes["name"][0] for each in scope if each.name in kinds and "name" in each.attributes]
        meant = _meant(wanted, list(dict.fromkeys(names)))
        return None if meant is None else context.change(tag, key, meant)

    return cure


def _meant(wanted: str, names: Sequence[str]) -> str | None:
    if wanted in names:
        return None
    found = [name for name in names if name.casefold() == wanted.casefold()]
    found = found or [name for name in names if name.endswith((f"_{wanted}", f"/{wanted}"))]
    return found[0] if len(found) == 1 else None


def _spelling(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
    """Of an element or attribute whose name differs by its case from one that the format knows."""
    match = MEANT.fullmatch(finding.hint or "")
    old = finding.attribute or tag.name
    if match is None or match[1] == old or match[1].casefold() != old.casefold():
        return None
    new = match[1]
    if finding.attribute is not None:
        if old not in tag.attributes or new in tag.attributes:
            return None
        at = context.text.rindex(old, tag.start, tag.attributes[old][1])
        return _Change("attribute", old, new, ((at, at + len(old), new),))
    if old != finding.element or any(each.name == new for each in context.elements.parents[id(tag)].children):
        return None
    edits = [(tag.start + 1, tag.start + 1 + len(old), new)]
    if not tag.closed:
        at = context.text.index(old, tag.content_end)
        edits.append((at, at + len(old), new))
    return _Change("element", old, new, tuple(edits))


def _mesh(context: _Context, finding: Diagnostic, tag: Tag) -> _Change | None:
    """The name of a mesh whose file is not there, where one file below the package or folder must be meant."""
    attribute = "filename" if "filename" in tag.attributes else None
    if attribute is None and tag.name == "mesh":
        uris = [child for child in tag.children if child.name == "uri"]
        tag = uris[0] if len(uris) == 1 else tag
    found = context.value(tag, attribute) if tag.name in ("mesh", "uri") else None
    new = _uri_that_leads(found[0], context.folder, context.packages) if found else None
    return None if new is None else context.change(tag, attribute, new)


def _uri_that_leads(uri: str, folder: str, packages: PackageMap) -> str | None:
    """What a URI that leads to no file must mean; None if it leads to one, or may mean several."""
    uri_of_here = uri.replace("\\", "/")
    try:
        packages.resolve(uri_of_here, folder)
        return uri_of_here if uri_of_here != uri else None
    except MissingFileError as error:
        wanted, root = error.wanted, error.root
    except ResourceError:
        return None
    alike = spelled_alike(wanted, root)
    head, scheme, rest = uri_of_here.rpartition("://")
    package, slash, inside = rest.partition("/") if scheme else ("", "", rest)
    directory = folder if not scheme else wanted.removesuffix(inside) if slash and wanted.endswith(f"/{inside}") else ""
    if alike is None or not directory or os.path.isabs(inside):
        return None
    new = head + scheme + package + slash + os.path.relpath(alike, directory)
    try:
        return new if os.path.samefile(packages.resolve(new, folder), alike) else None
    except ResourceError:
        return None


CURES: dict[str, Callable[[_Context, Diagnostic, Tag], _Change | None]] = {
    "AXIS_NOT_UNIT": _unit_axis,
    "JOINT_LIMIT_UNIT": _limits_in_radians,
    "ANGLE_UNIT": _pose_in_radians,
    "ATTRIBUTE_INVALID": _value,
    "JOINT_PARENT_LINK_INVALID": _name("link", "frame", "model"),
    "JOINT_CHILD_LINK_INVALID": _name("link", "frame", "model"),
    "FRAME_ATTACHED_TO_INVALID": _name("link", "joint", "frame", "model"),
    "POSE_RELATIVE_TO_INVALID": _name("link", "joint", "frame", "model"),
    "JOINT_AXIS_MIMIC_INVALID": _name("joint"),
    "MATERIAL_UNDEFINED": _name("material", attribute="name"),
    "ELEMENT_UNKNOWN": _spelling,
    "ATTRIBUTE_UNKNOWN": _spelling,
    "URI_LOOKUP": _mesh,
}
