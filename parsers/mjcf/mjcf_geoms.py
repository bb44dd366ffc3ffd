"""Geoms of MJCF files: shapes, meshes, colours, friction, and the masses that they give to bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.duplicate_names import generated_name, report_duplicate
from mbcli.parsers.geometry_inertia import mass_properties, scaled_to_mass
from mbcli.parsers.mjcf.mjcf_contact import geoms_in_pairs, read_geom_contact
from mbcli.parsers.mjcf.mjcf_height_fields import HeightFieldReader
from mbcli.parsers.mjcf.mjcf_inertia import shell_mass_properties
from mbcli.parsers.mjcf.mjcf_values import read_color, read_pose, report_negative
from mbcli.parsers.poses import turn_z_to
from mbcli.parsers.spec import IDENTITY, Box, Capsule, Cylinder, Ellipsoid, GeometrySpec, HalfSpace, Sphere, pose

from mbcli.common.suggestions import did_you_mean
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, NoReturn, TypeAlias

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.geometry_inertia import MassProperties
    from mbcli.parsers.mjcf.mjcf_meshes import MeshAsset, MeshReader
    from mbcli.parsers.mjcf.mjcf_values import Reading, Settings, WithDefaults
    from mbcli.parsers.spec import Shape, SourceLocation
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4, Vector, Vector6

    Fill: TypeAlias = Callable[[float], MassProperties]
    Solid: TypeAlias = tuple[Shape | None, Matrix4, Matrix4, Fill | None]  # shape or None, X_FG, X_GS, `Geom.fill`

DEFAULT_DENSITY = 1000.0  # [kg/m^3]

_TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}  # numbers that a type needs
_WITH_FROMTO = ("capsule", "cylinder", "box", "ellipsoid")


@dataclass(frozen=True, slots=True)
class Geom:
    """A geom in the frame of its body, as a visual, a collision, and a part of the body's mass."""

    geometry: GeometrySpec | None  # None: its shape is not supported
    X_BG: np.ndarray
    collides: bool
    group: int
    mass: float | None  # [kg] as stated
    density: float  # [kg/m^3]
    fill: Fill | None  # density -> MassProperties in the geom's frame, or an error; None: it has no volume
    element: WithDefaults  # for findings


