"""Kernels that are compiled on this machine, once: their machine code is kept, and loaded without numba.

A kernel's file is named by a hash over its key (kernel_cache.py), the types of its arguments and the processor, so that
an edit compiles only what it reaches. Keys take numba and all sources of kernels; so a second, small file, which is
named by a hash over all sources of the engine, tells a run of the same sources which file a kernel has. Both are read
only if they are whole and nobody else may have written them (common/kept_files.py). Who compiles a kernel holds a lock,
so that another process waits for the result and loads it.
"""

import ctypes
import functools
import hashlib
import itertools
import json
import os
import threading
from contextlib import suppress

from mbcli.common import kept_files
from mbcli.common.file_locks import wait_for_lock
from mbcli.engine.runtime.kernel import ALONE
from mbcli.engine.runtime.kernel_cache import cache_directory
from mbcli.engine.runtime.native_functions import OBJECTS, layout_is_known, new_function, new_method
from mbcli.engine.runtime.precompiled import PrecompiledKernels, hash_of_sources

SETTINGS = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT")  # that change what numba makes of a kernel


def kept_kernels(kind, compile_kernels):
    """Kernels of a kind by name; None if machine code cannot read what this numpy and Python have in memory.

    kind, compile_kernels: as of precompiled_kernels().
    """
    return KeptKernels(kind, compile_kernels) if layout_is_known() else None


