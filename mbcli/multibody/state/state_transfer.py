"""A state in the context of another plant with the same elements: a copy, or one of another scalar type."""

from __future__ import annotations

from typing import Any

import numpy as np

ELEMENTS = (
    *("bodies", "frames", "joints", "actuators", "transmission_actuators", "tendon_springs"),
    *("force_elements", "constraints", "deformable_bodies"),
)


def set_time_state_and_parameters(context, source):
    """The work of Context.SetTimeStateAndParametersFrom(); parameters go to the elements of the same index."""
    state = context.state
    plant, other, scalar = state.plant, source.state.plant, state.scalar
    if state.q.size != source.state.q.size or state.v.size != source.state.v.size:
        raise RuntimeError("the contexts belong to plants with different coordinates")
    counterpart = _counterparts(plant, other)
    converted = scalar.convert(source.state.q), scalar.convert(source.state.v)
    for target, value in zip((state.data.q, state.data.v), converted, strict=True):
        np.copyto(target, value, casting="same_kind")
    sizes = [[own.values.size for own in s.deformables] for s in (state, source.state)]
    if sizes[0] != sizes[1]:
        raise RuntimeError("the contexts belong to plants with different deformable bodies")
    for ours, theirs in zip(state.deformables, source.state.deformables, strict=True):
        ours.set_values(theirs.values)
    np.copyto(state.data.activation, scalar.convert(source.state.data.activation), casting="same_kind")
    state.time = source.state.time
    state.parameters = source.state.parameters.of_elements(counterpart)
    state.parameters_current = False
    last_step, vertices = source.last_step.start, source.last_step.deformables  # of the context itself too
    context.last_step.replace(None)
    if last_step is not None:
        time, q, v, inputs, parameters = last_step
        inputs = {n: scalar.convert(u) if isinstance(u, np.ndarray) else u for n, u in inputs.items()}
        start = time, scalar.convert(q), scalar.convert(v), inputs
        context.last_step.replace((*start, parameters.of_elements(counterpart)), tuple(x.copy() for x in vertices))
    state.forget_positions()


def _counterparts(plant, other):
    """{element of another plant: that of this one, of the same kind and index}; RuntimeError if numbers differ."""
    if plant.origin is other.origin:
        return None
    same: dict[Any, Any] = {}
    for kind in ELEMENTS:
        ours, theirs = getattr(plant.elements, kind), getattr(other.elements, kind)
        if len(ours) != len(theirs):
            raise RuntimeError(f"the contexts belong to plants with {len(ours)} and {len(theirs)} {kind}")
        same.update(zip(theirs, ours, strict=True))
    return same
