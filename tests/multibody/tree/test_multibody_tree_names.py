"""The table of names of the C++ class MultibodyTree: complete, and of methods that are there."""

import re

import pytest
from reference_names import pages_folder
from repository import ROOT

from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import Joint, RigidBody

TABLE = ROOT / "docs/reference/multibody_tree_names.md"
ROWS = [line.split(" | ", 1) for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
STARTS = "Add|Calc|Eval|Get|Set|Has|Make|Map|num_|get_|Clone|To|Create|Finalize|tree_height|world_|topology_is"


def code(text):
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize(("theirs", "ours"), ROWS, ids=lambda text: text[:40])
def test_what_the_table_names_is_there(theirs, ours):
    same = "of these names" in ours or "of this name" in ours
    named = [name[2:] for name in code(ours) if name.startswith("P.")] + (code(theirs) if same else [])
    for name in named:
        assert hasattr(MultibodyPlant, name), name
    for name in code(ours):
        if name not in ("P", "mbcli inspect") and not name.startswith("P."):
            assert any(hasattr(kind, name) for kind in (Joint, RigidBody)), name


def test_the_table_has_every_name_of_the_page():
    folder = pages_folder()
    if folder is None:
        pytest.skip("the reference pages are not here")
    page = (folder / "drake_multibody_tree_cpp.txt").read_text(encoding="utf-8")
    found = set(re.findall(rf"\b((?:{STARTS})\w*) *\(", page))
    listed = {name for theirs, _ in ROWS for name in code(theirs)}
    assert found <= listed, sorted(found - listed)
