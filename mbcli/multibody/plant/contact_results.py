"""What touches what in a plant, and with which force, under the names of pydrake.multibody.plant."""

import numpy as np


class PointPairContactInfo:
    """Contact of two bodies at a point.

    Args:
        bodyA_index, bodyB_index: BodyIndex.
        f_Bc_W: force on body B at the contact point C, in W [N].
        p_WC: position of C [m].
        separation_speed: along the normal, positive where the bodies part [m/s].
        slip_speed: across it [m/s], not negative.
        point_pair: PenetrationAsPointPair.
    """

    def __init__(self, bodyA_index, bodyB_index, f_Bc_W, p_WC, separation_speed, slip_speed, point_pair):
        self._bodies = bodyA_index, bodyB_index
        self._f_Bc_W, self._p_WC = np.array(f_Bc_W, float), np.array(p_WC, float)
        self._separation_speed, self._slip_speed = float(separation_speed), float(slip_speed)
        self._point_pair = point_pair

    def bodyA_index(self):
        return self._bodies[0]

    def bodyB_index(self):
        return self._bodies[1]

    def contact_force(self):
        """f_Bc_W (3,) [N]: on body B."""
        return self._f_Bc_W.copy()

    def contact_point(self):
        """p_WC (3,) [m]."""
        return self._p_WC.copy()

    def separation_speed(self):
        """[m/s]; positive where the bodies part."""
        return self._separation_speed

    def slip_speed(self):
        """[m/s]"""
        return self._slip_speed

    def point_pair(self):
        """PenetrationAsPointPair."""
        return self._point_pair


class ContactResults:
    """All contacts of one state or step; it does not change."""

    def __init__(self, plant=None, point_pairs=()):
        self._plant, self._point_pairs = plant, tuple(point_pairs)

    def plant(self):
        """The plant, None for empty results."""
        return self._plant

    def num_point_pair_contacts(self):
        return len(self._point_pairs)

    def point_pair_contact_info(self, i):
        """PointPairContactInfo. IndexError where there is none."""
        if not 0 <= i < len(self._point_pairs):
            raise IndexError(f"point_pair_contact_info({i}): there are {len(self._point_pairs)} contacts")
        return self._point_pairs[i]

    def num_hydroelastic_contacts(self):
        """0: contact surfaces are not computed."""
        return 0

    def hydroelastic_contact_info(self, i):
        """IndexError: there is none."""
        raise IndexError(f"hydroelastic_contact_info({i}): there are 0 contacts")

    def SelectHydroelastic(self, selector):
        """A copy with those surfaces for which selector is true, and all contacts of points."""
        return ContactResults(self._plant, self._point_pairs)
