"""Whether joints are where, and move as far as, the size of the model lets one expect: lengths in millimetres."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.checks.flat_model import WORLD
from mbcli.parsers.checks.joint_limits import SUSPICIOUS_LENGTH
from mbcli.parsers.checks.link_extent import corners
from mbcli.parsers.checks.report import MAX_RELATED

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import JointSpec

LEAST_FAR = 2.0  # [m]: a joint that is nearer is in no other unit
GAP = 50.0  # ratio of the least length that is too long to the next one
MOST_FAR = 0.25  # of the joints, beside models whose geometry is that much smaller
LONG = 10.0  # travel of a sliding joint in sizes of the model


def check_reach(model: FlatModel, report: Report) -> None:
    """JOINT_ORIGIN_FAR, JOINT_LIMIT_TRAVEL."""
    if not report.is_sound(model) or not model.links:
        return
    ways = {joint.name: (joint, _length(model, link, joint)) for link, joint in model.inboard.items()}
    lengths = {name: way for name, (joint, way) in ways.items() if WORLD not in (joint.parent, joint.child) and way > 0}
    sizes = [size for size in _sizes(model) if size > 0]
    far = _far(lengths, sizes)
    if far:
        name = max(far, key=lengths.__getitem__)
        joint = ways[name][0]
        rest = max([*(lengths[other] for other in lengths if other not in far), *sizes])
        more = f" (and {len(far) - 1} more joints)" if len(far) > 1 else ""
        message = (
            f'joint "{name}"{more} is {lengths[name]:.4g} m away from the link that carries it, '
            f"the next longest way or link of the model is {rest:.3g} m"
        )
        related = [ways[other][0].place for other in far if other != name][:MAX_RELATED]
        hint = "is it in millimetres?"
        report("JOINT_ORIGIN_FAR", message, joint.place, "origin", "pose", hint=hint, related=related)
    if far:
        return  # its size is not known
    size = _extent(model) + max(sizes, default=0.0)
    if size > 0:
        for joint in model.joints.values():
            _check_travel(model, joint, size, report)


def _length(model: FlatModel, link: str, joint: JointSpec) -> float:
    """[m] from the link that carries a joint to the one that it holds, with all coordinates zero."""
    other = joint.parent if joint.child == link else joint.child
    return float(np.linalg.norm(model.poses[link][:3, 3] - model.poses[other][:3, 3]))


def _sizes(model: FlatModel) -> list[float]:
    """[m] of the diagonals of the boxes around the links whose geometry is known."""
    found = (corners(link, model.mesh_bounds) for link in model.links.values())
    return [float(np.linalg.norm(p.max(axis=0) - p.min(axis=0))) for p in found if p is not None]


def _extent(model: FlatModel) -> float:
    """[m] of the diagonal of the box around the origins of the links, with all coordinates zero."""
    origins = np.array([model.poses[link][:3, 3] for link in model.links])
    return float(np.linalg.norm(origins.max(axis=0) - origins.min(axis=0)))


def _far(lengths: dict[str, float], sizes: list[float]) -> list[str]:
    """The names of the joints whose ways are by far the longest lengths of a model."""
    falling = sorted(lengths, key=lengths.__getitem__, reverse=True)
    largest = max(sizes, default=0.0)
    for k, name in enumerate(falling):
        length = lengths[name]
        if length < LEAST_FAR or length < GAP * largest:
            return []
        rest = max(largest, lengths[falling[k + 1]] if k + 1 < len(falling) else 0.0)
        if 0 < rest * GAP < length:
            few = k + 1 <= max(1, MOST_FAR * len(lengths)) and k + 1 < len(lengths)
            return falling[: k + 1] if few or largest > 0 else []
    return []


def _check_travel(model: FlatModel, joint: JointSpec, size: float, report: Report) -> None:
    if not joint.kind.slides or not joint.axes or not report.is_sound(joint) or _is_of_base(model, joint):
        return
    axis = joint.axes[0]
    travel = max((abs(bound) for bound in (axis.lower, axis.upper) if isfinite(bound)), default=0.0)
    if LONG * size < travel <= SUSPICIOUS_LENGTH[0]:  # longer ones are told by JOINT_LIMIT_LONG
        message = (
            f'the limits [{axis.lower:.6g}, {axis.upper:.6g}] m of joint "{joint.name}" are more than {LONG:g} times '
            f"as far as all of the model, {size:.3g} m"
        )
        report("JOINT_LIMIT_TRAVEL", message, axis.place, "limit", hint="are they in millimetres?")


def _is_of_base(model: FlatModel, joint: JointSpec) -> bool:
    """Whether a joint moves all of the model: what carries it has neither mass nor geometry."""
    carrier = joint.parent
    while carrier != WORLD and carrier in model.links:
        link = model.links[carrier]
        if link.visuals or link.collisions or (link.inertial is not None and link.inertial.mass > 0):
            return False
        if carrier not in model.inboard:
            return True
        carrier = model.inboard[carrier].parent
    return True
