"""From the bytes of an XML file to its tree of nodes, and the places of its tags in the text."""

from __future__ import annotations

import codecs
import hashlib
import re
from array import array
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from lxml import etree
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.spec import SourceFile, SourceLocation
from mbcli.parsers.tag_mending import ENDS, with_mended_tags
from mbcli.parsers.xml_node import MAX_QUOTED, Node
from mbcli.parsers.xml_text import mended, without_declarations

if TYPE_CHECKING:
    from collections.abc import Iterable, KeysView, Mapping, Sequence, Sized

    from mbcli.math.array_types import IntArray

MAX_ATTRIBUTES = 1000  # of one element
FEW_PREFIXES = 10
MAX_RELATED = 10  # places listed with a finding that occurs many times

# libxml2 refuses elements nested deeper than 256 without its huge_tree option, with it deeper than 2048.
_PARSER_OPTIONS = {
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "dtd_validation": False,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}
# The option takes the bound on entities away, too: the encoding is the one in which a DOCTYPE was looked for before.
_DEEP = {"huge_tree": True, "encoding": "utf-8"}
_TOLERATED = {
    "NS_ERR_UNDEFINED_NAMESPACE": "the prefix is not declared; it is taken as written",
    "NS_ERR_QNAME": "it is no name of XML; it is taken as written",
    "ERR_HYPHEN_IN_COMMENT": "a comment contains --",
}
_DRAKE_NAMESPACES = ("http://drake.mit.edu", "https://drake.mit.edu")

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*>")
_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?!\0)(?:\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]*))?")
_USUAL_ENCODINGS = ("utf-8", "utf8", "ascii", "us-ascii")
_PLAIN_DOCTYPE = re.compile(r"<!DOCTYPE\s+[\w:.-]+\s*>")  # names the root, no more
_DOCTYPE_IN_PROLOG = re.compile(r"(?:\s+|<!--.*?-->|<\?.*?\?>)*+(<!DOCTYPE)", re.DOTALL)
_DECLARED_PREFIX = re.compile(r"xmlns:([^\s=]+)")
_NAME = re.compile(r"[^\s/>]+")

# the attributes of a start tag one after another; a match without a name is the end of the tag
_ATTRIBUTE = re.compile(r"""(?:<[^\s/<>]++)?(?<!\s)(?:\s++(?P<name>[^\s=>/]++)\s*+=\s*+(?:"[^"]*"|'[^']*')|\s*+/?>)""")

XmlElement: TypeAlias = etree._Element  # lxml has no public name for it


