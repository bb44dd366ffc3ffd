"""The table of codes: complete, true by its examples, and the same as docs/check.md."""

import ast
import re
from pathlib import Path

import pytest

from mbcli.checks.codes import CODES, reference_page
from mbcli.checks.file_check import check_file
from mbcli.checks.report import SEVERITIES

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("parsers", "mbcli/checks", "mbcli/multibody/parsing")
OF_CONVERT = {"parsers/losses.py", "parsers/write_sdf.py", "parsers/write_urdf.py", "parsers/write_xml.py"}
RECORDING = {"error", "warning", "note", "report", "_error", "_warning", "ValueProblem", "_stop"}
CODE = re.compile(r"[A-Z]+(_[A-Z0-9]+)+")


def codes_in_sources():
    """Every code that is recorded by its name."""
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            if path.relative_to(REPOSITORY).as_posix() in OF_CONVERT:
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call) or not node.args:
                    continue
                function = node.func
                name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                first = node.args[0]
                stated = first.value if isinstance(first, ast.Constant) else None
                if name in RECORDING and isinstance(stated, str) and CODE.fullmatch(stated):
                    yield stated


def test_every_code_is_in_the_table():
    assert set(codes_in_sources()) - set(CODES) == set()
    assert set(SEVERITIES) - set(CODES) == set()


@pytest.mark.parametrize("code", [code for code in CODES if CODES[code].example is not None])
def test_the_example_of_a_code_has_it(code):
    entry = CODES[code]
    text = entry.document()
    input_format = "sdf" if text.startswith("<sdf") else entry.input_format
    found = check_file(text.encode(), name="example", input_format=input_format).findings
    assert code in [finding.code for finding in found], [str(finding) for finding in found]


def test_the_page_says_what_the_table_says():
    page = (REPOSITORY / "docs" / "check.md").read_text()
    assert page.endswith(reference_page()), "python -m mbcli.checks.codes > the table of docs/check.md"
