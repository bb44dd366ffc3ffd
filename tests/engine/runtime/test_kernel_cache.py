"""The cache of compiled kernels: what makes a kernel another one, what is compiled again, and by which process."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import mbcli.engine
from mbcli.engine.runtime import kernel_cache
from mbcli.engine.runtime.kernel import CALLERS, KERNEL_MODULES
from mbcli.engine.runtime.kernel_cache import KeyOfCode, cached_program, is_on_disk

ENGINE = Path(mbcli.engine.__file__).parent

INJECTED = """
from callee import twice
SCALE = 3.0

def thrice_twice(x):
    '''Six times x.'''
    return SCALE * twice(x)
"""
CALLEE = """
def twice(x):
    return 2.0 * x
"""


def key_of(monkeypatch, caller=INJECTED, callee=CALLEE, stand_in=None):
    modules = {}
    for name, source in (("callee", callee), ("caller", caller)):
        modules[name] = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, modules[name])
        exec(source, vars(modules[name]))
    twice, function = modules["callee"].twice, modules["caller"].thrice_twice
    return KeyOfCode({twice: stand_in or twice, function: function}).of(function)


@pytest.mark.parametrize(
    "change",
    [
        {"caller": INJECTED.replace("3.0", "4.0")},
        {"caller": INJECTED.replace("SCALE *", "SCALE +")},
        {"callee": CALLEE.replace("2.0", "2.5")},
        {"caller": INJECTED.replace("(x):", "(x, y=1):")},
    ],
)
def test_a_change_of_code_constants_or_callees_changes_the_key(monkeypatch, change):
    assert key_of(monkeypatch, **change) != key_of(monkeypatch)


def test_what_stands_in_for_a_callee_changes_the_key(monkeypatch):
    namespace = {"__name__": "callee"}
    exec(CALLEE.replace("2.0", "7.0"), namespace)
    assert key_of(monkeypatch, stand_in=namespace["twice"]) != key_of(monkeypatch)


def test_comments_docstrings_and_places_leave_the_key(monkeypatch):
    moved = "# a comment\n\n" + INJECTED.replace("Six times x.", "x, six times.")
    assert key_of(monkeypatch, caller=moved) == key_of(monkeypatch)


def test_functions_that_call_each_other_in_a_circle_have_no_key(monkeypatch):
    module = ModuleType("circle")
    monkeypatch.setitem(sys.modules, "circle", module)
    exec("def back(x):\n    return forth(x)\ndef forth(x):\n    return back(x)\n", vars(module))
    with pytest.raises(RuntimeError, match="calls itself"):
        KeyOfCode().of(module.forth)


def test_the_directory_is_named_by_the_sources_that_are_not_kernels(tmp_path, monkeypatch):
    """A changed, a new and a renamed source give a new directory; a changed kernel and an untouched copy the same."""
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path / "cache"))
    copy = tmp_path / "engine"
    shutil.copytree(ENGINE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def directory():
        kernel_cache.shared_hash.cache_clear()
        return kernel_cache.cache_directory()

    original = directory()
    assert original.parent == tmp_path / "cache"
    monkeypatch.setattr(kernel_cache, "ENGINE", copy)
    try:
        assert directory() == original
        for name in ("smooth/joints/revolute.py", "runtime/structs.py"):
            source = copy / name
            source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
            assert (directory() == original) is (name != "runtime/structs.py")
        seen = {original, directory()}
        (copy / "new.py").write_text("", encoding="utf-8")
        seen.add(directory())
        (copy / "new.py").rename(copy / "newer.py")
        seen.add(directory())
        assert len(seen) == 4
    finally:
        monkeypatch.undo()
        kernel_cache.shared_hash.cache_clear()


def test_modules_of_no_effect_are_imported_by_nothing_that_is_compiled():
    """An edit of those leaves all compiled kernels."""
    engine = "mbcli.engine."
    compiled = {*KERNEL_MODULES, "runtime.structs", "runtime.linking", "runtime.whole_programs", "queries.lanes"}
    waiting, seen = list(compiled), set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        tree = ast.parse(ENGINE.joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8"))
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        names = {node.module for node in nodes} | {
            f"{node.module}.{alias.name}" for node in nodes for alias in node.names
        }
        found = {found.removeprefix(engine) for found in names if found.startswith(engine)}
        waiting += {f for f in found if ENGINE.joinpath(*f.split(".")).with_suffix(".py").exists()} - seen
    assert {"fields.model_fields", "runtime.structs", "smooth.spatial"} < seen
    assert not seen & set(CALLERS)
    for name in CALLERS:
        assert ENGINE.joinpath(*name.split(".")).with_suffix(".py").exists()


NORMALIZED = """
from mbcli.engine import load_kernels
x = (4.0, 0.0, 0.0)
kernels = load_kernels(True)
print(kernels.normalized(x, x)[0])
kernels.dot(x, x)
if {counts}:
    print(sum(kernels.normalized.stats.cache_misses.values()))
