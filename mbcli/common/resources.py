"""Files of Drake's own, which are not part of mbcli, and its log messages, under the names of pydrake.common."""

import logging
import os

__all__ = ["FindResourceOrThrow", "GetDrakePath", "configure_logging"]

VARIABLE = "DRAKE_RESOURCE_ROOT"


def GetDrakePath() -> str:
    """The folder `drake` of the resources that the variable DRAKE_RESOURCE_ROOT names. RuntimeError without one."""
    root = os.environ.get(VARIABLE, "")
    path = os.path.join(root, "drake")
    if not root or not os.path.isdir(path):
        raise RuntimeError(f"files of Drake are not part of mbcli: set {VARIABLE} to the folder that has 'drake'")
    return path


def FindResourceOrThrow(resource_path: str) -> str:
    """The path of a file drake/... below DRAKE_RESOURCE_ROOT. RuntimeError if there is none."""
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
