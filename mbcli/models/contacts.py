"""Contacts at a state and distances of geometries, as data: what `mbcli contact --json` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mbcli.multibody.core.contact import has_torsional_friction
from mbcli.multibody.core.point_contacts import contacts_by_law, point_contacts

if TYPE_CHECKING:
    from mbcli.geometry.identifiers import GeometryId
    from mbcli.geometry.inspector import SceneGraphInspector
    from mbcli.multibody.plant import MultibodyPlant
    from mbcli.multibody.state.context import Context


def contact_points(context: Context, *, single_points: bool = False) -> list[dict[str, Any]]:
    """Where solids touch at the state of a context, with the forces that the law of continuous plants gives them.

    Args:
        context: of a plant with a scene graph.
        single_points: whether a pair of geometries gives one contact point, also where faces touch.

    Returns:
        A dictionary for each contact point: body_a, geometry_a, body_b, geometry_b, the names; point_W (3,) [m];
        normal_W (3,), out of B into A; depth [m]; force_W (3,) [N], on B; slip_speed and separation_speed [m/s], of A
        relative to B; moment_W (3,) [N m], on B, of torsional and rolling friction, if some geometry asks for that.

    Raises:
        RuntimeError: the plant has no scene graph.

    Example:
        >>> grounded = mbcli.load_model("sample_models/quadruped.urdf", contact=True, ground=-0.46).plant
        >>> touching = mbcli.models.contact_points(grounded.CreateDefaultContext())
        >>> [round(float(point["depth"]), 3) for point in touching]  # of the four feet
        [0.002, 0.002, 0.002, 0.002]
    """
    plant = context.state.plant
    inspector, turning = plant.EvalSceneGraphInspector(context), has_torsional_friction(plant)
    return [
        {
            **_names(plant, inspector, contact.point_pair().id_A, contact.point_pair().id_B),
            "point_W": contact.contact_point(),
            "normal_W": contact.point_pair().nhat_BA_W,
            "depth": contact.point_pair().depth,
            "force_W": contact.contact_force(),
            "slip_speed": contact.slip_speed(),
            "separation_speed": contact.separation_speed(),
            **({"moment_W": contact.contact_moment()} if turning else {}),
        }
        for contact in point_contacts(plant, context, single_points=single_points)
    ]


def contact_surfaces(context: Context, *, faces: bool = False) -> list[dict[str, Any]]:
    """Where compliant solids press on others at the state of a context, with the forces of continuous plants.

    Args:
        context: of a plant with a scene graph.
        faces: whether the faces are listed.

    Returns:
        A dictionary for each contact surface: body_a, geometry_a, body_b, geometry_b, the names; centroid_W (3,) [m];
        area [m^2]; force_W (3,) [N] and moment_W (3,) [N m], on B about the centroid; mean_pressure, weighted with
        areas, and largest_pressure [Pa]; faces, their number; if asked for, polygons: the corners of each face,
        counterclockwise about the normal out of B into A, [x, y, z] in W [m] and the pressure there [Pa].
    """
    plant = context.state.plant
    inspector = plant.EvalSceneGraphInspector(context)
    results = contacts_by_law(plant, context)
    made = []
    for i in range(results.num_hydroelastic_contacts()):
        info = results.hydroelastic_contact_info(i)
        on_A = info.F_Ac_W()
        surface = {
            **_names(plant, inspector, info.id_M(), info.id_N()),
            "centroid_W": info.centroid(),
            "area": info.area(),
            "force_W": -on_A.translational(),
            "moment_W": -on_A.rotational(),
            "mean_pressure": info.mean_pressure(),
            "largest_pressure": info.largest_pressure(),
            "faces": info.num_faces(),
        }
        made.append(surface | ({"polygons": info.polygons()} if faces else {}))
    return made


def geometry_distances(context: Context, max_distance: float = math.inf) -> list[dict[str, Any]]:
    """Distances of pairs of geometries at the state of a context, the nearest first.

    Args:
        context: of a plant with a scene graph.
        max_distance: [m] up to which pairs are listed.

    Returns:
        A dictionary for each pair: body_a, geometry_a, body_b, geometry_b, the names; distance [m], negative where
        they overlap; normal_W (3,), out of B into A; point_A_W, point_B_W (3,) [m], the nearest points.

    Raises:
        RuntimeError: the plant has no scene graph.

    Example:
        >>> grounded = mbcli.load_model("sample_models/quadruped.urdf", contact=True, ground=-0.6).plant
        >>> round(float(mbcli.models.geometry_distances(grounded.CreateDefaultContext())[0]["distance"]), 3)
        0.138
    """
    plant = context.state.plant
    inspector = plant.EvalSceneGraphInspector(context)
    query = plant.get_geometry_query_input_port().Eval(context)
    pairs = query.ComputeSignedDistancePairwiseClosestPoints(max_distance)
    return [
        {
            **_names(plant, inspector, pair.id_A, pair.id_B),
            "distance": pair.distance,
            "normal_W": pair.nhat_BA_W,
            "point_A_W": query.GetPoseInWorld(pair.id_A) @ pair.p_ACa,
            "point_B_W": query.GetPoseInWorld(pair.id_B) @ pair.p_BCb,
        }
        for pair in sorted(pairs, key=lambda pair: pair.distance)
    ]


def _names(plant: MultibodyPlant, inspector: SceneGraphInspector, id_A: GeometryId, id_B: GeometryId) -> dict[str, str]:
    result = {}
    for side, g in (("a", id_A), ("b", id_B)):
        result[f"body_{side}"] = plant.name_in_contact(plant.geometry_bodies[g])
        result[f"geometry_{side}"] = inspector.GetName(g)
    return result
