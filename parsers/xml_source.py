"""XML files as trees of nodes that know their place and which of their parts were read.

`read_xml` is the only door: it refuses XML that a model file has no use for (a DTD, entities, network, great
size) and tolerates a few faults that real robot files have. A parser then asks the nodes for children,
attributes and numbers; each question marks its subject as read, and `report_unread` names the rest, so that
nothing in a file is ignored in silence.
"""

import hashlib
import re
from bisect import bisect_right
from itertools import islice
from math import copysign, inf
from operator import attrgetter
from typing import Any

from lxml import etree
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.source_bytes import read_bytes
from mbcli.parsers.spec import Place, SourceFile
from mbcli.parsers.xml_text import mended

from mbcli.common.suggestions import closest, did_you_mean

LARGEST_NUMBER = 1e100  # in a file; products of three of them are finite
MAX_BYTES = 32 * 2**20
MAX_TAGS = 1_000_000  # start and end tags, comments: bounds the memory of the tree
MAX_RELATED = 10  # places listed with a finding that occurs many times
MAX_ATTRIBUTES = 1000  # of one element
MAX_HINTS = 1000  # the likely meaning of an unknown name takes time to find
ANY = "*"  # in a table of names: every name that the format does not define for itself
MAX_STEPS = 64  # of the path to an element in a finding
MAX_QUOTED = 60  # characters of a file's text quoted in a message

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
    "ERR_HYPHEN_IN_COMMENT": "a comment contains --",
}

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*>")
_PLAIN_DOCTYPE = re.compile(r"<!DOCTYPE\s+[\w:.-]+\s*>")  # names the root, no more
_DOCTYPE_IN_PROLOG = re.compile(r"(?:\s+|<!--.*?-->|<\?.*?\?>)*+(<!DOCTYPE)", re.DOTALL)
_START_TAG_OR_SKIPPED = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?=[^/!?])", re.DOTALL)

# the attributes of a start tag one after another; a match without a name is the end of the tag
_ATTRIBUTE = re.compile(r"""(?:<[^\s/>]+)?(?:\s+(?P<name>[^\s=>/]+)\s*=\s*(?:"[^"]*"|'[^']*')|\s*/?>)""")

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_STATEMENTS = {
    "unsupported": "is not supported and not used",
    "unknown": "is unknown and not used",
    "foreign": "is for another program and not used",
    "meaningless": "has no meaning here and is not used",
}

_DRAKE_NAMESPACES = ("http://drake.mit.edu", "https://drake.mit.edu")
_OWN_PREFIX = "drake:"  # its elements carry physics: never foreign


def read_xml(source, diagnostics, *, name=None, deep=False):
    """The root node of an XML file, or None if it cannot be used (the errors are in `diagnostics`).

    source: a path, or the bytes of a document. name: that of the file in places; default: the path as given. deep: of a
    format whose chains nest: elements may be nested 2048 deep instead of 256, in UTF-8.
    """
    if isinstance(source, bytes):
        name, content = name or "<string>", source
    else:
        name = name or str(source)
        content = read_bytes(source, MAX_BYTES + 1, name, diagnostics)
        if content is None:
            return None
    problem = _size_problem(content)
    if problem:
        diagnostics.error("XML_ERROR", problem, place=Place(name))
        return None
    document = _Document(name, content, diagnostics)
    root = _parse(document, deep)
    if root is None:
        return None
    tree = _build_nodes(root, document)
    if tree is not None:
        diagnostics.trees[name] = tree
    return tree


def report_unread(node, diagnostics, known=None, foreign=None):
    """Report once the elements that the parser did not read below `node`, equal findings grouped with their count.

    known: the names of the file format, {tag: names}, a name being a child's tag or "@attribute"; the key may
    be "parent/tag" if a tag means different things. A defined name that is unread is "unsupported", anything
    else "unknown" (both warnings); elements of another program's namespace, subtrees marked as foreign and the
    names in `foreign`, a table like `known`, are notes.
    """
    groups: dict[Any, Any] = {}
    for owner, kind, item, reason_class, reason in _unread(node, (known or {}, foreign or {})):
        label = item.tag if kind == "element" else item
        key = (reason_class, kind, owner.tag if owner is not None else "", label, reason)
        groups.setdefault(key, []).append((owner, item))
    for n, ((reason_class, kind, _, label, reason), found) in enumerate(groups.items()):
        hint = None
        if reason_class == "unknown" and n < MAX_HINTS:
            hint = _hint(kind, label, _known_names(found[0][0], known or {}))
        _report_group(diagnostics, reason_class, kind, label, reason, found, hint)


