"""Where many worlds start, as a caller gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.models.states import set_state_by_names

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class Starts(NamedTuple):
    """Where worlds start.

    Attributes:
        q: (n, nq) [rad or m]
        v: (n, nv) [rad/s or m/s]
        u: (n, nu) [N m or N], held for the whole run; None for none.
    """

    q: FloatArray
    v: FloatArray
    u: FloatArray | None = None


def given_starts(plant: MultibodyPlant, given: Any) -> Starts:
    """Starts of q, (q, v), (q, v, u) or {name: values}, as of simulate_each(). ArgumentError for what is none."""
    if isinstance(given, Starts):
        return given
    what = argument("starts")
    try:
        if isinstance(given, np.ndarray) and given.ndim == 2:  # positions, at rest
            q, v, u = given.astype(float), np.zeros((len(given), plant.num_velocities())), []
        elif not isinstance(given, dict):
            q, v, *u = (np.array(each, dtype=float, ndmin=2) for each in given)
        else:
            values = np.broadcast_arrays(*(np.atleast_1d(np.asarray(each, dtype=float)) for each in given.values()))
            count = len(values[0]) if values else 0
            q, v, u = np.empty((count, plant.num_positions())), np.empty((count, plant.num_velocities())), []
            context = plant.CreateDefaultContext()
            for k in range(count):
                set_state_by_names(plant, context, {n: float(x[k]) for n, x in zip(given, values, strict=True)})
                q[k], v[k] = plant.GetPositions(context), plant.GetVelocities(context)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: expected q, (q, v), (q, v, u) or {{name: values}}: {error}") from None
    sizes = (plant.num_positions(), plant.num_velocities(), plant.num_actuators())
    for name, array, size in zip("qvu", (q, v, *u), sizes, strict=False):
        if array.shape != (len(q), size) or not np.isfinite(array).all() or not len(q):
            raise ArgumentError(f"{what}: {name} has shape {array.shape}, expected finite numbers ({len(q)}, {size})")
    return Starts(q, v, *u[:1])
