"""Faults that benchmarks.mutations puts into a copy: which it finds, what becomes of a text, which files try one."""

import ast
import sys

from repository import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.mutations.faults import drawn_faults, faults_of, named_faults
from benchmarks.mutations.trial import copied_tree

TEXT = b'''\
NUMBER = 1 + 2


@kernel
def step(d, h):
    """Not a fault."""
    d.v[:] += h
    k = d.q[0, 1] + d.M[i, j] - "text"
    if k < 0:
        clear(d)
    return k


class Row:
    def put(self, x):
        self.x = x
        name: dict[int, str] = x
'''


def test_statements_terms_indices_and_comparisons_of_functions_are_found():
    found = {(f.kind, f.words(TEXT)) for f in faults_of("mbcli/a.py", TEXT)}
    assert found == {
        ("statement", "d.v[:] += h -> pass"),
        ("indices", "d.M[i, j] -> d.M[j, i]"),
        ("term", "d.q[0, 1] + d.M[i, j] -> d.q[0, 1]"),
        ("comparison", "k < 0 -> k >= 0"),
        ("statement", "clear(d) -> pass"),
        ("statement", "self.x = x -> pass"),
    }


def test_a_fault_changes_its_place_alone_and_leaves_python():
    for fault in faults_of("mbcli/a.py", TEXT):
        changed = fault.put_into(TEXT)
        ast.parse(changed)
        assert changed.startswith(TEXT[: fault.start]) and changed.endswith(TEXT[fault.end :]) and changed != TEXT


def test_faults_are_drawn_by_a_seed_half_of_them_from_kernels():
    faults = drawn_faults(12, 3)
    assert faults == drawn_faults(12, 3) != drawn_faults(12, 4)
    assert sum(fault.file.startswith("mbcli/engine/") for fault in faults) == 6
    assert len({fault.room for fault in faults}) == 12
    for fault in faults:
        ast.parse(fault.put_into((ROOT / fault.file).read_bytes()))


def test_the_named_faults_change_functions_that_are_there():
    faults = named_faults()
    assert len(faults) == 7
    for fault in faults:
        ast.parse(fault.put_into((ROOT / fault.file).read_bytes()))


def test_a_copy_has_the_files_that_git_knows(tmp_path):
    tree = copied_tree(tmp_path / "copy")
    assert (tree / "mbcli" / "__init__.py").is_file() and (tree / "tests" / "conftest.py").is_file()
    assert not (tree / ".venv").exists()
