"""Contact of a plant: what touches what, and with which force."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine import load_kernels
from mbcli.errors import ModelError
from mbcli.geometry.properties import TORSIONAL_FRICTION
from mbcli.multibody.contact.meeting_contact import prepare_contact
from mbcli.multibody.core.geometry import compiled_geometries, geometry_revision
from mbcli.multibody.core.lookup import num_bodies
from mbcli.multibody.core.plant_settings import ContactModel

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.state.evaluated_state import EvaluatedState
    from mbcli.multibody.tree.rigid_body import RigidBody


def meets_contact(plant: PlantData) -> bool:
    """Whether solids of the plant can touch: there are some on different bodies that no filter keeps apart.

    No mesh is read for that.
    """
    if plant.scene_graph is None or len(plant.geometry_bodies) < 2:
        return False
    revision = geometry_revision(plant)
    if plant.known_meeting is None or plant.known_meeting[0] != revision:
        from mbcli.multibody.compilation.compile_collision import geometries_can_touch

        plant.known_meeting = revision, geometries_can_touch(plant)
    return plant.known_meeting[1]


def asks_for_surfaces(plant: PlantData) -> bool:
    """Whether solids may meet in contact surfaces: the contact model has them, and a geometry is compliant."""
    graph = plant.scene_graph
    if graph is None or plant.settings.contact_model == ContactModel.kPoint:
        return False
    config = graph.config
    default = "undefined" if config is None else config.default_proximity_properties.compliance_type
    return any(
        proximity is not None
        and proximity.GetPropertyOrDefault("hydroelastic", "compliance_type", default) == "compliant"
        for proximity in (graph.registry.geometries[g].proximity for g in plant.geometry_bodies)
    )


def has_torsional_friction(plant: PlantData) -> bool:
    """Whether contact points may have torsional or rolling friction: a geometry or a pair of them asks for it."""
    graph = plant.scene_graph
    if graph is None:
        return False
    return any(friction[2] > 0.0 or friction[3] > 0.0 for friction in plant.contact_pairs.values()) or any(
        proximity is not None
        and proximity.GetPropertyOrDefault("mujoco", "condim", 4) > 3
        and any(proximity.GetPropertyOrDefault("material", name, 0.0) > 0.0 for name in TORSIONAL_FRICTION)
        for proximity in (graph.registry.geometries[g].proximity for g in plant.geometry_bodies)
    )


def requires_surfaces(plant: PlantData) -> bool:
    """Whether solids that overlap without a contact surface are an error."""
    return plant.settings.contact_model == ContactModel.kHydroelastic


def name_in_contact(body: RigidBody) -> str:
    """Name of a body, which may have a :: of its own, with its model's; World is 'world'."""
    instance = body.GetParentPlant().GetModelInstanceName(body.model_instance())
    return f"{instance}::{body.name()}" if int(body.index()) else body.name()


def refuse_contact(plant: PlantData, state: EvaluatedState) -> None:
    """ModelError if solids touch at an EvaluatedState of numbers for which contact is not computed."""
    if not meets_contact(plant):
        return
    name = state.scalar.name
    X_WB = state.at_positions() and state.scalar.reals(state.data.X_WB)
    if X_WB.size != state.data.X_WB.size:
        raise ModelError(f"contact cannot be computed with numbers of type {name}: filter the collisions out")
    from mbcli.engine.contact.arrays import ContactPoints  # late: few plants come here

    collision = compiled_geometries(plant).collision()
    points: Any = ContactPoints(4)  # whose attributes are those of its fields
    data = SimpleNamespace(X_WB=X_WB.reshape(state.data.X_WB.shape).astype(float))
    load_kernels(False, "surfaces" if asks_for_surfaces(plant) else "").find_contacts(
        plant.model, data, collision, points
    )
    if points.count[0]:
        raise ModelError(f"contact cannot be computed with numbers of type {name}, and here bodies touch")


def record_of_state(context: Context) -> Any:
    """ContactRecord of a continuous plant at the state of a context; None if nothing can touch."""
    state = context.state
    if "contacts" not in state.velocity_cache:
        with state.turn:  # another thread would replace arrays that kernels have by address
            prepare_contact(state)
            state.at_velocities()
            contact = state.contact
            state.velocity_cache["contacts"] = None if contact is None else contact.record(state)
    return state.velocity_cache["contacts"]


def contact_body_forces(plant: PlantData, context: Context, record: Any) -> Any:
    """Spatial forces of contacts at body origins in W, (num_bodies, 6); 0.0 if there are none."""
    state, contact = context.state, context.state.contact
    elastic = plant.elements.deformable_bodies
    if record is None or not (len(record) or elastic):
        return 0.0
    X_WL = state.at_links().X_WL
    ids = compiled_geometries(plant).ids if contact is None else contact.geometries.ids
    body_of = np.array([int(plant.geometry_bodies[g].index()) for g in ids], dtype=int)
    F = np.zeros((num_bodies(plant), 6))
    if elastic:
        contact.add_forces_on_links(F, X_WL)
    for side, sign in ((0, 1.0), (1, -1.0)):
        bodies = body_of[record.solid[:, side]]
        f = sign * record.force
        moment = np.cross(record.position - X_WL[bodies, 9:], f) + sign * record.moment
        np.add.at(F, bodies, np.hstack([moment, f]))
    return F
