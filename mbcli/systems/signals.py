"""Sources of signals and what is computed from them, without state."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue, held
from mbcli.math.periodic_interval import wrap_to
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.other_names import also_named
from mbcli.systems.leaf_system import LeafSystem
from mbcli.systems.vectors import BasicVector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.systems.ports import InputPort

TIME, STATE = ["time"], ["state"]


class Reproducible(LeafSystem):
    """A system that Clone() makes anew of its arguments."""

    arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *given: Any, **named: Any) -> Any:
        made = super().__new__(cls)
        made.arguments = given, named
        return made

    def Clone(self) -> Any:
        """A system made of the same arguments."""
        given, named = self.arguments
        other = type(self)(*given, **named)
        other.set_name(self.get_name())
        return other


class ConstantVectorSource(Reproducible):
    """Gives a vector that is a parameter of the context.

    Args:
      source_value: (n,), in [unit of the port].

    Example:
      >>> source = ConstantVectorSource([1.0, 2.0])
      >>> source.get_output_port().Eval(source.CreateDefaultContext())
      array([1., 2.])
    """

    def __init__(self, source_value: ArrayLike) -> None:
        super().__init__()
        value = BasicVector(np.atleast_1d(np.asarray(source_value)))
        self.DeclareNumericParameter(value)
        self.DeclareVectorOutputPort(
            "y0", value.size(), lambda c, out: out.SetFrom(c.get_numeric_parameter(0)), ["parameters"]
        )

    def get_source_value(self, context: Any) -> Any:
        """The vector in a context."""
        return context.get_numeric_parameter(0)

    def get_mutable_source_value(self, context: Any) -> Any:
        """The vector in a context, to be changed."""
        return context.get_mutable_numeric_parameter(0)


class ConstantValueSource(Reproducible):
    """Gives an object."""

    def __init__(self, value: AbstractValue) -> None:
        super().__init__()
        self.DeclareAbstractOutputPort("y0", value.Clone, lambda context, output: None, STATE)


class SharedPointerSystem(Reproducible):
    """Holds an object, so that it lives as long as a diagram; without ports."""

    def __init__(self, value_to_hold: Any) -> None:
        super().__init__()
        self._value = value_to_hold

    @staticmethod
    def AddToBuilder(builder: Any, value_to_hold: Any) -> Any:
        """Adds one to a DiagramBuilder; returns the object."""
        return builder.AddSystem(SharedPointerSystem(value_to_hold)).get()

    def get(self) -> Any:
        """The object."""
        return self._value


class Gain(Reproducible):
    """y = k u, by elements. Gain(k, size), or Gain(k) with a vector."""

    def __init__(self, k: ArrayLike, size: int | None = None) -> None:
        super().__init__()
        self._k = np.full(size, k) if size is not None else np.atleast_1d(np.asarray(k, dtype=float))
        u = self.DeclareVectorInputPort("u0", self._k.size)
        self.DeclareVectorOutputPort("y0", self._k.size, lambda c, out: out.SetFromVector(self._k * u.Eval(c)))


class MatrixGain(Reproducible):
    """y = D u."""

    def __init__(self, D: ArrayLike | None = None, *, size: int | None = None) -> None:
        super().__init__()
        self._D = np.eye(size) if size is not None else np.atleast_2d(np.asarray(D, dtype=float))
        u = self.DeclareVectorInputPort("u0", self._D.shape[1])
        self.DeclareVectorOutputPort("y0", self._D.shape[0], lambda c, out: out.SetFromVector(self._D @ u.Eval(c)))

    def D(self) -> FloatArray:
        """(ny, nu)"""
        return self._D.copy()


class Adder(Reproducible):
    """The sum of several vectors (n,)."""

    def __init__(self, num_inputs: int, size: int) -> None:
        super().__init__()
        ports = [self.DeclareVectorInputPort(f"u{k}", size) for k in range(num_inputs)]
        self.DeclareVectorOutputPort("sum", size, lambda c, out: out.SetFromVector(sum(p.Eval(c) for p in ports)))


class PassThrough(Reproducible):
    """Gives what it takes: a vector of a size, or an object like an AbstractValue's.

    Of PassThrough(value) of a vector the output is that vector where nothing is connected.
    """

    def __init__(
        self,
        vector_size: int | ArrayLike | AbstractValue | None = None,
        *,
        value: ArrayLike | None = None,
        abstract_model_value: AbstractValue | None = None,
    ) -> None:
        super().__init__()
        given: Any = next(x for x in (vector_size, value, abstract_model_value) if x is not None)
        if isinstance(given, AbstractValue):
            port = self.DeclareAbstractInputPort("u", given)
            self.DeclareAbstractOutputPort("y", given.Clone, lambda c, out: out.set_value(port.Eval(c)))
            return
        default = BasicVector(given)
        u = self.DeclareVectorInputPort("u", default.size())
        value_given = not isinstance(given, int)

        def calc(context: Any, output: Any) -> None:
            output.SetFromVector(default.numbers if value_given and not u.HasValue(context) else u.Eval(context))

        self.DeclareVectorOutputPort("y", default.size(), calc)


class Multiplexer(Reproducible):
    """Joins vectors: Multiplexer(n) of n numbers, or of vectors of a list of sizes."""

    def __init__(
        self,
        num_scalar_inputs: int | Sequence[int] | BasicVector | None = None,
        *,
        input_sizes: Sequence[int] | None = None,
        model_vector: BasicVector | None = None,
    ) -> None:
        super().__init__()
        given: Any = next(x for x in (num_scalar_inputs, input_sizes, model_vector) if x is not None)
        if isinstance(given, BasicVector):
            given = given.size()
        sizes = [1] * given if isinstance(given, (int, np.integer)) else [int(n) for n in given]
        ports = [self.DeclareVectorInputPort(f"u{k}", n) for k, n in enumerate(sizes)]
        self.DeclareVectorOutputPort(
            "y0", sum(sizes), lambda c, out: out.SetFromVector(np.concatenate([p.Eval(c) for p in ports]))
        )


class Demultiplexer(Reproducible):
    """Splits a vector: Demultiplexer(size, output_ports_size) into equal parts, or into those of a list of sizes."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        output_ports_size: int = 1,
        *,
        output_ports_sizes: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        given: Any = output_ports_sizes if size is None else size
        if isinstance(given, (int, np.integer)):
            if given % output_ports_size:
                raise RuntimeError(f"{given} elements are not parts of {output_ports_size}")
            given = [output_ports_size] * (int(given) // output_ports_size)
        self._sizes = [int(n) for n in given]
        u = self.DeclareVectorInputPort("u0", sum(self._sizes))
        start = 0
        for k, n in enumerate(self._sizes):
            part = slice(start, start + n)
            self.DeclareVectorOutputPort(f"y{k}", n, partial(_copy_part, u, part))
            start += n

    def get_output_ports_sizes(self) -> list[int]:
        """The number of elements of each part."""
        return list(self._sizes)


def _copy_part(port: InputPort, part: slice, context: Any, output: BasicVector) -> None:
    output.SetFromVector(port.Eval(context)[part])


class Saturation(Reproducible):
    """Keeps each element between two values."""

    def __init__(self, min_value: ArrayLike, max_value: ArrayLike) -> None:
        super().__init__()
        low, high = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (min_value, max_value))
        if low.shape != high.shape or not (low <= high).all():
            raise RuntimeError(f"Saturation: the values {low} are not below {high}")
        u = self.DeclareVectorInputPort("u0", low.size)

        def clip(context: Any, output: BasicVector) -> None:
            values = u.Eval(context)
            output.SetFromVector(np.where(values < low, low, np.where(values > high, high, values)))

        self.DeclareVectorOutputPort("y0", low.size, clip)


