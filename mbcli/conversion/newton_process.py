"""What Newton makes of a USD file, on the processor: `python -m mbcli.conversion.newton_process`, see
engine_process.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbcli.common.engine_process import answer

UNLIMITED = 1e9  # from here on a limit of Newton is none


def evaluate(request: dict[str, Any]) -> dict[str, Any]:
    """What Newton has and computes. request: "usd", a path; "states" [{joint: q}] of joints with one coordinate."""
    import newton
    import warp

    warp.config.quiet = True
    builder = newton.ModelBuilder()
    builder.add_usd(request["usd"])
    model = builder.finalize(device="cpu")
    if not model.body_count:  # Newton has no arrays then
        nothing: dict[str, Any] = {"mass_matrix": [], "poses": {}, "moved": []}
        empty: dict[str, Any] = {"bodies": {}, "joints": {}, "states": [nothing for _ in request["states"]]}
        return empty | {"version": newton.__version__, "gravity": model.gravity.numpy()[0].tolist()}
    starts, velocities = (array.numpy().tolist() for array in (model.joint_q_start, model.joint_qd_start))
    names = [label.rpartition("/")[2] for label in model.joint_label]
    single = {
        name: (starts[k], velocities[k])
        for k, name in enumerate(names)
        if starts[k + 1] - starts[k] == 1 and velocities[k + 1] - velocities[k] == 1
    }
    of_joints = enumerate(model.joint_articulation.numpy().tolist())
    articulated = {d for k, where in of_joints if where >= 0 for d in range(velocities[k], velocities[k + 1])}
    lower, upper, armature = (
        array.numpy() for array in (model.joint_limit_lower, model.joint_limit_upper, model.joint_armature)
    )
    bodies = [label.rpartition("/")[2] for label in model.body_label]
    masses, centers, inertias = (a.numpy() for a in (model.body_mass, model.body_com, model.body_inertia))
    return {
        "version": newton.__version__,
        "gravity": model.gravity.numpy()[0].tolist(),
        "bodies": {
            name: {"mass": float(masses[k]), "com": centers[k].tolist(), "inertia": inertias[k].tolist()}
            for k, name in enumerate(bodies)
        },
        "joints": {
            name: {
                "range": [
                    float(lower[d]) if lower[d] > -UNLIMITED else -np.inf,
                    float(upper[d]) if upper[d] < UNLIMITED else np.inf,
                ],
                "armature": float(armature[d]),
            }
            for name, (_, d) in single.items()
        },
        "states": [_at_state(newton, warp, model, bodies, single, articulated, state) for state in request["states"]],
    }


def _at_state(
    newton: Any,
    warp: Any,
    model: Any,
    bodies: list[str],
    single: dict[str, tuple[int, int]],
    articulated: set[int],
    positions: dict[str, float],
) -> dict[str, Any]:
    """At positions of the joints of articulations: Newton moves a single joint between World and a body otherwise."""
    single = {name: where for name, where in single.items() if where[1] in articulated}
    q = model.joint_q.numpy()
    for name, value in positions.items():
        if name in single:
            q[single[name][0]] = value
    state = model.state()
    joint_q = warp.array(q, dtype=warp.float32, device="cpu")
    newton.eval_fk(model, joint_q, model.joint_qd, state)
    M: Any = newton.eval_mass_matrix(model, state).numpy() if model.articulation_count else ()
    ends = model.articulation_start.numpy().tolist()
    velocity_starts = model.joint_qd_start.numpy().tolist()
    of_velocity = {d: name for name, (_, d) in single.items()}
    entries = []
    for k in range(model.articulation_count):
        first, last = velocity_starts[ends[k]], velocity_starts[ends[k + 1]]
        rows = [(d - first, of_velocity[d]) for d in range(first, last) if d in of_velocity]
        entries += [[a, b, float(M[k, i, j])] for i, a in rows for j, b in rows]
    poses = dict(zip(bodies, state.body_q.numpy().tolist(), strict=True))  # p, then the quaternion x, y, z, w
    return {"mass_matrix": entries, "poses": poses, "moved": [name for name in positions if name in single]}


def load() -> None:
    """Newton and what it computes with, if they can be imported."""
    import newton  # noqa: F401
    import warp  # noqa: F401


if __name__ == "__main__":
    answer(load, evaluate)