class GeomReader:
    """Reads geoms with their default classes, materials and mesh files."""

    def __init__(self, root: Node, reading: Reading, meshes: MeshReader) -> None:
        self._reading = reading
        self._in_pairs = geoms_in_pairs(root)
        self._defaults = reading.defaults
        self._unused = reading.unused
        self._meshes = meshes
        self._materials: dict[str | None, Any] = {}
        self._stated = {node.raw("name") for node in root.find_all("geom")}
        self._height_fields = HeightFieldReader(reading, meshes)
        self.names: dict[str, SourceLocation] = {}  # names of geoms -> place
        for asset in root.children("asset"):
            for node in asset.children("mesh"):
                self._meshes.add(node)
            for node in asset.children("hfield"):
                self._height_fields.add(node)
            for node in asset.children("material"):
                element = self._defaults.of(node, None)
                self._materials[node.attribute("name")] = read_color(element)

    def report(self, diagnostics: Diagnostics) -> None:
        self._meshes.report(diagnostics)

    def read(self, node: Node, childclass: str | None, X_BF: Matrix4, index: int) -> Geom | None:
        """The `Geom` of an element that stands in frame F of body B, the index-th of the body; None after a finding."""
        element = self._defaults.of(node, childclass)
        name = node.attribute("name") or None
        if name is not None:
            place = node.place
            first = self.names.setdefault(name, place)
            if first is not place:
                report_duplicate(node, "geom", name, first)
        kind = element.keyword("type", _TYPES, "sphere")
        solid = self._read_solid(element, kind)
        collides, properties = read_geom_contact(element, self._reading, name is not None and name in self._in_pairs)
        group, mass, density = element.number("group", 0), element.number("mass"), element.number("density")
        color = self._read_color(element)
        for attribute, value in (("mass", mass), ("density", density)):
            if value is not None and value < 0:
                report_negative(element, attribute, value)
        if solid is None:
            return None
        shape, X_FG, X_GS, fill = solid
        X_BG = X_BF @ X_FG
        X_BS = X_BG @ X_GS
        X_BS.flags.writeable = False
        name = name or generated_name(f"geom{index}", self._stated)
        geometry = GeometrySpec(name, shape, X_BS, node.place, color, properties) if shape else None
        density = DEFAULT_DENSITY if density is None else density
        return Geom(geometry, X_BG, collides, int(group), mass, density, fill, element)

    def _read_color(self, element: WithDefaults) -> tuple[float, float, float, float] | None:
        material = element.attribute("material") or None
        if material is not None and material not in self._materials:
            self._unused.add(element, "material", f'there is no "{material}"')
        return read_color(element, self._materials.get(material))

    def _read_solid(self, element: WithDefaults, kind: str) -> Solid | None:
        """(shape or None, X_FG of the geom in the frame that it stands in, X_GS of the shape in it, `Geom.fill`); None
        after an error."""
        fromto = element.vector("fromto", 6)
        size = element.vector("size", 3, (), least=1)
        mesh = element.attribute("mesh")
        if kind == "plane":
            return HalfSpace(), read_pose(element, self._reading.settings_of(element)), IDENTITY, None
        if kind == "mesh":
            return self._read_mesh(element, mesh)
        if kind == "sdf" and mesh is not None:
            self._unused.add_element(
                element, "a geom of type sdf is the hull of its mesh to all that it touches", used=True
            )
            return self._read_mesh(element, mesh)
        if kind == "hfield":
            return self._read_height_field(element)
        if kind not in _SIZES:
            return self._unsupported(element, f"a geom of type {kind} is not supported")
        fill_with = shell_mass_properties if element.flag("shellinertia", False) else mass_properties
        if mesh is not None:
            return self._fitted(element, kind, mesh, fill_with)
        X: Matrix4 | None = read_pose(element, self._reading.settings_of(element))
        if fromto is not None:
            size, X = self._from_ends(element, kind, size, np.array(fromto))
        needed = _SIZES[kind]
        if X is None or len(size) < needed or min(size[:needed]) <= 0:
            if X is not None:
                _report_size(element, kind, needed, size)
            return None
        shape = _make(kind, size)
        return shape, X, IDENTITY, partial(fill_with, shape)

    def _unsupported(self, element: WithDefaults, problem: str) -> Solid:
        """A geom without shape, in which a mass cannot be filled."""
        self._unused.add_element(element, problem)

        def fill(density: float) -> NoReturn:
            raise ModelError(problem)

        return None, IDENTITY, IDENTITY, fill

    def _read_height_field(self, element: WithDefaults) -> Solid | None:
        name, fields = element.attribute("hfield"), self._height_fields
        if name not in fields.elements:
            _report_missing(element, "hfield", name, fields.elements)
            return None
        X_FG = read_pose(element, self._reading.settings_of(element))
        return fields.find(name), X_FG, IDENTITY, partial(mass_properties, fields.weighing_box(name))

    def _from_ends(
        self, element: WithDefaults, kind: str, size: tuple[float, ...], fromto: Vector6
    ) -> tuple[tuple[float, ...], Matrix4 | None]:
        """(size, pose) of a shape whose z axis goes from one point to another; its pose is None after an error."""
        if kind not in _WITH_FROMTO:
            problem = f"fromto is for {', '.join(_WITH_FROMTO)}, not for a {kind}"
        elif not (fromto[:3] - fromto[3:]).any():
            problem = "the ends of fromto are the same point"
        else:
            if any(element.vector("pos", 3, ())):
                self._unused.add(element, "pos", "fromto places the geom")
            start, end = fromto[:3], fromto[3:]
            half = float(np.linalg.norm(start - end)) / 2
            widths = size[:1] * (_SIZES[kind] - 1)
            return (*widths, half), pose(turn_z_to(start - end), (start + end) / 2)
        element.diagnostics.error("ATTRIBUTE_INVALID", problem, element.owner("fromto"), attribute="fromto")
        return size, None

    def _read_mesh(self, element: WithDefaults, name: str | None) -> Solid:
        asset = self._find_mesh(element, name)
        if asset is None:
            return self._unsupported(element, "a geom of a mesh that is not supported")
        X_FG = read_pose(element, self._reading.settings_of(element))
        return asset.mesh, X_FG, asset.X_GM, partial(self._meshes.weigh, asset, node=element.node)

    def _find_mesh(self, element: WithDefaults, name: str | None) -> MeshAsset | None:
        """The `MeshAsset` of a geom, or None after a finding."""
        if name in self._meshes.elements:
            return self._meshes.find(name)
        _report_missing(element, "mesh", name, self._meshes.elements)
        return None

    def _fitted(
        self, element: WithDefaults, kind: str, mesh: str, fill_with: Callable[[Any, float], MassProperties]
    ) -> Solid:
        """A primitive that is as large as a mesh, by its inertia or by its vertices along its principal axes."""
        asset = self._find_mesh(element, mesh)
        if asset is None:
            return self._unsupported(element, f"a {kind} fitted to a mesh that is not supported")
        try:
            size, X_GS = fitted_size(kind, asset, self._reading.settings_of(element).fitaabb)
        except (ModelError, ResourceError) as error:
            return self._unsupported(element, f"a {kind} cannot be fitted: {error}")
        shape = _make(kind, size * element.number("fitscale", 1.0))
        X_FS = read_pose(element, self._reading.settings_of(element)) @ X_GS
        return shape, X_FS, IDENTITY, partial(fill_with, shape)


