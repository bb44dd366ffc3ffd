"""From the geometries of a ModelSpec to those of a plant."""

from mbcli.geometry import shapes
from mbcli.geometry.coulomb_friction import CoulombFriction
from mbcli.geometry.properties import IllustrationProperties, ProximityProperties
from mbcli.geometry.rgba import Rgba
from mbcli.math import RigidTransform
from mbcli.meshes.made_surfaces import cone_surface, prism_surface
from mbcli.multibody.tree.scoped_name import DELIMITER
from mbcli.parsers import spec

FRICTION = (1.0, 1.0)  # of collisions whose file gives none, as in pydrake


def add_geometries(plant, body, link, instance_name):
    """Registers visuals and collisions of a link, if the plant has a scene graph.

    Returns the GeometryIds of the collisions; None for one without a shape.
    """
    collisions = []
    if not plant.geometry_source_is_registered():
        return collisions
    for geometries, add in ((link.visuals, _add_visual), (link.collisions, _add_collision)):
        names = set()
        collisions = []
        for geometry in geometries:
            shape = shape_of(geometry.shape)
            if shape is None:
                collisions.append(None)
                continue
            name = _new_name(geometry.name or type(shape).__name__, names)
            X_BG = RigidTransform.MakeUnchecked(geometry.X_LG[:3])
            geometry_id = add(plant, body, X_BG, shape, f"{instance_name}{DELIMITER}{name}", geometry)
            plant.scene_graph.registry.geometries[geometry_id].place = geometry.place
            collisions.append(geometry_id)
    return collisions


def _new_name(name, names):
    """Names of a link's geometries of one role differ."""
    candidate, n = name, 0
    while candidate in names:
        n += 1
        candidate = f"{name}_{n}"
    names.add(candidate)
    return candidate


def _add_visual(plant, body, X_BG, shape, name, geometry):
    properties = IllustrationProperties()
    if geometry.color is not None:
        properties.AddProperty("phong", "diffuse", Rgba(rgba=geometry.color))
    return plant.RegisterVisualGeometry(body, X_BG, shape, name, properties)


def _add_collision(plant, body, X_BG, shape, name, geometry):
    return plant.RegisterCollisionGeometry(body, X_BG, shape, name, proximity_of(geometry))


def proximity_of(geometry):
    """The ProximityProperties of a GeometrySpec."""
    properties = ProximityProperties()
    for (group, key), value in geometry.properties.items():
        if key != "coulomb_friction":
            properties.AddProperty(group, key, value)
    friction = geometry.properties.get(("material", "coulomb_friction"), FRICTION)
    properties.AddProperty("material", "coulomb_friction", CoulombFriction(*friction))
    return properties


def shape_of(shape):
    """The Shape of a spec's; None for a mesh whose file was not found, which was reported by the search."""
    if isinstance(shape, spec.Mesh):
        if shape.path is None:
            return None
        kind = shapes.Convex if shape.convex else shapes.Mesh
        return kind(shape.path, shape.scale, submesh=shape.submesh, center=shape.center)
    return _SHAPES[type(shape)](shape)


_SHAPES = {
    spec.Box: lambda s: shapes.Box(*s.size),
    spec.Sphere: lambda s: shapes.Sphere(s.radius),
    spec.Cylinder: lambda s: shapes.Cylinder(s.radius, s.length),
    spec.Capsule: lambda s: shapes.Capsule(s.radius, s.length),
    spec.Ellipsoid: lambda s: shapes.Ellipsoid(*s.radii),
    spec.HalfSpace: lambda s: shapes.HalfSpace(),
    spec.HeightField: lambda s: shapes.HeightField(s.heights, s.x, s.y, s.base),
    spec.Cone: lambda s: shapes.ClosedSurface(*cone_surface(s.radius, s.length), "cone"),
    spec.Polyline: lambda s: shapes.ClosedSurface(*prism_surface(s.outlines, s.height), "polyline"),
}
