"""Logs of vectors over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.other_names import also_named
from mbcli.systems.events import PublishEvent, TriggerType
from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class VectorLog:
    """Samples of a vector (n,) with their times."""

    kDefaultCapacity = 1000

    def __init__(self, input_size: int) -> None:
        self._n = int(input_size)
        self.times, self.values, self.count = np.zeros(16), np.zeros((16, self._n)), 0

    def num_samples(self) -> int:
        """The number of samples."""
        return self.count

    def sample_times(self) -> FloatArray:
        """The times of the samples.

        Returns:
          (m,) [s].

        Example:
          >>> samples = VectorLog(2)
          >>> samples.AddData(0.5, [1.0, 2.0])
          >>> samples.sample_times()
          array([0.5])
        """
        return self.times[: self.count].copy()

    def data(self) -> FloatArray:
        """The samples.

        Returns:
          (n, m), a column for each of m samples, in [unit of the port].

        Example:
          >>> samples = VectorLog(2)
          >>> samples.AddData(0.5, [1.0, 2.0])
          >>> samples.data()
          array([[1.],
                 [2.]])
        """
        return self.values[: self.count].T.copy()

    def get_input_size(self) -> int:
        """n"""
        return self._n

    def AddData(self, time: float, sample: ArrayLike) -> None:
        """Adds a sample."""
        if self.count == len(self.times):
            self.Reserve(2 * self.count)
        self.times[self.count], self.values[self.count] = time, sample
        self.count += 1

    def Reserve(self, capacity: int) -> None:
        """Makes room for so many samples."""
        more = max(0, int(capacity) - len(self.times))
        self.times = np.concatenate([self.times, np.zeros(more)])
        self.values = np.concatenate([self.values, np.zeros((more, self._n))])

    def Clear(self) -> None:
        """Forgets all samples."""
        self.count = 0

    def Clone(self) -> VectorLog:
        """An independent copy."""
        other = VectorLog(self._n)
        other.times, other.values, other.count = self.times.copy(), self.values.copy(), self.count
        return other


class VectorLogSink(LeafSystem):
    """Keeps what comes in: after every step, or each period [s], and when it is forced to publish.

    Args:
        input_size: of the vector.
        publish_triggers: a set of TriggerType; if not given, kForced with kPeriodic or kPerStep.
    """

    def __init__(self, input_size: int, *given: Any, publish_triggers: Any = None, publish_period: float = 0.0) -> None:
        super().__init__()
        for value in given:
            if isinstance(value, (set, frozenset)):
                publish_triggers = value
            else:
                publish_period = value
        if not publish_period >= 0.0:
            raise RuntimeError(f"a publish period must not be negative, it is {publish_period}")
        if publish_triggers is None:
            publish_triggers = {TriggerType.kForced, TriggerType.kPeriodic if publish_period else TriggerType.kPerStep}
        self._u = self.DeclareVectorInputPort("data", input_size)
        # as a parameter, that contexts have copies of, and that events may change
        self.DeclareAbstractParameter(AbstractValue.Make(VectorLog(input_size)))
        if TriggerType.kForced in publish_triggers:
            self.DeclareForcedPublishEvent(self._record)
        if TriggerType.kPerStep in publish_triggers:
            self.DeclarePerStepPublishEvent(self._record)
        if TriggerType.kPeriodic in publish_triggers:
            self.DeclarePeriodicEvent(
                publish_period, 0.0, PublishEvent(TriggerType.kPeriodic, lambda context, event: self._record(context))
            )

    def _record(self, context: Any) -> None:
        self.GetLog(context).AddData(context.get_time(), self._u.Eval(context))

    def GetLog(self, context: Any) -> VectorLog:
        """The VectorLog in its own context."""
        self.check_context(context)
        return context.objects()[-1].get_value()

    GetMutableLog = GetLog

    @also_named(context="root_context")
    def FindLog(self, root_context: Any) -> VectorLog:
        """The VectorLog in the context of a diagram.

        Args:
          root_context: of the diagram.

        Returns:
          The VectorLog.

        Raises:
          RuntimeError: the sink has no part in it.

        Example:
          >>> sink = LogVectorOutput(builder.AddSystem(ConstantVectorSource([1.0])).get_output_port(), builder)
          >>> sink.FindLog(builder.Build().CreateDefaultContext()).num_samples()
          0
        """
        return self.GetLog(self.GetMyContextFromRoot(root_context))

    FindMutableLog = FindLog


def LogVectorOutput(
    src: Any, builder: Any, *given: Any, publish_triggers: Any = None, publish_period: float = 0.0
) -> VectorLogSink:
    """Adds a VectorLogSink for an output port to a DiagramBuilder; see there for the others.

    Args:
      src: an output port of a vector.
      builder: of its diagram.
      given: publish_triggers and publish_period, in either order.
      publish_triggers: when samples are taken; default: at every step and when it is asked for.
      publish_period: of samples at fixed times [s].

    Returns:
      The VectorLogSink.

    Raises:
      RuntimeError: the port is of no system of the diagram; a period and triggers do not fit.

    Example:
      >>> source = builder.AddSystem(ConstantVectorSource([1.0, 2.0]))
      >>> sink = LogVectorOutput(source.get_output_port(), builder, 0.1)
      >>> simulator = Simulator(builder.Build()); status = simulator.AdvanceTo(0.2)
      >>> sink.FindLog(simulator.get_context()).sample_times()
      array([0. , 0.1, 0.2])
    """
    sink = VectorLogSink(src.size(), *given, publish_triggers=publish_triggers, publish_period=publish_period)
    builder.AddSystem(sink)
    builder.Connect(src, sink.get_input_port())
    return sink


VectorLog_ = ScalarTemplate(VectorLog)
VectorLogSink_ = ScalarTemplate(VectorLogSink)
