"""Every check (c) of the specifications is a test that names its number: specification_checks.yaml says which."""

import ast
import functools
import os
import re
from pathlib import Path

import pytest
import yaml
from repository import ROOT, files_of_tests

PATHS = {path.name: path for path in files_of_tests()}
CHECKS = yaml.safe_load((Path(__file__).with_name("specification_checks.yaml")).read_text(encoding="utf-8"))
TESTED = [
    (page, number, test) for page, of_page in CHECKS.items() for number, tests in of_page.items() for test in tests
    if not isinstance(tests, str)
]  # fmt: skip


@functools.cache
def texts(file):
    """Test -> its name with its docstring and that of its class, of one file."""
    found = {}

    def collect(node, names, text):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.ClassDef, ast.FunctionDef)):
                path = (*names, child.name)
                own = f"{text} {child.name} {ast.get_docstring(child) or ''}"
                if isinstance(child, ast.ClassDef):
                    collect(child, path, own)
                elif child.name.startswith("test"):
                    found["::".join(path)] = own

    collect(ast.parse(PATHS[file].read_text(encoding="utf-8")), (), "")
    return found


@pytest.mark.parametrize(("page", "number", "test"), TESTED)
def test_the_check_is_a_test_that_names_its_number(page, number, test):
    file, _, name = test.partition("::")
    assert name in texts(file), f"there is no {test} for {page} (c) {number}"
    assert re.search(rf"(?<!\d){number}(?!\d)", texts(file)[name]), f"{test} does not name {page} (c) {number}"


def test_what_is_not_tested_has_a_reason():
    for of_page in CHECKS.values():
        for number, tests in of_page.items():
            assert isinstance(number, int)
            assert tests, f"{number}: neither a test nor a reason"


@pytest.mark.parametrize("page", CHECKS)
def test_every_number_of_the_specification_is_listed(page):
    folder = Path(os.environ.get("MBCLI_SPECIFICATIONS", ROOT / "../shared/spec"))
    if not folder.is_dir():
        pytest.skip("the specifications are not here")
    lines = (folder / f"{page}.md").read_text(encoding="utf-8").splitlines()
    start = next(n for n, line in enumerate(lines) if re.match(r"#+ \(c\)", line))
    # numbers begin their lines, but some stand behind the full stop of the number before
    numbers = [int(n) for line in lines[start:] for n in re.findall(r"(?:^ ?|\. )(\d+)\.? (?=[A-Z*N|])", line)]
    listed = list(CHECKS[page])
    assert listed == list(range(1, len(listed) + 1))
    assert set(listed) <= set(numbers)
    assert len(listed) + 1 not in numbers
