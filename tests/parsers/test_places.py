"""Where findings stand: the attribute they are about, its element, and elements found again by their place."""

from mbcli.parsers.diagnostics import Diagnostics
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.xml_source import read_xml

TEXT = b"""<r xmlns:d="http://drake.mit.edu">
  <link
     name="a > b"
     foo = '1'
     d:bar="2"/>
  <link name="foo='x'"><mass/><inertia/></link>
</r>
"""


def read():
    diagnostics = Diagnostics()
    return read_xml(TEXT, diagnostics, name="f"), diagnostics


def test_an_attribute_is_located_in_its_tag():
    root, _ = read()
    first, second = root.children()
    assert first.place_of("name") == SourceLocation("f", 3, 6)
    assert first.place_of("foo") == SourceLocation("f", 4, 6)
    assert first.place_of("drake:bar") == SourceLocation("f", 5, 6)
    assert first.place_of("absent") == first.place == SourceLocation("f", 2, 3)
    assert second.place_of("foo") == second.place
    assert second.place_of("name") == SourceLocation("f", 6, 9)


def test_every_node_is_found_by_its_place():
    root, diagnostics = read()
    nodes = [root]
    for node in nodes:
        nodes.extend(node.children())
    assert len(nodes) == 5
    assert all(diagnostics.node_at(node.place) is node for node in nodes)
    second = root.children()[1]
    assert diagnostics.node_at(second.place, "geometry", "inertia") is second.child("inertia")
    assert diagnostics.node_at(second.place, "geometry") is second
    assert diagnostics.node_at(SourceLocation("f", 6, 4)) is None
    assert diagnostics.node_at(SourceLocation("other", 1, 1)) is None


def test_an_error_damages_its_element_and_those_around_it():
    root, diagnostics = read()
    first, second = root.children()
    diagnostics.warning("X", "a warning does not", first)
    diagnostics.error("X", "an error does", second.child("mass"))
    damaged = [diagnostics.is_damaged(node.place) for node in (root, first, second, *second.children())]
    assert damaged == [True, False, True, True, False]