class Node:
    """One element of an XML file.

    Reading marks the parts that were read; a value that is wrong is recorded as an error and gives the default.
    tag: with its prefix as in `drake:joint`, whether or not the file declares the prefix.
    child_nodes, raw_text: its children and its text, without reading them.
    used: whether it was asked for; ignored: (reason class, reason) if its subtree is marked as not used, else None.
    has_included: whether children are from another file.
    """

    __slots__ = (
        "tag",
        "parent",
        "_document",
        "_offset",
        "_line",
        "_attributes",
        "_attribute_offsets",
        "raw_text",
        "child_nodes",
        "used",
        "_read",
        "ignored",
        "_place",
        "_indices",
        "has_included",
    )

    def __init__(self, tag, parent, document, offset, line, attributes, text):
        self.tag = tag
        self.parent = parent
        self._document = document
        self._offset = offset
        self._line = line
        self._attributes = attributes
        self._attribute_offsets = None  # {name without its prefix: offset}
        self.raw_text = text
        self.child_nodes = []
        self.used = parent is None
        self._read = set()  # attribute names; "" stands for the text
        self.ignored = None
        self._place = None
        self._indices = None
        self.has_included = False

    # ------------------------------------------------------------------------------------------ place

    @property
    def document(self):
        """The file it stands in (`spec.SourceFile`)."""
        return self._document.source

    @property
    def diagnostics(self):
        return self._document.diagnostics

    @property
    def place(self):
        """Start of its tag."""
        if self._place is None:
            self._place = self._document.place(self._offset, self._line)
        return self._place

    def place_of(self, attribute):
        """The place of one of its attributes; the start of its tag if it has no such attribute."""
        if attribute not in self._attributes or self._offset is None:
            return self.place
        if self._attribute_offsets is None:
            self._attribute_offsets = _attribute_offsets(self._document.text, self._offset)
        offset = self._attribute_offsets.get(attribute.rpartition(":")[2])
        return self.place if offset is None else self._document.place(offset)

    @property
    def lineage(self):
        """The node and everything that it stands in, from the inside out."""
        node = self
        while node is not None:
            yield node
            node = node.parent

    def find_place(self, place):
        """The node at or below this one whose tag starts at a place of its file, or None."""
        wanted = (place.line, place.column)
        node: Node | None = self
        while node is not None:
            if (node.place.line, node.place.column) == wanted:
                return node
            children = node.child_nodes
            if node.has_included:
                children = [child for child in children if child.document is node.document]
            at = bisect_right(children, wanted, key=lambda child: (child.place.line, child.place.column))
            node = children[at - 1] if at else None
        return None

    def raw(self, name):
        """The text of an attribute, or None, without reading it."""
        return self._attributes.get(name)

    @property
    def is_text_read(self):
        """Whether the text was read."""
        return "" in self._read

    def peek(self, tag):
        """The first child of that tag, or None, without reading it."""
        return next((child for child in self.child_nodes if child.tag == tag), None)

    def walk(self):
        """Yields the node and everything below it in the order of the file, without reading it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.child_nodes)

    @property
    def attribute_names(self):
        """The names of its attributes, without reading them."""
        return self._attributes.keys()

    @property
    def xpath(self):
        """Readable path, by name if an element has one: /robot[@name='r']/link[@name='b']/inertial.

        Of a very deep element only the last steps.
        """
        steps = [node.step for node in islice(self.lineage, MAX_STEPS + 1)]
        if len(steps) > MAX_STEPS:
            steps[-1] = "/..."
        return "".join(reversed(steps))

    @property
    def step(self):
        """The last step of the path, by name or by number: /link[@name='b'], /visual[2]."""
        step = "/" + self.tag
        name = self._attributes.get("name")
        if name is not None:
            name = name if len(name) <= MAX_QUOTED else name[:MAX_QUOTED] + "..."
            return step + (f'[@name="{name}"]' if "'" in name else f"[@name='{name}']")
        return step + (self.parent.index_of(self) if self.parent is not None else "")

    def index_of(self, child):
        """[2] for the second of several children of one tag, else nothing."""
        if self._indices is None:
            counts: dict[str, list[Node]] = {}
            for node in self.child_nodes:
                counts.setdefault(node.tag, []).append(node)
            self._indices = {
                id(node): f"[{i}]" if len(twins) > 1 else ""
                for twins in counts.values()
                for i, node in enumerate(twins, 1)
            }
        return self._indices[id(child)]

    # --------------------------------------------------------------------------------------- children

    def child(self, tag, *, required=False):
        """The child of that tag or None; further ones of the same tag are reported and not used."""
        first = None
        for child in self.child_nodes:
            if child.tag != tag:
                continue
            child.used = True
            if first is None:
                first = child
            elif child.ignored is None:
                child.ignore("settled")
                self.diagnostics.warning(
                    "ELEMENT_DUPLICATE",
                    f"<{self.tag}> has more than one <{tag}>: only the first is used",
                    child,
                    related=(first.place,),
                )
        if first is None and required:
            self.diagnostics.error("ELEMENT_MISSING", f"<{self.tag}> must have a <{tag}>", self)
        return first

    @property
    def child_tags(self):
        """The tags of all children, without reading them."""
        return [child.tag for child in self.child_nodes]

    def children(self, *tags):
        """The children of these tags in the order of the file; without tags all of them."""
        found = [child for child in self.child_nodes if child.tag in tags] if tags else list(self.child_nodes)
        for child in found:
            child.used = True
        return found

    def find_all(self, tag):
        """Everything of that tag below it in the order of the file, without reading it."""
        found, pending = [], self.child_nodes[::-1]
        while pending:
            node = pending.pop()
            if node.tag == tag:
                found.append(node)
            pending += reversed(node.child_nodes)
        return found

    def include(self, child, root):
        """Puts the children of another file's root in the place of a child, as if they stood here."""
        at = self.child_nodes.index(child)
        self.child_nodes[at : at + 1] = root.child_nodes
        for node in root.child_nodes:
            node.parent = self
        self._indices = None
        self.has_included = True

    def state(self, name, text):
        """Gives a new node, or a copy, another attribute."""
        self._attributes[name] = text

    def without(self, tag):
        """The node, a new one or a copy, without its children of a tag."""
        self.child_nodes = [child for child in self.child_nodes if child.tag != tag]
        self._indices = None
        return self

    def substitute(self, tag, attributes):
        """A new node of other contents at the place of this one, not yet among the children of any."""
        return Node(tag, None, self._document, self._offset, self._line, attributes, "")

    def copied(self, renamed):
        """A copy of the node and all below it, not yet read, and not yet among the children of any.

        renamed: (node, attribute, text) -> the text of an attribute in the copy.
        """
        top = self.copied_alone(None, renamed)
        waiting = [(self, top)]
        while waiting:
            node, copy = waiting.pop()
            copy.child_nodes = [child.copied_alone(copy, renamed) for child in node.child_nodes]
            waiting += zip(node.child_nodes, copy.child_nodes, strict=True)
        return top

    def copied_alone(self, parent, renamed):
        """A copy of the element without what is below it."""
        attributes = {name: renamed(self, name, text) for name, text in self._attributes.items()}
        copy = Node(self.tag, parent, self._document, self._offset, self._line, attributes, self.raw_text)
        copy.used, copy.has_included = False, self.has_included
        return copy

    def adopt(self, nodes):
        """Appends nodes to the children."""
        for node in nodes:
            node.parent, node.used = self, False
            self.child_nodes.append(node)
        self._indices = None

    def exchange(self, child, nodes):
        """Puts nodes in the place of a child."""
        at = self.child_nodes.index(child)
        self.child_nodes[at : at + 1] = nodes
        for node in nodes:
            node.parent, node.used = self, False
        self._indices = None

    def unread_parts(self):
        """("attribute", name) and ("text", "") of what was not read of the element itself."""
        found = [("attribute", name) for name in self._attributes if name not in self._read]
        return [*found, ("text", "")] if self.raw_text and "" not in self._read else found

    def ignore(self, reason_class, reason=""):
        """Mark the whole subtree as not used: "unsupported" (in the format, not here), "foreign" (for another
        program), "meaningless" (without meaning at its place) or "settled" (nothing is to be reported)."""
        if reason_class != "settled" and reason_class not in _STATEMENTS:
            raise ValueError(f"unknown reason class {reason_class!r}")
        self.used = True
        self.ignored = (reason_class, reason)

    def unsupported(self, reason=""):
        """Mark the whole subtree as defined by the format and not used here."""
        self.ignore("unsupported", reason)

    # ------------------------------------------------------------------------------------- attributes

    def attribute(self, name, default=None, *, required=False):
        """The text of an attribute."""
        self._read.add(name)
        value = self._attributes.get(name)
        if value is not None:
            return value
        if required:
            self.diagnostics.error(
                "ATTRIBUTE_MISSING", f'<{self.tag}> must have the attribute "{name}"', self, attribute=name
            )
        return default

    def number(self, name, default=None, *, required=False, allow_inf=False):
        """A finite number (float); with `allow_inf`, infinity as well, which numbers above LARGEST_NUMBER are then."""
        value = self.attribute(name, required=required)
        return default if value is None else self._as_number(value, name, default, allow_inf)

    def integer(self, name, default=None, *, required=False):
        """A decimal integer (int)."""
        value = self.attribute(name, required=required)
        return default if value is None else self._as_integer(value, name, default)

    def boolean(self, name, default=None, *, required=False):
        """true, false, 1 or 0."""
        value = self.attribute(name, required=required)
        return default if value is None else self._as_boolean(value, name, default)

    def vector(self, name, count, default=None, *, required=False, allow_inf=False):
        """Exactly `count` numbers separated by white space: tuple of float."""
        value = self.attribute(name, required=required)
        return default if value is None else self._as_vector(value, count, name, default, allow_inf)

    # ------------------------------------------------------------------------------------ element text

    def text(self, default=None, *, required=False):
        """The text of the element without the white space around it; empty text counts as missing."""
        self._read.add("")
        if self.raw_text:
            return self.raw_text
        if required:
            self.diagnostics.error("ELEMENT_INVALID", f"<{self.tag}> must not be empty", self)
        return default

    def text_number(self, default=None, *, required=False, allow_inf=False):
        """The element's text as `number`."""
        value = self.text(required=required)
        return default if value is None else self._as_number(value, None, default, allow_inf)

    def text_integer(self, default=None, *, required=False):
        """The element's text as `integer`."""
        value = self.text(required=required)
        return default if value is None else self._as_integer(value, None, default)

    def text_boolean(self, default=None, *, required=False):
        """The element's text as `boolean`."""
        value = self.text(required=required)
        return default if value is None else self._as_boolean(value, None, default)

    def text_vector(self, count, default=None, *, required=False, allow_inf=False):
        """The element's text as `vector`."""
        value = self.text(required=required)
        return default if value is None else self._as_vector(value, count, None, default, allow_inf)

    # ------------------------------------------------------------------- texts to values, or an error

    def _as_number(self, value, attribute, default, allow_inf):
        number = _to_float(value.strip(), allow_inf)
        if number is None:
            kind = "number" if allow_inf else "finite number"
            self._invalid(value, attribute, f"must be a {kind}, found {quoted(value)}")
            return default
        return number

    def _as_integer(self, value, attribute, default):
        if not _INTEGER.fullmatch(value.strip()):
            self._invalid(value, attribute, f"must be an integer, found {quoted(value)}")
            return default
        return int(value)

    def _as_boolean(self, value, attribute, default):
        boolean = _BOOLEANS.get(value.strip().lower())
        if boolean is None:
            self._invalid(value, attribute, f"must be true or false, found {quoted(value)}")
            return default
        return boolean

    def _as_vector(self, value, count, attribute, default, allow_inf):
        tokens = value.split()
        if len(tokens) != count:
            self._invalid(value, attribute, f"must be {count} numbers, found {len(tokens)}: {quoted(value)}")
            return default
        numbers = tuple([_to_float(token, allow_inf) for token in tokens])
        if None in numbers:
            bad = tokens[numbers.index(None)]
            self._invalid(value, attribute, f"must be {count} finite numbers, found {quoted(bad)} in {quoted(value)}")
            return default
        return numbers

    def _invalid(self, value, attribute, problem):
        subject = f"<{self.tag}>" if attribute is None else f'attribute "{attribute}" of <{self.tag}>'
        code = "ELEMENT_INVALID" if attribute is None else "ATTRIBUTE_INVALID"
        self.diagnostics.error(
            code, f"{subject} {problem}", self, attribute=attribute, value=value, hint=_value_hint(value)
        )


