"""The XML reader: what it refuses and tolerates, exact places, strict numbers, and what stayed unread."""

import hashlib
import random
from math import inf

import pytest
from mbcli.parsers import xml_source
from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.xml_source import read_xml, report_unread


def read(text):
    """(root, diagnostics) of a document."""
    diagnostics = Diagnostics()
    content = text if isinstance(text, bytes) else text.encode()
    return read_xml(content, diagnostics, name="f.xml"), diagnostics


def node_of(text):
    """(root, diagnostics) of a sound document."""
    root, diagnostics = read(text)
    assert diagnostics.findings == []
    return root, diagnostics


def texts(diagnostics):
    return [str(finding) for finding in diagnostics.findings]


# ------------------------------------------------------------------------------- refused and tolerated


def refusal(text):
    root, diagnostics = read(text)
    assert root is None
    (finding,) = diagnostics.findings
    assert (finding.severity, finding.code) == ("error", "XML_ERROR")
    return finding


def test_a_broken_file_is_refused_at_the_place_of_the_fault():
    finding = refusal("<a>\n<b></c>\n</a>")
    assert (finding.place.line, finding.place.column) == (2, 8)
    assert finding.message == "Opening and ending tag mismatch: b line 2 and c"


NOT_XML = ["", "   ", "no xml", "<a", "<a>", "<a b='1' b='2'/>", "<a>&unknown;</a>", "<a>\x1b</a>"]


@pytest.mark.parametrize("text", NOT_XML)
def test_no_xml_is_refused(text):
    refusal(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_doctype_is_refused_at_its_place(encoding, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = f'<?xml version="1.0"?>\n<!-- c --> <!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]>\n<a>&x;</a>'
    finding = refusal(text.encode(encoding))
    assert finding.message == "a model file must not have a DOCTYPE"
    assert (finding.place.line, finding.place.column) == (2, 12)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_doctype_that_only_names_the_root_is_passed_over(encoding):
    text = '<?xml version="1.0"?>\n<!-- c -->\n<!DOCTYPE a >\n<a b="1"/>'
    root = read_xml(text.encode(encoding), Diagnostics())
    assert (root.tag, root.attribute("b"), root.place.line) == ("a", "1", 4)


def test_a_doctype_in_an_odd_encoding_is_refused():
    text = '<?xml version="1.0" encoding="UTF-32BE"?><!DOCTYPE a><a/>'
    assert refusal(b"\0\0\xfe\xff" + text.encode("utf-32-be")).code == "XML_ERROR"


def test_a_billion_laughs_are_refused_at_once():
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    refusal(f'<!DOCTYPE a [<!ENTITY l0 "ha">{entities}]><a>&l9;</a>')


def test_size_and_depth_are_bounded(monkeypatch):
    assert refusal("<a>" * 300 + "</a>" * 300).message == "elements are nested too deep"
    node_of("<a>" * 250 + "</a>" * 250)
    monkeypatch.setattr(xml_source, "MAX_TAGS", 10)
    assert refusal("<a>" + "<b/>" * 10 + "</a>").message == "the file has more than 10 tags"
    monkeypatch.setattr(xml_source, "MAX_BYTES", 4 * 2**20)
    assert refusal(b"<a>" + b" " * 4 * 2**20).message == "the file is larger than 4 MiB"


def test_what_may_be_deep_is_bounded_and_read_without_recursion():
    diagnostics = Diagnostics()
    root = read_xml(b"<a>" * 2000 + b'<b c="1"/>' + b"</a>" * 2000, diagnostics, name="x", deep=True)
    node = root
    while node.child_tags:
        (node,) = node.children()
    report_unread(root, diagnostics)
    (finding,) = diagnostics.findings
    assert (finding.code, finding.xpath) == ("ATTRIBUTE_UNKNOWN", "/..." + "/a" * 63 + "/b")
    assert read_xml(b"<a>" * 3000 + b"</a>" * 3000, diagnostics, name="x", deep=True) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-7", "cp037"])
def test_depth_does_not_let_entities_in(encoding):
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    text = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY l0 "ha">{entities}]>'
    text += "<a>" * 300 + '<a b="&l9;"/>' + "</a>" * 300
    assert read_xml(text.encode(encoding), Diagnostics(), name="x", deep=True) is None


def test_an_endless_file_is_refused(monkeypatch):
    monkeypatch.setattr(xml_source, "MAX_BYTES", 2**20)
    diagnostics = Diagnostics()
    assert read_xml("/dev/zero", diagnostics) is None
    assert "is larger than" in diagnostics.findings[0].message


def test_a_missing_file_is_an_error_without_a_line(tmp_path):
    diagnostics = Diagnostics()
    path = tmp_path / "none.xml"
    assert read_xml(path, diagnostics) is None
    assert texts(diagnostics) == [f"{path}: error: cannot read the file: No such file or directory [FILE_READ]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a>\n<drake:b/><drake:b/></a>", '"drake": the prefix is not declared; it is taken as written (2 times)'),
        ("<a><!-- x -- y --><b/></a>", "a comment contains --"),
        ('<?xml encoding="utf-8"?><a><b/></a>', "the XML declaration is malformed"),
        ('<?xml version="1.0"encoding="utf-8"?><a><b/></a>', "the XML declaration is malformed"),
        ('<?xml version="1.0">\n<a><b/></a>', "the XML declaration is malformed"),
        ('<?xml version="0.0" ?>\n<a><b/></a>', "the XML declaration is malformed"),
        ('<!-- é -->\n<?xml version="1.0" ?>\n<a><b/></a>', "the XML declaration is malformed"),
        ('<?xml version="1.0"?>\n<?xml version="1.0"?>\n<a><b/></a>', "the XML declaration is malformed"),
        ('<?xml version="1.0" encoding="nix"?><a><b/></a>', 'the encoding "nix" is unknown: the file is read as UTF-8'),
        (
            '<?xml version="1.0" encoding="unicode_escape"?><a><b/></a>',
            'the encoding "unicode_escape" is unknown: the file is read as UTF-8',
        ),
        ('<?xml version="1.0" encoding="utf-32"?><a><b/></a>', "the file is not in UTF-32: it is read as UTF-8"),
    ],
)
def test_harmless_faults_of_real_files_are_notes(text, message):
    root, diagnostics = read(text)
    assert root.tag == "a"
    assert root.children()[0].place.line == text[: text.index("b/>")].count("\n") + 1
    (finding,) = diagnostics.findings
    assert (finding.severity, finding.code, finding.message) == ("note", "XML_ERROR", message)


