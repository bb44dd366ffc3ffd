"""Files of Drake's own, which are not part of mbcli, and its log messages, under the names of pydrake.common."""

import glob
import logging
import os
from importlib.machinery import PathFinder

__all__ = ["FindResourceOrThrow", "GetDrakePath", "configure_logging"]

VARIABLE = "DRAKE_RESOURCE_ROOT"


def drake_folder(name: str = "drake") -> str | None:
    """The folder of Drake's package `drake` or `drake_models`: below DRAKE_RESOURCE_ROOT, else of an installed pydrake.

    None without one. pydrake is not imported.
    """
    roots = [os.environ.get(VARIABLE, "")]
    if not roots[0]:
        roots = [os.path.join(path, "share") for path in python_package("pydrake")]
    return next((path for root in roots if os.path.isdir(path := os.path.join(root, name))), None)


def python_package(name: str) -> list[str]:
    """The folders of an installed Python package, which is not imported; none without one."""
    spec = PathFinder.find_spec(name)
    return [] if spec is None or not spec.origin else list(spec.submodule_search_locations or ())  # a folder has none


def drakes_cache() -> str:
    """The folder in which Drake keeps packages that it has fetched, by the sha256 of their archives."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "drake", "package_map")


def fetched_by_drake() -> list[str]:
    """The folders in that cache which are packages."""
    return [os.path.dirname(path) for path in sorted(glob.glob(os.path.join(drakes_cache(), "*", "package.xml")))]


def GetDrakePath() -> str:
    """The folder `drake` of the resources that the variable DRAKE_RESOURCE_ROOT names, else of an installed pydrake.

    RuntimeError without one.
    """
    path = drake_folder()
    if path is None:
        raise RuntimeError(f"files of Drake are not part of mbcli: set {VARIABLE} to the folder that has 'drake'")
    return path


def FindResourceOrThrow(resource_path: str) -> str:
    """The path of a file drake/... below GetDrakePath(). RuntimeError if there is none."""
    folder, _, rest = resource_path.partition("/")
    if folder != "drake":
        raise RuntimeError(f"a resource begins with drake/, not '{resource_path}'")
    path = os.path.join(GetDrakePath(), rest)
    if not os.path.exists(path):
        raise RuntimeError(f"'{resource_path}' is not below {GetDrakePath()}")
    return path


def configure_logging() -> None:
    """Shows messages of Python's logging, from INFO upwards."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
