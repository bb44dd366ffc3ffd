"""How large files, functions and rooms are."""

import ast

import pytest
from repository import ROOT
from room_sizes import lines_of_rooms, rows
from test_layers import MODULES, room_of

MOST_LINES, MOST_PARAMETERS = 600, 12
STALE = 0.1  # of the lines of a room that the page may be off by, and 100 lines


@pytest.mark.parametrize("folder", ["mbcli", "parsers", "schemas"])
def test_no_file_is_too_long_and_no_function_takes_too_much(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text()
        assert text.count("\n") < MOST_LINES, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                assert len(set(names) - {"self", "cls"}) <= MOST_PARAMETERS, f"{path.relative_to(ROOT)}: {node.name}"


def test_the_architecture_page_says_how_large_the_rooms_are():
    """`python tests/support/room_sizes.py` writes what they are now."""
    sizes = lines_of_rooms(MODULES, room_of)
    for rooms, lines, _ in rows():
        here = sum(sizes[room] for room in rooms)
        assert abs(lines - here) <= 100 + STALE * here, f"{rooms}: {here} lines"
