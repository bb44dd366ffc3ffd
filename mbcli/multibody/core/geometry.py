"""The geometries of bodies: visual ones and those that collide."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

from mbcli import geometry  # its classes are imported when they are used
from mbcli.geometry.coulomb_friction import CoulombFriction
from mbcli.geometry.properties import (
    IllustrationProperties,
    MakePhongIllustrationProperties,
    ProximityProperties,
    fault_of_direction,
)
from mbcli.geometry.query_port import QueryPort
from mbcli.multibody.core.lookup import GetModelInstanceName
from mbcli.multibody.tree.scoped_name import DELIMITER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mbcli.geometry.collision_filter_manager import CollisionFilterManager
    from mbcli.geometry.collision_filters import GeometrySet
    from mbcli.geometry.geometry_instance import GeometryInstance
    from mbcli.geometry.identifiers import FrameId, GeometryId, SourceId
    from mbcli.geometry.inspector import SceneGraphInspector
    from mbcli.geometry.scene_graph import SceneGraph
    from mbcli.geometry.shapes import Shape
    from mbcli.math.rigid_transform import RigidTransform
    from mbcli.meshes.volume_mesh import VolumeMesh
    from mbcli.multibody.core.plant_data import PlantData
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.index import BodyIndex
    from mbcli.multibody.tree.rigid_body import RigidBody

EVERY_BIT = -1


def RegisterAsSourceForSceneGraph(plant: PlantData, scene_graph: SceneGraph) -> SourceId:
    """Makes the plant a source of geometries.

    Args:
      scene_graph: that gets them.

    Returns:
      The SourceId of the plant.

    Raises:
      RuntimeError: there is no scene graph; after Finalize(); the plant is a source already.

    Example:
      >>> box, scene_graph = MultibodyPlant(0.01), SceneGraph()
      >>> source = box.RegisterAsSourceForSceneGraph(scene_graph)
      >>> box.geometry_source_is_registered()
      True
    """
    plant.require_not_finalized("RegisterAsSourceForSceneGraph")
    if scene_graph is None:
        raise RuntimeError("RegisterAsSourceForSceneGraph: there is no scene graph")
    if plant.source_id is not None:
        raise RuntimeError("RegisterAsSourceForSceneGraph: the plant is registered already")
    plant.source_id = scene_graph.RegisterSource(plant.get_name())
    plant.scene_graph = scene_graph
    plant.frame_ids[0] = scene_graph.world_frame_id()
    for body in plant.elements.bodies[1:]:
        register_frame_of(plant, body)
    return plant.source_id


def register_frame_of(plant: PlantData, body: RigidBody) -> None:
    """Makes a body known to the scene graph, if there is one."""
    graph, source = plant.scene_graph, plant.source_id
    if graph is None or source is None:
        return
    name = GetModelInstanceName(plant, body.model_instance())
    full = body.name() if int(body.model_instance()) <= 1 else f"{name}{DELIMITER}{body.name()}"
    group = int(body.model_instance())
    plant.frame_ids[int(body.index())] = graph.registry.add_frame(source, full, group, body)


def geometry_source_is_registered(plant: PlantData) -> bool:
    """Whether the plant is registered with a scene graph."""
    return plant.source_id is not None


def get_source_id(plant: PlantData) -> SourceId | None:
    """The plant as a source of geometries.

    Returns:
      SourceId, None if the plant is not registered.

    Example:
      >>> MultibodyPlant(0.01).get_source_id() is None
      True
    """
    return plant.source_id


def RegisterCollisionGeometry(
    plant: PlantData,
    body: RigidBody,
    X_BG: RigidTransform,
    shape: Shape,
    name: str,
    properties: ProximityProperties | CoulombFriction | None = None,
    *,
    coulomb_friction: CoulombFriction | None = None,
) -> GeometryId:
    """A shape that collides, at X_BG in a body.

    Args:
      body: of this plant.
      X_BG: pose of the shape in the body [m].
      shape: of lengths in [m].
      name: that no other one of the body has.
      properties: ProximityProperties with ("material", "coulomb_friction"), or a CoulombFriction. Beyond pydrake:
        friction along ("material", "friction_direction"), a vector (3,) in the frame of the geometry, is that
        of "coulomb_friction", across it "friction_across"; "friction_direction_body" names a body of the model
        instance, in whose frame the direction is given instead.
      coulomb_friction: instead of properties [1].

    Returns:
      Its GeometryId.

    Raises:
      RuntimeError: after Finalize(), without a scene graph, without friction, for a direction of friction without a
        coefficient across it, or for a rigid or compliant geometry without a hydroelastic property that its shape
        needs.
      TypeError: properties of another kind.

    Example:
      >>> box, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.01)
      >>> X_BG, friction = RigidTransform([0, 0, 0.1]), CoulombFriction(0.8, 0.6)
      >>> ball = box.RegisterCollisionGeometry(box.world_body(), X_BG, Sphere(0.1), "ball", friction)
      >>> box.num_collision_geometries()
      1
    """
    if coulomb_friction is not None:
        properties = coulomb_friction
    if isinstance(properties, CoulombFriction):
        friction, properties = properties, ProximityProperties()
        properties.AddProperty("material", "coulomb_friction", friction)
    if not isinstance(properties, ProximityProperties):
        raise TypeError(f"RegisterCollisionGeometry takes ProximityProperties or CoulombFriction: {properties!r}")
    friction = properties.GetPropertyOrDefault("material", "coulomb_friction", None)
    if not isinstance(friction, CoulombFriction):
        raise RuntimeError(
            f"RegisterCollisionGeometry: geometry '{name}' of body '{body.name()}' has no property "
            "('material', 'coulomb_friction') of type CoulombFriction"
        )
    problem = fault_of_direction(properties)
    if problem is not None:
        raise RuntimeError(f"RegisterCollisionGeometry: geometry '{name}' of body '{body.name()}': {problem}")
    from mbcli.geometry.hydroelastic_properties import hydroelastic_properties

    instance = geometry.GeometryInstance(X_BG, shape, name)
    instance.proximity = ProximityProperties(properties)
    hydroelastic_properties(instance, shape, None, body.name())
    return _register_geometry(plant, "RegisterCollisionGeometry", body, instance)


def RegisterVisualGeometry(
    plant: PlantData,
    body: RigidBody,
    X_BG: RigidTransform | GeometryInstance | None = None,
    shape: Shape | None = None,
    name: str | None = None,
    diffuse_color: Sequence[float] | IllustrationProperties | None = None,
    *,
    properties: ProximityProperties | IllustrationProperties | None = None,
    geometry_instance: GeometryInstance | None = None,
) -> GeometryId:
    """A shape that is seen, at X_BG in a body, or a GeometryInstance.

    Args:
      body: of this plant.
      X_BG: pose of the shape in the body [m], or a GeometryInstance alone.
      shape: of lengths in [m].
      name: that no other one of the body has.
      diffuse_color: RGBA, each in [0, 1], or IllustrationProperties.
      properties: instead of a colour.
      geometry_instance: instead of all others but the body.

    Returns:
      Its GeometryId.

    Raises:
      RuntimeError: after Finalize(), without a scene graph, for another colour.
      TypeError: X_BG, shape or name is missing, or comes with a GeometryInstance.

    Example:
      >>> box, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.01)
      >>> lamp = box.RegisterVisualGeometry(box.world_body(), RigidTransform(), Sphere(0.1), "lamp", [1, 1, 0, 1])
      >>> box.num_visual_geometries()
      1
    """
    if isinstance(X_BG, geometry.GeometryInstance):
        X_BG, geometry_instance = None, X_BG
    if geometry_instance is not None:
        if not (X_BG is shape is name is diffuse_color is properties is None):
            raise TypeError("RegisterVisualGeometry: a GeometryInstance has pose, shape, name and properties")
        if geometry_instance.illustration is None:
            geometry_instance.illustration = IllustrationProperties()
        return _register_geometry(plant, "RegisterVisualGeometry", body, geometry_instance)
    if X_BG is None or shape is None or name is None:
        raise TypeError("RegisterVisualGeometry takes a body with X_BG, shape and name, or with a GeometryInstance")
    if diffuse_color is None or isinstance(diffuse_color, IllustrationProperties):
        properties = IllustrationProperties(diffuse_color or properties)
    else:
        color = [float(value) for value in diffuse_color]
        if len(color) != 4 or not all(0.0 <= value <= 1.0 for value in color):
            raise RuntimeError(f"RegisterVisualGeometry: a color is four numbers in [0, 1], not {color}")
        properties = MakePhongIllustrationProperties(color)
    instance = geometry.GeometryInstance(X_BG, shape, name)
    instance.illustration = properties
    return _register_geometry(plant, "RegisterVisualGeometry", body, instance)


def _register_geometry(plant: PlantData, method: str, body: RigidBody, instance: GeometryInstance) -> GeometryId:
    plant.require_not_finalized(method)
    plant.require_own(body, method)
    graph, source = plant.scene_graph, plant.source_id
    if graph is None or source is None:
        raise RuntimeError(f"{method}: the plant has no scene graph, call RegisterAsSourceForSceneGraph() first")
    frame = plant.frame_ids[int(body.index())]
    geometry_id = graph.registry.add_geometry(source, frame, instance)
    plant.geometry_bodies[geometry_id] = body
    return geometry_id


def register_deformable_geometry(plant: PlantData, instance: GeometryInstance, mesh: VolumeMesh) -> GeometryId:
    """Makes the geometry of a deformable body known to the scene graph, if there is one, with its mesh."""
    graph, source = plant.scene_graph, plant.source_id
    if graph is None or source is None:
        return instance.id()
    return graph.registry.add_deformable(source, instance, mesh)


def _geometries_of(plant: PlantData, body: RigidBody, role: str) -> list[GeometryId]:
    frame, graph = plant.frame_ids.get(int(body.index())), plant.scene_graph
    if frame is None or graph is None:
        return []
    registry = graph.registry
    return [
        g
        for g in registry.frames[frame].geometries
        if getattr(registry.geometries[g], role) is not None and g in plant.geometry_bodies
    ]


def GetCollisionGeometriesForBody(plant: PlantData, body: RigidBody) -> list[GeometryId]:
    """GeometryId of the geometries that collide, in the order of registration."""
    return _geometries_of(plant, body, "proximity")


def GetVisualGeometriesForBody(plant: PlantData, body: RigidBody) -> list[GeometryId]:
    """GeometryId of the visual geometries, in the order of registration."""
    return _geometries_of(plant, body, "illustration")


def num_collision_geometries(plant: PlantData) -> int:
    """The number of geometries that collide, those of deformable bodies among them."""
    return _count_geometries(plant, "proximity")


def num_visual_geometries(plant: PlantData) -> int:
    """The number of geometries that are seen."""
    return _count_geometries(plant, "illustration")


def _count_geometries(plant: PlantData, role: str) -> int:
    graph = plant.scene_graph
    if graph is None:
        return 0
    own = (*plant.geometry_bodies, *(body.geometry_id() for body in plant.elements.deformable_bodies))
    return sum(getattr(graph.registry.geometries[g], role) is not None for g in own)


def CollectRegisteredGeometries(plant: PlantData, bodies: Iterable[RigidBody]) -> GeometrySet:
    """A GeometrySet of all geometries of bodies. RuntimeError without a scene graph."""
    if plant.source_id is None:
        raise RuntimeError("CollectRegisteredGeometries: the plant has no scene graph")
    result = geometry.GeometrySet()
    for body in bodies:
        plant.require_own(body, "CollectRegisteredGeometries")
        result.Add(plant.frame_ids[int(body.index())])
    return result


def GetBodyFrameIdIfExists(plant: PlantData, body_index: BodyIndex) -> FrameId | None:
    """The FrameId of a body, None without a scene graph."""
    return plant.frame_ids.get(int(body_index))


def GetBodyFrameIdOrThrow(plant: PlantData, body_index: BodyIndex) -> FrameId:
    """The FrameId of a body in the scene graph.

    Args:
      body_index: of this plant.

    Returns:
      The FrameId.

    Raises:
      RuntimeError: there is none.

    Example:
      >>> box, scene_graph = AddMultibodyPlantSceneGraph(builder, 0.01)
      >>> box.GetBodyFrameIdOrThrow(box.world_body().index()) == scene_graph.world_frame_id()
      True
    """
    frame = plant.frame_ids.get(int(body_index))
    if frame is None:
        raise RuntimeError(f"body {int(body_index)} has no geometry frame")
    return frame


def GetBodyFromFrameId(plant: PlantData, frame_id: FrameId) -> RigidBody | None:
    """The body of a FrameId, None if there is none."""
    for n, frame in plant.frame_ids.items():
        if frame == frame_id:
            return plant.elements.bodies[n]
    return None


def EvalSceneGraphInspector(plant: PlantData, context: Context) -> SceneGraphInspector:
    """The SceneGraphInspector of the plant's scene graph. RuntimeError without one."""
    plant.check_context(context)
    return require_scene_graph(plant, "EvalSceneGraphInspector").model_inspector()


