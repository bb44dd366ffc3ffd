"""What acts in a run: a file a kind, in the order in which they start.

actor            Actor: what each kind states and does
stops            stops at position limits of continuous plants
velocity_limits  velocity limits that hold joints, or are reported
following        joints that follow a plan
holding          joints that are held and driven; controllers of files
inputs           actuation over time, and its end at effort limits
user_controller  the controller that a user gives
plugins          the plugins of the model
pushes           forces on bodies
sensors          what a controller sees of the sensors

A new kind is a file here, with one Actor, and its name in NAMES; its settings are entries of
mbcli.simulation.run_arguments. The import fails for a file without one.
"""

from importlib import import_module

from mbcli.simulation.actors.actor import Actor

NAMES = (
    "stops",
    "velocity_limits",
    "following",
    "holding",
    "inputs",
    "user_controller",
    "plugins",
    "pushes",
    "sensors",
)


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


ACTORS: tuple[type[Actor], ...] = tuple(map(_actor_of, NAMES))
