"""Another engine in a process of its own, so that its crash is a line in the result and not the end.

A module that is run so reads a request (JSON) and prints an answer: a line once its engine is loaded, then a document
(JSON). What happens before that line, as an engine that is installed by half, is of the installation and says nothing
of the model.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import sys
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common import child_processes

if TYPE_CHECKING:
    from collections.abc import Callable

LOADED = "loaded"
LONGEST_TEXT = 500  # characters of what an engine says


class EngineError(Exception):
    """Why an engine gave no document: "crashed: SIGSEGV", "refuses the model: no link".

    of_the_model: whether the engine was there and refused the model, or ended over it; else it cannot be asked.
    """

    def __init__(self, reason: str, *, of_the_model: bool) -> None:
        super().__init__(reason)
        self.of_the_model = of_the_model


def ask(
    module: str, request: dict[str, Any], *words: str, longest: float, python: str = sys.executable
) -> dict[str, Any]:
    """The document of an engine. EngineError says why there is none. words: arguments of the module. longest: [s]."""
    try:
        done = child_processes.run(
            child_processes.python("-m", module, *words, interpreter=python),
            input=json.dumps(request, default=_plain),
            capture_output=True,
            text=True,
            timeout=longest,
        )
    except child_processes.TimeoutExpired:
        raise EngineError(f"gave no result within {longest:g} s", of_the_model=False) from None
    first, _, rest = done.stdout.partition("\n")
    was_loaded = first == LOADED
    if done.returncode < 0:
        raise EngineError(f"crashed: {_signal_name(-done.returncode)}", of_the_model=was_loaded)
    try:
        document: dict[str, Any] = json.loads(rest if was_loaded else first)
    except ValueError:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise EngineError(f"failed: {lines[-1][:300]}", of_the_model=was_loaded) from None
    if "unable" in document:
        raise EngineError(f"cannot be asked: {document['unable']}", of_the_model=False)
    if "error" in document:
        raise EngineError(f"refuses the model: {re.sub(r'^Error: ', '', document['error'])}", of_the_model=True)
    return document


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def answer(load: Callable[[], object], evaluate: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answers one request in the process of an engine.

    load: () -> imports the engine. evaluate: request -> document.
    """
    copy = os.dup(1)
    os.dup2(2, 1)  # what the engine prints
    request = json.loads(sys.stdin.read())
    document: dict[str, Any]
    with os.fdopen(copy, "w") as stream, np.errstate(all="ignore"):
        try:
            load()
        except (Exception, SystemExit) as error:
            json.dump({"unable": _said(error)}, stream)
            return
        stream.write(f"{LOADED}\n")
        stream.flush()
        try:
            document = evaluate(request)
        except Exception as error:
            document = {"unable" if _is_of_the_installation(error, evaluate) else "error": _said(error)}
        json.dump(document, stream, default=_plain)


def _is_of_the_installation(error: Exception, evaluate: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
    """Whether a module is missing, or the engine has not what we call, as one of another version."""
    where = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, ImportError) or (
        isinstance(error, (AttributeError, TypeError)) and where == inspect.getsourcefile(evaluate)
    )


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    named = text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}"
    return named[:LONGEST_TEXT]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else float(value)