class WrapToSystem(Reproducible):
    """Brings elements into intervals [low, high), by multiples of their lengths; others pass as they are."""

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.intervals: dict[int, tuple[float, float]] = {}
        u = self.DeclareVectorInputPort("u0", input_size)

        def wrap(context: Any, output: BasicVector) -> None:
            values = u.Eval(context)
            for k, (low, high) in self.intervals.items():
                values[k] = wrap_to(values[k], low, high)
            output.SetFromVector(values)

        self.DeclareVectorOutputPort("y0", input_size, wrap)

    def set_interval(self, index: int, low: float, high: float) -> None:
        """The interval of an element."""
        if not float(high) > float(low):
            raise RuntimeError(f"set_interval: {low} is not below {high}")
        self.intervals[int(index)] = float(low), float(high)

    def Clone(self) -> Any:
        """A system with the same intervals."""
        other = super().Clone()
        other.intervals = dict(self.intervals)
        return other


class PortSwitch(Reproducible):
    """Gives the value of the input port that another port selects, by its InputPortIndex."""

    def __init__(self, vector_size: int = 0, *, model_value: Any = None) -> None:
        super().__init__()
        self._size = vector_size
        self._selector = self.DeclareAbstractInputPort("port_selector", AbstractValue.Make(None))

        def chosen(context: Any) -> Any:
            return self.get_input_port(int(held(self._selector.Eval(context)))).Eval(context)

        self.DeclareVectorOutputPort("value", vector_size, lambda c, out: out.SetFromVector(chosen(c)))

    def get_port_selector_input_port(self) -> InputPort:
        """The port that takes an InputPortIndex."""
        return self._selector

    def DeclareInputPort(self, name: Any, *unused: Any) -> InputPort:
        """One more input port; returns it."""
        return self.DeclareVectorInputPort(name, self._size)


