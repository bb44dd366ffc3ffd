"""Settings of a plant that say how contact is to be modelled. They are kept and reported; see each one's use.

All setters but those of the penetration allowance and the stiction tolerance are for the time before Finalize().
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from mbcli.config.plant_config import STEP_SCHEMES
from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
from mbcli.multibody.core.constraints import change_contact_law
from mbcli.multibody.core.plant_settings import (
    CONTINUOUS_STICTION,
    DISCRETE_ALLOWANCE,
    DISCRETE_STICTION,
    DRAKES_ALLOWANCE,
    DRAKES_NEAR_RIGID,
    DRAKES_STICTION,
    NEAR_RIGID,
    BaseBodyJointType,
    ContactModel,
    DiscreteContactApproximation,
    DiscreteContactSolver,
)
from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.tree.index import ModelInstanceIndex

    Choice = TypeVar("Choice", bound=Enum)


def set_time_step(plant: PlantData, time_step: float) -> None:
    """[s], greater than 0: another step of a discrete plant, before Finalize()."""
    plant.require_not_finalized("set_time_step")
    if not plant.is_discrete():
        raise RuntimeError("set_time_step: the plant is continuous, it has no step")
    plant.step_length = _positive("set_time_step", time_step)


def SetBaseBodyJointType(
    plant: PlantData, joint_type: BaseBodyJointType, model_instance: ModelInstanceIndex | None = None
) -> None:
    """The joint of bodies that nothing connects to World, of one model instance or of all that have none of their own.

    RuntimeError after Finalize().
    """
    plant.require_not_finalized("SetBaseBodyJointType")
    if not isinstance(joint_type, BaseBodyJointType):
        raise TypeError(f"SetBaseBodyJointType: {joint_type!r} is not a BaseBodyJointType")
    plant.base_joint_types[None if model_instance is None else int(model_instance)] = joint_type


def GetBaseBodyJointType(plant: PlantData, model_instance: ModelInstanceIndex | None = None) -> BaseBodyJointType:
    """That of a model instance, or of all that have none of their own."""
    of_all = plant.base_joint_types[None]
    return of_all if model_instance is None else plant.base_joint_types.get(int(model_instance), of_all)


def set_penetration_allowance(plant: PlantData, penetration_allowance: float = 0.001) -> None:
    """[m], greater than 0: how deep the loads of bodies may press point contact of default stiffness.

    A plant for which it is not set has 0.1 mm in discrete steps, which resolve any stiffness at no cost, and 1 mm where
    it is continuous, whose equations are the stiffer the smaller it is, has deformable bodies, or contact_defaults
    `drake`. After Finalize() it counts in contexts made from then on.
    """
    plant.settings.penetration_allowance = _positive("set_penetration_allowance", penetration_allowance)
    plant.known_geometries = None


def get_penetration_allowance(plant: PlantData) -> float:
    """[m]"""
    if plant.settings.penetration_allowance is not None:
        return plant.settings.penetration_allowance
    return DISCRETE_ALLOWANCE if plant.is_discrete() and not _is_soft(plant) else DRAKES_ALLOWANCE


def set_stiction_tolerance(plant: PlantData, v_stiction: float = 0.001) -> None:
    """[m/s], greater than 0: slip speed below which contact counts as sticking.

    A plant for which it is not set has 1e-6 m/s in discrete steps, which costs them nothing, and 1e-3 m/s where it
    is continuous, whose equations are the stiffer the smaller it is; with contact_defaults `drake` 1e-4 m/s. After
    Finalize() it counts in contexts made from then on.
    """
    plant.settings.stiction_tolerance = _positive("set_stiction_tolerance", v_stiction)


def get_stiction_tolerance(plant: PlantData) -> float:
    """[m/s]"""
    return stiction_tolerance_of(plant, plant.is_discrete())


def stiction_tolerance_of(plant: PlantData, discrete: bool) -> float:
    """[m/s]: of steps, or of the law of continuous plants, which tells contacts of a state of both kinds."""
    if plant.settings.stiction_tolerance is not None:
        return plant.settings.stiction_tolerance
    if plant.settings.contact_defaults == "drake":
        return DRAKES_STICTION
    return DISCRETE_STICTION if discrete else CONTINUOUS_STICTION


def set_sleep_tolerance(plant: PlantData, v_sleep: float = 1e-3) -> None:
    """[m/s], not negative: speed below which what contacts hold at rest may sleep in runs; 0: nothing sleeps.

    See docs/how-to/sleep.md. RuntimeError for a continuous plant.
    """
    plant.require_not_finalized("set_sleep_tolerance")
    if not plant.is_discrete():
        raise RuntimeError("set_sleep_tolerance: the plant is continuous, its time step is 0")
    if not 0.0 <= v_sleep < float("inf"):
        raise RuntimeError(f"set_sleep_tolerance: the value must be finite and not negative, it is {v_sleep}")
    plant.settings.sleep_tolerance = float(v_sleep)


def get_sleep_tolerance(plant: PlantData) -> float:
    """[m/s]; 0, unless it was set: nothing sleeps."""
    return plant.settings.sleep_tolerance


def set_step_scheme(plant: PlantData, step_scheme: str = "midpoint") -> None:
    """How discrete steps advance: "midpoint", or "drake" as pydrake does, see docs/explanation/discrete_steps.md.

    RuntimeError for another name.
    """
    plant.require_not_finalized("set_step_scheme")
    if step_scheme not in STEP_SCHEMES:
        raise RuntimeError(f"set_step_scheme: {step_scheme!r} is none of {', '.join(STEP_SCHEMES)}")
    plant.settings.step_scheme = step_scheme


def get_step_scheme(plant: PlantData) -> str:
    """The name of the scheme of discrete steps: "midpoint", unless it was set."""
    return plant.settings.step_scheme


def get_contact_penalty_method_time_scale(plant: PlantData) -> float:
    """[s] in which stiffnesses that let bodies sink by the penetration allowance stop two bodies.

    1 / w with w = sqrt(g / penetration allowance): w^2 times a mass carries its weight at the allowance. Default
    stiffnesses are higher where something would not stand by these (docs/explanation/contact_defaults.md).
    After Finalize().
    """
    plant.require_finalized("get_contact_penalty_method_time_scale")
    return float(np.sqrt(get_penetration_allowance(plant) / strength_of_gravity(plant)))


def strength_of_gravity(plant: PlantData) -> float:
    """[m/s^2] of the gravity field, standard gravity if there is none."""
    return float(np.linalg.norm(plant.gravity.gravity_vector())) or UniformGravityFieldElement.kDefaultStrength


def _positive(setter: str, value: float) -> float:
    if not 0.0 < value < float("inf"):
        raise RuntimeError(f"{setter}: the value must be finite and greater than 0, it is {value}")
    return float(value)


def set_contact_model(plant: PlantData, model: ContactModel) -> None:
    """A ContactModel."""
    plant.settings.contact_model = _member(plant, "set_contact_model", ContactModel, model)


def get_contact_model(plant: PlantData) -> ContactModel:
    """The contact model."""
    return plant.settings.contact_model


def set_contact_surface_representation(
    plant: PlantData, surface_representation: HydroelasticContactRepresentation
) -> None:
    """A HydroelasticContactRepresentation."""
    plant.settings.contact_surface_representation = _member(
        plant, "set_contact_surface_representation", HydroelasticContactRepresentation, surface_representation
    )


def get_contact_surface_representation(plant: PlantData) -> HydroelasticContactRepresentation:
    """Polygons for a discrete plant, triangles for a continuous one, unless it was set."""
    return plant.settings.contact_surface_representation


def set_sap_near_rigid_threshold(plant: PlantData, near_rigid_threshold: float = 1.0) -> None:
    """Not negative: share of the stiffness that a step resolves above which contact is softened; 0: nowhere.

    A plant for which it is not set has 0.03, so that what is light carries heavy things; with deformable bodies and
    with contact_defaults `drake` 1.
    """
    plant.require_not_finalized("set_sap_near_rigid_threshold")
    if not 0.0 <= near_rigid_threshold < float("inf"):
        raise RuntimeError(
            f"set_sap_near_rigid_threshold: the value must be finite and not negative, it is {near_rigid_threshold}"
        )
    plant.settings.sap_near_rigid_threshold = float(near_rigid_threshold)


def get_sap_near_rigid_threshold(plant: PlantData) -> float:
    """The threshold of near-rigid regularization, a number without unit."""
    if plant.settings.sap_near_rigid_threshold is not None:
        return plant.settings.sap_near_rigid_threshold
    return DRAKES_NEAR_RIGID if _is_soft(plant) else NEAR_RIGID


def _is_soft(plant: PlantData) -> bool:
    """Whether contact is as soft as pydrake's: with its defaults, and that of deformable bodies."""
    return plant.settings.contact_defaults == "drake" or bool(plant.elements.deformable_bodies)


