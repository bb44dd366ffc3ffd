"""The table of codes: complete, true by its examples, and the same as docs/reference/check.md."""

import ast
import dataclasses
import re

import pytest
from mbcli.parsers.checks.codes import CODES, LOSSES, reference_page
from mbcli.parsers.checks.report import SEVERITIES
from mbcli.parsers.spec import AxisSpec
from repository import ROOT

from mbcli.checks.file_check import check_file

FOLDERS = ("parsers", "mbcli/checks", "mbcli/multibody/parsing")
LOSS_KINDS = {"motion", "lost", "changed", "extension"}
RECORDING = {"error", "warning", "note", "report", "_error", "_warning", "ValueProblem", "_stop"}
CODE = re.compile(r"[A-Z]+(_[A-Z0-9]+)+")


def calls(*folders):
    """(name of the function, arguments that are strings or None) of every call in the sources."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and node.args:
                    function = node.func
                    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
                    yield (
                        name,
                        [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args],
                    )


def codes_in_sources():
    """Every code that is recorded by its name."""
    for name, (first, *_) in calls(*FOLDERS):
        if name in RECORDING and isinstance(first, str) and CODE.fullmatch(first):
            yield first


def losses_in_sources():
    """Every code of a loss that is recorded by its name, and those that are made from the fields of an axis."""
    for name, arguments in calls("parsers", "mbcli/cli", "mbcli/conversion"):
        if name in ("add", "lose", "Loss") and len(arguments) > 3 and isinstance(arguments[1], str):
            assert arguments[0] is None or arguments[0] in LOSS_KINDS
            yield arguments[1]
    always = {"place", "xyz", "axis", "drakes_limits", "softness"}
    for field in dataclasses.fields(AxisSpec):
        if field.name not in always:
            yield "JOINT_" + field.name.upper()


def test_every_code_is_in_the_table():
    assert set(codes_in_sources()) - set(CODES) == set()
    assert set(SEVERITIES) - set(CODES) == set()


def test_the_losses_of_convert_are_those_of_the_table():
    assert sorted(set(losses_in_sources())) == sorted(LOSSES)


@pytest.mark.parametrize("code", [code for code in CODES if CODES[code].example is not None])
def test_the_example_of_a_code_has_it(code):
    entry = CODES[code]
    text = entry.document()
    input_format = "sdf" if text.startswith("<sdf") else entry.input_format
    found = check_file(text.encode(), name="example", input_format=input_format).findings
    assert code in [finding.code for finding in found], [str(finding) for finding in found]


def test_the_page_says_what_the_table_says():
    page = (ROOT / "docs" / "reference" / "check.md").read_text()
    assert page.endswith(reference_page()), "python -m mbcli.parsers.checks.codes > table of docs/reference/check.md"
