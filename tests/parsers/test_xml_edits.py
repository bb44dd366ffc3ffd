"""Texts of XML whose numbers change: all else stays, to the last blank."""

import pytest
from mbcli.parsers.xml_edits import XmlText, numbers, written

from mbcli.errors import ModelError

TEXT = """<?xml version='1.0'?>
<!-- <a x="9"> is no element -->
<robot  name = 'r' >
\t<a x="1"   y='2'/><!-- kept -->
  <b>
    <c> 3.0  </c>
    <d/>
  </b>
  <e><![CDATA[<a x="8"/>]]></e>
</robot>
"""


def root():
    text = XmlText("r.xml", TEXT)
    return text, text.element_at(3, 1)


def test_nothing_changes_without_edits():
    text, _ = root()
    assert text.result() == TEXT


def test_attributes_keep_their_quotes_and_blanks():
    text, robot = root()
    a = robot.child("a")
    text.set_attribute(a, "y", "5")
    text.set_attribute(a, "x", "4")
    text.set_attribute(a, "z", "6")
    assert text.result() == TEXT.replace("""<a x="1"   y='2'/>""", """<a x="4"   y='5' z="6"/>""")


def test_an_attribute_takes_the_place_of_another_one_or_goes():
    text, robot = root()
    text.rename_attribute(robot.child("a"), "x", "w", "7")
    text.remove_attribute(robot.child("a"), "y")
    assert text.result() == TEXT.replace("""<a x="1"   y='2'/>""", """<a w="7"/>""")


def test_texts_keep_the_blanks_around_them():
    text, robot = root()
    text.set_text(robot.child("b", "c"), "8.5")
    text.set_text(robot.child("b", "d"), "1")
    assert text.result() == TEXT.replace("<c> 3.0  </c>", "<c> 8.5  </c>").replace("<d/>", "<d>1</d>")


def test_elements_are_added_as_their_siblings_are_indented():
    text, robot = root()
    text.add_child(robot.child("b"), "<n/>")
    text.add_child(robot.child("b"), "<m/>", first=True)
    text.add_child(robot.child("b", "d"), "<k/>")
    assert text.result() == TEXT.replace(
        "    <c> 3.0  </c>\n    <d/>\n", "    <m/>\n    <c> 3.0  </c>\n    <d><k/></d>\n    <n/>\n"
    )


def test_line_ends_of_windows_stay():
    dos = TEXT.replace("\n", "\r\n")
    text = XmlText("r.xml", dos)
    text.add_child(text.element_at(3, 1).child("b"), "<n/>")
    assert text.result() == dos.replace("<d/>\r\n", "<d/>\r\n    <n/>\r\n")


@pytest.mark.parametrize("place", [(1, 1), (2, 3), (4, 1), (99, 1)])
def test_what_is_no_element_is_an_error_with_its_line(place):
    text, _ = root()
    with pytest.raises(ModelError, match=rf"r.xml:{place[0]}: error"):
        text.element_at(*place)


def test_numbers_are_written_with_twelve_digits_and_no_minus_zero():
    assert written([-0.0, 1.0 / 3.0, 2]) == "0 0.333333333333 2"
    assert numbers(" 1  2e3\n") == [1.0, 2000.0] and numbers("1 x") is None
