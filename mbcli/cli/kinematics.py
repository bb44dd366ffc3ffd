"""`mbcli kinematics`: poses and motion of bodies and frames."""

import click

from mbcli.cli.analysis import Analysis
from mbcli.cli.model import find_frame
from mbcli.cli.options import batch_options, model_options, output_options, state_options
from mbcli.cli.output import table


@click.command()
@model_options
@state_options
@batch_options
@click.option("--frame", "names", multiple=True, metavar="NAME", help="A body or frame; default: every body.")
@click.option(
    "--relative-to", "base", default="world", metavar="NAME", help="Measure in this frame instead of the world."
)
@click.option("--vdot", metavar="LIST", help="Accelerations; with them the result has A_WF too.")
@output_options
@click.pass_context
def kinematics(ctx, names, base, vdot, **values):
    """Poses and velocities of bodies and frames, measured and expressed in the world or in --relative-to.

    Spatial velocities are rotational first, at the frame's origin; quaternions are w, x, y, z.

    \b
    mbcli kinematics arm.urdf --frame tool --at elbow=0.3
    mbcli kinematics arm.urdf --states motion.csv --frame tool --format csv
    """

    def evaluate(plant, context, inputs):
        return {"frames": evaluate_frames(plant, context, names, base, inputs.get("vdot"))}

    def evaluate_rows(plant, batch, states):
        return frame_columns(plant, batch, states, names, base)

    Analysis("kinematics", evaluate, render, takes=("vdot",), columns=columns, evaluate_rows=evaluate_rows).run(
        ctx, values, {"vdot": vdot}
    )


def wanted_frames(plant, names, base):
    """{name: frame} of the named frames, or of every body, and the base frame."""
    frames = [find_frame(plant, name, "--frame") for name in names] or [
        body.body_frame() for body in plant.elements.bodies[1:]
    ]
    named = dict(zip(names or unique_names(plant, frames), frames, strict=True))
    return named, find_frame(plant, base, "--relative-to")


def evaluate_frames(plant, context, names, base, vdot):
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


def unique_names(plant, frames):
    """Names of frames, with their model instance if several have the same."""
    plain = [frame.name() for frame in frames]
    return [
        name if plain.count(name) == 1 else f"{plant.GetModelInstanceName(frame.model_instance())}::{name}"
        for name, frame in zip(plain, frames, strict=True)
    ]


def frame_columns(plant, batch, states, names, base):
    """The columns of many states, (n, ...) each."""
    from mbcli.math.rotation_array import quaternions_from_matrices

    frames, base_frame = wanted_frames(plant, names, base)
    indices = [int(frame.index()) for frame in frames.values()]
    R, p, V, A = batch.frame_motions(states.q, states.v, states.vdot, indices, int(base_frame.index()))
    quaternions = quaternions_from_matrices(R)
    result = {}
    for k, name in enumerate(frames):
        result |= {f"{name}.p_WF": p[:, k], f"{name}.quaternion": quaternions[:, k], f"{name}.V_WF": V[:, k]}
        if A is not None:
            result[f"{name}.A_WF"] = A[:, k]
    return result


def columns(plant, results):
    """Rows of a batch: one column per frame and quantity."""
    return {
        f"{name}.{quantity}": value
        for name, entry in results["frames"].items()
        for quantity, value in entry.items()
        if quantity != "X_WF"
    }


def render(plant, results):
    rows = [[name, *entry["p_WF"], *entry["quaternion"]] for name, entry in results["frames"].items()]
    text = table(rows, ["frame", "x [m]", "y", "z", "qw", "qx", "qy", "qz"])
    if any((entry["V_WF"] != 0.0).any() for entry in results["frames"].values()):
        rows = [[name, *entry["V_WF"]] for name, entry in results["frames"].items()]
        text += "\n\n" + table(rows, ["frame", "wx [rad/s]", "wy", "wz", "vx [m/s]", "vy", "vz"])
    if any("A_WF" in entry for entry in results["frames"].values()):
        rows = [[name, *entry["A_WF"]] for name, entry in results["frames"].items()]
        text += "\n\n" + table(rows, ["frame", "alphax [rad/s^2]", "y", "z", "ax [m/s^2]", "ay", "az"])
    return text
