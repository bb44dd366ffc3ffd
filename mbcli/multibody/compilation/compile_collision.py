"""From the geometries of a plant to the arrays of collision detection: the only place that knows both."""

import os
from functools import cached_property
from itertools import product

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.fast_dataclass import dataclass
from mbcli.config.scene_graph_config import DefaultProximityProperties, SceneGraphConfig
from mbcli.engine.collision.arrays import AS_THE_OTHER, NO_GRAIN, Collision, Solid
from mbcli.engine.collision.field_meshes import FieldMeshes, join_meshes
from mbcli.engine.fields import collision_fields as kinds
from mbcli.errors import MbcliError, ModelError
from mbcli.geometry import shapes
from mbcli.geometry.properties import (
    BOUNCE_THRESHOLD,
    BOUNCING,
    FRICTION_ACROSS,
    FRICTION_BODY,
    FRICTION_DIRECTION,
    TORSIONAL_FRICTION,
)
from mbcli.meshes.made_surfaces import CONE_SIDES
from mbcli.multibody.compilation.compile_surfaces import Surfaces
from mbcli.multibody.compilation.loads import loads_on
from mbcli.multibody.compilation.mujoco_softness import DEFAULT, softness_of_geometry
from mbcli.multibody.compilation.standing import piece_of, standing_trees
from mbcli.multibody.tree.scoped_name import DELIMITER


@dataclass(frozen=True)
class Geometries:
    """The geometries of a plant that collide, as the engine takes them.

    ids[k] is the GeometryId of solid k; a mesh can be several solids. own_laws: as Collision takes them. notes:
    sentences on simplifications. meshes: FieldMeshes of contact surfaces.
    """

    ids: tuple
    solids: tuple
    filters: np.ndarray
    own_laws: dict
    notes: tuple
    meshes: FieldMeshes

    def collision(self, **options):
        """New arrays with the options of Collision."""
        return Collision(self.solids, self.filters, own_laws=self.own_laws, meshes=self.meshes, **options)


def compile_geometries(plant, model, on_mesh=lambda done, count: None):
    """The Geometries of a finalized plant for one Model of it.

    on_mesh: is told how many meshes of how many are ready, before each and at the end.

    Raises ModelError or ResourceError for a mesh that cannot be read.
    """
    graph = plant.scene_graph
    if graph is None:
        return Geometries((), (), np.zeros((1, 1), dtype=np.int64), {}, (), join_meshes([]))
    instances = graph.registry.geometries
    ids, rows, filters = _colliding(plant)
    _read_meshes([instances[g] for g in ids], plant, on_mesh)
    surfaces = Surfaces(plant)
    surfaces.prepare([(instances[g], plant.geometry_bodies[g].name()) for g in ids], on_mesh)
    material_of = _Materials(plant, graph.config, lambda: pieces_of(ids, instances, plant))
    materials = {g: material_of(g, instances[g]) for g in ids}
    solids, of = [], []
    for g, row in zip(ids, rows, strict=True):
        instance, n = instances[g], int(plant.geometry_bodies[g].index())
        X_BG = _row(_pose(model.link_X_BL[n]) @ instance.pose().GetAsMatrix4())
        material, grain = _with_grain(materials[g], plant, model, g)
        body, (cover, mixing) = int(model.link_body[n]), _as_mujoco(instance)
        turning = tuple(instance.proximity.GetPropertyOrDefault("material", name, 0.0) for name in TORSIONAL_FRICTION)
        field = surfaces.of(instance, plant.geometry_bodies[g].name())
        for kind, size, rounding, hull in _shapes(instance, plant.hulls):
            solids.append(
                Solid(
                    kind,
                    body,
                    X_BG,
                    size,
                    rounding,
                    material,
                    row,
                    hull,
                    cover,
                    mixing,
                    *field,
                    torsional=turning,
                    bounce=NO_BOUNCE if plant.mobility is not None and mixing[0] == 1 else _bounce(instance),
                    soft=softness_of_geometry(instance, int(plant.geometry_bodies[g].index()), plant.mobility),
                    grain=grain,
                    link=n,
                    heights=getattr(instance.shape(), "heights", None),
                )
            )
            of.append(g)
            field = field.elsewhere()
    soft = {instances[g].shape() for g, solid in zip(of, solids, strict=True) if solid.field_kind == kinds.SOFT_FIELD}
    notes = _notes([instances[g].shape() for g in ids], soft, plant)
    if plant.elements.deformable_bodies:
        if any(solid.kind == kinds.HEIGHT_FIELD for solid in solids):
            notes.append("deformable bodies pass through height fields")
        notes += _notes_on_grain(ids, solids, of, instances)
    laws = _own_laws(of, plant.contact_pairs)
    notes = (*notes, *surfaces.findings, *material_of.findings({g: materials[g][0] for g in ids}))
    return Geometries(tuple(of), tuple(solids), filters, laws, notes, surfaces.joined())


