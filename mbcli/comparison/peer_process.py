"""What another engine computes of a model: `python -m mbcli.comparison.peer_process ENGINE`, see engine_process.py."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mbcli.common import engine_process
from mbcli.common.engine_process import EngineError

MODULES = {
    "pydrake": ("pydrake", "peer_drake", ("urdf", "sdf", "mjcf", "dmd")),
    "pinocchio": ("pinocchio", "peer_pinocchio", ("urdf", "mjcf")),
    "mujoco": ("mujoco", "peer_mujoco", ("urdf", "mjcf")),
    "pybullet": ("pybullet", "peer_bullet", ("urdf",)),
}
"""{engine: (its package, the module here, the formats that it reads)}"""
LONGEST = 300.0  # [s]


class PeerError(Exception):
    """Why an engine gave no result."""


def installed() -> list[str]:
    """The engines whose packages are there."""
    return [name for name, (package, _, _) in MODULES.items() if find_spec(package) is not None]


def ask(engine: str, request: dict[str, Any], *, longest: float = LONGEST) -> dict[str, Any]:
    """The document of an engine for a request. PeerError says why there is none."""
    if request["format"] not in MODULES[engine][2]:
        raise PeerError(f"reads no {request['format'].upper()}")
    try:
        return engine_process.ask("mbcli.comparison.peer_process", request, engine, longest=longest)
    except EngineError as error:
        raise PeerError(str(error)) from None


def main(engine: str) -> None:
    """Answers one request."""
    package, module, _ = MODULES[engine]
    evaluate = import_module(f"mbcli.comparison.{module}").evaluate
    engine_process.answer(partial(import_module, package), evaluate)


if __name__ == "__main__":
    main(sys.argv[1])