class KeptKernels(PrecompiledKernels):
    """Kernels by name, loaded or compiled when they are first needed."""

    def __init__(self, kind, compile_kernels):
        self._kind, self._compile, self._natives = kind, compile_kernels, {}

    def __getattr__(self, name):
        native = self._native(name)
        found = self._general(name) if native is None else native
        setattr(self, name, found)
        return found

    def bound(self, name, handles, owners=None):
        native = self._native(name)
        return None if native is None or native.handles != len(handles) else native.function(handles, owners)

    def source(self, name):
        """The function that a kernel is compiled from, and () -> its key."""
        return self._compile().source(name)

    def _native(self, name):
        """The NativeKernel of a name; None if Python does not ask for it with the types that it is annotated with."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._natives:
            symbol, handles = self._told(name) or self._named(name)
            source = functools.partial(self._source, name)
            general = functools.partial(self._general, name)
            self._natives[name] = NativeKernel(name, symbol, handles, source, general) if symbol else None
        return self._natives[name]

    def _general(self, name):
        return getattr(self._compile(), name)

    def _told(self, name):
        """The symbol of a kernel and how many handles it takes, as an earlier run of the same sources found them."""
        path = self._index(name)
        held = None if path is None or not kept_files.ready_to_read(path.parent) else kept_files.read_kept(path)
        return None if held is None else json.loads(held)

    def _named(self, name):
        """The same, found; None for both if it is not a native one."""
        from mbcli.engine.runtime.native_programs import CALLED_TYPES, is_unlocked, natives_of, written_arguments

        twin, key = self.source(name)
        types, handles = natives_of(self._kind).get(name, (None, None))
        symbol, path = None, self._index(name)
        if types is not None:
            written = () if types is CALLED_TYPES else written_arguments(twin)
            parts = (key(), types, handles, written, is_unlocked(twin), self._kind in ALONE, processor())
            symbol = f"{twin.__module__.removeprefix('mbcli.engine.')}.{name}-{_hash_of(repr(parts))}"
        if path is not None:
            kept_files.keep(path, json.dumps([symbol, handles]).encode())
        return symbol, handles

    def _source(self, name):
        """What machine_code() makes a kernel from."""
        from mbcli.engine.runtime.native_programs import natives_of

        twin, _ = self.source(name)
        return twin, self._kind, natives_of(self._kind)[name][0]

    def _index(self, name):
        folder = cache_directory()
        return None if folder is None else folder / f"{self._kind or 'whole'}.{name}-{_hash_of_all()}.told"


class NativeKernel:
    """A kernel that is loaded, or else compiled, when it is needed; called from Python, it takes handles first.

    Args:
        name: of the kernel.
        symbol: of its machine code, and of its file.
        handles: how many of its arguments are; None if kernels call it by address.
        source: () -> what it is made from, as machine_code() takes it.
        general: () -> the kernel as numba compiles it, for structs of any numbers, and for kernels without handles.
    """

    def __init__(self, name, symbol, handles, source, general):
        self.__name__, self.handles = name, handles
        self._symbol, self._source, self._general = symbol, source, general
        self._code = self._free = None

    def __call__(self, *arguments):
        if self.handles is None or (self.handles and type(arguments[0]) is not int):
            return self._general()(*arguments)
        if self._free is None:
            self._free = self.function(())
        return self._free(*arguments)

    @property
    def path(self):
        """Its file; None without a cache."""
        folder = cache_directory()
        return None if folder is None else folder / f"{self._symbol}.code"

    @property
    def address(self):
        return self._loaded()[""]

    def function(self, handles, owners=None):
        """A function of Python of what comes after the handles."""
        place = "_bound" if handles else "_free"
        return new_function(self._loaded()[place], handles, owners)

    def is_kept(self):
        """Whether it needs no compiler."""
        path = self.path
        return self._code is not None or (path is not None and kept_files.ready_to_read(path.parent) and path.exists())

    def load(self):
        """Whether it is loaded, now or before: it is if it is kept."""
        if self._code is not None:
            return True
        path = self.path
        held = None if path is None or not kept_files.ready_to_read(path.parent) else kept_files.read_kept(path)
        if held is None:
            return False
        head, _, code = held.partition(b"\n")
        return self._take(code, json.loads(head))

    def _take(self, code, needed):
        addresses = load_code(self._symbol, code, needed, ("",) if self.handles is None else ("_free", "_bound"))
        if addresses is None:
            return False
        if self.handles is not None:
            addresses = {end: new_method(self.__name__, address) for end, address in addresses.items()}
        self._code = addresses
        return True

    def keep(self, code, needed):
        """Takes an object file, which needs these names, for this process and later ones."""
        if self.path is not None:
            kept_files.keep(self.path, json.dumps(needed).encode() + b"\n" + code)
        if not self._take(code, needed):
            raise RuntimeError(f"kernel {self.__name__} needs what this process has not: {', '.join(needed)}")

    def _loaded(self):
        if not self.load():
            self._compile()
        return self._code

    def _compile(self):
        path, lock = self.path, None
        if path is not None and kept_files.ready_to_keep(path.parent):
            lock = wait_for_lock(f"{path}.lock")
        try:
            if self.load():  # another process may have compiled it meanwhile
                return
            from mbcli.engine.runtime.native_programs import machine_code

            self.keep(*machine_code(self._symbol, *self._source(), self.handles))
        finally:
            if lock is not None:
                with suppress(OSError):
                    os.unlink(lock.name)  # who waits for it finds the kernel on disk
                lock.close()


_unkept = itertools.count()  # in names of functions that are not kept


def kept_function(name, key, make, fault):
    """The address of a function of five numbers of C, of users, which is compiled if it is not kept under a key.

    key: all that it is made from, in numbers and texts; None if that is not known, so that it is not kept.
    make: () -> the function of Python, which numba compiles; fault: what it gives where it raises.
    """
    symbol = f"{name}-{next(_unkept) if key is None else _hash_of(repr((key, processor())))}"
    kernel = NativeKernel(name, symbol, None, None, None)
    if key is not None and kernel.load():
        return kernel.address
    from mbcli.engine.runtime.native_programs import function_of_c

    address, made = function_of_c(symbol, make(), fault)
    if key is None or made is None:
        return address
    kernel.keep(*made)
    return kernel.address


# ------------------------------------------------------------------------------------------------- machine code


_loading = threading.Lock()
_codes = []  # object files, which LLVM does not copy


def load_code(symbol, code, needed, ends):
    """{end: address of SYMBOL + end} of an object file; None if the process lacks a name that it needs."""
    from llvmlite import binding

    with _loading:
        engine = _engine()
        if not all(map(binding.address_of_symbol, needed)):
            return None
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _codes.append(code)
        return {end: engine.get_function_address(symbol + end) for end in ends}


@functools.cache
def _engine():
    """What loads machine code and lives as long as the process."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))  # functions need it longer than modules live
    for name, address in _addresses.items():
        binding.add_symbol(name, ctypes.addressof(address))
    return engine


_addresses = {name: ctypes.c_int64(id(thing)) for name, thing in OBJECTS.items()}


# ------------------------------------------------------------------------------------------------- names


@functools.cache
def _hash_of_all():
    """Of all that a kernel is made from, here."""
    return _hash_of(repr((hash_of_sources(), processor())))


@functools.cache
def processor():
    """What numba compiles for."""
    from llvmlite import binding

    found = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    return (*found, *(os.environ.get(name) for name in SETTINGS))


def _hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]
