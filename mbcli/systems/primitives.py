"""Systems of a line or two, and linearization, under the names of pydrake.systems.primitives."""

from __future__ import annotations

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.systems.filters import (
    DiscreteDerivative,
    DiscreteTimeDelay,
    DiscreteTimeIntegrator,
    FirstOrderLowPassFilter,
    Integrator,
    RandomSource,
    StateInterpolatorWithDiscreteDerivative,
    ZeroOrderHold,
)
from mbcli.systems.linear_systems import (
    AffineSystem,
    ControllabilityMatrix,
    FirstOrderTaylorApproximation,
    InputPortSelection,
    IsControllable,
    IsDetectable,
    IsObservable,
    IsStabilizable,
    Linearize,
    LinearSystem,
    ObservabilityMatrix,
    OutputPortSelection,
)
from mbcli.systems.signals import (
    Adder,
    ConstantValueSource,
    ConstantVectorSource,
    Demultiplexer,
    Gain,
    MatrixGain,
    Multiplexer,
    PassThrough,
    PortSwitch,
    Saturation,
    SharedPointerSystem,
    Sine,
    TrajectorySource,
    WrapToSystem,
)
from mbcli.systems.symbolic_system import SymbolicVectorSystem
from mbcli.systems.vector_log import LogVectorOutput, VectorLog, VectorLogSink

_TEMPLATES = (
    *(Adder, AffineSystem, ConstantValueSource, ConstantVectorSource, Demultiplexer, DiscreteDerivative),
    *(DiscreteTimeDelay, DiscreteTimeIntegrator, FirstOrderLowPassFilter, Gain, Integrator, LinearSystem, MatrixGain),
    *(Multiplexer, PassThrough, PortSwitch, Saturation, SharedPointerSystem, Sine, SymbolicVectorSystem),
    *(StateInterpolatorWithDiscreteDerivative, TrajectorySource, VectorLog, VectorLogSink, WrapToSystem, ZeroOrderHold),
)
globals().update({f"{kind.__name__}_": ScalarTemplate(kind) for kind in _TEMPLATES})

__all__ = [  # noqa: PLE0604
    "Adder",
    "AffineSystem",
    "ConstantValueSource",
    "ConstantVectorSource",
    "ControllabilityMatrix",
    "Demultiplexer",
    "DiscreteDerivative",
    "DiscreteTimeDelay",
    "DiscreteTimeIntegrator",
    "FirstOrderLowPassFilter",
    "FirstOrderTaylorApproximation",
    "Gain",
    "InputPortSelection",
    "Integrator",
    "IsControllable",
    "IsDetectable",
    "IsObservable",
    "IsStabilizable",
    "LinearSystem",
    "Linearize",
    "LogVectorOutput",
    "MatrixGain",
    "Multiplexer",
    "ObservabilityMatrix",
    "OutputPortSelection",
    "PassThrough",
    "PortSwitch",
    "RandomSource",
    "Saturation",
    "SharedPointerSystem",
    "Sine",
    "StateInterpolatorWithDiscreteDerivative",
    "SymbolicVectorSystem",
    "TrajectorySource",
    "VectorLog",
    "VectorLogSink",
    "WrapToSystem",
    "ZeroOrderHold",
    *(f"{kind.__name__}_" for kind in _TEMPLATES),
]
