"""Tests that import another engine name it in their mark `peers`; tests/conftest.py skips them where it is missing."""

import os
import subprocess
import sys

import pytest
from peer_imports import PeerImports
from repository import ROOT, SUPPORT, TESTS, files_of_tests


def test_every_test_names_the_engines_that_it_imports():
    benchmarks = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in (ROOT / "benchmarks").rglob("*.py")
    }
    paths = {path.stem: path for path in (*files_of_tests(), *SUPPORT.glob("*.py"), TESTS / "conftest.py")} | benchmarks
    texts = {name.removesuffix(".__init__"): path.read_text(encoding="utf-8") for name, path in paths.items()}
    assert PeerImports(texts).faults() == []


# ------------------------------------------------------------------------------------------------ faults put in

HELPERS = {
    "machine": """
from importlib import import_module
def library(name):
    return import_module(f"{name}.math")
def load():
    return library
""",
    "scene": """
def theirs():
    import pydrake.all
    return pydrake.all
class Scene:
    def start(self):
        from mujoco import MjModel
class Quiet:
    def start(self):
        return 1
""",
    "test_other": """
import pytest
from scene import theirs
def compared():
    return theirs()
@pytest.fixture
def both():
    return compared()
""",
    "benchmarks.run": """
def installed(name):
    return False
def steps():
    import pinocchio
def report():
    return steps() if installed("pinocchio") else None
""",
}
FAULTS = {
    "in the test": ("def test_it():\n    import mujoco", "no mark names mujoco"),
    "a part of it": ("def test_it():\n    from pydrake.math import RigidTransform", "no mark names pydrake"),
    "another than is named": (
        "@pytest.mark.peers('mujoco')\ndef test_it():\n    import pydrake",
        "no mark names pydrake",
    ),
    "one of two": ("@pytest.mark.peers('mujoco')\ndef test_it():\n    import mujoco, coal", "no mark names coal"),
    "skipped by hand": ("def test_it():\n    pytest.importorskip('coal')", "no mark names coal"),
    "by a function": ("def f():\n    import mujoco\ndef test_it():\n    f()", "no mark names mujoco"),
    "by a helper": ("from scene import theirs\ndef test_it():\n    theirs()", "no mark names pydrake"),
    "by a helper's class": ("from scene import Scene\ndef test_it():\n    Scene().start()", "no mark names mujoco"),
    "imported late": ("def test_it():\n    from scene import theirs as f\n    f()", "no mark names pydrake"),
    "by a module": ("import scene\ndef test_it():\n    scene.theirs()", "no mark names pydrake"),
    "by another test's function": (
        "from test_other import compared\ndef test_it():\n    compared()",
        "no mark names pydrake",
    ),
    "by another test's fixture": ("from test_other import both\ndef test_it(both):\n    pass", "no mark names pydrake"),
    "by a fixture": ("@pytest.fixture\ndef f():\n    import mujoco\ndef test_it(f):\n    pass", "no mark names mujoco"),
    "by a fixture of a fixture": (
        "@pytest.fixture\ndef f():\n    import mujoco\n@pytest.fixture\ndef g(f):\n    pass\ndef test_it(g):\n    pass",
        "no mark names mujoco",
    ),
    "by a fixture for all": (
        "@pytest.fixture(autouse=True)\ndef f():\n    import mujoco\ndef test_it():\n    pass",
        "no mark names mujoco",
    ),
    "by a fixture's name": (
        "@pytest.fixture\ndef f():\n    import mujoco\ndef test_it(request):\n    request.getfixturevalue('f')",
        "no mark names mujoco",
    ),
    "by a method": (
        "class TestIt:\n    def f(self):\n        import coal\n    def test_it(self):\n        self.f()",
        "no mark names coal",
    ),
    "by a case": ("CASES = [lambda: __import__('mujoco')]\ndef test_it():\n    CASES[0]()", "no mark names mujoco"),
    "by a name": ("from machine import library\ndef test_it():\n    library('pydrake')", "no mark names pydrake"),
    "by a name of a case": (
        "from machine import load\n@pytest.mark.parametrize('n', ['mbcli', 'pydrake'])\ndef test_it(n):\n    load()(n)",
        "no mark names pydrake",
    ),
    "by a name among the cases": (
        "from machine import library\nNAMES = ('pydrake',)\ndef test_it():\n    [library(n) for n in NAMES]",
        "no mark names pydrake",
    ),
    "by a benchmark": ("from benchmarks import run\ndef test_it():\n    run.steps()", "no mark names pinocchio"),
    "later": ("from peer_modules import peer\nM = peer('mujoco')\ndef test_it():\n    M.f()", "no mark names mujoco"),
    "collected": ("import mujoco\ndef test_it():\n    pass", "imports mujoco as it is collected"),
    "collected or skipped": ("M = pytest.importorskip('mujoco')", "imports mujoco as it is collected"),
    "collected by a call": ("from scene import theirs\nM = theirs()", "imports pydrake as it is collected"),
    "collected by a case": (
        "from scene import theirs\n@pytest.mark.parametrize('n', dir(theirs()))\ndef test_it(n):\n    pass",
        "imports pydrake as it is collected",
    ),
    "collected by a class": ("class Case:\n    M = __import__('coal')", "imports coal as it is collected"),
    "no name": ("@pytest.mark.peers\ndef test_it():\n    pass", "a mark names no engine"),
    "no name of a file": ("pytestmark = [pytest.mark.peers]\ndef test_it():\n    pass", "a mark names no engine"),
}
FINE = {
    "nothing": "def test_it():\n    pass",
    "named": "@pytest.mark.peers('mujoco')\ndef test_it():\n    import mujoco",
    "named for the file": "pytestmark = pytest.mark.peers('mujoco', 'coal')\ndef test_it():\n    import mujoco, coal",
    "named for the class": "@pytest.mark.peers('coal')\nclass TestIt:\n    def test_it(self):\n        import coal",
    "named for a case": (
        "from machine import library\n"
        "@pytest.mark.parametrize('n', ['mbcli', pytest.param('pydrake', marks=pytest.mark.peers('pydrake'))])\n"
        "def test_it(n):\n    library(n)"
    ),
    "only the text": "def test_it():\n    assert 'mujoco' in 'a mujoco model'",
    "a script": "SCRIPT = 'import pydrake'\ndef test_it():\n    exec(SCRIPT)",
    "another class of a helper": "from scene import Quiet\ndef test_it():\n    Quiet().start()",
    "mbcli by name": "from machine import library\ndef test_it():\n    library('mbcli')",
    "a local name": "from scene import theirs\ndef test_it():\n    theirs = 1\n    return theirs",
    "a benchmark that asks": "from benchmarks import run\ndef test_it():\n    run.report()",
}