"""


@pytest.fixture
def engine_copy(tmp_path):
    """A copy of the engine as a package, and how to start a program with it."""
    package = tmp_path / "mbcli"
    shutil.copytree(ENGINE, package / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "MBCLI_CACHE_DIR": str(tmp_path / "cache")}

    def start(program):
        return subprocess.Popen(
            [sys.executable, "-c", program], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )

    return tmp_path, start


def result(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return [float(line) for line in out.split()]


def test_an_edit_in_an_imported_kernel_is_seen_by_the_next_process_which_keeps_the_rest(engine_copy):
    """normalized calls scale of another module: numba's own cache would keep the old one (numba issue 1833).

    What it calls is within it, and has no file of its own.
    """
    folder, start = engine_copy
    program = NORMALIZED.format(counts=False)
    assert result(start(program)) == [1.0]
    compiled = set(folder.glob("cache/*/*.nbi"))
    names = {path.name.split("-")[0] for path in compiled}
    assert names == {"smooth.spatial.dot", "collision.segments.normalized"}
    source = folder / "mbcli" / "engine" / "smooth" / "spatial.py"
    text = source.read_text(encoding="utf-8")
    changed = text.replace("return (s * a[0],", "return (10.0 * s * a[0],")
    assert changed != text
    source.write_text("# moved\n" + changed, encoding="utf-8")
    assert result(start(program)) == [10.0]
    again = {path.name.split("-")[0] for path in set(folder.glob("cache/*/*.nbi")) - compiled}
    assert again == {"collision.segments.normalized"}


def test_two_processes_compile_a_kernel_once_and_leave_no_lock(engine_copy):
    """The one that comes later waits and loads; numba counts a function that was not on disk as a miss."""
    folder, start = engine_copy
    processes = [start(NORMALIZED.format(counts=True)) for _ in range(2)]
    results = [result(process) for process in processes]
    assert [value for value, _ in results] == [1.0, 1.0]
    assert sum(misses for _, misses in results) == 1
    assert not list(folder.glob("cache/*/*.lock"))


def half(x):
    return 0.5 * x


def test_with_a_numba_of_other_inner_parts_nothing_is_kept_and_this_is_said(tmp_path, monkeypatch):
    """Its own cache would unpickle what nobody has checked."""
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path / "cache"))
    said = []
    monkeypatch.setattr(kernel_cache.kept_files, "tell", said.append)
    monkeypatch.setattr(kernel_cache.kept_files, "_told", set())

    def changed():
        raise ImportError("numba has moved it")

    monkeypatch.setattr(kernel_cache, "kernel_cache_class", changed)
    assert cached_program(half)(3.0) == 1.5
    assert not (tmp_path / "cache").exists()
    assert len(said) == 1 and "numba has moved it" in said[0]


@pytest.mark.parametrize("fault", ["read-only", "full", "a file", "no home", "others may write"])
def test_a_cache_that_cannot_be_used_stops_nothing(tmp_path, monkeypatch, fault):
    folder = tmp_path / "cache"
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(folder))
    told = []
    monkeypatch.setattr(kernel_cache.kept_files, "tell", told.append)
    monkeypatch.setattr(kernel_cache.kept_files, "_told", set())
    if fault == "read-only":
        monkeypatch.setattr(os, "access", lambda *_: False)
    elif fault == "full":
        monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    elif fault == "a file":
        folder.touch()
    elif fault == "no home":
        monkeypatch.setattr(kernel_cache, "user_cache", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    else:
        kernel_cache.cache_directory().mkdir(parents=True)
        kernel_cache.cache_directory().chmod(0o777)
    kernel = cached_program(half)
    assert kernel(3.0) == 1.5
    assert not is_on_disk(kernel)
    assert kernel_cache.can_keep() is (fault == "full")
    assert not list(folder.rglob("*.nb*"))
    assert len(told) == (fault == "others may write")


PLANTED = """
import os, pickle, sys
from pathlib import Path
class Evil:
    def __reduce__(self):
        return os.system, ("touch " + sys.argv[1],)
for path in Path(os.environ["MBCLI_CACHE_DIR"]).rglob("*.nbi"):
    path.write_bytes(pickle.dumps("0.0") + pickle.dumps(Evil()))
"""


def test_a_pickle_that_is_put_into_the_cache_is_not_loaded(engine_copy, tmp_path):
    folder, start = engine_copy
    program = NORMALIZED.format(counts=False)
    assert result(start(program)) == [1.0]
    environment = os.environ | {"MBCLI_CACHE_DIR": str(folder / "cache")}
    planted = tmp_path / "planted"
    subprocess.run([sys.executable, "-c", PLANTED, planted], env=environment, check=True)
    assert result(start(program)) == [1.0]
    assert not planted.exists()


def test_importing_kernel_modules_names_every_file_of_kernels():
    """The directory's name leaves out the sources of KERNEL_MODULES: each of them exists."""
    assert all(ENGINE.joinpath(*name.split(".")).with_suffix(".py").is_file() for name in KERNEL_MODULES)