class Sine(Reproducible):
    """a sin(w t + phase) and its two derivatives, on three ports; if not based on time, the input stands for t."""

    @also_named(amplitudes="amplitude", frequencies="frequency", phases="phase")
    def __init__(
        self,
        amplitude: ArrayLike,
        frequency: ArrayLike,
        phase: ArrayLike,
        size: int | bool | None = None,
        is_time_based: bool = True,
    ) -> None:
        super().__init__()
        if isinstance(size, bool):  # Sine(amplitudes, frequencies, phases, is_time_based)
            is_time_based, size = bool(size), None
        n = np.size(amplitude) if size is None else size
        a, w, phase_of = (np.broadcast_to(np.asarray(x, dtype=float), (n,)) for x in (amplitude, frequency, phase))
        u = None if is_time_based else self.DeclareVectorInputPort("u0", n)

        def angle(context: Any) -> Any:
            return w * (context.get_time() if u is None else u.Eval(context)) + phase_of

        values = (lambda x: a * np.sin(x), lambda x: a * w * np.cos(x), lambda x: -a * w * w * np.sin(x))
        for k, value in enumerate(values):
            self.DeclareVectorOutputPort(
                f"y{k}",
                n,
                lambda c, out, value=value: out.SetFromVector(value(angle(c))),  # type: ignore[misc]
                TIME if is_time_based else None,
            )


class TrajectorySource(Reproducible):
    """Gives the value of a trajectory with one column at the time, and its derivatives below it.

    Args:
      trajectory: of n rows and one column.
      output_derivative_order: how many derivatives are given.
      zero_derivatives_beyond_limits: whether these are zero before its start and after its end.

    Raises:
      RuntimeError: the trajectory has several columns.

    Example:
      >>> source = TrajectorySource(PiecewisePolynomial.FirstOrderHold([0.0, 1.0], [[0.0, 2.0]]), 1)
      >>> at = source.CreateDefaultContext()
      >>> at.SetTime(0.25)
      >>> source.get_output_port().Eval(at)
      array([0.5, 2. ])
    """

    def __init__(
        self, trajectory: Any, output_derivative_order: int = 0, zero_derivatives_beyond_limits: bool = True
    ) -> None:
        super().__init__()
        if trajectory.cols() != 1:
            raise RuntimeError(f"TrajectorySource takes a trajectory with one column, not {trajectory.cols()}")
        self._order, self._stops = output_derivative_order, zero_derivatives_beyond_limits
        self.UpdateTrajectory(trajectory)
        size = trajectory.rows() * (1 + output_derivative_order)
        self.DeclareVectorOutputPort("y0", size, lambda c, out: out.SetFromVector(self._values(c.get_time())), TIME)

    def UpdateTrajectory(self, trajectory: Any) -> None:
        """Follows another trajectory from now on."""
        self._curves = [trajectory] + [trajectory.MakeDerivative(k) for k in range(1, self._order + 1)]

    def _values(self, t: float) -> Any:
        curve = self._curves[0]
        parts = [np.reshape(c.value(t), -1) for c in self._curves]
        if self._stops and not curve.start_time() <= t <= curve.end_time():
            parts[1:] = [np.zeros(curve.rows()) for _ in parts[1:]]
        return np.concatenate(parts)


Adder_ = ScalarTemplate(Adder)
ConstantValueSource_ = ScalarTemplate(ConstantValueSource)
ConstantVectorSource_ = ScalarTemplate(ConstantVectorSource)
Demultiplexer_ = ScalarTemplate(Demultiplexer)
Gain_ = ScalarTemplate(Gain)
MatrixGain_ = ScalarTemplate(MatrixGain)
Multiplexer_ = ScalarTemplate(Multiplexer)
PassThrough_ = ScalarTemplate(PassThrough)
PortSwitch_ = ScalarTemplate(PortSwitch)
Saturation_ = ScalarTemplate(Saturation)
SharedPointerSystem_ = ScalarTemplate(SharedPointerSystem)
Sine_ = ScalarTemplate(Sine)
TrajectorySource_ = ScalarTemplate(TrajectorySource)
WrapToSystem_ = ScalarTemplate(WrapToSystem)
