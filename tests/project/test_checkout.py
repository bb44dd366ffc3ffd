"""A checkout runs as it is, without an installation: parsers/ and schemas/ stand beside the package then."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from repository import ROOT

FOLDERS = ("mbcli", "parsers", "schemas", "benchmarks", "sample_models")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the tree."""
    copy = tmp_path_factory.mktemp("checkout")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def python(checkout, *arguments, packages=True):
    """Python in the checkout without site, so that no editable installation is found; packages: with numpy and all."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {"MBCLI_JIT": "0"}
    if packages:
        # paths alone: the .pth files in them are not read
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path.endswith("-packages"))
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)


def test_without_an_installation_the_package_is_that_of_the_checkout(checkout):
    program = "import mbcli.parsers, mbcli.schemas; print(mbcli.__file__, mbcli.parsers.__file__, sep='\\n')"
    done = python(checkout, "-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(checkout / "mbcli" / "__init__.py"), str(checkout / "parsers" / "__init__.py")]


def test_the_command_runs_in_a_checkout(checkout):
    done = python(checkout, "-m", "mbcli", "inspect", "sample_models/pendulum.urdf", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["nq"] == 1


def test_schemas_are_found_in_a_checkout(checkout):
    done = python(checkout, "-m", "mbcli", "schema", "log")
    assert done.returncode == 0 and "properties" in json.loads(done.stdout), done.stderr


def test_benchmarks_start_in_a_checkout(checkout):
    done = python(checkout, "-m", "benchmarks", "--help")
    assert done.returncode == 0 and "usage" in done.stdout.lower(), done.stderr


@pytest.mark.parametrize("module", ["mbcli", "benchmarks"])
def test_a_missing_package_is_one_line_that_says_what_to_do(checkout, module):
    done = python(checkout, "-m", module, "--help", packages=False)
    assert done.returncode == 1
    line, *more = done.stderr.splitlines()
    assert not more and "is missing: `pip install -e .`" in line
