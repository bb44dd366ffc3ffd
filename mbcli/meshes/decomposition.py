"""Convex parts of a mesh, by CoACD (Wei et al. 2022), the package of the extra `decompose`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.extra_packages import import_extra, missing_package
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

THRESHOLD = 0.05  # CoACD's own default: how far a part may be from convex, as a share of the size


def decomposition_version() -> str:
    """The release of CoACD and the settings: what the parts follow from beside the mesh. ResourceError without it."""
    import importlib.metadata

    try:
        return f"coacd {importlib.metadata.version('coacd')} {THRESHOLD}"
    except importlib.metadata.PackageNotFoundError:
        raise missing_package("coacd", "decompose", argument("decompose", True)) from None


def convex_parts(vertices: FloatArray, triangles: IntArray, name: str) -> list[FloatArray]:
    """Vertices (n, 3) of convex solids that together stand for a surface: vertices (n, 3), triangles (m, 3).

    The same in every run. ResourceError if the package is not installed, ModelError, with the name, if it finds none.
    """
    coacd = import_extra("coacd", "decompose", argument("decompose", True))
    coacd.set_log_level("error")
    surface = coacd.Mesh(np.ascontiguousarray(vertices), np.ascontiguousarray(triangles, dtype=np.int32))
    parts = [np.asarray(points, dtype=float) for points, _ in coacd.run_coacd(surface, threshold=THRESHOLD, seed=0)]
    if not parts:
        raise ModelError(f"{name}: CoACD finds no convex parts in it")
    return parts