@pytest.mark.parametrize(
    ("stated", "encoding", "severity"),
    [
        ("latin-1", "latin-1", "note"),
        ("cp1252", "cp1252", None),
        ("mac_roman", "mac_roman", "note"),
        ("utf_8", "utf-8", "note"),
        ("utf-8", "latin-1", "warning"),
    ],
)
def test_encodings_that_python_knows(stated, encoding, severity):
    text = f'<?xml version="1.0" encoding="{stated}"?>\n<a>äöü<b c="é"/></a>'
    root, diagnostics = read(text.encode(encoding))
    (b,) = root.children()
    assert b.attribute("c") == "é"
    assert (b.place.line, b.place.column) == (2, 7)
    assert [f.severity for f in diagnostics.findings] == ([] if severity is None else [severity])


@pytest.mark.parametrize("stated", ["latin-1", "utf_8", "nix"])
def test_a_doctype_in_an_encoding_of_python_is_refused(stated):
    _, diagnostics = read(f'<?xml version="1.0" encoding="{stated}"?><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')
    assert [f.message for f in diagnostics.errors] == ["a model file must not have a DOCTYPE"]


@pytest.mark.parametrize("text", ['<a b="1"c/>', '<?xml version="1.0"?><a b="1"b="2"/>', "<a><!-- -- --><b></a>"])
def test_tolerance_ends_where_content_may_be_lost(text):
    refusal(text)


# ---------------------------------------------------------------------------------- places and names