class Document:
    """One file: its text's line starts and start tags, and the diagnostics that its nodes report to."""

    def __init__(self, name: str, content: bytes, diagnostics: Diagnostics) -> None:
        self.name = name
        self.content = content
        self.diagnostics = diagnostics
        self.source = SourceFile(name, hashlib.sha256(content).hexdigest(), content)
        self.count_of_tags = 0
        self.origins: Sequence[SourceLocation | None] = ()  # where its elements stand in files that it was made of
        self.shared_numbers: dict[tuple[str, ...], dict[str, int]] = {}  # names of attributes -> numbers_of() them
        self.decode(None)

    def decode(self, encoding: str | None) -> None:
        """Sets the text: of this encoding, or of the usual one if it is None."""
        self.take_text(_decode(self.content, encoding))

    def take_text(self, text: str) -> None:
        """Another reading of the file's bytes."""
        self.text = text
        self._line_starts: array[int] | None = None
        self._tag_starts: Sequence[int] | IntArray | None = None
        self._tag_places: tuple[Sequence[int], ...] | None = None
        self._tag_lines: list[int] | None = None
        self._last_place: tuple[int, SourceLocation] | None = None

    @property
    def names_of_attributes(self) -> KeysView[tuple[str, ...]]:
        """The names that elements have together, in tuples."""
        return self.shared_numbers.keys()

    def numbers_of(self, attributes: Mapping[str, str]) -> dict[str, int]:
        """{name: 1, 2, ...} of the attributes of an element."""
        names = (*attributes,)
        numbers = self.shared_numbers.get(names)
        if numbers is None:
            numbers = self.shared_numbers[names] = {name: k for k, name in enumerate(names, 1)}
        return numbers

    def place(self, offset: int) -> SourceLocation:
        """The place of a character of the text, or of the element of another file that it comes from."""
        if self.origins and self.start_of_tag(0) is not None:
            return self.place_of_tag(max(int(np.searchsorted(np.asarray(self._tag_starts), offset, "right")) - 1, 0))
        starts = self._line_starts or self._starts_of_lines()
        line = bisect_right(starts, offset)
        return SourceLocation(self.name, line, offset - starts[line - 1] + 1)

    def start_of_tag(self, number: int) -> int | None:
        """The offset of one of the start tags, or None if they cannot be told in the text."""
        starts: Sequence[int] | IntArray | None = self._tag_starts
        if starts is None:
            starts = _start_tag_offsets(self.text)
            if len(starts) != self.count_of_tags:  # a text that we decode otherwise than libxml2
                starts = ()
            self._tag_starts = starts
        return int(starts[number]) if len(starts) else None

    def place_of_tag(self, number: int) -> SourceLocation:
        """The place of one of the start tags, by its number in the order of the file."""
        if self.origins and (origin := self.origins[number]) is not None:
            return origin
        places = self._tag_places
        if places is None:
            places = self._tag_places = self._places_of_tags()
        if not places:
            return SourceLocation(self.name, self._line_of_tag(number))
        last = self._last_place  # it is often asked for twice
        if last is None or last[0] != number:
            last = self._last_place = number, SourceLocation(self.name, places[0][number], places[1][number])
        return last[1]

    def _places_of_tags(self) -> tuple[Sequence[int], ...]:
        """Lines and columns of all start tags, or nothing if they cannot be told in the text."""
        if self.start_of_tag(0) is None:
            return ()
        tag_starts: Any = self._tag_starts
        line_starts = np.frombuffer(self._line_starts or self._starts_of_lines(), np.int64)
        lines = np.searchsorted(line_starts, tag_starts, "right")
        columns = tag_starts - line_starts[lines - 1] + 1
        return tuple(array("i", numbers.astype(np.int32).tobytes()) for numbers in (lines, columns))

    def tag_as_written(self, number: int) -> str | None:
        """The name of one of the start tags with its prefix, or None."""
        start = self.start_of_tag(number)
        written = None if start is None else _NAME.match(self.text, start + 1)
        return written and written[0]

    def attribute_offsets(self, number: int) -> dict[str, int]:
        """{name without its prefix: offset} of the attributes of one of the start tags."""
        start = self.start_of_tag(number)
        return {} if start is None else _attribute_offsets(self.text, start)

    def last_before(self, place: SourceLocation, text: str) -> SourceLocation:
        """The last place of a piece of text before a place; the latter if the text is not there."""
        starts = self._starts_of_lines()
        at = self.text.rfind(text, 0, starts[min(place.line, len(starts)) - 1] + place.column)
        return self.place(at) if at >= 0 else place

    def _starts_of_lines(self) -> array[int]:
        if self._line_starts is None:
            self._line_starts = array("q", (np.flatnonzero(_code_points(self.text) == ord("\n")) + 1).tobytes())
            self._line_starts.insert(0, 0)
        return self._line_starts

    def _line_of_tag(self, number: int) -> int:
        if self._tag_lines is None:
            root = etree.fromstring(self.content, etree.XMLParser(recover=True, **_PARSER_OPTIONS))
            self._tag_lines = [element.sourceline or 0 for element in root.iter("*")]
        return self._tag_lines[number] if number < len(self._tag_lines) else 0


