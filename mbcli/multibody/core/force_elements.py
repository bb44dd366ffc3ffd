"""Force elements of a plant and the forces of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import NumericalError
from mbcli.multibody.compilation.compile_force_elements import DistanceSpring, cut_joints
from mbcli.multibody.core.constraints import is_spring
from mbcli.multibody.core.coordinates import num_velocities
from mbcli.multibody.core.lookup import num_bodies
from mbcli.multibody.tree.ball_spring import BallSpring
from mbcli.multibody.tree.bushing import LinearBushingRollPitchYaw
from mbcli.multibody.tree.door_hinge import DoorHinge
from mbcli.multibody.tree.force_element import redefines
from mbcli.multibody.tree.joint_spring import JointSpring
from mbcli.multibody.tree.linear_spring_damper import LinearSpringDamper
from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.multibody.tree.uniform_gravity import UniformGravityFieldElement

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.force_element import ForceElement
    from mbcli.multibody.tree.index import ModelInstanceIndex
    from mbcli.multibody.tree.joint import Joint

# what the engine has arrays and kernels for; a subclass that computes something else runs in Python
COMPILED = (
    *(JointSpring, BallSpring, LinearSpringDamper, DoorHinge, LinearBushingRollPitchYaw),
    UniformGravityFieldElement,
)


def is_compiled(element: ForceElement) -> bool:
    """Whether the engine computes an element's forces, and not the methods of a user's class."""
    return any(isinstance(element, kind) and not redefines(element, kind) for kind in COMPILED)


def gravity_field(plant: PlantData) -> UniformGravityFieldElement:
    """The gravity field, which every plant has.

    Returns:
      The force element; its vector is in W [m/s^2].

    Example:
      >>> plant.gravity_field().gravity_vector()
      array([ 0.  ,  0.  , -9.81])
    """
    return plant.gravity


def mutable_gravity_field(plant: PlantData) -> UniformGravityFieldElement:
    """The gravity field, to be changed.

    Returns:
      The force element; set_gravity_vector() takes g_W (3,) [m/s^2], and raises RuntimeError after Finalize().

    Example:
      >>> moon = MultibodyPlant(0.0)
      >>> moon.mutable_gravity_field().set_gravity_vector([0, 0, -1.62])
      >>> moon.gravity_field().gravity_vector()
      array([ 0.  ,  0.  , -1.62])
    """
    return plant.gravity


def set_gravity_enabled(plant: PlantData, model_instance: ModelInstanceIndex, is_enabled: bool) -> None:
    """Switches gravity for all bodies of an instance, before Finalize()."""
    plant.require_not_finalized("set_gravity_enabled")
    plant.gravity.set_enabled(model_instance, is_enabled)


def is_gravity_enabled(plant: PlantData, model_instance: ModelInstanceIndex) -> bool:
    """Whether gravity acts on a model instance."""
    return plant.gravity.is_enabled(model_instance)


# after Finalize()


def compiled_force_elements(plant: PlantData) -> list[Any]:
    """What has arrays in the engine: elements, distance constraints that are springs, joints that close loops."""
    elements = [
        e
        for e in plant.elements.force_elements
        if is_compiled(e) and not any(p in plant.elements.loop_joints for p in e.tied_elements())
    ]
    distances = [DistanceSpring(c, plant) for c in plant.elements.constraints if is_spring(plant, c)]
    springs: dict[Joint, list[JointSpring]] = {joint: [] for joint in plant.elements.loop_joints}
    for e in plant.elements.force_elements:
        if isinstance(e, JointSpring) and e.joint() in springs:
            springs[e.joint()].append(e)
    cuts = [cut for joint, found in springs.items() for cut in cut_joints(joint, found)]
    return [*elements, *distances, *cuts]


def sizes_of_forces(plant: PlantData) -> tuple[int, int]:
    """Numbers of bodies and velocities: those of MultibodyForces of this plant."""
    return num_bodies(plant), num_velocities(plant)


def check_forces(plant: PlantData, forces: MultibodyForces) -> None:
    """TypeError or RuntimeError for what is not MultibodyForces of this plant."""
    if type(forces) is MultibodyForces and forces.sizes == plant.sizes_of_forces:
        return
    if not isinstance(forces, MultibodyForces):
        raise TypeError(f"expected MultibodyForces, not {forces!r}")
    if forces.num_bodies() != num_bodies(plant) or forces.num_velocities() != num_velocities(plant):
        raise RuntimeError(
            f"these forces are for {forces.num_bodies()} bodies and {forces.num_velocities()} velocities, "
            f"the plant has {num_bodies(plant)} and {num_velocities(plant)}"
        )


def user_force_elements(plant: PlantData) -> list[ForceElement]:
    """The elements whose forces are computed by a user's class."""
    plant.require_finalized("force elements")
    return [e for e in plant.elements.force_elements if not is_compiled(e)]


