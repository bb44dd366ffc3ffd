"""Controllers that numba compiles: the loop of steps calls them by address, without Python.

from mbcli.simulation.control import compiled

@compiled(rate=1000.0, memory=1)
def controller(time, q, v, u, desired, memory):
    u[0] = -40.0 * q[0] - 4.0 * v[0] - memory[0]
    memory[0] += 0.001 * q[0]
"""

from __future__ import annotations

import math
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.numba_start import import_numba
from mbcli.engine.runtime.kept_kernels import kept_function
from mbcli.engine.runtime.kernel_cache import parts_of_code
from mbcli.errors import ControlError
from mbcli.simulation.control.run_controller import RunController

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray
    from mbcli.simulation.control.commands import Commands

SIGNATURE = "(time, q, v, u, desired, memory)"
FAULT = 1.0  # a number of u or desired is not finite


class CompiledFunction:
    """A function for numba, with its rate and the size of its memory; calling it calls the function of Python."""

    def __init__(self, function: Callable[..., None], rate: float | None, memory: int) -> None:
        self.function, self.rate, self.memory = function, rate, memory
        self.__name__ = function.__name__
        self._compiled: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *arguments: Any) -> None:
        self.function(*arguments)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_compiled": {}}

    def compiled_for(self, sizes: tuple[int, ...] | None) -> Any:
        """The address of the adapter that a loop calls for these sizes, None: numba's function.

        numba compiles numbers, arrays and functions that the function finds outside of it as constants: another one is
        another function. The adapter's machine code is kept on disk, unless it needs Python or objects of no text.
        """
        others: list[Any] = []
        key = sizes, _constants(self.function, others, set())
        if key not in self._compiled:
            if sizes is None:
                made: Any = _twin(self.function)
            else:
                make = partial(_adapter, self.function, *sizes)
                made = kept_function("controller", None if others else (key, _source()), make, FAULT)
            self._compiled[key] = made, others
        return self._compiled[key][0]


def compiled(rate: float | None = None, memory: int = 0) -> Callable[[Callable[..., None]], CompiledFunction]:
    """Marks a function f(time, q, v, u, desired, memory) as a controller that numba compiles.

    Args:
        rate: [Hz] of its calls; None: at every step of a discrete plant.
        memory: numbers that it may keep from call to call, 0.0 at the start.

    The function reads time [s], q (nq,) and v (nv,), copies, and writes u (nu,) [N m or N] and desired (k, 2), what PD
    controllers aim at; both have what its last call wrote. It takes what numba compiles in its nopython mode.
    """
    return lambda function: CompiledFunction(function, rate, memory)


