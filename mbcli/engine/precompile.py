"""`python -m mbcli.engine.precompile [--here] FOLDER`: compiles all kernels that Python asks for into libraries.

For a wheel: a library for each level of processors (runtime/precompiled.py), made by a process of its own, and an
index; `--here` makes that of this processor alone, for a program that runs where it is built. Needs numba, a C compiler
as linker (CC, or cc), and Linux on x86-64. numba's intermediate code of all kernels of all kinds is put into one
module, so that what they share is there once.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path

from mbcli.common import child_processes
from mbcli.common.left_behind import folder_prefix
from mbcli.engine.runtime.kernel import ALONE, ALWAYS, INTERPRETED, KINDS
from mbcli.engine.runtime.precompiled import (
    FOLDER,
    INDEX,
    LEVELS,
    hash_of_sources,
    levels_of_processor,
    normal_kind,
    read_index,
    write_index,
)

PREFIX = "mbcli_"  # of the names that a library exports


def combinations_of_kinds():
    """The kinds that kernels are compiled for, alone and together."""
    together = [kind for kind in KINDS if kind not in INTERPRETED | ALONE | {ALWAYS}]
    sets = [c for n in range(len(together) + 1) for c in combinations(together, n)]
    sets = [c for c in sets if "sleep" not in c or "contact" in c]
    return [normal_kind("-".join(c)) for c in sets] + sorted(ALONE)


def why_not():
    """Why kernels cannot be compiled here for a wheel; None if they can."""
    if not levels_of_processor():
        return "kernels are compiled for Linux on x86-64 with AVX2"
    if child_processes.find_program(linker()) is None:
        return f"there is no C compiler '{linker()}' to link them"
    try:
        import numba  # noqa: F401
    except ImportError:
        return "numba is not installed"
    return None


def linker():
    return os.environ.get("CC") or "cc"


def build(folder, levels):
    """Makes the libraries of some of LEVELS and their index in a folder, by as many processes as there are levels.

    Those that this checkout has itself, of its sources as they are, are copied.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    index = read_index(FOLDER) if folder.resolve() != FOLDER.resolve() else None
    if index is not None and index["levels"] == list(levels) and index["sources"] == hash_of_sources():
        for name in (INDEX, *(f"kernels-{level}.so" for level in levels)):
            shutil.copy(FOLDER / name, folder / name)
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        indices = list(pool.map(partial(_build_elsewhere, folder), levels))
    write_index(folder, {"sources": hash_of_sources(), "levels": list(levels), **indices[0]})


def _build_elsewhere(folder, level):
    """Makes the library of a level by a process that takes that level for its processor; returns its index."""
    settings = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "NUMBA_OPT": "3", "MBCLI_PRECOMPILED": "0"}
    folder = os.path.abspath(folder)
    command = child_processes.python("-m", "mbcli.engine.precompile", "--level", level, folder)
    done = child_processes.run(command, variables=settings, stdout=child_processes.PIPE, check=True)
    return json.loads(done.stdout)


# ------------------------------------------------------------------------------ in the process of one level


def build_level(folder, level):
    """Makes the library of a level in this process, to which NUMBA_CPU_NAME is that level; returns its index."""
    from llvmlite import binding

    start = time.monotonic()
    kernels = LoweredForALibrary()
    kinds = {kind: kernels.symbols_of(kind) for kind in combinations_of_kinds()}
    _say(f"{level}: {len(kernels.handles)} kernels lowered in {time.monotonic() - start:.0f} s")
    module = kernels.library.optimize()
    _say(f"{level}: optimized after {time.monotonic() - start:.0f} s")
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=level, opt=3, reloc="pic", codemodel="small"
    )
    path = Path(folder) / f"kernels-{level}.so"
    with tempfile.TemporaryDirectory(prefix=folder_prefix("precompile")) as work:
        objects, exported = Path(work, "kernels.o"), Path(work, "exported")
        objects.write_bytes(machine.emit_object(module))
        exported.write_text(f"{{ global: {PREFIX}*; local: *; }};")
        options = [
            "-shared",
            "-fPIC",
            "-s",
            "-Wl,-z,now",
            "-Wl,-z,noexecstack",
            f"-Wl,--version-script={exported}",
        ]
        child_processes.run([linker(), *options, "-o", os.path.abspath(path), objects, "-lm"], check=True)
    _say(f"{level}: {path.stat().st_size / 1e6:.1f} MB after {time.monotonic() - start:.0f} s")
    handles = {symbol: count for symbol, count in kernels.handles.items() if count is not None}
    return {"kinds": kinds, "handles": handles}


class LoweredForALibrary:
    """One program with the kernels that were asked for.

    Attributes:
        library: the program, in LLVM's language.
        handles: {name of a kernel in it: how many handles it takes; None if kernels call it by address}
    """

    def __init__(self):
        from llvmlite import binding

        from mbcli.engine.runtime.native_functions import OBJECTS
        from mbcli.engine.runtime.native_programs import new_library

        self.library = new_library("kernels")
        self.library.add_llvm_module(binding.parse_assembly("\n".join(f"@{name} = global i64 0" for name in OBJECTS)))
        self.handles, self._inner = {}, {}

    def symbols_of(self, kind):
        """{name: name in the module} of the kernels of some kinds; adds those that are not yet there."""
        from mbcli.engine.runtime.linking import link_compiled
        from mbcli.engine.runtime.native_programs import add_native, natives_of

        kernels, symbols = link_compiled(set(kind.split("-")) - {""}, self._inner), {}
        for name, (types, handles) in natives_of(kind).items():
            twin, key = kernels.source(name)
            symbol = symbols[name] = f"{PREFIX}{name}_{key()}"
            if symbol not in self.handles:
                add_native(self.library, symbol, twin, kind, types, handles)
                self.handles[symbol] = handles
        return symbols


def _say(line):
    print(f"mbcli: {line}", file=sys.stderr, flush=True)


def main(arguments):
    if arguments[:1] == ["--level"]:
        print(json.dumps(build_level(arguments[2], arguments[1])))
        return
    reason = why_not()
    if arguments == ["--why-not"]:
        print(reason or "")
        return
    if reason:
        sys.exit(f"mbcli: error: {reason}")
    build(arguments[-1], levels_of_processor()[:1] if arguments[0] == "--here" else LEVELS)


if __name__ == "__main__":
    main(sys.argv[1:])
