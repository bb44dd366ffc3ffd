"""The pairs that touch in a plant, and their forces, under the names of pydrake.multibody.plant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from mbcli.geometry.contact_pairs import PenetrationAsPointPair
    from mbcli.math.array_types import Vector3
    from mbcli.multibody.core.deformable_results import DeformableContactInfo
    from mbcli.multibody.core.hydroelastic_results import HydroelasticContactInfo
    from mbcli.multibody.state.owning_plant import OwningPlant
    from mbcli.multibody.tree.index import BodyIndex


class PointPairContactInfo:
    """Contact of two bodies at a point.

    Args:
        bodyA_index, bodyB_index: BodyIndex.
        f_Bc_W: force on body B at the contact point C, in W [N].
        p_WC: position of C [m].
        separation_speed: along the normal, positive if the bodies part [m/s].
        slip_speed: across it [m/s], not negative.
        point_pair: PenetrationAsPointPair.
        tau_Bc_W: moment on body B about C, in W [N m]: torsional and rolling friction. Beyond pydrake.
    """

    def __init__(
        self,
        bodyA_index: BodyIndex,
        bodyB_index: BodyIndex,
        f_Bc_W: ArrayLike,
        p_WC: ArrayLike,
        separation_speed: float,
        slip_speed: float,
        point_pair: PenetrationAsPointPair,
        tau_Bc_W: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        self._bodies = bodyA_index, bodyB_index
        self._f_Bc_W, self._p_WC = np.array(f_Bc_W, float), np.array(p_WC, float)
        self._tau_Bc_W = np.array(tau_Bc_W, float)
        self._separation_speed, self._slip_speed = float(separation_speed), float(slip_speed)
        self._point_pair = point_pair

    def bodyA_index(self) -> BodyIndex:
        """Index of body A."""
        return self._bodies[0]

    def bodyB_index(self) -> BodyIndex:
        """Index of body B."""
        return self._bodies[1]

    def contact_force(self) -> Vector3:
        """f_Bc_W (3,) [N]: on body B."""
        return self._f_Bc_W.copy()

    def contact_moment(self) -> Vector3:
        """tau_Bc_W (3,) [N m]: on body B about the contact point, of torsional and rolling friction. Beyond pydrake."""
        return self._tau_Bc_W.copy()

    def contact_point(self) -> Vector3:
        """p_WC (3,) [m]."""
        return self._p_WC.copy()

    def separation_speed(self) -> float:
        """[m/s]; positive if the bodies part."""
        return self._separation_speed

    def slip_speed(self) -> float:
        """[m/s]"""
        return self._slip_speed

    def point_pair(self) -> PenetrationAsPointPair:
        """PenetrationAsPointPair."""
        return self._point_pair


class ContactResults:
    """All contacts of one state or step; it does not change."""

    def __init__(
        self,
        plant: OwningPlant | None = None,
        point_pairs: Iterable[PointPairContactInfo] = (),
        surfaces: Iterable[HydroelasticContactInfo] = (),
        deformables: Iterable[DeformableContactInfo] = (),
    ) -> None:
        self._plant, self._point_pairs, self._surfaces = plant, tuple(point_pairs), tuple(surfaces)
        self._deformables = tuple(deformables)

    def plant(self) -> OwningPlant | None:
        """The plant, None for empty results."""
        return self._plant

    def num_point_pair_contacts(self) -> int:
        """The number of contact points."""
        return len(self._point_pairs)

    def point_pair_contact_info(self, i: int) -> PointPairContactInfo:
        """PointPairContactInfo. IndexError if there is none."""
        if not 0 <= i < len(self._point_pairs):
            raise IndexError(f"point_pair_contact_info({i}): there are {len(self._point_pairs)} contacts")
        return self._point_pairs[i]

    def num_hydroelastic_contacts(self) -> int:
        """The number of contact surfaces."""
        return len(self._surfaces)

    def hydroelastic_contact_info(self, i: int) -> HydroelasticContactInfo:
        """HydroelasticContactInfo, in the order of the identifiers of M, then N. IndexError if there is none."""
        if not 0 <= i < len(self._surfaces):
            raise IndexError(f"hydroelastic_contact_info({i}): there are {len(self._surfaces)} contacts")
        return self._surfaces[i]

    def num_deformable_contacts(self) -> int:
        """The number of pairs with a deformable body that touch."""
        return len(self._deformables)

    def deformable_contact_info(self, i: int) -> DeformableContactInfo:
        """DeformableContactInfo. IndexError if there is none."""
        if not 0 <= i < len(self._deformables):
            raise IndexError(f"deformable_contact_info({i}): there are {len(self._deformables)} contacts")
        return self._deformables[i]

    def SelectHydroelastic(self, selector: Callable[[HydroelasticContactInfo], bool]) -> ContactResults:
        """A copy with those surfaces for which selector is true, and all other contacts."""
        surfaces = [info for info in self._surfaces if selector(info)]
        return ContactResults(self._plant, self._point_pairs, surfaces, self._deformables)
