"""Numbers and texts of earlier runs, beside which the quick set puts those of the program as it is.

They prove nothing: they notice what has changed since they were made; tests of theorems say what is right. A file of
`tests/support/recorded` belongs to each test file. `MBCLI_RECORD=1 python -m pytest FILE` writes it anew; the commit
says what moved and why.
"""

import hashlib
import json
import os
import re
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "recorded"
RELATIVE, ABSOLUTE = 1e-7, 1e-9  # ways to run kernels are 1e-9 apart; solvers of contact stop at 1e-6 of momenta
LONG = 600  # characters of a text whose lines are not kept
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def print_of(values):
    """[size, norm, a sum with weights that differ] of real numbers; what is not finite counts by its place."""
    x = np.ravel(np.asarray(values, dtype=float))
    finite = np.isfinite(x)
    weights = np.cos(1.0 + np.arange(x.size))
    x = np.where(finite, x, 0.0)
    lost = float(weights[~finite].sum())
    return [x.size, *(float(f"{each:.12g}") for each in (np.linalg.norm(x), x @ weights, lost))]


def print_of_text(text):
    """Its lines; of a long one the digest of its words, and the print of its numbers."""
    if len(text) <= LONG:
        return text.splitlines()
    words = " ".join(NUMBER.sub("0", text).split())
    return [hashlib.sha256(words.encode()).hexdigest()[:16], *print_of([float(x) for x in NUMBER.findall(text)])]


def same_as_recorded(file, case, found):
    """AssertionError where found, {name: numbers or a text}, differs from what was recorded of a case of a file."""
    path = FOLDER / Path(file).with_suffix(".json").name.removeprefix("test_").removeprefix("recorded_")
    prints = {name: print_of_text(x) if isinstance(x, str) else print_of(x) for name, x in found.items()}
    cases = json.loads(path.read_text()) if path.is_file() else {}
    if os.environ.get("MBCLI_RECORD") == "1":
        FOLDER.mkdir(exist_ok=True)
        rows = sorted((cases | {case: prints}).items())
        path.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows) + "\n}\n")
        return
    known = cases[case]
    assert list(prints) == list(known)
    differing = {name: (found[name], known[name]) for name, x in prints.items() if not _same(x, known[name])}
    assert not differing, differing


def _same(found, known):
    """Of two prints."""
    if len(found) != len(known):
        return False
    if all(isinstance(x, str) for x in known):
        return all(map(_same_line, found, known))
    *words, size, norm, _, _ = known
    allowed = ABSOLUTE + RELATIVE * norm
    return (
        found[:-3] == [*words, size] and max(abs(a - b) for a, b in zip(found[-3:], known[-3:], strict=True)) <= allowed
    )


def _same_line(found, known):
    if NUMBER.sub("0", found).split() != NUMBER.sub("0", known).split():
        return False
    pairs = zip(map(float, NUMBER.findall(found)), map(float, NUMBER.findall(known)), strict=True)
    return all(abs(a - b) <= ABSOLUTE + 1e-6 * abs(b) for a, b in pairs)