def get_geometry_query_input_port(plant: PlantData) -> QueryPort:
    """A port whose value is a QueryObject for a context. RuntimeError without a scene graph."""
    require_scene_graph(plant, "get_geometry_query_input_port")
    return QueryPort(plant.whole_plant())


def require_scene_graph(plant: PlantData, method: str) -> SceneGraph:
    """The scene graph; RuntimeError that names a method without one."""
    if plant.scene_graph is None:
        raise RuntimeError(f"{method}: the plant has no scene graph")
    return plant.scene_graph


# filters


def declare_collision_filters(plant: PlantData) -> None:
    """At the end of Finalize(): pairs of bodies that do not collide because of their connection."""
    if plant.scene_graph is None:
        return
    manager = plant.scene_graph.collision_filter_manager()
    _exclude_connected(plant, manager)
    _exclude_incompatible(plant, plant.scene_graph, manager)
    for A, B in plant.contact_pairs:
        manager.Apply(
            geometry.CollisionFilterDeclaration().AllowBetween(geometry.GeometrySet(A), geometry.GeometrySet(B))
        )


def _exclude_connected(plant: PlantData, manager: CollisionFilterManager) -> None:
    """Bodies that are welded together, and those that a joint connects."""
    groups: dict[int, list[RigidBody]] = {}
    for body, moved_by in zip(plant.elements.bodies, plant.model.link_body, strict=True):
        if GetCollisionGeometriesForBody(plant, body):
            groups.setdefault(int(moved_by), []).append(body)
    for bodies in groups.values():
        if len(bodies) > 1:
            declaration = geometry.CollisionFilterDeclaration()
            manager.Apply(declaration.ExcludeWithin(CollectRegisteredGeometries(plant, bodies)))
    if not plant.settings.adjacent_bodies_collision_filters:
        return
    for joint in plant.elements.joints:
        parent, child = joint.parent_body(), joint.child_body()
        if int(parent.index()) == 0 or joint.num_velocities() == 6 or joint.collides_with_parent:
            continue
        if GetCollisionGeometriesForBody(plant, parent) and GetCollisionGeometriesForBody(plant, child):
            declaration = geometry.CollisionFilterDeclaration()
            sets = (CollectRegisteredGeometries(plant, [body]) for body in (parent, child))
            manager.Apply(declaration.ExcludeBetween(*sets))


