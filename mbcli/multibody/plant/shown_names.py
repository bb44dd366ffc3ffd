"""Which names of a plant completion and `help()` show: those for users, not those of the core among itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from mbcli.multibody.core.plant_core import PlantCore

# as pydrake names methods: CamelCase, and what begins or ends so; and the few that do neither
FOR_USERS = re.compile(r"_|[A-Z]|(get|set|num|is|has|mutable)_|.*_ticket$")
OTHERS = {
    "activation_names",
    "activations",
    "deformable_model",
    "geometry_source_is_registered",
    "gravity_field",
    "time_step",
    "tree_height",
    "world_body",
    "world_frame",
}
CORE = {"set_controllers"}


class ShowsNamesForUsers(type):
    """The class of classes whose `dir()`, and so completion and help, is without names of the core."""

    def __dir__(cls) -> list[str]:
        return shown(super().__dir__())


def shown(names: Iterable[str]) -> list[str]:
    """Those of the names that are not of the core alone; what a class of a user adds is."""
    core = _names_of_the_core()
    return [name for name in names if name not in core]


@cache
def _names_of_the_core() -> frozenset[str]:
    """Methods, and what every finalized plant keeps."""
    plant = PlantCore(0.0)
    plant.Finalize()
    own = {*type.__dir__(PlantCore), *vars(plant)}
    return frozenset(name for name in own if name in CORE or not (FOR_USERS.match(name) or name in OTHERS))
