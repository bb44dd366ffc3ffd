"""Drake's collision filter groups in SDFormat files, their members in nested models, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.spec import CollisionFilterGroupSpec
from mbcli.parsers.xml_node import quoted

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mbcli.parsers.sdf.sdf_frames import FrameScope
    from mbcli.parsers.sdf.sdf_scopes import Element, Model

_TAG = "drake:collision_filter_group"


def find_groups(models: Iterable[tuple[str, Model]]) -> dict[str, Element]:
    """{full name: Element} of the groups of all models that the files do not switch off themselves.

    models: (prefix, Model) of a file's models, nested ones included.
    """
    groups = {}
    for prefix, model in models:
        for element in model.of_tag(_TAG):
            if element.node.boolean("ignore", False):
                element.node.ignore("settled")
            else:
                groups[prefix + element.name] = element
    return groups


def read_filter_groups(groups: Mapping[str, Element]) -> dict[str, CollisionFilterGroupSpec]:
    """{full name: CollisionFilterGroupSpec} of `find_groups`, with the names of links and groups that their models
    know them by."""
    members, inner = {}, {}
    for name, element in groups.items():
        frames = element.frames
        members[name] = _read_references(
            element,
            "drake:member",
            "link",
            lambda full, f=frames: _is_link(f, full),  # type: ignore[misc]  # mypy does not infer defaults of a lambda
        )
        inner[name] = _read_references(element, "drake:member_group", "collision filter group", groups.__contains__)
        if not members[name] and not inner[name]:
            message = f"collision filter group {quoted(element.name)} has no members"
            element.node.diagnostics.error("ELEMENT_MISSING", message, element.node)
    specs = {}
    for name, element in groups.items():
        prefix = element.frames.prefix
        ignored = _read_references(
            element, "drake:ignored_collision_filter_group", "collision filter group", groups.__contains__
        )
        specs[name] = CollisionFilterGroupSpec(
            name=element.name,
            members=tuple(link.removeprefix(prefix) for link in _flatten(name, members, inner)),
            ignores=tuple(group.removeprefix(prefix) for group in ignored),
            place=element.node.place,
        )
    return specs


def _is_link(frames: FrameScope, full_name: str) -> bool:
    return frames.graph.kind_of(full_name) == "link"


def _read_references(element: Element, tag: str, kind: str, is_there: Callable[[str], bool]) -> tuple[str, ...]:
    """Full names from the texts of the children of that tag, each of them a name that is there."""
    found = []
    for node in element.node.children(tag):
        name = node.text(required=True)
        if name is None:
            continue
        full = element.frames.prefix + name
        if is_there(full):
            found.append(full)
            continue
        message = f"<{tag}> names the {kind} {quoted(name)}, which is not in the model"
        hint = did_you_mean(name, element.frames.names) if kind == "link" else None
        node.diagnostics.error("ELEMENT_INVALID", message, node, value=name, hint=hint)
    return tuple(found)


def _flatten(
    group: str, members: Mapping[str, tuple[str, ...]], inner: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Links of a group and of the groups in it, each once."""
    links, seen, waiting = {}, set(), [group]
    while waiting:
        name = waiting.pop(0)
        if name not in seen:
            seen.add(name)
            links.update(dict.fromkeys(members.get(name, ())))
            waiting += inner.get(name, ())
    return tuple(links)
