"""Systems of a line or two, and linearization, under the names of pydrake.systems.primitives."""

from mbcli.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from mbcli.systems.filters import (
        DiscreteDerivative as DiscreteDerivative,
        DiscreteDerivative_ as DiscreteDerivative_,
        DiscreteTimeDelay as DiscreteTimeDelay,
        DiscreteTimeDelay_ as DiscreteTimeDelay_,
        DiscreteTimeIntegrator as DiscreteTimeIntegrator,
        DiscreteTimeIntegrator_ as DiscreteTimeIntegrator_,
        FirstOrderLowPassFilter as FirstOrderLowPassFilter,
        FirstOrderLowPassFilter_ as FirstOrderLowPassFilter_,
        Integrator as Integrator,
        Integrator_ as Integrator_,
        RandomSource as RandomSource,
        StateInterpolatorWithDiscreteDerivative as StateInterpolatorWithDiscreteDerivative,
        StateInterpolatorWithDiscreteDerivative_ as StateInterpolatorWithDiscreteDerivative_,
        ZeroOrderHold as ZeroOrderHold,
        ZeroOrderHold_ as ZeroOrderHold_,
    )
    from mbcli.systems.linear_systems import (
        AffineSystem as AffineSystem,
        AffineSystem_ as AffineSystem_,
        ControllabilityMatrix as ControllabilityMatrix,
        FirstOrderTaylorApproximation as FirstOrderTaylorApproximation,
        InputPortSelection as InputPortSelection,
        IsControllable as IsControllable,
        IsDetectable as IsDetectable,
        IsObservable as IsObservable,
        IsStabilizable as IsStabilizable,
        Linearize as Linearize,
        LinearSystem as LinearSystem,
        LinearSystem_ as LinearSystem_,
        ObservabilityMatrix as ObservabilityMatrix,
        OutputPortSelection as OutputPortSelection,
    )
    from mbcli.systems.signals import (
        Adder as Adder,
        Adder_ as Adder_,
        ConstantValueSource as ConstantValueSource,
        ConstantValueSource_ as ConstantValueSource_,
        ConstantVectorSource as ConstantVectorSource,
        ConstantVectorSource_ as ConstantVectorSource_,
        Demultiplexer as Demultiplexer,
        Demultiplexer_ as Demultiplexer_,
        Gain as Gain,
        Gain_ as Gain_,
        MatrixGain as MatrixGain,
        MatrixGain_ as MatrixGain_,
        Multiplexer as Multiplexer,
        Multiplexer_ as Multiplexer_,
        PassThrough as PassThrough,
        PassThrough_ as PassThrough_,
        PortSwitch as PortSwitch,
        PortSwitch_ as PortSwitch_,
        Saturation as Saturation,
        Saturation_ as Saturation_,
        SharedPointerSystem as SharedPointerSystem,
        SharedPointerSystem_ as SharedPointerSystem_,
        Sine as Sine,
        Sine_ as Sine_,
        TrajectorySource as TrajectorySource,
        TrajectorySource_ as TrajectorySource_,
        WrapToSystem as WrapToSystem,
        WrapToSystem_ as WrapToSystem_,
    )
    from mbcli.systems.symbolic_system import (
        SymbolicVectorSystem as SymbolicVectorSystem,
        SymbolicVectorSystem_ as SymbolicVectorSystem_,
    )
    from mbcli.systems.vector_log import (
        LogVectorOutput as LogVectorOutput,
        VectorLog as VectorLog,
        VectorLog_ as VectorLog_,
        VectorLogSink as VectorLogSink,
        VectorLogSink_ as VectorLogSink_,
    )
