"""Scripts of `pydrake_cases` print under mbcli.pydrake what they print under pydrake, as `expected.json` has it."""

import json
import os
import subprocess
import sys
from functools import cache

import pytest
from repository import ROOT, SUPPORT

from benchmarks.pydrake_scripts import different_line, scripts_of

FOLDER = SUPPORT / "pydrake_cases"
CASES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("helper_"))
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@cache
def outcomes(library):
    command = [
        sys.executable,
        "tests/support/run_pydrake_cases.py",
        library,
        *(str(FOLDER / f"{case}.py") for case in CASES),
    ]
    environment = dict(os.environ, PYTHONPATH=str(ROOT), PYTHONDONTWRITEBYTECODE="1", MBCLI_JIT="0")
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", CASES)
def test_a_script_prints_what_it_prints_under_pydrake(case):
    found = outcomes("mbcli")[case]
    assert found["error"] == ""
    assert different_line(found["output"], EXPECTED[case]) is None


def test_the_scripts_of_a_folder_are_those_that_import_pydrake_and_do_something(tmp_path):
    assert sorted(path.stem for path in scripts_of(FOLDER)) == CASES
    (tmp_path / "defines.py").write_text("from pydrake.all import Box\n\n\ndef f():\n    return Box(1, 1, 1)\n")
    (tmp_path / "knows_nothing.py").write_text("print(1)\n")
    (tmp_path / "acts.py").write_text("import pydrake.math\nprint(pydrake.math.sin(0.0))\n")
    assert scripts_of(tmp_path) == [tmp_path / "acts.py"]


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("case", CASES)
def test_what_is_expected_is_what_pydrake_prints(case):
    found = outcomes("pydrake")[case]
    assert found["error"] == ""
    assert different_line(EXPECTED[case], found["output"]) is None
