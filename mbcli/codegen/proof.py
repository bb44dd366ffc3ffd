"""What generated code must give: random states and what the engine's kernels give there, and how far code is off."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.errors import NumericalError
from mbcli.models.states import set_random_state
from mbcli.tracing.recording import FREE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.codegen.code import CodeFunction
    from mbcli.math.array_types import FloatArray
    from mbcli.tracing.record import Variable

TOLERANCES = {"double": 1e-12, "float": 1e-5}
ROUNDING = {
    "double": (2.2e-16, 1e-6),
    "float": (1.2e-7, 1e-3),
}  # of solutions, by the condition of the mass matrix; most
FEW = 20  # states at which that is found
STEP = 1e-40  # of complex steps: nothing is subtracted, so that it may be so small
PARAMETERS, SPREAD = (0.5, 1.5), 0.01  # free parameters of a proof: parts of their defaults, and what is added to them


@dataclass
class States:
    """Inputs and outputs of a function at random states, arrays (count, *shape) each.

    Deviations count relative to `scales`, the largest number of each output at all states.
    """

    inputs: list[FloatArray]
    outputs: list[FloatArray]
    tolerance: float

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.inputs[0])

    @property
    def scales(self) -> list[float]:
        """Of each output; 1 for one that is zero everywhere."""
        return [float(np.abs(out).max(initial=0.0)) or 1.0 for out in self.outputs]

    def deviation(self, found: Sequence[Any]) -> float:
        """The largest relative deviation of outputs (count, *shape); NaN counts as infinite."""
        worst = 0.0
        for scale, wanted, given in zip(self.scales, self.outputs, found, strict=True):
            off = np.abs(np.reshape(np.asarray(given, float), wanted.shape) - wanted) / scale
            worst = max(worst, float(np.where(np.isnan(off), np.inf, off).max(initial=0.0)))
        return worst


@dataclass
class Proof:
    """That a function of the code gives what the kernels give.

    Args:
        function: its name.
        states: how many were compared.
        deviation: the largest, relative to the largest number of the output.
        nanoseconds: a call, None where it was not measured.
        more: what else the target knows, as the compiler and the stack.
    """

    function: str
    states: int
    deviation: float
    nanoseconds: float | None = None
    more: dict[str, Any] = field(default_factory=dict)


def recorded_states(plant: Any, context: Any, function: CodeFunction, count: int, seed: int, real: str) -> States:
    """Random states within the limits of a plant, and what the interpreted kernels give there.

    Solutions of equations with the mass matrix are known no better than its condition lets rounding grow: where that is
    more than the tolerance of proofs, the tolerance is it, up to that of ROUNDING.

    Derivatives are those of complex steps of the kernels (Squire and Trapp 1998).
    """
    random = np.random.default_rng(seed)
    model = context.state.model
    scratch = plant.CreateDefaultContext()
    variables, inputs = function.record.inputs, []
    for _ in range(count):
        set_random_state(plant, scratch, random)
        row = [_numbers(each, scratch, function, random) for each in variables]
        inputs.append([each.astype(np.float32).astype(float) for each in row] if real == "float" else row)
    evaluate = _derivatives if function.is_derivative else _values
    outputs = [evaluate(function, model, row) for row in inputs]
    columns = [np.array(column) for column in zip(*outputs, strict=True)]
    tolerance = TOLERANCES[real]
    if function.function.solves:
        epsilon, most = ROUNDING[real]
        tolerance = max(tolerance, min(most, epsilon * _condition(plant, scratch, inputs)))
    return States([np.array(column) for column in zip(*inputs, strict=True)], columns, tolerance)


def _condition(plant: Any, context: Any, inputs: Sequence[Any]) -> float:
    """The largest condition number of the mass matrix at some of the states, whose first input is q."""
    worst = 1.0
    for row in inputs[:FEW]:
        plant.SetPositions(context, row[0])
        worst = max(worst, float(np.linalg.cond(plant.CalcMassMatrix(context))))
    return worst


def _numbers(variable: Variable, context: Any, function: CodeFunction, random: np.random.Generator) -> Any:
    """Of an input: the positions of a context, parameters about their defaults, random numbers else."""
    if variable.name == "q":
        return context.state.q.copy()
    if variable.name == FREE:
        values = function.free.values
        return values * random.uniform(*PARAMETERS, size=len(values)) + SPREAD * random.uniform(size=len(values))
    return random.normal(size=variable.size)


def _values(function: CodeFunction, model: Any, inputs: Sequence[Any]) -> list[Any]:
    return _evaluate(function, model, Data(model.sizes), inputs)


def _evaluate(function: CodeFunction, model: Any, data: Any, inputs: Sequence[Any]) -> list[Any]:
    if function.free is not None:
        model, inputs = function.free.model(model, inputs[-1]), inputs[:-1]
    return function.function.evaluate(load_kernels(False), model, data, inputs, function.of)


def _derivatives(function: CodeFunction, model: Any, inputs: Sequence[Any]) -> list[Any]:
    model = _complex_model(model)
    data = Data(model.sizes, np.dtype(complex))
    columns: list[list[list[Any]]] = []  # by input, by element, by output
    for k, given in enumerate(inputs):
        columns.append([])
        for i in range(len(given)):
            shifted = [each.astype(complex) for each in inputs]
            shifted[k][i] += 1j * STEP
            found = _evaluate(function, model, data, shifted)
            columns[-1].append([each.imag / STEP for each in found])
    return [
        np.stack([of_element[out] for of_element in of_input], axis=-1)
        for out in range(len(function.function.outputs))
        for of_input in columns
    ]


@functools.lru_cache(maxsize=4)
def _complex_model(model: Any) -> Any:
    return model.replace(dtype=complex)


def require_proved(proofs: Sequence[Proof], states: dict[str, States]) -> None:
    """NumericalError that names the functions which deviate."""
    wrong = [p for p in proofs if not p.deviation <= states[p.function].tolerance]
    if wrong:
        told = ", ".join(f"{p.function} deviates by {p.deviation:.3g}" for p in wrong)
        limit = states[wrong[0].function].tolerance
        raise NumericalError(f"the code is not left, it is not proved: {told}, of {limit:g} at most")
