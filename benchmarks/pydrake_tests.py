"""Pydrake's own tests of multibody, math and autodiff under mbcli: which pass, and why the others do not.

    python -m benchmarks.pydrake_tests DRAKE [FILE...] [--models FOLDER]

DRAKE is a folder of Drake's sources (its `bindings`, and `multibody` and `examples` for the models that tests load);
FOLDER has the package `drake_models`. The tests run as they are, by `mbcli.pydrake`; numbers are compared by
mbcli.common.test_utilities. FILE is a test below bindings/pydrake; default: FILES.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import types
import unittest
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

FILES = (
    "multibody/test/plant_test.py",
    "multibody/test/math_test.py",
    "math/test/math_test.py",
    "autodiffutils/test/autodiffutils_test.py",
    "test/forward_diff_test.py",
)
UTILITIES = "pydrake.common.test_utilities"
ALGEBRA, CASTS = f"{UTILITIES}.algebra_test_util", f"{UTILITIES}.autodiffutils_test_util"


class OfTheSources(MetaPathFinder):
    """Finds the tests' own helpers that are no comparisons: one in the sources, and one that is C++ there."""

    def __init__(self, bindings: Path) -> None:
        self._bindings = bindings

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name == ALGEBRA:
            return importlib.util.spec_from_file_location(
                name, self._bindings / "common/test_utilities/algebra_test_util/__init__.py"
            )
        return None


def casts() -> types.ModuleType:
    """What pydrake's bindings make of numbers that are passed to a function of AutoDiffXd."""
    import numpy as np

    from mbcli.autodiffutils import AutoDiffXd

    def scalar(x: Any) -> AutoDiffXd:
        return x if isinstance(x, AutoDiffXd) else AutoDiffXd(x)

    def vector(x: Any) -> Any:
        return np.array([scalar(each) for each in np.ravel(np.asarray(x, dtype=object))])

    module = types.ModuleType(CASTS)
    module.autodiff_scalar_pass_through = scalar  # type: ignore[attr-defined]
    module.autodiff_vector_pass_through = module.autodiff_vector3_pass_through = vector  # type: ignore[attr-defined]
    return module


def tests_in(suite: Any) -> Any:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_in(test)
        else:
            yield test


def run(path: Path) -> tuple[int, int]:
    """Runs a file; prints what fails with its last line; returns how many passed, and of how many."""
    from mbcli.pydrake import _Script

    module = types.ModuleType(f"tests_of_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    _Script(module.__name__, str(path)).exec_module(module)
    passed = count = 0
    for test in tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
        result = unittest.TestResult()
        test.run(result)
        bad = [*result.failures, *result.errors]
        count += 1
        passed += not bad
        for _, text in bad[:1]:
            print(f"  {test.id().rpartition('.')[2]}: {text.rstrip().splitlines()[-1][:160]}", flush=True)
    print(f"{path.parent.parent.name}/{path.name}: {passed} of {count}", flush=True)
    return passed, count


def main() -> None:
    """Prints a line for each test that fails, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drake", type=Path)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--models", type=Path)
    options = parser.parse_args()
    drake = options.drake.resolve()
    bindings = drake / "bindings/pydrake"
    if not bindings.is_dir():
        parser.error(f"{drake} has no bindings/pydrake")
    if drake.name != "drake":
        parser.error(f"{drake}: tests find models in a folder that is named drake")
    os.environ["DRAKE_RESOURCE_ROOT"] = str(drake.parent)
    if options.models is not None:
        os.environ["MBCLI_PACKAGE_PATH"] = str(options.models.resolve())
    from mbcli.pydrake import use_mbcli_for_pydrake

    use_mbcli_for_pydrake()
    sys.meta_path.insert(0, OfTheSources(bindings))
    sys.modules[CASTS] = casts()
    found = [run(bindings / file) for file in options.files]
    print(f"in all: {sum(passed for passed, _ in found)} of {sum(count for _, count in found)}")


if __name__ == "__main__":
    main()