PLACES = """\
<?xml version="1.0"?>
<!-- <not> an element -->
<robot name="r">  <link
   name="a"/><link name='b' text="x > y">
\t<![CDATA[<no>]]><?pi <no> ?><mass/></link>
  <!-- <no/> --><mass
/><mass/>
  <link name="it's"/>
</robot>
"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_line_and_column_of_every_tag(encoding):
    root, _ = read(PLACES.encode(encoding))
    first, second, mass, other_mass, third = root.children()
    inner = second.child("mass")
    places = [(n.place.line, n.place.column) for n in (root, first, second, inner, mass, other_mass, third)]
    assert places == [(3, 1), (3, 19), (4, 14), (5, 30), (6, 17), (7, 3), (8, 3)]
    assert root.place.file == "f.xml"


def test_columns_count_characters_in_any_encoding():
    text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>äöü<b/></a>'
    assert read(text.encode("latin-1"))[0].children()[0].place.column == 7
    assert read("<a>äöü関節<b/></a>")[0].children()[0].place.column == 9


class RandomDocument:
    """An element with comments, CDATA sections, instructions and texts that look like tags.

    text: of it; places: (line, column) of each of its tags, in a file of nothing else.
    """

    PARTS = ("text", "\n  ", " \U0001d11e ", "<!-- <a> -->", "<![CDATA[<b>]]>", "<?c <a>?>", "<!---->")
    ATTRIBUTES = (' x="1 2"', "\n y='> '", ' name="\u00e9"')

    def __init__(self, seed):
        self._random = random.Random(seed)
        self.text, self.places = "", []
        self._write_element(4)

    def _write_element(self, depth):
        choose = self._random
        self.places.append((self.text.count("\n") + 1, len(self.text) - self.text.rfind("\n")))
        tag = choose.choice("abc")
        self.text += f"<{tag}{''.join(choose.sample(self.ATTRIBUTES, choose.randrange(4)))}"
        if depth == 0:
            self.text += choose.choice(("/>", f"></{tag}>"))
            return
        self.text += ">"
        for _ in range(choose.randrange(8)):
            if choose.random() < 0.4:
                self._write_element(depth - 1)
            else:
                self.text += choose.choice(self.PARTS)
        self.text += f"</{tag}>"


@pytest.mark.parametrize("seed", range(30))
def test_tags_have_the_places_where_they_were_written(seed):
    document = RandomDocument(seed)
    root, _ = node_of(document.text)
    assert [(node.place.line, node.place.column) for node in root.walk()] == document.places


@pytest.mark.parametrize("seed", range(30))
def test_a_reference_in_a_document_changes_nothing_else(seed):
    """Documents with references are read in another way, which takes longer."""
    document = RandomDocument(seed)
    roots = [node_of(f"<r note='{note}'>{document.text}</r>")[0] for note in ("n", "&amp;")]
    assert roots[1].raw("note") == "&"
    contents = [
        [(node.tag, node.raw_text, {name: node.raw(name) for name in node.attribute_names}) for node in root.walk()]
        for root in roots
    ]
    assert contents[0][1:] == contents[1][1:]
    assert len(contents[0]) == len(document.places) + 1


def test_lines_beyond_65535():
    root, _ = read("<a>" + "\n" * 70000 + " <b/></a>")
    assert (root.child("b").place.line, root.child("b").place.column) == (70001, 2)


def test_xpath_is_readable():
    root, _ = read(PLACES)
    first, second, mass, other_mass, third = root.children()
    assert first.xpath == "/robot[@name='r']/link[@name='a']"
    assert second.child("mass").xpath == "/robot[@name='r']/link[@name='b']/mass"
    assert mass.xpath == "/robot[@name='r']/mass[1]"
    assert other_mass.xpath == "/robot[@name='r']/mass[2]"
    assert third.xpath == """/robot[@name='r']/link[@name="it's"]"""


@pytest.mark.parametrize("declaration", ['xmlns:drake="http://drake.mit.edu"', 'xmlns:d="https://drake.mit.edu"', ""])
def test_tags_and_attributes_of_drake_have_one_name(declaration):
    prefix = "d" if ":d=" in declaration else "drake"
    root, _ = read(f'<a {declaration}><{prefix}:b {prefix}:c="1" d="2"/></a>')
    node = root.child("drake:b")
    assert (node.attribute("drake:c"), node.attribute("d")) == ("1", "2")


def test_other_namespaces_keep_their_prefix_and_a_default_one_has_none():
    root, _ = node_of('<a xmlns="http://default" xmlns:gz="http://gz"><gz:b/><c xml:lang="de"/></a>')
    assert [node.tag for node in (root, *root.children())] == ["a", "gz:b", "c"]
    assert root.child("c").attribute("xml:lang") == "de"


@pytest.mark.parametrize("uri", ["${x}", "}", "a}b}c"])
def test_a_brace_in_a_namespace_is_a_finding(uri):
    _, diagnostics = read(f'<a xmlns:p="{uri}" xmlns:q="u"><p:b p:c="1"/></a>')
    assert {finding.code for finding in diagnostics.findings} == {"XML_ERROR"}


def test_a_tag_is_named_as_written_where_a_namespace_has_several_prefixes():
    root, _ = node_of('<p:a xmlns:p="u" xmlns:q="u"><q:b q:c="1"/><p:b/><!-- <q:b/> --><d xmlns="u"/></p:a>')
    assert [node.tag for node in (root, *root.children())] == ["p:a", "q:b", "p:b", "d"]


@pytest.mark.parametrize("declared", ["", ' xmlns:drake="http://drake.mit.edu"', ' xmlns:x="y"'])
def test_references_to_characters_are_read_once(declared):
    root, _ = read(f'<a{declared}><drake:b c="1 &amp; &#50; &lt; &amp;#38;">&amp; &amp;#38;</drake:b></a>')
    (node,) = root.children()
    assert (node.tag, node.attribute("c"), node.text()) == ("drake:b", "1 & 2 < &#38;", "& &#38;")


def test_the_document_is_kept_with_its_hash():
    content = b"<a><b/></a>"
    root, _ = read(content)
    assert root.child("b").document.content == content
    assert root.document.sha256 == hashlib.sha256(content).hexdigest()
    assert root.document.path == "f.xml"


# ------------------------------------------------------------------------------------------- reading


def test_children_come_in_the_order_of_the_file():
    root, _ = node_of('<a><b i="1"/><c i="2"/><b i="3"/><d/></a>')
    assert [node.attribute("i") for node in root.children("b", "c")] == ["1", "2", "3"]
    assert [node.tag for node in root.children()] == ["b", "c", "b", "d"]
    assert root.child_tags == ["b", "c", "b", "d"]
    assert root.child("none") is None


def test_a_second_child_is_reported_once_and_the_first_used():
    root, diagnostics = node_of('<a><b i="1"/>\n<b i="2"/></a>')
    assert root.child("b").attribute("i") == "1"
    assert root.child("b").attribute("i") == "1"
    report_unread(root, diagnostics)
    assert texts(diagnostics) == [
        "f.xml:2:1: warning: <a> has more than one <b>: only the first is used [ELEMENT_DUPLICATE]"
    ]


@pytest.mark.parametrize(("tag", "hint"), [("drake:jiont", 'did you mean "drake:joint"?'), ("drake:nonsense", None)])
def test_a_common_prefix_makes_no_two_names_alike(tag, hint):
    root, diagnostics = node_of(f"<a><{tag} xmlns:drake='http://drake.mit.edu'/></a>")
    report_unread(root, diagnostics, {"a": ("drake:joint", "joint")})
    assert [(f.code, f.hint) for f in diagnostics.findings] == [("ELEMENT_UNKNOWN", hint)]


def test_missing_children_and_attributes():
    root, diagnostics = node_of("<a/>")
    assert root.child("b", required=True) is None
    assert root.number("c", 7.0, required=True) == 7.0
    assert root.attribute("d", "x") == "x"
    assert root.text_number(3.0, required=True) == 3.0
    assert texts(diagnostics) == [
        "f.xml:1:1: error: <a> must have a <b> [ELEMENT_MISSING]",
        'f.xml:1:1: error: <a> must have the attribute "c" [ATTRIBUTE_MISSING]',
        "f.xml:1:1: error: <a> must not be empty [ELEMENT_INVALID]",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("-1.", -1.0), ("+.5", 0.5), ("1e3", 1000.0), ("1.5E-3", 0.0015), (" 2\n", 2.0), ("1e-999", 0.0)],
)
def test_numbers(text, value):
    root, diagnostics = node_of(f'<a v="{text}">{text}</a>')
    assert root.number("v") == value
    assert root.text_number() == value
    assert diagnostics.findings == []


NOT_NUMBERS = ["", " ", "x", "1_000", "1,5", "1 2", "0x10", "１", ".", "e5", "1e", "--1", "1m"]


@pytest.mark.parametrize("text", [*NOT_NUMBERS, "nan", "NaN", "inf", "-infinity", "1e999"])
def test_texts_that_are_no_numbers(text):
    root, diagnostics = node_of(f'<a v="{text}"/>')
    assert root.number("v", 7.0) == 7.0
    (finding,) = diagnostics.findings
    assert (finding.code, finding.attribute, finding.value) == ("ATTRIBUTE_INVALID", "v", text)
    assert finding.message == f'attribute "v" of <a> must be a finite number, found "{text}"'


def test_infinity_only_where_it_is_allowed_and_never_nan():
    root, diagnostics = node_of('<a p="inf" m="-INF" n="nan" v="0 inf" w="infinity"/>')
    assert root.number("p", allow_inf=True) == inf
    assert root.number("m", allow_inf=True) == -inf
    assert root.vector("v", 2, allow_inf=True) == (0, inf)
    assert diagnostics.findings == []
    assert root.number("n", allow_inf=True) is None
    assert root.number("w", allow_inf=True) == inf
    assert root.vector("v", 2) is None
    assert len(diagnostics.errors) == 2


@pytest.mark.parametrize("text", ["1.79769e+308", "1.8e308", "1e101"])
def test_numbers_beyond_the_largest_are_infinite_where_that_is_allowed(text):
    root, diagnostics = node_of(f'<a p="{text}" m="-{text}"/>')
    assert (root.number("p", allow_inf=True), root.number("m", allow_inf=True)) == (inf, -inf)
    assert root.number("p") is None
    assert len(diagnostics.errors) == 1


def test_vectors_have_exactly_as_many_numbers():
    root, diagnostics = node_of('<a v=" 1 2\n3 " w="1 2" x="1 2 3 4" y="1 2 3m"><b>4 5 6</b></a>')
    assert root.vector("v", 3) == (1, 2, 3)
    assert root.child("b").text_vector(3) == (4, 5, 6)
    assert diagnostics.findings == []
    assert [root.vector(name, 3, (0, 0, 0)) for name in "wxy"] == [(0, 0, 0)] * 3
    assert [finding.message for finding in diagnostics.findings] == [
        'attribute "w" of <a> must be 3 numbers, found 2: "1 2"',
        'attribute "x" of <a> must be 3 numbers, found 4: "1 2 3 4"',
        'attribute "y" of <a> must be 3 finite numbers, found "3m" in "1 2 3m"',
    ]


def test_integers_and_booleans():
    root, diagnostics = node_of('<a i="-12" j="1.0" b="true" c="0" d="yes"><e>True</e></a>')
    assert (root.integer("i"), root.boolean("b"), root.boolean("c")) == (-12, True, False)
    assert root.child("e").text_boolean() is True
    assert diagnostics.findings == []
    assert (root.integer("j", 9), root.boolean("d", False)) == (9, False)
    assert [finding.message for finding in diagnostics.findings] == [
        'attribute "j" of <a> must be an integer, found "1.0"',
        'attribute "d" of <a> must be true or false, found "yes"',
    ]


def test_a_comment_does_not_split_a_text_but_an_element_does():
    root, diagnostics = node_of("<a><b>1<!-- x -->.5</b><c>1<d/>2</c></a>")
    assert root.child("b").text_number() == 1.5
    assert root.child("c").text() == "1 2"
    assert root.child("c").text_number() is None
    assert [finding.code for finding in diagnostics.findings] == ["ELEMENT_INVALID"]


def test_long_values_are_shortened_in_messages_and_kept_in_the_record():
    root, diagnostics = node_of(f'<a v="{"x" * 500}"/>')
    root.number("v")
    assert len(str(diagnostics.findings[0])) < 160
    assert diagnostics.findings[0].value == "x" * 500


# ----------------------------------------------------------------------------------------- what is unread

KNOWN = {"robot": {"link", "gazebo"}, "link": {"@name", "@type", "mass", "visual"}, "a/link": {"@special"}}


def unread(text, read_some=lambda root: None):
    root, diagnostics = node_of(text)
    read_some(root)
    report_unread(root, diagnostics, KNOWN)
    return diagnostics.findings


def test_everything_read_is_not_reported():
    def read_all(root):
        link = root.child("link")
        link.attribute("name")
        link.child("mass").text_number()

    assert unread('<robot>\n <link name="x"><mass>1</mass></link>\n</robot>', read_all) == []


def test_unread_parts_are_unsupported_unknown_or_foreign():
    findings = unread(
        '<robot xmlns:gz="http://gz"><link name="x" typ="y"><visual><deep/></visual><mas/>text</link><gz:x/></robot>',
        lambda root: root.child("link"),
    )
    assert [(f.severity, f.code, f.element, f.attribute) for f in findings] == [
        ("warning", "ATTRIBUTE_UNSUPPORTED", "link", "name"),
        ("warning", "ATTRIBUTE_UNKNOWN", "link", "typ"),
        ("warning", "TEXT_UNKNOWN", "link", None),
        ("warning", "ELEMENT_UNSUPPORTED", "visual", None),
        ("warning", "ELEMENT_UNKNOWN", "mas", None),
        ("note", "ELEMENT_FOREIGN", "gz:x", None),
    ]
    assert [f.hint for f in findings] == [None, 'did you mean "type"?', None, None, 'did you mean "mass"?', None]
    assert [f.value for f in findings[:3]] == ["x", "y", "text"]


def test_equal_findings_are_grouped_with_first_place_and_count():
    (finding,) = unread("<robot>\n" + "<x/>\n" * 30 + "</robot>")
    assert str(finding) == "f.xml:2:1: warning: <x> in <robot> is unknown and not used (30 times) [ELEMENT_UNKNOWN]"
    assert [place.line for place in finding.related] == list(range(3, 13))


def test_own_extensions_are_never_foreign():
    (finding,) = unread('<robot xmlns:drake="http://drake.mit.edu"><drake:x/></robot>')
    assert (finding.severity, finding.code) == ("warning", "ELEMENT_UNKNOWN")


def test_marked_subtrees_are_reported_as_marked():
    def mark(root):
        for tag, how in (("a", "foreign"), ("b", "unsupported"), ("c", "meaningless"), ("d", "settled")):
            root.child(tag).ignore(how, "because")

    findings = unread("<robot><a><x/></a><b/><c/><d/></robot>", mark)
    assert [(f.severity, f.message) for f in findings] == [
        ("note", "<a> in <robot> is for another program and not used: because"),
        ("warning", "<b> in <robot> is not supported and not used: because"),
        ("note", "<c> in <robot> has no meaning here and is not used: because"),
    ]
    with pytest.raises(ValueError, match="unknown reason class"):
        mark_root = node_of("<a/>")[0]
        mark_root.ignore("wrong")


def test_known_names_may_depend_on_the_parent():
    (finding,) = unread('<a><link special="1"/></a>', lambda root: root.child("link"))
    assert finding.code == "ATTRIBUTE_UNSUPPORTED"


def test_an_element_that_should_be_an_attribute_gets_a_hint():
    (finding,) = unread("<robot><link><name>x</name></link></robot>", lambda root: root.child("link"))
    assert finding.hint == '"name" is an attribute here'
    (finding,) = unread('<robot><link mass="1"/></robot>', lambda root: root.child("link"))
    assert finding.hint == '"mass" is an element here'
