"""Models that are ready to be simulated and analysed, and their description.

loading      load_model(): files, directives, scenarios and settings to a finalized plant
settings     the settings in configuration files and scenarios
description  describe(): a plant as data
units        units of coordinates
states       states of a plant from names, random numbers, JSON documents and logs
"""

from importlib import import_module

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    from mbcli.models.description import describe
    from mbcli.models.loading import LoadedModel, ModelText, load_model

__all__ = ["LoadedModel", "ModelText", "describe", "load_model"]

_MODULES = {"describe": "description", "LoadedModel": "loading", "ModelText": "loading", "load_model": "loading"}


def __getattr__(name):
    """The public names when they are asked for, so that a command imports what it uses."""
    if name not in _MODULES:
        raise AttributeError(f"module 'mbcli.models' has no attribute '{name}'")
    return getattr(import_module(f"mbcli.models.{_MODULES[name]}"), name)