def _decode(content: bytes, encoding: str | None) -> str:
    """The text of the document for positions in it; the parser decodes for itself."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif encoding is None or encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        return content.decode(encoding, errors="replace")
    except LookupError:
        return content.decode("latin-1")


def _code_points(text: str) -> IntArray:
    """The characters of a text as an array of numbers."""
    if text.isascii():
        return np.frombuffer(text.encode(), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _start_tag_offsets(text: str) -> IntArray:
    """Array of the offsets of all start tags."""
    declaration = _DECLARATION.match(text)
    first = declaration.end() if declaration else 0
    codes = _code_points(text)
    starts = np.flatnonzero(codes[first:-1] == ord("<")) + first
    after = codes[starts + 1]
    is_mark = (after == ord("!")) | (after == ord("?"))
    skipped = _skipped_parts(text, starts[is_mark].tolist())
    starts = starts[(after != ord("/")) & ~is_mark]
    if skipped:  # a part covers the tags from its start to its end
        bounds = np.searchsorted(starts, skipped)
        covered = np.zeros(len(starts) + 1, np.int64)
        np.add.at(covered, bounds[:, 0], 1)
        np.add.at(covered, bounds[:, 1], -1)
        starts = starts[np.cumsum(covered)[:-1] == 0]
    return starts


def _skipped_parts(text: str, offsets: Sequence[int]) -> list[tuple[int, int]]:
    """(start, end) of comments, CDATA sections and processing instructions; offsets: of all <! and <?."""
    parts, at = [], 0
    for start in offsets:
        for mark, ending in ENDS.items() if start >= at else ():
            end = text.find(ending, start + len(mark)) if text.startswith(mark, start) else -1
            if end >= 0:
                at = end + len(ending)
                parts.append((start, at))
    return parts


def _attribute_offsets(text: str, start: int) -> dict[str, int]:
    offsets: dict[str, int] = {}
    for match in _ATTRIBUTE.finditer(text, start):
        if match["name"] is None:  # the end of the tag
            break
        offsets.setdefault(match["name"].rpartition(":")[2], match.start("name"))
    return offsets


# ---------------------------------------------------------------------------------------------- parsing


def parse(document: Document, deep: bool) -> Node | None:
    """The root node of an acceptable document, or None after an error."""
    doctype = _DOCTYPE_IN_PROLOG.match(document.text)
    if doctype and not _PLAIN_DOCTYPE.match(document.text, doctype.start(1)):
        _refuse_doctype(document, document.place(doctype.start(1)))
        return None
    _follow_encoding(document, deep)
    tree = _parse_strictly(document, document.content, {})
    if tree is None and deep:
        tree = _parse_strictly(document, document.content, _DEEP)
    if tree is None:
        tree = _parse_mended(document, deep)
    if tree is None:
        return None
    if tree.has_doctype and not doctype:  # in an encoding that the check above does not see through
        _refuse_doctype(document, SourceLocation(document.name))
        return None
    document.count_of_tags = tree.count
    tree.settle_prefixes()
    if tree.crowded is not None:
        message = f"<{tree.crowded.tag[:MAX_QUOTED]}> has more than {MAX_ATTRIBUTES} attributes"
        document.diagnostics.error("XML_ERROR", message, place=tree.crowded.place)
        return None
    root, tree.root = tree.root, None  # the parser still knows the tree
    return root


def _refuse_doctype(document: Document, place: SourceLocation) -> None:
    document.diagnostics.error("XML_ERROR", "a model file must not have a DOCTYPE", place=place)


def _follow_encoding(document: Document, deep: bool) -> None:
    """Decodes the text as libxml2 does, if that does not take it for UTF-8."""
    start = _START.match(document.content)
    if start is not None and (start[1] or b"utf-8").decode("latin-1").lower() in _USUAL_ENCODINGS:
        return
    for options in ({}, _DEEP, {"recover": True}) if deep else ({}, {"recover": True}):
        root = None
        with suppress(etree.XMLSyntaxError, ValueError):
            root = etree.fromstring(document.content, etree.XMLParser(**_PARSER_OPTIONS | options))
        if root is not None:
            encoding = root.getroottree().docinfo.encoding
            if encoding and encoding.lower() not in _USUAL_ENCODINGS:
                document.decode(encoding)
            return


def _parse_strictly(document: Document, content: bytes, options: dict[str, Any]) -> _Tree | None:
    if _may_be_plain(document.text):
        plain = _PlainTree(document)
        tree = _parse_into(plain, content, options)
        if tree is None or plain.is_plain():
            return tree
    return _parse_into(_Tree(document), content, options)


def _may_be_plain(text: str) -> bool:
    """Whether a document seems to have neither references nor names of namespaces, which it may declare."""
    if "&" in text:
        return False
    at = -1
    for _ in range(FEW_PREFIXES):  # the text is searched for each
        at = text.find("xmlns", at + 1)
        prefix = _DECLARED_PREFIX.match(text, at) if at >= 0 else None
        if prefix is None or f"<{prefix[1]}:" in text:
            return at < 0
    return False


def _parse_into(tree: _Tree, content: bytes, options: dict[str, Any]) -> _Tree | None:
    parser = etree.XMLParser(target=tree, **_PARSER_OPTIONS | options)
    try:
        etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    # faults of namespaces do not end a parse into a target
    return None if any(entry.level >= etree.ErrorLevels.ERROR for entry in parser.error_log) else tree


def _parse_mended(document: Document, deep: bool) -> _Tree | None:
    """Parse again, declarations and encodings read as meant, then tags too."""
    text, findings = mended(document.content)
    if text is None:
        return _parse_with_mended_tags(document, document.content, deep)
    document.take_text(text)
    for severity, message, offset in findings:
        report = document.diagnostics.warning if severity == "warning" else document.diagnostics.note
        report("XML_ERROR", message, place=document.place(offset))
    doctype = _DOCTYPE_IN_PROLOG.match(text)
    if doctype:
        _refuse_doctype(document, document.place(doctype.start(1)))
        return None
    content = text.encode()
    tree = _parse_strictly(document, content, {})
    if tree is None and deep:
        tree = _parse_strictly(document, content, _DEEP)
    return tree if tree is not None else _parse_with_mended_tags(document, content, deep)


def _parse_with_mended_tags(document: Document, content: bytes, deep: bool) -> _Tree | None:
    text, findings = with_mended_tags(document.text)
    if text is None:
        return _parse_tolerantly(document, content)
    places: dict[str, list[SourceLocation]] = {message: [] for message, _ in findings}
    for message, offset in findings:
        places[message].append(document.place(offset))
    text = without_declarations(text)
    document.take_text(text)
    content = text.encode()
    tree = _parse_strictly(document, content, {})
    if tree is None and deep:
        tree = _parse_strictly(document, content, _DEEP)
    if tree is None:
        tree = _parse_tolerantly(document, content)
    for message, found in places.items() if tree is not None else ():
        document.diagnostics.warning(
            "XML_ERROR", message + times(found), place=found[0], related=found[1 : 1 + MAX_RELATED]
        )
    return tree


def _parse_tolerantly(document: Document, content: bytes) -> _Tree | None:
    """Parse again with recovery, accepted only if every fault is one of the harmless kinds."""
    root = None
    parser = etree.XMLParser(recover=True, **_PARSER_OPTIONS)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        if not len(parser.error_log):
            document.diagnostics.error("XML_ERROR", str(error), place=SourceLocation(document.name))
            return None
    for entry in parser.error_log:
        if entry.type_name not in _TOLERATED:
            message = "elements are nested too deep" if "Excessive depth" in entry.message else entry.message
            document.diagnostics.error(
                "XML_ERROR", message, place=SourceLocation(document.name, entry.line, entry.column)
            )
            return None
    if root is None:
        document.diagnostics.error("XML_ERROR", "the document is empty", place=SourceLocation(document.name))
        return None
    _note_tolerated(parser.error_log, document)
    return _retold(root, document)


def _note_tolerated(error_log: Iterable[Any], document: Document) -> None:
    """One note for each message, at its first place."""
    places: dict[str, list[SourceLocation]] = {}
    for entry in error_log:
        kind = _TOLERATED[entry.type_name]
        prefix = re.match(r"Namespace prefix (\S+)", entry.message)
        name = re.fullmatch(r"Failed to parse QName '(.*)'", entry.message, re.DOTALL)
        subject, written = (prefix[1], prefix[1] + ":") if prefix else (name[1], name[1]) if name else ("", "")
        key = f'"{subject}": {kind}' if subject else kind
        place = SourceLocation(document.name, entry.line, entry.column)
        places.setdefault(key, []).append(document.last_before(place, written) if written else place)
    for message, found in places.items():
        document.diagnostics.note(
            "XML_ERROR", message + times(found), place=found[0], related=found[1 : 1 + MAX_RELATED]
        )


def times(found: Sized) -> str:
    """How often a finding occurs, if it does more than once."""
    return f" ({len(found)} times)" if len(found) > 1 else ""


# ------------------------------------------------------------------------------------------- the tree


def _retold(root: XmlElement, document: Document) -> _Tree:
    """The tree of what libxml2 has read: what it tells while it reads lacks prefixes that are not declared."""
    tree = _Tree(document)
    namespaces: dict[str | None, str] = {}
    for event, element in etree.iterwalk(root, events=("start", "end", "start-ns")):
        if event == "start-ns":
            namespaces[element[0]] = element[1]
        elif event == "start":
            tree.start(element.tag, {k: v.replace("&", "&#38;") for k, v in element.items()}, namespaces)
            namespaces = {}
            if element.text:
                tree.data(element.text)
        else:
            tree.end(element.tag)
            if element.tail and element is not root:
                tree.data(element.tail)
    tree.has_doctype = root.getroottree().docinfo.internalDTD is not None
    return tree


class _Tree:
    """Makes nodes of what libxml2 tells while it reads, without a tree of its own beside."""

    def __init__(self, document: Document) -> None:
        self.root: Any = None
        self.count = 0  # of start tags
        self.crowded: Any = None  # the first element with too many attributes
        self.has_doctype = False
        self._document = document
        self._open: Any = None  # the innermost element whose end is to come
        self._texts: list[str] = []  # pieces of text since the last tag
        self._tags: dict[str, str] = {}  # one object for each tag without namespace
        self._names: dict[str, str] = {}  # one for each with one
        self._prefixes: dict[str, list[str | None]] = {}  # {URI: prefixes that stand for it here, the innermost last}
        self._scopes: list[tuple[Any, list[str]]] = []  # (element, the URIs that it declares), from the outside in
        self._unsettled: list[tuple[Any, str]] = []  # (node, its tag) of tags whose prefix the text alone tells
        self._has_prefixes = "xmlns" in document.text or "xml:" in document.text
        self._has_references = "&" in document.text
        self.data = self._texts.append

    def start(self, tag: str, attributes: Mapping[str, str], namespaces: Mapping[str | None, str]) -> None:
        parent = self._open
        if self._texts:
            self._take_text(parent)
        if namespaces:
            self._declare(namespaces)
        if self._has_prefixes and attributes:
            attributes = self._with_prefixes(attributes)
        if self._has_references and attributes:  # libxml2 tells an & in this form
            attributes = {name: text.replace("&#38;", "&") for name, text in attributes.items()}
        known = self._tags.get(tag) or self._tag_with_prefix(tag)
        node = Node(known, parent, self._document, self.count, attributes)
        self.count += 1
        self._open = node
        if parent is None:
            self.root = node
            node.used = True
        elif parent.child_nodes:
            parent.child_nodes.append(node)
        else:
            parent.child_nodes = [node]
        if len(attributes) > MAX_ATTRIBUTES and self.crowded is None:
            self.crowded = node
        if namespaces:
            self._scopes.append((node, list(namespaces.values())))
        if tag[0] == "{" and len(self._prefixes[tag[1:].rpartition("}")[0]]) > 1:
            self._unsettled.append((node, tag))

    def end(self, tag: str) -> None:
        node = self._open
        if self._texts:
            self._take_text(node)
        if node.raw_text:
            node.raw_text = " ".join(node.raw_text).strip()
        if self._scopes and self._scopes[-1][0] is node:
            for uri in self._scopes.pop()[1]:
                self._prefixes[uri].pop()
        self._open = node.parent

    def doctype(self, name: str, public_id: str | None, system_url: str | None) -> None:
        self.has_doctype = True

    def close(self) -> _Tree:
        return self

    def _take_text(self, node: Node) -> None:
        """The texts around the children of an element are parts, joined by blanks in the end."""
        text = self._texts[0] if len(self._texts) == 1 else "".join(self._texts)
        self._texts.clear()
        if node.raw_text:
            node.raw_text.append(text)
        elif not text.isspace():
            node.raw_text = [text]

    # ------------------------------------------------------------------------------------ namespaces

    def _declare(self, namespaces: Mapping[str | None, str]) -> None:
        for prefix, uri in namespaces.items():
            self._prefixes.setdefault(uri, []).append(prefix or None)

    def _tag_with_prefix(self, tag: str) -> str:
        if tag[0] != "{":
            return self._tags.setdefault(tag, tag)
        uri, _, local = tag[1:].rpartition("}")
        name = _prefixed(uri, local, self._prefixes[uri][-1])
        return self._names.setdefault(name, name)

    def _with_prefixes(self, attributes: Mapping[str, str]) -> Mapping[str, str]:
        """An attribute of a namespace always has a prefix, `xml` without a declaration."""
        if not any(name[0] == "{" for name in attributes):
            return attributes
        plain = {}
        for name, text in attributes.items():
            uri, _, local = name[1:].rpartition("}") if name[0] == "{" else ("", "", "")
            prefix = next(filter(None, self._prefixes.get(uri, ())), "xml")
            plain[_prefixed(uri, local, prefix) if uri else name] = text
        return plain

    def settle_prefixes(self) -> None:
        """Takes the prefixes of tags from the text where there are several for one namespace."""
        for node, tag in self._unsettled:
            uri, _, local = tag[1:].rpartition("}")
            written = self._document.tag_as_written(node.tag_number)
            if written is not None and written.rpartition(":")[2] == local:
                node.tag = _prefixed(uri, local, written.rpartition(":")[0] or None)


class _PlainTree(_Tree):
    """The same of documents without references and names of namespaces, in half the time.

    Whether a document is one of these shows at its end.
    """

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        node: Any = None  # the innermost element whose end is to come
        count, texts, tags, numbers = 0, self._texts, self._tags, document.shared_numbers

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal node, count
            if texts:
                self._take_text(node)
            parent = node
            node = Node(tags.get(tag) or tags.setdefault(tag, tag), parent, document, count, None)
            if attributes:
                names = (*attributes,)
                node.attribute_numbers = numbers.get(names) or document.numbers_of(attributes)
                node.attribute_values = (*attributes.values(),)
            count += 1
            if parent is None:
                self.root = node
                node.used = True
            elif parent.child_nodes:
                parent.child_nodes.append(node)
            else:
                parent.child_nodes = [node]

        def end(tag: str) -> None:
            nonlocal node
            if texts:
                self._take_text(node)
            if node.raw_text:
                node.raw_text = " ".join(node.raw_text).strip()
            node = node.parent

        def data(text: str) -> None:
            if texts or node.raw_text or not text.isspace():  # nothing but space before, as in most elements
                texts.append(text)

        def close() -> _PlainTree:
            self.count = count
            return self

        vars(self).update(start=start, end=end, data=data, close=close)  # in place of the methods

    def is_plain(self) -> bool:
        """Whether that was so, and no element is crowded."""
        names = self._document.names_of_attributes
        return not any(tag[0] == "{" for tag in self._tags) and not any(
            len(together) > MAX_ATTRIBUTES or any(name[0] == "{" for name in together) for together in names
        )


def _prefixed(uri: str, local: str, prefix: str | None) -> str:
    """A name of a namespace as prefix:name; a default namespace has no prefix."""
    if prefix is None:
        return local
    return f"drake:{local}" if uri in _DRAKE_NAMESPACES else f"{prefix}:{local}"
