"""How large a robot is: its extent, the height at which it stands, and how far it reaches."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError
from mbcli.models.mechanisms import mechanisms
from mbcli.models.placed_solids import PlacedSolids
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.state.context import Context
from mbcli.multibody.tree.constraints import CouplerConstraint
from mbcli.multibody.tree.joint_kinds import slides_along_axis, turns_about_axis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from mbcli.math.array_types import Matrix, Matrix3, Vector, Vector3
    from mbcli.multibody.tree.joint import Joint
    from mbcli.multibody.tree.rigid_body import RigidBody

    Way: TypeAlias = Sequence[tuple[Joint, float]]  # joints on a way from World, each with the sign of its turn

STARTS = 4  # from which the reach of a chain is searched: the default positions, and drawn ones
SWEEPS = 40  # over the joints of a chain, at most
MOST_WORK = 250_000  # of a sweep over all chains: the sum of the squares of their lengths
SETTLED = 1e-9  # relative gain of a sweep that ends the search


def measures(plant: MultibodyPlant) -> dict[str, Any]:
    """The keys `extent`, `standing_height` and `reach` of a description; None if nothing can be said.

    extent: `lower` and `upper` (3,) [m], corners of the box in World around all that collides at the default positions.
    standing_height: {body that floats: [m] its height over the ground if the lowest point of its mechanism touches it}.
    reach: see reach().
    """
    try:
        placed = PlacedSolids(plant) if plant.scene_graph is not None else None
    except MbcliError:  # a mesh that cannot be read
        placed = None
    heights = None if placed is None else _standing_heights(plant, placed)
    return {
        "extent": None if placed is None else _extent(placed),
        "standing_height": heights or None,
        "reach": reach(plant),
    }


def _extent(placed: PlacedSolids) -> dict[str, Vector3] | None:
    ends = np.array([placed.reaches(sign * axis) for sign in (-1.0, 1.0) for axis in np.eye(3)])  # (6, n)
    ends = ends[:, np.isfinite(ends).all(axis=0)]
    if not ends.size:
        return None
    furthest = ends.max(axis=1)
    return {"lower": -furthest[:3], "upper": furthest[3:]}


def _standing_heights(plant: MultibodyPlant, placed: PlacedSolids) -> dict[str, float]:
    number, lowest, heights = mechanisms(plant), -placed.reaches([0.0, 0.0, -1.0]), {}
    context = Context(plant, compiled=False)
    plant.SetPositions(context, plant.GetDefaultPositions())
    for n, joint in plant.free_joints.items():
        own = np.isfinite(lowest) & (number[placed.body] == number[n])
        if own.any() and int(joint.parent_body().index()) == 0:
            body = plant.elements.bodies[n]
            z = body.EvalPoseInWorld(context).translation()[2]
            heights[plant.name_in_contact(body)] = float(z - lowest[own].min())
    return heights


# --------------------------------------------------------------------------------------------- reach


def reach(plant: MultibodyPlant) -> dict[str, Any] | None:
    """The largest `distance` [m] found, within limits, of the origin of a last `body` from that of its first `joint`.

    First is the first joint on the way from World that is not a floating one. The search turns and slides one joint
    after the other to where the distance is largest, from some starts; joints of several velocities and followers of
    couplers keep their positions. None without such joints or with too many, distance None if a slide has no limit.
    """
    chains = _chains(plant)
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    if not chains:
        return None
    best: dict[str, Any] | None = None
    context = Context(plant, compiled=False)
    for q in _starts(plant, lower, upper):
        plant.SetPositions(context, q)
        for body, joints in chains:
            distance = _largest_distance(context, body, joints, q, lower, upper)
            if best is None or distance > best["distance"] * (1.0 + SETTLED):
                best = {"distance": distance, "joint": joints[0][0].name(), "body": body.name()}
    if best is not None and not np.isfinite(best["distance"]):
        best["distance"] = None
    return best


def _chains(plant: MultibodyPlant) -> list[tuple[RigidBody, Way]]:
    """(last body, [(joint, sign of the turn of what is outboard)]) for each way from World that has moving joints."""
    followers = {c.joint0 for c in plant.elements.constraints if isinstance(c, CouplerConstraint)}
    forest = plant.forest()[0]
    inner, outer, last, count = {mobod.inboard for mobod in forest}, {}, {0: None}, {0: 0}
    for mobod in forest:
        joint = plant.elements.joints[mobod.joint] if mobod.joint is not None else None
        last[mobod.link], count[mobod.link] = last[mobod.inboard], count[mobod.inboard]
        if joint is not None and (turns_about_axis(joint) or slides_along_axis(joint)) and joint not in followers:
            outer[mobod.link] = joint, -1.0 if mobod.reversed else 1.0, last[mobod.inboard]
            last[mobod.link], count[mobod.link] = mobod.link, count[mobod.inboard] + 1
    ends = [n for n in count if n not in inner and count[n]]
    if sum(count[n] ** 2 for n in ends) > MOST_WORK:
        return []
    return [(plant.elements.bodies[n], _way(outer, last[n])) for n in ends]


def _way(outer: Mapping[int, tuple[Joint, float, int | None]], link: int | None) -> Way:
    """[(joint, sign)] from World to a link; outer: {link: (its joint, sign, the next such link towards World)}."""
    way = []
    while link is not None:
        joint, sign, link = outer[link]
        way.append((joint, sign))
    return way[::-1]


def _starts(plant: MultibodyPlant, lower: Vector, upper: Vector) -> Iterator[Vector]:
    default = np.clip(plant.GetDefaultPositions(), lower, upper)
    yield default
    drawn = Random(0)  # that of numpy takes longer to import than the search takes
    for _ in range(STARTS - 1):
        q = default.copy()
        for joint in plant.moving_joints():
            k = joint.position_start()
            if joint.num_positions() == 1:
                low, high = max(lower[k], default[k] - np.pi), min(upper[k], default[k] + np.pi)
                q[k] = drawn.uniform(low, high) if low < high else default[k]
        yield q


def _axis(joint: Any) -> Vector3:
    """Of a joint that turns about one or slides along one: `axis()` is not of all joints."""
    return joint.axis()


def _largest_distance(context: Context, body: RigidBody, joints: Way, q: Vector, lower: Vector, upper: Vector) -> float:
    """From the origin of the first joint to that of the body [m], after turning each joint to the best it can do."""
    poses = [joint.frame_on_parent().CalcPoseInWorld(context) for joint, _ in joints]
    places = np.array([*(X.translation() for X in poses), body.EvalPoseInWorld(context).translation()])
    axes = np.array([X.rotation().matrix() @ _axis(joint) for X, (joint, _) in zip(poses, joints, strict=True)])
    q, length = np.array(q), np.linalg.norm(places[-1] - places[0])
    for _ in range(SWEEPS):
        for n, (joint, sign) in enumerate(joints):
            k = joint.position_start()
            room = (lower[k] - q[k], upper[k] - q[k]) if sign > 0.0 else (q[k] - upper[k], q[k] - lower[k])
            slides = slides_along_axis(joint)
            step = (_best_slide if slides else _best_turn)(places, axes[n], n, room)
            if not np.isfinite(step):
                return np.inf
            q[k] += sign * step
            if slides:
                places[n + 1 :] += step * axes[n]
                continue
            R = _rotation(axes[n], step)
            places[n + 1 :] = places[n] + (places[n + 1 :] - places[n]) @ R.T
            axes[n + 1 :] = axes[n + 1 :] @ R.T
        before, length = length, np.linalg.norm(places[-1] - places[0])
        if length <= before * (1.0 + SETTLED):
            break
    return float(length)


def _best_slide(places: Matrix, axis: Vector3, n: int, room: Sequence[float]) -> float:
    """The squared distance is a parabola of the slide, so that it is largest at an end."""
    return max(room, key=lambda s: np.linalg.norm(places[-1] + s * axis - places[0]) if np.isfinite(s) else np.inf)


def _best_turn(places: Matrix, axis: Vector3, n: int, room: Sequence[float]) -> float:
    """The squared distance is a + b cos(t) + c sin(t) of the turn t."""
    c, r = places[n] - places[0], places[-1] - places[n]
    across = r - axis * (axis @ r)
    b, s = c @ across, c @ np.cross(axis, r)
    if np.hypot(b, s) <= 1e-12 * (c @ c + r @ r):
        return 0.0
    peak = np.arctan2(s, b)
    low, high = room
    turns = 2.0 * np.pi * np.arange(-3, 4)
    inside = [t for t in peak + turns if low <= t <= high]
    ends = [t for t in room if np.isfinite(t)]
    return max([0.0, *inside[:1], *ends], key=lambda t: b * np.cos(t) + s * np.sin(t))


def _rotation(axis: Vector3, angle: float) -> Matrix3:
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
