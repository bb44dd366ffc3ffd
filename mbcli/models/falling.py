"""Robots that nothing holds, and below which nothing lies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.models.mechanisms import mechanisms
from mbcli.multibody.tree.constraints import CouplerConstraint

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


def falling_in_words(plant: MultibodyPlant) -> str | None:
    """A sentence on robots with joints that fall from the start of a run on, with what holds them; None without any.

    Nothing is said where something may carry them: a fixed solid, a spring, a constraint, a thrust at a site.
    """
    if _may_be_carried(plant) or not plant.gravity_field().gravity_vector().any():
        return None
    free = [n for n, joint in sorted(plant.free_joints.items()) if joint.is_ephemeral()]
    if not free:
        return None
    number, bodies = mechanisms(plant), plant.elements.bodies
    jointed = {number[int(j.child_body().index())] for j in plant.moving_joints() if j.num_velocities() < 6}
    of_robots = [bodies[n] for n in free if number[n] in jointed]
    falling = [body for body in of_robots if plant.is_gravity_enabled(body.model_instance())]
    if not falling:
        return None
    names = listed([f"'{plant.name_in_contact(body)}'" for body in falling])
    base, falls, it, their = (
        ("base", "it falls", "it", "its") if len(falling) == 1 else ("bases", "they fall", "them", "their")
    )
    floor = "" if has_fixed_solids(plant) else f", {argument('ground')} puts {it} on a floor"
    return (
        f"nothing holds the {base} {names}, and nothing is below: {falls}; {argument('weld_base')} holds {it} where "
        f"{their} file puts {it}{floor}"
    )


def _may_be_carried(plant: MultibodyPlant) -> bool:
    elements = plant.elements
    if len(elements.force_elements) > 1 or elements.plugins:
        return True
    if any(a.transmission().kind.startswith("site") for a in elements.transmission_actuators):
        return True
    if any(not isinstance(constraint, CouplerConstraint) for constraint in elements.constraints):
        return True
    return plant.meets_contact() and has_fixed_solids(plant)


def has_fixed_solids(plant: MultibodyPlant) -> bool:
    """Whether some solid of the plant does not move."""
    if plant.scene_graph is None:
        return False
    return any(plant.GetCollisionGeometriesForBody(body) for body in plant.elements.bodies if plant.IsAnchored(body))
