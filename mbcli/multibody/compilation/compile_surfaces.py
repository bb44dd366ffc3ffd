"""From hydroelastic geometries of a plant to the fields and surfaces of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.config.scene_graph_config import SceneGraphConfig
from mbcli.engine.collision.field_meshes import join_meshes, rigid_mesh, soft_mesh
from mbcli.engine.fields.collision_fields import MESH_ELSEWHERE, MESH_NONE, NO_FIELD, RIGID_SURFACE, SOFT_FIELD
from mbcli.errors import MbcliError
from mbcli.geometry import shapes
from mbcli.geometry.hydroelastic_properties import hydroelastic_properties
from mbcli.geometry.hydroelastic_shapes import rigid_surface_of, soft_solid_of
from mbcli.meshes.volume_mesh import VolumeMesh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.engine.collision.field_meshes import FieldMesh
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.geometry.hydroelastic_properties import HydroelasticProperties
    from mbcli.math.array_types import FloatArray
    from mbcli.meshes.soft_solid import SoftSolid

CORNER_SHIFT = 2.0  # margins by which a corner moves at most


class FieldOfSolid(NamedTuple):
    """What a solid is for contact surfaces: the fields of collision.arrays.Solid."""

    field_kind: int = NO_FIELD
    mesh_of: int = MESH_NONE
    compliance: tuple[float, float] = (np.inf, 0.0)
    reach: float = 0.0

    def elsewhere(self) -> FieldOfSolid:
        """Of the other solids of a geometry: only the first has its mesh."""
        return self if self.field_kind == NO_FIELD else self._replace(mesh_of=MESH_ELSEWHERE)


class Surfaces:
    """The fields and surfaces of the geometries of a plant.

    Meshes of equal geometries are one, and `plant.field_meshes` keeps them for the next Model.

    Args:
        plant: finalized.
    """

    def __init__(self, plant: Any) -> None:
        self._plant, self._there = plant, plant.asks_for_surfaces() or plant.requires_surfaces()
        config = plant.scene_graph.config
        self._defaults = (SceneGraphConfig() if config is None else config).default_proximity_properties
        self._meshes: list[Any] = []
        self._numbers: dict[Any, int] = {}
        self.findings: dict[str, None] = {}  # sentences on meshes that stand for others only nearly, in order

    def prepare(self, instances: Sequence[tuple[GeometryInstance, str]], on_mesh: Callable[[int, int], object]) -> None:
        """Makes the meshes of geometries with the names of their bodies that are not known yet."""
        waiting: dict[Any, tuple[GeometryInstance, str, HydroelasticProperties]] = {}
        for instance, body in instances:
            properties = self._properties(instance, body)
            if properties is not None and not isinstance(instance.shape(), shapes.HalfSpace):
                key = _key(instance.shape(), properties)
                if key not in self._plant.field_meshes:
                    waiting.setdefault(key, (instance, body, properties))
        for k, (key, (instance, body, properties)) in enumerate(waiting.items()):
            on_mesh(k, len(waiting))
            try:
                self._plant.field_meshes[key] = _made(instance.shape(), properties)
            except MbcliError as error:
                place = f"{instance.place}: error: " if instance.place is not None else ""
                raise type(error)(f"{place}geometry '{instance.name()}' of body '{body}': {error}") from None
        if waiting:
            on_mesh(len(waiting), len(waiting))

    def of(self, instance: GeometryInstance, body: str) -> FieldOfSolid:
        """What a geometry is; body: the name of its body, for messages."""
        properties = self._properties(instance, body)
        if properties is None:
            return FieldOfSolid()
        kind = SOFT_FIELD if properties.is_compliant else RIGID_SURFACE
        if isinstance(instance.shape(), shapes.HalfSpace):
            slope = properties.modulus / properties.slab_thickness if properties.slab_thickness else 0.0
            return FieldOfSolid(kind, MESH_NONE, (properties.modulus, slope))
        key = _key(instance.shape(), properties)
        number = self._numbers.setdefault(key, len(self._meshes))
        mesh, finding = self._plant.field_meshes[key]
        if finding:
            self.findings[f"geometry '{instance.name()}': {finding}"] = None
        if number == len(self._meshes):
            self._meshes.append(mesh)
        return FieldOfSolid(kind, number, (properties.modulus, 0.0), CORNER_SHIFT * properties.margin)

    def joined(self) -> Any:
        """FieldMeshes of all geometries so far."""
        return join_meshes(self._meshes)

    def _properties(self, instance: GeometryInstance, body: str) -> HydroelasticProperties | None:
        return hydroelastic_properties(instance, instance.shape(), self._defaults, body) if self._there else None


def _key(shape: shapes.Shape, properties: HydroelasticProperties) -> tuple[Any, ...]:
    """Geometries of one key have the same mesh."""
    if isinstance(shape, shapes.Mesh):
        what: Any = (shape.filename(), tuple(shape.scale3()), shape.submesh, shape.center)
    elif isinstance(shape, (shapes.ClosedSurface, shapes.HeightField)):
        what = shape
    else:
        what = tuple(getattr(shape, name)() for name in shape.MEASURES)
    return type(shape), what, properties.is_compliant, properties.resolution_hint, properties.margin


def _made(shape: shapes.Shape, properties: HydroelasticProperties) -> tuple[FieldMesh, str]:
    """FieldMesh of a shape, and a sentence if it is so only nearly, else ""."""
    if not properties.is_compliant:
        return rigid_mesh(*rigid_surface_of(shape, properties.resolution_hint)), ""
    margin, hint = properties.margin, properties.resolution_hint
    if margin > 0.0 and type(shape) in _LARGER:
        larger, depth = _LARGER[type(shape)](shape, margin)
        solid = soft_solid_of(larger, hint)
        extent = solid.extent * (1.0 + margin / depth) - margin / depth
        return soft_mesh(solid.vertices, solid.tetrahedra, extent), solid.finding
    solid = soft_solid_of(shape, hint)
    if margin > 0.0:
        vertices, extent = _with_margin(solid, margin)
        return soft_mesh(vertices, solid.tetrahedra, extent), solid.finding
    return soft_mesh(solid.vertices, solid.tetrahedra, solid.extent), solid.finding


# (the shape with a margin all around, the depth of the shape: the distance of its surface from where the extent is 1)
_LARGER: dict[type, Callable[[Any, float], tuple[shapes.Shape, float]]] = {
    shapes.Sphere: lambda s, m: (shapes.Sphere(s.radius() + m), s.radius()),
    shapes.Box: lambda s, m: (shapes.Box(*(s.size() + 2.0 * m)), float(s.size().min()) / 2.0),
    shapes.Cylinder: lambda s, m: (
        shapes.Cylinder(s.radius() + m, s.length() + 2.0 * m),
        min(s.radius(), s.length() / 2.0),
    ),
    shapes.Capsule: lambda s, m: (shapes.Capsule(s.radius() + m, s.length()), s.radius()),
    shapes.Ellipsoid: lambda s, m: (shapes.Ellipsoid(s.a() + m, s.b() + m, s.c() + m), min(s.a(), s.b(), s.c())),
}


def _with_margin(solid: SoftSolid, margin: float) -> tuple[FloatArray, FloatArray]:
    """Vertices and extent of a solid whose surface is moved outwards, to where its field, continued, is negative.

    A vertex of the surface moves so that the planes of its triangles move by the margin, as far as they can all do so;
    by CORNER_SHIFT margins at most. The extent falls by the margin over the depth of the solid, the distance of the
    surface from where the extent is 1.
    """
    mesh = VolumeMesh(solid.vertices, solid.tetrahedra)
    triangles = mesh.outer_triangles
    corners = solid.vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    vertices, extent = solid.vertices.copy(), solid.extent.copy()
    inner = solid.vertices[solid.extent >= 1.0 - 1e-9]
    planes = np.einsum("ij,ij->i", normals, corners[:, 0])
    depth = float((planes[:, None] - normals @ inner.T).max(axis=1).min()) if len(inner) else float(np.ptp(vertices))
    matrices, sides = np.zeros((len(vertices), 3, 3)), np.zeros((len(vertices), 3))
    for k in range(3):
        np.add.at(matrices, triangles[:, k], normals[:, :, None] * normals[:, None, :])
        np.add.at(sides, triangles[:, k], normals)
    for v in np.unique(triangles):
        shift = np.linalg.lstsq(matrices[v], sides[v], rcond=1e-3)[0]
        size = np.linalg.norm(shift)
        vertices[v] += margin * shift * min(1.0, CORNER_SHIFT / size)
        extent[v] = -margin / depth
    return vertices, extent