def quoted(text):
    """A file's text in quotation marks for a message, shortened."""
    return f'"{text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."}"'


# --------------------------------------------------------------------------------- from bytes to a tree


class _Document:
    """One file: its text's line starts, and the diagnostics that its nodes report to."""

    def __init__(self, name, content, diagnostics: Diagnostics):
        self.name = name
        self.content = content
        self.diagnostics = diagnostics
        self.source = SourceFile(name, hashlib.sha256(content).hexdigest(), content)
        self.decode(None)

    def decode(self, encoding):
        """Sets the text: of this encoding, or of the usual one if it is None."""
        self.text = _decode(self.content, encoding)
        self._line_starts = None

    def take_text(self, text):
        """Another reading of the file's bytes."""
        self.text, self._line_starts = text, None

    def place(self, offset, line=0):
        """The place of a character of the text; without an offset the line alone."""
        if offset is None:
            return Place(self.name, line)
        starts = self._starts_of_lines()
        line = bisect_right(starts, offset)
        return Place(self.name, line, offset - starts[line - 1] + 1)

    def _starts_of_lines(self):
        starts = self._line_starts
        if starts is None:
            starts = self._line_starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        return starts

    def last_before(self, place, text):
        """The last place of a piece of text before a place; the latter if the text is not there."""
        starts = self._starts_of_lines()
        at = self.text.rfind(text, 0, starts[min(place.line, len(starts)) - 1] + place.column)
        return self.place(at) if at >= 0 else place


