"""Findings: their texts, their JSON form, and what is raised for them."""

import pytest
from mbcli.parsers.diagnostics import DiagnosticError, Diagnostics, MissingResourceError
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.xml_source import read_xml

from mbcli.errors import ModelError, ResourceError

PLACE = SourceLocation("r.urdf", 3, 5)


def test_a_finding_is_one_line_with_place_severity_and_code():
    diagnostics = Diagnostics()
    diagnostics.error("ATTRIBUTE_INVALID", "the mass is wrong", place=PLACE)
    diagnostics.warning("ELEMENT_UNKNOWN", "what is <x>?", place=SourceLocation("r.urdf"))
    assert [str(finding) for finding in diagnostics.findings] == [
        "r.urdf:3:5: error: the mass is wrong [ATTRIBUTE_INVALID]",
        "r.urdf: warning: what is <x>? [ELEMENT_UNKNOWN]",
    ]


def test_the_line_of_a_finding_ends_with_its_hint():
    diagnostics = Diagnostics()
    diagnostics.error("KEY_UNKNOWN", 'unknown key "a"', place=PLACE, hint='did you mean "b"?')
    assert str(diagnostics.findings[0]) == 'r.urdf:3:5: error: unknown key "a"; did you mean "b"? [KEY_UNKNOWN]'


def test_terminal_control_in_file_content_is_escaped_but_kept_in_the_record():
    diagnostics = Diagnostics()
    message = "link \x1b[31mred\x07\nsecond\u202eline\x9b ä 関節"
    diagnostics.error("DUPLICATE_NAME", message, place=SourceLocation("a\x1b.urdf", 1, 1))
    line = str(diagnostics.findings[0])
    assert line == ("a\\x1b.urdf:1:1: error: link \\x1b[31mred\\x07\\nsecond\\u202eline\\x9b ä 関節 [DUPLICATE_NAME]")
    assert diagnostics.findings[0].as_dict()["message"] == message


def test_as_dict_has_the_keys_of_the_check_command():
    diagnostics = Diagnostics()
    root = read_xml(b'<a name="r">\n <b c="1"/></a>', diagnostics, name="f.xml")
    node = root.child("b")
    diagnostics.warning(
        "ATTRIBUTE_INVALID", "bad c", node, attribute="c", value="1", hint="drop it", related=[root.place]
    )
    assert diagnostics.findings[0].as_dict() == {
        "code": "ATTRIBUTE_INVALID",
        "severity": "warning",
        "message": "bad c",
        "file": "f.xml",
        "line": 2,
        "column": 5,
        "xpath": "/a[@name='r']/b",
        "element": "b",
        "attribute": "c",
        "value": "1",
        "hint": "drop it",
        "related": [{"file": "f.xml", "line": 1, "column": 1}],
    }


def test_unknown_line_and_column_are_none():
    diagnostics = Diagnostics()
    diagnostics.note("FILE_READ", "hm", place=SourceLocation("f.xml"))
    finding = diagnostics.findings[0].as_dict()
    assert (finding["line"], finding["column"]) == (None, None)


def test_counts_and_filters():
    diagnostics = Diagnostics()
    for report in (diagnostics.error, diagnostics.warning, diagnostics.warning, diagnostics.note):
        report("CODE", "text", place=PLACE)
    assert diagnostics.counts() == {"error": 1, "warning": 2, "note": 1}
    assert len(diagnostics.errors) == 1
    assert len(diagnostics.warnings) == 2


def test_nothing_is_raised_for_warnings_unless_strict():
    diagnostics = Diagnostics()
    diagnostics.note("A", "note", place=PLACE)
    diagnostics.raise_if_errors(strict=True)
    diagnostics.warning("A", "warning", place=PLACE)
    diagnostics.raise_if_errors()
    with pytest.raises(ModelError, match="warning"):
        diagnostics.raise_if_errors(strict=True)


def test_all_errors_are_raised_together_one_line_each():
    diagnostics = Diagnostics()
    diagnostics.error("A", "first", place=PLACE)
    diagnostics.warning("B", "between", place=PLACE)
    diagnostics.error("C", "second\nline", place=PLACE)
    with pytest.raises(DiagnosticError) as error:
        diagnostics.raise_if_errors()
    assert str(error.value) == "r.urdf:3:5: error: first [A]\nr.urdf:3:5: error: second\\nline [C]"
    assert error.value.diagnostics is diagnostics
    assert error.value.exit_code == 3


def test_only_missing_files_raise_a_resource_error():
    diagnostics = Diagnostics()
    diagnostics.error("URI_LOOKUP", "no mesh", place=PLACE)
    diagnostics.error("FILE_READ", "no file", place=PLACE)
    with pytest.raises(MissingResourceError) as error:
        diagnostics.raise_if_errors()
    assert isinstance(error.value, ResourceError)
    assert error.value.exit_code == 4
    diagnostics.error("XML_ERROR", "and more", place=PLACE)
    with pytest.raises(DiagnosticError):
        diagnostics.raise_if_errors()
