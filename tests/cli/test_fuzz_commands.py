"""Mutants of model files through every command that takes a model: an answer, in bounded memory and time.

MBCLI_FUZZ_MUTANTS sets how many (6).
`PYTHONPATH=tests/support:tests/parsers python tests/cli/test_fuzz_commands.py COUNT [FIRST]` counts outcomes.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from command_line import cli
from hostile_logs import attempt
from repository import SAMPLES
from test_fuzz_models import MJCF, NASTY

COUNT = int(os.environ.get("MBCLI_FUZZ_MUTANTS", 6))
GOOD_CODES = {0, 1, 2, 3, 4, 5, 6}
MODELS = ("double_pendulum.urdf", "quadruped.urdf", "all_joints.sdf", "cart_pole.sdf", "double_pendulum.xml")
NUMBERS = [text for text in NASTY if text.strip("+-").replace(".", "").replace("e", "").replace("-", "").isdigit()]
NUMBERS += ["1e30", "1e-30", "1e99", "-1e99", "1e17", "0.0"]


def mutant(text, draw):
    """The text with one to four of its quoted values or texts of elements replaced, or an element taken away."""
    parts = text.split('"')
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(1, max(len(parts) - 1, 2), 2) if len(parts) > 2 else 0
        values = parts[at].split() if parts[at].strip() else [""]
        values[draw.randrange(len(values))] = draw.choice(NUMBERS if draw.random() < 0.7 else NASTY)
        if draw.random() < 0.1:
            values = draw.choice(parts[1::2]).split()
        parts[at] = " ".join(values)
    text = '"'.join(parts)
    if draw.random() < 0.5 and ">" in text:
        pieces = text.split(">")
        at = draw.randrange(len(pieces))
        if "<" in pieces[at] and pieces[at].partition("<")[0].strip():
            value, _, rest = pieces[at].partition("<")
            numbers = value.split()
            numbers[draw.randrange(len(numbers))] = draw.choice(NUMBERS)
            pieces[at] = f"{' '.join(numbers)}<{rest}"
        text = ">".join(pieces)
    return text


def commands(path, folder):
    """Every command that takes a model, as words."""
    out = os.path.join(folder, "out")
    contact = ["--ground"]
    return [
        ["check", path],
        ["inspect", path, "--json"],
        ["kinematics", path],
        ["jacobian", path, "--point", "0,0,0", "--wrt", "v"],
        ["mass-matrix", path],
        ["inverse-dynamics", path, "--json"],
        ["forward-dynamics", path],
        ["assemble", path],
        ["constrained-dynamics", path],
        ["bias", path],
        ["gravity", path],
        ["energy", path],
        ["com", path],
        ["momentum", path],
        ["contact", path],
        ["linearize", path],
        ["simulate", path, "-t", "0.005", "--no-log", *contact],
        ["simulate", path, "-t", "0.005", "--dt", "0", "--log-rate", "1000", "-o", f"{out}.h5", "--force"],
        ["convert", path, "--to", "sdf", "--lossy", "-o", f"{out}.sdf", "--force"],
        ["convert", path, "--to", "urdf", "--lossy", "-o", f"{out}.urdf", "--force"],
        ["compare", path, path],
    ]


def texts():
    found = [(name, (SAMPLES / name).read_text()) for name in MODELS]
    return [*found, ("m.xml", MJCF)]


def warm(folder):
    """Imports what the commands need, once for all forks."""
    for name, text in texts()[::2]:
        path = os.path.join(folder, name)
        Path(path).write_text(text)
        for words in commands(path, str(folder)):
            cli("-q", *words)


def tried(folder, seed, few=None):
    """[(command, outcome, text, seconds)] of a mutant."""
    draw = random.Random(seed)
    name, text = draw.choice(texts())
    path = os.path.join(folder, f"mutant{os.path.splitext(name)[1]}")
    Path(path).write_text(mutant(text, draw), encoding="utf-8", errors="surrogatepass")
    chosen = commands(path, str(folder))
    return [(words, *attempt(["-q", *words], str(folder))) for words in (draw.sample(chosen, few) if few else chosen)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mutants")
    warm(folder)
    return folder


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("seed", range(COUNT))
def test_a_mutant_of_a_model_is_answered_by_every_command(folder, seed):
    for words, code, text, _ in tried(folder, seed, few=None if COUNT > 10 else 5):
        assert code in GOOD_CODES, (words, code, text[-500:])


def count(number, first, folder):
    """Prints how often each outcome came, and those that are wrong."""
    warm(folder)
    outcomes, slowest = Counter(), 0.0
    for seed in range(first, first + number):
        for words, code, text, seconds in tried(folder, seed):
            outcomes[code] += 1
            slowest = max(slowest, seconds)
            if code not in GOOD_CODES:
                print(seed, code, " ".join(words), text[-300:], flush=True)
        if seed % 20 == 19:
            print(seed + 1, dict(outcomes), f"slowest {slowest:.1f} s", flush=True)
    print(number, "mutants", dict(outcomes), f"slowest {slowest:.1f} s", flush=True)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        count(int(sys.argv[1]), int((sys.argv[2:] or ["1000"])[0]), Path(name))
