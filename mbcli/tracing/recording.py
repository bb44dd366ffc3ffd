"""Recording a function of a model: its kernels run once, interpreted, on numbers that write down what is done."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.constraints import constraint_system
from mbcli.engine.fields.model_fields import MODEL_FIELDS, ROW_OFFSET, ROW_SLOPE
from mbcli.engine.limits import bounded_rows, joint_limits
from mbcli.engine.queries.state_batch import covers
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.runtime.model import Data
from mbcli.engine.smooth import force_elements, trigonometry
from mbcli.errors import ModelError
from mbcli.tracing import recorded
from mbcli.tracing.graph import Graph
from mbcli.tracing.model_functions import MODEL_FUNCTIONS, ModelFunction
from mbcli.tracing.record import Record, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Way = Callable[[Any, Any, Sequence[Any]], list[Any]]  # (kernels, model, inputs) -> all numbers of the outputs

ROUNDING = 1e-15  # of an element of a rotation, and of an inertia beside its largest element: none of it is meant
FREE = "p"  # the input of parameters that stay free


@functools.cache
def recorded_kernels() -> Any:
    """Interpreted kernels whose functions of one number know Recorded ones."""
    return recorded_kernels_with({})


def recorded_kernels_with(more: dict[Any, Any]) -> Any:
    """As recorded_kernels(), with {slot: function} of a caller."""

    def sine_and_cosine(angles: Any, sine: Any, cosine: Any) -> None:
        for i, angle in enumerate(angles):
            sine[i], cosine[i] = recorded.sine(angle), recorded.cosine(angle)

    given = {
        trigonometry.sine_and_cosine: sine_and_cosine,
        trigonometry.sine_cosine: lambda x: (recorded.sine(x), recorded.cosine(x)),
        trigonometry.square_root: recorded.square_root,
        trigonometry.hyperbolic_tangent: recorded.hyperbolic_tangent,
        trigonometry.arctangent: recorded.arctangent,
        trigonometry.sign_of: recorded.sign_of,
        constraint_system.larger_of: lambda a, b: a,
        constraint_system.root_of_pivot: _root_of_pivot,
    }
    return link_interpreted({"numbers"}, given | without_decisions() | more)


def without_decisions() -> dict[Any, Any]:
    """What takes the place of slots that decide by the state: the side on which functions of a record are.

    Limits of joints do not act, efforts are within their bounds. Whoever asks for such a function is told where this
    holds.
    """
    return {
        force_elements.element_fault: lambda model, data: 0,
        joint_limits.is_in_reach: lambda model, data, h, k: False,
        bounded_rows.largest_disagreement: lambda model, data: 0.0,
        bounded_rows.clamped_effort: lambda data, i, x: (
            data.bounded_row[i, ROW_OFFSET] - data.bounded_row[i, ROW_SLOPE] * x
        ),
    }


def _root_of_pivot(pivot: Any, least: Any, tolerance: Any, inverse_before: Any) -> tuple[Any, Any]:
    """As the kernel of this name where the rows of constraints that depend on others are known: those with 0 before."""
    if type(inverse_before) is not recorded.Recorded and inverse_before == 0.0:
        return 0.0, 0.0
    root = recorded.square_root(pivot)
    return root, 1.0 / root


def record_function(
    function: str | ModelFunction,
    model: Any,
    of: Any = None,
    title: str = "",
    free: Variable | None = None,
    model_of: Callable[[Any], Any] | None = None,
    ways: Sequence[Way] = (),
) -> Record:
    """A function of a model, recorded.

    Args:
        function: or the name of one of MODEL_FUNCTIONS.
        of: as its `call` takes it.
        free: one more input, parameters that stay free; model_of: numbers of it -> the model, of these numbers.
        ways: to compute the same otherwise; the way with the fewest operations is kept.

    ModelError for a model whose forces decide by the state.
    """
    if isinstance(function, str):
        title = title or function
        function = MODEL_FUNCTIONS[function]
    if not covers(model):
        raise ModelError(
            "a record of operations cannot hold spring-dampers, bushings and transmissions: they decide by the state"
        )
    graph = Graph()
    variables = function.input_variables(model.sizes) + ([free] if free else [])
    inputs = _inputs(graph, variables)
    if free is not None and model_of is not None:
        graph.first_free = sum(each.size for each in variables[:-1])
        model = model_of(inputs.pop())
    objects = model.replace(dtype=object, **_without_rounding(model))
    outputs = function.evaluate(recorded_kernels(), objects, Data(model.sizes, np.dtype(object)), inputs, of)
    found = [[x for array in outputs for x in array.flat]]
    found += [way(recorded_kernels(), objects, inputs) for way in (*ways, *function.ways)]
    records = []
    for numbers in found:
        nodes = [x.node if type(x) is recorded.Recorded else graph.constant(x) for x in numbers]
        records.append(Record(title, graph, variables, function.output_variables(model.sizes), nodes))
    return min(records, key=lambda record: record.num_operations)


def _inputs(graph: Graph, variables: Sequence[Variable]) -> list[Any]:
    inputs, first = [], 0
    for variable in variables:
        array = np.empty(variable.shape, dtype=object)
        array[:] = [recorded.Recorded(graph, graph.input(first + k)) for k in range(variable.size)]
        inputs.append(array)
        first += variable.size
    return inputs


def _without_rounding(model: Any) -> dict[str, Any]:
    """The real arrays of a model, with exact zeros and ones in rotations and zeros in inertias where rounding stands.

    A turn by a right angle has elements such as 6e-17, which would keep operations alive that are none.
    """
    arrays = {field.name: getattr(model, field.name).copy() for field in MODEL_FIELDS if field.kind == "real"}
    for name in ("body_X_PF", "link_X_BL", "frame_X_BF"):
        R = arrays[name][..., :9]
        R[...] = np.reshape([_near_whole(x) for x in R.flat], R.shape)
    for name in ("body_inertia", "link_inertia", "gravitating_mass"):
        for row in arrays[name]:
            for part in (row[1:4], row[4:10]):
                numbers = [x for x in part if type(x) is not recorded.Recorded]
                largest = max(map(abs, numbers), default=0.0)
                part[:] = [_without_trace(x, largest) for x in part]
    return arrays


def _near_whole(x: Any) -> Any:
    return x if type(x) is recorded.Recorded or abs(x - round(x)) >= ROUNDING else float(round(x))


def _without_trace(x: Any, largest: float) -> Any:
    return x if type(x) is recorded.Recorded or abs(x) >= ROUNDING * largest else 0.0
