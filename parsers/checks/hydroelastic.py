"""Hydroelastic properties of collisions: whether contact surfaces can come of them that mean what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.checks.link_extent import half_lengths
from mbcli.parsers.spec import HalfSpace

if TYPE_CHECKING:
    from mbcli.parsers.checks.flat_model import FlatModel, MeshBounds
    from mbcli.parsers.checks.report import Report
    from mbcli.parsers.spec import GeometrySpec

GROUP = "hydroelastic"
SOFTEST, STIFFEST = 1e4, 1e9  # [Pa]: a decade below and two above what is used


def check_hydroelastic(model: FlatModel, report: Report) -> None:
    """HYDROELASTIC_MODULUS, HYDROELASTIC_HINT, HYDROELASTIC_SLAB, HYDROELASTIC_MARGIN, HYDROELASTIC_RIGID_ONLY."""
    rigid: list[Any] = []
    compliant: list[Any] = []
    for link in model.links.values():
        for geometry in link.collisions:
            compliance = geometry.properties.get((GROUP, "compliance_type"))
            if compliance is None or not report.is_sound(geometry):
                continue
            (rigid if compliance == "rigid" else compliant).append(geometry)
            _check_lengths(geometry, model.mesh_bounds, report)
    for geometry in compliant:
        _check_modulus(geometry, report)
    if rigid and not compliant:
        what = "the only collision with hydroelastic properties is" if len(rigid) == 1 else f"all {len(rigid)} "
        what += "" if len(rigid) == 1 else "collisions with hydroelastic properties are"
        message = f"{what} rigid: surfaces are only between these and compliant geometries of other models"
        report("HYDROELASTIC_RIGID_ONLY", message, rigid[0].place, related=[g.place for g in rigid[1:]])


def _check_modulus(geometry: GeometrySpec, report: Report) -> None:
    modulus = geometry.properties[GROUP, "hydroelastic_modulus"]
    name = f'collision "{geometry.name}"'
    if modulus < SOFTEST:
        message = f"the hydroelastic modulus of {name} is {modulus:g} Pa: solids go through it"
        hint = "1e5 Pa is soft foam, 1e7 Pa hard rubber; is it in MPa or kPa?"
    elif modulus > STIFFEST:
        message = f"the hydroelastic modulus of {name} is {modulus:g} Pa: it acts like a rigid one and is slow to solve"
        hint = "it is no Young's modulus: 1e5 to 1e7 Pa are useful, or <drake:rigid_hydroelastic/>"
    else:
        return
    report("HYDROELASTIC_MODULUS", message, geometry.place, hint=hint)


def _check_lengths(geometry: GeometrySpec, mesh_bounds: MeshBounds, report: Report) -> None:
    """The hint, slab and margin beside the size of the shape."""
    half = half_lengths(geometry.shape, mesh_bounds)
    if half is None:
        return
    hint, margin = (geometry.properties.get((GROUP, name), 0.0) for name in ("resolution_hint", "margin"))
    name = f'collision "{geometry.name}"'
    if hint > 2.0 * max(half):
        message = f"the resolution hint of {name} is {hint:g} m, and it is {2.0 * max(half):g} m long"
        report("HYDROELASTIC_HINT", message, geometry.place, hint="a tenth of its size makes a mesh that is round")
    if margin > min(half):
        message = f"the hydroelastic margin of {name} is {margin:g} m, more than half of its least width"
        report("HYDROELASTIC_MARGIN", message, geometry.place, hint="1e-4 m is usual: the way in one time step")
    if (GROUP, "slab_thickness") in geometry.properties and not isinstance(geometry.shape, HalfSpace):
        message = f"{name} has a slab thickness, which only a half space has: it is not used"
        report("HYDROELASTIC_SLAB", message, geometry.place)
