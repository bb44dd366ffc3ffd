"""Compiled functions on disk, each under a key of all code that it runs.

numba's own cache does not see an edit in an imported function (numba issue 1833). Here the key of a function is a hash
over its code, the constants that it reads and the keys of the functions that it calls, so that a stale result is
impossible and an edit compiles only the functions that it reaches. What is not a kernel (structs, lanes, numba's
extensions) and the versions involved name the directory. The key is part of the compiled name too: numba finds compiled
functions by name, and numbers equal names anew in each process.

While a process compiles a function it holds a lock, so that another process waits for the result and loads it.

The files are code: they are read only if they are whole and nobody else may have written them (common/kept_files.py),
and what cannot be read or kept is compiled again.

This is the one module that knows how numba's cache works inside. If a release of numba has changed that, nothing is
kept, and the user is told.
"""

import functools
import hashlib
import os
import pickle
import platform
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType

from mbcli.common import kept_files
from mbcli.common.file_locks import wait_for_lock
from mbcli.common.numba_start import import_numba
from mbcli.common.user_cache import user_cache

ENGINE = Path(__file__).parents[1]


def cached_program(function, key=None):
    """A kernel that Python calls, compiled with all that it calls, with its machine code on disk.

    key: () -> the key of the function, asked for when it is first compiled or loaded; None: its own code.
    """
    from mbcli.engine.runtime.whole_programs import program

    dispatcher = program(function)
    dispatcher.kernel_key = key or (lambda: KeyOfCode().of(function))
    keep_on_disk(dispatcher, function, dispatcher.kernel_key)
    return dispatcher


def cached_program_for_c(signature, kernel):
    """A compiled kernel as a function of C, with its machine code on disk."""
    from mbcli.engine.runtime.whole_programs import program_for_c

    function = program_for_c(kernel.py_func, signature)
    keep_on_disk(function, kernel.py_func, kernel.kernel_key, CALLED)
    function.compile()
    return function


def cached_njit(function):
    """A function as numba compiles it, which may own arrays, with its machine code on disk."""
    import_numba()
    import numba

    dispatcher = numba.njit(function)
    keep_on_disk(dispatcher, function, lambda: KeyOfCode().of(function))
    return dispatcher


CALLED = "-called"  # marks files of functions of C


def is_on_disk(kernel, called=False):
    """Whether a compiled kernel, or with `called` its function of C, is in the cache for some arguments."""
    folder = cache_directory()
    name = file_name(kernel.py_func, kernel.kernel_key, CALLED if called else "")
    return folder is not None and kept_files.ready_to_read(folder) and any(folder.glob(f"{name}*.nbi"))


def can_keep():
    """Whether other processes find what is compiled here."""
    folder = cache_directory()
    return folder is not None and kept_files.ready_to_keep(folder)


def is_compiled(kernel, called=False):
    """Whether the first call needs no compiler: the kernel is interpreted, or in the cache.

    called: of its function of C.
    """
    if hasattr(kernel, "is_kept"):  # kept_kernels.py
        return kernel.is_kept()
    return not hasattr(kernel, "kernel_key") or is_on_disk(kernel, called)


def file_name(function, key, suffix):
    """Name of the files of a function, without the parts that tell them apart."""
    return f"{function.__module__.removeprefix('mbcli.engine.')}.{function.__name__}-{key()}{suffix}"


def keep_on_disk(compiled, function, key, suffix=""):
    """Gives a dispatcher or a function of C its cache."""
    try:
        cache = kernel_cache_class()
    except (ImportError, AttributeError, TypeError) as error:
        kept_files.tell_once(f"no compiled kernel is kept, every run compiles: this numba's cache is unknown ({error})")
        return
    compiled._cache = cache(function, key, suffix)


