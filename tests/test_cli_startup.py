"""What the quick commands do not import: numba, scipy and h5py cost more than the answer."""

import json
import os
import subprocess
import sys

import pytest
from command_line import SAMPLES

SLOW = ("numba", "scipy", "h5py", "llvmlite")
LISTING = """
import json, sys
from mbcli.cli import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""
ARM = str(SAMPLES / "arm7.urdf")


def imported(*arguments):
    """The top-level modules that a command has imported at its end."""
    environment = {key: value for key, value in os.environ.items() if key != "MBCLI_JIT"}
    command = [sys.executable, "-c", LISTING, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    return set(modules)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_no_numbers_at_all(arguments):
    assert not imported(*arguments) & {*SLOW, "numpy", "lxml", "yaml"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", "--help"],
        ["inspect", ARM],
        ["check", ARM],
        ["check", str(SAMPLES / "all_joints.sdf"), "--sarif"],
        ["inspect", ARM, "--json"],
        ["inspect", str(SAMPLES / "all_joints.sdf"), "--tree", "dot"],
        ["kinematics", ARM, "--frame", "hand"],
        ["mass-matrix", ARM, "--at", "joint_2=0.3"],
        ["mass-matrix", ARM, "--inverse"],
        ["inverse-dynamics", ARM, "--random", "1"],
        ["forward-dynamics", ARM],
        ["bias", ARM, "--json"],
        ["gravity", ARM],
        ["energy", ARM, "--bodies"],
    ],
    ids=" ".join,
)
def test_one_answer_imports_neither_numba_nor_scipy_nor_h5py(arguments):
    assert not imported(*arguments) & set(SLOW)


def test_a_simulation_does_not_import_blas_and_numba_finds_it_when_it_is_asked_for():
    code = """
import sys, numpy as np
from mbcli.common.numba_start import import_numba
import_numba()
import numba
assert "scipy.linalg" not in sys.modules
assert numba.njit(lambda a, b: np.dot(a, b))(np.eye(2), np.full((2, 2), 3.0)).tolist() == [[3.0, 3.0], [3.0, 3.0]]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_simulation_does_import_numba():
    """The test above would see it."""
    assert "numba" in imported("-q", "simulate", ARM, "-t", "0.001", "--no-log")
