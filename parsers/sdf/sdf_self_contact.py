"""Which links of one model act on each other: <self_collide>, of a model and of its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.sdf.sdf_values import child_boolean
from mbcli.parsers.spec import CollisionFilterGroupSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.parsers.xml_node import Node

TAG = "self_collide"


def self_contact_group(model: Node, links: Iterable[Node]) -> CollisionFilterGroupSpec | None:
    """The links of a model that do not act on each other, as a group that ignores itself; None if nothing is stated.

    Two links act on each other if one of them says so. A link that does not say is as its model, which does not by
    default. Where neither the model nor a link states anything, `--self-contact` decides alone.
    """
    links = list(links)
    stated = [node.child(TAG) for node in (model, *links)]
    if not any(node is not None for node in stated):
        return None
    with model.diagnostics.leaving_out(None, "it is not used"):  # the mechanism does not depend on it
        own = child_boolean(model, TAG, False)
        members = tuple(link.raw("name") or "" for link in links if not child_boolean(link, TAG, own))
    if len(members) < 2:
        return None
    return CollisionFilterGroupSpec(TAG, members, (TAG,), next(n for n in stated if n is not None).place)
