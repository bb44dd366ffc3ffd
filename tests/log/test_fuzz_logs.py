"""Damaged and hostile logs through every command: an answer, in bounded memory and time, of nothing outside of the log.

MBCLI_FUZZ_LOGS sets how many (6). `PYTHONPATH=tests/support python tests/log/test_fuzz_logs.py COUNT [FIRST]`
counts outcomes.
"""

import os
import sys
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
from command_line import cli
from hostile_logs import SECRET, attempt, commands, spoiled
from repository import SAMPLES

COUNT = int(os.environ.get("MBCLI_FUZZ_LOGS", 6))
GOOD_CODES = {0, 1, 2, 3, 4, 5, 6}
BOX = """<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="box"><pose>0 0 0.095 0 0 0</pose>
<link name="b"><inertial><mass>1</mass></inertial><collision name="c"><geometry><box><size>0.2 0.2 0.2</size></box>
</geometry><drake:proximity_properties><drake:compliant_hydroelastic/><drake:hydroelastic_modulus>1e6
</drake:hydroelastic_modulus></drake:proximity_properties></collision></link></model></sdf>"""
STARTS = "shoulder,elbow\n0.1,0.2\n0.3,0.4\n"


def good_logs(folder):
    """The bytes of a few logs of small runs; the commands are imported and have run once."""
    os.chdir(folder)
    Path("arm.urdf").write_bytes((SAMPLES / "double_pendulum.urdf").read_bytes())
    Path("box.sdf").write_text(BOX)
    Path("starts.csv").write_text(STARTS)
    Path("secret.csv").write_bytes(b"time,elbow\n0," + SECRET + b"\n")
    Path("secret.bin").write_bytes(np.full(4000, 4242.4242).tobytes())
    with h5py.File("secret.h5", "w") as file:
        file["secret"] = np.full(2000, 4242.4242)
    runs = [
        ["arm.urdf", "-t", "0.2", "-o", "good.h5"],
        ["arm.urdf", "-t", "0.2", "-o", "poses.h5", "--fields", "poses,energy,com,momentum,u"],
        ["box.sdf", "-t", "0.02", "--ground", "--log-rate", "200", "-o", "faces.h5", "--fields", "faces,energy,solver"],
        ["arm.urdf", "-t", "0.2", "--dt", "0", "-o", "continuous.h5"],
        ["arm.urdf", "-t", "0.1", "--states", "starts.csv", "--each", "--fill", "default", "-o", "worlds.h5"],
    ]
    for words in runs:
        result = cli("-q", "simulate", *words)
        assert result.code == 0, result.err
    logs = [Path(run[run.index("-o") + 1]).read_bytes() for run in runs]
    for words in commands("good.h5", str(folder)):
        cli("-q", *words)
    return logs


def tried(content, folder, seed, slow=True):
    """(what was done, [(command, outcome, text, seconds)])."""
    path = os.path.join(folder, "spoiled.h5")
    what = spoiled(content, path, str(folder), seed)
    results = []
    for words in commands(path, str(folder), slow):
        for left in Path(folder).glob("out*"):
            left.unlink()
        code, text, seconds = attempt(["-q", *words], str(folder))
        read = text if isinstance(text, bytes) else text.encode()
        for made in Path(folder).glob("out*"):
            read += made.read_bytes()[:5_000_000]
        leaks = SECRET in read or b"4242.4242" in read or np.float64(4242.4242).tobytes() in read
        results.append(
            (words, "outside" if leaks or os.path.exists(os.path.join(folder, "planted.h5")) else code, text, seconds)
        )
    return what, results


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("logs"), os.getcwd()
    yield folder, good_logs(folder)
    os.chdir(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("seed", range(COUNT))
def test_a_damaged_or_hostile_log_is_answered_by_every_command(logs, seed):
    folder, contents = logs
    what, results = tried(contents[seed % len(contents)], folder, seed, slow=seed % 8 == 0)
    for words, code, text, _ in results:
        assert code in GOOD_CODES, (what, words, code, text[-500:])


def count(number, first, folder):
    """Prints how often each outcome came, and those that are wrong."""
    contents = good_logs(folder)
    outcomes, slowest, kinds = Counter(), 0.0, Counter()
    for seed in range(first, first + number):
        what, results = tried(contents[seed % len(contents)], folder, seed, slow=seed % 10 == 0)
        kinds[what] += 1
        for words, code, text, seconds in results:
            outcomes[code] += 1
            slowest = max(slowest, seconds)
            if code not in GOOD_CODES:
                print(seed, what, code, " ".join(words[:3]), text[-300:], flush=True)
        if seed % 20 == 19:
            print(seed + 1, dict(outcomes), f"slowest {slowest:.1f} s", flush=True)
    print(number, "logs", dict(outcomes), dict(kinds), f"slowest {slowest:.1f} s", flush=True)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        count(int(sys.argv[1]), int((sys.argv[2:] or ["1000"])[0]), Path(name))
