"""`mbcli kinematics`: poses and motion of bodies and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.analysis import Analysis, analysis_command, analysis_output
from mbcli.cli.frame_targets import solve_targets
from mbcli.cli.model import find_frame
from mbcli.cli.options import usage_errors
from mbcli.cli.output import named_vector, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import SimpleNamespace

    from mbcli.engine.queries.state_batch import StateBatch
    from mbcli.math.array_types import Array, FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame


@analysis_command
@click.option("--frame", "names", multiple=True, metavar="NAME", help="A body or frame; default: every body.")
@click.option(
    "--relative-to", "base", default="world", metavar="NAME", help="Measure in this frame instead of the world."
)
@click.option(
    "--ik",
    "--to",
    "places",
    multiple=True,
    metavar="FRAME=x,y,z[,ORIENTATION]",
    help="Solve for positions first, within limits: the frame's origin is at x, y, z [m] of --relative-to, with the "
    "orientation of a quaternion qw,qx,qy,qz or of roll,pitch,yaw [rad, or as 90deg]. The search starts from the "
    "given state; floating bodies do not move.",
)
@click.option(
    "--targets",
    metavar="FILE",
    help="Solve for the positions of every row of a table, read as that of --states: FRAME_x, FRAME_y, FRAME_z [m] of "
    "each --frame, and FRAME_qw, FRAME_qx, FRAME_qy, FRAME_qz where it has an orientation; `x` is enough of one frame.",
)
@click.option(
    "--starts",
    type=click.IntRange(min=1),
    metavar="N",
    help="Searches at most, all but the first from drawn positions. [30]",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Of the drawn positions. [0]")
@click.option(
    "--collisions", is_flag=True, help="Refuse positions at which geometries overlap, and search for other ones."
)
@click.option("--vdot", metavar="LIST", help="Accelerations; the result then has A_WF too.")
@analysis_output
def kinematics(
    ctx: click.Context,
    names: tuple[str, ...],
    base: str,
    places: tuple[str, ...],
    targets: str | None,
    starts: int | None,
    seed: int | None,
    collisions: bool,
    vdot: str | None,
    **values: Any,
) -> None:
    """Poses and velocities of bodies and frames, measured and expressed in the world or in --relative-to.

    Spatial velocities are rotational first, at the frame's origin; quaternions are w, x, y, z.

    \b
    mbcli kinematics arm.urdf --frame tool --at elbow=0.3
    mbcli kinematics arm.urdf --states motion.csv --frame tool --format csv
    mbcli kinematics arm.urdf --ik tool=0.4,0,0.5,180deg,0,0 --json > state.json

    `mbcli fk` and `mbcli ik` are this command:

    \b
    mbcli ik arm.urdf --to tool=0.4,0,0.5
    mbcli ik arm.urdf --targets poses.csv --frame tool --collisions -o positions.csv

    A row of --targets is searched for from the positions of the row before. Results are status (0: found, 1: out of
    reach within the limits, 2: only where geometries overlap), q, which is nan in other rows than those found,
    position_error [m], angle_error [rad] and attempts. The exit code is 5 if a row was not found.
    """
    if places and values["states"] is not None:
        raise click.UsageError("--ik solves for one state, --states gives many")
    given = {"attempts": starts, "seed": seed, "collisions": collisions or None}
    search = {name: value for name, value in given.items() if value is not None}
    if targets is not None:
        _require_frames(names, places, values)
        solve_targets(ctx, values, targets, values["states_format"], names, base, search)
        return
    words = [word for word in (ctx.obj or {}).get("arguments", ()) if not word.startswith("-")]
    if not places and words[:1] in (["ik"], ["inverse-kinematics"]):
        raise click.UsageError("ik needs where frames are to be: --to FRAME=x,y,z, or --targets FILE")
    if not places and search:
        raise click.UsageError("--starts, --seed and --collisions are for --ik and --targets")

    def evaluate(plant: MultibodyPlant, context: Context, inputs: dict[str, Any]) -> dict[str, Any]:
        if places:
            solved = solve_places(plant, context, places, base, search)
            frames = evaluate_frames(plant, context, names or list(place_texts(places)), base, inputs.get("vdot"))
            return {"ik": solved, "frames": frames}
        return {"frames": evaluate_frames(plant, context, names, base, inputs.get("vdot"))}

    def evaluate_rows(context: Context, batch: StateBatch, states: SimpleNamespace) -> dict[str, Any]:
        return frame_columns(context.state.plant, batch, states, names, base)

    Analysis(
        "kinematics",
        evaluate,
        render,
        takes=("vdot",),
        columns=columns,
        evaluate_rows=evaluate_rows,
        loading={"contact": True} if collisions else None,
    ).run(ctx, values, {"vdot": vdot})


def _require_frames(names: Sequence[str], places: Sequence[str], values: dict[str, Any]) -> None:
    if not names:
        raise click.UsageError("--targets needs --frame NAME for each frame of the table")
    for is_given, option in ((places, "--ik"), (values["states"], "--states"), (values["fill"], "--fill")):
        if is_given:
            raise click.UsageError(f"--targets and {option} exclude each other")


def place_texts(places: Iterable[str]) -> dict[str, list[float]]:
    """{frame: numbers} of FRAME=LIST texts."""
    from mbcli.cli.state import number

    found = {}
    for place in places:
        name, equals, text = place.partition("=")
        words = text.replace(",", " ").split()
        if not equals or len(words) not in (3, 6, 7):
            forms = "FRAME=x,y,z, FRAME=x,y,z,qw,qx,qy,qz or FRAME=x,y,z,roll,pitch,yaw"
            raise click.UsageError(f"--ik takes {forms}, not '{place}'")
        if name in found:
            raise click.UsageError(f"--ik: a second target for '{name}'")
        numbers = words[:3] if len(words) == 6 else words
        found[name] = [number(word, f"--ik {name}") for word in numbers]
        found[name] += _quaternion(words[3:], name) if len(words) == 6 else []
    return found


def _quaternion(words: Sequence[str], name: str) -> list[float]:
    """w, x, y, z of the words of roll, pitch and yaw."""
    from mbcli.common.number_text import parse_angle
    from mbcli.math import RollPitchYaw

    angles = [parse_angle(word) for word in words]
    if None in angles:
        raise click.UsageError(f"--ik {name}: '{words[angles.index(None)]}' is no angle as 0.5, 30deg or pi/2")
    return [float(x) for x in RollPitchYaw(*angles).ToQuaternion().wxyz()]


def solve_places(
    plant: MultibodyPlant, context: Context, places: Iterable[str], base: str, search: dict[str, Any]
) -> dict[str, Any]:
    """Moves the context to positions at which frames have their places; returns how they were found."""
    from mbcli.models.frame_places import solve

    with usage_errors():
        found = solve(plant, context, place_texts(places), base, **search)
    return {
        "q": found.q,
        "position_error": found.position_error,
        "angle_error": found.angle_error,
        "iterations": found.iterations,
        "attempts": found.attempts,
    }


def wanted_frames(plant: MultibodyPlant, names: Sequence[str], base: str) -> tuple[dict[str, Frame], Frame]:
    """{name: frame} of the named frames, or of every body, and the base frame."""
    frames = [find_frame(plant, name, "--frame") for name in names] or [
        body.body_frame() for body in plant.elements.bodies[1:]
    ]
    named = dict(zip(names or unique_names(plant, frames), frames, strict=True))
    return named, find_frame(plant, base, "--relative-to")


def evaluate_frames(
    plant: MultibodyPlant, context: Context, names: Sequence[str], base: str, vdot: FloatArray | None
) -> dict[str, dict[str, Any]]:
    """{name: {X_WF, p_WF, quaternion, V_WF, A_WF}} of the named frames, or of every body."""
    import numpy as np

    frames, base_frame = wanted_frames(plant, names, base)
    base_number = plant.frame_number(base_frame)
    result = {}
    for name, frame in frames.items():
        X = frame.CalcPose(context, base_frame)
        entry = {
            "X_WF": X.GetAsMatrix4(),
            "p_WF": np.array(X.translation()),
            "quaternion": np.array(X.rotation().ToQuaternion().wxyz()),
            "V_WF": frame.CalcSpatialVelocity(context, base_frame, base_frame).get_coeffs(),
        }
        if vdot is not None:
            frames_of_A = plant.frame_number(frame), base_number, base_number
            entry["A_WF"] = context.state.acceleration(vdot, *frames_of_A)
        result[name] = entry
    return result


def unique_names(plant: MultibodyPlant, frames: Sequence[Frame]) -> list[str]:
    """Names of frames, with their model instance if several have the same."""
    plain = [frame.name() for frame in frames]
    return [
        name if plain.count(name) == 1 else f"{plant.GetModelInstanceName(frame.model_instance())}::{name}"
        for name, frame in zip(plain, frames, strict=True)
    ]


def frame_columns(
    plant: MultibodyPlant, batch: StateBatch, states: SimpleNamespace, names: Sequence[str], base: str
) -> dict[str, Array]:
    """The columns of many states, (n, ...) each."""
    from mbcli.math.rotation_array import quaternions_from_matrices

    frames, base_frame = wanted_frames(plant, names, base)
    indices = [int(frame.index()) for frame in frames.values()]
    R, p, V, A = batch.frame_motions(states.q, states.v, states.vdot, indices, int(base_frame.index()))
    quaternions = quaternions_from_matrices(R)
    result: dict[str, Array] = {}
    for k, name in enumerate(frames):
        result |= {f"{name}.p_WF": p[:, k], f"{name}.quaternion": quaternions[:, k], f"{name}.V_WF": V[:, k]}
        if A is not None:
            result[f"{name}.A_WF"] = A[:, k]
    return result


def columns(plant: MultibodyPlant, results: dict[str, Any]) -> dict[str, Any]:
    """Rows of a batch: one column per frame and quantity."""
    return {
        f"{name}.{quantity}": value
        for name, entry in results["frames"].items()
        for quantity, value in entry.items()
        if quantity != "X_WF"
    }


def render(plant: MultibodyPlant, results: dict[str, Any]) -> str:
    rows = [[name, *entry["p_WF"], *entry["quaternion"]] for name, entry in results["frames"].items()]
    text = table(rows, ["frame", "x [m]", "y", "z", "qw", "qx", "qy", "qz"])
    if "ik" in results:
        from mbcli.models.units import coordinate_units

        units = coordinate_units(plant)[0]
        text = f"{named_vector(plant.GetPositionNames(), results['ik']['q'], units)}\n\n{text}"
    if any((entry["V_WF"] != 0.0).any() for entry in results["frames"].values()):
        rows = [[name, *entry["V_WF"]] for name, entry in results["frames"].items()]
        text += "\n\n" + table(rows, ["frame", "wx [rad/s]", "wy", "wz", "vx [m/s]", "vy", "vz"])
    if any("A_WF" in entry for entry in results["frames"].values()):
        rows = [[name, *entry["A_WF"]] for name, entry in results["frames"].items()]
        text += "\n\n" + table(rows, ["frame", "alphax [rad/s^2]", "y", "z", "ax [m/s^2]", "ay", "az"])
    return text
