"""What may be asked of the plugins of a plant, by name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.coordinate_names import listed
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.plugins import PluginLaw
    from mbcli.plugins.settings import Command


class PluginCommands:
    """The laws of the plugins of a plant, and the names of what may be asked of them.

    A name is that of the joint or model and what is asked of it, `rotor_0.speed`; where two are equal, and always else
    too, the model stands before it: `x3::rotor_0.speed`.

    ModelError if two plugins of a model take the same.

    plant: None for none, as of worlds, in which plugins do not act.
    """

    def __init__(self, plant: MultibodyPlant | None) -> None:
        self._plugins = [] if plant is None else plant.elements.plugins

    def __bool__(self) -> bool:
        return bool(self._plugins)

    @cached_property
    def laws(self) -> list[PluginLaw]:
        """One of each plugin."""
        from mbcli.plugins import PLUGINS  # late: few models have some

        return [PLUGINS[plugin.kind].Law(plugin) for plugin in self._plugins]

    @cached_property
    def inputs(self) -> list[Command]:
        """Of all, in their order."""
        return [command for law in self.laws for command in law.inputs]

    @cached_property
    def _indices(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        k = 0
        for plugin, law in zip(self._plugins, self.laws, strict=True):
            for command in law.inputs:
                full = f"{plugin.model}::{command.name}"
                if full in found:
                    raise ModelError(f"{plugin.place}: error: two plugins take '{full}'")
                found[full] = [k]
                found.setdefault(command.name, []).append(k)
                k += 1
        return found

    def names(self) -> list[str]:
        """The shortest name of each that means no other."""
        return [min((name for name, at in self._indices.items() if at == [k]), key=len) for k in range(len(self))]

    def __len__(self) -> int:
        return len(self.inputs)

    def find(self, name: Any) -> int | None:
        """Index of a name; None if it is none of these. LookupError if it means several."""
        found = self._indices.get(name, []) if self._plugins and isinstance(name, str) else []
        if len(found) > 1:
            full = [whole for whole, at in self._indices.items() if len(at) == 1 and at[0] in found]
            raise LookupError(f"'{name}' can mean {listed(full)}")
        return found[0] if found else None

    def start(self) -> FloatArray:
        """(n,) what each is until something else is asked."""
        return np.array([command.start for command in self.inputs], dtype=float)
