"""`mbcli jacobian`: how velocities move a frame, points on it, or the centre of mass."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.model import find_frame
from mbcli.cli.options import usage_errors
from mbcli.cli.output import table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

COMPONENTS = {
    "spatial": ("wx", "wy", "wz", "vx", "vy", "vz"),
    "angular": ("wx", "wy", "wz"),
    "translational": ("vx", "vy", "vz"),
    "com": ("vx", "vy", "vz"),
}


@analysis_command
@click.option("--frame", metavar="NAME", help="The body or frame B that moves; not with --kind com.")
@click.option(
    "--point",
    "points",
    multiple=True,
    metavar="X,Y,Z",
    help="A point fixed to B, in B [m]; default: its origin. Several for --kind translational.",
)
@click.option(
    "--kind",
    type=click.Choice(list(COMPONENTS)),
    default="spatial",
    show_default=True,
    help="The velocity whose Jacobian it is.",
)
@click.option(
    "--wrt",
    type=click.Choice(["v", "qdot"]),
    default="v",
    show_default=True,
    help="Columns for velocities, or for rates of positions.",
)
@click.option("--measured-in", default="world", metavar="NAME", help="The frame A in which B moves; default: world.")
@click.option("--expressed-in", default="world", metavar="NAME", help="The frame E of the components; default: world.")
@click.option("--instance", "instances", multiple=True, metavar="NAME", help="For --kind com: only this model.")
@analysis_output
def jacobian(
    ctx: click.Context,
    frame: str | None,
    points: tuple[str, ...],
    kind: str,
    wrt: str,
    measured_in: str,
    expressed_in: str,
    instances: tuple[str, ...],
    **values: Any,
) -> None:
    """The Jacobian J of V_ABp_E = J v (or J qdot), and the bias of A_ABp_E = J vdot + bias.

    Rotational rows come first; each point has three rows. The bias is null for --wrt qdot.

    \b
    mbcli jacobian arm.urdf --frame tool --point 0,0,0.1 --at elbow=0.3
    mbcli jacobian humanoid.xml --kind com --measured-in pelvis --expressed-in pelvis --json
    """
    if (kind == "com") != (frame is None):
        raise click.UsageError("--kind com has no --frame" if frame is not None else f"--kind {kind} needs --frame")
    if points and kind in ("com", "angular"):
        raise click.UsageError(f"--kind {kind} has no --point")
    if len(points) > 1 and kind == "spatial":
        raise click.UsageError("--kind spatial takes one --point")
    if instances and kind != "com":
        raise click.UsageError("--instance is for --kind com")
    request = {"frame": frame, "points": points, "kind": kind, "wrt": wrt, "instances": instances}
    request |= {"measured_in": measured_in, "expressed_in": expressed_in}
    Analysis(
        "jacobian",
        lambda plant, context, inputs: evaluate(plant, context, request),
        lambda plant, results: render(plant, results, request),
        columns=lambda plant, results: {key: value for key, value in results.items() if value is not None},
        evaluate_rows=None if wrt == "qdot" or len(points) > 1 else partial(evaluate_rows, request),
    ).run(ctx, values, {})


def evaluate(plant: MultibodyPlant, context: Context, request: dict[str, Any]) -> dict[str, Any]:
    """{J: (rows, n), bias: (rows,) or None}"""
    from mbcli.multibody.tree import JacobianWrtVariable

    kV = JacobianWrtVariable.kV
    s = kV if request["wrt"] == "v" else JacobianWrtVariable.kQDot
    A = find_frame(plant, request["measured_in"], "--measured-in")
    E = find_frame(plant, request["expressed_in"], "--expressed-in")
    if request["kind"] == "com":
        from mbcli.models.mass_motion import instances_with_mass

        with usage_errors():
            chosen = instances_with_mass(context, request["instances"])
        J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, chosen, s, A, E)
        bias = plant.CalcBiasCenterOfMassTranslationalAcceleration(context, chosen, kV, A, E)
        return {"J": J, "bias": bias if s is kV else None}
    B, points = find_frame(plant, request["frame"], "--frame"), points_of(request["points"])
    if request["kind"] == "translational":
        J = plant.CalcJacobianTranslationalVelocity(context, s, B, points, A, E)
        bias = plant.CalcBiasTranslationalAcceleration(context, kV, B, points, A, E).T.ravel()
    else:
        J = plant.CalcJacobianSpatialVelocity(context, s, B, points, A, E)
        bias = plant.CalcBiasSpatialAcceleration(context, kV, B, points, A, E).get_coeffs()
    if request["kind"] == "angular":
        J, bias = J[:3], bias[:3]
    return {"J": J, "bias": bias if s is kV else None}


def evaluate_rows(
    request: dict[str, Any], context: Context, batch: StateBatch, states: SimpleNamespace
) -> dict[str, Any]:
    """The same of many states, by velocities and for one point."""
    plant, kind = context.state.plant, request["kind"]
    A = find_frame(plant, request["measured_in"], "--measured-in").index()
    E = find_frame(plant, request["expressed_in"], "--expressed-in").index()
    if kind == "com":
        from mbcli.models.mass_motion import links_with_mass

        with usage_errors():
            links = links_with_mass(context, request["instances"])
        J, bias = batch.com_jacobians(states.q, states.v, *links, A, E)
    else:
        B = find_frame(plant, request["frame"], "--frame").index()
        J, bias = batch.point_jacobians(states.q, states.v, B, points_of(request["points"])[:, 0], A, E)
        rows = {"spatial": slice(6), "angular": slice(3), "translational": slice(3, 6)}[kind]
        J, bias = J[:, rows], bias[:, rows]
    return {"J": J, "bias": bias}


def points_of(texts: Sequence[str]) -> FloatArray:
    """Points (3, p) from the options; the origin if there are none."""
    import numpy as np

    from mbcli.cli.state import numbers

    return np.array([numbers(text, ("x", "y", "z"), "--point") for text in texts] or [np.zeros(3)]).T


def render(plant: MultibodyPlant, results: dict[str, Any], request: dict[str, Any]) -> str:
    names = plant.GetVelocityNames() if request["wrt"] == "v" else plant.GetPositionNames()
    components = COMPONENTS[request["kind"]]
    count = len(results["J"]) // len(components)
    header = [f"{c}[{k}]" if count > 1 else c for k in range(count) for c in components]
    rows = [[name, *column] for name, column in zip(names, results["J"].T, strict=True)]
    if results["bias"] is not None:
        rows.append(["bias", *results["bias"]])
    return table(rows, ["J transposed", *header])
