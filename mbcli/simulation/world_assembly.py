"""Worlds of closed chains, moved to where the chains are closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.errors import NumericalError
from mbcli.log.fields.loaded_states import LoadedStates
from mbcli.multibody.assembly.closed_chains import assemble_context

if TYPE_CHECKING:
    from collections.abc import Sequence


def assemble_worlds(worlds: Any, which: Sequence[int], tolerance: float) -> list[int]:
    """As Worlds.assemble(), of worlds of these numbers."""
    plant, moved = worlds.plant, []
    if not plant.elements.constraints:
        return []
    copies = {id(context): LoadedStates(plant, context, ()).context for context, *_ in worlds.contexts()}
    contexts = worlds.context_of_each()
    for k in which:
        context = copies[id(contexts[k])]
        plant.SetPositions(context, worlds.q[k])
        plant.SetVelocities(context, worlds.v[k])
        try:
            lines = assemble_context(context, tolerance)
        except NumericalError as error:
            raise NumericalError(f"world {k}: {error}") from None
        if lines:
            moved.append(k)
            worlds.q[k], worlds.v[k] = plant.GetPositions(context), plant.GetVelocities(context)
    return moved
