"""The contacts of a plant at a state, or in its next step, with their forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.collision_fields import HALF_SPACE
from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
from mbcli.multibody.core.contact import contact_body_forces, record_of_state
from mbcli.multibody.core.dynamics import known_accelerations
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.contact.contact_arrays import ContactArrays
    from mbcli.multibody.core.contact_results import ContactResults, PointPairContactInfo
    from mbcli.multibody.core.hydroelastic_results import HydroelasticContactInfo
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context


def contact_record(plant: PlantData, context: Context) -> Any:
    """ContactRecord: of a continuous plant at this state, of a discrete one of the next step. None: no contact."""
    state = context.state
    if state.plant is not plant:
        plant.check_context(context)
    if plant.is_discrete():
        known_accelerations(plant, context)
        return state.input_cache.get("contacts")
    return record_of_state(context)


def contact_results(plant: PlantData, context: Context) -> ContactResults:
    from mbcli.multibody.core.contact_results import ContactResults  # late: few runs ask for contacts in Python
    from mbcli.multibody.core.deformable_results import deformable_contacts

    record = contact_record(plant, context)
    whole, contact = plant.whole_plant(), context.state.contact
    if record is None or contact is None:
        return ContactResults(whole)
    elastic = deformable_contacts(contact) if plant.elements.deformable_bodies else ()
    return ContactResults(whole, *pairs_and_surfaces(plant, contact, record), elastic)


def pairs_and_surfaces(
    plant: PlantData, contact: ContactArrays, record: Any
) -> tuple[list[PointPairContactInfo], list[HydroelasticContactInfo]]:
    """Those of the contact points and of the contact surfaces of a ContactRecord."""
    from mbcli.multibody.core.hydroelastic_results import hydroelastic_contacts

    points = [point_pair(plant, contact, record, int(i)) for i in np.flatnonzero(record.area == 0.0)]
    triangles = plant.settings.contact_surface_representation == HydroelasticContactRepresentation.kTriangle
    planes = contact.collision.kind == HALF_SPACE
    return points, hydroelastic_contacts(record, contact.geometries.ids, planes, triangles)


def point_pair(plant: PlantData, contact: ContactArrays, record: Any, i: int) -> PointPairContactInfo:
    """PointPairContactInfo of a record's contact i."""
    from mbcli.geometry import PenetrationAsPointPair
    from mbcli.multibody.core.contact_results import PointPairContactInfo

    solids = record.solid[i]
    ids = [contact.geometries.ids[k] for k in solids]
    share = contact.place_of_contact(*solids)
    C, along = record.position[i], record.distance[i] * record.normal[i]  # from the point of B to that of A
    pair = PenetrationAsPointPair(
        id_A=ids[0],
        id_B=ids[1],
        p_WCa=C + (1.0 - share) * along,
        p_WCb=C - share * along,
        nhat_BA_W=record.normal[i].copy(),
        depth=-float(record.distance[i]),
    )
    body_A, body_B = (BodyIndex(int(plant.geometry_bodies[g].index())) for g in ids)
    speeds = record.separation[i], record.slip[i]
    return PointPairContactInfo(body_A, body_B, -record.force[i], C, *speeds, pair, -record.moment[i])


def generalized_contact_forces(plant: PlantData, context: Context) -> Vector:
    """tau (nv,) of all contacts."""
    F = contact_body_forces(plant, context, contact_record(plant, context))
    state = context.state
    calls, data = state.at_positions(), state.data
    calls.calc_generalized_forces(state.forces_on_links(F))
    return data.tau.copy()
