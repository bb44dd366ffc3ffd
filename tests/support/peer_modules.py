"""Other engines that tests compare with: which there are, which of those a test names are missing, lazy imports."""

import functools
import importlib
import importlib.util
from pathlib import Path

PEERS = ("pydrake", "pinocchio", "mujoco", "coal", "newton", "dartpy", "pybullet")  # as they are imported


def missing_peers(names):
    """Those of the names that cannot be imported."""
    return [name for name in names if importlib.util.find_spec(name) is None]


def peers_of(item):
    """The names in all marks `peers` of a collected test; ValueError for a mark that names none, or no engine."""
    names = {}
    for mark in item.iter_markers("peers"):
        if not mark.args or not set(mark.args) <= set(PEERS):
            raise ValueError(f"{item.nodeid}: the mark peers{mark.args} is to name engines out of {', '.join(PEERS)}")
        names |= dict.fromkeys(mark.args)
    return list(names)


class Later:
    """An object that is made when an attribute of it is first asked for."""

    def __init__(self, make):
        self._make = functools.cache(make)

    def __getattr__(self, name):
        return getattr(self._make(), name)


def peer(name):
    """A module of an engine that is imported when an attribute of it is asked for: a file without it collects."""
    return Later(functools.partial(importlib.import_module, name))


def peer_folder(name):
    """Where an engine is installed, without importing it; a folder that is not there if it is not."""
    spec = importlib.util.find_spec(name)
    return Path(name) if spec is None else Path(spec.origin).parent
