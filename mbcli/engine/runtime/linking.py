"""Puts kernels together: which function runs in each slot, interpreted as plain Python or compiled by numba.

A kernel is a plain Python function over arrays marked `@kernel`, or `@slot` if another may run in its place
(kernel.py). `load_kernels(False)` returns the functions as they are written and never imports numba.
`load_kernels(True)` returns their compiled twins: each module's functions are copied with globals in which every kernel
is the compiled one of its kind, so that all kinds live in one process. Compiled kernels are kept on disk
(kernel_cache.py). `python -m mbcli.engine` lists the slots.
"""

import functools
import sys
from importlib import import_module
from types import FunctionType, SimpleNamespace
from typing import Any

from mbcli.common.numba_start import import_numba
from mbcli.engine.runtime.kernel import ALWAYS, DEFAULT, INJECTED, KERNEL_MODULES, KERNELS, KINDS, SLOTS

ENGINE = "mbcli.engine."


@functools.cache
def load_kernels(compiled: bool, kind: str = "") -> Any:
    """All kernels by name, as attributes of one object; compiled ones accept structs, others Python objects.

    Compiled ones also have their kind.

    kind: some of KINDS, joined by hyphens.
    """
    kinds = set(kind.split("-")) if kind else set()
    if not compiled:
        kinds.discard("plain")
        return link_interpreted(kinds) if kinds else WrittenKernels()
    from mbcli.engine.runtime.precompiled import precompiled_kernels

    kernels = precompiled_kernels(kind, lambda: kernels_made_here(kind)) or kernels_made_here(kind)
    kernels.kind = kind
    return kernels


def kernels_made_here(kind):
    """As load_kernels(True, kind), without those of a wheel."""
    from mbcli.engine.runtime.kept_kernels import kept_kernels

    return kept_kernels(kind, lambda: compiled_kernels(kind)) or compiled_kernels(kind)


@functools.cache
def compiled_kernels(kind):
    """As load_kernels(True, kind), compiled on this machine; they take structs of any numbers."""
    kernels = link_compiled(set(kind.split("-")) if kind else set())
    kernels.kind = kind
    return kernels


class WrittenKernels:
    """Kernels by name, as they are written; KERNEL_MODULES are imported until one has the name."""

    def __getattr__(self, name):
        for module in KERNEL_MODULES:
            function = getattr(import_module(ENGINE + module), name, None)
            if function in KERNELS:
                setattr(self, name, function)
                return function
        raise AttributeError(f"there is no kernel {name!r}")


def all_kernels():
    """Every kernel as it is written; imports their modules."""
    for name in KERNEL_MODULES:
        import_module(ENGINE + name)
    return KERNELS


def bodies_of(kinds, given=None):
    """{kernel: the function that runs in its place} for kinds of kernels.

    given: {slot: function} of a caller, for the slots whose filler of some of these kinds is INJECTED. ValueError if a
    kernel that is given a function is not a slot, or not for these kinds.
    """
    kernels = all_kernels()
    unknown = set(kinds) - KINDS.keys()
    if unknown:
        raise ValueError(f"not kinds of kernels: {sorted(unknown)}")
    bodies = {function: function for function in kernels}
    for kind in KINDS:
        if kind in kinds:
            for function, fillers in SLOTS.items():
                filler = fillers.get(kind, INJECTED)
                if filler is not INJECTED:
                    bodies[function] = function if filler is DEFAULT else filler_at(filler)
    for function, other in (given or {}).items():
        if INJECTED not in [fillers for kind, fillers in SLOTS.get(function, {}).items() if kind in kinds]:
            raise ValueError(f"{function.__module__}.{function.__name__} is not a slot of kind {sorted(kinds)}")
        bodies[function] = other
    return bodies


def filler_at(place):
    """The function at `room.module.function` of the engine."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(ENGINE + module), name)


def link_compiled(kinds, inner=None):
    """Compiled kernels of some kinds, by name.

    Kernels for Python and kernels for compiled ones are twins of their own: few are both.

    inner: {key: kernel as compiled ones call it}, of kinds that were linked before; shared where it is the same.
    """
    import_numba()
    from mbcli.engine.runtime import structs  # noqa: F401  (numba learns what kernels take)
    from mbcli.engine.runtime.kernel_cache import KeyOfCode
    from mbcli.engine.runtime.whole_programs import before_compiling, inner_kernel

    bodies = bodies_of({*kinds, ALWAYS})
    namespaces = {module: dict(vars(sys.modules[module])) for module in {b.__module__ for b in bodies.values()}}
    keys = KeyOfCode(bodies)
    twins = {
        function.__name__: (_twin(body, namespaces[body.__module__]), functools.partial(keys.of, body))
        for function, body in bodies.items()
    }

    def link():
        called = {}
        for function, body in bodies.items():
            kernel = None if inner is None else inner.get(keys.of(body))
            called[function] = kernel or inner_kernel(_twin(body, namespaces[body.__module__]))
            if inner is not None:
                inner[keys.of(body)] = called[function]
        for namespace in namespaces.values():
            for name, value in namespace.items():
                if isinstance(value, FunctionType) and value in called:
                    namespace[name] = called[value]

    before_compiling(link)  # what is on disk needs none of them
    return CompiledKernels(twins)


def link_interpreted(kinds, given=None, only=None):
    """Interpreted kernels of some kinds, by name; they call one another.

    given: as in bodies_of(). only: names of those that are wanted; what these call is as it is written, but for these
    and for slots.
    """
    bodies = bodies_of(kinds, given)
    wanted = [f for f in bodies if f.__name__ in only] if only else list(bodies)
    twins = {f.__name__: _twin(f, dict(vars(sys.modules[f.__module__]))) for f in wanted}
    ours = twins | {
        f.__name__: twins.get(body.__name__, body) if body in bodies else body
        for f, body in bodies.items()
        if body is not f
    }
    for twin in twins.values():
        twin.__globals__.update(ours)
    return SimpleNamespace(**(twins if only else ours))


def _twin(body, namespace):
    twin = FunctionType(body.__code__, namespace, body.__name__, body.__defaults__)
    twin.__doc__, twin.__annotations__ = body.__doc__, body.__annotations__
    return twin


class CompiledKernels:
    """Kernels by name, as Python calls them; each is made when it is first asked for."""

    def __init__(self, functions):
        self._functions = functions

    def source(self, name):
        """The function that a kernel is compiled from, and () -> its key."""
        return self._functions[name]

    def __getattr__(self, name):
        if name not in self._functions:
            raise AttributeError(f"there is no kernel {name!r}")
        from mbcli.engine.runtime.kernel_cache import cached_program

        compiled = cached_program(*self._functions[name])
        setattr(self, name, compiled)
        return compiled