def _exclude_incompatible(plant: PlantData, graph: SceneGraph, manager: CollisionFilterManager) -> None:
    """Geometries of MJCF files whose bit masks have nothing in common; those of other files have every bit."""
    masks: dict[tuple[int, ...], list[GeometryId]] = {}
    for g in plant.geometry_bodies:
        proximity = graph.registry.geometries[g].proximity
        if proximity is not None:
            names = ("contype", "conaffinity")
            key = tuple(proximity.GetPropertyOrDefault("mujoco", name, EVERY_BIT) for name in names)
            masks.setdefault(key, []).append(g)
    for (one, these), (other, those) in combinations_with_replacement(masks.items(), 2):
        if not (one[0] & other[1] or other[0] & one[1]):
            manager.Apply(
                geometry.CollisionFilterDeclaration().ExcludeBetween(
                    geometry.GeometrySet(these), geometry.GeometrySet(those)
                )
            )


def compiled_geometries(
    plant: PlantData, model: Any = None, on_mesh: Callable[[int, int], object] = lambda done, count: None
) -> Any:
    """The Geometries of the plant for one of its Models; ModelError for meshes that cannot be read.

    on_mesh: is told how many meshes of how many are ready.
    """
    from mbcli.multibody.compilation.compile_collision import compile_geometries

    plant.require_finalized("contact")
    model = plant.model if model is None else model
    revision = geometry_revision(plant)
    known = plant.known_geometries
    if known is None or known[0] != revision or known[1] is not model:
        plant.known_geometries = known = revision, model, compile_geometries(plant, model, on_mesh)
    return known[2]


def geometry_revision(plant: PlantData) -> Any:
    """Changes with the geometries and their filters."""
    return None if plant.scene_graph is None else plant.scene_graph.registry.revision
