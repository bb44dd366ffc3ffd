"""`mbcli contact`: contacts at a state, and distances of the other geometries."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import click

from mbcli.cli.model import load
from mbcli.cli.options import (
    MODEL_KEYS,
    STATE_KEYS,
    GroundCommand,
    ground_option,
    model_options,
    output_options,
    state_options,
    take,
    take_output,
)
from mbcli.cli.output import document, emit, table, tell, warn
from mbcli.cli.state import set_state
from mbcli.common.json_text import to_json


@click.command(cls=GroundCommand)
@model_options
@state_options
@ground_option
@click.option("--distances", is_flag=True, help="Also distances of pairs, negative if they overlap.")
@click.option(
    "--max-distance",
    type=click.FloatRange(min=0.0),
    metavar="M",
    help="With --distances: only up to this distance [m].",
)
@click.option("--faces", is_flag=True, help="With --json: the polygons of contact surfaces.")
@click.option("--single-point", is_flag=True, help="One contact point for each pair, even for a face on a face.")
@output_options
@click.pass_context
def contact(
    ctx: click.Context,
    ground: float | None,
    distances: bool,
    max_distance: float | None,
    faces: bool,
    single_point: bool,
    **values: Any,
) -> None:
    """Contacts at a state, with the force on body B of each, by the law of continuous plants.

    Solids touch at points or, if one of them is compliant, on surfaces. The normal points out of B into A, and speeds
    are those of A relative to B. The moment of a surface is about its centroid; that of a point comes from torsional
    and rolling friction.

    \b
    mbcli contact quadruped.urdf --ground --at quadruped_trunk_z=0.3
    mbcli contact robot.urdf table.sdf --at elbow=0.1
    mbcli contact robot.urdf --distances --max-distance 0.05 --json
    """
    if max_distance is not None and not distances:
        raise click.UsageError("--max-distance needs --distances")
    model, state, output = take(values, MODEL_KEYS), take(values, STATE_KEYS), take_output(values)
    result_format = output.result_format()
    if result_format not in (None, "text", "json"):
        raise click.UsageError("contact gives text or JSON")
    if faces and result_format != "json":
        raise click.UsageError("--faces needs --json")
    from mbcli.models.contacts import contact_points, contact_surfaces, geometry_distances
    from mbcli.models.loading import note_on_self_contact, notes_on_contact

    loaded = load(model, ctx, contact=True, ground=ground)
    loaded.plant.prefers_interpreted = True
    context = loaded.plant.CreateDefaultContext()
    set_state(loaded, context, state)
    for note in notes_on_contact(loaded):
        if ctx.obj["verbosity"] >= 0:
            warn(note)
    line = note_on_self_contact(loaded)
    if line is not None and ctx.obj["verbosity"] >= 0:
        tell(f"mbcli: {line}")
    results = {
        "point_pairs": contact_points(context, single_points=single_point),
        "surfaces": contact_surfaces(context, faces=faces),
    }
    if distances:
        results["distances"] = geometry_distances(context, math.inf if max_distance is None else max_distance)
    if result_format == "json":
        emit(to_json(document("contact", loaded, context, **results)), output)
    else:
        emit(render(results), output)


def render(results: dict[str, Any]) -> str:
    points, surfaces = results["point_pairs"], results["surfaces"]
    parts = [_touching(points), _pressing(surfaces)] if points or surfaces else ["nothing touches"]
    return "\n\n".join(filter(None, [*parts, _apart(results.get("distances"))]))


def _pressing(surfaces: list[dict[str, Any]]) -> str:
    if not surfaces:
        return ""
    rows = [
        [
            *(s["body_a"], s["body_b"], s["area"], *s["centroid_W"], *s["force_W"], *s["moment_W"]),
            *(s["mean_pressure"], s["largest_pressure"], s["faces"]),
        ]
        for s in surfaces
    ]
    header = ["A", "B", "area [m^2]", "centroid, x [m]", "y", "z", "force on B, x [N]", "y", "z", "moment, x [N m]"]
    return table(rows, [*header, "y", "z", "mean pressure [Pa]", "largest", "faces"])


def _touching(pairs: list[dict[str, Any]]) -> str:
    if not pairs:
        return ""
    rows = [
        [p["body_a"], p["body_b"], p["depth"], *p["point_W"], *p["force_W"], p["slip_speed"], p["separation_speed"]]
        for p in pairs
    ]
    header = ["A", "B", "depth [m]", "x [m]", "y", "z", "force on B, x [N]", "y", "z", "slip [m/s]", "separation"]
    if "moment_W" in pairs[0]:
        rows = [[*row, *p["moment_W"]] for row, p in zip(rows, pairs, strict=True)]
        header += ["moment, x [N m]", "y", "z"]
    return table(rows, header)


def _apart(pairs: list[dict[str, Any]] | None) -> str:
    if pairs is None:
        return ""
    if not pairs:
        return "no pair of geometries is that near"
    bodies: dict[str, set[str]] = {}  # that have a geometry of a name
    for side, p in product("ab", pairs):
        bodies.setdefault(p[f"geometry_{side}"], set()).add(p[f"body_{side}"])

    def name(p: dict[str, Any], side: str) -> str:
        geometry, body = p[f"geometry_{side}"], p[f"body_{side}"]
        return geometry if len(bodies[geometry]) == 1 else f"{body}, {geometry.rpartition('::')[2]}"

    rows = [[name(p, "a"), name(p, "b"), p["distance"], *p["point_A_W"], *p["point_B_W"]] for p in pairs]
    return table(rows, ["A", "B", "distance [m]", "point of A, x [m]", "y", "z", "point of B, x [m]", "y", "z"])
