"""Commands in folders full of planted modules, programs, links and settings touch nothing outside and run none.

Each is watched by an audit hook of Python, in it and in the processes that it starts. MBCLI_HOSTILE_FOLDERS: how many.
"""

import os

import pytest
from command_line import succeed
from hostile_folders import run
from repository import SAMPLES

COUNT = int(os.environ.get("MBCLI_HOSTILE_FOLDERS", "6"))
FIRST = int(os.environ.get("MBCLI_HOSTILE_FIRST", "0"))


@pytest.fixture(scope="module")
def good_log(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "good.h5"
    succeed("simulate", SAMPLES / "pendulum.urdf", "-t", "0.01", "-o", path)
    return path.read_bytes()


@pytest.mark.parametrize("number", range(FIRST, FIRST + COUNT))
def test_nothing_that_lies_in_a_folder_acts_on_what_is_outside(number, good_log, tmp_path):
    assert not run(tmp_path, number, good_log)