def test_a_fixture_that_imports_an_engine_for_every_test_is_found():
    conftest = "import pytest\n@pytest.fixture(autouse=True)\ndef all_of_them():\n    import mujoco\n"
    assert PeerImports({"conftest": conftest}).faults() == ["conftest: all_of_them imports an engine for every test"]


def faults_of(text):
    return PeerImports({**HELPERS, "test_it": f"import pytest\n{text}\n"}).faults()


@pytest.mark.parametrize("case", FAULTS)
def test_a_test_that_imports_an_engine_otherwise_is_found(case):
    text, fault = FAULTS[case]
    assert [line.partition("test_it")[2].endswith(fault) for line in faults_of(text)] == [True]


@pytest.mark.parametrize("case", FINE)
def test_a_test_that_names_what_it_imports_is_not_found(case):
    assert faults_of(FINE[case]) == []


# --------------------------------------------------------------------------------------------------- the rule

FILE = """
import sys
import pytest
sys.modules["mujoco"] = None  # not installed
@pytest.fixture
def theirs():
    import mujoco
@pytest.mark.peers("mujoco")
def test_marked(theirs):
    pass
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.peers("mujoco")), 2])
def test_case(n):
    assert n == 2
@pytest.mark.peers
def test_of_none():
    pass
@pytest.mark.peers("mujocoo")
def test_misspelt():
    pass
"""


def test_a_marked_test_is_skipped_before_its_fixtures_run_and_names_engines(tmp_path):
    (tmp_path / "test_file.py").write_text(FILE)
    paths = os.pathsep.join([str(TESTS), str(SUPPORT)])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "conftest",
            "-rsE",
            "--strict-markers",
            "-c",
            ROOT / "pyproject.toml",
            tmp_path,
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed, 2 skipped, 2 errors" in done.stdout
    assert done.stdout.count("mujoco not installed") == 1  # two tests of one cause have a line
    assert "test_of_none: the mark peers() is to name engines out of pydrake" in done.stdout
    assert "test_misspelt: the mark peers('mujocoo',) is to name engines" in done.stdout
