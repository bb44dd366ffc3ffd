"""Where things are: the repository, its sample models, and the folder of public models beside it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
SUPPORT = TESTS / "support"
SAMPLES = ROOT / "sample_models"
MODELS = Path(os.environ.get("MBCLI_MODELS", ROOT / "../shared/models")).resolve()  # may not be there


def files_of_tests():
    """The paths of all test files, room by room."""
    return sorted(TESTS.rglob("test_*.py"))
