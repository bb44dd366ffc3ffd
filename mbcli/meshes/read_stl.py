"""STL files, binary and ASCII."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.surfaces import Surface

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD, _FACET = 84, 50  # bytes
_VERTEX = re.compile(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", re.IGNORECASE)


def read_stl(content: bytes) -> Iterator[Surface]:
    """The one surface of an STL file; each triangle has vertices of its own. ModelError for bytes that are none.

    A binary file may begin with "solid", as ASCII files do, and may have more bytes at its end.
    """
    count = int.from_bytes(content[80:_HEAD], "little") if len(content) >= _HEAD else -1
    fits = count >= 0 and len(content) == _HEAD + count * _FACET
    if content.lstrip()[:5].lower() == b"solid" and not fits:
        numbers = np.array(_VERTEX.findall(content), dtype=bytes).astype(float)
    elif count < 0:
        raise ModelError("it is not an STL file")
    elif len(content) < _HEAD + count * _FACET:
        raise ModelError(f"it has {len(content)} bytes, {count} triangles take {_HEAD + count * _FACET}")
    else:
        facets = np.frombuffer(content, np.uint8, count * _FACET, _HEAD).reshape(count, _FACET)
        numbers = facets[:, 12:48].copy().view("<f4").astype(float)
    if numbers.size % 9:
        raise ModelError("a triangle lacks a vertex")
    vertices = numbers.reshape(-1, 3)
    yield Surface("", vertices, np.arange(len(vertices)).reshape(-1, 3))
