"""One place starts processes, one gives files their names: no folder of a user decides what runs or is overwritten."""

import ast

import pytest
from repository import ROOT

PLACE = "mbcli/common/child_processes.py"
BEFORE_IT_IS_BUILT = {"setup.py"}  # nothing of the package can be imported there yet
MODULES = {"subprocess", "multiprocessing", "pty", "popen2", "asyncio.subprocess", "_posixsubprocess", "joblib"}
NAMES = {
    "os": {"system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "shutil": {"which"},  # it looks into the working folder where PATH has an empty entry
}
STARTS = ("exec", "spawn")  # of functions of os

WRITES = {
    "mbcli/__main__.py": "the null device, for streams that are closed",
    "mbcli/common/engine_process.py": "a copy of stdout",
    "mbcli/common/file_locks.py": "files of locks in the cache",
    "mbcli/common/output_files.py": "the place",
    "mbcli/common/yaml.py": "pydrake's yaml_dump() to a file that the script names",
    "mbcli/comparison/peer_bullet.py": "in a folder of its own",
    "mbcli/conversion/mujoco_proof.py": "in a folder of its own",
    "mbcli/conversion/newton_proof.py": "in a folder of its own",
    "mbcli/engine/precompile.py": "a wheel that is built",
    "mbcli/log/opened_file.py": "room on the disk, for a name that replacing() has given",
    "mbcli/log/worlds_writer.py": "OUT.partial, exclusively",
    "mbcli/log/write_lock.py": "the lock of OUT.partial, whose bytes stay",
    "mbcli/log/writer.py": "OUT.partial, exclusively",
    "mbcli/pictures/images.py": "in a folder of its own",
    "mbcli/solvers/solve.py": "behind a file that the script names",
    "mbcli/sweeps/journal.py": "behind the journal that it has put there",
    "mbcli/sweeps/result_table.py": "a table row by row, under a name that replacing() has given",
    "mbcli/sweeps/stores.py": "in a folder of its own",
    "mbcli/sweeps/worker.py": "a copy of stdout",
    "parsers/usd/read_usd.py": "in a folder of its own",
    "parsers/usd/usd_encoding.py": "in a folder of its own",
    "parsers/usd/usd_process.py": "a copy of stdout",
    "mbcli/batch/result_outputs.py": "pipes and devices",
    "mbcli/cli/output.py": "pipes and devices",
    "mbcli/log/export.py": "pipes and devices",
}
MODES = ("w", "x", "a", "+")


def sources():
    for folder in ("mbcli", "parsers"):
        yield from (ROOT / folder).rglob("*.py")
    yield ROOT / "setup.py"


def starts_of(tree):
    """What a file has that starts processes, as (line, name)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module in MODULES or node.module.partition(".")[0] in MODULES:
                yield node.lineno, node.module
            for alias in node.names:
                if _starts(node.module, alias.name):
                    yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if _starts(node.value.id, node.attr):
                yield node.lineno, f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and any(
            isinstance(argument, ast.Constant) and argument.value in MODULES for argument in node.args[:1]
        ):
            yield node.lineno, f"import of {node.args[0].value}"


def _starts(module, name):
    return name in NAMES.get(module, ()) or (module == "os" and name.startswith(STARTS))


def test_processes_are_started_in_one_place_alone():
    found = {}
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        starts = list(starts_of(ast.parse(path.read_text(encoding="utf-8"))))
        if starts and name not in {PLACE, *BEFORE_IT_IS_BUILT}:
            found[name] = starts
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from subprocess import run",
        "import multiprocessing",
        "from multiprocessing.pool import Pool",
        "import os\nos.execv('a', [])",
        "from os import spawnlp",
        "import os\nos.system('a')",
        "from concurrent.futures import ProcessPoolExecutor",
        "import shutil\nshutil.which('dot')",
        "__import__('subprocess')",
        "import pty",
    ],
)
def test_the_search_for_processes_finds_each_way(text):
    assert list(starts_of(ast.parse(text)))


def test_what_setup_starts_has_no_working_folder_among_its_modules():
    text = (ROOT / "setup.py").read_text()
    assert text.count("subprocess.run(") == 1
    assert '[sys.executable, "-P", "-m"' in text
    assert "filter(os.path.isabs" in text


def writes_of(tree):
    """Calls that make or open a file for writing, as (line, mode)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in ("mkstemp", "NamedTemporaryFile") and any(key.arg == "dir" for key in node.keywords):
            yield node.lineno, name
        if name != "open" or (isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") != "os"):
            continue
        mode = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
        if isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) & set(MODES):
            yield node.lineno, mode.value
        elif isinstance(mode, (ast.BinOp, ast.Attribute, ast.Name)) and "O_CREAT" in ast.unparse(mode):
            yield node.lineno, "O_CREAT"


def test_files_are_written_by_one_function_but_for_those_that_are_listed():
    found = set()
    for path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        opened_by_it = {
            item.context_expr.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.With)
            for item in node.items
            if any("replacing(" in ast.unparse(other.context_expr) for other in node.items)
        }
        if any(line not in opened_by_it for line, _ in writes_of(tree)):
            found.add(path.relative_to(ROOT).as_posix())
    assert found <= set(WRITES), found - set(WRITES)
