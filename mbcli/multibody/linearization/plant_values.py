"""The state and the inputs of a plant as numbers, by which its motion is differentiated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState

STEP = 1e-30  # of complex numbers


@dataclass
class PlantValues:
    """State and inputs of a plant as numbers: q, v, u (nu,), tau (nv,), desired (controllers, 2)."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    tau: np.ndarray
    desired: np.ndarray

    def moved(self, name: str, change: np.ndarray) -> PlantValues:
        """A copy in which one of them is changed by numbers in its order."""
        value = getattr(self, name)
        return PlantValues(**(vars(self) | {name: value + np.reshape(change, value.shape)}))

    def plus(self, name: str, index: int, step: float) -> PlantValues:
        """A copy, complex, in which one number has a small imaginary part."""
        values = {key: value.astype(complex) for key, value in vars(self).items()}
        values[name].reshape(-1)[index] += 1j * step
        return PlantValues(**values)


def unlocked(state: EvaluatedState) -> Vector:
    """(nv,) 1 for a velocity, 0 for one that is locked."""
    found = np.ones(state.v.size)
    found[state.model.locked_dof] = 0.0
    return found


def values_at(plant: MultibodyPlant, context: Context) -> PlantValues:
    """PlantValues of a context. RuntimeError for a plant with force elements of a user."""
    plant.check_context(context)
    if plant.user_force_elements:
        name = type(plant.user_force_elements[0]).__name__
        raise RuntimeError(f"a plant with a force element of a user, {name}, cannot be linearized")
    state = context.state
    state.at_positions()
    plant.check_force_elements(context)
    plant.set_controllers(context)
    u = plant.actuation(context)
    applied = context.inputs.value("applied_generalized_force", context)
    tau = np.zeros(state.v.size) if applied is None else np.array(applied)
    return PlantValues(state.q.copy(), state.v.copy(), u, tau, state.data.pd_desired.copy())
