"""Findings of a parser in its files: one record per finding, collected, and raised once with all of them.

Recording an error does not raise: parsing goes on, so that one run reports every finding of a file. Texts
taken from a file are kept as they are in the record and escaped when a record becomes a line of text.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from mbcli.parsers.spec import SourceLocation

from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypedDict, Unpack

    class Details(TypedDict, total=False):
        """Of a finding, beside its code, message and node."""

        place: SourceLocation | None  # default: that of the node
        hint: str | None
        attribute: str | None
        value: str | None
        related: Iterable[SourceLocation]


MAX_STORED = 50_000  # findings of each severity; further ones are only counted
MAX_TEXT = 4000  # characters of a message or hint
MAX_OF_KIND = 10  # findings of one severity and code that a text lists

# An error whose only statement is that something is missing: see `Diagnostics.raise_if_errors`.
RESOURCE_CODES = frozenset({"FILE_READ", "URI_LOOKUP", "URI_OUTSIDE"})


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `xpath`, `element`, `attribute`, `value` and `hint` are None if they do not apply."""

    code: str  # UPPER_SNAKE; libsdformat's name if it has one
    severity: str  # "error", "warning" or "note"
    message: str
    place: SourceLocation
    xpath: str | None = None
    element: str | None = None
    attribute: str | None = None
    value: str | None = None  # the offending text of the file
    hint: str | None = None
    related: tuple[SourceLocation, ...] = ()  # other places that belong to the finding, as the first of two equal names

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else ""
        return printable(f"{self.place}: {self.severity}: {self.message}{hint} [{self.code}]")

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON values: the keys of `mbcli check`."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            **_place_as_dict(self.place),
            "xpath": self.xpath,
            "element": self.element,
            "attribute": self.attribute,
            "value": self.value,
            "hint": self.hint,
            "related": [_place_as_dict(place) for place in self.related],
        }

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Diagnostic:
        """The contrary of dataclasses.asdict()."""
        place, *related = (SourceLocation(**each) for each in (document["place"], *document["related"]))
        return Diagnostic(**{**document, "place": place, "related": tuple(related)})