def watched_force_elements(plant: PlantData) -> tuple[list[Any], list[LinearBushingRollPitchYaw]] | None:
    """Those whose force is not defined everywhere, as the engine counts them: spring-dampers, bushings."""
    elements = compiled_force_elements(plant)
    springs = [e for e in elements if isinstance(e, (LinearSpringDamper, DistanceSpring))]
    bushings = [e for e in elements if isinstance(e, LinearBushingRollPitchYaw)]
    return (springs, bushings) if springs or bushings else None


def special_force_elements(plant: PlantData) -> bool:
    """Whether there are elements that the engine does not compute, or whose force is not defined everywhere."""
    return bool(plant.user_force_elements or plant.watched_force_elements)


def force_element_fault(plant: PlantData, context: Context) -> Any:
    """The element that has no force at the positions for which the context's data were computed last, or None."""
    fault = context.state.calls.calc_element_fault()
    if fault == 0 or plant.watched_force_elements is None:
        return None
    springs, bushings = plant.watched_force_elements
    return springs[fault - 1] if fault > 0 else bushings[-fault - 1]


def check_force_elements(plant: PlantData, context: Context) -> None:
    """NumericalError if a spring-damper has no length or a bushing is in gimbal lock."""
    if plant.watched_force_elements:
        context.state.at_positions()
        element = force_element_fault(plant, context)
        if element is not None:
            raise NumericalError(element.fault())


def user_forces(plant: PlantData, context: Context) -> MultibodyForces:
    """The forces of the users' elements. Their methods may compute anything in the context, its data change."""
    forces = MultibodyForces(plant.whole_plant())
    for element in plant.user_force_elements:
        element.CalcAndAddForceContribution(context, forces)
    return forces


def force_element_forces(
    plant: PlantData, context: Context, gravity: float, others: float, damping: float
) -> tuple[Matrix, Vector]:
    """Body forces (num_bodies, 6) and generalized forces (nv,) of gravity, all other elements, joint damping."""
    state = context.state
    F, tau = np.empty((num_bodies(plant), 6), state.dtype), np.empty(state.shape_v, state.dtype)
    _set_force_element_forces(plant, context, float(gravity), float(others), float(damping), F, tau)
    return F, tau


def _set_force_element_forces(
    plant: PlantData, context: Context, gravity: float, others: float, damping: float, F: Matrix, tau: Vector
) -> None:
    """The same as far as the three are 1, not 0, into arrays."""
    user = None
    if others and plant.special_force_elements:
        check_force_elements(plant, context)
        user = user_forces(plant, context)
    context.state.at_velocities().calc_force_elements(gravity, others, damping, F, tau)
    if user is not None:
        F += user.F_Bo_W
        tau += user.tau


def CalcForceElementsContribution(plant: PlantData, context: Context, forces: MultibodyForces) -> None:
    """Sets `forces` to those of gravity, springs, all other force elements and joint damping.

    Args:
      context: state of this plant.
      forces: made for this plant; body forces [N m, N] and generalized forces (nv,) [N m or N] are written.

    Raises:
      RuntimeError: the context or the forces are another plant's.

    Example:
      >>> forces = MultibodyForces(plant)
      >>> plant.CalcForceElementsContribution(context, forces)
      >>> plant.GetBodyByName("lower").GetForceInWorld(context, forces).translational()  # its weight
      array([ 0.   ,  0.   , -5.886])
    """
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if type(forces) is not MultibodyForces or forces.sizes is not plant.sizes_of_forces:
        check_forces(plant, forces)
    F, tau = forces.F_Bo_W, forces.tau
    if plant.special_force_elements:
        _set_force_element_forces(plant, context, 1.0, 1.0, 1.0, F, tau)
    else:
        calls = state.calls if state.velocities_current else state.at_velocities()
        calls.calc_force_elements(1.0, 1.0, 1.0, F, tau)
