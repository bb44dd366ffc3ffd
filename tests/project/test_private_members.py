"""How many times code reaches into another object: names with a leading underscore are used by their owner alone."""

import ast
from collections import Counter

from repository import ROOT

MOST = 38


def private_members_of_others(source):
    """Each `x._name` where x is neither `self` nor `cls`; names with two leading underscores are not counted."""
    found = Counter()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute) or ast.unparse(node.value) in ("self", "cls"):
            continue
        if node.attr.startswith("_") and not node.attr.startswith("__"):
            found[node.attr] += 1
    return found


def test_the_count_sees_every_form_of_access():
    source = "self._a; cls._b; other._c = 1; f(x)._d(y._e); del z.w._f; w.__dict__; self.plant._g; super()._h"
    assert private_members_of_others(source) == Counter(["_c", "_d", "_e", "_f", "_g", "_h"])


def test_few_accesses_to_private_members_of_other_objects_are_left():
    found = Counter()
    for package in ("mbcli", "parsers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            found += private_members_of_others(path.read_text())
    total = found.total()
    print(f"{total} accesses to private members of other objects:", dict(found.most_common()))
    assert total <= MOST, found.most_common(20)
