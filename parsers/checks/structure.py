"""How the joints of a model hang together: closed loops and their cuts, joints that follow others."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import AxisSpec, JointSpec, MimicSpec

LIMIT_TOLERANCE = (
    1e-3  # [rad or m], by which limits of a follower may be tighter than the range that its leader asks for
)


def check_loops(model: FlatModel, report: Report) -> None:
    """LOOP_CUT for each joint that closes a loop."""
    if not report.is_sound(model):
        return
    mobods, loops, names, joints = model.forest
    if not loops:
        return
    inboard = {names[mobod.link]: names[mobod.inboard] for mobod in mobods}
    for k in loops:
        joint = joints[k]
        chain = _loop(inboard, joint.parent, joint.child)
        message = (
            f'joint "{joint.name}" closes a loop of {len(chain)} links, {_listed(chain)}: it is cut here, '
            "and a constraint holds it together"
        )
        report("LOOP_CUT", message, joint.place)


def _loop(inboard: Mapping[str, str], start: str, end: str) -> list[str]:
    """The links from one to the other along the tree."""
    way = _way_to_root(inboard, start)
    seen = {link: k for k, link in enumerate(way)}
    back = []
    for link in _way_to_root(inboard, end):
        back.append(link)
        if link in seen:
            return [*way[: seen[link]], *reversed(back)]
    return [*way, *reversed(back)]


def _way_to_root(inboard: Mapping[str, str], link: str) -> list[str]:
    way = [link]
    while way[-1] in inboard:
        way.append(inboard[way[-1]])
    return way


def _listed(names: Sequence[str]) -> str:
    return " - ".join(names if len(names) <= 8 else [*names[:4], "...", *names[-3:]])


def check_followers(model: FlatModel, report: Report) -> None:
    """JOINT_COUPLED once a model, MIMIC_EXCEEDS_LIMITS for each follower."""
    if not report.is_sound(model):
        return
    followers = [(j, a, a.mimic) for j in model.joints.values() for a in j.axes if a.mimic is not None]
    if not followers:
        return
    joint, _, mimic = followers[0]
    others = f" ({len(followers)} joints follow others)" if len(followers) > 1 else ""
    follows = f'joint "{joint.name}" follows "{mimic.leader}"{others}'
    message = f"{follows}: each keeps its coordinate, and a constraint holds it"
    related = [other.place for _, _, other in followers[1:11]]
    report("JOINT_COUPLED", message, mimic.place, related=related)
    for joint, axis, mimic in followers:
        _check_reach(model, joint, axis, mimic, report)


def _check_reach(model: FlatModel, joint: JointSpec, axis: AxisSpec, mimic: MimicSpec, report: Report) -> None:
    """A follower's limits must contain the positions to which its leader takes it."""
    leader = model.joints.get(mimic.leader)
    if leader is None or mimic.leader_axis >= len(leader.axes):
        return
    ends = (leader.axes[mimic.leader_axis].lower, leader.axes[mimic.leader_axis].upper)
    if not all(map(isfinite, ends)):
        return
    low, high = sorted(mimic.multiplier * end + mimic.offset for end in ends)
    if low >= axis.lower - LIMIT_TOLERANCE and high <= axis.upper + LIMIT_TOLERANCE:
        return
    message = (
        f'joint "{joint.name}" must go from {low:.6g} to {high:.6g} where "{mimic.leader}" takes it, '
        f"and its own limits are [{axis.lower:.6g}, {axis.upper:.6g}]"
    )
    if min(high, axis.upper) - max(low, axis.lower) > LIMIT_TOLERANCE:
        report("MIMIC_EXCEEDS_LIMITS", message, axis.place, "limit", hint="the narrower of both will hold")
    else:
        hint = "is the sign of the multiplier right?"
        report("MIMIC_OUTSIDE_LIMITS", f"{message}: neither joint can move", axis.place, "limit", hint=hint)