def fitted_size(kind: str, asset: MeshAsset, around: bool) -> tuple[Vector, Matrix4]:
    """(sizes as <geom> has them, X_GS) of a primitive that is fitted to a `MeshAsset`, as MuJoCo does it.

    around: by the box around it along its principal axes, else by the box of its inertia.
    """
    p_GGcm, R_GP, half = asset.principal_axes()
    centre = np.zeros(3)
    if around:
        vertices = (asset.surface[0] - p_GGcm) @ R_GP
        lower, upper = vertices.min(axis=0), vertices.max(axis=0)
        centre, half = (lower + upper) / 2.0, (upper - lower) / 2.0
    x, y, z = half
    radius = max(x, y) if around else (x + y) / 2.0
    size = {
        "sphere": [max(half) if around else half.mean()],
        "capsule": [radius, max(0.0, z - (radius if around else radius / 2.0))],
        "cylinder": [radius, z],
    }.get(kind, half)
    return np.array(size), pose(R_GP, p_GGcm + R_GP @ centre)


def _make(kind: str, size: Sequence[Any] | Vector) -> Shape:
    if kind == "box":
        return Box(tuple(2.0 * half for half in size))
    if kind == "ellipsoid":
        return Ellipsoid(tuple(size))
    if kind == "sphere":
        return Sphere(size[0])
    return (Cylinder if kind == "cylinder" else Capsule)(size[0], 2.0 * size[1])


def geom_parts(geoms: Sequence[Geom], settings: Settings) -> list[tuple[Matrix4, MassProperties]]:
    """[(X_BG, MassProperties)] of the geoms that count for the inertia of their body."""
    lowest, highest = settings.inertiagrouprange
    parts = []
    for geom in geoms:
        if not lowest <= geom.group <= highest or geom.fill is None:
            continue
        if geom.mass == 0 or (geom.mass is None and geom.density == 0):
            continue
        properties = _mass_properties(geom)
        if properties is not None:
            parts.append((geom.X_BG, properties))
    return parts


def _mass_properties(geom: Geom) -> MassProperties | None:
    assert geom.fill is not None
    try:
        properties = geom.fill(geom.density or DEFAULT_DENSITY)
        return properties if geom.mass is None else scaled_to_mass(properties, geom.mass)
    except (ModelError, ResourceError) as error:
        code = "URI_LOOKUP" if isinstance(error, ResourceError) else "MESH_INERTIA"
        problem = f"the inertia of the body needs the mass of this geom: {error}"
        geom.element.diagnostics.error(code, problem, geom.element.node)
        return None


# ------------------------------------------------------------------------------------------- findings


def _report_size(element: WithDefaults, kind: str, needed: int, size: tuple[float, ...]) -> None:
    found = f"{' '.join(f'{value:.6g}' for value in size)}" if size else "none"
    element.diagnostics.error(
        "ATTRIBUTE_INVALID",
        f"a geom of type {kind} needs {needed} positive size{'s' if needed > 1 else ''}, found {found}",
        element.owner("size") or element.node,
        attribute="size",
    )


def _report_missing(element: WithDefaults, what: str, name: str | None, known: Collection[str]) -> None:
    element.diagnostics.error(
        "ATTRIBUTE_INVALID",
        f'there is no {what} "{name}"' if name is not None else f"a geom of type {what} must name a {what}",
        element.owner(what) or element.node,
        attribute=what,
        value=name,
        hint=did_you_mean(name or "", [key for key in known if key]),
    )