def geometries_can_touch(plant):
    """Whether some pair of geometries is on different bodies, not filtered, and at least one is neither a half space
    nor a height field.

    No mesh is read for that.
    """
    instances, link_body = plant.scene_graph.registry.geometries, plant.model.link_body
    ids, rows, filters = _colliding(plant)
    kinds_there = {
        (
            int(link_body[int(plant.geometry_bodies[g].index())]),
            row,
            isinstance(instances[g].shape(), (shapes.HalfSpace, shapes.HeightField)),
        )
        for g, row in zip(ids, rows, strict=True)
    }
    body, row, plane = (np.array(column) for column in zip(*kinds_there, strict=True)) if kinds_there else ([], [], [])
    for b, r, p in kinds_there:
        filtered = filters[r, row // kinds.WORD] >> (row % kinds.WORD) & 1
        if ((body != b) & (filtered == 0) & ~(plane & p)).any():
            return True
    return False


def _colliding(plant):
    """The geometries that collide, the row of the filters of each, and the filters."""
    registry = plant.scene_graph.registry
    ids = sorted(g for g in plant.geometry_bodies if registry.geometries[g].proximity is not None)
    return ids, *_filter_rows(ids, registry.filters())


def _pose(row):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = row[:9].reshape(3, 3), row[9:]
    return X


def _row(X):
    return np.concatenate([X[:3, :3].ravel(), X[:3, 3]])


def pieces_of(ids, instances, plant):
    """What stands: {geometry: its Pieces}, without half spaces and height fields."""
    return {
        g: [
            piece_of(int(plant.geometry_bodies[g].index()), _row(instances[g].pose().GetAsMatrix4()), *shape)
            for shape in _shapes(instances[g], plant.hulls)
            if shape[0] < kinds.HALF_SPACE
        ]
        for g in ids
    }


# ------------------------------------------------------------------------------------------- shapes


def _shapes(instance, hulls):
    """(kind, size, rounding, hull) of each Solid that stands for a geometry."""
    shape = instance.shape()
    if isinstance(shape, shapes.HeightField):
        return [(kinds.HEIGHT_FIELD, (shape.x(), shape.y(), shape.base()), 0.0, None)]
    if type(shape) in _SOLIDS:
        return [(*_SOLIDS[type(shape)](shape), None)]
    if not isinstance(shape, (shapes.Mesh, shapes.ClosedSurface)):
        raise MbcliError(f"geometry '{instance.name()}': a {type(shape).__name__} cannot collide")
    found = hulls[_mesh_key(shape)]
    return [] if isinstance(found, str) else [(kinds.CONVEX, (0.0, 0.0, 0.0), 0.0, hull) for hull in found.hulls]


def _mesh_key(shape):
    """Two meshes of one key have the same hulls; other surfaces have their own."""
    if isinstance(shape, shapes.ClosedSurface):
        return shape
    return shape.filename(), tuple(shape.scale3()), shape.submesh, shape.center, type(shape) is shapes.Mesh


def _read_meshes(instances, plant, on_mesh):
    """Fills plant.hulls: {_mesh_key(): CollisionHulls, or a sentence on why there is none}."""
    waiting = {}
    for instance in instances:
        shape = instance.shape()
        if isinstance(shape, (shapes.Mesh, shapes.ClosedSurface)) and _mesh_key(shape) not in plant.hulls:
            waiting.setdefault(_mesh_key(shape), instance)
    if not waiting:
        return
    if plant.settings.decompose_meshes:
        from mbcli.meshes.decomposition import decomposition_version

        decomposition_version()  # an error if there is no package for it
    for k, (key, instance) in enumerate(waiting.items()):
        on_mesh(k, len(waiting))
        try:
            plant.hulls[key] = _hulls(instance.shape(), plant.settings.decompose_meshes)
        except MbcliError as error:
            if plant.settings.leaves_out_broken_meshes:
                plant.hulls[key] = f"geometry '{instance.name()}' is left out of contact: {error}"
                continue
            place = f"{instance.place}: error: " if instance.place is not None else ""
            raise type(error)(f"{place}geometry '{instance.name()}': {error}") from None
    on_mesh(len(waiting), len(waiting))


def _hulls(shape, decompose):
    """The CollisionHulls of a mesh or another surface."""
    from mbcli.meshes.collision_hulls import hulls_of_file, hulls_of_surface

    if isinstance(shape, shapes.ClosedSurface):
        return hulls_of_surface(shape.vertices, shape.triangles, shape.label)
    decompose = decompose and type(shape) is shapes.Mesh
    return hulls_of_file(shape.filename(), shape.scale3(), decompose, submesh=shape.submesh, center=shape.center)


def _notes(all_shapes, soft, plant):
    """Sentences on meshes that are left out, and one on what stands for those that are not convex.

    soft: the shapes that have a pressure field, which are as they are.
    """
    surfaces = [shape for shape in all_shapes if isinstance(shape, (shapes.Mesh, shapes.ClosedSurface))]
    found = {shape: plant.hulls[_mesh_key(shape)] for shape in surfaces}
    notes = list(dict.fromkeys(hulls for hulls in found.values() if isinstance(hulls, str)))
    hollow = {
        shape.filename(): os.path.basename(shape.filename())
        for shape, hulls in found.items()
        if type(shape) is shapes.Mesh and shape not in soft and not isinstance(hulls, str) and not hulls.is_convex
    }
    if hollow and not plant.settings.decompose_meshes:
        notes.append(
            f"meshes that are not convex collide by their convex hulls: {listed(list(hollow.values()))}; "
            f"{argument('decompose', True)} makes convex parts of them"
        )
    labels = [shape.label for shape in found if isinstance(shape, shapes.ClosedSurface)]
    if "cone" in labels:
        notes.append(f"cones collide as pyramids of {CONE_SIDES} sides")
    if any(isinstance(shape, shapes.ClosedSurface) and not hulls.is_convex for shape, hulls in found.items()):
        notes.append("polylines that are not convex collide by their convex hulls")
    return notes


_SOLIDS = {
    shapes.Sphere: lambda s: (kinds.BALL, (0.0, 0.0, 0.0), s.radius()),
    shapes.Capsule: lambda s: (kinds.CAPSULE, (0.0, 0.0, s.length() / 2), s.radius()),
    shapes.Box: lambda s: (kinds.BOX, tuple(s.size() / 2), 0.0),
    shapes.Cylinder: lambda s: (kinds.CYLINDER, (s.radius(), s.radius(), s.length() / 2), 0.0),
    shapes.Ellipsoid: lambda s: (kinds.ELLIPSOID, (s.a(), s.b(), s.c()), 0.0),
    shapes.HalfSpace: lambda s: (kinds.HALF_SPACE, (0.0, 0.0, 0.0), 0.0),
}


# ------------------------------------------------------------------------------------------ material


def _stiffest(asked):
    """The (mass, depth) that asks for the largest stiffness."""
    return max(asked, key=lambda mass_and_depth: mass_and_depth[0] / mass_and_depth[1])


RELAXED = 1e-3  # [m] a depth, pydrake's allowance, at which a contact has its relaxation time


class _Materials:
    """The contact properties of geometries: their own, else those of the SceneGraphConfig, else defaults.

    With contact_defaults `drake` there always is a SceneGraphConfig. The default stiffness of what floats is that of
    two equal geometries in series at which it sinks no deeper than the penetration allowance by what it carries
    (loads.py) on one contact point, nor than standing.py says; other geometries have the largest of these, and of the
    heaviest body at the allowance. So has everything if somebody set the allowance: pydrake's formula. With d of what
    asks for most and w = sqrt(g / d) the dissipation is 1 / (w d), as pydrake has it: half of what damps the
    linearized contact critically. The relaxation time, which softens what is nearly rigid, is pydrake's, and shorter
    as 1 / w is where d is below pydrake's allowance.

    Args:
        pieces: () -> {geometry: its Pieces}, asked for where it matters.
    """

    def __init__(self, plant, config, pieces):
        self._plant = plant
        if config is None and plant.settings.contact_defaults == "drake":
            config = SceneGraphConfig()
        self._config = None if config is None else config.default_proximity_properties
        self._by_allowance = self._config is None or self._config.point_stiffness is None
        self._pieces = pieces
        self._needs_relaxation = plant.is_discrete() and plant.settings.contact_law().RELAXES

    @cached_property
    def _trees(self):
        pieces = self._pieces()
        return standing_trees(self._plant, [piece for own in pieces.values() for piece in own])

    @cached_property
    def _asked(self):
        """{link: (mass, depth) that asks for most} of what floats, by the links of its trees."""
        allowance, trees, asked = self._plant.get_penetration_allowance(), self._trees, {}
        loads = loads_on([tree.extent for tree in trees], [tree.mass for tree in trees])
        for tree, load in zip(trees, loads, strict=True):
            most = _stiffest([(tree.mass, tree.depth()), (load.mass, min(allowance, tree.depth_under(load)))])
            asked.update(dict.fromkeys(tree.links, most))
        return asked

    @cached_property
    def _shared(self):
        """Stiffness, dissipation, relaxation time of a geometry that does not float, by what asks for most of all."""
        bodies = self._plant.elements.bodies[1:]
        heaviest = max((body.default_mass() for body in bodies), default=0.0)
        allowed = (heaviest or 1.0, self._plant.get_penetration_allowance())
        return self._numbers(_stiffest([allowed, *self._asked.values()]))

    def _numbers(self, asked):
        (mass, depth), g = asked, self._plant.strength_of_gravity()
        slowest = DefaultProximityProperties().relaxation_time
        return 2.0 * mass * g / depth, 1.0 / np.sqrt(g * depth), slowest * min(1.0, np.sqrt(depth / RELAXED))

    def _defaults(self, geometry_id):
        """Those of a geometry: what floats has its own, unless somebody set the allowance, which means all."""
        asked = self._asked.get(int(self._plant.geometry_bodies[geometry_id].index()))
        if asked is None or self._plant.settings.penetration_allowance is not None:
            return self._shared
        return self._numbers(asked)

    def __call__(self, geometry_id, instance):
        """Stiffness, dissipation, relaxation time, dynamic and static friction."""
        defaults = self._defaults(geometry_id)

        def value(name, config_name, default):
            given = instance.proximity.GetPropertyOrDefault("material", name, None)
            if given is None and self._config is not None:
                given = getattr(self._config, config_name)
            return default() if given is None else given

        relaxation = value("relaxation_time", "relaxation_time", lambda: defaults[2] if self._by_allowance else None)
        if relaxation is None and self._needs_relaxation:
            body = self._plant.geometry_bodies[geometry_id].name()
            raise ModelError(
                f"geometry '{instance.name()}' of body '{body}' has no property ('material', 'relaxation_time'), "
                "which the sap approximation of contact needs, and the SceneGraphConfig gives none"
            )
        friction = instance.proximity.GetProperty("material", "coulomb_friction")
        return (
            float(value("point_contact_stiffness", "point_stiffness", lambda: defaults[0])),
            float(value("hunt_crossley_dissipation", "hunt_crossley_dissipation", lambda: defaults[1])),
            float(relaxation or 0.0),
            friction.dynamic_friction(),
            friction.static_friction(),
        )

    def findings(self, stiffnesses):
        """A sentence on each tree that falls over by itself, for what the user's own numbers make of its contact.

        stiffnesses: [N/m] of each geometry.
        """
        if all(k == self._defaults(i)[0] for i, k in stiffnesses.items()):
            return []
        lines, bodies, g = [], self._plant.geometry_bodies, self._plant.strength_of_gravity()
        for tree in self._trees:
            own = {i: k for i, k in stiffnesses.items() if int(bodies[i].index()) in tree.links}
            others = [k for i, k in stiffnesses.items() if i not in own]
            if not others or any(self._has_field(i) for i in own):
                continue
            k, needed = 1.0 / (1.0 / max(own.values()) + 1.0 / max(others)), tree.needed_stiffness(g)
            if k < needed:
                name, base = self._plant.name_in_contact(self._plant.elements.bodies[tree.links[0]]), tree.base
                lines.append(
                    f"'{name}' falls over by itself: with its centre of mass {base.height:.3g} m above a base "
                    f"{2.0 * base.half_width:.3g} m wide it needs pairs with a contact stiffness of {needed:.3g} N/m, "
                    f"and has {k:.3g} N/m"
                )
        return lines

    def _has_field(self, geometry_id):
        properties = self._plant.scene_graph.registry.geometries[geometry_id].proximity
        return properties.HasProperty("hydroelastic", "compliance_type")


def _as_mujoco(instance):
    """Cover and mixing of a Solid."""
    properties = instance.proximity
    if not properties.HasProperty("mujoco", "condim"):
        return 0.0, (0, 0, 0)
    margin, priority, condim = (properties.GetProperty("mujoco", name) for name in ("margin", "priority", "condim"))
    return margin, (1, priority, condim)


LEAST_THRESHOLD = 1e-3  # [m/s] below which what a step and its weight make counts as at rest


NO_BOUNCE = 0.0, 0.0  # under the law mujoco, whose solref says it


def _bounce(instance):
    """Restitution and threshold of a Solid."""
    restitution, threshold = (instance.proximity.GetPropertyOrDefault("material", name, None) for name in BOUNCING)
    if restitution is None:
        return AS_THE_OTHER, 0.0
    return restitution, BOUNCE_THRESHOLD if threshold is None else max(threshold, LEAST_THRESHOLD)


def _with_grain(material, plant, model, geometry_id):
    """Material of a Solid with the larger coefficients of friction of all directions, and its grain."""
    instance, body = plant.scene_graph.registry.geometries[geometry_id], plant.geometry_bodies[geometry_id]
    properties = instance.proximity
    direction = properties.GetPropertyOrDefault("material", FRICTION_DIRECTION, None)
    along, static = material[3:]
    if direction is None or (across := properties.GetProperty("material", FRICTION_ACROSS)) == along:
        return material, NO_GRAIN
    name = properties.GetPropertyOrDefault("material", FRICTION_BODY, None)
    d = np.array(direction, dtype=float)
    if name is not None:
        body = _body_named(plant, name, body.model_instance())
    else:
        d = instance.pose().rotation().matrix() @ d
    n, most = int(body.index()), max(along, across)
    d = _pose(model.link_X_BL[n])[:3, :3] @ d
    material = (*material[:3], most, most * static / along if along > 0.0 else most)
    return material, (int(model.link_body[n]), *(d / np.linalg.norm(d)), along, across)


def _body_named(plant, name, instance):
    """The body of a name in a model instance; `a::b`: b in the instance a within it."""
    if name == plant.world_body().name():
        return plant.world_body()
    *inner, own = name.split(DELIMITER)
    scope = DELIMITER.join((plant.GetModelInstanceName(instance), *inner))
    if plant.HasModelInstanceNamed(scope) and plant.HasBodyNamed(own, plant.GetModelInstanceByName(scope)):
        return plant.GetBodyByName(own, plant.GetModelInstanceByName(scope))
    raise ModelError(f"('material', '{FRICTION_BODY}'): there is no body '{name}' in the model instance '{scope}'")


def _notes_on_grain(ids, solids, of, instances):
    """A sentence on the geometries whose friction depends on the direction, beside elastic bodies."""
    directed = {g for g, solid in zip(of, solids, strict=True) if solid.grain != NO_GRAIN}
    if not directed:
        return ()
    names = listed([instances[g].name() for g in ids if g in directed])
    return (f"deformable bodies touch what has a direction of friction with the smaller coefficient in all: {names}",)


def _own_laws(ids, pairs):
    """{(solid, solid): law}, as Collision takes them."""
    solids = {}
    for k, g in enumerate(ids):
        solids.setdefault(g, []).append(k)
    laws = {}
    for (A, B), (friction, cover, torsional, rolling, across, softness) in pairs.items():
        for a, b in product(solids.get(A, ()), solids.get(B, ())):
            turning = torsional, rolling
            laws[min(a, b), max(a, b)] = (friction, friction, cover, *turning, across, *(softness or DEFAULT))
    return laws


# ------------------------------------------------------------------------------------------- filters


def _filter_rows(ids, statements):
    """(row of each geometry, bits of the rows): geometries with the same statements share a row."""
    memberships = {g: [] for g in ids}
    for s, (_, A, B) in enumerate(statements):
        for side, geometries in ((0, A), (1, B or ())):
            for g in geometries:
                if g in memberships:
                    memberships[g].append((s, side))
    row_of = {}
    rows = [row_of.setdefault(tuple(memberships[g]), len(row_of)) for g in ids]
    members = {}
    for signature, row in row_of.items():
        for key in signature:
            members.setdefault(key, []).append(row)
    filters = np.zeros((max(1, len(row_of)), -(-max(1, len(row_of)) // kinds.WORD)), dtype=np.int64)
    for s, (excludes, _, B) in enumerate(statements):
        first = members.get((s, 0), [])
        second = first if B is None else members.get((s, 1), [])
        for rows_A, rows_B in ((first, second), (second, first)):
            mask = _mask(rows_B, filters.shape[1])
            filters[rows_A] = filters[rows_A] | mask if excludes else filters[rows_A] & ~mask
    return rows, filters


def _mask(rows, words):
    mask = np.zeros(words, dtype=np.int64)
    for row in rows:
        mask[row // kinds.WORD] |= 1 << (row % kinds.WORD)
    return mask
