"""Contact of a plant: what its steps meet."""

import numpy as np

from mbcli.multibody.plant.contact_results import ContactResults, PointPairContactInfo
from mbcli.multibody.tree.index import BodyIndex

MOST_NAMED = 5


class Contact:
    """The part of MultibodyPlant that knows which of its bodies can touch."""

    _single_contact_points = False

    def _meets_contact(self):
        """Whether solids of the plant can touch."""
        solids, filters = self._solids_and_filters()
        return len(solids) > 1

    def _contacts(self, context):
        """ContactRecord of the next step of a discrete plant, None where nothing is near."""
        self._accelerations(context)
        return context._of_inputs.get("contacts")

    def _contact_results(self, context):
        record = self._contacts(context)
        if record is None:
            return ContactResults(self)
        return ContactResults(self, [self._point_pair(record, i) for i in range(len(record.geometry))])

    def _point_pair(self, record, i):
        from mbcli.geometry import PenetrationAsPointPair

        A, B = record.geometry[i]
        half = 0.5 * record.distance[i] * record.normal[i]
        pair = PenetrationAsPointPair(
            id_A=self._geometry_ids[A],
            id_B=self._geometry_ids[B],
            p_WCa=record.position[i] + half,
            p_WCb=record.position[i] - half,
            nhat_BA_W=record.normal[i].copy(),
            depth=-record.distance[i],
        )
        bodies = (BodyIndex(int(self._solid_bodies[k])) for k in (A, B))
        info = (-record.force[i], record.position[i], record.speed[i], record.slip[i])
        return PointPairContactInfo(*bodies, *info, pair)

    def _generalized_contact_forces(self, context):
        """tau (nv,) of all contacts."""
        record = self._contacts(context)
        return np.zeros(self.num_velocities()) if record is None else record.generalized_force.copy()

    def _contact_body_forces(self, context):
        """Spatial forces of contact at body origins in W, (num_bodies, 6); 0.0 where there are none."""
        record = context._of_inputs.get("contacts")
        if record is None or not len(record.geometry):
            return 0.0
        X_WL = context._at_links().X_WL
        F = np.zeros((self.num_bodies(), 6))
        for side, sign in ((0, 1.0), (1, -1.0)):
            bodies = np.asarray(self._solid_bodies)[record.geometry[:, side]]
            f = sign * record.force
            np.add.at(F, bodies, np.hstack([np.cross(record.position - X_WL[bodies, 9:], f), f]))
        return F

    def _names_in_contact(self, points):
        """Some pairs of bodies in contact, for messages."""
        pairs = []
        for a, b in points.body[: points.count[0]]:
            pair = f"{self._body_name(a)} and {self._body_name(b)}"
            if pair not in pairs:
                pairs.append(pair)
        return ", ".join(pairs[:MOST_NAMED]) + (", ..." if len(pairs) > MOST_NAMED else "")
