"""Models of Gazebo Fuel that Gazebo has downloaded: where a Fuel URI leads in its local cache.

A URI is https://SERVER/1.0/OWNER/models/NAME, and /VERSION or /VERSION/files/PATH may follow. The cache has the model
in SERVER/owner/models/name/VERSION, both names in lower case. GZ_FUEL_CACHE_PATH and IGN_FUEL_CACHE_PATH give its
place, else it is ~/.gz/fuel, ~/.ignition/fuel. Nothing is ever downloaded.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SERVERS = ("fuel.gazebosim.org", "fuel.ignitionrobotics.org", "api.ignitionfuel.org")  # one server under its names
CACHE_VARIABLES = ("GZ_FUEL_CACHE_PATH", "IGN_FUEL_CACHE_PATH")
CACHES_AT_HOME = (os.path.join(".gz", "fuel"), os.path.join(".ignition", "fuel"))
NEWEST = "tip"  # Fuel's name of the newest version

_NAME = r"(?!\.\.?(?:/|$))[^/]+"
_MODEL = re.compile(
    rf"(?P<server>[^/]+)/\d+\.\d+/(?P<owner>{_NAME})/models/(?P<name>{_NAME})"
    r"(?:/(?P<version>\d+|tip))?(?:/files/(?P<path>.+))?/?"
)


def is_of_fuel(rest: str) -> bool:
    """Whether what follows https:// names a model of Fuel, or a file of one."""
    match = _MODEL.fullmatch(rest)
    return match is not None and match["server"].lower() in SERVERS


def find_in_cache(rest: str, environment: Mapping[str, str]) -> tuple[str | None, str, list[str]]:
    """(directory of the model or None, path in it, directories that were tried); rest: what follows https://."""
    match = _MODEL.fullmatch(rest)
    assert match is not None
    server = match["server"].lower()
    servers = (server, *(other for other in SERVERS if other != server))
    tried: list[str] = []
    for cache in _caches(environment):
        for host in servers:
            model = os.path.join(cache, host, match["owner"].lower(), "models", match["name"].lower())
            version = match["version"]
            if version in (None, NEWEST):
                version = _newest(model)
            directory = os.path.join(model, version or NEWEST)
            if os.path.isdir(directory):
                return directory, match["path"] or "", tried
        tried.append(os.path.join(cache, server))
    return None, match["path"] or "", tried


def _caches(environment: Mapping[str, str]) -> Iterator[str]:
    given = [environment[name] for name in CACHE_VARIABLES if environment.get(name)]
    home = environment.get("HOME") or os.path.expanduser("~")
    yield from given or [os.path.join(home, place) for place in CACHES_AT_HOME]


def _newest(model: str) -> str | None:
    """The name of the highest version below the directory of a model."""
    try:
        versions = [name for name in os.listdir(model) if name.isascii() and name.isdigit()]
    except OSError:
        return None
    return max(versions, key=int, default=None)