def _size_problem(content):
    if len(content) > MAX_BYTES:
        return f"the file is larger than {MAX_BYTES // 2**20} MiB"
    if content.count(b"<") > MAX_TAGS:
        return f"the file has more than {MAX_TAGS} tags"
    return None


def _decode(content, encoding):
    """The text of the document for positions in it; the parser decodes for itself."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif encoding is None or encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        return content.decode(encoding, errors="replace")
    except LookupError:
        return content.decode("latin-1")


def _parse(document, deep):
    """The lxml root of an acceptable document, or None."""
    doctype = _DOCTYPE_IN_PROLOG.match(document.text)
    if doctype and not _PLAIN_DOCTYPE.match(document.text, doctype.start(1)):
        return _refuse_doctype(document, document.place(doctype.start(1)))
    root = _parse_strictly(document.content, {})
    if root is None and deep:
        root = _parse_strictly(document.content, _DEEP)
    if root is None:
        root = _parse_mended(document, deep)
    if root is None:
        return None
    info = root.getroottree().docinfo
    if info.internalDTD is not None and not doctype:  # in an encoding that the check above does not see through
        return _refuse_doctype(document, Place(document.name))
    if info.encoding and info.encoding.lower() not in ("utf-8", "utf8", "ascii", "us-ascii"):
        document.decode(info.encoding)
    return root


def _refuse_doctype(document, place):
    document.diagnostics.error("XML_ERROR", "a model file must not have a DOCTYPE", place=place)


def _parse_strictly(content, options):
    try:
        return etree.fromstring(content, etree.XMLParser(**_PARSER_OPTIONS | options))
    except (etree.XMLSyntaxError, ValueError):
        return None


def _parse_mended(document, deep):
    """Parse again, declarations and encodings read as meant."""
    text, findings = mended(document.content)
    if text is None:
        return _parse_tolerantly(document, document.content)
    document.take_text(text)
    for severity, message, offset in findings:
        report = document.diagnostics.warning if severity == "warning" else document.diagnostics.note
        report("XML_ERROR", message, place=document.place(offset))
    doctype = _DOCTYPE_IN_PROLOG.match(text)
    if doctype:
        return _refuse_doctype(document, document.place(doctype.start(1)))
    content = text.encode()
    root = _parse_strictly(content, {})
    if root is None and deep:
        root = _parse_strictly(content, _DEEP)
    return root if root is not None else _parse_tolerantly(document, content)


def _parse_tolerantly(document, content):
    """Parse again with recovery, accepted only if every fault is one of the harmless kinds."""
    parser = etree.XMLParser(recover=True, **_PARSER_OPTIONS)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        root = None
        if not len(parser.error_log):
            document.diagnostics.error("XML_ERROR", str(error), place=Place(document.name))
            return None
    for entry in parser.error_log:
        if entry.type_name not in _TOLERATED:
            message = "elements are nested too deep" if "Excessive depth" in entry.message else entry.message
            document.diagnostics.error("XML_ERROR", message, place=Place(document.name, entry.line, entry.column))
            return None
    if root is None:
        document.diagnostics.error("XML_ERROR", "the document is empty", place=Place(document.name))
        return None
    _note_tolerated(parser.error_log, document)
    return root


def _note_tolerated(error_log, document):
    """One note for each message, at its first place."""
    places: dict[str, list[Place]] = {}
    for entry in error_log:
        kind = _TOLERATED[entry.type_name]
        prefix = re.match(r"Namespace prefix (\S+)", entry.message)
        key = f'"{prefix[1]}": {kind}' if prefix else kind
        place = Place(document.name, entry.line, entry.column)
        places.setdefault(key, []).append(document.last_before(place, prefix[1] + ":") if prefix else place)
    for message, found in places.items():
        document.diagnostics.note(
            "XML_ERROR", message + _times(found), place=found[0], related=found[1 : 1 + MAX_RELATED]
        )


def _build_nodes(root, document):
    elements = list(root.iter("*"))
    crowded = next((element for element in elements if len(element.attrib) > MAX_ATTRIBUTES), None)
    if crowded is not None:  # lxml takes quadratic time to read them
        message = f"<{crowded.tag[:MAX_QUOTED]}> has more than {MAX_ATTRIBUTES} attributes"
        document.diagnostics.error("XML_ERROR", message, place=Place(document.name, crowded.sourceline or 0))
        return None
    offsets = _start_tag_offsets(document.text)
    if len(offsets) != len(elements):  # a text that we decode otherwise than libxml2: lines without columns
        offsets = [None] * len(elements)
    nodes: dict[Any, Node] = {}
    tags: dict[Any, str] = {}
    for element, offset in zip(elements, offsets, strict=True):
        key = (element.tag, element.prefix)
        tag = tags.get(key)
        if tag is None:
            tag = tags[key] = _prefixed(*key)
        parent = nodes.get(element.getparent())
        line = element.sourceline or 0 if offset is None else 0
        node = Node(tag, parent, document, offset, line, _attributes(element), _text(element))
        if parent is not None:
            parent.child_nodes.append(node)
        nodes[element] = node
    return nodes[root]


def _start_tag_offsets(text):
    declaration = _DECLARATION.match(text)
    start = declaration.end() if declaration else 0
    return [m.start() for m in _START_TAG_OR_SKIPPED.finditer(text, start) if m.end() == m.start() + 1]


def _attribute_offsets(text, start):
    """{name without its prefix: offset} of the attributes of the tag that starts there."""
    offsets: dict[str, int] = {}
    for match in _ATTRIBUTE.finditer(text, start):
        if match["name"] is None:  # the end of the tag
            break
        offsets.setdefault(match["name"].rpartition(":")[2], match.start("name"))
    return offsets


def _attributes(element):
    attributes = dict(element.items())
    for name in attributes:
        if "{" in name:
            break
    else:
        return attributes
    prefixes = {uri: prefix for prefix, uri in element.nsmap.items() if prefix}
    return {_prefixed(name, prefixes.get(name[1:].partition("}")[0], "xml")): v for name, v in attributes.items()}


def _prefixed(name, prefix):
    """{namespace}name as prefix:name; a default namespace has no prefix."""
    if name[0] != "{":
        return name
    uri, _, local = name[1:].partition("}")
    if prefix is None:
        return local
    return f"drake:{local}" if uri in _DRAKE_NAMESPACES else f"{prefix}:{local}"


def _text(element):
    """All text directly inside an element, the parts around its children joined by a blank."""
    text = element.text
    if len(element):
        text = " ".join(filter(None, (text, *map(attrgetter("tail"), element))))
    return text.strip() if text else ""


# -------------------------------------------------------------------------------------------- numbers


def _to_float(token, allow_inf):
    """The number that a token is, or None. Python's own float() takes 1_000 and full-width digits, too."""
    if _NUMBER.fullmatch(token):
        number = float(token)
        if abs(number) <= LARGEST_NUMBER:
            return number
        return copysign(inf, number) if allow_inf else None
    if allow_inf and _INFINITY.fullmatch(token):
        return -inf if token[0] == "-" else inf
    return None


