"""Contacts at a state and distances of geometries, as data: what `mbcli contact --json` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mbcli.multibody.plant.point_contacts import point_contacts

if TYPE_CHECKING:
    from mbcli.geometry.contact_pairs import PenetrationAsPointPair, SignedDistancePair
    from mbcli.geometry.inspector import SceneGraphInspector
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.plant.context import Context


def contact_points(context: Context, *, single_points: bool = False) -> list[dict[str, Any]]:
    """Where solids touch at the state of a context, with the forces that the law of continuous plants gives them.

    Args:
        context: of a plant with a scene graph.
        single_points: whether a pair of geometries gives one contact point, also where faces touch.

    Returns:
        A dictionary for each contact point: body_a, geometry_a, body_b, geometry_b, the names; point_W (3,) [m];
        normal_W (3,), out of B into A; depth [m]; force_W (3,) [N], on B; slip_speed and separation_speed [m/s], of A
        relative to B.
    """
    plant = context.state.plant
    inspector = plant.EvalSceneGraphInspector(context)
    return [
        {
            **_names(plant, inspector, contact.point_pair()),
            "point_W": contact.contact_point(),
            "normal_W": contact.point_pair().nhat_BA_W,
            "depth": contact.point_pair().depth,
            "force_W": contact.contact_force(),
            "slip_speed": contact.slip_speed(),
            "separation_speed": contact.separation_speed(),
        }
        for contact in point_contacts(plant, context, single_points=single_points)
    ]


def geometry_distances(context: Context, max_distance: float = math.inf) -> list[dict[str, Any]]:
    """Distances of pairs of geometries at the state of a context, the nearest first.

    Args:
        context: of a plant with a scene graph.
        max_distance: [m] up to which pairs are listed.

    Returns:
        A dictionary for each pair: body_a, geometry_a, body_b, geometry_b, the names; distance [m], negative where
        they overlap; normal_W (3,), out of B into A; point_A_W, point_B_W (3,) [m], the nearest points.
    """
    plant = context.state.plant
    inspector = plant.EvalSceneGraphInspector(context)
    query = plant.get_geometry_query_input_port().Eval(context)
    pairs = query.ComputeSignedDistancePairwiseClosestPoints(max_distance)
    return [
        {
            **_names(plant, inspector, pair),
            "distance": pair.distance,
            "normal_W": pair.nhat_BA_W,
            "point_A_W": query.GetPoseInWorld(pair.id_A) @ pair.p_ACa,
            "point_B_W": query.GetPoseInWorld(pair.id_B) @ pair.p_BCb,
        }
        for pair in sorted(pairs, key=lambda pair: pair.distance)
    ]


def _names(
    plant: MultibodyPlant, inspector: SceneGraphInspector, pair: PenetrationAsPointPair | SignedDistancePair
) -> dict[str, str]:
    result = {}
    for side, g in (("a", pair.id_A), ("b", pair.id_B)):
        result[f"body_{side}"] = plant.name_in_contact(plant.geometry_bodies[g])
        result[f"geometry_{side}"] = inspector.GetName(g)
    return result
