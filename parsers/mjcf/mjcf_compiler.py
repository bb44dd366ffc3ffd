"""<compiler> of MJCF files: how the rest is to be understood, and how inertias are changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.checks.inertia import RELATIVE_TOLERANCE
from mbcli.parsers.geometry_inertia import matrix_of, six_of
from mbcli.parsers.mjcf.mjcf_values import DEGREE, LengthRanges, read_keyword

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from typing import Any

    from mbcli.parsers.mjcf.mjcf_values import Settings
    from mbcli.parsers.spec import InertialSpec, LinkSpec
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Vector3


@dataclass(frozen=True, slots=True)
class CompilerSettings:
    """The attributes of <compiler>, all of them of the last that gives one."""

    angle: float = DEGREE  # [rad] of one unit of angle in the file
    eulerseq: str = "xyz"
    autolimits: bool = True
    inertiafromgeom: str = "auto"
    inertiagrouprange: tuple[float, float] = (0.0, 5.0)
    boundmass: float = 0.0  # [kg]
    boundinertia: float = 0.0  # [kg m^2]
    balanceinertia: bool = False
    settotalmass: float = -1.0  # [kg], not positive: not set
    meshdir: str = ""
    strippath: bool = False
    fitaabb: bool = False
    length_ranges: LengthRanges = LengthRanges()


def read_compiler(root: Node) -> CompilerSettings:
    """The `CompilerSettings` of a file, from all its <compiler> elements."""
    settings = CompilerSettings()
    for node in root.children("compiler"):
        settings = replace(settings, **_attributes_of(node))
    return settings


def _attributes_of(node: Node) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if node.attribute("coordinate", "local") != "local":
        node.refuse(
            "coordinate",
            "global coordinates are not supported, as in MuJoCo since 2.3.4",
            value=node.attribute("coordinate"),
        )
    if read_keyword(node, "alignfree", ("true", "false"), "false") == "true":
        node.diagnostics.warning(
            "ATTRIBUTE_UNSUPPORTED", "alignfree is not supported: free bodies keep the frames of the file", node
        )
    angle = read_keyword(node, "angle", ("degree", "radian"), None)
    if angle is not None:
        given["angle"] = DEGREE if angle == "degree" else 1.0
    for name in ("autolimits", "balanceinertia", "strippath", "fitaabb"):
        value = read_keyword(node, name, ("true", "false"), None)
        if value is not None:
            given[name] = value == "true"
    for name in ("boundmass", "boundinertia", "settotalmass"):
        number = node.number(name)
        if number is not None:
            given[name] = number
    inertia = read_keyword(node, "inertiafromgeom", ("true", "false", "auto"), None)
    groups = node.vector("inertiagrouprange", 2)
    directory = node.attribute("assetdir")
    directory = node.attribute("meshdir", directory)
    for name, stated in (("inertiafromgeom", inertia), ("inertiagrouprange", groups), ("meshdir", directory)):
        if stated is not None:
            given[name] = stated
    sequence = node.attribute("eulerseq")
    if sequence is not None and _is_euler_sequence(node, sequence):
        given["eulerseq"] = sequence
    for ranges in node.children("lengthrange"):
        given["length_ranges"] = LengthRanges(
            read_keyword(ranges, "mode", ("none", "muscle", "muscleuser", "all"), "muscle"),
            read_keyword(ranges, "useexisting", ("true", "false"), "true") == "true",
            read_keyword(ranges, "uselimit", ("true", "false"), "false") == "true",
        )
    return given


def _is_euler_sequence(node: Node, sequence: str) -> bool:
    if len(sequence) == 3 and set(sequence.lower()) <= set("xyz"):
        return True
    node.refuse("eulerseq", f'attribute "eulerseq" must be three letters of xyzXYZ, found "{sequence}"', value=sequence)
    return False


# ----------------------------------------------------------------------------- changes of inertias


def adjusted(inertial: InertialSpec, settings: Settings, node: Node) -> InertialSpec:
    """An `InertialSpec` with the bounds of the compiler, and balanced if it asks for that; each with a note."""
    if not (settings.boundmass or settings.boundinertia or settings.balanceinertia):
        return inertial
    mass = max(inertial.mass, settings.boundmass)
    if mass != inertial.mass:
        node.diagnostics.note(
            "INERTIA_CHANGED", f"boundmass raises the mass from {inertial.mass:.6g} to {mass:.6g} kg", node
        )
    moments, axes = np.linalg.eigh(matrix_of(inertial.inertia))
    bounded = np.maximum(moments, settings.boundinertia)
    if (bounded != moments).any() and settings.boundinertia > 0:
        _tell_of_moments(node, "boundinertia raises", moments, bounded)
    else:
        bounded = moments
    a, b, c = bounded
    if settings.balanceinertia and a + b < c - RELATIVE_TOLERANCE * abs(c):
        balanced = np.full(3, bounded.mean())
        _tell_of_moments(node, "balanceinertia replaces", bounded, balanced)
        bounded = balanced
    inertia = inertial.inertia if bounded is moments else six_of(axes @ np.diag(bounded) @ axes.T)
    return replace(inertial, mass=mass, inertia=inertia)


def _tell_of_moments(node: Node, change: str, old: Vector3, new: Vector3) -> None:
    before, after = (", ".join(f"{value:.6g}" for value in moments) for moments in (old, new))
    problem = f"{change} the principal moments of inertia {before} by {after} kg m^2"
    node.diagnostics.note("INERTIA_CHANGED", problem, node)


def scale_to_total(links: dict[str, LinkSpec], settings: CompilerSettings, root: Node) -> None:
    """Scales all masses and inertias of links, {name: `LinkSpec`}, so that they add up to settotalmass."""
    total = sum(link.inertial.mass for link in links.values() if link.inertial is not None)
    if settings.settotalmass <= 0 or total <= 0:
        return
    factor = settings.settotalmass / total
    root.diagnostics.note(
        "INERTIA_CHANGED",
        f"settotalmass scales all masses and inertias by {factor:.6g}, from {total:.6g} to "
        f"{settings.settotalmass:.6g} kg",
        root,
    )
    links.update({name: _scaled(link, factor) for name, link in links.items()})


def _scaled(link: LinkSpec, factor: float) -> LinkSpec:
    if link.inertial is None:
        return link
    inertia: Any = tuple(factor * value for value in link.inertial.inertia)
    return replace(link, inertial=replace(link.inertial, mass=factor * link.inertial.mass, inertia=inertia))