def _value_hint(value):
    if "${" in value or "$(" in value:
        return "the file contains unexpanded xacro: run xacro on it first"
    if "," in value:
        return "the decimal sign is a point, and numbers are separated by blanks"
    if _INFINITY.match(value.strip()):
        return "leave it out if there is no limit"
    if _NUMBER.fullmatch(value.strip()):
        return f"the largest number that is read is {LARGEST_NUMBER:g}"
    return None


# --------------------------------------------------------------------------------------- unread parts


def _unread(root, tables):
    """Yields (owner, kind, item, reason class, reason) for everything unread below a node, in file order."""
    pending = [root]
    while pending:
        node = pending.pop()
        if node.ignored is not None:
            reason_class, reason = node.ignored
            if reason_class != "settled":
                yield node.parent, "element", node, reason_class, reason
        elif not node.used:
            yield node.parent, "element", node, _reason_class(node.parent, node.tag, node.tag, tables), ""
        else:
            for kind, name in node.unread_parts():
                reason_class = _reason_class(node, name, "@" + name, tables) if kind == "attribute" else "unknown"
                yield node, kind, name, reason_class, ""
            pending += reversed(node.child_nodes)


def _reason_class(owner, name, entry, tables):
    known, foreign = tables
    own = name.startswith(_OWN_PREFIX)
    foreign_names = _known_names(owner, foreign)
    if (":" in name and not own) or entry in foreign_names or (ANY in foreign_names and not own):
        return "foreign"
    return "unsupported" if entry in _known_names(owner, known) else "unknown"


