"""Pydrake's own tests under mbcli: how many pass of those that pass under pydrake here, and why the others do not.

    python -m benchmarks.pydrake_tests DRAKE [FILE...] [--models FOLDER] [--json FILE]

DRAKE is a folder of Drake's sources, at the version of the package that is installed (its `bindings`, and `multibody`
and `examples` for the models that tests load); FOLDER has the package `drake_models`. FILE is a test below
bindings/pydrake; default: all whose helpers no C++ has to be built for. Each file runs as it is in a process of its own
under pydrake, and in another one under mbcli by `mbcli.pydrake`; numbers are compared by mbcli.common.test_utilities
there. A test that says "out of mbcli's scope" is refused by decision, and counted apart.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import types
import unittest
from collections import Counter
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

UTILITIES = "pydrake.common.test_utilities"
CASTS = f"{UTILITIES}.autodiffutils_test_util"
OF_BUILDS = ("test_utilities/", "install_test", "memory_leak", "stubgen", "dot_clang", "odr_test", "_gil", "meldis")
PAGES = ("meshcat_test", "model_visualizer")  # wait for a browser
TIME = 300  # [s] of a file
PASSED, SKIPPED, REFUSED = "", "skipped", "out of mbcli's scope"


class OfTheSources(MetaPathFinder, Loader):
    """Finds the tests' own helpers in the sources, as no package has them; those of C++ are modules of `Unbuilt`."""

    def __init__(self, bindings: Path) -> None:
        self._bindings = bindings

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("pydrake.") or "test" not in name:
            return None
        place = self._bindings / name.removeprefix("pydrake.").replace(".", "/")
        if (place / "__init__.py").is_file():
            return importlib.util.spec_from_file_location(
                name, place / "__init__.py", submodule_search_locations=[str(place)]
            )
        if place.is_dir():
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        file = place.with_suffix(".py")
        if file.is_file():
            return importlib.util.spec_from_file_location(name, file)
        return ModuleSpec(name, self) if name.endswith("_util") else None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__getattr__ = lambda name: type(name, (Unbuilt,), {})  # type: ignore[method-assign]


class Unbuilt:
    """In place of a helper of C++: the tests that call it fail, under pydrake too, so that they do not count."""

    def __init__(self, *given: Any, **named: Any) -> None:
        raise ImportError(f"{type(self).__name__} has to be built from C++")


class Absorbed:
    """In place of a private part of pydrake's helpers that a file of tests sets up as it is loaded."""

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self


class OfMbcli(MetaPathFinder, Loader):
    """Finds comparisons of mbcli's, and empty modules in place of pydrake's own that are private."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name == UTILITIES or name.startswith(f"{UTILITIES}."):
            own = importlib.util.find_spec(name.replace("pydrake", "mbcli", 1))
            if own is not None and own.origin is not None:
                return ModuleSpec(name, self, is_package=own.submodule_search_locations is not None)
        if name.startswith("pydrake.") and name.rpartition(".")[2].startswith("_"):
            return ModuleSpec(name, self)
        return None

    def create_module(self, spec: ModuleSpec) -> types.ModuleType:
        from mbcli.pydrake_names import Missing

        module = types.ModuleType(spec.name)
        if spec.name.startswith(UTILITIES):
            own = vars(importlib.import_module(spec.name.replace("pydrake", "mbcli", 1)))
            module.__dict__.update({name: value for name, value in own.items() if not name.startswith("__")})
            module.__getattr__ = private_part  # type: ignore[method-assign]
        else:
            module.__getattr__ = lambda name: Missing(f"{spec.name}.{name}", (), {})  # type: ignore[method-assign]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def private_part(name: str) -> Any:
    if not name.startswith("_") or name.startswith("__"):
        raise AttributeError(name)
    return Absorbed()


def casts() -> types.ModuleType:
    """What pydrake's bindings make of numbers that are passed to a function of AutoDiffXd."""
    import numpy as np
    from pydrake.autodiffutils import AutoDiffXd

    def scalar(x: Any) -> AutoDiffXd:
        return x if isinstance(x, AutoDiffXd) else AutoDiffXd(x)

    def vector(x: Any) -> Any:
        return np.array([scalar(each) for each in np.ravel(np.asarray(x, dtype=object))])

    module = types.ModuleType(CASTS)
    module.autodiff_scalar_pass_through = scalar  # type: ignore[attr-defined]
    module.autodiff_vector_pass_through = module.autodiff_vector3_pass_through = vector  # type: ignore[attr-defined]
    return module


def use_mbcli() -> None:
    """Tests run under mbcli; a private name that it lacks fails where it is used, not for all tests of a file."""
    from mbcli.pydrake import use_mbcli_for_pydrake
    from mbcli.pydrake_names import AliasModule, Missing

    use_mbcli_for_pydrake()
    sys.meta_path.insert(0, OfMbcli())
    public = AliasModule.__getattr__

    def found(module: AliasModule, name: str) -> Any:
        try:
            return public(module, name)
        except AttributeError:
            if not name.startswith("_") or name.startswith("__"):
                raise
            return Missing(f"{module.__name__}.{name}", (), {})

    AliasModule.__getattr__ = found  # type: ignore[method-assign]