class CompiledController(RunController):
    """Calls a CompiledFunction at the ticks of a run.

    Args:
        function: CompiledFunction.
        commands: Commands of the run, whose effort limits hold.
        sizes: nq, nv, nu and the number of PD controllers.
        name: for messages.
    """

    def __init__(
        self, function: CompiledFunction, commands: Commands, sizes: tuple[int, int, int, int], name: str
    ) -> None:
        super().__init__(name, commands)
        commands.asked[:] = True  # it has the arrays, and nobody sees what it writes
        self._function, self._sizes = function, sizes
        self._memory = np.zeros(function.memory if commands.count is None else (commands.count, function.memory))
        self._kept: Any = None  # what addresses lead to
        self._twin: Any = None
        self._called: Any = None  # the address of the function for the loop

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick of a run whose loop does not call by address: of Python, or of a continuous plant."""
        if self._twin is None:
            twin = self._function.compiled_for(None)
            self._twin = twin if self.commands.count is None else _for_each_world(twin)
        own = u.copy()
        try:
            self._twin(time, q, v, own, desired, self._memory)
        except Exception as error:  # noqa: BLE001  numba's errors too
            if self._twin.signatures:  # it is compiled
                raise self._fault(f"raised {type(error).__name__}: {error}") from None
            raise self._not_compiled(error) from None
        if not np.isfinite(desired).all():
            raise self._fault("gave an aim that is not finite")
        try:
            self.commands.take(own, u, desired)
        except ControlError as error:
            raise self._fault(error) from None

    def compiled_calls(self, state: Any, u: FloatArray) -> FloatArray:
        """Addresses of the function that the loop calls, and of the arrays that it works with."""
        data = state.data
        q, v = np.zeros(self._sizes[0]), np.zeros(self._sizes[1])
        limits = self.commands.limits.ends.copy()
        arrays = (data.q, data.v, q, v, u, data.pd_desired, self._memory, limits)
        at = np.array([array.ctypes.data for array in arrays], dtype=float)
        if self._called is None:
            try:
                self._called = self._function.compiled_for((*self._sizes, len(self._memory)))
            except Exception as error:  # noqa: BLE001  numba's errors are of many kinds
                raise self._not_compiled(error) from None
        self._kept = arrays, at
        return np.array([self._called, at.ctypes.data], dtype=float)

    def fault(self, time: float, q: FloatArray, v: FloatArray) -> str:
        """What it did at the last tick, of which its compiled code says that it failed: Python's function is called."""
        u, desired = np.zeros(self._sizes[2]), np.zeros((self._sizes[3], 2))
        try:
            self._function(time, q.copy(), v.copy(), u, desired, self._memory.copy())
        except Exception as error:  # noqa: BLE001  whatever a user's function raises
            return f"raised {type(error).__name__}: {error}"
        return "gave a number that is not finite"

    def _not_compiled(self, error: Exception) -> ControlError:
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        return ControlError(
            f"{self.name}: error: numba does not compile the controller {SIGNATURE}: {type(error).__name__}: {first}"
        )

    def save(self) -> dict[str, FloatArray]:
        """Its memory."""
        return {"memory": self._memory.copy()} if self._memory.size else {}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save()."""
        if self._memory.size:
            self._memory[:] = saved["memory"]


def _constants(function: Any, others: list[Any], seen: set[int]) -> tuple[Any, ...]:
    """A function and what it and those that it calls find outside of them, to compare; others: known by identity."""
    options = repr(getattr(function, "targetoptions", ""))  # of numba's functions
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        return ()
    if id(function) in seen:
        return ("as before",)
    seen.add(id(function))
    named = {name: function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    named |= {name: cell.cell_contents for name, cell in cells}
    code = tuple(map(repr, parts_of_code(function.__code__, function.__doc__)))
    found: list[Any] = [options, code, repr(function.__defaults__)]
    for name, value in named.items():
        if isinstance(value, np.ndarray):
            found.append((name, value.shape, value.dtype.str, value.tobytes()))
        elif _is_plain(value):
            found.append((name, type(value).__name__, repr(value)))
        elif value is np or value is math:  # their versions are those of numba's code
            found.append((name, value.__name__))
        elif inner := _constants(value, others, seen):
            found.append((name, inner))
        else:
            others.append(value)
            found.append((name, id(value)))
    return tuple(found)


def _is_plain(value: Any) -> bool:
    """Whether the text of a value says all of it."""
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | complex | str | np.generic)


@cache
def _source() -> str:
    """What adapters are made from, here."""
    return Path(__file__).read_text(encoding="utf-8")


def _twin(function: Any) -> Any:
    import_numba()
    import numba

    return numba.njit(error_model="numpy")(function)


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(part) for part in code.co_consts if isinstance(part, CodeType)))


def _for_each_world(function: Any) -> Any:
    """A compiled function of arrays of all worlds that calls another for one after another."""
    import numba

    def loop(
        time: FloatArray, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray, memory: FloatArray
    ) -> None:
        for k in range(len(time)):
            function(time[k], q[k], v[k], u[k], desired[k], memory[k])

    return numba.njit(error_model="numpy")(loop)


def _adapter(of: Any, nq: int, nv: int, nu: int, npd: int, memory: int) -> Any:
    """The function (address of the arrays' addresses, time, ...) -> 0.0 or FAULT that a loop calls, for numba."""
    function = _twin(of)
    from numba import carray

    from mbcli.simulation.control import addresses

    pointer: Any = addresses.pointer  # takes what its second parameter is in compiled code

    def call(at: float, time: float, _a: float, _b: float, _c: float) -> float:
        places = carray(pointer(at), (8,))
        q_now, v_now = carray(pointer(places[0]), (nq,)), carray(pointer(places[1]), (nv,))
        q, v = carray(pointer(places[2]), (nq,)), carray(pointer(places[3]), (nv,))
        u, desired = carray(pointer(places[4]), (nu,)), carray(pointer(places[5]), (npd, 2))
        kept, limits = carray(pointer(places[6]), (memory,)), carray(pointer(places[7]), (nu,))
        for i in range(nq):
            q[i] = q_now[i]
        for i in range(nv):
            v[i] = v_now[i]
        function(time, q, v, u, desired, kept)
        total = 0.0
        for k in range(nu):
            total += 0.0 * u[k]
            u[k] = min(max(u[k], -limits[k]), limits[k])
        for k in range(npd):
            total += 0.0 * desired[k, 0] + 0.0 * desired[k, 1]
        return 0.0 if total == 0.0 else FAULT

    return call
