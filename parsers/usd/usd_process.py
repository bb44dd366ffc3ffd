"""USD's library in a process of its own: files are untrusted, and its crash is a line in the result.

`python -m mbcli.parsers.usd.usd_process` reads a request (JSON) and prints an answer (JSON).
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MOST_MEMORY = 12 * 2**30  # [bytes] of addresses


def answer_to(request: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a request: {"read": path, "folder", "packages"} or {"write": path of a text, "as": path}."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return _written(request) if "write" in request else _read(request)


def _read(request: Mapping[str, Any]) -> dict[str, Any]:
    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.usd.usd_layers import Layers
    from mbcli.parsers.usd.usd_prims import stage_document
    from pxr import Usd

    packages = PackageMap.from_dict(request["packages"])
    layers = Layers(packages, request["packages"]["missing_includes"] == "skip")
    layers.gather(request["read"])
    stage = Usd.Stage.Open(request["read"])
    layers.check_used(stage)
    document = stage_document(stage, request["folder"])
    return document | {"files": list(layers.files), "missing": layers.missing}


def _written(request: Mapping[str, Any]) -> dict[str, Any]:
    """A text as another kind of USD file."""
    from pxr import Sdf, UsdUtils

    if request["as"].endswith(".usdz"):
        done = UsdUtils.CreateNewUsdzPackage(request["write"], request["as"])
    else:
        layer = Sdf.Layer.FindOrOpen(request["write"])
        done = layer is not None and layer.Export(request["as"])
    return {} if done else {"error": "USD cannot write the file", "exit_code": 3}


def told(error: BaseException) -> str:
    """An exception in a line."""
    from mbcli.parsers.usd.usd_layers import first_line

    return first_line(error)[:1000] or type(error).__name__


def main() -> None:
    """Answers one request."""
    answer = os.dup(1)
    os.dup2(2, 1)  # what the library prints
    request = json.loads(sys.stdin.read())
    os.environ.pop("PXR_AR_DEFAULT_SEARCH_PATH", None)  # references lead from the file that has them, nowhere else
    try:
        document = answer_to(request)
    except MemoryError:
        document = {"error": "it takes too much memory", "exit_code": 3}
    except Exception as error:
        document = {"error": told(error), "exit_code": getattr(error, "exit_code", 3)}
    with open(answer, "w") as stream:
        json.dump(document, stream)


if __name__ == "__main__":
    main()
