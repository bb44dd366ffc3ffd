"""Every array that is the state of a context, its parameters or its inputs: what no question may change."""

import numpy as np
from machine_results import numbers


def state_arrays(context):
    """{name: copy} of time, coordinates, parameters and inputs, of the last step and of what a run remembers.

    Arrays of the engine too: what public getters copy may come from elsewhere.
    """
    state, plant = context.state, context.state.plant
    q, v = np.array(state.data.q), np.array(state.data.v)
    found = {"time": np.array([state.time]), "q": q, "v": v, "x": np.array(state.x)}
    found |= {f"vertices {k}": own.values.copy() for k, own in enumerate(state.deformables)}
    found |= {f"input {name}": flat(value) for name, value in context.inputs.fixed.items()}
    for (element, name), value in state.parameters.values.items():
        found[f"{name} of {type(element).__name__} at {id(element)}"] = flat(value)
    for joint in plant.elements.joints:
        found[f"lock of {joint.name()}"] = np.array([joint.is_locked(context)])
    if context.last_step.start is not None:
        time, *arrays, inputs, _ = context.last_step.start
        found |= {f"last step, {n}": np.array(x) for n, x in zip(("time", "q", "v"), (time, *arrays), strict=True)}
        found |= {f"last step, {name}": flat(value) for name, value in inputs.items()}
    if state.parameters_current:  # else questions make new ones
        for field in type(state.model).fields:
            found[f"model.{field.name}"] = np.array(getattr(state.model, field.name))
        active = state._constraints  # asked for, they would be made
        if active is not None and active.is_attached():
            found |= {f"{name} of a run": getattr(active.work, name).copy() for name in ("ranks", "row_scale")}
    return found


def flat(value):
    """All numbers of a value, whatever objects hold them, and the names of objects that hold none."""
    if value is None or isinstance(value, str):
        return np.array([str(value)])
    if isinstance(value, (list, tuple)):
        parts = [flat(x) for x in value]
        return np.concatenate(parts) if parts else np.zeros(0)
    if hasattr(value, "F_Bq_W"):
        return np.concatenate([[float(int(value.body_index))], value.p_BoBq_B, value.F_Bq_W.get_coeffs()])
    if hasattr(value, "get_moments"):  # of inertias
        return np.concatenate([value.get_moments(), value.get_products()])
    return np.concatenate([np.ravel(x) for x in numbers(value)] or [np.zeros(0)])


def changed(before, context):
    """Names of the arrays that are not, bit by bit, what they were."""
    after = state_arrays(context)
    return [name for name, array in before.items() if not same_bits(array, after.get(name))]


def same_bits(a, b):
    return b is not None and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
