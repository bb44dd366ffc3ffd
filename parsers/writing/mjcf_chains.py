"""Links without mass or shape between two joints: in MJCF the joints stand on one body, and there is no such link."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mbcli.parsers.duplicate_names import generated_name
from mbcli.parsers.spec import BushingSpec, TendonConstraintSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.parsers.joint_kinds import JointKind
    from mbcli.parsers.spec import ModelSpec


def carried_through(model: ModelSpec) -> dict[str, str]:
    """{link that is left out: the link that its one joint carries} of a flat ModelSpec whose joints form a tree."""
    holder = {joint.child: joint for joint in model.joints}
    carries = Counter(joint.parent for joint in model.joints)
    below = {joint.parent: joint for joint in model.joints}
    named = _named_links(model)
    return {
        link.name: below[link.name].child
        for link in model.links
        if link.inertial is None
        and link.gravity
        and not (link.visuals or link.collisions or link.name in named)
        and carries[link.name] == 1
        and link.name in holder
        and (holder[link.name].kind.turns or holder[link.name].kind.slides)
        and _stands_on_another(below[link.name].kind)
    }


def _stands_on_another(kind: JointKind) -> bool:
    """Whether its joints may be the last of several that stand on one body."""
    return kind.turns or kind.slides or kind.is_ball


def _named_links(model: ModelSpec) -> set[str]:
    """The links that something else than a joint refers to."""
    named = {frame.link for frame in model.frames}
    named |= {
        part.link
        for actuator in (*model.transmission_actuators, *model.tendon_springs)
        for part in actuator.transmission.path
    }
    named |= {name for posture in model.postures for name, _ in (*posture.poses, *posture.spatial_velocities)}
    for spec in (*model.force_elements, *model.constraints):
        if isinstance(spec, BushingSpec):
            named |= {spec.frame_A, spec.frame_C}
        elif not isinstance(spec, TendonConstraintSpec):
            named |= {spec.link_A, spec.link_B}
    forms: Any = model.sensors
    return named | {form.link for form in forms}


def end_of(link: str, through: Mapping[str, str]) -> str:
    """The body that a link is, or is left out on the way to."""
    while link in through:
        link = through[link]
    return link


def names_as_read(model: ModelSpec, through: Mapping[str, str]) -> dict[str, str]:
    """{link that is left out: its name where the document is read, BODY0, BODY1 and so on from the parent on}."""
    holder = {joint.child: joint.parent for joint in model.joints}
    taken = {link.name for link in model.links if link.name not in through}
    found = {}
    for end in {end_of(link, through): None for link in through}:
        chain, link = [], holder[end]
        while link in through:
            chain.append(link)
            link = holder[link]
        for k, link in enumerate(reversed(chain)):
            name = generated_name(f"{end}{k}", taken)
            taken.add(name)
            found[link] = name
    return found
