"""Mutants of every kind of file through the commands that read it: an answer, in bounded memory and time.

Each command runs in a process forked for it, watched by an audit hook; files that are planted outside of its folder
say if they were read or changed. MBCLI_FUZZ_MUTANTS sets how many of each kind (2).
`PYTHONPATH=tests/support:tests/parsers:tests/log python tests/cli/test_fuzz_commands.py COUNT [FIRST] [KIND ...]`
counts outcomes.
"""

import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from command_line import cli
from file_mutants import KINDS, drawn, of_model, texts
from hostile_folders import SYSTEM
from hostile_logs import attempt
from outside_watch import SECRET, Planted, watch
from test_fuzz_logs import good_logs

from mbcli.common.user_cache import user_cache

COUNT = int(os.environ.get("MBCLI_FUZZ_MUTANTS", 2))
GOOD_CODES = {0, 1, 2, 3, 4, 5, 6}


class Net:
    """A folder for mutants, what is planted outside of it, and logs to spoil."""

    def __init__(self, folder):
        self.own, self.work, self.told = folder / "own", folder / "work", folder / "told"
        self.own.mkdir()
        before = os.getcwd()
        self.contents = good_logs(self.own)
        for name, text in texts()[::2]:
            (self.own / name).write_text(text)
            for words in of_model(str(self.own / name), str(self.own)):  # imports, once for all forks
                cli("-q", *words)
        os.chdir(before)
        self.planted = Planted(folder / "outside")
        (folder / "tmp").mkdir()

    def watched(self):
        """For a process that is to work in the folder and in one for temporary files."""
        folder = self.work.parent
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
        allowed = (str(folder / "tmp"), str(user_cache()), "/dev/", "/proc/")
        reads = (str(self.planted.folder), "/etc/passwd")
        watch(str(self.told), str(self.work), allowed, system=SYSTEM, reads=reads)

    def tried(self, kind, seed, few=None):
        """[(command, its outcome, its text, [s], what it did that it must not)] of a mutant."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        mutant = drawn(kind, str(self.work), seed, self.contents)
        chosen, results = mutant.commands, []
        for words in random.Random(seed).sample(chosen, few) if few and few < len(chosen) else chosen:
            self.told.write_text("")
            self.planted.arm()
            code, text, seconds = attempt(["-q", *words], str(self.work), mutant.stdin, self.watched)
            text = text if isinstance(text, bytes) else text.encode()
            faults = self.told.read_text().splitlines() + self.planted.faults()
            faults += ["quoted what is outside"] if SECRET.encode() in text else []
            faults += [] if code in GOOD_CODES else [f"ended by {code}"]
            if words[0] == "serve":
                asked = sum(bool(line.strip()) for line in mutant.stdin.split(b"\n"))
                answers = sum(line.startswith(b"{") for line in text.split(b"\n"))
                faults += [] if asked == answers else [f"{answers} answers to {asked} questions"]
            results.append((words, code, text, seconds, faults))
        return results


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return Net(tmp_path_factory.mktemp("mutants"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("kind", KINDS)
def test_a_mutant_of_a_file_is_answered_by_every_command(net, kind, seed):
    for words, _, text, _, faults in net.tried(kind, seed, few=1 if COUNT > 10 else 4):
        assert not faults, (words, faults, text[-500:])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("fault", ["read", "write", "remove", "process", "socket", "linked"])
def test_the_watch_tells_of_what_is_outside(net, fault, monkeypatch):
    """Faults put in: what a command must not do is seen by the hook, or by the files themselves."""
    outside, work = net.planted.folder, net.work
    net.planted.arm()
    net.told.write_text("")
    work.mkdir(exist_ok=True)
    ways = {
        "read": lambda: (outside / "notes.txt").read_text(),
        "write": lambda: (outside.parent / "elsewhere").write_text(""),
        "remove": lambda: os.remove(outside.parent / "elsewhere"),
        "process": lambda: __import__("subprocess").run(["true"], check=False),
        "socket": lambda: __import__("socket").socket().bind(("127.0.0.1", 0)),
        "linked": lambda: __import__("h5py").is_hdf5(str(outside / "part.obj")),  # opened by HDF5, not by Python
    }
    (outside.parent / "elsewhere").write_text("")
    attempt(["--version"], str(work), b"", lambda: (net.watched(), ways[fault]()))
    told = net.told.read_text() + "".join(net.planted.faults())
    assert told or (fault == "linked" and not net.planted.times_tell)


def count(number, first, folder, kinds):
    """Prints how often each outcome came, and those that are wrong."""
    net = Net(folder)
    outcomes, wrong, slowest = Counter(), 0, 0.0
    for seed in range(first, first + number):
        for kind in kinds:
            for words, code, text, seconds, faults in net.tried(kind, seed, few=1):
                outcomes[kind, code] += 1
                slowest = max(slowest, seconds)
                if faults:
                    wrong += 1
                    print(kind, seed, faults, os.fsencode(" ".join(words))[:300], text[-300:], flush=True)
        if seed % 20 == 19:
            print(
                seed + 1 - first,
                "of each kind",
                dict(Counter(code for _, code in outcomes.elements())),
                f"{slowest:.1f} s",
                flush=True,
            )
    for kind in kinds:
        print(kind, {code: times for (name, code), times in sorted(outcomes.items(), key=str) if name == kind})
    print(number * len(kinds), "mutants", outcomes.total(), "commands", wrong, "wrong", f"slowest {slowest:.1f} s")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        count(int(sys.argv[1]), int((sys.argv[2:] or ["1000"])[0]), Path(name), sys.argv[3:] or list(KINDS))