@functools.cache
def kernel_cache_class():
    """The class of caches of one function; numba is not imported before it is needed."""
    from mbcli.engine.runtime.numba_parts import parts_of_caches

    CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, dumps = parts_of_caches()

    class Contents(CompileResultCacheImpl):
        """The contents of a file; numba's own but for the place."""

        def __init__(self, function):
            self._locator = Folder(function.__code__.co_filename)
            self._lineno = function.__code__.co_firstlineno

    class Folder:
        def __init__(self, py_file):
            self._py_file = py_file

        def ensure_cache_path(self):
            pass  # who keeps a file makes it

    class KeptFiles(IndexDataCacheFile):
        """An index and a file for each signature. Nothing is unpickled whose sum is not the one that was written."""

        def _load_index(self):
            content = self._read(self._index_path)
            return {} if content is None else pickle.loads(content)

        def _save_index(self, overloads):
            kept_files.keep(Path(self._index_path), dumps(overloads))

        def _load_data(self, name):
            content = self._read(self._data_path(name))
            return None if content is None else pickle.loads(content)

        def _save_data(self, name, data):
            kept_files.keep(Path(self._data_path(name)), dumps(data))

        def _read(self, path):
            folder = Path(self._cache_path)
            return kept_files.read_kept(Path(path)) if kept_files.ready_to_read(folder) else None

    class KernelCache(FunctionCache):
        """Finds a function under its key, and lets one process at a time compile it."""

        def __init__(self, function, key, suffix):
            self._name, self._py_func = repr(function), function
            self._impl = Contents(function)
            self._key, self._suffix = key, suffix
            self._locks = {}
            folder = cache_directory()
            self._cache_path = None if folder is None else str(folder)
            self._enabled = folder is not None

        @functools.cached_property
        def _cache_file(self):
            name = file_name(self._py_func, self._key, self._suffix)
            return KeptFiles(cache_path=self._cache_path, filename_base=name, source_stamp=None)

        def _index_key(self, sig, codegen):
            return sig, codegen.magic_tuple()

        def load_overload(self, sig, target_context):
            found = self._load(sig, target_context)
            if found is None and sig not in self._locks and self._enabled:
                if not kept_files.ready_to_keep(Path(self._cache_path)):
                    return None
                self._locks[sig] = wait_for_lock(os.path.join(self._cache_path, self._cache_file._index_name + ".lock"))
                found = self._load(sig, target_context)  # another process may have compiled it meanwhile
                if found is not None:
                    self._unlock(sig)
            return found

        def _load(self, sig, target_context):
            name = f"{self._py_func.__name__}_{self._key()}{self._suffix}"
            self._py_func.__qualname__ = name.replace("-", "_")  # before it is compiled
            return super().load_overload(sig, target_context)

        def save_overload(self, sig, data):
            try:
                super().save_overload(sig, data)
            finally:
                self._unlock(sig)

        def _unlock(self, sig):
            lock = self._locks.pop(sig, None)
            if lock is not None:
                with suppress(OSError):
                    os.unlink(lock.name)  # who waits for it finds the function on disk
                lock.close()

    return KernelCache


# ------------------------------------------------------------------------------------------------- keys


class KeyOfCode:
    """Keys of functions: hashes over their code and over all that it reaches.

    bodies: {kernel: the function that runs in its place} where a kernel is called. What is not a function or a number,
    as extensions of numba, is in sources that name the directory.
    """

    def __init__(self, bodies=None):
        self._bodies = bodies or {}
        self._keys = {}

    def of(self, body):
        key = self._keys.get(body)
        if key is None:
            self._keys[body] = ""  # being made
            key = self._keys[body] = self._make(body)
        elif not key:
            raise RuntimeError(f"{body.__module__}.{body.__name__} calls itself, which its key cannot tell")
        return key

    def _make(self, body):
        code, names = body.__code__, vars(sys.modules[body.__module__])
        digest = hashlib.sha256(repr((body.__module__, body.__name__, body.__defaults__)).encode())
        for part in parts_of_code(code, body.__doc__):
            digest.update(repr(part).encode())
        for name in sorted(names_in_code(code)):
            if name in names:
                digest.update(f"{name}={self._value(names[name])};".encode())
        return digest.hexdigest()[:16]

    def _value(self, value):
        """The part of the key for a global of a kernel."""
        if isinstance(value, FunctionType):
            return self.of(self._bodies.get(value, value))
        if isinstance(value, (bool, int, float, complex, str, tuple, type(None))):
            return repr(value)
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', type(value).__name__)}"


def parts_of_code(code, doc=None):
    """The instructions and constants of a code object, without names of files, numbers of lines and the docstring."""
    constants = code.co_consts[1:] if doc is not None and code.co_consts[:1] == (doc,) else code.co_consts
    yield code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount
    for constant in constants:
        if isinstance(constant, CodeType):
            yield from parts_of_code(constant)
        else:
            yield constant


def names_in_code(code):
    """Names of globals and attributes in a code object and in those within it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= names_in_code(constant)
    return names


# ------------------------------------------------------------------------------------------------- directory


def cache_directory():
    """Directory of the compiled kernels: in the cache of mbcli, with a hash for all kernels; None without a home."""
    try:
        return user_cache() / f"kernels-{shared_hash()}"
    except RuntimeError:
        return None


@functools.cache
def shared_hash():
    """The hash of the versions and of the sources that compiled kernels depend on, without kernels: these have keys."""
    import llvmlite
    import numpy

    from mbcli.engine.runtime.kernel import CALLERS, KERNEL_MODULES

    digest = hashlib.sha256()
    others = {ENGINE.joinpath(*name.split(".")).with_suffix(".py") for name in (*KERNEL_MODULES, *CALLERS)}
    for path in sorted(set(ENGINE.rglob("*.py")) - others):
        digest.update(path.relative_to(ENGINE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = (sys.version, platform.machine(), _version_of_numba(), numpy.__version__, llvmlite.__version__)
    digest.update(repr(versions).encode())
    return digest.hexdigest()[:16]


def _version_of_numba():
    """Its file of the version; the import of numba, or of what reads packages' versions, would take longer."""
    return Path(find_spec("numba").origin).with_name("_version.py").read_bytes()
