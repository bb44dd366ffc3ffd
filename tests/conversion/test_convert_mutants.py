"""Mutants of MJCF and USD files through `mbcli convert`: a result or findings, no traceback.

MBCLI_FUZZ_CONVERT sets how many of each format (4).
`PYTHONPATH=tests/support python tests/conversion/test_convert_mutants.py COUNT` counts the outcomes of each.
"""

import os
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from damaged_texts import USD_TOKENS, XML_TOKENS, damaged_text
from hostile_logs import attempt
from repository import SAMPLES
from usd_texts import ARM

COUNT = int(os.environ.get("MBCLI_FUZZ_CONVERT", 4))
MJCF = (SAMPLES / "double_pendulum.xml").read_text()
KINDS = {"mjcf": ("xml", MJCF, XML_TOKENS, "usd"), "usd": ("usda", ARM, USD_TOKENS, "mjcf")}
OUTCOMES = {0: "converted", 3: "findings", 4: "findings", 5: "not proved"}


def tried(folder, kind, seed):
    """(exit code, what was printed) of a mutant."""
    suffix, text, tokens, target = KINDS[kind]
    path = Path(folder) / f"mutant.{suffix}"
    path.write_bytes(damaged_text(text, random.Random(seed), tokens))
    out = Path(folder) / f"out.{target}"
    words = ["-q", "convert", str(path), "--input-format", kind, "--to", target, "-o", str(out), "--force", "--lossy"]
    code, printed, _ = attempt(words, str(folder))
    return code, printed.decode(errors="replace") if isinstance(printed, bytes) else printed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", KINDS)
def test_a_mutant_is_converted_or_has_findings(tmp_path, kind):
    pytest.importorskip("pxr", reason="usd-core is not installed")
    for seed in range(COUNT):
        code, printed = tried(tmp_path, kind, seed)
        assert code in OUTCOMES, (seed, code, printed[-500:])
        assert "Traceback" not in printed, (seed, printed[-500:])
        if code in (3, 4):
            assert "mutant." in printed.splitlines()[-1], (seed, printed[-500:])


def count(number, folder):
    for kind in KINDS:
        outcomes = Counter()
        for seed in range(number):
            code, printed = tried(folder, kind, seed)
            wrong = code not in OUTCOMES or "Traceback" in printed
            outcomes["wrong" if wrong else OUTCOMES[code]] += 1
            if wrong or code == 5:
                print(kind, seed, code, printed[-300:], flush=True)
        print(f"{number} mutants of {kind}: {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        count(int(sys.argv[1]), name)
