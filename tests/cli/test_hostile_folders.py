"""Commands in folders full of planted modules, programs, links and settings touch nothing outside and run none.

Each is watched by an audit hook of Python, in it and in the processes that it starts. MBCLI_HOSTILE_FOLDERS: how many.
"""

import os
from pathlib import Path

from command_line import succeed
from hostile_folders import run
from repository import SAMPLES

COUNT = int(os.environ.get("MBCLI_HOSTILE_FOLDERS", "6"))
FIRST = int(os.environ.get("MBCLI_HOSTILE_FIRST", "0"))


def test_nothing_that_lies_in_a_folder_acts_on_what_is_outside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeed("simulate", SAMPLES / "pendulum.urdf", "-t", "0.01", "-o", "good.h5")
    good_log = Path("good.h5").read_bytes()
    faults = []
    for number in range(FIRST, FIRST + COUNT):
        (tmp_path / str(number)).mkdir()
        faults += run(tmp_path / str(number), number, good_log)
    assert not faults, "\n".join(faults)
