"""MSH files, MuJoCo's own: https://mujoco.readthedocs.io/en/stable/XMLreference.html#asset-mesh"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import Any

_HEADER = np.dtype("<i4").itemsize * 4


def read_msh(
    content: bytes,
) -> tuple[np.ndarray[Any, np.dtype[np.float32]], np.ndarray[Any, np.dtype[np.int64]] | None]:
    """Vertices (n, 3) and triangles (m, 3) of their indices, None for their hull.

    Four numbers (of vertices, normals, texture coordinates and triangles) come first, then these four one after the
    other. ModelError for bytes that are none.
    """
    sizes = np.frombuffer(content[:_HEADER].ljust(_HEADER, b"\0"), "<i4")
    if len(content) < _HEADER or (sizes < 0).any() or sizes[0] < 4:
        raise ModelError("its header does not have the four numbers of an MSH file")
    vertices, normals, coordinates, triangles = sizes.tolist()
    expected = _HEADER + 12 * (vertices + normals + triangles) + 8 * coordinates
    if len(content) != expected:
        raise ModelError(f"an MSH file of these numbers has {expected} bytes, not {len(content)}")
    positions = np.frombuffer(content, "<f4", 3 * vertices, _HEADER).reshape(-1, 3)
    if not triangles:
        return positions, None
    indices = np.frombuffer(content, "<i4", 3 * triangles, expected - 12 * triangles).reshape(-1, 3)
    return positions, indices.astype(np.int64)