def set_adjacent_bodies_collision_filters(plant: PlantData, value: bool) -> None:
    """Whether bodies that a joint connects do not collide with each other."""
    plant.require_not_finalized("set_adjacent_bodies_collision_filters")
    plant.settings.adjacent_bodies_collision_filters = bool(value)


def get_adjacent_bodies_collision_filters(plant: PlantData) -> bool:
    """Whether bodies that a joint connects do not collide with each other."""
    return plant.settings.adjacent_bodies_collision_filters


def set_discrete_contact_approximation(plant: PlantData, approximation: DiscreteContactApproximation) -> None:
    """How steps of a discrete plant solve contact.

    Args:
      approximation: a DiscreteContactApproximation.

    Raises:
      RuntimeError: the plant is continuous; after Finalize().

    Example:
      >>> stepping = MultibodyPlant(0.01)
      >>> stepping.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    """
    approximation = _member(plant, "set_discrete_contact_approximation", DiscreteContactApproximation, approximation)
    if not plant.is_discrete():
        raise RuntimeError("set_discrete_contact_approximation: the plant is continuous, its time step is 0")
    change_contact_law(plant, approximation.name[1:].lower())  # as configurations spell it


def get_discrete_contact_approximation(plant: PlantData) -> DiscreteContactApproximation:
    """The DiscreteContactApproximation, kLagged if none was set."""
    return DiscreteContactApproximation[f"k{plant.settings.discrete_contact_approximation.capitalize()}"]


def set_discrete_contact_solver(plant: PlantData, contact_solver: DiscreteContactSolver) -> None:
    """The solver's own approximation, kTamsi or kSap. Does nothing for a continuous plant."""
    solver = _member(plant, "set_discrete_contact_solver", DiscreteContactSolver, contact_solver)
    if plant.is_discrete():
        change_contact_law(plant, solver.name[1:].lower())


def get_discrete_contact_solver(plant: PlantData) -> DiscreteContactSolver:
    """kTamsi under the kTamsi approximation, else kSap."""
    return DiscreteContactSolver.kSap if plant.settings.is_convex() else DiscreteContactSolver.kTamsi


def _member(plant: PlantData, setter: str, kind: type[Choice], value: Any) -> Choice:
    plant.require_not_finalized(setter)
    if not isinstance(value, kind):
        raise TypeError(f"{setter}: expected a {kind.__name__}, not {value!r}")
    return value
