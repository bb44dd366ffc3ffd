"""What acts in a run: a file a kind.

actor            Actor: what each kind states and does
stops            stops at position limits of continuous plants
velocity_limits  velocity limits that hold joints, or are reported
following        joints that follow a plan
holding          joints that are held and driven; controllers of files
inputs           actuation over time, and its end at effort limits
user_controller  the controller that a user gives
plugins          the plugins of the model
pushes           forces on bodies
live_view        a page that shows the run while it goes
sensors          what a controller sees of the sensors

A new kind is a file here, with one Actor and its Settings, which are a base of RunArguments in
mbcli.simulation.run_arguments. Each file is an actor: the import fails for one that is none, and that of run_arguments
for settings that are not there. Files import what runs need in their functions: the help of commands asks for the
settings alone.
"""

import pkgutil
from collections.abc import Collection
from importlib import import_module

from mbcli.simulation.actors.actor import Actor


def _actor_of(name: str) -> type[Actor]:
    module = import_module(f"{__name__}.{name}")
    found = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Actor) and kind.__module__ == module.__name__
    ]
    if len(found) != 1:
        raise ImportError(f"{module.__name__} has {len(found)} actors: it is to have one")
    return found[0]


_FILES = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "actor")
ACTORS: tuple[type[Actor], ...] = tuple(sorted(map(_actor_of, _FILES), key=lambda kind: kind.STAGE))
"""In the order in which they start."""


def require_known(names: Collection[str]) -> None:
    """ImportError for an actor that reads a setting of another name."""
    for kind in ACTORS:
        missing = [f"the setting '{name}'" for name in kind.SETTINGS if name not in names]
        if missing:
            raise ImportError(f"the actor {kind.__name__} lacks {', '.join(missing)}")