class DiagnosticError(ModelError):
    """The errors of a parse, a line each, ten of a kind at most; `diagnostics` has all findings, `fatal` the errors."""

    def __init__(self, text: str, diagnostics: Diagnostics, fatal: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics, self.fatal = diagnostics, fatal


class MissingResourceError(ResourceError):
    """The same if each of them is a missing file or package."""

    def __init__(self, text: str, diagnostics: Diagnostics, fatal: Sequence[Diagnostic] = ()) -> None:
        super().__init__(text)
        self.diagnostics, self.fatal = diagnostics, fatal


# of files that need not be what a reference takes them for
CODES_OF_SYNTAX = frozenset({"XML_ERROR", "YAML_SYNTAX", "VALUE_TYPE", "KEY_UNKNOWN", "KEY_REPEATED", "FILE_FORMAT"})
_TEXT_OF_FILE = re.compile(r"; found .*|(?<=mismatch): .*|<[^<>]*>|\"[^\"]*\"|'[^']*'", re.DOTALL)


def without_text(message: str) -> str:
    """A message on a file without what stands in it: it may be a private one."""
    return _TEXT_OF_FILE.sub(lambda found: "" if found[0][0] in ";:" else "...", message)


class Diagnostics:
    """Collects the findings of one or several files in the order of their discovery."""

    def __init__(self, *, thorough: bool = False, mesh_files: bool = False) -> None:
        self.findings: list[Diagnostic] = []
        self._room = dict.fromkeys(("error", "warning", "note"), MAX_STORED)  # for findings of each severity
        self._left_out = dict.fromkeys(self._room, 0)
        self.thorough = thorough  # whether models get every physical check (`mbcli check`), or those for any use
        self.main_file: str | None = None  # the name of the file that was read first: others it refers to
        # (path, folder of that file) -> whether a reference led out of there to it; PackageMap.leads_out()
        self.leads_out: Callable[[str, str], bool] = _is_elsewhere
        self._led_out: dict[str, bool] = {}  # file name -> whether a reference has led out of there to it
        self.mesh_files = mesh_files  # whether the checks open mesh files
        self.softness_acts = False  # whether contact and limits of joints will be as soft as a file of MuJoCo says
        # file name -> root node, for as long as the file is read: places in it to nodes
        self.trees: dict[str, Any] = {}
        self._damaged: set[SourceLocation] = set()  # places of elements that have an error in them
        # inside of `leaving_out`: (node, what becomes of it, the messages so far)
        self.part_left_out: tuple[Any, str, list[str]] | None = None

    def error(self, code: str, message: str, node: Any = None, **details: Unpack[Details]) -> None:
        """Record an error at an XML node or at a place; parsing goes on."""
        self._add("error", code, message, node, **details)

    def warning(self, code: str, message: str, node: Any = None, **details: Unpack[Details]) -> None:
        """Record a warning; `--strict` makes it an error."""
        self._add("warning", code, message, node, **details)

    def note(self, code: str, message: str, node: Any = None, **details: Unpack[Details]) -> None:
        """Record something worth knowing that is not a fault."""
        self._add("note", code, message, node, **details)

    def leaving_out(self, node: Any, consequence: str) -> _LeavingOut:
        """While it lasts errors are warnings, which end in what becomes of the part of the file that is at fault.

        For parts that links, joints, masses, poses and limits do not depend on. node: the outermost element whose
        values are not those in the file then, or None for none. Gives a list of messages, empty until there is such a
        finding.
        """
        return _LeavingOut(self, node, consequence)

    @property
    def errors(self) -> list[Diagnostic]:
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [finding for finding in self.findings if finding.severity == "warning"]

    def counts(self) -> dict[str, int]:
        """Findings by severity: {"error": int, "warning": int, "note": int}."""
        counts = dict(self._left_out)
        for finding in self.findings:
            counts[finding.severity] += 1
        return counts

    def raise_if_errors(self, strict: bool = False) -> None:
        """Raise with the errors, one line each; `strict` counts warnings as errors.

        Raises `MissingResourceError` (exit code 4) if each of them is about a missing file or package,
        `DiagnosticError` (exit code 3) otherwise.
        """
        severities = ("error", "warning") if strict else ("error",)
        fatal = [finding for finding in self.findings if finding.severity in severities]
        if not fatal:
            return
        missing = all(finding.code in RESOURCE_CODES for finding in fatal)
        shown, more = first_of_each_kind(fatal)
        text = "\n".join([*map(str, shown), *more])
        raise (MissingResourceError if missing else DiagnosticError)(text, self, fatal)

    def is_damaged(self, place: SourceLocation) -> bool:
        """Whether the element at a place has an error in it, so that its values may differ from those in the file."""
        return bool(self._damaged) and place in self._damaged

    def node_at(self, place: SourceLocation, *details: str) -> Any:
        """The XML node that starts at a place of a file that is being read, or None.

        details: tags; the first of them that a child has takes its place, as in node_at(joint_place, "limit").
        """
        root = self.trees.get(place.file)
        node = root.find_place(place) if root is not None and place.line else None
        if node is None:
            return None
        for tag in details:
            child = node.peek(tag)
            if child is not None:
                return child
        return node

    def _add(
        self,
        severity: str,
        code: str,
        message: str,
        node: Any,
        *,
        place: SourceLocation | None = None,
        hint: str | None = None,
        attribute: str | None = None,
        value: str | None = None,
        related: Iterable[SourceLocation] = (),
    ) -> None:
        if severity == "error" and node is not None:
            self._mark_damaged(node)
        if severity == "error" and self.part_left_out is not None:
            severity = "warning"
            self.part_left_out[-1].append(message)
            message = f"{message}: {self.part_left_out[1]}"
        if not self._room[severity]:
            self._left_out[severity] += 1
            return
        self._room[severity] -= 1
        if place is None:
            place = node.place_of(attribute) if node is not None else SourceLocation("")
        xpath, element = (node.xpath, node.tag) if node is not None else (place.prim or None, None)
        if self.main_file is not None and (place.file != self.main_file or place.file in self._led_out):
            leads_out = self._leads_out(place.file)
            if (leads_out and code not in RESOURCE_CODES) or code in CODES_OF_SYNTAX:
                message, hint, value = without_text(message), None, None
            if leads_out:
                place = SourceLocation(place.file, place.line, place.column)
                xpath = element = attribute = None
        self.findings.append(
            Diagnostic(
                code,
                severity,
                _shortened(message),
                place,
                xpath,
                element,
                attribute,
                value,
                _shortened(hint) if hint else hint,
                tuple(related),
            )
        )

    def quotes_nothing_of(self, name: str, files: Iterable[str]) -> bool:
        """Says that findings on what is called so may be on these files too, which are not told apart; whether one of
        them is outside, so that nothing will be quoted."""
        if any(self._leads_out(file) for file in files):
            self._led_out[name] = True
        return self._led_out.get(name, False)

    def is_named(self, file: str) -> None:
        """Says that the user names a file beside the main one: what is found in it may be quoted."""
        self._led_out[file] = False

    def _leads_out(self, file: str) -> bool:
        """Whether a file is neither in the folder or package of the main one, nor in a package that the user has named:
        it may be a private one."""
        if file not in self._led_out:
            base = os.path.dirname(os.path.abspath(self.main_file or ""))
            self._led_out[file] = os.path.exists(file) and self.leads_out(file, base)
        return self._led_out[file]

    def _mark_damaged(self, node: Any) -> None:
        """The element and those that it stands in; of a part that is left out those up to a certain one."""
        last = self.part_left_out[0] if self.part_left_out is not None else None
        if last is None and self.part_left_out is not None:
            return
        for ancestor in node.lineage:
            self._damaged.add(ancestor.place)
            if ancestor is last:
                return


def _is_elsewhere(path: str, folder: str) -> bool:
    """Whether a file is not below a folder, links followed."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath((path, folder)) != folder


class _LeavingOut:
    """The context of `Diagnostics.leaving_out`; a class, for it is entered several times for each link."""

    __slots__ = ("_diagnostics", "_part", "_outer")

    def __init__(self, diagnostics: Diagnostics, node: Any, consequence: str) -> None:
        self._diagnostics = diagnostics
        self._part: tuple[Any, str, list[str]] = (node, consequence, [])
        self._outer: tuple[Any, str, list[str]] | None = None

    def __enter__(self) -> list[str]:
        diagnostics = self._diagnostics
        self._outer, diagnostics.part_left_out = diagnostics.part_left_out, self._part
        return self._part[2]

    def __exit__(self, *error: object) -> None:
        self._diagnostics.part_left_out = self._outer


def _shortened(text: str) -> str:
    """Names come from files and may be of any length."""
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + " ..."


def first_of_each_kind(findings: Iterable[Diagnostic], most: int = MAX_OF_KIND) -> tuple[list[Diagnostic], list[str]]:
    """(findings, lines): at most so many of each severity and code, and a line on the rest of each."""
    shown = []
    kinds: dict[tuple[str, str], list[Diagnostic]] = {}
    for finding in findings:
        kind = kinds.setdefault((finding.severity, finding.code), [])
        kind.append(finding)
        if len(kind) <= most:
            shown.append(finding)
    more = [
        printable(f"{found[most].place.file}: {severity}: and {len(found) - most:,} more [{code}]")
        for (severity, code), found in kinds.items()
        if len(found) > most
    ]
    return shown, more


def printable(text: str) -> str:
    """The text with control, format and other unprintable characters escaped: safe for a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _place_as_dict(place: SourceLocation) -> dict[str, Any]:
    return {"file": place.file, "line": place.line or None, "column": place.column or None}
