"""Energies of a plant in a context, and the powers of its forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.multibody.core.force_elements import check_force_elements
from mbcli.multibody.core.mass_properties import coms

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState


def CalcKineticEnergy(plant: PlantData, context: Context) -> Scalar:
    """Kinetic energy, reflected inertias included.

    Args:
      context: state of this plant.

    Returns:
      [J].

    Raises:
      RuntimeError: the context is another plant's.

    Example:
      >>> round(plant.CalcKineticEnergy(context), 4)
      0.7031
    """
    return energies_and_power(plant, context)[0]


def CalcPotentialEnergy(plant: PlantData, context: Context) -> Scalar:
    """Potential energy of gravity and all force elements; gravity counts from the world's origin.

    Args:
      context: state of this plant.

    Returns:
      [J].

    Raises:
      RuntimeError: the context is another plant's; an element, as a bushing, has no potential energy.

    Example:
      >>> round(plant.CalcPotentialEnergy(context), 4)
      22.4071
    """
    energy = energies_and_power(plant, context)[1]
    return energy if not plant.special_force_elements else energy + _of_users(plant, context, "CalcPotentialEnergy")


def energies(plant: PlantData, context: Context) -> tuple[float, float]:
    """Kinetic and potential energy [J]; the potential one is NaN if an element has none."""
    try:
        potential = CalcPotentialEnergy(plant, context)
    except RuntimeError:
        potential = np.nan
    return CalcKineticEnergy(plant, context), potential


def CalcBodyEnergies(plant: PlantData, context: Context) -> dict[str, dict[str, float]]:
    """{scoped body name: {"kinetic", "potential"}} [J] of every body but World, without reflected inertias."""
    plant.check_context(context)
    mass, position, velocity = coms(context)
    state = context.state
    inertia, V = state.model.link_inertia[1:], state.data.V_WL[1:]
    R = state.data.X_WL[1:, :9].reshape(-1, 3, 3)
    central = inertia[:, [4, 7, 8, 7, 5, 9, 8, 9, 6]].reshape(-1, 3, 3)
    w_L = np.einsum("nji,nj->ni", R, V[:, :3])
    kinetic = 0.5 * (mass * (velocity**2).sum(axis=1) + np.einsum("ni,nij,nj->n", w_L, central, w_L))
    potential, number = -mass * (position @ state.model.gravity), state.scalar.number
    return {
        str(body.scoped_name().get_full()): {
            "kinetic": number(kinetic[n]),
            "potential": number(potential[n]) if plant.gravity.acts_on(body) else 0.0,
        }
        for n, body in enumerate(plant.elements.bodies[1:])
    }


def CalcConservativePower(plant: PlantData, context: Context) -> Scalar:
    """[W] of gravity and all force elements: minus the rate of the potential energy"""
    power = energies_and_power(plant, context)[2]
    return power if not plant.special_force_elements else power + _of_users(plant, context, "CalcConservativePower")


def CalcNonConservativePower(plant: PlantData, context: Context) -> Scalar:
    """[W] of what force elements dissipate or feed in; joint damping, actuation and applied forces do not count."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    power = state.velocity_cache.remember("nonconservative_power", _nonconservative_power, state)
    return power if not plant.special_force_elements else power + _of_users(plant, context, "CalcNonConservativePower")


def CalcJointDampingPower(plant: PlantData, context: Context) -> Scalar:
    """[W] at which the damping of joints does work, which is not positive."""
    plant.check_context(context)
    state = context.state
    state.ready_parameters()
    v, damping = state.v, state.model.dof_damping
    return state.scalar.number(0.0 - (damping * v * v).sum())


def energies_and_power(plant: PlantData, context: Context) -> tuple[Scalar, Scalar, Scalar]:
    """Kinetic and potential energy [J], conservative power [W], of what the engine knows."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    return state.velocity_cache.remember("energy", _energies_and_power, state)


def _of_users(plant: PlantData, context: Context, method: str) -> Scalar:
    """What users' elements add to an energy or power. Raises if an element of the engine has none."""
    if plant.watched_force_elements:
        _, bushings = plant.watched_force_elements
        if bushings:
            getattr(bushings[0], method)(context)  # raises
        check_force_elements(plant, context)
    return sum(getattr(element, method)(context) for element in plant.user_force_elements)


def _energies_and_power(state: EvaluatedState) -> tuple[Scalar, Scalar, Scalar]:
    power, number = state.at_velocities().calc_energy(), state.scalar.number
    kinetic, potential = state.data.energy.tolist()
    return number(kinetic), number(potential), number(power)


def _nonconservative_power(state: EvaluatedState) -> Scalar:
    return state.scalar.number(state.at_velocities().calc_nonconservative_power())
