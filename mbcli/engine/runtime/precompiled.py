"""Kernels that a wheel carries as machine code, one library for each kind of processor; numba is not imported.

engine/precompile.py makes them. They are used on Linux on x86-64 if the sources of the engine are those that they were
made of, unless MBCLI_PRECOMPILED=0. What a library does not have is compiled on the machine, and so is all if the index
or the library has not the sum that it was built with. They are code as the sources beside them: who may write those is
trusted, and nobody else.
"""

import ctypes
import functools
import json
import os
import platform
import stat
import sys
from pathlib import Path

from mbcli.common import kept_files
from mbcli.engine.runtime.native_functions import OBJECTS, layout_is_known, new_function, new_method

ENGINE = Path(__file__).parents[1]
FOLDER = ENGINE / "precompiled"
INDEX = "kernels.json"
# levels of x86-64, the best first, with the names that Linux gives to what each adds
LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
}


def precompiled_kernels(kind, compile_kernels):
    """Kernels of a kind by name; None if there are none for this machine.

    kind: some of KINDS, joined by hyphens, in any order.
    compile_kernels: () -> all kernels of the kind by name, asked for when one is not precompiled.
    """
    library = precompiled_library()
    symbols = None if library is None else library.kinds.get(normal_kind(kind))
    return None if symbols is None else PrecompiledKernels(library, symbols, compile_kernels)


def normal_kind(kind):
    """The name of a set of kinds."""
    return "-".join(sorted(kind.split("-")))


class PrecompiledKernels:
    """Kernels by name: as functions of Python, or as PrecompiledAddress those that other kernels call."""

    def __init__(self, library, symbols, compile_kernels):
        self._library, self._symbols, self._compile = library, symbols, compile_kernels

    def __getattr__(self, name):
        symbol = self._symbols.get(name)
        if symbol is None:
            found = getattr(self._compile(), name)
        elif symbol in self._library.handles:
            found = self._library.function(name, symbol, ())
        else:
            found = PrecompiledAddress(self._library.address(symbol))
        setattr(self, name, found)
        return found

    def bound(self, name, handles, owners=None):
        """A kernel as a function of what comes after the handles, of owners; None if it is not precompiled."""
        symbol = self._symbols.get(name)
        if symbol is None or self._library.handles.get(symbol) != len(handles):
            return None
        return self._library.function(name, symbol, handles, owners)


class PrecompiledAddress:
    """A kernel that other kernels call by address."""

    def __init__(self, address):
        self.address = address


class Library:
    """Machine code of kernels.

    Args:
        path: of the shared library.
        index: the contents of its index.
    """

    def __init__(self, path, index):
        self.path, self.kinds, self.handles = path, index["kinds"], index["handles"]
        self._library, self._methods = ctypes.CDLL(path), {}
        for name, thing in OBJECTS.items():
            ctypes.c_int64.in_dll(self._library, name).value = id(thing)

    def address(self, symbol):
        return ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value

    def function(self, name, symbol, handles, owners=None):
        """A kernel as a function of Python of what comes after the handles."""
        symbol += "_bound" if handles else "_free"
        method = self._methods.get(symbol)
        if method is None:
            method = self._methods[symbol] = new_method(name, self.address(symbol))
        return new_function(method, handles, owners)


@functools.cache
def precompiled_library():
    """The Library for this machine, or None."""
    if os.environ.get("MBCLI_PRECOMPILED") == "0" or not (FOLDER / INDEX).exists() or not layout_is_known():
        return None
    index = read_index(FOLDER)
    level = None if index is None else next((each for each in index["levels"] if each in levels_of_processor()), None)
    if index is None or level is None or index["sources"] != hash_of_sources():
        return None
    path = FOLDER / f"kernels-{level}.so"
    try:
        with open(path, "rb", buffering=0) as file:
            if not _is_trusted(file) or sum_of(file.readall()) != index["sums"][level]:
                return None
        return Library(os.fspath(path), index)
    except (OSError, AttributeError, ValueError, KeyError):  # of another machine, or of another C library
        return None


def write_index(folder, index):
    """Writes the index of the libraries in a folder, with their sums and its own."""
    sums = {level: sum_of((Path(folder) / f"kernels-{level}.so").read_bytes()) for level in index["levels"]}
    text = json.dumps(index | {"sums": sums})
    (Path(folder) / INDEX).write_text(f"{sum_of(text.encode())}\n{text}")


def read_index(folder):
    """The index of the libraries in a folder; None if it is not as it was written, or others may have written it."""
    try:
        with open(Path(folder) / INDEX, "rb", buffering=0) as file:
            own, _, text = file.readall().partition(b"\n")
            return json.loads(text) if _is_trusted(file) and own == sum_of(text).encode() else None
    except OSError:
        return None


def sum_of(content):
    import hashlib  # late, as below

    return hashlib.sha256(content).hexdigest()


def _is_trusted(file):
    """Whether nobody may write a file who may not write this module; tells of one that others may."""
    status, own = os.fstat(file.fileno()), os.stat(__file__)
    if not hasattr(os, "geteuid"):
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    trusted = status.st_uid in (own.st_uid, os.geteuid(), 0) and not status.st_mode & others & ~own.st_mode
    if not trusted:
        kept_files.tell(f"{file.name} can be written by others than {__file__}: kernels are compiled here instead")
    return trusted


def hash_of_sources():
    """Of all sources of the engine."""
    import hashlib  # late: OpenSSL, and many commands interpret the few kernels that they call

    digest = hashlib.sha256()
    for folder, folders, files in os.walk(ENGINE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(name for name in files if name.endswith(".py")):
            path = os.path.join(folder, name)
            digest.update(os.path.relpath(path, ENGINE).encode() + b"\0")
            with open(path, "rb", buffering=0) as file:  # read whole, at each start
                digest.update(file.readall())
    return digest.hexdigest()


def levels_of_processor():
    """Those of LEVELS that this processor has, the best first."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return []
    try:
        with open("/proc/cpuinfo") as file:
            flags = set(next((line for line in file if line.startswith("flags")), "").split())
    except OSError:
        return []
    has_v3 = flags >= LEVELS["x86-64-v3"]
    return [level for level, names in LEVELS.items() if has_v3 and flags >= names]