def _known_names(owner, known):
    parent = owner.parent.tag if owner.parent is not None else ""
    return known.get(f"{parent}/{owner.tag}", known.get(owner.tag, ()))


def _report_group(diagnostics, reason_class, kind, label, reason, found, hint):
    owner, item = found[0]
    nodes = [item if kind == "element" else owner for owner, item in found]
    inside = f" in <{owner.tag}>" if owner is not None else ""
    subject = {
        "element": f"<{label}>{inside}",
        "attribute": f'attribute "{label}"{inside}',
        "text": f"text{inside}",
    }[kind]
    report = diagnostics.note if reason_class in ("foreign", "meaningless") else diagnostics.warning
    report(
        f"{kind.upper()}_{reason_class.upper()}",
        f"{subject} {_STATEMENTS[reason_class]}{': ' + reason if reason else ''}{_times(nodes)}",
        nodes[0],
        attribute=label if kind == "attribute" else None,
        value=_text_of(owner, kind, label),
        hint=hint,
        related=[node.place for node in nodes[1 : 1 + MAX_RELATED]],
    )


def _hint(kind, label, names):
    """The likely meaning of an unknown name, of the names that its element knows."""
    attributes = {name.removeprefix("@") for name in names if name.startswith("@")}
    elements = {name for name in names if not name.startswith("@")}
    same, other = (attributes, elements) if kind == "attribute" else (elements, attributes)
    if label in other:
        return f'"{label}" is {"an element" if kind == "attribute" else "an attribute"} here'
    if label.startswith(_OWN_PREFIX):  # in common, it would make any two names alike
        alike = [name.removeprefix(_OWN_PREFIX) for name in same if name.startswith(_OWN_PREFIX)]
        likely = closest(label.removeprefix(_OWN_PREFIX), alike)
        return f'did you mean "{_OWN_PREFIX}{likely}"?' if likely else None
    return did_you_mean(label, same)


def _text_of(owner, kind, label):
    """The text in the file if a finding is about an attribute or a text."""
    if kind == "attribute":
        return owner.raw(label)
    return owner.raw_text[:MAX_QUOTED] if kind == "text" else None


def _times(found):
    return f" ({len(found)} times)" if len(found) > 1 else ""
