"""What a <world> states of the whole plant, beside its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.sdf.sdf_values import child_number, descendant

if TYPE_CHECKING:
    from mbcli.parsers.xml_node import Node


def step_of_world(world: Node) -> float | None:
    """[s] <max_step_size> of the <physics> that counts, the first default one or else the first; None: not stated.

    All else in it is for the solvers of other engines.
    """
    profiles = world.children("physics")
    if not profiles:
        return None
    chosen = next((node for node in profiles if node.boolean("default", False)), profiles[0])
    for node in profiles:
        if node is not chosen:
            node.ignore("foreign", "another <physics> is the default")
    for name in ("name", "type"):
        chosen.attribute(name)
    with world.diagnostics.leaving_out(None, "it is not used"):
        step = child_number(chosen, "max_step_size", None)
        if step is None or 0 < step < 1:
            return step
        message = f"<max_step_size> must be between 0 and 1 s, found {step!r}"
        world.diagnostics.error("ELEMENT_INVALID", message, chosen.child("max_step_size"))
    return None


def wind_of_world(world: Node) -> tuple[float, float, float] | None:
    """(3,) [m/s] of <wind>, in World; None if it states none."""
    node = descendant(world, "wind", "linear_velocity")
    with world.diagnostics.leaving_out(None, "it is not used"):
        return None if node is None else node.text_vector(3)
