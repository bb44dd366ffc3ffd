"""Machine code that is kept on this machine: found without numba, made anew after an edit or damage, by one process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mbcli.engine

ENGINE = Path(mbcli.engine.__file__).parent
PROGRAM = """
import sys
import numpy as np
from mbcli.engine import load_kernels
from mbcli.engine.runtime.kernel_cache import is_compiled
kernels = load_kernels(True, "plain")
read = kernels.read_number_rows_of_test
known = is_compiled(read)
out = np.zeros(3)
read(2.0, np.ones(3), out)
print(*out, int(known), int("numba" in sys.modules))
"""
KERNEL = """

@entry
def read_number_rows_of_test(scale: Real, given: Vector, out: OutVector):
    for k in range(len(given)):
        out[k] = sin(0.0) + scale * given[k]
"""


@pytest.fixture
def engine_copy(tmp_path):
    """A copy of the engine with a kernel of its own; (folder of the cache, file of the kernel, to start a program)."""
    package = tmp_path / "mbcli"
    shutil.copytree(ENGINE, package / "engine", ignore=shutil.ignore_patterns("__pycache__", "precompiled"))
    for name in ("common", "errors.py", "numbered_enum.py"):
        source = ENGINE.parent / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, package / name)
    (package / "__init__.py").touch()
    source = package / "engine" / "text" / "number_rows.py"
    text = source.read_text(encoding="utf-8")
    imports = "from mbcli.engine.runtime.kernel import OutVector, Real, Vector, entry\nfrom math import sin\n"
    source.write_text(text + "\n" + imports + KERNEL, encoding="utf-8")
    cache = tmp_path / "cache"
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "MBCLI_CACHE_DIR": str(cache), "MBCLI_JIT": "1"}

    def start(program=PROGRAM):
        command = [sys.executable, "-c", program]
        return subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)

    return cache, source, start


def result(process):
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return [float(number) for number in out.split()]


def test_the_second_process_needs_no_numba_and_an_edit_is_seen(engine_copy):
    cache, source, start = engine_copy
    assert result(start()) == [2.0, 2.0, 2.0, 0, 1]
    assert result(start()) == [2.0, 2.0, 2.0, 1, 0]
    (code,) = cache.glob("*/*.code")
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("+ scale * given", "+ 10.0 * scale * given"), encoding="utf-8")
    assert result(start()) == [20.0, 20.0, 20.0, 0, 1]
    source.write_text("# moved\n" + text, encoding="utf-8")
    assert result(start()) == [2.0, 2.0, 2.0, 1, 1]  # the code is found by its key, which takes numba once
    assert result(start()) == [2.0, 2.0, 2.0, 1, 0]
    assert code in cache.glob("*/*.code")
    assert len(list(cache.glob("*/*.code"))) == 2


def test_another_type_of_an_argument_is_another_kernel(engine_copy):
    """What an array may be is no part of the code of a kernel, and still of its machine code."""
    _, source, start = engine_copy
    program = PROGRAM.replace(
        "out = np.zeros(3)", "out = np.zeros(3); given = np.ones(3); given.flags.writeable = False"
    )
    program = program.replace("np.ones(3), out", "given, out")
    assert result(start(program))[:3] == [2.0, 2.0, 2.0]
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("given: Vector", "given: OutVector"), encoding="utf-8")
    assert start(program).wait(300) == 1  # TypeError: it is read-only


def test_two_processes_make_the_code_once_and_leave_no_lock(engine_copy):
    cache, _, start = engine_copy
    both = [start(), start()]
    assert [result(process)[:3] for process in both] == [[2.0, 2.0, 2.0]] * 2
    assert len(list(cache.glob("*/*.code"))) == 1
    assert not list(cache.glob("*/*.lock"))


@pytest.mark.parametrize("suffix", ["code", "told"])
@pytest.mark.parametrize("damage", ["a bit", "cut", "others may write"])
def test_what_is_not_as_it_was_kept_is_made_again(engine_copy, suffix, damage):
    cache, _, start = engine_copy
    assert result(start())[:3] == [2.0, 2.0, 2.0]
    (path,) = cache.glob(f"*/*.{suffix}")
    content = bytearray(path.read_bytes())
    if damage == "a bit":
        content[len(content) // 2] ^= 4
    path.write_bytes(content[: len(content) // 2] if damage == "cut" else content)
    path.chmod(0o666 if damage == "others may write" else 0o600)
    assert result(start())[:3] == [2.0, 2.0, 2.0]
    assert result(start()) == [2.0, 2.0, 2.0, 1, 0]


def test_code_that_needs_what_the_process_has_not_is_not_loaded(engine_copy):
    """LLVM would end the process."""
    cache, _, start = engine_copy
    assert result(start())[:3] == [2.0, 2.0, 2.0]
    (path,) = cache.glob("*/*.code")
    head, _, code = path.read_bytes()[53:].partition(b"\n")  # behind the sum
    content = json.dumps([*json.loads(head), "mbcli_name_of_nothing"]).encode() + b"\n" + code
    keep = f"from mbcli.common.kept_files import keep; from pathlib import Path\nkeep(Path({str(path)!r}), {content!r})"
    assert start(keep).wait(60) == 0
    assert result(start()) == [2.0, 2.0, 2.0, 1, 1]
    assert result(start()) == [2.0, 2.0, 2.0, 1, 0]
