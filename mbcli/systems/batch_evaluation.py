"""The motion of a system at many times, states and inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.other_names import also_named
from mbcli.systems.port_selection import InputPortSelection, selected_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray

FIRST = InputPortSelection.kUseFirstInputIfItExists


@also_named(parallelize="parallelism")
def BatchEvalTimeDerivatives(
    system: Any,
    context: Any,
    times: ArrayLike,
    states: ArrayLike,
    inputs: ArrayLike,
    input_port_index: Any = FIRST,
    parallelism: Any = None,
) -> FloatArray:
    """xdot (nx, N) at N times, states (nx, N) and inputs (nu, N); they are taken one after another.

    Args:
      system: with continuous state.
      context: of it, with its parameters; it stays as it is.
      times: (N,) or (1, N) [s].
      states: (nx, N). inputs: (nu, N) of the port; what it is without a port does not count.
      input_port_index: of an input port, or an InputPortSelection.

    Returns:
      (nx, N)

    Raises:
      RuntimeError: the shapes do not fit each other.

    Example:
      >>> from mbcli.systems.primitives import LinearSystem
      >>> system = LinearSystem(A=[[-2.0]], B=[[1.0]])
      >>> BatchEvalTimeDerivatives(system, system.CreateDefaultContext(), [0, 0], [[1.0, 2.0]], [[0.0, 1.0]])
      array([[-2., -3.]])
    """

    def motion(work: Any, x: FloatArray) -> Any:
        work.SetContinuousState(x)
        return system.EvalTimeDerivatives(work).CopyToVector()

    return _at_all(motion, system, context, times, states, inputs, input_port_index)


@also_named(parallelize="parallelism")
def BatchEvalUniquePeriodicDiscreteUpdate(
    system: Any,
    context: Any,
    times: ArrayLike,
    states: ArrayLike,
    inputs: ArrayLike,
    num_time_steps: int = 1,
    input_port_index: Any = FIRST,
    parallelism: Any = None,
) -> FloatArray:
    """The states (nx, N) some steps later, of a system that is a difference equation, from N times, states and inputs.

    Arguments are those of BatchEvalTimeDerivatives(); inputs are held over the steps. RuntimeError for another system.
    """
    is_discrete, period = system.IsDifferenceEquationSystem()
    if not is_discrete:
        raise RuntimeError("BatchEvalUniquePeriodicDiscreteUpdate: the system is no difference equation")

    def motion(work: Any, x: FloatArray) -> Any:
        start = work.get_time()
        for step in range(int(num_time_steps)):
            work.SetTime(start + step * period)
            work.SetDiscreteState(x)
            x = system.EvalUniquePeriodicDiscreteUpdate(work).get_vector(0).CopyToVector()
        return x

    return _at_all(motion, system, context, times, states, inputs, input_port_index)


def _at_all(
    motion: Callable[[Any, FloatArray], Any],
    system: Any,
    context: Any,
    times: ArrayLike,
    states: ArrayLike,
    inputs: ArrayLike,
    selection: Any,
) -> FloatArray:
    t, x = np.ravel(np.asarray(times, dtype=float)), np.asarray(states, dtype=float)
    port = selected_port(selection, system.input_ports(), InputPortSelection)
    u = None if port is None else np.asarray(inputs, dtype=float)
    if x.ndim != 2 or x.shape[1] != t.size:
        raise RuntimeError(f"states of shape {x.shape} do not fit {t.size} times")
    if u is not None and port is not None and u.shape != (port.size(), t.size):
        raise RuntimeError(f"inputs of shape {u.shape}, expected {(port.size(), t.size)}")
    work, found = context.Clone(), np.empty(x.shape)
    for k in range(t.size):
        work.SetTime(t[k])
        if port is not None and u is not None:
            port.FixValue(work, u[:, k])
        found[:, k] = motion(work, x[:, k])
    return found
