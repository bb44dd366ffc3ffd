"""Whether the centre of mass lies in or near the link's geometry."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.checks.flat_model import WORLD
from mbcli.parsers.checks.link_extent import corners, marks_a_place
from mbcli.parsers.checks.welded import welded_groups

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel
    from mbcli.parsers.checks.report import Report

NEGLIGIBLE = 0.001  # of the mass of the links that move with it
ALLOWED_DISTANCE = 1.0  # from the box around the geometry, in diagonals of that box


def check_centers_of_mass(model: FlatModel, report: Report) -> None:
    """COM_OUTSIDE_GEOMETRY for each link whose mass counts among those that move with it."""
    group = welded_groups(model)
    mass: dict[str, float] = defaultdict(float)
    for name, link in model.links.items():
        mass[group[name]] += max(link.inertial.mass, 0.0) if link.inertial is not None else 0.0
    for name, link in model.links.items():
        if link.inertial is None or link.inertial.mass <= 0 or not report.is_sound(link) or group[name] == WORLD:
            continue
        points = corners(link, model.mesh_bounds)
        if points is None or marks_a_place(link, model.mesh_bounds):
            continue
        if link.inertial.mass < NEGLIGIBLE * mass[group[name]]:
            continue
        lower, upper = points.min(axis=0), points.max(axis=0)
        com = link.inertial.X_LI[:3, 3]
        distance = float(np.linalg.norm(com - np.clip(com, lower, upper)))
        diagonal = float(np.linalg.norm(upper - lower))
        if distance > ALLOWED_DISTANCE * diagonal:
            message = (
                f'link "{name}": the centre of mass is {distance:.3g} m away from the geometry, '
                f"which is {diagonal:.3g} m across"
            )
            hint = "are the unit and the frame of the <origin> or <pose> of the inertial right?"
            report("COM_OUTSIDE_GEOMETRY", message, link.inertial.place, "origin", "pose", hint=hint)
