"""Whether everything that a joint moves has mass; without it the mass matrix is singular."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.checks.flat_model import WORLD, flatten
from mbcli.parsers.checks.report import MAX_RELATED
from mbcli.parsers.checks.welded import welded_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import JointSpec, LinkSpec, ModelSpec

LEAST_MOMENT = 1e-15  # of the largest moment of inertia: less is 0 with rounding
MOST_NAMED = 3  # links in a message
MOST_WITHOUT = 0.3  # of the links with geometry that joints move: with more the file is not for dynamics


def check_moving_masses(model: FlatModel, report: Report) -> None:
    """MASSLESS_LINK_FIXED of bases without mass and joints; MODEL_WITHOUT_MASS, or else MOVING_MASS_MISSING of the
    joints and FLOATING_MASS_MISSING of the bases that carry no mass; each once a model.

    A joint with a drive that has inertia may do without.
    """
    if not report.is_sound(model):
        return
    mobods, _, names, joints = model.forest
    inertials = [model.links[name].inertial if name in model.links else None for name in names]
    mass = [inertial.mass if inertial is not None else 0.0 for inertial in inertials]
    has_mass = any(mass)
    moved = []  # (index of a joint, the link that it moves)
    floating: list[str] = []
    fixed: list[str] = []  # to the world, by those who simulate
    has_joints = [False] * len(names)
    for mobod in reversed(mobods):  # links come before those that they carry
        kind = None if mobod.joint is None else joints[mobod.joint].kind
        if kind is not None and not kind.is_floating:  # which couples nothing
            mass[mobod.inboard] += mass[mobod.link]
            has_joints[mobod.inboard] |= has_joints[mobod.link] or not kind.is_fixed
        if mass[mobod.link] == 0 and mobod.joint is None:
            (floating if has_joints[mobod.link] else fixed).append(names[mobod.link])
        elif mass[mobod.link] == 0 and mobod.joint is not None and _needs_mass(joints[mobod.joint], model):
            moved.append((mobod.joint, names[mobod.link]))
    if fixed:
        message = f'link "{fixed[0]}" has no mass and no joint: it is fixed to the world{_others(fixed, "links")}'
        related = [model.links[link].place for link in fixed[1 : 1 + MAX_RELATED]]
        report("MASSLESS_LINK_FIXED", message, model.links[fixed[0]].place, related=related)
    if not has_mass:
        if moved:
            message = "no link has mass: poses, velocities and Jacobians can be computed, forces and motion cannot"
            report("MODEL_WITHOUT_MASS", message, model.place)
        return
    if moved:
        found = [(joints[k], link) for k, link in sorted(moved)]
        joint, link = found[0]
        message = f'joint "{joint.name}" moves link "{link}", whose subtree has no mass{_others(found, "joints")}'
        related = [joint.place for joint, _ in found[1 : 1 + MAX_RELATED]]
        hint = "give the link an inertial, or fix the joint"
        report("MOVING_MASS_MISSING", message, joint.place, hint=hint, related=related)
    if floating:
        message = f'the floating subtree of link "{floating[0]}" has no mass{_others(floating, "links")}'
        related = [model.links[link].place for link in floating[1 : 1 + MAX_RELATED]]
        hint = "give it mass, or fix it to the world"
        report("FLOATING_MASS_MISSING", message, model.links[floating[0]].place, hint=hint, related=related)


def check_weight(model: FlatModel, report: Report) -> None:
    """LINK_WEIGHTLESS, once a model, for links with mass that its file takes out of gravity."""
    heavy = [(name, link) for name, link in model.links.items() if link.inertial is not None and link.inertial.mass > 0]
    found = [(name, link) for name, link in heavy if not link.gravity]
    if found:
        names = ", ".join(f'"{name}"' for name, _ in found[:MOST_NAMED]) + (", ..." if len(found) > MOST_NAMED else "")
        message = f"gravity does not act on {len(found)} of {len(heavy)} links with mass: {names}"
        related = [link.place for _, link in found[1 : 1 + MAX_RELATED]]
        report("LINK_WEIGHTLESS", message, found[0][1].place, related=related)


def check_missing_inertials(model: FlatModel, report: Report) -> None:
    """INERTIAL_MISSING, once a model, for links that a joint moves, with geometry and without mass, where others have
    some. Those that carry nothing with mass are those of check_moving_masses()."""
    if not report.is_sound(model):
        return
    group, stated = welded_groups(model), set()
    seen: dict[str, tuple[str, LinkSpec]] = {}
    for name, link in model.links.items():
        if link.inertial is not None:
            stated.add(group[name])
        if link.visuals or link.collisions:
            seen.setdefault(group[name], (name, link))
    moving = {link: joint for link, joint in model.inboard.items() if not joint.kind.is_fixed}
    carries = {group[j.parent if j.child == link else j.child] for link, j in moving.items() if group[link] in stated}
    moved = {group[link] for link in moving} - {WORLD}
    shown = [key for key in seen if key in moved]
    without = [key for key in shown if key not in stated and key in carries]
    if not without or len(without) > MOST_WITHOUT * len(shown):
        return
    name, first = seen[without[0]]
    message = f'link "{name}" has geometry and no mass, and a joint moves it{_others(without, "links")}'
    related = [seen[key][1].place for key in without[1 : 1 + MAX_RELATED]]
    report("INERTIAL_MISSING", message, first.place, hint="is its inertial missing?", related=related)


def _needs_mass(joint: JointSpec, model: FlatModel) -> bool:
    return not joint.kind.is_fixed and not joint.reflected_inertia and joint.name not in model.driven_joints


def _others(found: Sequence[str | tuple[JointSpec, str]], kind: str) -> str:
    return f" (and {len(found) - 1} more {kind})" if len(found) > 1 else ""


def may_leave_motion_open(model: ModelSpec) -> bool:
    """Whether links of a ModelSpec that move together have no body with mass and all moments of inertia: only then its
    mass matrix can be singular."""
    flat = flatten(model)
    group, moments = welded_groups(flat), flat.principal_moments
    complete = {
        group[name]
        for name, link in flat.links.items()
        if link.inertial is not None and link.inertial.mass > 0 and moments[name][0] > LEAST_MOMENT * moments[name][2]
    }
    return not set(group.values()) - {WORLD} <= complete
