"""Another engine in a process of its own, so that its crash is a line in the result and not the end.

`python -m mbcli.comparison.peer_process ENGINE` reads a request (JSON) and prints the document of the engine (JSON).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from mbcli.common import child_processes

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
        done = child_processes.run(
            child_processes.python("-m", "mbcli.comparison.peer_process", engine),
            input=json.dumps(request, default=_plain),
            capture_output=True,
            text=True,
            timeout=longest,
        )
    except child_processes.TimeoutExpired:
        raise PeerError(f"gave no result within {longest:g} s") from None
    if done.returncode < 0:
        raise PeerError(f"crashed: {_signal_name(-done.returncode)}")
    try:
        document = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise PeerError(f"failed: {lines[-1][:300]}") from None
    if "error" in document:
        raise PeerError(f"refused the model: {document['error']}")
    return document


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else float(value)


def main(engine: str) -> None:
    """Answers one request."""
    answer = os.dup(1)
    os.dup2(2, 1)  # what the engine prints
    request = json.loads(sys.stdin.read())
    try:
        document = import_module(f"mbcli.comparison.{MODULES[engine][1]}").evaluate(request)
    except Exception as error:
        document = {"error": f"{type(error).__name__}: {error}".replace("\n", " ")[:500]}
    with np.errstate(all="ignore"), open(answer, "w") as stream:
        json.dump(document, stream, default=_plain)


if __name__ == "__main__":
    main(sys.argv[1])
