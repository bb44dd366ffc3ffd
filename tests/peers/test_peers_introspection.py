"""Names, members and arguments of pydrake: each difference has a reason in tests/support/pydrake_differences.yaml."""

import re

import introspection
import pytest
import yaml
from repository import ROOT

REASONS = yaml.safe_load((ROOT / "tests/support/pydrake_differences.yaml").read_text())
pytestmark = pytest.mark.peers("pydrake")


def judge(found, reasons):
    """Paths without a reason, and patterns that no path needs; the first pattern that fits counts."""
    unexplained, needed = [], set()
    for path in found:
        pattern = next((p for p in reasons if re.fullmatch(p, path)), None)
        needed.add(pattern)
        if pattern is None:
            unexplained.append(path)
    return unexplained, [pattern for pattern in reasons if pattern not in needed]


def test_every_name_that_is_not_here_has_a_reason():
    found = introspection.absent()
    assert judge(found, REASONS["absent"]) == ([], [])
    total = sum(1 for _ in introspection.pairs())
    print(f"{total} names, {len(found)} paths without a counterpart")


def test_all_arguments_have_their_names_but_for_reasons():
    count, found = introspection.other_arguments()
    assert count > 2000
    assert judge(found, REASONS["arguments"]) == ([], [])
    assert len(found) < 0.03 * count
