"""Linear systems and linearization, under the names of pydrake.systems.primitives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.systems.linearization import InputPortSelection, OutputPortSelection, plant_derivatives

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.context import Context
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.systems.framework import Diagram, DiagramContext

__all__ = [
    "AffineSystem",
    "FirstOrderTaylorApproximation",
    "InputPortSelection",
    "LinearSystem",
    "Linearize",
    "OutputPortSelection",
]


class AffineSystem:
    """xdot, or with a time period the next x, = A x + B u + f0, and y = C x + D u + y0."""

    def __init__(
        self,
        A: ArrayLike,
        B: ArrayLike,
        f0: ArrayLike,
        C: ArrayLike,
        D: ArrayLike,
        y0: ArrayLike,
        time_period: float = 0.0,
    ) -> None:
        self._A, self._B, self._f0, self._C, self._D, self._y0 = (
            np.array(x, dtype=float) for x in (A, B, f0, C, D, y0)
        )
        self._time_period = time_period

    def A(self) -> FloatArray:
        """(nx, nx)"""
        return self._A.copy()

    def B(self) -> FloatArray:
        """(nx, nu)"""
        return self._B.copy()

    def f0(self) -> FloatArray:
        """(nx,)"""
        return self._f0.copy()

    def C(self) -> FloatArray:
        """(ny, nx)"""
        return self._C.copy()

    def D(self) -> FloatArray:
        """(ny, nu)"""
        return self._D.copy()

    def y0(self) -> FloatArray:
        """(ny,)"""
        return self._y0.copy()

    def time_period(self) -> float:
        """[s], 0 for a continuous system"""
        return self._time_period


class LinearSystem(AffineSystem):
    """xdot, or with a time period the next x, = A x + B u, and y = C x + D u."""

    def __init__(self, A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike, time_period: float = 0.0) -> None:
        super().__init__(A, B, np.zeros(len(np.asarray(A))), C, D, np.zeros(len(np.asarray(C))), time_period)


def Linearize(
    system: MultibodyPlant | Diagram,
    context: Context | DiagramContext,
    input_port_index: InputPortSelection | int = InputPortSelection.kUseFirstInputIfItExists,
    output_port_index: OutputPortSelection | int = OutputPortSelection.kUseFirstOutputIfItExists,
    equilibrium_check_tolerance: float = 1e-6,
) -> LinearSystem:
    """The LinearSystem of small deviations of a plant, or of the plant in a diagram, from an equilibrium.

    A, B, C, D are exact derivatives, of steps in contact to 8 digits or so. Without a port, input is the actuation and
    output the state.

    Raises:
        RuntimeError: the state is not an equilibrium within the tolerance, or a port is not a vector; in contact, with
            `tamsi`, for deformable bodies, and for the net actuation of controllers.
        NumericalError: a contact begins or ends there.
    """
    A, B, C, D, f, _, _, x, h = _derivatives(system, context, input_port_index, output_port_index)
    change = np.abs(f - x if h else f)
    if change.size and not change.max() <= equilibrium_check_tolerance:
        k = int(np.argmax(change))
        raise RuntimeError(
            f"Linearize: the context is not an equilibrium, state {k} changes by {change[k]:g} "
            f"{'in a step' if h else 'per second'}; FirstOrderTaylorApproximation() needs none"
        )
    return LinearSystem(A, B, C, D, h)


def FirstOrderTaylorApproximation(
    system: MultibodyPlant | Diagram,
    context: Context | DiagramContext,
    input_port_index: InputPortSelection | int = InputPortSelection.kUseFirstInputIfItExists,
    output_port_index: OutputPortSelection | int = OutputPortSelection.kUseFirstOutputIfItExists,
) -> AffineSystem:
    """The AffineSystem that equals a plant to first order about a context; ports and errors as of Linearize()."""
    A, B, C, D, f, y, u, x, h = _derivatives(system, context, input_port_index, output_port_index)
    return AffineSystem(A, B, f - A @ x - B @ u, C, D, y - C @ x - D @ u, h)


def _derivatives(system, context, input_port, output_port):
    """A, B, C, D, motion, output, input and state at the context, and the time period."""
    plant = getattr(system, "plant_of_diagram", system)
    own = plant.GetMyContextFromRoot(context)
    input_name = _port_name(system, input_port, InputPortSelection, "GetInputPort", "actuation")
    output_name = _port_name(system, output_port, OutputPortSelection, "GetOutputPort", "state")
    derivatives = plant_derivatives(plant, own, input_name, output_name)
    return *derivatives, np.concatenate([own.state.q, own.state.v]), plant.time_step()


def _port_name(system, port, selection, getter, default):
    """Name of the plant's port that is meant by an index or a selection; None for no port."""
    if isinstance(port, selection):
        return None if port.name.startswith("kNo") else default
    found = getattr(system, "get_input_port" if getter == "GetInputPort" else "get_output_port")(port)
    return getattr(found, "_port", found).get_name()
