"""One step of robots of others, from rest with every joint at a limit, equals pydrake's.

Under `tamsi` pydrake has springs at limits in place of constraints (docs/reference/differences_from_drake.md). Of
more files: `python -m benchmarks.robots --drake FOLDER...`.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from peer_modules import peer_folder
from repository import ROOT, SAMPLES

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks.robots import states
from benchmarks.robots.files import robot_files

pytestmark = pytest.mark.peers("pydrake")

# of the extra `robots`, where it is installed
PACKAGES = [find_spec(name) for name in ("airo_models", "upkie_description")]
FOLDERS = [
    peer_folder("pydrake") / "share",
    SAMPLES,
    *(Path(package.origin).parent for package in PACKAGES if package is not None),
]
FILES = [file for file in robot_files(FOLDERS, ("urdf",))[0] if "closed_chains" not in file.name]
RUNS = [
    (base, start, approximation)
    for base in ("floating", "welded")
    for start in ("lower", "upper", "random")
    for approximation in ("lagged", "sap", "similar")
]
AS_PYDRAKE = 1e-9  # [m, rad, m/s, rad/s]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path.stem)
def test_a_step_from_limits_equals_pydrake(file):
    kept = {name: {} for name in ("mbcli", "pydrake")}
    compared = 0
    for run in RUNS:
        ours, theirs = (states.do(file, [name, *run, 1, False], kept[name]) for name in kept)
        if "left_out" in theirs:
            continue
        if "error" in theirs:
            pytest.skip(f"pydrake refuses it: {theirs['error'][:200]}")
        assert "error" not in ours, (run, ours)
        assert ours["names"] == theirs["names"]
        if ours["constraints"]:
            pytest.skip("steps under constraints have another scheme (docs/explanation/discrete_constraints.md)")
        assert states.difference(ours, theirs) <= AS_PYDRAKE, run
        compared += 1
    if not compared:
        pytest.skip("no joint has a limit")


def test_there_are_robots_with_limits():
    assert len(FILES) > 10