def find_in_sources(root: Path) -> None:
    """Files that tests of pydrake ask for are those of the sources where these have them, else those of the package."""
    import pydrake.common

    of_package = pydrake.common.FindResourceOrThrow

    def found(path: str) -> str:
        return str(root / path) if (root / path).is_file() else of_package(path)

    pydrake.common.FindResourceOrThrow = found


def tests_in(module: types.ModuleType) -> Any:
    """(name, test) of all; one that runs for several types is named by its place, as types are not named alike."""
    for suite in unittest.defaultTestLoader.loadTestsFromModule(module):
        cases = sorted(suite, key=lambda test: list(vars(type(test))).index(test._testMethodName))
        for place, test in enumerate(cases):
            name = test.id().partition(".")[2]
            yield (f"{name.partition('_class_')[0]}_{place}" if "_class_" in name else name), test


def run_here(path: Path, bindings: Path, under: str) -> None:
    """Runs the tests of a file; prints [name, last line of what it failed with] as JSON, a line each."""
    sys.meta_path.append(OfTheSources(bindings))
    if under == "mbcli":
        use_mbcli()
        from mbcli.pydrake import _Script
    else:
        find_in_sources(bindings.parents[2])
    sys.modules[CASTS] = casts()
    name = f"tests_of_{path.stem}"
    module = types.ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    if under == "mbcli":
        _Script(name, str(path)).exec_module(module)
    else:
        exec(compile(path.read_text(), path, "exec"), module.__dict__)
    for name, test in tests_in(module):
        result = unittest.TestResult()
        test.run(result)
        bad = [*result.failures, *result.errors]
        line = bad[0][1].rstrip().splitlines()[-1][:200] if bad else SKIPPED if result.skipped else PASSED
        print("\n" + json.dumps([name, line]), flush=True)


def run(file: str, options: Any, under: str) -> dict[str, str]:
    """{test: why it failed} of a file in a process of its own; what ends it as a whole stands under ""."""
    words = [sys.executable, "-m", "benchmarks.pydrake_tests", str(options.drake), file, "--under", under]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=TIME)
        text, errors = done.stdout, done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        text, errors = (error.stdout or b"").decode(), f"takes more than {TIME} s"
    results = dict(json.loads(line) for line in text.splitlines() if line.startswith('["'))
    return results | ({"": errors.rstrip().splitlines()[-1][:200]} if errors else {})


def compare(file: str, options: Any) -> dict[str, str]:
    """{test that passes under pydrake: why it does not under mbcli}; prints a line for each that does not."""
    wanted = {name for name, why in run(file, options, "pydrake").items() if why == PASSED}
    if not wanted:
        return {}
    ours = run(file, options, "mbcli")
    rest = ours.get("", "was not reached")
    found = {name: ours.get(name, rest) for name in sorted(wanted)}
    for name, why in found.items():
        if why != PASSED:
            print(f"  {name}: {why[:160]}", flush=True)
    print(f"{file}: {sum(why == PASSED for why in found.values())} of {len(found)}", flush=True)
    return found


def main() -> None:
    """Prints a line for each test that fails, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("drake", type=Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--under", choices=("pydrake", "mbcli"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.drake = options.drake.resolve()
    bindings = options.drake / "bindings/pydrake"
    if not bindings.is_dir():
        parser.error(f"{options.drake} has no bindings/pydrake")
    if options.under:
        run_here(bindings / options.files[0], bindings, options.under)
        return
    if options.drake.name != "drake":
        parser.error(f"{options.drake}: tests find models in a folder that is named drake")
    with TemporaryDirectory() as folder:
        os.environ |= {
            "DRAKE_RESOURCE_ROOT": str(options.drake.parent),
            "DRAKE_NUM_THREADS": "2",
            "TEST_TMPDIR": folder,
        }
        if options.models is not None:
            keep_models(options.models.resolve(), Path(folder))
        run_all(options, bindings)


def keep_models(models: Path, folder: Path) -> None:
    """Has pydrake take the package `drake_models` for one that it has downloaded, and mbcli find it."""
    os.environ["MBCLI_PACKAGE_PATH"] = str(models)
    package = Path(importlib.util.find_spec("pydrake").origin).parent  # type: ignore[union-attr,arg-type]
    about = json.loads((package / "share/drake/multibody/parsing/drake_models.json").read_text())
    prefix = hashlib.sha256(about["strip_prefix"].encode()).hexdigest()
    kept = folder / f".cache/drake/package_map/{about['sha256']}-{prefix}"
    kept.parent.mkdir(parents=True)
    kept.symlink_to(models / "drake_models")


def run_all(options: Any, bindings: Path) -> None:
    names = sorted(str(path.relative_to(bindings)) for path in bindings.rglob("test/*_test.py"))
    files = options.files or [name for name in names if not any(each in name for each in (*OF_BUILDS, *PAGES))]
    found = {file: compare(file, options) for file in files}
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    ends = Counter(
        "pass" if why == PASSED else "refused by decision" if REFUSED in why else "fail"
        for tests in found.values()
        for why in tests.values()
    )
    print(f"of {ends.total()} tests that pass under pydrake: {', '.join(f'{n} {end}' for end, n in ends.items())}")


if __name__ == "__main__":
    main()
