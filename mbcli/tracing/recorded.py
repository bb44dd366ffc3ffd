"""Recorded: a number that writes down what is done with it, in a Graph."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mbcli.errors import ModelError
from mbcli.tracing.graph import COS, INPUT, SIGN, SIN, SQRT, TANH

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.tracing.graph import Graph

KERNELS = "mbcli.engine."


class Recorded:
    """A number of a Graph, for interpreted kernels: sums, products, quotients and functions become nodes of it.

    It has no value. ModelError, naming the kernel, for a comparison, and for all that would ask for a value: what a
    kernel decides by a state cannot be written down as one list of operations.
    """

    __slots__ = ("graph", "node")

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph, self.node = graph, node

    def __add__(self, other: Any) -> Recorded:
        return Recorded(self.graph, self.graph.add(self.node, self._of(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Recorded:
        return Recorded(self.graph, self.graph.sub(self.node, self._of(other)))

    def __rsub__(self, other: Any) -> Recorded:
        return Recorded(self.graph, self.graph.sub(self._of(other), self.node))

    def __mul__(self, other: Any) -> Recorded:
        return Recorded(self.graph, self.graph.mul(self.node, self._of(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Recorded:
        return Recorded(self.graph, self.graph.div(self.node, self._of(other)))

    def __rtruediv__(self, other: Any) -> Recorded:
        return Recorded(self.graph, self.graph.div(self._of(other), self.node))

    def __neg__(self) -> Recorded:
        return Recorded(self.graph, self.graph.neg(self.node))

    def __pos__(self) -> Recorded:
        return self

    def _of(self, other: Any) -> int:
        if type(other) is Recorded:
            return other.node
        if not isinstance(other, (float, int, np.floating, np.integer)):
            self._refuse(f"joins a number with one of type {type(other).__name__}")
        return self.graph.constant(float(other))

    def function(self, name: str) -> Recorded:
        """sin, cos, sqrt, tanh or sign of the number."""
        return Recorded(self.graph, self.graph.function(name, self.node))

    def arctan2(self, x: Any) -> Recorded:
        """The angle [rad] of the point (x, this number)."""
        return Recorded(self.graph, self.graph.arctan2(self.node, self._of(x)))

    # what would need a value

    def _decides(self, *_: Any) -> NoReturn:
        self._refuse("decides by the size of a number that depends on the state")

    def __eq__(self, other: Any) -> bool:
        """False for 0 and what free parameters alone make, which counts as not zero; no answer for anything else."""
        if type(other) is not Recorded and other == 0.0 and all(k >= self.graph.first_free for k in self._inputs()):
            return False
        return self._decides()

    __lt__ = __le__ = __gt__ = __ge__ = _decides
    __bool__ = __float__ = __int__ = __index__ = __abs__ = __pow__ = __mod__ = __floordiv__ = _decides
    __hash__ = None  # type: ignore[assignment]

    @property
    def real(self) -> NoReturn:
        """As a comparison: kernels ask for it to decide."""
        self._decides()

    def _refuse(self, what: str) -> NoReturn:
        frame = inspect.currentframe()
        assert frame is not None
        while frame.f_back is not None and not frame.f_globals.get("__name__", "").startswith(KERNELS):
            frame = frame.f_back
        raise ModelError(
            f"a record of operations cannot hold this model: {frame.f_code.co_name}() of the engine {what} "
            f"({len(self._inputs())} inputs lead to it)"
        )

    def _inputs(self) -> list[int]:
        """The numbers of the inputs on which it depends."""
        rows = self.graph.rows
        return [int(rows[node][1]) for node in self.graph.order([self.node]) if rows[node][0] == INPUT]


def _function(name: str, of_float: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: x.function(name) if type(x) is Recorded else of_float(x)


sine, cosine = _function(SIN, np.sin), _function(COS, np.cos)
square_root, hyperbolic_tangent = _function(SQRT, np.sqrt), _function(TANH, np.tanh)
sign_of = _function(SIGN, lambda x: np.copysign(1.0, x.real))


def arctangent(y: Any, x: Any) -> Any:
    """Angle [rad] of the point (x, y)."""
    if type(y) is Recorded:
        return y.arctan2(x)
    return Recorded(x.graph, x.graph.constant(float(y))).arctan2(x) if type(x) is Recorded else np.arctan2(y, x)
