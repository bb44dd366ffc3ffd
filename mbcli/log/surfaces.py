"""Contact surfaces of a log, one object each, with the polygons of their faces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbcli.log.fields.faces import CORNERS_OFFSET, FACES_OFFSET
from mbcli.meshes.surfaces import triangles_of_faces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mbcli.log.format import ContactNames
    from mbcli.math.array_types import FloatArray


@dataclass(frozen=True)
class Surface:
    """A contact surface of a row.

    Attributes:
      body_a, body_b, geometry_a, geometry_b: names.
      centroid: (3,) [m] in World.
      normal: (3,) mean over the area, out of B into A.
      area: [m^2].
      force, moment: (3,) [N], [N m] on B about the centroid, in World.
      mean_pressure, largest_pressure: [Pa].
      polygons: the corners (n, 3) [m] of each face in World, counterclockwise about the normal.
      pressures: those (n,) [Pa] at the corners of each face.
    """

    body_a: str
    body_b: str
    geometry_a: str
    geometry_b: str
    centroid: FloatArray
    normal: FloatArray
    area: float
    force: FloatArray
    moment: FloatArray
    mean_pressure: float
    largest_pressure: float
    polygons: list[FloatArray]
    pressures: list[FloatArray]

    def triangles(self) -> tuple[FloatArray, FloatArray]:
        """The faces cut into triangles: their corners (m, 3, 3) [m] in World, and the pressures (m, 3) [Pa] there."""
        offset = np.concatenate([[0], np.cumsum([len(polygon) for polygon in self.polygons])]).astype(int)
        index, _ = triangles_of_faces(offset)
        corners = np.concatenate([*self.polygons, np.empty((0, 3))])
        return corners[index], np.concatenate([*self.pressures, np.empty(0)])[index]


def surfaces_of(
    contacts: Mapping[str, np.ndarray], faces: Mapping[str, np.ndarray], names: ContactNames
) -> list[Surface]:
    """The surfaces among contacts, as Log.contacts() and Log.faces() give them of the same rows."""
    offset, corner_offset = faces[FACES_OFFSET], faces[CORNERS_OFFSET]
    corner, pressure = faces["faces/corner"], faces["faces/pressure"]
    found = []
    for k in np.flatnonzero(contacts["contact/faces"]).tolist():
        bounds = corner_offset[offset[k] : offset[k + 1] + 1].tolist()
        parts = [slice(first, last) for first, last in zip(bounds, bounds[1:], strict=False)]
        found.append(
            Surface(
                body_a=_named(names.body_names, contacts["contact/body_a"][k]),
                body_b=_named(names.body_names, contacts["contact/body_b"][k]),
                geometry_a=_named(names.geometry_names, contacts["contact/geometry_a"][k]),
                geometry_b=_named(names.geometry_names, contacts["contact/geometry_b"][k]),
                centroid=contacts["contact/point"][k],
                normal=contacts["contact/normal"][k],
                area=float(contacts["contact/area"][k]),
                force=contacts["contact/force"][k],
                moment=contacts["contact/moment"][k],
                mean_pressure=float(contacts["contact/mean_pressure"][k]),
                largest_pressure=float(contacts["contact/largest_pressure"][k]),
                polygons=[corner[part] for part in parts],
                pressures=[pressure[part] for part in parts],
            )
        )
    return found


def _named(table: Sequence[str], k: int) -> str:
    return table[k] if 0 <= k < len(table) else str(k)
