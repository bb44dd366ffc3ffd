"""The contacts of a plant at a state, or in its next step, with their forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.collision_fields import HALF_SPACE
from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
from mbcli.multibody.core.dynamics import Dynamics
from mbcli.multibody.tree.index import BodyIndex

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.contact.contact_arrays import ContactArrays
    from mbcli.multibody.core.contact_results import ContactResults, PointPairContactInfo
    from mbcli.multibody.core.hydroelastic_results import HydroelasticContactInfo
    from mbcli.multibody.state.context import Context


class ContactForces(Dynamics):
    """The part of MultibodyPlant that tells how its bodies touch."""

    def contact_record(self, context: Context) -> Any:
        """ContactRecord: of a continuous plant at this state, of a discrete one of the next step. None: no contact."""
        state = context.state
        if state.plant is not self:
            self.check_context(context)
        if self.is_discrete():
            self._accelerations(context)
            return state.of_inputs.get("contacts")
        return self.record_of_state(context)

    def _contact_results(self, context: Context) -> ContactResults:
        from mbcli.multibody.core.contact_results import ContactResults  # late: few runs ask for contacts in Python
        from mbcli.multibody.core.deformable_results import deformable_contacts

        record = self.contact_record(context)
        plant, contact = self.whole_plant(), context.state.contact
        if record is None or contact is None:
            return ContactResults(plant)
        elastic = deformable_contacts(contact) if self.elements.deformable_bodies else ()
        return ContactResults(plant, *self.pairs_and_surfaces(contact, record), elastic)

    def pairs_and_surfaces(
        self, contact: ContactArrays, record: Any
    ) -> tuple[list[PointPairContactInfo], list[HydroelasticContactInfo]]:
        """Those of the contact points and of the contact surfaces of a ContactRecord."""
        from mbcli.multibody.core.hydroelastic_results import hydroelastic_contacts

        points = [self.point_pair(contact, record, int(i)) for i in np.flatnonzero(record.area == 0.0)]
        triangles = self.settings.contact_surface_representation == HydroelasticContactRepresentation.kTriangle
        planes = contact.collision.kind == HALF_SPACE
        return points, hydroelastic_contacts(record, contact.geometries.ids, planes, triangles)

    def point_pair(self, contact: ContactArrays, record: Any, i: int) -> PointPairContactInfo:
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
        body_A, body_B = (BodyIndex(int(self.geometry_bodies[g].index())) for g in ids)
        speeds = record.separation[i], record.slip[i]
        return PointPairContactInfo(body_A, body_B, -record.force[i], C, *speeds, pair, -record.moment[i])

    def _generalized_contact_forces(self, context: Context) -> Vector:
        """tau (nv,) of all contacts."""
        F = self.contact_body_forces(context, self.contact_record(context))
        state = context.state
        calls, data = state.at_positions(), state.data
        calls.calc_generalized_forces(state.forces_on_links(F))
        return data.tau.copy()
